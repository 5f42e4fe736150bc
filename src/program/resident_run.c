/*
 * A run on a device, in batches: what is left of a section or turn phase by phase, then as many
 * turns as are likely to go on without the host, recorded or as one kernel, then a look. How long
 * turns take, and after how many reports a run was stopped, is known from those before.
 */
#include "program/resident.h"

#include <math.h>

enum { BATCH_REPORTS = 256, MOST_RECORDED = 2000 };
static const double batch_seconds = 2e-3;

/* --- turns --------------------------------------------------------------------------------------
 */

/* What a turn moves and launches, by going on without launching. */
static spry_status count_turn(resident *s, bool *alike)
{
    spry_context *ctx = s->r->ctx;
    bool end = false;
    spry_status status = SPRY_STATUS_OK;
    s->batch.launched = 0;
    s->known.counted = 0;
    s->course.counting_only = true;
    status = resident_advance(s, true, &end);
    s->course.counting_only = false;
    SPRY_GO(ctx, status);
    /* Operators that are called know addresses: vectors must end where they began. */
    for (int k = 0; s->course.calls && k < s->p->slots; k++)
        end = end && s->memory.slots[k] == s->block.mirror[ST_SLOTS + k].whole;
    resident_take(s, false);
    s->course.pc = s->course.section[SECTION_LOOP];
    *alike = end && s->batch.launched > 0 && s->batch.launched <= MOST_RECORDED &&
             s->d->facts.has_graphs;
    if (!*alike)
        goto done;
    s->batch.turn_phases = s->batch.launched;
    s->known.turn_reports = s->known.counted;
    base_free(ctx, s->batch.turn_bytes);
    s->batch.turn_bytes = NULL;
    SPRY_GO(ctx,
            base_alloc(ctx, s->batch.launched, sizeof *s->batch.turn_bytes, &s->batch.turn_bytes));
    memcpy(s->batch.turn_bytes, s->batch.bytes,
           (size_t)s->batch.launched * sizeof *s->batch.turn_bytes);
done:
    s->batch.launched = 0;
    return status;
}

/* A turn as a recording; where that fails, turns are launched one by one. */
static spry_status record(resident *s)
{
    spry_context *ctx = s->r->ctx;
    bool end = false;
    spry_status status = device_record_begin(s->d);
    if (status == SPRY_STATUS_OK) {
        status = resident_advance(s, true, &end);
        const spry_status ended = device_record_end(s->d, &s->course.graph);
        if (status == SPRY_STATUS_OK)
            status = ended;
    }
    resident_take(s, false);
    memcpy(s->course.graph_slots, s->memory.slots, (size_t)s->p->slots * sizeof *s->memory.slots);
    s->course.pc = s->course.section[SECTION_LOOP];
    s->batch.launched = 0;
    if (s->d->lost)
        return SPRY_STATUS_DEVICE_LOST;
    if (status != SPRY_STATUS_OK || !end) {
        device_graph_free(s->course.graph);
        s->course.graph = NULL;
        s->course.turns_alike = false;
        base_log(ctx, SPRY_LOG_INFO, "the loop is launched phase by phase: %s", spry_message(ctx));
    }
    return SPRY_STATUS_OK;
}

/* Before the first turn ever (after it where operators are called, which open what they need then):
 * the loop as one kernel where it is small, or else recorded, to be played again and again. */
static spry_status speed_up(resident *s)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, count_turn(s, &s->course.turns_alike));
    if (!s->course.turns_alike)
        return SPRY_STATUS_OK;
    if (!s->whole.tried &&
        resident_build_whole(s, s->batch.turn_bytes[s->batch.turn_phases - 1]) != SPRY_STATUS_OK) {
        if (s->d->lost)
            return SPRY_STATUS_DEVICE_LOST;
        base_log(ctx, SPRY_LOG_INFO, "the loop is no kernel of its own: %s", spry_message(ctx));
        s->whole.program = NULL;
    }
    if (!s->whole.program)
        SPRY_GO(ctx, record(s));
done:
    return status;
}

/* Whether turns can be played where the host is: at the beginning of one, and with vectors where
 * they were when it was recorded. */
static bool can_play(const resident *s)
{
    const size_t bytes = (size_t)s->p->slots * sizeof *s->memory.slots;
    return s->whole.program ||
           (s->course.graph &&
            (!s->course.calls || memcmp(s->memory.slots, s->course.graph_slots, bytes) == 0));
}

static spry_status play(resident *s, int64_t turns)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (s->whole.program)
        SPRY_GO(ctx, resident_launch_whole(s, turns));
    for (int64_t k = 0; !s->whole.program && k < turns; k++)
        SPRY_GO(ctx, device_play(s->course.graph));
    s->batch.played = turns;
    s->batch.ended += turns;
done:
    return status;
}

/* --- batches ------------------------------------------------------------------------------------
 */

/* Turns until the run before was stopped; where this one was not, a few more each time. Kernels
 * that find the device stopped cost little, but not nothing. */
static int64_t expect_stop(resident *s, int64_t reports)
{
    int next = 0;
    while (next < s->known.stop_count && s->known.stops[next] <= s->l->reports)
        next++;
    const int64_t left =
        next < s->known.stop_count ? s->known.stops[next] - s->l->reports : INT64_MAX / 4;
    const int64_t turns = left / reports + (left % reports != 0);
    if (s->known.missed == 0 || turns < s->known.missed)
        return turns;
    s->known.missed *= 2;
    return s->known.missed / 2;
}

