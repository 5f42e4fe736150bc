/*
 * Linear combinations of any number of arrays. Up to MOST terms are added in registers, in the
 * order given. More terms take several turns, each of which begins with the sum so far; that waits
 * in a piece small enough for the first cache, so that the result may be stored over any of the
 * operands. The order of additions is the same whatever the length and whichever arrays are the
 * same, so the bits are too.
 */
#include "host/kernels/kernel.h"

enum { MOST = 6, PIECE = 256, PARTS = 1 + KERNEL_COMPLEX };

/* `terms` is a constant where this is called: the loops over it vanish. */
ALWAYS_INLINE void add_reals(int64_t n, int terms, const spry_scalar *c, const void *const *v,
                             real *out)
{
    real factor[MOST] = {0};
    const real *array[MOST] = {NULL};
    for (int t = 0; t < terms; t++) {
        factor[t] = (real)c[t].re;
        array[t] = v[t];
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real sum = factor[0] * array[0][i];
        for (int t = 1; t < terms; t++)
            sum += factor[t] * array[t][i];
        out[i] = sum;
    }
}

#if KERNEL_COMPLEX
/* The factors' real and imaginary parts apart: two real combinations of the arrays that do not wait
 * for each other, and one step that joins them. */
ALWAYS_INLINE void add_scalars(int64_t n, int terms, const spry_scalar *c, const void *const *v,
                               scalar *out)
{
    scalar factor[MOST] = {0};
    const scalar *array[MOST] = {NULL};
    for (int t = 0; t < terms; t++) {
        factor[t] = from_scalar(c[t]);
        array[t] = v[t];
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        scalar by_re = {factor[0].re * array[0][i].re, factor[0].re * array[0][i].im};
        scalar by_im = {factor[0].im * array[0][i].re, factor[0].im * array[0][i].im};
        for (int t = 1; t < terms; t++) {
            by_re.re += factor[t].re * array[t][i].re;
            by_re.im += factor[t].re * array[t][i].im;
            by_im.re += factor[t].im * array[t][i].re;
            by_im.im += factor[t].im * array[t][i].im;
        }
        out[i] = (scalar){by_re.re - by_im.im, by_re.im + by_im.re};
    }
}
#endif

/* Real factors let complex arrays be taken as twice as many real numbers: half the work. */
ALWAYS_INLINE void add_terms(int64_t n, int terms, bool is_real, const spry_scalar *c,
                             const void *const *v, void *out)
{
#if KERNEL_COMPLEX
    if (!is_real) {
        add_scalars(n, terms, c, v, out);
        return;
    }
#endif
    (void)is_real;
    add_reals(n * PARTS, terms, c, v, out);
}

/* At most MOST terms. */
static void add_group(int64_t n, int terms, const spry_scalar *c, const void *const *v, void *out)
{
    bool is_real = true;
    for (int t = 0; t < terms; t++)
        is_real = is_real && c[t].im == 0;
    switch (terms) {
    case 0:
        X(fill)(n, (spry_scalar){0, 0}, out);
        return;
    case 1:
        add_terms(n, 1, is_real, c, v, out);
        return;
    case 2:
        add_terms(n, 2, is_real, c, v, out);
        return;
    case 3:
        add_terms(n, 3, is_real, c, v, out);
        return;
    case 4:
        add_terms(n, 4, is_real, c, v, out);
        return;
    case 5:
        add_terms(n, 5, is_real, c, v, out);
        return;
    default:
        add_terms(n, MOST, is_real, c, v, out);
        return;
    }
}

/* One piece, from element `begin` on, of more than MOST terms. */
static void add_piece(int64_t begin, int64_t n, int terms, const spry_scalar *c,
                      const void *const *v, scalar *out)
{
    scalar sum[PIECE];
    spry_scalar factor[MOST];
    const void *array[MOST];
    int used = 0;
    for (int t = 0; t < terms; t++) {
        factor[used] = c[t];
        array[used++] = (const scalar *)v[t] + begin;
        if (used == MOST && t + 1 < terms) {
            add_group(n, used, factor, array, sum);
            factor[0] = (spry_scalar){1, 0};
            array[0] = sum;
            used = 1;
        }
    }
    add_group(n, used, factor, array, out + begin);
}

void X(combine)(int64_t n, int terms, const spry_scalar *c, const void *const *v, void *out)
{
    if (terms <= MOST) {
        add_group(n, terms, c, v, out);
        return;
    }
    for (int64_t i = 0; i < n; i += PIECE)
        add_piece(i, n - i < PIECE ? n - i : PIECE, terms, c, v, out);
}
