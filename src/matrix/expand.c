/*
 * The implied triangle written out. The lower triangle's transpose holds the mirror images in the
 * right rows and in order, so a full row (or column) is a stored one and a mirrored one end to end:
 * sorted when the stored ones were.
 */
#include "matrix/entries.h"

/* The mirrored entries of row i that lie off the diagonal, which the stored row holds already. */
static range off_diagonal(const matrix_arrays *mirror, int64_t i)
{
    const int32_t *index = matrix_minor(mirror);
    range r = {mirror->offsets[i], mirror->offsets[i + 1]};
    while (r.begin < r.end && index[r.begin] == i)
        r.begin++;
    while (r.begin < r.end && index[r.end - 1] == i)
        r.end--;
    return r;
}

static void append(const matrix_arrays *from, range r, const matrix_arrays *to, int64_t at)
{
    const size_t size = spry_type_size(from->type), count = (size_t)(r.end - r.begin);
    if (count == 0)
        return;
    memcpy(matrix_minor(to) + at, matrix_minor(from) + r.begin, count * sizeof(int32_t));
    memcpy((char *)to->values + (size_t)at * size,
           (const char *)from->values + (size_t)r.begin * size, count * size);
}

/* Fills the full matrix, whose offsets are known, from the stored triangle and its mirror image. */
static void join_rows(const spry_context *ctx, const matrix_arrays *a, const matrix_arrays *mirror,
                      const matrix_arrays *full)
{
    const int64_t major = matrix_major(a);
    const int parts = matrix_parts(ctx, full->nnz + major);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(full->offsets, major, parts, part);
        for (int64_t i = rows.begin; i < rows.end; i++) {
            const range stored = {a->offsets[i], a->offsets[i + 1]};
            const range image = off_diagonal(mirror, i);
            /* A row's stored part lies left of its mirrored part, a column's below it. */
            const bool stored_first = a->format == SPRY_FORMAT_CSR;
            const int64_t at = full->offsets[i];
            append(a, stored, full, stored_first ? at : at + image.end - image.begin);
            append(mirror, image, full, stored_first ? at + stored.end - stored.begin : at);
        }
    }
}

static spry_status expand_compressed(spry_context *ctx, const matrix_arrays *a, matrix_arrays *full)
{
    spry_status status = SPRY_STATUS_OK;
    const int64_t major = matrix_major(a);
    const int parts = matrix_parts(ctx, major);
    matrix_arrays mirror;
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, a, &mirror));
    matrix_flip_values(ctx, a->type, mirror.values, mirror.nnz, a->symmetry == SPRY_SYMMETRY_SKEW,
                       a->symmetry == SPRY_SYMMETRY_HERMITIAN);
    SPRY_GO(ctx, base_alloc(ctx, major + 1, sizeof *full->offsets, &full->offsets));
    full->offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t i = 0; i < major; i++) {
        const range image = off_diagonal(&mirror, i);
        full->offsets[i + 1] = a->offsets[i + 1] - a->offsets[i] + image.end - image.begin;
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, full->offsets, major));
    full->nnz = full->offsets[major];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, full));
    join_rows(ctx, a, &mirror, full);
done:
    matrix_free_arrays(ctx, &mirror);
    return status;
}

spry_status spry_matrix_expand(const spry_matrix *A, spry_matrix **B)
{
    SPRY_NEED(CTX_OF(A), A, B);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *csr = NULL;
    matrix_arrays full = matrix_like(&A->a, A->a.format);
    full.symmetry = SPRY_SYMMETRY_GENERAL;
    *B = NULL;
    if (A->a.symmetry == SPRY_SYMMETRY_GENERAL)
        return matrix_copy(A, B);
    if (A->a.format != SPRY_FORMAT_COO) {
        status = expand_compressed(ctx, &A->a, &full);
        status = matrix_finish(ctx, status, &full, B);
        if (status == SPRY_STATUS_OK) {
            matrix_note_symmetry(*B, A->a.symmetry);
            matrix_carry(A, *B, FACTS_ALL);
        }
        return status;
    }
    SPRY_GO(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &csr));
    SPRY_GO(ctx, spry_matrix_expand(csr, B));
    SPRY_GO(ctx, matrix_become(*B, SPRY_FORMAT_COO));
done:
    spry_matrix_free(csr);
    return matrix_drop_failed(status, B);
}

spry_status matrix_as_csr(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned)
{
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *converted = NULL;
    const spry_matrix *triangle = A;
    matrix_follow(A);
    *owned = NULL;
    *csr = A;
    if (A->a.format != SPRY_FORMAT_CSR) {
        SPRY_GO(A->ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &converted));
        triangle = converted;
    }
    if (A->a.symmetry != SPRY_SYMMETRY_GENERAL) {
        SPRY_GO(A->ctx, spry_matrix_expand(triangle, owned));
    } else {
        *owned = converted;
        converted = NULL;
    }
    if (*owned)
        *csr = *owned;
done:
    spry_matrix_free(converted);
    if (status != SPRY_STATUS_OK)
        *csr = NULL;
    return status;
}

spry_status matrix_as_sorted_csr(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, matrix_as_csr(A, csr, owned));
    if (matrix_is_sorted(A->ctx, *csr, true))
        return SPRY_STATUS_OK;
    if (!*owned)
        SPRY_GO(A->ctx, matrix_copy(A, owned));
    *csr = *owned;
    SPRY_GO(A->ctx, spry_matrix_sum_duplicates(*owned));
done:
    return status;
}
