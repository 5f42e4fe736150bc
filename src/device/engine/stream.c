/* Copies, streams, recordings and events: arguments are checked, and engines do the work. */
#include "device/engine/engine.h"

static spry_status alive(spry_device *d)
{
    return d->lost ? SPRY_FAIL(d->ctx, SPRY_STATUS_DEVICE_LOST, "%s", d->why_lost) : SPRY_STATUS_OK;
}

/* What the host waits for, or brings from its memory, is nothing that can be played again. */
static spry_status not_recording(spry_device *d)
{
    return d->recording
               ? SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                           "%s: the host takes part in the middle of a recording", d->facts.name)
               : SPRY_STATUS_OK;
}

/* --- copies --------------------------------------------------------------------------------------
 */

/* The common beginning of all copies. */
static spry_status begin_copy(const device_memory *m, int64_t at, int64_t bytes)
{
    const spry_status status = device_begin(m->d, WORK_COPY);
    if (status == SPRY_STATUS_OK && (at < 0 || bytes < 0 || at > m->bytes - bytes))
        return SPRY_FAIL(m->d->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: bytes %" PRId64 " to %" PRId64 " of a block of %" PRId64,
                         m->d->facts.name, at, at + bytes, m->bytes);
    return status;
}

/* The same of copies that the host takes part in, which are counted. */
static spry_status begin_transfer(const device_memory *m, int64_t at, int64_t bytes, bool wait)
{
    spry_status status = begin_copy(m, at, bytes);
    if (status == SPRY_STATUS_OK)
        status = not_recording(m->d);
    if (status == SPRY_STATUS_OK && bytes > 0) {
        m->d->waits += wait;
        m->d->moved += bytes;
    }
    return status;
}

static spry_status put_by(device_stream *s, device_memory *to, int64_t at, const void *from,
                          int64_t bytes, bool wait)
{
    spry_device *d = to->d;
    const spry_status status = begin_transfer(to, at, bytes, wait);
    if (status != SPRY_STATUS_OK || bytes == 0)
        return status;
    return device_end(d, d->engine->put(d, s->handle, to->block, at, from, bytes, wait));
}

static spry_status get_by(device_stream *s, const device_memory *from, int64_t at, void *to,
                          int64_t bytes, bool wait)
{
    spry_device *d = from->d;
    const spry_status status = begin_transfer(from, at, bytes, wait);
    if (status != SPRY_STATUS_OK || bytes == 0)
        return status;
    return device_end(d, d->engine->get(d, s->handle, from->block, at, to, bytes, wait));
}

spry_status device_put(device_memory *to, int64_t at, const void *from, int64_t bytes)
{
    return put_by(to->d->stream, to, at, from, bytes, true);
}

/* Drivers copy to pinned memory without a detour, which small copies feel most. */
spry_status device_get(const device_memory *from, int64_t at, void *to, int64_t bytes)
{
    enum { BOUNCE = 64 * 1024 };
    spry_device *d = from->d;
    if (bytes > 0 && bytes <= BOUNCE && !d->bounces && d->facts.has_pointers && !d->lost) {
        d->bounces = true;
        if (d->engine->pin(d, BOUNCE, &d->bounce) != SPRY_STATUS_OK)
            d->bounce = NULL; /* the stream works without it */
    }
    const bool bounce = d->bounce && bytes <= BOUNCE;
    const spry_status status = get_by(d->stream, from, at, bounce ? d->bounce : to, bytes, true);
    if (status == SPRY_STATUS_OK && bounce)
        memcpy(to, d->bounce, (size_t)bytes);
    return status;
}

spry_status device_put_on(device_stream *s, device_memory *to, int64_t at, const void *from,
                          int64_t bytes)
{
    return put_by(s, to, at, from, bytes, false);
}

spry_status device_get_on(device_stream *s, const device_memory *from, int64_t at, void *to,
                          int64_t bytes)
{
    return get_by(s, from, at, to, bytes, false);
}

