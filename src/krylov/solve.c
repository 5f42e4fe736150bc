/*
 * A solve: checks, scaling, the run with restarts from the true residual, the result record.
 */
#include "device/linalg/vector.h"
#include "krylov/solver.h"

#include <float.h>
#include <math.h>

/* Names the first number of v that is not finite; true when there is one. */
static bool find_nonfinite(const solver_order *order, const spry_vector *v, const char *what,
                           char detail[DETAIL_SIZE])
{
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    bool found = false;
    /* Where it cannot be copied, what is not finite has no name. */
    const bool seen = vector_on_host(v, &on_host, &copy) == SPRY_STATUS_OK;
    for (int64_t i = 0; seen && i < v->n && !found; i++) {
        found = !value_finite(value_get(v->type, on_host->data, order ? order->to[i] : i));
        if (found)
            snprintf(detail, DETAIL_SIZE, "%s is not finite at row %" PRId64 " (from 0)", what,
                     v->part.first + i);
    }
    spry_vector_free(copy);
    return found;
}

static spry_status check_vectors(const spry_solver *solver, const spry_vector *b,
                                 const spry_vector *x)
{
    const spry_operator *A = solver_operator(solver), *M = solver_precon(solver);
    const spry_vector *const vectors[] = {b, x};
    const int64_t lengths[] = {A->rows, A->cols};
    if (vector_same(b, x))
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "b and x are the same array");
    if (b->ctx != x->ctx)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "b and x are of different contexts");
    static const char *const names[] = {"b", "x"};
    for (int k = 0; k < 2; k++)
        if (vectors[k]->n != lengths[k] || vectors[k]->type != A->type)
            return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                             "%s has %" PRId64 " elements of type %s, the matrix needs %" PRId64
                             " of type %s",
                             names[k], vectors[k]->n, spry_type_name(vectors[k]->type), lengths[k],
                             spry_type_name(A->type));
    if (M && (M->rows != A->cols || M->cols != A->cols || M->type != A->type))
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE,
                         "the preconditioner is %" PRId64 " x %" PRId64
                         " of type %s, the matrix %" PRId64 " x %" PRId64 " of type %s",
                         M->rows, M->cols, spry_type_name(M->type), A->rows, A->cols,
                         spry_type_name(A->type));
    return SPRY_STATUS_OK;
}

static spry_status start(spry_solver *solver, iteration *it, int index)
{
    spry_context *ctx = it->ctx;
    const spry_operator *A = it->A;
    spry_status status = SPRY_STATUS_OK;
    it->best.residual = it->squares.gradient = INFINITY;
    it->truth = NAN;
    it->tol = it->goal = it->options->tol;
    it->squares.tol = solver->asked.least_tol > 0 ? solver->asked.least_tol : it->options->tol;
    it->squares.goal = it->squares.tol;
    it->replay.to = it->squares.stays_until = NONE;
    it->history_room = 256;
    SPRY_GO(ctx, base_alloc(ctx, it->history_room, sizeof *it->history, &it->history));
    it->history[0] = NAN;
    SPRY_GO(ctx, solver_vector(solver, A->cols, &solver->run.work.rhs[index].saved));
    SPRY_GO(ctx, solver_vector(solver, A->rows, &solver->run.work.rhs[index].spare));
    it->best.x = solver->run.work.rhs[index].saved;
    it->spare = solver->run.work.rhs[index].spare;
    it->best.x->part = A->cols_part;
    it->spare->part = A->rows_part;
done:
    return status;
}

/*
 * Scales b and x by a power of two, which rounds nothing, when squares of numbers of b's size, or
 * of its residuals later on, would leave the range of the type. *first is the norm of the residual.
 */
