/* Inner products and norms: every type and ISA level against long double; ranges; threads. */
#include "support/numeric.h"

#include "host/host.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 70 };

/*
 * Sums are in double for every type: with n terms (2 n products in a complex sum) the error is at
 * most about 2 n + 2 roundings of double, relative to the sum of magnitudes.
 */
static void check_dot(spry_context *ctx, spry_type type, int64_t n, int skew)
{
    void *x = numeric_array(type, n, skew, 4), *y = numeric_array(type, n, skew, 5);
    spry_vector *vx = numeric_vector(ctx, type, n, x), *vy = numeric_vector(ctx, type, n, y);
    wide sum = {0}, square = {0};
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar a = value_get(type, x, i), b = value_get(type, y, i);
        sum = numeric_muladd(sum, a, true, b);
        square = numeric_muladd(square, a, true, a);
    }
    spry_scalar dot;
    double norm;
    assert_ok(ctx, spry_vector_dot(vx, vy, &dot));
    numeric_near(SPRY_TYPE_D, dot, sum, 2 * (double)n + 2, "dot", n);
    if (!spry_type_is_complex(type))
        assert_true(dot.im == 0);
    assert_ok(ctx, spry_vector_norm(vx, &norm));
    const wide root = {sqrtl(square.re), 0, sqrtl(square.re)};
    numeric_near(SPRY_TYPE_D, (spry_scalar){norm, 0}, root, (double)n + 3, "norm", n);
    spry_vector_free(vx);
    spry_vector_free(vy);
    numeric_free(type, x, skew);
    numeric_free(type, y, skew);
}

static void small_sizes(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        for (int64_t n = 0; n <= MOST; n++)
            check_dot(ctx, support_types[t], n, (int)(n % 3));
    }
}

static void test_small(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, small_sizes);
}

static void large_sizes(spry_context *ctx)
{
    static const int64_t sizes[] = {4095, 4096, 4097, 16383, 16385, 100003};
    for (int t = 0; t < 4; t++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check_dot(ctx, support_types[t], sizes[s], 1);
    }
}

static void test_large(void **state)
{
    (void)state;
    numeric_levels((const int[]){1, 3}, 2, large_sizes);
}

/* Without conjugation, as dot otherwise. */
static void plain_dots(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        for (int64_t n = 0; n <= MOST; n++) {
            void *x = numeric_array(type, n, 1, 4), *y = numeric_array(type, n, 1, 5);
            wide sum = {0};
            for (int64_t i = 0; i < n; i++)
                sum = numeric_muladd(sum, value_get(type, x, i), false, value_get(type, y, i));
            const spry_scalar dot = host_kernels_for(ctx, type)->dot_plain(n, x, y);
            numeric_near(SPRY_TYPE_D, dot, sum, 2 * (double)n + 2, "dot_plain", n);
            numeric_free(type, x, 1);
            numeric_free(type, y, 1);
        }
    }
}

static void test_plain_dots(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, plain_dots);
}

/* The kernels that measure memory and rescale norms. */
static void other_sums(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const host_kernels *kernels = host_kernels_for(ctx, type);
        for (int64_t n = 0; n <= MOST; n++) {
            void *x = numeric_array(type, n, 1, 6);
            long double sum = 0, size = 0, most = 0;
            for (int64_t i = 0; i < n; i++) {
                const spry_scalar a = value_get(type, x, i);
                const bool is_complex = spry_type_is_complex(type);
                sum += (long double)a.re + (is_complex ? a.im : 0);
                size += numeric_size(a);
                most = fmaxl(most, fmaxl(fabsl(a.re), fabsl(a.im)));
            }
            for (int streams = 1; streams <= 4; streams++)
                numeric_near(SPRY_TYPE_D, (spry_scalar){kernels->sum(n, streams, x), 0},
                             (wide){sum, 0, size}, 2 * (double)n, "sum", streams);
            assert_true(kernels->largest(n, x) == (double)most);
            numeric_free(type, x, 1);
        }
    }
}

static void test_other_sums(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, other_sums);
}

