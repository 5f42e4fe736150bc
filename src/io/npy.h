/* NumPy's .npy arrays, in a file of their own or as members of a .npz. */
#ifndef SPRY_IO_NPY_H
#define SPRY_IO_NPY_H

#include "io/io.h"

enum { NPY_DIMS = 3, NPY_HEADER = 192 };

typedef struct npy_array {
    const char *name; /* for messages: the file, the member */
    char kind;        /* b i u f c, and S U for texts */
    int64_t size;     /* bytes of an element */
    bool swap;        /* its bytes are in the order that is not this machine's */
    bool fortran;     /* first index runs fastest */
    int dims;
    int64_t shape[NPY_DIMS];
    int64_t count;
    const char *data;
} npy_array;

/* Reads the header from the first `have` of an array's `size` bytes, and checks that the data have
 * the size promised; a->data points into what is given. */
spry_status io_npy_parse(spry_context *ctx, const char *name, const char *data, size_t have,
                         size_t size, npy_array *a);
/* The type numbers of the array are kept in: integers become double. Fails on texts. */
spry_status io_npy_type(spry_context *ctx, const npy_array *a, spry_type *type);
/* Element k in the order of the file, as a number. */
spry_scalar io_npy_number(const npy_array *a, int64_t k);
/* Element k when it is an integer that fits; false otherwise. */
bool io_npy_int(const npy_array *a, int64_t k, int64_t *value);
/* All elements in the order of the file, as numbers of a->kind's type. */
void io_npy_copy(spry_context *ctx, const npy_array *a, spry_type type, void *out);

/* Writes the header of an array of 0 to 3 dimensions to out (NPY_HEADER bytes); its length.
 * The numbers follow row by row, or column by column as Fortran has them. */
size_t io_npy_header(char *out, const char *descr, int dims, const int64_t *shape, bool fortran);
/* NumPy's name of the type on this machine: "<f8". */
const char *io_npy_descr(spry_type type);
/* NumPy's mark of this machine's byte order. */
char io_npy_order(void);

#endif
