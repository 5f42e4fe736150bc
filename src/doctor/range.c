/*
 * Whether b is in the range of a singular matrix. A left null vector q, A^H q = 0, shows that it is
 * not: |b - A x| >= |(q, b)| - |A^H q| |x| for every x. Left null vectors come from rows of zeros,
 * from columns that sum to 0, and from factors. A^H q is 0 up to rounding alone, which a large x
 * makes large: where an x is known that leaves less than |(q, b)|, nothing is shown. And q is known
 * up to the rounding of A relative to the next singular value (C. Davis, W. M. Kahan, The rotation
 * of eigenvectors by a perturbation III, SIAM J. Numer. Anal. 7 (1970), 1-46).
 */
#include "doctor/doctor.h"

#include "matrix/entries.h"

#include <float.h>

/* Adds a vector to an orthonormal basis unless it lies in its span; frees it then. */
static spry_status add_vector(int *count, spry_vector **q, spry_vector *v)
{
    double size = 0;
    spry_status status = doctor_normalise(v);
    if (status == SPRY_STATUS_OK)
        status = doctor_project(*count, q, v);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_norm(v, &size);
    if (status == SPRY_STATUS_OK && size > 1e-6) {
        q[(*count)++] = v;
        return doctor_normalise(v);
    }
    spry_vector_free(v);
    return status;
}

static spry_status part_of(const doctor *d, int count, spry_vector *const *q, double *outside)
{
    double all = 0, sum = 0;
    spry_status status = spry_vector_norm(d->b, &all);
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++) {
        spry_scalar c = {0, 0};
        status = spry_vector_dot(q[k], d->b, &c);
        sum = hypot(sum, hypot(c.re, c.im)); /* squares of a large b are not numbers */
    }
    *outside = all > 0 ? sum / all : 0;
    return status;
}

spry_status doctor_outside(doctor *d, int *count, double *outside, double *rounding)
{
    spry_context *ctx = d->ctx;
    const doctor_null *z = &d->null;
    const double of_b = 1e3 * d->roundoff, of_q = 16 * d->roundoff;
    spry_vector *v = NULL, *q[DOCTOR_MOST_NULL + 1] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    *outside = 0;
    *rounding = fmax(of_b, z->count > 0 && z->next > 0 ? of_q * d->B_norm / z->next : 0);
    *count = 0;
    if (d->column_sums_vanish && z->count == 0) {
        SPRY_GO(ctx, spry_vector_new(ctx, d->type, d->A->a.rows, NULL, SPRY_OWN_TAKE, &v));
        SPRY_GO(ctx, spry_vector_fill(v, (spry_scalar){1, 0}));
        spry_vector *own = v;
        v = NULL;
        SPRY_GO(ctx, add_vector(count, q, own));
    }
    for (int k = 0; k < z->count; k++) {
        if (!(z->left_size[k] <= 1e3 * d->roundoff * d->B_norm)) /* it would show nothing */
            continue;
        SPRY_GO(ctx, spry_vector_like(z->left[k], z->left[k]->n, &v));
        SPRY_GO(ctx, spry_vector_multiply(z->left[k], d->left, v)); /* of A^H, as left is real */
        spry_vector *own = v;
        v = NULL;
        SPRY_GO(ctx, add_vector(count, q, own));
    }
    SPRY_GO(ctx, part_of(d, *count, q, outside));
done:
    spry_vector_free(v);
    for (int k = 0; k < *count; k++)
        spry_vector_free(q[k]);
    return status;
}

/* |b - A x| at most: for a large x the usual precision would show nothing but rounding. */
static double wide_norm(const doctor *d, const spry_vector *x)
{
    const matrix_arrays *a = &d->W->a;
    double all = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        const spry_scalar b = value_load(d->type, d->b->data, i);
        long double re = b.re, im = b.im, terms = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            const spry_scalar y = value_load(d->type, x->data, a->col_index[k]);
            re -= (long double)v.re * y.re - (long double)v.im * y.im;
            im -= (long double)v.re * y.im + (long double)v.im * y.re;
            terms += (long double)hypot(v.re, v.im) * hypot(y.re, y.im);
        }
        terms *= (long double)(a->offsets[i + 1] - a->offsets[i] + 2) * LDBL_EPSILON;
        all = hypot(all, hypot((double)re, (double)im) + (double)terms);
    }
    return all;
}

