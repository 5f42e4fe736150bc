/*
 * Polynomials of A: products with A alone, which every place that has A does well. With the
 * diagonal D, z = c D^-1 r at first, and `degree` times
 *
 *     z_next = z + b (z - z_before) + c D^-1 (r - A z)
 *
 * in one pass over memory each (device/linalg/step.h). What b and c are makes the kind:
 *
 * neumann        b = 0, c = omega: Neumann's series of the inverse, or Jacobi sweeps (P. F. Dubois,
 * A. Greenbaum, G. H. Rodrigue, Approximating the inverse of a matrix for use in iterative
 * algorithms on vector processors, Computing 22 (1979), 257-268) chebyshev      the smallest
 * largest residual for eigenvalues of D^-1 A in low..high (Y. Saad, Iterative Methods for Sparse
 * Linear Systems, 2nd ed. (2003), 12.3) least-squares  the smallest residual in the mean, with
 * Chebyshev's weight, for eigenvalues in 0..high (O. G. Johnson, C. A. Micchelli, G. Paul,
 * Polynomial preconditioners for conjugate gradient calculations, SIAM J. Numer. Anal. 20 (1983),
 * 362-376). Its residuals are kernel polynomials of that weight, which are Chebyshev polynomials of
 *                the fourth kind (J. Lottes, Optimal polynomial smoothers for multigrid V-cycles,
 *                Numer. Linear Algebra Appl. 30 (2023), e2518): no lower bound is needed.
 *
 * The last two are for hermitian matrices, and so is M then; a polynomial of A^T with the same D is
 * M^T, since q(D^-1 A) D^-1 = D^-1 q(A D^-1).
 */
#include "device/linalg/step.h"
#include "matrix/stats.h"
#include "precon/precon.h"

#define POLY_OPTIONS(item)                                                                 \
    PRECON_COMMON(item)                                                                    \
    item(WORD, kind, "auto", 0, 0, "auto neumann chebyshev least-squares",                 \
         "auto takes least-squares for hermitian matrices with a positive diagonal, else " \
         "neumann")                                                                        \
    item(INT, degree, "3", 1, 100, NULL, "products with A")                                \
    item(REAL, low, "0", 0, 1e300, NULL,                                                   \
         "chebyshev: the least eigenvalue of D^-1 A to care for; 0: high / 30")            \
    item(REAL, high, "0", 0, 1e300, NULL, "the largest eigenvalue of D^-1 A; 0: it is estimated")
enum { POLY_AUTO, POLY_NEUMANN, POLY_CHEBYSHEV, POLY_LEAST_SQUARES };
typedef struct poly_options {
    POLY_OPTIONS(SPRY_OPTION_FIELD)
} poly_options;
SPRY_OPTION_TABLE(table, poly_options, POLY_OPTIONS(SPRY_OPTION_ROW))

enum { POWER_STEPS = 12, MOST_DEGREE = 100 };
static const double low_share = 30;

typedef struct poly {
    precon_job job; /* what is kept of it */
    poly_options options;
    spry_operator *A;
    operator_step *steps[3];        /* of op(A); NULL: not needed yet */
    spry_vector *scale, *conjugate; /* the first c times D^-1; the same of real types */
    spry_vector *work;
    host_step factors[MOST_DEGREE]; /* of the steps after the first */
} poly;

static void clear_values(poly *state)
{
    for (int op = 0; op < 3; op++) {
        step_free(state->steps[op]);
        state->steps[op] = NULL;
    }
    if (state->conjugate != state->scale)
        spry_vector_free(state->conjugate);
    spry_vector_free(state->scale);
    spry_operator_free(state->A);
    state->conjugate = state->scale = NULL;
    state->A = NULL;
}

static void poly_destroy(spry_operator *op)
{
    poly *state = op->state;
    if (!state)
        return;
    clear_values(state);
    spry_vector_free(state->work);
    base_free(op->ctx, state);
}

