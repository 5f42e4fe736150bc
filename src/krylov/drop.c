/*
 * What a solver has set up goes, stage by stage; and around everything that runs, the solver and
 * its matrices are held. Every file of the room may drop, so that this one calls none of them.
 */
#include "krylov/solver.h"

void solver_drop_runner(spry_solver *solver)
{
    runner_free(solver->run.work.runner);
    solver->run.work.runner = NULL;
}

/* They go with the place where it works. */
static void drop_vectors(spry_solver *solver)
{
    solver_work *work = &solver->run.work;
    for (int k = 0; k < SOLVED_TOGETHER; k++) {
        spry_vector_free(work->rhs[k].saved);
        spry_vector_free(work->rhs[k].spare);
        spry_vector_free(work->rhs[k].b);
        spry_vector_free(work->rhs[k].x);
    }
    memset(work->rhs, 0, sizeof work->rhs);
}

void solver_drop_powers(spry_solver *solver)
{
    spry_operator_free(solver->setup.powers_operator);
    spry_powers_free(solver->setup.powers);
    solver->setup.powers_operator = NULL;
    solver->setup.powers = NULL;
}

static void drop_null_space(spry_solver *solver)
{
    spry_operator_free(solver->setup.projected);
    solver->setup.projected = NULL;
    for (int side = 0; side < 2; side++)
        null_basis_clear(solver->ctx, &solver->setup.null[side]);
}

static void forget_null_space(spry_solver *solver)
{
    for (int side = 0; side < 2; side++)
        null_basis_clear(solver->ctx, &solver->asked.null[side]);
}

void solver_drop_order(spry_solver *solver)
{
    order_free(solver->ctx, &solver->setup.order);
    solver->setup.matrix = solver->asked.matrix;
}

static void drop_plan(spry_solver *solver)
{
    program_free(solver->setup.parsed);
    solver->setup.parsed = NULL;
    solver_drop_runner(solver);
    plan_free(solver->setup.plan);
    solver->setup.plan = NULL;
    solver->setup.cost = (plan_cost){0};
    solver_drop_powers(solver);
    drop_null_space(solver);
}

static void drop_precon(spry_solver *solver)
{
    spry_operator_free(solver->setup.own_precon);
    spry_operator_free(solver->setup.precon_copy);
    solver->setup.own_precon = solver->setup.precon_copy = NULL;
}

void solver_drop_begun(spry_solver *solver)
{
    spry_operator_free(solver->setup.begun);
    solver->setup.begun = NULL;
    solver->setup.begun_bytes = (solver_bytes){0};
}

void solver_drop(spry_solver *solver, solver_stage from)
{
    drop_plan(solver);
    if (from <= STAGE_PRECON)
        drop_precon(solver);
    if (from <= STAGE_OPERATOR) {
        solver_drop_begun(solver);
        drop_vectors(solver);
        spry_operator_free(solver->setup.own_operator);
        solver->setup.own_operator = NULL;
        solver_drop_order(solver);
        solver->setup.multiplied = 0;
        solver->setup.chosen = NULL;
    }
    if (solver->setup.made > from)
        solver->setup.made = from;
    solver->setup
        .warnings[solver->setup.made > STAGE_OPERATOR ? solver->setup.warned[solver->setup.made - 1]
                                                      : 0] = '\0';
}

void solver_forget(spry_solver *solver)
{
    solver_drop(solver, STAGE_OPERATOR);
    solver_forget_attempts(solver);
}

void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text)
{
    size_t used = strlen(warnings);
    snprintf(warnings + used, WARNINGS_SIZE - used, "%s%s", used ? "\n" : "", text);
    base_log(ctx, SPRY_LOG_WARNING, "%s", text);
}

spry_status solver_check_idle(const spry_solver *solver)
{
    return solver->run.running
               ? SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                           "the solver is running: monitors and operators of it can neither "
                           "change nor start it")
               : SPRY_STATUS_OK;
}

/* The matrix that an operator of the caller's was made from, and may read in place; NULL: none. */
static const spry_matrix *read_by(const spry_operator *op)
{
    return !op ? NULL : op->view ? op->view : op->source;
}

/* Matrices stay as they are while a solver runs, whatever refers to them: what is called from
 * within has pointers into their arrays around it. */
static void hold_matrices(spry_solver *solver)
{
    solver->run.held[0] = solver->asked.matrix;
    solver->run.held[1] = read_by(solver->asked.operator);
    solver->run.held[2] = read_by(solver->asked.precon);
    for (int k = 0; k < 3; k++)
        matrix_hold(solver->run.held[k]);
}

spry_status solver_begin(spry_solver *solver)
{
    const spry_status status = solver_check_idle(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    solver->run.running = true;
    solver->run.interrupted = false;
    hold_matrices(solver);
    solver->ctx->calls++;
    return SPRY_STATUS_OK;
}

void solver_end(spry_solver *solver, spry_status status)
{
    solver->run.running = false;
    for (int k = 0; k < 3; k++)
        matrix_let_go(solver->run.held[k]);
    solver->ctx->calls--;
    if (solver->run.interrupted || status == SPRY_STATUS_INTERRUPTED)
        base_stopped(solver->ctx);
    if (solver->run.free_later)
        spry_solver_free(solver);
}

void spry_solver_free(spry_solver *solver)
{
    if (solver && solver->run.running) {
        solver->run.free_later = true;
    } else if (solver) {
        solver_forget(solver);
        forget_null_space(solver);
        spry_matrix_free(solver->asked.view);
        base_free(solver->ctx, solver->asked.text);
        base_free(solver->ctx, solver->run.ranks);
        base_object_free(solver->ctx, solver);
    }
}
