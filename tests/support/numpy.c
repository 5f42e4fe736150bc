/* NumPy arrays made by hand. */
#include "support/numpy.h"

#include "support/support.h"

#include <stdio.h>
#include <string.h>

void numpy_array(numpy_bytes *out, int version, const char *dictionary, const void *data,
                 size_t size)
{
    const size_t length = strlen(dictionary), counter = version == 1 ? 2 : 4;
    assert_true(8 + counter + length + size <= sizeof out->data);
    memcpy(out->data, "\x93NUMPY", 6);
    out->data[6] = (char)version;
    out->data[7] = 0;
    for (size_t i = 0; i < counter; i++)
        out->data[8 + i] = (char)(length >> (8 * i));
    memcpy(out->data + 8 + counter, dictionary, length);
    memcpy(out->data + 8 + counter + length, data, size);
    out->size = 8 + counter + length + size;
}

void numpy_plain(numpy_bytes *out, const char *descr, const char *shape, const void *data,
                 size_t size)
{
    char dictionary[256];
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape);
    numpy_array(out, 1, dictionary, data, size);
}
