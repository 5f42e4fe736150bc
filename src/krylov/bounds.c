/*
 * How good an x is: its componentwise backward error, a bound for its error, where one can be
 * proven (enclose.c), and after exact factors an estimate. The latter is Skeel's condition number
 * |A^-1| |A|, estimated once for the factors, times the largest residual of a row relative to |A|'s
 * row; where that says little, |A^-1| |r| of the residual itself. Residuals are computed in twice
 * the precision, so that what rounding adds to them is as good as nothing.
 *
 * W. Oettli, W. Prager, Numer. Math. 6 (1964), 405-409; R. D. Skeel, Scaling for numerical
 * stability in Gaussian elimination, J. ACM 26 (1979), 494-526; M. Arioli, J. W. Demmel,
 * I. S. Duff, Solving sparse linear systems with sparse backward error, SIAM J. Matrix Anal. Appl.
 * 10 (1989), 165-190.
 */
#include "direct/norm.h"
#include "krylov/enclose.h"
#include "krylov/solver.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

#include <private/programs.h>

#include <float.h>

ALWAYS_INLINE double size_at(spry_type type, const void *values, int64_t k)
{
    return scalar_size(type, value_load(type, values, k));
}

/* --- norms of the inverse
 * -------------------------------------------------------------------------------
 */

/* The map D A^-H, whose 1-norm is the largest row of |A^-1| D. */
typedef struct inverse {
    const spry_operator *M;
    const double *sums;
    void *y; /* what products come to */
} inverse;

static void weigh(const factor_map *map, const double *sums)
{
    for (int64_t i = 0; i < map->n; i++) {
        const spry_scalar v = value_load(map->type, map->x, i);
        value_store(map->type, map->x, i, (spry_scalar){sums[i] * v.re, sums[i] * v.im});
    }
}

static spry_status apply(const factor_map *map, bool back)
{
    const inverse *inv = map->data;
    if (back)
        weigh(map, inv->sums);
    const spry_status status =
        inv->M->class->multiply(inv->M, back ? SPRY_TRANSPOSE_NO : SPRY_TRANSPOSE_CONJUGATE,
                                (spry_scalar){1, 0}, map->x, (spry_scalar){0, 0}, inv->y);
    memcpy(map->x, inv->y, (size_t)map->n * spry_type_size(map->type));
    if (!back)
        weigh(map, inv->sums);
    return status;
}

/* The largest row of |A^-1| D, estimated from below. */
static spry_status find_norm(const spry_operator *M, const double *sums, double *norm)
{
    spry_context *ctx = M->ctx;
    inverse inv = {.M = M, .sums = sums};
    factor_map map = {.ctx = ctx, .type = M->type, .n = M->rows, .apply = apply, .data = &inv};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, map.n, spry_type_size(map.type), &map.x));
    SPRY_GO(ctx, base_alloc(ctx, map.n, spry_type_size(map.type), &inv.y));
    SPRY_GO(ctx, factor_norm(&map, norm));
done:
    base_free(ctx, map.x);
    base_free(ctx, inv.y);
    return status;
}

/* --- residuals -----------------------------------------------------------------------------------
 */

typedef struct row_measure {
    double terms;    /* |b_i| + |A| |x| */
    double sum;      /* |A| */
    double residual; /* at most */
} row_measure;

/* Adds up |A| and |A| |x| of a row; returns what their products with x lose. */
ALWAYS_INLINE double add_terms(const matrix_arrays *a, spry_type type, int64_t i,
                               const spry_vector *x, double scale, row_measure *m)
{
    double sum = 0, terms = 0, lost = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const double size = size_at(type, a->values, k);
        const spry_scalar v = value_load(type, x->data, a->col_index[k]);
        sum += size;
        terms += size * (scale * scalar_size(type, v));
        lost += size * enclose_lost(v, scale);
    }
    m->sum += sum;
    m->terms += terms;
    return lost;
}

