/* Files of a test's own, and reading from memory. */
#include "support/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static void remove_folder(void)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    char path[512];
    while (listing && (entry = readdir(listing))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); /* fails for . and .. */
    }
    if (listing)
        closedir(listing);
    rmdir(folder);
}

const char *files_path(const char *name)
{
    static char paths[4][512];
    static int next;
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%.200s/spry-test-XXXXXX", base ? base : "/tmp");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

spry_status files_read(spry_context *ctx, const io_format *format, const char *path,
                       io_content *content)
{
    io_bytes bytes;
    *content = (io_content){0};
    spry_status status = io_open(ctx, path, &bytes);
    if (status != SPRY_STATUS_OK)
        return status;
    status = format->read(ctx, &bytes, content);
    io_close(ctx, &bytes);
    return status;
}

spry_status files_read_memory(spry_context *ctx, const io_format *format, const void *data,
                              size_t size, io_content *content)
{
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    io_bytes bytes = {.path = "memory", .data = exact, .size = size};
    *content = (io_content){0};
    const spry_status status = format->read(ctx, &bytes, content);
    free(exact);
    return status;
}

void files_free(spry_context *ctx, io_content *content)
{
    spry_matrix_free(content->matrix);
    spry_free(ctx, content->dense.values);
    *content = (io_content){0};
}

void files_refused(spry_context *ctx, const io_format *format, const void *data, size_t size,
                   const char *message)
{
    io_content content;
    int64_t before, after;
    spry_context_memory(ctx, &before, NULL);
    const spry_status status = files_read_memory(ctx, format, data, size, &content);
    if (status == SPRY_STATUS_OK)
        print_error("read, though it should be refused with: %s\n", message);
    assert_int_equal(status, SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, message);
    assert_null(content.matrix);
    assert_null(content.dense.values);
    spry_context_memory(ctx, &after, NULL);
    assert_int_equal(before, after);
}

char *files_load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size ? *size : 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

void files_round_trip(const io_format *format, const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    io_content content;
    spry_matrix *B = NULL, *C = NULL;
    assert_ok(ctx, format->write_matrix(A, path));
    assert_ok(ctx, files_read(ctx, format, path, &content));
    assert_non_null(content.matrix);
    assert_ok(ctx, spry_matrix_convert(content.matrix, A->a.format, &B));
    assert_ok(ctx, spry_matrix_cast(B, spry_matrix_type(A), &C));
    support_same_arrays(A, C);
    spry_matrix_free(B);
    spry_matrix_free(C);
    files_free(ctx, &content);
}
