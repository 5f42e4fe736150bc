/* The bytes of a file: giving them back, and messages about places in them. */
#include "io/io.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

spry_status io_system_fault(spry_context *ctx, const char *path, int error)
{
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    const bool exhausted = error == ENOMEM || error == ENOSPC || error == EDQUOT || error == EFBIG;
    return SPRY_FAIL(ctx, exhausted ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_IO, "%s: %s", path,
                     reason);
}

spry_status io_go_on(spry_context *ctx, const char *path)
{
    return spry_context_interrupted(ctx, false)
               ? SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "%s: not read, a stop was asked for", path)
               : SPRY_STATUS_OK;
}

void io_close(spry_context *ctx, io_bytes *bytes)
{
    if (bytes->mapping)
        munmap(bytes->mapping, bytes->mapping_bytes);
    base_free(ctx, bytes->memory);
    *bytes = (io_bytes){.path = bytes->path};
}

int64_t io_line(const io_bytes *bytes, size_t position)
{
    int64_t line = 1;
    for (size_t i = 0; i < position && i < bytes->size; i++)
        line += bytes->data[i] == '\n';
    return line;
}

spry_status io_fault(spry_context *ctx, const io_bytes *bytes, size_t position, const char *format,
                     ...)
{
    char text[MESSAGE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s:%" PRId64 ": %s", bytes->path,
                     io_line(bytes, position), text);
}
