/*
 * What waves do on a grid. A wave exp(i q n r) of a direction n goes through differences as
 * numbers: h^2 dx^2 is -4 sin^2(q n_x h / 2), so L and B of a scheme are numbers, too, and q is
 * where L + k^2 B = 0.
 */
#include "grid/helmholtz.h"

const wave_scheme scheme_compact4 = {.mixed = 1.0 / 6, .mean = 1.0 / 12};

enum { ANGLES = 16 }; /* of a quarter turn, in which all of a grid's directions are */

/* What second differences along each axis, times h^2, make of a wave; and how that changes with its
 * number. */
typedef struct wave_symbol {
    double d[GRID_AXES], slope[GRID_AXES];
} wave_symbol;

static wave_symbol symbol_of(const grid_shape *shape, double q, const double n[GRID_AXES])
{
    wave_symbol s;
    for (int a = 0; a < GRID_AXES; a++) { /* 0 along an axis that does not exist, as n is */
        const double step = n[a] * shape->axis[a].spacing, half = sin(q * step / 2);
        s.d[a] = -4 * half * half;
        s.slope[a] = -2 * step * sin(q * step);
    }
    return s;
}

static double square(double a)
{
    return a * a;
}

/* Of products along `among`, in units of the spacings of its axes: h^4 / (hx hy hz)^2 of three. */
static double factor_in_steps(const grid_shape *shape, int among)
{
    double sum = 0, product = 1;
    int count = 0;
    for (int a = 0; a < shape->dimensions; a++)
        if (among >> a & 1) {
            sum += square(shape->axis[a].spacing);
            product *= square(shape->axis[a].spacing);
            count++;
        }
    return pow(sum / count, count - 1) / product;
}

double scheme_factor(const wave_scheme *scheme, const grid_shape *shape, int among)
{
    double factor = among == 7 ? scheme->triple : scheme->mixed;
    factor *= factor_in_steps(shape, among);
    for (int a = 0; a < shape->dimensions; a++)
        factor *= among >> a & 1 ? square(shape->axis[a].spacing) : 1;
    return factor;
}

/* L with mixed and triple of 0 (`plain`), what one of each adds, and B - 1 for a mean of 1. */
typedef struct scheme_parts {
    double plain, mixed, triple, mean;
} scheme_parts;

/* `slope`: how they change with the wave's number. */
static scheme_parts parts_of(const grid_shape *shape, const wave_symbol *s, bool slope)
{
    scheme_parts parts = {0};
    for (int a = 0; a < GRID_AXES; a++) {
        const double d = slope ? s->slope[a] : s->d[a];
        parts.plain += d / square(shape->axis[a].spacing);
        parts.mean += d;
    }
    for (int among = 3; among < 1 << shape->dimensions; among++) {
        double product = 1, change = 0;
        int count = 0;
        for (int a = 0; a < shape->dimensions; a++)
            if (among >> a & 1) {
                change = change * s->d[a] + product * s->slope[a];
                product *= s->d[a];
                count++;
            }
        if (count > 1)
            *(count > 2 ? &parts.triple : &parts.mixed) +=
                (slope ? change : product) * factor_in_steps(shape, among);
    }
    return parts;
}

/* Direction number i of those of a quarter turn (2-D) or an eighth of the sphere. */
static int directions(int dimensions)
{
    return dimensions == 1 ? 1 : dimensions == 2 ? ANGLES + 1 : (ANGLES + 1) * (ANGLES + 1);
}

static void direction(int dimensions, int i, double n[GRID_AXES])
{
    const double turn = acos(0) / ANGLES;
    const int above = i / (ANGLES + 1);
    const double across = i % (ANGLES + 1) * turn, up = above * turn;
    n[0] = dimensions == 1 ? 1 : cos(across) * cos(up);
    n[1] = dimensions == 1 ? 0 : sin(across) * cos(up);
    n[2] = dimensions == 3 ? sin(up) : 0;
}

/* --- numbers of a scheme -------------------------------------------------------------------------
 */

enum { NUMBERS = 3 };

/* Solves the normal equations of few numbers, scaled so that the diagonal is 1; numbers whose
 * columns are 0, as in few dimensions, are 0. */
