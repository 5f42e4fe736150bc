/*
 * Writing MATLAB's files of level 7.3: one variable, A or x, in HDF5 as its first versions have it
 * (superblock 0, groups with symbol tables, data sets in one piece), which every reader knows. All
 * but the numbers is made in memory first, since parts point at each other; the numbers follow.
 *
 * Reference: "HDF5 File Format Specification", version 3.0, The HDF Group.
 */
#include "io/mat.h"

enum {
    USER_BLOCK = 512, /* of MATLAB's header; addresses count from its end */
    IMAGE = 4096,
    LEAF_K = 4,
    NODE_K = 16,
    NODE = 24 + 8 * (4 * NODE_K + 1), /* a tree's node: 2 K children and 2 K + 1 keys */
    LEAF = 8 + 40 * 2 * LEAF_K,
    MOST_DATA = 3,
    SLOT = 8, /* bytes of a name in a group */
    PIECE = 4096
};

/* Messages of headers. */
enum { SPACE = 1, TYPE = 3, LAYOUT = 8, ATTRIBUTE = 12, SYMBOLS = 17 };

/* What lies before the numbers. Sizes are known, and all fit. */
typedef struct image {
    char bytes[IMAGE];
    size_t used;
    size_t message, header; /* those that are being made */
} image;

/* A data set of the file. */
typedef struct piece {
    const char *name;
    spry_type type; /* of numbers; whole ones where `whole` says so */
    bool whole;
    int rank;
    uint64_t sides[2];
    size_t layout; /* where its address goes */
} piece;

static void put(image *m, uint64_t value, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++, value >>= 8)
        m->bytes[m->used++] = (char)(value & 0xff);
}

static void put_at(image *m, size_t at, uint64_t value, size_t bytes)
{
    const size_t used = m->used;
    m->used = at;
    put(m, value, bytes);
    m->used = used;
}

static void put_text(image *m, const char *text, size_t bytes)
{
    memcpy(m->bytes + m->used, text, strlen(text)); /* the image was zero */
    m->used += bytes;
}

static void pad(image *m)
{
    m->used = (m->used + 7) / 8 * 8;
}

static size_t begin_header(image *m)
{
    m->header = m->used;
    put(m, 1, 2); /* version; number of messages, length come later */
    m->used = m->header + 16;
    put_at(m, m->header + 4, 1, 4); /* one link leads here */
    return m->header;
}

static void end_header(image *m)
{
    put_at(m, m->header + 8, m->used - m->header - 16, 4);
}

static void begin_message(image *m, int type)
{
    const size_t count_at = m->header + 2;
    put_at(m, count_at, (uint64_t)(unsigned char)m->bytes[count_at] + 1, 2);
    m->message = m->used;
    put(m, (uint64_t)type, 8);
}

static void end_message(image *m)
{
    pad(m);
    put_at(m, m->message + 2, m->used - m->message - 8, 2);
}

static void put_space(image *m, int rank, const uint64_t *sides)
{
    put(m, 1 | (uint64_t)rank << 8, 8);
    for (int k = 0; k < rank; k++)
        put(m, sides[k], 8);
}

/* Whole numbers without a sign, or IEEE's numbers (IV.A.2.d). */
static void put_whole_type(image *m, size_t bytes)
{
    put(m, 0x10, 4);
    put(m, bytes, 4);
    put(m, (uint64_t)(8 * bytes) << 16, 4);
}

static void put_real_type(image *m, bool single)
{
    put(m, 0x11 | 0x20u << 8 | (single ? 31u : 63u) << 16, 4); /* hidden bit, place of the sign */
    put(m, single ? 4 : 8, 4);
    put(m, (single ? 32u : 64u) << 16, 4);
    put(m, single ? 23 | 8 << 8 | 0 << 16 | 23 << 24 : 52 | 11 << 8 | 0 << 16 | 52 << 24, 4);
    put(m, single ? 127 : 1023, 4);
}

static void put_type(image *m, const piece *p)
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
            put_text(m, part ? "imag" : "real", 8);
            put(m, part ? (single ? 4 : 8) : 0, 4);
            m->used += 28; /* no array */
            put_real_type(m, single);
        }
    }
}

