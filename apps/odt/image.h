/* Camera images: PNG and TIFF of 8 and 16 bits. */
#ifndef SPRY_ODT_IMAGE_H
#define SPRY_ODT_IMAGE_H

#include <spry/context.h>
#include <spry/vector.h>
#include <stddef.h>
#include <stdint.h>

/* Grey values, 0 to 255 or 65535, by rows from the top; of colours their mean. */
typedef struct image {
    int64_t width, height;
    int bits;
    float *grey;
} image;

spry_status image_read(spry_context *ctx, const char *path, image *picture);
/* The same of a file's bytes. */
spry_status image_parse(spry_context *ctx, const char *path, const unsigned char *bytes,
                        size_t size, image *picture);
void image_free(spry_context *ctx, image *picture);

/* --- what the two readers share ------------------------------------------------------------------
 */

typedef struct image_source {
    spry_context *ctx;
    const char *path;
    const unsigned char *bytes;
    size_t size;
} image_source;

/* Reports what is wrong, and at which byte. */
spry_status image_fault(const image_source *s, size_t at, const char *format, ...)
    SPRY_PRINTF(3, 4);
/* Room for a picture whose data take `stored` bytes in the file, of which each makes at most
 * `most`: a file cannot ask for more memory than it has something to put into. */
spry_status image_make(const image_source *s, size_t at, size_t stored, double most, int channels,
                       image *picture);
/* One row of values of 8 or 16 bits in the order of bytes given, `channels` for each pixel; the
 * mean of the first one, or three, is the grey value. */
void image_row(image *picture, int64_t row, const unsigned char *values, int channels, bool little);

spry_status image_png(const image_source *s, image *picture);
spry_status image_tiff(const image_source *s, image *picture);

#endif