static row_measure measure_row(const matrix_arrays *a, int64_t i, const spry_vector *b,
                               const spry_vector *x, double scale)
{
    const spry_scalar own = value_load(b->type, b->data, i);
    row_measure m = {.terms = scale * scalar_size(b->type, own)};
    const spry_scalar r = wide_row_residual(a, i, b, x, scale);
    const double lost = enclose_lost(own, scale) + (a->type == SPRY_TYPE_D
                                                        ? add_terms(a, SPRY_TYPE_D, i, x, scale, &m)
                                                        : add_terms(a, a->type, i, x, scale, &m));
    /* As many roundings of roundings as there are sums, and one at the end; what a product leaves
     * may be below all numbers. */
    const int64_t count = 4 * (a->offsets[i + 1] - a->offsets[i]) + 4;
    const double sums = (double)count;
    m.residual = hypot(r.re, r.im) * (1 + 4 * DBL_EPSILON) +
                 sums * sums * DBL_EPSILON * DBL_EPSILON * m.terms + 2 * lost;
    if (m.terms > 0)
        m.residual += enclose_vanished(count, m.terms);
    return m;
}

/* The largest of all rows: residuals relative to terms and to sums; both go to their places. */
static void measure_rows(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                         double scale, double *sums, double *residuals, double *backward,
                         double *relative)
{
    const int64_t n = A->a.rows;
    double worst = 0, most = 0;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, A->a.nnz)) schedule(static) \
    reduction(max                                                                     \
              : worst, most)
    for (int64_t i = 0; i < n; i++) {
        const row_measure m = measure_row(&A->a, i, b, x, scale);
        sums[i] = m.sum;
        residuals[i] = m.residual;
        /* a thread begins below 0; what is not finite is reported as infinite */
        worst = fmax(worst, 0);
        most = fmax(most, 0);
        worst = m.residual <= worst * m.terms ? worst : fmin(m.residual / m.terms, INFINITY);
        most = m.residual <= most * m.sum ? most : fmin(m.residual / m.sum, INFINITY);
    }
    *backward = worst;
    *relative = most;
}

/* The factors of A that the last solve had; NULL: there are none. An inverse that was written out
 * for a device has fewer digits: *own are factors of the host. */
static spry_status find_factors(const spry_solver *solver, const spry_operator **factors,
                                spry_operator **own)
{
    const spry_operator *M = solver_precon(solver);
    char name[32];
    spry_status status = SPRY_STATUS_OK;
    *factors = NULL;
    if (solver->setup.made != STAGE_ALL || !M || M->single || solver_has_null_space(solver) ||
        !precon_is_exact(solver->setup.precon_name))
        return SPRY_STATUS_OK;
    if (M->device && !precon_direct_factors(M) && !solver->asked.precon) {
        SPRY_GO(solver->ctx, precon_make(solver->ctx, solver->setup.matrix, NULL,
                                         &solver->setup.made_spec, NULL, own, name));
        M = *own;
    }
    if ((!M->device || precon_direct_factors(M)) && spry_operator_has_transpose(M))
        *factors = M;
done:
    return status;
}

/* The largest of a vector's numbers, which are scaled before: those below the normal ones have no
 * size to all digits. */
static double largest_of(const spry_vector *v, double scale)
{
    double largest = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const spry_scalar a = value_load(v->type, v->data, i);
        largest = fmax(largest, scalar_size(v->type, (spry_scalar){scale * a.re, scale * a.im}));
    }
    return largest;
}

/* A power of two that brings x to about 1, so that residuals relative to it are finite, as far as b
 * allows. */
static double find_scale(const spry_vector *b, double largest)
{
    const int most = 1000;
    int of_x, of_b;
    frexp(largest, &of_x);
    frexp(largest_of(b, 1), &of_b);
    if (!(largest > 0) || !isfinite(largest))
        return 1;
    const int up = -of_x < most - of_b ? -of_x : most - of_b;
    return ldexp(1, up < -most ? -most : up > most ? most : up);
}

static spry_status check_pair(const spry_solver *solver, const spry_vector *b, const spry_vector *x)
{
    const spry_matrix *A = solver->setup.matrix;
    if (!A)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "errors of a solution need the entries of A: the solver has no matrix");
    if (b->n != A->a.rows || x->n != A->a.cols || b->type != A->a.type || x->type != A->a.type)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "b and x have %" PRId64 " and %" PRId64
                         " elements of types %s and %s, the "
                         "matrix is %" PRId64 " x %" PRId64 " of type %s",
                         b->n, x->n, spry_type_name(b->type), spry_type_name(x->type), A->a.rows,
                         A->a.cols, spry_type_name(A->a.type));
    return SPRY_STATUS_OK;
}

