/*
 * An OpenCL library that fails on command, for tests of bad weather. Memory is the host's,
 * kernels do nothing, and compiling gives the text back. The variable FAKE_OPENCL says what is
 * wrong, in words separated by blanks:
 *
 *     platforms=0      how many there are       none=-1001     what asking for them comes to
 *     devices=2        of the platform          double=1       the first that has double precision
 *     version=11       OpenCL 1.1               compiler=0 available=0
 *     nvidia=1 amd=1   whose platform it is
 *     alloc=3          the third buffer is refused, touch=3 the third when it is first written
 *     shape=321842     launches must be of 3 x 2 x 1 groups of 8 x 4 x 2
 *     report=1         contexts that are made and released are reported on the standard error
 *     copy=2 launch=2 finish=2 build=1 binary=1 the second, the first ends with `error`
 *
 * FAKE_WITHOUT_FILL leaves a symbol out.
 */
#include "weather.h"

#include "device/engine/opencl_api.h"

enum { MOST_DEVICES = 8 };

struct cl_mem_object {
    size_t bytes;
    char *data;
    int touched;
};
struct cl_program_object {
    char *text;
    size_t size;
    char log[1024];
};
struct cl_event_object {
    uint64_t time;
};

static struct {
    int allocations, touches, copies, launches, finishes, builds, binaries;
    uint64_t clock;
} fake;

static weather wrong = {.variable = "FAKE_OPENCL", .counts = &fake, .size = sizeof fake};

static int setting(const char *word, int otherwise)
{
    return weather_value(&wrong, word, otherwise);
}

/* What this call comes to. */
static int32_t turn(const char *word, int *count, int32_t otherwise)
{
    return weather_turn(&wrong, word, count) ? setting("error", otherwise) : CL_SUCCESS;
}

#define FAKE(result, name, ...)                                      \
    __attribute__((visibility("default"))) result name(__VA_ARGS__); \
    result name(__VA_ARGS__)
#define WAIT_LIST uint32_t waits, const cl_event *list, cl_event *event
#define NO_WAIT (void)waits, (void)list, (void)event

/* Hands out a number or a text as OpenCL does. */
static int32_t give(const void *from, size_t bytes, size_t room, void *to, size_t *used)
{
    if (used)
        *used = bytes;
    if (to && room < bytes)
        return -30;
    if (to)
        memcpy(to, from, bytes);
    return CL_SUCCESS;
}

static int32_t give_text(const char *text, size_t room, void *to, size_t *used)
{
    return give(text, strlen(text) + 1, room, to, used);
}

static int32_t give_number(uint64_t number, size_t bytes, size_t room, void *to, size_t *used)
{
    const uint32_t half = (uint32_t)number;
    return bytes == 4 ? give(&half, 4, room, to, used) : give(&number, 8, room, to, used);
}

/* --- platforms and devices -----------------------------------------------------------------------
 */

static char platform_places[4], device_places[MOST_DEVICES], others[4];

FAKE(int32_t, clGetPlatformIDs, uint32_t room, cl_platform_id *platforms, uint32_t *count)
{
    *count = (uint32_t)setting("platforms", 1);
    for (uint32_t i = 0; i < *count && i < room && i < sizeof platform_places; i++)
        platforms[i] = (cl_platform_id)(void *)&platform_places[i];
    return setting("none", CL_SUCCESS);
}

FAKE(int32_t, clGetPlatformInfo, cl_platform_id platform, uint32_t what, size_t room, void *to,
     size_t *used)
{
    (void)platform;
    (void)what;
    return give_text(setting("nvidia", 0) ? "NVIDIA CUDA"
                     : setting("amd", 0)  ? "AMD Accelerated Parallel Processing"
                                          : "Fake platform",
                     room, to, used);
}

