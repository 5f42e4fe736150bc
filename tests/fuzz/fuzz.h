/* What fuzz targets share: a read from memory whose result must be sound, under a small memory
 * limit. */
#ifndef SPRY_FUZZ_H
#define SPRY_FUZZ_H

#include "io/io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stops the fuzzer, in builds without assertions too. */
static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

/* A context that all inputs share: the making of one takes longer than what is done with it. */
static inline spry_context *fuzz_begin(int64_t *memory)
{
    static spry_context *ctx;
    if (!ctx)
        fuzz_require(spry_context_new("memory_limit=64M threads=1", &ctx) == SPRY_STATUS_OK);
    spry_context_set_message(ctx, "");
    spry_context_memory(ctx, memory, NULL);
    return ctx;
}

/* Nothing of an input remains. */
static inline void fuzz_end(spry_context *ctx, int64_t memory)
{
    int64_t now = 0;
    spry_context_memory(ctx, &now, NULL);
    fuzz_require(now == memory);
}

/* Reads once; what is read must be sound, what is refused must say why, and nothing may leak. */
static inline void fuzz_read_with(const io_format *format, const char *path, const char *options,
                                  const uint8_t *data, size_t size)
{
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    spry_matrix *A = NULL;
    io_bytes bytes = {.path = path, .data = (const char *)data, .size = size};
    spry_status status = io_unpack(ctx, &bytes);
    if (status == SPRY_STATUS_OK)
        status = io_read_bytes(ctx, &bytes, format, options, &A);
    if (status == SPRY_STATUS_OK) {
        const matrix_arrays arrays = A->a;
        fuzz_require(matrix_check_arrays(ctx, &arrays) == SPRY_STATUS_OK);
    } else {
        fuzz_require(A == NULL && spry_message(ctx)[0] != '\0');
    }
    spry_matrix_free(A);
    io_close(ctx, &bytes);
    fuzz_end(ctx, memory);
}

static inline int fuzz_read(const io_format *format, const char *path, const uint8_t *data,
                            size_t size)
{
    fuzz_read_with(format, path, NULL, data, size);
    fuzz_read_with(format, path, "duplicates=sum nonfinite=keep expand=no", data, size);
    return 0;
}

#endif
