/* The solver as an object: options, what it solves with, set-up. */
#include "krylov/solver.h"
#include "precon/precon.h"

#include <float.h>
#include <math.h>

#define OPTION_OWNER solver_options
static const spry_option rows[] = {SOLVER_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

spry_option_list spry_solver_options(void)
{
    return (spry_option_list){rows, sizeof rows / sizeof *rows};
}

spry_status spry_solver_new(spry_context *ctx, spry_solver **solver)
{
    *solver = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof **solver, solver);
    if (status != SPRY_OK)
        return status;
    (*solver)->ctx = ctx;
    return spry_options_default(ctx, spry_solver_options(), &(*solver)->options);
}

static void forget_setup(spry_solver *solver)
{
    spry_operator_free(solver->own_operator);
    spry_operator_free(solver->own_precon);
    solver->own_operator = solver->own_precon = NULL;
    solver->ready = false;
}

void spry_solver_free(spry_solver *solver)
{
    if (solver) {
        forget_setup(solver);
        base_free(solver->ctx, solver);
    }
}

spry_status spry_solver_set(spry_solver *solver, const char *options)
{
    solver_options changed = solver->options;
    spry_status status = spry_options_parse(solver->ctx, spry_solver_options(), &changed, options);
    if (status == SPRY_OK) {
        solver->options = changed;
        forget_setup(solver);
    }
    return status;
}

spry_status spry_solver_set_matrix(spry_solver *solver, const spry_matrix *A)
{
    forget_setup(solver);
    solver->matrix = A;
    solver->given_operator = NULL;
    return SPRY_OK;
}

spry_status spry_solver_set_operator(spry_solver *solver, const spry_operator *A)
{
    forget_setup(solver);
    solver->matrix = NULL;
    solver->given_operator = A;
    return SPRY_OK;
}

spry_status spry_solver_set_precon(spry_solver *solver, const spry_operator *M)
{
    forget_setup(solver);
    solver->given_precon = M;
    return SPRY_OK;
}

void spry_solver_set_monitor(spry_solver *solver, spry_monitor monitor, void *data)
{
    solver->monitor = monitor;
    solver->monitor_data = data;
}

const spry_operator *solver_operator(const spry_solver *solver)
{
    return solver->given_operator ? solver->given_operator : solver->own_operator;
}

const spry_operator *solver_precon(const spry_solver *solver)
{
    return solver->given_precon ? solver->given_precon : solver->own_precon;
}

void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text)
{
    size_t used = strlen(warnings);
    snprintf(warnings + used, WARNINGS_SIZE - used, "%s%s", used ? "\n" : "", text);
    base_log(ctx, SPRY_LOG_WARNING, "%s", text);
}

/*
 * Warns when A is not hermitian, by (A u, v) = (u, A v) for two random vectors: a difference far
 * above rounding proves it; a skew part far below |A| goes unnoticed. Costs two products.
 */
static spry_status probe_symmetry(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver);
    spry_vector *u = NULL, *v = NULL, *Au = NULL, *Av = NULL;
    spry_scalar left, right;
    double norm_Au, norm_Av;
    spry_status status = SPRY_OK;
    spry_vector **const all[] = {&u, &v, &Au, &Av};
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, A->type, A->rows, NULL, SPRY_COPY, all[k]));
    for (int64_t i = 0; i < A->rows; i++) {
        value_set(A->type, u->data, i, (spry_scalar){base_uniform(1, (uint64_t)i) - 0.5, 0});
        value_set(A->type, v->data, i, (spry_scalar){base_uniform(2, (uint64_t)i) - 0.5, 0});
    }
    SPRY_GO(ctx, spry_operator_apply(A, u, Au));
    SPRY_GO(ctx, spry_operator_apply(A, v, Av));
    SPRY_GO(ctx, spry_vector_dot(Au, v, &left));
    SPRY_GO(ctx, spry_vector_dot(u, Av, &right));
    SPRY_GO(ctx, spry_vector_norm(Au, &norm_Au));
    SPRY_GO(ctx, spry_vector_norm(Av, &norm_Av));
    bool single = A->type == SPRY_S || A->type == SPRY_C;
    double rounding = 64 * (single ? FLT_EPSILON : DBL_EPSILON) * sqrt((double)A->rows);
    if (hypot(left.re - right.re, left.im - right.im) > rounding * (norm_Au + norm_Av))
        solver_warn(
            ctx, solver->warnings,
            "the matrix is not symmetric (hermitian): conjugate gradients is not made for it");
done:
    for (int k = 0; k < 4; k++)
        spry_vector_free(*all[k]);
    return status;
}

spry_status solver_set_up(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    double begin = base_seconds();
    spry_status status = SPRY_OK;
    if (solver->ready) {
        solver->setup_seconds = 0;
        return SPRY_OK;
    }
    if (!solver->matrix && !solver->given_operator)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "the solver has no matrix and no operator yet");
    solver->warnings[0] = '\0';
    SPRY_GO(ctx, krylov_find(ctx, solver->options.method, &solver->method));
    if (solver->matrix)
        SPRY_GO(ctx, spry_operator_from_matrix(solver->matrix, &solver->own_operator));
    const spry_operator *A = solver_operator(solver);
    if (A->rows != A->cols) {
        status =
            SPRY_FAIL(ctx, SPRY_BAD_USAGE, "%s needs a square matrix, not %" PRId64 " x %" PRId64,
                      solver->method->name, A->rows, A->cols);
        goto done;
    }
    if (solver->given_precon)
        snprintf(solver->precon_name, sizeof solver->precon_name, "%s",
                 solver->given_precon->class->name);
    else
        SPRY_GO(ctx, precon_make(ctx, solver->matrix, solver->options.precon, &solver->own_precon,
                                 solver->precon_name));
    SPRY_GO(ctx, probe_symmetry(solver));
    solver->ready = true;
    solver->setup_seconds = base_seconds() - begin;
done:
    if (status != SPRY_OK)
        forget_setup(solver);
    return status;
}

spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                             spry_vector *x, const char *options, spry_result *result)
{
    spry_solver *solver = NULL;
    spry_status status = SPRY_OK;
    if (result)
        memset(result, 0, sizeof *result);
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_solver_set(solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, A));
    SPRY_GO(ctx, spry_solve(solver, b, x, result));
done:
    spry_solver_free(solver);
    return status;
}
