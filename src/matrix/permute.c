/* Permuting rows and columns. */
#include "matrix/entries.h"

/* Fails at the first fault of what is no permutation. */
static spry_status find_fault(spry_context *ctx, const char *name, const int32_t *perm, int64_t n,
                              int32_t *inverse)
{
    spry_status status = SPRY_STATUS_OK;
    memset(inverse, 0xff, (size_t)n * sizeof *inverse); /* -1: not seen */
    for (int64_t i = 0; i < n; i++) {
        if (perm[i] < 0 || perm[i] >= n)
            SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                                   "%s[%" PRId64 "] is %d, which is outside 0..%" PRId64, name, i,
                                   perm[i], n - 1));
        if (inverse[perm[i]] >= 0)
            SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                                   "%s is not a permutation: %d is at %d and at %" PRId64, name,
                                   perm[i], inverse[perm[i]], i));
        inverse[perm[i]] = (int32_t)i;
    }
done:
    return status;
}

spry_status matrix_invert(spry_context *ctx, const char *name, const int32_t *perm, int64_t n,
                          int32_t **inverse)
{
    const int parts = matrix_parts(ctx, n);
    int64_t faults = 0;
    const spry_status status = base_alloc(ctx, n, sizeof **inverse, inverse);
    if (status != SPRY_STATUS_OK)
        return status;
    int32_t *to = *inverse;
#pragma omp parallel for num_threads(parts) schedule(static) reduction(+ : faults)
    for (int64_t i = 0; i < n; i++) {
        const bool inside = perm[i] >= 0 && perm[i] < n;
        faults += !inside;
        if (inside) {
#pragma omp atomic write /* two may have one place */
            to[perm[i]] = (int32_t)i;
        }
    }
    /* Of two that have one place, one does not find itself at it. */
#pragma omp parallel for num_threads(parts) schedule(static) reduction(+ : faults)
    for (int64_t i = 0; i < n; i++)
        faults += perm[i] >= 0 && perm[i] < n && to[perm[i]] != i;
    return faults == 0 ? SPRY_STATUS_OK : find_fault(ctx, name, perm, n, to);
}

/* The entries with their new indices, as COO. */
static void renumber(const spry_context *ctx, const matrix_arrays *a, const int32_t *new_row,
                     const int32_t *new_col, const matrix_arrays *to)
{
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        entry_loop w;
        entry_loop_start(&w, a, base_share(a->nnz, parts, part, 1));
        while (entry_loop_next(&w))
            for (int i = 0; i < w.count; i++) {
                to->row_index[w.first + i] = new_row ? new_row[w.row[i]] : w.row[i];
                to->col_index[w.first + i] = new_col ? new_col[w.col[i]] : w.col[i];
            }
    }
    matrix_copy_bytes(ctx, to->values, a->values, (size_t)a->nnz * spry_type_size(a->type));
}

/* What is read soon: rows that are all over memory. */
ALWAYS_INLINE void prefetch_rows(const matrix_arrays *a, const int32_t *row_perm,
                                 const int32_t *new_col, size_t size, int64_t i)
{
    enum { NEAR = 8, FAR = 2 * NEAR, FARTHEST = 2 * FAR };
    if (i + FARTHEST >= a->rows)
        return;
    __builtin_prefetch(&a->offsets[row_perm[i + FARTHEST]]);
    const int64_t far = a->offsets[row_perm[i + FAR]];
    __builtin_prefetch(&a->col_index[far]);
    __builtin_prefetch((const char *)a->values + (size_t)far * size);
    const int32_t row = row_perm[i + NEAR];
    const int64_t most = a->offsets[row] + FAR, end = a->offsets[row + 1];
    for (int64_t k = a->offsets[row]; new_col && k < end && k < most; k++)
        __builtin_prefetch(&new_col[a->col_index[k]]);
}