static spry_status poly_apply(const spry_operator *op, spry_transpose transpose,
                              const spry_vector *r, spry_vector *z)
{
    poly *state = op->state;
    const int degree = (int)state->options.degree;
    const spry_vector *f = transpose == SPRY_TRANSPOSE_CONJUGATE ? state->conjugate : state->scale;
    /* The last one is to be z. */
    spry_vector *pair[2] = {degree % 2 ? state->work : z, degree % 2 ? z : state->work};
    spry_status status = SPRY_STATUS_OK;
    if (!state->steps[transpose])
        SPRY_GO(op->ctx, step_open(state->A, transpose, &state->steps[transpose]));
    SPRY_GO(op->ctx, spry_vector_multiply(f, r, pair[0]));
    for (int k = 0; k < degree; k++)
        SPRY_GO(op->ctx, step_run(state->steps[transpose], state->factors[k], f, r, pair[k % 2],
                                  pair[(k + 1) % 2]));
done:
    return status;
}

/* --- coefficients --------------------------------------------------------------------------------
 */

/* The largest sum of moduli in a row of D^-1 A: no eigenvalue is larger (Gershgorin). */
static double largest_row(const spry_matrix *A, const spry_vector *inverse)
{
    const matrix_arrays *a = &A->a;
    double most = 0;
#pragma omp parallel for num_threads(host_threads(A->ctx, a->nnz)) reduction(max : most)
    for (int64_t i = 0; i < a->rows; i++) {
        const spry_scalar d = value_load(a->type, inverse->data, i);
        double sum = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            sum += v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
        }
        sum *= hypot(d.re, d.im);
        most = sum > most ? sum : most;
    }
    return most;
}

/* The largest eigenvalue of D^-1 A by the power method from a fixed start, and some more, since
 * that comes from below; not more than the rows allow. `x` and the work are lost, scale is D^-1. */
static spry_status estimate(poly *state, spry_vector *x, double bound, double *high)
{
    spry_context *ctx = x->ctx;
    spry_vector *y = state->work;
    double size = 0, before = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, step_open(state->A, SPRY_TRANSPOSE_NO, &state->steps[SPRY_TRANSPOSE_NO]));
    SPRY_GO(ctx, spry_vector_norm(x, &before));
    for (int k = 0; k < POWER_STEPS && before > 0; k++) {
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / before, 0}, x));
        SPRY_GO(ctx, step_run(state->steps[SPRY_TRANSPOSE_NO], (host_step){1, 0, 0, 0},
                              state->scale, NULL, x, y));
        SPRY_GO(ctx, spry_vector_norm(y, &size));
        SPRY_GO(ctx, spry_vector_copy(y, x));
        before = size;
    }
    *high = 1.1 * size < bound ? 1.1 * size : bound;
    if (!(*high > 0) || !isfinite(*high))
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                      "precon poly: the largest eigenvalue of D^-1 A cannot be estimated (%g); "
                      "give poly:high=, or try jacobi",
                      *high);
done:
    return status;
}

