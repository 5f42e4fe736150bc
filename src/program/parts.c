/*
 * Named parts of a text: statements that are written once, after the sections, and are read where
 * `use NAME` stands, in its place. Parts use no others, and are used a bounded number of
 * times, so that reading a text takes no longer than its length allows.
 */
#include "program/parse.h"

static const parser_part *find(const parser *ps, token name)
{
    for (int i = 0; i < ps->part_count; i++)
        if (strcmp(parser_text(ps, ps->parts[i].name).text, parser_text(ps, name).text) == 0)
            return &ps->parts[i];
    return NULL;
}

/* Whether a word and, in the same line, a name are at hand: both words may also be names that are
 * assigned to. */
static bool at_named(const parser *ps, const char *word)
{
    const char *after = ps->p->text + ps->at;
    if (!parser_at_word(ps, word) || (*after != ' ' && *after != '\t'))
        return false;
    after += strspn(after, " \t");
    return (*after >= 'a' && *after <= 'z') || (*after >= 'A' && *after <= 'Z');
}

bool parser_at_part(const parser *ps)
{
    return at_named(ps, "part");
}

bool parser_at_use(const parser *ps)
{
    return at_named(ps, "use");
}

/* part NAME: */
static void note_part(parser *ps)
{
    parser_advance(ps);
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "a name"))
        return;
    if (find(ps, t))
        parser_fail(ps, t.begin, "the part %s is defined already", parser_text(ps, t).text);
    else if (ps->part_count == MOST_PARTS_OF_TEXT)
        parser_fail(ps, t.begin, "there are more than %d parts", MOST_PARTS_OF_TEXT);
    else if (ps->now.kind != ':')
        parser_unexpected(ps, ":");
    else
        ps->parts[ps->part_count++] = (parser_part){t, ps->at};
}

void parser_find_parts(parser *ps)
{
    const token now = ps->now;
    const char *text = ps->p->text, *line = text;
    while ((line = strstr(line, "\npart ")) && ps->status == SPRY_STATUS_OK) {
        line++;
        ps->at = (int)(line - text);
        parser_advance(ps);
        if (parser_at_part(ps))
            note_part(ps);
    }
    if (ps->status != SPRY_STATUS_OK)
        return;
    ps->at = 0;
    ps->now = now;
}

/* After a line's end or a colon, for and if have an `end` of their own. */
void parser_skip_part(parser *ps)
{
    const int place = ps->now.begin;
    int depth = 1;
    bool begins = false;
    while (ps->now.kind != TOKEN_END && depth > 0) {
        depth += begins && (parser_at_word(ps, "for") || parser_at_word(ps, "if"));
        depth -= begins && parser_at_word(ps, "end");
        begins = ps->now.kind == TOKEN_LINE || ps->now.kind == ':';
        parser_advance(ps);
    }
    if (depth > 0)
        parser_fail(ps, place, "the part has no end");
    while (parser_take(ps, TOKEN_LINE))
        ;
}

bool parser_enter_part(parser *ps)
{
    const int place = ps->now.begin;
    parser_advance(ps);
    const token t = ps->now;
    const parser_part *part = find(ps, t);
    if (!part)
        parser_fail(ps, t.begin, "there is no part %s", parser_text(ps, t).text);
    else if (ps->in_part)
        parser_fail(ps, place, "a part cannot use another");
    else if (ps->uses++ == MOST_USES)
        parser_fail(ps, place, "parts are used more than %d times", MOST_USES);
    if (!part || ps->status != SPRY_STATUS_OK)
        return false;
    ps->used = t;
    ps->after_use = ps->at;
    ps->in_part = true;
    ps->at = part->begin;
    ps->now = (token){.kind = ':', .begin = part->begin};
    parser_advance(ps);
    return true;
}

bool parser_leave_part(parser *ps)
{
    if (ps->status == SPRY_STATUS_OK && !parser_at_word(ps, "end"))
        parser_unexpected(ps, "end");
    ps->in_part = false;
    if (ps->status != SPRY_STATUS_OK)
        return false;
    ps->at = ps->after_use;
    ps->now = ps->used;
    parser_advance(ps);
    return true;
}
