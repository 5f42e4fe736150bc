/*
 * Weights of sweeps x += w_k D^-1 (b - A x): an error that D^-1 A multiplies by z is multiplied by
 * p(z) = prod (1 - w_k z), and p is to be least in the mean square over given numbers z. Of all
 * polynomials with p(0) = 1 that is sum conj(phi_j(0)) phi_j(z) but for a factor, where phi_j are
 * those that are orthonormal over the numbers (G. Szego, Orthogonal Polynomials, 1939, theorem
 * 3.1.3). They come from Arnoldi's process; the zeros from Ehrlich and Aberth's iteration (O.
 * Aberth, Math. Comp. 27 (1973), 339-344); and the order of the sweeps is Leja's, which keeps
 * products of the first few factors small (L. Reichel, BIT 30 (1990), 332-346).
 */
#include "grid/polynomial.h"

static double complex inner(int64_t n, const double complex *u, const double complex *v)
{
    double complex sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += conj(u[i]) * v[i];
    return sum;
}

/* phi_j(z) and its derivative, for j up to the degree. */
static void evaluate(const polynomial_basis *b, double complex z, double complex *value,
                     double complex *slope)
{
    value[0] = 1;
    slope[0] = 0;
    for (int j = 0; j < b->degree; j++) {
        double complex v = z * value[j], s = value[j] + z * slope[j];
        for (int i = 0; i <= j; i++) {
            v -= b->h[i][j] * value[i];
            s -= b->h[i][j] * slope[i];
        }
        value[j + 1] = v / b->h[j + 1][j];
        slope[j + 1] = s / b->h[j + 1][j];
    }
}

/* Arnoldi's process for the diagonal matrix of the numbers, begun with ones: v has room for n
 * (degree + 1) numbers. It ends early where few are different. */
static void orthogonalise(int64_t n, const double complex *z, int degree, double complex *v,
                          polynomial_basis *b)
{
    const double tiny = 1e-10;
    for (int64_t i = 0; i < n; i++)
        v[i] = 1 / sqrt((double)n);
    for (b->degree = 0; b->degree < degree; b->degree++) {
        const int j = b->degree;
        double complex *next = v + (j + 1) * n;
        for (int64_t i = 0; i < n; i++)
            next[i] = z[i] * v[j * n + i];
        const double before = sqrt(creal(inner(n, next, next)));
        for (int i = 0; i <= j; i++) {
            const double complex h = inner(n, v + i * n, next);
            b->h[i][j] = h;
            for (int64_t k = 0; k < n; k++)
                next[k] -= h * v[i * n + k];
        }
        const double size = sqrt(creal(inner(n, next, next)));
        b->h[j + 1][j] = fmax(size, tiny * before);
        if (!(size > tiny * before)) { /* the next one is 0 at all numbers */
            b->degree++;
            break;
        }
        for (int64_t k = 0; k < n; k++)
            next[k] /= size;
    }
}

/* p / p', which Newton's steps are. */
static double complex newton(const polynomial_basis *b, double complex z)
{
    double complex value[POLYNOMIAL_MOST + 1], slope[POLYNOMIAL_MOST + 1], p = 0, dp = 0;
    evaluate(b, z, value, slope);
    for (int j = 0; j <= b->degree; j++) {
        p += conj(b->at_zero[j]) * value[j];
        dp += conj(b->at_zero[j]) * slope[j];
    }
    return p == 0 ? 0 : p / dp;
}

/* All zeros together, from a circle around the numbers: each takes Newton's step for p over the
 * factors of the others. */
static void find_zeros(const polynomial_basis *b, double complex centre, double radius,
                       double complex *zero)
{
    enum { STEPS = 200 };
    const double turn = 2 * acos(-1) / b->degree, enough = 1e-12 * (radius + cabs(centre));
    double most = INFINITY;
    for (int k = 0; k < b->degree; k++)
        zero[k] = centre + radius * cexp(I * (turn * k + 0.4));
    for (int step = 0; step < STEPS && most > enough; step++) {
        most = 0;
        for (int k = 0; k < b->degree; k++) {
            const double complex by = newton(b, zero[k]);
            double complex others = 0;
            for (int i = 0; i < b->degree; i++)
                others += i == k ? 0 : 1 / (zero[k] - zero[i]);
            const double complex move = by / (1 - by * others);
            zero[k] -= move;
            most = fmax(most, cabs(move));
        }
    }
}

/* The next is the one farthest from those before, by the product of distances; the first the
 * largest. */
static void order_zeros(int count, double complex *zero)
{
    for (int k = 0; k < count; k++) {
        int best = k;
        double most = -1;
        for (int i = k; i < count; i++) {
            double far = k == 0 ? cabs(zero[i]) : 1;
            for (int before = 0; before < k; before++)
                far *= cabs(zero[i] - zero[before]);
            best = far > most ? i : best;
            most = fmax(far, most);
        }
        const double complex other = zero[k];
        zero[k] = zero[best];
        zero[best] = other;
    }
}

spry_status polynomial_weights(spry_context *ctx, polynomial_basis *b, double complex centre,
                               double radius, spry_scalar *weights)
{
    double complex zero[POLYNOMIAL_MOST], slope[POLYNOMIAL_MOST + 1];
    evaluate(b, 0, b->at_zero, slope);
    find_zeros(b, centre, radius, zero);
    order_zeros(b->degree, zero);
    for (int k = 0; k < b->degree; k++) {
        const double complex w = 1 / zero[k];
        weights[k] = (spry_scalar){creal(w), cimag(w)};
        if (!isfinite(weights[k].re) || !isfinite(weights[k].im))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "no %d sweeps damp errors of all frequencies", b->degree);
    }
    return SPRY_STATUS_OK;
}

spry_status polynomial_fit(spry_context *ctx, int64_t n, const double complex *z, int degree,
                           int *count, spry_scalar *weights)
{
    double complex *room = NULL, centre = 0;
    double radius = 0;
    polynomial_basis *b = NULL;
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *b, &b));
    SPRY_GO(ctx, base_alloc(ctx, n * (degree + 1), sizeof *room, &room));
    for (int64_t i = 0; i < n; i++)
        centre += z[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        radius = fmax(radius, cabs(z[i] - centre));
    orthogonalise(n, z, degree, room, b);
    SPRY_GO(ctx, polynomial_weights(ctx, b, centre, radius, weights));
    *count = b->degree;
done:
    base_free(ctx, room);
    base_free(ctx, b);
    return status;
}
