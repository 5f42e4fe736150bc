/* How many products a solve is taken to need: few where the preconditioner does the work, more
 * where there is none, never more than are allowed. */
#include "support/spec.h"

#include "choose/tune.h"
#include "krylov/solver.h"

static const int64_t million = 1000000, any = 1000000000;

static double guess(const char *method, const char *precon, int64_t rows, int64_t most)
{
    spry_context *ctx = NULL;
    assert_ok(NULL, spry_context_new(NULL, &ctx));
    const precon_spec spec = support_spec(ctx, precon);
    const double found = solver_guess(method, &spec, rows, most);
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
        const double found = guess("cg", falling[k], million, any);
        assert_true(found > 0 && found < before);
        before = found;
    }
    /* grids of a million points: 3 x 100 iterations in three dimensions, 2.5 x 1000 in two */
    const double alone = guess("cg", "none", million, any);
    assert_true(alone > 300 && alone < 2500);
    assert_true(guess("cg", "jacobi", million, any) == alone);
}

static void test_methods(void **state)
{
    (void)state;
    const double cg = guess("cg", "ilu:level=1", million, any);
    assert_true(guess("bicgstab", "ilu:level=1", million, any) == 2 * cg);
    assert_true(guess("bicgstabl:l=4", "ilu:level=1", million, any) == 2 * cg);
    assert_true(guess("gmres:restart=30", "ilu:level=1", million, any) == cg);
    assert_true(guess("direct", "none", million, any) < TUNE_FEW_PRODUCTS);
    assert_true(guess("cg", "amg", million, any) < TUNE_FEW_PRODUCTS);
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(guess("cg", "none", million, 10) == 10);
    assert_true(guess("bicgstab", "none", million, 10) == 20);
    assert_true(guess("cg", "none", million, 0) == 0);
    assert_true(guess("cg", "none", 0, any) > 0);
    assert_true(guess("cg", "none", INT64_MAX, any) < 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
