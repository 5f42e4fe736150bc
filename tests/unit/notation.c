/* Methods as text: what each construct becomes, and how expressions are printed. */
#include "support/notation.h"

#include <stdio.h>
#include <string.h>

static const char cg[] = "method cg \"conjugate gradients\"\n"
                         "for \"positive definite matrices\"\n"
                         "reference \"Hestenes, Stiefel \xc3\xa0 1952\"\n"
                         "precon jacobi-2\n"
                         "needs definite  hermitian # of A\n"
                         "flexible\n"
                         "start:\n"
                         "    r = b - A x\n"
                         "    residual |r|   # the first one\n"
                         "    z = M r; p = z; rho = (r, z)\n"
                         "loop:\n"
                         "    breakdown if not positive(rho) \"(r, M r) = {rho} is not positive\"\n"
                         "    q = A p\n"
                         "    alpha = rho / (p, q)\n"
                         "    x = x + alpha p\n"
                         "    r = r - alpha q\n"
                         "    residual |r|\n"
                         "    z = M r\n"
                         "    rho1 = (r, z)\n"
                         "    p = z + rho1 / rho p\n"
                         "    rho = rho1\n";

static void text_is(const program *p, program_text text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(p->text + text.begin, expected, strlen(expected));
}

static void expr_is(const program *p, int e, const char *expected)
{
    char text[512];
    program_print_expr(p, e, text, sizeof text);
    assert_string_equal(text, expected);
}

/* Of a text with a zero in a comment, which no length of a string knows of. */
static void test_copy(void **state)
{
    static const char text[] =
        "method m \"a method\"\n# a\0b\nstart:\n    r = b - A x\n    residual |r|\n"
        "loop:\n    x = x + 2 r\n    r = b - A x\n    residual |r|\n";
    spry_context *ctx = *state;
    program *p = NULL, *q = NULL, *copy = NULL;
    int index;
    assert_ok(ctx, program_parse(ctx, "m", text, sizeof text - 1, &p));
    assert_ok(ctx, program_parse(ctx, "m", text, sizeof text - 1, &q));
    assert_ok(ctx, program_copy(ctx, p, &copy));
    program_free(p);
    assert_int_equal(copy->size, q->size);
    assert_memory_equal(copy->text, q->text, sizeof text);
    assert_int_equal(copy->stmt_count, q->stmt_count);
    assert_int_equal(copy->name_count, q->name_count);
    for (int e = 0; e < q->expr_count; e++) {
        char expected[512];
        program_print_expr(q, e, expected, sizeof expected);
        expr_is(copy, e, expected);
    }
    const expr one = {.kind = EXPR_NUMBER, .value = 1, .arg = {NONE, NONE, NONE}};
    assert_ok(ctx, program_add_expr(copy, &one, &index));
    assert_int_equal(index, q->expr_count);
    expr_is(copy, index, "1");
    program_free(copy);
    program_free(q);
}

static void test_method(void **state)
{
    spry_context *ctx = *state;
    program *p = NULL;
    assert_ok(ctx, program_parse(ctx, "cg.krylov", cg, sizeof cg - 1, &p));
    assert_string_equal(p->method, "cg");
    assert_string_equal(p->source, "cg.krylov");
    assert_string_equal(p->precon, "jacobi-2");
    assert_true(p->needs[NEED_HERMITIAN] && p->needs[NEED_DEFINITE] && p->flexible);
    assert_false(p->needs[NEED_SYMMETRIC]);
    text_is(p, p->summary, "conjugate gradients");
    text_is(p, p->purpose, "positive definite matrices");
    text_is(p, p->reference, "Hestenes, Stiefel \xc3\xa0 1952");
    assert_int_equal(program_find_name(p, "x"), NAME_X);
    assert_int_equal(program_find_name(p, "b"), NAME_B);
    assert_int_equal(program_find_name(p, "none"), NONE);
    assert_int_equal(p->names[program_find_name(p, "q")].kind, NAME_VECTOR);
    assert_int_equal(p->names[program_find_name(p, "alpha")].kind, NAME_SCALAR);
    assert_int_equal(p->section[SECTION_FINISH], NONE);
    assert_false(p->uses_transpose);
    int count = 0, line, column;
    for (int i = p->section[SECTION_START]; i != NONE; i = p->stmts[i].next)
        count++;
    assert_int_equal(count, 5);
    const stmt *s = &p->stmts[p->section[SECTION_LOOP]];
    assert_int_equal(s->kind, STMT_BREAKDOWN);
    assert_memory_equal(p->text + s->message, "(r, M r) = {rho} is not positive", 32);
    assert_int_equal(s->message_size, 32);
    program_locate(p, s->place, &line, &column);
    assert_int_equal(line, 12);
    assert_int_equal(column, 5);
    expr_is(p, notation_last(p, p->section[SECTION_LOOP])->value, "rho1");
    program_free(p);
    program_free(NULL);
}

