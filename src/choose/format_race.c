/*
 * The race. Other work on a machine makes times longer, never shorter, and may last for a while:
 * the racers take turns, CSR among them, the fastest of a racer's products counts, and who is
 * clearly behind leaves. Time is billed at each racer's fastest product, so that a busy machine
 * does not shorten the race.
 */
#include "choose/tune.h"

enum { RACERS = 6, LEAST_TRIED = 1, LEAST_CLIMBED = 0, FIRST_RUNS = 2, MOST_ROUNDS = 12 };
static const double conversions = 0.25;   /* of all products' time may go into conversions */
static const double least_seconds = 5e-3; /* of racing, where all products take ten times that */
static const double hope = 1.15;          /* times what CSR would take is still worth a try */
static const double climbing = 0.4;       /* of the time is kept for neighbours of the best, */
static const double ending = 0.15;        /* and of that for the last rounds */
static const double trifle = 5e-3;        /* of all products' time: any conversion may take that */

typedef struct race {
    spry_context *ctx;
    const spry_matrix *A;
    const tune_options *options;
    const tune_machine *machine;
    tune_list *list;
    tune_candidate *csr;
    spry_vector *x, *y;
    double conversion; /* seconds of conversions */
} race;

static double products(const race *r)
{
    return (double)r->options->products;
}

/* Seconds that products may take in all. */
static double allowance(const race *r)
{
    const double csr = r->csr->row.seconds, asked = r->options->budget * csr;
    const double small = 0.1 * products(r) * csr < least_seconds ? 0 : least_seconds;
    return asked > small || r->options->budget == 0 ? asked : small;
}

/* Seconds of all products so far, each as if it had been its racer's fastest. */
static double billed(const race *r)
{
    double sum = 0;
    for (int i = 0; i < r->list->count; i++)
        sum += r->list->all[i].samples * r->list->all[i].row.seconds;
    return sum;
}

/* Whether there is time for `count` products like c's, with a share of all left over. */
static bool may_run(const race *r, const tune_candidate *c, double count, double share)
{
    const double each = c->row.seconds > 0 ? c->row.seconds : c->row.model_seconds;
    return billed(r) + count * each <= (1 - share) * allowance(r) &&
           !spry_context_interrupted(r->ctx, false);
}

static double total(const race *r, const tune_candidate *c)
{
    return tune_total(&c->row, r->options->products);
}

static spry_status run_once(const race *r, tune_candidate *c)
{
    const double begin = base_seconds();
    const spry_status status = spry_operator_apply(c->op, r->x, r->y);
    const double seconds = base_seconds() - begin;
    if (status == SPRY_STATUS_OK)
        tune_time(c, seconds);
    return status;
}

/* The first product finds caches cold and pages new: no racer is judged by that alone. */
static spry_status run_first(const race *r, tune_candidate *c)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < FIRST_RUNS && status == SPRY_STATUS_OK; k++)
        status = run_once(r, c);
    return status;
}

/* The racer with the least total; CSR is one, and takes part even when it has left nothing to do.
 */
static tune_candidate *leader(const race *r)
{
    tune_candidate *best = r->csr;
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->op && tune_replaces_csr(&c->row, &r->csr->row) && total(r, c) < total(r, best))
            best = c;
    }
    return best;
}

/* The racer furthest behind, whose memory another may have. */
static tune_candidate *slowest(const race *r)
{
    tune_candidate *worst = NULL;
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->op && (!worst || c->row.seconds > worst->row.seconds))
            worst = c;
    }
    return worst == leader(r) ? NULL : worst;
}

static bool fits(const race *r, const tune_candidate *c)
{
    const int64_t limit = r->ctx->options.memory_limit;
    return limit <= 0 || c->row.bytes <= limit - r->ctx->memory_now;
}

/* Builds c and runs it for the first times. What cannot be built does not race; only what concerns
 * the race as a whole is a failure. */
static spry_status enter(race *r, tune_candidate *c)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    while (!fits(r, c) && slowest(r))
        tune_leave(slowest(r), NULL);
    if (!fits(r, c)) {
        r->list->cramped = true;
        tune_leave(c, "does not fit the memory limit");
        return SPRY_STATUS_OK;
    }
    const base_kept before = base_try(r->ctx);
    const double begin = base_seconds();
    spry_status status = tune_build(NULL, r->A, c->row.format, &c->op);
    c->row.conversion_seconds = base_seconds() - begin;
    r->conversion += c->row.conversion_seconds;
    if (status == SPRY_STATUS_OK)
        status = spry_operator_storage(c->op, &storage);
    if (status != SPRY_STATUS_OK) {
        c->row.conversion_seconds = 0;
        tune_excuse(r->list, c, status, &before);
        return SPRY_STATUS_OK;
    }
    c->row.bytes = storage.read_bytes;
    c->estimated = false;
    if (!storage.exact) {
        tune_leave(c, "would change values");
        return SPRY_STATUS_OK;
    }
    return run_first(r, c);
}

