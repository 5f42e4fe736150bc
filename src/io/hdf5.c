/* HDF5: the superblock, headers of objects and the messages they are made of. */
#include "io/hdf5.h"

enum {
    FIRST_PLACES = 8,
    PREFIX_1 = 16,
    MESSAGE_1 = 8,
    CONTINUED = 0x10,
    CHECKSUM = 4,
    BLOCKS = 64
};

static const char signature[8] = "\x89HDF\r\n\x1a\n";

spry_status hdf5_broken(const hdf5_file *f, const char *what)
{
    return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT, "%s: %s: a broken HDF5 file", f->path, what);
}

spry_status hdf5_unsupported(const hdf5_file *f, const char *what)
{
    return SPRY_FAIL(f->ctx, SPRY_STATUS_UNSUPPORTED,
                     "%s: HDF5 with %s is not read; save it by save -v7", f->path, what);
}

uint64_t hdf5_number(const char *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t k = bytes; k-- > 0;)
        value = value << 8 | (unsigned char)data[k];
    return value;
}

const char *hdf5_take(hdf5_span *from, size_t bytes)
{
    const char *data = from->data;
    if (bytes > from->size)
        return NULL;
    from->data += bytes;
    from->size -= bytes;
    return data;
}

spry_status hdf5_piece(const hdf5_file *f, uint64_t address, uint64_t size, hdf5_span *piece)
{
    if (address > f->all.size || size > f->all.size - address)
        return hdf5_broken(f, "an address lies beyond the end");
    *piece = (hdf5_span){f->all.data + address, (size_t)size};
    return SPRY_STATUS_OK;
}

spry_status hdf5_step(hdf5_file *f)
{
    if (f->steps == 0)
        return hdf5_broken(f, "its parts lead in a circle");
    f->steps--;
    return io_go_on(f->ctx, f->path);
}

/* It is at the beginning, or behind 512, 1024, ... bytes of others (II.A). */
static bool find_signature(const io_bytes *bytes, size_t *place)
{
    *place = 0;
    for (int k = 0; k < FIRST_PLACES; k++) {
        if (*place + 16 <= bytes->size &&
            memcmp(bytes->data + *place, signature, sizeof signature) == 0)
            return true;
        *place = *place == 0 ? 512 : 2 * *place;
    }
    return false;
}

bool hdf5_is(const io_bytes *bytes)
{
    size_t place;
    return find_signature(bytes, &place);
}

/* II.A: version, sizes of addresses and lengths, root group. */
spry_status hdf5_open(spry_context *ctx, const io_bytes *bytes, hdf5_file *f)
{
    size_t place = 0;
    *f = (hdf5_file){.ctx = ctx, .path = bytes->path};
    if (!find_signature(bytes, &place))
        return hdf5_broken(f, "it has no superblock");
    f->all = (hdf5_span){bytes->data + place, bytes->size - place};
    f->steps = 2 * (uint64_t)f->all.size + 64;
    const int version = (unsigned char)f->all.data[8];
    const bool old = version == 0 || version == 1;
    if (!old && version != 2 && version != 3)
        return hdf5_unsupported(f, "a superblock of an unknown version");
    const char *sizes = f->all.data + (old ? 13 : 9);
    if (sizes[0] != 8 || sizes[1] != 8)
        return hdf5_unsupported(f, "addresses of other than 8 bytes");
    /* the root group's entry has the address behind that of its name; later versions have it alone
     */
    const size_t at = old ? 24 + (version == 1 ? 4 : 0) + 32 + 8 : 12 + 24;
    if (at + 8 > f->all.size)
        return hdf5_broken(f, "the superblock is cut short");
    f->root = hdf5_number(f->all.data + at, 8);
    return SPRY_STATUS_OK;
}

/* The blocks of messages of a header, of version 1 or 2 (IV.A.1). */
typedef struct walk {
    hdf5_file *f;
    bool second;   /* version 2 */
    size_t prefix; /* bytes before the body of a message */
    int blocks;    /* that continue it and were found up to now */
    uint64_t start[BLOCKS], bytes[BLOCKS];
    hdf5_each_message each;
    void *data;
} walk;

