/* The element-wise end of a step; see device/linalg/step.h. */
#include "host/kernels/kernel.h"

/* What is read is known to the compiler, which vectorises the loop for each of the usual cases. */
ALWAYS_INLINE void run(int64_t n, const host_step *c, const scalar *s, const scalar *f,
                       const scalar *b, const scalar *x, scalar *y, bool scaled, bool reads_b,
                       bool reads_x, bool reads_y)
{
    const scalar alpha = from_scalar((spry_scalar){c->alpha, 0}),
                 beta = from_scalar((spry_scalar){c->beta, 0}),
                 gamma = from_scalar((spry_scalar){c->gamma, 0}),
                 delta = from_scalar((spry_scalar){c->delta, 0});
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        scalar sum = mul(alpha, s[i]);
        if (reads_b)
            sum = muladd(beta, b[i], sum);
        if (scaled)
            sum = mul(f[i], sum);
        if (reads_x)
            sum = muladd(gamma, x[i], sum);
        if (reads_y)
            sum = muladd(delta, y[i], sum);
        y[i] = sum;
    }
}

void X(step)(int64_t n, const host_step *c, const void *s, const void *f, const void *b,
             const void *x, void *y)
{
    const bool reads_b = c->beta != 0, reads_x = c->gamma != 0, reads_y = c->delta != 0;
    if (f && reads_b && reads_x && !reads_y)
        run(n, c, s, f, b, x, y, true, true, true, false);
    else if (!f && reads_b && !reads_x && !reads_y)
        run(n, c, s, f, b, x, y, false, true, false, false);
    else
        run(n, c, s, f, b, x, y, f != NULL, reads_b, reads_x, reads_y);
}
