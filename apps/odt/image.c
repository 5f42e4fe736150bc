#include "odt/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 512, MOST_SIDE = 65535 };

spry_status image_fault(const image_source *s, size_t at, const char *format, ...)
{
    char text[MESSAGE], what[MESSAGE / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%.200s: byte %zu: %s", s->path, at, what);
    spry_context_set_message(s->ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

spry_status image_make(const image_source *s, size_t at, size_t stored, double most, int channels,
                       image *picture)
{
    const double values = (double)picture->width * (double)picture->height;
    if (picture->width < 1 || picture->height < 1 || picture->width > MOST_SIDE ||
        picture->height > MOST_SIDE)
        return image_fault(s, at, "%lld x %lld pixels; sides are from 1 to %d",
                           (long long)picture->width, (long long)picture->height, MOST_SIDE);
    if (values * channels * (picture->bits / 8) > most * (double)stored + most)
        return image_fault(s, at, "%lld x %lld pixels are more than %zu bytes of data can be",
                           (long long)picture->width, (long long)picture->height, stored);
    picture->grey = spry_alloc(s->ctx, (size_t)values * sizeof *picture->grey);
    return picture->grey ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
}

void image_row(image *picture, int64_t row, const unsigned char *values, int channels, bool little)
{
    const int wide = picture->bits / 8, colours = channels < 3 ? 1 : 3;
    for (int64_t x = 0; x < picture->width; x++) {
        float sum = 0;
        for (int c = 0; c < colours; c++) {
            const unsigned char *v = values + (x * channels + c) * wide;
            const int value = wide == 1 ? v[0] : little ? v[0] | v[1] << 8 : v[0] << 8 | v[1];
            sum += (float)value;
        }
        picture->grey[row * picture->width + x] = sum / (float)colours;
    }
}

spry_status image_parse(spry_context *ctx, const char *path, const unsigned char *bytes,
                        size_t size, image *picture)
{
    static const unsigned char png[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    const image_source s = {ctx, path, bytes, size};
    spry_status status;
    *picture = (image){0};
    if (size >= 8 && memcmp(bytes, png, 8) == 0)
        status = image_png(&s, picture);
    else if (size >= 4 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0))
        status = image_tiff(&s, picture);
    else
        status = image_fault(&s, 0, "this is neither PNG nor TIFF (BigTIFF is not read)");
    if (status != SPRY_STATUS_OK)
        image_free(ctx, picture);
    return status;
}

void image_free(spry_context *ctx, image *picture)
{
    spry_free(ctx, picture->grey);
    *picture = (image){0};
}

spry_status image_read(spry_context *ctx, const char *path, image *picture)
{
    char text[MESSAGE];
    FILE *file = fopen(path, "rb");
    long size = -1;
    unsigned char *bytes = NULL;
    spry_status status = SPRY_STATUS_IO;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        bytes = spry_alloc(ctx, (size_t)size + 1);
        status = bytes ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    }
    if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size)
        status = SPRY_STATUS_IO;
    if (status == SPRY_STATUS_IO) {
        snprintf(text, sizeof text, "%.300s: %s", path, strerror(errno));
        spry_context_set_message(ctx, text);
    }
    if (file)
        fclose(file);
    if (status == SPRY_STATUS_OK)
        status = image_parse(ctx, path, bytes, (size_t)size, picture);
    spry_free(ctx, bytes);
    return status;
}
