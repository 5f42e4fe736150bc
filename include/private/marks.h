/* How text files of others begin, and what is no text: for all that read text. */
#ifndef SPRY_PRIVATE_MARKS_H
#define SPRY_PRIVATE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Bytes to skip at a text's beginning: UTF-8's byte-order mark, which editors of Windows write. */
static inline size_t text_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/** What a text begins with where it is none that can be read; NULL: nothing is seen. */
static inline const char *text_is_utf16(const char *text, size_t size)
{
    const bool marked =
        size >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
    return marked ? "this is text in UTF-16; save it as UTF-8" : NULL;
}

/** Likewise, also for a byte of 0, which no text has: its place is *at. */
static inline const char *text_is_binary(const char *text, size_t size, size_t *at)
{
    const char *zero = size > 0 ? memchr(text, 0, size) : NULL, *utf16 = text_is_utf16(text, size);
    *at = zero && !utf16 ? (size_t)(zero - text) : 0;
    return utf16 ? utf16 : zero ? "a byte of 0 (NUL): this is no text, or it is UTF-16" : NULL;
}

#endif
