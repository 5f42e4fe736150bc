/* SciPy's .npz files: every format, every way a zip archive may be made, and wrong ones. */
#include "support/files.h"
#include "support/numpy.h"

#include "io/zip.h"

#include <stdlib.h>
#include <zlib.h>

/* A zip archive made by hand. */
typedef struct archive {
    unsigned char data[32768], list[4096];
    size_t size, listed;
    int members;
    bool deflate, wide, follow; /* pack, zip64, sizes behind the data */
} archive;

static void put(unsigned char *out, size_t *at, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        out[(*at)++] = (unsigned char)(value >> (8 * i));
}

static void put_text(unsigned char *out, size_t *at, const void *text, size_t size)
{
    memcpy(out + *at, text, size);
    *at += size;
}

static size_t pack(unsigned char *out, size_t room, const void *data, size_t size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (z_const Bytef *)data, z.avail_in = (uInt)size;
    z.next_out = out, z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void add(archive *z, const char *name, const void *data, size_t size)
{
    static unsigned char packed[65536];
    const size_t offset = z->size, length = strlen(name);
    const uint32_t crc = (uint32_t)crc32(0, data, (uInt)size), ones = UINT32_MAX;
    size_t stored = size;
    if (z->deflate)
        stored = pack(packed, sizeof packed, data, size);
    else
        memcpy(packed, data, size);
    const uint64_t sizes[3] = {crc, z->wide ? ones : stored, z->wide ? ones : size};
    const int version = z->wide ? 45 : 20, flags = z->follow ? 8 : 0, method = z->deflate ? 8 : 0;
    put_text(z->data, &z->size, "PK\3\4", 4);
    put(z->data, &z->size, 2, (uint64_t)version);
    put(z->data, &z->size, 2, (uint64_t)flags);
    put(z->data, &z->size, 2, (uint64_t)method);
    put(z->data, &z->size, 4, 0);
    for (int i = 0; i < 3; i++)
        put(z->data, &z->size, 4, z->follow ? 0 : sizes[i]);
    put(z->data, &z->size, 2, length);
    put(z->data, &z->size, 2, 5); /* unknown extra fields */
    put_text(z->data, &z->size, name, length);
    put_text(z->data, &z->size, "\x99\x99\1\0x", 5);
    put_text(z->data, &z->size, packed, stored);
    if (z->follow) {
        put_text(z->data, &z->size, "PK\7\10", 4);
        put(z->data, &z->size, 4, crc);
        put(z->data, &z->size, 4, stored);
        put(z->data, &z->size, 4, size);
    }
    put_text(z->list, &z->listed, "PK\1\2", 4);
    put(z->list, &z->listed, 2, (uint64_t)version);
    put(z->list, &z->listed, 2, (uint64_t)version);
    put(z->list, &z->listed, 2, (uint64_t)flags);
    put(z->list, &z->listed, 2, (uint64_t)method);
    put(z->list, &z->listed, 4, 0);
    for (int i = 0; i < 3; i++)
        put(z->list, &z->listed, 4, sizes[i]);
    put(z->list, &z->listed, 2, length);
    put(z->list, &z->listed, 2, z->wide ? 5 + 28 : 5);
    put(z->list, &z->listed, 2, 3);
    put(z->list, &z->listed, 8, 0);
    put(z->list, &z->listed, 4, z->wide ? ones : offset);
    put_text(z->list, &z->listed, name, length);
    put_text(z->list, &z->listed, "\x99\x99\1\0x", 5);
    if (z->wide) {
        put(z->list, &z->listed, 2, 1);
        put(z->list, &z->listed, 2, 24);
        put(z->list, &z->listed, 8, size);
        put(z->list, &z->listed, 8, stored);
        put(z->list, &z->listed, 8, offset);
    }
    put_text(z->list, &z->listed, "mmm", 3); /* a comment */
    z->members++;
}

/* The list of members and its end; the archive then lies in z->data. */
static void finish(archive *z)
{
    const size_t begin = z->size;
    put_text(z->data, &z->size, z->list, z->listed);
    const size_t end = z->size;
    if (z->wide) {
        put_text(z->data, &z->size, "PK\6\6", 4);
        put(z->data, &z->size, 8, 44);
        put(z->data, &z->size, 8, 0);
        put(z->data, &z->size, 4, 0);
        put(z->data, &z->size, 8, (uint64_t)z->members);
        put(z->data, &z->size, 8, (uint64_t)z->members);
        put(z->data, &z->size, 8, z->listed);
        put(z->data, &z->size, 8, begin);
        put_text(z->data, &z->size, "PK\6\7", 4);
        put(z->data, &z->size, 4, 0);
        put(z->data, &z->size, 8, end);
        put(z->data, &z->size, 4, 1);
    }
    put_text(z->data, &z->size, "PK\5\6", 4);
    put(z->data, &z->size, 4, 0);
    put(z->data, &z->size, 2, (uint64_t)z->members);
    put(z->data, &z->size, 2, (uint64_t)z->members);
    put(z->data, &z->size, 4, z->wide ? UINT32_MAX : z->listed);
    put(z->data, &z->size, 4, z->wide ? UINT32_MAX : begin);
    put(z->data, &z->size, 2, 4);
    put_text(z->data, &z->size, "note", 4);
}

static void add_array(archive *z, const char *name, const char *descr, const char *shape,
                      const void *data, size_t size)
{
    numpy_bytes array;
    numpy_plain(&array, descr, shape, data, size);
    add(z, name, array.data, array.size);
}

static bool little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* Descriptions of this machine's integers and numbers. */
#define I4 (little() ? "<i4" : ">i4")
#define I8 (little() ? "<i8" : ">i8")
#define F8 (little() ? "<f8" : ">f8")

/* Starts an archive for a 3 x 4 matrix in a format of SciPy's. */
static void start(archive *z, const char *format)
{
    char descr[32];
    snprintf(descr, sizeof descr, "|S%zu", strlen(format));
    *z = (archive){.deflate = z->deflate, .wide = z->wide, .follow = z->follow};
    add_array(z, "format.npy", descr, "", format, strlen(format));
    add_array(z, "shape.npy", I8, "2,", (int64_t[]){3, 4}, 16);
}

/* 1 0 2 0; 0 0 0 0; 0 3 0 4 */
static const double picture[] = {1, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 4};

static void csr(archive *z)
{
    start(z, "csr");
    add_array(z, "indices.npy", I4, "4,", (int32_t[]){0, 2, 1, 3}, 16);
    add_array(z, "indptr.npy", I4, "4,", (int32_t[]){0, 2, 2, 4}, 16);
    add_array(z, "data.npy", F8, "4,", (double[]){1, 2, 3, 4}, 32);
    finish(z);
}

static void csc(archive *z)
{
    start(z, "csc");
    add_array(z, "data.npy", F8, "4,", (double[]){1, 3, 2, 4}, 32);
    add_array(z, "indices.npy", I8, "4,", (int64_t[]){0, 2, 0, 2}, 32);
    add_array(z, "indptr.npy", I8, "5,", (int64_t[]){0, 1, 2, 3, 4}, 40);
    finish(z);
}

static void coo(archive *z)
{
    start(z, "coo");
    add_array(z, "row.npy", I4, "4,", (int32_t[]){2, 0, 0, 2}, 16);
    add_array(z, "col.npy", "|u1", "4,", "\3\0\2\1", 4);
    add_array(z, "data.npy", F8, "4,", (double[]){4, 1, 2, 3}, 32);
    finish(z);
}

/* Rows that reach beyond the matrix are fill, and so are zeros. */
static void dia(archive *z)
{
    start(z, "dia");
    add_array(z, "offsets.npy", I4, "4,", (int32_t[]){0, 2, -1, 1}, 16);
    add_array(z, "data.npy", F8, "4, 5",
              (double[]){1, 0, 0, 9, 9, 9, 9, 2, 0, 9, 0, 3, 0, 9, 9, 9, 0, 0, 4, 9}, 160);
    finish(z);
}

/* Blocks of 1 x 2; with the first index running fastest where it should come out the same. */
static void bsr(archive *z)
{
    numpy_bytes array;
    start(z, "bsr");
    add_array(z, "indices.npy", I4, "4,", (int32_t[]){0, 1, 0, 1}, 16);
    add_array(z, "indptr.npy", I4, "4,", (int32_t[]){0, 2, 2, 4}, 16);
    numpy_array(&array, 1,
                little() ? "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 1, 2)}"
                         : "{'descr': '>f8', 'fortran_order': True, 'shape': (4, 1, 2)}",
                (double[]){1, 2, 0, 0, 0, 0, 3, 4}, 64);
    add(z, "data.npy", array.data, array.size);
    finish(z);
}

static void expect_picture(spry_context *ctx, const archive *z, bool zeros)
{
    io_content content;
    assert_ok(ctx, files_read_memory(ctx, &io_npz, z->data, z->size, &content));
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 4, picture);
    support_dense a = support_dense_of(content.matrix), b = support_dense_of(A);
    if (zeros) /* stored zeros count as entries */
        memcpy(a.entries, b.entries, 12 * sizeof *a.entries);
    support_dense_same(a, b);
    spry_matrix_free(A);
    files_free(ctx, &content);
}

