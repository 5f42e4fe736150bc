/* What happens to every matrix after its format's reader: CSR, sorted, checked, of the type asked
 * for, expanded. */
#include "io/finish.h"

#include "matrix/entries.h"

static spry_status fault_at(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                            int64_t row, int64_t col, int occurrence, const char *what)
{
    const size_t position =
        format->position_of ? format->position_of(bytes, row, col, occurrence) : bytes->size;
    if (position < bytes->size)
        return io_fault(ctx, bytes, position, "entry (%" PRId64 ", %" PRId64 ") %s", row + 1,
                        col + 1, what);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: entry (%" PRId64 ", %" PRId64 ") %s",
                     bytes->path, row + 1, col + 1, what);
}

/* The first entry of sorted CSR that has the place of the one before it; nnz when there is none. */
static int64_t first_duplicate(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    int64_t first = a->nnz;
#pragma omp parallel for schedule(static) reduction(min      \
                                                    : first) \
    num_threads(spry_context_threads(A->ctx))
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i] + 1; k < a->offsets[i + 1]; k++)
            if (k < first && a->col_index[k] == a->col_index[k - 1])
                first = k;
    return first;
}

static spry_status settle_duplicates(const io_bytes *bytes, const io_format *format,
                                     const read_options *options, spry_matrix *A)
{
    enum { REFUSE, ADD, KEEP };
    if (matrix_is_sorted(A->ctx, A, true) || options->duplicates == KEEP)
        return SPRY_STATUS_OK;
    const int64_t k = first_duplicate(A);
    if (options->duplicates == ADD)
        return spry_matrix_sum_duplicates(A);
    int64_t row, col;
    matrix_place(&A->a, k, &row, &col);
    return fault_at(A->ctx, bytes, format, row, col, 2,
                    "is given a second time; duplicates=sum would add them up");
}

static spry_status check_finite(const io_bytes *bytes, const io_format *format,
                                const spry_matrix *A)
{
    bool finite;
    const spry_status status = matrix_find_out(A->ctx, A, SPRY_FACT_FINITE, &finite);
    if (status != SPRY_STATUS_OK || finite)
        return status;
    int64_t row, col;
    const int64_t k = matrix_first_bad(A);
    matrix_place(&A->a, k, &row, &col);
    return fault_at(A->ctx, bytes, format, row, col, 1,
                    "is not a finite number; nonfinite=keep would let it pass");
}

/* What the option calls auto is 0; then the types follow in their order. */
static spry_type wanted_type(const read_options *options, spry_type found)
{
    return options->type == 0 ? found : (spry_type)(options->type - 1);
}

/* Whether a number leaves the range of single precision: downwards to 0, or upwards. */
static bool is_lost(spry_scalar v, bool above)
{
    const float re = (float)v.re, im = (float)v.im;
    return above ? (isfinite(v.re) && !isfinite(re)) || (isfinite(v.im) && !isfinite(im))
                 : (v.re != 0 && re == 0) || (v.im != 0 && im == 0);
}

/* What a conversion to a shorter type loses: numbers beyond its range are refused with the place of
 * the first, unless those that are not finite are wanted; those that become 0 are counted. The
 * numbers are those of a matrix, or a dense array's, whose columns are so long. */
static spry_status check_range(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                               const read_options *options, const matrix_arrays *a, int64_t column)
{
    const spry_type type = wanted_type(options, a->type);
    int64_t zeros = 0, beyond = a->nnz;
    if (!type_is_single(type) || type_is_single(a->type))
        return SPRY_STATUS_OK;
#pragma omp parallel for schedule(static) reduction(+ : zeros) reduction(min : beyond) \
    num_threads(matrix_parts(ctx, a->nnz))
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        zeros += is_lost(v, false);
        if (k < beyond && is_lost(v, true))
            beyond = k;
    }
    if (zeros > 0)
        base_log(ctx, SPRY_LOG_WARNING,
                 "%s: %" PRId64 " of %" PRId64 " numbers are below the range of type %s and become "
                 "0; type=%s keeps them",
                 bytes->path, zeros, a->nnz, spry_type_name(type), spry_type_name(a->type));
    if (beyond == a->nnz || options->nonfinite != 0)
        return SPRY_STATUS_OK;
    char what[160], text[VALUE_TEXT];
    int64_t row = column > 0 ? beyond % column : 0, col = column > 0 ? beyond / column : 0;
    if (column == 0)
        matrix_place(a, beyond, &row, &col);
    snprintf(what, sizeof what, "is %s, beyond the range of type %s; type=%s holds it",
             value_text(a->type, value_load(a->type, a->values, beyond), text),
             spry_type_name(type), spry_type_name(a->type));
    return fault_at(ctx, bytes, format, row, col, 1, what);
}

