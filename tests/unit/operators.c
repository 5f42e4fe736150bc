/* Operators as objects: a caller's function, factors, arguments that do not fit. */
#include "support/numeric.h"

#include <math.h>

/* The 3 x 2 matrix (1 2; 3 4; 5 6), multiplied by the caller. */
typedef struct caller {
    int calls;
    spry_status answer;
} caller;

static spry_status apply(void *data, spry_transpose op, const void *x, void *y)
{
    static const double A[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    caller *c = data;
    const double *in = x;
    double *out = y;
    c->calls++;
    if (c->answer != SPRY_STATUS_OK)
        return c->answer;
    for (int k = 0; k < (op == SPRY_TRANSPOSE_NO ? 3 : 2); k++)
        out[k] = op == SPRY_TRANSPOSE_NO ? A[k][0] * in[0] + A[k][1] * in[1]
                                         : A[0][k] * in[0] + A[1][k] * in[1] + A[2][k] * in[2];
    return SPRY_STATUS_OK;
}

static spry_vector *vector(spry_context *ctx, spry_type type, int64_t n, double value)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_fill(v, (spry_scalar){value, 0}));
    return v;
}

static void check(const spry_vector *v, double a, double b, double c)
{
    const double *numbers = spry_vector_data_const(v), expected[] = {a, b, c};
    for (int64_t i = 0; i < spry_vector_size(v); i++)
        assert_true(numbers[i] == expected[i]);
}

static void test_function(void **state)
{
    spry_context *ctx = *state;
    caller c = {0, SPRY_STATUS_OK};
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 2, true, apply, &c, &op));
    assert_string_equal(spry_operator_name(op), "function");
    assert_int_equal(spry_operator_rows(op), 3);
    assert_int_equal(spry_operator_cols(op), 2);
    assert_int_equal(spry_operator_bytes(op), 0);
    assert_true(spry_operator_has_transpose(op));
    spry_vector *x = vector(ctx, SPRY_TYPE_D, 2, 1), *y = vector(ctx, SPRY_TYPE_D, 3, NAN);
    assert_ok(ctx, spry_operator_apply(op, x, y));
    check(y, 3, 7, 11);
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0}, x,
                                          (spry_scalar){-1, 0}, y));
    check(y, 3, 7, 11);
    assert_ok(ctx, spry_vector_fill(y, (spry_scalar){NAN, 0}));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                          (spry_scalar){0, 0}, y));
    check(y, -3, -7, -11);
    assert_ok(ctx, spry_vector_fill(y, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, y,
                                          (spry_scalar){10, 0}, x));
    check(x, 19, 22, 0);
    assert_int_equal(c.calls, 4);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    spry_operator_free(NULL);
}

static void test_function_fails(void **state)
{
    spry_context *ctx = *state;
    caller c = {0, SPRY_STATUS_INTERRUPTED};
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 2, false, apply, &c, &op));
    spry_vector *x = vector(ctx, SPRY_TYPE_D, 2, 1), *y = vector(ctx, SPRY_TYPE_D, 3, 5);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_operator_apply(op, x, y));
    support_message_has(ctx, "the caller's product failed");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_operator_multiply(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, y,
                                         (spry_scalar){0, 0}, x));
    support_message_has(ctx, "function has no transposed product");
    assert_int_equal(c.calls, 1);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
}

static void test_bad_function(void **state)
{
    spry_context *ctx = *state;
    spry_operator *op = (spry_operator *)1;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_function(ctx, SPRY_TYPE_D, -3, 2, false, apply, NULL, &op));
    support_message_has(ctx, "-3 x 2");
    assert_null(op);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 2, false, NULL, NULL, &op));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_function(ctx, (spry_type)8, 3, 2, false, apply, NULL, &op));
    assert_null(op);
}

static void test_mismatch(void **state)
{
    spry_context *ctx = *state, *other = support_context(NULL);
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (const double[]){1, 2, 3, 4});
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    spry_vector *x = vector(ctx, SPRY_TYPE_D, 2, 1), *y = vector(ctx, SPRY_TYPE_D, 2, 1);
    spry_vector *longer = vector(ctx, SPRY_TYPE_D, 3, 1), *paired = vector(ctx, SPRY_TYPE_Z, 2, 1);
    spry_vector *foreign = vector(other, SPRY_TYPE_D, 2, 1);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, longer, y));
    support_message_has(ctx, "x has 3 elements, the product needs 2");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, x, longer));
    support_message_has(ctx, "y has 3 elements");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, paired, y));
    support_message_has(ctx, "x is of type z, the operator of type d");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, x, foreign));
    support_message_has(ctx, "different contexts");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_apply(op, x, x));
    support_message_has(ctx, "the same array");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 1}, x, zero, y));
    support_message_has(ctx, "imaginary");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_multiply(op, (spry_transpose)5, one, x, zero, y));
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(longer);
    spry_vector_free(paired);
    spry_vector_free(foreign);
    spry_operator_free(op);
    spry_matrix_free(A);
    support_context_free(other);
}

static spry_status make(spry_context *ctx, void *data)
{
    spry_operator *op = (spry_operator *)1;
    const spry_status status =
        spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 2, true, apply, data, &op);
    if (status != SPRY_STATUS_OK)
        assert_null(op);
    spry_operator_free(status == SPRY_STATUS_OK ? op : NULL);
    return status;
}

static void test_torture(void **state)
{
    caller c = {0, SPRY_STATUS_OK};
    support_torture(*state, make, &c);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

/* What is written must not be what is read. */
static void test_dense_overlap(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (const double[]){1, 2, 3, 4});
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    double data[12] = {0};
    const spry_dense B = {0, 2, 3, 3, true, data, NULL}, after = {0, 2, 3, 3, true, data + 6, NULL};
    const spry_dense inside = {0, 2, 3, 3, true, data + 5, NULL};
    const spry_scalar one = {1, 0}, zero = {0, 0};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &B, zero, &B));
    support_message_has(ctx, "share memory");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &inside, zero, &B));
    assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &B, zero, &after));
    spry_operator_free(op);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dense_overlap, support_setup, support_teardown),
        CASE(test_function),
        CASE(test_function_fails),
        CASE(test_bad_function),
        CASE(test_mismatch),
        CASE(test_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
