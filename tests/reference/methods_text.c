/* Methods of the caller's, as text and as files: the worked examples of docs/notation.md, options,
 * every way they can be wrong, and methods that report wrong residuals. */
#include "support/files.h"
#include "support/problems.h"

#include "program/program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char descent[] = "method descent \"steepest descent\"\n"
                              "for \"positive definite matrices\"\n"
                              "option damping = 1.0 0..2 \"share of the best step\"\n"
                              "start:\n"
                              "    r = b - A x\n"
                              "    residual |r|\n"
                              "loop:\n"
                              "    z = M r\n"
                              "    q = A z\n"
                              "    zq = (z, q)\n"
                              "    breakdown if not positive(zq) \"(z, A z) = {zq}\"\n"
                              "    alpha = damping (r, z) / zq\n"
                              "    x = x + alpha z\n"
                              "    r = r - alpha q\n"
                              "    residual |r|\n";

/* cg with other names, a comment and statements in another order. */
static const char gradients[] = "method mine \"conjugate gradients again\" # a comment\n"
                                "start:\n"
                                "    g = b - A x; residual |g|\n"
                                "    h = M g; d = h\n"
                                "    gh = (g, h)\n"
                                "loop:\n"
                                "    Ad = A d\n"
                                "    a = gh / (d, Ad)\n"
                                "    g = g - a Ad\n"
                                "    x = x + a d\n"
                                "    residual |g|\n"
                                "    h = M g\n"
                                "    gh1 = (g, h)\n"
                                "    d = h + (gh1 / gh) d\n"
                                "    gh = gh1\n";

/* Solves with a text; the solver takes options too. */
static void solve_text(problem *p, const char *text, const char *options, spry_result *result)
{
    spry_solver *solver;
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx, spry_solver_new(p->ctx, &solver));
    assert_ok(p->ctx, spry_solver_set_method_text(solver, text));
    assert_ok(p->ctx, spry_solver_set(solver, options));
    assert_ok(p->ctx, spry_solver_set_matrix(solver, p->A));
    assert_ok(p->ctx, spry_solve(solver, p->b, p->x, result));
    spry_solver_free(solver);
}

/* Steepest descent: |e|_A falls by (cond - 1) / (cond + 1) a step or more, so that 8 digits take at
 * most log(1e8 cond) / log((cond + 1) / (cond - 1)) steps; the condition of the grid is 20. */
static void texts_are_solved_with(void **state)
{
    for (int t = 0; t < 4; t++) {
        problem p;
        spry_result result = SPRY_RESULT_INIT, other = SPRY_RESULT_INIT;
        const double tol = problem_tolerance(support_types[t]);
        char options[64];
        problem_make(*state, PROBLEM_DOMINANT, support_types[t], 100, &p);
        snprintf(options, sizeof options, "tol=%g precon=jacobi", tol);
        solve_text(&p, descent, options, &result);
        problem_check_converged(&p, &result, tol, options);
        assert_string_equal(result.method, "descent");
        assert_string_equal(result.precon, "jacobi");
        const double condition = p.norm * p.inverse;
        assert_true((double)result.iterations <=
                    log(sqrt(condition) / tol) / log((condition + 1) / (condition - 1)) + 1);
        spry_result_clear(p.ctx, &result);
        /* the same statements as the library's cg: the same numbers up to rounding */
        solve_text(&p, gradients, options, &result);
        problem_check_converged(&p, &result, tol, options);
        snprintf(options, sizeof options, "tol=%g precon=jacobi method=cg", tol);
        problem_solve(&p, options, &other);
        assert_int_equal(result.iterations, other.iterations);
        spry_result_clear(p.ctx, &result);
        spry_result_clear(p.ctx, &other);
        problem_free(&p);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* From a file, with options after the colon of `method`, where a name must be the file's. */
static void files_are_solved_with(void **state)
{
    spry_context *ctx = *state;
    problem p;
    spry_result result = SPRY_RESULT_INIT, whole = SPRY_RESULT_INIT;
    char path[512], options[640];
    snprintf(path, sizeof path, "%s", files_path("descent.krylov"));
    write_file(path, descent);
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 49, &p);
    snprintf(options, sizeof options, "method-file=%s", path);
    problem_solve(&p, options, &whole);
    problem_check_converged(&p, &whole, 1e-8, options);
    solve_text(&p, descent, "", &result); /* the same by text, to the bit */
    assert_int_equal(result.iterations, whole.iterations);
    assert_memory_equal(result.history, whole.history,
                        (size_t)whole.history_size * sizeof *whole.history);
    spry_result_clear(ctx, &result);
    snprintf(options, sizeof options, "method-file=%s method=descent:damping=0.25", path);
    problem_solve(&p, options, &result);
    problem_check_converged(&p, &result, 1e-8, options);
    assert_int_not_equal(result.iterations, whole.iterations);
    const int64_t damped = result.iterations;
    spry_result_clear(ctx, &result);
    solve_text(&p, descent, "method=descent:damping=0.25", &result);
    assert_int_equal(result.iterations, damped);
    spry_result_clear(ctx, &result);
    spry_result_clear(ctx, &whole);
    snprintf(options, sizeof options, "method-file=%s method=cg", path);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_quick_solve(ctx, p.A, p.b, p.x, options, NULL));
    support_message_has(ctx, "has method descent, not cg");
    snprintf(options, sizeof options, "method-file=%s", files_path("missing.krylov"));
    assert_status(ctx, SPRY_STATUS_IO, spry_quick_solve(ctx, p.A, p.b, p.x, options, NULL));
    support_message_has(ctx, "missing.krylov: cannot be opened");
    problem_free(&p);
}

