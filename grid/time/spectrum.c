/*
 * The eigenvalue of largest modulus by power iteration. Where two of them have the same modulus, as
 * the pairs of real operators with waves do, the iterates do not settle; but three of them in a row
 * satisfy x_2 = p x_1 + q x_0, nearly, and the eigenvalues are the zeros of z^2 - p z - q
 * (J. H. Wilkinson, The Algebraic Eigenvalue Problem (1965), chapter 9).
 */
#include "grid/time/time.h"

#include <complex.h>
#include <float.h>

enum { LEAST_PRODUCTS = 12, MOST_PRODUCTS = 60 };
static const double settled = 1e-3; /* relative change at which it is near enough */

static double complex of(spry_scalar s)
{
    return s.re + s.im * I;
}

/* Numbers that depend on their place among all ranks' alone. */
static spry_status fill_random(spry_vector *v)
{
    spry_context *ctx = v->ctx;
    const int64_t first = v->part.is ? v->part.first : 0;
    const bool is_complex = spry_type_is_complex(v->type);
    void *numbers = v->class ? NULL : v->data;
    spry_status status = SPRY_STATUS_OK;
    if (v->class)
        status = base_alloc(ctx, v->n, spry_type_size(v->type), &numbers);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < v->n; i++) {
        const uint64_t at = 2 * (uint64_t)(first + i);
        const double im = is_complex ? base_uniform(1, at + 1) - 0.5 : 0;
        value_set(v->type, numbers, i, (spry_scalar){base_uniform(1, at) - 0.5, im});
    }
    if (status == SPRY_STATUS_OK && v->class)
        status = v->class->put(v, numbers);
    if (v->class)
        base_free(ctx, numbers);
    return status;
}

/* The larger zero of z^2 - p z - q, with p and q of least |x2 - p x1 - q x0|. */
static spry_status fit(const spry_vector *x0, const spry_vector *x1, const spry_vector *x2,
                       double complex *lambda)
{
    spry_scalar d[5];
    const spry_vector *const pairs[5][2] = {{x0, x0}, {x0, x1}, {x1, x1}, {x0, x2}, {x1, x2}};
    for (int i = 0; i < 5; i++) {
        const spry_status status = spry_vector_dot(pairs[i][0], pairs[i][1], &d[i]);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    const double complex m01 = of(d[1]), right0 = of(d[3]), right1 = of(d[4]);
    const double m00 = d[0].re, m11 = d[2].re;
    const double determinant = m00 * m11 - creal(m01 * conj(m01));
    *lambda = m01 / m00;
    if (determinant <= 1e3 * DBL_EPSILON * m00 * m11) /* x1 is a multiple of x0 */
        return SPRY_STATUS_OK;
    const double complex p = (m00 * right1 - conj(m01) * right0) / determinant;
    const double complex q = (m11 * right0 - m01 * right1) / determinant;
    const double complex root = csqrt(p * p / 4 + q);
    const double complex one = p / 2 + root, other = p / 2 - root;
    *lambda = cabs(one) > cabs(other) ? one : other;
    return SPRY_STATUS_OK;
}

static spry_status iterate(spry_stepper *s, spry_vector *x[3])
{
    double complex lambda = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < MOST_PRODUCTS; k += 2) {
        double norm = 0;
        const double before = cabs(lambda);
        SPRY_GO(s->ctx, spry_vector_norm(x[0], &norm));
        if (!(norm > 0) || !isfinite(norm)) {
            lambda = 0; /* all of it is in the null space */
            break;
        }
        SPRY_GO(s->ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, x[0]));
        SPRY_GO(s->ctx, stepper_rate(s, PART_PRODUCT, 0, x[0], x[1]));
        SPRY_GO(s->ctx, stepper_rate(s, PART_PRODUCT, 0, x[1], x[2]));
        SPRY_GO(s->ctx, fit(x[0], x[1], x[2], &lambda));
        if (k >= LEAST_PRODUCTS && fabs(cabs(lambda) - before) <= settled * before)
            break;
        spry_vector *t = x[0];
        x[0] = x[2];
        x[2] = t;
    }
    s->lambda = (spry_scalar){creal(lambda), cimag(lambda)};
    s->knows_lambda = true;
done:
    return status;
}

spry_status stepper_find_lambda(spry_stepper *s, const spry_vector *like)
{
    spry_vector *x[3] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    if (s->knows_lambda)
        return SPRY_STATUS_OK;
    for (int i = 0; i < 3; i++)
        SPRY_GO(s->ctx, spry_vector_like(like, like->n, &x[i]));
    SPRY_GO(s->ctx, fill_random(x[0]));
    SPRY_GO(s->ctx, iterate(s, x));
done:
    for (int i = 0; i < 3; i++)
        spry_vector_free(x[i]);
    return status;
}
