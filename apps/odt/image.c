#include "odt/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 512 };

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
    const bool broken = file && fgetc(file) == EOF && ferror(file); /* a folder has a size, too */
    if (file && !broken && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        bytes = spry_alloc(ctx, (size_t)size + 1);
        status = bytes ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    }
    if (broken || (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size))
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
