/* zlib with the context's memory. */
#ifndef SPRY_IO_GZIP_H
#define SPRY_IO_GZIP_H

#include "io/io.h"

#include <zlib.h>

/* Added to zlib's window bits: gzip's header and trailer instead of zlib's. */
enum { GZIP_WINDOW = MAX_WBITS + 16 };

/* A stream whose state comes from the context's allocator. */
z_stream io_zlib_stream(spry_context *ctx);
/* Unpacks a file of bgzip with all threads; *out is NULL where it is none, is not a sound one, or
 * has more than `most` bytes. */
spry_status io_unpack_blocks(spry_context *ctx, const io_bytes *packed, int64_t most, char **out,
                             int64_t *size);

#endif