static spry_status take_message(walk *w, hdf5_span *from, hdf5_message *m)
{
    const char *p = hdf5_take(from, w->prefix);
    if (!p)
        return hdf5_broken(w->f, "a message is cut short");
    const size_t type_bytes = w->second ? 1 : 2;
    m->type = (uint32_t)hdf5_number(p, type_bytes);
    m->body.size = (size_t)hdf5_number(p + type_bytes, 2);
    m->shared = p[type_bytes + 2] & 2;
    m->body.data = hdf5_take(from, m->body.size);
    return m->body.data ? SPRY_STATUS_OK : hdf5_broken(w->f, "a message is cut short");
}

static spry_status walk_block(walk *w, hdf5_span from)
{
    spry_status status = SPRY_STATUS_OK;
    while (from.size >= w->prefix) {
        hdf5_message m;
        SPRY_GO(w->f->ctx, hdf5_step(w->f)); /* headers may lie upon each other */
        SPRY_GO(w->f->ctx, take_message(w, &from, &m));
        if (m.type == CONTINUED && m.body.size >= 16) {
            if (w->blocks == BLOCKS)
                return hdf5_broken(w->f, "a header has too many pieces");
            w->start[w->blocks] = hdf5_number(m.body.data, 8);
            w->bytes[w->blocks++] = hdf5_number(m.body.data + 8, 8);
        } else {
            SPRY_GO(w->f->ctx, w->each(w->data, &m));
        }
    }
done:
    return status;
}

/* The first block of a header of version 2: its flags hold the width of its numbers. */
static spry_status begin_second(walk *w, uint64_t address, hdf5_span *block)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_span p;
    SPRY_GO(w->f->ctx, hdf5_piece(w->f, address, 6, &p));
    const int flags = (unsigned char)p.data[5];
    const size_t width = (size_t)1 << (flags & 3);
    const uint64_t size_at = address + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    SPRY_GO(w->f->ctx, hdf5_piece(w->f, size_at, width, &p));
    w->second = true;
    w->prefix = flags & 4 ? 6 : 4;
    SPRY_GO(w->f->ctx, hdf5_piece(w->f, size_at + width, hdf5_number(p.data, width), block));
done:
    return status;
}

static spry_status begin(walk *w, uint64_t address, hdf5_span *block)
{
    spry_status status = SPRY_STATUS_OK;
    hdf5_span p;
    SPRY_GO(w->f->ctx, hdf5_piece(w->f, address, PREFIX_1, &p));
    if (memcmp(p.data, "OHDR", 4) == 0)
        return begin_second(w, address, block);
    if (p.data[0] != 1)
        return hdf5_broken(w->f, "a header has an unknown version");
    w->prefix = MESSAGE_1;
    SPRY_GO(w->f->ctx, hdf5_piece(w->f, address + PREFIX_1, hdf5_number(p.data + 8, 4), block));
done:
    return status;
}

spry_status hdf5_messages(hdf5_file *f, uint64_t address, hdf5_each_message each, void *data)
{
    spry_status status = SPRY_STATUS_OK;
    walk w = {.f = f, .each = each, .data = data};
    hdf5_span block;
    SPRY_GO(f->ctx, hdf5_step(f));
    SPRY_GO(f->ctx, begin(&w, address, &block));
    SPRY_GO(f->ctx, walk_block(&w, block));
    for (int k = 0; k < w.blocks; k++) {
        SPRY_GO(f->ctx, hdf5_step(f));
        SPRY_GO(f->ctx, hdf5_piece(f, w.start[k], w.bytes[k], &block));
        if (w.second) { /* "OCHK" before, a checksum behind */
            if (block.size < 4 + CHECKSUM)
                return hdf5_broken(f, "a header is cut short");
            block = (hdf5_span){block.data + 4, block.size - 4 - CHECKSUM};
        }
        SPRY_GO(f->ctx, walk_block(&w, block));
    }
done:
    return status;
}
