/*
 * Residuals in about twice the precision: where rounding has a say in whether a solve has
 * converged, and for the last digits of a direct solve: refinement with residuals in about twice
 * the precision, so that x comes as near to the solution as its own digits allow (C. B. Moler,
 * Iterative refinement in floating point, J. ACM 14 (1967), 316-321). Sums are kept as pairs of
 * numbers (T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26
 * (2005), 1955-1988). This file is compiled without contractions, which would change what is left
 * of a sum.
 */
#include "krylov/singular.h"
#include "krylov/solver.h"

#include "device/linalg/operator.h"
#include "matrix/entries.h"

#include <math.h>

/* A number and what its rounding left out. */
typedef struct pair {
    double high, low;
} pair;

static void add(pair *sum, double a)
{
    const double s = sum->high + a, part = s - sum->high;
    sum->low += (sum->high - (s - part)) + (a - part);
    sum->high = s;
}

/* sum - a b */
static void subtract_product(pair *sum, double a, double b)
{
    const double p = a * b;
    add(sum, -p);
    sum->low -= fma(a, b, -p);
}

/* b - A x of real numbers, with which complex sums would do four times the work. */
static double real_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
                                const spry_vector *x, double scale)
{
    pair sum = {scale * value_get(b->type, b->data, i).re, 0};
    if (a->type == SPRY_TYPE_D && x->type == SPRY_TYPE_D) {
        const double *values = a->values, *w = x->data;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            subtract_product(&sum, values[k], scale * w[a->col_index[k]]);
    } else {
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            subtract_product(&sum, value_load(a->type, a->values, k).re,
                             scale * value_load(x->type, x->data, a->col_index[k]).re);
    }
    return sum.high + sum.low;
}

spry_scalar polish_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
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

/* r = b - A x of vectors of the host, and |r|. */
static spry_status wide_norm(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                             spry_vector *r, double *norm)
{
    const int64_t n = A->a.rows;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, A->a.nnz)) schedule(static)
    for (int64_t i = 0; i < n; i++)
        value_set(r->type, r->data, i, polish_row_residual(&A->a, i, b, x, 1));
    return spry_vector_norm(r, norm);
}

/* |b - A x| / |b|, of vectors of the host; r is where the residual goes. */
static spry_status wide_residual(const iteration *it, const spry_matrix *A, const spry_vector *b,
                                 const spry_vector *x, spry_vector *r, double *relative)
{
    double norm = NAN;
    const spry_status status = wide_norm(A, b, x, r, &norm);
    *relative = norm / it->b_norm;
    return status;
}

spry_status polish_measure(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                           double *norm)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    const spry_vector *b_here = NULL, *x_here = NULL;
    spry_matrix *owned = NULL;
    spry_vector *own_b = NULL, *own_x = NULL, *r = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, vector_here(b, &b_here, &own_b));
    SPRY_GO(ctx, vector_here(x, &x_here, &own_x));
    SPRY_GO(ctx, spry_vector_new(ctx, b->type, b->n, NULL, SPRY_OWN_COPY, &r));
    SPRY_GO(ctx, wide_norm(csr, b_here, x_here, r, norm));
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
static void find_bounds(const spry_matrix *A, bool columns, polish_bounds *bounds)
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
    SPRY_GO(ctx, polish_measure(it->matrix, it->b, it->x, &norm));
    it->truth = norm / it->b_norm;
done:
    return status;
}

/* x is the best that was kept. */
static spry_status take_best(iteration *it)
{
    if (it->truth <= it->saved_residual)
        return SPRY_STATUS_OK;
    it->truth = it->saved_residual;
    return spry_vector_copy(it->saved, it->x);
}

/* One step of refinement, x = x + M r, with the residual after it; the size of the step. */
static spry_status refine_once(iteration *it, const spry_matrix *A, const spry_operator *M,
                               spry_vector *z, double *step)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_operator_apply(M, it->spare, z));
    SPRY_GO(ctx, spry_vector_norm(z, step));
    SPRY_GO(ctx, spry_vector_axpy((spry_scalar){1, 0}, z, it->x));
    SPRY_GO(ctx, wide_residual(it, A, it->b, it->x, it->spare, &it->truth));
    it->count++;
    it->residual = it->truth;
    SPRY_GO(ctx, iteration_note(it));
done:
    return status;
}

/*
 * Refines x for as long as the residual falls or steps become shorter: where rounding allows no
 * smaller residual, steps still bring x nearer to the solution. An x that steps no longer change is
 * the one to hand back, also where one on the way had a smaller residual by chance.
 */
static spry_status refine(iteration *it, const spry_matrix *A, const spry_operator *M)
{
    spry_context *ctx = it->ctx;
    const int steps = 12;
    const double worth = 0.9, shorter = 0.5, still = 2 * measure_unit(it->x->type);
    double before = INFINITY, last = INFINITY, step = INFINITY, size;
    spry_vector *z = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(it->x, it->x->n, &z));
    SPRY_GO(ctx, wide_residual(it, A, it->b, it->x, it->spare, &it->truth));
    it->saved_residual = INFINITY;
    for (int k = 0; k < steps && isfinite(it->truth); k++) {
        SPRY_GO(ctx, iteration_keep(it, it->truth));
        SPRY_GO(ctx, precon_go_on(ctx, "refinement"));
        const bool helps = k < 2 || it->truth <= worth * before || step <= shorter * last;
        if (it->truth <= it->tol || !helps || it->count >= it->options->max_iter)
            break;
        before = it->truth;
        last = step;
        SPRY_GO(ctx, refine_once(it, A, M, z, &step));
    }
    SPRY_GO(ctx, spry_vector_norm(it->x, &size));
    if (!(step <= still * size) || !isfinite(it->truth) || it->saved_residual <= it->tol)
        SPRY_GO(ctx, take_best(it));
