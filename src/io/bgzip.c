/*
 * Files of bgzip: gzip members of at most 64 KiB each, whose headers hold their length (The
 * SAM/BAM Format Specification Working Group, Sequence Alignment/Map Format Specification, 4.1).
 * All threads unpack them. Anything else goes to the general reader, which reports damaged files.
 */
#include "io/gzip.h"

#include <omp.h>

enum {
    HEADER = 18,        /* bytes, with the field that holds the length */
    TRAILER = 8,        /* check sum and unpacked size */
    MOST = 1 << 16,     /* bytes of a member, packed or not */
    ZLIB_ROOM = 1 << 17 /* for its state and window */
};

typedef struct block {
    const char *from;
    size_t size;
    int64_t to;
    uint32_t unpacked;
} block;

static uint32_t little(const char *p, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | (unsigned char)p[i];
    return value;
}

/* The length of the member at p; 0: it is none of bgzip's. */
static size_t block_size(const char *p, size_t left)
{
    static const char magic[4] = "\x1f\x8b\x08\x04", field[6] = "\x06\0BC\x02\0";
    if (left < HEADER + TRAILER || memcmp(p, magic, 4) != 0 || memcmp(p + 10, field, 6) != 0)
        return 0;
    const size_t size = (size_t)little(p + 16, 2) + 1;
    return size >= HEADER + TRAILER && size <= left ? size : 0;
}

/* Counts members and writes them down where there is room; 0: the file has others, too. */
static int64_t find_blocks(const io_bytes *bytes, block *blocks, int64_t *total)
{
    int64_t count = 0;
    size_t size;
    *total = 0;
    for (size_t at = 0; at < bytes->size; at += size, count++) {
        const char *from = bytes->data + at;
        size = block_size(from, bytes->size - at);
        const uint32_t unpacked = size > 0 ? little(from + size - 4, 4) : MOST + 1;
        if (unpacked > MOST)
            return 0;
        if (blocks)
            blocks[count] = (block){from, size, *total, unpacked};
        *total += unpacked;
    }
    return count;
}

/* Memory for zlib that was taken before, by one thread. */
typedef struct room {
    size_t used;
    _Alignas(64) char memory[ZLIB_ROOM];
} room;

static voidpf take(voidpf opaque, uInt items, uInt size)
{
    room *r = opaque;
    const size_t bytes = ((size_t)items * size + 63) / 64 * 64;
    if (bytes > ZLIB_ROOM - r->used)
        return NULL;
    r->used += bytes;
    return r->memory + r->used - bytes;
}

static void keep(voidpf opaque, voidpf memory)
{
    (void)opaque;
    (void)memory;
}

static bool unpack_block(z_stream *z, const block *b, char *out)
{
    char nothing[1];
    z->next_in = (z_const Bytef *)b->from;
    z->avail_in = (uInt)b->size;
    z->next_out = (Bytef *)(b->unpacked > 0 ? out + b->to : nothing);
    z->avail_out = b->unpacked;
    return inflate(z, Z_FINISH) == Z_STREAM_END && z->avail_in == 0 && z->avail_out == 0 &&
           inflateReset(z) == Z_OK;
}

/* Also false where it was asked to stop. */
static bool unpack_blocks(spry_context *ctx, int threads, const block *blocks, int64_t count,
                          room *rooms, char *out)
{
    bool fine = true;
#pragma omp parallel num_threads(threads) reduction(&& : fine)
    {
        room *mine = &rooms[omp_get_thread_num()];
        z_stream z = {.zalloc = take, .zfree = keep, .opaque = mine};
        mine->used = 0;
        fine = inflateInit2(&z, GZIP_WINDOW) == Z_OK;
#pragma omp for schedule(dynamic, 16)
        for (int64_t k = 0; k < count; k++)
            fine =
                fine && !spry_context_interrupted(ctx, false) && unpack_block(&z, &blocks[k], out);
    }
    return fine;
}

spry_status io_unpack_blocks(spry_context *ctx, const io_bytes *packed, int64_t most, char **out,
                             int64_t *size)
{
    enum { FEW = 8 };
    int64_t total = 0;
    const int64_t count = find_blocks(packed, NULL, &total);
    const int64_t limit = ctx->options.memory_limit;
    block *blocks = NULL;
    room *rooms = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    *size = total;
    if (count < FEW || total == 0 || (limit > 0 && total > limit / 2) || total > most)
        return SPRY_STATUS_OK;
    const int threads = spry_context_threads(ctx);
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *blocks, &blocks));
    SPRY_GO(ctx, base_alloc(ctx, threads, sizeof *rooms, &rooms));
    SPRY_GO(ctx, base_alloc(ctx, total, 1, out));
    find_blocks(packed, blocks, &total);
    if (!unpack_blocks(ctx, threads, blocks, count, rooms, *out)) {
        base_free(ctx, *out);
        *out = NULL;
    }
    SPRY_GO(ctx, io_go_on(ctx, packed->path));
done:
    base_free(ctx, blocks);
    base_free(ctx, rooms);
    return status;
}
