/*
 * R A P in one pass. How long its rows are is known when they are done, so parts of it have memory
 * of their own, which grows, and are put together at the end. To count first takes as long as to
 * compute: rows of P are short, and most of the work is to find where a number belongs.
 */
#include "precon/amg/amg.h"

#include <omp.h>

enum {
    SHARES = 8,
    LEAST = 4096
}; /* parts for each thread; entries that one has room for at first */

typedef struct part {
    range rows;
    int64_t count, room;
    int32_t *columns;
    void *values;
} part;

typedef struct product {
    spry_context *ctx;
    const precon_kernels *kernels;
    spry_type type;
    int threads, parts;
    part *part;
    amg_galerkin_job *jobs; /* one per thread */
    int32_t *lengths;
} product;

static void clear(product *p)
{
    for (int k = 0; p->part && k < p->parts; k++) {
        base_free(p->ctx, p->part[k].columns);
        base_free(p->ctx, p->part[k].values);
    }
    for (int t = 0; p->jobs && t < p->threads; t++) {
        amg_galerkin_job *job = &p->jobs[t];
        base_free(p->ctx, job->fine.mark);
        base_free(p->ctx, job->fine.list);
        base_free(p->ctx, job->fine_sums);
        base_free(p->ctx, job->coarse.mark);
        base_free(p->ctx, job->coarse.list);
        base_free(p->ctx, job->sums);
    }
    base_free(p->ctx, p->part);
    base_free(p->ctx, p->jobs);
    base_free(p->ctx, p->lengths);
}

/* The most sums that a row of R A can have. */
static int64_t widest(const product *p, const spry_matrix *R, const spry_matrix *A)
{
    int64_t most = 0;
#pragma omp parallel for num_threads(p->threads) schedule(static) reduction(max : most)
    for (int64_t i = 0; i < R->a.rows; i++) {
        int64_t sum = 0;
        for (int64_t k = R->a.offsets[i]; k < R->a.offsets[i + 1]; k++)
            sum += A->a.offsets[R->a.col_index[k] + 1] - A->a.offsets[R->a.col_index[k]];
        most = sum > most ? sum : most;
    }
    return most < A->a.cols ? most : A->a.cols;
}

/* Places for columns of which a row has `most` at most, and their sums. */
static spry_status make_places(const product *p, int64_t cols, int64_t most, amg_places *at,
                               void **sums)
{
    spry_status status = SPRY_STATUS_OK;
    at->cols = (int32_t)cols;
    SPRY_GO(p->ctx, base_calloc(p->ctx, cols, sizeof *at->mark, &at->mark));
    SPRY_GO(p->ctx, base_alloc(p->ctx, most + 1, sizeof *at->list, &at->list));
    SPRY_GO(p->ctx, base_alloc(p->ctx, most + 1, spry_type_size(p->type), sums));
done:
    return status;
}

static spry_status prepare(product *p, const spry_matrix *R, const spry_matrix *A,
                           const spry_matrix *P)
{
    spry_context *ctx = p->ctx;
    const int64_t most = widest(p, R, A);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, p->parts, sizeof *p->part, &p->part));
    SPRY_GO(ctx, base_calloc(ctx, p->threads, sizeof *p->jobs, &p->jobs));
    SPRY_GO(ctx, base_alloc(ctx, R->a.rows, sizeof *p->lengths, &p->lengths));
    for (int t = 0; t < p->threads; t++) {
        amg_galerkin_job *job = &p->jobs[t];
        *job = (amg_galerkin_job){.R = {R->a.offsets, R->a.col_index, R->a.values},
                                  .A = {A->a.offsets, A->a.col_index, A->a.values},
                                  .P = {P->a.offsets, P->a.col_index, P->a.values},
                                  .lengths = p->lengths};
        SPRY_GO(ctx, make_places(p, A->a.cols, most, &job->fine, &job->fine_sums));
        SPRY_GO(ctx, make_places(p, P->a.cols, P->a.cols, &job->coarse, &job->sums));
    }
    for (int k = 0; k < p->parts; k++)
        p->part[k].rows = matrix_rows_of_part(R->a.offsets, R->a.rows, p->parts, k);
