/* What precedes the sections: words about the method, options, declarations. */
#include "program/parse.h"

#include <math.h>

/* The text at hand without its quotes. */
static program_text quoted(parser *ps, const char *what)
{
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_TEXT, what))
        return (program_text){0, 0};
    if (t.size == 2)
        parser_fail(ps, t.begin, "the text is empty");
    return (program_text){t.begin + 1, t.size - 2};
}

static void once(parser *ps, program_text *text)
{
    if (text->size > 0)
        parser_fail(ps, ps->now.begin, "this was said before");
    parser_advance(ps);
    *text = quoted(ps, "a text in quotes");
}

/* A name with - signs into a text of 32. */
static void wide_name(parser *ps, char text[32])
{
    if (ps->now.kind != TOKEN_NAME) {
        parser_unexpected(ps, "a name");
        return;
    }
    parser_widen_name(ps);
    memcpy(text, parser_text(ps, ps->now).text, 32);
    parser_advance(ps);
}

static double signed_number(parser *ps, bool *whole)
{
    const bool minus = parser_take(ps, '-');
    const token t = ps->now;
    double value = t.value;
    if (parser_take_word(ps, "inf")) {
        value = INFINITY;
    } else {
        if (!parser_expect(ps, TOKEN_NUMBER, "a number"))
            return 0;
        *whole = *whole && strspn(ps->p->text + t.begin, "0123456789") == (size_t)t.size;
    }
    return minus ? -value : value;
}

static void number_option(parser *ps, program_name *name)
{
    const int place = ps->now.begin;
    name->whole = true;
    name->value = signed_number(ps, &name->whole);
    name->low = signed_number(ps, &name->whole);
    parser_expect(ps, TOKEN_DOTS, "..");
    name->high = signed_number(ps, &name->whole);
    if (!(name->low <= name->value && name->value <= name->high))
        parser_fail(ps, place, "%g is outside %g..%g", name->value, name->low, name->high);
}

static void word_option(parser *ps, program_name *name)
{
    const token chosen = ps->now;
    int count = 0;
    parser_advance(ps);
    ps->open++;
    parser_expect(ps, '(', "(");
    while (ps->now.kind == TOKEN_NAME) {
        const parser_word word = parser_text(ps, ps->now);
        if (base_find_word(name->words, word.text) >= 0)
            parser_fail(ps, ps->now.begin, "%s is defined already", word.text);
        if (strlen(name->words) + strlen(word.text) + 2 > sizeof name->words)
            parser_fail(ps, ps->now.begin, "the words are longer than %zu characters together",
                        sizeof name->words - 1);
        base_add_word(name->words, sizeof name->words, word.text);
        count++;
        parser_advance(ps);
    }
    ps->open--;
    parser_expect(ps, ')', "a word or )");
    name->whole = true;
    name->high = count - 1;
    name->value = base_find_word(name->words, parser_text(ps, chosen).text);
    if (name->value < 0)
        parser_fail(ps, chosen.begin, "%s is none of: %s", parser_text(ps, chosen).text,
                    name->words);
}

static void option_line(parser *ps)
{
    parser_advance(ps);
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "a name"))
        return;
    const int index = parser_add_name(ps, t, NAME_OPTION);
    if (index == NONE || !parser_expect(ps, '=', "="))
        return;
    program_name *name = &ps->p->names[index];
    if (ps->now.kind == TOKEN_NAME && !parser_at_word(ps, "inf"))
        word_option(ps, name);
    else
        number_option(ps, name);
    const int place = ps->now.begin;
    const program_text help = quoted(ps, "a help text in quotes");
    if (help.size >= (int)sizeof name->help)
        parser_fail(ps, place, "the text is longer than %zu characters", sizeof name->help - 1);
    else
        memcpy(name->help, ps->p->text + help.begin, (size_t)help.size);
    name->counter = true;
    ps->assigned[index] = true;
}

/* name, name[extent] or name[extent, extent] */
static void declaration(parser *ps, bool vectors)
{
    const token t = ps->now;
    int extent[2] = {NONE, NONE};
    if (!parser_expect(ps, TOKEN_NAME, "a name"))
        return;
    const int name = parser_add_name(ps, t, vectors ? NAME_VECTOR : NAME_SCALAR);
    if (name == NONE || ps->now.kind != '[')
        return;
    ps->open++;
    parser_advance(ps);
    extent[0] = parser_scalar(ps);
    if (!vectors && parser_take(ps, ','))
        extent[1] = parser_scalar(ps);
    ps->open--;
    parser_expect(ps, ']', "]");
    if (ps->status != SPRY_STATUS_OK)
        return;
    ps->p->names[name].kind = vectors ? NAME_VECTORS : NAME_SCALARS;
    memcpy(ps->p->names[name].extent, extent, sizeof extent);
    ps->assigned[name] = true;
}

