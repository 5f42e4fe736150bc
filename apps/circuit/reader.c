/* What lines of a netlist are made of: words, numbers, parameters, nodes, models. */
#include "circuit/netlist.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 200000000 };

int reader_fault(reader *r, const char *format, ...)
{
    char message[2 * WORD_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return text_fault(r->t, &r->t->lines[r->line], "%s", message);
}

bool reader_done(const reader *r)
{
    return r->t->exit_status != EXIT_DONE;
}

bool reader_need(reader *r, const char *what, char word[WORD_SIZE])
{
    if (reader_done(r))
        return false;
    if (text_word_next(&r->at, false, word) && strcmp(word, "=") != 0)
        return true;
    reader_fault(r, "%s is missing", what);
    return false;
}

/* Parentheses count as blanks, but have to be in pairs. */
bool reader_paired(reader *r)
{
    int depth = 0;
    for (const char *p = r->t->lines[r->line].text; *p && depth >= 0; p++)
        depth += (*p == '(') - (*p == ')');
    if (depth != 0)
        reader_fault(r, depth > 0 ? "a ) is missing" : "a ( is missing");
    return depth == 0;
}

/* --- parameters ----------------------------------------------------------------------------------
 */

bool reader_parameter(void *data, const char *name, double *value)
{
    for (const scope *s = data; s; s = s->parent)
        for (int64_t k = s->count; k-- > 0;)
            if (strcmp(s->parameters[k].name, name) == 0) {
                *value = s->parameters[k].value;
                return !s->parameters[k].text;
            }
    return false;
}

/* The value of an expression, with or without braces or quotes. */
bool reader_evaluate(const scope *s, const char *from, double *value, char message[256])
{
    const expression_names names = {(void *)(uintptr_t)s, reader_parameter, NULL, NULL};
    char inner[WORD_SIZE];
    const size_t length = strlen(from);
    const bool enclosed = *from == '{' || *from == '\'';
    if (enclosed && (length < 2 || from[length - 1] != (*from == '{' ? '}' : '\''))) {
        snprintf(message, 256, "%.100s has no end", from);
        return false;
    }
    snprintf(inner, sizeof inner, "%.*s", (int)(length - 2 * enclosed), from + enclosed);
    expression *e = expression_new(inner, &names, message);
    if (!e)
        return false;
    *value = expression_value(e, NULL, 0, NULL);
    expression_free(e);
    if (!isfinite(*value))
        snprintf(message, 256, "%.100s is %g", from, *value);
    return isfinite(*value);
}

bool reader_number(reader *r, const scope *s, const char *word, double *value)
{
    char message[256];
    if (reader_done(r))
        return false;
    if (*word != '{' && *word != '\'') {
        if (!text_number(word, value))
            reader_fault(r, "%.100s is no number", word);
    } else if (!reader_evaluate(s, word, value, message)) {
        reader_fault(r, "%s", message);
    }
    return !reader_done(r);
}

bool reader_need_number(reader *r, const scope *s, const char *what, double *value)
{
    char word[WORD_SIZE];
    return reader_need(r, what, word) && reader_number(r, s, word, value);
}

bool reader_pair(reader *r, const scope *s, char name[WORD_SIZE], double *value)
{
    char word[WORD_SIZE];
    if (reader_done(r) || !text_word_next(&r->at, false, name))
        return false;
    if (!text_word_next(&r->at, false, word) || strcmp(word, "=") != 0) {
        reader_fault(r, "%.100s is not understood here: expected NAME=VALUE", name);
        return false;
    }
    return reader_need_number(r, s, name, value);
}

/* --- names ---------------------------------------------------------------------------------------
 */

int reader_unknown(reader *r, const char *name, bool current)
{
    circuit *c = r->c;
    if (c->size >= MOST_UNKNOWNS) {
        reader_fault(r, "there are more than %d unknowns", MOST_UNKNOWNS);
        return 0;
    }
    c->unknowns = grow(c->unknowns, c->size, &c->unknown_room, sizeof *c->unknowns);
    r->branch_lines = grow(r->branch_lines, c->size, &r->branch_room, sizeof *r->branch_lines);
    r->branch_lines[c->size] = (int)r->line;
    c->unknowns[c->size] = (unknown_name){.current = current};
    char key[2 * WORD_SIZE];
    snprintf(key, sizeof key, "%s%s", current ? "#" : "", name);
    c->unknowns[c->size].name = (char *)(uintptr_t)names_put(c->unknown_names, key, (int)c->size);
    c->unknowns[c->size].name += current;
    return (int)c->size++;
}

bool reader_is_ground(const char *name)
{
    return strcmp(name, "0") == 0 || strcmp(name, "gnd") == 0;
}

int reader_node(reader *r, const scope *s, const char *name)
{
    char full[2 * WORD_SIZE];
    if (reader_is_ground(name))
        return 0;
    for (int64_t k = 0; k < s->port_count; k++)
        if (strcmp(s->ports[k], name) == 0)
            return s->port_unknowns[k];
    const bool longer = strlen(name) > MOST_NAME;
    if (longer || strpbrk(name, "=#{}'\"")) {
        reader_fault(
            r, longer ? "%.40s... is longer than %d characters" : "%.100s is no name of a node",
            name, MOST_NAME);
        return 0;
    }
    snprintf(full, sizeof full, "%s%s", s->prefix, name);
    const int found = names_find(r->c->unknown_names, full);
    return found >= 0 ? found : reader_unknown(r, full, false);
}

int reader_branch(reader *r, const scope *s, const char *name, bool owned)
{
    char full[2 * WORD_SIZE];
    snprintf(full, sizeof full, "#%s%.200s", s->prefix, name);
    int found = names_find(r->c->unknown_names, full);
    if (found < 0)
        found = reader_unknown(r, full + 1, true);
    if (owned)
        r->branch_lines[found] = -1;
    return found;
}

int circuit_unknown(const circuit *c, const char *name, bool *found)
{
    const int k = reader_is_ground(name) ? 0 : names_find(c->unknown_names, name);
    *found = k >= 0;
    return k;
}

int circuit_element(const circuit *c, const char *name)
{
    return names_find(c->element_names, name);
}

bool circuit_reference(void *data, char kind, const char *a, const char *b, int unknowns[2])
{
    const circuit *c = data;
    char name[2 * WORD_SIZE];
    bool found;
    snprintf(name, sizeof name, "%s%s", kind == 'i' ? "#" : "", a);
    unknowns[0] = circuit_unknown(c, name, &found);
    if (found && *b)
        unknowns[1] = circuit_unknown(c, b, &found);
    return found && (kind == 'v' || !*b);
}

/* The model of the innermost scope that has one of this name. */
model *reader_model(reader *r, const scope *s, const char *name)
{
    char full[2 * WORD_SIZE];
    for (; s; s = s->parent) {
        snprintf(full, sizeof full, "%s%s", s->prefix, name);
        const int k = names_find(r->model_names, full);
        if (k >= 0)
            return r->c->models[k];
    }
    return NULL;
}
