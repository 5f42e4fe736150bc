/*
 * The linear systems of stages, M - shift A, with solvers that are kept. An operator on a grid
 * makes the shifted one by itself, with its multigrid; where entries are known the system is a
 * matrix, with all preconditioners; any other is applied as it stands.
 */
#include "grid/time/time.h"

#include <private/programs.h>
#include <spry/algebra.h>

static spry_status shifted_product(void *data, spry_transpose op, const spry_vector *x,
                                   spry_vector *y, void *stream)
{
    const time_system *system = data;
    (void)op;
    (void)stream;
    spry_status status = system->M ? spry_operator_apply(system->M, x, y) : spry_vector_copy(x, y);
    if (status == SPRY_STATUS_OK)
        status =
            spry_operator_multiply(system->A, SPRY_TRANSPOSE_NO, (spry_scalar){-system->shift, 0},
                                   x, (spry_scalar){1, 0}, y);
    return status;
}

static spry_status make_identity(spry_context *ctx, spry_type type, int64_t n, spry_matrix **I)
{
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n, .nnz = n};
    const spry_status status = matrix_allocate(ctx, &a);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < n; i++) {
        a.offsets[i] = i;
        a.col_index[i] = (int32_t)i;
        value_set(type, a.values, i, (spry_scalar){1, 0});
    }
    a.offsets[n] = n;
    return matrix_wrap(ctx, &a, I);
}

/* M - shift A as a matrix. */
static spry_status make_matrix(const spry_stepper *s, double shift, spry_matrix **sum)
{
    spry_context *ctx = s->ctx;
    spry_matrix *A = NULL, *M = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (s->M)
        SPRY_GO(ctx, spry_operator_to_matrix(s->M, &M));
    else
        SPRY_GO(ctx, make_identity(ctx, s->A->type, s->A->rows, &M));
    if (shift == 0) {
        *sum = M;
        M = NULL;
        goto done;
    }
    SPRY_GO(ctx, spry_operator_to_matrix(s->A, &A));
    SPRY_GO(ctx, spry_matrix_add((spry_scalar){1, 0}, M, (spry_scalar){-shift, 0}, A, sum));
done:
    spry_matrix_free(A);
    spry_matrix_free(M);
    return status;
}

/* Settles what the system is made of; `solver` hears of it. */
static spry_status set_problem(spry_stepper *s, time_system *system)
{
    const spry_operator *A = s->A;
    const bool entries = (system->shift == 0 || A->class->stored.to_matrix) &&
                         (!s->M || s->M->class->stored.to_matrix);
    spry_status status = SPRY_STATUS_OK;
    system->A = A;
    system->M = s->M;
    if (!s->M && A->class->structure.shifted) {
        SPRY_GO(s->ctx, A->class->structure.shifted(A, (spry_scalar){-system->shift, 0},
                                                    (spry_scalar){1, 0}, &system->op));
        if (operator_find_precon(system->op, "gmg"))
            SPRY_GO(s->ctx, spry_solver_set(system->solver, "precon=gmg"));
    } else if (entries) {
        SPRY_GO(s->ctx, make_matrix(s, system->shift, &system->matrix));
        SPRY_GO(s->ctx, spry_solver_set_text(system->solver, "device", place_name(A->device)));
        SPRY_GO(s->ctx, spry_solver_set_matrix(system->solver, system->matrix));
        goto done;
    } else {
        SPRY_GO(s->ctx, spry_operator_from_product(s->ctx, A->device, A->type, A->rows, A->cols,
                                                   false, shifted_product, system, &system->op));
    }
    SPRY_GO(s->ctx, spry_solver_set_operator(system->solver, system->op));
done:
    return status;
}

static spry_status make(spry_stepper *s, time_system *system, double shift)
{
    spry_status status = SPRY_STATUS_OK;
    time_system_clear(system);
    system->shift = shift;
    if (s->A->rows_part.is)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_UNSUPPORTED,
                         "implicit steps of an operator that is distributed over ranks are not "
                         "supported; explicit methods are, and parareal over ranks");
    SPRY_GO(s->ctx, spry_solver_new(s->ctx, &system->solver));
    SPRY_GO(s->ctx,
            spry_solver_set_real(system->solver, "tol", type_is_single(s->A->type) ? 1e-5 : 1e-10));
    SPRY_GO(s->ctx, set_problem(s, system));
    SPRY_GO(s->ctx, spry_solver_set(system->solver, s->options.solver));
    system->made = true;
    s->stats.setups++;
done:
    if (status != SPRY_STATUS_OK)
        time_system_clear(system);
    return status;
}

void time_system_clear(time_system *system)
{
    spry_solver_free(system->solver);
    spry_operator_free(system->op);
    spry_matrix_free(system->matrix);
    *system = (time_system){0};
}

spry_status stepper_solve(spry_stepper *s, int place, double shift, const spry_vector *b,
                          spry_vector *x, bool *stopped)
{
    time_system *system = &s->systems[place];
    spry_result result = SPRY_RESULT_INIT;
    spry_status status = SPRY_STATUS_OK;
    if (!system->made || system->shift != shift)
        SPRY_GO(s->ctx, make(s, system, shift));
    SPRY_GO(s->ctx, spry_solve(system->solver, b, x, &result));
    s->stats.solves++;
    s->stats.iterations += result.iterations;
    *stopped = result.reason == SPRY_REASON_STOPPED;
    if (!result.converged && result.reason != SPRY_REASON_ACCEPTED && !*stopped)
        status = SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                           "the system of a step was not solved: %s (residual %.2e, expected %.2e; "
                           "%s with %s). The option solver chooses another method, or a larger tol",
                           spry_reason_text(result.reason), result.true_residual, result.tolerance,
                           result.method, result.precon);
done:
    spry_result_clear(s->ctx, &result);
    return status;
}
