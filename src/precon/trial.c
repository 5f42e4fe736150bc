/*
 * A few steps with a random right-hand side. Scaled by the diagonal, before anything is chosen: how
 * fast the residual falls, and whether a hermitian matrix is seen not to be definite. With a
 * preconditioner that looks bad: whether a method can make use of it none the less. Where A is
 * hermitian they are steps of conjugate gradients, whose (p, A p) is negative as soon as one of
 * the eigenvalues of Lanczos's tridiagonal matrix is (G. H. Golub, C. F. Van Loan, Matrix
 * computations, 11.3); else of generalized conjugate residuals (S. C. Eisenstat, H. C. Elman,
 * M. H. Schultz, Variational iterative methods for nonsymmetric systems of linear equations, SIAM
 * J. Numer. Anal. 20 (1983), 345-357), which need no x for their residuals.
 */
#include "precon/trial.h"

#include "matrix/stats.h"

#include <float.h>
#include <math.h>

enum { STEPS = 12, HALF = STEPS / 2 };

/* The share of the residual at which steps have shown enough: of general matrices less, as they may
 * fall fast before they fall slowly. */
static const double fast = 1e-2, fast_general = 1e-4;

typedef struct trial {
    spry_context *ctx;
    const spry_matrix *A;
    const spry_operator *M; /* NULL: the inverse of the diagonal, from the left */
    spry_operator *op;
    int most;      /* steps */
    double enough; /* the share of the residual at which they end */
    spry_vector *scale, *r, *q, *p, *basis[STEPS];
    double sizes[STEPS + 1]; /* of residuals */
    int steps;
} trial;

static spry_status find_scale(trial *t)
{
    const matrix_arrays *a = &t->A->a;
    const spry_status status = spry_matrix_diagonal(t->A, &t->scale);
    for (int64_t i = 0; i < a->rows && status == SPRY_STATUS_OK; i++) {
        const spry_scalar d = value_load(a->type, t->scale->data, i);
        const double size = hypot(d.re, d.im); /* whose square may overflow, or be 0 */
        const spry_scalar unit = {d.re / size, -d.im / size};
        value_store(a->type, t->scale->data, i, (spry_scalar){unit.re / size, unit.im / size});
    }
    return status;
}

static spry_status set_up(trial *t)
{
    spry_vector **const all[] = {&t->r, &t->q, &t->p};
    spry_status status = SPRY_STATUS_OK;
    t->most = STEPS;
    SPRY_GO(t->ctx, host_csr_operator(t->A, &t->op));
    for (int k = 0; k < 3; k++)
        SPRY_GO(t->ctx, vector_new_at(t->ctx, NULL, t->A->a.type, t->A->a.rows, all[k]));
    SPRY_GO(t->ctx, vector_random(t->r, 5));
done:
    return status;
}

static void clear(trial *t)
{
    spry_operator_free(t->op);
    spry_vector_free(t->scale);
    spry_vector_free(t->r);
    spry_vector_free(t->q);
    spry_vector_free(t->p);
    for (int k = 0; k < STEPS; k++)
        spry_vector_free(t->basis[k]);
}

/* What rounding can have made of (p, A p). */
static double rounding_of(const spry_matrix *A, const spry_vector *p)
{
    const matrix_arrays *a = &A->a;
    const double unit = type_is_single(a->type) ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double sum = 0;
    int64_t longest = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double row = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            row += scalar_size(a->type, value_load(a->type, a->values, k)) *
                   scalar_size(a->type, value_load(a->type, p->data, a->col_index[k]));
        sum += row * scalar_size(a->type, value_load(a->type, p->data, i));
        const int64_t length = a->offsets[i + 1] - a->offsets[i];
        longest = length > longest ? length : longest;
    }
    return 2 * unit * (double)(longest + a->rows + 4) * sum;
}

/* Conjugate gradients. */
static spry_status run_hermitian(trial *t, bool *indefinite)
{
    spry_context *ctx = t->ctx;
    double before = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(t->r, &t->sizes[0]));
    while (t->steps < STEPS && t->sizes[t->steps] > t->enough * t->sizes[0]) {
        spry_scalar rz, pq;
        SPRY_GO(ctx, spry_vector_multiply(t->scale, t->r, t->q));
        SPRY_GO(ctx, spry_vector_dot(t->r, t->q, &rz));
        if (!(rz.re > 0) || t->sizes[t->steps] == 0)
            break;
        const double beta = t->steps > 0 ? rz.re / before : 0;
        SPRY_GO(ctx, vector_xpay(t->q, (spry_scalar){beta, 0}, t->p));
        SPRY_GO(ctx, spry_operator_apply(t->op, t->p, t->q));
        SPRY_GO(ctx, spry_vector_dot(t->p, t->q, &pq));
        if (!(pq.re > 0)) {
            *indefinite = pq.re < -rounding_of(t->A, t->p);
            break;
        }
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-rz.re / pq.re, 0}, t->q, t->r));
        SPRY_GO(ctx, spry_vector_norm(t->r, &t->sizes[++t->steps]));
        before = rz.re;
    }
