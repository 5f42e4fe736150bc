/*
 * Sums over arrays, in double for every type. Several sums run side by side (lane l takes every
 * LANES-th number) so that additions do not wait for each other; the lanes become vectors.
 * A complex array is read as its real numbers, re and im in turn.
 */
#include "host/kernels/kernel.h"

enum { LANES = 16, PARTS = 1 + KERNEL_COMPLEX };

/* Adds the lanes as a tree. */
static double add_lanes(int lanes, double *lane)
{
    for (int width = lanes / 2; width > 0; width /= 2) {
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    }
    return lane[0];
}

#if KERNEL_COMPLEX
static spry_scalar dot_both(int64_t n, const void *x, const void *y, bool conjugated)
{
    /* a b = (a.re b.re - a.im b.im) + i (a.re b.im + a.im b.re), four sums per lane; conjugation
     * changes the signs of those with a.im */
    enum { FEWER = LANES / 2 };
    double rr[FEWER] = {0}, ii[FEWER] = {0}, ri[FEWER] = {0}, ir[FEWER] = {0};
    const scalar *a = x, *b = y;
    int64_t i = 0;
    for (; i + FEWER <= n; i += FEWER) {
#pragma omp simd
        for (int l = 0; l < FEWER; l++) {
            rr[l] += (double)a[i + l].re * (double)b[i + l].re;
            ii[l] += (double)a[i + l].im * (double)b[i + l].im;
            ri[l] += (double)a[i + l].re * (double)b[i + l].im;
            ir[l] += (double)a[i + l].im * (double)b[i + l].re;
        }
    }
    for (int l = 0; i < n; i++, l++) {
        rr[l] += (double)a[i].re * (double)b[i].re;
        ii[l] += (double)a[i].im * (double)b[i].im;
        ri[l] += (double)a[i].re * (double)b[i].im;
        ir[l] += (double)a[i].im * (double)b[i].re;
    }
    const double sign = conjugated ? -1 : 1;
    return (spry_scalar){add_lanes(FEWER, rr) - sign * add_lanes(FEWER, ii),
                         add_lanes(FEWER, ri) + sign * add_lanes(FEWER, ir)};
}
#else
static spry_scalar dot_both(int64_t n, const void *x, const void *y, bool conjugated)
{
    double lane[LANES] = {0};
    const real *a = x, *b = y;
    int64_t i = 0;
    (void)conjugated;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += (double)a[i + l] * (double)b[i + l];
    }
    for (int l = 0; i < n; i++, l++)
        lane[l] += (double)a[i] * (double)b[i];
    return (spry_scalar){add_lanes(LANES, lane), 0};
}
#endif

spry_scalar X(dot)(int64_t n, const void *x, const void *y)
{
    return dot_both(n, x, y, true);
}

spry_scalar X(dot_plain)(int64_t n, const void *x, const void *y)
{
    return dot_both(n, x, y, false);
}

double X(squares)(int64_t n, double scale, const void *x)
{
    double lane[LANES] = {0};
    const real *a = x;
    int64_t i = 0;
    n *= PARTS;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            const double number = scale * (double)a[i + l];
            lane[l] += number * number;
        }
    }
    for (int l = 0; i < n; i++, l++)
        lane[l] += scale * (double)a[i] * (scale * (double)a[i]);
    return add_lanes(LANES, lane);
}

double X(largest)(int64_t n, const void *x)
{
    const real *a = x;
    real most = 0;
    for (int64_t i = 0; i < n * PARTS; i++) {
        const real size = a[i] < 0 ? -a[i] : a[i];
        most = size > most ? size : most;
    }
    return (double)most;
}

double X(sum)(int64_t n, int streams, const void *x)
{
    double lane[LANES] = {0};
    const real *a = x;
    const int64_t each = n * PARTS / streams;
    int64_t i = 0;
    for (; i + LANES <= each; i += LANES) {
        for (int s = 0; s < streams; s++) {
            const real *stream = a + s * each + i;
            for (int l = 0; l < LANES; l++)
                lane[l] += (double)stream[l];
        }
    }
    for (int s = 0; s < streams; s++) {
        for (int64_t k = i; k < each; k++)
            lane[0] += (double)a[s * each + k];
    }
    for (int64_t k = streams * each; k < n * PARTS; k++)
        lane[0] += (double)a[k];
    return add_lanes(LANES, lane);
}

/* The largest sum of |re| + |im| of a row; those of columns are added to, where wanted. */
double X(csr_sizes)(const host_csr *A, int64_t begin, int64_t end, double *columns)
{
    const real *values = A->values;
    double most = 0;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0;
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            double size = 0;
            for (int part = 0; part < PARTS; part++)
                size += fabs((double)values[k * PARTS + part]);
            sum += size;
            if (columns)
                columns[A->columns[k]] += size;
        }
        most = sum > most ? sum : most;
    }
    return most;
}
