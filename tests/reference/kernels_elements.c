/* Arithmetic element by element: every kernel, type and ISA level against long double. */
#include "support/numeric.h"

#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70 };
static const spry_scalar factors[] = {{1, 0}, {0, 0}, {-1, 0}, {0.3, -1.7}};

/* A type's share of a factor: real types have no imaginary part. */
static spry_scalar factor_for(spry_type type, int k)
{
    spry_scalar factor = factors[k];
    if (!spry_type_is_complex(type))
        factor.im = 0;
    if (type == SPRY_TYPE_S || type == SPRY_TYPE_C)
        factor = (spry_scalar){(float)factor.re, (float)factor.im};
    return factor;
}

/* x, y and z of n elements that start off a vector's boundary, and y as it was. */
typedef struct operands {
    spry_context *ctx;
    spry_type type;
    int64_t n;
    int skew;
    void *x, *y, *z, *old;
    spry_vector *vx, *vy, *vz;
} operands;

static operands operands_new(spry_context *ctx, spry_type type, int64_t n, int skew)
{
    operands o = {.ctx = ctx, .type = type, .n = n, .skew = skew};
    o.x = numeric_array(type, n, skew, 1);
    o.y = numeric_array(type, n, skew, 2);
    o.z = numeric_array(type, n, skew, 3);
    o.old = numeric_array(type, n, skew, 2);
    o.vx = numeric_vector(ctx, type, n, o.x);
    o.vy = numeric_vector(ctx, type, n, o.y);
    o.vz = numeric_vector(ctx, type, n, o.z);
    return o;
}

static void operands_free(operands *o)
{
    spry_vector_free(o->vx);
    spry_vector_free(o->vy);
    spry_vector_free(o->vz);
    numeric_free(o->type, o->x, o->skew);
    numeric_free(o->type, o->y, o->skew);
    numeric_free(o->type, o->z, o->skew);
    numeric_free(o->type, o->old, o->skew);
}

/* y = a x + b y: a product has two roundings at most for each part of it, the sum another two. */
static void check_sum(const operands *o, spry_scalar a, spry_scalar b, const char *what)
{
    for (int64_t i = 0; i < o->n; i++) {
        wide sum = numeric_muladd((wide){0}, a, false, value_get(o->type, o->x, i));
        sum = numeric_muladd(sum, b, false, value_get(o->type, o->old, i));
        numeric_near(o->type, value_get(o->type, o->y, i), sum, 4, what, i);
    }
}

static void check_updates(spry_context *ctx, spry_type type, int64_t n, int skew, int k)
{
    const spry_scalar a = factor_for(type, k), one = {1, 0};
    operands o = operands_new(ctx, type, n, skew);
    assert_ok(ctx, spry_vector_axpy(a, o.vx, o.vy));
    check_sum(&o, a, one, "axpy");
    memcpy(o.y, o.old, (size_t)n * spry_type_size(type));
    assert_ok(ctx, vector_xpay(o.vx, a, o.vy));
    check_sum(&o, one, a, "xpay");
    memcpy(o.y, o.old, (size_t)n * spry_type_size(type));
    assert_ok(ctx, spry_vector_scale(a, o.vy));
    check_sum(&o, (spry_scalar){0, 0}, a, "scale");
    operands_free(&o);
}

/* z = x * y: two products and a sum, each rounded or fused */
static void check_products(spry_context *ctx, spry_type type, int64_t n, int skew)
{
    operands o = operands_new(ctx, type, n, skew);
    assert_ok(ctx, spry_vector_multiply(o.vx, o.vy, o.vz));
    assert_ok(ctx, spry_vector_multiply(o.vx, o.vy, o.vy)); /* in place */
    for (int64_t i = 0; i < n; i++) {
        const wide product =
            numeric_muladd((wide){0}, value_get(type, o.x, i), false, value_get(type, o.old, i));
        numeric_near(type, value_get(type, o.z, i), product, 3, "multiply", i);
        numeric_near(type, value_get(type, o.y, i), product, 3, "multiply in place", i);
    }
    /* Which vectors share memory must not show in the bits of a method. */
    assert_memory_equal(o.z, o.y, (size_t)n * spry_type_size(type));
    operands_free(&o);
}