static void reads_every_format_and_archive(void **state)
{
    static void (*const makers[])(archive *) = {csr, csc, coo, dia, bsr};
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        for (int way = 0; way < 8; way++) {
            archive z = {.deflate = way & 1, .wide = way & 2, .follow = way & 4};
            makers[i](&z);
            assert_true(io_npz.matches(&(io_bytes){.data = (char *)z.data, .size = z.size}));
            expect_picture(ctx, &z, makers[i] == bsr);
        }
}

static void reads_names_as_characters(void **state)
{
    spry_context *ctx = *state;
    archive z = {0};
    add_array(&z, "format.npy", little() ? "<U3" : ">U3", "", (uint32_t[]){'c', 's', 'r'}, 12);
    add_array(&z, "shape.npy", I8, "2,", (int64_t[]){3, 4}, 16);
    add_array(&z, "indices.npy", I4, "4,", (int32_t[]){0, 2, 1, 3}, 16);
    add_array(&z, "indptr.npy", I4, "4,", (int32_t[]){0, 2, 2, 4}, 16);
    add_array(&z, "data.npy", "|i1", "4,", "\1\2\3\4", 4);
    finish(&z);
    expect_picture(ctx, &z, false);
}

/* One member of a csr archive replaced by another array. */
static void refuse_member(spry_context *ctx, const char *format, const char *name,
                          const char *descr, const char *shape, const void *data, size_t size,
                          const char *message)
{
    static const struct {
        const char *format, *name, *descr, *shape, *data;
        size_t size;
    } good[] = {
        {"", "format.npy", "|S3", "", "csr", 3},
        {"", "shape.npy", "|u1", "2,", "\3\4", 2},
        {"", "data.npy", "|u1", "4,", "\1\2\3\4", 4},
        {"csr", "indptr.npy", "|u1", "4,", "\0\2\2\4", 4},
        {"csr", "indices.npy", "|u1", "4,", "\0\2\1\3", 4},
        {"coo", "row.npy", "|u1", "4,", "\0\2\1\2", 4},
        {"coo", "col.npy", "|u1", "4,", "\0\2\1\3", 4},
        {"dia", "offsets.npy", "|i1", "2,", "\0\1", 2},
        {"bsr", "indptr.npy", "|u1", "4,", "\0\1\1\2", 4},
        {"bsr", "indices.npy", "|u1", "2,", "\0\1", 2},
    };
    archive z = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (*good[i].format && strcmp(good[i].format, format) != 0)
            continue;
        if (strcmp(good[i].name, name) == 0)
            add_array(&z, name, descr, shape, data, size);
        else if (strcmp(good[i].name, "format.npy") == 0)
            add_array(&z, "format.npy", "|S3", "", format, 3);
        else if (i == 2 && strcmp(format, "dia") == 0)
            add_array(&z, "data.npy", "|u1", "2, 2", good[i].data, 4);
        else if (i == 2 && strcmp(format, "bsr") == 0)
            add_array(&z, "data.npy", "|u1", "2, 1, 2", good[i].data, 4);
        else
            add_array(&z, good[i].name, good[i].descr, good[i].shape, good[i].data, good[i].size);
    }
    finish(&z);
    files_refused(ctx, &io_npz, z.data, z.size, message);
}

