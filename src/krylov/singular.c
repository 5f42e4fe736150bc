/*
 * A system that factors did not solve: what the doctor finds in the matrix and, where that is
 * singular, the x of least squares. With the generalized inverse M that the pivots make, LSMR is
 * preconditioned from the right: with P A Q = [I; L] A11 [I, R] the product A M is [I; L] up to
 * order, whose singular values are 1 but for as many as there are missing pivots (G. Peters, J. H.
 * Wilkinson, The least squares problem and pseudo-inverses, Comput. J. 13 (1970), 309-316). Where
 * factors are no good, columns are scaled to length 1. What is called the least-squares solution
 * was shown to be one: A^H r is small in every column. All of it is in double precision, as the
 * rows of a matrix that is badly scaled make a hard problem of least squares.
 */
#include "krylov/singular.h"

#include "doctor/doctor.h"
#include "krylov/solver.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

#include <math.h>
#include <spry/scale.h>

typedef struct clock_end {
    double at;
} clock_end;

static bool before_end(void *data, int64_t count, double residual)
{
    const clock_end *end = data;
    (void)count;
    (void)residual;
    return base_seconds() < end->at;
}

/* A problem of least squares in double precision. */
typedef struct least_problem {
    const spry_matrix *A;
    spry_operator *op;
    const spry_operator *M; /* about the inverse of A; NULL: none */
    const spry_vector *b;
    double tol, seconds;
    double rounding; /* a residual as small says nothing */
    int64_t missing; /* pivots */
} least_problem;

/* LSMR, going on from x, for a part of the time. */
static spry_status run(const least_problem *p, const spry_matrix *A, bool with_M, spry_vector *x)
{
    spry_context *ctx = A->ctx;
    const spry_log_fn log = ctx->log;
    const int64_t most = with_M ? 100 + 4 * p->missing : 20000;
    clock_end end = {base_seconds() + p->seconds / 6};
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    spry_status status = SPRY_STATUS_OK;
    ctx->log = NULL;
    snprintf(options, sizeof options,
             "method=lsmr precon=none device=cpu stall=0 tol=%.3g max-iter=%" PRId64,
             fmin(fmax(p->tol, 1e-12), 1e-8), most);
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_options_default(ctx, spry_solver_options(), &solver->options));
    SPRY_GO(ctx, spry_solver_set(solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, A));
    if (with_M)
        SPRY_GO(ctx, spry_solver_set_precon(solver, p->M));
    solver->within = true;
    spry_solver_set_watch(solver, before_end, &end);
    SPRY_GO(ctx, spry_solve(solver, p->b, x, &result));
done:
    ctx->log = log;
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    return status;
}

/* The lengths of columns. */
static spry_status column_sizes(const spry_matrix *A, double **sizes)
{
    const matrix_arrays *a = &A->a;
    const spry_status status = base_calloc(A->ctx, a->cols, sizeof **sizes, sizes);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < a->nnz; k++) {
        double *size = &(*sizes)[a->col_index[k]];
        *size = hypot(*size, scalar_size(a->type, value_load(a->type, a->values, k)));
    }
    return status;
}

/* Powers of two that bring them to about 1. */
static spry_status column_factors(const spry_matrix *A, spry_vector **factors)
{
    const matrix_arrays *a = &A->a;
    double *sizes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, column_sizes(A, &sizes));
    SPRY_GO(A->ctx, spry_vector_new(A->ctx, a->type, a->cols, NULL, SPRY_OWN_TAKE, factors));
    for (int64_t j = 0; j < a->cols; j++) {
        const double factor = sizes[j] > 0 ? exp2(-round(log2(sizes[j]))) : 1;
        value_store(a->type, (*factors)->data, j, (spry_scalar){factor, 0});
    }
done:
    base_free(A->ctx, sizes);
    return status;
}

static spry_status run_scaled(const least_problem *p, spry_vector *x)
{
    spry_context *ctx = p->A->ctx;
    spry_matrix *S = NULL;
    spry_vector *factors = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, column_factors(p->A, &factors));
    SPRY_GO(ctx, matrix_copy(p->A, &S));
    SPRY_GO(ctx, spry_matrix_scale(S, NULL, factors));
    SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    SPRY_GO(ctx, run(p, S, false, x));
    SPRY_GO(ctx, spry_vector_multiply(factors, x, x));
