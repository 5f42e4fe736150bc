/*
 * A team around another one that is slower, for tests and measurements on one machine of what slow
 * networks do: messages of neighbours and reductions over all ranks arrive no sooner than a given
 * number of seconds after they were begun, and messages that no rank waits for come late, one after
 * the other. One that is lost is sent again, as wires below MPI do, and those behind it wait.
 */
#include "base/base.h"
#include "base/team.h"

#include <stdlib.h>
#include <time.h>

#define DELAY_OPTIONS(item)                                                                 \
    item(REAL, halo, "0", 0, 10, NULL, "seconds that messages between neighbours take")     \
    item(REAL, reduction, "0", 0, 10, NULL, "seconds that reductions over all ranks take")  \
    item(REAL, post, "0", 0, 10, NULL, "seconds that messages take that no rank waits for") \
    item(REAL, drop, "0", 0, 1, NULL, "share of these that is lost and sent again")         \
    item(INT, seed, "1", 0, 9e18, NULL, "of which are lost")
typedef struct delay_options {
    DELAY_OPTIONS(SPRY_OPTION_FIELD)
} delay_options;
SPRY_OPTION_TABLE(rows, delay_options, DELAY_OPTIONS(SPRY_OPTION_ROW))

static const double resent = 0.02; /* seconds after which a message that was lost is sent again */

/* A message on its way. */
typedef struct letter {
    struct letter *next;
    int to;
    int64_t bytes;
    double due;
} letter; /* its bytes follow */

typedef struct delaying {
    team *inner;
    delay_options options;
    letter *first, *last; /* in the order of posting */
    uint64_t posted;
    double due; /* the gather that is under way comes no sooner */
} delaying;

struct team_halo {
    team_halo *inner;
    double due;
};

static void wait_until(double due)
{
    const double left = due - base_seconds();
    if (left > 0) {
        const struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        nanosleep(&t, NULL);
    }
}

/* Passes on what the inner one says. */
static spry_status reported(team *t, spry_status status)
{
    const delaying *d = t->state;
    if (status != SPRY_STATUS_OK)
        memcpy(t->message, d->inner->message, sizeof t->message);
    return status;
}

static void destroy(team *t)
{
    delaying *d = t->state;
    while (d->first) {
        letter *l = d->first;
        d->first = l->next;
        free(l);
    }
    d->inner->class->destroy(d->inner);
    free(d);
    free(t);
}

/* Sends on what is due. */
static spry_status deliver(team *t)
{
    delaying *d = t->state;
    spry_status status = SPRY_STATUS_OK;
    while (d->first && d->first->due <= base_seconds() && status == SPRY_STATUS_OK) {
        letter *l = d->first;
        status = d->inner->class->post(d->inner, l->to, l + 1, l->bytes);
        d->first = l->next;
        d->last = d->first ? d->last : NULL;
        free(l);
    }
    return reported(t, status);
}

/* The same with all that was posted, as late as it is due: before this rank waits for others, who
 * may be waiting for it. */
static spry_status hand_over(team *t)
{
    delaying *d = t->state;
    spry_status status = SPRY_STATUS_OK;
    while (d->first && status == SPRY_STATUS_OK) {
        wait_until(d->first->due);
        status = deliver(t);
    }
    return status;
}

static spry_status gather(team *t, const void *mine, int64_t bytes, void *all)
{
    const delaying *d = t->state;
    spry_status status = hand_over(t);
    if (status != SPRY_STATUS_OK)
        return status;
    const double due = base_seconds() + d->options.reduction;
    status = d->inner->class->gather(d->inner, mine, bytes, all);
    wait_until(due);
    return reported(t, status);
}

static spry_status gather_begin(team *t, const void *mine, int64_t bytes, void *all,
                                team_request **out)
{
    delaying *d = t->state;
    const spry_status status = hand_over(t);
    if (status != SPRY_STATUS_OK)
        return status;
    d->due = base_seconds() + d->options.reduction;
    return reported(t, d->inner->class->gather_begin(d->inner, mine, bytes, all, out));
}

static spry_status gather_end(team *t, team_request *request)
{
    const delaying *d = t->state;
    const spry_status status = d->inner->class->gather_end(d->inner, request);
    wait_until(d->due);
    return reported(t, status);
}

static spry_status share(team *t, int from, void *data, int64_t bytes)
{
    const delaying *d = t->state;
    const spry_status status = hand_over(t);
    return status != SPRY_STATUS_OK
               ? status
               : reported(t, d->inner->class->share(d->inner, from, data, bytes));
}

