/* Texts that grow, and become files. */
#include "ocean/ocean.h"

#include <stdarg.h>
#include <string.h>

spry_status ocean_text_add(spry_context *ctx, ocean_text *t, const char *more, size_t length)
{
    if (t->size + length > t->room) {
        const size_t room = 2 * (t->size + length) + 4096;
        char *text = spry_alloc(ctx, room);
        if (!text)
            return SPRY_STATUS_NO_MEMORY;
        if (t->size > 0)
            memcpy(text, t->text, t->size);
        spry_free(ctx, t->text);
        t->text = text;
        t->room = room;
    }
    memcpy(t->text + t->size, more, length);
    t->size += length;
    return SPRY_STATUS_OK;
}

spry_status ocean_text_print(spry_context *ctx, ocean_text *t, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return ocean_text_add(ctx, t, line,
                          (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

spry_status ocean_text_write(const ocean_run *r, const ocean_text *t, const char *path)
{
    spry_status status = SPRY_STATUS_OK;
    if (spry_context_rank(r->ctx) == 0)
        status = spry_text_write(r->ctx, t->text, t->size, path);
    return spry_context_agree(r->ctx, status);
}
