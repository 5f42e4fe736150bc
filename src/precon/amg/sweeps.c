/*
 * Gauss-Seidel in the order of the rows as a smoother: forth before the correction, back after it,
 * so that flows are followed whichever way they go, and the cycle is hermitian where A is. Rows are
 * cut into parts that are swept side by side, with the old numbers of each other's (hybrid
 * Gauss-Seidel: A. H. Baker, R. D. Falgout, T. V. Kolev, U. M. Yang, Multigrid smoothers for
 * ultraparallel computing, SIAM J. Sci. Comput. 33 (2011), 2864-2887). Parts follow from the number
 * of rows alone, so that bits do not depend on threads. The adjoint is the same with A^H: the
 * adjoint of a sweep back is one forth.
 */
#include "precon/amg/amg.h"

/* Rows of a part, which are enough for a thread, and parts at most. */
enum { PART = 32768, MOST_PARTS = 64 };

typedef void (*sweep_rows)(const amg_sweep_job *job, int64_t begin, int64_t end);

typedef struct sweep {
    sweep_rows rows;
    amg_sweep_job job;
    int64_t n;
} sweep;

static void sweep_part(void *argument, int share, int shares)
{
    const sweep *s = argument;
    const range part = base_share(s->n, shares, share, 1);
    s->rows(&s->job, part.begin, part.end);
}

/* Goes through all parts of op(A). */
static void run(const amg_level *level, const spry_matrix *A, sweep_rows rows, amg_sweep_job job)
{
    const amg_smoother *s = &level->smoother;
    const int64_t parts = level->rows / PART;
    const bool turned = A == s->turned;
    sweep all = {.rows = rows, .job = job, .n = level->rows};
    all.job.A = (host_csr){A->a.offsets, A->a.col_index, A->a.values};
    all.job.before = s->before[turned];
    all.job.inverse = (turned ? s->conjugate : s->factor)->data;
    base_share_out(A->ctx,
                   (int)(parts < 1            ? 1
                         : parts > MOST_PARTS ? MOST_PARTS
                                              : parts),
                   sweep_part, &all);
}

/* How many entries are before the diagonal of each row. */
static spry_status count_before(const spry_matrix *A, int32_t **before)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    const spry_status status = base_alloc(ctx, a->rows, sizeof **before, before);
    if (status != SPRY_STATUS_OK)
        return status;
    int32_t *counts = *before;
#pragma omp parallel for num_threads(host_threads(ctx, a->nnz)) schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        int32_t count = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            count += a->col_index[k] < i;
        counts[i] = count;
    }
    return SPRY_STATUS_OK;
}

/* op(A), and what sweeps need to know of it, which is found out when it is first needed. */
static spry_status open_side(amg_level *level, spry_transpose transpose, const spry_matrix **A)
{
    spry_context *ctx = level->op->ctx;
    amg_smoother *s = &level->smoother;
    const bool turned = transpose != SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    if (turned && !s->turned)
        SPRY_GO(ctx, spry_matrix_transpose(level->A, true, &s->turned));
    *A = turned ? s->turned : level->A;
    if (!s->before[turned])
        SPRY_GO(ctx, count_before(*A, &s->before[turned]));
done:
    return status;
}

spry_status amg_sweep(amg_level *level, spry_transpose transpose, bool backward,
                      const spry_vector *b, const spry_vector *old, spry_vector *new)
{
    const spry_matrix *A = NULL;
    const spry_status status = open_side(level, transpose, &A);
    if (status == SPRY_STATUS_OK)
        run(level, A, precon_kernels_for(A->ctx, A->a.type)->amg_sweep,
            (amg_sweep_job){.b = b->data,
                            .old = old ? old->data : NULL,
                            .new = new->data,
                            .backward = backward});
    return status;
}

spry_status amg_sweep_rest(amg_level *level, spry_transpose transpose, const spry_vector *b,
                           const spry_vector *x, spry_vector *r)
{
    const spry_matrix *A = NULL;
    const spry_status status = open_side(level, transpose, &A);
    if (status == SPRY_STATUS_OK)
        run(level, A, precon_kernels_for(A->ctx, A->a.type)->amg_sweep_rest,
            (amg_sweep_job){.b = b->data, .old = x->data, .new = r->data});
    return status;
}
