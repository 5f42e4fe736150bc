/* Where work runs. So far the host's cores. */
#ifndef SPRY_DEVICE_H
#define SPRY_DEVICE_H

#include <spry/context.h>

SPRY_BEGIN

/** A device that was opened; it belongs to its context. */
typedef struct spry_device spry_device;

/** A device as `spry devices` shows it. */
typedef struct spry_device_info {
    char name[32];         /**< "cpu", as --device takes it */
    char description[128]; /**< the processor's own name */
    char isa[32];          /**< kernels in use */
    char isa_list[128];    /**< kernels in this library that this processor can run */
    int cores, threads;
    int64_t memory_bytes, cache_bytes; /**< 0 when unknown */
} spry_device_info;

/** Describes device number index; false past the last. */
SPRY_API bool spry_device_describe(spry_context *ctx, int index, spry_device_info *info);

/** Bandwidths of main memory, in bytes a second, best of several passes over arrays beyond the
 * cache. */
typedef struct spry_bandwidth {
    double read;  /**< sum of an array */
    double triad; /**< a = b + s c, counted as three transfers */
} spry_bandwidth;

/** Measures with the context's threads (well under a second) and remembers it in the context. */
SPRY_API spry_status spry_device_bandwidth(spry_context *ctx, spry_bandwidth *bandwidth);
/** The same measured anew. */
SPRY_API spry_status spry_device_bandwidth_now(spry_context *ctx, spry_bandwidth *bandwidth);

SPRY_END

#endif
