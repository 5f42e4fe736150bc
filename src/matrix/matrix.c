/* Matrices as objects: making them from arrays, who owns those, looking at them, freeing. */
#include "matrix/distribution.h"
#include "matrix/entries.h"

#include <sys/mman.h>

const char *spry_format_name(spry_format format)
{
    static const char *const names[] = {"coo", "csr", "csc"};
    return format >= SPRY_FORMAT_COO && format <= SPRY_FORMAT_CSC ? names[format] : "unknown";
}

const char *spry_symmetry_name(spry_symmetry symmetry)
{
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    return symmetry >= SPRY_SYMMETRY_GENERAL && symmetry <= SPRY_SYMMETRY_HERMITIAN
               ? names[symmetry]
               : "unknown";
}

spry_arrays matrix_shown(const matrix_arrays *a)
{
    return (spry_arrays){.size = sizeof(spry_arrays),
                         .type = a->type,
                         .format = a->format,
                         .symmetry = a->symmetry,
                         .rows = a->rows,
                         .cols = a->cols,
                         .nnz = a->nnz,
                         .offsets = a->offsets,
                         .row_index = a->row_index,
                         .col_index = a->col_index,
                         .values = a->values,
                         .offset_bits = 64,
                         .index_bits = 32};
}

matrix_arrays matrix_like(const matrix_arrays *like, spry_format format)
{
    matrix_arrays a = *like;
    a.format = format;
    a.offsets = NULL;
    a.row_index = a.col_index = NULL;
    a.values = NULL;
    return a;
}

void matrix_free_arrays(spry_context *ctx, matrix_arrays *arrays)
{
    base_free(ctx, arrays->offsets);
    base_free(ctx, arrays->row_index);
    base_free(ctx, arrays->col_index);
    base_free(ctx, arrays->values);
    *arrays = matrix_like(arrays, arrays->format);
}

spry_status matrix_allocate_entries(spry_context *ctx, matrix_arrays *a)
{
    spry_status status = SPRY_STATUS_OK;
    if (a->format != SPRY_FORMAT_CSR)
        SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *a->row_index, &a->row_index));
    if (a->format != SPRY_FORMAT_CSC)
        SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *a->col_index, &a->col_index));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, spry_type_size(a->type), &a->values));
done:
    if (status != SPRY_STATUS_OK)
        matrix_free_arrays(ctx, a);
    return status;
}

spry_status matrix_allocate(spry_context *ctx, matrix_arrays *arrays)
{
    spry_status status = SPRY_STATUS_OK;
    *arrays = matrix_like(arrays, arrays->format);
    if (arrays->format != SPRY_FORMAT_COO)
        SPRY_GO(ctx, base_alloc(ctx, matrix_major(arrays) + 1, sizeof *arrays->offsets,
                                &arrays->offsets));
    SPRY_GO(ctx, matrix_allocate_entries(ctx, arrays));
done:
    return status;
}

spry_status matrix_wrap(spry_context *ctx, const matrix_arrays *arrays, spry_matrix **A)
{
    matrix_arrays a = *arrays;
    const spry_status status = base_object_new(ctx, sizeof **A, A);
    if (status != SPRY_STATUS_OK) {
        matrix_free_arrays(ctx, &a);
        return status;
    }
    (*A)->ctx = ctx;
    (*A)->a = a;
    (*A)->owns = MATRIX_OWNS_ALL;
    return SPRY_STATUS_OK;
}

spry_status matrix_finish(spry_context *ctx, spry_status status, matrix_arrays *made,
                          spry_matrix **B)
{
    *B = NULL;
    if (status == SPRY_STATUS_OK)
        return matrix_wrap(ctx, made, B);
    matrix_free_arrays(ctx, made);
    return status;
}

void matrix_copy_structure(const spry_context *ctx, const matrix_arrays *from,
                           const matrix_arrays *to)
{
    const size_t nnz = (size_t)from->nnz;
    if (to->offsets)
        matrix_copy_bytes(ctx, to->offsets, from->offsets,
                          (size_t)(matrix_major(from) + 1) * sizeof *to->offsets);
    if (to->row_index)
        matrix_copy_bytes(ctx, to->row_index, from->row_index, nnz * sizeof *to->row_index);
    if (to->col_index)
        matrix_copy_bytes(ctx, to->col_index, from->col_index, nnz * sizeof *to->col_index);
}

