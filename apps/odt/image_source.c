/* What the readers of images share. */
#include "odt/image.h"

#include <stdarg.h>
#include <stdio.h>

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
