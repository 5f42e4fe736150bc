/*
 * Parareal. J.-L. Lions, Y. Maday, G. Turinici, C. R. Acad. Sci. Paris 332 (2001) 661-668; its cost
 * by S. L. Glimberg et al., in R. Couturier (ed.), Designing Scientific Applications on GPUs
 * (2013), chapter 6.
 *
 *     U_0 = u;  U_(n+1) = G(U_n)                                  a coarse run through all slices
 *     loop:  f_n = F(U_n)                                         all slices at once
 *            U_(n+1) = f_n + (G(U_n) - G(old U_n))                in turn
 *
 * Written so, the difference of the two G is 0 where U_n does not change any more, and U_(n+1) is
 * f_n to the bit: after k iterations the first k slices have ended as the fine run has, and they
 * are not run again.
 */
#include "base/team.h"
#include "grid/options.h"
#include "grid/time/time.h"
#include "krylov/krylov.h"

#include <pthread.h>

#define PARAREAL_OPTIONS(item)                                                                  \
    item(INT, slices, "0", 0, 1e6, NULL, "of time; 0: one for each worker of all ranks")        \
    item(REAL, tol, "1e-6", 0, 1, NULL,                                                         \
         "change of the ends of slices, relative, at which it stops; 0: as many iterations as " \
         "there are slices, unless nothing changes")                                            \
    item(INT, max_iter, "0", 0, 1e6, NULL,                                                      \
         "iterations at most; 0: as many as there are slices, "                                 \
         "more are never needed")                                                               \
    item(BOOL, compare, "no", 0, 0, NULL,                                                       \
         "make the fine run, too, one slice after the other, and compare time and u")

typedef struct parareal_options {
    PARAREAL_OPTIONS(SPRY_OPTION_FIELD)
} parareal_options;
SPRY_OPTION_TABLE(rows, parareal_options, PARAREAL_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list parareal_option_list(void)
{
    return list;
}

/* A slice of time; its vectors are of its worker's context. */
typedef struct slice {
    double t, end_t;
    int worker;
    spry_vector *start, *fine, *coarse, *end;
} slice;

/* What took how long. */
typedef struct clocks {
    double coarse, fine; /* seconds */
    double coarse_runs, fine_runs;
} clocks;

typedef struct parareal {
    spry_context *ctx;
    parareal_options o;
    int workers;
    spry_stepper *const *coarse, *const *fine;
    spry_vector *u;
    double t, end;
    int count;     /* of slices, of all ranks */
    range mine;    /* of them on this rank */
    slice *slices; /* those of this rank */
    void *edge;    /* a u on the host, to go from one context or rank to another */
    int iteration;
    double change; /* of this rank in this iteration */
    clocks clocks;
} parareal;

static double time_of(const parareal *p, int64_t n)
{
    return n == p->count ? p->end : p->t + (double)n * ((p->end - p->t) / p->count);
}

static slice *slice_at(const parareal *p, int64_t n)
{
    return &p->slices[n - p->mine.begin];
}

static int64_t bytes_of(const spry_vector *v)
{
    return v->n * (int64_t)spry_type_size(v->type);
}

static spry_status take_edge(const parareal *p, const spry_vector *from)
{
    if (from->class)
        return from->class->get(from, p->edge);
    memcpy(p->edge, from->data, (size_t)bytes_of(from));
    return SPRY_STATUS_OK;
}

static spry_status put_edge(const parareal *p, spry_vector *to)
{
    if (to->class)
        return to->class->put(to, p->edge);
    memcpy(to->data, p->edge, (size_t)bytes_of(to));
    return SPRY_STATUS_OK;
}

/* to = from, of any contexts. */
static spry_status hand_over(const parareal *p, const spry_vector *from, spry_vector *to)
{
    if (from->ctx == to->ctx)
        return spry_vector_copy(from, to);
    const spry_status status = take_edge(p, from);
    return status == SPRY_STATUS_OK ? put_edge(p, to) : status;
}

/* A failure in a worker's context, reported by the caller's. */
static spry_status worker_status(const parareal *p, const slice *s, spry_context *worker,
                                 spry_status status)
{
    if (status == SPRY_STATUS_OK)
        return status;
    const char *text = spry_message(worker);
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", text);
    return SPRY_FAIL(p->ctx, status, "slice from t = %g to %g: %s", s->t, s->end_t, message);
}

/* x = G(from) or F(from), timed. */
static spry_status run_slice(spry_stepper *stepper, const slice *s, const spry_vector *from,
                             spry_vector *x, double *seconds)
{
    const double begun = base_seconds();
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    spry_status status = spry_vector_copy(from, x);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_run(stepper, s->t, s->end_t, x, &stats);
    if (status == SPRY_STATUS_OK && stats.stopped)
        status = SPRY_FAIL(stepper->ctx, SPRY_STATUS_INTERRUPTED, "stopped at t = %g", stats.t);
    double norm; /* a device has ended then */
    if (status == SPRY_STATUS_OK)
        status = spry_vector_norm(x, &norm);
    *seconds += base_seconds() - begun;
    return status;
}

/* --- all at once ---------------------------------------------------------------------------------
 */

typedef struct worker {
    const parareal *p;
    int index;
    spry_status status;
    const slice *at; /* where it failed */
    double seconds;
    int64_t runs;
} worker;

static void *work(void *data)
{
    worker *w = data;
    const parareal *p = w->p;
    const int64_t first = p->iteration - 1;
    for (int64_t n = p->mine.begin; n < p->mine.end && w->status == SPRY_STATUS_OK; n++) {
        slice *s = slice_at(p, n);
        if (s->worker != w->index || n < first)
            continue;
        w->at = s;
        w->runs++;
        w->status = run_slice(p->fine[w->index], s, s->start, s->fine, &w->seconds);
    }
    return NULL;
}

/* The fine run of this rank's slices that may still change; the calling thread is one of the
 * workers, and does what has no thread. */
static spry_status run_fine(parareal *p, worker *workers, pthread_t *threads)
{
    int started = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int w = 0; w < p->workers; w++)
        workers[w] = (worker){.p = p, .index = w};
    while (started + 1 < p->workers &&
           pthread_create(&threads[started + 1], NULL, work, &workers[started + 1]) == 0)
        started++;
    work(&workers[0]);
    for (int w = 1; w < p->workers; w++) {
        if (w <= started)
            pthread_join(threads[w], NULL);
        else
            work(&workers[w]);
    }
    for (int w = 0; w < p->workers; w++) {
        p->clocks.fine += workers[w].seconds;
        p->clocks.fine_runs += (double)workers[w].runs;
        if (status == SPRY_STATUS_OK)
            status = worker_status(p, workers[w].at, p->fine[w]->ctx, workers[w].status);
    }
    return status;
}

