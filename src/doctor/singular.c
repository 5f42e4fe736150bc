/*
 * A system whose matrix is singular, solved as well as can be: b without what is outside of the
 * range, solved by the factors of B + D with refinement, which converges as D is far below what is
 * left of the spectrum; x without null vectors is the shortest.
 */
#include "doctor/doctor.h"

#include "matrix/entries.h"

#include <float.h>

/* B y = c by M and refinement, as long as the residual falls. */
static spry_status refine(doctor *d, const spry_vector *c, spry_vector *y)
{
    enum { TURNS = 8 };
    spry_context *ctx = d->ctx;
    spry_vector *r = NULL, *z = NULL;
    double before = INFINITY, size;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(c, c->n, &r));
    SPRY_GO(ctx, spry_vector_like(c, c->n, &z));
    for (int turn = 0; turn < TURNS; turn++) {
        SPRY_GO(ctx, doctor_times(d->B_op, false, y, r));
        SPRY_GO(ctx, spry_vector_xpay(c, (spry_scalar){-1, 0}, r));
        SPRY_GO(ctx, spry_vector_norm(r, &size));
        if (!(size < 0.5 * before))
            break;
        before = size;
        SPRY_GO(ctx, doctor_times(d->M, false, r, z));
        SPRY_GO(ctx, doctor_project(d->null.count, d->null.right, z));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){1, 0}, z, y));
    }
done:
    spry_vector_free(r);
    spry_vector_free(z);
    return status;
}

/* x without the null vectors of A, which are right .* those of B. */
static spry_status shorten(doctor *d, spry_vector *x)
{
    spry_context *ctx = d->ctx;
    spry_vector *q[DOCTOR_MOST_NULL] = {NULL};
    int count = 0;
    spry_status status = SPRY_STATUS_OK;
    for (; count < d->null.count; count++) {
        const spry_vector *v = d->null.right[count];
        SPRY_GO(ctx, spry_vector_like(v, v->n, &q[count]));
        SPRY_GO(ctx, spry_vector_multiply(v, d->right, q[count]));
        SPRY_GO(ctx, doctor_normalise(q[count]));
        SPRY_GO(ctx, doctor_project(count, q, q[count]));
        SPRY_GO(ctx, doctor_normalise(q[count]));
    }
    SPRY_GO(ctx, doctor_project(count, q, x));
done:
    for (int k = 0; k < DOCTOR_MOST_NULL; k++)
        spry_vector_free(q[k]);
    return status;
}

/* b without q, then x; q are left null vectors of A. */
static spry_status solve(doctor *d, int count, spry_vector *const *q, spry_vector *x)
{
    spry_context *ctx = d->ctx;
    spry_vector *c = NULL, *y = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &c));
    SPRY_GO(ctx, spry_vector_like(d->b, d->b->n, &y));
    SPRY_GO(ctx, spry_vector_copy(d->b, c));
    SPRY_GO(ctx, doctor_project(count, q, c));
    SPRY_GO(ctx, spry_vector_multiply(d->left, c, c));
    SPRY_GO(ctx, refine(d, c, y));
    SPRY_GO(ctx, spry_vector_multiply(d->right, y, x));
    SPRY_GO(ctx, shorten(d, x));
done:
    spry_vector_free(c);
    spry_vector_free(y);
    return status;
}

static spry_status residual_of(doctor *d, const spry_vector *x, double *relative)
{
    spry_vector *r = NULL;
    double size = 0, all = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, spry_vector_like(d->b, d->b->n, &r));
    SPRY_GO(d->ctx, doctor_times(d->W_op, false, x, r));
    SPRY_GO(d->ctx, spry_vector_xpay(d->b, (spry_scalar){-1, 0}, r));
    SPRY_GO(d->ctx, spry_vector_norm(r, &size));
    SPRY_GO(d->ctx, spry_vector_norm(d->b, &all));
    *relative = all > 0 ? size / all : size;
done:
    spry_vector_free(r);
    return status;
}

static void compose(const doctor *d, doctor_verdict *v)
{
    char rows[120];
    const int64_t shown = v->row_count < SPRY_FINDING_PLACES ? v->row_count : SPRY_FINDING_PLACES;
    doctor_places(v->rows, shown, rows, sizeof rows);
    snprintf(v->text, sizeof v->text,
             "singular: rank %s %" PRId64 " of %" PRId64
             ", rows %s%s (from 0); b is %sin its range; "
             "the least-squares solution has residual %.3g",
             d->null.more ? "at most" : "about", v->rank, d->A->a.rows, rows,
             v->row_count > shown ? ", ..." : "", v->in_range ? "" : "not ", v->residual);
}

static spry_status judge(doctor *d, spry_vector *x, doctor_verdict *v)
{
    spry_context *ctx = d->ctx;
    spry_vector *q[DOCTOR_MOST_NULL + 1] = {NULL}, *own = NULL;
    int count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, doctor_outside(d, &count, q, &v->outside));
    SPRY_GO(ctx, spry_vector_like(d->b, x->n, &own));
    SPRY_GO(ctx, solve(d, count, q, own));
    SPRY_GO(ctx, spry_vector_copy(own, x));
    SPRY_GO(ctx, spry_vector_copy(x, own)); /* as it was rounded to x's type */
    SPRY_GO(ctx, residual_of(d, own, &v->residual));
    for (int k = 0; k < d->count; k++)
        if (d->findings[k].row_count > 0 && v->row_count == 0) {
            v->row_count = d->findings[k].row_count;
            memcpy(v->rows, d->findings[k].rows, sizeof v->rows);
        }
    v->singular = true;
    v->rank = d->A->a.rows - d->null.count;
    v->in_range = v->outside <= 1e3 * d->roundoff;
    compose(d, v);
done:
    for (int k = 0; k < count; k++)
        spry_vector_free(q[k]);
    spry_vector_free(own);
    return status;
}

spry_status doctor_singular(const spry_matrix *A, const spry_vector *b, spry_vector *x,
                            double seconds, doctor_verdict *verdict)
{
    spry_context *ctx = A->ctx;
    doctor_options options = {.seconds = seconds};
    doctor d = {0};
    spry_status status = SPRY_STATUS_OK;
    *verdict = (doctor_verdict){.residual = NAN};
    SPRY_GO(ctx, doctor_admit(&d, A, b, &options));
    if (!d.square || d.stats.nonfinite > 0 || A->a.rows == 0)
        goto done;
    SPRY_GO(ctx, doctor_prepare(&d));
    SPRY_GO(ctx, doctor_check_pattern(&d));
    SPRY_GO(ctx, doctor_check_structure(&d));
    SPRY_GO(ctx, doctor_check_inverse(&d));
    if (d.null.count > 0)
        SPRY_GO(ctx, judge(&d, x, verdict));
done:
    doctor_discharge(&d);
    return status;
}
