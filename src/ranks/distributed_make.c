/* The class of distributed matrices, and making them from a rank's own rows or from all rows. */
#include "ranks/operator.h"

static spry_status make_operator(const spry_matrix *A, spry_status made, spry_operator *own,
                                 spry_operator **op)
{
    return dist_operator(A, NULL, made, own, op);
}

static const dist_class matrix_class = {.free = dist_free,
                                        .find_out = dist_find_out,
                                        .check_values = dist_check_values,
                                        .set_values = dist_set_values,
                                        .make_operator = make_operator};

spry_status dist_make(spry_context *ctx, const dist_rows *mine, spry_matrix **A)
{
    return dist_make_as(ctx, &matrix_class, mine, A);
}

static spry_status take_rows(const spry_matrix *whole, const int64_t *row_starts,
                             const int64_t *col_starts, dist_rows *m, int64_t **offsets,
                             int64_t **columns)
{
    spry_context *ctx = whole->ctx;
    const matrix_arrays *a = &whole->a;
    const int rank = team_rank(ctx);
    const int64_t first = row_starts[rank], rows = row_starts[rank + 1] - first;
    const int64_t begin = a->offsets[first], nnz = a->offsets[first + rows] - begin;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof **offsets, offsets));
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof **columns, columns));
    for (int64_t i = 0; i <= rows; i++)
        (*offsets)[i] = a->offsets[first + i] - begin;
    for (int64_t k = 0; k < nnz; k++)
        (*columns)[k] = a->col_index[begin + k];
    *m = (dist_rows){.type = a->type,
                     .rows = rows,
                     .cols = col_starts[rank + 1] - col_starts[rank],
                     .offsets = *offsets,
                     .columns = *columns,
                     .values = (const char *)a->values + (size_t)begin * spry_type_size(a->type)};
done:
    return status;
}

spry_status dist_from_whole(const spry_matrix *whole, const int64_t *row_starts,
                            const int64_t *col_starts, spry_matrix **A)
{
    spry_context *ctx = whole->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    int64_t *offsets = NULL, *columns = NULL;
    dist_rows m = {0};
    spry_status status = matrix_as_csr(whole, &csr, &owned);
    *A = NULL;
    if (status == SPRY_STATUS_OK)
        status = take_rows(csr, row_starts, col_starts ? col_starts : row_starts, &m, &offsets,
                           &columns);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, dist_make(ctx, &m, A));
done:
    base_free(ctx, offsets);
    base_free(ctx, columns);
    spry_matrix_free(owned);
    return status;
}
