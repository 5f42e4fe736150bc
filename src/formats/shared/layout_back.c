/* What a layout holds, as CSR and as a diagonal. */
#include "formats/shared/layout.h"
#include "matrix/entries.h"

static void count_entry(void *data, int64_t row, int64_t col, int64_t place)
{
    (void)col;
    (void)place;
    ((int64_t *)data)[row + 1]++;
}

typedef struct filling {
    const layout *L;
    const matrix_arrays *to;
    int64_t *at; /* where the next entry of each row goes */
} filling;

static void put_entry(void *data, int64_t row, int64_t col, int64_t place)
{
    const filling *f = data;
    const int64_t k = f->at[row]++;
    f->to->col_index[k] = (int32_t)col;
    value_store(f->to->type, f->to->values, k, layout_load(f->L, place));
}

spry_status layout_to_csr(const layout *L, spry_matrix **A)
{
    spry_context *ctx = L->ctx;
    matrix_arrays to = {.type = L->type,
                        .format = SPRY_FORMAT_CSR,
                        .symmetry = L->symmetry,
                        .rows = L->rows,
                        .cols = L->cols};
    int64_t *at = NULL;
    spry_matrix *half = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(ctx, base_calloc(ctx, L->rows + 1, sizeof *to.offsets, &to.offsets));
    L->class->entries(L, 0, L->units, count_entry, to.offsets);
    for (int64_t i = 0; i < L->rows; i++)
        to.offsets[i + 1] += to.offsets[i];
    to.nnz = to.offsets[L->rows];
    SPRY_GO(ctx, base_alloc(ctx, to.nnz, sizeof *to.col_index, &to.col_index));
    SPRY_GO(ctx, base_alloc(ctx, to.nnz, spry_type_size(to.type), &to.values));
    SPRY_GO(ctx, base_alloc(ctx, L->rows + 1, sizeof *at, &at));
    memcpy(at, to.offsets, (size_t)(L->rows + 1) * sizeof *at);
    filling f = {L, &to, at};
    L->class->entries(L, 0, L->units, put_entry, &f);
    const matrix_arrays made = to;
    to = (matrix_arrays){0}; /* taken also on failure */
    SPRY_GO(ctx, matrix_wrap(ctx, &made, A));
    SPRY_GO(ctx, spry_matrix_sort(*A));
    if (L->symmetry != SPRY_SYMMETRY_GENERAL) {
        half = *A;
        *A = NULL;
        SPRY_GO(ctx, spry_matrix_expand(half, A));
    }
done:
    base_free(ctx, at);
    matrix_free_arrays(ctx, &to);
    spry_matrix_free(half);
    return matrix_drop_failed(status, A);
}

typedef struct diagonal {
    const layout *L;
    void *values;
} diagonal;

static void hear_diagonal(void *data, int64_t row, int64_t col, int64_t place)
{
    const diagonal *d = data;
    if (row == col)
        value_store(d->L->type, d->values, row, layout_load(d->L, place));
}

spry_status layout_diagonal(const layout *L, spry_vector **d)
{
    const int64_t n = L->rows < L->cols ? L->rows : L->cols;
    diagonal found = {L, NULL};
    spry_status status = SPRY_STATUS_OK;
    *d = NULL;
    SPRY_GO(L->ctx, base_calloc(L->ctx, n, spry_type_size(L->type), &found.values));
    L->class->entries(L, 0, L->units, hear_diagonal, &found);
    SPRY_GO(L->ctx, spry_vector_new(L->ctx, L->type, n, found.values, SPRY_OWN_TAKE, d));
    found.values = NULL;
done:
    base_free(L->ctx, found.values);
    return status;
}
