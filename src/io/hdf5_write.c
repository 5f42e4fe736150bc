/* HDF5: the image of a file's structure. */
#include "io/hdf5_write.h"

enum {
    LEAF_K = 4,
    NODE_K = 16,
    NODE = 24 + 8 * (4 * NODE_K + 1), /* a tree's node: 2 K children and 2 K + 1 keys */
    LEAF = 8 + 40 * 2 * LEAF_K
};

/* Messages of headers. */
enum { SPACE = 1, TYPE = 3, LAYOUT = 8, ATTRIBUTE = 12, SYMBOLS = 17 };

static void put(hdf5_image *m, uint64_t value, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++, value >>= 8)
        m->bytes[m->used++] = (char)(value & 0xff);
}

static void put_at(hdf5_image *m, size_t at, uint64_t value, size_t bytes)
{
    const size_t used = m->used;
    m->used = at;
    put(m, value, bytes);
    m->used = used;
}

static void put_text(hdf5_image *m, const char *text, size_t bytes)
{
    memcpy(m->bytes + m->used, text, strlen(text)); /* the image was zero */
    m->used += bytes;
}

static void pad(hdf5_image *m)
{
    m->used = (m->used + 7) / 8 * 8;
}

static size_t begin_header(hdf5_image *m)
{
    m->header = m->used;
    put(m, 1, 2); /* version; number of messages, length come later */
    m->used = m->header + 16;
    put_at(m, m->header + 4, 1, 4); /* one link leads to it */
    return m->header;
}

static void end_header(hdf5_image *m)
{
    put_at(m, m->header + 8, m->used - m->header - 16, 4);
}

static void begin_message(hdf5_image *m, int type)
{
    const size_t count_at = m->header + 2;
    put_at(m, count_at, (uint64_t)(unsigned char)m->bytes[count_at] + 1, 2);
    m->message = m->used;
    put(m, (uint64_t)type, 8);
}

static void end_message(hdf5_image *m)
{
    pad(m);
    put_at(m, m->message + 2, m->used - m->message - 8, 2);
}

static void put_space(hdf5_image *m, int rank, const uint64_t *sides)
{
    put(m, 1 | (uint64_t)rank << 8, 8);
    for (int k = 0; k < rank; k++)
        put(m, sides[k], 8);
}

/* Whole numbers without a sign, or IEEE's numbers (IV.A.2.d). */
static void put_whole_type(hdf5_image *m, size_t bytes)
{
    put(m, 0x10, 4);
    put(m, bytes, 4);
    put(m, (uint64_t)(8 * bytes) << 16, 4);
}

static void put_real_type(hdf5_image *m, bool single)
{
    put(m, 0x11 | 0x20u << 8 | (single ? 31u : 63u) << 16, 4); /* hidden bit, place of the sign */
    put(m, single ? 4 : 8, 4);
    put(m, (single ? 32u : 64u) << 16, 4);
    put(m, single ? 23 | 8 << 8 | 0 << 16 | 23 << 24 : 52 | 11 << 8 | 0 << 16 | 52 << 24, 4);
    put(m, single ? 127 : 1023, 4);
}

static void put_type(hdf5_image *m, const hdf5_piece *p)
{
    const bool single = p->type == SPRY_TYPE_S || p->type == SPRY_TYPE_C;
    if (p->whole) {
        put_whole_type(m, 8);
    } else if (!spry_type_is_complex(p->type)) {
        put_real_type(m, single);
    } else {
        put(m, 0x16 | 2 << 8, 4);
        put(m, spry_type_size(p->type), 4);
        for (int part = 0; part < 2; part++) {
            put_text(m, p->parts[part], 8);
            put(m, part ? (single ? 4 : 8) : 0, 4);
            m->used += 28; /* no array */
            put_real_type(m, single);
        }
    }
}

/* A text of `bytes` bytes. */
static void put_text_type(hdf5_image *m, size_t bytes)
{
    put(m, 0x13, 4);
    put(m, bytes, 4);
}

/* Sizes of an attribute's name, type and space, then these, each padded, then its value. */
static void put_attribute(hdf5_image *m, const hdf5_attribute *a)
{
    static const size_t type_bytes[] = {[HDF5_TEXT] = 8, [HDF5_COUNT] = 12, [HDF5_REAL] = 20};
    const uint64_t side = (uint64_t)a->count;
    const int rank = a->count > 0 ? 1 : 0;
    begin_message(m, ATTRIBUTE);
    put(m, 1, 2);
    put(m, strlen(a->name) + 1, 2);
    put(m, type_bytes[a->kind], 2);
    put(m, 8 + 8 * (uint64_t)rank, 2);
    put_text(m, a->name, (strlen(a->name) + 8) / 8 * 8);
    if (a->kind == HDF5_TEXT)
        put_text_type(m, a->bytes);
    else if (a->kind == HDF5_COUNT)
        put_whole_type(m, a->bytes);
    else
        put_real_type(m, false);
    pad(m);
    put_space(m, rank, &side);
    if (a->kind == HDF5_COUNT) {
        put(m, *(const uint64_t *)a->data, a->bytes);
    } else {
        const size_t all = a->bytes * (size_t)(a->count > 0 ? a->count : 1);
        memcpy(m->bytes + m->used, a->data, all);
        m->used += all;
    }
    end_message(m);
}

