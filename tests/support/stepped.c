/* See stepped.h. */
#include "support/stepped.h"

#include "support/numeric.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void stepped_make(spry_context *ctx, spry_device *device, spry_type type, int64_t n, int count,
                  spry_vector **v)
{
    for (int j = 0; j < count; j++)
        v[j] = numeric_random(ctx, device, type, n, 100 + (uint64_t)j);
}

void stepped_free(int count, spry_vector **v)
{
    for (int j = 0; j < count; j++)
        spry_vector_free(v[j]);
}

void stepped_same(const spry_vector *found, const spry_vector *expected, const char *tried, ...)
{
    const spry_vector *const of[2] = {found, expected};
    spry_vector *on_host[2];
    char text[256];
    va_list more;
    for (int k = 0; k < 2; k++) {
        on_host[k] = numeric_random(found->ctx, NULL, found->type, found->n, 0);
        assert_ok(found->ctx, spry_vector_copy(of[k], on_host[k]));
    }
    const size_t bytes = (size_t)found->n * spry_type_size(found->type);
    const bool same = memcmp(on_host[0]->data, on_host[1]->data, bytes) == 0;
    stepped_free(2, on_host);
    va_start(more, tried);
    vsnprintf(text, sizeof text, tried, more);
    va_end(more);
    if (!same)
        fail_msg("%s has other bits than products give", text);
}
