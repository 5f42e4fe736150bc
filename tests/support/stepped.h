/* Vectors of steps of a basis, on the host or on a device, and whether they are the same to the
 * bit. */
#ifndef SPRY_TESTS_STEPPED_H
#define SPRY_TESTS_STEPPED_H

#include "support/support.h"

/* `count` vectors of n numbers on a device or the host (NULL), full of what is none of the steps'.
 */
void stepped_make(spry_context *ctx, spry_device *device, spry_type type, int64_t n, int count,
                  spry_vector **v);
void stepped_free(int count, spry_vector **v);
/* Fails where two vectors of one type and size have other bits, with what was tried. */
void stepped_same(const spry_vector *found, const spry_vector *expected, const char *tried, ...)
    __attribute__((format(printf, 3, 4)));

#endif
