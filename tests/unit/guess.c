/* How many products a solve is taken to need: few where the preconditioner does the work, more
 * where there is none, never more than are allowed. */
#include "support/spec.h"

#include "choose/tune.h"
#include "krylov/solver.h"

static const int64_t million = 1000000, any = 1000000000;

static double guess(const char *precon, int64_t rows, int64_t most)
{
    spry_context *ctx = NULL;
    assert_ok(NULL, spry_context_new(NULL, &ctx));
    const precon_spec spec = support_spec(ctx, precon);
    const double found = solver_guess(spec.kind, rows, most);
    spry_context_free(ctx);
    return found;
}

/* Products that a solver expects after its set-up for a grid. */
static double products(const char *method, const char *precon)
{
    char options[128];
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    snprintf(options, sizeof options, "method=%s precon=%s", method, precon);
    assert_ok(NULL, spry_context_new("threads=1", &ctx));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=20", &A));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, solver_set_up(solver, NULL));
    const double found = solver_guess_products(solver);
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return found;
}

static void test_order(void **state)
{
    static const char *const falling[] = {"none", "fsai", "ssor:omega=1.2", "ic",
                                          "ict",  "amg",  "direct"};
    double before = INFINITY;
    (void)state;
    for (size_t k = 0; k < sizeof falling / sizeof *falling; k++) {
        const double found = guess(falling[k], million, any);
        assert_true(found > 0 && found < before);
        before = found;
    }
    /* grids of a million points: 3 x 100 iterations in three dimensions, 2.5 x 1000 in two */
    const double alone = guess("none", million, any);
    assert_true(alone > 300 && alone < 2500);
    assert_true(guess("jacobi", million, any) == alone);
}

static void test_methods(void **state)
{
    static const char *const doubles[] = {"bicgstab", "bicg", "lsqr", "gpbicg", "block-bicgstab"};
    const double cg = products("cg", "none");
    (void)state;
    assert_true(products("gmres:restart=30", "none") == cg);
    for (size_t k = 0; k < sizeof doubles / sizeof *doubles; k++)
        assert_true(products(doubles[k], "none") == 2 * cg);
    assert_true(products("s-step-bicgstab", "none") > cg);
    assert_true(products("direct", "auto") < TUNE_FEW_PRODUCTS);
    assert_true(products("cg", "direct") < TUNE_FEW_PRODUCTS);
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(guess("none", million, 10) == 10);
    assert_true(guess("none", million, 0) == 0);
    assert_true(guess("none", 0, any) > 0);
    assert_true(guess("none", INT64_MAX, any) < 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