spry_status device_copy(const device_memory *from, int64_t from_at, device_memory *to,
                        int64_t to_at, int64_t bytes)
{
    spry_device *d = from->d;
    spry_status status = begin_copy(from, from_at, bytes);
    if (status == SPRY_STATUS_OK && (to_at < 0 || to_at > to->bytes - bytes))
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                           "%s: bytes %" PRId64 " to %" PRId64 " of a block of %" PRId64,
                           d->facts.name, to_at, to_at + bytes, to->bytes);
    if (status != SPRY_STATUS_OK || bytes == 0)
        return status;
    return device_end(
        d, d->engine->copy(d, d->stream->handle, from->block, from_at, to->block, to_at, bytes));
}

spry_status device_get_pieces(spry_device *d, const device_piece *pieces, int count)
{
    enum { ROOM = 256 };
    char gathered[ROOM];
    device_memory *together = NULL;
    int64_t bytes = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++)
        bytes += pieces[k].bytes;
    if (count == 1 || bytes > ROOM) {
        for (int k = 0; k < count; k++)
            SPRY_GO(d->ctx,
                    device_get(pieces[k].from, pieces[k].at, pieces[k].to, pieces[k].bytes));
        goto done;
    }
    SPRY_GO(d->ctx, device_alloc(d, bytes, &together));
    bytes = 0;
    for (int k = 0; k < count; bytes += pieces[k++].bytes)
        SPRY_GO(d->ctx,
                device_copy(pieces[k].from, pieces[k].at, together, bytes, pieces[k].bytes));
    SPRY_GO(d->ctx, device_get(together, 0, gathered, bytes));
    bytes = 0;
    for (int k = 0; k < count; bytes += pieces[k++].bytes)
        memcpy(pieces[k].to, gathered + bytes, (size_t)pieces[k].bytes);
done:
    device_free(together);
    return status;
}

spry_status device_clear(device_memory *m, int64_t at, int64_t bytes)
{
    spry_device *d = m->d;
    const spry_status status = begin_copy(m, at, bytes);
    if (status != SPRY_STATUS_OK || bytes == 0)
        return status;
    return device_end(d, d->engine->clear(d, d->stream->handle, m->block, at, bytes));
}

/* --- streams -------------------------------------------------------------------------------------
 */

/* A stream or an event. */
static spry_status handle_new(spry_device *d, spry_status (*make)(spry_device *d, void **handle),
                              device_handle **out)
{
    spry_status status = SPRY_STATUS_OK;
    device_handle *h = NULL;
    *out = NULL;
    SPRY_GO(d->ctx, alive(d));
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *h, &h));
    h->d = d;
    SPRY_GO(d->ctx, device_end(d, make(d, &h->handle)));
    *out = h;
    h = NULL;
done:
    base_free(d->ctx, h);
    return status;
}

static void handle_free(device_handle *h, void (*destroy)(spry_device *d, void *handle))
{
    if (!h->borrowed)
        destroy(h->d, h->handle);
    base_free(h->d->ctx, h);
}

spry_status device_stream_new(spry_device *d, device_stream **out)
{
    return handle_new(d, d->engine->stream_new, out);
}

void device_stream_free(device_stream *s)
{
    if (s)
        handle_free(s, s->d->engine->stream_free);
}

spry_status device_stream_finish(device_stream *s)
{
    spry_status status = alive(s->d);
    if (status == SPRY_STATUS_OK)
        status = not_recording(s->d);
    if (status != SPRY_STATUS_OK)
        return status;
    s->d->waits++;
    return device_end(s->d, s->d->engine->stream_finish(s->d, s->handle));
}

bool device_enter(const spry_device *d)
{
    return d->engine->enter && d->engine->enter(d);
}

void device_leave(const spry_device *d)
{
    d->engine->leave(d, true);
}

spry_status device_finish(spry_device *d)
{
    return device_stream_finish(d->stream);
}

spry_status device_stream_wait(device_stream *s, device_stream *other)
{
    spry_status status = alive(s->d);
    if (status == SPRY_STATUS_OK)
        status = not_recording(s->d);
    if (status != SPRY_STATUS_OK || s->handle == other->handle)
        return status;
    return device_end(s->d, s->d->engine->stream_wait(s->d, s->handle, other->handle));
}

