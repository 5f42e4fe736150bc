/* Distributed matrices and vectors as callers see them. */
#include "ranks/distributed.h"

spry_status spry_matrix_new_ranked(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                                   const int64_t *offsets, const int64_t *columns,
                                   const void *values, spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, A);
    static const int64_t none = 0;
    *A = NULL;
    const dist_rows mine = {.type = type,
                            .rows = rows,
                            .cols = cols < 0 ? rows : cols,
                            .offsets = rows == 0 && !offsets ? &none : offsets,
                            .columns = columns,
                            .values = values};
    spry_status status = base_check_type(ctx, type);
    if (status == SPRY_STATUS_OK && rows < 0)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a rank cannot have %" PRId64 " rows", rows);
    else if (status == SPRY_STATUS_OK &&
             (!mine.offsets || (mine.offsets[rows] != 0 && (!columns || !values))))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "offsets, columns or values of %" PRId64 " rows are NULL", rows);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_alike(ctx, "the type of a matrix", type));
    SPRY_GO(ctx, dist_make(ctx, &mine, A));
done:
    return status;
}

spry_status spry_matrix_ranked(const spry_matrix *A, spry_ranked *found)
{
    static const base_sized sized = BASE_SIZED(spry_ranked, neighbours);
    SPRY_NEED(CTX_OF(A), A, found);
    const spry_status status = base_blank(A->ctx, found, &sized);
    if (status != SPRY_STATUS_OK)
        return status;
    const vector_part rows = dist_own_rows(A), cols = dist_own_cols(A);
    const distributed *s = A->distributed;
    const spry_ranked all = {.first_row = rows.first,
                             .first_col = cols.first,
                             .rows = s ? rows.all : A->a.rows,
                             .cols = s ? cols.all : A->a.cols,
                             .nnz = s ? s->nnz : A->a.nnz,
                             .received = s ? s->ghosts : 0,
                             .sent = s ? s->sent_count : 0,
                             .neighbours = s ? s->receives : 0};
    base_give(found, &all, &sized);
    return SPRY_STATUS_OK;
}

/* --- whole, on every rank ------------------------------------------------------------------------
 */

/* Cuts rows so that each rank has about as many entries; a row counts as two more. */
static void cut_rows(spry_context *ctx, const matrix_arrays *a, int64_t *starts)
{
    const int ranks = team_ranks(ctx);
    const int64_t grain = ctx->options.repeat == REPEAT_STRICT ? VECTOR_CHUNK : 1;
    const double all = (double)a->nnz + 2 * (double)a->rows;
    int64_t row = 0;
    for (int r = 0; r <= ranks; r++) {
        while (row < a->rows && (double)(a->offsets[row] + 2 * row) < all * r / ranks)
            row++;
        starts[r] = r == ranks ? a->rows : (row + grain / 2) / grain * grain;
        starts[r] = starts[r] < a->rows ? starts[r] : a->rows;
    }
}

static void cut_evenly(spry_context *ctx, int64_t n, int64_t *starts)
{
    const int ranks = team_ranks(ctx);
    const int64_t grain = ctx->options.repeat == REPEAT_STRICT ? VECTOR_CHUNK : 1;
    for (int r = 0; r <= ranks; r++)
        starts[r] = r == ranks ? n : base_share(n, ranks, r, grain).begin;
}

spry_status spry_matrix_distribute(const spry_matrix *whole, spry_matrix **A)
{
    SPRY_NEED(CTX_OF(whole), whole, A);
    spry_context *ctx = whole->ctx;
    const int ranks = team_ranks(ctx);
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    int64_t *starts = NULL;
    *A = NULL;
    matrix_follow(whole);
    spry_status status = matrix_as_csr(whole, &csr, &owned);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, 2 * (ranks + 1), sizeof *starts, &starts);
    SPRY_GO(ctx, team_agree(ctx, status));
    int64_t *col_starts = csr->a.rows == csr->a.cols ? starts : starts + ranks + 1;
    cut_rows(ctx, &csr->a, starts);
    if (col_starts != starts)
        cut_evenly(ctx, csr->a.cols, col_starts);
    SPRY_GO(ctx, dist_from_whole(csr, starts, col_starts, A));
done:
    base_free(ctx, starts);
    spry_matrix_free(owned);
    return status;
}

spry_status spry_vector_collect(const spry_vector *mine, spry_vector **all)
{
    SPRY_NEED(CTX_OF(mine), mine, all);
    spry_context *ctx = mine->ctx;
    const int ranks = team_ranks(ctx);
    const int64_t size = (int64_t)spry_type_size(mine->type);
    int64_t *starts = NULL, *bytes = NULL;
    spry_vector *copy = NULL;
    const spry_vector *on_host = NULL;
    char *sent = NULL;
    *all = NULL;
    spry_status status = vector_on_host(mine, &on_host, &copy);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, 2 * ranks, sizeof *bytes, &bytes);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, ranks * mine->n, (size_t)size, &sent);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_offsets(ctx, mine->n, &starts));
    status = spry_vector_new(ctx, mine->type, starts[ranks], NULL, SPRY_OWN_COPY, all);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int r = 0; r < ranks; r++) {
        bytes[r] = mine->n * size;
        bytes[ranks + r] = (starts[r + 1] - starts[r]) * size;
        if (bytes[r] > 0)
            memcpy(sent + r * bytes[r], on_host->data, (size_t)bytes[r]);
    }
    SPRY_GO(ctx, team_swap(ctx, bytes, sent, bytes + ranks, (*all)->data));
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*all);
        *all = NULL;
    }
    base_free(ctx, sent);
    base_free(ctx, starts);
    base_free(ctx, bytes);
    spry_vector_free(copy);
    return status;
}