/* --- in turn -------------------------------------------------------------------------------------
 */

/* The end of a slice after the first coarse run, with its start. */
static spry_status begin_slice(parareal *p, slice *s)
{
    spry_stepper *coarse = p->coarse[s->worker];
    spry_status status = run_slice(coarse, s, s->start, s->coarse, &p->clocks.coarse);
    p->clocks.coarse_runs++;
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(s->coarse, s->end);
    return worker_status(p, s, coarse->ctx, status);
}

static spry_status measure_change(parareal *p, const spry_vector *before, const spry_vector *now)
{
    spry_vector *difference = NULL;
    double size = 0, change = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(now->ctx, spry_vector_like(now, now->n, &difference));
    SPRY_GO(now->ctx, spry_vector_copy(now, difference));
    SPRY_GO(now->ctx, spry_vector_axpy((spry_scalar){-1, 0}, before, difference));
    SPRY_GO(now->ctx, spry_vector_norm(difference, &change));
    SPRY_GO(now->ctx, spry_vector_norm(now, &size));
    if (change > 0)
        p->change = fmax(p->change, size > 0 ? change / size : INFINITY);
done:
    spry_vector_free(difference);
    return status;
}

/* end = fine + (G(start) - old G); the fine end itself where start was the last iteration's. */
static spry_status correct_slice(parareal *p, slice *s, bool changed)
{
    spry_stepper *stepper = p->coarse[s->worker];
    spry_context *ctx = stepper->ctx;
    spry_vector *g = NULL, *end = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_like(s->end, s->end->n, &end));
    if (changed) {
        SPRY_GO(ctx, spry_vector_like(s->end, s->end->n, &g));
        SPRY_GO(ctx, run_slice(stepper, s, s->start, g, &p->clocks.coarse));
        p->clocks.coarse_runs++;
        SPRY_GO(ctx, spry_vector_copy(g, end));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){-1, 0}, s->coarse, end));
        SPRY_GO(ctx, spry_vector_axpy((spry_scalar){1, 0}, s->fine, end));
        SPRY_GO(ctx, spry_vector_copy(g, s->coarse));
    } else {
        SPRY_GO(ctx, spry_vector_copy(s->fine, end));
    }
    SPRY_GO(ctx, measure_change(p, s->end, end));
    SPRY_GO(ctx, spry_vector_copy(end, s->end));
