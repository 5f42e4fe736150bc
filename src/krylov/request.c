/* The solver as an object: what it is asked to solve, and who watches it. */
#include "krylov/solver.h"

#include <private/programs.h>

spry_status spry_solver_new(spry_context *ctx, spry_solver **solver)
{
    SPRY_NEED(ctx, ctx, solver);
    *solver = NULL;
    spry_status status = base_object_new(ctx, sizeof **solver, solver);
    if (status != SPRY_STATUS_OK)
        return status;
    (*solver)->ctx = ctx;
    (*solver)->nested = &krylov_nested;
    status = options_take(ctx, solver_option_list(), &(*solver)->asked.options, NULL);
    if (status != SPRY_STATUS_OK) {
        spry_solver_free(*solver);
        *solver = NULL;
    }
    return status;
}

/* What is solved with from now on: a matrix, or a view of it that is the solver's, or an operator.
 */
static void replace_system(spry_solver *solver, const spry_matrix *A, spry_matrix *view,
                           const spry_operator *op)
{
    solver_forget(solver);
    spry_matrix_free(solver->asked.view);
    solver->asked.view = view;
    solver->setup.matrix = solver->asked.matrix = view ? view : A;
    solver->asked.operator= op;
    solver->setup.stays = false;
}

spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A)
{
    SPRY_NEED(CTX_OF(solver), solver);
    spry_context *ctx = solver->ctx;
    spry_matrix *view = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_check_idle(solver));
    if (A && A->ctx != ctx && A->distributed) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "the matrix is distributed over the ranks of another context");
        goto done;
    }
    if (A && A->ctx != ctx)
        SPRY_GO(ctx, matrix_view(ctx, A, &view));
    replace_system(solver, A, view, NULL);
done:
    return status;
}

spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A)
{
    SPRY_NEED(CTX_OF(solver), solver);
    const spry_status status = solver_check_idle(solver);
    if (status == SPRY_STATUS_OK)
        replace_system(solver, NULL, NULL, A);
    return status;
}

spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M)
{
    SPRY_NEED(CTX_OF(solver), solver);
    if (solver_check_idle(solver) != SPRY_STATUS_OK)
        return SPRY_STATUS_BAD_USAGE;
    solver_drop(solver, solver_may_reorder(solver) ? STAGE_OPERATOR : STAGE_PRECON);
    solver_forget_attempts(solver);
    solver->asked.precon = M;
    return SPRY_STATUS_OK;
}

void spry_solver_set_monitor(spry_solver *solver, spry_monitor_fn monitor, void *data)
{
    if (solver) {
        solver->asked.monitor = monitor;
        solver->asked.monitor_data = data;
    }
}

spry_status spry_solver_accept(spry_solver *solver)
{
    SPRY_NEED(CTX_OF(solver), solver);
    if (!solver->run.reporting)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "there is no x to accept: a monitor or a watch of a solve says this");
    solver->run.reporting->listener.accepted = true;
    return SPRY_STATUS_OK;
}

int spry_solver_system(const spry_solver *solver)
{
    return solver && solver->run.reporting ? solver->run.reporting->system : -1;
}

const char *spry_solver_method(const spry_solver *solver)
{
    return solver ? solver->setup.attempts.method : "";
}

const char *spry_solver_precon(const spry_solver *solver)
{
    return solver ? solver->setup.attempts.precon : "";
}

void spry_solver_set_watch(spry_solver *solver, spry_watch_fn watch, void *data)
{
    if (solver) {
        solver->asked.watch = watch;
        solver->asked.watch_data = data;
    }
}

spry_status spry_solver_set_method_text(spry_solver *solver, const char *text)
{
    SPRY_NEED(CTX_OF(solver), solver);
    char *copy = NULL;
    if (solver_check_idle(solver) != SPRY_STATUS_OK)
        return SPRY_STATUS_BAD_USAGE;
    if (text) {
        copy = base_copy_text(solver->ctx, text);
        if (!copy)
            return SPRY_STATUS_NO_MEMORY;
    }
    solver_drop(solver, STAGE_PLAN);
    solver_forget_attempts(solver);
    base_free(solver->ctx, solver->asked.text);
    solver->asked.text = copy;
    return SPRY_STATUS_OK;
}

/* --- solvers within solvers
 * -----------------------------------------------------------------------
 */

/* Options of the context are for the outer one. */
static spry_status open_nested(spry_context *ctx, const spry_matrix *A, const char *first,
                               const char *options, spry_solver **out)
{
    spry_solver *solver = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_options_default(ctx, solver_option_list(), &solver->asked.options));
    SPRY_GO(ctx, spry_solver_set(solver, first));
    SPRY_GO(ctx, spry_solver_set(solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, A));
    *out = solver;
    solver = NULL;
done:
    spry_solver_free(solver);
    return status;
}

const solver_nested krylov_nested = {open_nested, spry_solver_set_precon, spry_solve};