static void solve_normal(double a[NUMBERS][NUMBERS + 1], double x[NUMBERS])
{
    double scale[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        scale[i] = a[i][i] > 0 ? 1 / sqrt(a[i][i]) : 0;
    for (int i = 0; i < NUMBERS; i++) {
        for (int k = 0; k < NUMBERS; k++)
            a[i][k] *= scale[i] * scale[k];
        a[i][NUMBERS] *= scale[i];
        a[i][i] = 1;
    }
    for (int i = 0; i < NUMBERS; i++)
        for (int r = i + 1; r < NUMBERS; r++) {
            const double f = a[r][i] / a[i][i];
            for (int k = i; k <= NUMBERS; k++)
                a[r][k] -= f * a[i][k];
        }
    for (int i = NUMBERS - 1; i >= 0; i--) {
        x[i] = a[i][NUMBERS];
        for (int k = i + 1; k < NUMBERS; k++)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (int i = 0; i < NUMBERS; i++)
        x[i] *= scale[i];
}

wave_scheme scheme_optimal(const grid_shape *shape, double least, double most)
{
    enum { LENGTHS = 16 };
    const double low = 0.9 * least, high = 1.1 * most;
    double a[NUMBERS][NUMBERS + 1] = {{0}}, x[NUMBERS], longest = 0;
    for (int k = 0; k < shape->dimensions; k++)
        longest = fmax(longest, shape->axis[k].spacing);
    if (high * longest < 0.05) /* errors are below 1e-8, and roundings of the sums below show */
        return scheme_compact4;
    for (int l = 0; l < LENGTHS; l++) {
        const double q = low + (high - low) * l / (LENGTHS - 1);
        for (int i = 0; i < directions(shape->dimensions); i++) {
            double n[GRID_AXES];
            direction(shape->dimensions, i, n);
            const wave_symbol s = symbol_of(shape, q, n);
            const scheme_parts p = parts_of(shape, &s, false);
            /* L / q^2 + B = 0 */
            const double row[] = {p.mixed / (q * q), p.triple / (q * q), p.mean,
                                  -(p.plain / (q * q) + 1)};
            for (int r = 0; r < NUMBERS; r++)
                for (int k = 0; k <= NUMBERS; k++)
                    a[r][k] += row[r] * row[k];
        }
    }
    solve_normal(a, x);
    return (wave_scheme){.mixed = x[0], .triple = x[1], .mean = x[2]};
}

/* --- errors --------------------------------------------------------------------------------------
 */

double scheme_number(const wave_scheme *scheme, const grid_shape *shape, double k,
                     const double n[GRID_AXES])
{
    enum { STEPS = 60 };
    double q = k;
    for (int i = 0; i < STEPS; i++) { /* Newton's */
        const wave_symbol s = symbol_of(shape, q, n);
        const scheme_parts v = parts_of(shape, &s, false), d = parts_of(shape, &s, true);
        const double value = v.plain + scheme->mixed * v.mixed + scheme->triple * v.triple +
                             k * k * (1 + scheme->mean * v.mean);
        const double slope = d.plain + scheme->mixed * d.mixed + scheme->triple * d.triple +
                             k * k * scheme->mean * d.mean;
        const double step = value / slope;
        if (!(fabs(step) < q)) /* beyond the shortest wave of the grid L turns back */
            return NAN;
        q -= step;
        if (fabs(step) <= 1e-15 * q)
            return q;
    }
    return fabs(q / k - 1) < 1 ? q : NAN;
}

/* How long the way through the box without its layers is. */
static double way_through(const grid_shape *shape, const double n[GRID_AXES])
{
    double way = INFINITY;
    for (int a = 0; a < GRID_AXES; a++) {
        const grid_axis *axis = &shape->axis[a];
        const double length =
            axis->spacing * (double)(axis->intervals - axis->layer[0] - axis->layer[1]);
        if (n[a] > 0 && length / n[a] < way)
            way = length / n[a];
    }
    return way;
}

void scheme_errors(const wave_scheme *scheme, const grid_shape *shape, double k, double *relative,
                   double *phase)
{
    *relative = *phase = 0;
    for (int i = 0; i < directions(shape->dimensions); i++) {
        double n[GRID_AXES];
        direction(shape->dimensions, i, n);
        const double q = scheme_number(scheme, shape, k, n);
        const double error = isnan(q) ? INFINITY : fabs(q - k);
        *relative = fmax(*relative, error / k);
        *phase = fmax(*phase, error * way_through(shape, n));
    }
}