static void declarations(parser *ps, bool vectors)
{
    parser_advance(ps);
    do
        declaration(ps, vectors);
    while (parser_take(ps, ','));
}

static void method_line(parser *ps)
{
    if (!parser_expect_word(ps, "method"))
        return;
    wide_name(ps, ps->p->method);
    ps->p->summary = quoted(ps, "a summary in quotes");
}

static void precon_line(parser *ps)
{
    if (ps->p->precon[0])
        parser_fail(ps, ps->now.begin, "this was said before");
    parser_advance(ps);
    wide_name(ps, ps->p->precon);
}

/* One or more words; hermitian and symmetric mean two things for complex matrices alone, where a
 * method uses one of them. */
static void needs_line(parser *ps)
{
#define NEED_WORD(name, word) word " "
    static const char words[] = PROGRAM_NEEDS(NEED_WORD);
    bool *needs = ps->p->needs;
    parser_advance(ps);
    do {
        const parser_word word = parser_text(ps, ps->now);
        const int need = ps->now.kind == TOKEN_NAME ? base_find_word(words, word.text) : NONE;
        if (need == NONE) {
            parser_unexpected(ps, "hermitian, symmetric or definite");
            return;
        }
        if (needs[need])
            parser_fail(ps, ps->now.begin, "this was said before");
        needs[need] = true;
        if (needs[NEED_HERMITIAN] && needs[NEED_SYMMETRIC])
            parser_fail(ps, ps->now.begin, "a method needs hermitian or symmetric, not both");
        parser_advance(ps);
    } while (ps->now.kind == TOKEN_NAME);
}

/* A word that stands alone. */
static void word_line(parser *ps, bool *said)
{
    if (*said)
        parser_fail(ps, ps->now.begin, "this was said before");
    *said = true;
    parser_advance(ps);
}

/* Arrays, declared before, whose values stay from one run to the next. */
static void keeps_line(parser *ps)
{
    parser_advance(ps);
    do {
        const token t = ps->now;
        if (!parser_expect(ps, TOKEN_NAME, "a name"))
            return;
        const int name = program_find_name(ps->p, parser_text(ps, t).text);
        if (name == NONE ||
            (ps->p->names[name].kind != NAME_VECTORS && ps->p->names[name].kind != NAME_SCALARS)) {
            parser_fail(ps, t.begin, "%s is no array that was declared", parser_text(ps, t).text);
            return;
        }
        ps->p->names[name].kept = true;
    } while (parser_take(ps, ','));
}

/* Its words are names before it, so it comes before all names. */
static void block_line(parser *ps)
{
    if (ps->p->block)
        parser_fail(ps, ps->now.begin, "this was said before");
    if (ps->p->name_count > NAME_B + 1)
        parser_fail(ps, ps->now.begin, "block stands before options and declarations");
    ps->p->block = ps->p->by_host = true;
    parser_advance(ps);
}

static bool head_line(parser *ps)
{
    if (parser_at_word(ps, "for"))
        once(ps, &ps->p->purpose);
    else if (parser_at_word(ps, "reference"))
        once(ps, &ps->p->reference);
    else if (parser_at_word(ps, "precon"))
        precon_line(ps);
    else if (parser_at_word(ps, "needs"))
        needs_line(ps);
    else if (parser_at_word(ps, "flexible"))
        word_line(ps, &ps->p->flexible);
    else if (parser_at_word(ps, "common"))
        word_line(ps, &ps->p->common);
    else if (parser_at_word(ps, "block"))
        block_line(ps);
    else if (parser_at_word(ps, "option"))
        option_line(ps);
    else if (parser_at_word(ps, "vectors") || parser_at_word(ps, "scalars"))
        declarations(ps, parser_at_word(ps, "vectors"));
    else if (parser_at_word(ps, "keeps"))
        keeps_line(ps);
    else
        return false;
    return true;
}

void parser_head(parser *ps)
{
    while (parser_take(ps, TOKEN_LINE))
        ;
    method_line(ps);
    do {
        if (ps->now.kind != TOKEN_END)
            parser_expect(ps, TOKEN_LINE, "the end of the line");
        while (parser_take(ps, TOKEN_LINE))
            ;
    } while (head_line(ps));
}
