/*
 * A system that factors did not solve: what the doctor finds in the matrix and, where that is
 * singular, the x of least squares. With the generalized inverse M that the pivots make, LSMR is
 * preconditioned from the right: with P A Q = [I; L] A11 [I, R] the product A M is [I; L] up to
 * order, whose singular values are 1 but for as many as there are missing pivots (G. Peters, J. H.
 * Wilkinson, The least squares problem and pseudo-inverses, Comput. J. 13 (1970), 309-316). Where
 * factors are no good, columns are scaled to length 1. What is called the least-squares solution
 * was shown to be one: A^H r is small in every column, and no x is known that does better. All of
 * it is in double precision, as the rows of a matrix that is badly scaled make a hard problem of
 * least squares. What ends it is a count of iterations, by the bytes that they move, and never a
 * clock: the verdict does not depend on what else the machine has to do.
 */
#include "krylov/singular.h"
#include "base/machine.h"

#include "doctor/doctor.h"
#include "krylov/solver.h"
#include "matrix/entries.h"
#include "matrix/stats.h"

#include <float.h>
#include <math.h>
#include <spry/scale.h>

static const double flat = 1e-6; /* a cosine of r and a column that is as good as 0 */

/* A problem of least squares in double precision. */
typedef struct least_problem {
    const solver_nested *calls;
    const spry_matrix *A;
    spry_operator *op;
    const spry_operator *M; /* about the inverse of A; NULL: none */
    const spry_vector *b;
    double tol;
    double seconds;  /* that a run may be forecast to take */
    double rounding; /* a residual as small says nothing */
    double unit;     /* of the type that x is given back in */
    int64_t missing; /* pivots */
} least_problem;

/* What an iteration reads: A and M twice, and ten vectors. */
static double bytes_of(const least_problem *p, bool with_M)
{
    const matrix_arrays *a = &p->A->a;
    const double size = (double)spry_type_size(a->type);
    return 2 * (double)a->nnz * (size + 4) + 10 * (double)(a->rows + a->cols) * size +
           (with_M ? 2 * (double)p->M->bytes : 0);
}

/* Iterations that are forecast to take so long, from memory or from a cache. */
static int64_t most_iterations(const least_problem *p, bool with_M)
{
    const double cache = 1e7, least = 30, most = 20000;
    const double bytes = bytes_of(p, with_M),
                 rate = bytes < cache ? MACHINE_CACHE_RATE : MACHINE_FACTOR_RATE;
    return (int64_t)fmin(fmax(p->seconds * rate / bytes, least), most);
}

/* LSMR, going on from x, for `most` iterations at most, which are taken from those left. */
static spry_status run(const least_problem *p, const spry_matrix *A, const spry_operator *M,
                       int64_t most, int64_t *left, spry_vector *x)
{
    spry_context *ctx = A->ctx;
    const spry_log_fn log = ctx->log;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    spry_status status = SPRY_STATUS_OK;
    ctx->log = NULL;
    snprintf(options, sizeof options,
             "method=lsmr precon=none device=cpu stall=0 tol=%.3g max-iter=%" PRId64,
             fmin(fmax(p->tol, 1e-12), 1e-8), most < *left ? most : *left);
    SPRY_GO(ctx, p->calls->open(ctx, A, options, NULL, &solver));
    if (M)
        SPRY_GO(ctx, p->calls->set_precon(solver, M));
    solver->asked.within = true;
    solver->asked.least_tol = 10 * flat;
    SPRY_GO(ctx, p->calls->solve(solver, p->b, x, &result));
    *left -= result.iterations;
    ctx->log = log;
    base_log(ctx, SPRY_LOG_DEBUG, "least squares%s: %s after %" PRId64 " iterations, residual %.3g",
             M ? " with factors" : "", spry_reason_name(result.reason), result.iterations,
             result.true_residual);
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
    const double most = 1000; /* for columns whose numbers have lost digits */
    const matrix_arrays *a = &A->a;
    double *sizes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, column_sizes(A, &sizes));
    SPRY_GO(A->ctx, spry_vector_new(A->ctx, a->type, a->cols, NULL, SPRY_OWN_TAKE, factors));
    for (int64_t j = 0; j < a->cols; j++) {
        const double factor = sizes[j] > 0 ? exp2(fmin(-round(log2(sizes[j])), most)) : 1;
        value_store(a->type, (*factors)->data, j, (spry_scalar){factor, 0});
    }
done:
    base_free(A->ctx, sizes);
    return status;
}

static spry_status run_scaled(const least_problem *p, spry_vector *x)
{
    spry_context *ctx = p->A->ctx;
    int64_t left = most_iterations(p, false);
    spry_matrix *S = NULL;
    spry_vector *factors = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, column_factors(p->A, &factors));
    SPRY_GO(ctx, matrix_copy(p->A, &S));
    SPRY_GO(ctx, spry_matrix_scale(S, NULL, factors));
    SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    SPRY_GO(ctx, run(p, S, NULL, left, &left, x));
    SPRY_GO(ctx, spry_vector_multiply(factors, x, x));
