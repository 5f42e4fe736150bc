/* A file on all ranks. */
#include "ranks/files.h"

#include "matrix/entries.h"

/* What the first rank knows of it. */
typedef struct opened {
    int64_t size;
    bool plain; /* a regular file as it is: every rank maps it */
} opened;

static spry_status map_too(spry_context *ctx, const char *path, const opened *first,
                           io_bytes *bytes)
{
    const spry_status status = io_open(ctx, path, bytes);
    if (status != SPRY_STATUS_OK || (int64_t)bytes->size == first->size)
        return status;
    return SPRY_FAIL(ctx, SPRY_STATUS_IO,
                     "%s: has %zu bytes here and %" PRId64 " where rank 0 sees it", path,
                     bytes->size, first->size);
}

static spry_status receive(spry_context *ctx, const char *path, const opened *first,
                           io_bytes *bytes)
{
    *bytes = (io_bytes){.path = path, .size = (size_t)first->size};
    const spry_status status = base_alloc(ctx, first->size, 1, &bytes->memory);
    bytes->data = bytes->memory;
    return status;
}

spry_status ranks_open_file(spry_context *ctx, const char *path, io_bytes *bytes)
{
    const bool leads = team_rank(ctx) == 0;
    opened first = {0};
    spry_status status = SPRY_STATUS_OK;
    *bytes = (io_bytes){.path = path};
    SPRY_GO(ctx, team_agree(ctx, leads ? io_open(ctx, path, bytes) : SPRY_STATUS_OK));
    if (leads)
        first = (opened){(int64_t)bytes->size,
                         bytes->mapping && bytes->data == bytes->mapping && !bytes->memory};
    SPRY_GO(ctx, team_share(ctx, 0, &first, sizeof first));
    if (!leads)
        status =
            first.plain ? map_too(ctx, path, &first, bytes) : receive(ctx, path, &first, bytes);
    SPRY_GO(ctx, team_agree(ctx, status));
    if (!first.plain)
        SPRY_GO(ctx, team_share(ctx, 0, (void *)bytes->data, first.size));
done:
    if (status != SPRY_STATUS_OK)
        io_close(ctx, bytes);
    return status;
}

spry_status ranks_cast(spry_context *ctx, spry_type from, int64_t count, void **values,
                       spry_type to, int64_t *bad, char why[RANKS_WHY])
{
    char *cast = NULL;
    *bad = -1;
    if (from == to)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, count, spry_type_size(to), &cast);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t k = 0; k < count; k++) {
        const spry_scalar v = value_get(from, *values, k);
        const bool lost = (type_is_single(to) && value_overflows_single(v)) ||
                          (!spry_type_is_complex(to) && v.im != 0);
        if (lost && *bad < 0) {
            char text[VALUE_TEXT];
            *bad = k;
            snprintf(why, RANKS_WHY, "is %s, beyond the range of type %s; type=%s holds it",
                     value_text(from, v, text), spry_type_name(to), spry_type_name(from));
        }
        value_set(to, cast, k, v);
    }
    base_free(ctx, *values);
    *values = cast;
    return SPRY_STATUS_OK;
}

spry_status ranks_about_file(spry_context *ctx, const char *path, spry_status status)
{
    int named = 0;
    if (status == SPRY_STATUS_OK)
        return status;
    (void)sscanf(ctx->message, "rank %*d: %n", &named);
    if (named > 0 && strncmp(ctx->message + named, path, strlen(path)) == 0)
        memmove(ctx->message, ctx->message + named, strlen(ctx->message + named) + 1);
    return status;
}
