/*
 * MATLAB's files of level 5 (save -v6, -v7): the first sparse matrix of a file, within structs, too
 * (Problem.A of the SuiteSparse collection); where there is none, the first full array of numbers.
 * Variables may be packed by zlib. Files of level 7.3 are HDF5's: mat73.c.
 *
 * Reference: "MAT-File Format", The MathWorks.
 */
#include "io/mat.h"

#include <zlib.h>

enum {
    DEPTH = 4,       /* of structs in structs that are looked through */
    FIELDS = 10000,  /* of one struct */
    RATIO = 1032,    /* deflate packs nothing better */
    BOMB_RATIO = 200 /* beyond a GiB more than this is taken for one, as in gzip.c */
};

/* A piece of the file, or of what was unpacked from it. */
typedef struct span {
    const char *data;
    size_t size;
} span;

/* An element: its type, its bytes, and how many numbers they are, where that was looked at. */
typedef struct element {
    uint32_t type;
    span bytes;
    size_t count;
} element;

/* An array as it lies in the file, up to its numbers. */
typedef struct array {
    uint32_t flags;
    int32_t rows, cols;
    span rest; /* what follows the name */
} array;

typedef struct reading {
    spry_context *ctx;
    const char *path;
    io_content *content;
    bool dense; /* full arrays are taken, too */
    bool found;
} reading;

static spry_status broken(const reading *m, const char *what)
{
    return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s: %s: not a .mat file of level 5, or a "
                     "broken one",
                     m->path, what);
}

