/* What the files of the CUDA engine share. */
#ifndef SPRY_CUDA_INTERNAL_H
#define SPRY_CUDA_INTERNAL_H

#include "device/engine/cuda_api.h"
#include "device/engine/engine.h"

_Static_assert(sizeof(engine_block) == sizeof(cuda_place), "addresses of devices have 64 bits");

typedef struct cuda_state {
    cuda_driver driver;
    nvrtc_library nvrtc; /* loaded when something has to be compiled */
    cuda_index device;
    cuda_handle context; /* the device's primary one, which others in the process may use as well */
    int arch;            /* 90: compute capability 9.0 */
} cuda_state;

static inline cuda_state *cuda_of(const spry_device *d)
{
    return d->state;
}

/* --- cuda_load.c --------------------------------------------------------------------------------
 */

/* Loads the driver and checks its version; false with the reason and what to do. Nothing has to be
 * given back: a driver stays in the process. */
bool cuda_driver_load(cuda_driver *driver, char *why, size_t size);
/* Loads NVRTC, no newer than a driver for CUDA `driver_version` can take (0: any). */
bool nvrtc_load(nvrtc_library *nvrtc, int driver_version, char *why, size_t size);
/* The status of a driver's call; what failed is noted. SPRY_STATUS_DEVICE_LOST where the context
 * will answer nothing but errors from now on. */
spry_status cuda_check(spry_device *d, cuda_result result, const char *call);
#define CUDA_GO(d, name, ...) \
    SPRY_GO((d)->ctx, cuda_check(d, cuda_of(d)->driver.name(__VA_ARGS__), #name))

/* Calls need the device's context current. Other users of CUDA in this thread find their own again
 * after cuda_leave(). */
bool cuda_enter(const spry_device *d);
void cuda_leave(const spry_device *d, bool entered);
/* One call in the device's context, whose status becomes the caller's `status`. */
#define CUDA_CALL(d, name, ...)                                              \
    do {                                                                     \
        const bool entered = cuda_enter(d);                                  \
        status = cuda_check(d, cuda_of(d)->driver.name(__VA_ARGS__), #name); \
        cuda_leave(d, entered);                                              \
    } while (0)

/* --- cuda_compile.c ------------------------------------------------------------------------------
 */

/* Text to a CUBIN for compute capability arch, or to PTX where NVRTC does not know it yet; needs no
 * device. */
spry_status nvrtc_compile(spry_context *ctx, const nvrtc_library *nvrtc, int arch, const char *text,
                          const char *options, void **binary, size_t *size, char *complaint,
                          size_t complaint_size);
spry_status cuda_open_compiler(spry_device *d, spry_context *ctx);
spry_status cuda_compile(spry_device *d, spry_context *ctx, const char *text, const char *options,
                         void **binary, size_t *size, char *complaint, size_t complaint_size);
spry_status cuda_load(spry_device *d, const void *binary, size_t size, void **module);
void cuda_unload(spry_device *d, void *module);
spry_status cuda_kernel(spry_device *d, void *module, const char *name, void **kernel);
void cuda_kernel_free(spry_device *d, void *kernel);
spry_status cuda_launch(spry_device *d, engine_stream s, void *kernel, const device_range *over,
                        const device_arg *args, int count, bool whole);
int64_t cuda_whole_groups(spry_device *d, void *kernel, int group);

/* --- cuda_graph.c --------------------------------------------------------------------------------
 */

spry_status cuda_record_begin(spry_device *d, engine_stream s);
spry_status cuda_record_end(spry_device *d, engine_stream s, void **graph);
spry_status cuda_play(spry_device *d, engine_stream s, void *graph);
void cuda_graph_free(spry_device *d, void *graph);

#endif
