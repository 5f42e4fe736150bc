/* The solver's options: their list, setting them, and the stages that each of them touches. */
#include "krylov/solver.h"

#include "choose/precons.h"

SPRY_OPTION_TABLE(rows, solver_options, SOLVER_OPTIONS(SPRY_OPTION_ROW))

spry_option_list solver_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST_GIVEN(rows, solver_options);
}

/* What of a set-up an option goes into: it and what is made from it is dropped. Those that are not
 * in it are read by the iteration alone. */
static const struct {
    size_t offset;
    solver_stage stage;
} touched[] = {
    {offsetof(solver_options, device), STAGE_OPERATOR},
    {offsetof(solver_options, format), STAGE_OPERATOR},
    {offsetof(solver_options, reorder), STAGE_OPERATOR},
    {offsetof(solver_options, precon), STAGE_PRECON},
    {offsetof(solver_options, method), STAGE_PLAN}, /* and a preconditioner that it does not want */
    {offsetof(solver_options, method_file), STAGE_PLAN},
    {offsetof(solver_options, restart), STAGE_PLAN},
    {offsetof(solver_options, fuse), STAGE_PLAN},
    {offsetof(solver_options, nullspace), STAGE_PLAN},
};

static bool differs(const spry_option *option, const solver_options *a, const solver_options *b)
{
    const char *left = (const char *)a + option->offset, *right = (const char *)b + option->offset;
    return option->kind == SPRY_OPTION_TEXT
               ? strcmp(left, right) != 0
               : memcmp(left, right, options_field_size(option->kind)) != 0;
}

/* The first stage that a change of an option touches. */
static solver_stage stage_of(const spry_option *option)
{
    for (size_t k = 0; k < sizeof touched / sizeof *touched; k++)
        if (touched[k].offset == option->offset)
            return touched[k].stage;
    return STAGE_ALL;
}

/* The options there are, to be changed; none of them given, so that those of the change are seen.
 */
static solver_options begin_change(const spry_solver *solver)
{
    solver_options o = solver->asked.options;
    o.given = (spry_given){0};
    return o;
}

/* Takes options that were found good (a failure otherwise), and drops what they touch. A file that
 * is named again may have another text by now. */
static spry_status adopt(spry_solver *solver, solver_options *changed, spry_status found)
{
    solver_stage from = STAGE_ALL;
    if (found != SPRY_STATUS_OK)
        return found;
    if (solver_check_idle(solver) != SPRY_STATUS_OK)
        return SPRY_STATUS_BAD_USAGE;
    if (changed->method_file[0] && options_given(solver_option_list(), changed, "method_file"))
        from = STAGE_PLAN;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (differs(&rows[k], &solver->asked.options, changed) && stage_of(&rows[k]) < from)
            from = stage_of(&rows[k]);
    if (from == STAGE_PRECON && solver_may_reorder(solver))
        from = STAGE_OPERATOR; /* the order was one that suited the old preconditioner */
    for (size_t k = 0; k < sizeof changed->given.bits / sizeof *changed->given.bits; k++)
        changed->given.bits[k] |= solver->asked.options.given.bits[k];
    solver->asked.options = *changed;
    if (from == STAGE_OPERATOR)
        solver->setup.stays = false;
    if (from < STAGE_ALL) {
        solver_drop(solver, from);
        solver_forget_attempts(solver);
    }
    return SPRY_STATUS_OK;
}

/* What a change names exists, but for a method whose text is the caller's own. */
static spry_status check_names(const spry_solver *solver, const solver_options *changed)
{
    spry_context *ctx = solver->ctx;
    program *p = NULL;
    precon_spec M;
    spry_status status = SPRY_STATUS_OK;
    if (options_given(solver_option_list(), changed, "method") && !solver->asked.text &&
        !changed->method_file[0] && strcmp(changed->method, "auto") != 0)
        status = krylov_parse(ctx, changed->method, NULL, "", 0, &p);
    program_free(p);
    if (status == SPRY_STATUS_OK && options_given(solver_option_list(), changed, "precon"))
        status = precon_spec_read(ctx, changed->precon, &M);
    return status;
}

spry_status spry_solver_set(spry_solver *solver, const char *options)
{
    SPRY_NEED(CTX_OF(solver), solver);
    solver_options changed = begin_change(solver);
    spry_status status = spry_options_parse(solver->ctx, solver_option_list(), &changed, options);
    if (status == SPRY_STATUS_OK)
        status = check_names(solver, &changed);
    return adopt(solver, &changed, status);
}

spry_status spry_solver_set_real(spry_solver *solver, const char *name, double value)
{
    SPRY_NEED(CTX_OF(solver), solver, name);
    solver_options changed = begin_change(solver);
    return adopt(solver, &changed,
                 options_set_real(solver->ctx, solver_option_list(), &changed, name, value));
}

spry_status spry_solver_set_text(spry_solver *solver, const char *name, const char *value)
{
    SPRY_NEED(CTX_OF(solver), solver, name, value);
    solver_options changed = begin_change(solver);
    spry_status status = spry_options_set(solver->ctx, solver_option_list(), &changed, name, value);
    if (status == SPRY_STATUS_OK)
        status = check_names(solver, &changed);
    return adopt(solver, &changed, status);
}

spry_status solver_check_alike(const spry_solver *solver, int count)
{
    const char *text = solver->asked.text ? solver->asked.text : "";
    if (!solver_ranked(solver) || solver->asked.within)
        return SPRY_STATUS_OK;
    return team_alike_options(solver->ctx, solver_option_list(), &solver->asked.options, "device",
                              "the number of right-hand sides, or the text of the method",
                              team_mark(text, strlen(text)) ^ count);
}
