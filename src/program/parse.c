/* Statements and sections, and the parser as a whole. */
#include "program/parse.h"

#include "program/kept.h"

#include <private/marks.h>

static int block(parser *ps);

static const char *const sections[] = {"start", "loop", "finish"};

/* The index of a name that may be assigned to at this place, NONE when it is new. */
static int assignable(parser *ps, token t)
{
    const parser_word word = parser_text(ps, t);
    if (parser_reserved(ps, word.text))
        return parser_fail(ps, t.begin, "%s belongs to the notation and cannot be assigned to",
                           word.text);
    const int name = program_find_name(ps->p, word.text);
    if (name == NONE)
        return NONE;
    if (name == NAME_B || ps->p->names[name].kind == NAME_OPTION)
        return parser_fail(ps, t.begin, "%s is %s and cannot be assigned to", word.text,
                           name == NAME_B ? "the right-hand side" : "an option");
    if (ps->running[name])
        return parser_fail(ps, t.begin, "%s is the variable of this loop and cannot be assigned to",
                           word.text);
    return name;
}

/* Whether an array of numbers stands for all of it, without an index. */
static bool is_whole(const parser *ps, int e)
{
    const expr *x = &ps->p->exprs[e];
    return x->kind == EXPR_SLICE && ps->p->names[x->name].kind == NAME_SCALARS &&
           ps->p->exprs[x->arg[0]].place == x->place;
}

/* Makes value fit target: 0 is a vector where one is needed. */
static void fit(parser *ps, int target, int value)
{
    if (ps->status != SPRY_STATUS_OK)
        return;
    expr *e = &ps->p->exprs[value];
    const shape needed = parser_shape(ps, target);
    if (needed == SHAPE_VECTOR && e->kind == EXPR_NUMBER && e->value == 0)
        e->shape = SHAPE_VECTOR;
    if (needed == SHAPE_VECTORS)
        parser_fail(ps, ps->p->exprs[target].place,
                    "vectors can only be assigned to one by one, or by powers()");
    else if (!ps->p->block && is_whole(ps, target) && e->kind != EXPR_SMALL)
        parser_fail(ps, ps->p->exprs[target].place, "%s is an array: an index is needed",
                    ps->p->names[ps->p->exprs[target].name].text);
    else if (needed == SHAPE_MATRIX && e->kind != EXPR_SMALL)
        parser_fail(ps, e->place, "only what a function makes can be assigned to a matrix");
    else if (needed == SHAPE_SCALARS && e->kind != EXPR_DOT && e->kind != EXPR_SMALL)
        parser_fail(ps, e->place,
                    "only several inner products%s can be assigned to a run of scalars",
                    ps->p->block ? ", or a column of a small matrix," : "");
    else
        parser_need(ps, value, needed);
}

static int assignment(parser *ps)
{
    const token t = ps->now;
    stmt s = parser_blank_stmt(STMT_SET, t.begin);
    int name = assignable(ps, t);
    parser_advance(ps);
    if (name != NONE)
        s.target = parser_element(ps, t, name);
    else if (ps->now.kind == '[')
        return parser_fail(ps, t.begin, "%s is not declared; arrays are, before the sections",
                           parser_text(ps, t).text);
    parser_expect(ps, '=', "=");
    if (parser_shape(ps, s.target) == SHAPE_VECTORS && parser_at_word(ps, "powers"))
        return parser_powers(ps, s.target);
    s.value = parser_expr(ps);
    if (ps->status == SPRY_STATUS_OK && name == NONE) {
        const bool vector = parser_shape(ps, s.value) == SHAPE_VECTOR;
        name = parser_add_name(ps, t, vector ? NAME_VECTOR : NAME_SCALAR);
        s.target = parser_element(ps, t, name);
    }
    fit(ps, s.target, s.value);
    if (ps->status == SPRY_STATUS_OK)
        ps->assigned[name] = true;
    return parser_add_stmt(ps, &s);
}

static int report(parser *ps, stmt_kind kind)
{
    stmt s = parser_blank_stmt(kind, ps->now.begin);
    if (ps->section == SECTION_FINISH)
        return parser_fail(ps, s.place, "%s can only stand in start and loop",
                           parser_text(ps, ps->now).text);
    if (kind != STMT_GRADIENT && kind != STMT_ENERGY)
        ps->reports[ps->section] = true;
    if (kind == STMT_ESTIMATE && ps->estimate == NONE)
        ps->estimate = s.place;
    parser_advance(ps);
    s.value = parser_scalar(ps);
    return parser_add_stmt(ps, &s);
}

