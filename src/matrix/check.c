/*
 * Checking arrays before they become a matrix, and values before a solver uses them. Threads look
 * at parts; the fault that is reported is the first in stored order whatever their number.
 */
#include "matrix/entries.h"

/* A number as the caller counts, who may have written any. */
static int64_t as_given(int64_t number, int base)
{
    return (int64_t)((uint64_t)number + (uint64_t)base);
}

static spry_status check_size(spry_context *ctx, const char *name, int64_t size)
{
    if (size < 0 || size > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s is %" PRId64 ", expected 0..%d", name,
                         size, INT32_MAX);
    return SPRY_STATUS_OK;
}

/* An array must exist when the format has it (an empty one may be missing) and only then. */
static spry_status check_array(spry_context *ctx, const matrix_arrays *a, const char *name,
                               const void *array, bool wanted, bool empty)
{
    if (wanted && !empty && !array)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s is NULL, which the format %s needs", name,
                         spry_format_name(a->format));
    if (!wanted && array)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s is not NULL, but the format %s has none",
                         name, spry_format_name(a->format));
    return SPRY_STATUS_OK;
}

spry_status matrix_check_header(spry_context *ctx, const matrix_arrays *a)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_check_type(ctx, a->type));
    if (a->format < SPRY_FORMAT_COO || a->format > SPRY_FORMAT_CSC)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "format is %d, expected coo, csr or csc",
                         (int)a->format);
    if (a->symmetry < SPRY_SYMMETRY_GENERAL || a->symmetry > SPRY_SYMMETRY_HERMITIAN)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "symmetry is %d, expected general, symmetric, skew-symmetric or hermitian",
                         (int)a->symmetry);
    SPRY_GO(ctx, check_size(ctx, "rows", a->rows));
    SPRY_GO(ctx, check_size(ctx, "cols", a->cols));
    if (a->nnz < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "nnz is %" PRId64 ", expected 0 or more",
                         a->nnz);
    if (a->symmetry != SPRY_SYMMETRY_GENERAL && a->rows != a->cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "a %s matrix must be square, but this one is %" PRId64 " x %" PRId64,
                         spry_symmetry_name(a->symmetry), a->rows, a->cols);
    SPRY_GO(ctx, check_array(ctx, a, "offsets", a->offsets, a->format != SPRY_FORMAT_COO, false));
    SPRY_GO(ctx,
            check_array(ctx, a, "row_index", a->row_index, a->format != SPRY_FORMAT_CSR, !a->nnz));
    SPRY_GO(ctx,
            check_array(ctx, a, "col_index", a->col_index, a->format != SPRY_FORMAT_CSC, !a->nnz));
    SPRY_GO(ctx, check_array(ctx, a, "values", a->values, true, !a->nnz));
done:
    return status;
}

spry_status matrix_check_offsets(spry_context *ctx, const matrix_arrays *a, int base)
{
    const int64_t major = matrix_major(a), *offsets = a->offsets;
    if (offsets[0] != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "offsets[0] is %" PRId64 ", expected %d",
                         as_given(offsets[0], base), base);
    const int parts = matrix_parts(ctx, major);
    int64_t fault = major;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(min : fault)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(major, parts, part, 1);
        int64_t i = r.begin;
        while (i < r.end && offsets[i] <= offsets[i + 1])
            i++;
        if (i < r.end && i < fault)
            fault = i;
    }
    if (fault < major)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s %" PRId64 ": offsets fall from %" PRId64 " to %" PRId64,
                         a->format == SPRY_FORMAT_CSR ? "row" : "column", fault + base,
                         as_given(offsets[fault], base), as_given(offsets[fault + 1], base));
    if (offsets[major] != a->nnz)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "offsets end with %" PRId64 ", expected nnz%s, which is %" PRId64,
                         as_given(offsets[major], base), base ? " + 1" : "",
                         as_given(a->nnz, base));
    return SPRY_STATUS_OK;
}

/* Whether the value may be on the diagonal: 0 in skew-symmetric matrices, real in hermitian
 * ones. */
static bool diagonal_allowed(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    return (a->symmetry != SPRY_SYMMETRY_SKEW || v.re == 0) &&
           (a->symmetry == SPRY_SYMMETRY_SYMMETRIC || v.im == 0);
}

static bool entry_allowed(const matrix_arrays *a, int64_t k, int64_t row, int64_t col)
{
    return row >= 0 && row < a->rows && col >= 0 && col < a->cols &&
           (a->symmetry == SPRY_SYMMETRY_GENERAL || row > col ||
            (row == col && diagonal_allowed(a, k)));
}

