/*
 * Newton's method with inexact solves. S. C. Eisenstat, H. F. Walker, Choosing the forcing terms in
 * an inexact Newton method, SIAM J. Sci. Comput. 17 (1996) 16-32; C. T. Kelley, Solving Nonlinear
 * Equations with Newton's Method (2003).
 *
 *     loop:  solve F'(u) s = -F(u) to |r| <= eta |F|
 *            u = u + l s, with the first l = 1, ... that makes |F| smaller by 1e-4 l (1 - eta)
 *            eta = 0.9 (|F| / |F before|)^2
 *
 * eta stays below 0.9 and above 0.9 eta^2 where that is above a tenth, so that one lucky step does
 * not ask for a solve that the next does not need.
 */
#include "grid/options.h"
#include "krylov/krylov.h"

#include <spry/grid/newton.h>

#include <float.h>

#define NEWTON_OPTIONS(item)                                                                \
    item(REAL, tol, "1e-8", 0, 1, NULL, "|F| at which it stops, relative to the first one") \
    item(REAL, atol, "0", 0, 1e300, NULL, "the same, absolute")                             \
    item(INT, max_iter, "50", 0, 1e6, NULL, "steps at most")                                \
    item(REAL, forcing, "0.1", 1e-12, 0.9, NULL,                                            \
         "tolerance of the first linear solve; those after it follow the residual")         \
    item(TEXT, solver, "", 0, 0, NULL,                                                      \
         "options of the linear solver: [method=cg precon=gmg]; by default gmg where the "  \
         "Jacobian has one, and gmres for differences. A tol of its own is ignored")