/* Puts new in the place of *A. */
static void replace(spry_matrix **A, spry_matrix *new)
{
    spry_matrix_free(*A);
    *A = new;
}

/* A few bytes may promise billions of rows, which are nothing but zeros: their memory is bounded by
 * the size of the file, or of its unpacked content, unless a memory limit was given.
 */
static spry_status check_promise(const io_bytes *bytes, const spry_matrix *A)
{
    const double least = 1 << 26, times = 100;
    const matrix_arrays *a = &A->a;
    const double most = least + times * ((double)bytes->size + 8 * (double)a->nnz);
    const int64_t lines = a->rows > a->cols ? a->rows : a->cols;
    if (!A->ctx->meminfo || 8 * (double)lines <= most)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s: is %" PRId64 " x %" PRId64 " with %" PRId64 " entries in a file of %zu "
                     "bytes: almost all of it is empty, and would take %" PRId64
                     " bytes and more; if that is meant, set the memory it may take: "
                     "memory_limit=%" PRId64,
                     bytes->path, a->rows, a->cols, a->nnz, bytes->size, 8 * lines, 32 * lines);
}

spry_status io_finish_matrix(const io_bytes *bytes, const io_format *format,
                             const read_options *options, spry_matrix **A)
{
    enum { REFUSE, KEEP };
    spry_status status = SPRY_STATUS_OK;
    spry_context *ctx = (*A)->ctx;
    spry_matrix *other = NULL;
    SPRY_GO(ctx, check_promise(bytes, *A));
    SPRY_GO(ctx, matrix_become(*A, SPRY_FORMAT_CSR));
    SPRY_GO(ctx, io_go_on(ctx, bytes->path));
    SPRY_GO(ctx, spry_matrix_sort(*A));
    SPRY_GO(ctx, io_go_on(ctx, bytes->path));
    SPRY_GO(ctx, settle_duplicates(bytes, format, options, *A));
    if (options->nonfinite == REFUSE)
        SPRY_GO(ctx, check_finite(bytes, format, *A));
    const spry_type type = wanted_type(options, (*A)->a.type);
    if (type != (*A)->a.type) {
        SPRY_GO(ctx, check_range(ctx, bytes, format, options, &(*A)->a, 0));
        SPRY_GO(ctx, spry_matrix_cast(*A, type, &other));
        replace(A, other);
    }
    if (options->expand && (*A)->a.symmetry != SPRY_SYMMETRY_GENERAL) {
        SPRY_GO(ctx, spry_matrix_expand(*A, &other));
        replace(A, other);
    }
done:
    return status;
}

spry_status io_finish_vector(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                             const read_options *options, io_dense *dense, spry_vector **v,
                             int64_t *cols)
{
    enum { REFUSE, KEEP };
    spry_status status = SPRY_STATUS_OK;
    const spry_type type = wanted_type(options, dense->type);
    const int64_t n = dense->rows * dense->cols;
    spry_vector *found = NULL;
    const bool single = dense->rows == 1 || dense->cols == 1 || n == 0;
    if (cols)
        *cols = single ? 1 : dense->cols;
    else if (!single)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: is %" PRId64 " x %" PRId64 "; a vector has one column, or one row",
                         bytes->path, dense->rows, dense->cols);
    for (int64_t k = 0; k < n && options->nonfinite == REFUSE; k++)
        if (!value_finite(value_get(dense->type, dense->values, k)))
            return fault_at(ctx, bytes, format, k % dense->rows, k / dense->rows, 1,
                            "is not a finite number; nonfinite=keep would let it pass");
    /* A column after the other, as if they were one. */
    const matrix_arrays numbers = {.type = dense->type, .values = dense->values, .nnz = n};
    SPRY_GO(ctx, check_range(ctx, bytes, format, options, &numbers, dense->rows));
    SPRY_GO(ctx, spry_vector_new(ctx, dense->type, n, dense->values, SPRY_OWN_TAKE, &found));
    dense->values = NULL;
    if (type == dense->type) {
        *v = found;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_TAKE, v));
    SPRY_GO(ctx, spry_vector_copy(found, *v));
done:
    spry_vector_free(found);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}