static void refuses_bad_members(void **state)
{
    static const struct {
        const char *format, *name, *descr, *shape, *data;
        size_t size;
        const char *message;
    } bad[] = {
        {"csr", "format.npy", "|S3", "", "lil", 3, "format.npy is 'lil', expected csr"},
        {"csr", "format.npy", "|u1", "", "c", 1, "format.npy is '', expected csr"},
        {"csr", "format.npy", "|S3", "1,", "csr", 3, "format.npy has 1 dimensions, expected 0"},
        {"csr", "shape.npy", "|u1", "3,", "\3\4\5", 3, "shape.npy has 3 elements, expected 2"},
        {"csr", "shape.npy", "|i1", "2,", "\3\377", 2, "element 1 is -1, outside 0..2147483647"},
        {"csr", "shape.npy", "<u8", "2,", "\1\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0", 16,
         "element 1 is 4294967297, outside"},
        {"csr", "shape.npy", "<u8", "2,", "\377\377\377\377\377\377\377\377\1\0\0\0\0\0\0\0", 16,
         "shape.npy: element 0 is not an integer of 63 bits"},
        {"csr", "data.npy", "|u1", "2, 2", "\1\2\3\4", 4, "data.npy has 2 dimensions, expected 1"},
        {"csr", "data.npy", "|S1", "4,", "\1\2\3\4", 4, "data.npy: holds text"},
        {"csr", "data.npy", "|u1", "5,", "\1\2\3\4\5", 5, "indices.npy has 4 elements, expected 5"},
        {"csr", "data.npy", "<f8", "5,", "", 0, "data.npy: 0 bytes follow the header"},
        {"csr", "indptr.npy", "|u1", "3,", "\0\2\4", 3, "indptr.npy has 3 elements, expected 4"},
        {"csr", "indptr.npy", "|u1", "4,", "\0\2\5\4", 4, "element 2 is 5, outside 0..4"},
        {"csr", "indptr.npy", "|u1", "4,", "\0\3\2\4", 4, "memory: row 1: offsets fall"},
        {"csr", "indptr.npy", "|u1", "4,", "\1\2\2\4", 4, "memory: offsets[0] is 1"},
        {"csr", "indptr.npy", "|u1", "4,", "\0\2\2\3", 4, "memory: offsets end with 3"},
        {"csr", "indptr.npy", "<f4", "4,", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16,
         "indptr.npy: element 0 is not an integer"},
        {"csr", "indices.npy", "|u1", "4,", "\0\2\1\4", 4,
         "indices.npy: element 3 is 4, outside 0..3"},
        {"csr", "indices.npy", "|i1", "4,", "\0\2\377\3", 4, "element 2 is -1, outside 0..3"},
        {"coo", "row.npy", "|u1", "4,", "\0\2\1\3", 4, "row.npy: element 3 is 3, outside 0..2"},
        {"coo", "col.npy", "|u1", "4,", "\0\2\1\4", 4, "col.npy: element 3 is 4, outside 0..3"},
        {"coo", "row.npy", "|u1", "3,", "\0\2\1", 3, "row.npy has 3 elements, expected 4"},
        {"coo", "col.npy", "|u1", "3,", "\0\2\1", 3, "col.npy has 3 elements, expected 4"},
        {"dia", "offsets.npy", "|i1", "1,", "\0", 1, "offsets.npy has 1 elements, expected 2"},
        {"dia", "offsets.npy", "<i8", "2,", "\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 16,
         "offsets.npy: element 1 is 4294967296, outside"},
        {"bsr", "data.npy", "|u1", "1, 2, 2", "\1\2\3\4", 4, "blocks of 2 x 2 do not tile 3 x 4"},
        {"bsr", "data.npy", "|u1", "2, 1, 0", "", 0, "blocks of 1 x 0 do not tile 3 x 4"},
        {"bsr", "indptr.npy", "|u1", "2,", "\0\2", 2, "indptr.npy has 2 elements, expected 4"},
        {"bsr", "indices.npy", "|u1", "1,", "\0", 1, "indices.npy has 1 elements, expected 2"},
        {"bsr", "indptr.npy", "|u1", "4,", "\1\1\1\2", 4,
         "indptr.npy: element 0 is 1, outside 0..0"},
        {"bsr", "indptr.npy", "|u1", "4,", "\0\2\1\2", 4,
         "indptr.npy: element 2 is 1, outside 2..2"},
        {"bsr", "indptr.npy", "|u1", "4,", "\0\1\1\1", 4,
         "indptr.npy: element 3 is 1, outside 2..2"},
        {"bsr", "indices.npy", "|u1", "2,", "\0\2", 2, "indices.npy: element 1 is 2, outside 0..1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse_member(*state, bad[i].format, bad[i].name, bad[i].descr, bad[i].shape, bad[i].data,
                      bad[i].size, bad[i].message);
    /* A shape alone asks for no memory: the lists that go with it are missing. */
    refuse_member(*state, "csr", "shape.npy", "<i4", "2,", "\377\377\377\177\377\377\377\177", 8,
                  "indptr.npy has 4 elements, expected 2147483648");
}

static void refuses_missing_members(void **state)
{
    static const char *const names[] = {"format.npy", "shape.npy", "data.npy", "indptr.npy",
                                        "indices.npy"};
    spry_context *ctx = *state;
    for (size_t missing = 0; missing < 5; missing++) {
        archive z = {0};
        char message[64];
        csr(&z);
        for (size_t i = 0; i + 10 < z.size; i++)
            if (memcmp(z.data + i, names[missing], strlen(names[missing])) == 0)
                z.data[i] = 'X';
        snprintf(message, sizeof message, "memory: %s is missing", names[missing]);
        files_refused(ctx, &io_npz, z.data, z.size, message);
    }
}

/* Changes a byte at a distance from the first place of a signature, then reads. */
static void refuse_change(spry_context *ctx, bool deflated, bool wide, const char *signature,
                          size_t distance, int byte, const char *message)
{
    archive z = {.deflate = deflated, .wide = wide};
    csr(&z);
    size_t at = 0;
    while (memcmp(z.data + at, signature, 4) != 0)
        at++;
    z.data[at + distance] = (unsigned char)byte;
    files_refused(ctx, &io_npz, z.data, z.size, message);
}

static void refuses_bad_archives(void **state)
{
    spry_context *ctx = *state;
    refuse_change(ctx, true, false, "PK\3\4", 0, 'x', "format.npy: is not where the list");
    refuse_change(ctx, true, false, "PK\3\4", 29, 255, "format.npy: is cut off");
    refuse_change(ctx, true, false, "PK\3\4", 30 + 10 + 5, 255, "packed data are damaged");
    refuse_change(ctx, false, false, "PK\3\4", 30 + 10 + 5 + 60, 'x', "its checksum (CRC-32)");
    refuse_change(ctx, true, false, "PK\1\2", 0, 'x', "the list of members is damaged");
    refuse_change(ctx, true, false, "PK\1\2", 8, 1, "format.npy: is encrypted");
    refuse_change(ctx, true, false, "PK\1\2", 10, 12, "a method other than deflate");
    refuse_change(ctx, true, false, "PK\1\2", 10, 0, "is stored, but with two sizes");
    refuse_change(ctx, true, false, "PK\1\2", 16, 77, "its checksum (CRC-32)");
    refuse_change(ctx, true, false, "PK\1\2", 27, 127, "promises more than its packed data");
    refuse_change(ctx, true, false, "PK\1\2", 25, 1, "packed data are damaged");
    refuse_change(ctx, true, false, "PK\1\2", 29, 255, "the list of members is damaged");
    refuse_change(ctx, true, false, "PK\1\2", 45, 255, "format.npy: is not where the list");
    refuse_change(ctx, true, true, "PK\1\2", 46 + 10 + 2, 255, "its entry in the list");
    refuse_change(ctx, true, true, "PK\1\2", 46 + 10 + 5 + 2, 8, "its entry in the list");
    refuse_change(ctx, true, true, "PK\6\6", 0, 'x', "the 64-bit list of members is not where");
    refuse_change(ctx, true, true, "PK\6\6", 55, 255, "the list of members lies outside");
    refuse_change(ctx, true, false, "PK\5\6", 15, 255, "the list of members lies outside");
    refuse_change(ctx, true, false, "PK\5\6", 0, 'x', "has no list of members at its end");
    refuse_change(ctx, true, false, "PK\5\6", 21, 255, "has no list of members at its end");
    files_refused(ctx, &io_npz, "PK\3\4", 4, "is too short for a zip archive");
    archive z = {.deflate = true};
    csr(&z);
    for (size_t cut = 0; cut + 4 < z.size; cut++) /* the note at the end may be cut */
        files_refused(ctx, &io_npz, z.data, cut, "memory: ");
}

/* Which of two members is meant is up to the reader, so that two programs see two matrices. */
static void refuses_two_members_of_one_name(void **state)
{
    archive z = {0};
    start(&z, "csr");
    add_array(&z, "indices.npy", I4, "4,", (int32_t[]){0, 2, 1, 3}, 16);
    add_array(&z, "data.npy", F8, "4,", (double[]){1, 2, 3, 4}, 32);
    add_array(&z, "indptr.npy", I4, "4,", (int32_t[]){0, 2, 2, 4}, 16);
    add_array(&z, "data.npy", F8, "4,", (double[]){5, 6, 7, 8}, 32);
    finish(&z);
    files_refused(*state, &io_npz, z.data, z.size, "data.npy: two members have this name");
}

/* Twice 8 MB that pack to 8 kB: what does not fit together is seen before they are unpacked. */
static void refuses_before_it_unpacks(void **state)
{
    enum { COUNT = 1 << 20, HEADER = 80 };
    static const struct {
        int64_t rows;
        const char *message;
    } cases[] = {{INT32_MAX, "indptr.npy has 4 elements, expected 2147483648"},
                 {3, "indices.npy: element 0 is not an integer"}};
    spry_context *ctx = *state;
    unsigned char *large = calloc(HEADER + COUNT, sizeof(double));
    numpy_bytes array;
    assert_non_null(large);
    numpy_plain(&array, F8, "1048576,", "", 0);
    assert_true(array.size <= HEADER * sizeof(double));
    memcpy(large, array.data, array.size);
    for (int i = 0; i < 2; i++) {
        archive z = {.deflate = true};
        int64_t before, most;
        add_array(&z, "format.npy", "|S3", "", "csr", 3);
        add_array(&z, "shape.npy", I8, "2,", (int64_t[]){cases[i].rows, 4}, 16);
        add_array(&z, "indptr.npy", I4, "4,", (int32_t[]){0, 2, 2, 4}, 16);
        add(&z, "data.npy", large, array.size + COUNT * sizeof(double));
        add(&z, "indices.npy", large, array.size + COUNT * sizeof(double));
        finish(&z);
        spry_context_memory(ctx, &before, NULL);
        files_refused(ctx, &io_npz, z.data, z.size, cases[i].message);
        spry_context_memory(ctx, NULL, &most);
        /* three members' first 64 kB, the short ones, zlib's 48 kB */
        assert_true(most - before < 512 << 10);
    }
    free(large);
}

static void comes_back_bit_by_bit(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const support_recipe recipe = {.type = support_types[t],
                                       .format = SPRY_FORMAT_CSR,
                                       .rows = 9000, /* more than one piece of offsets */
                                       .cols = 300,
                                       .nnz = 12000,
                                       .seed = 3};
        spry_matrix *A = support_matrix(ctx, &recipe), *B = NULL;
        files_round_trip(&io_npz, A, files_path("a.npz"));
        assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSC, &B));
        assert_ok(ctx, io_npz.write_matrix(B, files_path("b.npz")));
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

