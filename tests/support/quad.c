/* Systems in 113 bits. */
#include "support/quad.h"

#include <math.h>
#include <string.h>

static const double unit = 0x1p-112;

static quad power(int exponent)
{
    quad p = 1;
    for (; exponent > 0; exponent -= exponent > 1000 ? 1000 : exponent)
        p *= ldexp(1, exponent > 1000 ? 1000 : exponent);
    for (; exponent < 0; exponent += exponent < -1000 ? 1000 : -exponent)
        p *= ldexp(1, exponent < -1000 ? -1000 : exponent);
    return p;
}

/* a 2^-*exponent is about 1. */
static double take_exponent(quad a, int *exponent)
{
    const int step = 512;
    *exponent = 0;
    while (a >= power(step)) {
        a *= power(-step);
        *exponent += step;
    }
    while (a > 0 && a <= power(-step)) {
        a *= power(step);
        *exponent -= step;
    }
    int rest;
    const double m = frexp((double)a, &rest);
    *exponent += a > 0 ? rest : 0;
    return m;
}

static quad root(quad a)
{
    int exponent;
    if (!(a > 0))
        return 0;
    take_exponent(a, &exponent);
    exponent -= exponent % 2;
    a *= power(-exponent);
    quad s = sqrt((double)a);
    for (int k = 0; k < 2; k++)
        s = (s + a / s) / 2;
    return s * power(exponent / 2);
}

quad quad_size(quad_number a)
{
    if (a.im == 0)
        return a.re < 0 ? -a.re : a.re;
    return root(a.re * a.re + a.im * a.im);
}

double quad_ratio(quad a, quad b)
{
    return a == 0 ? 0 : b == 0 ? INFINITY : (double)(a / b);
}

/* sum + a b */
static quad_number add(quad_number sum, quad_number a, quad_number b)
{
    sum.re += a.re * b.re;
    if (a.im == 0 && b.im == 0)
        return sum;
    sum.re -= a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
    return sum;
}

static quad_number negative(quad_number a)
{
    return (quad_number){-a.re, -a.im};
}

