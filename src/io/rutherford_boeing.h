/* Harwell-Boeing and Rutherford-Boeing files: their header, shared by reading and writing. */
#ifndef SPRY_IO_RUTHERFORD_BOEING_H
#define SPRY_IO_RUTHERFORD_BOEING_H

#include "io/fortran.h"
#include "io/io.h"

/* The arrays of a file, in their order. */
typedef enum rb_part { RB_POINTERS, RB_INDICES, RB_VALUES, RB_PARTS } rb_part;

typedef struct rb_header {
    spry_type type;
    spry_symmetry symmetry;
    int64_t rows, cols, nnz;
    int64_t count[RB_PARTS]; /* numbers in each array; 0 values: a pattern */
    fortran_format format[RB_PARTS];
    size_t begin;     /* where the first array's lines begin */
    bool right_sides; /* may follow the values */
} rb_header;

/* What is wrong in a header, and where. */
typedef struct rb_fault {
    size_t position;
    char text[200];
} rb_fault;

/* One line without its end mark; next is where the following one begins. */
typedef struct rb_line {
    size_t begin, end, next;
} rb_line;

/* The line at a position; false at the end of the file. */
bool io_rb_line(const io_bytes *bytes, size_t position, rb_line *line);
bool io_rb_header(const io_bytes *bytes, rb_header *header, rb_fault *fault);
spry_status io_rb_write(const spry_matrix *A, const char *path);

#endif