done:
    return status;
}

/* D^-1 A r, or A M r. */
static spry_status multiply(const trial *t, spry_vector *q)
{
    spry_context *ctx = t->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (t->M) {
        SPRY_GO(ctx, spry_operator_apply(t->M, t->r, t->p));
        SPRY_GO(ctx, spry_operator_apply(t->op, t->p, q));
    } else {
        SPRY_GO(ctx, spry_operator_apply(t->op, t->r, q));
        SPRY_GO(ctx, spry_vector_multiply(t->scale, q, q));
    }
done:
    return status;
}

/* Generalized conjugate residuals: r loses what it has of each new D^-1 A r, or A M r. The second
 * half of the steps, which are the dear ones, is only made where the first has taken something. */
static spry_status run_general(trial *t)
{
    const double slow = 0.8;
    spry_context *ctx = t->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_norm(t->r, &t->sizes[0]));
    while (t->steps < t->most && t->sizes[t->steps] > t->enough * t->sizes[0]) {
        if (!t->M && t->steps == HALF && t->sizes[HALF] > slow * t->sizes[0])
            break;
        spry_vector **own = &t->basis[t->steps], *q;
        spry_scalar part;
        double size;
        SPRY_GO(ctx, spry_vector_like(t->r, t->r->n, own));
        q = *own;
        SPRY_GO(ctx, multiply(t, q));
        for (int k = 0; k < t->steps; k++) {
            SPRY_GO(ctx, spry_vector_dot(t->basis[k], q, &part));
            SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-part.re, -part.im}, t->basis[k], q));
        }
        SPRY_GO(ctx, spry_vector_norm(q, &size));
        if (!(size > 0))
            break;
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / size, 0}, q));
        SPRY_GO(ctx, spry_vector_dot(q, t->r, &part));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-part.re, -part.im}, q, t->r));
        SPRY_GO(ctx, spry_vector_norm(t->r, &t->sizes[++t->steps]));
    }
done:
    return status;
}

/* Iterations to 1e-8 at the speed of the later steps: the first ones take what is easily taken. */
static double iterations(const trial *t)
{
    const double goal = 1e-8;
    const double last = t->sizes[t->steps], all = last / t->sizes[0];
    if (t->sizes[0] > 0 && all <= goal)
        return t->steps > 0 ? t->steps : 1;
    if ((t->steps < STEPS && !(all <= fast)) || !isfinite(last))
        return INFINITY;
    const int half = t->steps / 2;
    const double rate = log(t->sizes[half] / last) / (t->steps - half);
    return rate > 0 ? t->steps + log(all / goal) / rate : INFINITY;
}

spry_status precon_trial(const spry_matrix *A, bool hermitian, precon_trial_result *result)
{
    trial t = {.ctx = A->ctx, .A = A, .enough = hermitian ? fast : fast_general};
    spry_status status = SPRY_STATUS_OK;
    *result = (precon_trial_result){.iterations = INFINITY};
    SPRY_GO(t.ctx, set_up(&t));
    SPRY_GO(t.ctx, find_scale(&t));
    SPRY_GO(t.ctx, hermitian ? run_hermitian(&t, &result->indefinite) : run_general(&t));
    result->iterations = iterations(&t);
done:
    clear(&t);
    return status;
}

spry_status precon_try(const spry_operator *M, const spry_matrix *A, double enough, double *left)
{
    enum { SHARE = 4 }; /* of the rows: any vectors serve where there are as many of them */
    trial t = {.ctx = A->ctx, .A = A, .M = M, .enough = enough};
    spry_status status = SPRY_STATUS_OK;
    *left = 1;
    SPRY_GO(t.ctx, set_up(&t));
    if (A->a.rows / SHARE < t.most)
        t.most = (int)(A->a.rows / SHARE);
    SPRY_GO(t.ctx, run_general(&t));
    if (isfinite(t.sizes[t.steps]) && t.sizes[0] > 0)
        *left = t.sizes[t.steps] / t.sizes[0];
done:
    clear(&t);
    return status;
}
