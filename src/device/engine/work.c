/* What surrounds every call of an engine, and what engines share. */
#include "device/engine/engine.h"

#include <pthread.h>
#include <stdlib.h>

spry_status device_begin(spry_device *d, device_work work)
{
    static const char *const names[] = {"allocation", "copy", "launch", "compilation"};
    if (d->lost)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_DEVICE_LOST, "%s", d->why_lost);
    if (d->recording && (work == WORK_ALLOC || work == WORK_COMPILE))
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED, "%s: %s in the middle of a recording",
                         d->facts.name, names[work]);
    d->done[work]++;
    if (d->fail_in[work] > 0 && --d->fail_in[work] == 0)
        return SPRY_FAIL(d->ctx, work == WORK_ALLOC ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_DEVICE,
                         "%s: this %s was asked to fail", d->facts.name, names[work]);
    return SPRY_STATUS_OK;
}

spry_status device_end(spry_device *d, spry_status status)
{
    if (status == SPRY_STATUS_OK)
        return status;
    SPRY_CAUSE(d->ctx, status, "%s (%s)", d->facts.name, d->facts.description);
    if (status == SPRY_STATUS_DEVICE_LOST && !d->lost) {
        d->lost = true;
        snprintf(d->why_lost, sizeof d->why_lost, "%.400s; it cannot be used any more: close it",
                 d->ctx->message);
        snprintf(d->ctx->message, sizeof d->ctx->message, "%s", d->why_lost);
    }
    return status;
}

void device_fail_next(spry_device *d, device_work work, int64_t n)
{
    d->fail_in[work] = n;
}

void device_drivers_hold(bool hold)
{
    static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
    if (hold)
        pthread_mutex_lock(&asking);
    else
        pthread_mutex_unlock(&asking);
}

/* The work-item loops that PoCL 3.1 makes vectors of give wrong results on AVX-512. */
const char *device_more_options(const spry_device *d)
{
    const char *more = getenv("SPRY_OPENCL_OPTIONS");
    const bool pocl = strstr(d->facts.driver, "Portable Computing Language") != NULL;
    return more ? more : pocl ? "-cl-opt-disable" : "";
}