static spry_status scale_system(iteration *it, double *first)
{
    spry_context *ctx = it->ctx;
    bool single = type_is_single(it->A->type);
    int safe = single ? 20 : 300, most = single ? 120 : 1000, exponent; /* 2^most is a number */
    spry_status status = SPRY_STATUS_OK;
    if (isfinite(it->b_norm))
        frexp(it->b_norm, &exponent);
    else
        exponent = most; /* all numbers of b may be finite where its norm is not */
    if (exponent >= -safe && exponent <= safe)
        return SPRY_STATUS_OK;
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    const spry_scalar factor = {ldexp(1, -exponent), 0};
    const double largest = single ? FLT_MAX : DBL_MAX;
    double x_norm;
    SPRY_GO(ctx, spry_vector_norm(it->x, &x_norm));
    if (!(x_norm <= largest / fmax(factor.re, 1))) /* the first guess would not fit */
        return SPRY_STATUS_OK;
    if (!it->own_b) {
        SPRY_GO(ctx, iteration_agree(it, spry_vector_like(it->b, it->b->n, &it->own_b)));
        SPRY_GO(ctx, spry_vector_copy(it->b, it->own_b));
    }
    SPRY_GO(ctx, spry_vector_scale(factor, it->own_b));
    SPRY_GO(ctx, spry_vector_scale(factor, it->x));
    it->exponent = exponent;
    it->b = it->own_b;
    SPRY_GO(ctx, iteration_first_norms(it, first));
done:
    return status;
}

/* The tolerance relative to |b|, also of a scaled system. A norm that is not finite is refused. */
static void settle_tol(iteration *it)
{
    const double least = ldexp(it->options->atol, -it->exponent) / it->b_norm;
    it->tol = it->goal = fmax(it->options->tol, isfinite(it->b_norm) ? least : 0);
}

static void finish(iteration *it)
{
    if (it->listener.shown) { /* which the monitor may have freed */
        spry_vector_free(it->listener.shown);
        vector_let_go(it->listener.shown);
    }
    spry_vector_free(it->own_b);
    base_free(it->ctx, it->history);
    base_free(it->ctx, it->energy.falls);
}

/* What NaN there was to begin with, as the message of a failure. */
static spry_status refuse_nonfinite(const spry_solver *solver, iteration *it)
{
    spry_context *ctx = solver->ctx;
    it->reason = SPRY_REASON_NONFINITE;
    spry_status found = SPRY_STATUS_OK;
    if (find_nonfinite(it->order, it->b, "the right-hand side", it->detail) ||
        find_nonfinite(it->order, it->x, "the first guess", it->detail))
        found = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s", it->detail);
    if (solver_agree(solver, found) != SPRY_STATUS_OK) { /* who has it names it */
        snprintf(it->detail, sizeof it->detail, "%.150s", spry_message(ctx));
        return SPRY_STATUS_BAD_INPUT;
    }
    if (solver->asked.matrix && dist_check_values(solver->asked.matrix) != SPRY_STATUS_OK) {
        snprintf(it->detail, sizeof it->detail, "%.150s", spry_message(ctx));
        return SPRY_STATUS_BAD_INPUT;
    }
    if (!verdict_name_culprit(it))
        snprintf(
            it->detail, sizeof it->detail,
            "|b - A x| / |b| of the first guess is beyond the range of the type: begin with x = "
            "0, or scale the system");
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s", it->detail);
}

/* Norm of b, scaling, the first residual; a zero b is solved by zero. */
static spry_status begin(spry_solver *solver, iteration *it, int index)
{
    spry_context *ctx = it->ctx;
    spry_status status = SPRY_STATUS_OK;
    double first;
    SPRY_GO(ctx, solver_agree(solver, start(solver, it, index)));
    SPRY_GO(ctx, null_space_begin(solver, it));
    SPRY_GO(ctx, iteration_first_norms(it, &first));
    if (it->b_norm == 0) { /* the answer is 0, and no relative residual exists */
        SPRY_GO(ctx, spry_vector_fill(it->x, (spry_scalar){0, 0}));
        it->reason = SPRY_REASON_CONVERGED;
        it->history[0] = it->residual = it->initial = it->truth = 0;
        it->ended = true;
        goto done;
    }
    if (vector_all(it->x) == 0 && isfinite(it->b_norm)) { /* the only x is the best */
        it->reason = SPRY_REASON_CONVERGED;
        it->history[0] = it->residual = it->initial = it->truth = 1;
        it->squares.found = it->ended = true;
        snprintf(it->detail, sizeof it->detail, "to the least-squares solution: A has no columns");
        goto done;
    }
    SPRY_GO(ctx, scale_system(it, &first));
    settle_tol(it);
    first = isfinite(it->b_norm) ? first / it->b_norm : NAN;
    it->residual = it->initial = it->history[0] = isfinite(first) ? first : NAN;
    it->before = it->initial;
    if (!isfinite(first))
        status = refuse_nonfinite(solver, it);
    else
        SPRY_GO(ctx, iteration_keep(it, first));
done:
    return status;
}

