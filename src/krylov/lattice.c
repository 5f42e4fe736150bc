#include "krylov/lattice.h"

#include <math.h>
#include <string.h>

/* Column k less whole multiples of those before it, so that its numbers are at most half of
 * theirs. */
static void shorten(lattice *l, int k)
{
    double *column = l->r[k];
    for (int i = k - 1; i >= 0; i--) {
        const double *other = l->r[i];
        const double times = other[i] != 0 ? rint(column[i] / other[i]) : 0;
        if (times == 0 || !isfinite(times))
            continue;
        for (int t = 0; t <= i; t++)
            column[t] -= times * other[t];
        for (int t = 0; t < l->n; t++)
            l->made[k][t] -= times * l->made[i][t];
    }
}

static void exchange(int n, double *a, double *b)
{
    for (int t = 0; t < n; t++) {
        const double keep = a[t];
        a[t] = b[t];
        b[t] = keep;
    }
}

static void rotate(double c, double s, double *a, double *b)
{
    const double first = c * *a + s * *b;
    *b = c * *b - s * *a;
    *a = first;
}

/* Columns k - 1 and k change places; rows k - 1 and k are rotated, to have a triangle again. */
static void swap(lattice *l, int k)
{
    exchange(l->n, l->r[k - 1], l->r[k]);
    exchange(l->n, l->made[k - 1], l->made[k]);
    const double a = l->r[k - 1][k - 1], b = l->r[k - 1][k], length = hypot(a, b);
    const double c = length > 0 ? a / length : 0, s = length > 0 ? b / length : 1;
    for (int j = k - 1; j < l->n; j++)
        rotate(c, s, &l->r[j][k - 1], &l->r[j][k]);
    rotate(c, s, &l->y[k - 1], &l->y[k]);
}

static void reduce(lattice *l)
{
    const double enough = 0.99;      /* 1/4 to 1: the larger, the shorter */
    const int most = 300 * l->n + 1; /* steps: where rounding is all there is they may not end */
    memset(l->made, 0, sizeof l->made);
    for (int k = 0; k < l->n; k++)
        l->made[k][k] = 1;
    for (int k = 1, step = 0; k < l->n && step < most; step++) {
        shorten(l, k);
        const double *column = l->r[k], before = l->r[k - 1][k - 1];
        if (enough * before * before <= column[k] * column[k] + column[k - 1] * column[k - 1]) {
            k++;
            continue;
        }
        swap(l, k);
        k = k > 1 ? k - 1 : 1;
    }
}

void lattice_nearest(lattice *l, double z[LATTICE_MOST])
{
    double w[LATTICE_MOST] = {0};
    reduce(l);
    for (int k = l->n - 1; k >= 0; k--) {
        double rest = l->y[k];
        for (int j = k + 1; j < l->n; j++)
            rest -= l->r[j][k] * w[j];
        w[k] = l->r[k][k] != 0 ? rint(rest / l->r[k][k]) : 0;
    }
    for (int i = 0; i < l->n; i++) {
        z[i] = 0;
        for (int k = 0; k < l->n; k++)
            z[i] += l->made[k][i] * w[k];
    }
}