/* Whether a block needs no closer look: judged without a branch per entry. */
static bool block_allowed(const matrix_arrays *a, const entry_loop *w)
{
    const uint32_t rows = (uint32_t)a->rows, cols = (uint32_t)a->cols;
    int bad = 0;
    for (int i = 0; i < w->count; i++)
        bad |= ((uint32_t)w->row[i] >= rows) | ((uint32_t)w->col[i] >= cols);
    if (a->symmetry == SPRY_SYMMETRY_SYMMETRIC)
        for (int i = 0; i < w->count; i++)
            bad |= w->row[i] < w->col[i];
    else if (a->symmetry != SPRY_SYMMETRY_GENERAL) /* values on the diagonal matter as well */
        for (int i = 0; i < w->count; i++)
            bad |= w->row[i] <= w->col[i];
    return !bad;
}

/* The first entry of the range that is not allowed, or nnz. */
static int64_t find_bad_in(const matrix_arrays *a, range entries)
{
    entry_loop w;
    entry_loop_start(&w, a, entries);
    while (entry_loop_next(&w)) {
        if (block_allowed(a, &w))
            continue;
        for (int i = 0; i < w.count; i++)
            if (!entry_allowed(a, w.first + i, w.row[i], w.col[i]))
                return w.first + i;
    }
    return a->nnz;
}

/* The first entry that is not allowed, or nnz. */
static int64_t find_bad_entry(const spry_context *ctx, const matrix_arrays *a)
{
    const int parts = matrix_parts(ctx, a->nnz);
    int64_t fault = a->nnz;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(min : fault)
    for (int part = 0; part < parts; part++) {
        const int64_t found = find_bad_in(a, base_share(a->nnz, parts, part, 1));
        fault = found < fault ? found : fault;
    }
    return fault;
}

/* Row or column of entry k as it was given; what is implied is known to be sound. */
static int64_t given_index(const spry_arrays *given, const void *index, int64_t k, int64_t implied)
{
    if (!index)
        return implied + given->base;
    return given->index_bits == 64 ? ((const int64_t *)index)[k] : ((const int32_t *)index)[k];
}

static spry_status fail_entry(spry_context *ctx, const matrix_arrays *a, const spry_arrays *given,
                              int64_t k)
{
    const int base = given->base;
    const int64_t major = a->format == SPRY_FORMAT_COO ? 0 : matrix_major_of(a, k);
    const int64_t row = given_index(given, given->row_index, k, major);
    const int64_t col = given_index(given, given->col_index, k, major);
    const int64_t entry = k + base;
    if (row < base || row - base >= a->rows)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "entry %" PRId64 ": row %" PRId64 " is outside %d..%" PRId64, entry, row,
                         base, a->rows - 1 + base);
    if (col < base || col - base >= a->cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "entry %" PRId64 ", row %" PRId64 ": column %" PRId64
                         " is outside %d..%" PRId64,
                         entry, row, col, base, a->cols - 1 + base);
    const char *kind = spry_symmetry_name(a->symmetry);
    if (row < col)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "entry %" PRId64 " at row %" PRId64 ", column %" PRId64
                         " lies above the diagonal; a %s matrix stores the lower triangle",
                         entry, row, col, kind);
    const spry_scalar v = value_get(a->type, a->values, k);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "entry %" PRId64 " at row %" PRId64 ", column %" PRId64
                     " is (%g, %g), but the diagonal of a %s matrix is %s",
                     entry, row, col, v.re, v.im, kind,
                     a->symmetry == SPRY_SYMMETRY_SKEW ? "0" : "real");
}

spry_status matrix_check_entries(spry_context *ctx, const matrix_arrays *a,
                                 const spry_arrays *given)
{
    const int64_t bad = find_bad_entry(ctx, a);
    return bad < a->nnz ? fail_entry(ctx, a, given, bad) : SPRY_STATUS_OK;
}

spry_status matrix_check_arrays(spry_context *ctx, const matrix_arrays *arrays)
{
    const spry_arrays shown = matrix_shown(arrays);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_check_header(ctx, arrays));
    if (arrays->offsets)
        SPRY_GO(ctx, matrix_check_offsets(ctx, arrays, 0));
    SPRY_GO(ctx, matrix_check_entries(ctx, arrays, &shown));
done:
    return status;
}