static bool all_ended(const iteration *its, int count)
{
    for (int k = 0; k < count; k++)
        if (!its[k].ended)
            return false;
    return true;
}

/* A vector as right-hand sides have it: its array, or its device_memory. */
static void *rhs_memory(const spry_vector *v)
{
    return v->device ? (void *)device_vector_memory(v) : v->data;
}

/* The smallest of all ranks': what it is made of depends on their rows. */
static int64_t agreed_patience(spry_solver *solver)
{
    const int64_t mine = solver_patience(solver);
    double least = (double)mine, most;
    if (solver_ranked(solver) && team_bounds(solver->ctx, (double)mine, &least, &most) != 0)
        return 0;
    return (int64_t)least;
}

/* What a run of all systems together has moved. */
typedef struct run_bytes {
    double all;   /* of all systems */
    int64_t each; /* per iteration of one */
} run_bytes;

/* Runs the attempt at hand, all systems together, until every one has ended with it. */
static spry_status run_attempt(spry_solver *solver, iteration *its, int count, run_bytes *bytes)
{
    spry_context *ctx = solver->ctx;
    runner *r = NULL;
    reformat change = {0};
    spry_status status = SPRY_STATUS_OK;
    int64_t iterations = 0;
    *bytes = (run_bytes){0};
    if (all_ended(its, count))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_agree(solver, solver_runner(solver, count, &r)));
    const int64_t patience = agreed_patience(solver);
    for (int k = 0; k < count; k++) {
        rhs *l = runner_rhs(r, k);
        l->b = rhs_memory(its[k].b);
        l->x = rhs_memory(its[k].x);
        l->product =
            its[k].product_known && !solver->setup.plan->setup.apart ? its[k].spare->data : NULL;
        its[k].product_known = false;
        l->data = &its[k];
        l->report = iteration_report;
        l->limits = iteration_limits;
        l->breakdown = iteration_breakdown;
        l->accept = iteration_accept;
        its[k].runner = r;
        its[k].rhs = l;
        its[k].traits.estimates = solver->setup.plan->estimates;
        its[k].traits.left = solver->setup.plan->setup.use[OPERATOR_L] != USE_NOTHING;
        its[k].traits.coupled = solver->setup.plan->program->block;
        its[k].traits.curable = solver->setup.plan->program->needs[NEED_SYMMETRIC] &&
                                spry_type_is_complex(its[k].A->type);
        iteration_attempt(&its[k], solver_has_next(solver), patience);
    }
    reformat_open(&change, solver, its, count, r);
    while (!all_ended(its, count)) {
        for (int k = 0; k < count; k++)
            its[k].rhs->done = its[k].ended;
        SPRY_GO(ctx, solver_agree(solver, runner_run(r)));
        for (int k = 0; k < count; k++)
            if (!its[k].ended)
                SPRY_GO(ctx, verdict_of_run(&its[k]));
    }
    for (int k = 0; k < count; k++)
        iterations += its[k].count - its[k].pace.began_at + its[k].replay.count;
    bytes->all = (double)runner_bytes(r);
    if (iterations > 0)
        bytes->each = (int64_t)(bytes->all / (double)iterations);
done:
    reformat_close(&change);
    return status;
}

/* Whether a system neither arrived nor was stopped. */
static bool any_failed(const iteration *its, int count)
{
    for (int k = 0; k < count; k++)
        if (its[k].reason != SPRY_REASON_CONVERGED && its[k].reason != SPRY_REASON_STOPPED &&
            its[k].reason != SPRY_REASON_ACCEPTED)
            return true;
    return false;
}

