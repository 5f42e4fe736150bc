/* zlib with the context's memory. */
#ifndef SPRY_IO_GZIP_H
#define SPRY_IO_GZIP_H

#include "base/base.h"

#include <zlib.h>

/* Added to zlib's window bits: gzip's header and trailer instead of zlib's. */
enum { GZIP_WINDOW = MAX_WBITS + 16 };

/* A stream whose state comes from the context's allocator. */
z_stream io_zlib_stream(spry_context *ctx);

#endif