done:
    spry_matrix_free(S);
    spry_vector_free(factors);
    return status;
}

/* Of an x. */
typedef struct fit {
    double residual; /* |b - A x| / |b| */
    double slope;    /* the largest cosine of r and a column of A */
    double rounding; /* what rounding makes of the residual */
} fit;

/* | |b| + |A| |x| |, of which the residual is the rest. */
static double size_of_terms(const least_problem *p, const spry_vector *x)
{
    const matrix_arrays *a = &p->A->a;
    double all = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = scalar_size(a->type, value_load(a->type, p->b->data, i));
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            sum += scalar_size(a->type, value_load(a->type, a->values, k)) *
                   scalar_size(a->type, value_load(a->type, x->data, a->col_index[k]));
        all = hypot(all, sum);
    }
    return all;
}

static spry_status measure(const least_problem *p, const spry_vector *x, fit *f)
{
    spry_context *ctx = p->A->ctx;
    const matrix_arrays *a = &p->A->a;
    spry_vector *r = NULL, *g = NULL;
    double *sizes = NULL, all = 0, size = 0, wide = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(p->b, p->b->n, &r));
    SPRY_GO(ctx, spry_vector_like(x, x->n, &g));
    SPRY_GO(ctx, spry_vector_copy(p->b, r));
    SPRY_GO(ctx, spry_operator_multiply(p->op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                        (spry_scalar){1, 0}, r));
    SPRY_GO(ctx, spry_operator_multiply(p->op, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, r,
                                        (spry_scalar){0, 0}, g));
    SPRY_GO(ctx, spry_vector_norm(r, &size));
    SPRY_GO(ctx, wide_measure(p->A, p->b, x, NULL, &wide));
    SPRY_GO(ctx, spry_vector_norm(p->b, &all));
    SPRY_GO(ctx, column_sizes(p->A, &sizes));
    *f = (fit){.residual = all > 0 ? wide / all : wide,
               .slope = isfinite(size) ? 0 : INFINITY,
               .rounding = all > 0 ? p->unit * size_of_terms(p, x) / all : 0};
    for (int64_t j = 0; j < a->cols && size > 0; j++)
        if (sizes[j] > 0)
            f->slope = fmax(f->slope, scalar_size(a->type, value_load(a->type, g->data, j)) /
                                          sizes[j] / size);
done:
    base_free(ctx, sizes);
    spry_vector_free(r);
    spry_vector_free(g);
    return status;
}

/* y in the place of x where it is better, or a least-squares solution and as good; without null
 * vectors, which makes it the shortest, where that leaves it as good. */
static spry_status take(const least_problem *p, const doctor_verdict *v, spry_vector *y,
                        spry_vector *x, singular_result *s)
{
    spry_context *ctx = p->A->ctx;
    spry_vector *less = NULL;
    const spry_vector *best = y;
    fit own = {NAN, NAN, NAN}, other = own;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(y, y->n, &less));
    SPRY_GO(ctx, spry_vector_copy(y, less));
    SPRY_GO(ctx, doctor_project(v->null_count, v->null, less));
    SPRY_GO(ctx, measure(p, y, &own));
    SPRY_GO(ctx, measure(p, less, &other));
    const double enough = fmax(p->tol, p->rounding);
    if (v->null_count > 0 && other.residual <= fmax((1 + flat) * own.residual, enough) &&
        (other.residual <= enough || other.slope <= fmax(flat, own.slope))) {
        best = less;
        own = other;
    }
    /* A smaller residual that is known shows that there is no such thing yet. */
    const bool found =
        own.residual <= enough || (own.slope <= flat && own.residual <= (1 + flat) * s->residual);
    if (found || own.residual < s->residual) {
        SPRY_GO(ctx, spry_vector_copy(best, x));
        s->residual = own.residual;
        s->least_squares = found;
    }
done:
    spry_vector_free(less);
    return status;
}

/* With factors: in as many iterations as there may be singular values other than 1, and again from
 * there where rounding has made more of them. *cut: there would have been more to come. */
static spry_status run_factors(const least_problem *p, const doctor_verdict *v, spry_vector *y,
                               spry_vector *x, singular_result *s, bool *cut)
{
    enum { ROUNDS = 3 };
    spry_context *ctx = p->A->ctx;
    int64_t left = most_iterations(p, true);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_fill(y, (spry_scalar){0, 0}));
    for (int round = 0; round < ROUNDS && left > 0 && !s->least_squares; round++) {
        SPRY_GO(ctx, run(p, p->A, p->M, 100 + 4 * p->missing, &left, y));
        SPRY_GO(ctx, take(p, v, y, x, s));
    }
    *cut = left == 0;
done:
    return status;
}

/* The best x, from the best known. Factors do more than scaling does, but where they have so many
 * entries that scaling has many iterations for one of theirs, scaling comes first. */
