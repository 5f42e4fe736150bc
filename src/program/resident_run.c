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
    s->launched = 0;
    s->counted = 0;
    s->counting_only = true;
    status = resident_advance(s, true, &end);
    s->counting_only = false;
    SPRY_GO(ctx, status);
    /* Operators that are called know addresses: vectors must end where they began. */
    for (int k = 0; s->calls && k < s->p->slots; k++)
        end = end && s->slots[k] == s->mirror[ST_SLOTS + k].whole;
    resident_take(s, false);
    s->pc = s->section[SECTION_LOOP];
    *alike = end && s->launched > 0 && s->launched <= MOST_RECORDED && s->d->facts.has_graphs;
    if (!*alike)
        goto done;
    s->turn_phases = s->launched;
    s->turn_reports = s->counted;
    base_free(ctx, s->turn_bytes);
    s->turn_bytes = NULL;
    SPRY_GO(ctx, base_alloc(ctx, s->launched, sizeof *s->turn_bytes, &s->turn_bytes));
    memcpy(s->turn_bytes, s->bytes, (size_t)s->launched * sizeof *s->turn_bytes);
done:
    s->launched = 0;
    return status;
}

/* A turn as a recording; it goes without where that fails. */
static spry_status record(resident *s)
{
    spry_context *ctx = s->r->ctx;
    bool end = false;
    spry_status status = device_record_begin(s->d);
    if (status == SPRY_STATUS_OK) {
        status = resident_advance(s, true, &end);
        const spry_status ended = device_record_end(s->d, &s->graph);
        if (status == SPRY_STATUS_OK)
            status = ended;
    }
    resident_take(s, false);
    memcpy(s->graph_slots, s->slots, (size_t)s->p->slots * sizeof *s->slots);
    s->pc = s->section[SECTION_LOOP];
    s->launched = 0;
    if (s->d->lost)
        return SPRY_STATUS_DEVICE_LOST;
    if (status != SPRY_STATUS_OK || !end) {
        device_graph_free(s->graph);
        s->graph = NULL;
        s->turns_alike = false;
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
    SPRY_GO(ctx, count_turn(s, &s->turns_alike));
    if (!s->turns_alike)
        return SPRY_STATUS_OK;
    if (!s->whole_tried &&
        resident_build_whole(s, s->turn_bytes[s->turn_phases - 1]) != SPRY_STATUS_OK) {
        if (s->d->lost)
            return SPRY_STATUS_DEVICE_LOST;
        base_log(ctx, SPRY_LOG_INFO, "the loop is no kernel of its own: %s", spry_message(ctx));
        s->whole = NULL;
    }
    if (!s->whole)
        SPRY_GO(ctx, record(s));
done:
    return status;
}

/* Whether turns can be played where the host is: at the beginning of one, and with vectors where
 * they were when it was recorded. */
static bool can_play(const resident *s)
{
    const size_t bytes = (size_t)s->p->slots * sizeof *s->slots;
    return s->whole || (s->graph && (!s->calls || memcmp(s->slots, s->graph_slots, bytes) == 0));
}

static spry_status play(resident *s, int64_t turns)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (s->whole)
        SPRY_GO(ctx, resident_launch_whole(s, turns));
    for (int64_t k = 0; !s->whole && k < turns; k++)
        SPRY_GO(ctx, device_play(s->graph));
    s->played = turns;
    s->ended += turns;
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
    while (next < s->stop_count && s->stops[next] <= s->l->reports)
        next++;
    const int64_t left = next < s->stop_count ? s->stops[next] - s->l->reports : INT64_MAX / 4;
    const int64_t turns = left / reports + (left % reports != 0);
    if (s->missed == 0 || turns < s->missed)
        return turns;
    s->missed *= 2;
    return s->missed / 2;
}

/* Reports until the limit is met, if residuals go on falling as they did. What is called beyond
 * that is done for nothing. */
static int64_t expect_end(const resident *s, const run_limits *limits)
{
    const double fall = s->values > 1 ? log(s->last_value / s->first_value) : 0;
    if (!(fall < 0) || !(limits->low > 0))
        return INT64_MAX;
    const double left = log(limits->low / s->last_value) / fall * (double)(s->values - 1);
    return left > 1e6 ? INT64_MAX : left > 1 ? (int64_t)left : 1;
}

