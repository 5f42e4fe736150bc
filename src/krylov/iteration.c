/* The course of a solve: history, the best iterate, and every reason to stop. */
#include "krylov/krylov.h"

#include "base/team.h"
#include "host/apply.h"
#include "krylov/reorder.h"

#include <math.h>

spry_status iteration_agree(const iteration *it, spry_status status)
{
    return it->x->part.is ? team_agree(it->ctx, status) : status;
}

spry_status iteration_first_norms(iteration *it, double *residual)
{
    spry_context *ctx = it->ctx;
    const spry_vector *const vectors[] = {it->b, it->x};
    const spry_scalar zero = {0, 0}, minus = {-1, 0};
    double norms[2] = {NAN, NAN};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, vector_norms(2, vectors, norms));
    it->b_norm = *residual = norms[0];
    it->from_zero = it->product_known = norms[1] == 0;
    if (it->from_zero) {
        SPRY_GO(ctx, spry_vector_fill(it->spare, zero));
    } else if (it->A->square) {
        it->product_known = true;
        SPRY_GO(ctx, spry_operator_apply(it->A, it->x, it->spare));
        SPRY_GO(ctx, spry_vector_copy(it->b, it->best.x));
        SPRY_GO(ctx, spry_vector_axpy(minus, it->spare, it->best.x));
        SPRY_GO(ctx, spry_vector_norm(it->best.x, residual));
    } else {
        SPRY_GO(ctx, iteration_residual(it, it->x, it->spare));
        SPRY_GO(ctx, spry_vector_norm(it->spare, residual));
    }
done:
    return status;
}

spry_status iteration_is_finite(const spry_vector *x, double norm, bool *yes)
{
    spry_status status = SPRY_STATUS_OK;
    if (isinf(norm)) /* which it may be where no number is */
        status = vector_largest(x, &norm);
    *yes = isfinite(norm);
    return status;
}

spry_status iteration_true_residual(iteration *it, double *relative)
{
    const spry_vector *const vectors[] = {it->spare, it->x};
    double norms[2] = {NAN, NAN};
    bool finite = false;
    spry_status status = iteration_residual(it, it->x, it->spare);
    if (status == SPRY_STATUS_OK)
        status = vector_norms(2, vectors, norms);
    if (status == SPRY_STATUS_OK)
        status = iteration_is_finite(it->x, norms[1], &finite);
    *relative = finite ? norms[0] / it->b_norm : NAN;
    it->checked = it->residual;
    it->checked_at = it->count;
    return status;
}

spry_status iteration_keep(iteration *it, double relative)
{
    if (!(relative < it->best.residual))
        return SPRY_STATUS_OK;
    it->best.found = it->best.found || iteration_gains(it, relative);
    it->best.residual = relative;
    it->best.at = it->count;
    return spry_vector_copy(it->x, it->best.x);
}

/* A look comes when the recurrence claims this share of what it claimed at the last, but no sooner
 * than that number of iterations later: it costs as much as one on the host, and as several on a
 * device, which has to be stopped. */
static const double look_progress = 0.1;
enum { LOOK_DISTANCE = 64 };

/* The best x is kept by looks at the true residual, and a recurrence that has parted from it ends
 * the run. */
static spry_status look_at_truth(iteration *it)
{
    const double parted = 10;
    if (!(it->residual <= look_progress * it->checked) ||
        it->count < it->checked_at + LOOK_DISTANCE)
        return SPRY_STATUS_OK;
    double truth = NAN;
    spry_status status = runner_settle(it->runner, it->rhs);
    if (status == SPRY_STATUS_OK)
        status = iteration_true_residual(it, &truth);
    if (status == SPRY_STATUS_OK)
        status = iteration_keep(it, truth);
    it->drifted = status == SPRY_STATUS_OK && !it->traits.left && truth > parted * it->residual;
    return status;
}