/* An attribute: sizes of its name, type and space, then these, each padded, then its value. */
static void begin_attribute(image *m, const char *name, size_t type_bytes)
{
    begin_message(m, ATTRIBUTE);
    put(m, 1, 2);
    put(m, strlen(name) + 1, 2);
    put(m, type_bytes, 2);
    put(m, 8, 2);
    put_text(m, name, (strlen(name) + 8) / 8 * 8);
}

static void put_text_attribute(image *m, const char *name, const char *text)
{
    begin_attribute(m, name, 8);
    put(m, 0x13, 4);
    put(m, strlen(text), 4);
    put_space(m, 0, NULL);
    put_text(m, text, strlen(text));
    end_message(m);
}

static void put_whole_attribute(image *m, const char *name, size_t bytes, uint64_t value)
{
    begin_attribute(m, name, 12);
    put_whole_type(m, bytes);
    pad(m);
    put_space(m, 0, NULL);
    put(m, value, bytes);
    end_message(m);
}

/* A group: header, tree of one node, names, one leaf. Names are at most seven letters, sorted.
 * Addresses of what they lead to go to the places that are given back. */
static size_t put_group(image *m, int count, const char *const *names, size_t sparse_rows,
                        bool sparse, size_t *targets)
{
    const size_t header = begin_header(m);
    begin_message(m, SYMBOLS);
    const size_t symbols = m->used;
    put(m, 0, 16);
    end_message(m);
    if (sparse) {
        put_text_attribute(m, "MATLAB_class", "double");
        put_whole_attribute(m, "MATLAB_sparse", 8, sparse_rows);
    }
    end_header(m);
    const size_t tree = m->used, heap = tree + NODE, segment = heap + 32;
    const size_t names_bytes = SLOT * ((size_t)count + 1), leaf = segment + names_bytes;
    put_at(m, symbols, tree, 8);
    put_at(m, symbols + 8, heap, 8);
    put_text(m, "TREE", 4);
    put(m, 1 << 16, 4); /* of a group, lowest, one child */
    put(m, UINT64_MAX, 8);
    put(m, UINT64_MAX, 8);
    put(m, 0, 8);
    put(m, leaf, 8);
    put(m, SLOT * (size_t)count, 8); /* the greatest name */
    m->used = heap;
    put_text(m, "HEAP", 8);
    put(m, names_bytes, 8);
    put(m, 1, 8); /* nothing is free */
    put(m, segment, 8);
    m->used = segment + SLOT;
    for (int k = 0; k < count; k++)
        put_text(m, names[k], SLOT);
    put_text(m, "SNOD", 4);
    put(m, 1 | (uint64_t)count << 16, 4);
    for (int k = 0; k < count; k++) {
        put(m, SLOT * ((size_t)k + 1), 8);
        targets[k] = m->used;
        m->used += 32;
    }
    m->used = leaf + LEAF;
    return header;
}

static size_t put_data_set(image *m, piece *p, const char *class, bool empty)
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
    if (class)
        put_text_attribute(m, "MATLAB_class", class);
    if (empty)
        put_whole_attribute(m, "MATLAB_empty", 1, 1);
    end_header(m);
    return header;
}

static void put_superblock(image *m)
{
    put_text(m, "\x89HDF\r\n\x1a\n", 8);
    put(m, 8ull << 40 | 8ull << 48, 8); /* versions 0; addresses and lengths of 8 bytes */
    put(m, LEAF_K | NODE_K << 16, 8);
    put(m, USER_BLOCK, 8);
    put(m, UINT64_MAX, 8);
    put(m, 0, 8); /* where it ends, later */
    put(m, UINT64_MAX, 8);
    put(m, 0, 40); /* the root's entry */
}

enum { END_AT = 40, ROOT_AT = 56 + 8 };

/* Gives data sets their addresses behind the image, in order, and tells where the file ends. */
static void settle(image *m, int count, piece *pieces)
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
    put_at(m, END_AT, USER_BLOCK + at, 8);
}

/* MATLAB's own header: its text, version 2, and which bytes come first. */
static void begin_file(io_writer *w, const image *m)
{
    char block[USER_BLOCK] = {0};
    memset(block, ' ', MAT_HEADER - 12);
    memcpy(block, "MATLAB 7.3 MAT-file, written by spry HDF5 schema 1.00 .", 55);
    memcpy(block + MAT_HEADER - 4, "\x00\x02IM", 4);
    io_write(w, block, sizeof block);
    io_write(w, m->bytes, m->used);
}

