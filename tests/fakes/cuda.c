/*
 * A CUDA driver and an NVRTC that fail on command, for tests of bad weather. "Device" memory
 * is the host's, kernels do nothing, and compiling gives the text back. The variable FAKE_CUDA
 * says what is wrong, in words separated by blanks:
 *
 *     version=12020    what the driver is for                   nvrtc=12020   NVRTC's version
 *     init=100         what cuInit() comes to                   arch=90       of the device
 *     alloc=3          the third allocation finds no memory     newest=90     that NVRTC knows
 *     copy=2 launch=2  the second ends with `error`             load=1        likewise
 *     shape=321842     launches must be of 3 x 2 x 1 groups of 8 x 4 x 2
 *     error=719        what such calls end with, and all calls after them where it is final
 *
 * FAKE_WITHOUT_GRAPHS leaves a symbol out.
 */
#include "weather.h"

#include "device/engine/cuda_api.h"

static struct {
    int allocations, copies, launches, loads;
    int lost; /* the error that every call gives */
    cuda_handle current[16];
    int depth;
} fake;

static weather wrong = {.variable = "FAKE_CUDA", .counts = &fake, .size = sizeof fake};

static int setting(const char *word, int otherwise)
{
    return weather_value(&wrong, word, otherwise);
}

/* Whether it is this call's turn to fail. */
static cuda_result turn(const char *word, int *count)
{
    if (fake.lost)
        return fake.lost;
    if (!weather_turn(&wrong, word, count))
        return CUDA_OK;
    const int error = setting("error", CUDA_LAUNCH_FAILED);
    if (error == CUDA_LAUNCH_FAILED || error == CUDA_ILLEGAL_ADDRESS ||
        error == CUDA_ECC_UNCORRECTABLE)
        fake.lost = error;
    return error;
}

#define FAKE(name, ...)                                                   \
    __attribute__((visibility("default"))) cuda_result name(__VA_ARGS__); \
    cuda_result name(__VA_ARGS__)

/* --- the driver ----------------------------------------------------------------------------------
 */

FAKE(cuDriverGetVersion, int *version)
{
    *version = setting("version", 13000);
    return CUDA_OK;
}

FAKE(cuInit, unsigned flags)
{
    (void)flags;
    return setting("init", CUDA_OK);
}

FAKE(cuGetErrorName, cuda_result error, const char **text)
{
    *text = error == CUDA_NO_DEVICE         ? "CUDA_ERROR_NO_DEVICE"
            : error == CUDA_OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == CUDA_LAUNCH_FAILED   ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == CUDA_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
                                            : "CUDA_ERROR_OF_A_FAKE";
    return CUDA_OK;
}

FAKE(cuGetErrorString, cuda_result error, const char **text)
{
    (void)error;
    *text = "as requested";
    return CUDA_OK;
}

FAKE(cuDeviceGetCount, int *count)
{
    *count = setting("devices", 1);
    return CUDA_OK;
}

FAKE(cuDeviceGet, cuda_index *device, int ordinal)
{
    *device = ordinal;
    return CUDA_OK;
}

FAKE(cuDeviceGetName, char *name, int size, cuda_index device)
{
    snprintf(name, (size_t)size, "Fake %d", device);
    return CUDA_OK;
}

FAKE(cuDeviceGetAttribute, int *value, int attribute, cuda_index device)
{
    (void)device;
    *value = attribute == CUDA_COMPUTE_CAPABILITY_MAJOR   ? setting("arch", 90) / 10
             : attribute == CUDA_COMPUTE_CAPABILITY_MINOR ? setting("arch", 90) % 10
             : attribute == CUDA_WARP_SIZE                ? 32
             : attribute == CUDA_MAX_THREADS_PER_BLOCK    ? 1024
             : attribute == CUDA_COOPERATIVE_LAUNCH       ? 1
             : attribute == CUDA_MULTIPROCESSOR_COUNT     ? 7
                                                          : 48 << 10;
    return CUDA_OK;
}

FAKE(cuDeviceTotalMem_v2, size_t *bytes, cuda_index device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_OK;
}

FAKE(cuDevicePrimaryCtxRetain, cuda_handle *context, cuda_index device)
{
    static char contexts[8];
    *context = &contexts[device & 7];
    return CUDA_OK;
}

FAKE(cuDevicePrimaryCtxRelease_v2, cuda_index device)
{
    (void)device;
    return CUDA_OK;
}

FAKE(cuCtxGetCurrent, cuda_handle *context)
{
    *context = fake.depth > 0 ? fake.current[fake.depth - 1] : NULL;
    return CUDA_OK;
}

FAKE(cuCtxPushCurrent_v2, cuda_handle context)
{
    fake.current[fake.depth++ & 15] = context;
    return CUDA_OK;
}

FAKE(cuCtxPopCurrent_v2, cuda_handle *context)
{
    *context = fake.current[--fake.depth & 15];
    return CUDA_OK;
}

