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

/* u and du/dr on both sides of the sphere: a (k h' J - K h J') = K j J' - k j' J, where j, h are at
 * k R and J at K R, K = index k. */
void mie_fill(double k, double index, double radius, mie *m)
{
    mie_bessel out, in;
    mie_bessel_fill(k * radius, &out);
    mie_bessel_fill(index * k * radius, &in);
    *m = (mie){.k = k, .index = index, .radius = radius};
    m->terms = (int)ceil(k * radius + 4 * cbrt(k * radius) + 6);
    m->terms = m->terms < MIE_TERMS ? m->terms : MIE_TERMS;
    for (int l = 0; l < m->terms; l++) {
        const double above = index * out.j[l] * in.dj[l] - out.dj[l] * in.j[l];
        const double re = out.dj[l] * in.j[l] - index * out.j[l] * in.dj[l];
        const double im = out.dy[l] * in.j[l] - index * out.y[l] * in.dj[l];
        const double size = re * re + im * im;
        m->a[l] = (spry_scalar){above * re / size, -above * im / size};
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
