/*
 * Sorting entries within rows (columns of CSC). Rows that are in order are left alone; others are
 * sorted stably: runs by insertion, then merged. A stable order is unique, whoever sorts which row.
 */
#include "matrix/distribution.h"
#include "matrix/entries.h"

enum { RUN = 16, VALUE_MOST = 16 };

/* Indices with their values: a row, or scratch space for one. */
typedef struct list {
    int32_t *index;
    void *values;
} list;

static bool row_sorted(const int32_t *index, int64_t begin, int64_t end, bool strictly)
{
    int bad = 0;
    if (strictly)
        for (int64_t k = begin + 1; k < end; k++)
            bad |= index[k - 1] >= index[k];
    else
        for (int64_t k = begin + 1; k < end; k++)
            bad |= index[k - 1] > index[k];
    return !bad;
}

/* Whether entries begin..end-1 of COO come by row, then column, seen from the entry before them. */
static bool places_sorted(const matrix_arrays *a, int64_t begin, int64_t end, bool strictly)
{
    const int32_t *row = a->row_index, *col = a->col_index;
    int bad = 0;
    for (int64_t k = begin > 0 ? begin : 1; k < end; k++)
        bad |= row[k - 1] > row[k] ||
               (row[k - 1] == row[k] && (strictly ? col[k - 1] >= col[k] : col[k - 1] > col[k]));
    return !bad;
}

bool matrix_sorted(const spry_context *ctx, const matrix_arrays *a, bool strictly)
{
    const int parts = matrix_parts(ctx, a->nnz);
    int bad = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(| : bad)
    for (int part = 0; part < parts; part++) {
        if (a->format == SPRY_FORMAT_COO) {
            const range r = base_share(a->nnz, parts, part, 1);
            bad |= !places_sorted(a, r.begin, r.end, strictly);
            continue;
        }
        const range rows = matrix_rows_of_part(a->offsets, matrix_major(a), parts, part);
        for (int64_t i = rows.begin; i < rows.end && !bad; i++)
            bad |= !row_sorted(matrix_minor(a), a->offsets[i], a->offsets[i + 1], strictly);
    }
    return !bad;
}

ALWAYS_INLINE void sort_run(size_t size, list l, int64_t begin, int64_t end)
{
    for (int64_t k = begin + 1; k < end; k++) {
        const int32_t index = l.index[k];
        char value[VALUE_MOST];
        element_move(size, value, 0, l.values, k);
        int64_t at = k;
        for (; at > begin && l.index[at - 1] > index; at--) {
            l.index[at] = l.index[at - 1];
            element_move(size, l.values, at, l.values, at - 1);
        }
        l.index[at] = index;
        element_move(size, l.values, at, value, 0);
    }
}

/* Merges begin..middle-1 and middle..end-1; of equal indices the left comes first. */
ALWAYS_INLINE void merge_runs(size_t size, list from, list to, int64_t begin, int64_t middle,
                              int64_t end)
{
    int64_t left = begin, right = middle;
    for (int64_t at = begin; at < end; at++) {
        const bool take_left =
            right >= end || (left < middle && from.index[left] <= from.index[right]);
        const int64_t k = take_left ? left++ : right++;
        to.index[at] = from.index[k];
        element_move(size, to.values, at, from.values, k);
    }
}

ALWAYS_INLINE void sort_list(size_t size, list l, list scratch, int64_t n)
{
    for (int64_t begin = 0; begin < n; begin += RUN)
        sort_run(size, l, begin, begin + RUN < n ? begin + RUN : n);
    list from = l, to = scratch;
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * width) {
            const int64_t middle = begin + width < n ? begin + width : n;
            const int64_t end = middle + width < n ? middle + width : n;
            merge_runs(size, from, to, begin, middle, end);
        }
        const list swap = from;
        from = to;
        to = swap;
    }
    if (from.index != l.index) {
        memcpy(l.index, from.index, (size_t)n * sizeof *l.index);
        memcpy(l.values, from.values, (size_t)n * size);
    }
}

static list list_at(list l, size_t size, int64_t k)
{
    return (list){l.index + k, (char *)l.values + (size_t)k * size};
}

static void sort_row(size_t size, list l, list scratch, int64_t n)
{
    if (size == 4)
        sort_list(4, l, scratch, n);
    else if (size == 8)
        sort_list(8, l, scratch, n);
    else
        sort_list(16, l, scratch, n);
}

