/* Programs and kernels of the OpenCL engine. */
#include "device/engine/opencl.h"

#include <stdlib.h>

/* Numbers must not depend on the compiler's choices: no option that lets it reorder sums. */
#define PLAIN_OPTIONS "-cl-std=CL1.2 -w"
#define NVIDIA_OPTIONS PLAIN_OPTIONS " -DSP_NVIDIA=1"

static void get_log(opencl_state *s, cl_program program, char *log, size_t size)
{
    size_t length = 0;
    log[0] = '\0';
    if (size == 0 || s->cl.clGetProgramBuildInfo(program, s->place.device, CL_PROGRAM_BUILD_LOG, 0,
                                                 NULL, &length) != CL_SUCCESS)
        return;
    /* A log that is longer than its place is refused rather than cut. */
    char all[65536] = "";
    if (length < sizeof all &&
        s->cl.clGetProgramBuildInfo(program, s->place.device, CL_PROGRAM_BUILD_LOG, sizeof all, all,
                                    NULL) == CL_SUCCESS)
        snprintf(log, size, "%s", all + strspn(all, " \n"));
}

/* What #line says of a line of the text, counted from its first: the file, and the line in it; 0
 * without a #line. */
static long own_line(const char *text, long line, const char **name, int *length)
{
    static const char mark[] = "#line 1 \"";
    long begin = 0;
    for (long at = 1; *text && at < line; at++) {
        if (strncmp(text, mark, sizeof mark - 1) == 0) {
            *name = text + sizeof mark - 1;
            *length = (int)strcspn(*name, "\"\n");
            begin = at;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return begin > 0 ? line - begin : 0;
}

/* NVIDIA's compiler does not look at #line: it counts lines from the dialect's first and calls all
 * of it <kernel>. What it complains of is reported by the lines of the caller's text. */
static void name_own_lines(const char *text, char *complaint, size_t size)
{
    static const char mark[] = "<kernel>:";
    char mended[16384];
    size_t used = 0;
    const char *p = complaint;
    while (*p && used + 1 < sizeof mended) {
        const char *name = NULL;
        char *end = NULL;
        int length = 0;
        const bool marked = strncmp(p, mark, sizeof mark - 1) == 0;
        const long line = marked ? strtol(p + sizeof mark - 1, &end, 10) : 0;
        const long own = end ? own_line(text, line, &name, &length) : 0;
        if (own > 0) {
            snprintf(mended + used, sizeof mended - used, "%.*s:%ld", length, name, own);
            used += strlen(mended + used);
            p = end;
        } else {
            mended[used++] = *p++;
        }
    }
    snprintf(complaint, size, "%.*s", (int)used, mended);
}

/*
 * Processors compile a kernel when it is first launched, and keep it; what they give as a binary
 * has all kernels compiled for all sizes of groups, which takes many times as long. Their binary is
 * the source, behind a mark and the options.
 */
static const char source_mark[] = "spry source\n";

static spry_status keep_source(spry_device *d, const char *text, const char *options, void **binary,
                               size_t *size)
{
    char *kept = NULL;
    *size = sizeof source_mark + strlen(options) + 1 + strlen(text) + 1;
    const spry_status status = base_alloc(d->ctx, (int64_t)*size, 1, &kept);
    if (status == SPRY_STATUS_OK)
        snprintf(kept, *size, "%s%s\n%s", source_mark, options, text);
    *binary = kept;
    return status;
}

static spry_status get_binary(spry_device *d, cl_program program, void **binary, size_t *size)
{
    opencl_state *s = d->state;
    unsigned char *bytes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, opencl_check(d,
                                 s->cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                                        sizeof *size, size, NULL),
                                 "clGetProgramInfo"));
    SPRY_GO(d->ctx, base_alloc(d->ctx, (int64_t)*size, 1, &bytes));
    SPRY_GO(d->ctx, opencl_check(d,
                                 s->cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES,
                                                        sizeof(unsigned char *), &bytes, NULL),
                                 "clGetProgramInfo"));
    *binary = bytes;
    bytes = NULL;
done:
    base_free(d->ctx, bytes);
    return status;
}

static spry_status build(spry_device *d, cl_program program, const char *options, char *complaint,
                         size_t complaint_size)
{
    opencl_state *s = d->state;
    char all[2048];
    const int length =
        snprintf(all, sizeof all, "%s %s %s", s->nvidia ? NVIDIA_OPTIONS : PLAIN_OPTIONS, options,
                 device_more_options(d));
    if (length < 0 || (size_t)length >= sizeof all)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE, "options of %d bytes, at most %zu fit",
                         length, sizeof all - 1);
    const int32_t error = s->cl.clBuildProgram(program, 1, &s->place.device, all, NULL, NULL);
    get_log(s, program, complaint, complaint_size);
    return opencl_check(d, error, "clBuildProgram");
}

