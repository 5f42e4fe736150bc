/* spry's side of the benchmarks on devices. */
#include "device_spry.h"

#include <spry/interop.h>

#include <string.h>

spry_status device_spry_operator(spry_context *ctx, const char *device, const spry_matrix *A,
                                 const char *format, spry_operator **op)
{
    spry_device *d = NULL;
    if (strcmp(device, "cpu") == 0)
        return spry_operator_from_matrix(A, NULL, format, op);
    const spry_status status = spry_device_open(ctx, device, &d);
    return status == SPRY_STATUS_OK ? spry_operator_from_matrix(A, d, format, op) : status;
}

spry_status device_spry_finish(spry_device *device)
{
    return device ? spry_device_finish(device) : SPRY_STATUS_OK;
}

double device_spry_bandwidth(spry_context *ctx, const char *device)
{
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    (void)spry_device_bandwidth(ctx, device, true, &bandwidth); /* 0 where it fails */
    return bandwidth.read;
}

double device_spry_median(spry_context *ctx, spry_device *device, int rounds,
                          void (*work)(void *data), void *data)
{
    enum { MOST = 15 };
    double times[MOST];
    rounds = peer_within(rounds, MOST);
    for (int k = -1; k < rounds; k++) {
        peer_need(ctx, device_spry_finish(device));
        const double begin = peer_seconds();
        work(data);
        peer_need(ctx, device_spry_finish(device));
        if (k >= 0)
            times[k] = peer_seconds() - begin;
    }
    return peer_median(times, rounds);
}