/* Makes arrays of one's own with the same contents. */
static spry_status copy_arrays(spry_context *ctx, const matrix_arrays *from, matrix_arrays *to)
{
    *to = *from;
    const spry_status status = matrix_allocate(ctx, to);
    if (status != SPRY_STATUS_OK)
        return status;
    matrix_copy_structure(ctx, from, to);
    matrix_copy_bytes(ctx, to->values, from->values,
                      (size_t)from->nnz * spry_type_size(from->type));
    return SPRY_STATUS_OK;
}

spry_status matrix_copy(const spry_matrix *A, spry_matrix **B)
{
    matrix_arrays a;
    spry_status status = copy_arrays(A->ctx, &A->a, &a);
    status = matrix_finish(A->ctx, status, &a, B);
    if (status == SPRY_STATUS_OK)
        matrix_carry(A, *B, FACTS_ALL);
    return status;
}

/* Copies an array unless it is owned already or missing. */
static spry_status own_array(spry_context *ctx, bool owned, int64_t count, size_t size,
                             void *pointer_to_pointer)
{
    void *from, *to = NULL;
    memcpy(&from, pointer_to_pointer, sizeof from);
    if (owned || !from)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, count, size, &to);
    if (status != SPRY_STATUS_OK)
        return status;
    matrix_copy_bytes(ctx, to, from, (size_t)count * size);
    memcpy(pointer_to_pointer, &to, sizeof to);
    return SPRY_STATUS_OK;
}

/* Frees those of the arrays that are in the set. */
static void free_some(spry_context *ctx, const matrix_arrays *a, unsigned set)
{
    base_free(ctx, set & MATRIX_OWNS_OFFSETS ? a->offsets : NULL);
    base_free(ctx, set & MATRIX_OWNS_ROW_INDEX ? a->row_index : NULL);
    base_free(ctx, set & MATRIX_OWNS_COL_INDEX ? a->col_index : NULL);
    base_free(ctx, set & MATRIX_OWNS_VALUES ? a->values : NULL);
}

static void unmap(spry_matrix *A)
{
    if (A->mapping)
        munmap(A->mapping, A->mapping_bytes);
    A->mapping = NULL;
    A->mapping_bytes = 0;
}

spry_status matrix_make_own(spry_matrix *A)
{
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    const unsigned owns = A->owns;
    const int64_t nnz = A->a.nnz;
    matrix_arrays own = A->a;
    unsigned made = 0; /* so far, of those that were not owned */
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, own_array(ctx, owns & MATRIX_OWNS_OFFSETS, matrix_major(&own) + 1,
                           sizeof *own.offsets, &own.offsets));
    made |= MATRIX_OWNS_OFFSETS & ~owns;
    SPRY_GO(ctx, own_array(ctx, owns & MATRIX_OWNS_ROW_INDEX, nnz, sizeof *own.row_index,
                           &own.row_index));
    made |= MATRIX_OWNS_ROW_INDEX & ~owns;
    SPRY_GO(ctx, own_array(ctx, owns & MATRIX_OWNS_COL_INDEX, nnz, sizeof *own.col_index,
                           &own.col_index));
    made |= MATRIX_OWNS_COL_INDEX & ~owns;
    SPRY_GO(ctx,
            own_array(ctx, owns & MATRIX_OWNS_VALUES, nnz, spry_type_size(own.type), &own.values));
    matrix_part(A);
    A->a = own;
    A->owns = MATRIX_OWNS_ALL;
    unmap(A);
done:
    if (status != SPRY_STATUS_OK)
        free_some(ctx, &own, made);
    return status;
}

void matrix_replace(spry_matrix *A, const matrix_arrays *own)
{
    matrix_part(A);
    free_some(A->ctx, &A->a, A->owns);
    unmap(A);
    A->a = *own;
    A->owns = MATRIX_OWNS_ALL;
}

spry_status matrix_drop_failed(spry_status status, spry_matrix **B)
{
    if (status != SPRY_STATUS_OK) {
        spry_matrix_free(*B);
        *B = NULL;
    }
    return status;
}

