/*
 * How large the solution is, compared with rounding errors: numbers x_j that are rounded once
 * change b - A x by up to |A| |x| roundings, whatever the method was. The solution comes from
 * factors of B and is refined; how good it is is seen componentwise (W. Oettli, W. Prager, Numer.
 * Math. 6 (1964), 405-409), and nothing is reported where that, times the condition, leaves its
 * size open.
 */
#include "doctor/doctor.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

/* What x and b - A x are made of. */
typedef struct size_of_terms {
    double terms, b; /* norms of |b| + |A| |x| and of b */
    double error;    /* the largest |r_i| / (|b| + |A| |x|)_i: what A and b are changed by */
    double largest;  /* number of x */
} size_of_terms;

/* x = right .* (M (left .* b)), refined. */
spry_status doctor_solution(const doctor *d, spry_vector *x, spry_vector *r)
{
    enum { TURNS = 3 };
    const spry_scalar one = {1, 0}, less = {-1, 0};
    spry_context *ctx = d->ctx;
    spry_vector *work = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(x, x->n, &work));
    SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    SPRY_GO(ctx, spry_vector_copy(d->b, r));
    for (int turn = 0; turn < TURNS; turn++) {
        SPRY_GO(ctx, spry_vector_multiply(d->left, r, r));
        SPRY_GO(ctx, doctor_inverse(d, false, r, work));
        SPRY_GO(ctx, spry_vector_multiply(d->right, work, work));
        SPRY_GO(ctx, spry_vector_axpy(one, work, x));
        SPRY_GO(ctx, spry_vector_copy(d->b, r));
        SPRY_GO(ctx, spry_operator_multiply(d->W_op, SPRY_TRANSPOSE_NO, less, x, one, r));
    }
done:
    spry_vector_free(work);
    return status;
}

static double size_at(const doctor *d, const spry_vector *v, int64_t i)
{
    return scalar_size(d->type, value_load(d->type, v->data, i));
}

/* Of A x = b, or with `scaled` of the rows of B, of which left has the factors. */
static size_of_terms measure(const doctor *d, const spry_vector *x, const spry_vector *r,
                             bool scaled)
{
    const matrix_arrays *a = &d->W->a;
    size_of_terms s = {0};
    for (int64_t j = 0; j < a->cols; j++)
        s.largest = fmax(s.largest, size_at(d, x, j));
    for (int64_t i = 0; i < a->rows; i++) {
        const double b = size_at(d, d->b, i), factor = scaled ? size_at(d, d->left, i) : 1;
        double terms = b;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            terms += scalar_size(a->type, value_load(a->type, a->values, k)) *
                     size_at(d, x, a->col_index[k]);
        s.error = terms > 0 ? fmax(s.error, size_at(d, r, i) / terms) : s.error;
        s.terms = hypot(s.terms, factor * terms);
        s.b = hypot(s.b, factor * b);
    }
    return s;
}

static void report(doctor *d, const size_of_terms *s, double level, double scaled)
{
    char tol[32];
    spry_finding *f =
        doctor_add(d, DOCTOR_ROUNDING, level >= 1 ? SPRY_SEVERITY_ERROR : SPRY_SEVERITY_WARNING,
                   "the solution has numbers up to %.2g, and rounding them to this precision "
                   "changes b - A x by about %.2g |b|: the x next to the solution has a residual "
                   "of that size%s; with rows and columns scaled it is %.2g",
                   s->largest, level, level >= 1 ? ", and x = 0 has a smaller one" : "", scaled);
    doctor_figure(f, "largest", s->largest);
    doctor_figure(f, "rounding", level);
    doctor_figure(f, "rounding_scaled", scaled);
    snprintf(tol, sizeof tol, "--tol %.0e", 10 * level);
    if (level < 0.01)
        doctor_solve(d, f, tol);
    else
        doctor_next(
            f, "spry convert %s scaled.mtx --scale equilibrate --left-out l.npy --right-out r.npy",
            d->options->matrix);
}

spry_status doctor_check_size(doctor *d)
{
    const bool single = type_is_single(d->A->a.type);
    const double unit = 2 * d->roundoff;
    const double least = single ? 1e-3 : 1e-8; /* less is what solves reach, or do not ask for */
    spry_context *ctx = d->ctx;
    spry_vector *x = NULL, *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (d->null.nullity > 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &x));
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &r));
    SPRY_GO(ctx, doctor_solution(d, x, r));
    const size_of_terms own = measure(d, x, r, false), scaled = measure(d, x, r, true);
    const double level = unit * own.terms / own.b, other = unit * scaled.terms / scaled.b;
    if (isfinite(level) && isfinite(other) && level >= least && own.error * d->condition < 0.1)
        report(d, &own, level, other);
done:
    spry_vector_free(x);
    spry_vector_free(r);
    return status;
}