/* --- who races ------------------------------------------------------------------------------- */

/* What c would take, conversion included, were the model right. */
static double expected(const race *r, const tune_candidate *c)
{
    return tune_model_conversion(r->machine, r->list, c) + products(r) * c->row.model_seconds;
}

static bool is_new(const tune_candidate *c)
{
    return c->possible && !c->dropped && c->samples == 0;
}

/* The most promising of those that have not raced and are of another format than those who have,
 * or of another kind of values at least; of those that are close the first of the list. */
static tune_candidate *most_promising(const race *r, bool kinds)
{
    tune_candidate *best = NULL;
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        bool other = is_new(c) && (!best || TUNE_CLOSE * expected(r, c) < expected(r, best));
        for (int k = 1; k < r->list->count && other; k++) {
            const tune_candidate *d = &r->list->all[k];
            other = d->class != c->class || (kinds && d->kind != c->kind) ||
                    (d->samples == 0 && !d->dropped);
        }
        if (other)
            best = c;
    }
    return best;
}

static tune_candidate *promising(const race *r)
{
    tune_candidate *best = most_promising(r, false);
    return best ? best : most_promising(r, true);
}

/* An estimate that made a racer of c is made sure of where long rows make it doubtful, and with it
 * its place; looking at a large matrix takes time, which is limited as that of products is. */
static bool confirmed(race *r, tune_candidate *c, double *looking)
{
    if (!c->estimated || !r->list->doubtful || *looking > allowance(r))
        return true;
    const double begin = base_seconds(), before = c->row.model_seconds;
    const int64_t bytes = c->row.bytes;
    tune_estimate(r->A, c);
    *looking += base_seconds() - begin;
    if (c->possible) /* what is not bytes of the matrix hardly differs */
        c->row.model_seconds = before * (double)c->row.bytes / (double)bytes;
    return c->possible && c->row.model_seconds <= before * 1.05;
}

/* Whether c is worth its conversion. Where x is met without order the model knows who has it in a
 * cache, and others are far behind: they have to promise more than is found already. */
static bool may_pay(const race *r, const tune_candidate *c)
{
    const tune_candidate *best = leader(r);
    return !r->list->without_order || best == r->csr || r->options->always ||
           expected(r, c) < total(r, best) ||
           tune_model_conversion(r->machine, r->list, c) < trifle * products(r) * best->row.seconds;
}

static spry_status fill_field(race *r)
{
    double looking = 0;
    int racers = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int tries = 0; tries < r->list->count && racers < RACERS; tries++) {
        tune_candidate *c = promising(r);
        const double csr = total(r, r->csr);
        if (!c || expected(r, c) > hope * csr || !may_pay(r, c) ||
            !may_run(r, c, FIRST_RUNS, racers > 1 ? climbing : 0))
            break;
        if (racers >= LEAST_TRIED && r->conversion > conversions * csr && !r->options->always)
            break;
        if (!confirmed(r, c, &looking))
            continue; /* to be looked at again in its new place */
        SPRY_GO(r->ctx, enter(r, c));
        racers += c->op != NULL;
    }
done:
    return status;
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* How far behind the fastest a racer may be after `round` rounds. */
static double patience(int round)
{
    return round <= 1 ? 1.4 : round == 2 ? 1.2 : round == 3 ? 1.1 : 1.05;
}

static double fastest(const race *r)
{
    double best = r->csr->row.seconds;
    for (int i = 1; i < r->list->count; i++) {
        const tune_candidate *c = &r->list->all[i];
        if (c->op && c->row.seconds < best)
            best = c->row.seconds;
    }
    return best;
}

static int drop_losers(race *r, int round)
{
    const tune_candidate *best = leader(r);
    const double limit = patience(round) * fastest(r);
    int left = 0;
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->op && c != best && c->row.seconds > limit)
            tune_leave(c, NULL);
        left += c->op != NULL;
    }
    return left;
}

/* Whether one is left that is so far ahead of CSR that more rounds would show nothing. */
static bool is_clear(const race *r, int left, int round)
{
    return left == 1 && r->csr->row.seconds > patience(round) * fastest(r);
}

/* Everyone's turn, as long as there is time and something to decide. There is one round in any
 * case, so that none wins against a CSR that was timed at the beginning only, and one that is
 * begun is ended. */
