/* Estimates of norms. */
#ifndef SPRY_DIRECT_NORM_H
#define SPRY_DIRECT_NORM_H

#include "base/base.h"

#include <spry/types.h>

/* The 1-norm of a map, estimated from below: apply makes x what the map makes of it, or the adjoint
 * (`back`). factor_take_signs() gives |x|_1, and puts x_i / |x_i| in x's place. */
typedef struct factor_map {
    spry_context *ctx;
    spry_type type;
    int64_t n; /* more than 0 */
    void *x;   /* n numbers */
    spry_status (*apply)(const struct factor_map *map, bool back);
    const void *data;
} factor_map;
spry_status factor_norm(const factor_map *map, double *result);
double factor_take_signs(spry_type type, int64_t n, void *x);

#endif