/*
 * With a preconditioner on the left the method's residual may be at the tolerance when the true one
 * is far from it: up to the condition of M. Then the method goes on to less, as long as there is
 * less. `made`: x is up to date; else it is made for the look.
 */
static spry_status look_beyond(iteration *it, bool made)
{
    const double margin = 0.5, least = 1e-3, lowest = measure_unit(it->A->type);
    const bool stale = !made && runner_makes_x_last(it->runner);
    double truth = NAN;
    runner_view view;
    spry_status status =
        stale ? runner_view_begin(it->runner, it->rhs, &view) : runner_settle(it->runner, it->rhs);
    if (status == SPRY_STATUS_OK)
        status = iteration_true_residual(it, &truth);
    if (status == SPRY_STATUS_OK)
        status = iteration_keep(it, truth);
    if (stale) {
        const spry_status back = runner_view_end(it->runner, it->rhs, &view);
        status = status == SPRY_STATUS_OK ? back : status;
    }
    if (truth > it->tol && it->residual > lowest)
        it->goal = it->residual * fmin(fmax(margin * it->tol / truth, least), margin);
    return status;
}

spry_status iteration_note(iteration *it)
{
    if (it->count >= it->history_room) {
        int64_t room = it->history_room * 2;
        const spry_status status = iteration_agree(
            it, base_grow(it->ctx, it->count, room, sizeof *it->history, &it->history));
        if (status != SPRY_STATUS_OK)
            return status;
        it->history_room = room;
    }
    it->history[it->count] = it->residual;
    return SPRY_STATUS_OK;
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
    it->pace.window_log += log(it->residual);
    if (++it->pace.window_count < it->options->stall)
        return false;
    double mean = it->pace.window_log / (double)it->pace.window_count;
    bool stalled = mean > it->pace.last_mean - least_progress &&
                   it->pace.least_at <= it->count - it->pace.window_count;
    it->pace.last_mean = mean;
    it->pace.window_log = 0;
    it->pace.window_count = 0;
    return stalled;
}

/* At intervals of iterations an attempt is asked whether it will arrive: of those that have few, it
 * does not take most of them to ask. */
static int64_t ask_distance(const iteration *it)
{
    const int64_t few = 64;
    return it->pace.patience < few ? 4 : 16;
}

void iteration_attempt(iteration *it, bool more, int64_t patience)
{
    it->pace.more = more;
    it->pace.began_at = it->pace.mark_at = it->count;
    it->pace.began_from = it->pace.marked = isfinite(it->truth) ? it->truth : it->initial;
    it->pace.patience = patience;
    it->pace.gave_up = it->best.found = false;
}

double iteration_to_come(const iteration *it)
{
    const double all =
        log(it->pace.began_from / it->pace.least) / (double)(it->count - it->pace.began_at);
    const double late =
        log(it->pace.marked / it->pace.least) / (double)(it->count - it->pace.mark_at);
    const double rate = fmax(all, late);
    return rate > 0 ? log(it->pace.least / it->goal) / rate : INFINITY;
}

static bool gives_up(iteration *it)
{
    const double hopeless = 10; /* times its patience is plain after half as long */
    const int64_t done = it->count - it->pace.began_at;
    if (it->pace.patience == 0 || done == 0 || done % ask_distance(it) != 0)
        return false;
    const double more = iteration_to_come(it) / (double)it->pace.patience;
    it->pace.gave_up = (2 * done >= it->pace.patience && more > 1) ||
                       (4 * done >= it->pace.patience && more > hopeless);
    if (done >= 2 * (it->pace.mark_at - it->pace.began_at)) { /* the later half is "of late" */
        it->pace.mark_at = it->count;
        it->pace.marked = it->pace.least;
    }
    return it->pace.gave_up;
}

