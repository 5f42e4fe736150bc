/* New values: set-up is refreshed, or dropped and built again. */
#include "krylov/solver.h"

#include "base/team.h"

void solver_note_version(spry_solver *solver)
{
    const spry_matrix *A = solver->asked.matrix;
    if (!A)
        return;
    matrix_follow(A);
    solver->setup.version = matrix_version(A);
    solver->setup.pattern = matrix_pattern_version(A);
    solver->setup.bounds = (wide_bounds){.rows = NAN, .both = NAN};
    solver->setup.condition = NAN;
}

static spry_status update_operator(spry_solver *solver)
{
    bool cannot = !operator_takes_values(solver->setup.own_operator);
    spry_status status = SPRY_STATUS_OK;
    solver_drop_runner(solver); /* it knows the operators by their insides */
    if (solver_ranked(solver))  /* some may be on devices */
        SPRY_GO(solver->ctx, team_any(solver->ctx, cannot, &cannot));
    if (!cannot)
        status = spry_operator_update(solver->setup.own_operator, solver->setup.matrix);
    if (cannot || status == SPRY_STATUS_UNSUPPORTED) { /* a format that does not hold them */
        solver_forget(solver);
        status = SPRY_STATUS_OK;
    }
done:
    return status;
}

/* What suited the old values need not suit these. */
static void choose_again(spry_solver *solver)
{
    solver_drop(solver, STAGE_PRECON);
    solver_forget_attempts(solver);
}

/* What the method was chosen for may be no more, and the preconditioner was made for the method. */
static spry_status update_method(spry_solver *solver)
{
    const char *before = solver->setup.chosen;
    solver->setup.chosen = NULL;
    if (!solver_chooses_method(solver) || !before)
        return SPRY_STATUS_OK;
    const spry_status status = solver_choose_method(solver, &solver->setup.chosen);
    if (status == SPRY_STATUS_OK && strcmp(before, solver->setup.chosen) != 0)
        choose_again(solver);
    return status;
}

static spry_status update_precon(spry_solver *solver)
{
    spry_operator *M = solver->setup.own_precon;
    if (!M)
        return SPRY_STATUS_OK;
    if (!operator_has_update(M) || solver_ranked(solver)) {
        solver_drop(solver, STAGE_PRECON);
        return SPRY_STATUS_OK;
    }
    const spry_status status = spry_operator_update(M, solver->setup.matrix);
    if (status != SPRY_STATUS_BAD_INPUT || solver->setup.spec.kind)
        return status;
    base_log(solver->ctx, SPRY_LOG_INFO, "precon auto chooses again: %s",
             spry_message(solver->ctx));
    choose_again(solver);
    return SPRY_STATUS_OK;
}

/* The plan has no values, but was made for what they are like, and so were its warnings. */
static spry_status update_plan(spry_solver *solver)
{
    const program *p = solver->setup.plan->program;
    const char *other = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (solver->setup.chosen && strcmp(solver->setup.chosen, p->method) == 0)
        SPRY_GO(solver->ctx, solver_suit_precon(solver, p, &other));
    if (other || solver_has_null_space(solver)) /* whether it still is one is to be seen */
        solver_drop(solver, STAGE_PLAN);
    else
        SPRY_GO(solver->ctx, solver_renew_warnings(solver));
done:
    return status;
}

/* An order that was not asked for goes where there is no room for it. */
static spry_status renew_order(spry_solver *solver)
{
    const base_kept before = base_try(solver->ctx);
    const spry_status status = solver_renew_order(solver);
    if (status != SPRY_STATUS_NO_MEMORY || solver_asked_order(solver))
        return status;
    base_forgive(solver->ctx, &before);
    solver_forget(solver);
    return SPRY_STATUS_OK;
}

/* Takes the matrix's values as they are now. What cannot take them is dropped, to be made again,
 * and what is made from it. */
static spry_status update(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    if (matrix_version(solver->asked.matrix) == solver->setup.version)
        return SPRY_STATUS_OK;
    if (matrix_pattern_version(solver->asked.matrix) != solver->setup.pattern)
        solver_forget(solver);
    solver_note_version(solver);
    SPRY_GO(ctx, renew_order(solver));
    if (solver->setup.made > STAGE_OPERATOR)
        SPRY_GO(ctx, update_operator(solver));
    if (solver->setup.made > STAGE_OPERATOR)
        SPRY_GO(ctx, update_method(solver));
    if (solver->setup.made > STAGE_PRECON)
        SPRY_GO(ctx, update_precon(solver));
    if (solver->setup.made > STAGE_PLAN)
        SPRY_GO(ctx, update_plan(solver));
    solver->setup.updated_seconds += base_seconds() - begin;
done:
    if (status != SPRY_STATUS_OK) {
        order_name_rows(&solver->setup.order, ctx->message, sizeof ctx->message);
        solver_forget(solver);
    }
    return status;
}

/* Operators of the caller's follow the matrix they read in place, or must be up to date: a
 * preconditioner may be old, but with an old A the answer would be wrong. */
static spry_status check_given(const spry_solver *solver)
{
    const spry_operator *A = solver->asked.operator, * M = solver->asked.precon;
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
    spry_status status = SPRY_STATUS_OK;
    if (solver->setup.matrix)
        SPRY_GO(solver->ctx, update(solver));
    SPRY_GO(solver->ctx, check_given(solver));
    SPRY_GO(solver->ctx, solver_renew_copy(solver)); /* of what is up to date by now */
done:
    return status;
}

spry_status spry_solver_update(spry_solver *solver)
{
    SPRY_NEED(CTX_OF(solver), solver);
    spry_status status = solver_begin(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    status = solver->setup.matrix ? update(solver)
                                  : SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                                              "the solver has no matrix that could have changed");
    solver_end(solver, status);
    return status;
}
