/* Texts that grow as they are written. */
#include "base/base.h"

#include <stdarg.h>

void base_text_put(base_text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t wanted = t->used + (size_t)(length > 0 ? length : 0) + 1;
    if (t->status == SPRY_STATUS_OK && wanted > t->room) {
        t->status = base_grow(t->ctx, (int64_t)t->used, (int64_t)(2 * wanted), 1, &t->text);
        t->room = 2 * wanted;
    }
    if (t->status == SPRY_STATUS_OK) {
        vsnprintf(t->text + t->used, t->room - t->used, format, again);
        t->used = wanted - 1;
    }
    va_end(again);
}

spry_status base_text_take(base_text *t, char **text)
{
    *text = t->text;
    if (t->status != SPRY_STATUS_OK) {
        base_free(t->ctx, t->text);
        *text = NULL;
    }
    t->text = NULL;
    return t->status;
}