/* What an x of the factors leaves, where that is less than is known, and than is outside. */
static spry_status find_reached(doctor *d, double outside)
{
    spry_context *ctx = d->ctx;
    spry_vector *x = NULL, *r = NULL, *own = NULL;
    double size = NAN, all = NAN;
    spry_status status = SPRY_STATUS_OK;
    if (!doctor_has_inverse(d))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &x));
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &r));
    SPRY_GO(ctx, doctor_solution(d, x, r));
    SPRY_GO(ctx, spry_vector_norm(r, &size));
    SPRY_GO(ctx, spry_vector_norm(d->b, &all));
    if (size < fmin(d->reached, outside) * all) {
        SPRY_GO(ctx, spry_vector_new(ctx, d->A->a.type, x->n, NULL, SPRY_OWN_TAKE, &own));
        SPRY_GO(ctx, spry_vector_copy(x, own));
        SPRY_GO(ctx, spry_vector_copy(own, x)); /* as A's own type has it */
        size = wide_norm(d, x);
    }
    if (size < d->reached * all)
        d->reached = size / all;
done:
    spry_vector_free(own);
    spry_vector_free(x);
    spry_vector_free(r);
    return status;
}

/* Rows of zeros in which b has other numbers: the equation 0 = b_i. */
static void check_zero_rows(doctor *d)
{
    const matrix_arrays *a = &d->A->a;
    spry_finding *f = NULL;
    char places[160];
    for (int64_t i = 0; i < a->rows && d->zero_rows > 0; i++) {
        const spry_scalar b = value_load(d->type, d->b->data, i);
        bool empty = b.re != 0 || b.im != 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1] && empty; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            empty = v.re == 0 && v.im == 0;
        }
        if (!empty)
            continue;
        if (!f)
            f = doctor_add(d, DOCTOR_NOT_IN_RANGE, SPRY_SEVERITY_ERROR, "-");
        doctor_row(f, i);
    }
    if (!f)
        return;
    snprintf(f->text, sizeof f->text,
             "b is not in the range of A: it is not 0 in rows %s (from 0), where A has nothing but "
             "zeros, so that no x solves the system",
             doctor_places(f->rows, f->row_count, places, sizeof places));
    doctor_figure(f, "rows", (double)f->row_count);
    doctor_solve(d, f, "--method lsmr");
}

/* Adds the finding from left null vectors. */
static spry_finding *report(doctor *d, int count, double outside, bool in)
{
    const double tolerance = 1e-8; /* the solver's default */
    const double less = 0.99;
    if (in)
        return doctor_add(d, DOCTOR_NOT_IN_RANGE, SPRY_SEVERITY_NOTE,
                          "b is in the range of A, as far as %d left null vector%s: %.2g of |b| is "
                          "outside, which is rounding; the system has solutions, many of them",
                          count, count == 1 ? " shows" : "s show", outside);
    if (d->reached < less * outside)
        return doctor_add(d, DOCTOR_NOT_IN_RANGE, SPRY_SEVERITY_WARNING,
                          "whether b is in the range of A is up to rounding: %.3g of |b| is along "
                          "left null vectors, as far as rounding shows, and yet there is an x so "
                          "large that its residual |b - A x| / |b| is %.3g",
                          outside, d->reached);
    return doctor_add(
        d, DOCTOR_NOT_IN_RANGE, outside > tolerance ? SPRY_SEVERITY_ERROR : SPRY_SEVERITY_WARNING,
        "b is not in the range of A, as far as rounding shows: at least %.3g of |b| is "
        "outside, and no x has a residual |b - A x| / |b| below that but one so large "
        "that rounding makes it",
        outside);
}

spry_status doctor_check_range(doctor *d)
{
    int count = 0;
    double outside = 0, rounding = 0;
    spry_status status = SPRY_STATUS_OK;
    if (!d->b)
        return SPRY_STATUS_OK;
    check_zero_rows(d);
    SPRY_GO(d->ctx, doctor_outside(d, &count, &outside, &rounding));
    if (count == 0 || doctor_has(d, DOCTOR_NOT_IN_RANGE))
        goto done;
    const bool in = outside <= rounding;
    if (in &&
        (d->null.more || d->null.nullity > d->null.count)) /* other vectors may show the opposite */
        goto done;
    SPRY_GO(d->ctx, find_reached(d, outside));
    spry_finding *f = report(d, count, outside, in);
    doctor_figure(f, "outside", outside);
    doctor_figure(f, "left_null_vectors", count);
    if (isfinite(d->reached))
        doctor_figure(f, "reached", d->reached);
    doctor_solve(d, f,
                 d->column_sums_vanish && d->hermitian && !d->expected ? "--nullspace constant"
                                                                       : "--method lsmr");
done:
    return status;
}
