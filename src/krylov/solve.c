/*
 * A solve: checks, scaling, the run with restarts from the true residual, the result record.
 */
#include "krylov/solver.h"

#include <math.h>

/* Names the first number of v that is not finite; true when there is one. */
static bool find_nonfinite(const spry_vector *v, const char *what, char detail[160])
{
    for (int64_t i = 0; i < v->n; i++) {
        spry_scalar value = value_get(v->type, v->data, i);
        if (!value_finite(value)) {
            snprintf(detail, 160, "%s is not finite at row %" PRId64 " (from 0)", what, i);
            return true;
        }
    }
    return false;
}

static spry_status check_vectors(const spry_solver *solver, const spry_vector *b,
                                 const spry_vector *x)
{
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    const spry_vector *const vectors[] = {b, x};
    if (b->data == x->data && b->n > 0)
        return SPRY_FAIL(solver->ctx, SPRY_BAD_USAGE, "b and x are the same array");
    static const char *const names[] = {"b", "x"};
    for (int k = 0; k < 2; k++)
        if (vectors[k]->n != A->rows || vectors[k]->type != A->type)
            return SPRY_FAIL(solver->ctx, SPRY_BAD_USAGE,
                             "%s has %" PRId64 " elements of type %s, the matrix needs %" PRId64
                             " of type %s",
                             names[k], vectors[k]->n, spry_type_name(vectors[k]->type), A->rows,
                             spry_type_name(A->type));
    if (M && (M->rows != A->rows || M->cols != A->cols || M->type != A->type))
        return SPRY_FAIL(solver->ctx, SPRY_BAD_USAGE,
                         "the preconditioner is %" PRId64 " x %" PRId64
                         " of type %s, the matrix %" PRId64 " x %" PRId64 " of type %s",
                         M->rows, M->cols, spry_type_name(M->type), A->rows, A->cols,
                         spry_type_name(A->type));
    return SPRY_OK;
}

/* Puts an earlier x in the place of the last where it was better. */
static spry_status take_best(iteration *it, double *truth)
{
    if (*truth <= it->saved_residual)
        return SPRY_OK;
    *truth = it->saved_residual;
    return spry_vector_copy(it->saved, it->x);
}

/*
 * Runs the method until it ends for good. Where its own residual and the true one have parted, the
 * recurrence has drifted: start again from the best x, as long as that helps.
 */
static spry_status run(iteration *it, const krylov_method *method, char warnings[WARNINGS_SIZE],
                       double *truth)
{
    spry_context *ctx = it->ctx;
    double before = INFINITY;
    spry_status status = SPRY_OK;
    for (;;) {
        char text[160];
        SPRY_GO(ctx, method->run(it));
        SPRY_GO(ctx, iteration_true_residual(it, truth));
        SPRY_GO(ctx, take_best(it, truth));
        bool claimed = it->drifted || it->reason == SPRY_REASON_CONVERGED;
        if (*truth <= it->options->tol || !claimed)
            break;
        if (!(*truth <= 0.5 * before)) {
            it->reason = SPRY_REASON_STAGNATED;
            snprintf(it->detail, sizeof it->detail,
                     "the true residual stays at %.2g: rounding or a singular matrix allow no less",
                     *truth);
            break;
        }
        snprintf(text, sizeof text,
                 "at iteration %" PRId64 " the recurrence had drifted from the true residual: "
                 "restarted from the best x, with %.2g",
                 it->count, *truth);
        solver_warn(ctx, warnings, text);
        before = *truth;
    }
    if (*truth <= it->options->tol) { /* whatever else happened */
        it->reason = SPRY_REASON_CONVERGED;
        it->detail[0] = '\0';
    }
done:
    return status;
}

static spry_status start(iteration *it, const krylov_method *method)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_OK;
    it->saved_residual = INFINITY;
    it->history_room = 256;
    SPRY_GO(ctx, base_alloc(ctx, it->history_room, sizeof *it->history, &it->history));
    int vectors = method->vectors + (it->M ? method->precon_vectors : 0);
    for (int k = 0; k < vectors; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, it->A->type, it->A->rows, NULL, SPRY_COPY, &it->work[k]));
    SPRY_GO(ctx, spry_vector_new(ctx, it->A->type, it->A->rows, NULL, SPRY_COPY, &it->saved));
    SPRY_GO(ctx, spry_vector_new(ctx, it->A->type, it->A->rows, NULL, SPRY_COPY, &it->spare));
done:
    return status;
}

/*
 * Scales b and x by a power of two, which rounds nothing, when squares of numbers of b's size, or
 * of its residuals later on, would leave the range of the type.
 */
static spry_status scale_system(iteration *it)
{
    spry_context *ctx = it->ctx;
    bool single = it->A->type == SPRY_S || it->A->type == SPRY_C;
    int safe = single ? 20 : 300, most = single ? 120 : 1000, exponent; /* 2^most is a number */
    spry_status status = SPRY_OK;
    frexp(it->b_norm, &exponent);
    if (exponent >= -safe && exponent <= safe)
        return SPRY_OK;
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    const spry_scalar factor = {ldexp(1, -exponent), 0};
    SPRY_GO(ctx,
            spry_vector_new(ctx, it->b->type, it->b->n, it->b->data, SPRY_COPY, &it->scaled_b));
    SPRY_GO(ctx, spry_vector_scale(factor, it->scaled_b));
    SPRY_GO(ctx, spry_vector_scale(factor, it->x));
    it->exponent = exponent;
    it->b = it->scaled_b;
    SPRY_GO(ctx, spry_vector_norm(it->b, &it->b_norm));
done:
    return status;
}

