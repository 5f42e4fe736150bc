/* MATLAB's files: level 5 (elements with tags, one in the other) and 7.3 (HDF5), and what reading
 * and writing share. */
#ifndef SPRY_IO_MAT_H
#define SPRY_IO_MAT_H

#include "io/io.h"

/* Types of elements, with the names of the format's description. */
enum {
    MI_INT8 = 1,
    MI_UINT8 = 2,
    MI_INT16 = 3,
    MI_UINT16 = 4,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_SINGLE = 7,
    MI_DOUBLE = 9,
    MI_INT64 = 12,
    MI_UINT64 = 13,
    MI_MATRIX = 14,
    MI_COMPRESSED = 15
};

/* Classes of arrays. */
enum {
    MX_STRUCT = 2,
    MX_SPARSE = 5,
    MX_DOUBLE = 6,
    MX_SINGLE = 7,
    MX_UINT64 = 15,
    MX_COMPLEX = 0x0800
};

enum { MAT_HEADER = 128, MAT_TAG = 8 };

/* Numbers of a file, each `stride` bytes behind the one before; `type` is that of an element. */
typedef struct mat_numbers {
    uint32_t type;
    const char *data; /* NULL: there are none */
    size_t count, stride;
} mat_numbers;

/* A sparse matrix by columns as a file has it, before anything of it is believed. */
typedef struct mat_sparse {
    int64_t rows, cols;
    mat_numbers row_index, offsets, re, im; /* im.data NULL: real */
} mat_sparse;

/* Bytes of one number of a type; 0: it has none. */
size_t io_mat_number_size(uint32_t type);
/* Make what they are given, after checking it, to the content of a file. */
spry_status io_mat_take_sparse(spry_context *ctx, const char *path, const mat_sparse *given,
                               io_content *content);
spry_status io_mat_take_dense(spry_context *ctx, int64_t rows, int64_t cols, bool single,
                              const mat_numbers *re, const mat_numbers *im, io_content *content);

/* CSC with rows that rise, each place once: what MATLAB takes for granted. */
spry_status io_mat_by_columns(const spry_matrix *A, spry_matrix **B);
spry_status io_mat_write_matrix(const spry_matrix *A, const char *path);
spry_status io_mat_write_vector(const spry_vector *v, int64_t cols, const char *path);
spry_status io_mat73_write_matrix(const spry_matrix *A, const char *path);
spry_status io_mat73_write_vector(const spry_vector *v, int64_t cols, const char *path);

#endif