static spry_status run_rounds(race *r)
{
    spry_status status = SPRY_STATUS_OK;
    for (int round = FIRST_RUNS + 1; round <= MOST_ROUNDS; round++) {
        const int left = drop_losers(r, round - 1);
        const bool first = round == FIRST_RUNS + 1;
        if (left == 0 || (!first && is_clear(r, left, round - 1)) ||
            (first ? spry_context_interrupted(r->ctx, false) : !may_run(r, r->csr, left + 1, 0)))
            break;
        for (int i = 0; i < r->list->count; i++)
            if (r->list->all[i].op)
                SPRY_GO(r->ctx, run_once(r, &r->list->all[i]));
    }
done:
    return status;
}

static int by_promise(const tune_candidate *best, const tune_candidate *a, const tune_candidate *b)
{
    const int kinds = (a->kind != best->kind) - (b->kind != best->kind);
    const double p = a->row.model_seconds, q = b->row.model_seconds;
    return kinds != 0 ? kinds : (p > q) - (p < q);
}

/* The most promising neighbour in the grid that has not raced. Bytes do not show how x is read:
 * what stores much more may still be faster. The model knows kinds of values better than
 * options, which come first. */
static tune_candidate *neighbour_of(const race *r, const tune_candidate *best)
{
    tune_candidate *found = NULL;
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (is_new(c) && tune_neighbours(best, c) &&
            c->row.model_seconds < 1.4 * best->row.model_seconds &&
            (!found || by_promise(best, c, found) < 0))
            found = c;
    }
    return found;
}

/* From the fastest racer to its neighbours, on from those that are better, then from those who are
 * not far behind. */
static tune_candidate *next_neighbour(const race *r)
{
    const double limit = patience(1) * fastest(r);
    tune_candidate *found = NULL;
    double from = 0;
    for (int i = 1; i < r->list->count; i++) {
        const tune_candidate *c = &r->list->all[i];
        if (c->samples == 0 || c->row.seconds > limit || (found && c->row.seconds >= from))
            continue;
        tune_candidate *next = neighbour_of(r, c);
        if (next) {
            found = next;
            from = c->row.seconds;
        }
    }
    return found;
}

/* The first few neighbours are tried whatever conversions took. */
static spry_status climb(race *r)
{
    spry_status status = SPRY_STATUS_OK;
    for (int tried = 0;; tried++) {
        tune_candidate *c = next_neighbour(r);
        if (!c || !may_pay(r, c) || !may_run(r, c, FIRST_RUNS, ending))
            break;
        if (tried >= LEAST_CLIMBED && r->conversion > conversions * total(r, r->csr) &&
            !r->options->always)
            break;
        SPRY_GO(r->ctx, enter(r, c));
        drop_losers(r, 1);
    }
done:
    return status;
}

/* --- the whole ------------------------------------------------------------------------------- */

static void fill_x(spry_vector *x)
{
    const spry_type type = x->type;
    for (int64_t i = 0; i < x->n; i++)
        value_set(type, x->data, i, (spry_scalar){0.5 + base_uniform(5, (uint64_t)i), 0});
}

/* Who left early may still cost least for the few products asked for. */
static tune_candidate *cheapest(const race *r)
{
    tune_candidate *best = leader(r);
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (tune_replaces_csr(&c->row, &r->csr->row) && total(r, c) < total(r, best))
            best = c;
    }
    return best;
}

/* Of those that are as good as `best`, and not dropped, the first of the list: what is close is not
 * left to the noise of the clock. */
static tune_candidate *first_close(const race *r, tune_candidate *best)
{
    for (int i = 1; i < r->list->count && best != r->csr; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->op && tune_replaces_csr(&c->row, &r->csr->row) &&
            total(r, c) <= TUNE_CLOSE * total(r, best))
            return c;
    }
    return best;
}

spry_status tune_race(const spry_matrix *A, const tune_options *options,
                      const tune_machine *machine, tune_list *list, int *winner)
{
    spry_context *ctx = A->ctx;
    race r = {.ctx = ctx,
              .A = A,
              .options = options,
              .machine = machine,
              .list = list,
              .csr = &list->all[0]};
    spry_status status = SPRY_STATUS_OK;
    *winner = 0;
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, &r.x));
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &r.y));
    fill_x(r.x);
    SPRY_GO(ctx, host_csr_operator(A, &r.csr->op));
    SPRY_GO(ctx, run_first(&r, r.csr)); /* wakes the threads, too */
    tune_model(A, machine, r.csr->row.seconds, list);
    SPRY_GO(ctx, fill_field(&r));
    SPRY_GO(ctx, climb(&r));
    SPRY_GO(ctx, run_rounds(&r));
    *winner = (int)(first_close(&r, cheapest(&r)) - list->all);
    tune_finish(list, options->products, *winner);
done:
    spry_vector_free(r.x);
    spry_vector_free(r.y);
    return status;
}