/* Characters count, not bytes. */
static void test_locate(void **state)
{
    spry_context *ctx = *state;
    program *p = NULL;
    static const char text[] = "method m \"\xc3\xa4\xe2\x82\xac\" start: ?";
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, program_parse(ctx, "m", text, sizeof text - 1, &p));
    assert_string_equal(spry_message(ctx), "m:1:15: the end of the line is needed here, not start");
    assert_null(p);
}

static void test_options(void **state)
{
    spry_context *ctx = *state;
    program *p = notation_program(ctx, "");
    const program_name *m = &p->names[program_find_name(p, "m")];
    const program_name *w = &p->names[program_find_name(p, "w")];
    const program_name *side = &p->names[program_find_name(p, "side")];
    assert_string_equal(p->method, "test-1");
    assert_true(m->kind == NAME_OPTION && m->counter && m->whole);
    assert_true(m->value == 3 && m->low == 1 && m->high == 10);
    assert_string_equal(m->help, "steps");
    assert_true(w->kind == NAME_OPTION && !w->whole && w->value == 0.5 && w->high == 2);
    assert_true(side->value == 1 && side->low == 0 && side->high == 1);
    assert_string_equal(side->words, "left right");
    const program_name *V = &p->names[program_find_name(p, "V")];
    const program_name *H = &p->names[program_find_name(p, "H")];
    assert_int_equal(V->kind, NAME_VECTORS);
    expr_is(p, V->extent[0], "m + 1");
    assert_int_equal(V->extent[1], NONE);
    assert_int_equal(H->kind, NAME_SCALARS);
    expr_is(p, H->extent[1], "m");
    assert_int_equal(p->names[program_find_name(p, "u")].kind, NAME_VECTOR);
    program_free(p);
}

