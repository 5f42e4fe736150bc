/* Bringing a system into the form that checks want: sorted CSR, and copies in double precision. */
#include "doctor/doctor.h"

#include "matrix/entries.h"

#include <float.h>
#include <spry/scale.h>

spry_status doctor_open(doctor *d, const spry_matrix *A, const spry_vector *b,
                        const doctor_options *options)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const bool complex = spry_type_is_complex(A->a.type);
    *d = (doctor){.ctx = ctx,
                  .options = options,
                  .begin = base_seconds(),
                  .given = A,
                  .stats = SPRY_STATS_INIT,
                  .roundoff = (type_is_single(A->a.type) ? FLT_EPSILON : DBL_EPSILON) / 2,
                  .square = A->a.rows == A->a.cols,
                  .type = complex ? SPRY_TYPE_Z : SPRY_TYPE_D,
                  .smallest = INFINITY,
                  .reached = INFINITY,
                  .definite = true,
                  .structural_rank = A->a.rows < A->a.cols ? A->a.rows : A->a.cols};
    SPRY_GO(ctx, base_calloc(ctx, DOCTOR_MOST_FINDINGS, sizeof *d->findings, &d->findings));
    SPRY_GO(ctx, spry_matrix_stats(A, &d->stats));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &d->A, &d->owned));
    if (b) {
        if (b->n != A->a.rows || b->type != A->a.type)
            SPRY_GO(ctx,
                    SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                              "b has %" PRId64 " elements of type %s, the matrix has %" PRId64
                              " rows of type %s",
                              b->n, spry_type_name(b->type), A->a.rows, spry_type_name(A->a.type)));
        SPRY_GO(ctx, spry_vector_new(ctx, d->type, b->n, NULL, SPRY_OWN_TAKE, &d->b));
        SPRY_GO(ctx, spry_vector_copy(b, d->b));
    }
done:
    return status;
}

void doctor_close(doctor *d)
{
    for (int k = 0; k < DOCTOR_MOST_NULL; k++) {
        spry_vector_free(d->null.right[k]);
        spry_vector_free(d->null.left[k]);
    }
    spry_operator_free(d->M);
    spry_operator_free(d->W_op);
    spry_operator_free(d->B_op);
    spry_vector_free(d->left);
    spry_vector_free(d->right);
    spry_vector_free(d->b);
    spry_matrix_free(d->B);
    spry_matrix_free(d->W_owned);
    spry_matrix_free(d->owned);
    base_free(d->ctx, d->findings);
}

spry_status doctor_times(const spry_operator *A, bool conjugate, const spry_vector *x,
                         spry_vector *y)
{
    return spry_operator_multiply(A, conjugate ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO,
                                  (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y);
}

/* |B| from below: some steps of the power method for B^H B. */
static spry_status find_norm(doctor *d)
{
    enum { STEPS = 8 };
    spry_vector *v = NULL, *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, doctor_random(d, d->B->a.cols, 7, &v));
    SPRY_GO(d->ctx, spry_vector_new(d->ctx, d->type, d->B->a.rows, NULL, SPRY_OWN_TAKE, &w));
    for (int k = 0; k < STEPS; k++) {
        double size;
        SPRY_GO(d->ctx, doctor_times(d->B_op, false, v, w));
        SPRY_GO(d->ctx, spry_vector_norm(w, &size));
        d->B_norm = size > d->B_norm ? size : d->B_norm;
        SPRY_GO(d->ctx, doctor_times(d->B_op, true, w, v));
        SPRY_GO(d->ctx, doctor_normalise(v));
    }
done:
    spry_vector_free(v);
    spry_vector_free(w);
    return status;
}

spry_status doctor_scale(doctor *d)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_copy(d->W, &d->B));
    SPRY_GO(ctx, spry_matrix_scale(d->B, d->left, d->right));
    SPRY_GO(ctx, host_csr_operator(d->B, &d->B_op));
    SPRY_GO(ctx, find_norm(d));
done:
    return status;
}

spry_status doctor_prepare(doctor *d)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    d->W = d->A;
    if (d->A->a.type != d->type) {
        SPRY_GO(ctx, spry_matrix_cast(d->A, d->type, &d->W_owned));
        d->W = d->W_owned;
    }
    SPRY_GO(ctx, host_csr_operator(d->W, &d->W_op));
    SPRY_GO(ctx, spry_scaling(d->W, "equilibrate", &d->left, &d->right));
    SPRY_GO(ctx, doctor_scale(d));
done:
    return status;
}

spry_status doctor_random(const doctor *d, int64_t n, uint64_t seed, spry_vector **v)
{
    spry_status status = spry_vector_new(d->ctx, d->type, n, NULL, SPRY_OWN_TAKE, v);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        const double re = base_uniform(seed, (uint64_t)(2 * i)) - 0.5;
        const double im = base_uniform(seed, (uint64_t)(2 * i + 1)) - 0.5;
        value_store(d->type, (*v)->data, i, (spry_scalar){re, im});
    }
    return doctor_normalise(*v);
}

spry_status doctor_normalise(spry_vector *v)
{
    double size;
    spry_status status = spry_vector_norm(v, &size);
    if (status == SPRY_STATUS_OK && size > 0 && isfinite(size))
        status = spry_vector_scale((spry_scalar){1 / size, 0}, v);
    return status;
}

spry_status doctor_project(int count, spry_vector *const *q, spry_vector *v)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 2 * count && status == SPRY_STATUS_OK; k++) {
        spry_scalar c = {0, 0};
        status = spry_vector_dot(q[k % count], v, &c);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_axpy((spry_scalar){-c.re, -c.im}, q[k % count], v);
    }
    return status;
}
