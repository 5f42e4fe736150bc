/* Numbers, bounds and levels for the tests of kernels. */
#include "support/numeric.h"

#include "host/apply.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

long double numeric_size(spry_scalar a)
{
    return fabsl((long double)a.re) + fabsl((long double)a.im);
}

wide numeric_muladd(wide sum, spry_scalar a, bool conjugate, spry_scalar b)
{
    const long double re = a.re, im = conjugate ? -a.im : a.im;
    sum.re += re * b.re - im * b.im;
    sum.im += re * b.im + im * b.re;
    sum.size += numeric_size(a) * numeric_size(b);
    return sum;
}

double numeric_unit(spry_type type)
{
    return (type == SPRY_TYPE_S || type == SPRY_TYPE_C ? FLT_EPSILON : DBL_EPSILON) / 2;
}

void *numeric_array(spry_type type, int64_t n, int skew, uint64_t seed)
{
    const size_t size = spry_type_size(type);
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, 64, ((size_t)n + (size_t)skew) * size + 1), 0);
    char *array = (char *)block + (size_t)skew * size;
    for (int64_t i = 0; i < n; i++)
        value_set(type, array, i,
                  (spry_scalar){2 * base_uniform(seed, 2 * (uint64_t)i) - 1,
                                2 * base_uniform(seed, 2 * (uint64_t)i + 1) - 1});
    return array;
}

void numeric_free(spry_type type, void *array, int skew)
{
    free((char *)array - (size_t)skew * spry_type_size(type));
}

spry_vector *numeric_vector(spry_context *ctx, spry_type type, int64_t n, void *array)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, array, SPRY_OWN_BORROW, &v));
    return v;
}

spry_vector *numeric_random(spry_context *ctx, spry_device *device, spry_type type, int64_t n,
                            uint64_t seed)
{
    spry_vector *v = NULL;
    assert_ok(ctx, vector_new_at(ctx, device, type, n, &v));
    if (seed > 0)
        assert_ok(ctx, vector_random(v, seed));
    return v;
}

double numeric_norm(const spry_vector *v)
{
    double norm = 0;
    assert_ok(v->ctx, spry_vector_norm(v, &norm));
    return norm;
}

void numeric_near(spry_type type, spry_scalar found, wide expected, double factor, const char *what,
                  int64_t place)
{
    const long double bound = (long double)factor * numeric_unit(type) * expected.size;
    const long double re = fabsl(found.re - expected.re), im = fabsl(found.im - expected.im);
    if (re <= bound && im <= bound)
        return;
    print_error("%s, type %s, place %lld: (%.17g, %.17g), expected (%.17Lg, %.17Lg) within %Lg\n",
                what, spry_type_name(type), (long long)place, found.re, found.im, expected.re,
                expected.im, bound);
    fail();
}

void numeric_levels(const int *threads, int count, void (*test)(spry_context *ctx))
{
    for (int level = 0; level < isa_count(); level++) {
        for (int t = 0; t < count && isa_usable(level); t++) {
            char options[64];
            snprintf(options, sizeof options, "isa=%s threads=%d", isa_name(level), threads[t]);
            spry_context *ctx = support_context(options);
            assert_string_equal(spry_context_isa(ctx), isa_name(level));
            test(ctx);
            support_context_free(ctx);
        }
    }
}

void numeric_other_levels(void (*test)(spry_context *ctx))
{
    spry_context *plain = support_context(NULL);
    for (int level = 0; level < isa_count(); level++) {
        if (!isa_usable(level) || strcmp(isa_name(level), spry_context_isa(plain)) == 0)
            continue;
        char options[32];
        snprintf(options, sizeof options, "isa=%s", isa_name(level));
        spry_context *ctx = support_context(options);
        assert_string_equal(spry_context_isa(ctx), isa_name(level));
        test(ctx);
        support_context_free(ctx);
    }
    support_context_free(plain);
}