/* A file is read when it is named, also when it was named before. */
static void files_are_read_again(void **state)
{
    spry_context *ctx = *state;
    problem p;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char path[512], options[640];
    snprintf(path, sizeof path, "%s", files_path("changing.krylov"));
    snprintf(options, sizeof options, "method-file=%s", path);
    write_file(path, descent);
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 49, &p);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
    assert_ok(ctx, spry_solve(solver, p.b, p.x, &result));
    assert_string_equal(result.method, "descent");
    spry_result_clear(ctx, &result);
    const char *const again[] = {"tol=1e-7", options, NULL};
    for (int k = 0; k < 3; k++) {
        char text[2048];
        const char *const name = k == 2 ? "third" : "second";
        snprintf(text, sizeof text, "method %s%s", name, descent + strlen("method descent"));
        write_file(path, text);
        assert_ok(ctx, again[k] ? spry_solver_set(solver, again[k])
                                : spry_solver_set_text(solver, "method-file", path));
        assert_ok(ctx, spry_solve(solver, p.b, p.x, &result));
        assert_string_equal(result.method, k == 0 ? "descent" : name);
        spry_result_clear(ctx, &result);
    }
    assert_ok(ctx, spry_solver_set(solver, "method-file=\"\""));
    assert_ok(ctx, spry_solve(solver, p.b, p.x, &result));
    assert_string_not_equal(result.method, "third");
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    problem_free(&p);
}

/* A fault is SPRY_STATUS_BAD_INPUT with its place, from a text and from a file; wrong options of a
 * method are SPRY_STATUS_BAD_USAGE. */
static void faults_have_places(void **state)
{
    static const char *const faults[][2] = {
        {"start:\n    r = b - A x\n    residual |r|\nloop:\n    x = x + alpha r\n    residual "
         "|r|\n",
         ":6:13: "},
        {"start:\n    r = b - A\n", ":3:"},
        {"start:\n    r = b - A x\nloop:\n    x = x + r\n", ":"},
        {"start:\n    r = b - A x\n    s = (r, r)\n    r = s\n", ":5:"},
        {"option o = 5 1..3 \"out of its bounds\"\n", ":2:"},
        {"start:\n    r = b $ A x\n", ":3:11: "},
    };
    spry_context *ctx = *state;
    problem p;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 9, &p);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        char text[512], path[512], options[640], expected[64];
        spry_solver *solver;
        snprintf(text, sizeof text, "method bad \"a bad one\"\n%s", faults[k][0]);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
        assert_ok(ctx, spry_solver_set_method_text(solver, text));
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, p.b, p.x, NULL));
        snprintf(expected, sizeof expected, "method%s", faults[k][1]);
        support_message_has(ctx, expected);
        /* the solver is as good as new */
        assert_ok(ctx, spry_solver_set_method_text(solver, NULL));
        assert_ok(ctx, spry_solve(solver, p.b, p.x, NULL));
        spry_solver_free(solver);
        snprintf(path, sizeof path, "%s", files_path("bad.krylov"));
        write_file(path, text);
        snprintf(options, sizeof options, "method-file=%s", path);
        assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                      spry_quick_solve(ctx, p.A, p.b, p.x, options, NULL));
        snprintf(expected, sizeof expected, "bad.krylov%s", faults[k][1]);
        support_message_has(ctx, expected);
    }
    static const char *const usage[][2] = {
        {"method=gmres:restart=0", "restart=0: a whole number from 1 to 10000 is needed"},
        {"method=gmres:restart=2.5", "restart=2.5"},
        {"method=gmres:side=up", "side up is unknown; there are: left right"},
        {"method=gmres:sides=left", "sides"},
        {"method=cg:side=left", "method cg has no options, but was given side"},
        {"method=gmres:restart", "restart"},
        {"method=sor:omega=3", "omega=3"},
    };
    for (size_t k = 0; k < sizeof usage / sizeof *usage; k++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_quick_solve(ctx, p.A, p.b, p.x, usage[k][0], NULL));
        support_message_has(ctx, usage[k][1]);
    }
    problem_free(&p);
}

