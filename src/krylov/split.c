/* The course of a solve by splitting: see split.h. */
#include "krylov/split.h"

#include "krylov/krylov.h"

#include <math.h>
#include <private/programs.h>
#include <sched.h>

SPRY_OPTION_TABLE(rows, split_options, SPLIT_OPTIONS(SPRY_OPTION_ROW))

spry_option_list split_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(rows);
}

/* What all know of each other after a check. */
typedef struct standing {
    double square, idle, seconds;
    int64_t iterations;
    int32_t end, spare;
} standing;

static bool is_over(const split *p)
{
    return p->end != SPRY_REASON_COUNT;
}

/* Reasons to stop that a rank sees by itself. */
static void watch(split *p)
{
    if (is_over(p))
        return;
    if (p->failed != SPRY_STATUS_OK)
        p->end = SPRY_REASON_FAILED;
    else if (!isfinite(p->square))
        p->end = SPRY_REASON_NONFINITE;
    else if (p->square > 1e20 * p->scale * p->scale)
        p->end = SPRY_REASON_DIVERGED;
    else if (atomic_load(&p->ctx->interrupted))
        p->end = SPRY_REASON_STOPPED;
    else if (p->stats.iterations >= p->o.max_iter)
        p->end = SPRY_REASON_ITERATIONS;
}

/* Fails for the others, too, at the next check. */
static void note_failure(split *p, spry_status status)
{
    if (p->failed == SPRY_STATUS_OK)
        p->failed = status;
    watch(p);
}

/* --- without waiting -----------------------------------------------------------------------------
 */

static spry_status go_freely(split *p)
{
    spry_status status = SPRY_STATUS_OK;
    while (!p->frozen) {
        SPRY_GO(p->ctx, split_listen(p));
        const double begin = base_seconds();
        watch(p); /* a request to stop comes at any time */
        if (!is_over(p) && (p->fresh || !p->small)) {
            spry_status own = split_poll(p);
            watch(p);
            if (own == SPRY_STATUS_OK && !p->small && !is_over(p))
                own = split_improve(p);
            if (own != SPRY_STATUS_OK)
                note_failure(p, own);
        } else { /* there is nothing to do before somebody says something */
            sched_yield();
            p->stats.idle_seconds += base_seconds() - begin;
        }
        SPRY_GO(p->ctx, split_send(p));
        if (team_rank(p->ctx) == 0 && p->o.switch_every > 0 &&
            p->stats.iterations >= p->since_switch + p->o.switch_every &&
            !is_over(p)) { /* all come to a check */
            SPRY_GO(p->ctx, split_freeze(p));
            break;
        }
        SPRY_GO(p->ctx, split_coordinate(p));
    }
done:
    return status;
}

/* --- with waiting --------------------------------------------------------------------------------
 */

/* Elements of the moment for all. */
static spry_status exchange(split *p)
{
    spry_status status = SPRY_STATUS_OK;
    const double begin = base_seconds();
    if (!p->halo)
        return status;
    for (int k = 0; k < p->s->sends; k++)
        (void)split_pack(p, k);
    SPRY_GO(p->ctx, team_halo_start(p->ctx, p->halo));
    SPRY_GO(p->ctx, team_halo_finish(p->ctx, p->halo));
    for (int k = 0; k < p->s->receives; k++)
        p->age[k] = 0;
    p->stats.received += p->s->receives;
    p->fresh = true;
    p->stats.idle_seconds += base_seconds() - begin;
done:
    return status;
}

/* The residual of all ranks, and whether any of them has a reason to stop: alike on all of them. */
static spry_status check(split *p, standing *all, double *residual, spry_reason *end)
{
    const int ranks = team_ranks(p->ctx);
    spry_status status = SPRY_STATUS_OK;
    double sum = 0;
    SPRY_GO(p->ctx, exchange(p));
    const spry_status own = split_poll(p);
    if (own != SPRY_STATUS_OK)
        p->failed = own;
    watch(p);
    const standing mine = {
        p->square,           p->stats.idle_seconds, base_seconds() - p->stats.seconds,
        p->stats.iterations, (int32_t)p->end,       0};
    const double begin = base_seconds();
    SPRY_GO(p->ctx, team_gather(p->ctx, &mine, sizeof mine, all));
    p->stats.idle_seconds += base_seconds() - begin;
    p->stats.checks++;
    *end = SPRY_REASON_COUNT;
    for (int r = 0; r < ranks; r++) {
        const double square = all[r].square;
        sum = !p->lower ? sum + square : square > sum || isnan(square) ? square : sum;
        if (*end == SPRY_REASON_COUNT)
            *end = (spry_reason)all[r].end;
    }
    *residual = sqrt(sum) / p->scale;
done:
    return status;
}

static bool waiting_costs(const split *p, const standing *all)
{
    const double share = 0.25;
    for (int r = 0; r < team_ranks(p->ctx); r++)
        if (all[r].idle > share * all[r].seconds)
            return true;
    return false;
}