static bool all_converged(const iteration *its, int count)
{
    for (int k = 0; k < count; k++)
        if (its[k].reason != SPRY_REASON_CONVERGED)
            return false;
    return true;
}

/* The attempt at hand has ended: what is to be known of it where x is its own. */
static void note_source(const spry_solver *solver, iteration *it, const run_bytes *bytes)
{
    const attempts *all = &solver->setup.attempts;
    iteration_source *s = &it->from;
    const bool first = !s->method[0];
    s->last = first || it->best.found;
    it->best.found = false;
    if (!s->last)
        return;
    snprintf(s->method, sizeof s->method, "%s", all->method);
    snprintf(s->precon, sizeof s->precon, "%s", all->precon);
    s->setup_seconds = all->setup_seconds;
    s->run_seconds = all->run_seconds;
    s->began_at = it->pace.began_at;
    s->ended_at = it->count;
    s->residual = it->residual;
    s->bytes = bytes->each;
    s->traffic = bytes->all;
    s->reason = it->reason;
    memcpy(s->detail, it->detail, sizeof s->detail);
}

/* The same for all systems, after a run that began at a time. */
static void note_sources(spry_solver *solver, iteration *its, int count, double begin,
                         const run_bytes *bytes)
{
    solver->setup.attempts.run_seconds = base_seconds() - begin;
    for (int k = 0; k < count; k++)
        note_source(solver, &its[k], bytes);
}

/* Where nothing arrived, the last attempt is one of those that were tried. */
static void note_last(spry_solver *solver, const iteration *its, int count)
{
    for (int k = 0; k < count && solver->setup.attempts.tried[0] && solver->setup.plan; k++)
        if (its[k].reason != SPRY_REASON_CONVERGED && its[k].reason != SPRY_REASON_ACCEPTED) {
            solver_note_attempt(solver, &its[k]);
            return;
        }
}

/* Iterations that the attempt at hand would have taken from the first guess on, at its own pace. */
static int64_t count_from_start(const iteration *it)
{
    const double own = (double)(it->count - it->pace.began_at);
    const double all = log(it->initial / it->tol), rest = log(it->pace.began_from / it->tol);
    return (int64_t)ceil(rest > 0 && all > rest ? own * all / rest : own);
}

/* What solved all systems comes first in later solves. */
static void settle(spry_solver *solver, const iteration *its, int count)
{
    const attempts *all = &solver->setup.attempts;
    int64_t most = 0;
    for (int k = 0; k < count; k++) {
        const int64_t own = count_from_start(&its[k]);
        most = own > most ? own : most;
    }
    if (count == 1 && !solver_ranked(solver))
        solver_remember(solver, most, all->setup_seconds + all->run_seconds);
    solver_settle_attempt(solver, most);
}

/* Whether another attempt could do better than how this system has ended: where rounding allows no
 * less only factors could, whose x is polished. */
static bool may_go_on(const spry_solver *solver, const iteration *it)
{
    return it->ended && !it->stop && (!it->at_rounding || solver_has_factors(solver)) &&
           it->count < it->options->max_iter &&
           (it->reason == SPRY_REASON_BREAKDOWN || it->reason == SPRY_REASON_STAGNATED ||
            it->reason == SPRY_REASON_DIVERGED || it->reason == SPRY_REASON_NONFINITE);
}

/* A stop that was asked for outside of an iteration, in what is made for it or done to its x: all
 * that would have gone on end now, with the best x. */
static spry_status stop_all(const spry_solver *solver, iteration *its, int count)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        if (!its[k].ended || may_go_on(solver, &its[k]))
            status = verdict_stop(&its[k]);
    return status;
}

/* Polishes what has ended badly. */
static spry_status polish_all(const spry_solver *solver, iteration *its, int count)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++) {
        status = solver_polish(solver, &its[k]);
        if (status == SPRY_STATUS_INTERRUPTED)
            status = verdict_stop(&its[k]);
    }
    return status;
}

