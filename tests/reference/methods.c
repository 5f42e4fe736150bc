/*
 * Every method on systems of the kinds it is for: all types, preconditioners and sides. The answers
 * are known; residuals and errors are judged in long double.
 */
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFINITE = 1 << PROBLEM_DEFINITE,
    ILL = 1 << PROBLEM_ILL,
    DOMINANT = 1 << PROBLEM_DOMINANT,
    INDEFINITE = 1 << PROBLEM_INDEFINITE,
    SINGULAR = 1 << PROBLEM_SINGULAR,
    CONVECTION = 1 << PROBLEM_CONVECTION,
    SYMMETRIC = 1 << PROBLEM_SYMMETRIC,
    RECTANGULAR =
        1 << PROBLEM_TALL | 1 << PROBLEM_WIDE | 1 << PROBLEM_DEFICIENT | 1 << PROBLEM_INCONSISTENT,
    SEMIDEFINITE = DEFINITE | ILL | DOMINANT | SINGULAR,
    SQUARE = DEFINITE | DOMINANT | INDEFINITE | SINGULAR | CONVECTION | SYMMETRIC
};

/* What a method needs of the preconditioner. */
typedef enum precon_need {
    ANY,
    POSITIVE, /* positive definite: Jacobi is not, for indefinite matrices */
    OWN,      /* the method is built on one: precon=auto */
    NONE      /* the options are for none */
} precon_need;

typedef struct method {
    const char *name;
    unsigned kinds;    /* that it is for */
    unsigned real_too; /* in real types also these: symmetric is hermitian there */
    precon_need precon;
    const char *options; /* for all its solves: what theory asks for */
} method;

/* ILL only where no restart and no product of polynomials makes the way there a matter of chance.
 * Gauss-Seidel and its like converge for all definite matrices, Jacobi for dominant ones;
 * Richardson with 2 / (1 + 100) for eigenvalues 1 .. 100. */