/* The reasons that follow from the residual and the count alone. */
static bool judge(iteration *it)
{
    const solver_options *options = it->options;
    if (!isfinite(it->residual))
        return end_with(it, SPRY_REASON_NONFINITE, "the residual is not a finite number");
    if (it->residual < it->pace.least) {
        it->pace.least = it->residual;
        it->pace.least_at = it->count;
    }
    if (it->residual <= it->goal || it->squares.found)
        return end_with(it, SPRY_REASON_CONVERGED, "");
    if (it->residual > options->divergence * fmax(it->initial, 1e-300))
        return end_with(it, SPRY_REASON_DIVERGED, "the residual grew beyond the divergence limit");
    if (gives_up(it))
        return end_with(it, SPRY_REASON_STAGNATED, "the residual falls too slowly");
    if (has_stalled(it))
        return end_with(it, SPRY_REASON_STAGNATED,
                        "the mean residual no longer falls over as many iterations as stall says");
    if (it->count >= options->max_iter || it->pace.idle > options->max_iter)
        return end_with(it, SPRY_REASON_ITERATIONS, "");
    return true;
}

/* A stop that was asked for: the reason of the run, unless it has one already, and the last of its
 * runs. */
static bool stop_for(iteration *it, bool going_on, const char *who)
{
    it->stop = true;
    return going_on ? end_with(it, SPRY_REASON_STOPPED, who) : false;
}

/* Whether a rank asks to stop, or accepts x: its word is for all, in one message for both. A
 * failure to find out ends it, too. */
static void on_any(const iteration *it, bool *stop, bool *accepted)
{
    const int64_t unit = INT64_C(1) << 32; /* more than there are ranks */
    int64_t sum = 0;
    const spry_status status = team_sum(it->ctx, *stop + *accepted * unit, &sum);
    *stop = status != SPRY_STATUS_OK || sum % unit != 0;
    *accepted = status == SPRY_STATUS_OK && sum / unit != 0;
}

/* Whether the caller lets it go on. */
static bool ask(iteration *it, const spry_vector *x, bool monitor, double residual)
{
    *it->listener.reporting = it;
    const bool fine = monitor
                          ? it->listener.monitor(it->listener.monitor_data, it->count, residual, x)
                          : it->listener.watch(it->listener.watch_data, it->count, residual);
    *it->listener.reporting = NULL;
    if (!it->x->part.is)
        return fine && !it->listener.accepted;
    bool stop = !fine;
    on_any(it, &stop, &it->listener.accepted);
    return !stop && !it->listener.accepted;
}

static void ask_watch(iteration *it, bool *go_on)
{
    if (it->listener.watch && !ask(it, NULL, false, it->residual))
        *go_on = stop_for(it, *go_on, "the caller asked to stop");
}

/* The x that the monitor sees, when it looks at it. */
static spry_status bring_x(void *data, spry_vector *v)
{
    iteration *it = data;
    runner_view view;
    spry_status status = SPRY_STATUS_OK;
    if (it->listener.stale)
        status = runner_view_begin(it->runner, it->rhs, &view);
    if (status == SPRY_STATUS_OK)
        status = order_get(it->order, it->x, v);
    if (it->listener.stale) {
        const spry_status back = runner_view_end(it->runner, it->rhs, &view);
        status = status == SPRY_STATUS_OK ? back : status;
    }
    if (status == SPRY_STATUS_OK && it->exponent != 0)
        status = spry_vector_scale((spry_scalar){ldexp(1, it->exponent), 0}, v);
    return status;
}

/* That x: the caller's, also while the system is scaled, or x is made at the end alone (`made`: it
 * is up to date); of the host where the caller's is, and then copied from a device. */
