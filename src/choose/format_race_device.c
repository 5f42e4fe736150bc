/*
 * The race on a device. A crosses the bus once, as CSR, and formats are built from it on the
 * device; what is tried follows from forecasts (format_plan.c) and from how many products that may
 * take, not from the clock, so that it is the same in every run. Times are the device's own.
 */
#include "choose/tune.h"

#include "device/linalg/operator.h"
#include "formats/shared/device_formats.h"
#include "formats/shared/device_make.h"
#include "matrix/entries.h"

enum { FIRST_RUNS = 2, CSR_RUNS = 3, LEAST_TRIED = 2, MOST_ELSEWHERE = 3 };
static const double share = 1.5;     /* budgets for making and first products, */
static const double whole = 1.75;    /* and for those and the last turns, which have */
static const double least_end = 0.5; /* this in any case */
static const double climbing = 0.25; /* of the first is kept for options of the best formats */
static const double ending = 0.1;    /* of that is not begun any more */
static const double behind = 1.5;    /* times the best: it leaves, */
static const double far_behind = 4; /* and without a second product, which a kernel's first needs */

typedef struct race {
    spry_context *ctx;
    const spry_matrix *A;
    const tune_options *options;
    tune_list *list;
    tune_candidate *csr;
    spry_device *d;
    device_matrix copy; /* A; none: there is no room for it and a format */
    double bringing;    /* seconds that took */
    spry_vector *x, *y;
    double spent;                      /* products with CSR, as they were expected */
    double making, preparing, running; /* seconds, for those who look for where time goes */
} race;

/* --- one candidate -------------------------------------------------------------------------------
 */

static spry_status run_once(void *data, tune_candidate *c)
{
    const race *r = data;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    double seconds = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, spry_device_mark(r->d));
    SPRY_GO(r->ctx,
            device_multiply(c->op, SPRY_TRANSPOSE_NO, one, r->x->memory, zero, r->y->memory));
    SPRY_GO(r->ctx, spry_device_elapsed(r->d, &seconds));
    tune_time(c, seconds);
done:
    return status;
}

static double least(const race *r)
{
    double seconds = r->csr->row.seconds;
    for (int i = 1; i < r->list->count; i++) {
        const tune_candidate *c = &r->list->all[i];
        if (c->samples > 0 && c->row.seconds < seconds)
            seconds = c->row.seconds;
    }
    return seconds;
}

/* Seconds of making, without what compilers took. */
static spry_status build(race *r, tune_candidate *c)
{
    device_matrix *copy = r->copy.d ? &r->copy : NULL;
    const double begin = base_seconds(), compiled = r->d->building;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, device_operator_from(r->d, r->A, copy, c->row.format, &c->op));
    SPRY_GO(r->ctx, device_finish(r->d));
    const double made = base_seconds() - begin - (r->d->building - compiled);
    c->row.conversion_seconds = made + (copy && c->made_on_device ? r->bringing : 0);
    SPRY_GO(r->ctx, device_prepare(c->op));
    r->making += made;
    r->preparing += base_seconds() - begin - made;
done:
    return status;
}

/* What making and running takes in this race, over what was forecast in products with CSR, by
 * powers of two: far less where rows are so uneven that CSR waits for a few of them. */
static double pace(const race *r)
{
    double seconds = 0, forecast = 0, p = 1;
    for (int i = 1; i < r->list->count; i++) {
        const tune_candidate *c = &r->list->all[i];
        if (c->samples > 0 && (seconds == 0 || c->row.seconds < seconds)) {
            seconds = c->row.seconds;
            forecast = c->expected * r->csr->row.seconds;
        }
    }
    while (seconds > 0 && 2 * seconds < p * forecast && p > 0x1p-20)
        p /= 2;
    return p;
}

static double cost(const race *r, const tune_candidate *c)
{
    return pace(r) * (tune_making_on_device(c) + FIRST_RUNS * c->expected);
}

/* Whether what was built is what was hoped for. */
static spry_status inspect(const race *r, tune_candidate *c, bool *fine)
{
    spry_storage storage = SPRY_STORAGE_INIT;
    const double hoped = c->expected;
    const spry_status status = spry_operator_storage(c->op, &storage);
    *fine = status == SPRY_STATUS_OK && storage.exact;
    if (!*fine)
        return status;
    c->row.bytes = storage.read_bytes;
    c->estimated = false;
    tune_expect(r->list, c);
    if (c->expected > behind && c->expected > behind * hoped) {
        *fine = false;
        tune_leave(c, "takes more than it was forecast to");
    }
    return SPRY_STATUS_OK;
}

