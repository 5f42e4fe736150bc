/* From texts to kernels that run: NVRTC, modules, launches. */
#include "device/engine/cuda.h"

#include <stdlib.h>

enum { MOST_OPTIONS = 64, MOST_ARGUMENTS = 128, OPTIONS_SIZE = 4096, MOST_BESIDE = 65535 };

/* What a text is compiled for: for the card where NVRTC knows it; else for the newest before it, as
 * PTX, which the driver translates. */
typedef struct goal {
    int arch;
    bool as_ptx;
} goal;

static spry_status find_goal(spry_context *ctx, const nvrtc_library *nvrtc, int arch, goal *g)
{
    enum { MOST_ARCHS = 64 };
    int archs[MOST_ARCHS], count = 0, least = 0;
    *g = (goal){0, true};
    if (nvrtc->nvrtcGetNumSupportedArchs(&count) != NVRTC_OK || count > MOST_ARCHS ||
        nvrtc->nvrtcGetSupportedArchs(archs) != NVRTC_OK)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "NVRTC does not report what it compiles for: install another version");
    for (int i = 0; i < count; i++) {
        least = i == 0 || archs[i] < least ? archs[i] : least;
        if (archs[i] <= arch && archs[i] > g->arch)
            g->arch = archs[i];
    }
    g->as_ptx = g->arch != arch;
    if (g->arch == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "NVRTC %d.%d compiles for sm_%d and newer, and the device is sm_%d: "
                         "install an older libnvrtc and name it in SPRY_NVRTC_LIBRARY",
                         nvrtc->version / 1000, nvrtc->version % 1000 / 10, least, arch);
    return SPRY_STATUS_OK;
}

/* Ours, then the caller's, cut apart at blanks in `room`. */
static int list_options(const goal *g, char *target, size_t target_size, char *room,
                        const char **list)
{
    const char *debug = getenv("SPRY_DEVICE_DEBUG");
    int count = 0;
    snprintf(target, target_size, "--gpu-architecture=%s_%d", g->as_ptx ? "compute" : "sm",
             g->arch);
    list[count++] = target;
    list[count++] = "--std=c++17";
    list[count++] = "-default-device"; /* functions need no __device__ */
    if (debug && strcmp(debug, "1") == 0)
        list[count++] = "-lineinfo";
    char *rest = NULL;
    for (char *word = strtok_r(room, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (count == MOST_OPTIONS)
            return -1;
        list[count++] = word;
    }
    return count;
}

static void take_log(const nvrtc_library *nvrtc, spry_context *ctx, void *program, char *complaint,
                     size_t complaint_size)
{
    size_t size = 0;
    char *log = NULL;
    complaint[0] = '\0';
    if (nvrtc->nvrtcGetProgramLogSize(program, &size) != NVRTC_OK || size <= 1)
        return;
    if (base_calloc(ctx, (int64_t)size + 1, 1, &log) == SPRY_STATUS_OK &&
        nvrtc->nvrtcGetProgramLog(program, log) == NVRTC_OK)
        snprintf(complaint, complaint_size, "%s", log);
    base_free(ctx, log);
}

static spry_status take_binary(const nvrtc_library *nvrtc, spry_context *ctx, void *program,
                               bool as_ptx, void **binary, size_t *size)
{
    spry_status status;
    int error = (as_ptx ? nvrtc->nvrtcGetPTXSize : nvrtc->nvrtcGetCUBINSize)(program, size);
    *binary = NULL;
    if (error == NVRTC_OK) {
        SPRY_GO(ctx, base_alloc(ctx, (int64_t)*size, 1, binary));
        error = (as_ptx ? nvrtc->nvrtcGetPTX : nvrtc->nvrtcGetCUBIN)(program, *binary);
    }
    status = error == NVRTC_OK
                 ? SPRY_STATUS_OK
                 : SPRY_FAIL(ctx, SPRY_STATUS_DEVICE, "NVRTC's program cannot be had: %s",
                             nvrtc->nvrtcGetErrorString(error));
done:
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *binary);
        *binary = NULL;
    }
    return status;
}

