/* The course of a solve: history, the best iterate, and every reason to stop. */
#include "krylov/krylov.h"

#include <math.h>
#include <stdarg.h>

/* Keeps x when it is at least twice as good as the one kept: about 30 copies in a solve to 1e-8. */
static spry_status save_best(iteration *it)
{
    if (!it->saved || !(it->residual <= 0.5 * it->saved_residual))
        return SPRY_OK;
    it->saved_residual = it->residual;
    return spry_vector_copy(it->x, it->saved);
}

static spry_status note_history(iteration *it)
{
    if (it->count >= it->history_room) {
        int64_t room = it->history_room * 2;
        spry_status status = base_grow(it->ctx, it->count, room, sizeof *it->history, &it->history);
        if (status != SPRY_OK)
            return status;
        it->history_room = room;
    }
    it->history[it->count] = it->residual;
    return SPRY_OK;
}

static bool end_with(iteration *it, spry_reason reason, const char *detail)
{
    it->reason = reason;
    snprintf(it->detail, sizeof it->detail, "%s", detail);
    return false;
}

/*
 * Whether a window of `stall` iterations has just ended without progress: no new smallest residual
 * in it, and its mean (of logarithms) no lower than that of the window before. The smallest alone
 * would not do: the residual of conjugate gradients may first grow and need long to come back below
 * where it began.
 */
static bool has_stalled(iteration *it)
{
    const double least_progress = 1e-4; /* one in ten thousand over a whole window */
    if (it->options->stall == 0)
        return false;
    it->window_log += log(it->residual);
    if (++it->window_count < it->options->stall)
        return false;
    double mean = it->window_log / (double)it->window_count;
    bool stalled =
        mean > it->last_mean - least_progress && it->least_at <= it->count - it->window_count;
    it->last_mean = mean;
    it->window_log = 0;
    it->window_count = 0;
    return stalled;
}

/* The reasons that follow from the residual and the count alone. */
static bool judge(iteration *it)
{
    const solver_options *options = it->options;
    if (!isfinite(it->residual))
        return end_with(it, SPRY_REASON_NONFINITE, "the residual is not a finite number");
    if (it->residual < it->least) {
        it->least = it->residual;
        it->least_at = it->count;
    }
    if (it->residual <= options->tol)
        return end_with(it, SPRY_REASON_CONVERGED, "");
    if (it->residual > options->divergence * fmax(it->initial, 1e-300))
        return end_with(it, SPRY_REASON_DIVERGED, "the residual grew beyond the divergence limit");
    if (has_stalled(it))
        return end_with(it, SPRY_REASON_STAGNATED,
                        "the mean residual no longer falls over as many iterations as stall says");
    if (it->count >= options->max_iter)
        return end_with(it, SPRY_REASON_ITERATIONS, "");
    return true;
}

bool iteration_goes_on(iteration *it, double residual_norm, bool first)
{
    if (first) { /* also after a restart: what a drifted recurrence claimed no longer counts */
        it->least = it->saved_residual = it->last_mean = INFINITY;
        it->window_log = 0;
        it->window_count = 0;
    } else {
        it->count++;
    }
    it->residual = residual_norm / it->b_norm;
    if (it->count == 0)
        it->initial = it->residual;
    it->status = note_history(it);
    if (it->status == SPRY_OK && isfinite(it->residual))
        it->status = save_best(it);
    if (it->status != SPRY_OK)
        return false;
    bool go_on = judge(it);
    if (it->monitor && !first && !it->monitor(it->monitor_data, it->count, it->residual, it->x) &&
        go_on)
        go_on = end_with(it, SPRY_REASON_STOPPED, "the monitor asked to stop");
    if (go_on && spry_context_interrupted(it->ctx, false))
        go_on = end_with(it, SPRY_REASON_STOPPED, "");
    return go_on;
}

spry_status iteration_breakdown(iteration *it, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(it->detail, sizeof it->detail, format, arguments);
    va_end(arguments);
    it->reason = SPRY_REASON_BREAKDOWN;
    return SPRY_OK;
}

spry_status iteration_precondition(const iteration *it, const spry_vector *r, spry_vector *z)
{
    return it->M ? spry_operator_apply(it->M, r, z) : spry_vector_copy(r, z);
}

spry_status iteration_residual(const iteration *it, const spry_vector *x, spry_vector *r)
{
    spry_status status = spry_vector_copy(it->b, r);
    if (status != SPRY_OK)
        return status;
    return spry_operator_multiply(it->A, SPRY_PLAIN, (spry_scalar){-1, 0}, x, (spry_scalar){1, 0},
                                  r);
}
