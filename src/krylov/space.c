/* The vectors that a method keeps from one solve to the next, out and in. */
#include "krylov/solver.h"

/* The variable of an array that the method's text keeps. */
static spry_status find_array(const spry_solver *solver, const char *name, int *var)
{
    const plan *p = solver->setup.plan;
    const int found = program_find_name(p->program, name);
    if (found == NONE || found >= p->names || p->program->names[found].kind != NAME_VECTORS ||
        !p->program->names[found].kept)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "method %s keeps no vectors %s",
                         p->program->method, name);
    *var = p->var_of_name[found];
    return SPRY_STATUS_OK;
}

static spry_status check_vectors(const spry_solver *solver, const char *name, int var, int count,
                                 const spry_vector *const *v)
{
    const spry_operator *A = solver_operator(solver);
    const plan_var *array = &solver->setup.plan->vars[var];
    const int64_t n = array->space == 0 ? A->rows : A->cols;
    if (count < 0 || count > array->extent)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "%d vectors %s, of which the method keeps %" PRId64, count, name,
                         array->extent);
    for (int k = 0; k < count; k++) {
        SPRY_NEED(solver->ctx, v[k]);
        if (v[k]->n != n || v[k]->type != A->type)
            return SPRY_FAIL(
                solver->ctx, SPRY_STATUS_BAD_USAGE,
                "vector %d has %" PRId64 " elements of type %s, %s has %" PRId64 " of type %s", k,
                v[k]->n, spry_type_name(v[k]->type), name, n, spry_type_name(A->type));
    }
    return SPRY_STATUS_OK;
}

/* Numbers that the text keeps besides its vectors start again. */
static void forget_numbers(const spry_solver *solver, runner *r)
{
    const plan *p = solver->setup.plan;
    scalars *s = &runner_rhs(r, 0)->scalars;
    for (int name = 0; name < p->names; name++)
        if (p->program->names[name].kept && p->program->names[name].kind == NAME_SCALARS)
            memset(s->values + p->offset[name], 0,
                   (size_t)(p->extent[name][0] * p->extent[name][1]) * sizeof *s->values);
}

/* The last places of the array are those that are replaced last; the others become 0. */
static spry_status put_space(spry_solver *solver, const char *name, int count,
                             const spry_vector *const *v)
{
    spry_context *ctx = solver->ctx;
    spry_vector *zero = NULL, *ordered = NULL;
    runner *r = NULL;
    int var = NONE;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_set_up(solver, NULL));
    SPRY_GO(ctx, find_array(solver, name, &var));
    SPRY_GO(ctx, check_vectors(solver, name, var, count, v));
    const spry_operator *A = solver_operator(solver);
    const plan_var *array = &solver->setup.plan->vars[var];
    const int64_t n = array->space == 0 ? A->rows : A->cols;
    SPRY_GO(ctx, solver_runner(solver, 1, &r));
    SPRY_GO(ctx, vector_new_at(ctx, NULL, A->type, n, &zero));
    if (solver->setup.order.matrix)
        SPRY_GO(ctx, vector_new_at(ctx, NULL, A->type, n, &ordered));
    forget_numbers(solver, r);
    for (int64_t k = 0; k < array->extent; k++) {
        const int64_t from = k - (array->extent - count);
        /* It is not written to where it is put. */
        spry_vector *source = from < 0 ? zero : (spry_vector *)(uintptr_t)v[from];
        if (ordered && from >= 0) {
            SPRY_GO(ctx, order_put(&solver->setup.order, v[from], ordered));
            source = ordered;
        }
        SPRY_GO(ctx, runner_space(r, 0, var, k, source, true));
    }
done:
    spry_vector_free(zero);
    spry_vector_free(ordered);
    return status;
}

spry_status spry_solver_set_space(spry_solver *solver, const char *name, int count,
                                  const spry_vector *const *v)
{
    SPRY_NEED(CTX_OF(solver), solver, name);
    if (count > 0)
        SPRY_NEED(solver->ctx, v);
    spry_status status = solver_begin(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    solver_begin_attempts(solver);
    status = solver_agree(solver, put_space(solver, name, count, v));
    solver_end(solver, status);
    return status;
}

spry_status spry_solver_get_space(spry_solver *solver, const char *name, int count,
                                  spry_vector *const *v)
{
    SPRY_NEED(CTX_OF(solver), solver, name);
    if (count > 0)
        SPRY_NEED(solver->ctx, v);
    spry_context *ctx = solver->ctx;
    spry_vector *ordered = NULL;
    int var = NONE;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_check_idle(solver));
    if (!solver->setup.plan || !solver->run.work.runner)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "there is no space before a solve");
    SPRY_GO(ctx, find_array(solver, name, &var));
    SPRY_GO(ctx, check_vectors(solver, name, var, count, (const spry_vector *const *)v));
    for (int k = 0; k < count; k++) {
        if (solver->setup.order.matrix && !ordered)
            SPRY_GO(ctx, vector_new_at(ctx, NULL, v[k]->type, v[k]->n, &ordered));
        SPRY_GO(ctx,
                runner_space(solver->run.work.runner, 0, var, k, ordered ? ordered : v[k], false));
        if (ordered)
            SPRY_GO(ctx, order_get(&solver->setup.order, ordered, v[k]));
    }
done:
    spry_vector_free(ordered);
    return status;
}
