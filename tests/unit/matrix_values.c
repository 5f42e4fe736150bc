/* New values of a matrix: who owns them, what is refused, what is forgotten; sharing a matrix. */
#include "support/support.h"

#include "operator/operator.h"

#include <math.h>
#include <string.h>

/* [1 0 2; 0 0 3] with the first row backwards */
static const int64_t offsets_23[] = {0, 2, 3};
static const int32_t columns_23[] = {2, 0, 2};
static const double values_23[] = {2, 1, 3};

static spry_matrix *borrowing(spry_context *ctx)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, offsets_23, columns_23, values_23,
                                        SPRY_OWN_BORROW, &A));
    return A;
}

static void expect(const spry_matrix *A, double a, double b, double c)
{
    assert_memory_equal(A->a.values, ((double[]){a, b, c}), 3 * sizeof(double));
}

static void owners(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = borrowing(ctx);
    double mine[] = {4, 5, 6};
    int64_t version = matrix_version(A);
    assert_ok(ctx, spry_matrix_set_values(A, mine, SPRY_OWN_COPY)); /* values_23 is constant */
    expect(A, 4, 5, 6);
    assert_ptr_not_equal(A->a.values, mine);
    assert_ptr_equal(A->a.col_index, columns_23);
    assert_true(matrix_version(A) > version);
    const void *own = A->a.values;
    mine[0] = 7;
    assert_ok(ctx, spry_matrix_set_values(A, mine, SPRY_OWN_COPY));
    assert_ptr_equal(A->a.values, own); /* once is enough */
    expect(A, 7, 5, 6);
    assert_ok(ctx, spry_matrix_set_values(A, mine, SPRY_OWN_BORROW));
    assert_ptr_equal(A->a.values, mine);
    version = matrix_version(A);
    mine[1] = 8; /* new numbers in the array that is borrowed */
    assert_ok(ctx, spry_matrix_set_values(A, mine, SPRY_OWN_BORROW));
    assert_true(matrix_version(A) > version);
    expect(A, 7, 8, 6);
    double *taken = spry_alloc(ctx, sizeof mine);
    memcpy(taken, values_23, sizeof mine);
    assert_ok(ctx, spry_matrix_set_values(A, taken, SPRY_OWN_TAKE));
    assert_ptr_equal(A->a.values, taken);
    assert_ok(ctx, spry_matrix_set_values(A, taken, SPRY_OWN_BORROW)); /* it has it already */
    assert_ok(ctx, spry_matrix_set_values(A, A->a.values, SPRY_OWN_COPY));
    expect(A, 2, 1, 3);
    spry_matrix_free(A); /* teardown finds what is left */
}

static void refusals(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = borrowing(ctx), *H = NULL;
    spry_vector *v = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_set_values(A, NULL, SPRY_OWN_COPY));
    assert_string_equal(spry_message(ctx), "values is NULL, expected 3 numbers of type d");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_set_values(A, values_23, (spry_own)7));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_S, 3, NULL, SPRY_OWN_COPY, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_set_values_from(A, v));
    assert_string_equal(spry_message(ctx), "new values are 3 numbers of type s, the matrix has 3 "
                                           "entries of type d");
    spry_vector_free(v);
    expect(A, 2, 1, 3);
    assert_int_equal(matrix_version(A), 0);
    spry_matrix_free(A);
    /* A hermitian diagonal is real. */
    const spry_arrays a = {.type = SPRY_TYPE_Z,
                           .format = SPRY_FORMAT_CSR,
                           .symmetry = SPRY_SYMMETRY_HERMITIAN,
                           .rows = 2,
                           .cols = 2,
                           .nnz = 3,
                           .offsets = (int64_t[]){0, 1, 3},
                           .col_index = (int32_t[]){0, 0, 1},
                           .values = (double[]){1, 0, 2, 3, 4, 0}};
    assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_COPY, &H));
    assert_ok(ctx, spry_matrix_set_values(H, (double[]){5, 0, 6, 7, 8, 0}, SPRY_OWN_COPY));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_set_values(H, (double[]){5, 0, 6, 7, 8, 9}, SPRY_OWN_COPY));
    support_message_has(ctx, "entry 2 at row 1, column 1 is (8, 9)");
    assert_memory_equal(H->a.values, ((double[]){5, 0, 6, 7, 8, 0}), 6 * sizeof(double));
    spry_matrix_free(H);
}

/* The order of entries is that of the arrays as they are. */
static void order_after_sorting(void **state)
{
    spry_matrix *A = borrowing(*state);
    const int64_t version = matrix_version(A);
    assert_ok(*state, spry_matrix_sort(A));
    assert_true(matrix_version(A) > version && matrix_pattern_version(A) > 0);
    expect(A, 1, 2, 3);
    const int64_t sorted = matrix_version(A), pattern = matrix_pattern_version(A);
    assert_ok(*state, spry_matrix_sort(A)); /* which it is */
    assert_int_equal(matrix_version(A), sorted);
    assert_ok(*state, spry_matrix_set_values(A, (double[]){7, 8, 9}, SPRY_OWN_COPY));
    assert_int_equal(A->a.col_index[0], 0);
    expect(A, 7, 8, 9);
    assert_int_equal(matrix_pattern_version(A), pattern);
    spry_matrix_free(A);
}

