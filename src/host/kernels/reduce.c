/*
 * Sums over arrays, in double for every type. Several sums run side by side (lane l takes every
 * LANES-th number) so that additions do not wait for each other; the lanes become vectors.
 * A complex array is read as its real numbers, re and im in turn.
 */
#include "host/kernels/kernel.h"

enum { LANES = 16, PARTS = 1 + KERNEL_COMPLEX };

/* Adds the lanes as a tree. */
static double add_lanes(double lane[LANES])
{
    for (int width = LANES / 2; width > 0; width /= 2) {
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    }
    return lane[0];
}

#if KERNEL_COMPLEX
/*
 * Sums of a.re b.re, a.im b.im in turn (even and odd lanes of `straight`), and of a.re b.im,
 * a.im b.re (of `crossed`). Conjugation matters at the end only.
 */
static void dot_lanes(int64_t n, const real *a, const real *b, double straight[LANES],
                      double crossed[LANES])
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            straight[l] += (double)a[i + l] * (double)b[i + l];
            crossed[l] += (double)a[i + l] * (double)b[i + (l ^ 1)];
        }
    }
    for (int l = 0; i < n; i++, l++) {
        straight[l] += (double)a[i] * (double)b[i];
        crossed[l] += (double)a[i] * (double)b[i ^ 1];
    }
}

/* The sum of the even lanes plus or minus that of the odd ones. */
static double join_lanes(double lane[LANES], bool minus)
{
    for (int l = 1; minus && l < LANES; l += 2)
        lane[l] = -lane[l];
    return add_lanes(lane);
}

static spry_scalar dot_both(int64_t n, const void *x, const void *y, bool conjugated)
{
    double straight[LANES] = {0}, crossed[LANES] = {0};
    dot_lanes(n * PARTS, x, y, straight, crossed);
    return (spry_scalar){join_lanes(straight, !conjugated), join_lanes(crossed, conjugated)};
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
    return (spry_scalar){add_lanes(lane), 0};
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
    return add_lanes(lane);
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
    return add_lanes(lane);
}
