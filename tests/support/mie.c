#include "support/mie.h"

#include <math.h>

/* y by the recurrence upwards, j by the one downwards (Miller), scaled by j_0 = sin(x) / x or j_1:
 * each in the direction in which errors do not grow. */
void mie_bessel_fill(double x, mie_bessel *b)
{
    enum { AHEAD = 40 };
    double down[MIE_TERMS + AHEAD + 2];
    b->y[0] = -cos(x) / x;
    b->y[1] = -cos(x) / (x * x) - sin(x) / x;
    for (int l = 2; l < MIE_TERMS; l++)
        b->y[l] = (2 * l - 1) / x * b->y[l - 1] - b->y[l - 2];
    down[MIE_TERMS + AHEAD + 1] = 0;
    down[MIE_TERMS + AHEAD] = 1e-300;
    for (int l = MIE_TERMS + AHEAD; l > 0; l--) {
        down[l - 1] = (2 * l + 1) / x * down[l] - down[l + 1];
        if (fabs(down[l - 1]) > 1e200) /* what is behind is of no weight any more */
            for (int i = l - 1; i <= MIE_TERMS + AHEAD; i++)
                down[i] *= 1e-200;
    }
    const double j0 = sin(x) / x, j1 = sin(x) / (x * x) - cos(x) / x;
    const double scale = fabs(j0) > fabs(j1) ? j0 / down[0] : j1 / down[1];
    for (int l = 0; l < MIE_TERMS; l++)
        b->j[l] = scale * down[l];
    b->dj[0] = -b->j[1];
    b->dy[0] = -b->y[1];
    for (int l = 1; l < MIE_TERMS; l++) {
        b->dj[l] = b->j[l - 1] - (l + 1) / x * b->j[l];
        b->dy[l] = b->y[l - 1] - (l + 1) / x * b->y[l];
    }
}

/* How many partial waves reach a radius, and some more. */
static int terms_of(double x)
{
    const int terms = (int)ceil(x + 4 * cbrt(x) + 6);
    return terms < MIE_TERMS ? terms : MIE_TERMS;
}

/* Within the radius a partial wave has this value and this slope there, times any number; outside
 * it is j_l(k r) + a h_l(k r), and both have to be the same on both sides. */
static spry_scalar coefficient(double k, const mie_bessel *out, int l, double value, double slope)
{
    const double above = out->j[l] * slope - k * out->dj[l] * value;
    const double re = k * out->dj[l] * value - out->j[l] * slope;
    const double im = k * out->dy[l] * value - out->y[l] * slope;
    const double size = re * re + im * im;
    return (spry_scalar){above * re / size, -above * im / size};
}

void mie_fill(double k, double index, double radius, mie *m)
{
    mie_bessel out, in;
    mie_bessel_fill(k * radius, &out);
    mie_bessel_fill(index * k * radius, &in);
    *m = (mie){.k = k, .index = index, .radius = radius, .terms = terms_of(k * radius)};
    for (int l = 0; l < m->terms; l++)
        m->a[l] = coefficient(k, &out, l, in.j[l], index * k * in.dj[l]);
}

/* A partial wave w(t) / sqrt(r) with t = log r: w'' = ((l + 1/2)^2 - k^2 r^2) w. */
typedef struct partial {
    double w, dw;
} partial;

static double bend(const mie_profile k2, const void *data, int l, double t)
{
    const double r = exp(t);
    return (l + 0.5) * (l + 0.5) - k2(data, r) * r * r;
}

/* A step of Runge and Kutta's fourth order. */
static partial step(const mie_profile k2, const void *data, int l, double t, double h, partial p)
{
    const double from = bend(k2, data, l, t), half = bend(k2, data, l, t + h / 2),
                 to = bend(k2, data, l, t + h);
    const partial a = {p.dw, from * p.w};
    const partial b = {p.dw + h / 2 * a.dw, half * (p.w + h / 2 * a.w)};
    const partial c = {p.dw + h / 2 * b.dw, half * (p.w + h / 2 * b.w)};
    const partial d = {p.dw + h * c.dw, to * (p.w + h * c.w)};
    return (partial){p.w + h / 6 * (a.w + 2 * b.w + 2 * c.w + d.w),
                     p.dw + h / 6 * (a.dw + 2 * b.dw + 2 * c.dw + d.dw)};
}

/* From a thousandth of the radius, where r^l (1 - k^2 r^2 / (4 l + 6)) is right to (k r)^4. */
void mie_fill_profile(double k, mie_profile k2, const void *data, double radius, mie *m)
{
    enum { STEPS = 4000 };
    mie_bessel out;
    const double begin = log(radius / 1000), h = log(1000) / STEPS;
    mie_bessel_fill(k * radius, &out);
    *m = (mie){.k = k, .radius = radius, .terms = terms_of(k * radius)};
    for (int l = 0; l < m->terms; l++) {
        const double x2 = k2(data, exp(begin)) * exp(2 * begin) / (4 * l + 6);
        partial p = {1 - x2, (l + 0.5) * (1 - x2) - 2 * x2};
        for (int i = 0; i < STEPS; i++) {
            p = step(k2, data, l, begin + i * h, h, p);
            const double size = hypot(p.w, p.dw);
            p = (partial){p.w / size, p.dw / size};
        }
        m->a[l] = coefficient(k, &out, l, p.w, (p.dw - 0.5 * p.w) / radius);
    }
}

spry_scalar mie_scattered(const mie *m, const double place[3])
{
    const double r = sqrt(place[0] * place[0] + place[1] * place[1] + place[2] * place[2]);
    const double cosine = place[2] / r;
    mie_bessel b;
    spry_scalar sum = {0, 0}, turn = {1, 0}; /* i^l */
    double before = 0, p = 1;                /* P_(l-1), P_l */
    mie_bessel_fill(m->k * r, &b);
    for (int l = 0; l < m->terms; l++) {
        const spry_scalar h = {b.j[l], b.y[l]}, a = m->a[l];
        const spry_scalar ah = {a.re * h.re - a.im * h.im, a.re * h.im + a.im * h.re};
        sum.re += (2 * l + 1) * p * (turn.re * ah.re - turn.im * ah.im);
        sum.im += (2 * l + 1) * p * (turn.re * ah.im + turn.im * ah.re);
        turn = (spry_scalar){-turn.im, turn.re};
        const double next = ((2 * l + 1) * cosine * p - l * before) / (l + 1);
        before = p;
        p = next;
    }
    return sum;
}