static uint32_t word_at(const char *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Takes the next element off a span. Small ones have their bytes within the tag; all but packed
 * ones begin at multiples of eight. */
static spry_status next(const reading *m, span *from, element *e)
{
    if (from->size < MAT_TAG)
        return broken(m, "an element is cut short");
    const uint32_t first = word_at(from->data);
    size_t used = MAT_TAG;
    if (first >> 16) {
        *e = (element){first & 0xffff, {from->data + 4, first >> 16}, 0};
        if (e->bytes.size > 4)
            return broken(m, "a small element has more than four bytes");
    } else {
        *e = (element){first, {from->data + MAT_TAG, word_at(from->data + 4)}, 0};
        if (e->bytes.size > from->size - MAT_TAG)
            return broken(m, "an element is longer than what it is in");
        used += e->bytes.size;
        if (e->type != MI_COMPRESSED)
            used += (8 - used % 8) % 8;
    }
    used = used < from->size ? used : from->size;
    from->data += used;
    from->size -= used;
    return SPRY_STATUS_OK;
}

/* The next element, which must have `count` numbers or more. */
static spry_status numbers(const reading *m, span *from, size_t count, element *e)
{
    const spry_status status = next(m, from, e);
    if (status != SPRY_STATUS_OK)
        return status;
    const size_t size = io_mat_number_size(e->type);
    e->count = size > 0 ? e->bytes.size / size : 0;
    if (size == 0 || e->count < count)
        return broken(m, "an array has fewer numbers than its shape requires");
    return SPRY_STATUS_OK;
}

/* Flags, shape and name of an array; `taken` is false where it has not two dimensions. */
static spry_status open_array(const reading *m, span from, array *a, bool *taken)
{
    spry_status status = SPRY_STATUS_OK;
    element e;
    SPRY_GO(m->ctx, numbers(m, &from, 2, &e));
    if (e.type != MI_UINT32)
        return broken(m, "an array begins with no flags");
    a->flags = word_at(e.bytes.data);
    SPRY_GO(m->ctx, numbers(m, &from, 2, &e));
    if (e.type != MI_INT32)
        return broken(m, "an array has no shape");
    *taken = e.bytes.size == 2 * sizeof(int32_t);
    a->rows = (int32_t)word_at(e.bytes.data);
    a->cols = (int32_t)word_at(e.bytes.data + 4);
    if (a->rows < 0 || a->cols < 0)
        return broken(m, "an array has a side below 0");
    SPRY_GO(m->ctx, next(m, &from, &e)); /* the name */
    a->rest = from;
done:
    return status;
}

/* The next element as numbers, `count` or more of them. */
static spry_status take_numbers(const reading *m, span *from, size_t count, mat_numbers *n)
{
    element e;
    const spry_status status = numbers(m, from, count, &e);
    if (status == SPRY_STATUS_OK)
        *n = (mat_numbers){e.type, e.bytes.data, e.count, io_mat_number_size(e.type)};
    return status;
}

/* Rows, offsets of columns, numbers. There may be more rows than entries: room for more. */
static spry_status read_sparse(reading *m, const array *given)
{
    spry_status status = SPRY_STATUS_OK;
    mat_sparse s = {.rows = given->rows, .cols = given->cols};
    span from = given->rest;
    SPRY_GO(m->ctx, take_numbers(m, &from, 0, &s.row_index));
    SPRY_GO(m->ctx, take_numbers(m, &from, (size_t)s.cols + 1, &s.offsets));
    SPRY_GO(m->ctx, take_numbers(m, &from, 0, &s.re));
    if (given->flags & MX_COMPLEX)
        SPRY_GO(m->ctx, take_numbers(m, &from, 0, &s.im));
    SPRY_GO(m->ctx, io_mat_take_sparse(m->ctx, m->path, &s, m->content));
    m->found = true;
done:
    return status;
}

static spry_status read_dense(reading *m, const array *given)
{
    spry_status status = SPRY_STATUS_OK;
    span from = given->rest;
    mat_numbers re, im = {0};
    const size_t count = (size_t)given->rows * (size_t)given->cols;
    if (count == 0)
        return SPRY_STATUS_OK; /* nothing to take */
    SPRY_GO(m->ctx, take_numbers(m, &from, count, &re));
    if (given->flags & MX_COMPLEX)
        SPRY_GO(m->ctx, take_numbers(m, &from, count, &im));
    SPRY_GO(m->ctx, io_mat_take_dense(m->ctx, given->rows, given->cols,
                                      (given->flags & 0xff) == MX_SINGLE, &re, &im, m->content));
    m->found = true;
done:
    return status;
}

static spry_status read_array(reading *m, span from, int depth);

/* The fields of a struct, one after the other, behind the length and the list of their names. */
static spry_status read_struct(reading *m, const array *given, int depth)
{
    spry_status status = SPRY_STATUS_OK;
    span from = given->rest;
    element e;
    if (given->rows != 1 || given->cols != 1)
        return SPRY_STATUS_OK;
    SPRY_GO(m->ctx, numbers(m, &from, 1, &e));
    SPRY_GO(m->ctx, next(m, &from, &e));
    for (int field = 0; field < FIELDS && from.size > 0 && !m->found; field++) {
        SPRY_GO(m->ctx, next(m, &from, &e));
        if (e.type == MI_MATRIX && e.bytes.size > 0)
            SPRY_GO(m->ctx, read_array(m, e.bytes, depth + 1));
    }
done:
    return status;
}

static spry_status read_array(reading *m, span from, int depth)
{
    array a;
    bool taken = false;
    const spry_status status = open_array(m, from, &a, &taken);
    if (status != SPRY_STATUS_OK || !taken)
        return status;
    const uint32_t class = a.flags & 0xff;
    if (class == MX_SPARSE)
        return m->dense ? SPRY_STATUS_OK : read_sparse(m, &a);
    if (class == MX_STRUCT && depth < DEPTH)
        return read_struct(m, &a, depth);
    if (m->dense && class >= MX_DOUBLE && class <= MX_UINT64)
        return read_dense(m, &a);
    return SPRY_STATUS_OK;
}

/* Unpacks `size` bytes and no more. */
static bool inflate_all(span packed, void *memory, size_t size)
{
    z_stream z = {0};
    if (packed.size > UINT32_MAX || inflateInit(&z) != Z_OK)
        return false;
    z.next_in = (Bytef *)(uintptr_t)packed.data;
    z.avail_in = (uInt)packed.size;
    z.next_out = memory;
    z.avail_out = (uInt)size;
    const int code = inflate(&z, Z_SYNC_FLUSH);
    const bool good = (code == Z_OK || code == Z_STREAM_END) && z.avail_out == 0;
    inflateEnd(&z);
    return good;
}

/* A packed variable: its tag holds the memory that the rest takes. */
static spry_status read_packed(reading *m, span packed)
{
    spry_status status = SPRY_STATUS_OK;
    char tag[MAT_TAG], *memory = NULL;
    if (!inflate_all(packed, tag, sizeof tag))
        return broken(m, "a packed variable cannot be unpacked");
    const size_t size = (size_t)word_at(tag + 4) + MAT_TAG;
    if (word_at(tag) != MI_MATRIX)
        return SPRY_STATUS_OK;
    if (size / RATIO > packed.size + 1 || size > UINT32_MAX ||
        (size > (size_t)1 << 30 && size / BOMB_RATIO > packed.size))
        return broken(m, "a packed variable claims to be larger than it can be");
    SPRY_GO(m->ctx, base_alloc(m->ctx, (int64_t)size, 1, &memory));
    if (!inflate_all(packed, memory, size))
        SPRY_GO(m->ctx, broken(m, "a packed variable cannot be unpacked"));
    SPRY_GO(m->ctx, read_array(m, (span){memory + MAT_TAG, size - MAT_TAG}, 0));
done:
    base_free(m->ctx, memory);
    return status;
}

/* All variables, until one is taken. */
static spry_status look_through(reading *m, const io_bytes *bytes)
{
    spry_status status = SPRY_STATUS_OK;
    span from = {bytes->data + MAT_HEADER, bytes->size - MAT_HEADER};
    element e;
    while (from.size > 0 && !m->found) {
        SPRY_GO(m->ctx, io_go_on(m->ctx, m->path));
        SPRY_GO(m->ctx, next(m, &from, &e));
        if (e.type == MI_COMPRESSED)
            SPRY_GO(m->ctx, read_packed(m, e.bytes));
        else if (e.type == MI_MATRIX)
            SPRY_GO(m->ctx, read_array(m, e.bytes, 0));
    }
done:
    return status;
}

static spry_status read_file(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    reading m = {.ctx = ctx, .path = bytes->path, .content = content};
    if (bytes->size < MAT_HEADER)
        return broken(&m, "it is shorter than a header");
    const char *version = bytes->data + MAT_HEADER - 4;
    if (memcmp(version, "\x00\x02IM", 4) == 0)
        return broken(&m, "the header claims level 7.3, but no HDF5 follows");
    if (memcmp(version, "\x01\x00MI", 4) == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "%s: a .mat file whose numbers begin with their high bytes is not read",
                         bytes->path);
    if (memcmp(version, "\x00\x01IM", 4) != 0)
        return broken(&m, "the header has no version");
    SPRY_GO(ctx, look_through(&m, bytes));
    if (!m.found) {
        m.dense = true;
        SPRY_GO(ctx, look_through(&m, bytes));
    }
    if (!m.found)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: there is no matrix of numbers in it",
                         bytes->path);
done:
    return status;
}

static bool matches(const io_bytes *bytes)
{
    return bytes->size >= MAT_HEADER && memcmp(bytes->data, "MATLAB ", 7) == 0 &&
           (memcmp(bytes->data + MAT_HEADER - 2, "IM", 2) == 0 ||
            memcmp(bytes->data + MAT_HEADER - 2, "MI", 2) == 0);
}

const io_format io_mat = {
    .name = "mat",
    .endings = ".mat",
    .summary = "MATLAB's file, level 5 (save -v7), the first matrix in it; 7.3 where A is too "
               "large for it",
    .matches = matches,
    .read = read_file,
    .write_matrix = io_mat_write_matrix,
    .write_vector = io_mat_write_vector,
};
