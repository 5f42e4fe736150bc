/* A warning about matrices that have no inverse for a reason that is seen at once. Some kinds make
 * the best of them, and what they make is singular, too. */
#include "precon/precon.h"

static bool is_zero(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    return v.re == 0 && v.im == 0;
}

/* The first row whose diagonal entry is zero or missing; rows are sorted. */
static int64_t first_without_diagonal(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    int64_t first = a->rows;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->rows)) reduction(min : first)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t at = matrix_find_diagonal(a, i);
        const bool found = at >= 0 && !is_zero(a, at);
        first = found || i >= first ? first : i;
    }
    return first;
}

/* The first row, or column, with nothing but zeros, from `begin` on; a->rows: there is none. */
static spry_status find_empty(const spry_matrix *A, int64_t begin, int64_t *row, int64_t *column)
{
    const matrix_arrays *a = &A->a;
    bool *met = NULL;
    const spry_status status = base_calloc(A->ctx, a->rows, sizeof *met, &met);
    if (status != SPRY_STATUS_OK)
        return status;
    *row = *column = a->rows;
    for (int64_t i = 0; i < a->rows; i++) {
        bool empty = true;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            if (is_zero(a, k))
                continue;
            empty = false;
            met[a->col_index[k]] = true;
        }
        *row = empty && i < *row ? i : *row;
    }
    for (int64_t j = a->rows - 1; j >= begin; j--)
        *column = met[j] ? *column : j;
    base_free(A->ctx, met);
    return SPRY_STATUS_OK;
}

spry_status precon_warn_singular(const spry_matrix *A, const char *name)
{
    /* A row, or column, of zeros has one on the diagonal, which most matrices have nowhere. */
    const int64_t begin = first_without_diagonal(A), n = A->a.rows;
    int64_t row, column;
    if (begin == n)
        return SPRY_STATUS_OK;
    const spry_status status = find_empty(A, begin, &row, &column);
    if (status != SPRY_STATUS_OK || (row == n && column == n))
        return status;
    base_log(A->ctx, SPRY_LOG_WARNING,
             "precon %s: %s %" PRId64
             " (from 0) of the matrix has nothing but zeros, so that it has no inverse, and what "
             "is made of it may have none; leave that unknown out, or give it a diagonal entry",
             name, row < n ? "row" : "column", row < n ? row : column);
    return SPRY_STATUS_OK;
}
