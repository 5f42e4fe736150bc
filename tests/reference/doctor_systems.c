/* The doctor on systems: what A and b are together, and what the solve was given of them. */
#include "matrix/matrix.h"
#include "support/diagnosed.h"
#include "support/neumann.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Time enough that no machine is too slow: what is to be found does not depend on it. */
#define OPTIONS "seconds=1000 "
#define FOR_TYPES for (int t = 0; t < 4; t++)

/* A null space that the solve is given is no fault, nor is a b that has a part outside of the
 * range by it alone; another one still is. */
static void a_null_space_that_is_given_is_no_fault(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int cut = 0; cut < 2; cut++) {
        const neumann_grid g = {.nx = 6, .ny = 5, .nz = 1, .cut = cut};
        spry_matrix *A = neumann_matrix(ctx, support_types[t], &g);
        spry_vector *b = neumann_rhs(ctx, support_types[t], &g, 1);
        spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
        diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        diagnosed_must(&d, "not-in-range", SPRY_SEVERITY_ERROR);
        spry_diagnosis_clear(ctx, &d);
        d = diagnosed(ctx, A, b, OPTIONS "nullspace=constant", NULL);
        const spry_finding *f =
            diagnosed_must(&d, "singular", cut ? SPRY_SEVERITY_ERROR : SPRY_SEVERITY_NOTE);
        assert_true(diagnosed_figure(f, "rank") == 30 - 1 - cut);
        assert_non_null(strstr(f->next, "--nullspace constant --method "));
        diagnosed_must(&d, "null-space", SPRY_SEVERITY_NOTE);
        diagnosed_must(&d, "not-in-range", cut ? SPRY_SEVERITY_ERROR : SPRY_SEVERITY_NOTE);
        assert_true(cut || d.errors + d.warnings == 0);
        /* of the 5-point Laplacian of 6 x 5 points with Neumann conditions on the rest: eigenvalues
         * are 4 sin^2(pi j / 12) + 4 sin^2(pi k / 10), and scaling changes little */
        assert_true(cut || (d.condition > 10 && d.condition < 60));
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
        spry_vector_free(b);
    }
}

/* Rows 10^-25 times as large as others that have as large a b: x is huge relative to it, and what
 * rounding makes of A x is no smaller than b. Rows scaled it is a system like any other. */
static void finds_solutions_beyond_rounding(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int way = 0; way < 3; way++) {
        const bool single = type_is_single(support_types[t]);
        const double tiny = way == 2 ? 1 : ldexp(1, single ? -20 * (way + 1) : -40 * (way + 1));
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        spry_vector *b = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        for (int64_t k = A->a.offsets[7]; k < A->a.offsets[8]; k++)
            support_put(A, k, (spry_scalar){value_get(A->a.type, A->a.values, k).re * tiny, 0});
        spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
        if (way == 2) {
            assert_null(diagnosed_find(&d, "rounding"));
        } else {
            const spry_finding *f = diagnosed_must(
                &d, "rounding", way == 1 ? SPRY_SEVERITY_ERROR : SPRY_SEVERITY_WARNING);
            const double unit = single ? 0x1p-23 : 0x1p-52;
            /* x_7 is about 1 / (4 tiny) or a little more, rows next to it have it once or four
             * times, and |b| is 6 */
            const double largest = diagnosed_figure(f, "largest") * tiny;
            assert_true(largest > 0.25 && largest < 1);
            const double level = diagnosed_figure(f, "rounding") * tiny / unit;
            assert_true(level > 0.1 && level < 2);
            assert_true(diagnosed_figure(f, "rounding_scaled") < 100 * unit);
        }
        spry_diagnosis_clear(ctx, &d);
        spry_vector_free(b);
        spry_matrix_free(A);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_null_space_that_is_given_is_no_fault),
        TEST(finds_solutions_beyond_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
