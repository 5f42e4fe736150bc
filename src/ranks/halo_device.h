/*
 * Elements that go from a device's memory to other ranks, and of others that come to it, again and
 * again. They are packed on the device and copied to pinned memory in parallel with its work; where
 * MPI takes addresses of the device's memory there are no copies.
 */
#ifndef SPRY_DEVICE_HALO_H
#define SPRY_DEVICE_HALO_H

#include "device/engine/device.h"
#include "ranks/distributed.h"

typedef struct device_halo device_halo;

/* Send and receive lists, as in distributed.h and ranks/fetch.h. */
typedef struct halo_lists {
    int sends, receives;
    const dist_neighbour *send, *receive;
    int64_t sent_count, count; /* elements that are sent, and received */
    const int32_t *sent;
} halo_lists;

/* What comes lies in `to`, from an element on. Collective; `made` is the status of this rank so
 * far: where one rank has failed all do. */
spry_status device_halo_new(spry_device *d, spry_type type, spry_status made,
                            const halo_lists *lists, device_memory *to, int64_t first,
                            device_halo **h);
void device_halo_free(device_halo *h);
/* What others need of x is on its way to where it is sent from; the device may be given other work
 * meanwhile. */
spry_status device_halo_pack(device_halo *h, const device_memory *x);
/* Sends, and waits for what others send, which they do whether this rank has failed or not: it is
 * called also then. */
spry_status device_halo_exchange(device_halo *h);
/* What has come is in place for all work that the device is given from now on. */
spry_status device_halo_land(device_halo *h);

/*
 * Finds out whether halos can be sent from and to devices' memory: where MPI says so on all ranks
 * that work on devices, a few bytes are sent and compared, by each to itself and then to the next.
 * Else, and with SPRY_TRANSPORT=staged, they go through pinned memory. For operators that are made
 * from now on. Collective; d is NULL on ranks that work on processors.
 */
spry_status device_dist_choose_transport(spry_context *ctx, spry_device *d);

/* Numbers of 32 bits in a device's memory. */
spry_status device_put_index(spry_device *d, int64_t n, const int32_t *from, device_memory **to);

#endif