static spry_status least_squares(const least_problem *p, const doctor_verdict *v, spry_vector *x,
                                 singular_result *s)
{
    const double heavy = 32;
    spry_context *ctx = p->A->ctx;
    const bool late = p->M && bytes_of(p, true) > heavy * bytes_of(p, false);
    spry_vector *y = NULL;
    bool cut = false;
    fit given;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(x, x->n, &y));
    SPRY_GO(ctx, measure(p, x, &given));
    s->residual = given.residual;
    if (!(s->residual <= 1)) { /* which 0 has */
        SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        s->residual = 1;
    }
    for (int turn = 0; turn < 2 && !s->least_squares && !cut; turn++)
        if (late == (turn == 1) && p->M) {
            SPRY_GO(ctx, run_factors(p, v, y, x, s, &cut));
        } else if (late == (turn == 0)) {
            SPRY_GO(ctx, run_scaled(p, y));
            SPRY_GO(ctx, take(p, v, y, x, s));
        }
done:
    spry_vector_free(y);
    return status;
}

/* Of the range: what the least-squares solution shows, or else left null vectors, which an x that
 * leaves less disproves. */
static void compose(const doctor_verdict *v, int64_t n, bool outside, singular_result *s)
{
    char rows[160], structural[48] = "", of_b[64] = "";
    if (outside)
        snprintf(of_b, sizeof of_b, "b is not in its range; ");
    else if (!s->least_squares && v->outside > 0 && v->outside <= s->residual)
        snprintf(of_b, sizeof of_b, "at least %.2g of |b| is outside of its range; ", v->outside);
    if (v->structural_rank < n)
        snprintf(structural, sizeof structural, " (structural rank %" PRId64 ")",
                 v->structural_rank);
    snprintf(s->text, sizeof s->text,
             "singular: rank %s %" PRId64 " of %" PRId64 "%s, rows %s (from 0); %s%s has residual "
             "%.3g",
             v->more ? "at most" : "about", v->rank, n, structural,
             doctor_places(v->rows, v->row_count, rows, sizeof rows), of_b,
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
            SPRY_GO(ctx, precon_make_from_text(ctx, *W, NULL,
                                               "direct:kind=sparse,regular=yes,precision=single",
                                               own, name));
        p->M = *own;
    }
    SPRY_GO(ctx, host_csr_operator(p->A, &p->op));
done:
    return status;
}

/* x by least squares, of A's type. */
static spry_status best_of(least_problem p, const spry_matrix *A, const spry_operator *M,
                           const spry_vector *b, const doctor_verdict *v, spry_vector *x,
                           singular_result *s)
{
    spry_context *ctx = A->ctx;
    spry_matrix *W = NULL;
    spry_operator *own = NULL;
    spry_vector *wide = NULL, *y = NULL;
    fit found;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, pose(A, M, b, &p, &W, &own, &wide));
    SPRY_GO(ctx, spry_vector_like(wide, x->n, &y));
    SPRY_GO(ctx, spry_vector_copy(x, y));
    SPRY_GO(ctx, least_squares(&p, v, y, s));
    SPRY_GO(ctx, spry_vector_copy(y, x));
    SPRY_GO(ctx, spry_vector_copy(x, y)); /* as it was rounded */
    SPRY_GO(ctx, measure(&p, y, &found));
    s->residual = found.residual;
    s->rounding = found.rounding;
done:
    spry_operator_free(p.op);
    spry_operator_free(own);
    spry_matrix_free(W);
    spry_vector_free(wide);
    spry_vector_free(y);
    return status;
}

spry_status singular_solve(const solver_nested *calls, const spry_matrix *A, const spry_operator *M,
                           const spry_vector *b, spry_vector *x, double tol, double seconds,
                           singular_result *s)
{
    const double reached = fmax(tol, type_is_single(A->a.type) ? 1e-5 : 0);
    const double above = 16; /* what rounding makes, to be something else */
    doctor_verdict v = {0};
    spry_status status = SPRY_STATUS_OK;
    *s = (singular_result){.residual = NAN};
    SPRY_GO(A->ctx, doctor_singular(A, M, b, seconds / 2, &v));
    s->singular = v.singular;
    s->rank = v.rank;
    if (!v.singular)
        goto done;
    const least_problem p = {.calls = calls,
                             .tol = tol,
                             .seconds = seconds,
                             .rounding = type_is_single(A->a.type) ? 1e-5 : 0,
                             .unit = type_is_single(A->a.type) ? FLT_EPSILON : DBL_EPSILON,
                             .missing = A->a.rows - v.rank};
    SPRY_GO(A->ctx, best_of(p, A, M, b, &v, x, s));
    s->in_range = s->least_squares && s->residual <= reached;
    const bool outside = s->least_squares && s->residual > fmax(reached, above * s->rounding);
    s->row_count = v.row_count;
    memcpy(s->rows, v.rows, sizeof s->rows);
    compose(&v, A->a.rows, outside, s);
done:
    doctor_verdict_clear(&v);
    return status;
}