/* What is asked for of an x, and found. */
typedef struct errors {
    double backward;
    double bound;    /* NaN: none is proven */
    double estimate; /* NaN: there are no factors */
    bool bounds;     /* what is wanted; of both, an estimate only where there is no bound */
    bool estimates;
} errors;

/* Rows of an x that has been measured. */
typedef struct measures {
    const spry_matrix *A;
    const spry_operator *M;
    double *sums, *residuals;
    double relative; /* the largest residual relative to its sum */
    double size;     /* of x, as it was scaled */
} measures;

/* Relative to x, that is of this size. */
static double relative_to(double size, double error)
{
    return error == 0 ? 0 : error / size * (1 + 4 * DBL_EPSILON);
}

/* The rows of A may show it. Else a row of the inverse at a time, as long as that takes little; for
 * others, there is the other way. */
static spry_status prove(const measures *m, double *bound)
{
    const double most = 1e9;              /* bytes */
    const double good = 64 * DBL_EPSILON; /* is worth nothing better */
    double error = enclose_by_dominance(m->A, m->residuals), other = NAN;
    spry_status status = SPRY_STATUS_OK;
    if (m->M && !(error <= good * m->size)) {
        const double bytes = (double)m->M->bytes + 32 * (double)m->A->a.nnz;
        if ((double)m->A->a.rows * bytes <= most)
            SPRY_GO(m->A->ctx, enclose_by_inverse(m->M, m->A, m->residuals, &other));
        else
            SPRY_GO(m->A->ctx, enclose_by_comparison(m->M, m->A, m->sums, m->residuals, &other));
        error = fmin(error, other); /* of a number and NaN the number */
    }
    *bound = relative_to(m->size, error);
done:
    return status;
}

/* Factors do not know of what is below their rounding. */
static spry_status find_estimate(spry_solver *solver, const measures *m, double *found)
{
    const double reserve = 3; /* what the estimate of a norm may be short of */
    const double good = 1e-6; /* what is worth no second estimate */
    const double sensible = 0.01;
    double norm;
    spry_status status = SPRY_STATUS_OK;
    if (isnan(solver->setup.condition) && m->A->a.rows > 0)
        SPRY_GO(solver->ctx, find_norm(m->M, m->sums, &solver->setup.condition));
    *found = m->relative > 0 ? reserve * solver->setup.condition * (m->relative / m->size) : 0;
    if (*found > good && isfinite(*found)) {
        SPRY_GO(solver->ctx, find_norm(m->M, m->residuals, &norm));
        *found = fmin(*found, reserve * norm / m->size);
    }
    if (!(solver->setup.condition * measure_unit(m->A->a.type) <= sensible))
        *found = INFINITY;
done:
    return status;
}

/* Of a dominant A that is at hand as general CSR; of others nothing is found. */
static void judge_quickly(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                          double scale, double size, errors *e)
{
    double error;
    if (A->distributed || A->a.format != SPRY_FORMAT_CSR || A->a.symmetry != SPRY_SYMMETRY_GENERAL)
        return;
    enclose_quickly(&A->a, b, x, scale, &e->backward, &error);
    e->bound = relative_to(size, error);
}

