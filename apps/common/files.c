/* Frames of films, and checkpoints. */
#include "common/app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, HEAD = 256 };

spry_status app_frame(const spry_grid *grid, const spry_vector *field, const char *prefix,
                      int64_t number, const char *options)
{
    char path[PATH_SIZE];
    if (!prefix)
        return SPRY_STATUS_OK;
    snprintf(path, sizeof path, "%s-%04" PRId64 ".png", prefix, number);
    return spry_field_write(grid, field, path, options);
}

static size_t bytes_of(const spry_vector *v)
{
    return (size_t)spry_vector_size(v) * spry_type_size(spry_vector_type(v));
}

/* FNV-1a, to detect a file that was damaged. */
static uint64_t sum_of(const char *bytes, size_t count)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    return sum;
}

static spry_status fail(spry_context *ctx, spry_status status, const char *path, const char *what)
{
    char text[PATH_SIZE + HEAD];
    snprintf(text, sizeof text, "%s: %s", path, what);
    spry_context_set_message(ctx, text);
    return status;
}

/* Between a vector, wherever it is, and an array; to: to the array. */
static spry_status move(spry_context *ctx, spry_vector *v, char *numbers, bool to)
{
    spry_vector *on_host = NULL;
    spry_status status = spry_vector_new(ctx, spry_vector_type(v), spry_vector_size(v), numbers,
                                         SPRY_OWN_BORROW, &on_host);
    if (status == SPRY_STATUS_OK)
        status = to ? spry_vector_copy(v, on_host) : spry_vector_copy(on_host, v);
    spry_vector_free(on_host);
    return status;
}

static size_t size_of(int count, const spry_vector *const *v)
{
    size_t size = HEAD;
    for (int i = 0; i < count; i++)
        size += bytes_of(v[i]);
    return size;
}

spry_status app_checkpoint_write(spry_context *ctx, const char *path, const char *what,
                                 int64_t step, double t, int count, const spry_vector *const *v)
{
    const size_t size = size_of(count, v);
    char *file = spry_alloc(ctx, size);
    if (!file)
        return SPRY_STATUS_NO_MEMORY;
    spry_status status = SPRY_STATUS_OK;
    size_t at = HEAD;
    for (int i = 0; i < count && status == SPRY_STATUS_OK; i++) {
        status = move(ctx, (spry_vector *)v[i], file + at, true);
        at += bytes_of(v[i]);
    }
    memset(file, ' ', HEAD);
    file[HEAD - 1] = '\n';
    const int used = snprintf(file, HEAD - 1,
                              "spry checkpoint: %s\nstep %" PRId64 "\nt %.17g\nsum %" PRIu64 "\n",
                              what, step, t, sum_of(file + HEAD, size - HEAD));
    if (used < HEAD - 1)
        file[used] = ' ';
    if (status == SPRY_STATUS_OK)
        status = spry_text_write(ctx, file, size, path);
    spry_free(ctx, file);
    return status;
}

/* All of a file that is exactly so long. */
static spry_status read_all(spry_context *ctx, const char *path, char *to, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(ctx, SPRY_STATUS_IO, path, strerror(errno));
    const size_t got = fread(to, 1, size, file);
    const bool more = fgetc(file) != EOF;
    fclose(file);
    return got == size && !more ? SPRY_STATUS_OK
                                : fail(ctx, SPRY_STATUS_BAD_INPUT, path,
                                       "is no checkpoint of this problem: its length is another");
}

spry_status app_checkpoint_read(spry_context *ctx, const char *path, const char *what,
                                int64_t *step, double *t, int count, spry_vector *const *v)
{
    const size_t size = size_of(count, (const spry_vector *const *)v);
    char head[HEAD], *file = spry_alloc(ctx, size);
    uint64_t sum = 0;
    if (!file)
        return SPRY_STATUS_NO_MEMORY;
    spry_status status = read_all(ctx, path, file, size);
    const int begins = snprintf(head, sizeof head, "spry checkpoint: %s\n", what);
    if (status == SPRY_STATUS_OK && (begins >= HEAD || strncmp(file, head, (size_t)begins) != 0))
        status = fail(ctx, SPRY_STATUS_BAD_INPUT, path, "is a checkpoint of another problem");
    if (status == SPRY_STATUS_OK) {
        memcpy(head, file, HEAD);
        head[HEAD - 1] = '\0';
        if (sscanf(head + begins, "step %" SCNd64 " t %lf sum %" SCNu64, step, t, &sum) != 3 ||
            sum != sum_of(file + HEAD, size - HEAD))
            status = fail(ctx, SPRY_STATUS_BAD_INPUT, path, "is damaged");
    }
    size_t at = HEAD;
    for (int i = 0; i < count && status == SPRY_STATUS_OK; i++) {
        status = move(ctx, v[i], file + at, false);
        at += bytes_of(v[i]);
    }
    spry_free(ctx, file);
    return status;
}
