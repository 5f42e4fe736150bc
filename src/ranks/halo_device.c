/* Messages from one device's memory to another's: see halo_device.h. */
#include "ranks/halo_device.h"

#include "device/engine/engine.h"
#include "device/linalg/vector.h"

#include <stdlib.h>

struct device_halo {
    spry_device *d;
    spry_type type;
    int64_t size, sent_count, count;
    int sends;
    device_memory *sent_index, *send;
    device_memory *to; /* the caller's */
    int64_t first;
    bool on_device;                     /* messages are in `send` and in `to` */
    char *pinned_send, *pinned_receive; /* else in these */
    device_stream *copies;
    team_halo *messages;
};

void device_halo_free(device_halo *h)
{
    if (!h)
        return;
    spry_device *d = h->d;
    if (h->copies && !d->lost) /* which may still read pinned memory */
        (void)device_stream_finish(h->copies);
    team_halo_free(d->ctx, h->messages);
    device_stream_free(h->copies);
    device_free(h->sent_index);
    device_free(h->send);
    device_pinned_free(d, h->pinned_send);
    device_pinned_free(d, h->pinned_receive);
    base_free(d->ctx, h);
}

spry_status device_put_index(spry_device *d, int64_t n, const int32_t *from, device_memory **to)
{
    const int64_t bytes = n * (int64_t)sizeof *from;
    const spry_status status = device_alloc(d, bytes, to);
    return status == SPRY_STATUS_OK && n > 0 ? device_put(*to, 0, from, bytes) : status;
}

static spry_status make_room(device_halo *h, const halo_lists *lists)
{
    spry_device *d = h->d;
    spry_context *ctx = d->ctx;
    void *pinned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_put_index(d, lists->sent_count, lists->sent, &h->sent_index));
    SPRY_GO(ctx, device_alloc(d, lists->sent_count * h->size, &h->send));
    SPRY_GO(ctx, device_stream_new(d, &h->copies));
    h->on_device = ctx->team->on_devices && d->facts.has_pointers;
    if (h->on_device)
        goto done;
    SPRY_GO(ctx, device_pinned_alloc(d, (lists->sent_count + 1) * h->size, &pinned));
    h->pinned_send = pinned;
    SPRY_GO(ctx, device_pinned_alloc(d, (lists->count + 1) * h->size, &pinned));
    h->pinned_receive = pinned;
done:
    return status;
}

static char *send_place(const device_halo *h)
{
    return h->on_device ? device_address(h->send) : h->pinned_send;
}

static char *receive_place(const device_halo *h)
{
    return h->on_device ? (char *)device_address(h->to) + h->first * h->size : h->pinned_receive;
}

spry_status device_halo_new(spry_device *d, spry_type type, spry_status made,
                            const halo_lists *lists, device_memory *to, int64_t first,
                            device_halo **out)
{
    spry_context *ctx = d->ctx;
    team_message *send = NULL, *receive = NULL;
    device_halo *h = NULL;
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(ctx, 1, sizeof *h, &h) : made;
    *out = NULL;
    if (h) {
        *h = (device_halo){.d = d,
                           .type = type,
                           .size = (int64_t)spry_type_size(type),
                           .sent_count = lists->sent_count,
                           .count = lists->count,
                           .sends = lists->sends,
                           .to = to,
                           .first = first};
        status = make_room(h, lists);
    }
    if (h && status == SPRY_STATUS_OK)
        status = dist_list_messages(ctx, lists->sends, lists->send, h->size, send_place(h), &send);
    if (h && status == SPRY_STATUS_OK)
        status = dist_list_messages(ctx, lists->receives, lists->receive, h->size, receive_place(h),
                                    &receive);
    SPRY_GO(ctx, team_agree(ctx, status));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it was made */
    const bool entered = h->on_device && device_enter(d);
    status = team_halo_new(ctx, lists->sends, send, lists->receives, receive, &h->messages);
    if (entered)
        device_leave(d);
    SPRY_GO(ctx, status);
    *out = h;
    h = NULL;
done:
    base_free(ctx, send);
    base_free(ctx, receive);
    device_halo_free(h);
    return status;
}

spry_status device_halo_pack(device_halo *h, const device_memory *x)
{
    spry_context *ctx = h->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (h->sent_count > 0)
        SPRY_GO(ctx, device_pick(h->d, h->type, h->sent_count, h->sent_index, false, x, h->send));
    /* Also of a rank that sends nothing: what was made of the elements of others may still read
     * them, where the next ones are copied. */
    if (h->sent_count + h->count > 0)
        SPRY_GO(ctx, device_stream_wait(h->copies, h->d->stream));
    if (h->sent_count > 0 && !h->on_device)
        SPRY_GO(ctx, device_get_on(h->copies, h->send, 0, h->pinned_send, h->sent_count * h->size));
done:
    return status;
}

