/*
 * Arrays as callers have them: offsets and indices of 32 or 64 bits that count from 0 or 1. Those
 * that are as the inside has them are used where they are, others are converted into memory of the
 * matrix's own.
 */
#include "matrix/entries.h"

static const base_sized sized = BASE_SIZED(spry_arrays, spare);

/* Reads what the caller's struct has, and writes out widths that were left at 0. */
spry_status matrix_read_arrays(spry_context *ctx, const spry_arrays *arrays, spry_arrays *given)
{
    const spry_status status = base_take(ctx, arrays, given, &sized);
    if (status != SPRY_STATUS_OK)
        return status;
    given->offset_bits = given->offset_bits ? given->offset_bits : 64;
    given->index_bits = given->index_bits ? given->index_bits : 32;
    if (given->offset_bits != 32 && given->offset_bits != 64)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "offset_bits is %d, expected 32 or 64",
                         given->offset_bits);
    if (given->index_bits != 32 && given->index_bits != 64)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "index_bits is %d, expected 32 or 64",
                         given->index_bits);
    if (given->base != 0 && given->base != 1)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "base is %d, expected 0 or 1", given->base);
    return SPRY_STATUS_OK;
}

ALWAYS_INLINE int64_t number_at(const void *array, int bits, int64_t k)
{
    return bits == 32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* In unsigned arithmetic: a caller may have written any number. */
static void convert_offsets(const spry_context *ctx, const spry_arrays *given, int64_t count,
                            int64_t *to)
{
    const int parts = matrix_parts(ctx, count);
#pragma omp parallel for num_threads(parts)
    for (int64_t i = 0; i < count; i++)
        to[i] = (int64_t)((uint64_t)number_at(given->offsets, given->offset_bits, i) -
                          (uint64_t)given->base);
}

/* What 32 bits do not hold becomes -1, which no check lets through. */
static spry_status convert_index(spry_context *ctx, const spry_arrays *given, const void *from,
                                 int32_t **out, unsigned *made, unsigned bit)
{
    const int64_t base = given->base;
    int32_t *to = NULL;
    *out = NULL;
    if (!from)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, given->nnz, sizeof *to, &to);
    if (status != SPRY_STATUS_OK)
        return status;
    *made |= bit;
    *out = to;
    const int parts = matrix_parts(ctx, given->nnz);
#pragma omp parallel for num_threads(parts)
    for (int64_t k = 0; k < given->nnz; k++) {
        const int64_t index = number_at(from, given->index_bits, k);
        to[k] = index >= base && index - base <= INT32_MAX ? (int32_t)(index - base) : -1;
    }
    return SPRY_STATUS_OK;
}

/* Checks the arrays, and fills *a with them or what they were converted to; *made is the set of the
 * latter, also on failure. */
static spry_status take_in(spry_context *ctx, const spry_arrays *given, matrix_arrays *a,
                           unsigned *made)
{
    spry_status status = SPRY_STATUS_OK;
    *made = 0;
    *a = (matrix_arrays){.type = given->type,
                         .format = given->format,
                         .symmetry = given->symmetry,
                         .rows = given->rows,
                         .cols = given->cols,
                         .nnz = given->nnz,
                         .offsets = given->offsets,
                         .row_index = given->row_index,
                         .col_index = given->col_index,
                         .values = given->values};
    SPRY_GO(ctx, matrix_check_header(ctx, a));
    if (given->offsets && (given->offset_bits != 64 || given->base != 0)) {
        const int64_t count = matrix_major(a) + 1;
        a->offsets = NULL;
        SPRY_GO(ctx, base_alloc(ctx, count, sizeof *a->offsets, &a->offsets));
        *made |= MATRIX_OWNS_OFFSETS;
        convert_offsets(ctx, given, count, a->offsets);
    }
    if (a->offsets)
        SPRY_GO(ctx, matrix_check_offsets(ctx, a, given->base));
    if (given->index_bits != 32 || given->base != 0) {
        SPRY_GO(ctx, convert_index(ctx, given, given->row_index, &a->row_index, made,
                                   MATRIX_OWNS_ROW_INDEX));
        SPRY_GO(ctx, convert_index(ctx, given, given->col_index, &a->col_index, made,
                                   MATRIX_OWNS_COL_INDEX));
    }
    SPRY_GO(ctx, matrix_check_entries(ctx, a, given));
done:
    return status;
}

/* Frees the arrays of the caller's whose converted copies took their place. */
static void free_given(spry_context *ctx, const spry_arrays *given, unsigned made)
{
    base_free(ctx, made & MATRIX_OWNS_OFFSETS ? given->offsets : NULL);
    base_free(ctx, made & MATRIX_OWNS_ROW_INDEX ? given->row_index : NULL);
    base_free(ctx, made & MATRIX_OWNS_COL_INDEX ? given->col_index : NULL);
}

spry_status spry_matrix_new(spry_context *ctx, const spry_arrays *arrays, spry_own own,
                            spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, arrays, A);
    spry_arrays given;
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(ctx, vector_check_own(ctx, own));
    SPRY_GO(ctx, matrix_read_arrays(ctx, arrays, &given));
    SPRY_GO(ctx, base_object_new(ctx, sizeof *matrix, &matrix));
    matrix->ctx = ctx;
    SPRY_GO(ctx, take_in(ctx, &given, &matrix->a, &matrix->owns));
    if (own == SPRY_OWN_COPY)
        SPRY_GO(ctx, matrix_make_own(matrix));
    if (own == SPRY_OWN_TAKE) {
        free_given(ctx, &given, matrix->owns);
        matrix->owns = MATRIX_OWNS_ALL;
    }
    *A = matrix;
    matrix = NULL;
done:
    spry_matrix_free(matrix);
    return status;
}

/* Nothing is written through these: a matrix that borrows copies its arrays before a change. */
static spry_status new_csr(spry_context *ctx, spry_arrays *a, const void *offsets,
                           const void *columns, const void *values, spry_own own, spry_matrix **A)
{
    a->format = SPRY_FORMAT_CSR;
    a->offsets = (void *)(uintptr_t)offsets;
    a->col_index = (void *)(uintptr_t)columns;
    a->values = (void *)(uintptr_t)values;
    if (offsets && a->rows >= 0 && a->rows <= INT32_MAX)
        a->nnz = number_at(offsets, a->offset_bits, a->rows);
    return spry_matrix_new(ctx, a, own, A);
}

spry_status spry_matrix_from_csr(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                                 const int64_t *offsets, const int32_t *columns, const void *values,
                                 spry_own own, spry_matrix **A)
{
    spry_arrays a = {.size = sizeof a, .type = type, .rows = rows, .cols = cols, .offset_bits = 64};
    return new_csr(ctx, &a, offsets, columns, values, own, A);
}

spry_status spry_matrix_from_csr32(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                                   const int32_t *offsets, const int32_t *columns,
                                   const void *values, spry_own own, spry_matrix **A)
{
    spry_arrays a = {.size = sizeof a, .type = type, .rows = rows, .cols = cols, .offset_bits = 32};
    return new_csr(ctx, &a, offsets, columns, values, own, A);
}

spry_status spry_matrix_arrays(const spry_matrix *A, spry_arrays *arrays)
{
    SPRY_NEED(CTX_OF(A), A, arrays);
    matrix_follow(A);
    const spry_arrays shown = matrix_shown(&A->a);
    const spry_status status = base_blank(A->ctx, arrays, &sized);
    if (status == SPRY_STATUS_OK)
        base_give(arrays, &shown, &sized);
    return status;
}