done:
    spry_vector_free(g);
    spry_vector_free(end);
    return worker_status(p, s, ctx, status);
}

/* This rank's turn: `edge` comes as the end of the slice before, and goes as that of its last. */
static spry_status take_turn(parareal *p)
{
    const int64_t done = p->iteration - 1; /* slices that have ended for good */
    spry_status status = SPRY_STATUS_OK;
    for (int64_t n = p->mine.begin; n < p->mine.end; n++) {
        slice *s = slice_at(p, n);
        const bool changed = n > done || p->iteration == 0;
        if (n < done)
            continue;
        if (n > p->mine.begin && changed)
            SPRY_GO(p->ctx, hand_over(p, slice_at(p, n - 1)->end, s->start));
        else if (n > 0 && changed)
            SPRY_GO(p->ctx, put_edge(p, s->start));
        SPRY_GO(p->ctx, p->iteration == 0 ? begin_slice(p, s) : correct_slice(p, s, changed));
    }
    SPRY_GO(p->ctx, take_edge(p, slice_at(p, p->mine.end - 1)->end));
done:
    return status;
}

/* All ranks in turn. Whose slices have all ended hands nothing on, as no rank waits for it. */
static spry_status take_turns(parareal *p)
{
    const int ranks = team_ranks(p->ctx), me = team_rank(p->ctx);
    spry_status mine = SPRY_STATUS_OK, status = SPRY_STATUS_OK;
    p->change = 0;
    for (int r = 0; r < ranks; r++) {
        const range of = base_share(p->count, ranks, r, 1);
        int failed = 0;
        if (of.begin == of.end || of.end < p->iteration)
            continue;
        if (r == me) {
            mine = take_turn(p);
            failed = mine != SPRY_STATUS_OK;
        }
        SPRY_GO(p->ctx, team_share(p->ctx, r, &failed, sizeof failed));
        if (failed)
            break;
        SPRY_GO(p->ctx, team_share(p->ctx, r, p->edge, bytes_of(p->u)));
    }
    status = team_agree(p->ctx, mine);
done:
    return status;
}

/* --- the course ----------------------------------------------------------------------------------
 */

static spry_status check_steppers(const parareal *p)
{
    if (p->workers < 1)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "%d workers, expected 1 or more",
                         p->workers);
    for (int w = 0; w < p->workers; w++) {
        if (!p->coarse[w] || !p->fine[w] || p->coarse[w]->ctx != p->fine[w]->ctx)
            return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                             "worker %d: expected a coarse and a fine stepper of one context", w);
        for (int v = 0; v < w; v++)
            if (p->coarse[v]->ctx == p->coarse[w]->ctx)
                return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                                 "workers %d and %d have the same context; each needs its own", v,
                                 w);
    }
    if (p->coarse[0]->ctx != p->ctx)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "the first worker's steppers and u are of different contexts");
    if (p->u->part.is)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_UNSUPPORTED,
                         "u is distributed over ranks; with parareal each rank has all of it, and "
                         "slices of time");
    if (!isfinite(p->t) || !isfinite(p->end) || !(p->end > p->t))
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "slices from %g to %g, expected finite times and an end after the "
                         "beginning",
                         p->t, p->end);
    return SPRY_STATUS_OK;
}

/* u's like in a worker's context; on a device, the same one as that context has opened it. */
static spry_status like_u(const parareal *p, int w, spry_vector **v)
{
    spry_context *ctx = p->coarse[w]->ctx;
    spry_device *device = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (ctx == p->ctx)
        return spry_vector_like(p->u, p->u->n, v);
    if (p->u->device)
        status = spry_device_open(ctx, place_name(p->u->device), &device);
    return status == SPRY_STATUS_OK ? vector_new_at(ctx, device, p->u->type, p->u->n, v) : status;
}

static spry_status make_slices(parareal *p)
{
    const int64_t mine = p->mine.end - p->mine.begin;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, base_calloc(p->ctx, mine, sizeof *p->slices, &p->slices));
    SPRY_GO(p->ctx, base_alloc(p->ctx, p->u->n, spry_type_size(p->u->type), &p->edge));
    for (int64_t n = p->mine.begin; n < p->mine.end; n++) {
        slice *s = slice_at(p, n);
        spry_vector **const vectors[] = {&s->start, &s->fine, &s->coarse, &s->end};
        s->t = time_of(p, n);
        s->end_t = time_of(p, n + 1);
        s->worker = base_share_of(mine, p->workers, n - p->mine.begin, 1);
        for (int i = 0; i < 4; i++)
            SPRY_GO(p->ctx, worker_status(p, s, p->coarse[s->worker]->ctx,
                                          like_u(p, s->worker, vectors[i])));
    }
    if (p->mine.begin == 0 && mine > 0)
        SPRY_GO(p->ctx, hand_over(p, p->u, p->slices[0].start));