static bool fits(const race *r, const tune_candidate *c)
{
    int64_t used, most, free_on_device = 0;
    device_memory_now(r->d, &used, &most, &free_on_device);
    return 2 * c->row.bytes <= free_on_device;
}

/* Makes room: all but the best so far leave. */
static void drop_losers(race *r, double limit)
{
    for (int i = 1; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->op && c->row.seconds > limit)
            tune_leave(c, NULL);
    }
}

/* Makes c and runs it. What cannot be made or run leaves with the reason; only the loss of the
 * device is a failure. */
static spry_status enter(race *r, tune_candidate *c)
{
    const base_kept before = base_try(r->ctx);
    bool fine = true;
    double begin;
    spry_status status = SPRY_STATUS_OK;
    if (!fits(r, c))
        drop_losers(r, least(r));
    if (!fits(r, c)) {
        r->list->cramped = true;
        tune_leave(c, "does not fit the memory of the device");
        return SPRY_STATUS_OK;
    }
    r->spent += cost(r, c);
    SPRY_GO(r->ctx, build(r, c));
    SPRY_GO(r->ctx, inspect(r, c, &fine));
    if (!fine) {
        if (c->op)
            tune_leave(c, "would change values");
        return SPRY_STATUS_OK;
    }
    begin = base_seconds();
    for (int k = 0; k < FIRST_RUNS; k++)
        if (k == 0 || c->row.seconds <= far_behind * least(r))
            SPRY_GO(r->ctx, run_once(r, c));
    r->running += base_seconds() - begin;
    drop_losers(r, behind * least(r));
    return SPRY_STATUS_OK;
done:
    if (status == SPRY_STATUS_DEVICE_LOST)
        return status;
    c->samples = 0;
    c->row.seconds = c->row.conversion_seconds = 0;
    tune_excuse(r->list, c, status, &before);
    return SPRY_STATUS_OK;
}

/* --- the course ----------------------------------------------------------------------------------
 */

/* Whether there is time for c, with a share of all left over. */
static bool may_run(const race *r, const tune_candidate *c, double left)
{
    return r->spent + cost(r, c) <= (1 - left) * share * r->options->budget &&
           !spry_context_interrupted(r->ctx, false);
}

static spry_status try_formats(race *r)
{
    spry_status status = SPRY_STATUS_OK;
    int tried = 0, i;
    while ((i = tune_next_class(r->list)) > 0) {
        if (!may_run(r, &r->list->all[i], climbing) &&
            (tried >= LEAST_TRIED || spry_context_interrupted(r->ctx, false)))
            break;
        SPRY_GO(r->ctx, enter(r, &r->list->all[i]));
        tried++;
    }
    while ((i = tune_next_option(r->list)) > 0 && may_run(r, &r->list->all[i], ending))
        SPRY_GO(r->ctx, enter(r, &r->list->all[i]));
done:
    return status;
}

/* What only the host can make, where enough products are to come that its work pays. */
static spry_status try_elsewhere(race *r)
{
    spry_status status = SPRY_STATUS_OK;
    for (int tried = 0; tried < MOST_ELSEWHERE && r->options->products >= TUNE_MANY; tried++) {
        tune_candidate *found = NULL;
        for (int i = 1; i < r->list->count; i++) {
            tune_candidate *c = &r->list->all[i];
            if (c->possible && !c->dropped && c->samples == 0 && !c->made_on_device &&
                c->expected * r->csr->row.seconds < least(r) &&
                (!found || c->expected < found->expected))
                found = c;
        }
        if (!found || spry_context_interrupted(r->ctx, false))
            break;
        SPRY_GO(r->ctx, enter(r, found));
    }
done:
    return status;
}

/* Those that are close take turns. */
static spry_status run_last(race *r)
{
    const double budget = r->options->budget, left = whole * budget - r->spent;
    const int64_t products = r->options->products;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, run_once(r, r->csr)); /* its first times may be those of a card that wakes up */
    for (int i = 1; i < r->list->count; i++)
        if (r->list->all[i].op && !tune_is_near(r->list, &r->list->all[i], products, TUNE_STAYS))
            tune_leave(&r->list->all[i], NULL);
    if (!spry_context_interrupted(r->ctx, false))
        SPRY_GO(r->ctx,
                tune_finals(r->list, products,
                            left > least_end * budget ? left : least_end * budget, run_once, r));
