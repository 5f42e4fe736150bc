/*
 * A system that factors did not solve: what the doctor finds in the matrix and, where that is
 * singular, the x of least squares. With the generalized inverse M that the pivots make, LSMR is
 * preconditioned from the right: with P A Q = [I; L] A11 [I, R] the product A M is [I; L] up to
 * order, whose singular values are 1 but for as many as there are missing pivots (G. Peters, J. H.
 * Wilkinson, The least squares problem and pseudo-inverses, Comput. J. 13 (1970), 309-316). Where
 * factors are no good, columns are scaled to length 1. What is called the least-squares solution
 * was shown to be one: A^H r is small in every column.
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

/* What a single precision cannot reach is not asked for. */
static double reachable(spry_type type, double tol)
{
    return fmax(tol, type_is_single(type) ? 2e-5 : 1e-12);
}

/* LSMR from x = 0; *found tells that x is a solution, or the least-squares one. */
static spry_status run(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                       spry_vector *x, double tol, double seconds, bool *found)
{
    spry_context *ctx = A->ctx;
    const spry_log_fn log = ctx->log;
    clock_end end = {base_seconds() + seconds};
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    spry_status status = SPRY_STATUS_OK;
    *found = false;
    ctx->log = NULL;
    snprintf(options, sizeof options, "method=lsmr precon=none device=cpu tol=%.3g max-iter=%d",
             reachable(A->a.type, tol), 20000);
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_options_default(ctx, spry_solver_options(), &solver->options));
    SPRY_GO(ctx, spry_solver_set(solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, A));
    if (M)
        SPRY_GO(ctx, spry_solver_set_precon(solver, M));
    spry_solver_set_watch(solver, before_end, &end);
    SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    SPRY_GO(ctx, spry_solve(solver, b, x, &result));
    *found = result.converged;
done:
    ctx->log = log;
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    return status;
}

/* Powers of two that bring columns to length 1, about. */
static spry_status column_factors(const spry_matrix *A, spry_vector **factors)
{
    const matrix_arrays *a = &A->a;
    double *sizes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, base_calloc(A->ctx, a->cols, sizeof *sizes, &sizes));
    SPRY_GO(A->ctx, spry_vector_new(A->ctx, a->type, a->cols, NULL, SPRY_OWN_TAKE, factors));
    for (int64_t k = 0; k < a->nnz; k++) {
        double *size = &sizes[a->col_index[k]];
        *size = hypot(*size, scalar_size(a->type, value_load(a->type, a->values, k)));
    }
    for (int64_t j = 0; j < a->cols; j++) {
        const double factor = sizes[j] > 0 ? exp2(-round(log2(sizes[j]))) : 1;
        value_store(a->type, (*factors)->data, j, (spry_scalar){factor, 0});
    }
done:
    base_free(A->ctx, sizes);
    return status;
}

static spry_status run_scaled(const spry_matrix *A, const spry_vector *b, spry_vector *x,
                              double tol, double seconds, bool *found)
{
    spry_context *ctx = A->ctx;
    spry_matrix *S = NULL;
    spry_vector *factors = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, column_factors(A, &factors));
    SPRY_GO(ctx, matrix_copy(A, &S));
    SPRY_GO(ctx, spry_matrix_scale(S, NULL, factors));
    SPRY_GO(ctx, run(S, NULL, b, x, tol, seconds, found));
    SPRY_GO(ctx, spry_vector_multiply(factors, x, x));
done:
    spry_matrix_free(S);
    spry_vector_free(factors);
    return status;
}

static spry_status residual_of(const spry_operator *A, const spry_vector *b, const spry_vector *x,
                               double *relative)
{
    spry_vector *r = NULL;
    double all = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, spry_vector_like(b, b->n, &r));
    SPRY_GO(A->ctx, spry_vector_copy(b, r));
    SPRY_GO(A->ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                           (spry_scalar){1, 0}, r));
    SPRY_GO(A->ctx, spry_vector_norm(r, relative));
    SPRY_GO(A->ctx, spry_vector_norm(b, &all));
    *relative = all > 0 ? *relative / all : *relative;