/* Rows of general CSR, each as it was with its new columns. */
static spry_status move_rows(spry_context *ctx, const matrix_arrays *a, const int32_t *row_perm,
                             const int32_t *new_col, matrix_arrays *to)
{
    const size_t size = spry_type_size(a->type);
    const int parts = matrix_parts(ctx, a->nnz + a->rows);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_allocate(ctx, to));
    to->offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t old = row_perm ? row_perm[i] : i;
        to->offsets[i + 1] = a->offsets[old + 1] - a->offsets[old];
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, to->offsets, a->rows));
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        if (row_perm)
            prefetch_rows(a, row_perm, new_col, size, i);
        const int64_t from = a->offsets[row_perm ? row_perm[i] : i], at = to->offsets[i];
        const int64_t count = to->offsets[i + 1] - at;
        for (int64_t k = 0; k < count; k++)
            to->col_index[at + k] =
                new_col ? new_col[a->col_index[from + k]] : a->col_index[from + k];
        memcpy((char *)to->values + (size_t)at * size,
               (const char *)a->values + (size_t)from * size, (size_t)count * size);
    }
done:
    if (status != SPRY_STATUS_OK)
        matrix_free_arrays(ctx, to);
    return status;
}

/* Entries of a symmetric kind that came above the diagonal change place with their mirror image. */
static void mirror_down(const spry_context *ctx, const matrix_arrays *a)
{
    const int parts = matrix_parts(ctx, a->nnz);
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t k = 0; k < a->nnz; k++) {
        const int32_t row = a->row_index[k], col = a->col_index[k];
        if (row >= col)
            continue;
        a->row_index[k] = col;
        a->col_index[k] = row;
        spry_scalar v = value_load(a->type, a->values, k);
        if (a->symmetry == SPRY_SYMMETRY_SKEW)
            v = (spry_scalar){-v.re, -v.im};
        if (a->symmetry == SPRY_SYMMETRY_HERMITIAN)
            v.im = -v.im;
        value_store(a->type, a->values, k, v);
    }
}

/* Whether both permutations are the same, NULL being the identity. */
static bool same_permutation(const int32_t *p, const int32_t *q, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if ((p ? p[i] : i) != (q ? q[i] : i))
            return false;
    return true;
}

spry_status spry_matrix_permute(const spry_matrix *A, const int32_t *row_perm,
                                const int32_t *col_perm, spry_matrix **B)
{
    SPRY_NEED(CTX_OF(A), A, B);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    int32_t *new_row = NULL, *new_col = NULL;
    spry_matrix *full = NULL;
    bool same = false;
    *B = NULL;
    if (row_perm)
        SPRY_GO(ctx, matrix_invert(ctx, "row_perm", row_perm, A->a.rows, &new_row));
    if (col_perm && col_perm == row_perm && A->a.rows == A->a.cols)
        new_col = new_row;
    else if (col_perm)
        SPRY_GO(ctx, matrix_invert(ctx, "col_perm", col_perm, A->a.cols, &new_col));
    same = A->a.rows == A->a.cols && same_permutation(row_perm, col_perm, A->a.rows);
    if (A->a.symmetry != SPRY_SYMMETRY_GENERAL && !same) {
        SPRY_GO(ctx, spry_matrix_expand(A, &full));
        A = full;
    }
    const bool by_rows = A->a.format == SPRY_FORMAT_CSR && A->a.symmetry == SPRY_SYMMETRY_GENERAL;
    matrix_arrays to = matrix_like(&A->a, by_rows ? SPRY_FORMAT_CSR : SPRY_FORMAT_COO);
    if (by_rows) {
        SPRY_GO(ctx, move_rows(ctx, &A->a, row_perm, new_col, &to));
    } else {
        SPRY_GO(ctx, matrix_allocate(ctx, &to));
        renumber(ctx, &A->a, new_row, new_col, &to);
    }
    if (to.symmetry != SPRY_SYMMETRY_GENERAL)
        mirror_down(ctx, &to);
    SPRY_GO(ctx, matrix_wrap(ctx, &to, B));
    SPRY_GO(ctx, matrix_become(*B, A->a.format));
    SPRY_GO(ctx, spry_matrix_sort(*B));
    matrix_carry(A, *B,
                 same ? FACTS_BUT_ORDER : FACT_BIT(SPRY_FACT_UNIQUE) | FACT_BIT(SPRY_FACT_FINITE));
done:
    spry_matrix_free(full);
    if (new_col != new_row)
        base_free(ctx, new_col);
    base_free(ctx, new_row);
    return matrix_drop_failed(status, B);
}