/* The next attempt is set up, for the systems that have not arrived; false: there is none. */
static spry_status next_attempt(spry_solver *solver, iteration *its, int count, bool *stands)
{
    const iteration *late = NULL;
    *stands = false;
    if (solver_interrupted(solver))
        return stop_all(solver, its, count);
    for (int k = 0; k < count; k++)
        if (may_go_on(solver, &its[k])) {
            its[k].at_rounding = false;
            late = &its[k];
        }
    spry_status status = late ? solver_list_rest(solver) : SPRY_STATUS_OK;
    if (!late || status != SPRY_STATUS_OK || !solver_next_attempt(solver, late))
        return status;
    status = solver_make_attempt(solver);
    for (int k = 0; k < count; k++) { /* the old ones are gone */
        its[k].A = solver_operator(solver);
        its[k].M = status == SPRY_STATUS_OK ? solver_precon(solver) : NULL;
    }
    if (status != SPRY_STATUS_OK)
        return solver_ends_attempts(solver, status);
    for (int k = 0; k < count; k++)
        if (may_go_on(solver, &its[k])) {
            const spry_status kept = iteration_keep(&its[k], its[k].truth); /* it may be worse */
            if (kept != SPRY_STATUS_OK)
                return kept;
            its[k].ended = its[k].begun = its[k].drifted = its[k].from_zero = false;
            its[k].before = its[k].squares.gradient = INFINITY;
            its[k].goal = its[k].tol;
            its[k].best.at = its[k].count;
            if (its[k].format_at == NONE)
                its[k].format_at = its[k].count + 1;
        }
    *stands = true;
    return SPRY_STATUS_OK;
}

/* What makes a method unsuitable is looked for where it did not arrive: nothing else depends on it.
 */
static spry_status warn_late(spry_solver *solver, iteration *its, int count)
{
    const size_t before = strlen(solver->setup.warnings);
    const base_kept kept = base_try(solver->ctx);
    spry_status status = solver_check_closer(solver);
    if (status == SPRY_STATUS_NO_MEMORY) { /* the result is complete without */
        base_forgive(solver->ctx, &kept);
        status = SPRY_STATUS_OK;
    }
    const char *text = solver->setup.warnings + before + (before > 0);
    for (int k = 0; k < count && solver->setup.warnings[before]; k++) {
        const size_t used = strlen(its[k].warnings);
        if (its[k].reason != SPRY_REASON_CONVERGED)
            snprintf(its[k].warnings + used, WARNINGS_SIZE - used, "%s%s", used ? "\n" : "", text);
    }
    return status;
}

/* Numbers of A that are not finite show in the first product: where x = 0 needs none, that is one
 * of the iteration's. */
static spry_status check_finite(const spry_solver *solver, iteration *its, int count)
{
    for (int k = 0; k < count; k++)
        if (its[k].from_zero && its[k].reason != SPRY_REASON_CONVERGED && solver->setup.matrix &&
            dist_check_values(solver->setup.matrix) != SPRY_STATUS_OK)
            return refuse_nonfinite(solver, &its[k]);
    return SPRY_STATUS_OK;
}

/* Runs what the solver tries until every system has arrived, or nothing is left to be tried. */
static spry_status run(spry_solver *solver, iteration *its, int count)
{
    spry_context *ctx = solver->ctx;
    run_bytes bytes = {0};
    double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++)
        SPRY_GO(ctx, iteration_report_start(&its[k]));
    for (bool stands = true; stands;) {
        begin = base_seconds();
        solver_note_used(solver);
        SPRY_GO(ctx, run_attempt(solver, its, count, &bytes));
        SPRY_GO(ctx, check_finite(solver, its, count));
        SPRY_GO(ctx, polish_all(solver, its, count));
        note_sources(solver, its, count, begin, &bytes);
        SPRY_GO(ctx, next_attempt(solver, its, count, &stands));
    }
    note_last(solver, its, count);
    for (int k = 0; k < count; k++)
        SPRY_GO(ctx, energy_settle(&its[k]));
    if (any_failed(its, count))
        SPRY_GO(ctx, warn_late(solver, its, count));
    if (all_converged(its, count))
        settle(solver, its, count);