FAKE(cuMemAlloc_v2, cuda_place *place, size_t bytes)
{
    if (fake.lost)
        return fake.lost;
    if (++fake.allocations == setting("alloc", 0))
        return CUDA_OUT_OF_MEMORY;
    void *memory = malloc(bytes);
    *place = (cuda_place)(uintptr_t)memory;
    return memory ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

FAKE(cuMemFree_v2, cuda_place place)
{
    free((void *)(uintptr_t)place);
    return CUDA_OK;
}

FAKE(cuMemGetInfo_v2, size_t *free_bytes, size_t *total)
{
    *free_bytes = (size_t)1 << 29;
    *total = (size_t)1 << 30;
    return CUDA_OK;
}

FAKE(cuMemHostAlloc, void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = malloc(bytes);
    return *memory ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

FAKE(cuMemFreeHost, void *memory)
{
    free(memory);
    return CUDA_OK;
}

FAKE(cuMemcpyHtoDAsync_v2, cuda_place to, const void *from, size_t bytes, cuda_handle stream)
{
    const cuda_result result = turn("copy", &fake.copies);
    (void)stream;
    if (result == CUDA_OK)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return result;
}

FAKE(cuMemcpyDtoHAsync_v2, void *to, cuda_place from, size_t bytes, cuda_handle stream)
{
    const cuda_result result = turn("copy", &fake.copies);
    (void)stream;
    if (result == CUDA_OK)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    return result;
}

FAKE(cuMemcpyDtoDAsync_v2, cuda_place to, cuda_place from, size_t bytes, cuda_handle stream)
{
    return cuMemcpyHtoDAsync_v2(to, (const void *)(uintptr_t)from, bytes, stream);
}

FAKE(cuMemsetD8Async, cuda_place to, unsigned char value, size_t bytes, cuda_handle stream)
{
    const cuda_result result = turn("copy", &fake.copies);
    (void)stream;
    if (result == CUDA_OK)
        memset((void *)(uintptr_t)to, value, bytes);
    return result;
}

/* Streams, events and graphs are nothing but addresses. */
static cuda_result give(cuda_handle *handle)
{
    static char thing;
    *handle = &thing;
    return fake.lost;
}

FAKE(cuStreamCreate, cuda_handle *stream, unsigned flags)
{
    (void)flags;
    return give(stream);
}

FAKE(cuStreamDestroy_v2, cuda_handle stream)
{
    (void)stream;
    return fake.lost;
}

FAKE(cuStreamSynchronize, cuda_handle stream)
{
    (void)stream;
    return fake.lost;
}

FAKE(cuStreamWaitEvent, cuda_handle stream, cuda_handle event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    return fake.lost;
}

FAKE(cuEventCreate, cuda_handle *event, unsigned flags)
{
    (void)flags;
    return give(event);
}

FAKE(cuEventDestroy_v2, cuda_handle event)
{
    (void)event;
    return fake.lost;
}

FAKE(cuEventRecord, cuda_handle event, cuda_handle stream)
{
    (void)event;
    (void)stream;
    return fake.lost;
}

FAKE(cuEventSynchronize, cuda_handle event)
{
    (void)event;
    return fake.lost;
}

FAKE(cuEventElapsedTime, float *milliseconds, cuda_handle from, cuda_handle to)
{
    (void)from;
    (void)to;
    *milliseconds = 1.5f;
    return fake.lost;
}

/* A module is its text, a kernel the place where the text names it. What the true NVRTC made has
 * every kernel one asks for. */
static bool is_binary(const void *image)
{
    return memcmp(image, "\177ELF", 4) == 0;
}

FAKE(cuModuleLoadDataEx, cuda_handle *module, const void *image, unsigned count, const int *options,
     void **values)
{
    const cuda_result result = turn("load", &fake.loads);
    (void)count;
    (void)options;
    (void)values;
    if (result != CUDA_OK)
        return result;
    *module = strdup(image);
    return *module ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

FAKE(cuModuleUnload, cuda_handle module)
{
    free(module);
    return fake.lost;
}

FAKE(cuModuleGetFunction, cuda_handle *function, cuda_handle module, const char *name)
{
    *function = is_binary(module) ? module : strstr(module, name);
    return *function ? CUDA_OK : CUDA_NOT_FOUND;
}

/* How much dynamic memory kernels were allowed to have. */
static unsigned allowed;

FAKE(cuFuncSetAttribute, cuda_handle function, int attribute, int value)
{
    (void)function;
    if (attribute == CUDA_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        allowed = (unsigned)value;
    return CUDA_OK;
}

FAKE(cuLaunchKernel, cuda_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
     cuda_handle stream, void **parameters, void **extra)
{
    (void)function;
    (void)parameters;
    (void)extra;
    (void)stream;
    if (grid_x * grid_y * grid_z * block_x * block_y * block_z == 0 || shared_bytes > allowed)
        return 1;
    const int shape = setting("shape", 0);
    if (shape && shape != (int)(grid_x * 100000 + grid_y * 10000 + grid_z * 1000 + block_x * 100 +
                                block_y * 10 + block_z))
        return 1;
    return turn("launch", &fake.launches);
}

FAKE(cuLaunchCooperativeKernel, cuda_handle function, unsigned grid_x, unsigned grid_y,
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
     cuda_handle stream, void **parameters)
{
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, parameters, NULL);
}

FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, cuda_handle function, int block,
     size_t shared_bytes)
{
    (void)function;
    (void)shared_bytes;
    *blocks = 2048 / block;
    return fake.lost;
}

FAKE(cuStreamBeginCapture_v2, cuda_handle stream, int mode)
{
    (void)stream;
    (void)mode;
    return fake.lost;
}

FAKE(cuStreamEndCapture, cuda_handle stream, cuda_handle *graph)
{
    (void)stream;
    return give(graph);
}

#ifndef FAKE_WITHOUT_GRAPHS
FAKE(cuGraphInstantiateWithFlags, cuda_handle *exec, cuda_handle graph, unsigned long long flags)
{
    (void)graph;
    (void)flags;
    return give(exec);
}
#endif

FAKE(cuGraphDestroy, cuda_handle graph)
{
    (void)graph;
    return fake.lost;
}

FAKE(cuGraphLaunch, cuda_handle exec, cuda_handle stream)
{
    (void)exec;
    (void)stream;
    return turn("launch", &fake.launches);
}

FAKE(cuGraphExecDestroy, cuda_handle exec)
{
    (void)exec;
    return fake.lost;
}

/* --- NVRTC ---------------------------------------------------------------------------------------
 */

/* A program is its text, with its options before it once it is compiled. */
typedef struct fake_program {
    char *text, *made;
} fake_program;

FAKE(nvrtcVersion, int *major, int *minor)
{
    *major = setting("nvrtc", 13000) / 1000;
    *minor = setting("nvrtc", 13000) % 1000 / 10;
    return NVRTC_OK;
}

__attribute__((visibility("default"))) const char *nvrtcGetErrorString(int error);
const char *nvrtcGetErrorString(int error)
{
    return error == NVRTC_COMPILATION_FAILED ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS";
}

FAKE(nvrtcGetNumSupportedArchs, int *count)
{
    *count = 2;
    return NVRTC_OK;
}

FAKE(nvrtcGetSupportedArchs, int *archs)
{
    archs[0] = 75;
    archs[1] = setting("newest", 90);
    return NVRTC_OK;
}

FAKE(nvrtcCreateProgram, void **program, const char *text, const char *name, int headers,
     const char *const *sources, const char *const *names)
{
    (void)name;
    (void)headers;
    (void)sources;
    (void)names;
    fake_program *p = calloc(1, sizeof *p);
    if (p)
        p->text = strdup(text);
    *program = p;
    return p && p->text ? NVRTC_OK : 1;
}

FAKE(nvrtcDestroyProgram, void **program)
{
    fake_program *p = *program;
    free(p->text);
    free(p->made);
    free(p);
    *program = NULL;
    return NVRTC_OK;
}

FAKE(nvrtcCompileProgram, void *program, int count, const char *const *options)
{
    fake_program *p = program;
    size_t size = strlen(p->text) + 2, used = 0;
    for (int i = 0; i < count; i++)
        size += strlen(options[i]) + 1;
    p->made = calloc(1, size);
    if (!p->made)
        return 1;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(p->made + used, size - used, "%s ", options[i]);
    snprintf(p->made + used, size - used, "%s", p->text);
    return strstr(p->text, "#error") ? NVRTC_COMPILATION_FAILED : NVRTC_OK;
}

static const char complaint[] = "spry.cu(1): warning: first\nspry.cu(7): error: the fake reports "
                                "#error\nspry.cu(8): error: second\n";

FAKE(nvrtcGetProgramLogSize, void *program, size_t *size)
{
    const fake_program *p = program;
    *size = strstr(p->text, "#error") ? sizeof complaint : 1;
    return NVRTC_OK;
}

FAKE(nvrtcGetProgramLog, void *program, char *log)
{
    (void)program;
    memcpy(log, complaint, sizeof complaint);
    return NVRTC_OK;
}

FAKE(nvrtcGetPTXSize, void *program, size_t *size)
{
    const fake_program *p = program;
    *size = strlen(p->made) + 1;
    return NVRTC_OK;
}

FAKE(nvrtcGetPTX, void *program, char *ptx)
{
    const fake_program *p = program;
    memcpy(ptx, p->made, strlen(p->made) + 1);
    return NVRTC_OK;
}

FAKE(nvrtcGetCUBINSize, void *program, size_t *size)
{
    return nvrtcGetPTXSize(program, size);
}

FAKE(nvrtcGetCUBIN, void *program, char *cubin)
{
    return nvrtcGetPTX(program, cubin);
}