static spry_status show(iteration *it, bool made, const spry_vector **x)
{
    spry_context *ctx = it->ctx;
    const bool moved = it->listener.on_host && it->x->device;
    spry_status status = SPRY_STATUS_OK;
    *x = it->x;
    it->listener.stale = !made && runner_makes_x_last(it->runner);
    const bool alike =
        it->exponent != 0 || it->listener.stale || it->order; /* on all ranks or none */
    if (!alike && !moved)
        return SPRY_STATUS_OK;
    if (alike && !it->listener.shows) {
        if (!it->listener.shown) {
            status = spry_vector_like(it->x, it->x->n, &it->listener.shown);
            if (status == SPRY_STATUS_OK)
                vector_hold(it->listener.shown);
        }
        SPRY_GO(ctx, iteration_agree(it, status));
        it->listener.shows = true;
    }
    *x = it->listener.shown;
    it->listener.shown->from = it;
    it->listener.shown->bring = bring_x;
    if (it->listener.stale &&
        it->x->part.is) /* by all ranks together, also where few will look at it */
        SPRY_GO(ctx, iteration_agree(it, vector_fetch(*x)));
done:
    return status;
}

/* `first`: of the first guess. A residual is that of x, an estimate of an x that is to be made. */
static spry_status ask_monitor(iteration *it, bool first, bool settled, bool *go_on)
{
    spry_context *ctx = it->ctx;
    const spry_vector *x;
    spry_status status = SPRY_STATUS_OK;
    if (!it->listener.monitor)
        return SPRY_STATUS_OK;
    if (settled && !first)
        SPRY_GO(ctx, runner_settle(it->runner, it->rhs));
    SPRY_GO(ctx, show(it, settled, &x));
    if (!ask(it, x, true, it->residual))
        *go_on = stop_for(it, *go_on, "the monitor asked to stop");
done:
    if (it->listener.shown)
        it->listener.shown->bring = NULL; /* x goes on */
    return status;
}

spry_status iteration_report_start(iteration *it)
{
    bool go_on = true;
    spry_status status = SPRY_STATUS_OK;
    if (it->ended || !it->options->report_start)
        return SPRY_STATUS_OK;
    SPRY_GO(it->ctx, ask_monitor(it, true, true, &go_on));
    ask_watch(it, &go_on);
    if (!go_on) {
        it->ended = true;
        it->truth = it->initial;
        it->reason = it->truth <= it->tol    ? SPRY_REASON_CONVERGED
                     : it->listener.accepted ? SPRY_REASON_ACCEPTED
                                             : it->reason;
        if (it->reason != SPRY_REASON_STOPPED)
            it->detail[0] = '\0';
    }
done:
    return status;
}

static void begin_run(iteration *it)
{
    it->begun = true;
    it->pace.least = it->pace.last_mean = INFINITY;
    it->pace.least_at = it->replay.from = it->count;
    it->pace.window_log = 0;
    it->pace.window_count = 0;
    it->checked = it->residual;
    it->checked_at = it->count;
    it->drifted = false;
    it->energy.count = 0;
}

/*
 * A small gradient alone does not make a residual the least: what is left may lie where A is small,
 * |r|^2 - |least|^2 is up to (|A^H r| / sigma)^2 for the least singular value sigma, and residuals
 * fall in stairs there. One that stayed for as many iterations as it took to come there is taken
 * for the least; up to which iteration is it to stay? (Delays as in G. H. Golub, Z. Strakos,
 * Estimates in quadratic formulas, Numer. Algorithms 8 (1994), 241-268.)
 */
static int64_t stays_until(const iteration *it)
{
    const double stays = 0.99;
    int64_t since = it->count;
    while (since > it->replay.from && it->residual >= stays * it->history[since - 1])
        since--;
    return 2 * since - it->replay.from;
}

/*
 * The method says that x is a least-squares solution; its measure is of the matrix as it is
 * preconditioned, and a few large entries may have made it. Where it is not one yet the method is
 * to go on to less, unless there is none.
 */