spry_status nvrtc_compile(spry_context *ctx, const nvrtc_library *nvrtc, int arch, const char *text,
                          const char *options, void **binary, size_t *size, char *complaint,
                          size_t complaint_size)
{
    spry_status status;
    goal g;
    void *program = NULL;
    char target[64], room[OPTIONS_SIZE];
    const char *list[MOST_OPTIONS];
    complaint[0] = '\0';
    const int length = snprintf(room, sizeof room, "%s", options);
    SPRY_GO(ctx, find_goal(ctx, nvrtc, arch, &g));
    const int count =
        length < (int)sizeof room ? list_options(&g, target, sizeof target, room, list) : -1;
    if (count < 0) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d bytes of options for NVRTC are too many",
                           length);
        goto done;
    }
    int error = nvrtc->nvrtcCreateProgram(&program, text, "spry.cu", 0, NULL, NULL);
    if (error == NVRTC_OK) {
        error = nvrtc->nvrtcCompileProgram(program, count, list);
        take_log(nvrtc, ctx, program, complaint, complaint_size);
    }
    if (error != NVRTC_OK) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_DEVICE, "NVRTC %d.%d: %s", nvrtc->version / 1000,
                           nvrtc->version % 1000 / 10, nvrtc->nvrtcGetErrorString(error));
        goto done;
    }
    SPRY_GO(ctx, take_binary(nvrtc, ctx, program, g.as_ptx, binary, size));
done:
    if (program)
        nvrtc->nvrtcDestroyProgram(&program);
    return status;
}

spry_status cuda_open_compiler(spry_device *d, spry_context *ctx)
{
    cuda_state *state = cuda_of(d);
    char why[512];
    if (!state->nvrtc.library && !nvrtc_load(&state->nvrtc, state->driver.version, why, sizeof why))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "%s", why);
    return SPRY_STATUS_OK;
}

spry_status cuda_compile(spry_device *d, spry_context *ctx, const char *text, const char *options,
                         void **binary, size_t *size, char *complaint, size_t complaint_size)
{
    const cuda_state *state = cuda_of(d);
    return nvrtc_compile(ctx, &state->nvrtc, state->arch, text, options, binary, size, complaint,
                         complaint_size);
}

/* --- modules and kernels -------------------------------------------------------------------------
 */

spry_status cuda_load(spry_device *d, const void *binary, size_t size, void **module)
{
    spry_status status;
    char log[512] = "";
    const int options[] = {CUDA_JIT_ERROR_LOG_BUFFER, CUDA_JIT_ERROR_LOG_BUFFER_SIZE};
    /* The driver wants a number in a pointer's place. */
    void *values[] = {log, (void *)(uintptr_t)sizeof log}; // NOLINT(performance-no-int-to-ptr)
    (void)size; /* a CUBIN holds its size, PTX ends in a zero */
    *module = NULL;
    const bool entered = cuda_enter(d);
    const cuda_result result =
        cuda_of(d)->driver.cuModuleLoadDataEx(module, binary, 2, options, values);
    SPRY_GO(d->ctx, cuda_check(d, result, "cuModuleLoadDataEx"));
done:
    if (result == CUDA_UNSUPPORTED_PTX_VERSION || result == CUDA_NO_BINARY_FOR_GPU ||
        result == CUDA_INVALID_IMAGE)
        status =
            SPRY_CAUSE(d->ctx, status,
                       "the driver, for CUDA %d.%d, does not take what NVRTC made; install a "
                       "newer driver or an older libnvrtc",
                       cuda_of(d)->driver.version / 1000, cuda_of(d)->driver.version % 1000 / 10);
    else if (status != SPRY_STATUS_OK && log[0])
        status = SPRY_CAUSE(d->ctx, status, "%.200s", log);
    cuda_leave(d, entered);
    return status;
}

