/* Layers of rows around a rank's own, and the matrix of all of them. */
#include "ranks/reach.h"

#include "matrix/entries.h"

void ranks_reach_clear(spry_context *ctx, ranks_reach *r)
{
    base_free(ctx, r->others);
    spry_matrix_free(r->A);
    *r = (ranks_reach){0};
}

/* All rows of the nodes that a list has rows of. */
static spry_status complete(spry_context *ctx, int block, ranks_reach *r)
{
    int64_t *all = NULL, n = 0;
    if (block == 1)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, r->count * block, sizeof *all, &all);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t k = 0; k < r->count; k++) {
        const int64_t node = r->others[k] / block;
        for (int b = 0; b < block && (k == 0 || r->others[k - 1] / block != node); b++)
            all[n++] = node * block + b;
    }
    base_free(ctx, r->others);
    r->others = all;
    r->count = n;
    return SPRY_STATUS_OK;
}

static spry_status add_layer(spry_context *ctx, const ranks_rows *rows, int block, ranks_reach *r)
{
    const spry_status status =
        ranks_list_outside(ctx, rows, r->begin, r->begin + r->own, &r->count, &r->others);
    return status == SPRY_STATUS_OK ? complete(ctx, block, r) : status;
}

static spry_status find_others(spry_context *ctx, const ranks_rows *mine, const int64_t *first,
                               int64_t layers, int block, ranks_reach *r)
{
    ranks_rows layer = {0};
    spry_status status = SPRY_STATUS_OK;
    if (layers > 0)
        SPRY_GO(ctx, team_agree(ctx, add_layer(ctx, mine, block, r)));
    for (int64_t k = 1; k < layers; k++) {
        SPRY_GO(ctx, ranks_fetch_rows(ctx, mine, first, r->count, r->others, &layer));
        status = add_layer(ctx, &layer, block, r);
        ranks_rows_clear(ctx, &layer);
        SPRY_GO(ctx, team_agree(ctx, status));
    }
    if (r->own + r->count > INT32_MAX)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "a rank would have %" PRId64 " rows with those of others around its "
                           "own; take more ranks",
                           r->own + r->count);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}

/* The place of a column; -1: it is out of reach. */
static int64_t place_of(const ranks_reach *r, int64_t column)
{
    if (column >= r->begin && column < r->begin + r->own)
        return column - r->begin;
    const int64_t found = ranks_find(r->others, r->count, column);
    return found < 0 ? -1 : r->own + found;
}

/* Appends rows without what is out of reach; without arrays it only counts. */
static void add_rows(const ranks_reach *r, const ranks_rows *rows, matrix_arrays *a, int64_t *row)
{
    const size_t size = spry_type_size(a->type);
    for (int64_t i = 0; i < rows->rows; i++, ++*row) {
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1]; k++) {
            const int64_t place = place_of(r, rows->columns[k]);
            if (place < 0)
                continue;
            if (a->offsets) {
                a->col_index[a->nnz] = (int32_t)place;
                element_move(size, a->values, a->nnz, rows->values, k);
            }
            a->nnz++;
        }
        if (a->offsets)
            a->offsets[*row + 1] = a->nnz;
    }
}

static spry_status make_matrix(spry_context *ctx, const ranks_rows *mine, const ranks_rows *theirs,
                               ranks_reach *r)
{
    const int64_t n = r->own + r->count;
    matrix_arrays a = {.type = mine->type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n};
    int64_t row = 0;
    spry_status status = SPRY_STATUS_OK;
    add_rows(r, mine, &a, &row);
    add_rows(r, theirs, &a, &row);
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    a.nnz = a.offsets[0] = row = 0;
    add_rows(r, mine, &a, &row);
    add_rows(r, theirs, &a, &row);
done:
    status = matrix_finish(ctx, status, &a, &r->A);
    return status == SPRY_STATUS_OK ? spry_matrix_sort(r->A) : status;
}

spry_status ranks_reach_make(const spry_matrix *A, int64_t layers, int block, ranks_reach *r)
{
    spry_context *ctx = A->ctx;
    ranks_rows mine = {0}, theirs = {0};
    const int64_t *first = A->distributed->row_starts;
    spry_status status = SPRY_STATUS_OK;
    *r = (ranks_reach){.begin = first[team_rank(ctx)], .own = A->a.rows};
    SPRY_GO(ctx, ranks_rows_of(A, &mine));
    SPRY_GO(ctx, find_others(ctx, &mine, first, layers, block, r));
    SPRY_GO(ctx, ranks_fetch_rows(ctx, &mine, first, r->count, r->others, &theirs));
    SPRY_GO(ctx, team_agree(ctx, make_matrix(ctx, &mine, &theirs, r)));
done:
    ranks_rows_clear(ctx, &mine);
    ranks_rows_clear(ctx, &theirs);
    if (status != SPRY_STATUS_OK)
        ranks_reach_clear(ctx, r);
    return status;
}