static spry_status look_at_gradient(iteration *it)
{
    spry_context *ctx = it->ctx;
    const double tol = it->squares.tol, margin = 0.5;
    double truth;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, runner_settle(it->runner, it->rhs));
    SPRY_GO(ctx, iteration_true_gradient(it, &truth));
    const bool arrived = truth <= tol;
    const int64_t until = stays_until(it);
    it->squares.found = arrived && (it->count >= until || it->squares.gradient == 0);
    it->squares.goal = arrived ? 0 : it->squares.gradient * fmax(margin * tol / truth, 1e-3);
    it->squares.stays_until = arrived ? until : NONE;
done:
    return status;
}

/* Whether that is to be looked at now. */
static bool may_be_least(const iteration *it)
{
    return it->residual > it->goal &&
           (it->squares.gradient <= it->squares.goal ||
            (it->squares.stays_until != NONE && it->count >= it->squares.stays_until));
}

/* A run that is repeated has reported all this before; it can still be stopped. */
static void report_again(iteration *it, bool counts, double value, bool *go_on)
{
    it->count += counts;
    *go_on = it->count < it->replay.to && isfinite(value);
    it->interrupted = runner_interrupted(it->runner);
    it->stop = it->interrupted ||
               (counts && it->listener.watch && !ask(it, NULL, false, value / it->b_norm));
    *go_on = *go_on && !it->stop;
}

/* A residual of the recurrence, for the history. */
static spry_status take_residual(iteration *it, bool loop, bool counts, double value)
{
    it->residual = value / it->b_norm;
    /* The first residual is known, and true: the method's may differ by the order of its sums. */
    if (!loop && it->count == 0 && isfinite(it->residual))
        it->residual = it->initial;
    if (!it->begun)
        begin_run(it);
    it->count += counts;
    it->pace.idle = counts ? 0 : it->pace.idle + loop;
    return iteration_note(it);
}

/* Whether to go on, by this residual and, where it is time for that, by the true one. */
static spry_status look(iteration *it, report_kind kind, bool loop, bool *go_on)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (it->traits.left) {
        /* That of b - A x itself, which cycles begin with. */
        const bool true_one = !loop || (it->traits.estimates && kind == REPORT_RESIDUAL);
        it->goal = true_one ? it->tol : it->goal;
        if (!true_one && it->residual <= it->goal)
            SPRY_GO(ctx, look_beyond(it, kind == REPORT_RESIDUAL));
    }
    if (may_be_least(it))
        SPRY_GO(ctx, look_at_gradient(it));
    *go_on = judge(it);
    if (*go_on && kind == REPORT_RESIDUAL) {
        SPRY_GO(ctx, look_at_truth(it));
        *go_on = !it->drifted;
    }
done:
    return status;
}

static spry_status note_energy(iteration *it, double fall)
{
    iteration_energy *e = &it->energy;
    if (e->count == e->room) {
        const int64_t room = e->room > 0 ? 2 * e->room : it->history_room;
        const spry_status status =
            iteration_agree(it, base_grow(it->ctx, e->count, room, sizeof *e->falls, &e->falls));
        if (status != SPRY_STATUS_OK)
            return status;
        e->room = room;
    }
    e->falls[e->count++] = fall;
    return SPRY_STATUS_OK;
}

spry_status iteration_report(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    iteration *it = data;
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (kind == REPORT_GRADIENT) {
        it->squares.gradient = value;
        return SPRY_STATUS_OK;
    }
    if (kind == REPORT_ENERGY)
        return it->replay.to == NONE ? note_energy(it, value) : SPRY_STATUS_OK;
    const bool counts = loop && (kind == REPORT_ESTIMATE || !it->traits.estimates);
    if (it->replay.to != NONE) {
        report_again(it, counts, value, go_on);
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, take_residual(it, loop, counts, value));
    SPRY_GO(ctx, look(it, kind, loop, go_on));
    if (counts) {
        SPRY_GO(ctx, ask_monitor(it, false, kind == REPORT_RESIDUAL, go_on));
        ask_watch(it, go_on);
    }
    if (runner_interrupted(it->runner)) {
        it->interrupted = true;
        *go_on = stop_for(it, *go_on, "");
    }
done:
    return status;
}

