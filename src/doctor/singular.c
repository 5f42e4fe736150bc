/* What a solver learns of a singular matrix: its rank, the rows, and the null vectors that the
 * solver removes from x. */
#include "doctor/doctor.h"

/* The null vectors of A, which are right .* those of B. */
static spry_status give_null(const doctor *d, doctor_verdict *v)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (d->null.more || d->null.nullity > d->null.count)
        return status;
    for (int k = 0; k < d->null.count; k++) {
        const spry_vector *own = d->null.right[k];
        SPRY_GO(ctx, spry_vector_like(own, own->n, &v->null[k]));
        v->null_count++;
        SPRY_GO(ctx, spry_vector_multiply(own, d->right, v->null[k]));
        SPRY_GO(ctx, doctor_normalise(v->null[k]));
        SPRY_GO(ctx, doctor_project(k, v->null, v->null[k]));
        SPRY_GO(ctx, doctor_normalise(v->null[k]));
    }
done:
    return status;
}

/* The rows of the finding that names most of them. */
static void give_rows(const doctor *d, doctor_verdict *v)
{
    static const doctor_kind kinds[] = {DOCTOR_SINGULAR, DOCTOR_STRUCTURE, DOCTOR_ZERO_ROWS};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const spry_finding *f = doctor_find(d, kinds[k]);
        if (f && f->row_count > 0) {
            v->row_count = f->row_count;
            memcpy(v->rows, f->rows, sizeof v->rows);
            return;
        }
    }
}

static spry_status judge(doctor *d, doctor_verdict *v)
{
    spry_context *ctx = d->ctx;
    int count = 0;
    double rounding;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, doctor_outside(d, &count, &v->outside, &rounding));
    if (!(v->outside > rounding))
        v->outside = 0;
    SPRY_GO(ctx, give_null(d, v));
    give_rows(d, v);
    v->singular = true;
    v->more = d->null.more;
    v->rank = d->A->a.rows - d->null.nullity;
    if (v->rank > d->structural_rank)
        v->rank = d->structural_rank;
    v->structural_rank = d->structural_rank;
done:
    return status;
}

void doctor_verdict_clear(doctor_verdict *verdict)
{
    for (int k = 0; k < DOCTOR_MOST_NULL; k++)
        spry_vector_free(verdict->null[k]);
    *verdict = (doctor_verdict){0};
}

spry_status doctor_singular(const spry_matrix *A, const spry_operator *N, const spry_vector *b,
                            double seconds, doctor_verdict *verdict)
{
    spry_context *ctx = A->ctx;
    const spry_log_fn log = ctx->log;
    doctor_options options = {.seconds = seconds};
    doctor d = {.ctx = ctx};
    spry_status status = SPRY_STATUS_OK;
    *verdict = (doctor_verdict){0};
    ctx->log = NULL; /* of what is made on the way */
    SPRY_GO(ctx, doctor_open(&d, A, b, &options));
    d.counts = true;
    if (N && N->type == d.type && !N->single && precon_direct_unpivoted(N).count > 0)
        d.N = N;
    if (!d.square || d.stats.nonfinite > 0 || A->a.rows == 0)
        goto done;
    SPRY_GO(ctx, doctor_prepare(&d));
    SPRY_GO(ctx, doctor_check_pattern(&d));
    SPRY_GO(ctx, doctor_check_structure(&d));
    SPRY_GO(ctx, doctor_check_inverse(&d));
    if (d.null.nullity > 0 || d.structural_rank < A->a.rows)
        SPRY_GO(ctx, judge(&d, verdict));
done:
    ctx->log = log;
    doctor_close(&d);
    return status;
}
