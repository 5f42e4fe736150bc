/* Vectors of the host and of a device together: for tests/device/places.c and its kin. */
#ifndef SUPPORT_PLACES_H
#define SUPPORT_PLACES_H

#include "support/devices.h"
#include "support/numeric.h"

#include <stdio.h>

static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_C};
enum { TYPES = sizeof types / sizeof *types };
static const spry_scalar one = {1, 0}, zero = {0, 0};

/* --- what is compared ---------------------------------------------------------------------------
 */

/* Eighths, of which sums of a few are exact. */
static inline spry_vector *numbers(spry_context *ctx, spry_type type, int64_t n, uint64_t seed)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    for (int64_t i = 0; i < n; i++)
        value_set(type, spry_vector_data(v), i, support_number(type, seed, (uint64_t)i));
    return v;
}

/* A copy of it on the device. */
static inline spry_vector *copy_on_device(spry_device *d, const spry_vector *x)
{
    spry_vector *v = NULL;
    assert_ok(d->ctx, spry_vector_on(d, spry_vector_type(x), spry_vector_size(x), NULL, &v));
    assert_ok(d->ctx, spry_vector_copy(x, v));
    assert_ptr_equal(spry_vector_device(v), d);
    assert_non_null(spry_vector_handle(v));
    assert_true((spry_vector_data_const(v) != NULL) == d->facts.has_pointers);
    return v;
}

/* The same bits; where the second is does not matter. */
static inline void same(const spry_vector *expected, const spry_vector *found)
{
    spry_vector *back = NULL;
    assert_int_equal(spry_vector_size(found), spry_vector_size(expected));
    assert_int_equal(spry_vector_type(found), spry_vector_type(expected));
    assert_ok(expected->ctx, spry_vector_like(expected, expected->n, &back));
    assert_null(spry_vector_device(back));
    assert_ok(expected->ctx, spry_vector_copy(found, back));
    assert_memory_equal(spry_vector_data_const(expected), spry_vector_data_const(back),
                        (size_t)expected->n * spry_type_size(expected->type));
    spry_vector_free(back);
}

/* The call was refused, and the message names the device. */
static inline void refused(spry_device *d, spry_status status)
{
    assert_status(d->ctx, SPRY_STATUS_BAD_USAGE, status);
    support_message_has(d->ctx, spry_device_name(d));
}

static inline void free_all(spry_vector *const *v, int count)
{
    for (int k = 0; k < count; k++)
        spry_vector_free(v[k]);
}
#define FREE_ALL(...)                             \
    free_all((spry_vector *const[]){__VA_ARGS__}, \
             (int)(sizeof(spry_vector *[]){__VA_ARGS__} / sizeof(spry_vector *)))

static inline spry_matrix *grid(spry_context *ctx, spry_type type)
{
    char options[64];
    spry_matrix *A = NULL;
    snprintf(options, sizeof options, "size=12 type=%s", spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &A));
    return A;
}

#endif