void cuda_unload(spry_device *d, void *module)
{
    const bool entered = cuda_enter(d);
    cuda_of(d)->driver.cuModuleUnload(module);
    cuda_leave(d, entered);
}

spry_status cuda_kernel(spry_device *d, void *module, const char *name, void **kernel)
{
    spry_status status = SPRY_STATUS_OK;
    const bool entered = cuda_enter(d);
    const cuda_result result = cuda_of(d)->driver.cuModuleGetFunction(kernel, module, name);
    if (result == CUDA_NOT_FOUND)
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE, "the program has no kernel \"%s\"", name);
    else
        status = cuda_check(d, result, "cuModuleGetFunction");
    cuda_leave(d, entered);
    return status;
}

/* A kernel lives in its module. */
void cuda_kernel_free(spry_device *d, void *kernel)
{
    (void)d;
    (void)kernel;
}

/* What is beyond the usual a kernel must be allowed once. The driver divides what cache and local
 * memory share; where two groups need nearly all of it, the compiler has to know. (Kernels with
 * less are much faster with the cache that is left: stencils in double 0.59 ms instead of 0.69 on
 * an H200.) */
static spry_status allow_local(spry_device *d, void *kernel, int64_t bytes)
{
    enum { ALL = 100 }; /* percent */
    spry_status status = SPRY_STATUS_OK;
    CUDA_GO(d, cuFuncSetAttribute, kernel, CUDA_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    if (2.0 * (double)bytes > 0.85 * (double)d->facts.unit_local)
        CUDA_GO(d, cuFuncSetAttribute, kernel, CUDA_PREFERRED_SHARED_MEMORY_CARVEOUT, ALL);
done:
    return status;
}

spry_status cuda_launch(spry_device *d, engine_stream s, void *kernel, const device_range *over,
                        const device_arg *args, int count, bool whole)
{
    static const engine_block nothing = 0;
    spry_status status;
    void *values[MOST_ARGUMENTS];
    unsigned groups[3], group[3];
    if (count > MOST_ARGUMENTS)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED, "%d arguments: a launch takes at most %d",
                         count, MOST_ARGUMENTS);
    for (int i = 0; i < 3; i++) {
        if (i > 0 && over->groups[i] > MOST_BESIDE)
            return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                             "%" PRId64 " groups in dimension %d: CUDA takes at most %d, and "
                             "2^31 in dimension 0; let the longest side be the first, or make "
                             "groups larger",
                             over->groups[i], i, MOST_BESIDE);
        groups[i] = (unsigned)over->groups[i];
        group[i] = (unsigned)over->group[i];
    }
    for (int i = 0; i < count; i++) {
        const void *value = args[i].memory                      ? &args[i].memory->block
                            : args[i].value && args[i].size > 0 ? args[i].value
                                                                : (const void *)&nothing;
        memcpy(&values[i], &value, sizeof value); /* the driver's signature forgets const */
    }
    const bool entered = cuda_enter(d);
    if (over->local > 0)
        SPRY_GO(d->ctx, allow_local(d, kernel, over->local));
    if (whole)
        CUDA_GO(d, cuLaunchCooperativeKernel, kernel, groups[0], groups[1], groups[2], group[0],
                group[1], group[2], (unsigned)over->local, s, values);
    else
        CUDA_GO(d, cuLaunchKernel, kernel, groups[0], groups[1], groups[2], group[0], group[1],
                group[2], (unsigned)over->local, s, values, NULL);
done:
    cuda_leave(d, entered);
    return status;
}

int64_t cuda_whole_groups(spry_device *d, void *kernel, int group)
{
    int blocks = 0;
    if (!d->facts.has_cooperation)
        return 0;
    const bool entered = cuda_enter(d);
    if (cuda_of(d)->driver.cuOccupancyMaxActiveBlocks(&blocks, kernel, group, 0) != CUDA_OK)
        blocks = 0;
    cuda_leave(d, entered);
    return (int64_t)blocks * d->facts.units;
}
