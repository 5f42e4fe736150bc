/* A program's tables: names, expressions, places; and what a word means. */
#include "program/parse.h"

#include <stdarg.h>

void program_free(program *p)
{
    if (!p)
        return;
    base_free(p->ctx, p->text);
    base_free(p->ctx, p->exprs);
    base_free(p->ctx, p->stmts);
    base_free(p->ctx, p->names);
    base_free(p->ctx, p);
}

spry_status program_add_expr(program *p, const expr *e, int *index)
{
    const expr copy = *e; /* e may lie in the array that grows */
    spry_status status = SPRY_STATUS_OK;
    *index = NONE;
    if (p->expr_count == p->expr_room) {
        const int room = p->expr_room > 0 ? 2 * p->expr_room : 64;
        SPRY_GO(p->ctx, base_grow(p->ctx, p->expr_count, room, sizeof(expr), &p->exprs));
        p->expr_room = room;
    }
    *index = p->expr_count++;
    p->exprs[*index] = copy;
done:
    return status;
}

void program_locate(const program *p, int place, int *line, int *column)
{
    *line = 1, *column = 1;
    for (int i = 0; i < place; i++) {
        const unsigned char c = (unsigned char)p->text[i];
        if (c == '\n')
            ++*line, *column = 1;
        else
            *column += (c & 0xc0) != 0x80; /* bytes that go on a character count nothing */
    }
}

spry_status program_fault(const program *p, int place, const char *format, ...)
{
    char what[MESSAGE_SIZE / 2];
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    program_locate(p, place, &line, &column);
    return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_INPUT, "%s:%d:%d: %s", p->source, line, column, what);
}

int program_find_name(const program *p, const char *name)
{
    for (int i = 0; i < p->name_count; i++)
        if (strcmp(p->names[i].text, name) == 0)
            return i;
    return NONE;
}

/* `restart` is not among them: it is the name of an option of many methods. */
static const char *const keywords[] = {
    "and",      "or",        "not",      "if",        "else",    "end",     "for",  "down",
    "residual", "estimate",  "gradient", "breakdown", "accept",  "start",   "loop", "finish",
    "method",   "reference", "precon",   "option",    "vectors", "scalars", NULL};
static const char *const operands[] = {
    "A",    "M",   "L",   "R",   "random", "sqrt",     "abs",    "conj", "real", "imag",
    "sign", "max", "min", "mod", "where",  "positive", "finite", "eps",  "inf",  NULL};

/* Whether a list holds the word; here, unlike in options, upper and lower case differ. */
static bool holds(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (**list == *word && strcmp(*list, word) == 0)
            return true;
    return false;
}

bool parser_at_keyword(const parser *ps)
{
    return ps->now.kind == TOKEN_NAME && holds(keywords, parser_text(ps, ps->now).text);
}

/* Of methods with `block` alone, so that those without can go on using the names. */
#define SMALL_WORD(name, text, arguments, shapes) text,
static const char *const block_words[] = {PROGRAM_SMALL(SMALL_WORD) "columns", NULL};

bool parser_reserved(const parser *ps, const char *word)
{
    return holds(keywords, word) || holds(operands, word) ||
           (ps->p->block && holds(block_words, word));
}

int parser_add_name(parser *ps, token t, name_kind kind)
{
    program *p = ps->p;
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    const parser_word word = parser_text(ps, t);
    if (parser_reserved(ps, word.text))
        return parser_fail(ps, t.begin, "%s belongs to the notation and cannot be a name",
                           word.text);
    const int known = program_find_name(p, word.text);
    if (known != NONE)
        return parser_fail(ps, t.begin, "%s is there already", word.text);
    if (p->name_count == MOST_NAMES)
        return parser_fail(ps, t.begin, "there are more than %d names", MOST_NAMES);
    if (p->name_count == p->name_room) {
        const int room = p->name_room > 0 ? 2 * p->name_room : 32;
        if (parser_stop(ps, base_grow(p->ctx, p->name_count, room, sizeof *p->names, &p->names)))
            return NONE;
        p->name_room = room;
    }
    program_name *name = &p->names[p->name_count];
    *name = (program_name){.kind = kind, .place = t.begin, .extent = {NONE, NONE}};
    memcpy(name->text, word.text, sizeof name->text);
    return p->name_count++;
}

int parser_unknown(parser *ps, token t)
{
    char words[2048] = "";
    char nearest[64];
    const parser_word word = parser_text(ps, t);
    for (const char *const *known = operands; *known; known++)
        base_add_word(words, sizeof words, *known);
    for (int i = 0; i < ps->p->name_count; i++)
        base_add_word(words, sizeof words, ps->p->names[i].text);
    /* Of names of one or two letters all are near. */
    if (t.size > 2 && spry_nearest(word.text, words, nearest, sizeof nearest))
        return parser_fail(ps, t.begin, "%s is unknown here; did you mean %s?", word.text, nearest);
    return parser_fail(ps, t.begin, "%s is unknown: nothing is assigned to it before this",
                       word.text);
}