static spry_status unscale_system(iteration *it)
{
    return it->exponent == 0 ? SPRY_OK
                             : spry_vector_scale((spry_scalar){ldexp(1, it->exponent), 0}, it->x);
}

static void finish(iteration *it)
{
    for (int k = 0; k < MAX_WORK; k++)
        spry_vector_free(it->work[k]);
    spry_vector_free(it->saved);
    spry_vector_free(it->spare);
    spry_vector_free(it->scaled_b);
    base_free(it->ctx, it->history);
}

/* What NaN there was to begin with, as the message of a failure. */
static spry_status refuse_nonfinite(const spry_solver *solver, iteration *it)
{
    spry_context *ctx = solver->ctx;
    it->reason = SPRY_REASON_NONFINITE;
    if (find_nonfinite(it->b, "the right-hand side", it->detail) ||
        find_nonfinite(it->x, "the first guess", it->detail))
        return SPRY_FAIL(ctx, SPRY_BAD_INPUT, "%s", it->detail);
    if (solver->matrix && spry_matrix_check_values(solver->matrix) != SPRY_OK) {
        snprintf(it->detail, sizeof it->detail, "%.150s", spry_message(ctx));
        return SPRY_BAD_INPUT;
    }
    snprintf(it->detail, sizeof it->detail, "|b| or |b - A x| overflows; scale the system");
    return SPRY_FAIL(ctx, SPRY_BAD_INPUT, "%s", it->detail);
}

static spry_status fill_result(const spry_solver *solver, iteration *it, const char *warnings,
                               double truth, double seconds, spry_result *result)
{
    const spry_operator *A = it->A;
    const krylov_method *method = solver->method;
    int64_t vector_bytes = A->rows * (int64_t)spry_type_size(A->type);
    *result = (spry_result){
        .converged = it->reason == SPRY_REASON_CONVERGED,
        .reason = it->reason,
        .iterations = it->count,
        .residual = it->residual,
        .true_residual = truth,
        .initial_residual = it->initial,
        .type = A->type,
        .rows = A->rows,
        .cols = A->cols,
        .nnz = solver->matrix ? solver->matrix->a.nnz : 0,
        .setup_seconds = solver->setup_seconds,
        .solve_seconds = seconds,
        .bytes_per_iteration =
            method->products * A->bytes +
            method->preconditionings * (it->M ? it->M->bytes + vector_bytes : 0) +
            method->vector_passes * vector_bytes,
    };
    snprintf(result->method, sizeof result->method, "%s", method->name);
    snprintf(result->precon, sizeof result->precon, "%s", solver->precon_name);
    snprintf(result->format, sizeof result->format, "%s", A->class->name);
    snprintf(result->device, sizeof result->device, "cpu");
    snprintf(result->detail, sizeof result->detail, "%s", it->detail);
    spry_memory(solver->ctx, NULL, &result->memory_bytes);
    double read = solver->ctx->bandwidth.read;
    if (read > 0 && seconds > 0)
        result->bandwidth_fraction =
            (double)result->bytes_per_iteration * (double)it->count / seconds / read;
    if (it->history) {
        result->history = it->history;
        result->history_size = it->count + 1;
        it->history = NULL;
    }
    if (warnings[0]) {
        result->warnings = base_copy_text(solver->ctx, warnings);
        if (!result->warnings)
            return SPRY_NO_MEMORY;
    }
    return SPRY_OK;
}

static spry_status solve(spry_solver *solver, iteration *it, char warnings[WARNINGS_SIZE],
                         double *truth)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_OK;
    double first;
    SPRY_GO(ctx, start(it, solver->method));
    SPRY_GO(ctx, spry_vector_norm(it->b, &it->b_norm));
    if (it->b_norm == 0) { /* the answer is 0, and no relative residual exists */
        SPRY_GO(ctx, spry_vector_fill(it->x, (spry_scalar){0, 0}));
        it->reason = SPRY_REASON_CONVERGED;
        it->history[0] = *truth = 0;
        goto done;
    }
    if (isfinite(it->b_norm))
        SPRY_GO(ctx, scale_system(it));
    SPRY_GO(ctx, iteration_true_residual(it, &first));
    if (!isfinite(it->b_norm) || !isfinite(first)) {
        it->residual = it->initial = *truth = it->history[0] = NAN;
        status = refuse_nonfinite(solver, it);
        goto done;
    }
    status = run(it, solver->method, warnings, truth);
done:;
    spry_status restored = unscale_system(it);
    return status == SPRY_OK ? restored : status;
}

spry_status spry_solve(spry_solver *solver, const spry_vector *b, spry_vector *x,
                       spry_result *result)
{
    spry_context *ctx = solver->ctx;
    spry_result ignored = {0};
    iteration it = {.ctx = ctx,
                    .options = &solver->options,
                    .b = b,
                    .x = x,
                    .monitor = solver->monitor,
                    .monitor_data = solver->monitor_data};
    char warnings[WARNINGS_SIZE];
    double truth = NAN;
    spry_status status = SPRY_OK;
    if (result)
        memset(result, 0, sizeof *result);

    SPRY_GO(ctx, solver_set_up(solver));
    SPRY_GO(ctx, check_vectors(solver, b, x));
    memcpy(warnings, solver->warnings, sizeof warnings);
    it.A = solver_operator(solver);
    it.M = solver_precon(solver);
    double begin = base_seconds();
    status = solve(solver, &it, warnings, &truth);
    spry_status filled = fill_result(solver, &it, warnings, truth, base_seconds() - begin,
                                     result ? result : &ignored);
    if (status == SPRY_OK)
        status = filled;
done:
    finish(&it);
    if (result && status != SPRY_OK)
        result->converged = false;
    if (!result)
        spry_result_clear(ctx, &ignored);
    return status;
}