/* Whether the mode changes now: decided by what all know. */
static void choose_mode(split *p, const standing *all)
{
    enum { TRIAL = 16 };
    bool change = false;
    if (p->o.switch_every > 0)
        change = all[0].iterations >= p->since_switch + p->o.switch_every;
    else if (p->o.mode == SPLIT_AUTO && p->mode == SPLIT_SYNC && all[0].iterations >= TRIAL &&
             p->stats.switches == 0)
        change = waiting_costs(p, all);
    if (!change)
        return;
    p->mode = p->mode == SPLIT_SYNC ? SPLIT_ASYNC : SPLIT_SYNC;
    p->since_switch = all[0].iterations;
    p->stats.switches++;
}

/* Goes on until all agree that it is over. */
static spry_status run(split *p, standing *all, double *residual, double *initial, spry_reason *end)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    *initial = NAN;
    for (;;) {
        SPRY_GO(ctx, check(p, all, residual, end));
        if (isnan(*initial))
            *initial = *residual;
        if (*residual <= p->o.tol) {
            *end = SPRY_REASON_CONVERGED;
            break;
        }
        if (*end != SPRY_REASON_COUNT)
            break;
        choose_mode(p, all);
        if (p->mode == SPLIT_SYNC) {
            const spry_status own = split_improve(p);
            if (own != SPRY_STATUS_OK)
                note_failure(p, own);
        } else {
            if (p->small) { /* and all together were not */
                p->tight *= 0.5;
                p->fresh = true;
            }
            SPRY_GO(ctx, go_freely(p));
            SPRY_GO(ctx, split_settle(p));
        }
    }
    if (*end == SPRY_REASON_FAILED)
        status = team_agree(ctx, p->failed);
done:
    return status;
}

static spry_status open_all(split *p, const spry_matrix *A, const spry_vector *b,
                            const spry_vector *lower, spry_vector *x, standing *all)
{
    standing mine = {0};
    double sum = 0;
    spry_status status = split_open(p, A, b, lower, x);
    if (status == SPRY_STATUS_OK)
        status = split_talk_open(p);
    SPRY_GO(p->ctx, team_agree(p->ctx, status));
    SPRY_GO(p->ctx, split_talk_ready(p));
    SPRY_GO(p->ctx,
            p->lower ? vector_largest(p->b, &mine.square) : spry_vector_norm(p->b, &mine.square));
    SPRY_GO(p->ctx, team_gather(p->ctx, &mine, sizeof mine, all));
    for (int r = 0; r < team_ranks(p->ctx); r++)
        sum = p->lower ? fmax(sum, all[r].square) : hypot(sum, all[r].square);
    p->scale = sum > 0 ? sum : 1;
done:
    return status;
}

static spry_status check_arguments(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                                   const spry_vector *x)
{
    if (b->ctx != ctx || x->ctx != ctx)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "A, b and x must be of one context");
    if (!matrix_is_square(A) || b->type != A->a.type || x->type != A->a.type || b->n != A->a.rows ||
        x->n != A->a.rows)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a square A, and b and x of its type and %" PRId64
                         " rows on this rank are needed",
                         A->a.rows);
    return SPRY_STATUS_OK;
}

static spry_status check_bounds(const spry_vector *b, const spry_vector *lower)
{
    if (lower->ctx != b->ctx || lower->n != b->n || lower->type != b->type ||
        spry_type_is_complex(b->type))
        return SPRY_FAIL(b->ctx, SPRY_STATUS_BAD_USAGE,
                         "bounds of b's context, length and real type are needed: %" PRId64
                         " elements of type %s on this rank, b has %" PRId64 " of type %s",
                         lower->n, spry_type_name(lower->type), b->n, spry_type_name(b->type));
    return SPRY_STATUS_OK;
}

static void fill_result(split *p, const spry_matrix *A, const standing *all, spry_reason end,
                        spry_result *result)
{
    *result = (spry_result){.size = sizeof *result,
                            .converged = end == SPRY_REASON_CONVERGED,
                            .reason = end,
                            .true_residual = result->true_residual,
                            .initial_residual = result->initial_residual,
                            .residual = result->true_residual,
                            .type = A->a.type,
                            .rows = A->distributed ? A->distributed->row_starts[team_ranks(p->ctx)]
                                                   : A->a.rows,
                            .nnz = A->distributed ? A->distributed->nnz : A->a.nnz,
                            .tolerance = p->o.tol};
    result->cols = result->rows;
    for (int r = 0; r < team_ranks(p->ctx); r++)
        if (all[r].iterations > result->iterations)
            result->iterations = all[r].iterations;
    snprintf(result->method, sizeof result->method, "split:%s",
             p->stats.was_asynchronous ? "async" : "sync");
    snprintf(result->precon, sizeof result->precon, "%.31s", p->o.inner);
    snprintf(result->device, sizeof result->device, "cpu");
    snprintf(result->format, sizeof result->format, "csr");
    p->stats.mean_age = p->age_count > 0 ? (double)p->age_sum / (double)p->age_count : 0;
}

static const base_sized stats_sized = BASE_SIZED(spry_split_stats, switches);