done:
    spry_vector_free(z);
    return status;
}

/* What the factors are: those of lower precision are not what rounding is measured by. */
static void tell_rounding(iteration *it, const spry_operator *M, double level)
{
    it->at_rounding = true;
    it->reason = SPRY_REASON_STAGNATED;
    snprintf(it->detail, sizeof it->detail,
             "%.2g is out of reach of %s precision for this A and b: rounding allows %.1g, and x, "
             "refined with %s factors, stays at %.2g",
             it->tol, type_is_single(it->A->type) ? "single" : "double", level,
             M->single ? "single-precision" : "exact", it->truth);
}

/* What factors could not do nothing else can, where A is singular, or rounding makes as much. */
static spry_status judge(iteration *it, const spry_matrix *A, const spry_operator *M)
{
    spry_context *ctx = it->ctx;
    const double near = 10, sensible = 0.1, seconds = 5;
    double level;
    singular_result found;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, measure_rounding(it, &level));
    if (it->truth <= near * level && it->truth < sensible) {
        tell_rounding(it, M, level);
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, singular_solve(A, M, it->b, it->x, it->tol, seconds, &found));
    if (found.singular) {
        SPRY_GO(ctx, wide_residual(it, A, it->b, it->x, it->spare, &it->truth));
        it->reason = SPRY_REASON_SINGULAR;
        snprintf(it->detail, sizeof it->detail, "%s", found.text);
        order_name_rows(it->order, it->detail, sizeof it->detail);
    } else if (it->truth <= near * level) {
        tell_rounding(it, M, level);
    }
done:
    return status;
}

/* --- from a device and back ---------------------------------------------------------------------
 */

/* What an iteration on a device is finished with on the host: its vectors, and exact factors. */
typedef struct visit {
    const spry_vector *b; /* the iteration's own, as are these */
    spry_vector *x, *spare, *saved;
    spry_vector *own[4];
    spry_operator *M;
} visit;

static spry_status copy_here(const spry_vector *v, spry_vector **here)
{
    const spry_status status = vector_new_at(v->ctx, NULL, v->type, v->n, here);
    return status == SPRY_STATUS_OK ? spry_vector_copy(v, *here) : status;
}

/* *M is the solver's where it works on the host: an inverse that was written out for the device has
 * fewer digits than factors, and no word on pivots that are missing. */
static spry_status bring_home(const spry_solver *solver, iteration *it, const spry_matrix *A,
                              visit *v, const spry_operator **M)
{
    spry_context *ctx = it->ctx;
    char name[32];
    spry_status status = SPRY_STATUS_OK;
    *v = (visit){it->b, it->x, it->spare, it->saved, {NULL}, NULL};
    *M = solver_precon(solver);
    if (device_of(*M) && !solver->given_precon) {
        SPRY_GO(ctx, precon_make_beside(ctx, A, NULL, solver->precon_spec, &v->M, name));
        *M = v->M;
    }
    if (!it->x->device)
        return SPRY_STATUS_OK;
    const spry_vector *const from[] = {it->b, it->x, it->spare, it->saved};
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, copy_here(from[k], &v->own[k]));
    it->b = v->own[0];
    it->x = v->own[1];
    it->spare = v->own[2];
    it->saved = v->own[3];
done:
    return status;
}

/* The iteration is as it was, with the x of the host where that came so far. */
static spry_status go_back(iteration *it, visit *v, spry_status status)
{
    spry_context *ctx = it->ctx;
    const spry_status came = status;
    it->b = v->b;
    it->x = v->x;
    it->spare = v->spare;
    it->saved = v->saved;
    if (v->own[3] && (came == SPRY_STATUS_OK || came == SPRY_STATUS_INTERRUPTED)) {
        SPRY_GO(ctx, spry_vector_copy(v->own[1], it->x));
        SPRY_GO(ctx, spry_vector_copy(v->own[3], it->saved));
        status = came;
    }
done:
    for (int k = 0; k < 4; k++)
        spry_vector_free(v->own[k]);
    spry_operator_free(v->M);
    return status;
}

static spry_status polish(iteration *it, const spry_matrix *A, const spry_operator *M)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, refine(it, A, M));
    if (!(it->truth <= it->tol))
        SPRY_GO(ctx, judge(it, A, M));
    if (it->truth <= it->tol) {
        it->reason = SPRY_REASON_CONVERGED;
        it->detail[0] = '\0';
    }
done:
    return status;
}

spry_status solver_polish(const spry_solver *solver, iteration *it)
{
    spry_context *ctx = it->ctx;
    const spry_matrix *csr = NULL;
    const spry_operator *M = NULL;
    spry_matrix *owned = NULL;
    visit v;
    spry_status status = SPRY_STATUS_OK;
    const bool least_squares = isfinite(it->gradient); /* and the method has made the best of it */
    if (it->reason == SPRY_REASON_CONVERGED || it->stop || it->null || least_squares ||
        solver->within || !solver->matrix || !solver_precon(solver) ||
        strcmp(solver->precon_name, "direct") != 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_as_sorted_csr(solver->matrix, &csr, &owned));
    status = bring_home(solver, it, csr, &v, &M);
    if (status == SPRY_STATUS_OK)
        status = polish(it, csr, M);
    SPRY_GO(ctx, go_back(it, &v, status));
done:
    spry_matrix_free(owned);
    return status;
}