/* How many turns to let go at once. */
static int64_t choose_turns(resident *s)
{
    run_limits limits = {.reports = 1};
    if (s->l->limits)
        s->l->limits(s->l->data, &limits);
    const int64_t reports = s->turn_reports > 0 ? s->turn_reports : 1;
    int64_t turns = s->turn_seconds > 0 ? (int64_t)(batch_seconds / s->turn_seconds) : 1;
    if (turns > BATCH_REPORTS / reports)
        turns = BATCH_REPORTS / reports;
    if (turns > (limits.reports + reports - 1) / reports)
        turns = (limits.reports + reports - 1) / reports;
    const int64_t expected =
        s->graph || (s->calls && s->held) ? expect_stop(s, reports) : INT64_MAX;
    s->expects = expected <= turns;
    turns = s->expects ? expected : turns;
    if (s->calls && s->stop_count == 0 && turns > expect_end(s, &limits) / reports)
        turns = expect_end(s, &limits) / reports;
    turns = turns < 1 ? 1 : turns;
    s->ahead = s->held ? turns * reports : 1;
    return turns;
}

/* Launches a batch: what is left of a turn, whose reports were told, and whole ones. */
static spry_status advance(resident *s)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool end = false, fresh = true, partial = s->r->counting && s->pc != s->section[SECTION_LOOP];
    int64_t turns = choose_turns(s);
    s->partial = partial;
    if (can_play(s) && s->r->counting && !partial && !s->look_first)
        return play(s, turns);
    while (true) {
        SPRY_GO(ctx, resident_advance(s, fresh, &end));
        if (!end) /* it has to look first */
            break;
        fresh = false;
        turns -= s->r->counting && !partial;
        s->ended += s->r->counting;
        s->r->counting = true;
        partial = false;
        s->pc = s->section[SECTION_LOOP];
        if (turns > 0 && can_play(s)) {
            SPRY_GO(ctx, play(s, turns));
            turns = 0;
        }
        /* One kernel adds up in another order than phases do: it is made before the first turn, so
         * that a first solve has the bits of later ones. */
        if (turns <= 0 || (s->turns_alike && !s->graph && !s->whole))
            break;
    }
done:
    return status;
}

/* What a batch has shown: `told` reports since `begin`. */
static void learn(resident *s, double begin, int64_t turns, int64_t told)
{
    if (s->stopped && s->r->counting && s->new_count < MOST_STOPS)
        s->new_stops[s->new_count++] = s->l->reports;
    s->missed = s->stopped ? 0 : s->missed == 0 && s->expects ? 2 : s->missed;
    if (told == 0)
        return;
    if (!s->stopped && !s->partial && turns > 0)
        s->turn_reports = told / turns > 1 ? told / turns : 1;
    const int64_t reports = s->turn_reports > 0 ? s->turn_reports : 1;
    const int64_t done = told / reports > 1 ? told / reports : 1;
    s->turn_seconds = (s->looked_at - begin) / (double)done;
}

static spry_status run(runner *r, int first, int count)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    (void)count; /* one */
    memcpy(s->stops, s->new_stops, sizeof s->stops);
    s->stop_count = s->new_count;
    s->new_count = 0;
    s->missed = s->skip = s->values = 0;
    s->told = s->look_first = false;
    s->l = &r->tracks[first];
    s->pc = s->section[SECTION_START];
    SPRY_GO(ctx, resident_let_go(s, true));
    while (!s->l->done) {
        const double begin = base_seconds();
        const int64_t before = s->l->reports;
        SPRY_GO(ctx, advance(s));
        const int64_t turns = s->ended;
        SPRY_GO(ctx, resident_look(s));
        learn(s, begin, turns, s->l->reports - before);
        s->warm = s->warm || turns > 0;
        if (!s->l->done && !s->graph && !s->whole && s->turns_alike && r->counting &&
            (s->warm || !s->calls) && s->pc == s->section[SECTION_LOOP])
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
