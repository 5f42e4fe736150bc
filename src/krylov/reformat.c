/* See reformat.h. */
#include "krylov/reformat.h"

#include "choose/tune.h"
#include "krylov/solver.h"

/* What is much longer than was guessed; and where the guess was next to nothing, iterations from
 * which on a format pays. */
enum { MUCH = 4, LEAST = MUCH * TUNE_FEW_PRODUCTS };

/* Iterations after which the other format is begun; 0: none are. */
static int64_t begins_after(int64_t products)
{
    const int64_t most = INT64_MAX / (4 * MUCH);
    return products < 0 || products > most ? 0 : MUCH * products > LEAST ? MUCH * products : LEAST;
}

int64_t reformat_takes(int64_t products)
{
    const int64_t begins = begins_after(products);
    return begins + begins / 2;
}

/* --- making -------------------------------------------------------------------------------------
 */

/* By the thread, if there is one: touches nothing of the solver's. */
static void *make(void *data)
{
    reformat *c = data;
    const double begin = base_seconds();
    c->status = SPRY_STATUS_OK;
    if (c->forecast)
        c->status = tune_forecast_later(c->A, c->products, c->rows, c->format);
    if (c->status == SPRY_STATUS_OK && c->format[0] && !spry_context_interrupted(c->ctx, false))
        c->status = host_store(c->A, c->format, &c->made);
    c->seconds = base_seconds() - begin;
    return NULL;
}

/* A context that has what is left of the solver's memory. */
static spry_status open_context(reformat *c, int threads)
{
    spry_context *ctx = c->solver->ctx;
    const int64_t limit = ctx->options.memory_limit, left = limit - ctx->memory_now;
    char options[96];
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "threads=%d memory-limit=%" PRId64, threads,
             limit == 0 ? 0
             : left > 1 ? left
                        : 1);
    SPRY_GO(ctx, context_new(NULL, &ctx->allocator, options, &c->ctx));
    c->ctx->meminfo = ctx->meminfo;
    SPRY_GO(ctx, matrix_view(c->ctx, c->solver->setup.matrix, &c->A));
done:
    return status;
}

static void close_context(reformat *c)
{
    layout_free(c->made.L);
    c->made.L = NULL;
    spry_matrix_free(c->A);
    c->A = NULL;
    if (c->ctx)
        base_take_memory(c->solver->ctx, c->ctx); /* how much it was at most */
    spry_context_free(c->ctx);
    c->ctx = NULL;
}

static void join(reformat *c)
{
    if (c->threaded)
        pthread_join(c->thread, NULL);
    c->threaded = false;
}

static void begin(reformat *c)
{
    const spry_context *ctx = c->solver->ctx;
    c->state = REFORMAT_MAKING;
    if (base_allocates_anywhere(ctx) && open_context(c, 1) == SPRY_STATUS_OK)
        c->threaded = base_start_thread(&c->thread, make, c);
    if (!c->threaded)
        close_context(c);
}

/* --- taking -------------------------------------------------------------------------------------
 */

/* Why the format stays, for those who look. */
static void stay(reformat *c, const char *why)
{
    base_log(c->solver->ctx, SPRY_LOG_INFO, "the format stays: %.200s", why);
    c->state = REFORMAT_OFF;
    c->solver->setup.later.by = LATER_NOTHING;
}

/* What was made, by the solver's context, as an operator. */
static spry_status wrap(reformat *c)
{
    spry_context *ctx = c->solver->ctx;
    host_stored made = c->made;
    c->made.L = NULL;
    spry_matrix_free(c->A);
    c->A = NULL;
    base_take_memory(ctx, c->ctx);
    return host_stored_operator(c->solver->setup.matrix, c->format, &made, &c->other);
}

/* The runner goes on with one of the two operators, which is the solver's then. */
static spry_status exchange(reformat *c, spry_operator *to)
{
    const spry_status status = runner_exchange(c->runner, to);
    if (status != SPRY_STATUS_OK)
        return status;
    c->solver->setup.own_operator = to;
    for (int k = 0; k < c->count; k++)
        c->its[k].A = to;
    return SPRY_STATUS_OK;
}

static void note_change(reformat *c)
{
    spry_solver *solver = c->solver;
    solver->setup.later.by = LATER_NOTHING;
    solver->setup.plain = false;
    reformat_name(c->old, solver->setup.later.before, sizeof solver->setup.later.before);
    for (int k = 0; k < c->count; k++)
        c->its[k].format_at = NONE; /* of those that have ended by now */
    c->state = REFORMAT_READY;
}

static void take(reformat *c, int64_t done)
{
    spry_context *ctx = c->solver->ctx;
    spry_status status = SPRY_STATUS_OK;
    const double begun = base_seconds();
    if (c->threaded) {
        join(c);
    } else {
        SPRY_GO(ctx, open_context(c, spry_context_threads(ctx)));
        make(c);
    }
    const double waited = base_seconds() - begun;
    SPRY_GO(ctx, c->status);
    if (!c->made.L || !c->made.L->exact) {
        stay(c, c->made.L ? "the other one would round values" : "none is forecast to be faster");
        goto done;
    }
    SPRY_GO(ctx, wrap(c));
    c->old = c->solver->setup.own_operator;
    SPRY_GO(ctx, exchange(c, c->other));
    note_change(c);
    base_log(ctx, SPRY_LOG_INFO,
             "format %s after %" PRId64 " iterations; the solve was estimated at %" PRId64
             " products; built in %.2g s, waited %.2g s",
             c->format, done, c->solver->setup.later.products, c->seconds, waited);
done:
    if (status != SPRY_STATUS_OK) {
        spry_operator_free(c->other);
        c->other = NULL;
        stay(c, c->ctx && c->ctx->message[0] ? c->ctx->message : spry_message(ctx));
    }
    close_context(c);
}

