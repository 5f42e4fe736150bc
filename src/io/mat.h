/* MATLAB's files of level 5: elements with tags, one in the other, as reading and writing share
 * them. */
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

spry_status io_mat_write_matrix(const spry_matrix *A, const char *path);
spry_status io_mat_write_vector(const spry_vector *v, int64_t cols, const char *path);

#endif
