/* The course of a solve: history, the best iterate, and every reason to stop. */
#include "krylov/krylov.h"

#include <math.h>
#include <stdarg.h>

spry_status iteration_true_residual(iteration *it, double *relative)
{
    double norm = NAN;
    spry_status status = iteration_residual(it, it->x, it->spare);
    if (status == SPRY_OK)
        status = spry_vector_norm(it->spare, &norm);
    *relative = norm / it->b_norm;
    it->checked = it->residual;
    it->checked_at = it->count;
    if (status == SPRY_OK && *relative < it->saved_residual) {
        it->saved_residual = *relative;
        status = spry_vector_copy(it->x, it->saved);
    }
    return status;
}

/*
 * Looks at the true residual whenever the recurrence claims a tenth of the last look's, but not
 * more often than every tenth iteration. The best x is kept by it, and a recurrence that has parted
 * from it ends the run.
 */
static spry_status look_at_truth(iteration *it)
{
    const int64_t least_distance = 10;
    const double progress = 0.1, parted = 10;
    if (!(it->residual <= progress * it->checked) || it->count < it->checked_at + least_distance)
        return SPRY_OK;
    double truth;
    spry_status status = iteration_true_residual(it, &truth);
    it->drifted = status == SPRY_OK && truth > parted * it->residual;
    return status;
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

/* The monitor sees the caller's x, also while the system is scaled. */
static spry_status ask_monitor(iteration *it, bool *go_on)
{
    if (!it->monitor)
        return SPRY_OK;
    const spry_vector *x = it->x;
    if (it->exponent != 0) {
        spry_status status = spry_vector_copy(it->x, it->spare);
        if (status == SPRY_OK)
            status = spry_vector_scale((spry_scalar){ldexp(1, it->exponent), 0}, it->spare);
        if (status != SPRY_OK)
            return status;
        x = it->spare;
    }
    if (!it->monitor(it->monitor_data, it->count, it->residual, x) && *go_on)
        *go_on = end_with(it, SPRY_REASON_STOPPED, "the monitor asked to stop");
    return SPRY_OK;
}

static void begin_run(iteration *it)
{
    it->least = it->last_mean = INFINITY;
    it->window_log = 0;
    it->window_count = 0;
    it->checked = it->residual;
    it->checked_at = it->count;
    it->drifted = false;
    if (it->count == 0)
        it->initial = it->residual;
}

bool iteration_goes_on(iteration *it, double residual_norm, bool first)
{
    it->residual = residual_norm / it->b_norm;
    if (first)
        begin_run(it);
    else
        it->count++;
    it->status = note_history(it);
    if (it->status != SPRY_OK)
        return false;
    bool go_on = judge(it);
    if (go_on) {
        it->status = look_at_truth(it);
        go_on = it->status == SPRY_OK && !it->drifted;
    }
    if (!first && it->status == SPRY_OK)
        it->status = ask_monitor(it, &go_on);
    if (go_on && spry_context_interrupted(it->ctx, false))
        go_on = end_with(it, SPRY_REASON_STOPPED, "");
    return go_on && it->status == SPRY_OK;
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

spry_status iteration_residual(const iteration *it, const spry_vector *x, spry_vector *r)
{
    spry_status status = spry_vector_copy(it->b, r);
    if (status != SPRY_OK)
        return status;
    return spry_operator_multiply(it->A, SPRY_PLAIN, (spry_scalar){-1, 0}, x, (spry_scalar){1, 0},
                                  r);
}
