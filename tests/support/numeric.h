/*
 * What the tests of kernels share: arrays of random numbers at any alignment, arithmetic in long
 * double to compare with, and every ISA level this processor can run.
 */
#ifndef SPRY_TESTS_NUMERIC_H
#define SPRY_TESTS_NUMERIC_H

#include "support/support.h"

#include "operator/operator.h"

/* A number and the sum of the magnitudes that went into it, which scales its error bound. */
typedef struct wide {
    long double re, im, size;
} wide;

/* |re| + |im| */
long double numeric_size(spry_scalar a);
/* sum + a b, conjugating a if asked; sizes grow by |a| |b| */
wide numeric_muladd(wide sum, spry_scalar a, bool conjugate, spry_scalar b);
/* Unit roundoff of a type's real numbers. */
double numeric_unit(spry_type type);

/* n random numbers in (-1, 1), starting `skew` elements after a 64-byte boundary; one page holds
 * nothing else, so free(array - skew) is numeric_free(). */
void *numeric_array(spry_type type, int64_t n, int skew, uint64_t seed);
void numeric_free(spry_type type, void *array, int skew);
/* A borrowing vector over an array. */
spry_vector *numeric_vector(spry_context *ctx, spry_type type, int64_t n, void *array);

/* A vector of random numbers in (-1, 1), or zeros (seed 0), on a device or the host (NULL). */
spry_vector *numeric_random(spry_context *ctx, spry_device *device, spry_type type, int64_t n,
                            uint64_t seed);
double numeric_norm(const spry_vector *v);

/* |found - expected| <= factor * unit(type) * expected.size, in either part. */
void numeric_near(spry_type type, spry_scalar found, wide expected, double factor, const char *what,
                  int64_t place);

/* Calls the test with a context of every usable ISA level and number of threads given. */
void numeric_levels(const int *threads, int count, void (*test)(spry_context *ctx));
/* The same for the usable levels that a context without options does not take: for tests that run
 * in full at that one. */
void numeric_other_levels(void (*test)(spry_context *ctx));

#endif
