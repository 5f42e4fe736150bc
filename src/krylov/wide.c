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

/* scale (b - A x) of rows begin..end-1, of doubles. */
ALWAYS_INLINE void add_rows(const matrix_arrays *a, int64_t begin, int64_t end, const double *b,
                            const double *x, double scale, double *r)
{
    const double *values = a->values;
    for (int64_t i = begin; i < end; i++) {
        pair sum = {scale * b[i], 0};
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            subtract_product(&sum, values[k], scale * x[a->col_index[k]]);
        r[i - begin] = sum.high + sum.low;
    }
}

static void rows_by_call(const matrix_arrays *a, int64_t begin, int64_t end, const double *b,
                         const double *x, double scale, double *r)
{
    add_rows(a, begin, end, b, x, scale, r);
}

/* fma() as one instruction, where the processor has it and the build does not count on it. */
#ifdef __x86_64__
__attribute__((target("fma"))) static void rows_by_fma(const matrix_arrays *a, int64_t begin,
                                                       int64_t end, const double *b,
                                                       const double *x, double scale, double *r)
{
    add_rows(a, begin, end, b, x, scale, r);
}
#define HAS_FMA __builtin_cpu_supports("fma")
#else
#define rows_by_fma rows_by_call
#define HAS_FMA 0
#endif

/* b - A x of real numbers, with which complex sums would do four times the work. */
static double real_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
                                const spry_vector *x, double scale)
{
    double r = 0;
    if (a->type == SPRY_TYPE_D && x->type == SPRY_TYPE_D && b->type == SPRY_TYPE_D) {
        (HAS_FMA ? rows_by_fma : rows_by_call)(a, i, i + 1, b->data, x->data, scale, &r);
        return r;
    }
    pair sum = {scale * value_load(b->type, b->data, i).re, 0};
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
    const bool doubles = w->a->type == SPRY_TYPE_D && w->b->type == SPRY_TYPE_D &&
                         w->x->type == SPRY_TYPE_D && w->r->type == SPRY_TYPE_D;
    if (doubles)
        (HAS_FMA ? rows_by_fma : rows_by_call)(w->a, begin, end, w->b->data, w->x->data, 1,
                                               (double *)w->r->data + begin);
    for (int64_t i = begin; i < end && !doubles; i++)
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

enum { PARTS_MOST = 256 };

/* What rows of A show; what is the largest does not depend on how they are cut. */
typedef struct row_sizes {
    const matrix_arrays *a;
    const host_kernels *kernels;
    double sum[PARTS_MOST]; /* the largest of absolute values, of each part */
    int64_t longest[PARTS_MOST];
} row_sizes;

static void size_rows(void *argument, int share, int shares)
{
    row_sizes *s = argument;
    const matrix_arrays *a = s->a;
    const host_csr csr = {a->offsets, a->col_index, a->values};
    const range rows = base_share(a->rows, shares, share, 1);
    int64_t longest = 0;
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const int64_t length = a->offsets[i + 1] - a->offsets[i];
        longest = length > longest ? length : longest;
    }
    s->longest[share] = longest;
    s->sum[share] = s->kernels->csr_sizes(&csr, rows.begin, rows.end, NULL);
}

/* What rounding makes of a sum of a row: over that of its absolute values, and over the largest
 * number of x. By the threads of iterations: those of OpenMP may have ended, and take longer to
 * start than this. */
static void find_row_bounds(const spry_matrix *A, const host_kernels *kernels, wide_bounds *bounds)
{
    row_sizes s = {.a = &A->a, .kernels = kernels};
    const int threads = matrix_parts(A->ctx, A->a.nnz);
    const int parts = threads < PARTS_MOST ? threads : PARTS_MOST;
    double sum = 0;
    int64_t longest = 0;
    base_share_out(A->ctx, parts, size_rows, &s);
    for (int p = 0; p < parts; p++) {
        sum = fmax(sum, s.sum[p]);
        longest = s.longest[p] > longest ? s.longest[p] : longest;
    }
    bounds->unit = (double)(longest + 2) * measure_unit(A->a.type);
    bounds->rows = bounds->unit * sum;
}

/* The largest sum of absolute values of a column. */
static double largest_column(const spry_matrix *A, const host_kernels *kernels)
{
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    double *columns = NULL, most = 0;
    if (base_calloc(A->ctx, A->a.cols, sizeof *columns, &columns) != SPRY_STATUS_OK)
        return INFINITY;
    kernels->csr_sizes(&csr, 0, A->a.rows, columns);
    for (int64_t j = 0; j < A->a.cols; j++)
        most = fmax(most, columns[j]);
    base_free(A->ctx, columns);
    return most;
}

/* Of rows first, by all threads: columns are asked for where that does not do. */
static void find_bounds(const spry_matrix *A, bool columns, wide_bounds *bounds)
{
    const matrix_arrays *a = &A->a;
    const host_kernels *kernels = host_kernels_for(A->ctx, a->type);
    const bool alike = matrix_known(A, SPRY_FACT_HERMITIAN) == SPRY_TRUTH_YES ||
                       matrix_known(A, SPRY_FACT_SYMMETRIC) == SPRY_TRUTH_YES;
    const bool unknown = a->format != SPRY_FORMAT_CSR || a->symmetry != SPRY_SYMMETRY_GENERAL;
    if (isnan(bounds->rows) && unknown)
        bounds->rows = INFINITY;
    else if (isnan(bounds->rows))
        find_row_bounds(A, kernels, bounds);
    if (!columns || !isnan(bounds->both))
        return;
    const double other =
        unknown || alike ? bounds->rows : bounds->unit * largest_column(A, kernels);
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
