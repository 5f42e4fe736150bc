/*
 * Residuals in about twice the precision, where rounding may decide whether a solve has converged
 * and for iterative refinement. Sums are kept as pairs of numbers (T. Ogita, S. M. Rump, S. Oishi,
 * Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005), 1955-1988). This file is compiled
 * without contractions, which would change what is left of a sum.
 */
#include "krylov/solver.h"

#include "matrix/entries.h"

#include <math.h>

/* A number and what its rounding left out. */
typedef struct pair {
    double high, low;
} pair;

ALWAYS_INLINE void add(pair *sum, double a)
{
    const double s = sum->high + a, part = s - sum->high;
    sum->low += (sum->high - (s - part)) + (a - part);
    sum->high = s;
}

/* sum - a b */
ALWAYS_INLINE void subtract_product(pair *sum, double a, double b)
{
    const double p = a * b;
    add(sum, -p);
    sum->low -= fma(a, b, -p);
}

/* The same for a row, of doubles. */
ALWAYS_INLINE double add_row(pair sum, const matrix_arrays *a, int64_t i, const double *x,
                             double scale)
{
    const double *values = a->values;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        subtract_product(&sum, values[k], scale * x[a->col_index[k]]);
    return sum.high + sum.low;
}

static double row_by_call(pair sum, const matrix_arrays *a, int64_t i, const double *x,
                          double scale)
{
    return add_row(sum, a, i, x, scale);
}

/* fma() as one instruction, where the processor has it and the build does not count on it. */
#ifdef __x86_64__
__attribute__((target("fma"))) static double row_by_fma(pair sum, const matrix_arrays *a, int64_t i,
                                                        const double *x, double scale)
{
    return add_row(sum, a, i, x, scale);
}
#define HAS_FMA __builtin_cpu_supports("fma")
#else
#define row_by_fma row_by_call
#define HAS_FMA 0
#endif

/* b - A x of real numbers, with which complex sums would do four times the work. */
static double real_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
                                const spry_vector *x, double scale)
{
    pair sum = {scale * value_load(b->type, b->data, i).re, 0};
    if (a->type == SPRY_TYPE_D && x->type == SPRY_TYPE_D)
        return (HAS_FMA ? row_by_fma : row_by_call)(sum, a, i, x->data, scale);
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
        subtract_product(&sum, value_load(a->type, a->values, k).re,
                         scale * value_load(x->type, x->data, a->col_index[k]).re);
    return sum.high + sum.low;
}

spry_scalar wide_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
                              const spry_vector *x, double scale)
{
    if (!spry_type_is_complex(a->type) && !spry_type_is_complex(x->type) &&
        !spry_type_is_complex(b->type))
        return (spry_scalar){real_row_residual(a, i, b, x, scale), 0};
    const spry_scalar first = value_get(b->type, b->data, i);
    pair re = {scale * first.re, 0}, im = {scale * first.im, 0};
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        spry_scalar w = value_load(x->type, x->data, a->col_index[k]);
        w.re *= scale;
        w.im *= scale;
        subtract_product(&re, v.re, w.re);
        subtract_product(&re, -v.im, w.im);
        subtract_product(&im, v.re, w.im);
        subtract_product(&im, v.im, w.re);
    }
    return (spry_scalar){re.high + re.low, im.high + im.low};
}

typedef struct residual_rows {
    const matrix_arrays *a;
    const spry_vector *b, *x;
    spry_vector *r;
} residual_rows;

static void run_rows(void *argument, int share, int shares)
{
    const residual_rows *w = argument;
    const int64_t begin = w->a->rows * share / shares, end = w->a->rows * (share + 1) / shares;
    for (int64_t i = begin; i < end; i++)
        value_store(w->r->type, w->r->data, i, wide_row_residual(w->a, i, w->b, w->x, 1));
}

/* r = b - A x of vectors of the host, and |r|. */
static spry_status wide_norm(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                             spry_vector *r, double *norm)
{
    residual_rows w = {&A->a, b, x, r};
    base_share_out(A->ctx, matrix_parts(A->ctx, A->a.nnz), run_rows, &w);
    return spry_vector_norm(r, norm);
}

spry_status wide_residual(const iteration *it, const spry_matrix *A, const spry_vector *b,
                          const spry_vector *x, spry_vector *r, double *relative)
{
    double norm = NAN, size = NAN;
    bool finite = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(it->ctx, wide_norm(A, b, x, r, &norm));
    SPRY_GO(it->ctx, spry_vector_norm(x, &size));
    SPRY_GO(it->ctx, iteration_is_finite(x, size, &finite));
done:
    *relative = finite ? norm / it->b_norm : NAN;
    return status;
}