/* {name} in a message: a plain scalar that has a value. */
static void check_message(parser *ps, const stmt *s)
{
    const char *text = ps->p->text;
    const int end = s->message + s->message_size;
    for (int i = s->message; i < end && ps->status == SPRY_STATUS_OK; i++) {
        if (text[i] != '{')
            continue;
        const token t = {
            .kind = TOKEN_NAME, .begin = i + 1, .size = (int)strcspn(text + i + 1, "}\"")};
        if (i + 1 + t.size >= end) {
            parser_fail(ps, i, "} is missing");
            return;
        }
        const int name = t.size < 32 ? program_find_name(ps->p, parser_text(ps, t).text) : NONE;
        const name_kind kind = name == NONE ? NAME_VECTOR : ps->p->names[name].kind;
        if ((kind != NAME_SCALAR && kind != NAME_OPTION) || !ps->assigned[name])
            parser_fail(ps, i, "{%s} is not a scalar that has a value here",
                        parser_text(ps, t).text);
        i += t.size;
    }
}

/* `breakdown if` and `accept if`. */
static int breakdown(parser *ps, bool accepts)
{
    stmt s = parser_blank_stmt(STMT_BREAKDOWN, ps->now.begin);
    s.accepts = accepts;
    if (ps->section == SECTION_FINISH)
        return parser_fail(ps, s.place, "%s can only stand in start and loop",
                           accepts ? "accept" : "breakdown");
    parser_advance(ps);
    parser_expect_word(ps, "if");
    s.value = parser_scalar(ps);
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_TEXT, "a message in quotes"))
        return NONE;
    s.message = t.begin + 1;
    s.message_size = t.size - 2;
    check_message(ps, &s);
    return parser_add_stmt(ps, &s);
}

static int restart(parser *ps)
{
    stmt s = parser_blank_stmt(STMT_RESTART, ps->now.begin);
    if (ps->section != SECTION_LOOP)
        return parser_fail(ps, s.place, "restart can only stand in loop");
    parser_advance(ps);
    parser_expect_word(ps, "if");
    s.value = parser_scalar(ps);
    return parser_add_stmt(ps, &s);
}

static int counted_loop(parser *ps)
{
    stmt s = parser_blank_stmt(STMT_FOR, ps->now.begin);
    parser_advance(ps);
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "a name"))
        return NONE;
    s.name = assignable(ps, t);
    if (s.name != NONE && ps->p->names[s.name].kind != NAME_SCALAR)
        return parser_fail(ps, t.begin, "%s is not a scalar", ps->p->names[s.name].text);
    parser_expect(ps, '=', "=");
    s.from = parser_scalar(ps);
    s.down = parser_take_word(ps, "down");
    if (s.down)
        parser_expect_word(ps, "to");
    else
        parser_expect(ps, TOKEN_DOTS, ".. or down to");
    s.to = parser_scalar(ps);
    parser_expect(ps, ':', ":");
    if (s.name == NONE)
        s.name = parser_add_name(ps, t, NAME_SCALAR);
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    ps->assigned[s.name] = ps->running[s.name] = true;
    s.body = block(ps);
    ps->running[s.name] = false;
    parser_expect_word(ps, "end");
    return parser_add_stmt(ps, &s);
}

static int branch(parser *ps)
{
    stmt s = parser_blank_stmt(STMT_IF, ps->now.begin);
    parser_advance(ps);
    s.value = parser_scalar(ps);
    parser_expect(ps, ':', ":");
    s.body = block(ps);
    if (parser_take_word(ps, "else")) {
        parser_expect(ps, ':', ":");
        s.other = block(ps);
    }
    parser_expect_word(ps, "end");
    return parser_add_stmt(ps, &s);
}

static int statement(parser *ps)
{
    if (ps->now.kind != TOKEN_NAME)
        return parser_unexpected(ps, "a statement");
    if (parser_at_word(ps, "residual"))
        return report(ps, STMT_RESIDUAL);
    if (parser_at_word(ps, "estimate"))
        return report(ps, STMT_ESTIMATE);
    if (parser_at_word(ps, "gradient"))
        return report(ps, STMT_GRADIENT);
    if (parser_at_word(ps, "energy"))
        return report(ps, STMT_ENERGY);
    if (parser_at_word(ps, "breakdown"))
        return breakdown(ps, false);
    if (parser_at_word(ps, "accept"))
        return breakdown(ps, true);
    if (parser_at_word(ps, "restart"))
        return restart(ps);
    if (parser_at_word(ps, "for"))
        return counted_loop(ps);
    if (parser_at_word(ps, "if"))
        return branch(ps);
    return assignment(ps);
}

static int section_at(const parser *ps)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (parser_at_word(ps, sections[i]))
            return i;
    return NONE;
}

/* The first of the statements that `use NAME` stands for, or NONE. */
static int used_part(parser *ps)
{
    if (!parser_enter_part(ps))
        return NONE;
    const int first = block(ps);
    return parser_leave_part(ps) ? first : NONE;
}

