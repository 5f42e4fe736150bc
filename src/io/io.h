/* What file formats share: bytes of a file, faults with file and line, writing, the registry. */
#ifndef SPRY_IO_INTERNAL_H
#define SPRY_IO_INTERNAL_H

#include "base/base.h"
#include "matrix/matrix.h"

#include <spry/io.h>
#include <spry/list.h>

#define READ_OPTIONS(item)                                                                        \
    item(WORD, duplicates, "error", 0, 0, "error sum keep",                                       \
         "entries given twice: refuse, add up, or keep for a look at them")                       \
    item(WORD, nonfinite, "error", 0, 0, "error keep", "NaN and infinite values: refuse or keep") \
    item(WORD, type, "auto", 0, 0, "auto s d c z",                                                \
         "type of the numbers; auto takes the file's, d or z for text")                           \
    item(BOOL, expand, "yes", 0, 0, NULL, "write out the implied triangle of symmetric files")

typedef struct read_options {
    READ_OPTIONS(SPRY_OPTION_FIELD)
} read_options;
spry_option_list read_option_list(void);

/* A file's bytes: mapped when plain, unpacked when gzip. data[size] is not readable. */
typedef struct io_bytes {
    const char *path;
    const char *data;
    size_t size;
    void *mapping; /* NULL: not a mapped file */
    size_t mapping_bytes;
    void *memory; /* the context's memory behind data; NULL: mapped, or the caller's */
} io_bytes;

/* Opens path (a regular file, a pipe, "-" for standard input), unpacks it when it is gzip, and
 * skips UTF-8's byte-order mark. Fails on directories, missing files, permissions and empty files
 * with the reason. */
spry_status io_open(spry_context *ctx, const char *path, io_bytes *bytes);
/* Gives mapping and memory back; bytes that point into the caller's memory are left alone. */
void io_close(spry_context *ctx, io_bytes *bytes);
/* Unpacks gzip, recognised by its magic number whatever the name; other bytes stay as they are.
 * What unpacks to over 1 GiB and over 200 times its size is taken for a bomb. */
spry_status io_unpack(spry_context *ctx, io_bytes *bytes);
/* The 1-based line of a position, by counting line ends: for messages. */
int64_t io_line(const io_bytes *bytes, size_t position);
/* SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "path:line: ...") for a position in the file. */
spry_status io_fault(spry_context *ctx, const io_bytes *bytes, size_t position, const char *format,
                     ...) SPRY_PRINTF(4, 5);
/* SPRY_STATUS_IO with "path: the system's reason"; SPRY_STATUS_NO_MEMORY where memory or disk space
 * ran out. */
spry_status io_system_fault(spry_context *ctx, const char *path, int error);
/* SPRY_STATUS_INTERRUPTED where reading is to stop. */
spry_status io_go_on(spry_context *ctx, const char *path);

/* Writes the shortest text that reads back as the same number; returns its length (<= 32). */
int io_print_double(char *out, double value);
int io_print_float(char *out, float value);
int io_print_int(char *out, int64_t value);

/* Whether a path has an ending given in lower case, and something before it. */
bool io_ends_with(const char *path, size_t length, const char *ending);

/* Writing: everything goes to a temporary file next to path, gzip when path ends in .gz; commit
 * renames it, abort removes it. Errors (disk full, a stop that was asked for) are remembered and
 * come out of commit; nothing is written after one. */
typedef struct io_writer io_writer;
spry_status io_create(spry_context *ctx, const char *path, io_writer **writer);
/* The same with a file that has a name until then, so that other processes can write to it, too,
 * behind what this one writes; not packed. */
spry_status io_create_named(spry_context *ctx, const char *path, io_writer **writer);
const char *io_temporary_name(const io_writer *writer);
/* Whether that would succeed, as far as the file system shows now. */
spry_status io_check_place(spry_context *ctx, const char *path);
void io_write(io_writer *writer, const void *data, size_t size);
void io_printf(io_writer *writer, const char *format, ...) SPRY_PRINTF(2, 3);
bool io_write_failed(const io_writer *writer);               /* going on is of no use */
spry_status io_commit(spry_context *ctx, io_writer *writer); /* frees the writer in any case */
void io_abort(spry_context *ctx, io_writer *writer);         /* frees; NULL is allowed */

/* A dense array read from a file, column-major; a vector when one side is 1. */
typedef struct io_dense {
    spry_type type;
    int64_t rows, cols;
    void *values;   /* the context's memory */
    int64_t planes; /* of an array of three dimensions, one below the other; 0: it has less */
} io_dense;

/* What a reader found: a sparse matrix (any format, any symmetry, unsorted allowed, indices and
 * offsets checked) or a dense array. */
typedef struct io_content {
    spry_matrix *matrix; /* NULL: dense */
    io_dense dense;
} io_content;

/*
 * One file format. `read` may keep the mapping (moving it into the matrix and setting
 * bytes->mapping to NULL). `position_of` finds the place in the file of the given occurrence (1, 2,
 * ...) of entry (row, col), both from 0, for messages about it (duplicates, NaN); it returns
 * bytes->size when there is none, and is NULL where a line in the file means nothing.
 */
typedef struct io_format {
    const char *name;
    const char *endings; /* ".mtx .mtx.gz", the first is shown in help */
    const char *summary;
    bool text;                              /* has no byte of 0 */
    bool (*matches)(const io_bytes *bytes); /* looks at the first bytes */
    spry_status (*read)(spry_context *ctx, io_bytes *bytes, io_content *content);
    spry_status (*write_matrix)(const spry_matrix *A, const char *path); /* NULL: read only */
    /* a dense array of `cols` columns, one after the other */
    spry_status (*write_vector)(const spry_vector *v, int64_t cols, const char *path);
    size_t (*position_of)(const io_bytes *bytes, int64_t row, int64_t col, int occurrence);
} io_format;

/* For SPRY_LIST_FILES: fills a cleared entry; false past the last. */
bool io_entry_at(int index, spry_entry *entry);

extern const io_format io_mtx, io_rutherford_boeing, io_npz, io_npy, io_mat73, io_mat, io_native;

/* The sizes of a native file's matrix and its arrays, where they lie in the bytes; offsets and
 * columns are not looked at. A dense array has none. */
spry_status io_native_arrays(spry_context *ctx, const io_bytes *bytes, matrix_arrays *a,
                             bool *dense);
/* The sizes of a native file's matrix and where its offsets, columns and values begin, for those
 * who read it piece by piece: `head` has the first IO_NATIVE_HEADER bytes of the file, or what
 * there is, and the size of all of it. */
enum { IO_NATIVE_HEADER = 128 };
spry_status io_native_places(spry_context *ctx, const io_bytes *head, matrix_arrays *a,
                             int64_t places[3], bool *dense);
/* The format of some bytes, by what they look like, or by their name. */
spry_status io_choose(spry_context *ctx, const io_bytes *bytes, const io_format **format);
/* What came of reading; where a text could not be read and is none, the message says that. */
spry_status io_name_binary(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                           spry_status status);

/* Reads a matrix from bytes with one format, through to the checks all formats share. */
spry_status io_read_bytes(spry_context *ctx, io_bytes *bytes, const io_format *format,
                          const char *options, spry_matrix **A);
/* A vector; of one column where cols is NULL. */
spry_status io_read_vector_bytes(spry_context *ctx, io_bytes *bytes, const io_format *format,
                                 const char *options, spry_vector **v, int64_t *cols);

#endif
