/* Where work runs: the host's cores, and devices through CUDA and OpenCL. */
#ifndef SPRY_DEVICE_H
#define SPRY_DEVICE_H

#include <spry/context.h>

SPRY_BEGIN

/** A device that was opened; it belongs to its context. */
typedef struct spry_device spry_device;

/** Opens "cuda", "cuda:1", "opencl:0", or returns the one that is open already; the context closes
 * it when it is freed. The message of a failure says why a device cannot be used and what to do. */
SPRY_API spry_status spry_device_open(spry_context *ctx, const char *name, spry_device **device);
/** "cuda:0" */
SPRY_API const char *spry_device_name(const spry_device *device);

/** A device as `spry devices` shows it. */
typedef struct spry_device_info {
    size_t size;                       /**< SPRY_DEVICE_INFO_INIT */
    char name[32];                     /**< "cpu", "cuda:0", as --device takes it */
    char kind[16];                     /**< "cpu", "cuda", "opencl" */
    char description[128];             /**< the processor's own name */
    char driver[96];                   /**< of a device: versions */
    char isa[32];                      /**< of the host: kernels in use */
    char isa_list[128];                /**< of the host: kernels in this library that it can run */
    int cores, threads;                /**< of the host */
    int units;                         /**< cores, multiprocessors, compute units */
    int64_t memory_bytes, cache_bytes; /**< 0 when unknown */
    bool usable;                       /**< whether it can be opened */
    char why[256];                     /**< why not, and what to do about it */
} spry_device_info;
#define SPRY_DEVICE_INFO_INIT SPRY_SIZED(spry_device_info)

/**
 * Describes device number index; false past the last. 0 is the host; the devices of CUDA and of
 * OpenCL follow. If one of the two has no device, an entry with its name says why. Opens no device.
 */
SPRY_API bool spry_device_describe(spry_context *ctx, int index, spry_device_info *info);

/** Bandwidths of a memory in bytes per second, best of several passes over arrays beyond the
 * caches. */
typedef struct spry_bandwidth {
    size_t size;  /**< SPRY_BANDWIDTH_INIT */
    double read;  /**< sum of an array */
    double triad; /**< a = b + s c, counted as three transfers; 0 where it is not measured */
} spry_bandwidth;
#define SPRY_BANDWIDTH_INIT SPRY_SIZED(spry_bandwidth)

/**
 * How fast the host or a device moves its memory. It is measured once and remembered on disk: the
 * host's with the context's threads, within a second, a device's in a second or two, for reading
 * alone.
 *
 * @param ctx        the context
 * @param name       "cpu", "cuda:0" and so on; NULL: the host
 * @param again      measures again instead of returning what is remembered
 * @param bandwidth  out
 */
SPRY_API spry_status spry_device_bandwidth(spry_context *ctx, const char *name, bool again,
                                           spry_bandwidth *bandwidth);

/**
 * Compiles programs that solves are likely to need on a device and keeps them on disk, so that the
 * first solve does not wait for the compiler. It runs small solves with storage formats, methods
 * and preconditioners, on the context's threads if the device's compiler allows it.
 * spry_context_interrupt() stops it; what was compiled is kept.
 *
 * @param device    the device
 * @param types     of matrices, with blanks between them; NULL: "d"
 * @param methods   by their names, likewise; NULL: those that `auto` chooses
 * @param progress  called with the number of solves done, and of all; may be NULL
 * @param data      handed to it
 * @param compiled  out: number of programs compiled; others were on disk already. May be NULL
 */
SPRY_API spry_status spry_device_prepare(spry_device *device, const char *types,
                                         const char *methods,
                                         void (*progress)(void *data, int done, int all),
                                         void *data, int *compiled);

/** Marks this point in the work of a device. */
SPRY_API spry_status spry_device_mark(spry_device *device);
/** Seconds by the device's own clock from the mark to the end of all work requested so far; waits
 * for that work. */
SPRY_API spry_status spry_device_elapsed(spry_device *device, double *seconds);

SPRY_END

#endif