/*
 * Up to where judge() and look_at_truth() find nothing. Values are compared before they are divided
 * by |b| then: limits are a little wider than those of the host. What a run begins with is known of
 * the first run before it reports.
 */
void iteration_limits(void *data, run_limits *limits)
{
    const iteration *it = data;
    const solver_options *options = it->options;
    const double wider = 1 + 1e-12;
    const bool known = it->begun || it->count == 0;
    const double checked = it->begun ? it->checked : it->initial;
    const int64_t window = it->begun ? it->pace.window_count : 0;
    if (it->replay.to != NONE) {
        *limits = (run_limits){.low = -INFINITY,
                               .high = INFINITY,
                               .look = -INFINITY,
                               .gradient = -INFINITY,
                               .reports = it->replay.to - it->count};
        return;
    }
    int64_t reports = options->max_iter - it->count;
    if (options->stall > 0 && options->stall - window < reports)
        reports = options->stall - window;
    if (it->squares.stays_until != NONE && it->squares.stays_until - it->count < reports)
        reports = it->squares.stays_until - it->count;
    const int64_t distance = ask_distance(it);
    const int64_t asked = distance - (it->count - it->pace.began_at) % distance;
    if (it->pace.patience > 0 && asked < reports)
        reports = asked;
    if (it->listener.monitor || !known || reports < 1)
        reports = 1;
    *limits = (run_limits){
        .low = it->goal * it->b_norm * wider,
        .high = options->divergence * fmax(it->initial, 1e-300) * it->b_norm / wider,
        .look = it->traits.estimates ? -INFINITY : look_progress * checked * it->b_norm * wider,
        .gradient = it->squares.goal * wider,
        .reports = reports,
        .look_after = (it->begun ? it->checked_at : it->count) + LOOK_DISTANCE - it->count,
    };
}

void iteration_breakdown(void *data, const char *text, bool finite)
{
    end_with(data, finite ? SPRY_REASON_BREAKDOWN : SPRY_REASON_NONFINITE, text);
}

void iteration_accept(void *data, const char *text)
{
    iteration *it = data;
    it->listener.accepted = it->stop = true;
    end_with(it, SPRY_REASON_ACCEPTED, text);
}

int64_t iteration_find_better(const iteration *it, bool drifted)
{
    const double gain = 0.9; /* less is not worth the iterations, which are made again */
    const double least = drifted ? sqrt(it->pace.least) * sqrt(it->before) : it->pace.least;
    const bool known = it->from_zero || it->best.at == it->replay.from;
    int64_t at = it->replay.from;
    if (it->options->keep != KEEP_BEST || !it->begun || !known || it->stop ||
        !(least <= gain * it->truth))
        return NONE;
    while (at < it->count && !(it->history[at] <= least))
        at++;
    return at > it->replay.from && at < it->count ? at : NONE;
}

spry_status iteration_begin_replay(iteration *it, int64_t to, bool drifted)
{
    spry_context *ctx = it->ctx;
    spry_vector *first = NULL;
    spry_status status = SPRY_STATUS_OK;
    it->replay.end = (iteration_end){.reason = it->reason,
                                     .count = it->count,
                                     .residual = it->residual,
                                     .gradient = it->squares.gradient,
                                     .drifted = drifted};
    memcpy(it->replay.end.detail, it->detail, sizeof it->detail);
    it->replay.to = to;
    it->replay.count += to - it->replay.from;
    if (it->from_zero) {
        SPRY_GO(ctx, iteration_keep(it, it->truth));
        SPRY_GO(ctx, spry_vector_fill(it->x, (spry_scalar){0, 0}));
    } else {
        SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->x, it->x->n, &first)));
        SPRY_GO(ctx, spry_vector_copy(it->best.x, first));
        SPRY_GO(ctx, iteration_keep(it, it->truth));
        SPRY_GO(ctx, spry_vector_copy(first, it->x));
    }
    it->count = it->replay.from;