/* Of vectors of the host. */
static spry_status find_errors(spry_solver *solver, const spry_vector *b, const spry_vector *x,
                               errors *e)
{
    spry_context *ctx = solver->ctx;
    measures m = {0};
    spry_matrix *owned = NULL;
    spry_operator *own = NULL;
    const double largest = largest_of(x, 1), scale = find_scale(b, largest);
    const bool lost = largest == 0 && largest_of(b, 1) > 0; /* 0 has no relative error */
    spry_status status = SPRY_STATUS_OK;
    m.size = largest_of(x, scale);
    SPRY_GO(ctx, find_factors(solver, &m.M, &own));
    if (!m.M && e->bounds && e->estimates) {
        judge_quickly(solver->setup.matrix, b, x, scale, m.size, e);
        goto done;
    }
    SPRY_GO(ctx, matrix_as_csr(solver->setup.matrix, &m.A, &owned));
    SPRY_GO(ctx, base_alloc(ctx, m.A->a.rows, sizeof *m.sums, &m.sums));
    SPRY_GO(ctx, base_alloc(ctx, m.A->a.rows, sizeof *m.residuals, &m.residuals));
    measure_rows(m.A, b, x, scale, m.sums, m.residuals, &e->backward, &m.relative);
    if (m.M && precon_direct_nullity(m.M) > 0)
        e->estimate = INFINITY;
    else if (m.M && lost)
        e->bound = e->estimate = INFINITY;
    else if (e->bounds && isfinite(e->backward))
        SPRY_GO(ctx, prove(&m, &e->bound));
    if (m.M && e->estimates && isnan(e->bound) && isnan(e->estimate))
        SPRY_GO(ctx, find_estimate(solver, &m, &e->estimate));
done:
    base_free(ctx, m.sums);
    base_free(ctx, m.residuals);
    spry_matrix_free(owned);
    spry_operator_free(own);
    return status;
}

/* v in the solver's order, a copy then. */
static spry_status in_order(const spry_solver *solver, const spry_vector **v, spry_vector **own)
{
    spry_vector *moved = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!solver->setup.order.matrix)
        return SPRY_STATUS_OK;
    SPRY_GO(solver->ctx, vector_new_at(solver->ctx, NULL, (*v)->type, (*v)->n, &moved));
    SPRY_GO(solver->ctx, order_put(&solver->setup.order, *v, moved));
    spry_vector_free(*own);
    *v = *own = moved;
    moved = NULL;
done:
    spry_vector_free(moved);
    return status;
}

/* Of vectors wherever they are. */
static spry_status examine(spry_solver *solver, const spry_vector *b, const spry_vector *x,
                           errors *e)
{
    spry_context *ctx = solver->ctx;
    const spry_vector *b_host = NULL, *x_host = NULL;
    spry_vector *own_b = NULL, *own_x = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_check_idle(solver));
    if (solver->setup.order.matrix &&
        matrix_pattern_version(solver->asked.matrix) != solver->setup.pattern)
        solver_forget(solver);
    else if (solver->setup.order.matrix &&
             matrix_version(solver->asked.matrix) != solver->setup.version)
        SPRY_GO(ctx, solver_renew_order(solver)); /* errors are those of A as it is */
    SPRY_GO(ctx, check_pair(solver, b, x));
    SPRY_GO(ctx, vector_on_host(b, &b_host, &own_b));
    SPRY_GO(ctx, vector_on_host(x, &x_host, &own_x));
    SPRY_GO(ctx, in_order(solver, &b_host, &own_b));
    SPRY_GO(ctx, in_order(solver, &x_host, &own_x));
    SPRY_GO(ctx, find_errors(solver, b_host, x_host, e));
done:
    spry_vector_free(own_b);
    spry_vector_free(own_x);
    return status;
}

spry_status spry_solver_errors(spry_solver *solver, const spry_vector *b, const spry_vector *x,
                               double *backward, double *bound)
{
    SPRY_NEED(CTX_OF(solver), solver, b, x, backward, bound);
    errors e = {NAN, NAN, NAN, .bounds = true};
    const spry_status status = examine(solver, b, x, &e);
    *backward = e.backward;
    *bound = e.bound;
    return status;
}

spry_status spry_solver_error_estimate(spry_solver *solver, const spry_vector *b,
                                       const spry_vector *x, double *estimate)
{
    SPRY_NEED(CTX_OF(solver), solver, b, x, estimate);
    errors e = {NAN, NAN, NAN, .estimates = true};
    const spry_status status = examine(solver, b, x, &e);
    *estimate = e.estimate;
    return status;
}

spry_status spry_solver_judge(spry_solver *solver, const spry_vector *b, const spry_vector *x,
                              double *backward, double *bound, double *estimate)
{
    SPRY_NEED(CTX_OF(solver), solver, b, x, backward, bound, estimate);
    errors e = {NAN, NAN, NAN, .bounds = true, .estimates = true};
    const spry_status status = examine(solver, b, x, &e);
    *backward = e.backward;
    *bound = e.bound;
    *estimate = e.estimate;
    return status;
}
