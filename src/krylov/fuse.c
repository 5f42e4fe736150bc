/* A method and the operators it works with made one plan. */
#include "krylov/solver.h"

#include "formats/shared/device_formats.h"

/* Whether the method has products with A^T or A^H; or else with those of M, of which L and R are
 * parts. */
static bool needs_transpose(const program *p, bool of_A)
{
    for (int k = 0; k < p->expr_count; k++) {
        const expr *e = &p->exprs[k];
        if (e->kind == EXPR_APPLY && e->transpose != SPRY_TRANSPOSE_NO &&
            (e->op == OPERATOR_A) == of_A)
            return true;
    }
    return false;
}

spry_status solver_find_use(const program *p, const spry_operator *op, bool of_A,
                            const spry_device *place, operator_use *use)
{
    const bool needed = needs_transpose(p, of_A);
    if (op && needed && !spry_operator_has_transpose(op))
        return SPRY_FAIL(p->ctx, SPRY_STATUS_UNSUPPORTED,
                         "method %s needs products with %s^H, which operator %s does not have",
                         p->method, of_A ? "A" : "M", op->class->name);
    const spry_status status = runner_use(op, needed, use);
    /* Sweeps on a device go by the rows of one matrix, and read nothing that is elsewhere. */
    if (op && !of_A && ((*use == USE_ROWS && device_of(op)) || device_of(op) != place))
        *use = USE_CALL;
    return status;
}

/* Plans are the same on all ranks: what not all can do otherwise is called. */
static spry_status agree_on_use(const spry_solver *solver, operator_use *use)
{
    double least = 0, most = 0;
    if (!solver_ranked(solver))
        return SPRY_STATUS_OK;
    const spry_status status = team_bounds(solver->ctx, (double)*use, &least, &most);
    if (least != most)
        *use = USE_CALL;
    return status;
}

spry_status solver_check_square(const spry_solver *solver, const plan *made)
{
    const spry_operator *A = solver_operator(solver);
    return A->square || !made->square_only
               ? SPRY_STATUS_OK
               : SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                           "%s needs a square matrix, not %" PRId64 " x %" PRId64
                           "; lsmr, lsqr and cgls do not",
                           made->program->method, operator_all_rows(A), operator_all_cols(A));
}

spry_status solver_fuse(spry_solver *solver, program *p)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    plan_setup setup = {.fuse = solver->asked.options.fuse,
                        .square = A->square,
                        .apart = device_of(A) != NULL,
                        .ranked = solver_ranked(solver)};
    spry_status status = SPRY_STATUS_OK;
    if (solver_ranked(solver)) /* one plan for all, wherever they work */
        SPRY_GO(ctx, team_any(ctx, setup.apart, &setup.apart));
    status = solver_find_use(p, A, true, device_of(A), &setup.use[OPERATOR_A]);
    SPRY_GO(ctx, solver_agree(solver, status));
    status = solver_find_use(p, M, false, device_of(A), &setup.use[OPERATOR_M]);
    SPRY_GO(ctx, solver_agree(solver, status));
    SPRY_GO(ctx, agree_on_use(solver, &setup.use[OPERATOR_M]));
    SPRY_GO(ctx, solver_make_powers(solver, p, setup.apart, &setup.powers));
    program *handed = p;
    p = NULL;
    SPRY_GO(ctx, plan_make(handed, &setup, &solver->setup.plan));
    SPRY_GO(ctx, solver_check_square(solver, solver->setup.plan));
done:
    program_free(p);
    return status;
}

void solver_precompile(const spry_solver *solver, program *p)
{
    const spry_operator *A = solver_operator(solver);
    plan_setup setup = {.fuse = solver->asked.options.fuse,
                        .square = A->square,
                        .apart = true,
                        .use = {[OPERATOR_M] = USE_CALL}};
    plan *made = NULL;
    const base_kept before = base_try(solver->ctx);
    if (solver_find_use(p, A, true, device_of(A), &setup.use[OPERATOR_A]) == SPRY_STATUS_OK) {
        program *handed = p;
        p = NULL;
        if (plan_make(handed, &setup, &made) == SPRY_STATUS_OK)
            runner_precompile(made, A);
    }
    program_free(p);
    plan_free(made);
    base_forgive(solver->ctx, &before); /* solver_fuse() reports it */
}

/* A preconditioner that was asked for and is not used. */
static void warn_unused(spry_solver *solver, const program *p)
{
    char text[128];
    const precon_kind *asked = solver->setup.spec.kind;
    const bool one = asked && (asked->make || asked == &precon_kind_inner);
    if (p->uses_precon || (!solver->asked.precon && !one))
        return;
    snprintf(text, sizeof text, "method %s uses no preconditioner", p->method);
    solver_warn(solver->ctx, solver->setup.warnings, text);
}

/* What may go wrong with the method, A and M. */
spry_status solver_warn_of_plan(spry_solver *solver)
{
    solver->setup.unseen = UNSEEN_NOTHING;
    warn_unused(solver, solver->setup.plan->program);
    return solver_chooses_method(solver) || solver->setup.attempts.at > 0
               ? SPRY_STATUS_OK /* which is known to suit them */
               : solver_check_purpose(solver);
}

spry_status solver_renew_warnings(spry_solver *solver)
{
    solver->setup.warnings[solver->setup.warned[STAGE_PRECON]] = '\0';
    const spry_status status = solver_warn_of_plan(solver);
    solver_pass(solver, STAGE_PLAN);
    return status;
}

/* How many systems are solved together: of a block method as many as its option `width` says. */
int solver_together(const plan *made)
{
    const program *p = made->program;
    const int width = p->block ? program_find_option(p, "width") : NONE;
    const double most = width == NONE ? SOLVED_TOGETHER : p->names[width].value;
    return !p->block                ? SHARED_READING
           : most < 1               ? 1
           : most > SOLVED_TOGETHER ? SOLVED_TOGETHER
                                    : (int)most;
}
