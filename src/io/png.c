/*
 * PNG (W3C, Portable Network Graphics, third edition): a signature, then chunks of length, name,
 * bytes and check sum: IHDR, one IDAT with all rows as a stream of zlib, each with the number of
 * its filter before it (0: none), IEND.
 */
#include "io/png.h"

#include "io/gzip.h"

#include <private/programs.h>

static void put_number(unsigned char *to, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        to[k] = (unsigned char)(value >> (24 - 8 * k));
}

/* A chunk, and where the next one begins. */
static unsigned char *put_chunk(unsigned char *to, const char *name, const unsigned char *data,
                                size_t size)
{
    put_number(to, (uint32_t)size);
    memcpy(to + 4, name, 4);
    if (size > 0)
        memcpy(to + 8, data, size);
    put_number(to + 8 + size, (uint32_t)crc32_z(0, to + 4, size + 4));
    return to + 12 + size;
}

/* All rows with their filters' numbers as a stream of zlib; *packed is the caller's to free. */
static spry_status pack_rows(spry_context *ctx, int64_t width, int64_t height,
                             const unsigned char *pixels, unsigned char **packed, size_t *size)
{
    z_stream z = io_zlib_stream(ctx);
    static const unsigned char filter[1] = {0};
    spry_status status = SPRY_STATUS_OK;
    int code = deflateInit(&z, 6);
    if (code != Z_OK)
        return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "no memory to pack a picture");
    const uLong room = deflateBound(&z, (uLong)((3 * width + 1) * height));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)room, 1, packed));
    z.next_out = *packed;
    z.avail_out = (uInt)room;
    for (int64_t y = 0; y < height && code == Z_OK; y++) {
        z.next_in = (Bytef *)(uintptr_t)filter;
        z.avail_in = 1;
        code = deflate(&z, Z_NO_FLUSH);
        z.next_in = (Bytef *)(uintptr_t)(pixels + 3 * width * y);
        z.avail_in = (uInt)(3 * width);
        if (code == Z_OK)
            code = deflate(&z, y + 1 < height ? Z_NO_FLUSH : Z_FINISH);
    }
    *size = z.total_out;
    if (code != Z_STREAM_END)
        status = SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY, "%s", "a picture could not be packed");
done:
    deflateEnd(&z);
    return status;
}

spry_status spry_png_pack(spry_context *ctx, int64_t width, int64_t height, const void *pixels,
                          void **png, size_t *size)
{
    enum { SIDE_MOST = 16384 }; /* so that all counts fit into 32 bits */
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char header[13] = {[8] = 8, [9] = 2}; /* bits, colours: red, green, blue */
    unsigned char *packed = NULL, *whole = NULL, *at = NULL;
    size_t packed_size = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_NEED(ctx, ctx, pixels, png, size);
    *png = NULL;
    *size = 0;
    if (width < 1 || height < 1 || width > SIDE_MOST || height > SIDE_MOST)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a picture of %" PRId64 " x %" PRId64 " points, at most %d along a side",
                         width, height, SIDE_MOST);
    SPRY_GO(ctx, pack_rows(ctx, width, height, pixels, &packed, &packed_size));
    *size = sizeof signature + 3 * 12 + sizeof header + packed_size;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)*size, 1, &whole));
    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    memcpy(whole, signature, sizeof signature);
    at = put_chunk(whole + sizeof signature, "IHDR", header, sizeof header);
    at = put_chunk(at, "IDAT", packed, packed_size);
    put_chunk(at, "IEND", header, 0);
    *png = whole;
done:
    *size = status == SPRY_STATUS_OK ? *size : 0;
    base_free(ctx, packed);
    return status;
}

spry_status io_png_write(spry_context *ctx, const char *path, int64_t width, int64_t height,
                         const unsigned char *pixels)
{
    void *png = NULL;
    size_t size = 0;
    io_writer *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_png_pack(ctx, width, height, pixels, &png, &size));
    SPRY_GO(ctx, io_create(ctx, path, &w));
    io_write(w, png, size);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    base_free(ctx, png);
    return status;
}