static void facts_of_values_are_forgotten(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = borrowing(ctx);
    assert_ok(ctx, matrix_check_values(A));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
    assert_ok(ctx, spry_matrix_set_values(A, (double[]){7, NAN, 9}, SPRY_OWN_COPY));
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_UNKNOWN);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, matrix_check_values(A));
    spry_matrix_free(A);
}

/* One matrix, two contexts: the arrays are the same, memory and messages are apart. */
static void shared(void **state)
{
    spry_context *ctx = *state, *other = support_context("threads=1");
    spry_matrix *A = borrowing(ctx), *B = NULL, *C = NULL;
    spry_vector *ones = NULL;
    int64_t before, after, most;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &ones));
    assert_ok(ctx, spry_matrix_set_near_null(A, 1, (const spry_vector *const *)&ones));
    spry_vector_free(ones);
    spry_context_memory(ctx, &before, &most);
    assert_ok(other, spry_matrix_share(other, A, &B));
    assert_ptr_equal(B->a.values, values_23);
    assert_int_equal(B->near_count, 1);
    assert_ok(other, spry_matrix_convert(B, SPRY_FORMAT_COO, &C));
    assert_ok(other, matrix_check_values(B)); /* found out for both */
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
    assert_status(other, SPRY_STATUS_BAD_USAGE, spry_matrix_set_values(B, NULL, SPRY_OWN_COPY));
    support_message_has(other, "values is NULL");
    assert_string_equal(spry_message(ctx), "");
    spry_context_memory(ctx, &after, &most);
    assert_int_equal(before, after);
    /* B goes its own way, once it is changed. */
    const int64_t version = matrix_version(A), seen = matrix_version(B);
    assert_ok(other, spry_matrix_set_values(B, (double[]){1, NAN, 1}, SPRY_OWN_COPY));
    assert_true(matrix_version(B) > seen);
    assert_int_equal(matrix_version(A), version);
    expect(A, 2, 1, 3);
    assert_int_equal(spry_matrix_fact(A, SPRY_FACT_FINITE), SPRY_TRUTH_YES);
    assert_int_equal(spry_matrix_fact(B, SPRY_FACT_FINITE), SPRY_TRUTH_UNKNOWN);
    spry_matrix_free(B);
    assert_ok(other, spry_matrix_share(other, A, &B));
    assert_ok(other, spry_matrix_sort(B));
    assert_int_equal(A->a.col_index[0], 2);
    spry_matrix_free(A); /* which B no longer needs */
    expect(B, 1, 2, 3);
    spry_matrix_free(B);
    spry_matrix_free(C);
    support_context_free(other);
}

/* What is made from a matrix of another context belongs to the one who made it. */
static void made_elsewhere(void **state)
{
    spry_context *ctx = *state, *other = support_context("threads=1");
    spry_matrix *A = NULL, *B = NULL;
    spry_operator *op = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    int64_t before, after, most;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=7", &A));
    spry_context_memory(ctx, &before, &most);
    assert_ok(other, spry_matrix_share(other, A, &B));
    assert_ok(other, spry_operator_from_matrix(B, NULL, "sell", &op));
    assert_ok(other, spry_vector_ones(other, A, &b));
    assert_ok(other, spry_vector_zeros(other, A, &x));
    assert_ok(other, spry_operator_apply(op, b, x));
    assert_ok(other, spry_solver_new(other, &solver));
    assert_ok(other, spry_solver_set_matrix(solver, A));
    assert_ok(other, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    spry_result_clear(other, &result);
    spry_context_memory(ctx, &after, &most);
    assert_int_equal(before, after);
    /* New values reach them all. */
    double values[5 * 49];
    for (int64_t k = 0; k < A->a.nnz; k++)
        values[k] = 4 * ((const double *)A->a.values)[k];
    const double first = ((const double *)x->data)[24];
    assert_ok(ctx, spry_matrix_set_values(A, values, SPRY_OWN_BORROW));
    assert_false(spry_operator_is_current(op));
    assert_ok(other, spry_operator_update(op, A));
    assert_true(spry_operator_is_current(op));
    assert_ok(other, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    spry_result_clear(other, &result);
    assert_true(fabs(((const double *)x->data)[24] / first - 0.25) < 1e-6); /* tol is 1e-8 */
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(op);
    spry_matrix_free(B);
    spry_matrix_free(A);
    support_context_free(other);
}

static spry_status set(spry_context *ctx, void *data)
{
    spry_matrix *A = data, *B = NULL;
    spry_status status = spry_matrix_share(ctx, A, &B);
    if (status == SPRY_STATUS_OK) {
        status = spry_matrix_set_values(B, (double[]){4, 5, 6}, SPRY_OWN_COPY);
        expect(B, status ? 2 : 4, status ? 1 : 5, status ? 3 : 6);
    }
    spry_matrix_free(B);
    return status;
}

static void without_memory(void **state)
{
    spry_matrix *A = borrowing(*state);
    support_torture(*state, set, A);
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
static void near_null_is_finite(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 5, 3, 6, 1);
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, (double[]){1, NAN, 1}, SPRY_OWN_COPY, &v));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_set_near_null(A, 1, (const spry_vector *const *)&v));
    support_message_has(ctx, "near-null vector 0 is not finite at row 1");
    assert_int_equal(A->near_count, 0);
    spry_vector_free(v);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(owners),
        TEST(refusals),
        TEST(order_after_sorting),
        TEST(shared),
        TEST(made_elsewhere),
        TEST(facts_of_values_are_forgotten),
        TEST(without_memory),
        TEST(near_null_is_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