/* Sorts the rows in the arrays themselves. */
static spry_status sort_rows(spry_context *ctx, const matrix_arrays *a)
{
    const size_t size = spry_type_size(a->type);
    const int64_t major = matrix_major(a), longest = matrix_longest_row(ctx, a);
    const int parts = matrix_parts(ctx, a->nnz);
    /* Scratch space per part; when that is more than the entries themselves, per row. */
    const bool by_part = longest <= a->nnz / parts;
    const list l = {matrix_minor(a), a->values};
    list scratch = {NULL, NULL};
    spry_status status = SPRY_STATUS_OK;
    const int64_t space = by_part ? parts * longest : a->nnz;
    SPRY_GO(ctx, base_alloc(ctx, space, sizeof *scratch.index, &scratch.index));
    SPRY_GO(ctx, base_alloc(ctx, space, size, &scratch.values));
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(a->offsets, major, parts, part);
        for (int64_t i = rows.begin; i < rows.end; i++) {
            const int64_t begin = a->offsets[i], end = a->offsets[i + 1];
            if (!row_sorted(l.index, begin, end, false))
                sort_row(size, list_at(l, size, begin),
                         list_at(scratch, size, by_part ? part * longest : begin), end - begin);
        }
    }
done:
    base_free(ctx, scratch.values);
    base_free(ctx, scratch.index);
    return status;
}

/* Does the work on a CSR copy of a COO matrix, which changes only when all went well. */
spry_status matrix_do_as_csr(spry_matrix *A, spry_status (*work)(spry_matrix *))
{
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *csr = NULL;
    SPRY_GO(A->ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &csr));
    SPRY_GO(A->ctx, work(csr));
    SPRY_GO(A->ctx, matrix_become(csr, SPRY_FORMAT_COO));
    matrix_replace(A, &csr->a);
    matrix_touch(A, true);
    matrix_forget(A, FACTS_ALL);
    matrix_carry(csr, A, FACTS_ALL);
    csr->a = matrix_like(&csr->a, SPRY_FORMAT_COO);
done:
    spry_matrix_free(csr);
    return status;
}

bool matrix_is_sorted(spry_context *ctx, const spry_matrix *A, bool strictly)
{
    const spry_truth sorted = matrix_known(A, SPRY_FACT_SORTED),
                     unique = matrix_known(A, SPRY_FACT_UNIQUE);
    if (sorted != SPRY_TRUTH_UNKNOWN &&
        (!strictly || unique != SPRY_TRUTH_UNKNOWN || sorted == SPRY_TRUTH_NO))
        return sorted == SPRY_TRUTH_YES && (!strictly || unique == SPRY_TRUTH_YES);
    if (strictly && unique == SPRY_TRUTH_NO)
        return false;
    fact_log_search(ctx, A, SPRY_FACT_SORTED);
    if (matrix_sorted(ctx, &A->a, true)) {
        matrix_note(A, SPRY_FACT_SORTED, true);
        matrix_note(A, SPRY_FACT_UNIQUE, true);
        return true;
    }
    const bool rises = sorted == SPRY_TRUTH_YES || matrix_sorted(ctx, &A->a, false);
    matrix_note(A, SPRY_FACT_SORTED, rises);
    if (rises)
        matrix_note(A, SPRY_FACT_UNIQUE, false);
    return rises && !strictly;
}

spry_status spry_matrix_sort(spry_matrix *A)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    spry_status status = SPRY_STATUS_OK;
    if (matrix_is_sorted(A->ctx, A, false))
        return SPRY_STATUS_OK;
    SPRY_GO(A->ctx, dist_check_editable(A));
    if (A->a.format == SPRY_FORMAT_COO)
        return matrix_do_as_csr(A, spry_matrix_sort);
    SPRY_GO(A->ctx, matrix_make_own(A));
    SPRY_GO(A->ctx, sort_rows(A->ctx, &A->a));
    matrix_touch(A, true);
    matrix_forget(A, FACT_BIT(SPRY_FACT_SORTED));
    matrix_note(A, SPRY_FACT_SORTED, true);
done:
    return status;
}

/* --- columns of one row --------------------------------------------------------------------------
 */

/* By D. L. Shell's method, which needs no memory and is quick where much is sorted, with M. Ciura's
 * steps (Best increments for the average case of Shellsort, 2001) and a few more behind them. */
void matrix_sort_columns(int32_t *columns, int64_t n)
{
    static const int64_t steps[] = {1,    4,    10,   23,    57,    132,    301,    701,
                                    1750, 3937, 8858, 19930, 44842, 100894, 227011, 510774};
    enum { COUNT = sizeof steps / sizeof *steps };
    int last = 0;
    while (last + 1 < COUNT && steps[last + 1] < n / 2)
        last++;
    for (; last >= 0; last--) {
        const int64_t step = steps[last];
        for (int64_t k = step; k < n; k++) {
            const int32_t column = columns[k];
            int64_t at = k;
            for (; at >= step && columns[at - step] > column; at -= step)
                columns[at] = columns[at - step];
            columns[at] = column;
        }
    }
}
