/*
 * Matrix Market files inside. R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market exchange
 * formats: initial design" (NISTIR 5935, 1996).
 */
#ifndef SPRY_IO_MTX_H
#define SPRY_IO_MTX_H

#include "io/io.h"

typedef enum mtx_field { MTX_REAL, MTX_INTEGER, MTX_COMPLEX, MTX_PATTERN } mtx_field;

typedef struct mtx_header {
    bool array; /* else coordinate */
    mtx_field field;
    spry_symmetry symmetry;
    int64_t rows, cols;
    int64_t entries;  /* lines that must follow */
    size_t size_line; /* where the line with the sizes begins */
    size_t body;      /* where the line after it begins */
} mtx_header;

/* What is wrong with a header, and where. */
typedef struct mtx_problem {
    size_t position;
    char text[256];
} mtx_problem;

/* Reads up to the line of sizes, and sees that the rest of the file is long enough for the entries.
 */
bool io_mtx_read_header(const io_bytes *bytes, mtx_header *header, mtx_problem *problem);
/* Whether one process can number its rows and columns. */
bool io_mtx_check_sizes(const mtx_header *header, mtx_problem *problem);

/* One line that holds an entry. */
typedef struct mtx_entry {
    int64_t row, col; /* from 0; not set for arrays */
    double re, im;
} mtx_entry;

typedef enum mtx_fault {
    MTX_FINE,
    MTX_NO_ROW,
    MTX_ROW_RANGE,
    MTX_NO_COL,
    MTX_COL_RANGE,
    MTX_NO_VALUE,
    MTX_NOT_INTEGER,
    MTX_NO_END,
    MTX_ABOVE_DIAGONAL,
    MTX_SKEW_DIAGONAL,
    MTX_COMPLEX_DIAGONAL
} mtx_fault;

/* Lines of the body from `begin` to `end`, which are line starts or the file's end. */
typedef struct mtx_lines {
    const char *begin, *end;
    int64_t count; /* those that hold an entry */
    int64_t first; /* number of the first of them */
    mtx_fault fault;
    const char *place; /* of the fault */
} mtx_lines;

/* Counts the lines that are neither blank nor comments. */
int64_t io_mtx_count(const char *begin, const char *end);
/* The start of the text of line number k (from 0) of those that hold an entry; end when there is
 * none. */
const char *io_mtx_find(const char *begin, const char *end, int64_t k);

/* Where entries go; the places of coordinate entries to indices of one width or the other. */
typedef struct mtx_target {
    int32_t *row_index, *col_index;
    int64_t *row, *col;
    double *values; /* pairs when complex */
} mtx_target;

/* Parses the lines into target[first...], stopping at the first fault. */
void io_mtx_parse(const mtx_header *header, mtx_lines *lines, const mtx_target *target);
/* The message for a fault that io_mtx_parse found. */
spry_status io_mtx_explain(spry_context *ctx, const io_bytes *bytes, const mtx_header *header,
                           const mtx_lines *lines);

/* A stretch of the body, cut into pieces that threads take. */
typedef struct mtx_part {
    mtx_lines *lines;
    int64_t pieces;
    int64_t count; /* lines that hold an entry */
} mtx_part;
/* Cuts what lies between two line starts, or the end; lines are the caller's to free. */
spry_status io_mtx_cut(spry_context *ctx, const char *begin, const char *end, mtx_part *part);
/* Counts the entries. */
spry_status io_mtx_count_part(spry_context *ctx, const char *path, mtx_part *part);
/* Parses them, the first one to target[0]; the message is that of the first fault. */
spry_status io_mtx_parse_part(spry_context *ctx, const io_bytes *bytes, const mtx_header *header,
                              mtx_part *part, const mtx_target *target);
/* What is wrong where the number of entries is another one than the header promises; `extra` is the
 * place of the first too many. */
spry_status io_mtx_miscounted(spry_context *ctx, const io_bytes *bytes, const mtx_header *header,
                              int64_t found, const char *extra);

/* Numbers as lines of an array, begin to end - 1; returns the characters, at most MTX_LINE each. */
enum { MTX_LINE = 80 }; /* two indices of 10 digits, two numbers of 25 characters */
size_t io_mtx_format_numbers(spry_type type, const void *values, range entries, char *out);
/* The words before the sizes of an array of a type. */
const char *io_mtx_field(spry_type type);

/* The word at p for a message: quoted, cut off, without what a terminal should not get. */
enum { MTX_WORD_SIZE = 40 };
const char *io_mtx_quote(const char *p, const char *end, char word[MTX_WORD_SIZE]);

static inline bool mtx_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *mtx_skip_blanks(const char *p, const char *end)
{
    while (p < end && mtx_is_blank(*p))
        p++;
    return p;
}

/* The start of the next line, or the end. */
static inline const char *mtx_next_line(const char *p, const char *end)
{
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return newline ? newline + 1 : end;
}

spry_status io_mtx_write_matrix(const spry_matrix *A, const char *path);
spry_status io_mtx_write_vector(const spry_vector *v, int64_t cols, const char *path);

#endif
