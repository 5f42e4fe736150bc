/*
 * Products of sparse matrices in two phases: rows of C are counted, then made. Rows are distributed
 * to threads so that each has as many multiplications; a row is the work of one thread, and how it
 * is made follows from A and B alone.
 */
#include "matrix/algebra/algebra.h"

#include "host/product.h"
#include "matrix/entries.h"

#include <omp.h>

enum { SHARES = 16 }; /* parts for each thread, so that the last to finish is not late */

typedef struct product {
    spry_context *ctx;
    const host_kernels *kernels;
    product_job job;
    int64_t rows;
    int threads, parts;
    int64_t *work;         /* before each row, rows + 1 */
    int64_t places, slots; /* the largest tables that a row needs */
    product_table *tables; /* one per thread */
} product;

static range rows_of(const product *p, int part)
{
    return matrix_rows_of_part(p->work, p->rows, p->parts, part);
}

/* How much work each row is, and how large its table. */
static spry_status look(product *p)
{
    /* The sum over all rows must not overflow, and rows that are so long are parts by themselves.
     */
    const int64_t most = UINT32_MAX;
    int64_t places = 0, slots = 0;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 4096) \
    reduction(max                                                        \
              : places, slots)
    for (int64_t i = 0; i < p->rows; i++) {
        const product_row row = product_look(&p->job, i);
        const int64_t work = row.work + p->job.A.offsets[i + 1] - p->job.A.offsets[i];
        p->work[i + 1] = work < most ? work : most;
        if (row.first > row.last)
            continue;
        const int64_t size = row.window ? product_places(&row) : product_slots(row.bound);
        int64_t *largest = row.window ? &places : &slots;
        *largest = size > *largest ? size : *largest;
    }
    p->places = places;
    p->slots = slots;
    p->work[0] = 0;
    return base_prefix_sum(p->ctx, p->work, p->rows);
}

static spry_status make_tables(product *p)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, base_calloc(p->ctx, p->threads, sizeof *p->tables, &p->tables));
    for (int i = 0; i < p->threads; i++) {
        product_table *t = &p->tables[i];
        t->places = p->places;
        t->slots = p->slots;
        SPRY_GO(p->ctx, base_calloc(p->ctx, p->places / 64, sizeof *t->marks, &t->marks));
        SPRY_GO(p->ctx,
                base_calloc(p->ctx, p->places / PRODUCT_GROUP, sizeof *t->groups, &t->groups));
        SPRY_GO(p->ctx, base_alloc(p->ctx, p->slots, sizeof *t->keys, &t->keys));
        memset(t->keys, 0xff, (size_t)p->slots * sizeof *t->keys);
    }
done:
    return status;
}

static void free_tables(const product *p)
{
    for (int i = 0; p->tables && i < p->threads; i++) {
        base_free(p->ctx, p->tables[i].marks);
        base_free(p->ctx, p->tables[i].groups);
        base_free(p->ctx, p->tables[i].keys);
        base_free(p->ctx, p->tables[i].list);
        base_free(p->ctx, p->tables[i].sums);
    }
    base_free(p->ctx, p->tables);
}

static int64_t count_window(const product_job *job, int64_t i, const product_row *row,
                            const product_table *t)
{
    const int64_t places = product_places(row), groups = places / PRODUCT_GROUP - 1;
    int64_t count = 0;
    for (int64_t k = job->A.offsets[i]; k < job->A.offsets[i + 1]; k++) {
        const range r = product_part(job, i, job->A.columns[k]);
        product_mark(t, (uint32_t)(places - 1), job->B.columns + r.begin, r.end - r.begin);
    }
    for (int64_t g = row->first / PRODUCT_GROUP; g <= row->last / PRODUCT_GROUP; g++) {
        uint64_t words = t->groups[g & groups];
        t->groups[g & groups] = 0;
        for (; words; words &= words - 1) {
            uint64_t *word = t->marks + (g & groups) * 64 + __builtin_ctzll(words);
            count += __builtin_popcountll(*word);
            *word = 0;
        }
    }
    return count;
}

static int64_t count_hash(const product_job *job, int64_t i, const product_row *row,
                          const product_table *t)
{
    const int64_t slots = product_slots(row->bound);
    const int shift = product_shift(slots);
    int64_t count = 0;
    for (int64_t k = job->A.offsets[i]; k < job->A.offsets[i + 1]; k++) {
        const range r = product_part(job, i, job->A.columns[k]);
        for (int64_t l = r.begin; l < r.end; l++) {
            const int32_t column = job->B.columns[l];
            const uint32_t slot = product_slot(t->keys, shift, (uint32_t)(slots - 1), column);
            count += t->keys[slot] < 0;
            t->keys[slot] = column;
        }
    }
    memset(t->keys, 0xff, (size_t)slots * sizeof *t->keys);
    return count;
}

static int64_t count_row(const product_job *job, int64_t i, const product_table *t)
{
    if (job->A.offsets[i + 1] - job->A.offsets[i] == 1) {
        const range r = product_part(job, i, job->A.columns[job->A.offsets[i]]);
        return r.end - r.begin;
    }
    const product_row row = product_look(job, i);
    if (row.first > row.last)
        return 0;
    return row.window ? count_window(job, i, &row, t) : count_hash(job, i, &row, t);
}

