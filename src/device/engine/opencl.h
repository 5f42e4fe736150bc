/* What the files of the OpenCL engine share. */
#ifndef SPRY_OPENCL_H
#define SPRY_OPENCL_H

#include "device/engine/engine.h"
#include "device/engine/opencl_api.h"

enum { OPENCL_MOST_DEVICES = 64 };

/* A device and the platform it was found in. */
typedef struct opencl_place {
    cl_platform_id platform;
    cl_device_id device;
} opencl_place;

typedef struct opencl_state {
    opencl_api cl;
    opencl_place place;
    cl_context context;
    cl_command_queue queue; /* for what has no stream of its own: first touches, pinned memory */
    bool nvidia, amd;
    struct opencl_pinned *pinned; /* all there are */
} opencl_state;

/* Loads the library and finds the devices of all platforms. Their number; 0 with the reason in
 * `why`. */
int opencl_find(opencl_api *cl, opencl_place places[OPENCL_MOST_DEVICES], char *why, size_t size);
/* A text that describes the device; "" when it has none. */
void opencl_device_text(const opencl_api *cl, cl_device_id device, uint32_t what, char *text,
                        size_t size);
/* The same for a number; 0 when it does not. */
int64_t opencl_device_number(const opencl_api *cl, cl_device_id device, uint32_t what);
/* Whether the device can be used; the reason otherwise. */
bool opencl_usable(const opencl_api *cl, const opencl_place *place, char *why, size_t size);

/* The status of an error of OpenCL, with a message that names the call. */
spry_status opencl_check(spry_device *d, int32_t error, const char *call);

spry_status opencl_compile(spry_device *d, spry_context *ctx, const char *text, const char *options,
                           void **binary, size_t *size, char *complaint, size_t complaint_size);
spry_status opencl_load(spry_device *d, const void *binary, size_t size, void **module);
void opencl_unload(spry_device *d, void *module);
spry_status opencl_kernel(spry_device *d, void *module, const char *name, void **kernel);
void opencl_kernel_free(spry_device *d, void *kernel);
spry_status opencl_launch(spry_device *d, engine_stream s, void *kernel, const device_range *over,
                          const device_arg *args, int count, bool whole);
int64_t opencl_whole_groups(spry_device *d, void *kernel, int group);

#endif