static quad_number divide(quad_number a, quad_number b)
{
    const quad size = b.re * b.re + b.im * b.im;
    return (quad_number){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

void quad_measure(const quad_system *s, const quad_number *x, quad_residual *m)
{
    quad sum = 0, b = 0, all = 0;
    for (int i = 0; i < s->rows; i++) {
        m->r[i] = s->b[i];
        m->terms[i] = quad_size(s->b[i]);
        b += m->terms[i] * m->terms[i];
        for (int j = 0; j < s->cols; j++) {
            m->r[i] = add(m->r[i], negative(s->A[i][j]), x[j]);
            m->terms[i] += quad_size(s->A[i][j]) * quad_size(x[j]);
        }
        sum += m->r[i].re * m->r[i].re + m->r[i].im * m->r[i].im;
        all += m->terms[i] * m->terms[i];
    }
    m->norm = root(sum);
    m->b_norm = root(b);
    m->all = root(all);
    m->slope = 0;
    for (int j = 0; j < s->cols; j++) {
        quad_number dot = {0, 0};
        quad size = 0;
        for (int i = 0; i < s->rows; i++) {
            const quad_number a = s->A[i][j];
            dot = add(dot, (quad_number){a.re, -a.im}, m->r[i]);
            size += a.re * a.re + a.im * a.im;
        }
        m->slope = fmax(m->slope, quad_ratio(quad_size(dot), root(size) * m->norm));
    }
}

/* Rows to about 1, then columns. */
static bool equilibrate(const quad_system *s, quad_inverse *inv,
                        quad_number scaled[QUAD_MOST][QUAD_MOST])
{
    const int n = s->rows;
    for (int i = 0; i < n; i++) {
        quad most = 0;
        for (int j = 0; j < n; j++)
            most = quad_size(s->A[i][j]) > most ? quad_size(s->A[i][j]) : most;
        if (most == 0)
            return false;
        take_exponent(most, &inv->rows[i]);
    }
    for (int j = 0; j < n; j++) {
        quad most = 0;
        for (int i = 0; i < n; i++) {
            const quad size = quad_size(s->A[i][j]) * power(-inv->rows[i]);
            most = size > most ? size : most;
        }
        if (most == 0)
            return false;
        take_exponent(most, &inv->cols[j]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const quad p = power(-inv->rows[i] - inv->cols[j]);
            scaled[i][j] = (quad_number){s->A[i][j].re * p, s->A[i][j].im * p};
        }
    return true;
}

static void swap(quad_number *a, quad_number *b)
{
    const quad_number keep = *a;
    *a = *b;
    *b = keep;
}

/* The inverse of a, in its place: Gauss and Jordan, with the largest pivots. */
static bool invert(int n, quad_number a[QUAD_MOST][QUAD_MOST])
{
    int row[QUAD_MOST], col[QUAD_MOST];
    for (int k = 0; k < n; k++) {
        quad most = 0;
        row[k] = col[k] = k;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++) {
                const quad size = a[i][j].re * a[i][j].re + a[i][j].im * a[i][j].im;
                if (size > most) {
                    most = size;
                    row[k] = i;
                    col[k] = j;
                }
            }
        if (most == 0)
            return false;
        for (int j = 0; j < n; j++)
            swap(&a[k][j], &a[row[k]][j]);
        for (int i = 0; i < n; i++)
            swap(&a[i][k], &a[i][col[k]]);
        const quad_number pivot = a[k][k];
        a[k][k] = (quad_number){1, 0};
        for (int j = 0; j < n; j++)
            a[k][j] = divide(a[k][j], pivot);
        for (int i = 0; i < n; i++) {
            const quad_number f = a[i][k];
            if (i == k || (f.re == 0 && f.im == 0))
                continue;
            a[i][k] = (quad_number){0, 0};
            for (int j = 0; j < n; j++)
                a[i][j] = add(a[i][j], negative(f), a[k][j]);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = 0; j < n; j++)
            swap(&a[k][j], &a[col[k]][j]);
        for (int i = 0; i < n; i++)
            swap(&a[i][k], &a[i][row[k]]);
    }
    return true;
}

/* The spectral radius of |inverse| |A|, which is the least condition of all D A E (F. L. Bauer,
 * Optimally scaled matrices, Numer. Math. 5 (1963), 73-87), from above: by Collatz and Wielandt. */
static double least_condition(int n, double sizes[QUAD_MOST][QUAD_MOST],
                              double inverse[QUAD_MOST][QUAD_MOST])
{
    enum { STEPS = 30 };
    double v[QUAD_MOST], best = INFINITY;
    for (int i = 0; i < n; i++)
        v[i] = 1;
    for (int step = 0; step < STEPS; step++) {
        double u[QUAD_MOST], w[QUAD_MOST], ratio = 0, most = 0;
        for (int i = 0; i < n; i++) {
            u[i] = 0;
            for (int j = 0; j < n; j++)
                u[i] += sizes[i][j] * v[j];
        }
        for (int i = 0; i < n; i++) {
            w[i] = 0;
            for (int j = 0; j < n; j++)
                w[i] += inverse[i][j] * u[j];
            ratio = fmax(ratio, w[i] / v[i]);
            most = fmax(most, w[i]);
        }
        best = fmin(best, ratio);
        for (int i = 0; i < n; i++)
            v[i] = fmax(w[i] / most, 1e-200);
    }
    return best;
}

void quad_invert(const quad_system *s, quad_inverse *inv)
{
    const int n = s->rows;
    quad_number scaled[QUAD_MOST][QUAD_MOST];
    double sizes[QUAD_MOST][QUAD_MOST], inverse[QUAD_MOST][QUAD_MOST];
    inv->known = false;
    if (s->rows != s->cols || !equilibrate(s, inv, scaled))
        return;
    memcpy(inv->at, scaled, sizeof scaled);
    if (!invert(n, inv->at))
        return;
    inv->off = 0;
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) {
            quad_number sum = {i == j, 0};
            double terms = i == j;
            for (int k = 0; k < n; k++) {
                sum = add(sum, negative(inv->at[i][k]), scaled[k][j]);
                terms += (double)(quad_size(inv->at[i][k]) * quad_size(scaled[k][j]));
            }
            row += (double)quad_size(sum) + 4 * (n + 2) * unit * terms;
            sizes[i][j] = (double)quad_size(scaled[i][j]);
            inverse[i][j] = (double)quad_size(inv->at[i][j]);
        }
        inv->off = fmax(inv->off, row);
    }
    inv->known = inv->off < 1e-3;
    inv->condition = inv->known ? least_condition(n, sizes, inverse) : INFINITY;
}

/* With E = I - X A: x - A^-1 b = -X r + E (...), whose second part is at most off / (1 - off) of
 * the largest of the first. */
double quad_error(const quad_system *s, const quad_inverse *inv, const quad_number *x)
{
    const int n = s->rows;
    quad_residual m;
    quad e[QUAD_MOST], doubt[QUAD_MOST], most = 0, largest = 0, found = 0;
    quad_measure(s, x, &m);
    for (int i = 0; i < n; i++) {
        quad_number sum = {0, 0};
        doubt[i] = 0;
        for (int k = 0; k < n; k++) {
            const quad p = power(-inv->rows[k]);
            const quad_number r = {m.r[k].re * p, m.r[k].im * p};
            sum = add(sum, inv->at[i][k], r);
            doubt[i] += quad_size(inv->at[i][k]) * m.terms[k] * p * (8 * (n + 4) * unit);
        }
        e[i] = quad_size(sum);
        most = e[i] + doubt[i] > most ? e[i] + doubt[i] : most;
        largest = quad_size(x[i]) > largest ? quad_size(x[i]) : largest;
    }
    for (int i = 0; i < n; i++) {
        const quad least =
            (e[i] - doubt[i] - most * (inv->off / (1 - inv->off))) * power(-inv->cols[i]);
        found = least > found ? least : found;
    }
    return quad_ratio(found, largest);
}