static const method methods[] = {
    {"bicg", SQUARE | ILL, 0, ANY, ""},
    {"bicgstab", SQUARE, 0, ANY, ""},
    {"bicgstabl", SQUARE | ILL, 0, ANY, ""},
    {"block-bicgstab", SQUARE, 0, ANY, ""},
    {"block-cg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"block-gcr", SQUARE | ILL, 0, ANY, "restart=40"},
    {"block-gmres", SQUARE | ILL, 0, ANY, "restart=40"},
    {"ca-gmres", SQUARE | ILL, 0, ANY, "restart=40"},
    {"cg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"cg-cg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"cgls", SQUARE | RECTANGULAR, 0, ANY, ""},
    {"cgs", SQUARE, 0, ANY, ""},
    {"chebyshev", DEFINITE | DOMINANT, SYMMETRIC, POSITIVE, ""},
    {"cocg", SYMMETRIC, SEMIDEFINITE | INDEFINITE, ANY, ""},
    {"cocr", SYMMETRIC, SEMIDEFINITE | INDEFINITE, ANY, ""},
    {"cr", SEMIDEFINITE | INDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"dcg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"direct", SQUARE | ILL, 0, OWN, ""},
    {"ecg", DEFINITE | DOMINANT, SYMMETRIC, POSITIVE, ""},
    {"fcg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"fgmres", SQUARE | ILL, 0, ANY, "restart=40"},
    {"gcr", SQUARE | ILL, 0, ANY, "restart=40"},
    {"gmres", SQUARE | ILL, 0, ANY, "restart=40"},
    {"gmres-dr", SQUARE | ILL, 0, ANY, "restart=40"},
    {"gpbicg", SQUARE, 0, ANY, ""},
    {"gs", DEFINITE | DOMINANT | CONVECTION, 0, OWN, ""},
    {"idr", SQUARE | ILL, 0, ANY, ""},
    {"jacobi", DOMINANT | CONVECTION, 0, OWN, ""},
    {"lgmres", SQUARE | ILL, 0, ANY, "restart=40"},
    {"gcrot", SQUARE | ILL, 0, ANY, "restart=40"},
    {"lsmr", SQUARE | RECTANGULAR, 0, ANY, ""},
    {"lsqr", SQUARE | RECTANGULAR, 0, ANY, ""},
    {"minres", SEMIDEFINITE | INDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"pipebicgstab", SQUARE, 0, ANY, ""},
    {"pipecg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"qmr", SQUARE | ILL, 0, ANY, ""},
    {"qmrsym", SYMMETRIC, SEMIDEFINITE | INDEFINITE, ANY, ""},
    {"refine", SQUARE, 0, OWN, ""},
    {"richardson", DEFINITE, 0, NONE, "omega=0.0198"},
    {"s-step-bicgstab", SQUARE, 0, ANY, ""},
    {"s-step-cg", SEMIDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"sor", DEFINITE | DOMINANT, 0, OWN, ""},
    {"ssor", DEFINITE | DOMINANT, 0, OWN, ""},
    {"symmlq", SEMIDEFINITE | INDEFINITE, SYMMETRIC, POSITIVE, ""},
    {"tfqmr", SQUARE, 0, ANY, ""},
};
enum { METHODS = sizeof methods / sizeof *methods };

static bool is_for(const method *m, problem_kind kind, spry_type type)
{
    const unsigned kinds = m->kinds | (spry_type_is_complex(type) ? 0 : m->real_too);
    return kinds >> kind & 1;
}

/* One that each method can do, the best first. */
static problem_kind easy_kind(const method *m)
{
    return m->kinds & DOMINANT   ? PROBLEM_DOMINANT
           : m->kinds & DEFINITE ? PROBLEM_DEFINITE
                                 : PROBLEM_SYMMETRIC;
}

static void no_method_is_without_a_test(void **state)
{
    (void)state;
    spry_entry info = SPRY_ENTRY_INIT;
    int count = 0;
    for (; spry_list_at(SPRY_LIST_METHODS, count, &info); count++) {
        bool found = false;
        for (int m = 0; m < METHODS; m++)
            found = found || strcmp(methods[m].name, info.name) == 0;
        if (!found)
            fail_msg("method %s is in no line of the table", info.name);
    }
    assert_int_equal(count, METHODS);
}

static bool has_side(const char *name)
{
    spry_entry info = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(SPRY_LIST_METHODS, i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return strstr(info.text, "option side") != NULL;
    return false;
}

static void solve_and_check(problem *p, const char *method_text, const char *precon, double tol)
{
    char options[160];
    spry_result result = SPRY_RESULT_INIT;
    snprintf(options, sizeof options, "method=%s precon=%s tol=%g max-iter=3000", method_text,
             precon, tol);
    problem_solve(p, options, &result);
    problem_check_converged(p, &result, tol, options);
    assert_string_equal(result.precon, strcmp(precon, "auto") == 0 ? result.precon : precon);
    assert_true(strncmp(result.method, method_text, strlen(result.method)) == 0);
    if (result.warnings && strstr(result.warnings, "not made for"))
        fail_msg("%s: %s", options, result.warnings);
    spry_result_clear(p->ctx, &result);
}

/* A method with no preconditioner, and with Jacobi's on each side it can be on. With one the answer
 * of a singular system is no longer the shortest. */
static void try_method(const method *m, problem_kind kind, problem *p)
{
    const double tol = problem_tolerance(p->type), inverse = p->inverse;
    const bool jacobi = m->precon <= POSITIVE && kind < PROBLEM_TALL &&
                        !(m->precon == POSITIVE && kind == PROBLEM_INDEFINITE);
    char text[96];
    snprintf(text, sizeof text, "%s:%s", m->name, m->options);
    if (m->precon != OWN)
        solve_and_check(p, text, "none", tol);
    p->inverse = p->shortest && kind < PROBLEM_TALL ? 0 : inverse;
    if (m->precon == OWN)
        solve_and_check(p, text, "auto", tol);
    if (jacobi)
        solve_and_check(p, text, "jacobi", tol);
    snprintf(text, sizeof text, "%s:%s%sside=left", m->name, m->options, m->options[0] ? "," : "");
    if (jacobi && has_side(m->name))
        solve_and_check(p, text, "jacobi", tol);
    p->inverse = inverse;
}

static void run_types(spry_context *ctx, problem_kind first, problem_kind last)
{
    for (problem_kind kind = first; kind <= last; kind++)
        for (int t = 0; t < 4; t++) {
            problem p;
            problem_make(ctx, kind, support_types[t], 36, &p);
            for (int m = 0; m < METHODS; m++)
                if (is_for(&methods[m], kind, support_types[t]))
                    try_method(&methods[m], kind, &p);
            problem_free(&p);
        }
}

static void definite_systems(void **state)
{
    run_types(*state, PROBLEM_DEFINITE, PROBLEM_DOMINANT);
}

static void indefinite_and_singular_systems(void **state)
{
    run_types(*state, PROBLEM_INDEFINITE, PROBLEM_SINGULAR);
}

static void unsymmetric_and_complex_symmetric_systems(void **state)
{
    run_types(*state, PROBLEM_CONVECTION, PROBLEM_SYMMETRIC);
}

static void rectangular_systems(void **state)
{
    run_types(*state, PROBLEM_TALL, PROBLEM_INCONSISTENT);
}

/* Every method has an answer for no, one and two unknowns, and for b = 0. */
static void tiny_systems(void **state)
{
    spry_context *ctx = *state;
    for (int64_t n = 0; n <= 2; n++)
        for (int t = 0; t < 4; t++)
            for (int m = 0; m < METHODS; m++) {
                const problem_kind kind = easy_kind(&methods[m]);
                problem p;
                problem_make(ctx, kind, support_types[t], n, &p);
                try_method(&methods[m], kind, &p);
                if (support_types[t] == SPRY_TYPE_Z) {
                    assert_ok(ctx, spry_vector_fill(p.b, (spry_scalar){0, 0}));
                    memset(p.answer, 0, (size_t)spry_matrix_cols(p.A) * sizeof *p.answer);
                    try_method(&methods[m], kind, &p);
                }
                problem_free(&p);
            }
}

/* Options of methods, besides those of the tables above. */
static void options_of_methods(void **state)
{
    spry_context *ctx = *state;
    static const char *const texts[] = {
        "gmres:restart=10",
        "gmres:orthogonalization=mgs",
        "fgmres:orthogonalization=mgs",
        "gcrot:restart=6,keep=3",
        "lgmres:restart=10",
        "lgmres:restart=8,augment=1",
        "lgmres:restart=2,augment=100",
        "gcr:restart=6",
        "gcr:restart=6,truncate=yes",
        "bicgstabl:l=1",
        "bicgstabl:l=4",
        "idr:s=1",
        "idr:s=8",
        "idr:s=16,side=left",
        "gs:order=natural",
        "sor:omega=1.2,order=natural",
        "ssor:omega=1.2",
        "jacobi:omega=0.8",
        "chebyshev:steps=5",
        "chebyshev:low=0.5,high=8.5",
        "fcg:truncate=1",
        "fcg:truncate=20",
    };
    for (int t = 1; t < 4; t += 2) {
        problem p;
        problem_make(ctx, PROBLEM_DOMINANT, support_types[t], 100, &p);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            solve_and_check(&p, texts[i], strstr(texts[i], "chebyshev") ? "none" : "auto", 1e-10);
        problem_free(&p);
    }
}

/* The first guess is where a solve begins, and fusing changes nothing but the rounding. */
static void first_guesses_and_unfused_runs(void **state)
{
    spry_context *ctx = *state;
    for (int m = 0; m < METHODS; m++) {
        problem p;
        char options[128];
        spry_result result = SPRY_RESULT_INIT;
        problem_make(ctx, easy_kind(&methods[m]), SPRY_TYPE_Z, 36, &p);
        for (int fuse = 0; fuse < 2; fuse++) {
            snprintf(options, sizeof options,
                     "method=%s:%s precon=%s tol=1e-9 fuse=%s max-iter=3000", methods[m].name,
                     methods[m].options, methods[m].precon == OWN ? "auto" : "none",
                     fuse ? "yes" : "no");
            assert_ok(ctx, spry_vector_fill(p.x, (spry_scalar){1, -2}));
            const double before = problem_residual(&p, NULL);
            assert_ok(ctx, spry_quick_solve(ctx, p.A, p.b, p.x, options, &result));
            problem_check_converged(&p, &result, 1e-9, options);
            /* a sum of at most 36 terms, its root and a quotient; |x| is not far from |b| */
            assert_true(fabs(result.initial_residual - before) <= 1e-13 * before);
            const int64_t iterations = result.iterations;
            spry_result_clear(ctx, &result);
            /* a solve that has ended begins at its end */
            assert_ok(ctx, spry_quick_solve(ctx, p.A, p.b, p.x, options, &result));
            assert_int_equal(result.iterations, 0);
            assert_true(result.converged && iterations > 0);
            spry_result_clear(ctx, &result);
        }
        problem_free(&p);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(no_method_is_without_a_test),
        TEST(definite_systems),
        TEST(indefinite_and_singular_systems),
        TEST(unsymmetric_and_complex_symmetric_systems),
        TEST(rectangular_systems),
        TEST(tiny_systems),
        TEST(options_of_methods),
        TEST(first_guesses_and_unfused_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
