/* Unpacking gzip in memory: members one after the other, bounded so that a bomb does no harm. */
#include "io/gzip.h"

#include "io/io.h"

#include <limits.h>

enum { BOMB_RATIO = 200, BOMB_SIZE = 1 << 28, SMALL = 1 << 12, PIECE = 1 << 24 };

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt size)
{
    void *memory = NULL;
    return base_alloc(opaque, items, size, &memory) == SPRY_STATUS_OK ? memory : NULL;
}

static void zlib_free(voidpf opaque, voidpf memory)
{
    base_free(opaque, memory);
}

z_stream io_zlib_stream(spry_context *ctx)
{
    return (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = ctx};
}

/* What a file of `packed` bytes may unpack to before it is taken for a bomb. */
static int64_t most_unpacked(int64_t packed)
{
    const int64_t most = packed < INT64_MAX / BOMB_RATIO ? BOMB_RATIO * packed : INT64_MAX;
    return most > BOMB_SIZE ? most : BOMB_SIZE;
}

typedef struct unpacking {
    spry_context *ctx;
    const io_bytes *packed;
    size_t used; /* packed bytes handed to zlib */
    char *out;
    int64_t room, size;
    z_stream stream;
} unpacking;

/* The last four bytes of a member are its unpacked size modulo 2^32: a good guess, never trusted.
 */
static int64_t guess_size(const io_bytes *packed)
{
    const int64_t size = (int64_t)packed->size;
    int64_t guess = 0;
    for (int i = 1; i <= 4 && i <= size; i++)
        guess = guess << 8 | (unsigned char)packed->data[size - i];
    /* One byte more than needed lets zlib see the end before it asks for more room. */
    return (guess >= size && guess <= BOMB_RATIO * size ? guess : 4 * size + SMALL) + 1;
}

static spry_status more_room(unpacking *u)
{
    if (u->size > most_unpacked((int64_t)u->packed->size))
        return SPRY_FAIL(u->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: unpacks to over %d times its size of %zu bytes: a gzip bomb?",
                         u->packed->path, BOMB_RATIO, u->packed->size);
    const int64_t room = u->room == 0 ? guess_size(u->packed) : 2 * u->room;
    const int64_t limit = u->ctx->options.memory_limit;
    if (limit > 0 && room > limit - u->room)
        return SPRY_FAIL(u->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: unpacks to over %" PRId64
                         " bytes, more than the memory limit of %" PRId64 " leaves room for",
                         u->packed->path, u->size, limit);
    u->room = room;
    return base_grow(u->ctx, u->size, room, 1, &u->out);
}

static spry_status fault(unpacking *u, const char *what)
{
    return SPRY_FAIL(u->ctx, SPRY_STATUS_BAD_INPUT, "%s: gzip data are damaged: %s",
                     u->packed->path, what);
}

/* Hands zlib the next piece of input, at most what its counters hold, and of output, after which
 * a stop may be wanted. */
static int step(unpacking *u)
{
    z_stream *z = &u->stream;
    const size_t in = u->packed->size - u->used, out = (size_t)(u->room - u->size);
    const uInt in_now = in < INT_MAX ? (uInt)in : INT_MAX;
    const uInt out_now = out < PIECE ? (uInt)out : PIECE;
    z->next_in = (z_const Bytef *)(u->packed->data + u->used);
    z->avail_in = in_now;
    z->next_out = (Bytef *)(u->out + u->size);
    z->avail_out = out_now;
    const int code = inflate(z, Z_NO_FLUSH);
    u->used += in_now - z->avail_in;
    u->size += out_now - z->avail_out;
    return code;
}

static spry_status unpack_members(unpacking *u)
{
    spry_status status = SPRY_STATUS_OK;
    for (;;) {
        SPRY_GO(u->ctx, io_go_on(u->ctx, u->packed->path));
        if (u->size == u->room)
            SPRY_GO(u->ctx, more_room(u));
        const int code = step(u);
        if (code == Z_MEM_ERROR)
            return SPRY_STATUS_NO_MEMORY;
        if (code == Z_STREAM_END) {
            if (u->used == u->packed->size)
                break;
            inflateReset(&u->stream);
        } else if (code == Z_BUF_ERROR ||
                   (code == Z_OK && u->used == u->packed->size && u->size < u->room)) {
            return fault(u, "the file ends too early");
        } else if (code != Z_OK) {
            return fault(u, u->stream.msg ? u->stream.msg : "not gzip");
        }
    }
done:
    return status;
}

/* By one thread, whatever the file is. */
static spry_status unpack_in_turn(spry_context *ctx, const io_bytes *bytes, char **out,
                                  int64_t *size)
{
    unpacking u = {.ctx = ctx, .packed = bytes, .stream = io_zlib_stream(ctx)};
    spry_status status = SPRY_STATUS_OK;
    if (inflateInit2(&u.stream, GZIP_WINDOW) != Z_OK)
        return SPRY_STATUS_NO_MEMORY;
    SPRY_GO(ctx, unpack_members(&u));
    if (u.size == 0)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s:1: the file is empty", bytes->path));
    *out = u.out;
    *size = u.size;
    u.out = NULL;
done:
    inflateEnd(&u.stream);
    base_free(ctx, u.out);
    return status;
}

spry_status io_unpack(spry_context *ctx, io_bytes *bytes)
{
    char *out = NULL;
    int64_t size = 0;
    spry_status status = SPRY_STATUS_OK;
    if (bytes->size < 2 || memcmp(bytes->data, "\x1f\x8b", 2) != 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, io_unpack_blocks(ctx, bytes, most_unpacked((int64_t)bytes->size), &out, &size));
    if (!out)
        SPRY_GO(ctx, unpack_in_turn(ctx, bytes, &out, &size));
    io_close(ctx, bytes);
    bytes->data = bytes->memory = out;
    bytes->size = (size_t)size;
done:
    return status;
}