spry_status device_use_stream(spry_device *d, void *stream)
{
    /* Later work on the one waits for what is on the other, as if it were the same. */
    device_stream *s = d->stream;
    device_stream before = *s;
    const spry_status status = alive(d);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!stream && !s->borrowed)
        return SPRY_STATUS_OK;
    if (!s->borrowed)
        d->own_stream = s->handle;
    s->handle = stream ? stream : d->own_stream;
    s->borrowed = stream != NULL;
    if (!stream)
        d->own_stream = NULL;
    return device_stream_wait(s, &before);
}

spry_status device_pinned_alloc(spry_device *d, int64_t bytes, void **memory)
{
    *memory = NULL;
    const spry_status status = device_begin(d, WORK_ALLOC);
    if (status != SPRY_STATUS_OK)
        return status;
    return device_end(d, d->engine->pin(d, bytes > 0 ? bytes : 1, memory));
}

void device_pinned_free(spry_device *d, void *memory)
{
    if (memory)
        d->engine->unpin(d, memory);
}

/* --- recordings ----------------------------------------------------------------------------------
 */

spry_status device_record_begin(spry_device *d)
{
    const spry_status status = alive(d);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!d->facts.has_graphs)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED, "%s cannot record", d->facts.name);
    const spry_status begun = device_end(d, d->engine->record_begin(d, d->stream->handle));
    d->recording = begun == SPRY_STATUS_OK;
    return begun;
}

spry_status device_record_end(spry_device *d, device_graph **out)
{
    spry_status status = SPRY_STATUS_OK;
    device_graph *g = NULL;
    void *handle = NULL;
    *out = NULL;
    d->recording = false;
    /* The recording is ended in any case, also when there is no memory for what it gives. */
    const spry_status ended = device_end(d, d->engine->record_end(d, d->stream->handle, &handle));
    SPRY_GO(d->ctx, ended);
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *g, &g));
    g->d = d;
    g->handle = handle;
    *out = g;
    handle = NULL;
done:
    if (handle)
        d->engine->graph_free(d, handle);
    return status;
}

spry_status device_play(device_graph *g)
{
    spry_device *d = g->d;
    const spry_status status = device_begin(d, WORK_LAUNCH);
    return status != SPRY_STATUS_OK
               ? status
               : device_end(d, d->engine->play(d, d->stream->handle, g->handle));
}

void device_graph_free(device_graph *g)
{
    if (g)
        handle_free(g, g->d->engine->graph_free);
}

/* --- events --------------------------------------------------------------------------------------
 */

spry_status device_event_new(spry_device *d, device_event **out)
{
    return handle_new(d, d->engine->event_new, out);
}

void device_event_free(device_event *e)
{
    if (e)
        handle_free(e, e->d->engine->event_free);
}

spry_status device_event_record(device_event *e, device_stream *s)
{
    spry_device *d = e->d;
    const spry_status status = alive(d);
    if (status != SPRY_STATUS_OK)
        return status;
    return device_end(d, d->engine->event_record(d, &e->handle, (s ? s : d->stream)->handle));
}

spry_status device_event_seconds(device_event *from, device_event *to, double *seconds)
{
    spry_device *d = from->d;
    const spry_status status = alive(d);
    *seconds = 0;
    if (status != SPRY_STATUS_OK)
        return status;
    return device_end(d, d->engine->event_seconds(d, from->handle, to->handle, seconds));
}

static spry_status mark(spry_device *d, int which)
{
    spry_status status = SPRY_STATUS_OK;
    if (!d->marks[which])
        status = device_event_new(d, &d->marks[which]);
    return status == SPRY_STATUS_OK ? device_event_record(d->marks[which], NULL) : status;
}

spry_status spry_device_mark(spry_device *device)
{
    SPRY_NEED(CTX_OF(device), device);
    return mark(device, 0);
}

spry_status spry_device_elapsed(spry_device *device, double *seconds)
{
    SPRY_NEED(CTX_OF(device), device, seconds);
    *seconds = 0;
    if (!device->marks[0])
        return SPRY_FAIL(device->ctx, SPRY_STATUS_BAD_USAGE, "%s: nothing was marked before",
                         device->facts.name);
    const spry_status status = mark(device, 1);
    return status == SPRY_STATUS_OK
               ? device_event_seconds(device->marks[0], device->marks[1], seconds)
               : status;
}