static void put_attributes(hdf5_image *m, int count, const hdf5_attribute *attribute)
{
    for (int k = 0; k < count; k++)
        put_attribute(m, &attribute[k]);
}

/* Header, tree of one node, names, one leaf. */
size_t hdf5_put_group(hdf5_image *m, int count, const char *const *names, int attributes,
                      const hdf5_attribute *attribute, size_t *targets)
{
    const size_t header = begin_header(m);
    begin_message(m, SYMBOLS);
    const size_t symbols = m->used;
    put(m, 0, 16);
    end_message(m);
    put_attributes(m, attributes, attribute);
    end_header(m);
    const size_t tree = m->used, heap = tree + NODE, segment = heap + 32;
    const size_t names_bytes = HDF5_SLOT * ((size_t)count + 1), leaf = segment + names_bytes;
    put_at(m, symbols, tree, 8);
    put_at(m, symbols + 8, heap, 8);
    put_text(m, "TREE", 4);
    put(m, 1 << 16, 4); /* of a group, lowest, one child */
    put(m, UINT64_MAX, 8);
    put(m, UINT64_MAX, 8);
    put(m, 0, 8);
    put(m, leaf, 8);
    put(m, HDF5_SLOT * (size_t)count, 8); /* the greatest name */
    m->used = heap;
    put_text(m, "HEAP", 8);
    put(m, names_bytes, 8);
    put(m, 1, 8); /* nothing is free */
    put(m, segment, 8);
    m->used = segment + HDF5_SLOT;
    for (int k = 0; k < count; k++)
        put_text(m, names[k], HDF5_SLOT);
    put_text(m, "SNOD", 4);
    put(m, 1 | (uint64_t)count << 16, 4);
    for (int k = 0; k < count; k++) {
        put(m, HDF5_SLOT * ((size_t)k + 1), 8);
        targets[k] = m->used;
        m->used += 32;
    }
    m->used = leaf + LEAF;
    return header;
}

size_t hdf5_put_data(hdf5_image *m, hdf5_piece *p)
{
    const size_t header = begin_header(m);
    begin_message(m, SPACE);
    put_space(m, p->rank, p->sides);
    end_message(m);
    begin_message(m, TYPE);
    put_type(m, p);
    end_message(m);
    begin_message(m, LAYOUT);
    put(m, 3 | 1 << 8, 2);
    p->layout = m->used;
    put(m, 0, 16);
    end_message(m);
    put_attributes(m, p->attributes, p->attribute);
    end_header(m);
    return header;
}

void hdf5_begin(hdf5_image *m)
{
    put_text(m, "\x89HDF\r\n\x1a\n", 8);
    put(m, 8ull << 40 | 8ull << 48, 8); /* versions 0; addresses and lengths of 8 bytes */
    put(m, LEAF_K | NODE_K << 16, 8);
    put(m, m->user_block, 8);
    put(m, UINT64_MAX, 8);
    put(m, 0, 8); /* where it ends, later */
    put(m, UINT64_MAX, 8);
    put(m, 0, 40); /* the root's entry */
}

enum { END_AT = 40, ROOT_AT = 56 + 8 };

void hdf5_set_root(hdf5_image *m, size_t header)
{
    put_at(m, ROOT_AT, header, 8);
}

void hdf5_set_target(hdf5_image *m, size_t target, size_t header)
{
    put_at(m, target, header, 8);
}

void hdf5_settle(hdf5_image *m, int count, const hdf5_piece *pieces)
{
    pad(m);
    uint64_t at = m->used;
    for (int k = 0; k < count; k++) {
        uint64_t bytes = pieces[k].whole ? 8 : spry_type_size(pieces[k].type);
        for (int d = 0; d < pieces[k].rank; d++)
            bytes *= pieces[k].sides[d];
        put_at(m, pieces[k].layout, bytes > 0 ? at : UINT64_MAX, 8);
        put_at(m, pieces[k].layout + 8, bytes, 8);
        at += bytes;
    }
    put_at(m, END_AT, m->user_block + at, 8);
}
