/*
 * Extreme eigenvalues of hermitian operators by Lanczos's method, without reorthogonalization: what
 * comes out is in the spectrum up to rounding (C. C. Paige, Accuracy and effectiveness of the
 * Lanczos algorithm for the symmetric eigenproblem, Linear Algebra Appl. 34 (1980), 235-258).
 */
#include "doctor/doctor.h"

enum { MOST_STEPS = 128 };

typedef struct tridiagonal {
    int n;
    double a[MOST_STEPS], b[MOST_STEPS]; /* b[k] couples k and k + 1 */
} tridiagonal;

/* Eigenvalues below x, by Sturm's sequence. */
static int below(const tridiagonal *t, double x)
{
    int count = 0;
    double q = 1;
    for (int k = 0; k < t->n; k++) {
        const double off = k > 0 ? t->b[k - 1] * t->b[k - 1] : 0;
        q = t->a[k] - x - (k > 0 ? off / q : 0);
        q = q == 0 ? -1e-300 : q;
        count += q < 0;
    }
    return count;
}

/* Eigenvalue number `index` from the least, by bisection within Gershgorin's bounds. */
static double eigenvalue(const tridiagonal *t, int index)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < t->n; k++) {
        const double r = (k > 0 ? t->b[k - 1] : 0) + (k + 1 < t->n ? t->b[k] : 0);
        low = fmin(low, t->a[k] - r);
        high = fmax(high, t->a[k] + r);
    }
    for (int turn = 0; turn < 120; turn++) {
        const double middle = low + (high - low) / 2;
        if (below(t, middle) > index)
            high = middle;
        else
            low = middle;
    }
    return low + (high - low) / 2;
}

spry_status doctor_lanczos(doctor *d, doctor_product product, void *data, int64_t n, int steps,
                           double *least, double *largest)
{
    spry_context *ctx = d->ctx;
    tridiagonal t = {0};
    spry_vector *v = NULL, *w = NULL, *before = NULL;
    double beta = 0, scale = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, doctor_random(d, n, 11, &v));
    SPRY_GO(ctx, spry_vector_like(v, n, &w));
    SPRY_GO(ctx, spry_vector_like(v, n, &before));
    while (t.n < steps && t.n < MOST_STEPS && t.n < n) {
        spry_scalar alpha;
        SPRY_GO(ctx, product(data, v, w));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-beta, 0}, before, w));
        SPRY_GO(ctx, spry_vector_dot(v, w, &alpha));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-alpha.re, 0}, v, w));
        t.a[t.n] = alpha.re;
        SPRY_GO(ctx, spry_vector_norm(w, &beta));
        t.b[t.n++] = beta;
        scale = fmax(scale, fabs(alpha.re) + beta);
        if (!(beta > 1e-14 * scale) || doctor_late(d, 0.9))
            break;
        spry_vector *old = before;
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / beta, 0}, w));
        before = v;
        v = w;
        w = old;
    }
    *least = t.n > 0 ? eigenvalue(&t, 0) : 0;
    *largest = t.n > 0 ? eigenvalue(&t, t.n - 1) : 0;
done:
    spry_vector_free(v);
    spry_vector_free(w);
    spry_vector_free(before);
    return status;
}
