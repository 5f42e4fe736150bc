/* Status codes, messages with causes, the log. */
#include "base/base.h"

#include <stdarg.h>

const char *spry_status_text(spry_status status)
{
#define STATUS_TEXT(name, text) [SPRY_STATUS_##name] = text,
    static const char *const texts[] = {SPRY_STATUS_LIST(STATUS_TEXT)};
    return status >= 0 && status < SPRY_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *spry_message(const spry_context *ctx)
{
    return ctx ? ctx->message : spry_status_text(SPRY_STATUS_NO_MEMORY);
}

void spry_context_set_message(spry_context *ctx, const char *text)
{
    if (ctx)
        snprintf(ctx->message, sizeof ctx->message, "%s", text ? text : "");
}

void base_log(const spry_context *ctx, spry_log_level level, const char *format, ...)
{
    if (!ctx || !ctx->log || (int)level >= ctx->options.log) /* options.log: 0 is quiet */
        return;
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ctx->log(ctx->log_data, level, text);
}

spry_status base_fail(spry_context *ctx, spry_status status, const char *file, int line,
                      const char *format, ...)
{
    va_list arguments;
    if (!ctx) /* no context can hold the message */
        return status;
    va_start(arguments, format);
    vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    va_end(arguments);
    base_log(ctx, SPRY_LOG_DEBUG, "%s:%d: %s: %s", file, line, spry_status_text(status),
             ctx->message);
    return status;
}

bool base_missing(spry_context *ctx, const char *function, const char *names,
                  const void *const *needed, size_t count)
{
    size_t missing = 0;
    while (missing < count && needed[missing])
        missing++;
    if (missing == count)
        return false;
    for (size_t i = 0; i < missing; i++) {
        names += strcspn(names, ",");
        names += strspn(names, ", ");
    }
    SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s: %.*s is NULL", function, (int)strcspn(names, ","),
              names);
    return true;
}

void base_trace(spry_context *ctx, spry_status status, const char *file, int line)
{
    base_log(ctx, SPRY_LOG_DEBUG, "%s:%d: passed on: %s", file, line, spry_status_text(status));
}

spry_status base_cause(spry_context *ctx, spry_status status, const char *format, ...)
{
    if (status == SPRY_STATUS_OK || !ctx)
        return status;
    char cause[MESSAGE_SIZE], what[MESSAGE_SIZE / 2];
    memcpy(cause, ctx->message, sizeof cause);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(ctx->message, sizeof ctx->message, "%s: %.*s", what, MESSAGE_SIZE / 2 - 3, cause);
    return status;
}