done:
    spry_vector_free(first);
    return status;
}

spry_status iteration_end_replay(iteration *it)
{
    it->reason = it->replay.end.reason;
    memcpy(it->detail, it->replay.end.detail, sizeof it->detail);
    it->count = it->replay.end.count;
    it->residual = it->replay.end.residual;
    it->squares.gradient = it->replay.end.gradient;
    it->replay.to = NONE;
    it->drifted = false;
    if (it->stop)
        end_with(it, SPRY_REASON_STOPPED, it->interrupted ? "" : "the caller asked to stop");
    return iteration_keep(it, it->truth);
}

/* A lower bound of |A|, mostly close: the largest |A v| / |v| of a few power steps from a random v.
 */
static spry_status estimate_norm(iteration *it, spry_vector *v, spry_vector *Av)
{
    spry_context *ctx = it->ctx;
    const int steps = 4;
    double norm;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, vector_random(v, 3));
    for (int k = 0; k < steps; k++) {
        SPRY_GO(ctx, spry_vector_norm(v, &norm));
        if (norm == 0)
            break;
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, v));
        SPRY_GO(ctx, spry_operator_apply(it->A, v, Av));
        SPRY_GO(ctx, spry_vector_norm(Av, &norm));
        it->a_norm = fmax(it->a_norm, norm);
        if (norm == 0)
            break;
        SPRY_GO(ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, Av));
        SPRY_GO(ctx, spry_operator_multiply(it->A, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0},
                                            Av, (spry_scalar){0, 0}, v));
    }
done:
    return status;
}

/* A power of two that brings A^H r to about 1, as far as it and r stay in the range of the type. */
static double bring_near_one(const iteration *it, double r_norm)
{
    const int most = type_is_single(it->A->type) ? 100 : 1000;
    int of_r, of_A;
    if (!(r_norm > 0) || !isfinite(r_norm))
        return 1;
    frexp(r_norm, &of_r);
    frexp(it->a_norm, &of_A);
    const int up = (-of_A < most ? -of_A : most) - of_r;
    return ldexp(1, up < -most ? -most : up > most ? most : up);
}

spry_status iteration_true_gradient(iteration *it, double *relative)
{
    spry_context *ctx = it->ctx;
    spry_vector *g = NULL, *Av = NULL;
    double norm, r_norm, worst;
    spry_status status = SPRY_STATUS_OK;
    *relative = INFINITY;
    SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->x, it->x->n, &g)));
    SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->b, it->b->n, &Av)));
    if (it->a_norm == 0)
        SPRY_GO(ctx, estimate_norm(it, g, Av));
    SPRY_GO(ctx, iteration_residual(it, it->x, it->spare));
    SPRY_GO(ctx, spry_vector_norm(it->spare, &r_norm));
    SPRY_GO(ctx, measure_columns(it, it->spare, r_norm, &worst));
    const double up = bring_near_one(it, r_norm);
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){up, 0}, it->spare));
    SPRY_GO(ctx, spry_operator_multiply(it->A, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0},
                                        it->spare, (spry_scalar){0, 0}, g));
    SPRY_GO(ctx, spry_vector_norm(g, &norm));
    if (isfinite(norm))
        *relative = norm == 0 ? worst : fmax(norm / it->a_norm / (up * r_norm), worst);
done:
    spry_vector_free(g);
    spry_vector_free(Av);
    return status;
}

spry_status iteration_residual(const iteration *it, const spry_vector *x, spry_vector *r)
{
    spry_status status = spry_vector_copy(it->b, r);
    if (status != SPRY_STATUS_OK)
        return status;
    return spry_operator_multiply(it->A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                  (spry_scalar){1, 0}, r);
}