static int block(parser *ps)
{
    int first = NONE, last = NONE;
    if (!parser_enter(ps))
        return NONE;
    while (ps->status == SPRY_STATUS_OK) {
        while (parser_take(ps, TOKEN_LINE))
            ;
        if (ps->now.kind == TOKEN_END || parser_at_word(ps, "end") || parser_at_word(ps, "else") ||
            section_at(ps) != NONE || parser_at_part(ps))
            break;
        const bool uses = parser_at_use(ps);
        const int s = uses ? used_part(ps) : statement(ps);
        if (s == NONE && !uses)
            break;
        if (ps->now.kind != TOKEN_END && ps->now.kind != TOKEN_LINE)
            parser_unexpected(ps, "the end of the statement");
        if (s == NONE)
            continue;
        if (last == NONE)
            first = s;
        else
            ps->p->stmts[last].next = s;
        for (last = s; ps->p->stmts[last].next != NONE;)
            last = ps->p->stmts[last].next;
    }
    ps->depth--;
    return first;
}

static void parse_sections(parser *ps)
{
    while (ps->status == SPRY_STATUS_OK && ps->now.kind != TOKEN_END) {
        const int section = section_at(ps);
        if (parser_at_part(ps)) {
            parser_skip_part(ps);
            continue;
        }
        if (section == NONE) {
            parser_unexpected(ps, ps->seen[SECTION_START] ? "a statement"
                                                          : "a section or a declaration");
            return;
        }
        for (int i = section; i < SECTION_COUNT; i++)
            if (ps->seen[i])
                parser_fail(ps, ps->now.begin,
                            "the sections are start, loop, finish in this order");
        parser_advance(ps);
        parser_expect(ps, ':', ":");
        ps->section = (program_section)section;
        ps->seen[section] = true;
        ps->p->section[section] = block(ps);
    }
    if (ps->status != SPRY_STATUS_OK)
        return;
    for (int i = SECTION_START; i <= SECTION_LOOP; i++)
        if (!ps->seen[i])
            parser_fail(ps, ps->now.begin, "the section %s is missing", sections[i]);
    if (!ps->reports[SECTION_LOOP])
        parser_fail(ps, ps->now.begin, "there is no residual and no estimate in loop");
    if (ps->estimate != NONE && !ps->seen[SECTION_FINISH])
        parser_fail(ps, ps->estimate, "estimate needs the section finish, which makes x");
}

/* x and b, which every program has. */
static void first_names(parser *ps)
{
    static const char *const names[] = {[NAME_X] = "x", [NAME_B] = "b"};
    const token nowhere = {.kind = TOKEN_NAME};
    for (int i = 0; i < 2 && ps->status == SPRY_STATUS_OK; i++) {
        if (parser_add_name(ps, nowhere, NAME_VECTOR) == NONE)
            return;
        snprintf(ps->p->names[i].text, sizeof ps->p->names[i].text, "%s", names[i]);
        ps->assigned[i] = true;
    }
}

static spry_status copy_text(program *p, const char *source, const char *text, size_t size)
{
    snprintf(p->source, sizeof p->source, "%s", source);
    if (size > MOST_TEXT)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: the text has %zu bytes, at most %d are taken", p->source, size,
                         MOST_TEXT);
    const size_t mark = text_mark(text, size);
    const char *utf16 = text_is_utf16(text, size); /* a byte of 0 has its message elsewhere */
    const spry_status status = base_alloc(p->ctx, (int64_t)size + 1, 1, &p->text);
    if (status != SPRY_STATUS_OK)
        return status;
    p->size = (int)(size - mark);
    if (size > mark)
        memcpy(p->text, text + mark, size - mark);
    p->text[p->size] = '\0';
    return utf16 ? program_fault(p, 0, "%s", utf16) : SPRY_STATUS_OK;
}

static spry_status parse(spry_context *ctx, const char *source, const char *text, size_t size,
                         program **p)
{
    spry_status status = SPRY_STATUS_OK;
    parser *ps = NULL;
    program *made = NULL;
    *p = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof(program), &made));
    made->ctx = ctx;
    for (int i = 0; i < SECTION_COUNT; i++)
        made->section[i] = NONE;
    SPRY_GO(ctx, copy_text(made, source, text, size));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof(parser), &ps));
    ps->p = made;
    ps->size = made->size;
    ps->estimate = ps->power = NONE;
    ps->now.kind = TOKEN_LINE;
    first_names(ps);
    parser_find_parts(ps);
    parser_advance(ps);
    parser_head(ps);
    parse_sections(ps);
    if (ps->status == SPRY_STATUS_OK)
        parser_check(ps);
    SPRY_GO(ctx, ps->status);
    *p = made;
    made = NULL;
done:
    base_free(ctx, ps);
    program_free(made);
    return status;
}

spry_status program_parse(spry_context *ctx, const char *source, const char *text, size_t size,
                          program **p)
{
    spry_status status = kept_program(ctx, source, text, size, p);
    if (status != SPRY_STATUS_OK || *p)
        return status;
    status = parse(ctx, source, text, size, p);
    if (status == SPRY_STATUS_OK)
        keep_program(*p);
    return status;
}