/* Values of the last statement, written so and printed so (NULL: the same), and their shape. */
static const struct {
    const char *written, *printed;
    shape shape;
} values[] = {
    {"A p", NULL, SHAPE_VECTOR},
    {"A^T p + M^H p - L^T R p", NULL, SHAPE_VECTOR},
    {"M A p", NULL, SHAPE_VECTOR},
    {"A (p + r)", NULL, SHAPE_VECTOR},
    {"A p / rho", NULL, SHAPE_VECTOR},
    {"2 A p", NULL, SHAPE_VECTOR},
    {"rho p", NULL, SHAPE_VECTOR},
    {"p rho", "rho p", SHAPE_VECTOR},
    {"rho * p", "rho p", SHAPE_VECTOR},
    {"p + 2 r - w p", NULL, SHAPE_VECTOR},
    {"p - (r - p)", NULL, SHAPE_VECTOR},
    {"(p - r) - p", "p - r - p", SHAPE_VECTOR},
    {"-rho p + r", NULL, SHAPE_VECTOR},
    {"-(p + r)", NULL, SHAPE_VECTOR},
    {"p .* r ./ p", NULL, SHAPE_VECTOR},
    {"p .* A r", NULL, SHAPE_VECTOR},
    {"rho / k p", NULL, SHAPE_VECTOR},
    {"random(k + 1)", NULL, SHAPE_VECTOR},
    {"V[0..k] h[0..k]", NULL, SHAPE_VECTOR},
    {"V[0..k] * H[0..k, m - 1]", "V[0..k] H[0..k, m - 1]", SHAPE_VECTOR},
    {"r - rho V[0..-1] h[0..-1]", NULL, SHAPE_VECTOR},
    {"A V[0..k] h[0..k]", NULL, SHAPE_VECTOR},
    {"V[mod(k, 2)]", NULL, SHAPE_VECTOR},
    {"(p, r)", NULL, SHAPE_SCALAR},
    {"p^H r", "(p, r)", SHAPE_SCALAR},
    {"p^T r", NULL, SHAPE_SCALAR},
    {"(p + r)^T A (p - r)", NULL, SHAPE_SCALAR},
    {"(V[0..k] h[0..k])^T p", NULL, SHAPE_SCALAR},
    {"p^T V[0..k] h[0..k]", NULL, SHAPE_SCALAR},
    {"p^T r / rho", NULL, SHAPE_SCALAR},
    {"(p^T r)^2", NULL, SHAPE_SCALAR},
    {"rho (p, A r + p)", NULL, SHAPE_SCALAR},
    {"|p - r|", NULL, SHAPE_SCALAR},
    {"|rho|", NULL, SHAPE_SCALAR},
    {"abs(rho)", "|rho|", SHAPE_SCALAR},
    {"2 |p|", "2 * |p|", SHAPE_SCALAR},
    {"||p| - |r||", NULL, SHAPE_SCALAR},
    {"|rho (|p| k)|", "|rho (|p| k)|", SHAPE_SCALAR},
    {"|p|^2", NULL, SHAPE_SCALAR},
    {"rho * |p|^2", NULL, SHAPE_SCALAR},
    {"rho * 2^k", NULL, SHAPE_SCALAR},
    {"rho / tau * 2", "rho / tau * 2", SHAPE_SCALAR},
    {"rho / (tau * 2)", "rho / (tau * 2)", SHAPE_SCALAR},
    {"rho / tau / k", NULL, SHAPE_SCALAR},
    {"rho * (tau k)", "rho (tau k)", SHAPE_SCALAR},
    {"rho (tau + k)", NULL, SHAPE_SCALAR},
    {"rho * -tau", NULL, SHAPE_SCALAR},
    {"rho / -(tau k)", NULL, SHAPE_SCALAR},
    {"rho (-tau)^2", NULL, SHAPE_SCALAR},
    {"rho - (-tau)", NULL, SHAPE_SCALAR},
    {"rho^-2", NULL, SHAPE_SCALAR},
    {"rho^-tau^-k", NULL, SHAPE_SCALAR},
    {"rho^tau^k", NULL, SHAPE_SCALAR},
    {"(rho^tau)^k", NULL, SHAPE_SCALAR},
    {"-rho^2", NULL, SHAPE_SCALAR},
    {"(-rho)^2", NULL, SHAPE_SCALAR},
    {"1.5e-3 + .25 eps - inf", "0.0015 + 0.25 eps - inf", SHAPE_SCALAR},
    {"rho -tau", "rho - tau", SHAPE_SCALAR},
    {"not (rho < 1 and tau >= 2) or k == 0", NULL, SHAPE_SCALAR},
    {"(rho or tau) and not k != 1", NULL, SHAPE_SCALAR},
    {"(rho < tau) == (k <= 2)", NULL, SHAPE_SCALAR},
    {"(not rho) == tau", NULL, SHAPE_SCALAR},
    {"not not rho > tau", NULL, SHAPE_SCALAR},
    {"side == left", NULL, SHAPE_SCALAR},
    {"side != right and k > 0", NULL, SHAPE_SCALAR},
    {"where(rho > 0, max(rho, tau), min(1, mod(k, 3)))", NULL, SHAPE_SCALAR},
    {"sqrt(rho) conj(rho) real(rho) imag(rho) sign(rho)", NULL, SHAPE_SCALAR},
    {"positive(rho) + finite(rho)", NULL, SHAPE_SCALAR},
    {"h[k] + H[k, m - 1]", NULL, SHAPE_SCALAR},
    {"|p|^T", NULL, SHAPE_SCALAR}, /* T is a scalar here */
};

