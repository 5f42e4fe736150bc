/* What a solver keeps from one solve to the next. */
#include "krylov/solver.h"

spry_status solver_runner(spry_solver *solver, int count, runner **r)
{
    const runner_operators operators = {solver_operator(solver), solver_precon(solver),
                                        solver->setup.powers_operator};
    solver_work *work = &solver->run.work;
    bool fresh = !work->runner || !runner_reuse(work->runner, count);
    spry_status status = SPRY_STATUS_OK;
    if (solver_ranked(solver)) /* making one is collective; threads and devices are a rank's own */
        status = team_any(solver->ctx, fresh, &fresh);
    if (status == SPRY_STATUS_OK && fresh) {
        runner_free(work->runner);
        status = runner_new(solver->setup.plan, &operators, count, &work->runner);
    }
    *r = work->runner;
    return status;
}

spry_status solver_vector(const spry_solver *solver, int64_t n, spry_vector **kept)
{
    if (*kept && (*kept)->n == n)
        return SPRY_STATUS_OK;
    spry_vector_free(*kept);
    *kept = NULL;
    return vector_new_at(solver->ctx, solver->setup.device, solver_operator(solver)->type, n, kept);
}

spry_status solver_import(const spry_solver *solver, const spry_vector *v, spry_vector **kept,
                          const spry_vector **brought)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    *brought = v;
    if (v->device == solver->setup.device && !solver->setup.order.matrix)
        return vector_fetch(v);
    SPRY_GO(ctx, solver_vector(solver, v->n, kept));
    SPRY_GO(ctx, order_put(&solver->setup.order, v, *kept));
    *brought = *kept;
done:
    return status;
}