done:
    spry_vector_free(r);
    return status;
}

/* x without null vectors is the shortest; they are in double precision. */
static spry_status shorten(const doctor_verdict *v, spry_vector *x)
{
    spry_vector *own = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (v->null_count == 0)
        return status;
    SPRY_GO(x->ctx, spry_vector_like(v->null[0], x->n, &own));
    SPRY_GO(x->ctx, spry_vector_copy(x, own));
    SPRY_GO(x->ctx, doctor_project(v->null_count, v->null, own));
    SPRY_GO(x->ctx, spry_vector_copy(own, x));
done:
    spry_vector_free(own);
    return status;
}

/* Takes y in the place of x where it is the least-squares solution, or better. */
static spry_status take(const spry_operator *A, const spry_vector *b, spry_vector *y,
                        const doctor_verdict *v, bool found, spry_vector *x, singular_result *s)
{
    double short_one = NAN, size = NAN;
    spry_vector *whole = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, spry_vector_like(y, y->n, &whole));
    SPRY_GO(A->ctx, spry_vector_copy(y, whole));
    SPRY_GO(A->ctx, residual_of(A, b, y, &size));
    SPRY_GO(A->ctx, shorten(v, y));
    SPRY_GO(A->ctx, residual_of(A, b, y, &short_one));
    const bool kept = short_one <= size * (1 + 1e-6) + 1e-15; /* null vectors are, by rounding */
    if (!kept)
        SPRY_GO(A->ctx, spry_vector_copy(whole, y));
    size = kept ? short_one : size;
    if (isfinite(size) && (found || size < s->residual)) {
        SPRY_GO(A->ctx, spry_vector_copy(y, x));
        s->residual = size;
    }
    s->least_squares = s->least_squares || found;
done:
    spry_vector_free(whole);
    return status;
}

static spry_status least_squares(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                                 spry_vector *x, const doctor_verdict *v, double tol,
                                 double seconds, singular_result *s)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spry_vector *y = NULL;
    bool found = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_operator_from_matrix(A, &op));
    SPRY_GO(ctx, spry_vector_like(x, x->n, &y));
    SPRY_GO(ctx, residual_of(op, b, x, &s->residual));
    if (!(s->residual <= 1)) { /* which 0 has */
        SPRY_GO(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        s->residual = 1;
    }
    if (M) {
        SPRY_GO(ctx, run(A, M, b, y, tol, seconds / 2, &found));
        SPRY_GO(ctx, take(op, b, y, v, found, x, s));
    }
    if (!s->least_squares) {
        SPRY_GO(ctx, run_scaled(A, b, y, tol, seconds / 2, &found));
        SPRY_GO(ctx, take(op, b, y, v, found, x, s));
    }
done:
    spry_operator_free(op);
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

spry_status singular_solve(const spry_matrix *A, const spry_operator *M, const spry_vector *b,
                           spry_vector *x, double tol, double seconds, singular_result *s)
{
    const double roundoff = type_is_single(A->a.type) ? 6e-8 : 1.2e-16;
    doctor_verdict v = {0};
    spry_status status = SPRY_STATUS_OK;
    *s = (singular_result){.residual = NAN};
    SPRY_GO(A->ctx, doctor_singular(A, b, seconds / 2, &v));
    s->singular = v.singular;
    s->rank = v.rank;
    if (!v.singular)
        goto done;
    SPRY_GO(A->ctx, least_squares(A, M, b, x, &v, tol, seconds / 2, s));
    s->in_range = s->least_squares && s->residual <= reachable(A->a.type, tol);
    const bool outside = v.outside > 1e3 * roundoff || (s->least_squares && !s->in_range);
    s->row_count = v.row_count;
    memcpy(s->rows, v.rows, sizeof s->rows);
    compose(&v, A->a.rows, outside, s);
done:
    doctor_verdict_clear(&v);
    return status;
}
