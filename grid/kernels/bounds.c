/*
 * What is done with lines of real numbers that have bounds (grid/bounded.c): a number is at a bound
 * of its own or free. Upper bounds are lower ones of -x, the mirror, so that both are handled
 * alike. Bounds of coarse grids say two things more: BOUND_HELD is one of a number that has to stay
 * 0, and what has none at all has BOUND_NONE. In complex instances these are lines of real numbers,
 * too.
 */
#include "grid/bounds.h"
#include "host/kernels/kernel.h"

BOUND_KERNELS(KERNEL_DECLARE)

/* Whether a number may be changed by a correction: always, or (truncates) where it is not at a
 * bound. */
ALWAYS_INLINE bool is_free(bool truncates, real lower, real mirror, real x)
{
    return lower < (real)BOUND_HELD && (!truncates || (x > lower && -x > mirror));
}

/* -x >= mirror; NULL: there are none. */
ALWAYS_INLINE real mirror_at(const real *mirror, int64_t i)
{
    return mirror ? mirror[i] : (real)BOUND_NONE;
}

ALWAYS_INLINE real between(real lower, real mirror, real x)
{
    x = x < lower ? lower : x;
    return -x < mirror ? -mirror : x;
}

void X(project)(int64_t n, const void *bounds, const void *others, void *numbers)
{
    const real *lower = bounds, *mirror = others;
    real *x = numbers;
    for (int64_t i = 0; i < n; i++) {
        const real to = between(lower[i], mirror_at(mirror, i), x[i]);
        x[i] = lower[i] < (real)BOUND_HELD ? to : 0;
    }
}

void X(advance)(int64_t n, double gamma, const void *bounds, const void *others,
                const void *numbers, const void *rest, void *out)
{
    const real *lower = bounds, *mirror = others, *x = numbers, *r = rest;
    real *to = out;
    for (int64_t i = 0; i < n; i++) {
        to[i] = between(lower[i], mirror_at(mirror, i), x[i] + (real)gamma * r[i]);
    }
}

void X(hold)(int64_t n, bool truncates, const void *bounds, const void *others, const void *numbers,
             void *rest)
{
    const real *lower = bounds, *mirror = others, *x = numbers;
    real *r = rest;
    for (int64_t i = 0; i < n; i++)
        r[i] = is_free(truncates, lower[i], mirror_at(mirror, i), x[i]) ? r[i] : 0;
}

void X(admit)(int64_t n, bool truncates, const void *bounds, const void *others,
              const void *correction, void *numbers)
{
    const real *lower = bounds, *mirror = others, *more = correction;
    real *x = numbers;
    for (int64_t i = 0; i < n; i++) {
        const real other = mirror_at(mirror, i);
        if (is_free(truncates, lower[i], other, x[i])) /* beyond a bound by rounding alone */
            x[i] = between(lower[i], other, x[i] + more[i]);
    }
}

void X(slack)(int64_t n, bool truncates, bool mirrored, const void *bounds, const void *others,
              const void *numbers, void *out)
{
    const real *lower = bounds, *mirror = others, *x = numbers;
    real *to = out;
    for (int64_t i = 0; i < n; i++) {
        const real other = mirror_at(mirror, i);
        real left = mirrored ? other + x[i] : lower[i] - x[i];
        left = left > (real)BOUND_NONE ? left : (real)BOUND_NONE;
        left = is_free(truncates, lower[i], other, x[i]) ? left : (real)-BOUND_HELD;
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

double X(complement)(int64_t n, const void *bounds, const void *others, const void *numbers,
                     const void *rest, int64_t *contacts)
{
    const real *lower = bounds, *mirror = others, *x = numbers, *r = rest;
    double worst = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const real above = x[i] - lower[i], left = -r[i], other = mirror_at(mirror, i);
        const real least = left < above ? left : above, over = x[i] + other;
        const double v = left != left ? (double)left : fabs((double)(least > over ? least : over));
        worst = v > worst || v != v ? v : worst; /* a NaN stays */
        count += x[i] <= lower[i] || -x[i] <= other;
    }
    *contacts += count;
    return worst;
}

#define ENTRY(result, name, arguments) .name = X(name),
extern const bound_kernels X(bounds_table);
const bound_kernels X(bounds_table) = {BOUND_KERNELS(ENTRY)};
