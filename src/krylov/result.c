/* The result record of a solve. */
#include "device/linalg/vector.h"
#include "krylov/solver.h"

#include <math.h>

/* Of all ranks. */
static int64_t entries_of(const spry_matrix *A)
{
    return !A ? 0 : A->distributed ? A->distributed->nnz : A->a.nnz;
}

/* An attempt after the one that x is from has ended badly, as that one did: the reason is its own.
 */
static void restore_reason(iteration *it)
{
    const bool failed = it->reason == SPRY_REASON_BREAKDOWN ||
                        it->reason == SPRY_REASON_STAGNATED || it->reason == SPRY_REASON_DIVERGED ||
                        it->reason == SPRY_REASON_NONFINITE;
    if (it->from.last || !failed || it->beyond)
        return;
    it->reason = it->from.reason;
    memcpy(it->detail, it->from.detail, sizeof it->detail);
}

/* The residuals of the attempt that x is from; the next one has begun where it has ended. */
static void take_history(iteration *it, spry_result *result)
{
    const iteration_source *s = &it->from;
    const int64_t count = s->ended_at - s->began_at;
    if (!it->history)
        return;
    memmove(it->history, it->history + s->began_at, (size_t)(count + 1) * sizeof *it->history);
    if (!s->last)
        it->history[count] = s->residual;
    result->history = it->history;
    result->history_size = count + 1;
    it->history = NULL;
}

/* What was neither set up nor run for the attempt that x is from was to find it. */
static void take_seconds(const spry_solver *solver, const iteration_source *s, double seconds,
                         spry_result *result)
{
    result->setup_seconds = solver->setup.seconds + s->setup_seconds;
    result->solve_seconds = seconds + s->run_seconds;
    result->choose_seconds =
        fmax(base_seconds() - solver->run.began - result->setup_seconds - result->solve_seconds, 0);
}

/* As the search for what keeps a direct solve from its tolerance found it, or else its factors. */
static int64_t nullity_of(const spry_solver *solver, const iteration *it)
{
    const spry_operator *M = solver_precon(solver);
    if (it->nullity > 0 || solver->setup.made != STAGE_ALL || solver_has_null_space(solver) ||
        !it->A->square || (M && M->single && !type_is_single(it->A->type)))
        return it->nullity;
    return precon_direct_nullity(M);
}

spry_status result_fill(const spry_solver *solver, iteration *it, double seconds,
                        spry_result *result)
{
    const spry_operator *A = it->A;
    const attempts *all = &solver->setup.attempts;
    if (!it->from.method[0]) { /* none has come to its end */
        it->from = (iteration_source){.setup_seconds = all->setup_seconds,
                                      .ended_at = it->count,
                                      .residual = it->residual,
                                      .last = true};
        snprintf(it->from.method, sizeof it->from.method, "%s", all->method);
        snprintf(it->from.precon, sizeof it->from.precon, "%s", all->precon);
    }
    const iteration_source *s = &it->from;
    restore_reason(it);
    verdict_report(solver, it);
    null_space_report(solver, it);
    *result = (spry_result){
        .size = sizeof *result,
        .converged = it->reason == SPRY_REASON_CONVERGED,
        .reason = it->reason,
        .iterations = s->ended_at - s->began_at,
        .residual = s->residual,
        .true_residual = it->truth,
        .initial_residual = it->initial,
        .type = A->type,
        .rows = operator_all_rows(A),
        .cols = operator_all_cols(A),
        .nnz = entries_of(solver->setup.matrix),
        .bytes_per_iteration = s->bytes,
        .tolerance = it->tol,
        .nullity = nullity_of(solver, it),
        .energy_error = it->reason == SPRY_REASON_CONVERGED ? it->energy.error : 0,
    };
    snprintf(result->method, sizeof result->method, "%s", s->method);
    snprintf(result->precon, sizeof result->precon, "%s", s->precon);
    reformat_describe(solver, it, result->format, sizeof result->format);
    snprintf(result->device, sizeof result->device, "%s", place_name(it->x->device));
    snprintf(result->detail, sizeof result->detail, "%s", it->detail);
    spry_context_memory(solver->ctx, NULL, &result->memory_bytes);
    result->memory_bytes += solver_device_bytes(solver);
    double read =
        solver->setup.device ? solver->setup.device->read_bandwidth : solver->ctx->bandwidth.read;
    take_seconds(solver, s, seconds, result);
    if (read > 0 && s->run_seconds > 0)
        result->bandwidth_fraction = s->traffic / s->run_seconds / read;
    take_history(it, result);
    if (it->warnings[0]) {
        result->warnings = base_copy_text(solver->ctx, it->warnings);
        if (!result->warnings)
            return SPRY_STATUS_NO_MEMORY;
    }
    if (solver->setup.attempts.tried[0]) {
        result->tried = base_copy_text(solver->ctx, solver->setup.attempts.tried);
        if (!result->tried)
            return SPRY_STATUS_NO_MEMORY;
    }
    return SPRY_STATUS_OK;
}

spry_result *result_at(spry_result *results, int k)
{
    const size_t stride = base_size(results, &krylov_result_sized);
    return (spry_result *)(void *)((char *)results + (size_t)k * stride);
}

spry_status results_clear(spry_context *ctx, spry_result *results, int count)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_check_size(ctx, results, &krylov_result_sized));
    for (int k = 1; k < count; k++)
        if (result_at(results, k)->size != results->size)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "result %d has a size of %zu, result 0 of %zu: initialise all of them",
                             k, result_at(results, k)->size, results->size);
    for (int k = 0; k < count; k++)
        SPRY_GO(ctx, base_blank(ctx, result_at(results, k), &krylov_result_sized));
done:
    return status;
}

void result_stopped(const spry_solver *solver, const spry_vector *b, const spry_vector *x,
                    spry_result *result)
{
    spry_result found = SPRY_RESULT_INIT;
    const spry_matrix *A = solver->asked.matrix;
    const spry_operator *op = solver_operator(solver);
    double norm = NAN, relative = NAN;
    found.reason = SPRY_REASON_STOPPED;
    if (A) {
        found.type = A->a.type;
        const vector_part rows = dist_own_rows(A), cols = dist_own_cols(A);
        found.rows = rows.is ? rows.all : A->a.rows;
        found.cols = cols.is ? cols.all : A->a.cols;
        found.nnz = entries_of(A);
    }
    if (A && !A->distributed && b->n == A->a.rows && x->n == A->a.cols && b->type == A->a.type &&
        x->type == A->a.type && spry_vector_norm(b, &norm) == SPRY_STATUS_OK && norm > 0 &&
        wide_measure(A, b, x, NULL, &relative) == SPRY_STATUS_OK)
        relative /= norm; /* where it cannot be measured, the stop is reported all the same */
    found.residual = found.true_residual = found.initial_residual = relative;
    found.tolerance = solver->asked.options.tol;
    if (!isnan(relative))
        found.tolerance = fmax(found.tolerance, solver->asked.options.atol / norm);
    snprintf(found.detail, sizeof found.detail, "while it was set up: x is the first guess");
    if (op)
        reformat_name(op, found.format, sizeof found.format);
    snprintf(found.device, sizeof found.device, "%s", place_name(solver->setup.device));
    spry_context_memory(solver->ctx, NULL, &found.memory_bytes);
    base_give(result, &found, &krylov_result_sized);
}