/* A method can say what it wants: what counts is the true residual. */
static void methods_that_lie(void **state)
{
    static const struct {
        const char *loop;
        spry_reason reason;
        const char *detail;
    } lies[] = {
        /* says that it is done */
        {"    residual 0 * |r|\n", SPRY_REASON_STAGNATED, "the true residual stays at 1"},
        /* stays where it never was */
        {"    residual 0.01 * |r|\n", SPRY_REASON_STAGNATED, "the true residual stays at 1"},
        /* no progress, and honest about it */
        {"    residual |r|\n", SPRY_REASON_STAGNATED, "the mean residual no longer falls"},
        /* falls by a hundredth each time, with x as it was */
        {"    s = s / 100\n    residual s\n", SPRY_REASON_STAGNATED,
         "the true residual stays at 1"},
        {"    s = s * 1000\n    residual s\n", SPRY_REASON_DIVERGED, "divergence limit"},
        {"    s = s / 0\n    residual s\n", SPRY_REASON_NONFINITE, "not a finite number"},
        {"    s = 0 / 0\n    residual s\n", SPRY_REASON_NONFINITE, "not a finite number"},
        {"    x = x / 0\n    residual |r|\n", SPRY_REASON_STAGNATED, ""},
        {"    breakdown if s > 0 \"of itself: {s}\"\n    residual |r|\n", SPRY_REASON_BREAKDOWN,
         "of itself: "},
        {"    residual |r|\n    restart if s > 0\n", SPRY_REASON_STAGNATED, ""},
        {"    restart if s > 0\n    residual |r|\n", SPRY_REASON_BREAKDOWN, "restart"},
    };
    problem p;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 49, &p);
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
        char text[512];
        spry_result result = SPRY_RESULT_INIT;
        snprintf(text, sizeof text,
                 "method liar \"%zu\"\nstart:\n    r = b - A x\n    residual |r|\n    s = |r|\n"
                 "loop:\n%s",
                 k, lies[k].loop);
        solve_text(&p, text, "max-iter=1000 stall=20 precon=none", &result);
        problem_check(&p, &result, text);
        if (result.converged || result.reason != lies[k].reason ||
            !strstr(result.detail, lies[k].detail))
            fail_msg("%s: %s, %s", lies[k].loop, spry_reason_name(result.reason), result.detail);
        assert_true(result.true_residual == 1); /* x = 0 stays the best */
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

/* A turn of the loop that reports nothing would never end. */
static void silent_loops_are_refused(void **state)
{
    static const char text[] =
        "method silent \"reports nothing\"\n"
        "start:\n    r = b - A x\n    residual |r|\n    s = 0\n"
        "loop:\n    x = x + r\n    if s > 0:\n        residual |r|\n    end\n";
    spry_context *ctx = *state;
    problem p;
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 9, &p);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
    assert_ok(ctx, spry_solver_set_method_text(solver, text));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, p.b, p.x, &result));
    support_message_has(ctx, "a turn of the loop reported no residual and no estimate");
    assert_false(result.converged);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    problem_free(&p);
}

