/* Options and numbers of a solver and of its method, read by name. */
#include "krylov/solver.h"

/* The name after "method:", or NULL. */
static const char *of_method(const char *name)
{
    static const char prefix[] = "method:";
    return name && strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : NULL;
}

/* An option of the method's own as the plan has it, or where asked for a number of its text. */
static spry_status find_own(spry_solver *solver, const char *name, bool numbers,
                            const program_name **option)
{
    char names[512] = "";
    *option = NULL;
    spry_status status = solver_begin(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    status = solver_set_up(solver, NULL);
    spry_context *ctx = solver->ctx;
    const bool freed = solver->run.free_later;
    solver_end(solver, status);
    if (freed)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the solver was freed while it was set up");
    if (status != SPRY_STATUS_OK)
        return status;
    const plan *p = solver->setup.plan;
    for (int k = 0; k < p->names; k++) {
        const program_name *own = &p->program->names[k];
        if (own->kind != NAME_OPTION && !(numbers && own->kind == NAME_SCALAR))
            continue;
        if (own->kind == NAME_OPTION)
            base_add_word(names, sizeof names, own->text);
        if (base_find_word(own->text, name) == 0) {
            *option = own;
            return SPRY_STATUS_OK;
        }
    }
    if (!names[0])
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "method %s has no options",
                         p->program->method);
    return base_unknown_word(solver->ctx, "the method's option", name, names);
}

/* A number of the text as the last solve has left it, that of the first right-hand side. */
static spry_status last_number(const spry_solver *solver, const program_name *name, double *value)
{
    const plan *p = solver->setup.plan;
    if (!solver->run.work.runner)
        return SPRY_FAIL(
            solver->ctx, SPRY_STATUS_BAD_USAGE,
            "method:%s is a number that the method computes: it is known after a solve",
            name->text);
    const scalars *s = &runner_rhs(solver->run.work.runner, 0)->scalars;
    *value = s->values[p->offset[name - p->program->names]].re;
    return SPRY_STATUS_OK;
}

/* The same as a number. */
static spry_status own_number(spry_solver *solver, const char *name, double *value)
{
    const program_name *option;
    const spry_status status = find_own(solver, name, true, &option);
    if (status != SPRY_STATUS_OK)
        return status;
    if (option->kind == NAME_SCALAR)
        return last_number(solver, option, value);
    if (option->words[0])
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "method:%s holds a word, not a number",
                         option->text);
    *value = option->value;
    return SPRY_STATUS_OK;
}

spry_status spry_solver_get_real(spry_solver *solver, const char *name, double *value)
{
    SPRY_NEED(CTX_OF(solver), solver, name, value);
    return of_method(name) ? own_number(solver, of_method(name), value)
                           : options_get_real(solver->ctx, solver_option_list(),
                                              &solver->asked.options, name, value);
}

spry_status spry_solver_get_text(spry_solver *solver, const char *name, char *text, size_t size)
{
    SPRY_NEED(CTX_OF(solver), solver, name, text);
    const program_name *own;
    char shown[128];
    if (!of_method(name))
        return options_get_text(solver->ctx, solver_option_list(), &solver->asked.options, name,
                                text, size);
    const spry_status status = find_own(solver, of_method(name), false, &own);
    if (status != SPRY_STATUS_OK)
        return status;
    program_option_text(own, shown, sizeof shown);
    if (strlen(shown) >= size)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is a text of %zu characters, which %zu cannot hold with its zero",
                         name, strlen(shown), size);
    memcpy(text, shown, strlen(shown) + 1);
    return SPRY_STATUS_OK;
}