done:
    return status;
}

static void free_slices(parareal *p)
{
    for (int64_t n = 0; p->slices && n < p->mine.end - p->mine.begin; n++) {
        const slice *s = &p->slices[n];
        spry_vector_free(s->start);
        spry_vector_free(s->fine);
        spry_vector_free(s->coarse);
        spry_vector_free(s->end);
    }
    base_free(p->ctx, p->slices);
    base_free(p->ctx, p->edge);
}

static spry_status iterate(parareal *p, spry_result *result)
{
    const int most = p->o.max_iter > 0 && p->o.max_iter < p->count ? (int)p->o.max_iter : p->count;
    worker *workers = NULL;
    pthread_t *threads = NULL;
    double least = 0;
    spry_status status = base_alloc(p->ctx, p->workers, sizeof *workers, &workers);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(p->ctx, p->workers, sizeof *threads, &threads);
    SPRY_GO(p->ctx, team_agree(p->ctx, status));
    SPRY_GO(p->ctx, take_turns(p));
    while (!result->converged && result->iterations < most) {
        p->iteration = (int)++result->iterations;
        SPRY_GO(p->ctx, team_agree(p->ctx, run_fine(p, workers, threads)));
        SPRY_GO(p->ctx, take_turns(p));
        SPRY_GO(p->ctx, team_bounds(p->ctx, p->change, &least, &result->residual));
        result->converged = result->residual <= p->o.tol || result->iterations == p->count;
        base_log(p->ctx, SPRY_LOG_INFO, "parareal: iteration %d, change %.2e", p->iteration,
                 result->residual);
    }
    result->reason = result->converged ? SPRY_REASON_CONVERGED : SPRY_REASON_ITERATIONS;
done:
    base_free(p->ctx, workers);
    base_free(p->ctx, threads);
    return status;
}

/* The fine run on the first rank, from u as it was. */
static spry_status compare(parareal *p, const spry_vector *before, spry_parareal_stats *stats)
{
    spry_vector *x = NULL, *y = NULL;
    double shared[2] = {0, 0}, size = 0, difference = 0, seconds = 0;
    spry_status status = SPRY_STATUS_OK;
    if (team_rank(p->ctx) > 0)
        goto done;
    SPRY_GO(p->ctx, spry_vector_like(before, before->n, &x));
    SPRY_GO(p->ctx, spry_vector_like(before, before->n, &y));
    SPRY_GO(p->ctx, spry_vector_copy(before, x));
    for (int64_t n = 0; n < p->count; n++) {
        const slice s = {.t = time_of(p, n), .end_t = time_of(p, n + 1)};
        SPRY_GO(p->ctx, run_slice(p->fine[0], &s, x, y, &seconds));
        spry_vector *other = x;
        x = y;
        y = other;
    }
    SPRY_GO(p->ctx, spry_vector_norm(x, &size));
    SPRY_GO(p->ctx, spry_vector_axpy((spry_scalar){-1, 0}, p->u, x));
    SPRY_GO(p->ctx, spry_vector_norm(x, &difference));
    shared[0] = seconds;
    shared[1] = difference > 0 ? difference / size : 0;
done:
    spry_vector_free(x);
    spry_vector_free(y);
    status = team_agree(p->ctx, status);
    if (status == SPRY_STATUS_OK)
        status = team_share(p->ctx, 0, shared, sizeof shared);
    stats->serial_seconds = shared[0];
    stats->difference = shared[1];
    return status;
}

