/* Vectors as objects: ownership, conversion between types, arguments that do not fit. */
#include "support/numeric.h"

#include <math.h>
#include <string.h>

static spry_vector *vector(spry_context *ctx, spry_type type, int64_t n)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    return v;
}

static void test_new(void **state)
{
    spry_context *ctx = *state;
    double numbers[] = {1, 2, 3};
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, numbers, SPRY_OWN_BORROW, &v));
    assert_ptr_equal(spry_vector_data(v), numbers);
    assert_ptr_equal(spry_vector_data_const(v), numbers);
    assert_int_equal(spry_vector_size(v), 3);
    assert_int_equal(spry_vector_type(v), SPRY_TYPE_D);
    spry_vector_free(v);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, numbers, SPRY_OWN_COPY, &v));
    assert_ptr_not_equal(spry_vector_data(v), numbers);
    assert_memory_equal(spry_vector_data(v), numbers, sizeof numbers);
    spry_vector_free(v);
    double *own = spry_alloc(ctx, sizeof numbers);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, own, SPRY_OWN_TAKE, &v));
    assert_ptr_equal(spry_vector_data(v), own);
    spry_vector_free(v); /* frees own: teardown counts */
    spry_vector_free(NULL);
}

static void test_zeros(void **state)
{
    spry_context *ctx = *state;
    static const int64_t sizes[] = {0, 1, 5, 100001};
    for (int t = 0; t < 4; t++) {
        for (int s = 0; s < 4; s++) {
            spry_vector *v = vector(ctx, support_types[t], sizes[s]);
            for (int64_t i = 0; i < sizes[s]; i++) {
                const spry_scalar a = value_get(support_types[t], spry_vector_data_const(v), i);
                assert_true(a.re == 0 && a.im == 0);
            }
            spry_vector_free(v);
        }
    }
}

static void test_of_matrix(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_C, 2, 3, (const double[]){1, 0, 2, 0, 3, 0});
    spry_vector *x = NULL, *b = NULL;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_int_equal(spry_vector_size(x), 3);
    assert_int_equal(spry_vector_size(b), 2);
    assert_int_equal(spry_vector_type(b), SPRY_TYPE_C);
    const float ones[] = {1, 0, 1, 0};
    assert_memory_equal(spry_vector_data_const(b), ones, sizeof ones);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
}

/* Every pair of types holds these numbers. */
static void test_convert(void **state)
{
    spry_context *ctx = *state;
    for (int from = 0; from < 4; from++) {
        for (int to = 0; to < 4; to++) {
            spry_vector *x = vector(ctx, support_types[from], 9);
            spry_vector *y = vector(ctx, support_types[to], 9);
            for (int64_t i = 0; i < 9; i++)
                value_set(support_types[from], spry_vector_data(x), i,
                          (spry_scalar){0.5 * (double)i, 0});
            assert_ok(ctx, spry_vector_copy(x, y));
            for (int64_t i = 0; i < 9; i++) {
                const spry_scalar a = value_get(support_types[to], spry_vector_data_const(y), i);
                assert_true(a.re == 0.5 * (double)i && a.im == 0);
            }
            if (spry_type_is_complex(support_types[from]) &&
                !spry_type_is_complex(support_types[to])) {
                value_set(support_types[from], spry_vector_data(x), 7, (spry_scalar){0, 2});
                assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_copy(x, y));
                support_message_has(ctx, "element 7 has an imaginary part of 2");
            }
            spry_vector_free(x);
            spry_vector_free(y);
        }
    }
}

/* A finite number that single precision has only infinity for is refused, infinity itself is not.
 */
static void test_overflow(void **state)
{
    spry_context *ctx = *state;
    for (int complex = 0; complex < 2; complex++) {
        spry_vector *x = vector(ctx, complex ? SPRY_TYPE_Z : SPRY_TYPE_D, 5);
        spry_vector *y = vector(ctx, complex ? SPRY_TYPE_C : SPRY_TYPE_S, 5);
        const spry_scalar large = {complex ? 1 : 1e300, complex ? -1e300 : 0};
        value_set(x->type, spry_vector_data(x), 1, (spry_scalar){INFINITY, 0});
        assert_ok(ctx, spry_vector_copy(x, y));
        value_set(x->type, spry_vector_data(x), 3, large);
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_copy(x, y));
        support_message_has(ctx, complex ? "element 3: (1, -1e+300) does not fit type c"
                                         : "element 3: (1e+300, 0) does not fit type s");
        spry_vector_free(x);
        spry_vector_free(y);
    }
}

static void test_bad_new(void **state)
{
    spry_context *ctx = *state;
    spry_vector *v = (spry_vector *)1;
    double number = 0;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_vector_new(ctx, SPRY_TYPE_D, -1, NULL, SPRY_OWN_COPY, &v));
    support_message_has(ctx, "-1");
    assert_null(v);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_vector_new(ctx, (spry_type)17, 1, NULL, SPRY_OWN_COPY, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_vector_new(ctx, SPRY_TYPE_D, 1, &number, (spry_own)9, &v));
    assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                  spry_vector_new(ctx, SPRY_TYPE_Z, INT64_MAX, NULL, SPRY_OWN_COPY, &v));
    assert_null(v);
}

static void test_mismatch(void **state)
{
    spry_context *ctx = *state, *other = support_context(NULL);
    const spry_scalar one = {1, 0}, i = {0, 1};
    spry_vector *x = vector(ctx, SPRY_TYPE_D, 4), *longer = vector(ctx, SPRY_TYPE_D, 5);
    spry_vector *single = vector(ctx, SPRY_TYPE_S, 4), *foreign = vector(other, SPRY_TYPE_D, 4);
    spry_scalar dot;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_axpy(one, x, longer));
    support_message_has(ctx, "4 and 5 elements");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, vector_xpay(x, one, single));
    support_message_has(ctx, "types d and s");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_axpy(one, x, foreign));
    support_message_has(ctx, "different contexts");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_copy(x, longer));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_multiply(x, longer, x));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_multiply(x, x, single));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_dot(x, longer, &dot));
    support_message_has(ctx, "4 elements of type d and 5 of type d");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_dot(x, foreign, &dot));
    support_message_has(ctx, "different contexts");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_fill(x, i));
    support_message_has(ctx, "imaginary part of 1");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_scale(i, x));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_vector_axpy(i, x, x));
    spry_vector_free(x);
    spry_vector_free(longer);
    spry_vector_free(single);
    spry_vector_free(foreign);
    support_context_free(other);
}

/* The same vector twice is allowed. */
static void test_same(void **state)
{
    spry_context *ctx = *state;
    spry_vector *x = vector(ctx, SPRY_TYPE_D, 1000);
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){3, 0}));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){2, 0}, x, x));
    assert_ok(ctx, spry_vector_copy(x, x));
    spry_scalar dot;
    assert_ok(ctx, spry_vector_dot(x, x, &dot));
    assert_true(dot.re == 81000 && dot.im == 0);
    spry_vector_free(x);
}

static spry_status make_ones(spry_context *ctx, void *data)
{
    spry_vector *v = (spry_vector *)1;
    const spry_status status = spry_vector_ones(ctx, data, &v);
    if (status != SPRY_STATUS_OK)
        assert_null(v);
    else
        spry_vector_free(v);
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (const double[]){1, 2, 3, 4});
    support_torture(ctx, make_ones, A);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_new),     CASE(test_zeros),   CASE(test_of_matrix),
        CASE(test_convert), CASE(test_bad_new), CASE(test_mismatch),
        CASE(test_same),    CASE(test_torture), CASE(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