done:
    if (status == SPRY_STATUS_INTERRUPTED) {
        status = stop_all(solver, its, count);
        note_sources(solver, its, count, begin, &bytes);
    }
    return status;
}

/* The caller's vectors, over the same arrays, as the parts of all ranks' that they are. */
typedef struct ranked_vectors {
    spry_vector b, x;
} ranked_vectors;

static void take_parts(iteration *it, ranked_vectors *v)
{
    v->b = *it->b;
    v->b.part = it->A->rows_part;
    v->x = *it->x;
    v->x.part = it->A->cols_part;
    it->b = &v->b;
    it->x = &v->x;
}

/* b and x where the solver works. */
static spry_status bring(spry_solver *solver, int index, const spry_vector *b, spry_vector *x,
                         iteration *it)
{
    const spry_vector *brought;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(solver->ctx, solver_import(solver, b, &solver->run.work.rhs[index].b, &it->b));
    SPRY_GO(solver->ctx, solver_import(solver, x, &solver->run.work.rhs[index].x, &brought));
    it->x = brought == x ? x : solver->run.work.rhs[index].x;
    /* Now, as all ranks agree that it is allocated: others may work on processors and need none. */
    if (it->listener.monitor && it->listener.on_host && it->x->device) {
        SPRY_GO(solver->ctx, spry_vector_new(solver->ctx, it->x->type, it->x->n, NULL,
                                             SPRY_OWN_COPY, &it->listener.shown));
        vector_hold(it->listener.shown);
    }
done:
    return status;
}

/* Systems that are solved together, and what the device had done before. */
typedef struct batch {
    int first, count; /* of the systems of the call */
    const spry_vector *const *b;
    spry_vector *const *x;
    iteration its[SOLVED_TOGETHER];
    ranked_vectors parts[SOLVED_TOGETHER];
    bool brought[SOLVED_TOGETHER]; /* x is worked on elsewhere */
    double began, ran, ended;      /* seconds */
    int64_t iterations;            /* of all systems */
    int64_t done[sizeof((spry_device *)0)->done / sizeof(int64_t)], waits;
} batch;

static void note_device(const spry_device *d, batch *s)
{
    if (d) {
        memcpy(s->done, d->done, sizeof s->done);
        s->waits = d->waits;
    }
}

/* What a solve has asked of a device, for those who look for where time goes. */
static void log_device(const spry_solver *solver, const batch *s)
{
    const spry_device *d = solver->setup.device;
    if (!d || !solver->ctx->log)
        return;
    base_log(solver->ctx, SPRY_LOG_DEBUG,
             "%" PRId64 " iterations on %s: %" PRId64 " launches, %" PRId64 " copies, %" PRId64
             " waits, %" PRId64 " allocations, %" PRId64
             " compilations; %.1f us before the run, %.1f in it, %.1f after",
             s->iterations, d->facts.name, d->done[WORK_LAUNCH] - s->done[WORK_LAUNCH],
             d->done[WORK_COPY] - s->done[WORK_COPY], d->waits - s->waits,
             d->done[WORK_ALLOC] - s->done[WORK_ALLOC],
             d->done[WORK_COMPILE] - s->done[WORK_COMPILE], (s->ran - s->began) * 1e6,
             (s->ended - s->ran) * 1e6, (base_seconds() - s->ended) * 1e6);
}

/* An iteration that has not begun, and vectors where the caller has them. */
static void open_iteration(spry_solver *solver, batch *s, int k)
{
    iteration *it = &s->its[k];
    const bool entries = !solver->asked.operator&& !solver_ranked(solver);
    *it = (iteration){.ctx = solver->ctx,
                      .options = &solver->asked.options,
                      .A = solver_operator(solver),
                      .M = solver_bare_precon(solver),
                      .matrix = entries ? solver->setup.matrix : NULL,
                      .bounds = &solver->setup.bounds,
                      .b = s->b[k],
                      .x = s->x[k],
                      .order = solver->setup.order.matrix ? &solver->setup.order : NULL,
                      .system = s->first + k,
                      .listener = {.monitor = solver->asked.monitor,
                                   .monitor_data = solver->asked.monitor_data,
                                   .watch = solver->asked.watch,
                                   .watch_data = solver->asked.watch_data,
                                   .reporting = &solver->run.reporting,
                                   .on_host = !s->x[k]->device},
                      .residual = NAN,
                      .initial = NAN,
                      .truth = NAN};
    memcpy(it->warnings, solver->setup.warnings, sizeof it->warnings);
    s->brought[k] = false;
}