/* Whole numbers as 64 bits. */
static void put_whole(io_writer *w, const void *numbers, bool wide, int64_t count)
{
    for (int64_t first = 0; first < count && !io_write_failed(w); first += PIECE) {
        uint64_t values[PIECE];
        int used = 0;
        for (; used < PIECE && first + used < count; used++)
            values[used] = wide ? (uint64_t)((const int64_t *)numbers)[first + used]
                                : (uint64_t)((const int32_t *)numbers)[first + used];
        io_write(w, values, (size_t)used * sizeof *values);
    }
}

/* Numbers as double precision: MATLAB's sparse matrices have no other. */
static void put_doubles(io_writer *w, spry_type type, const void *values, int64_t count)
{
    const int parts = spry_type_is_complex(type) ? 2 : 1;
    for (int64_t first = 0; first < count && !io_write_failed(w); first += PIECE) {
        double doubles[2 * PIECE];
        int used = 0;
        for (int k = 0; k < PIECE && first + k < count; k++) {
            const spry_scalar value = value_get(type, values, first + k);
            doubles[used++] = value.re;
            if (parts == 2)
                doubles[used++] = value.im;
        }
        io_write(w, doubles, (size_t)used * sizeof *doubles);
    }
}

spry_status io_mat73_write_matrix(const spry_matrix *A, const char *path)
{
    static const char *const variable[] = {"A"}, *const members[] = {"data", "ir", "jc"};
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *B = NULL;
    io_writer *w = NULL;
    image m = {.used = 0};
    size_t root_targets[1], targets[MOST_DATA];
    SPRY_GO(ctx, io_mat_by_columns(A, &B));
    const matrix_arrays *a = &B->a;
    const bool complex = spry_type_is_complex(a->type);
    const uint64_t nnz = (uint64_t)a->nnz;
    piece pieces[MOST_DATA] = {
        {.type = complex ? SPRY_TYPE_Z : SPRY_TYPE_D, .rank = 1, .sides = {nnz}},
        {.whole = true, .rank = 1, .sides = {nnz}},
        {.whole = true, .rank = 1, .sides = {(uint64_t)a->cols + 1}}};
    put_superblock(&m);
    put_at(&m, ROOT_AT, put_group(&m, 1, variable, 0, false, root_targets), 8);
    put_at(&m, root_targets[0], put_group(&m, 3, members, (size_t)a->rows, true, targets), 8);
    for (int k = 0; k < MOST_DATA; k++)
        put_at(&m, targets[k], put_data_set(&m, &pieces[k], NULL, false), 8);
    settle(&m, MOST_DATA, pieces);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_file(w, &m);
    put_doubles(w, a->type, a->values, a->nnz);
    put_whole(w, a->row_index, false, a->nnz);
    put_whole(w, a->offsets, true, a->cols + 1);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    spry_matrix_free(B);
    return status;
}

/* An empty array is the list of its sides. */
spry_status io_mat73_write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    static const char *const variable[] = {"x"};
    spry_context *ctx = v->ctx;
    spry_status status = SPRY_STATUS_OK;
    io_writer *w = NULL;
    image m = {.used = 0};
    size_t target;
    const bool single = v->type == SPRY_TYPE_S || v->type == SPRY_TYPE_C, empty = v->n == 0;
    const int64_t sides[2] = {v->n / cols, cols};
    piece p = {.type = v->type,
               .whole = empty,
               .rank = empty ? 1 : 2,
               .sides = {empty ? 2 : (uint64_t)sides[1], (uint64_t)sides[0]}};
    put_superblock(&m);
    put_at(&m, ROOT_AT, put_group(&m, 1, variable, 0, false, &target), 8);
    put_at(&m, target, put_data_set(&m, &p, single ? "single" : "double", empty), 8);
    settle(&m, 1, &p);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_file(w, &m);
    if (empty)
        put_whole(w, sides, true, 2);
    else
        io_write(w, v->data, (size_t)v->n * spry_type_size(v->type));
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    return status;
}
