/* HDF5: the numbers of data sets, as one piece of the file, or in chunks found by a tree (III.A.1)
 * that went through filters. */
#include "io/hdf5.h"

#include <zlib.h>

enum {
    NODE = 24,
    DEEPEST = 16,
    RATIO = 1032,     /* deflate packs nothing better */
    BOMB_RATIO = 200, /* beyond a GiB more than this is taken for one, as in gzip.c */
};

/* A data set in chunks while its numbers are put together. */
typedef struct gathering {
    hdf5_file *f;
    const hdf5_object *o;
    uint64_t sides[HDF5_RANK], chunk[HDF5_RANK]; /* always three: first sides of 1 are added */
    uint64_t chunks;                             /* that may still come */
    size_t chunk_bytes;                          /* of a chunk, unpacked */
    char *memory;                                /* the whole */
    char *piece[2];                              /* a chunk before and after a filter */
} gathering;

static spry_status too_large(const hdf5_file *f)
{
    return hdf5_broken(f, "a data set claims to be larger than it can be");
}

/* How many elements there are, where that many bytes can come from the file. */
static spry_status count_elements(const hdf5_file *f, const hdf5_object *o, size_t *count)
{
    const uint64_t most = (uint64_t)f->all.size * RATIO;
    uint64_t bytes = o->type.size;
    if (bytes == 0 || bytes > most)
        return too_large(f);
    for (int k = 0; k < o->rank; k++) {
        if (o->sides[k] > most || (o->sides[k] > 0 && bytes > most / o->sides[k]))
            return too_large(f);
        bytes *= o->sides[k];
    }
    *count = (size_t)(bytes / o->type.size);
    if (o->type.size < sizeof(double)) /* what it becomes */
        bytes = *count * sizeof(double);
    if (bytes > (uint64_t)1 << 30 && bytes / BOMB_RATIO > f->all.size)
        return too_large(f);
    return SPRY_STATUS_OK;
}

/* Puts the first bytes of all elements first, then the second ones, ...: undoes that. */
static void unshuffle(const char *from, char *to, size_t bytes, size_t size)
{
    const size_t count = bytes / size;
    for (size_t b = 0; b < size; b++)
        for (size_t k = 0; k < count; k++)
            to[k * size + b] = from[b * count + k];
    memcpy(to + count * size, from + count * size, bytes - count * size);
}

static bool unpack(const char *from, size_t bytes, char *to, size_t room, size_t *made)
{
    z_stream z = {0};
    if (bytes > UINT32_MAX || room > UINT32_MAX || inflateInit(&z) != Z_OK)
        return false;
    z.next_in = (Bytef *)(uintptr_t)from;
    z.avail_in = (uInt)bytes;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)room;
    const int code = inflate(&z, Z_FINISH);
    *made = room - z.avail_out;
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

/* Undoes the filters, the last one first; those of the mask were left out. `chunk`: in as it is
 * stored, out as it was. */
static spry_status undo_filters(gathering *g, size_t bytes, uint32_t mask, const char **chunk)
{
    const hdf5_object *o = g->o;
    const char *from = *chunk;
    int into = 0;
    for (int k = o->filters; k-- > 0;) {
        if (mask >> k & 1)
            continue;
        if (o->filter[k] == HDF5_CHECKSUM) {
            if (bytes < 4)
                return hdf5_broken(g->f, "a chunk is cut short");
            bytes -= 4;
            continue;
        }
        char *to = g->piece[into];
        if (o->filter[k] == HDF5_DEFLATE) {
            if (!unpack(from, bytes, to, g->chunk_bytes + 4, &bytes))
                return hdf5_broken(g->f, "a chunk cannot be unpacked");
        } else if (bytes <= g->chunk_bytes + 4) {
            unshuffle(from, to, bytes, o->type.size);
        } else {
            return hdf5_broken(g->f, "a chunk is longer than it should be");
        }
        from = to;
        into = 1 - into;
    }
    *chunk = from;
    return bytes >= g->chunk_bytes ? SPRY_STATUS_OK : hdf5_broken(g->f, "a chunk is cut short");
}

/* Copies what of a chunk lies in the data set, row by row. */
static spry_status place_chunk(gathering *g, const char *chunk, const uint64_t at[HDF5_RANK])
{
    const size_t size = g->o->type.size;
    uint64_t part[HDF5_RANK];
    for (int k = 0; k < HDF5_RANK; k++) {
        if (at[k] >= g->sides[k])
            return SPRY_STATUS_OK; /* the data set was made shorter */
        part[k] = g->sides[k] - at[k] < g->chunk[k] ? g->sides[k] - at[k] : g->chunk[k];
    }
    for (uint64_t r = 0; r < part[0] * part[1]; r++) {
        const uint64_t p = r / part[1], q = r % part[1];
        memcpy(g->memory + (((at[0] + p) * g->sides[1] + at[1] + q) * g->sides[2] + at[2]) * size,
               chunk + (p * g->chunk[1] + q) * g->chunk[2] * size, (size_t)part[2] * size);
    }
    return SPRY_STATUS_OK;
}

