/* Requests to stop, within long loops. */
#include "base/stop.h"

spry_status base_go_on(spry_context *ctx, const char *what)
{
    return spry_context_interrupted(ctx, false)
               ? SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "%s: interrupted", what)
               : SPRY_STATUS_OK;
}