spry_status wide_measure(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                         spry_vector *room, double *norm)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    const spry_vector *b_host = NULL, *x_host = NULL;
    spry_matrix *owned = NULL;
    spry_vector *own_b = NULL, *own_x = NULL, *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, vector_on_host(b, &b_host, &own_b));
    SPRY_GO(ctx, vector_on_host(x, &x_host, &own_x));
    const bool fits = room && !room->device && !room->part.is && room->type == b->type;
    if (!fits)
        SPRY_GO(ctx, spry_vector_new(ctx, b->type, b->n, NULL, SPRY_OWN_COPY, &r));
    SPRY_GO(ctx, wide_norm(csr, b_host, x_host, fits ? room : r, norm));
done:
    spry_vector_free(r);
    spry_vector_free(own_x);
    spry_vector_free(own_b);
    spry_matrix_free(owned);
    return status;
}

/* The largest sum of absolute values of a row, by all threads. */
static double largest_row(const spry_matrix *A, const host_kernels *kernels, const host_csr *csr)
{
    enum { ROWS = 4096 };
    const int64_t n = A->a.rows, parts = (n + ROWS - 1) / ROWS;
    double most = 0;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, A->a.nnz)) schedule(static) \
    reduction(max                                                                     \
              : most)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t end = (part + 1) * ROWS < n ? (part + 1) * ROWS : n;
        most = fmax(most, kernels->csr_sizes(csr, part * ROWS, end, NULL));
    }
    return most;
}

/* The largest sum of absolute values of a column. */
static double largest_column(const spry_matrix *A, const host_kernels *kernels, const host_csr *csr)
{
    double *columns = NULL, most = 0;
    if (base_calloc(A->ctx, A->a.cols, sizeof *columns, &columns) != SPRY_STATUS_OK)
        return INFINITY;
    kernels->csr_sizes(csr, 0, A->a.rows, columns);
    for (int64_t j = 0; j < A->a.cols; j++)
        most = fmax(most, columns[j]);
    base_free(A->ctx, columns);
    return most;
}

/* What rounding makes of a sum of a row, over that of its absolute values. */
static double rounding_of(const spry_matrix *A)
{
    return (double)(matrix_longest_row(A->ctx, &A->a) + 2) * measure_unit(A->a.type);
}

/* Of rows first, by all threads: columns are asked for where that does not do. */
static void find_bounds(const spry_matrix *A, bool columns, wide_bounds *bounds)
{
    const matrix_arrays *a = &A->a;
    const host_kernels *kernels = host_kernels_for(A->ctx, a->type);
    const host_csr csr = {a->offsets, a->col_index, a->values};
    const bool alike = matrix_known(A, SPRY_FACT_HERMITIAN) == SPRY_TRUTH_YES ||
                       matrix_known(A, SPRY_FACT_SYMMETRIC) == SPRY_TRUTH_YES;
    const bool unknown = a->format != SPRY_FORMAT_CSR || a->symmetry != SPRY_SYMMETRY_GENERAL;
    if (isnan(bounds->rows))
        bounds->rows = unknown ? INFINITY : rounding_of(A) * largest_row(A, kernels, &csr);
    if (!columns || !isnan(bounds->both))
        return;
    const double other =
        unknown || alike ? bounds->rows : rounding_of(A) * largest_column(A, kernels, &csr);
    bounds->both = sqrt(bounds->rows) * sqrt(other);
}

/* Whether such rounding of the residual has no say. */
static bool is_settled(const iteration *it, double rounding)
{
    const double share = 0.01;
    return rounding <= share * it->truth && rounding < fabs(it->truth - it->tol);
}

spry_status iteration_confirm(iteration *it)
{
    spry_context *ctx = it->ctx;
    double size, norm;
    spry_status status = SPRY_STATUS_OK;
    if (!it->matrix || !isfinite(it->truth))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, vector_largest(it->x, &size));
    if (spry_type_is_complex(it->x->type)) /* of its parts */
        size *= sqrt(2);
    find_bounds(it->matrix, false, it->bounds);
    if (size == 0 ||
        is_settled(it, it->bounds->rows * sqrt((double)it->A->rows) * (size / it->b_norm)))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(it->x, &norm));
    find_bounds(it->matrix, true, it->bounds);
    if (is_settled(it, it->bounds->both * (norm / it->b_norm)))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, wide_measure(it->matrix, it->b, it->x, it->spare, &norm));
    it->truth = norm / it->b_norm;
done:
    return status;
}