done:
    return status;
}

/* Twice the room, and enough for `more` entries. */
static spry_status grow(const product *p, part *of, int64_t more)
{
    const size_t size = spry_type_size(p->type);
    const int64_t room = 2 * of->room + LEAST + more;
    int32_t *columns = NULL;
    void *values = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, base_alloc(p->ctx, room, sizeof *columns, &columns));
    SPRY_GO(p->ctx, base_alloc(p->ctx, room, size, &values));
    if (of->count > 0) {
        memcpy(columns, of->columns, (size_t)of->count * sizeof *columns);
        memcpy(values, of->values, (size_t)of->count * size);
    }
    base_free(p->ctx, of->columns);
    base_free(p->ctx, of->values);
    of->columns = columns;
    of->values = values;
    of->room = room;
    return SPRY_STATUS_OK;
done:
    base_free(p->ctx, columns);
    base_free(p->ctx, values);
    return status;
}

/* All rows of a part. Contexts serve one thread at a time, so memory is asked for in turn. */
static spry_status run_part(const product *p, part *of, amg_galerkin_job *job)
{
    spry_status status = SPRY_STATUS_OK;
    for (int64_t row = of->rows.begin; row < of->rows.end && status == SPRY_STATUS_OK;) {
        job->columns = of->columns;
        job->values = of->values;
        job->room = of->room;
        job->count = of->count;
        row = p->kernels->amg_galerkin(job, row, of->rows.end);
        of->count = job->count;
        if (row == of->rows.end)
            break;
#pragma omp critical(amg_galerkin_memory)
        status = grow(p, of, job->coarse.found);
    }
    return status;
}

static spry_status put_together(const product *p, matrix_arrays *c)
{
    spry_context *ctx = p->ctx;
    const size_t size = spry_type_size(p->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, c->rows + 1, sizeof *c->offsets, &c->offsets));
    c->offsets[0] = 0;
    for (int64_t i = 0; i < c->rows; i++)
        c->offsets[i + 1] = c->offsets[i] + p->lengths[i];
    c->nnz = c->offsets[c->rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, c));
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1)
    for (int k = 0; k < p->parts; k++) {
        const part *of = &p->part[k];
        const int64_t at = c->offsets[of->rows.begin];
        if (of->count == 0)
            continue;
        memcpy(c->col_index + at, of->columns, (size_t)of->count * sizeof *of->columns);
        memcpy((char *)c->values + (size_t)at * size, of->values, (size_t)of->count * size);
    }
done:
    return status;
}

spry_status amg_galerkin(const spry_matrix *R, const spry_matrix *A, const spry_matrix *P,
                         spry_matrix **C)
{
    spry_context *ctx = A->ctx;
    product p = {.ctx = ctx,
                 .kernels = precon_kernels_for(ctx, A->a.type),
                 .type = A->a.type,
                 .threads = host_threads(ctx, A->a.nnz)};
    matrix_arrays c = {
        .format = SPRY_FORMAT_CSR, .type = p.type, .rows = R->a.rows, .cols = P->a.cols};
    spry_status status = SPRY_STATUS_OK;
    p.parts = p.threads == 1 ? 1 : SHARES * p.threads;
    SPRY_GO(ctx, prepare(&p, R, A, P));
#pragma omp parallel for num_threads(p.threads) schedule(dynamic, 1)
    for (int k = 0; k < p.parts; k++) {
        if (spry_context_interrupted(ctx, false))
            continue;
        const spry_status result = run_part(&p, &p.part[k], &p.jobs[omp_get_thread_num()]);
        if (result != SPRY_STATUS_OK) {
#pragma omp critical(amg_galerkin_memory)
            status = result;
        }
    }
    if (status == SPRY_STATUS_OK)
        status = base_go_on(ctx, "product R A P");
    if (status == SPRY_STATUS_OK)
        SPRY_GO(ctx, put_together(&p, &c));
done:
    clear(&p);
    return matrix_finish(ctx, status, &c, C);
}