static void writes_the_implied_triangle(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {.type = SPRY_TYPE_Z,
                                   .format = SPRY_FORMAT_COO,
                                   .symmetry = SPRY_SYMMETRY_HERMITIAN,
                                   .rows = 20,
                                   .cols = 20,
                                   .nnz = 70,
                                   .sorted = true};
    io_content content;
    spry_matrix *A = support_matrix(ctx, &recipe);
    assert_ok(ctx, io_npz.write_matrix(A, files_path("h.npz")));
    assert_ok(ctx, files_read(ctx, &io_npz, files_path("h.npz"), &content));
    support_dense_same(support_dense_of(A), support_dense_of(content.matrix));
    files_free(ctx, &content);
    assert_status(ctx, SPRY_STATUS_IO, io_npz.write_matrix(A, "/no such folder/h.npz"));
    spry_matrix_free(A);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    io_content content;
    const spry_status status = files_read(ctx, &io_npz, data, &content);
    files_free(ctx, &content);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_npz.write_matrix(data, files_path("torture.npz"));
}

static spry_status read_archive(spry_context *ctx, void *data)
{
    const archive *z = data;
    io_content content;
    const spry_status status = files_read_memory(ctx, &io_npz, z->data, z->size, &content);
    files_free(ctx, &content);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    static void (*const makers[])(archive *) = {csr, csc, coo, dia, bsr};
    spry_context *ctx = *state;
    const support_recipe recipe = {
        .type = SPRY_TYPE_D, .format = SPRY_FORMAT_COO, .rows = 10, .cols = 20, .nnz = 50};
    spry_matrix *A = support_matrix(ctx, &recipe);
    support_torture(ctx, write_again, A);
    support_torture(ctx, read_again, (void *)files_path("torture.npz"));
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        archive z = {.deflate = true};
        makers[i](&z);
        support_torture(ctx, read_archive, &z);
    }
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_every_format_and_archive, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(reads_names_as_characters, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_bad_members, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_missing_members, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_bad_archives, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_two_members_of_one_name, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(refuses_before_it_unpacks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(comes_back_bit_by_bit, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(writes_the_implied_triangle, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
