/*
 * Which scalars are counters, that is, follow from numbers and options alone, and that all indices,
 * ends of runs and ends of loops are made of such. Counters are found from above: all scalars are
 * taken for counters until an assignment says otherwise, and again until nothing changes.
 */
#include "program/parse.h"

/* Whether the data cannot change the expression's value. */
static bool known(const parser *ps, int e)
{
    const expr *x = &ps->p->exprs[e];
    switch (x->kind) {
    case EXPR_NUMBER:
        return true;
    case EXPR_NAME:
        return ps->p->names[x->name].counter && (!ps->skipped[x->name] || ps->running[x->name]);
    case EXPR_CALL:
        for (int i = 0; i < 3 && x->arg[i] != NONE; i++)
            if (!known(ps, x->arg[i]))
                return false;
        return true;
    default:
        return false;
    }
}

static void clear(parser *ps, int name, bool *changed)
{
    *changed = *changed || ps->p->names[name].counter;
    ps->p->names[name].counter = false;
}

/* Takes the name of counter from scalars in a list of statements; `data`: which the data may skip.
 */
static void sift(parser *ps, int list, bool data, bool *changed)
{
    for (int i = list; i != NONE; i = ps->p->stmts[i].next) {
        const stmt s = ps->p->stmts[i];
        if (s.kind == STMT_SET && (data || !known(ps, s.value))) {
            clear(ps, ps->p->exprs[s.target].name, changed);
        } else if (s.kind == STMT_IF) {
            const bool inner = data || !known(ps, s.value);
            sift(ps, s.body, inner, changed);
            sift(ps, s.other, inner, changed);
        } else if (s.kind == STMT_FOR) {
            if (!known(ps, s.from) || !known(ps, s.to))
                clear(ps, s.name, changed);
            *changed = *changed || (data && !ps->skipped[s.name]);
            ps->skipped[s.name] = ps->skipped[s.name] || data;
            ps->running[s.name] = true;
            sift(ps, s.body, data, changed);
            ps->running[s.name] = false;
        }
    }
}

static void need_known(parser *ps, int e, const char *what)
{
    if (ps->status != SPRY_STATUS_OK || e == NONE || known(ps, e))
        return;
    char text[64];
    program_print_expr(ps->p, e, text, sizeof text);
    parser_fail(ps, ps->p->exprs[e].place,
                "%s depends on the data: %s is made of numbers, options, counters and variables of "
                "loops",
                text, what);
}

/* The indices in an expression. */
static void check_indices(parser *ps, int e)
{
    if (e == NONE || ps->status != SPRY_STATUS_OK)
        return;
    const expr *x = &ps->p->exprs[e];
    for (int i = 0; i < 3 && x->arg[i] != NONE; i++) {
        if (x->kind == EXPR_NAME || x->kind == EXPR_SLICE)
            need_known(ps, x->arg[i], "an index");
        check_indices(ps, x->arg[i]);
    }
}

static void check_list(parser *ps, int list)
{
    for (int i = list; i != NONE && ps->status == SPRY_STATUS_OK; i = ps->p->stmts[i].next) {
        const stmt s = ps->p->stmts[i];
        check_indices(ps, s.target);
        check_indices(ps, s.value);
        need_known(ps, s.from, "an end of a loop");
        need_known(ps, s.to, "an end of a loop");
        if (s.kind == STMT_FOR)
            ps->running[s.name] = true;
        check_list(ps, s.body);
        if (s.kind == STMT_FOR)
            ps->running[s.name] = false;
        check_list(ps, s.other);
    }
}

void parser_check(parser *ps)
{
    program *p = ps->p;
    for (int i = 0; i < p->name_count; i++)
        p->names[i].counter = p->names[i].kind == NAME_SCALAR || p->names[i].kind == NAME_OPTION;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < SECTION_COUNT; i++)
            sift(ps, p->section[i], false, &changed);
    }
    for (int i = 0; i < p->name_count; i++)
        for (int k = 0; k < 2; k++)
            need_known(ps, p->names[i].extent[k], "the size of an array");
    for (int i = 0; i < SECTION_COUNT; i++)
        check_list(ps, p->section[i]);
}
