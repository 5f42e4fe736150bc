/* The options of a method: their values, set by number or from text. */
#include "program/program.h"

#include <math.h>

int program_find_option(const program *p, const char *name)
{
    const int index = program_find_name(p, name);
    return index != NONE && p->names[index].kind == NAME_OPTION ? index : NONE;
}

static spry_status unknown_option(const program *p, const char *name)
{
    char names[512] = "", what[64];
    for (int k = 0; k < p->name_count; k++)
        if (p->names[k].kind == NAME_OPTION)
            base_add_word(names, sizeof names, p->names[k].text);
    if (!names[0])
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "method %s has no options, but was given %s", p->method, name);
    snprintf(what, sizeof what, "option of method %s", p->method);
    return base_unknown_word(p->ctx, what, name, names);
}

/* A number that the caller has written as `shown`; NAN for none. */
static spry_status put_number(const program *p, program_name *option, double value,
                              const char *shown)
{
    if (!(value >= option->low) || !(value <= option->high) ||
        (option->whole && value != floor(value)))
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "%s=%s: a %snumber from %g to %g is needed",
                         option->text, shown, option->whole ? "whole " : "", option->low,
                         option->high);
    option->value = value;
    return SPRY_STATUS_OK;
}

spry_status program_set_number(program *p, const char *name, double value)
{
    const int index = program_find_option(p, name);
    char shown[32];
    if (index == NONE)
        return unknown_option(p, name);
    spry_number_print(value, shown);
    return put_number(p, &p->names[index], value, shown);
}

static spry_status set_text(program *p, const char *name, const char *value)
{
    const int index = program_find_option(p, name);
    if (index == NONE)
        return unknown_option(p, name);
    program_name *option = &p->names[index];
    if (option->words[0]) {
        const int word = base_find_word(option->words, value);
        if (word < 0)
            return base_unknown_word(p->ctx, option->text, value, option->words);
        option->value = word;
        return SPRY_STATUS_OK;
    }
    double number;
    const char *end = value + strlen(value);
    return put_number(p, option, base_parse_double(value, end, &number) == end ? number : NAN,
                      value);
}

spry_status program_set_options(program *p, const char *text)
{
    while (text && *text) {
        char name[64], value[64];
        const size_t length = strcspn(text, ", "), split = strcspn(text, "=, ");
        if (length > 0) {
            if (text[split] != '=' || split >= sizeof name || length - split > sizeof value)
                return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                                 "method %s: \"%.*s\" should be name=value", p->method, (int)length,
                                 text);
            snprintf(name, sizeof name, "%.*s", (int)split, text);
            snprintf(value, sizeof value, "%.*s", (int)(length - split - 1), text + split + 1);
            for (char *c = name; *c; c++)
                *c = *c == '-' ? '_' : *c;
            const spry_status status = set_text(p, name, value);
            if (status != SPRY_STATUS_OK)
                return status;
        }
        text += length;
        text += strspn(text, ", ");
    }
    return SPRY_STATUS_OK;
}

void program_option_text(const program_name *option, char *text, size_t size)
{
    const char *word = option->words;
    char number[32];
    if (!*word) {
        spry_number_print(option->value, number);
        snprintf(text, size, "%s", number);
        return;
    }
    for (int k = 0; *word && k < (int)option->value; k++)
        word += strcspn(word, " ") + 1;
    snprintf(text, size, "%.*s", (int)strcspn(word, " "), word);
}

static bool is_fixed(const program *p, int e)
{
    if (e == NONE)
        return true;
    const expr *x = &p->exprs[e];
    if (x->kind == EXPR_NAME)
        return p->names[x->name].kind == NAME_OPTION;
    return (x->kind == EXPR_NUMBER || x->kind == EXPR_CALL) && is_fixed(p, x->arg[0]) &&
           is_fixed(p, x->arg[1]) && is_fixed(p, x->arg[2]);
}

/* Whether it is made of A alone. */
static bool has_A_alone(const program *p, int e)
{
    for (; p->exprs[e].kind == EXPR_APPLY; e = p->exprs[e].arg[0])
        if (p->exprs[e].op != OPERATOR_A)
            return false;
    return true;
}

int program_most_powers(const program *p, bool precon)
{
    enum { MOST_NAMES = 256 }; /* of a text */
    spry_scalar values[MOST_NAMES] = {{0, 0}};
    int64_t offset[MOST_NAMES], extent[MOST_NAMES][2], most = 0;
    scalars s = {.program = p,
                 .offset = offset,
                 .extent = (const int64_t(*)[2])extent,
                 .values = values,
                 .real = true,
                 .fault = NONE};
    for (int k = 0; k < p->name_count && k < MOST_NAMES; k++) {
        offset[k] = k;
        extent[k][0] = extent[k][1] = 1;
        values[k].re = p->names[k].value;
    }
    for (int i = 0; i < p->stmt_count; i++) {
        const stmt *f = &p->stmts[i];
        if (f->kind != STMT_FOR || f->value == NONE || !is_fixed(p, f->to) ||
            (precon && !has_A_alone(p, p->exprs[f->value].arg[0])))
            continue;
        const int64_t count = program_eval_count(&s, f->to) + 1;
        most = count > most ? count : most;
    }
    return most > PROGRAM_STEPS ? PROGRAM_STEPS : (int)most;
}