done:
    return status;
}

/* A on the device, and CSR of it. Where there is no room for both, the first is left out. */
static spry_status bring(race *r)
{
    const double begin = base_seconds();
    const base_kept before = base_try(r->ctx);
    spry_status status = device_matrix_put_csr(r->d, &r->A->a, &r->copy);
    if (status == SPRY_STATUS_OK) {
        r->bringing = base_seconds() - begin;
        status = build(r, r->csr);
    }
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(r->ctx, &before);
    device_matrix_free(&r->copy);
    spry_operator_free(r->csr->op);
    r->csr->op = NULL;
    return build(r, r->csr);
}

/* What no sample shows. The device reads eight bytes per row, less than a product does. */
static spry_status look_at_rows(race *r)
{
    const matrix_arrays *a = &r->A->a;
    int64_t longest = 0;
    spry_status status = SPRY_STATUS_OK;
    if (r->copy.d)
        SPRY_GO(r->ctx, device_longest_row(&r->copy, &longest));
    else
        longest = matrix_longest_row(r->ctx, a);
    tune_correct_longest(r->list, a, longest);
done:
    return status;
}

/* A and the vectors on the device; what there is to know of A; CSR's time. */
static spry_status go_on_device(race *r)
{
    const matrix_arrays *a = &r->A->a;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, bring(r));
    SPRY_GO(r->ctx, look_at_rows(r));
    SPRY_GO(r->ctx, spry_vector_on(r->d, a->type, a->cols, NULL, &r->x));
    SPRY_GO(r->ctx, spry_vector_on(r->d, a->type, a->rows, NULL, &r->y));
    SPRY_GO(r->ctx, spry_vector_fill(r->x, (spry_scalar){0.7390851332151607, 0}));
    for (int k = 0; k < CSR_RUNS; k++)
        SPRY_GO(r->ctx, run_once(r, r->csr));
    r->spent = CSR_RUNS + tune_making_on_device(r->csr);
done:
    return status;
}

/* Forecasts in seconds, for the report. */
static void set_models(race *r)
{
    for (int i = 0; i < r->list->count; i++) {
        tune_candidate *c = &r->list->all[i];
        if (c->possible)
            c->row.model_seconds = c->expected * r->csr->row.seconds;
    }
}

/* For those who look for where time goes: what it took, and products as they were counted. */
static void log_course(const race *r, const double at[4])
{
    int timed = 0, runs = 0;
    for (int i = 0; i < r->list->count; i++) {
        timed += r->list->all[i].samples > 0;
        runs += r->list->all[i].samples;
    }
    base_log(r->ctx, SPRY_LOG_DEBUG,
             "tuner: A copied and timed in %.0f us, %d formats made and timed "
             "in %.0f (making %.0f, programs %.0f, products %.0f), last turns in %.0f; "
             "%d products of %.1f us with csr and their making, %.1f by count before the last "
             "turns",
             (at[1] - at[0]) * 1e6, timed - 1, (at[2] - at[1]) * 1e6, r->making * 1e6,
             r->preparing * 1e6, r->running * 1e6, (at[3] - at[2]) * 1e6, runs,
             r->csr->row.seconds * 1e6, r->spent);
}

spry_status tune_race_on_device(const spry_matrix *A, const tune_options *options, tune_list *list,
                                int *winner)
{
    race r = {.ctx = A->ctx,
              .A = A,
              .options = options,
              .list = list,
              .csr = &list->all[0],
              .d = list->device};
    spry_status status = SPRY_STATUS_OK;
    double at[4];
    *winner = 0;
    at[0] = base_seconds();
    device_prefetch(r.d, "formats", A->a.type);
    for (int i = 0; i < list->count; i++)
        tune_expect(list, &list->all[i]);
    SPRY_GO(r.ctx, go_on_device(&r));
    at[1] = base_seconds();
    set_models(&r);
    SPRY_GO(r.ctx, try_formats(&r));
    SPRY_GO(r.ctx, try_elsewhere(&r));
    at[2] = base_seconds();
    SPRY_GO(r.ctx, run_last(&r));
    *winner = tune_pick(list, options->products);
    tune_finish(list, options->products, *winner);
    at[3] = base_seconds();
    log_course(&r, at);
done:
    device_matrix_free(&r.copy);
    spry_vector_free(r.x);
    spry_vector_free(r.y);
    return status;
}
