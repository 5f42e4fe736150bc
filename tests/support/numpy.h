/* NumPy arrays made by hand, byte by byte, for the tests of .npy and .npz. */
#ifndef SPRY_TESTS_NUMPY_H
#define SPRY_TESTS_NUMPY_H

#include <stddef.h>

typedef struct numpy_bytes {
    char data[4096];
    size_t size;
} numpy_bytes;

/* An array of version 1, 2 or 3 with this dictionary as header, followed by the bytes. */
void numpy_array(numpy_bytes *out, int version, const char *dictionary, const void *data,
                 size_t size);
/* The usual dictionary: C order. shape is "3," or "3, 4" or "". */
void numpy_plain(numpy_bytes *out, const char *descr, const char *shape, const void *data,
                 size_t size);

#endif
