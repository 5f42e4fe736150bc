/* Linear combinations, quotients and random numbers: every type and ISA level against long
 * double. */
#include "support/numeric.h"

#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 20 };

/* Arrays of n elements, and factors for them. */
typedef struct operands {
    const host_kernels *kernels;
    spry_type type;
    int64_t n;
    void *v[TERMS], *out;
    spry_scalar c[TERMS];
} operands;

static operands operands_new(spry_context *ctx, spry_type type, int64_t n, bool real_factors)
{
    operands o = {.kernels = host_kernels_for(ctx, type), .type = type, .n = n};
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    for (int t = 0; t < TERMS; t++) {
        o.v[t] = numeric_array(type, n, 1, 10 + (uint64_t)t);
        o.c[t] = (spry_scalar){2 * base_uniform(1, (uint64_t)t) - 1, 0};
        if (spry_type_is_complex(type) && !real_factors)
            o.c[t].im = 2 * base_uniform(2, (uint64_t)t) - 1;
        if (single)
            o.c[t] = (spry_scalar){(float)o.c[t].re, (float)o.c[t].im};
    }
    o.out = numeric_array(type, n, 1, 9);
    return o;
}

static void operands_free(operands *o)
{
    for (int t = 0; t < TERMS; t++)
        numeric_free(o->type, o->v[t], 1);
    numeric_free(o->type, o->out, 1);
}

static void combine(const operands *o, int terms, void *out)
{
    const void *v[TERMS];
    for (int t = 0; t < terms; t++)
        v[t] = o->v[t];
    o->kernels->combine(o->n, terms, o->c, v, out);
}

/* A product takes part in its own rounding, in at most two additions for each term, and in one that
 * joins the parts of complex sums. */
static void check_combine(operands *o, int terms)
{
    combine(o, terms, o->out);
    for (int64_t i = 0; i < o->n; i++) {
        wide sum = {0};
        for (int t = 0; t < terms; t++)
            sum = numeric_muladd(sum, o->c[t], false, value_get(o->type, o->v[t], i));
        numeric_near(o->type, value_get(o->type, o->out, i), sum, 2 * terms + 2, "combine", i);
    }
}

/* The result may go over any of the operands, with the same bits. */
static void check_in_place(operands *o, int terms)
{
    const size_t bytes = (size_t)o->n * spry_type_size(o->type);
    void *old = malloc(bytes + 1);
    for (int t = 0; t < terms; t++) {
        memcpy(old, o->v[t], bytes);
        combine(o, terms, o->v[t]);
        assert_memory_equal(o->v[t], o->out, bytes);
        memcpy(o->v[t], old, bytes);
    }
    free(old);
}

static void combinations(spry_context *ctx)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 31, 64, 67, 255, 256, 257, 1023, 1024};
    for (int t = 0; t < 4; t++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int real = 0; real <= spry_type_is_complex(support_types[t]); real++) {
                operands o = operands_new(ctx, support_types[t], sizes[s], real);
                for (int terms = 0; terms <= TERMS; terms++) {
                    check_combine(&o, terms);
                    if (sizes[s] == 67 || sizes[s] == 257)
                        check_in_place(&o, terms);
                }
                operands_free(&o);
            }
        }
    }
}

static void test_combine(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, combinations);
}

/* Factors 1 and -1 leave the numbers as they are, and 0 terms make zeros of what was there. */
static void exact(spry_context *ctx)
{
    enum { N = 300 };
    for (int t = 0; t < 4; t++) {
        operands o = operands_new(ctx, support_types[t], N, false);
        const size_t bytes = N * spry_type_size(o.type);
        o.c[0] = (spry_scalar){1, 0};
        combine(&o, 1, o.out);
        assert_memory_equal(o.out, o.v[0], bytes);
        /* x - x = 0 */
        memcpy(o.v[1], o.v[0], bytes);
        o.c[1] = (spry_scalar){-1, 0};
        combine(&o, 2, o.out);
        for (int64_t i = 0; i < N; i++) {
            const spry_scalar zero = value_get(o.type, o.out, i);
            assert_true(zero.re == 0 && zero.im == 0);
        }
        memset(o.out, 255, bytes);
        combine(&o, 0, o.out);
        for (int64_t i = 0; i < N; i++) {
            const spry_scalar zero = value_get(o.type, o.out, i);
            assert_true(zero.re == 0 && zero.im == 0);
        }
        operands_free(&o);
    }
}

static void test_exact(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, exact);
}