static void test_values(void **state)
{
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char lines[256];
        snprintf(lines, sizeof lines, "tau = rho; T = 2; result = %s", values[i].written);
        program *p = notation_program(ctx, lines);
        const stmt *s = notation_last(p, p->section[SECTION_LOOP]);
        assert_int_equal(s->kind, STMT_SET);
        expr_is(p, s->target, "result");
        expr_is(p, s->value, values[i].printed ? values[i].printed : values[i].written);
        assert_int_equal(p->exprs[s->value].shape, values[i].shape);
        assert_int_equal(p->names[program_find_name(p, "result")].kind,
                         values[i].shape == SHAPE_VECTOR ? NAME_VECTOR : NAME_SCALAR);
        program_free(p);
    }
}

/* The trees, where printing alone would not show them. */
static void test_trees(void **state)
{
    spry_context *ctx = *state;
    program *p = notation_program(ctx, "H[0..k, k] = (V[0..k], A^H p)");
    const stmt *s = notation_last(p, p->section[SECTION_LOOP]);
    const expr *target = &p->exprs[s->target], *dot = &p->exprs[s->value];
    assert_true(target->kind == EXPR_SLICE && target->shape == SHAPE_SCALARS);
    assert_true(target->arg[0] != NONE && target->arg[1] != NONE && target->arg[2] != NONE);
    assert_true(dot->kind == EXPR_DOT && dot->shape == SHAPE_SCALARS && dot->conjugate);
    assert_int_equal(p->exprs[dot->arg[0]].shape, SHAPE_VECTORS);
    const expr *apply = &p->exprs[dot->arg[1]];
    assert_true(apply->kind == EXPR_APPLY && apply->op == OPERATOR_A);
    assert_int_equal(apply->transpose, SPRY_TRANSPOSE_CONJUGATE);
    assert_true(p->uses_transpose);
    program_free(p);

    p = notation_program(ctx, "h[0..k] = V[0..k]^T p");
    dot = &p->exprs[notation_last(p, p->section[SECTION_LOOP])->value];
    assert_true(dot->kind == EXPR_DOT && dot->shape == SHAPE_SCALARS && !dot->conjugate);
    program_free(p);

    p = notation_program(ctx, "q = p rho"); /* the scalar comes first */
    const expr *product = &p->exprs[notation_last(p, p->section[SECTION_LOOP])->value];
    assert_int_equal(p->exprs[product->arg[0]].shape, SHAPE_SCALAR);
    assert_int_equal(p->exprs[product->arg[1]].shape, SHAPE_VECTOR);
    program_free(p);

    p = notation_program(ctx, "u = 0; V[k] = 0; rho = 0");
    const stmt *zero = notation_last(p, p->section[SECTION_LOOP]);
    assert_int_equal(p->exprs[zero->value].shape, SHAPE_SCALAR);
    zero = &p->stmts[p->stmts[p->section[SECTION_LOOP]].next];
    assert_true(p->exprs[zero->value].kind == EXPR_NUMBER);
    assert_int_equal(p->exprs[zero->value].shape, SHAPE_VECTOR);
    assert_int_equal(p->exprs[p->stmts[zero->next].value].shape, SHAPE_VECTOR);
    program_free(p);
}

static void test_statements(void **state)
{
    spry_context *ctx = *state;
    program *p = notation_program(ctx, "for i = 0 .. m - 1:\n"
                                       "    if side == left:\n"
                                       "        estimate |h[i]|; gradient 1\n"
                                       "    else:\n"
                                       "        restart if i > 1 or\n"
                                       "            rho < 0\n"
                                       "    end\n"
                                       "end\n"
                                       "for j = i down to 0: V[j] = (\n"
                                       "  p +  # goes on\n"
                                       "  r); end\n"
                                       "finish:\n"
                                       "    x = x + V[0]");
    const int residual = p->section[SECTION_LOOP];
    const stmt *up = &p->stmts[p->stmts[residual].next], *down = &p->stmts[up->next];
    assert_true(up->kind == STMT_FOR && !up->down && down->kind == STMT_FOR && down->down);
    assert_string_equal(p->names[up->name].text, "i");
    expr_is(p, up->from, "0");
    expr_is(p, up->to, "m - 1");
    expr_is(p, down->from, "i");
    const stmt *branch = &p->stmts[up->body];
    assert_int_equal(branch->kind, STMT_IF);
    assert_int_equal(branch->next, NONE);
    expr_is(p, branch->value, "side == left");
    assert_int_equal(p->stmts[branch->body].kind, STMT_ESTIMATE);
    assert_int_equal(p->stmts[p->stmts[branch->body].next].kind, STMT_GRADIENT);
    assert_int_equal(p->stmts[branch->other].kind, STMT_RESTART);
    expr_is(p, p->stmts[branch->other].value, "i > 1 or rho < 0");
    expr_is(p, p->stmts[down->body].value, "p + r");
    expr_is(p, p->stmts[p->section[SECTION_FINISH]].value, "x + V[0]");
    program_free(p);
}