static void open_batch(spry_solver *solver, int first, int count, const spry_vector *const *b,
                       spry_vector *const *x, batch *s)
{
    s->first = first;
    s->count = count;
    s->b = b;
    s->x = x;
    s->began = s->ran = base_seconds();
    s->iterations = 0;
    note_device(solver->setup.device, s);
    for (int k = 0; k < count; k++)
        open_iteration(solver, s, k);
}

/* All vectors where the solver works, as the parts that they are. */
static spry_status bring_all(spry_solver *solver, batch *s)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < s->count && status == SPRY_STATUS_OK; k++)
        status = bring(solver, k, s->b[k], s->x[k], &s->its[k]);
    status = solver_agree(solver, status);
    for (int k = 0; k < s->count && status == SPRY_STATUS_OK; k++) {
        iteration *it = &s->its[k];
        s->brought[k] = it->x != s->x[k];
        if (solver_ranked(solver))
            take_parts(it, &s->parts[k]);
        if (it->listener.shown) /* which the monitor takes norms of as of x */
            it->listener.shown->part = it->x->part;
    }
    return status;
}

/* x as the caller has it, and its result; `status` is how the solve ended. */
static spry_status hand_back(spry_solver *solver, batch *s, int k, spry_status status,
                             spry_result *result)
{
    iteration *it = &s->its[k];
    spry_result found = SPRY_RESULT_INIT;
    if (it->interrupted && it->reason == SPRY_REASON_STOPPED)
        solver->run.interrupted = true;
    spry_status restored = verdict_hand_back(it);
    if (s->brought[k] && restored == SPRY_STATUS_OK)
        restored = order_get(it->order, it->x, s->x[k]);
    if (status != SPRY_STATUS_OK && it->reason == SPRY_REASON_CONVERGED)
        it->reason = SPRY_REASON_FAILED; /* what would have confirmed it was not done */
    const spry_status filled = result_fill(solver, it, s->ran - s->began, &found);
    if (k == 0) {
        solver->run.setup_seconds += found.setup_seconds;
        solver->run.solve_seconds += found.solve_seconds;
    }
    if (status == SPRY_STATUS_OK)
        status = restored == SPRY_STATUS_OK ? filled : restored;
    if (result)
        base_give(result, &found, &krylov_result_sized);
    else
        spry_result_clear(solver->ctx, &found);
    finish(it);
    return status;
}

/* At most as many systems as share one reading of the matrix, or the spaces of a block method. */
static spry_status solve_some(spry_solver *solver, int first, int count,
                              const spry_vector *const *b, spry_vector *const *x,
                              spry_result *results)
{
    spry_context *ctx = solver->ctx;
    batch s; /* of which the systems alone are used, and cleared */
    spry_status status = SPRY_STATUS_OK;
    open_batch(solver, first, count, b, x, &s);
    SPRY_GO(ctx, bring_all(solver, &s));
    solver_note_used(solver); /* of what is refused before it begins, too */
    for (int k = 0; k < count; k++)
        SPRY_GO(ctx, begin(solver, &s.its[k], k));
    s.ran = base_seconds();
    SPRY_GO(ctx, run(solver, s.its, count));
done:
    if (status == SPRY_STATUS_INTERRUPTED)
        status = stop_all(solver, s.its, count);
    s.ended = base_seconds();
    for (int k = 0; k < count; k++)
        s.iterations += s.its[k].count;
    solver->setup.multiplied += (double)s.iterations;
    for (int k = 0; k < count; k++)
        status = hand_back(solver, &s, k, status, results ? result_at(results, k) : NULL);
    log_device(solver, &s);
    return status;
}