done:
    spry_matrix_free(S);
    spry_vector_free(factors);
    return status;
}

/* |b - A x| / |b|, and the largest cosine of r and a column of A. */
static spry_status measure(const least_problem *p, const spry_vector *x, double *residual,
                           double *slope)
{
    spry_context *ctx = p->A->ctx;
    const matrix_arrays *a = &p->A->a;
    spry_vector *r = NULL, *g = NULL;
    double *sizes = NULL, all = 0, size = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(p->b, p->b->n, &r));
    SPRY_GO(ctx, spry_vector_like(x, x->n, &g));
    SPRY_GO(ctx, spry_vector_copy(p->b, r));
    SPRY_GO(ctx, spry_operator_multiply(p->op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                        (spry_scalar){1, 0}, r));
    SPRY_GO(ctx, spry_operator_multiply(p->op, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, r,
                                        (spry_scalar){0, 0}, g));
    SPRY_GO(ctx, spry_vector_norm(r, &size));
    SPRY_GO(ctx, spry_vector_norm(p->b, &all));
    SPRY_GO(ctx, column_sizes(p->A, &sizes));
    *residual = all > 0 ? size / all : size;
    *slope = isfinite(size) ? 0 : INFINITY;
    for (int64_t j = 0; j < a->cols && size > 0; j++)
        if (sizes[j] > 0)
            *slope = fmax(*slope,
                          scalar_size(a->type, value_load(a->type, g->data, j)) / sizes[j] / size);
done:
    base_free(ctx, sizes);
    spry_vector_free(r);
    spry_vector_free(g);
    return status;
}

/* y in the place of x where it is a least-squares solution, or better; without null vectors, which
 * makes it the shortest, where that leaves it as good. */
static spry_status take(const least_problem *p, const doctor_verdict *v, spry_vector *y,
                        spry_vector *x, singular_result *s)
{
    const double flat = 1e-6;
    spry_context *ctx = p->A->ctx;
    spry_vector *less = NULL;
    const spry_vector *best = y;
    double residual = NAN, slope = NAN, other = NAN, other_slope = NAN;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(y, y->n, &less));
    SPRY_GO(ctx, spry_vector_copy(y, less));
    SPRY_GO(ctx, doctor_project(v->null_count, v->null, less));
    SPRY_GO(ctx, measure(p, y, &residual, &slope));
    SPRY_GO(ctx, measure(p, less, &other, &other_slope));
    const double enough = fmax(p->tol, p->rounding);
    if (v->null_count > 0 && other <= fmax((1 + flat) * residual, enough) &&
        (other <= enough || other_slope <= fmax(flat, slope))) {
        best = less;
        residual = other;
        slope = other_slope;
    }
    const bool found = residual <= enough || (slope <= flat && residual <= 1 + flat);
    if (found || residual < s->residual) {
        SPRY_GO(ctx, spry_vector_copy(best, x));
        s->residual = residual;
        s->least_squares = found;
    }
done:
    spry_vector_free(less);
    return status;
}

/* The best x there is to be had, from the best known. */
static spry_status least_squares(const least_problem *p, const doctor_verdict *v, spry_vector *x,
                                 singular_result *s)
{
    enum { ROUNDS = 3 };
    spry_context *ctx = p->A->ctx;
    spry_vector *y = NULL;
    double slope;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(x, x->n, &y));
    SPRY_GO(ctx, spry_vector_fill(y, (spry_scalar){0, 0}));
    SPRY_GO(ctx, measure(p, x, &s->residual, &slope));
    if (!(s->residual <= 1)) { /* which 0 has */
        SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        s->residual = 1;
    }
    for (int round = 0; round < ROUNDS && p->M && !s->least_squares; round++) {
        SPRY_GO(ctx, run(p, p->A, true, y));
        SPRY_GO(ctx, take(p, v, y, x, s));
    }
    if (!s->least_squares) {
        SPRY_GO(ctx, run_scaled(p, y));
        SPRY_GO(ctx, take(p, v, y, x, s));
    }