static spry_status read_chunk(gathering *g, const char *key, uint64_t address)
{
    spry_status status = SPRY_STATUS_OK;
    const int rank = g->o->rank;
    uint64_t at[HDF5_RANK] = {0};
    hdf5_span stored = {0};
    const char *chunk = NULL;
    if (g->chunks == 0)
        return hdf5_broken(g->f, "a data set has more chunks than it has room for");
    g->chunks--;
    for (int k = 0; k < rank; k++)
        at[HDF5_RANK - rank + k] = hdf5_number(key + 8 + 8 * k, 8);
    SPRY_GO(g->f->ctx, hdf5_piece(g->f, address, hdf5_number(key, 4), &stored));
    chunk = stored.data;
    SPRY_GO(g->f->ctx, undo_filters(g, stored.size, (uint32_t)hdf5_number(key + 4, 4), &chunk));
    SPRY_GO(g->f->ctx, place_chunk(g, chunk, at));
done:
    return status;
}

static spry_status read_node(gathering *g, uint64_t address, int depth)
{
    spry_status status = SPRY_STATUS_OK;
    const size_t key = 8 + 8 * ((size_t)g->o->rank + 1), pair = key + 8;
    hdf5_span p;
    SPRY_GO(g->f->ctx, hdf5_step(g->f));
    SPRY_GO(g->f->ctx, hdf5_piece(g->f, address, NODE, &p));
    if (memcmp(p.data, "TREE", 4) != 0 || p.data[4] != 1 || depth > DEEPEST)
        return hdf5_broken(g->f, "a data set has no tree of its chunks");
    const bool leaves = p.data[5] == 0;
    const uint64_t count = hdf5_number(p.data + 6, 2);
    SPRY_GO(g->f->ctx, hdf5_piece(g->f, address + NODE, count * pair + key, &p));
    for (uint64_t k = 0; k < count; k++) {
        const char *entry = p.data + k * pair;
        const uint64_t child = hdf5_number(entry + key, 8);
        SPRY_GO(g->f->ctx, leaves ? hdf5_step(g->f) : SPRY_STATUS_OK);
        SPRY_GO(g->f->ctx, leaves ? read_chunk(g, entry, child) : read_node(g, child, depth + 1));
    }
done:
    return status;
}

/* Chunks that were never written are zero. */
static spry_status gather(hdf5_file *f, const hdf5_object *o, size_t count, char **memory)
{
    spry_status status = SPRY_STATUS_OK;
    gathering g = {.f = f, .o = o, .sides = {1, 1, 1}, .chunk = {1, 1, 1}, .chunks = 1};
    uint64_t bytes = o->type.size;
    for (int k = 0; k < o->rank; k++) {
        const int to = HDF5_RANK - o->rank + k;
        g.sides[to] = o->sides[k];
        g.chunk[to] = o->chunk[k];
        if (o->chunk[k] == 0 || bytes > (uint64_t)f->all.size * RATIO / o->chunk[k])
            return too_large(f);
        bytes *= o->chunk[k];
        g.chunks *= (o->sides[k] - 1) / o->chunk[k] + 1;
    }
    if (bytes > UINT32_MAX - 4 || (bytes > (uint64_t)1 << 30 && bytes / BOMB_RATIO > f->all.size))
        return too_large(f);
    g.chunk_bytes = (size_t)bytes;
    SPRY_GO(f->ctx, base_calloc(f->ctx, (int64_t)count, o->type.size, &g.memory));
    for (int k = 0; k < 2 && o->filters > 0; k++)
        SPRY_GO(f->ctx, base_alloc(f->ctx, (int64_t)bytes + 4, 1, &g.piece[k]));
    SPRY_GO(f->ctx, read_node(&g, o->start, 0));
    *memory = g.memory;
    g.memory = NULL;
done:
    base_free(f->ctx, g.piece[0]);
    base_free(f->ctx, g.piece[1]);
    base_free(f->ctx, g.memory);
    return status;
}

spry_status hdf5_read(hdf5_file *f, const hdf5_object *o, hdf5_numbers *numbers)
{
    spry_status status = SPRY_STATUS_OK;
    size_t count = 0;
    hdf5_span p = {0};
    char *memory = NULL;
    *numbers = (hdf5_numbers){0};
    if (o->filters < 0)
        return hdf5_unsupported(f, "a filter other than deflate and shuffle");
    SPRY_GO(f->ctx, count_elements(f, o, &count));
    if (count == 0)
        return SPRY_STATUS_OK;
    if (o->layout == HDF5_NOWHERE)
        return hdf5_unsupported(f, "chunks in the new style, or a data set that was never written");
    if (o->layout == HDF5_CHUNKS) {
        SPRY_GO(f->ctx, gather(f, o, count, &memory));
        p.data = memory;
    } else if (o->layout == HDF5_WHOLE) {
        SPRY_GO(f->ctx, hdf5_piece(f, o->start, count * o->type.size, &p));
    } else {
        if (o->inside.size < count * o->type.size)
            return hdf5_broken(f, "a data set is cut short");
        p.data = o->inside.data;
    }
    numbers->memory = memory;
    numbers->re = (mat_numbers){o->type.part, p.data + o->type.re, count, o->type.size};
    if (o->type.complex)
        numbers->im = (mat_numbers){o->type.part, p.data + o->type.im, count, o->type.size};
done:
    return status;
}
