/* METIS works on one rank, the first, which sends the others the result. */
#include "ranks/pattern.h"

#include "matrix/algebra/algebra.h"

/* The whole pattern as a matrix of zeros; rows of other ranks are empty. */
static spry_status wrap_pattern(spry_context *ctx, ranks_rows *rows, spry_matrix **A)
{
    const int64_t nnz = rows->offsets[rows->rows];
    matrix_arrays a = {.type = SPRY_TYPE_S,
                       .format = SPRY_FORMAT_CSR,
                       .rows = rows->rows,
                       .cols = rows->rows,
                       .nnz = nnz,
                       .offsets = rows->offsets};
    spry_status status = SPRY_STATUS_OK;
    rows->offsets = NULL;
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof *a.col_index, &a.col_index));
    SPRY_GO(ctx, base_calloc(ctx, nnz, sizeof(float), &a.values));
    for (int64_t k = 0; k < nnz; k++)
        a.col_index[k] = (int32_t)rows->columns[k];
    status = matrix_wrap(ctx, &a, A);
    a = (matrix_arrays){0};
done:
    matrix_free_arrays(ctx, &a);
    return status;
}

/* All rows to the first rank; the values are bytes without a meaning. */
static spry_status gather_pattern(spry_context *ctx, const ranks_given *g, const int64_t *numbers,
                                  int64_t *first, ranks_rows *rows)
{
    ranks_entries e = {.type = SPRY_TYPE_S,
                       .count = g->rows > 0 ? g->offsets[g->rows] : 0,
                       .col = (int64_t *)g->columns};
    spry_status status = base_alloc(ctx, e.count, sizeof *e.row, &e.row);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, e.count, sizeof(float), &e.values);
    if (status == SPRY_STATUS_OK && g->all_rows > INT32_MAX)
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "a partition by the graph is made by one rank, which can have %d rows "
                           "and not %" PRId64 "; cut by work instead",
                           INT32_MAX, g->all_rows);
    SPRY_GO(ctx, team_agree(ctx, status));
    first[0] = 0;
    for (int r = 0; r < team_ranks(ctx); r++)
        first[r + 1] = g->all_rows;
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t k = g->offsets[i]; k < g->offsets[i + 1]; k++)
            e.row[k] = numbers[i];
    SPRY_GO(ctx, ranks_gather_rows(ctx, &e, first, g->all_cols, rows));
done:
    base_free(ctx, e.row);
    base_free(ctx, e.values);
    return status;
}

/* On the first rank alone. */
static spry_status number_all(spry_context *ctx, ranks_rows *rows, const ranks_wish *wish,
                              int64_t *first, int64_t *number)
{
    spry_matrix *A = NULL;
    int32_t *owner = NULL;
    spry_status status = SPRY_STATUS_OK;
    const int64_t n = rows->rows;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *owner, &owner));
    SPRY_GO(ctx, wrap_pattern(ctx, rows, &A));
    SPRY_GO(ctx, partition_graph(A, team_ranks(ctx), wish->shares, owner));
    partition_number(n, owner, team_ranks(ctx), first, number);
done:
    spry_matrix_free(A);
    base_free(ctx, owner);
    return status;
}

/* Pieces of the first rank's array to all, by blocks. */
static spry_status scatter(spry_context *ctx, const int64_t *blocks, const int64_t *all,
                           int64_t *block)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    int64_t *send = NULL, *receive = NULL;
    spry_status status = base_calloc(ctx, ranks, sizeof *send, &send);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, ranks, sizeof *receive, &receive);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int r = 0; me == 0 && r < ranks; r++)
        send[r] = (blocks[r + 1] - blocks[r]) * (int64_t)sizeof *all;
    receive[0] = (blocks[me + 1] - blocks[me]) * (int64_t)sizeof *block;
    SPRY_GO(ctx, team_swap(ctx, send, all, receive, block));
done:
    base_free(ctx, send);
    base_free(ctx, receive);
    return status;
}

spry_status ranks_number_by_graph(spry_context *ctx, const ranks_given *given,
                                  const int64_t *numbers, const ranks_wish *wish,
                                  const int64_t *blocks, int64_t *first, int64_t *block)
{
    ranks_rows rows = {0};
    int64_t *number = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, gather_pattern(ctx, given, numbers, first, &rows));
    status = base_alloc(ctx, rows.rows, sizeof *number, &number);
    if (status == SPRY_STATUS_OK && team_rank(ctx) == 0)
        status = number_all(ctx, &rows, wish, first, number);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, first, (team_ranks(ctx) + 1) * (int64_t)sizeof *first));
    SPRY_GO(ctx, scatter(ctx, blocks, number, block));
done:
    ranks_rows_clear(ctx, &rows);
    base_free(ctx, number);
    return status;
}
