/* Entries at one place added into one, in stored order and in double arithmetic. */
#include "matrix/distribution.h"
#include "matrix/entries.h"

/* Places of a sorted row. */
static int64_t count_places(const int32_t *index, int64_t begin, int64_t end)
{
    int64_t places = begin < end;
    for (int64_t k = begin + 1; k < end; k++)
        places += index[k] != index[k - 1];
    return places;
}

static void sum_row(const matrix_arrays *a, int64_t begin, int64_t end, const matrix_arrays *to,
                    int64_t at)
{
    const int32_t *index = matrix_minor(a);
    const size_t size = spry_type_size(a->type);
    for (int64_t k = begin; k < end; at++) {
        const int64_t first = k++;
        matrix_minor(to)[at] = index[first];
        memcpy((char *)to->values + (size_t)at * size,
               (const char *)a->values + (size_t)first * size, size);
        if (k == end || index[k] != index[first])
            continue;
        spry_scalar sum = value_load(a->type, a->values, first);
        for (; k < end && index[k] == index[first]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            sum = (spry_scalar){sum.re + v.re, sum.im + v.im};
        }
        value_store(a->type, to->values, at, sum);
    }
}

/* Makes arrays without duplicates of sorted compressed ones. */
static spry_status sum_rows(spry_context *ctx, const matrix_arrays *a, matrix_arrays *to)
{
    const int64_t major = matrix_major(a);
    const int parts = matrix_parts(ctx, a->nnz);
    spry_status status = SPRY_STATUS_OK;
    *to = matrix_like(a, a->format);
    SPRY_GO(ctx, base_alloc(ctx, major + 1, sizeof *to->offsets, &to->offsets));
    to->offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(a->offsets, major, parts, part);
        for (int64_t i = rows.begin; i < rows.end; i++)
            to->offsets[i + 1] = count_places(matrix_minor(a), a->offsets[i], a->offsets[i + 1]);
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, to->offsets, major));
    to->nnz = to->offsets[major];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, to));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(a->offsets, major, parts, part);
        for (int64_t i = rows.begin; i < rows.end; i++)
            sum_row(a, a->offsets[i], a->offsets[i + 1], to, to->offsets[i]);
    }
done:
    if (status != SPRY_STATUS_OK)
        matrix_free_arrays(ctx, to);
    return status;
}

spry_status spry_matrix_sum_duplicates(spry_matrix *A)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    spry_status status = SPRY_STATUS_OK;
    if (matrix_is_sorted(A->ctx, A, true))
        return SPRY_STATUS_OK;
    SPRY_GO(A->ctx, dist_check_editable(A));
    if (A->a.format == SPRY_FORMAT_COO)
        return matrix_do_as_csr(A, spry_matrix_sum_duplicates);
    SPRY_GO(A->ctx, spry_matrix_sort(A));
    if (!matrix_is_sorted(A->ctx, A, true)) {
        matrix_arrays summed;
        SPRY_GO(A->ctx, sum_rows(A->ctx, &A->a, &summed));
        matrix_replace(A, &summed);
        matrix_touch(A, true);
        matrix_changed(A);
        matrix_forget(A, FACTS_OF_PATTERN);
        matrix_note_all(A, FACT_BIT(SPRY_FACT_SORTED) | FACT_BIT(SPRY_FACT_UNIQUE));
    }
done:
    return status;
}