FAKE(int32_t, clGetDeviceIDs, cl_platform_id platform, uint64_t type, uint32_t room,
     cl_device_id *devices, uint32_t *count)
{
    (void)platform;
    (void)type;
    *count = (uint32_t)setting("devices", 1);
    for (uint32_t i = 0; i < *count && i < room && i < MOST_DEVICES; i++)
        devices[i] = (cl_device_id)(void *)&device_places[i];
    return *count == 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

FAKE(int32_t, clGetDeviceInfo, cl_device_id device, uint32_t what, size_t room, void *to,
     size_t *used)
{
    const int index = (int)((char *)device - device_places);
    char name[32], version[32];
    snprintf(name, sizeof name, "Fake %d", index);
    snprintf(version, sizeof version, "OpenCL %d.%d of a fake", setting("version", 30) / 10,
             setting("version", 30) % 10);
    switch (what) {
    case CL_DEVICE_NAME:
        return give_text(name, room, to, used);
    case CL_DEVICE_VERSION:
        return give_text(version, room, to, used);
    case CL_DRIVER_VERSION:
        return give_text("7.7", room, to, used);
    case CL_DEVICE_AVAILABLE:
        return give_number((uint64_t)setting("available", 1), 4, room, to, used);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return give_number((uint64_t)setting("compiler", 1), 4, room, to, used);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return give_number(index >= setting("double", 0) ? 63 : 0, 8, room, to, used);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return give_number((uint64_t)1 << 30, 8, room, to, used);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return give_number((uint64_t)1 << 28, 8, room, to, used);
    case CL_DEVICE_TYPE:
        return give_number(4, 8, room, to, used); /* a GPU */
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return give_number(7, 4, room, to, used);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return give_number(1024, 8, room, to, used);
    case CL_DEVICE_WARP_SIZE_NV:
        return setting("nvidia", 0) ? give_number(32, 4, room, to, used) : -30;
    case CL_DEVICE_WAVEFRONT_WIDTH_AMD:
        return setting("amd", 0) ? give_number(64, 4, room, to, used) : -30;
    case CL_DEVICE_GLOBAL_FREE_MEMORY_AMD:
        return setting("amd", 0) ? give_number(12345, 8, room, to, used) : -30;
    default:
        return give_number(48 << 10, 8, room, to, used);
    }
}

FAKE(cl_context, clCreateContext, const intptr_t *properties, uint32_t count,
     const cl_device_id *devices, void (*notify)(const char *, const void *, size_t, void *),
     void *data, int32_t *error)
{
    (void)properties, (void)count, (void)devices, (void)notify, (void)data;
    *error = setting("context", CL_SUCCESS);
    if (setting("report", 0))
        fputs("context made\n", stderr);
    return *error == CL_SUCCESS ? (cl_context)(void *)&others[0] : NULL;
}

FAKE(int32_t, clReleaseContext, cl_context context)
{
    (void)context;
    if (setting("report", 0))
        fputs("context released\n", stderr);
    return CL_SUCCESS;
}

FAKE(cl_command_queue, clCreateCommandQueue, cl_context context, cl_device_id device,
     uint64_t properties, int32_t *error)
{
    (void)context, (void)device, (void)properties;
    *error = CL_SUCCESS;
    return (cl_command_queue)(void *)&others[1];
}

FAKE(int32_t, clReleaseCommandQueue, cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

FAKE(int32_t, clFlush, cl_command_queue queue)
{
    (void)queue;
    return CL_SUCCESS;
}

FAKE(int32_t, clFinish, cl_command_queue queue)
{
    (void)queue;
    return turn("finish", &fake.finishes, CL_OUT_OF_RESOURCES);
}

/* --- memory --------------------------------------------------------------------------------------
 */

FAKE(cl_mem, clCreateBuffer, cl_context context, uint64_t flags, size_t bytes, void *host,
     int32_t *error)
{
    (void)context, (void)flags, (void)host;
    *error = bytes > (size_t)1 << 28 ? CL_INVALID_BUFFER_SIZE
                                     : turn("alloc", &fake.allocations, CL_OUT_OF_RESOURCES);
    cl_mem m = *error == CL_SUCCESS ? calloc(1, sizeof *m) : NULL;
    if (m) {
        m->bytes = bytes;
        m->data = malloc(bytes);
    }
    return m;
}

FAKE(int32_t, clReleaseMemObject, cl_mem m)
{
    free(m->data);
    free(m);
    return CL_SUCCESS;
}

FAKE(int32_t, clEnqueueReadBuffer, cl_command_queue queue, cl_mem m, uint32_t wait, size_t at,
     size_t bytes, void *to, WAIT_LIST)
{
    (void)queue, (void)wait, NO_WAIT;
    memcpy(to, m->data + at, bytes);
    return turn("copy", &fake.copies, -38);
}

FAKE(int32_t, clEnqueueWriteBuffer, cl_command_queue queue, cl_mem m, uint32_t wait, size_t at,
     size_t bytes, const void *from, WAIT_LIST)
{
    (void)queue, (void)wait, NO_WAIT;
    const int first = !m->touched;
    m->touched = 1;
    memcpy(m->data + at, from, bytes);
    return first ? turn("touch", &fake.touches, CL_MEM_OBJECT_ALLOCATION_FAILURE)
                 : turn("copy", &fake.copies, -38);
}

FAKE(int32_t, clEnqueueCopyBuffer, cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at,
     size_t to_at, size_t bytes, WAIT_LIST)
{
    (void)queue, NO_WAIT;
    memcpy(to->data + to_at, from->data + from_at, bytes);
    return turn("copy", &fake.copies, -38);
}

#ifndef FAKE_WITHOUT_FILL
FAKE(int32_t, clEnqueueFillBuffer, cl_command_queue queue, cl_mem m, const void *pattern,
     size_t pattern_size, size_t at, size_t bytes, WAIT_LIST)
{
    (void)queue, NO_WAIT;
    if (at % pattern_size != 0 || bytes % pattern_size != 0)
        return -30;
    for (size_t i = 0; i < bytes; i += pattern_size)
        memcpy(m->data + at + i, pattern, pattern_size);
    return turn("copy", &fake.copies, -38);
}
#endif

FAKE(void *, clEnqueueMapBuffer, cl_command_queue queue, cl_mem m, uint32_t wait, uint64_t flags,
     size_t at, size_t bytes, WAIT_LIST, int32_t *error)
{
    (void)queue, (void)wait, (void)flags, (void)bytes, NO_WAIT;
    *error = setting("map", CL_SUCCESS);
    return *error == CL_SUCCESS ? m->data + at : NULL;
}

FAKE(int32_t, clEnqueueUnmapMemObject, cl_command_queue queue, cl_mem m, void *at, WAIT_LIST)
{
    (void)queue, (void)m, (void)at, NO_WAIT;
    return CL_SUCCESS;
}

/* --- events --------------------------------------------------------------------------------------
 */

FAKE(int32_t, clEnqueueMarkerWithWaitList, cl_command_queue queue, WAIT_LIST)
{
    (void)queue, (void)waits, (void)list;
    *event = calloc(1, sizeof **event);
    (*event)->time = fake.clock += 1000;
    return CL_SUCCESS;
}

FAKE(int32_t, clEnqueueBarrierWithWaitList, cl_command_queue queue, WAIT_LIST)
{
    (void)queue, NO_WAIT;
    return CL_SUCCESS;
}

FAKE(int32_t, clWaitForEvents, uint32_t count, const cl_event *events)
{
    (void)count, (void)events;
    return CL_SUCCESS;
}

FAKE(int32_t, clReleaseEvent, cl_event event)
{
    free(event);
    return CL_SUCCESS;
}

FAKE(int32_t, clGetEventProfilingInfo, cl_event event, uint32_t what, size_t room, void *to,
     size_t *used)
{
    (void)what;
    return setting("profiling", 1) ? give(&event->time, sizeof event->time, room, to, used)
                                   : CL_PROFILING_INFO_NOT_AVAILABLE;
}

/* --- programs ------------------------------------------------------------------------------------
 */

static cl_program make_program(const void *bytes, size_t size)
{
    cl_program p = calloc(1, sizeof *p);
    p->text = malloc(size + 1);
    p->size = size;
    memcpy(p->text, bytes, size);
    p->text[size] = '\0';
    return p;
}

FAKE(cl_program, clCreateProgramWithSource, cl_context context, uint32_t count, const char **texts,
     const size_t *lengths, int32_t *error)
{
    (void)context, (void)count, (void)lengths;
    *error = CL_SUCCESS;
    return make_program(texts[0], strlen(texts[0]));
}

FAKE(cl_program, clCreateProgramWithBinary, cl_context context, uint32_t count,
     const cl_device_id *devices, const size_t *sizes, const unsigned char **binaries,
     int32_t *per_device, int32_t *error)
{
    (void)context, (void)count, (void)devices;
    *error = CL_SUCCESS;
    *per_device = turn("binary", &fake.binaries, -42);
    return make_program(binaries[0], sizes[0]);
}

FAKE(int32_t, clBuildProgram, cl_program p, uint32_t count, const cl_device_id *devices,
     const char *options, void (*notify)(cl_program, void *), void *data)
{
    (void)count, (void)devices, (void)notify, (void)data;
    const int32_t error = turn("build", &fake.builds, CL_BUILD_PROGRAM_FAILURE);
    p->log[0] = '\0';
    if (error != CL_SUCCESS)
        snprintf(p->log, sizeof p->log, "\nnote\n<kernel>:3:4: error: reported with %.900s\nmore\n",
                 options);
    return error;
}

FAKE(int32_t, clGetProgramInfo, cl_program p, uint32_t what, size_t room, void *to, size_t *used)
{
    if (what == CL_PROGRAM_BINARY_SIZES)
        return give(&p->size, sizeof p->size, room, to, used);
    memcpy(*(void **)to, p->text, p->size);
    return CL_SUCCESS;
}

FAKE(int32_t, clGetProgramBuildInfo, cl_program p, cl_device_id device, uint32_t what, size_t room,
     void *to, size_t *used)
{
    (void)device, (void)what;
    return give_text(p->log, room, to, used);
}

FAKE(int32_t, clReleaseProgram, cl_program p)
{
    free(p->text);
    free(p);
    return CL_SUCCESS;
}

FAKE(cl_kernel, clCreateKernel, cl_program p, const char *name, int32_t *error)
{
    *error = strstr(p->text, name) ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
    return *error == CL_SUCCESS ? (cl_kernel)(void *)&others[2] : NULL;
}

FAKE(int32_t, clReleaseKernel, cl_kernel kernel)
{
    (void)kernel;
    return CL_SUCCESS;
}

FAKE(int32_t, clSetKernelArg, cl_kernel kernel, uint32_t index, size_t size, const void *value)
{
    (void)kernel, (void)index, (void)size, (void)value;
    return CL_SUCCESS;
}

FAKE(int32_t, clEnqueueNDRangeKernel, cl_command_queue queue, cl_kernel kernel, uint32_t dimensions,
     const size_t *offsets, const size_t *global, const size_t *local, WAIT_LIST)
{
    (void)queue, (void)kernel, (void)offsets, NO_WAIT;
    int shape = 0;
    for (uint32_t i = 0; i < dimensions; i++)
        shape = 10 * shape + (int)(global[i] / local[i]);
    for (uint32_t i = 0; i < dimensions; i++)
        shape = 10 * shape + (int)local[i];
    if (setting("shape", shape) != shape)
        return CL_INVALID_KERNEL_NAME;
    return turn("launch", &fake.launches, CL_NVIDIA_ILLEGAL_ACCESS);
}