/* All c and b for a largest eigenvalue; gives the first c. */
static double set_factors(poly *state, int kind, double high, double low)
{
    const double theta = (high + low) / 2, delta = (high - low) / 2;
    double first = high > 1.9 ? 1.9 / high : 1, rho = delta / theta; /* neumann */
    if (kind == POLY_CHEBYSHEV)
        first = 1 / theta;
    else if (kind == POLY_LEAST_SQUARES)
        first = 4 / (3 * high);
    for (int k = 0; k < (int)state->options.degree; k++) {
        const double i = k + 2;
        double c = first, b = 0;
        if (kind == POLY_CHEBYSHEV) {
            const double next = 1 / (2 * theta / delta - rho);
            c = 2 * next / delta;
            b = next * rho;
            rho = next;
        } else if (kind == POLY_LEAST_SQUARES) {
            c = (8 * i - 4) / ((2 * i + 1) * high);
            b = (2 * i - 3) / (2 * i + 1);
        }
        /* What was before the first one is 0, and not stored. */
        state->factors[k] = (host_step){-c / first, c / first, 1 + b, k == 0 ? 0 : -b};
    }
    return first;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* A where the job says, over the caller's arrays. */
static spry_status store_matrix(const spry_matrix *A, poly *state)
{
    spry_matrix *view = NULL;
    const spry_status status = matrix_view(A->ctx, A, &view);
    precon_job job = state->job;
    job.A = A;
    return status == SPRY_STATUS_OK ? precon_store(&job, view, &state->A) : status;
}

/* The scale, and its conjugate where that is another, where the job says; takes f. */
static spry_status store_scale(const spry_matrix *A, spry_vector *f, poly *state)
{
    precon_job job = state->job;
    spry_status status = SPRY_STATUS_OK;
    job.A = A;
    SPRY_GO(A->ctx, precon_vector(&job, f->n, f->data, &state->scale));
    state->conjugate = state->scale;
    if (spry_type_is_complex(f->type)) {
        state->conjugate = NULL;
        for (int64_t i = 0; i < f->n; i++) {
            const spry_scalar v = value_load(f->type, f->data, i);
            value_store(f->type, f->data, i, (spry_scalar){v.re, -v.im});
        }
        SPRY_GO(A->ctx, precon_vector(&job, f->n, f->data, &state->conjugate));
    }
done:
    spry_vector_free(f);
    return status;
}

/* The largest eigenvalue as it is given or estimated; the scale is D^-1 already. */
static spry_status find_high(const spry_matrix *A, double bound, poly *state, double *high)
{
    spry_context *ctx = A->ctx;
    spry_vector *x = NULL;
    spry_status status = SPRY_STATUS_OK;
    *high = state->options.high > 0 ? state->options.high : 1;
    if (state->options.high > 0 || A->a.rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(state->work, A->a.rows, &x));
    SPRY_GO(ctx, vector_random(x, 1));
    SPRY_GO(ctx, estimate(state, x, bound, high));
done:
    spry_vector_free(x);
    return status;
}

static spry_status fill(const spry_matrix *A, poly *state)
{
    spry_context *ctx = A->ctx;
    const poly_options *o = &state->options;
    spry_vector *inverse = NULL;
    int kind = o->kind;
    double high = 1;
    bool definite = false;
    spry_status status = SPRY_STATUS_OK;
    clear_values(state);
    if (kind == POLY_AUTO) {
        SPRY_GO(ctx, matrix_may_be_definite(A, &definite));
        kind = definite ? POLY_LEAST_SQUARES : POLY_NEUMANN;
    }
    SPRY_GO(ctx, precon_inverse_diagonal(A, "precon poly", &inverse));
    const double bound = largest_row(A, inverse);
    SPRY_GO(ctx, store_matrix(A, state));
    const spry_status stored = store_scale(A, inverse, state);
    inverse = NULL;
    SPRY_GO(ctx, stored);
    SPRY_GO(ctx, find_high(A, bound, state, &high));
    const double low = o->low > 0 ? o->low : high / low_share;
    if (kind == POLY_CHEBYSHEV && !(low < high)) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "precon poly: low=%g is not below the largest eigenvalue, %g; give "
                           "another low= or high=",
                           low, high);
        goto done;
    }
    const double first = set_factors(state, kind, high, low);
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){first, 0}, state->scale));
    if (state->conjugate != state->scale)
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){first, 0}, state->conjugate));
    base_log(ctx, SPRY_LOG_INFO,
             "precon poly: %s of degree %d, eigenvalues of D^-1 A up to %.3g (rows allow %.3g)",
             kind == POLY_NEUMANN     ? "neumann"
             : kind == POLY_CHEBYSHEV ? "chebyshev"
                                      : "least-squares",
             (int)o->degree, high, bound);
done:
    spry_vector_free(inverse);
    return status;
}

static spry_status poly_update(spry_operator *op, const spry_matrix *A)
{
    return fill(A, op->state);
}

static const operator_class poly_class = {.name = "poly",
                                          .has_transpose = true,
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = operator_apply_vectors,
                                          .apply = poly_apply,
                                          .update = poly_update,
                                          .destroy = poly_destroy};

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    const int64_t n = job->A->a.rows;
    const int64_t vector = n * (int64_t)spry_type_size(job->A->a.type);
    spry_operator *op = NULL;
    poly *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, precon_operator(job, &poly_class, sizeof *state, &state, &op));
    op->device = job->device;
    state->job = precon_kept(job);
    state->options = *(const poly_options *)job->options;
    SPRY_GO(ctx, precon_vector(job, n, NULL, &state->work));
    SPRY_GO(ctx, fill(job->A, state));
    /* Each step reads A, f, r and two z and writes one. */
    op->own_bytes = state->options.degree * (state->A->own_bytes + 3 * vector) + 2 * vector;
    op->bytes = op->own_bytes + 2 * vector;
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

const precon_kind precon_kind_poly = {
    .name = "poly",
    .summary = "a polynomial of A: Neumann, Chebyshev, least squares",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .on_devices = true,
    .half = true,
    .cost = {.products = 20, .vectors = 4, .made_on_device = true, .share = 0.3}};