spry_status opencl_compile(spry_device *d, spry_context *ctx, const char *text, const char *options,
                           void **binary, size_t *size, char *complaint, size_t complaint_size)
{
    (void)ctx; /* one at a time: it is the device's */
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    int32_t error = CL_SUCCESS;
    cl_program program = s->cl.clCreateProgramWithSource(s->context, 1, &text, NULL, &error);
    SPRY_GO(d->ctx, opencl_check(d, error, "clCreateProgramWithSource"));
    status = build(d, program, options, complaint, complaint_size);
    if (status != SPRY_STATUS_OK)
        name_own_lines(text, complaint, complaint_size);
    SPRY_GO(d->ctx, status);
    if (d->facts.processor)
        SPRY_GO(d->ctx, keep_source(d, text, options, binary, size));
    else
        SPRY_GO(d->ctx, get_binary(d, program, binary, size));
done:
    if (program)
        s->cl.clReleaseProgram(program);
    return status;
}

spry_status opencl_load(spry_device *d, const void *binary, size_t size, void **module)
{
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    int32_t error = CL_SUCCESS, per_device = CL_SUCCESS;
    const unsigned char *bytes = binary;
    char complaint[512], options[1024] = "";
    const char *source = binary;
    const size_t mark = strlen(source_mark);
    cl_program program = NULL;
    if (size > mark && memcmp(source, source_mark, mark) == 0) {
        const size_t length = strcspn(source + mark, "\n");
        snprintf(options, sizeof options, "%.*s", (int)length, source + mark);
        source += mark + length + 1;
        program = s->cl.clCreateProgramWithSource(s->context, 1, &source, NULL, &error);
        SPRY_GO(d->ctx, opencl_check(d, error, "clCreateProgramWithSource"));
    } else {
        program = s->cl.clCreateProgramWithBinary(s->context, 1, &s->place.device, &size, &bytes,
                                                  &per_device, &error);
        SPRY_GO(d->ctx, opencl_check(d, error, "clCreateProgramWithBinary"));
        SPRY_GO(d->ctx, opencl_check(d, per_device, "clCreateProgramWithBinary"));
    }
    SPRY_GO(d->ctx, build(d, program, options, complaint, sizeof complaint));
    *module = program;
    program = NULL;
done:
    if (program)
        s->cl.clReleaseProgram(program);
    return status;
}

void opencl_unload(spry_device *d, void *module)
{
    opencl_state *s = d->state;
    s->cl.clReleaseProgram(module);
}

spry_status opencl_kernel(spry_device *d, void *module, const char *name, void **kernel)
{
    opencl_state *s = d->state;
    int32_t error = CL_SUCCESS;
    *kernel = s->cl.clCreateKernel(module, name, &error);
    return SPRY_CAUSE(d->ctx, opencl_check(d, error, "clCreateKernel"), "kernel %s", name);
}

void opencl_kernel_free(spry_device *d, void *kernel)
{
    opencl_state *s = d->state;
    s->cl.clReleaseKernel(kernel);
}

static int32_t set_argument(opencl_state *s, cl_kernel kernel, int place, const device_arg *arg)
{
    cl_mem memory = arg->memory ? (cl_mem)arg->memory->block : NULL;
    if (arg->memory || arg->size == 0)
        return s->cl.clSetKernelArg(kernel, (uint32_t)place, sizeof memory, &memory);
    return s->cl.clSetKernelArg(kernel, (uint32_t)place, arg->size, arg->value);
}

spry_status opencl_launch(spry_device *d, engine_stream queue, void *kernel,
                          const device_range *over, const device_arg *args, int count, bool whole)
{
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    size_t local[3], global[3];
    uint32_t dimensions = 1;
    for (int i = 0; i < 3; i++) {
        local[i] = (size_t)over->group[i];
        global[i] = (size_t)over->groups[i] * local[i];
        if (global[i] > 1)
            dimensions = (uint32_t)i + 1;
    }
    if (whole)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                         "OpenCL does not say whether groups run at once");
    for (int i = 0; i < count; i++)
        SPRY_GO(d->ctx, opencl_check(d, set_argument(s, kernel, i, args + i), "clSetKernelArg"));
    SPRY_GO(d->ctx, opencl_check(d,
                                 s->cl.clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL,
                                                              global, local, 0, NULL, NULL),
                                 "clEnqueueNDRangeKernel"));
done:
    return status;
}

int64_t opencl_whole_groups(spry_device *d, void *kernel, int group)
{
    (void)d;
    (void)kernel;
    (void)group;
    return 0;
}