/* conj(x) y as x y: two products and a sum. */
static void check_products(operands *o)
{
    o->kernels->multiply_conj(o->n, o->v[0], o->v[1], o->out);
    for (int64_t i = 0; i < o->n; i++) {
        const wide product = numeric_muladd((wide){0}, value_get(o->type, o->v[0], i), true,
                                            value_get(o->type, o->v[1], i));
        numeric_near(o->type, value_get(o->type, o->out, i), product, 3, "multiply_conj", i);
    }
}

/*
 * Smith's division: three roundings at most in the denominator, whose terms have one sign, three in
 * either numerator, whose terms are bounded by |x / y| times the denominator, and the division's.
 */
static void check_quotients(operands *o)
{
    o->kernels->divide(o->n, o->v[0], o->v[1], o->out);
    for (int64_t i = 0; i < o->n; i++) {
        const spry_scalar a = value_get(o->type, o->v[0], i), b = value_get(o->type, o->v[1], i);
        const long double square = (long double)b.re * b.re + (long double)b.im * b.im;
        const wide product = numeric_muladd((wide){0}, b, true, a);
        wide quotient = {product.re / square, product.im / square, 0};
        quotient.size = hypotl(quotient.re, quotient.im);
        numeric_near(o->type, value_get(o->type, o->out, i), quotient, 8, "divide", i);
    }
}

static void elements(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        for (int64_t n = 0; n <= 40; n++) {
            operands o = operands_new(ctx, support_types[t], n, false);
            check_products(&o);
            check_quotients(&o);
            operands_free(&o);
        }
    }
}

static void test_elements(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, elements);
}

/* Quotients whose parts fit the type, though squares of the parts of y do not. */
static void extremes(spry_context *ctx)
{
    static const double sizes[] = {0x1p1000, 0x1p-1000, 0x1p120, 0x1p-120};
    for (int k = 0; k < 4; k++) {
        const spry_type type = k < 2 ? SPRY_TYPE_Z : SPRY_TYPE_C;
        const double size = sizes[k];
        double x[2], y[2], z[2];
        value_set(type, x, 0, (spry_scalar){size, 3 * size});
        value_set(type, y, 0, (spry_scalar){size, size});
        host_kernels_for(ctx, type)->divide(1, x, y, z);
        spry_scalar found = value_get(type, z, 0);
        assert_true(found.re == 2 && found.im == 1); /* (1 + 3i) / (1 + i) */
        value_set(type, y, 0, (spry_scalar){0, size});
        host_kernels_for(ctx, type)->divide(1, x, y, z);
        found = value_get(type, z, 0);
        assert_true(found.re == 3 && found.im == -1); /* (1 + 3i) / i */
    }
}

static void test_extremes(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, extremes);
}

/*
 * Random numbers: the same however the range is cut; inside (-1, 1); of mean 0 and variance 1/3
 * within six standard deviations (1 / sqrt(3 m) and sqrt(4 / 45 / m) for m numbers); another seed
 * and the other part are other numbers.
 */
static void check_random(const host_kernels *kernels, spry_type type)
{
    enum { N = 4000 };
    const size_t size = spry_type_size(type);
    char *whole = malloc(N * size), *cut = malloc(N * size);
    kernels->random(N, 7, 100, whole);
    for (int64_t i = 0, n = 1; i < N; i += n, n = n * 2 + 1)
        kernels->random(i + n < N ? n : N - i, 7, 100 + i, cut + (size_t)i * size);
    assert_memory_equal(whole, cut, N * size);
    double mean = 0, variance = 0;
    int count = 0;
    for (int64_t i = 0; i < N; i++) {
        const spry_scalar v = value_get(type, whole, i);
        assert_true(v.re > -1 && v.re < 1 && v.re != v.im);
        assert_true(v.im > -1 && v.im < 1);
        mean += v.re + v.im;
        variance += v.re * v.re + v.im * v.im;
        count += 1 + spry_type_is_complex(type);
    }
    assert_true(fabs(mean / count) < 6 / sqrt(3.0 * count));
    assert_true(fabs(variance / count - 1.0 / 3) < 6 * sqrt(4.0 / 45 / count));
    kernels->random(N, 8, 100, cut);
    assert_memory_not_equal(whole, cut, size);
    free(whole);
    free(cut);
}

static void numbers(spry_context *ctx)
{
    for (int t = 0; t < 4; t++)
        check_random(host_kernels_for(ctx, support_types[t]), support_types[t]);
}

static void test_random(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combine),  cmocka_unit_test(test_exact),
        cmocka_unit_test(test_elements), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
