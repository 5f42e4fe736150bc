/*
 * Bases of Krylov spaces. A basis is given by its steps: v_(j+1) = alpha_j A v_j + beta_j v_j
 * + gamma_j v_(j-1), a row of three numbers for each j. From the inner products of such a basis the
 * Ritz values of A follow, and from these the steps of a better one. Newton's: shifts in Leja's
 * order, each step scaled so that its polynomial is at most 1 at the Ritz values (L. Reichel, BIT
 * 30 (1990), 332-346; Z. Bai, D. Hu, L. Reichel, IMA J. Numer. Anal. 14 (1994), 563-581, for pairs
 * of complex shifts in real arithmetic: (A - re)^2 + im^2 is two steps). Chebyshev's: polynomials
 * of an ellipse around the Ritz values (T. A. Manteuffel, Numer. Math. 28 (1977), 307-327).
 */
#include "program/dense.h"
#include "program/program.h"

#include <float.h>
#include <math.h>

enum { MOST = PROGRAM_STEPS + 1 };

typedef struct ritz {
    int n; /* Ritz values */
    spry_scalar u[MOST][MOST], h[MOST][MOST], value[MOST];
} ritz;

static double size_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}

static bool is_zero(spry_scalar a)
{
    return a.re == 0 && a.im == 0;
}

static spry_scalar conjugate(spry_scalar a)
{
    return (spry_scalar){a.re, -a.im};
}

static spry_scalar difference(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re - b.re, a.im - b.im};
}

/* a -= b c */
static void subtract(spry_scalar *a, spry_scalar b, spry_scalar c)
{
    *a = difference(*a, scalar_multiply(b, c));
}

/* Cholesky's factor of the inner products, as far as they separate a vector from those before; of
 * how many vectors it is known what A makes of them: of the last that does, too, where the next is
 * given by those before. */
static int factor(const program_array *G, int vectors, ritz *w)
{
    const double least = 1e-13; /* inner products are sums in double, to a few hundred roundings */
    for (int j = 0; j < vectors; j++) {
        const double diagonal = G->at[j * G->cols + j].re;
        for (int i = 0; i <= j; i++) {
            spry_scalar *u = &w->u[i][j];
            *u = G->at[i * G->cols + j];
            for (int k = 0; k < i; k++)
                subtract(u, conjugate(w->u[k][i]), w->u[k][j]);
            if (i < j)
                *u = (spry_scalar){u->re / w->u[i][i].re, u->im / w->u[i][i].re};
        }
        if (!(w->u[j][j].re > least * diagonal) || !isfinite(w->u[j][j].re))
            return diagonal > 0 ? j : j - 1;
        w->u[j][j] = (spry_scalar){sqrt(w->u[j][j].re), 0};
    }
    return vectors - 1;
}

/* The matrix of A in the orthonormal basis that the factor belongs to. */
static void project(const program_array *B, ritz *w)
{
    for (int j = 0; j < w->n; j++) {
        const spry_scalar *step = B->at + j * B->cols;
        for (int l = 0; l < w->n; l++) {
            spry_scalar sum = l <= j + 1 ? w->u[l][j + 1] : (spry_scalar){0, 0};
            if (l <= j)
                subtract(&sum, step[1], w->u[l][j]);
            if (j > 0 && l < j)
                subtract(&sum, step[2], w->u[l][j - 1]);
            sum = scalar_divide(sum, step[0]);
            for (int i = 0; i < j; i++)
                subtract(&sum, w->h[l][i], w->u[i][j]);
            w->h[l][j] = (spry_scalar){sum.re / w->u[j][j].re, sum.im / w->u[j][j].re};
        }
    }
}

static bool find_values(ritz *w)
{
    spry_scalar a[MOST * MOST], room[MOST * MOST];
    for (int i = 0; i < w->n; i++)
        memcpy(a + i * w->n, w->h[i], (size_t)w->n * sizeof *a);
    return dense_values(w->n, a, room, w->value);
}

/* In real types values are real, or pairs of which one is kept, with a positive imaginary part. */
static void pair_up(ritz *w)
{
    double largest = 0;
    int n = 0;
    for (int i = 0; i < w->n; i++)
        largest = fmax(largest, size_of(w->value[i]));
    for (int i = 0; i < w->n; i++) {
        spry_scalar v = w->value[i];
        if (fabs(v.im) <= 1e-8 * largest)
            v.im = 0;
        if (v.im >= 0)
            w->value[n++] = v;
    }
    w->n = n;
}

/* Leja's order: the largest first, then each time that with the largest product of distances to
 * those before (and to their conjugates, in real types). */