/* The offsets of C, and room in the tables for its numbers. */
static spry_status count_rows(const product *p, spry_type type)
{
    spry_status status = SPRY_STATUS_OK;
    int64_t *offsets = p->job.offsets, longest = 0;
    offsets[0] = 0;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1) reduction(max : longest)
    for (int part = 0; part < p->parts; part++) {
        const range rows = rows_of(p, part);
        for (int64_t i = rows.begin; i < rows.end; i++) {
            const bool same = i > rows.begin && product_same(&p->job, i);
            offsets[i + 1] =
                same ? offsets[i] : count_row(&p->job, i, &p->tables[omp_get_thread_num()]);
            longest = offsets[i + 1] > longest ? offsets[i + 1] : longest;
        }
    }
    SPRY_GO(p->ctx, base_prefix_sum(p->ctx, offsets, p->rows));
    longest = longest < p->slots / 2 ? longest : p->slots / 2; /* of rows by hash */
    const int64_t slots = p->slots > 0 ? product_slots(longest) : 0;
    const int64_t sums = p->places > slots ? p->places : slots;
    for (int i = 0; i < p->threads; i++) {
        product_table *t = &p->tables[i];
        SPRY_GO(p->ctx, base_calloc(p->ctx, sums, spry_type_size(type), &t->sums));
        if (slots > 0)
            SPRY_GO(p->ctx, base_alloc(p->ctx, 2 * longest, sizeof *t->list, &t->list));
    }
done:
    return status;
}

static void make_rows(const product *p)
{
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1)
    for (int part = 0; part < p->parts; part++) {
        const range rows = rows_of(p, part);
        p->kernels->csr_product(&p->job, rows.begin, rows.end, &p->tables[omp_get_thread_num()]);
    }
}

spry_status algebra_multiply(const spry_matrix *A, const spry_matrix *B, bool conjugate, bool lower,
                             spry_matrix **C)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays c = {
        .type = A->a.type, .format = SPRY_FORMAT_CSR, .rows = A->a.rows, .cols = B->a.cols};
    product p = {.ctx = ctx,
                 .kernels = host_kernels_for(ctx, A->a.type),
                 .job = {.A = {A->a.offsets, A->a.col_index, A->a.values},
                         .B = {B->a.offsets, B->a.col_index, B->a.values},
                         .conjugate = conjugate,
                         .lower = lower},
                 .rows = A->a.rows,
                 .threads = matrix_parts(ctx, A->a.nnz)};
    p.parts = p.threads == 1 ? 1 : SHARES * p.threads;
    if (lower)
        c.symmetry = conjugate ? SPRY_SYMMETRY_HERMITIAN : SPRY_SYMMETRY_SYMMETRIC;
    SPRY_GO(ctx, base_alloc(ctx, p.rows + 1, sizeof *c.offsets, &c.offsets));
    SPRY_GO(ctx, base_alloc(ctx, p.rows + 1, sizeof *p.work, &p.work));
    SPRY_GO(ctx, look(&p));
    SPRY_GO(ctx, make_tables(&p));
    p.job.offsets = c.offsets;
    SPRY_GO(ctx, count_rows(&p, c.type));
    c.nnz = c.offsets[p.rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &c));
    p.job.columns = c.col_index;
    p.job.values = c.values;
    make_rows(&p);
done:
    free_tables(&p);
    base_free(ctx, p.work);
    status = matrix_finish(ctx, status, &c, C);
    if (status == SPRY_STATUS_OK)
        matrix_note_all(*C, FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE));
    return status;
}

double algebra_multiply_work(const spry_matrix *A, const spry_matrix *B)
{
    const int64_t *offsets = B->a.offsets;
    const int parts = matrix_parts(A->ctx, A->a.nnz);
    double work =
        0; /* whole numbers, so exact in any order, up to 2^53; beyond, an estimate serves */
#pragma omp parallel for num_threads(parts) schedule(static) reduction(+ : work)
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const int32_t j = A->a.col_index[k];
        work += (double)(offsets[j + 1] - offsets[j]);
    }
    return work;
}

spry_status spry_matrix_multiply(const spry_matrix *A, const spry_matrix *B, spry_matrix **C)
{
    SPRY_NEED(CTX_OF_ANY(A, B), A, B, C);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *a = NULL, *b = NULL;
    spry_matrix *own_a = NULL, *own_b = NULL;
    *C = NULL;
    SPRY_GO(ctx, algebra_check_pair("product", A, B));
    if (A->a.cols != B->a.rows)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "product: %" PRId64 " x %" PRId64 " times %" PRId64 " x %" PRId64
                         ": the columns of the first must be the rows of the second",
                         A->a.rows, A->a.cols, B->a.rows, B->a.cols);
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &a, &own_a));
    if (A == B)
        b = a;
    else
        SPRY_GO(ctx, matrix_as_sorted_csr(B, &b, &own_b));
    SPRY_GO(ctx, algebra_multiply(a, b, false, false, C));
done:
    spry_matrix_free(own_b);
    spry_matrix_free(own_a);
    return status;
}