/* Reports until the limit is met, if residuals go on falling as they did. What is called beyond
 * that is done for nothing. */
static int64_t expect_end(const resident *s, const run_limits *limits)
{
    const double fall = s->known.values > 1 ? log(s->known.last_value / s->known.first_value) : 0;
    if (!(fall < 0) || !(limits->low > 0))
        return INT64_MAX;
    const double left =
        log(limits->low / s->known.last_value) / fall * (double)(s->known.values - 1);
    return left > 1e6 ? INT64_MAX : left > 1 ? (int64_t)left : 1;
}

/* How many turns to let go at once. */
static int64_t choose_turns(resident *s)
{
    run_limits limits = {.reports = 1};
    if (s->l->limits)
        s->l->limits(s->l->data, &limits);
    const int64_t reports = s->known.turn_reports > 0 ? s->known.turn_reports : 1;
    int64_t turns =
        s->known.turn_seconds > 0 ? (int64_t)(batch_seconds / s->known.turn_seconds) : 1;
    if (turns > BATCH_REPORTS / reports)
        turns = BATCH_REPORTS / reports;
    if (turns > (limits.reports + reports - 1) / reports)
        turns = (limits.reports + reports - 1) / reports;
    const int64_t expected = s->course.graph || (s->course.calls && s->course.held)
                                 ? expect_stop(s, reports)
                                 : INT64_MAX;
    s->batch.expects = expected <= turns;
    turns = s->batch.expects ? expected : turns;
    if (s->course.calls && s->known.stop_count == 0 && turns > expect_end(s, &limits) / reports)
        turns = expect_end(s, &limits) / reports;
    turns = turns < 1 ? 1 : turns;
    s->course.ahead = s->course.held ? turns * reports : 1;
    return turns;
}

/* Launches a batch: what is left of a turn, whose reports were made, and whole ones. */
static spry_status advance(resident *s)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool end = false, fresh = true,
         partial = s->r->counting && s->course.pc != s->course.section[SECTION_LOOP];
    int64_t turns = choose_turns(s);
    s->batch.partial = partial;
    if (can_play(s) && s->r->counting && !partial && !s->course.look_first)
        return play(s, turns);
    while (true) {
        SPRY_GO(ctx, resident_advance(s, fresh, &end));
        if (!end) /* it has to look first */
            break;
        fresh = false;
        turns -= s->r->counting && !partial;
        s->batch.ended += s->r->counting;
        s->r->counting = true;
        partial = false;
        s->course.pc = s->course.section[SECTION_LOOP];
        if (turns > 0 && can_play(s)) {
            SPRY_GO(ctx, play(s, turns));
            turns = 0;
        }
        /* One kernel adds up in another order than phases do: it is made before the first turn, so
         * that a first solve has the bits of later ones. */
        if (turns <= 0 || (s->course.turns_alike && !s->course.graph && !s->whole.program))
            break;
    }
done:
    return status;
}

/* What a batch has shown: `reported` reports since `begin`. */
static void learn(resident *s, double begin, int64_t turns, int64_t reported)
{
    if (s->known.stopped && s->r->counting && s->known.new_count < MOST_STOPS)
        s->known.new_stops[s->known.new_count++] = s->l->reports;
    s->known.missed = s->known.stopped                           ? 0
                      : s->known.missed == 0 && s->batch.expects ? 2
                                                                 : s->known.missed;
    if (reported == 0)
        return;
    if (!s->known.stopped && !s->batch.partial && turns > 0)
        s->known.turn_reports = reported / turns > 1 ? reported / turns : 1;
    const int64_t reports = s->known.turn_reports > 0 ? s->known.turn_reports : 1;
    const int64_t done = reported / reports > 1 ? reported / reports : 1;
    s->known.turn_seconds = (s->known.looked_at - begin) / (double)done;
}

static spry_status run(runner *r, int first, int count)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    (void)count; /* one */
    memcpy(s->known.stops, s->known.new_stops, sizeof s->known.stops);
    s->known.stop_count = s->known.new_count;
    s->known.new_count = 0;
    s->known.missed = s->course.skip = s->known.values = 0;
    s->batch.reported = s->course.look_first = false;
    s->l = &r->rhs[first];
    s->course.pc = s->course.section[SECTION_START];
    SPRY_GO(ctx, resident_let_go(s, true));
    while (!s->l->done) {
        const double begin = base_seconds();
        const int64_t before = s->l->reports;
        SPRY_GO(ctx, advance(s));
        const int64_t turns = s->batch.ended;
        SPRY_GO(ctx, resident_poll(s));
        learn(s, begin, turns, s->l->reports - before);
        s->course.warm = s->course.warm || turns > 0;
        if (!s->l->done && !s->course.graph && !s->whole.program && s->course.turns_alike &&
            r->counting && (s->course.warm || !s->course.calls) &&
            s->course.pc == s->course.section[SECTION_LOOP])
            SPRY_GO(ctx, speed_up(s));
    }
done:
    return status;
}

static bool fits(const runner *r)
{
    return !r->resident->d->lost;
}

const runner_class runner_device = {.together = 1,
                                    .open = resident_open,
                                    .close = resident_close,
                                    .fits = fits,
                                    .clear = resident_clear,
                                    .run = run,
                                    .settle = resident_settle,
                                    .finish = resident_finish,
                                    .keep = resident_keep,
                                    .restore = resident_restore,
                                    .transfer = resident_transfer};