static void free_near_null(spry_matrix *A)
{
    for (int k = 0; k < A->near_count && !A->origin; k++)
        spry_vector_free(A->near_null[k]);
    base_free(A->ctx, A->origin ? NULL : A->near_null);
    A->near_null = NULL;
    A->near_count = 0;
}

/* Multigrid would drop what is not finite without a word. */
static spry_status check_near_null(const spry_matrix *A, int k)
{
    const spry_vector *v = A->near_null[k];
    for (int64_t i = 0; i < v->n; i++)
        if (!value_finite(value_get(v->type, v->data, i)))
            return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                             "near-null vector %d is not finite at row %" PRId64 " (from 0)", k, i);
    return SPRY_STATUS_OK;
}

spry_status spry_matrix_set_near_null(spry_matrix *A, int count, const spry_vector *const *v)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (matrix_check_changeable(A) != SPRY_STATUS_OK)
        return SPRY_STATUS_BAD_USAGE;
    if (count < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d near-null vectors", count);
    if (count > 0)
        SPRY_NEED(ctx, v);
    for (int k = 0; k < count; k++) {
        if (!v[k])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "near-null vector %d is NULL", k);
        if (v[k]->n != A->a.cols)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "near-null vector %d has %" PRId64 " numbers, the matrix %" PRId64
                             " columns",
                             k, v[k]->n, A->a.cols);
    }
    matrix_part(A);
    free_near_null(A);
    matrix_touch(A, true); /* what depends on them has to be set up again */
    if (count == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, count, sizeof *A->near_null, &A->near_null));
    for (int k = 0; k < count; k++) {
        SPRY_GO(ctx,
                spry_vector_new(ctx, A->a.type, v[k]->n, NULL, SPRY_OWN_COPY, &A->near_null[k]));
        A->near_count = k + 1;
        SPRY_GO(ctx, spry_vector_copy(v[k], A->near_null[k]));
        SPRY_GO(ctx, check_near_null(A, k));
    }
done:
    if (status != SPRY_STATUS_OK)
        free_near_null(A);
    return status;
}

/* A has no holds. */
static void destroy(spry_matrix *A)
{
    const matrix_arrays none = {0};
    free_near_null(A);
    A->origin = NULL;
    if (A->distributed)
        A->distributed->class->free(A->ctx, A->distributed);
    if (A->redistributed)
        A->free_redistributed(A->ctx, A->redistributed);
    matrix_replace(A, &none);
    const spry_release_fn release = A->release;
    void *owner = A->owner;
    base_object_free(A->ctx, A);
    if (release)
        release(owner);
}

void spry_matrix_free(spry_matrix *A)
{
    if (A && atomic_fetch_or(&A->holds, MATRIX_FREED) == 0)
        destroy(A);
}

void matrix_let_go(const spry_matrix *A)
{
    while (A) {
        spry_matrix *it = (spry_matrix *)(uintptr_t)A;
        A = A->origin; /* before it is freed */
        if (atomic_fetch_sub(&it->holds, 1) == MATRIX_FREED + 1)
            destroy(it);
    }
}

spry_status spry_matrix_set_release(spry_matrix *A, spry_release_fn release, void *data)
{
    SPRY_NEED(CTX_OF(A), A);
    A->release = release;
    A->owner = data;
    return SPRY_STATUS_OK;
}

spry_type spry_matrix_type(const spry_matrix *A)
{
    return A ? A->a.type : SPRY_TYPE_D;
}

spry_format spry_matrix_format(const spry_matrix *A)
{
    return A ? A->a.format : SPRY_FORMAT_COO;
}

spry_symmetry spry_matrix_symmetry(const spry_matrix *A)
{
    return A ? A->a.symmetry : SPRY_SYMMETRY_GENERAL;
}

int64_t spry_matrix_rows(const spry_matrix *A)
{
    return A ? A->a.rows : 0;
}

int64_t spry_matrix_cols(const spry_matrix *A)
{
    return A ? A->a.cols : 0;
}

int64_t spry_matrix_nnz(const spry_matrix *A)
{
    if (A)
        matrix_follow(A);
    return A ? A->a.nnz : 0;
}
