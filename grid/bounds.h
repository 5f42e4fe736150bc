/* Host kernels for lines of real numbers with bounds (bounded.c), by type and ISA level. */
#ifndef SPRY_GRID_BOUNDS_H
#define SPRY_GRID_BOUNDS_H

#include "base/base.h"

/* A bound of what stays 0, and one that is none: numbers that single precision has. */
#define BOUND_HELD 1e38
#define BOUND_NONE (-1e37)

/* clang-format off */
/*
 * item(result, name, arguments). Bounds are lower_i <= x_i and mirror_i <= -x_i, where mirror is not
 * NULL. Free is what is not held and, where it truncates, at no bound:
 *
 * project     x_i = what is nearest to it between its bounds, or 0 where it is held
 * advance     to_i = what is nearest to x_i + gamma r_i between its bounds
 * hold        r_i = 0 where x_i is not free
 * admit       x_i = what is nearest to x_i + correction_i between its bounds, where x_i is free
 * slack       most_i = the larger of itself and of lower_i - x_i (mirrored: mirror_i + x_i), or of
 *             -BOUND_HELD where x_i is not free
 * tighten     lower_j = the largest of around_(k-1), around_k, around_(k+1) with k = step j + first,
 *             where step is 2, or of around_k where it is 1, and at most 0; BOUND_HELD where
 *             centre_k is -BOUND_HELD
 * complement  max |max(min(-r_i, x_i - lower_i), x_i + mirror_i)|, NaN where there is one; and how
 *             many x_i are at a bound is added to contacts
 */
#define BOUND_KERNELS(item) \
    item(void,   project,    (int64_t n, const void *lower, const void *mirror, void *x)) \
    item(void,   advance,    (int64_t n, double gamma, const void *lower, const void *mirror, \
                              const void *x, const void *r, void *to)) \
    item(void,   hold,       (int64_t n, bool truncates, const void *lower, const void *mirror, \
                              const void *x, void *r)) \
    item(void,   admit,      (int64_t n, bool truncates, const void *lower, const void *mirror, \
                              const void *correction, void *x)) \
    item(void,   slack,      (int64_t n, bool truncates, bool mirrored, const void *lower, \
                              const void *mirror, const void *x, void *most)) \
    item(void,   tighten,    (int64_t n, int64_t first, int64_t step, const void *around, \
                              const void *centre, void *lower)) \
    item(double, complement, (int64_t n, const void *lower, const void *mirror, const void *x, \
                              const void *r, int64_t *contacts))
/* clang-format on */

#define BOUND_KERNEL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct bound_kernels {
    BOUND_KERNELS(BOUND_KERNEL_MEMBER)
} bound_kernels;

/* The kernels of a type for the context's ISA level. */
const bound_kernels *bound_kernels_for(const spry_context *ctx, spry_type type);

#endif