/* The order of additions depends on the length alone. */
static void test_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    static const int64_t sizes[] = {5000, 20000, 123457,
                                    3000000}; /* the last has over 512 chunks */
    for (int t = 0; t < 4; t++) {
        for (int s = 0; s < (t == 1 ? 4 : 3); s++) {
            spry_scalar first = {0, 0};
            double first_norm = 0;
            void *x = numeric_array(support_types[t], sizes[s], 0, 7);
            void *y = numeric_array(support_types[t], sizes[s], 0, 8);
            for (int k = 0; k < 4; k++) {
                char options[32];
                snprintf(options, sizeof options, "threads=%d", threads[k]);
                spry_context *ctx = support_context(options);
                spry_vector *vx = numeric_vector(ctx, support_types[t], sizes[s], x);
                spry_vector *vy = numeric_vector(ctx, support_types[t], sizes[s], y);
                spry_scalar dot;
                double norm;
                assert_ok(ctx, spry_vector_dot(vx, vy, &dot));
                assert_ok(ctx, spry_vector_norm(vx, &norm));
                first = k == 0 ? dot : first;
                first_norm = k == 0 ? norm : first_norm;
                assert_memory_equal(&first, &dot, sizeof dot);
                assert_memory_equal(&first_norm, &norm, sizeof norm);
                spry_vector_free(vx);
                spry_vector_free(vy);
                support_context_free(ctx);
            }
            numeric_free(support_types[t], x, 0);
            numeric_free(support_types[t], y, 0);
        }
    }
}

static double norm_of(spry_context *ctx, spry_type type, int64_t n, spry_scalar each)
{
    spry_vector *v = NULL;
    double norm;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_fill(v, each));
    assert_ok(ctx, spry_vector_norm(v, &norm));
    spry_vector_free(v);
    return norm;
}

/* 4 equal numbers have twice the norm of one: a power of two, so exact where the squares are not.
 */
static void ranges(spry_context *ctx)
{
    static const double numbers[] = {1,         0x1p1000,  0x1p1022,  0x1p-500, 0x1p-600,
                                     0x1p-1000, 0x1p-1022, 0x1p-1040, 0x1p-1074};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        assert_true(norm_of(ctx, SPRY_TYPE_D, 4, (spry_scalar){numbers[k], 0}) == 2 * numbers[k]);
        /* 64 chunks, so that maxima of chunks are joined */
        assert_true(norm_of(ctx, SPRY_TYPE_D, 65536, (spry_scalar){numbers[k] / 256, 0}) ==
                    (numbers[k] / 256) * 256);
        assert_true(norm_of(ctx, SPRY_TYPE_Z, 2, (spry_scalar){numbers[k], -numbers[k]}) ==
                    2 * numbers[k]);
    }
    assert_true(norm_of(ctx, SPRY_TYPE_S, 4, (spry_scalar){0x1p126, 0}) == 0x1p127);
    assert_true(norm_of(ctx, SPRY_TYPE_C, 2, (spry_scalar){0x1p-149, 0x1p-149}) == 0x1p-148);
    /* largest double: the norm of one element is the element */
    assert_true(norm_of(ctx, SPRY_TYPE_D, 1, (spry_scalar){DBL_MAX, 0}) == DBL_MAX);
    assert_true(isinf(norm_of(ctx, SPRY_TYPE_D, 2, (spry_scalar){DBL_MAX, 0})));
    assert_true(norm_of(ctx, SPRY_TYPE_D, 1, (spry_scalar){-5e-324, 0}) == 5e-324);
    assert_true(norm_of(ctx, SPRY_TYPE_D, 3, (spry_scalar){0, 0}) == 0);
    assert_true(norm_of(ctx, SPRY_TYPE_D, 0, (spry_scalar){0, 0}) == 0);
    assert_true(isnan(norm_of(ctx, SPRY_TYPE_D, 5, (spry_scalar){NAN, 0})));
    assert_true(isinf(norm_of(ctx, SPRY_TYPE_D, 5, (spry_scalar){-INFINITY, 0})));
}

static void test_ranges(void **state)
{
    (void)state;
    numeric_levels((const int[]){1, 2}, 2, ranges);
}

/* One large number among tiny ones, and a mixture whose small squares matter. */
static void test_mixture(void **state)
{
    spry_context *ctx = *state;
    enum { N = 10000 };
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_fill(v, (spry_scalar){0x1p-530, 0}));
    ((double *)spry_vector_data(v))[77] = 0x1p-525;
    double norm;
    assert_ok(ctx, spry_vector_norm(v, &norm));
    const double exact = sqrt(1024.0 + (N - 1)) * 0x1p-530;
    assert_true(fabs(norm - exact) <= 4 * DBL_EPSILON * exact);
    ((double *)spry_vector_data(v))[77] = 0x1p900;
    assert_ok(ctx, spry_vector_norm(v, &norm));
    assert_true(norm == 0x1p900);
    spry_vector_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_plain_dots),
        cmocka_unit_test(test_other_sums),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test_setup_teardown(test_mixture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