typedef struct newton_options {
    NEWTON_OPTIONS(SPRY_OPTION_FIELD)
} newton_options;
SPRY_OPTION_TABLE(rows, newton_options, NEWTON_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list newton_option_list(void)
{
    return list;
}

typedef struct newton {
    spry_context *ctx;
    newton_options o;
    spry_residual_fn residual;
    spry_jacobian_fn jacobian;
    void *data;
    spry_vector *u, *f, *right, *step; /* f: F(u) */
    spry_vector *other, *other_f;      /* another u, and F of it */
    double norm, first;                /* of F(u); of the first guess */
    double eta;
    spry_operator *products; /* by differences */
    spry_solver *solver;
    int64_t inner, solves;
} newton;

static spry_status evaluate(const newton *n, const spry_vector *u, spry_vector *f, double *norm)
{
    const spry_status status = n->residual(n->data, u, f);
    return status == SPRY_STATUS_OK ? spry_vector_norm(f, norm) : status;
}

/* y = F'(u) x, nearly: (F(u + e x) - F(u)) / e. The error of the difference is about e, that of
 * rounding about 1 / e of the precision. */
static spry_status difference(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                              void *stream)
{
    const newton *n = data;
    double size = 0, place = 0;
    spry_status status = SPRY_STATUS_OK;
    (void)op;
    (void)stream;
    SPRY_GO(n->ctx, spry_vector_norm(x, &size));
    if (size == 0)
        return spry_vector_fill(y, (spry_scalar){0, 0});
    SPRY_GO(n->ctx, spry_vector_norm(n->u, &place));
    const double unit = type_is_single(x->type) ? FLT_EPSILON : DBL_EPSILON;
    const double e = sqrt(unit) * fmax(place, sqrt((double)vector_all(x))) / size;
    SPRY_GO(n->ctx, spry_vector_copy(n->u, n->other));
    SPRY_GO(n->ctx, spry_vector_axpy((spry_scalar){e, 0}, x, n->other));
    SPRY_GO(n->ctx, n->residual(n->data, n->other, y));
    SPRY_GO(n->ctx, spry_vector_axpy((spry_scalar){-1, 0}, n->f, y));
    SPRY_GO(n->ctx, spry_vector_scale((spry_scalar){1 / e, 0}, y));
done:
    return status;
}

/* Nothing is left of a Jacobian when the next is asked for: what it is made of may go then. */
static void drop_jacobian(newton *n)
{
    spry_solver_free(n->solver);
    spry_operator_free(n->products);
    n->solver = NULL;
    n->products = NULL;
}

static spry_status find_jacobian(newton *n, const spry_operator **J)
{
    const spry_vector *u = n->u;
    if (!n->jacobian) {
        spry_status status = spry_operator_from_product(n->ctx, u->device, u->type, u->n, u->n,
                                                        false, difference, n, &n->products);
        if (status == SPRY_STATUS_OK && u->part.is) /* F is that of all ranks */
            status = spry_operator_set_ranked(n->products, u);
        *J = n->products;
        return status;
    }
    const spry_status status = n->jacobian(n->data, u, J);
    const spry_operator *op = *J;
    if (status != SPRY_STATUS_OK ||
        (op && op->ctx == n->ctx && op->square && op->rows == u->n && op->type == u->type))
        return status;
    return SPRY_FAIL(n->ctx, SPRY_STATUS_BAD_USAGE,
                     "the Jacobian is %" PRId64 " x %" PRId64 ", type %s; expected %" PRId64
                     " x %" PRId64 ", type %s, as u, and of its context",
                     op ? op->rows : 0, op ? op->cols : 0, spry_type_name(op ? op->type : u->type),
                     u->n, u->n, spry_type_name(u->type));
}

static spry_status take_jacobian(newton *n)
{
    const spry_operator *J = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (n->products) /* which follow u by themselves */
        return status;
    drop_jacobian(n);
    SPRY_GO(n->ctx, find_jacobian(n, &J));
    SPRY_GO(n->ctx, spry_solver_new(n->ctx, &n->solver));
    if (!n->jacobian)
        SPRY_GO(n->ctx, spry_solver_set(n->solver, "method=gmres precon=none"));
    else if (operator_find_precon(J, "gmg"))
        SPRY_GO(n->ctx, spry_solver_set(n->solver, "precon=gmg"));
    SPRY_GO(n->ctx, spry_solver_set(n->solver, n->o.solver));
    SPRY_GO(n->ctx, spry_solver_set_operator(n->solver, J));
done:
    return status;
}

/* step = -F'(u)^-1 F(u), nearly. A solve that does not converge leaves its best one, which may do.
 */
static spry_status find_step(newton *n, spry_result *outcome)
{
    spry_result result = SPRY_RESULT_INIT;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(n->ctx, take_jacobian(n));
    SPRY_GO(n->ctx, spry_vector_copy(n->f, n->right));
    SPRY_GO(n->ctx, spry_vector_scale((spry_scalar){-1, 0}, n->right));
    SPRY_GO(n->ctx, spry_vector_fill(n->step, (spry_scalar){0, 0}));
    SPRY_GO(n->ctx, spry_solver_set_real(n->solver, "tol", n->eta));
    SPRY_GO(n->ctx, spry_solve(n->solver, n->right, n->step, &result));
    n->solves++;
    n->inner += result.iterations;
    if (result.reason == SPRY_REASON_STOPPED)
        outcome->reason = SPRY_REASON_STOPPED;
    snprintf(outcome->detail, sizeof outcome->detail,
             "%" PRId64 " iterations of %s in %" PRId64 " linear solves", n->inner, result.method,
             n->solves);
    memcpy(outcome->precon, result.precon, sizeof outcome->precon);
done:
    spry_result_clear(n->ctx, &result);
    return status;
}

/* The next part of a step: where the parabola through |F|^2 at 0 and l, whose slope at 0 is that of
 * a full step, is least; between a tenth and a half of l. */
static double shorter(double l, double norm, double tried)
{
    const double square = norm * norm, curve = tried * tried - square + 2 * l * square;
    const double least = isfinite(curve) && curve > 0 ? l * l * square / curve : 0;
    return fmin(fmax(least, 0.1 * l), 0.5 * l);
}

/* u = u + l s; *moved: there is an l. Otherwise u is as it was. */
static spry_status take_step(newton *n, bool *moved)
{
    enum { TRIES = 12 };
    double l = 1, norm = 0;
    spry_status status = SPRY_STATUS_OK;
    *moved = false;
    for (int k = 0; k < TRIES && !*moved; k++) {
        SPRY_GO(n->ctx, spry_vector_copy(n->u, n->other));
        SPRY_GO(n->ctx, spry_vector_axpy((spry_scalar){l, 0}, n->step, n->other));
        SPRY_GO(n->ctx, evaluate(n, n->other, n->other_f, &norm));
        *moved = norm <= (1 - 1e-4 * l * (1 - n->eta)) * n->norm;
        if (!*moved)
            l = shorter(l, n->norm, norm);
    }
    if (!*moved)
        return status;
    SPRY_GO(n->ctx, spry_vector_copy(n->other, n->u));
    SPRY_GO(n->ctx, spry_vector_copy(n->other_f, n->f));
    const double ratio = norm / n->norm, before = 0.9 * n->eta * n->eta;
    n->norm = norm;
    n->eta = fmin(fmax(0.9 * ratio * ratio, before > 0.1 ? before : 0), 0.9);
done:
    return status;
}

static spry_status note(newton *n, spry_result *r)
{
    r->residual = r->true_residual = n->norm / n->first;
    const spry_status status =
        base_grow(n->ctx, r->history_size, r->history_size + 1, sizeof *r->history, &r->history);
    if (status == SPRY_STATUS_OK)
        r->history[r->history_size++] = r->residual;
    base_log(n->ctx, SPRY_LOG_INFO, "newton: iteration %" PRId64 ", residual %.2e", r->iterations,
             r->residual);
    return status;
}

static spry_status iterate(newton *n, spry_result *r)
{
    spry_status status = SPRY_STATUS_OK;
    bool moved = true;
    SPRY_GO(n->ctx, evaluate(n, n->u, n->f, &n->norm));
    n->first = n->norm > 0 ? n->norm : 1;
    if (!isfinite(n->norm))
        return SPRY_FAIL(n->ctx, SPRY_STATUS_BAD_INPUT, "F of the first guess is not finite");
    r->initial_residual = n->norm / n->first;
    r->tolerance = fmax(n->o.tol, n->o.atol / n->first);
    SPRY_GO(n->ctx, note(n, r));
    while (r->residual > r->tolerance && r->iterations < n->o.max_iter) {
        /* no solve has to be better than what the end asks for */
        n->eta = fmin(fmax(n->eta, 0.5 * r->tolerance / r->residual), 0.9);
        SPRY_GO(n->ctx, find_step(n, r));
        if (r->reason == SPRY_REASON_STOPPED)
            return status;
        SPRY_GO(n->ctx, take_step(n, &moved));
        if (!moved)
            break;
        r->iterations++;
        SPRY_GO(n->ctx, note(n, r));
    }
    r->converged = r->residual <= r->tolerance;
    r->reason = r->converged ? SPRY_REASON_CONVERGED
                : moved      ? SPRY_REASON_ITERATIONS
                             : SPRY_REASON_STAGNATED;
done:
    return status;
}

static spry_status prepare(newton *n, const char *options)
{
    spry_vector **const vectors[] = {&n->f, &n->right, &n->step, &n->other, &n->other_f};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(n->ctx, options_take(n->ctx, list, &n->o, options));
    SPRY_GO(n->ctx, vector_fetch(n->u));
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        SPRY_GO(n->ctx, spry_vector_like(n->u, n->u->n, vectors[k]));
    n->eta = n->o.forcing;
done:
    return status;
}

spry_status spry_newton(spry_residual_fn residual, spry_jacobian_fn jacobian, void *data,
                        spry_vector *u, const char *options, spry_result *result)
{
    SPRY_NEED(CTX_OF(u), u);
    spry_context *ctx = u->ctx;
    newton n = {.ctx = ctx, .residual = residual, .jacobian = jacobian, .data = data, .u = u};
    spry_result outcome = {
        .type = u->type, .rows = vector_all(u), .cols = vector_all(u), .method = "newton"};
    spry_status status = result ? base_blank(ctx, result, &krylov_result_sized) : SPRY_STATUS_OK;
    if (status != SPRY_STATUS_OK)
        return status;
    if (!residual)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "spry_newton: residual is NULL");
    const double begun = base_seconds();
    SPRY_GO(ctx, prepare(&n, options));
    SPRY_GO(ctx, iterate(&n, &outcome));
done:
    outcome.solve_seconds = base_seconds() - begun;
    drop_jacobian(&n);
    spry_vector_free(n.f);
    spry_vector_free(n.right);
    spry_vector_free(n.step);
    spry_vector_free(n.other);
    spry_vector_free(n.other_f);
    if (result)
        base_give(result, &outcome, &krylov_result_sized);
    else
        base_free(ctx, outcome.history);
    return status;
}