/* What a text says it needs is looked at as for the library's own. */
static void needs_are_checked(void **state)
{
    static const struct {
        problem_kind kind;
        spry_type type;
        const char *line, *options, *warning;
    } cases[] = {
        {PROBLEM_CONVECTION, SPRY_TYPE_D, "needs hermitian\n", "precon=none",
         "the matrix is not symmetric (hermitian): descent is not made for it"},
        {PROBLEM_CONVECTION, SPRY_TYPE_D, "needs symmetric\n", "precon=none",
         "the matrix is not symmetric: descent is not made for it"},
        {PROBLEM_SYMMETRIC, SPRY_TYPE_Z, "needs hermitian\n", "precon=none",
         "the matrix is not symmetric (hermitian): descent is not made for it"},
        {PROBLEM_SYMMETRIC, SPRY_TYPE_Z, "needs symmetric\n", "precon=none", NULL},
        {PROBLEM_CONVECTION, SPRY_TYPE_D, "", "precon=none", NULL},
        {PROBLEM_DOMINANT, SPRY_TYPE_D, "needs hermitian\n", "precon=gs",
         "preconditioner gs is not symmetric: descent is not made for it; try bicgstabl or gmres"},
        {PROBLEM_DOMINANT, SPRY_TYPE_D, "needs hermitian definite\n", "precon=ssor", NULL},
        {PROBLEM_DOMINANT, SPRY_TYPE_D, "", "precon=inner",
         "preconditioner inner is another one in each iteration: descent is not made for it; try "
         "fcg or fgmres"},
        {PROBLEM_DOMINANT, SPRY_TYPE_D, "flexible\n", "precon=inner", NULL},
        {PROBLEM_INDEFINITE, SPRY_TYPE_D, "needs definite\n", "precon=none",
         "the matrix is not positive definite: descent is made for those that are; try minres"},
        {PROBLEM_INDEFINITE, SPRY_TYPE_D, "needs hermitian\n", "precon=none", NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        char text[1024], options[64];
        const char *rest = strchr(descent, '\n') + 1;
        problem_make(*state, cases[k].kind, cases[k].type, 100, &p);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - descent), descent, cases[k].line,
                 rest);
        snprintf(options, sizeof options, "max-iter=2 %s", cases[k].options);
        solve_text(&p, text, options, &result);
        if (cases[k].warning)
            assert_string_equal(result.warnings, cases[k].warning);
        else
            assert_null(result.warnings);
        spry_result_clear(p.ctx, &result);
        problem_free(&p);
    }
}

/* The table that callers read says what the texts say. */
static void infos_state_needs(void **state)
{
#define NEED_WORD(name, word) word,
    static const char *const words[] = {PROGRAM_NEEDS(NEED_WORD)};
    spry_entry info = SPRY_ENTRY_INIT;
    int needy = 0, flexible = 0;
    for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &info); k++) {
        program *p = NULL;
        char needs[64] = " ";
        assert_ok(*state, program_parse(*state, info.name, info.text, strlen(info.text), &p));
        assert_int_equal(info.flexible, p->flexible);
        snprintf(needs, sizeof needs, " %s ", info.needs);
        for (int i = 0; i < NEED_COUNT; i++) {
            char word[32];
            snprintf(word, sizeof word, " %s ", words[i]);
            assert_int_equal(strstr(needs, word) != NULL, p->needs[i]);
        }
        needy += info.needs[0] != '\0';
        flexible += info.flexible;
        program_free(p);
    }
    assert_int_equal(needy, 14);
    assert_int_equal(flexible, 8);
}

/* --- operators that stand twice ------------------------------------------------------------------
 */

/* A diagonal preconditioner as a function: it can only be called, and counts. */
typedef struct counted {
    int64_t n, calls;
} counted;

static spry_status halve(void *data, spry_transpose op, const void *x, void *y)
{
    counted *c = data;
    (void)op;
    for (int64_t i = 0; i < c->n; i++)
        ((double *)y)[i] = ((const double *)x)[i] / (double)(2 + i % 3);
    c->calls++;
    return SPRY_STATUS_OK;
}