/* Counters, C, and other scalars, S, after the lines. */
static const struct {
    const char *lines, *name;
    bool counter;
} counters[] = {
    {"", "k", true},
    {"", "rho", false},
    {"k = k + 1", "k", true},
    {"k = mod(k + m, 3) w", "k", true},
    {"k = k + eps", "k", true},
    {"i = k; k = rho", "i", false}, /* found on the second pass */
    {"i = h[0]", "i", false},
    {"i = |p|", "i", false},
    {"if k > 1: i = 1; end", "i", true},
    {"if rho > 1: i = 1; end", "i", false},
    {"if k > 1: i = 1; else: if rho > 1: a = 1; else: i = 2; end; end", "i", false},
    {"for i = 0 .. m: a = 1; end", "i", true},
    {"for i = 0 .. m: a = i; end", "a", true},
    {"if rho > 1: for i = 0 .. m: V[i] = p; end; end", "i", true},
    {"if rho > 1: for i = 0 .. m: V[i] = p; end; end; a = i", "a", false},
};

static void test_counters(void **state)
{
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        program *p = notation_program(ctx, counters[i].lines);
        const int name = program_find_name(p, counters[i].name);
        assert_int_not_equal(name, NONE);
        if (p->names[name].counter != counters[i].counter)
            fail_msg("%s: %s", counters[i].lines, counters[i].name);
        program_free(p);
    }
}

/* What does not fit is cut, and the text ends. */
static void test_cut(void **state)
{
    program *p = notation_program(*state, "q = r + 2 p");
    const int e = notation_last(p, p->section[SECTION_LOOP])->value;
    char text[8];
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, '?', sizeof text);
        program_print_expr(p, e, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, "r + 2 p", size - 1);
    }
    text[0] = '?';
    program_print_expr(p, e, text, 0);
    assert_int_equal(text[0], '?');
    program_print_expr(p, NONE, text, sizeof text);
    assert_string_equal(text, "");
    program_free(p);
}

/* A copy of an expression that lies in the array itself, while the array grows. */
static void test_add(void **state)
{
    spry_context *ctx = *state;
    program *p = notation_program(ctx, "rho = 1.25");
    const int e = notation_last(p, p->section[SECTION_LOOP])->value;
    for (int i = 0; i < 1000; i++) {
        int index = NONE;
        assert_ok(ctx, program_add_expr(p, &p->exprs[e], &index));
        assert_int_equal(index, p->expr_count - 1);
        assert_true(p->exprs[index].value == 1.25);
    }
    program_free(p);
}

static spry_status parse(spry_context *ctx, void *data)
{
    program *p = (program *)1;
    const spry_status status = program_parse(ctx, "t", data, strlen(data), &p);
    if (status != SPRY_STATUS_OK)
        assert_null(p);
    else
        program_free(p);
    return status;
}

/* Long enough that every table grows. */
static void test_torture(void **state)
{
    static char text[1 << 16];
    char lines[4096] = "";
    for (int i = 0; i < 100; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "a%d = k + %d\n", i, i);
    notation_text(lines, text, sizeof text);
    support_torture(*state, parse, text);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_copy),   CASE(test_method), CASE(test_locate),     CASE(test_options),
        CASE(test_values), CASE(test_trees),  CASE(test_statements), CASE(test_counters),
        CASE(test_cut),    CASE(test_add),    CASE(test_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