static spry_status swap(team *t, const int64_t *send_bytes, const void *send,
                        const int64_t *receive_bytes, void *receive)
{
    const delaying *d = t->state;
    const spry_status status = hand_over(t);
    return status != SPRY_STATUS_OK ? status
                                    : reported(t, d->inner->class->swap(d->inner, send_bytes, send,
                                                                        receive_bytes, receive));
}

static spry_status halo_new(team *t, int sends, const team_message *send, int receives,
                            const team_message *receive, team_halo **out)
{
    const delaying *d = t->state;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return SPRY_STATUS_NO_MEMORY;
    return reported(
        t, d->inner->class->halo_new(d->inner, sends, send, receives, receive, &(*out)->inner));
}

static spry_status halo_start(team *t, team_halo *h)
{
    const delaying *d = t->state;
    const spry_status status = hand_over(t);
    if (status != SPRY_STATUS_OK)
        return status;
    h->due = base_seconds() + d->options.halo;
    return reported(t, d->inner->class->halo_start(d->inner, h->inner));
}

static spry_status halo_finish(team *t, team_halo *h)
{
    const delaying *d = t->state;
    const spry_status status = d->inner->class->halo_finish(d->inner, h->inner);
    wait_until(h->due);
    return reported(t, status);
}

static void halo_free(team *t, team_halo *h)
{
    const delaying *d = t->state;
    if (h->inner)
        d->inner->class->halo_free(d->inner, h->inner);
    free(h);
}

static spry_status post(team *t, int to, const void *data, int64_t bytes)
{
    delaying *d = t->state;
    const spry_status status = deliver(t);
    if (status != SPRY_STATUS_OK)
        return status;
    letter *l = malloc(sizeof *l + (size_t)bytes);
    if (!l)
        return SPRY_STATUS_NO_MEMORY;
    const bool lost =
        base_uniform((uint64_t)d->options.seed + (uint64_t)t->rank, d->posted++) < d->options.drop;
    *l = (letter){
        .to = to, .bytes = bytes, .due = base_seconds() + d->options.post + (lost ? resent : 0)};
    memcpy(l + 1, data, (size_t)bytes);
    if (d->last)
        d->last->next = l;
    else
        d->first = l;
    d->last = l;
    return deliver(t);
}

static spry_status poll_delayed(team *t, int *from, void *data, int64_t room, int64_t *bytes)
{
    const delaying *d = t->state;
    const spry_status status = deliver(t);
    return status != SPRY_STATUS_OK
               ? status
               : reported(t, d->inner->class->poll(d->inner, from, data, room, bytes));
}

static bool takes_devices(team *t, const char *engine)
{
    const delaying *d = t->state;
    return d->inner->class->takes_devices && d->inner->class->takes_devices(d->inner, engine);
}

static spry_status partition(team *t, const team_graph *g, int32_t *part)
{
    delaying *d = t->state;
    if (d->inner->class->partition)
        return reported(t, d->inner->class->partition(d->inner, g, part));
    snprintf(t->message, sizeof t->message, "the ranks have no library for partitions");
    return SPRY_STATUS_UNSUPPORTED;
}

static const team_class class_delaying = {
    .name = "delaying",
    .destroy = destroy,
    .gather = gather,
    .gather_begin = gather_begin,
    .gather_end = gather_end,
    .share = share,
    .swap = swap,
    .halo_new = halo_new,
    .halo_start = halo_start,
    .halo_finish = halo_finish,
    .halo_free = halo_free,
    .post = post,
    .takes_devices = takes_devices,
    .partition = partition,
    .poll = poll_delayed,
};

spry_status team_delay(spry_context *ctx, const char *options)
{
    team *t = calloc(1, sizeof *t);
    delaying *d = calloc(1, sizeof *d);
    spry_status status =
        t && d ? SPRY_STATUS_OK : SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "no memory for delays");
    if (status == SPRY_STATUS_OK)
        status = options_take(ctx, (spry_option_list)SPRY_OPTION_LIST(rows), &d->options, options);
    if (status != SPRY_STATUS_OK) {
        free(t);
        free(d);
        return status;
    }
    d->inner = ctx->team;
    *t = *ctx->team;
    t->class = &class_delaying;
    t->state = d;
    ctx->team = t;
    return SPRY_STATUS_OK;
}