/* What the caller has given, with copies of vectors of a device. */
typedef struct given {
    const spry_vector *b, *x, *lower; /* on the host; lower NULL: there are no bounds */
    spry_vector *b_copy, *x_copy, *lower_copy;
} given;

static spry_status take_arguments(split *p, const char *options, given *g)
{
    spry_context *ctx = p->ctx;
    const spry_vector *b = g->b, *x = g->x, *lower = g->lower;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_options_default(ctx, split_option_list(), &p->o));
    if (lower) /* unless another is asked for */
        SPRY_GO(ctx, spry_options_set(ctx, split_option_list(), &p->o, "inner", "gs"));
    SPRY_GO(ctx, spry_options_parse(ctx, split_option_list(), &p->o, options));
    SPRY_GO(ctx, vector_on_host(b, &g->b, &g->b_copy));
    SPRY_GO(ctx, vector_on_host(x, &g->x, &g->x_copy));
    if (lower)
        SPRY_GO(ctx, vector_on_host(lower, &g->lower, &g->lower_copy));
done:
    return status;
}

/* Where the answers go; each may be NULL. */
typedef struct answers {
    spry_vector *x;
    spry_result *result;
    spry_split_stats *stats;
} answers;

/* What every rank can find fault with in its own arguments. */
static spry_status check_given(split *p, const spry_matrix *A, const given *g, const answers *to)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, check_arguments(p->ctx, A, g->b, to->x));
    if (g->lower)
        SPRY_GO(p->ctx, check_bounds(g->b, g->lower));
    if (to->result)
        SPRY_GO(p->ctx, base_blank(p->ctx, to->result, &krylov_result_sized));
    if (to->stats)
        SPRY_GO(p->ctx, base_blank(p->ctx, to->stats, &stats_sized));
done:
    return status;
}

static void hand_over(split *p, spry_result *found, const answers *to)
{
    int64_t now, most, alone = 0;
    spry_context_memory(p->ctx, &now, &most);
    if (p->alone)
        spry_context_memory(p->alone, &now, &alone);
    found->memory_bytes = most + alone;
    p->stats.was_asynchronous = p->mode == SPLIT_ASYNC;
    p->stats.size = sizeof p->stats;
    if (to->result)
        base_give(to->result, found, &krylov_result_sized);
    if (to->stats)
        base_give(to->stats, &p->stats, &stats_sized);
}

/* lower: NULL where there are no bounds */
static spry_status solve(const spry_matrix *A, const spry_vector *b, const spry_vector *lower,
                         const char *options, const answers *to)
{
    spry_context *ctx = A->ctx;
    split p = {.ctx = ctx,
               .s = A->distributed,
               .type = A->a.type,
               .element = spry_type_size(A->a.type),
               .tight = 1,
               .end = SPRY_REASON_COUNT};
    spry_result found = SPRY_RESULT_INIT;
    spry_reason end = SPRY_REASON_FAILED;
    standing *all = NULL;
    given g = {.b = b, .x = to->x, .lower = lower};
    const double begin = base_seconds();
    spry_status status = check_given(&p, A, &g, to);
    if (status == SPRY_STATUS_OK)
        status = take_arguments(&p, options, &g);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, team_ranks(ctx), sizeof *all, &all);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_alike_options(ctx, split_option_list(), &p.o, "",
                                    "the options of a splitting", 0));
    p.mode = p.o.mode == SPLIT_ASYNC ? SPLIT_ASYNC : SPLIT_SYNC;
    p.stats.seconds = begin;
    SPRY_GO(ctx, open_all(&p, A, g.b, g.lower, g.x_copy ? g.x_copy : to->x, all));
    const double ready = base_seconds();
    SPRY_GO(ctx, run(&p, all, &found.true_residual, &found.initial_residual, &end));
    if (g.x_copy)
        SPRY_GO(ctx, spry_vector_copy(g.x_copy, to->x));
    fill_result(&p, A, all, end, &found);
    found.setup_seconds = ready - begin;
    found.solve_seconds = base_seconds() - ready;
    p.stats.seconds = base_seconds() - begin;
    hand_over(&p, &found, to);
    if (end == SPRY_REASON_STOPPED)
        base_stopped(ctx);
done:
    split_talk_close(&p);
    split_close(&p);
    spry_vector_free(g.b_copy);
    spry_vector_free(g.x_copy);
    spry_vector_free(g.lower_copy);
    base_free(ctx, all);
    return status;
}

spry_status spry_solve_split(const spry_matrix *A, const spry_vector *b, spry_vector *x,
                             const char *options, spry_result *result, spry_split_stats *stats)
{
    SPRY_NEED(CTX_OF(A), A, b, x);
    return solve(A, b, NULL, options, &(answers){x, result, stats});
}

spry_status spry_solve_split_above(const spry_matrix *A, const spry_vector *b,
                                   const spry_vector *lower, spry_vector *x, const char *options,
                                   spry_result *result, spry_split_stats *stats)
{
    SPRY_NEED(CTX_OF(A), A, b, lower, x);
    return solve(A, b, lower, options, &(answers){x, result, stats});
}