static void put_in_order(ritz *w, bool real)
{
    double distance[MOST];
    for (int i = 0; i < w->n; i++)
        distance[i] = log(size_of(w->value[i]) + DBL_MIN);
    for (int k = 0; k < w->n; k++) {
        int best = k;
        for (int i = k + 1; i < w->n; i++)
            best = distance[i] > distance[best] ? i : best;
        const spry_scalar chosen = w->value[best];
        w->value[best] = w->value[k];
        w->value[k] = chosen;
        distance[best] = distance[k];
        for (int i = k + 1; i < w->n; i++) {
            if (k == 0)
                distance[i] = 0;
            distance[i] += log(size_of(difference(w->value[i], chosen)) + DBL_MIN);
            if (real && chosen.im != 0)
                distance[i] += log(size_of(difference(w->value[i], conjugate(chosen))) + DBL_MIN);
        }
    }
}

/* The steps, and with them the values of their polynomials at the Ritz values. */
static void make_steps(const ritz *w, bool real, const program_array *B, int steps)
{
    spry_scalar now[MOST], before[MOST];
    double width = 0, last = 0;
    for (int i = 0; i < w->n; i++) {
        now[i] = (spry_scalar){1, 0};
        before[i] = (spry_scalar){0, 0};
        width = fmax(width, fmax(size_of(difference(w->value[i], w->value[0])),
                                 real ? 2 * fabs(w->value[i].im) : 0));
    }
    if (!(width > 0))
        width = size_of(w->value[0]) > 0 ? size_of(w->value[0]) : 1;
    bool second = false; /* of a pair */
    for (int j = 0, shift = 0; j < steps; j++) {
        const spry_scalar theta = w->value[shift % w->n];
        const bool pair = real && theta.im != 0;
        const spry_scalar s = pair ? (spry_scalar){theta.re, 0} : theta;
        const double square = second ? last * theta.im * theta.im : 0;
        double largest = 0;
        for (int i = 0; i < w->n; i++) {
            spry_scalar p = scalar_multiply(difference(w->value[i], s), now[i]);
            p = (spry_scalar){p.re + square * before[i].re, p.im + square * before[i].im};
            before[i] = now[i];
            now[i] = p;
            largest = fmax(largest, size_of(p));
        }
        /* at its roots it is nothing but rounding */
        const double alpha = 1 / (largest > 1e-8 * width ? largest : width);
        for (int i = 0; i < w->n; i++)
            now[i] = largest > 1e-8 * width ? (spry_scalar){alpha * now[i].re, alpha * now[i].im}
                                            : (spry_scalar){1, 0};
        spry_scalar *step = B->at + j * B->cols;
        step[0] = (spry_scalar){alpha, 0};
        step[1] = (spry_scalar){-alpha * s.re, -alpha * s.im};
        step[2] = (spry_scalar){alpha * square, 0};
        last = alpha;
        second = pair && !second;
        shift += !second;
    }
}

/*
 * With the middle d of an ellipse, its half axes a along the real numbers and b, and w = a + b, the
 * steps are T_1 = (A - d) / w, T_(j+1) = 2 (A - d) / w T_j - (a^2 - b^2) / w^2 T_(j-1): at most
 * about 1 on the ellipse, which is a tenth wider than the Ritz values, since these lie inside of
 * what they stand for.
 */
static void make_chebyshev(const ritz *w, bool real, const program_array *B, int steps)
{
    const double wider = 1.1;
    spry_scalar low = w->value[0], high = w->value[0];
    for (int i = 1; i < w->n; i++) {
        low = (spry_scalar){fmin(low.re, w->value[i].re), fmin(low.im, w->value[i].im)};
        high = (spry_scalar){fmax(high.re, w->value[i].re), fmax(high.im, w->value[i].im)};
    }
    if (real) /* its conjugate is among them */
        low.im = -high.im;
    const spry_scalar d = {low.re + (high.re - low.re) / 2, low.im + (high.im - low.im) / 2};
    const double a = wider * (high.re - low.re) / 2, b = wider * (high.im - low.im) / 2;
    const double width = a + b > 0 ? a + b : size_of(d) > 0 ? size_of(d) : 1;
    for (int j = 0; j < steps; j++) {
        spry_scalar *step = B->at + j * B->cols;
        const double alpha = (j == 0 ? 1 : 2) / width;
        step[0] = (spry_scalar){alpha, 0};
        step[1] = (spry_scalar){-alpha * d.re, -alpha * d.im};
        step[2] = (spry_scalar){j == 0 ? 0 : -(a - b) / width * ((a + b) / width), 0};
    }
}

void program_basis(program_small which, const program_array *G, const program_array *B, bool real)
{
    ritz w = {0};
    const int64_t most = G->rows < G->cols ? G->rows : G->cols;
    const int steps = (int)(B->rows < most - 1 ? B->rows : most - 1);
    for (int j = 0; j < steps; j++)
        if (is_zero(B->at[j * B->cols]))
            return; /* no basis */
    w.n = factor(G, steps + 1, &w);
    if (w.n < 1)
        return;
    project(B, &w);
    if (!find_values(&w))
        return;
    if (real)
        pair_up(&w);
    if (w.n < 1)
        return;
    if (which == SMALL_CHEBYSHEV) {
        make_chebyshev(&w, real, B, steps);
        return;
    }
    put_in_order(&w, real);
    make_steps(&w, real, B, steps);
}
