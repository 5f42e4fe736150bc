/* What a word of a text means: names of the notation, names of the program; statements. */
#include "program/parse.h"

/* `restart` is not among them: it is the name of an option of many methods. */
static const char *const keywords[] = {
    "and",      "or",       "not",       "if",     "else",      "end",     "for",     "down",
    "residual", "estimate", "gradient",  "energy", "breakdown", "accept",  "start",   "loop",
    "finish",   "method",   "reference", "precon", "option",    "vectors", "scalars", NULL};
static const char *const operands[] = {
    "A",    "M",   "L",   "R",   "random", "sqrt",     "abs",    "conj", "real", "imag",
    "sign", "max", "min", "mod", "where",  "positive", "finite", "eps",  "inf",  NULL};

/* Whether a list holds the word; unlike in options, upper and lower case differ. */
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
        return parser_fail(ps, t.begin, "%s is defined already", word.text);
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

int parser_add_stmt(parser *ps, const stmt *s)
{
    program *p = ps->p;
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    if (p->stmt_count == MOST_STMTS)
        return parser_fail(ps, s->place, "there are more than %d statements", MOST_STMTS);
    if (p->stmt_count == p->stmt_room) {
        const int room = p->stmt_room > 0 ? 2 * p->stmt_room : 32;
        if (parser_stop(ps, base_grow(p->ctx, p->stmt_count, room, sizeof(stmt), &p->stmts)))
            return NONE;
        p->stmt_room = room;
    }
    p->stmts[p->stmt_count] = *s;
    return p->stmt_count++;
}

stmt parser_blank_stmt(stmt_kind kind, int place)
{
    return (stmt){.kind = kind,
                  .place = place,
                  .target = NONE,
                  .value = NONE,
                  .name = NONE,
                  .from = NONE,
                  .to = NONE,
                  .body = NONE,
                  .other = NONE,
                  .next = NONE};
}
