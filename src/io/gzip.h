/* zlib with the context's memory. */
#ifndef SPRY_IO_GZIP_H
#define SPRY_IO_GZIP_H

#include "io/io.h"

#include <zlib.h>

/* Added to zlib's window bits: gzip's header and trailer instead of zlib's. */
enum { GZIP_WINDOW = MAX_WBITS + 16 };

/* A stream whose state comes from the context's allocator. */
z_stream io_zlib_stream(spry_context *ctx);
/* What a file of so many bytes may unpack to before it is taken for a bomb. */
int64_t io_most_unpacked(int64_t packed);
/* Unpacks a file of bgzip with all threads; *out is NULL where it is none, or not a sound one. */
spry_status io_unpack_blocks(spry_context *ctx, const io_bytes *packed, char **out, int64_t *size);

#endif