/* No x may be another's x or b. */
static spry_status check_different(spry_context *ctx, int count, const spry_vector *const *b,
                                   spry_vector *const *x)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (i != k && (vector_same(x[i], b[k]) || vector_same(x[i], x[k])))
                return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "x %d and %s %d are the same array", i,
                                 vector_same(x[i], x[k]) ? "x" : "b", k);
    return SPRY_STATUS_OK;
}

static spry_status check_all_vectors(const spry_solver *solver, int count,
                                     const spry_vector *const *b, spry_vector *const *x)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        status = check_vectors(solver, b[k], x[k]);
    return status == SPRY_STATUS_OK ? check_different(solver->ctx, count, b, x) : status;
}

static spry_status solve_all(spry_solver *solver, int count, const spry_vector *const *b,
                             spry_vector *const *x, spry_result *results)
{
    spry_context *ctx = solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    int done = 0;
    solver_begin_attempts(solver);
again:
    status = solver_set_up(solver, count > 0 ? b[0]->device : NULL);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, solver_agree(solver, check_all_vectors(solver, count, b, x)));
    for (int some; done < count; done += some) {
        some = count - done < solver_together(solver->setup.plan)
                   ? count - done
                   : solver_together(solver->setup.plan);
        if (done > 0) /* seconds of these, which are together now */
            solver->run.began = base_seconds();
        if (done > 0) { /* what is set up, unless those before have used up all that can be tried */
            solver_begin_attempts(solver);
            SPRY_GO(ctx, solver_set_up(solver, b[0]->device));
        }
        status = solve_some(solver, done, some, b + done, x + done,
                            results ? result_at(results, done) : NULL);
        if (done + some < count) /* what fails at the end of these, on one rank, ends it on all */
            status = solver_agree(solver, status);
        if (done == 0 && solver_stay(solver, status, b[0]->device != NULL)) {
            for (int k = 0; results && k < some; k++)
                spry_result_clear(ctx, result_at(results, k));
            goto again;
        }
        SPRY_GO(ctx, status);
    }
done:
    if (status == SPRY_STATUS_INTERRUPTED) {
        solver->run.interrupted = true;
        status = SPRY_STATUS_OK;
        for (; results && done < count; done++)
            result_stopped(solver, b[done], x[done], result_at(results, done));
    }
    return status;
}

spry_status spry_solve_many(spry_solver *solver, int count, const spry_vector *const *b,
                            spry_vector *const *x, spry_result *results)
{
    SPRY_NEED(CTX_OF(solver), solver);
    spry_status status = SPRY_STATUS_OK;
    if (count < 0)
        return SPRY_FAIL(solver->ctx, SPRY_STATUS_BAD_USAGE, "%d right-hand sides", count);
    if (results && count > 0)
        status = results_clear(solver->ctx, results, count);
    if (status != SPRY_STATUS_OK)
        return status;
    if (count > 0)
        SPRY_NEED(solver->ctx, b, x);
    for (int k = 0; k < count; k++)
        SPRY_NEED(solver->ctx, b[k], x[k]);
    status = solver_begin(solver);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int k = 0; k < count; k++) {
        vector_hold(b[k]);
        vector_hold(x[k]);
    }
    solver->run.began = base_seconds() - solver->setup.updated_seconds; /* which it counts in */
    solver->run.setup_seconds = solver->run.solve_seconds = 0;
    solver_expect(solver, count);
    status = solver_check_alike(solver, count);
    const team_counts before = solver->ctx->team ? solver->ctx->team->counts : (team_counts){0};
    if (status == SPRY_STATUS_OK)
        status = solver_agree(solver, solve_all(solver, count, b, x, results));
    if (status == SPRY_STATUS_OK)
        status = solver_report_ranks(solver, &before);
    for (int k = 0; k < count; k++) {
        vector_let_go(b[k]);
        vector_let_go(x[k]);
    }
    solver_end(solver, status);
    return status;
}

spry_status spry_solve(spry_solver *solver, const spry_vector *b, spry_vector *x,
                       spry_result *result)
{
    return spry_solve_many(solver, 1, &b, &x, result);
}
