/*
 * A level that all ranks have whole: each gets all parts of r, solves, and keeps its part of z.
 * They all compute the same, which takes no longer than one of them would, and no message back.
 */
#include "precon/amg/amg.h"

typedef struct gathered {
    spry_matrix *whole;
    spry_operator *M;
    int64_t *first;     /* row of each rank, and the end */
    int64_t most;       /* rows of a rank */
    char *mine, *parts; /* NULL: few ranks have any, and send to the others one by one */
    spry_vector *r, *z; /* whole */
    bool warmed[3];     /* products that all ranks have done once */
} gathered;

static void destroy(spry_operator *op)
{
    gathered *g = op->state;
    if (!g)
        return;
    spry_operator_free(g->M);
    spry_matrix_free(g->whole);
    base_free(op->ctx, g->first);
    base_free(op->ctx, g->mine);
    base_free(op->ctx, g->parts);
    spry_vector_free(g->r);
    spry_vector_free(g->z);
    base_free(op->ctx, g);
}

/* All parts of r, in their order. */
static spry_status bring(spry_context *ctx, const gathered *g, const spry_vector *r)
{
    const size_t size = spry_type_size(r->type);
    const int me = team_rank(ctx), ranks = team_ranks(ctx);
    char *all = g->r->data, *own = g->parts ? g->mine : all + (size_t)g->first[me] * size;
    spry_status status = SPRY_STATUS_OK;
    if (r->n > 0)
        memcpy(own, r->data, (size_t)r->n * size);
    if (g->parts)
        SPRY_GO(ctx, team_gather(ctx, own, g->most * (int64_t)size, g->parts));
    for (int k = 0; k < ranks; k++) {
        const int64_t bytes = (g->first[k + 1] - g->first[k]) * (int64_t)size;
        char *to = all + (size_t)g->first[k] * size;
        if (g->parts)
            memcpy(to, g->parts + (size_t)(k * g->most) * size, (size_t)bytes);
        else if (bytes > 0)
            SPRY_GO(ctx, team_share(ctx, k, to, bytes));
    }
done:
    return status;
}

static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z)
{
    gathered *g = op->state;
    const size_t size = spry_type_size(op->type);
    const int me = team_rank(op->ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, bring(op->ctx, g, r));
    status = spry_operator_multiply(g->M, transpose, (spry_scalar){1, 0}, g->r, (spry_scalar){0, 0},
                                    g->z);
    SPRY_GO(op->ctx, precon_warm(op->ctx, &g->warmed[transpose], status));
    if (z->n > 0)
        memcpy(z->data, (const char *)g->z->data + (size_t)g->first[me] * size,
               (size_t)z->n * size);
done:
    return status;
}

static const operator_class gathered_class = {.name = "gathered",
                                              .has_transpose = true,
                                              .multiply = operator_apply_arrays,
                                              .multiply_vectors = operator_apply_vectors,
                                              .apply = apply,
                                              .destroy = destroy};

const amg *amg_gathered_levels(const spry_operator *op)
{
    return op->class == &gathered_class ? ((const gathered *)op->state)->M->state : NULL;
}

/* A gather takes as much of every rank as the one with most rows has: that is wasted where a level
 * has moved to few of them. */
enum { FEW = 4 }; /* ranks for each that has rows */

static spry_status allocate(const spry_matrix *A, gathered *g)
{
    spry_context *ctx = A->ctx;
    const int ranks = team_ranks(ctx);
    const int64_t *starts = A->distributed->row_starts;
    const size_t size = spry_type_size(A->a.type);
    int with_rows = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < ranks; k++) {
        g->most = starts[k + 1] - starts[k] > g->most ? starts[k + 1] - starts[k] : g->most;
        with_rows += starts[k + 1] > starts[k];
    }
    SPRY_GO(ctx, base_alloc(ctx, ranks + 1, sizeof *g->first, &g->first));
    memcpy(g->first, starts, (size_t)(ranks + 1) * sizeof *g->first);
    if (FEW * with_rows > ranks) {
        SPRY_GO(ctx, base_calloc(ctx, g->most, size, &g->mine));
        SPRY_GO(ctx, base_alloc(ctx, ranks * g->most, size, &g->parts));
    }
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, starts[ranks], NULL, SPRY_OWN_COPY, &g->r));
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, starts[ranks], NULL, SPRY_OWN_COPY, &g->z));
done:
    return status;
}

spry_status amg_gathered(const spry_matrix *A, spry_matrix *whole, spry_operator *M,
                         spry_operator **out)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    gathered *g = NULL;
    *out = NULL;
    spry_status status = operator_new(ctx, &gathered_class, A->a.type, A->a.rows, A->a.rows, &op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *g, &g);
    if (status == SPRY_STATUS_OK) {
        op->state = g;
        g->whole = whole;
        g->M = M;
        whole = NULL;
        M = NULL;
        op->varies = g->M->varies;
        op->single = g->M->single;
        op->own_bytes = op->bytes = g->M->own_bytes;
        op->rows_part = op->cols_part = dist_own_rows(A);
        status = allocate(A, g);
    }
    SPRY_GO(ctx, team_agree(ctx, status));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    spry_operator_free(M);
    spry_matrix_free(whole);
    return status;
}

static spry_status wrap(spry_context *ctx, const ranks_rows *rows, spry_matrix **whole)
{
    matrix_arrays a = {.type = rows->type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = rows->rows,
                       .cols = rows->all_cols,
                       .nnz = rows->offsets[rows->rows]};
    const spry_status status = matrix_allocate(ctx, &a);
    if (status == SPRY_STATUS_OK) {
        memcpy(a.offsets, rows->offsets, (size_t)(a.rows + 1) * sizeof *a.offsets);
        for (int64_t k = 0; k < a.nnz; k++)
            a.col_index[k] = (int32_t)rows->columns[k];
        if (a.nnz > 0)
            memcpy(a.values, rows->values, (size_t)a.nnz * spry_type_size(a.type));
    }
    return matrix_finish(ctx, status, &a, whole);
}

spry_status amg_gather(const spry_matrix *A, spry_matrix **whole)
{
    spry_context *ctx = A->ctx;
    const int64_t *first = A->distributed->row_starts, n = first[team_ranks(ctx)];
    ranks_rows mine = {0}, all = {0};
    int64_t *numbers = NULL;
    spry_status status = SPRY_STATUS_OK;
    *whole = NULL;
    SPRY_GO(ctx, ranks_rows_of(A, &mine));
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, n, sizeof *numbers, &numbers)));
    for (int64_t i = 0; i < n; i++)
        numbers[i] = i;
    SPRY_GO(ctx, ranks_fetch_rows(ctx, &mine, first, n, numbers, &all));
    status = wrap(ctx, &all, whole);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_sort(*whole);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    ranks_rows_clear(ctx, &mine);
    ranks_rows_clear(ctx, &all);
    base_free(ctx, numbers);
    if (status != SPRY_STATUS_OK) {
        spry_matrix_free(*whole);
        *whole = NULL;
    }
    return status;
}
