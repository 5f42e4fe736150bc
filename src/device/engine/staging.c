/* Streams and pinned memory for copies that overlap with work. */
#include "device/engine/staging.h"

#include "device/engine/engine.h"
#include "matrix/entries.h"

static const int64_t most_kept = 64 << 20; /* bytes of one piece of pinned memory */

static void unpin(spry_device *d, void **memory, int64_t *bytes)
{
    device_pinned_free(d, *memory);
    *memory = NULL;
    *bytes = 0;
}

static spry_status pin(spry_device *d, int64_t asked, void **memory, int64_t *bytes)
{
    if (*bytes >= asked)
        return SPRY_STATUS_OK;
    unpin(d, memory, bytes);
    const spry_status status = device_pinned_alloc(d, asked, memory);
    if (status == SPRY_STATUS_OK)
        *bytes = asked;
    return status;
}

spry_status device_staging_open(spry_device *d, int64_t in_bytes, int64_t out_bytes,
                                device_staging **sides)
{
    spry_status status = SPRY_STATUS_OK;
    *sides = NULL;
    if (!d->staging)
        SPRY_GO(d->ctx, base_calloc(d->ctx, STAGING_SIDES, sizeof *d->staging, &d->staging));
    for (int k = 0; k < STAGING_SIDES; k++) {
        device_staging *s = &d->staging[k];
        if (!s->stream)
            SPRY_GO(d->ctx, device_stream_new(d, &s->stream));
        SPRY_GO(d->ctx, device_stream_finish(s->stream));
        SPRY_GO(d->ctx, pin(d, in_bytes, &s->in, &s->in_bytes));
        SPRY_GO(d->ctx, pin(d, out_bytes, &s->out, &s->out_bytes));
        SPRY_GO(d->ctx, device_stream_wait(s->stream, d->stream));
    }
    *sides = d->staging;
done:
    return status;
}

void device_staging_finish(spry_device *d)
{
    const base_kept before = base_try(d->ctx); /* of what failed first */
    for (int k = 0; d->staging && k < STAGING_SIDES; k++) {
        device_staging *s = &d->staging[k];
        if (s->stream)
            (void)device_stream_finish(s->stream);
        if (s->in_bytes > most_kept)
            unpin(d, &s->in, &s->in_bytes);
        if (s->out_bytes > most_kept)
            unpin(d, &s->out, &s->out_bytes);
    }
    base_forgive(d->ctx, &before);
}

static spry_status put_pieces(device_staging *sides, device_memory *to, const char *from,
                              int64_t bytes, int64_t piece)
{
    spry_context *ctx = to->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    int side = 0;
    for (int64_t at = 0; at < bytes; at += piece, side = (side + 1) % STAGING_SIDES) {
        const device_staging *s = &sides[side];
        const int64_t count = bytes - at < piece ? bytes - at : piece;
        SPRY_GO(ctx, device_stream_finish(s->stream)); /* its memory is free again */
        matrix_copy_bytes(ctx, s->in, from + at, (size_t)count);
        SPRY_GO(ctx, device_put_on(s->stream, to, at, s->in, count));
    }
done:
    return status;
}

/* A piece is on its way while the host has that before. */
static spry_status get_pieces(device_staging *sides, const device_memory *from, char *to,
                              int64_t bytes, int64_t piece)
{
    spry_context *ctx = from->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    int side = 0;
    for (int64_t at = 0; at < bytes + piece; at += piece, side = (side + 1) % STAGING_SIDES) {
        const device_staging *next = &sides[side], *s = &sides[(side + 1) % STAGING_SIDES];
        const int64_t before = at - piece, left = bytes - before;
        if (at < bytes)
            SPRY_GO(ctx, device_get_on(next->stream, from, at, next->out,
                                       bytes - at < piece ? bytes - at : piece));
        if (at == 0)
            continue;
        SPRY_GO(ctx, device_stream_finish(s->stream));
        matrix_copy_bytes(ctx, to + before, s->out, (size_t)(left < piece ? left : piece));
    }
done:
    return status;
}

static const int64_t large_piece = 8 << 20;

/* Sides with room for a piece each way; NULL where the array is small, or there is no pinned memory
 * for them: work goes on without it. */
static spry_status open_large(spry_device *d, int64_t bytes, bool put, device_staging **sides)
{
    const int64_t pieces = 4; /* below that nothing is gained */
    *sides = NULL;
    if (bytes < pieces * large_piece)
        return SPRY_STATUS_OK;
    const base_kept before = base_try(d->ctx);
    const spry_status status =
        device_staging_open(d, put ? large_piece : 0, put ? 0 : large_piece, sides);
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(d->ctx, &before);
    return SPRY_STATUS_OK;
}

spry_status device_put_large(device_memory *to, const void *from, int64_t bytes)
{
    spry_device *d = to->d;
    device_staging *sides;
    spry_status status = open_large(d, bytes, true, &sides);
    if (status == SPRY_STATUS_OK && !sides)
        return bytes > 0 ? device_put(to, 0, from, bytes) : SPRY_STATUS_OK;
    const double begin = base_seconds();
    if (status == SPRY_STATUS_OK)
        status = put_pieces(sides, to, from, bytes, large_piece);
    for (int k = 0; k < STAGING_SIDES && status == SPRY_STATUS_OK; k++)
        status = device_stream_finish(sides[k].stream);
    if (status != SPRY_STATUS_OK)
        device_staging_finish(d);
    else
        d->bus_rate = (double)bytes / (base_seconds() - begin + 1e-9);
    return status;
}

spry_status device_get_large(const device_memory *from, void *to, int64_t bytes)
{
    device_staging *sides;
    spry_status status = open_large(from->d, bytes, false, &sides);
    if (status == SPRY_STATUS_OK && !sides)
        return bytes > 0 ? device_get(from, 0, to, bytes) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK)
        status = get_pieces(sides, from, to, bytes, large_piece);
    if (status != SPRY_STATUS_OK)
        device_staging_finish(from->d);
    return status;
}

void device_staging_close(spry_device *d)
{
    for (int k = 0; d->staging && k < STAGING_SIDES; k++) {
        device_staging *s = &d->staging[k];
        if (s->stream && !d->lost)
            (void)d->engine->stream_finish(d, s->stream->handle);
        unpin(d, &s->in, &s->in_bytes);
        unpin(d, &s->out, &s->out_bytes);
        device_stream_free(s->stream);
    }
    base_free(d->ctx, d->staging);
    d->staging = NULL;
}