/* The cost model: (k + 1) coarse runs of all slices in turn, k fine ones of a worker's share. */
static spry_status sum_up(parareal *p, const spry_result *result, spry_parareal_stats *stats)
{
    const int ranks = team_ranks(p->ctx);
    clocks *all = NULL, sum = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, team_agree(p->ctx, base_calloc(p->ctx, ranks, sizeof *all, &all)));
    SPRY_GO(p->ctx, team_gather(p->ctx, &p->clocks, sizeof p->clocks, all));
    for (int r = 0; r < ranks; r++) {
        sum.coarse += all[r].coarse;
        sum.coarse_runs += all[r].coarse_runs;
        sum.fine += all[r].fine;
        sum.fine_runs += all[r].fine_runs;
    }
    const double n = p->count, k = (double)result->iterations;
    const double share = ceil(n / stats->workers);
    stats->coarse_seconds = sum.coarse / sum.coarse_runs;
    stats->fine_seconds = sum.fine_runs > 0 ? sum.fine / sum.fine_runs : 0;
    stats->ratio = stats->fine_seconds / stats->coarse_seconds;
    stats->model_speedup = n * stats->fine_seconds /
                           ((k + 1) * n * stats->coarse_seconds + k * share * stats->fine_seconds);
    if (stats->serial_seconds > 0)
        stats->speedup = stats->serial_seconds / result->solve_seconds;
done:
    base_free(p->ctx, all);
    return status;
}

/* What ranks decide by: where it differed they would wait for each other. */
static spry_status check_alike(const parareal *p)
{
    const struct {
        const char *name;
        double mine;
    } facts[] = {{"workers", p->workers},
                 {"slices", (double)p->o.slices},
                 {"tol", p->o.tol},
                 {"max-iter", (double)p->o.max_iter},
                 {"compare", p->o.compare},
                 {"the beginning", p->t},
                 {"the end", p->end},
                 {"elements of u", (double)p->u->n},
                 {"bytes of an element", (double)spry_type_size(p->u->type)}};
    spry_status status = SPRY_STATUS_OK;
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        double least = 0, most = 0;
        SPRY_GO(p->ctx, team_bounds(p->ctx, facts[k].mine, &least, &most));
        if (least != most)
            return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                             "%s: ranks have %g to %g; expected the same of all", facts[k].name,
                             least, most);
    }
done:
    return status;
}

static spry_status set_up(parareal *p, const char *options, spry_parareal_stats *stats)
{
    const int ranks = team_ranks(p->ctx);
    spry_status status = options_take(p->ctx, list, &p->o, options);
    if (status == SPRY_STATUS_OK)
        status = check_steppers(p);
    SPRY_GO(p->ctx, team_agree(p->ctx, status));
    SPRY_GO(p->ctx, check_alike(p));
    stats->workers = p->workers * ranks;
    p->count = p->o.slices > 0 ? (int)p->o.slices : stats->workers;
    p->mine = base_share(p->count, ranks, team_rank(p->ctx), 1);
    stats->slices = p->count;
    SPRY_GO(p->ctx, team_agree(p->ctx, make_slices(p)));
done:
    return status;
}

static const base_sized sized = BASE_SIZED(spry_parareal_stats, difference);

spry_status spry_parareal(int workers, spry_stepper *const *coarse, spry_stepper *const *fine,
                          double t, double end, spry_vector *u, const char *options,
                          spry_result *result, spry_parareal_stats *stats)
{
    SPRY_NEED(CTX_OF(u), coarse, fine, u);
    parareal p = {.ctx = u->ctx,
                  .workers = workers,
                  .coarse = coarse,
                  .fine = fine,
                  .u = u,
                  .t = t,
                  .end = end};
    spry_parareal_stats found = {0};
    spry_result outcome = {.type = u->type, .rows = u->n, .cols = u->n};
    spry_vector *before = NULL;
    spry_status status = stats ? base_blank(u->ctx, stats, &sized) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK && result)
        status = base_blank(u->ctx, result, &krylov_result_sized);
    if (status != SPRY_STATUS_OK)
        return status;
    SPRY_GO(p.ctx, set_up(&p, options, &found));
    if (p.o.compare) {
        status = spry_vector_like(u, u->n, &before);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(u, before);
        SPRY_GO(p.ctx, team_agree(p.ctx, status));
    }
    const double begun = base_seconds();
    SPRY_GO(p.ctx, iterate(&p, &outcome));
    SPRY_GO(p.ctx, team_agree(p.ctx, put_edge(&p, u)));
    outcome.solve_seconds = base_seconds() - begun;
    outcome.true_residual = outcome.residual;
    outcome.tolerance = p.o.tol;
    if (before)
        SPRY_GO(p.ctx, compare(&p, before, &found));
    SPRY_GO(p.ctx, sum_up(&p, &outcome, &found));
done:
    spry_vector_free(before);
    free_slices(&p);
    if (result)
        base_give(result, &outcome, &krylov_result_sized);
    if (stats)
        base_give(stats, &found, &sized);
    return status;
}