spry_status device_halo_exchange(device_halo *h)
{
    spry_context *ctx = h->d->ctx;
    const spry_status copied =
        h->sent_count + h->count > 0 ? device_stream_finish(h->copies) : SPRY_STATUS_OK;
    const bool entered = h->on_device && device_enter(h->d); /* MPI copies from it */
    spry_status status = team_halo_start(ctx, h->messages);
    if (status == SPRY_STATUS_OK) {
        ctx->team->counts.halo_messages += h->sends;
        ctx->team->counts.halo_bytes += h->sent_count * h->size;
        status = team_halo_finish(ctx, h->messages);
    }
    if (entered)
        device_leave(h->d);
    return status == SPRY_STATUS_OK ? copied : status;
}

spry_status device_halo_land(device_halo *h)
{
    spry_context *ctx = h->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (h->count == 0 || h->on_device)
        return status;
    SPRY_GO(ctx, device_put_on(h->copies, h->to, h->first * h->size, h->pinned_receive,
                               h->count * h->size));
    SPRY_GO(ctx, device_stream_wait(h->d->stream, h->copies));
done:
    return status;
}

/* --- how halos travel ----------------------------------------------------------------------------
 */

enum { TRIED = 64 }; /* bytes */

static void fill(unsigned char bytes[TRIED], int rank)
{
    for (int k = 0; k < TRIED; k++)
        bytes[k] = (unsigned char)(37 * rank + 3 * k + 1);
}

/* What is sent, and behind it room for what comes: on the device, if this rank has one. */
static spry_status prepare_trial(spry_device *d, int rank, unsigned char bytes[2 * TRIED],
                                 device_memory **on_device)
{
    spry_status status = SPRY_STATUS_OK;
    memset(bytes, 0, 2 * TRIED);
    fill(bytes, rank);
    if (!d)
        return SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_alloc(d, (int64_t)2 * TRIED, on_device));
    SPRY_GO(d->ctx, device_put(*on_device, 0, bytes, (int64_t)2 * TRIED));
    SPRY_GO(d->ctx, device_finish(d));
done:
    return status;
}

/* Sends a few bytes `step` ranks on; fine: those of the rank so far before have come. What fails is
 * no failure of the caller's. */
static spry_status try_messages(spry_context *ctx, spry_device *d, int step, bool *fine)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const int from = (me + ranks - step) % ranks;
    unsigned char bytes[2 * TRIED], expected[TRIED];
    device_memory *on_device = NULL;
    team_halo *halo = NULL;
    bool bad = prepare_trial(d, me, bytes, &on_device) != SPRY_STATUS_OK;
    spry_status status = team_any(ctx, bad, &bad);
    *fine = false;
    if (bad || status != SPRY_STATUS_OK)
        goto done;
    unsigned char *place = d ? device_address(on_device) : bytes;
    const team_message send = {(me + step) % ranks, TRIED, place};
    const team_message receive = {from, TRIED, place + TRIED};
    const bool entered = d && device_enter(d);
    status = team_halo_new(ctx, 1, &send, 1, &receive, &halo);
    if (status == SPRY_STATUS_OK)
        status = team_halo_start(ctx, halo);
    if (status == SPRY_STATUS_OK)
        status = team_halo_finish(ctx, halo);
    if (entered)
        device_leave(d);
    if (status == SPRY_STATUS_OK && d)
        status = device_get(on_device, TRIED, bytes + TRIED, TRIED);
    fill(expected, from);
    bad = status != SPRY_STATUS_OK || memcmp(bytes + TRIED, expected, TRIED) != 0;
    status = team_any(ctx, bad, &bad);
    *fine = status == SPRY_STATUS_OK && !bad;
done:
    team_halo_free(ctx, halo);
    device_free(on_device);
    return status;
}

/* Whether nothing on this rank speaks against it. */
static bool may_send_from(const spry_context *ctx, const spry_device *d)
{
    const char *wanted = getenv("SPRY_TRANSPORT");
    if (wanted && strcmp(wanted, "staged") == 0)
        return false;
    if (!d)
        return true;
    return d->facts.has_pointers && team_takes_devices(ctx, d->engine->name);
}

spry_status device_dist_choose_transport(spry_context *ctx, spry_device *d)
{
    const int64_t unit = INT64_C(1) << 32; /* more than there are ranks */
    int64_t sum = 0;
    bool fine;
    spry_status status = SPRY_STATUS_OK;
    ctx->team->on_devices = false;
    /* How many ranks have devices, and how many are against it. */
    SPRY_GO(ctx, team_sum(ctx, (d != NULL) + (may_send_from(ctx, d) ? 0 : unit), &sum));
    fine = sum > 0 && sum < unit;
    const base_kept before = base_try(ctx);
    for (int step = 0; step < 2 && fine; step++)
        SPRY_GO(ctx, try_messages(ctx, d, step, &fine));
    base_forgive(ctx, &before); /* nothing failed for the caller */
    ctx->team->on_devices = fine;
done:
    return status;
}
