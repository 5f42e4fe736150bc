/*
 * Sparse factors row by row: solutions against the residual that their multipliers allow, pivots
 * from elsewhere, new values, and what is left to fronts.
 */
#include "support/factored.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "direct/factor.h"
#include "direct/lu.h"
#include "matrix/entries.h"

#include <math.h>
#include <stdlib.h>

/* Multipliers are at most 10, and pivots are kept as long as they are a thousandth of their row. */
static void check_solve(const spry_matrix *A, const lu *l, spry_transpose op, const char *what)
{
    const spry_type type = A->a.type;
    void *r = numeric_array(type, A->a.rows, 0, 5), *x = numeric_array(type, A->a.rows, 0, 5);
    front_kernels_for(A->ctx, type)->lu_solve(&l->f, op, x);
    factored_check_residual(A, op, r, x, 1e4, what);
    numeric_free(type, r, 0);
    numeric_free(type, x, 0);
}

static void check_all(const spry_matrix *A, const lu *l, const char *what)
{
    for (int op = 0; op < 3; op++)
        check_solve(A, l, (spry_transpose)op, what);
}

/* Rows in another order leave nothing on the diagonal, and weak numbers on it leave it, too. */
static void put_aside(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows; i += 3)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                support_put(A, k, (spry_scalar){i % 2 ? 1e-9 : 0, 0});
}

static void all_types_and_products(void **state)
{
    static const char *const kinds[][2] = {{"poisson2d", "size=12"},
                                           {"circuit", "size=150"},
                                           {"convection-diffusion", "size=9 peclet=50"},
                                           {"tridiagonal", "size=40"},
                                           {"tridiagonal", "size=1"}};
    for (int t = 0; t < 4; t++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char options[80];
            spry_matrix *A = NULL;
            lu *l = NULL;
            snprintf(options, sizeof options, "%s type=%s", kinds[k][1],
                     spry_type_name(support_types[t]));
            assert_ok(*state, spry_generate(*state, kinds[k][0], options, &A));
            assert_ok(*state, lu_analyse(A, &l));
            assert_non_null(l);
            assert_true(isfinite(lu_fill(l, A)));
            check_all(A, l, kinds[k][0]);
            assert_int_not_equal(lu_sign(l), 0); /* no pivot had to move */
            if (A->a.rows > 1) {                 /* and now some have to */
                put_aside(A);
                assert_true(isfinite(lu_fill(l, A)));
                check_all(A, l, "new values with other pivots");
                lu_free(l);
                assert_ok(*state, lu_analyse(A, &l));
                assert_true(isfinite(lu_fill(l, A)));
                check_all(A, l, "matched");
            }
            lu_free(l);
            spry_matrix_free(A);
        }
}

/* New values that the old pivots fit have the bits of a first factorisation. */
static void new_values_in_old_places(void **state)
{
    spry_matrix *A = NULL;
    lu *l = NULL, *fresh = NULL;
    double x[150], y[150];
    assert_ok(*state, spry_generate(*state, "circuit", "size=150", &A));
    assert_ok(*state, lu_analyse(A, &l));
    assert_true(isfinite(lu_fill(l, A)));
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const spry_scalar v = value_get(A->a.type, A->a.values, k);
        support_put(A, k, (spry_scalar){v.re * (1 + 0.25 * (double)(k % 3)), 0});
    }
    assert_true(isfinite(lu_fill(l, A)));
    assert_ok(*state, lu_analyse(A, &fresh));
    assert_true(isfinite(lu_fill(fresh, A)));
    for (int i = 0; i < 150; i++)
        x[i] = y[i] = i % 7 - 3;
    front_kernels_for(*state, SPRY_TYPE_D)->lu_solve(&l->f, SPRY_TRANSPOSE_NO, x);
    front_kernels_for(*state, SPRY_TYPE_D)->lu_solve(&fresh->f, SPRY_TRANSPOSE_NO, y);
    assert_memory_equal(x, y, sizeof x);
    lu_free(fresh);
    lu_free(l);
    spry_matrix_free(A);
}

/* Which factors there are: row by row unless A is near singular; definite or not is found out. */
static void the_rest_is_for_fronts(void **state)
{
    spry_matrix *A = NULL;
    factor f;
    assert_ok(*state, spry_generate(*state, "poisson2d", "size=8", &A));
    assert_ok(*state, factor_make(&factor_sparse, A, true, 0, NULL, &f));
    assert_string_equal(f.by, "LU");
    assert_int_equal(matrix_known(A, SPRY_FACT_DEFINITE), SPRY_TRUTH_YES);
    for (int64_t i = 0; i < A->a.rows; i++) { /* rows sum to 0 now */
        double sum = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            sum += A->a.col_index[k] == i ? 0 : value_get(A->a.type, A->a.values, k).re;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                support_put(A, k, (spry_scalar){-sum, 0});
    }
    assert_ok(*state, spry_matrix_set_fact(A, SPRY_FACT_DEFINITE, SPRY_TRUTH_UNKNOWN));
    assert_ok(*state, factor_fill(&f, A));
    assert_int_equal(f.rank, A->a.rows - 1);
    assert_string_not_equal(f.by, "LU");
    factor_clear(&f);
    assert_status(*state, SPRY_STATUS_BAD_INPUT,
                  factor_make(&factor_sparse, A, false, 0, NULL, &f));
    assert_non_null(strstr(spry_message(*state), "singular"));
    spry_matrix_free(A);
    /* Full ones take too many operations for each row. */
    lu *l = NULL;
    assert_ok(*state, spry_generate(*state, "random", "size=300 per-row=60", &A));
    assert_ok(*state, lu_analyse(A, &l));
    assert_null(l);
    spry_matrix_free(A);
}

static spry_status use(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    lu *l = NULL;
    const spry_status status = lu_analyse(A, &l);
    (void)ctx;
    if (status == SPRY_STATUS_OK)
        assert_true(isfinite(lu_fill(l, A)));
    lu_free(l);
    return status;
}

static void without_memory(void **state)
{
    spry_matrix *A = NULL;
    assert_ok(*state, spry_generate(*state, "circuit", "size=60", &A));
    put_aside(A);
    support_torture(*state, use, A);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {CASE(all_types_and_products), CASE(new_values_in_old_places),
                                       CASE(the_rest_is_for_fronts), CASE(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
