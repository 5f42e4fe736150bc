/*
 * The last digits of a direct solve: refinement with residuals in about twice the precision
 * (wide.c), so that x comes as near to the solution as its own digits allow (C. B. Moler, Iterative
 * refinement in floating point, J. ACM 14 (1967), 316-321).
 */
#include "krylov/singular.h"
#include "krylov/solver.h"

#include "device/linalg/operator.h"

#include <math.h>

/* x is the best that was kept. */
static spry_status take_best(iteration *it)
{
    if (it->truth <= it->best.residual)
        return SPRY_STATUS_OK;
    it->truth = it->best.residual;
    return spry_vector_copy(it->best.x, it->x);
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
 * the one to return, also where one on the way had a smaller residual by chance.
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
    it->best.residual = INFINITY;
    for (int k = 0; k < steps && isfinite(it->truth); k++) {
        SPRY_GO(ctx, iteration_keep(it, it->truth));
        SPRY_GO(ctx, base_go_on(ctx, "refinement"));
        const bool helps = k < 2 || it->truth <= worth * before || step <= shorter * last;
        if (it->truth <= it->tol || !helps || it->count >= it->options->max_iter)
            break;
        before = it->truth;
        last = step;
        SPRY_GO(ctx, refine_once(it, A, M, z, &step));
    }
    SPRY_GO(ctx, spry_vector_norm(it->x, &size));
    if (!(step <= still * size) || !isfinite(it->truth) || it->best.residual <= it->tol)
        SPRY_GO(ctx, take_best(it));
done:
    spry_vector_free(z);
    return status;
}

/* What the factors are: those of lower precision are not what rounding is measured by. */
static void report_rounding(iteration *it, const spry_operator *M, double level)
{
    it->at_rounding = it->rounded = true;
    it->reason = SPRY_REASON_STAGNATED;
    snprintf(it->detail, sizeof it->detail,
             "%.2g was not reached: x, refined with %s factors, stays at %.2g, and rounding in %s "
             "precision makes about %.1g with this A and b",
             it->tol, M->single ? "single-precision" : "exact", it->truth,
             type_is_single(it->A->type) ? "single" : "double", level);
}

/* What factors could not do nothing else can, where A is singular, or rounding makes as much. */
static spry_status judge(const solver_nested *calls, iteration *it, const spry_matrix *A,
                         const spry_operator *M)
{
    spry_context *ctx = it->ctx;
    const double near = 10, sensible = 0.1, seconds = 5;
    double level;
    singular_result found;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, measure_rounding(it, &level));
    if (it->truth <= near * level && it->truth < sensible) {
        report_rounding(it, M, level);
        /* One rounding of x may differ from another by that much: other attempts have others. */
        it->at_rounding = it->tol * near < level;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, singular_solve(calls, A, M, it->b, it->x, it->tol, seconds, &found));
    if (found.singular) {
        SPRY_GO(ctx, wide_residual(it, A, it->b, it->x, it->spare, &it->truth));
        it->reason = SPRY_REASON_SINGULAR;
        it->nullity = A->a.cols - found.rank;
        snprintf(it->detail, sizeof it->detail, "%s", found.text);
        order_name_rows(it->order, it->detail, sizeof it->detail);
    } else if (it->truth <= near * level) {
        report_rounding(it, M, level);
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

static spry_status copy_to_host(const spry_vector *v, spry_vector **copy)
{
    const spry_status status = vector_new_at(v->ctx, NULL, v->type, v->n, copy);
    return status == SPRY_STATUS_OK ? spry_vector_copy(v, *copy) : status;
}

/* *M is the solver's where it works on the host: an inverse that was written out for the device has
 * fewer digits than factors, and no word on pivots that are missing. */
static spry_status bring_home(const spry_solver *solver, iteration *it, const spry_matrix *A,
                              visit *v, const spry_operator **M)
{
    spry_context *ctx = it->ctx;
    char name[32];
    spry_status status = SPRY_STATUS_OK;
    *v = (visit){it->b, it->x, it->spare, it->best.x, {NULL}, NULL};
    *M = solver_precon(solver);
    if (device_of(*M) && !solver->asked.precon) {
        SPRY_GO(ctx, precon_make(ctx, A, NULL, &solver->setup.made_spec, NULL, &v->M, name));
        *M = v->M;
    }
    if (!it->x->device)
        return SPRY_STATUS_OK;
    const spry_vector *const from[] = {it->b, it->x, it->spare, it->best.x};
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, copy_to_host(from[k], &v->own[k]));
    it->b = v->own[0];
    it->x = v->own[1];
    it->spare = v->own[2];
    it->best.x = v->own[3];
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
    it->best.x = v->saved;
    if (v->own[3] && (came == SPRY_STATUS_OK || came == SPRY_STATUS_INTERRUPTED)) {
        SPRY_GO(ctx, spry_vector_copy(v->own[1], it->x));
        SPRY_GO(ctx, spry_vector_copy(v->own[3], it->best.x));
        status = came;
    }
done:
    for (int k = 0; k < 4; k++)
        spry_vector_free(v->own[k]);
    spry_operator_free(v->M);
    return status;
}

/* An x that factors do not bring to the level of rounding is no better than one before it that has
 * the smaller residual. */
static spry_status polish(const solver_nested *calls, iteration *it, const spry_matrix *A,
                          const spry_operator *M)
{
    spry_context *ctx = it->ctx;
    const double before = it->truth;
    const bool found = it->best.found;
    spry_vector *first = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(it->x, it->x->n, &first));
    SPRY_GO(ctx, spry_vector_copy(it->x, first));
    SPRY_GO(ctx, refine(it, A, M));
    if (!(it->truth <= it->tol))
        SPRY_GO(ctx, judge(calls, it, A, M));
    if (it->truth <= it->tol) {
        it->reason = SPRY_REASON_CONVERGED;
        it->detail[0] = '\0';
    } else if (!(it->truth <= before) && !it->rounded) {
        SPRY_GO(ctx, spry_vector_copy(first, it->x));
        it->best.residual = it->truth = before;
        SPRY_GO(ctx, spry_vector_copy(first, it->best.x));
        it->best.found = found;
    }
done:
    spry_vector_free(first);
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
    const bool least_squares =
        isfinite(it->squares.gradient); /* and the method has made the best of it */
    if (it->reason == SPRY_REASON_CONVERGED || it->stop || it->null || least_squares ||
        solver->asked.within || !solver->setup.matrix || !solver_precon(solver) ||
        !precon_is_exact(solver->setup.precon_name))
        return SPRY_STATUS_OK;
    if (solver->asked.inner) { /* nothing else does better than factors, whatever is in the way */
        it->at_rounding = true;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, matrix_as_sorted_csr(solver->setup.matrix, &csr, &owned));
    status = bring_home(solver, it, csr, &v, &M);
    if (status == SPRY_STATUS_OK)
        status = polish(solver->nested, it, csr, M);
    SPRY_GO(ctx, go_back(it, &v, status));
done:
    spry_matrix_free(owned);
    return status;
}