/* Iterations of a text with M as a function, its calls, and x. */
static int64_t solve_counted(problem *p, const char *text, const char *options, counted *c)
{
    spry_solver *solver;
    spry_operator *M = NULL;
    spry_result result = SPRY_RESULT_INIT;
    *c = (counted){.n = spry_vector_size(p->b)};
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx,
              spry_operator_from_function(p->ctx, SPRY_TYPE_D, c->n, c->n, true, halve, c, &M));
    assert_ok(p->ctx, spry_solver_new(p->ctx, &solver));
    assert_ok(p->ctx, spry_solver_set(solver, options));
    assert_ok(p->ctx, spry_solver_set_matrix(solver, p->A));
    assert_ok(p->ctx, spry_solver_set_precon(solver, M));
    assert_ok(p->ctx, spry_solver_set_method_text(solver, text));
    c->calls = 0;
    assert_ok(p->ctx, spry_solve(solver, p->b, p->x, &result));
    const int64_t iterations = result.iterations;
    spry_result_clear(p->ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(M);
    return iterations;
}

/* Statements of a loop, and how often an iteration calls M where M stands once for each vector. */
static const struct {
    const char *loop;
    int calls;
} twice[] = {
    {"    q = A M p\n    x = x + 0.1 (M p)\n    r = r - 0.1 q\n    p = r\n", 1},
    {"    z = M r\n    x = x + 0.1 z\n    q = A (M r)\n    r = r - 0.1 q\n", 1},
    /* the first result is overwritten before the second is asked for */
    {"    z = M r\n    z = A z\n    r1 = r - 0.1 z\n    x = x + 0.1 (M r)\n    r = r1\n", 1},
    /* the vector changes between: twice, or by its name alone: once */
    {"    z = M p\n    x = x + 0.1 z\n    q = A z\n    p = p - 0.1 q\n    s = (p, M p)\n"
     "    r = p + 0 s p\n",
     2},
    {"    u = p\n    z = M p\n    x = x + 0.1 (M u)\n    p = p - 0.1 (A z)\n    r = p\n", 1},
    /* products of products */
    {"    q = A M M r\n    x = x + 0.1 (M M r)\n    r = r - 0.1 q\n", 2},
    {"    q = A M r\n    w = A M r + q\n    x = x + 0.1 (M r)\n    r = r - 0.05 w\n", 1},
};

static void operators_are_applied_once_to_one_vector(void **state)
{
    problem p;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 400, &p);
    const int64_t n = spry_vector_size(p.b);
    double *kept = spry_alloc(p.ctx, (size_t)n * sizeof *kept);
    for (size_t k = 0; k < sizeof twice / sizeof *twice; k++) {
        char text[1024];
        counted fused, plain;
        snprintf(text, sizeof text,
                 "method twice \"%zu\"\nstart:\n    r = b - A x\n    p = r\n    residual |r|\n"
                 "loop:\n%s    residual |r|\n",
                 k, twice[k].loop);
        const char *options = "tol=1e-12 max-iter=20 stall=0";
        const int64_t done = solve_counted(&p, text, options, &fused);
        memcpy(kept, spry_vector_data(p.x), (size_t)n * sizeof *kept);
        assert_int_equal(done, 20);
        if (fused.calls != 20 * twice[k].calls)
            fail_msg("%s: %lld calls", text, (long long)fused.calls);
        snprintf(text + strlen(text), sizeof text - strlen(text), "# statement by statement\n");
        assert_int_equal(solve_counted(&p, text, "tol=1e-12 max-iter=20 stall=0 fuse=no", &plain),
                         20);
        assert_int_equal(plain.calls, fused.calls);
        assert_memory_equal(kept, spry_vector_data(p.x), (size_t)n * sizeof *kept);
    }
    spry_free(p.ctx, kept);
    problem_free(&p);
}

/* What works in place has changed its operand: the same operator on it is another product. */
static void an_operator_in_place_is_applied_again(void **state)
{
    static const char text[] = "method twice \"M in place, then again\"\n"
                               "start:\n r = b - A x; residual |r|\n"
                               "loop:\n z = r; z = M z; q = A z; y = M z\n"
                               " x = x + 2 y; r = b - A x; residual |r|\n";
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){2, 0, 0, 2});
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solver_set(solver, "precon=jacobi max-iter=3"));
    assert_ok(ctx, spry_solver_set_method_text(solver, text));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged); /* M z = r / 4: the first turn gives the answer */
    assert_int_equal(result.iterations, 1);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(texts_are_solved_with),
        TEST(files_are_solved_with),
        TEST(files_are_read_again),
        TEST(faults_have_places),
        TEST(methods_that_lie),
        TEST(silent_loops_are_refused),
        TEST(operators_are_applied_once_to_one_vector),
        TEST(needs_are_checked),
        TEST(infos_state_needs),
        TEST(an_operator_in_place_is_applied_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
