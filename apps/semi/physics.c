/* Carriers: statistics, fluxes, velocities, recombination. */
#include "semi/semi.h"

#include <math.h>

/* x / (e^x - 1): near 0 its slope by a series, where the difference would cancel. */
static double bernoulli(double x, double *slope)
{
    const double y = x * x;
    const double b = x == 0 ? 1 : x / expm1(x);
    *slope = fabs(x) < 0.1 ? -0.5 + x * (1.0 / 6 - y * (1.0 / 180 - y * (1.0 / 5040 - y / 151200)))
                           : b * (1 - (b + x)) / x; /* B(-x) = B(x) + x */
    return b;
}

/*
 * Fermi's integral of order 1/2 as 1 / (e^-eta + xi(eta)): J. S. Blakemore (1952) with xi = 0.27;
 * D. Bednarczyk and J. Bednarczyk (1978), within 0.4% everywhere.
 */
double semi_statistics(int kind, double eta, double *slope)
{
    double xi = 0.27, by = 0;
    *slope = 1;
    if (kind == STATISTICS_BOLTZMANN)
        return eta;
    if (kind == STATISTICS_FERMI) {
        const double e = exp(-0.17 * (eta + 1) * (eta + 1));
        const double a = 50 + eta * (33.6 * (1 - 0.68 * e) + eta * eta * eta);
        const double a1 =
            4 * eta * eta * eta + 33.6 * (1 - 0.68 * e) + 33.6 * eta * 0.68 * e * 0.34 * (eta + 1);
        xi = 0.75 * sqrt(acos(-1)) * pow(a, -0.375);
        by = -0.375 * xi * a1 / a;
    }
    if (eta > 0) { /* without e^eta, which may overflow */
        const double small = exp(-eta);
        *slope = (small - by) / (small + xi);
        return -log(small + xi);
    }
    const double large = exp(eta);
    *slope = (1 - by * large) / (1 + xi * large);
    return eta - log1p(xi * large);
}

/*
 * D. L. Scharfetter and H. K. Gummel (1969): B(delta) n_j - B(-delta) n_i, as a product with
 * e^d - 1, so that it is exact for quasi-Fermi potentials that differ by little. With delta of
 * densities rather than of potentials it is right for all statistics and with quantum potentials.
 */
semi_flux semi_flux_of(double u_i, double u_j, double d)
{
    const double delta = u_j - u_i + d;
    double up, down;
    const double b = bernoulli(delta, &up), c = bernoulli(-delta, &down);
    const double n_i = exp(u_i), n_j = exp(u_j);
    semi_flux f = {.from_j = b * n_j, .from_i = c * n_i, .by_delta = up * n_j + down * n_i};
    f.value = d <= 0 ? -f.from_j * expm1(d) : f.from_i * expm1(-d);
    return f;
}

/* D. M. Caughey and R. E. Thomas (1967). */
double semi_saturation(double mobility, double field, double velocity, double power, double *slope)
{
    const double x = mobility * fabs(field) / velocity;
    *slope = 0;
    if (x == 0)
        return 1;
    const double t = pow(x, power), f = pow(1 + t, -1 / power);
    *slope = -f * t / (1 + t) / field;
    return f;
}

/* n p (1 - e^gap), gap = phi_n - phi_p, over what limits it. */
double semi_recombination(const semi_device *d, const semi_matter *m, double un, double up,
                          double gap, double by[4])
{
    const double n = exp(un), p = exp(up), ni = m->intrinsic;
    const semi_band *e = &m->band[ELECTRONS], *h = &m->band[HOLES];
    const double back = exp(un + up + gap); /* n p e^gap, about ni^2 */
    const double excess = gap <= 0 ? -exp(un + up) * expm1(gap) : back * expm1(-gap);
    const double lower = h->lifetime * (n + ni) + e->lifetime * (p + ni);
    const double srh = d->o->srh ? 1 / lower : 0, square = d->o->srh ? 1 / (lower * lower) : 0;
    const double auger_n = d->o->auger ? e->auger : 0, auger_p = d->o->auger ? h->auger : 0;
    const double rate = srh + auger_n * n + auger_p * p;
    by[0] = excess * (rate - square * h->lifetime * n + auger_n * n);
    by[1] = excess * (rate - square * e->lifetime * p + auger_p * p);
    by[2] = -back * rate;
    by[3] = back * rate;
    return excess * rate;
}