/* --- in the course ------------------------------------------------------------------------------
 */

static bool goes_on(const iteration *it)
{
    return !it->ended && !it->rhs->done;
}

/* Iterations of the system that has had most of this attempt: the same in every run. */
static int64_t iterations_done(const reformat *c)
{
    int64_t most = 0;
    for (int k = 0; k < c->count; k++) {
        const int64_t done = c->its[k].count - c->its[k].pace.began_at;
        if (goes_on(&c->its[k]) && done > most)
            most = done;
    }
    return most;
}

/* Whether the end is too near for another format to be made and to pay, as residuals fall. */
static bool ends_soon(const reformat *c)
{
    for (int k = 0; k < c->count; k++)
        if (goes_on(&c->its[k]) && !(iteration_to_come(&c->its[k]) < (double)c->begin_at))
            return false;
    return true;
}

/* A run that is repeated has the format that it had. */
static void go_on(reformat *c)
{
    const int64_t done = iterations_done(c);
    if (c->state == REFORMAT_WAITING && done >= c->begin_at && !ends_soon(c)) {
        c->take_at = done + c->begin_at / 2;
        begin(c);
    }
    if (c->state == REFORMAT_MAKING && done >= c->take_at)
        take(c, done);
    if (c->state != REFORMAT_READY)
        return;
    spry_operator *wanted = done >= c->take_at ? c->other : c->old;
    if (wanted !=
        c->solver->setup.own_operator) /* where that fails it goes on with the one it has */
        (void)exchange(c, wanted);
    for (int k = 0; k < c->count && wanted == c->other; k++)
        if (c->its[k].format_at == NONE && goes_on(&c->its[k]))
            c->its[k].format_at = c->its[k].count + 1;
}

/* Whatever fails in a step, nothing failed for the caller. */
static void quietly(reformat *c, void (*step)(reformat *c))
{
    spry_context *ctx = c->solver->ctx;
    const base_kept before = base_try(ctx);
    ctx->message[0] = '\0';
    step(c);
    base_forgive(ctx, &before);
}

static void hear_turn(void *data)
{
    reformat *c = data;
    if (c->state != REFORMAT_OFF)
        quietly(c, go_on);
}

/* Programs of devices are made for a format, ranks would have to agree, and products with A^T need
 * another one of these. */
static bool may_change(const spry_solver *solver)
{
    return solver->asked.options.reformat && solver->setup.later.by != LATER_NOTHING &&
           solver->setup.own_operator && !solver->setup.device && !solver_ranked(solver) &&
           !solver->setup.plan->program->uses_transpose &&
           solver->asked.options.max_iter > reformat_takes(solver->setup.later.products) &&
           begins_after(solver->setup.later.products) > 0;
}

void reformat_open(reformat *c, spry_solver *solver, iteration *its, int count, runner *r)
{
    *c = (reformat){.solver = solver, .its = its, .count = count, .runner = r};
    if (!may_change(solver))
        return;
    c->state = REFORMAT_WAITING;
    c->begin_at = begins_after(solver->setup.later.products);
    c->take_at = reformat_takes(solver->setup.later.products);
    c->products = c->take_at; /* as many again as it has had */
    c->forecast = solver->setup.later.by == LATER_FORECAST;
    c->rows = solver->setup.plan->setup.use[OPERATOR_A] == USE_ROWS;
    memcpy(c->format, solver->setup.later.format, sizeof c->format);
    runner_set_turn(r, hear_turn, c);
}

/* One of the two operators goes: the old one, unless a run that was repeated has ended with it and
 * there is no room for a change. */
static void keep_one(reformat *c)
{
    if (c->solver->setup.own_operator != c->other)
        (void)exchange(c, c->other);
    spry_operator_free(c->solver->setup.own_operator == c->other ? c->old : c->other);
}

void reformat_close(reformat *c)
{
    if (!c->solver || c->begin_at == 0)
        return;
    runner_set_turn(c->runner, NULL, NULL);
    if (c->threaded) { /* the solve has ended before it was to be taken */
        spry_context_interrupt(c->ctx);
        join(c);
    }
    close_context(c);
    if (c->state == REFORMAT_READY)
        quietly(c, keep_one);
    c->state = REFORMAT_OFF;
}

void reformat_name(const spry_operator *A, char *text, size_t size)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    if (!A->class->stored.storage || spry_operator_storage(A, &storage) != SPRY_STATUS_OK)
        snprintf(text, size, "%s", A->class->name);
    else
        snprintf(text, size, "%s%s%s", storage.format, storage.options[0] ? ":" : "",
                 storage.options);
}

void reformat_describe(const spry_solver *solver, const iteration *it, char *text, size_t size)
{
    char now[REFORMAT_SPEC];
    const int64_t before = it->from.began_at; /* iterations of other attempts */
    reformat_name(it->A, now, sizeof now);
    if (it->format_at == 0 || (before > 0 && it->format_at != NONE && it->format_at <= before + 1))
        snprintf(text, size, "%s", now);
    else if (it->format_at == NONE || it->format_at > it->from.ended_at)
        snprintf(text, size, "%s", solver->setup.later.before);
    else
        snprintf(text, size, "%s, then %s from iteration %" PRId64, solver->setup.later.before, now,
                 it->format_at - before);
}
