/*
 * The 1-norm of a linear map that is known by what it does to vectors, as is that of an inverse by
 * factors. N. J. Higham, FORTRAN codes for estimating the one-norm of a real or complex matrix, ACM
 * Trans. Math. Softw. 14 (1988), 381-396: a lower bound that is rarely off by more than 3.
 */
#include "direct/norm.h"

#include "matrix/entries.h"

#include <math.h>

double factor_take_signs(spry_type type, int64_t n, void *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar v = value_load(type, x, i);
        const double size = hypot(v.re, v.im);
        sum += size;
        value_store(type, x, i,
                    size > 0 ? (spry_scalar){v.re / size, v.im / size} : (spry_scalar){1, 0});
    }
    return sum;
}

/* The place of x's largest number. */
static int64_t find_largest(spry_type type, int64_t n, const void *x)
{
    int64_t at = 0;
    double most = -1;
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar v = value_load(type, x, i);
        const double size = hypot(v.re, v.im);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

spry_status factor_norm(const factor_map *map, double *result)
{
    const int64_t n = map->n;
    const spry_type type = map->type;
    void *x = map->x;
    int64_t unit = -1;
    spry_status status = SPRY_STATUS_OK;
    *result = 0;
    for (int64_t i = 0; i < n; i++)
        value_store(type, x, i, (spry_scalar){1 / (double)n, 0});
    for (int turn = 0; turn < 4; turn++) {
        SPRY_GO(map->ctx, map->apply(map, false));
        const double size = factor_take_signs(type, n, x);
        if (!(size > *result)) {
            *result = size >= 0 ? *result : INFINITY;
            break;
        }
        *result = size;
        SPRY_GO(map->ctx, map->apply(map, true));
        const int64_t at = find_largest(type, n, x);
        if (at == unit)
            break;
        unit = at;
        memset(x, 0, (size_t)n * spry_type_size(type));
        value_store(type, x, unit, (spry_scalar){1, 0});
    }
    for (int64_t i = 0; i < n; i++)
        value_store(
            type, x, i,
            (spry_scalar){(i % 2 ? -1 : 1) * (1 + (double)i / (double)(n > 1 ? n - 1 : 1)), 0});
    SPRY_GO(map->ctx, map->apply(map, false));
    const double other = 2 * factor_take_signs(type, n, x) / (3 * (double)n);
    *result = other <= *result ? *result : other >= 0 ? other : INFINITY;
done:
    return status;
}
