/* The OpenCL library: loading it, the devices it has, and what its errors mean. */
#include "device/engine/opencl.h"

#include <dlfcn.h>
#include <stdlib.h>

#define CALL_NAME(result, name, arguments) {#name, offsetof(opencl_api, name)},
static const base_symbol calls[] = {OPENCL_CALLS(CALL_NAME)};

/* The library is never closed: drivers leave threads behind that would run on in it. Opening it
 * again costs next to nothing, and so nothing is kept that threads would have to share. */
static bool load(opencl_api *cl, char *why, size_t size)
{
    const char *own = getenv("SPRY_OPENCL_LIBRARY");
    const char *name = own ? own : "libOpenCL.so.1";
    if (!*name) {
        snprintf(why, size,
                 "SPRY_OPENCL_LIBRARY is empty, which asks for no OpenCL: unset it, or name the "
                 "library's file in it");
        return false;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, size,
                 "no OpenCL library (%.100s): install ocl-icd-libopencl1 and the OpenCL driver of "
                 "the device (pocl-opencl-icd for the processor)",
                 reason ? reason : name);
        return false;
    }
    const char *missing = base_find_symbols(library, calls, sizeof calls / sizeof *calls, cl);
    if (missing)
        snprintf(why, size, "%.60s has no %s: OpenCL 1.2 or later is needed", name, missing);
    return !missing;
}

static const char *error_name_of(int32_t error)
{
    static const struct error_name {
        int32_t error;
        const char *name;
    } names[] = {
        {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
        {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
        {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
        {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
        {CL_EXEC_STATUS_ERROR, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        {-30, "CL_INVALID_VALUE"},
        {-34, "CL_INVALID_CONTEXT"},
        {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
        {-38, "CL_INVALID_MEM_OBJECT"},
        {-42, "CL_INVALID_BINARY"},
        {-43, "CL_INVALID_BUILD_OPTIONS"},
        {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
        {-48, "CL_INVALID_KERNEL"},
        {-49, "CL_INVALID_ARG_INDEX"},
        {-50, "CL_INVALID_ARG_VALUE"},
        {-51, "CL_INVALID_ARG_SIZE"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-55, "CL_INVALID_WORK_ITEM_SIZE"},
        {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
        {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
        {CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR"},
        {CL_NVIDIA_ILLEGAL_ACCESS, "illegal read or write of a kernel"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].error == error)
            return names[i].name;
    }
    return "unknown error";
}

int opencl_find(opencl_api *cl, opencl_place places[OPENCL_MOST_DEVICES], char *why, size_t size)
{
    enum { MOST_PLATFORMS = 16 };
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_device_id devices[OPENCL_MOST_DEVICES];
    uint32_t platform_count = 0;
    int count = 0;
    *why = '\0';
    if (!load(cl, why, size))
        return 0;
    const int32_t error = cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count);
    if (error != CL_SUCCESS || platform_count == 0) {
        snprintf(why, size,
                 "no OpenCL driver is installed (clGetPlatformIDs: %s); see /etc/OpenCL/vendors, "
                 "and install the driver of the device (pocl-opencl-icd for the processor)",
                 error == CL_SUCCESS ? "0 platforms" : error_name_of(error));
        return 0;
    }
    if (platform_count > MOST_PLATFORMS)
        platform_count = MOST_PLATFORMS;
    for (uint32_t p = 0; p < platform_count; p++) {
        uint32_t found = 0;
        const uint32_t room = (uint32_t)(OPENCL_MOST_DEVICES - count);
        if (room == 0 || cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, devices,
                                            &found) != CL_SUCCESS)
            continue;
        for (uint32_t i = 0; i < found && i < room; i++)
            places[count++] = (opencl_place){platforms[p], devices[i]};
    }
    if (count == 0)
        snprintf(why, size,
                 "OpenCL has %u platform%s, but no device: see whether the device's driver is "
                 "loaded and its files in /dev may be opened",
                 (unsigned)platform_count, platform_count == 1 ? "" : "s");
    return count;
}

void opencl_device_text(const opencl_api *cl, cl_device_id device, uint32_t what, char *text,
                        size_t size)
{
    char all[8192] = "";
    size_t used = 0;
    text[0] = '\0';
    if (cl->clGetDeviceInfo(device, what, sizeof all - 1, all, &used) != CL_SUCCESS)
        return;
    const char *from = all + strspn(all, " ");
    snprintf(text, size, "%s", from);
    for (size_t i = strlen(text); i > 0 && text[i - 1] == ' '; i--)
        text[i - 1] = '\0';
}

int64_t opencl_device_number(const opencl_api *cl, cl_device_id device, uint32_t what)
{
    /* Numbers have 4 or 8 bytes. */
    uint64_t number = 0;
    uint32_t half = 0;
    size_t size = 0;
    if (cl->clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS)
        return 0;
    if (size == sizeof half) {
        if (cl->clGetDeviceInfo(device, what, sizeof half, &half, NULL) != CL_SUCCESS)
            return 0;
        number = half;
    } else if (size != sizeof number ||
               cl->clGetDeviceInfo(device, what, sizeof number, &number, NULL) != CL_SUCCESS) {
        return 0;
    }
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

bool opencl_usable(const opencl_api *cl, const opencl_place *place, char *why, size_t size)
{
    char version[128];
    int major = 0, minor = 0;
    *why = '\0';
    opencl_device_text(cl, place->device, CL_DEVICE_VERSION, version, sizeof version);
    const char *number = strncmp(version, "OpenCL ", 7) == 0 ? version + 7 : "";
    major = atoi(number);
    const char *dot = strchr(number, '.');
    minor = dot ? atoi(dot + 1) : 0;
    if (!opencl_device_number(cl, place->device, CL_DEVICE_AVAILABLE))
        snprintf(why, size, "its driver says that it is not available");
    else if (!opencl_device_number(cl, place->device, CL_DEVICE_COMPILER_AVAILABLE))
        snprintf(why, size, "its driver has no compiler");
    else if (major * 10 + minor < 12)
        snprintf(why, size, "it has %.40s, and 1.2 or later is needed",
                 *version ? version : "an unknown version");
    else if (opencl_device_number(cl, place->device, CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
        snprintf(why, size, "it has no double precision (cl_khr_fp64)");
    return *why == '\0';
}

spry_status opencl_check(spry_device *d, int32_t error, const char *call)
{
    if (error == CL_SUCCESS)
        return SPRY_STATUS_OK;
    spry_status status = SPRY_STATUS_DEVICE;
    switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: /* more than the device gives in one block */
        status = SPRY_STATUS_NO_MEMORY;
        break;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_EXEC_STATUS_ERROR:
    case CL_INVALID_COMMAND_QUEUE: /* what NVIDIA's driver says once a kernel has failed */
    case CL_NVIDIA_ILLEGAL_ACCESS:
        status = SPRY_STATUS_DEVICE_LOST;
        break;
    default:
        break;
    }
    return SPRY_FAIL(d->ctx, status, "%s: %s (%d)", call, error_name_of(error), (int)error);
}
