/* Pictures as .png: 8 bits per colour, packed by zlib. */
#ifndef SPRY_IO_PNG_H
#define SPRY_IO_PNG_H

#include "io/io.h"

/* Writes width x height pixels of three bytes, rows from the top. */
spry_status io_png_write(spry_context *ctx, const char *path, int64_t width, int64_t height,
                         const unsigned char *pixels);

#endif