static void check_sets(spry_context *ctx, spry_type type, int64_t n, int skew)
{
    operands o = operands_new(ctx, type, n, skew);
    const spry_scalar value = factor_for(type, 3);
    assert_ok(ctx, spry_vector_fill(o.vz, value));
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar found = value_get(type, o.z, i);
        assert_true(found.re == value.re && found.im == value.im);
    }
    assert_ok(ctx, spry_vector_copy(o.vx, o.vz));
    assert_memory_equal(o.x, o.z, (size_t)n * spry_type_size(type));
    operands_free(&o);
}

static void small_sizes(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        for (int64_t n = 0; n <= MOST; n++) {
            const int skew = (int)(n % 3);
            for (int k = 0; k < 4; k++)
                check_updates(ctx, support_types[t], n, skew, k);
            check_products(ctx, support_types[t], n, skew);
            check_sets(ctx, support_types[t], n, skew);
        }
    }
}

static void test_small(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, small_sizes);
}

/* Sizes around chunks and with a parallel region. */
static void large_sizes(spry_context *ctx)
{
    static const int64_t sizes[] = {
        VECTOR_CHUNK - 1, VECTOR_CHUNK, VECTOR_CHUNK + 1, 16383, 16385, 50001};
    for (int t = 0; t < 4; t++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            check_updates(ctx, support_types[t], sizes[s], 1, 3);
            check_products(ctx, support_types[t], sizes[s], 1);
            check_sets(ctx, support_types[t], sizes[s], 1);
        }
    }
}

static void test_large(void **state)
{
    (void)state;
    numeric_levels((const int[]){1, 3}, 2, large_sizes);
}

/* Elements do not see each other: one NaN stays one, and infinities stay where they are. */
static void specials(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        operands o = operands_new(ctx, type, MOST, 0);
        value_set(type, o.x, 33, (spry_scalar){NAN, 0});
        value_set(type, o.x, 34, (spry_scalar){INFINITY, 0});
        assert_ok(ctx, spry_vector_axpy((spry_scalar){2, 0}, o.vx, o.vy));
        for (int64_t i = 0; i < MOST; i++) {
            const double re = value_get(type, o.y, i).re;
            assert_true(i == 33 ? isnan(re) : i == 34 ? !isfinite(re) : isfinite(re));
        }
        operands_free(&o);
    }
}

static void test_specials(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, specials);
}

/* The same bits whatever the number of threads, for every operation. */
static void test_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    enum { N = 100003 };
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const size_t bytes = N * spry_type_size(type);
        void *first = malloc(bytes);
        for (int k = 0; k < 4; k++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", threads[k]);
            spry_context *ctx = support_context(options);
            operands o = operands_new(ctx, type, N, 1);
            assert_ok(ctx, spry_vector_axpy(factor_for(type, 3), o.vx, o.vy));
            assert_ok(ctx, vector_xpay(o.vx, factor_for(type, 3), o.vy));
            assert_ok(ctx, spry_vector_scale(factor_for(type, 3), o.vy));
            assert_ok(ctx, spry_vector_multiply(o.vx, o.vy, o.vz));
            if (k == 0)
                memcpy(first, o.z, bytes);
            assert_memory_equal(first, o.z, bytes);
            operands_free(&o);
            support_context_free(ctx);
        }
        free(first);
    }
}

/* A kernel of its own: z = x + a y, measured but not in the vectors' API. */
static void triad(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const spry_scalar a = factor_for(type, 3);
        for (int64_t n = 0; n <= MOST; n++) {
            operands o = operands_new(ctx, type, n, 1);
            host_kernels_for(ctx, type)->triad(n, a, o.x, o.y, o.z);
            for (int64_t i = 0; i < n; i++) {
                wide sum = numeric_muladd((wide){0}, a, false, value_get(type, o.y, i));
                sum = numeric_muladd(sum, (spry_scalar){1, 0}, false, value_get(type, o.x, i));
                numeric_near(type, value_get(type, o.z, i), sum, 4, "triad", i);
            }
            operands_free(&o);
        }
    }
}

static void test_triad(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, triad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_specials), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_triad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