done:
    spry_vector_free(y);
    return status;
}

static void compose(const doctor_verdict *v, int64_t n, bool outside, singular_result *s)
{
    char rows[160], structural[48] = "";
    if (v->structural_rank < n)
        snprintf(structural, sizeof structural, " (structural rank %" PRId64 ")",
                 v->structural_rank);
    snprintf(s->text, sizeof s->text,
             "singular: rank %s %" PRId64 " of %" PRId64 "%s, rows %s (from 0); %s%s has residual "
             "%.3g",
             v->more ? "at most" : "about", v->rank, n, structural,
             doctor_places(v->rows, v->row_count, rows, sizeof rows),
             outside ? "b is not in its range; " : "",
             s->least_squares ? "the least-squares solution" : "the best x found", s->residual);
}

/* The problem in double precision; a matrix in single has factors in single, to which its zeros
 * are zeros. */
static spry_status pose(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                        least_problem *p, spry_matrix **W, spry_operator **own, spry_vector **wide)
{
    spry_context *ctx = A->ctx;
    const spry_type type = spry_type_is_complex(A->a.type) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    char name[32];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_new(ctx, type, b->n, NULL, SPRY_OWN_TAKE, wide));
    SPRY_GO(ctx, spry_vector_copy(b, *wide));
    p->b = *wide;
    p->A = A;
    p->M = M;
    if (A->a.type != type) {
        SPRY_GO(ctx, spry_matrix_cast(A, type, W));
        p->A = *W;
        if (M)
            SPRY_GO(ctx, precon_make_beside(ctx, *W, NULL,
                                            "direct:kind=sparse,regular=yes,precision=single", own,
                                            name));
        p->M = *own;
    }
    SPRY_GO(ctx, spry_operator_from_matrix(p->A, &p->op));
done:
    return status;
}

/* x by least squares, of A's type. */
static spry_status best_of(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                           const doctor_verdict *v, double tol, double seconds, spry_vector *x,
                           singular_result *s)
{
    spry_context *ctx = A->ctx;
    least_problem p = {.tol = tol,
                       .seconds = seconds,
                       .rounding = type_is_single(A->a.type) ? 1e-5 : 0,
                       .missing = A->a.rows - v->rank};
    spry_matrix *W = NULL;
    spry_operator *own = NULL;
    spry_vector *wide = NULL, *y = NULL;
    double slope;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, pose(A, M, b, &p, &W, &own, &wide));
    SPRY_GO(ctx, spry_vector_like(wide, x->n, &y));
    SPRY_GO(ctx, spry_vector_copy(x, y));
    SPRY_GO(ctx, least_squares(&p, v, y, s));
    SPRY_GO(ctx, spry_vector_copy(y, x));
    SPRY_GO(ctx, spry_vector_copy(x, y)); /* as it was rounded */
    SPRY_GO(ctx, measure(&p, y, &s->residual, &slope));
done:
    spry_operator_free(p.op);
    spry_operator_free(own);
    spry_matrix_free(W);
    spry_vector_free(wide);
    spry_vector_free(y);
    return status;
}

spry_status singular_solve(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                           spry_vector *x, double tol, double seconds, singular_result *s)
{
    const bool single = type_is_single(A->a.type);
    const double rounding = single ? 6e-5 : 1.2e-13, reached = fmax(tol, single ? 1e-5 : 0);
    doctor_verdict v = {0};
    spry_status status = SPRY_STATUS_OK;
    *s = (singular_result){.residual = NAN};
    SPRY_GO(A->ctx, doctor_singular(A, b, seconds / 2, &v));
    s->singular = v.singular;
    s->rank = v.rank;
    if (!v.singular)
        goto done;
    SPRY_GO(A->ctx, best_of(A, M, b, &v, tol, seconds / 2, x, s));
    s->in_range = s->least_squares && s->residual <= reached;
    const bool outside = !s->in_range && (v.outside > fmax(rounding, tol) || s->least_squares);
    s->row_count = v.row_count;
    memcpy(s->rows, v.rows, sizeof s->rows);
    compose(&v, A->a.rows, outside, s);
done:
    doctor_verdict_clear(&v);
    return status;
}
