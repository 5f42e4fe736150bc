/* New values of the matrix: what a solver has made takes them, or is forgotten and made anew. */
#include "krylov/solver.h"

void solver_note_version(spry_solver *solver)
{
    if (!solver->matrix)
        return;
    if (solver->view)
        matrix_follow(solver->view);
    solver->version = matrix_version(solver->matrix);
    solver->pattern = matrix_pattern_version(solver->matrix);
}

/* Takes the matrix's values as they are now. What cannot take them is forgotten, to be made anew.
 */
static spry_status update(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const double begin = base_seconds();
    const bool other = matrix_pattern_version(solver->matrix) != solver->pattern;
    spry_status status = SPRY_STATUS_OK;
    if (matrix_version(solver->matrix) == solver->version)
        return SPRY_STATUS_OK;
    if (other || solver->made < STAGE_ALL ||
        (solver->own_precon && !operator_has_update(solver->own_precon))) {
        solver_forget(solver);
        return SPRY_STATUS_OK;
    }
    solver_note_version(solver);
    solver_drop_work(solver); /* it knows the operators by their insides */
    status = spry_operator_update(solver->own_operator, solver->matrix);
    if (status == SPRY_STATUS_UNSUPPORTED) { /* a format that does not hold them */
        solver_forget(solver);
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, status);
    if (solver_chooses_method(solver)) { /* what it was chosen for may be no more */
        const char *before = solver->chosen, *now = NULL;
        SPRY_GO(ctx, solver_choose_method(solver, &now));
        if (!before || strcmp(before, now) != 0) {
            solver_forget(solver);
            return SPRY_STATUS_OK;
        }
    }
    if (solver->precon_there) { /* a copy of the caller's own, as it is now */
        spry_operator_free(solver->precon_there);
        solver->precon_there = NULL;
        SPRY_GO(ctx, solver_move_precon(solver));
    }
    if (solver->own_precon) {
        status = spry_operator_update(solver->own_precon, solver->matrix);
        if (status == SPRY_STATUS_BAD_INPUT && strcmp(solver->options.precon, "auto") == 0) {
            base_log(ctx, SPRY_LOG_INFO, "precon auto chooses again: %s", spry_message(ctx));
            solver_forget(solver);
            return SPRY_STATUS_OK;
        }
        SPRY_GO(ctx, status);
    }
    if (solver_has_null_space(solver))
        solver_drop(solver, STAGE_PLAN); /* whether it still is one is seen at the next solve */
    solver->updated_seconds += base_seconds() - begin;
done:
    if (status != SPRY_STATUS_OK)
        solver_forget(solver);
    return status;
}

/* Operators of the caller's follow the matrix they read in place, or must be up to date: a
 * preconditioner may be old, but with an old A the answer would be wrong. */
static spry_status check_given(const spry_solver *solver)
{
    const spry_operator *A = solver->given_operator, *M = solver->given_precon;
    spry_status status = SPRY_STATUS_OK;
    if (A)
        SPRY_GO(solver->ctx, operator_follow(A));
    if (M)
        SPRY_GO(solver->ctx, operator_follow(M));
    if (A && !spry_operator_is_current(A))
        status = SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                           "operator %s has old values of its matrix: spry_operator_update() "
                           "brings the new ones",
                           spry_operator_name(A));
done:
    return status;
}

spry_status solver_catch_up(spry_solver *solver)
{
    const spry_status status = solver->matrix ? update(solver) : SPRY_STATUS_OK;
    return status == SPRY_STATUS_OK ? check_given(solver) : status;
}

spry_status spry_solver_update(spry_solver *solver)
{
    SPRY_NEED(CTX_OF(solver), solver);
    spry_status status = solver_begin(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    status = solver->matrix ? update(solver)
                            : SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                                        "the solver has no matrix that could have changed");
    solver_end(solver, status);
    return status;
}
