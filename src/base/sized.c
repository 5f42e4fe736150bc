/* Structs that callers allocate and that may be shorter or longer than here. */
#include "base/base.h"

enum { LARGEST = 1 << 16 }; /* of any version: what is larger was not initialised */

size_t base_size(const void *caller, const base_sized *s)
{
    size_t size;
    memcpy(&size, caller, sizeof size);
    if (size == 0)
        return s->first;
    return size >= s->first && size <= LARGEST ? size : 0;
}

spry_status base_check_size(spry_context *ctx, const void *caller, const base_sized *s)
{
    size_t size;
    if (base_size(caller, s) > 0)
        return SPRY_STATUS_OK;
    memcpy(&size, caller, sizeof size);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "a %s of %zu bytes: it was not initialised (its first version has %zu)",
                     s->name, size, s->first);
}

/* Bytes after the size that a caller's struct and ours have in common. */
static size_t shared(const void *caller, const base_sized *s)
{
    const size_t size = base_size(caller, s), both = size < s->own ? size : s->own;
    return both > sizeof size ? both - sizeof size : 0;
}

spry_status base_blank(spry_context *ctx, void *caller, const base_sized *s)
{
    const spry_status status = base_check_size(ctx, caller, s);
    memset((char *)caller + sizeof(size_t), 0, shared(caller, s));
    return status;
}

void base_give(void *caller, const void *from, const base_sized *s)
{
    memcpy((char *)caller + sizeof(size_t), (const char *)from + sizeof(size_t), shared(caller, s));
}

spry_status base_take(spry_context *ctx, const void *caller, void *to, const base_sized *s)
{
    const spry_status status = base_check_size(ctx, caller, s);
    memset(to, 0, s->own);
    memcpy(to, &s->own, sizeof s->own);
    memcpy((char *)to + sizeof(size_t), (const char *)caller + sizeof(size_t), shared(caller, s));
    return status;
}
