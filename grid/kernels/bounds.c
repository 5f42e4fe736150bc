/*
 * What is done with lines of real numbers that have lower bounds (grid/bounded.c): a number is
 * at its bound or free. Bounds of coarse grids say two things more: BOUND_HELD is one of a number
 * that has to stay 0, and what has none at all has BOUND_NONE. In complex instances these are
 * lines of real numbers, too.
 */
#include "grid/bounds.h"
#include "host/kernels/kernel.h"

BOUND_KERNELS(KERNEL_DECLARE)

/* Whether a number may be changed by a correction: always, or (truncates) where it is not at its
 * bound. */
ALWAYS_INLINE bool is_free(bool truncates, real lower, real x)
{
    return lower < (real)BOUND_HELD && (!truncates || x > lower);
}

void X(project)(int64_t n, const void *bounds, void *numbers)
{
    const real *lower = bounds;
    real *x = numbers;
    for (int64_t i = 0; i < n; i++) {
        const real to = x[i] < lower[i] ? lower[i] : x[i];
        x[i] = lower[i] < (real)BOUND_HELD ? to : 0;
    }
}

void X(advance)(int64_t n, double gamma, const void *bounds, const void *numbers, const void *rest,
                void *out)
{
    const real *lower = bounds, *x = numbers, *r = rest;
    real *to = out;
    for (int64_t i = 0; i < n; i++) {
        const real moved = x[i] + (real)gamma * r[i];
        to[i] = moved < lower[i] ? lower[i] : moved;
    }
}

void X(hold)(int64_t n, bool truncates, const void *bounds, const void *numbers, void *rest)
{
    const real *lower = bounds, *x = numbers;
    real *r = rest;
    for (int64_t i = 0; i < n; i++)
        r[i] = is_free(truncates, lower[i], x[i]) ? r[i] : 0;
}

void X(admit)(int64_t n, bool truncates, const void *bounds, const void *correction, void *numbers)
{
    const real *lower = bounds, *more = correction;
    real *x = numbers;
    for (int64_t i = 0; i < n; i++) {
        const real moved = x[i] + more[i];
        if (is_free(truncates, lower[i], x[i])) /* below its bound by rounding alone */
            x[i] = moved < lower[i] ? lower[i] : moved;
    }
}

void X(slack)(int64_t n, bool truncates, const void *bounds, const void *numbers, void *out)
{
    const real *lower = bounds, *x = numbers;
    real *to = out;
    for (int64_t i = 0; i < n; i++) {
        real left = lower[i] - x[i];
        left = left > (real)BOUND_NONE ? left : (real)BOUND_NONE;
        left = is_free(truncates, lower[i], x[i]) ? left : (real)-BOUND_HELD;
        to[i] = left > to[i] ? left : to[i];
    }
}

void X(tighten)(int64_t n, int64_t first, int64_t step, const void *around, const void *centre,
                void *bounds)
{
    const real *from = (const real *)around + first, *own = (const real *)centre + first;
    real *to = bounds;
    for (int64_t j = 0; j < n; j++) {
        real most = from[step * j];
        for (int64_t k = 1 - step; k < step; k += 2)
            most = from[step * j + k] > most ? from[step * j + k] : most;
        most = most < 0 ? most : 0;
        to[j] = own[step * j] > (real)-BOUND_HELD ? most : (real)BOUND_HELD;
    }
}

double X(complement)(int64_t n, const void *bounds, const void *numbers, const void *rest,
                     int64_t *contacts)
{
    const real *lower = bounds, *x = numbers, *r = rest;
    double worst = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const real above = x[i] - lower[i], left = -r[i];
        const double v = left != left ? (double)left : fabs((double)(left < above ? left : above));
        worst = v > worst || v != v ? v : worst; /* a NaN stays */
        count += x[i] <= lower[i];
    }
    *contacts += count;
    return worst;
}

#define ENTRY(result, name, arguments) .name = X(name),
extern const bound_kernels X(bounds_table);
const bound_kernels X(bounds_table) = {BOUND_KERNELS(ENTRY)};
