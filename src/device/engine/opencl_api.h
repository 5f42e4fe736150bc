/*
 * What is used of OpenCL 1.2, as its specification has it (Khronos, The OpenCL Specification 1.2,
 * 2012): the calls are found in the system's library at run time, so that building needs no
 * headers of it and the library runs where there is none.
 */
#ifndef SPRY_OPENCL_API_H
#define SPRY_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform_object *cl_platform_id;
typedef struct cl_device_object *cl_device_id;
typedef struct cl_context_object *cl_context;
typedef struct cl_queue_object *cl_command_queue;
typedef struct cl_mem_object *cl_mem;
typedef struct cl_program_object *cl_program;
typedef struct cl_kernel_object *cl_kernel;
typedef struct cl_event_object *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_EXEC_STATUS_ERROR = -14,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_INVALID_KERNEL_NAME = -46,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_PLATFORM_NOT_FOUND_KHR = -1001,
    CL_NVIDIA_ILLEGAL_ACCESS = -9999,

    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,

    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_WARP_SIZE_NV = 0x4003,
    CL_DEVICE_GLOBAL_FREE_MEMORY_AMD = 0x4038,
    CL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,

    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MAP_READ = 1 << 0,
    CL_MAP_WRITE = 1 << 1,

    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,

    CL_PROFILING_COMMAND_END = 0x1283
};
#define CL_DEVICE_TYPE_CPU ((uint64_t)1 << 1)
#define CL_DEVICE_TYPE_ALL ((uint64_t)0xFFFFFFFF)

/* One list gives the struct of calls and the names they are looked up by. */
#define OPENCL_CALLS(item)                                                                        \
    item(int32_t, clGetPlatformIDs, (uint32_t, cl_platform_id *, uint32_t *))                     \
    item(int32_t, clGetPlatformInfo, (cl_platform_id, uint32_t, size_t, void *, size_t *))        \
    item(int32_t, clGetDeviceIDs,                                                                 \
         (cl_platform_id, uint64_t, uint32_t, cl_device_id *, uint32_t *))                        \
    item(int32_t, clGetDeviceInfo, (cl_device_id, uint32_t, size_t, void *, size_t *))            \
    item(cl_context, clCreateContext,                                                             \
         (const intptr_t *, uint32_t, const cl_device_id *,                                       \
          void (*)(const char *, const void *, size_t, void *), void *, int32_t *))               \
    item(int32_t, clReleaseContext, (cl_context))                                                 \
    item(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, uint64_t, int32_t *)) \
    item(int32_t, clReleaseCommandQueue, (cl_command_queue))                                      \
    item(int32_t, clFlush, (cl_command_queue))                                                    \
    item(int32_t, clFinish, (cl_command_queue))                                                   \
    item(cl_mem, clCreateBuffer, (cl_context, uint64_t, size_t, void *, int32_t *))               \
    item(int32_t, clReleaseMemObject, (cl_mem))                                                   \
    item(int32_t, clEnqueueReadBuffer,                                                            \
         (cl_command_queue, cl_mem, uint32_t, size_t, size_t, void *, uint32_t, const cl_event *, \
          cl_event *))                                                                            \
    item(int32_t, clEnqueueWriteBuffer,                                                           \
         (cl_command_queue, cl_mem, uint32_t, size_t, size_t, const void *, uint32_t,             \
          const cl_event *, cl_event *))                                                          \
    item(int32_t, clEnqueueCopyBuffer,                                                            \
         (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, uint32_t, const cl_event *,   \
          cl_event *))                                                                            \
    item(int32_t, clEnqueueFillBuffer,                                                            \
         (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, uint32_t,               \
          const cl_event *, cl_event *))                                                          \
    item(void *, clEnqueueMapBuffer,                                                              \
         (cl_command_queue, cl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t,                 \
          const cl_event *, cl_event *, int32_t *))                                               \
    item(int32_t, clEnqueueUnmapMemObject,                                                        \
         (cl_command_queue, cl_mem, void *, uint32_t, const cl_event *, cl_event *))              \
    item(int32_t, clEnqueueMarkerWithWaitList,                                                    \
         (cl_command_queue, uint32_t, const cl_event *, cl_event *))                              \
    item(int32_t, clEnqueueBarrierWithWaitList,                                                   \
         (cl_command_queue, uint32_t, const cl_event *, cl_event *))                              \
    item(int32_t, clWaitForEvents, (uint32_t, const cl_event *))                                  \
    item(int32_t, clReleaseEvent, (cl_event))                                                     \
    item(int32_t, clGetEventProfilingInfo, (cl_event, uint32_t, size_t, void *, size_t *))        \
    item(cl_program, clCreateProgramWithSource,                                                   \
         (cl_context, uint32_t, const char **, const size_t *, int32_t *))                        \
    item(cl_program, clCreateProgramWithBinary,                                                   \
         (cl_context, uint32_t, const cl_device_id *, const size_t *, const unsigned char **,     \
          int32_t *, int32_t *))                                                                  \
    item(int32_t, clBuildProgram,                                                                 \
         (cl_program, uint32_t, const cl_device_id *, const char *, void (*)(cl_program, void *), \
          void *))                                                                                \
    item(int32_t, clGetProgramInfo, (cl_program, uint32_t, size_t, void *, size_t *))             \
    item(int32_t, clGetProgramBuildInfo,                                                          \
         (cl_program, cl_device_id, uint32_t, size_t, void *, size_t *))                          \
    item(int32_t, clReleaseProgram, (cl_program))                                                 \
    item(cl_kernel, clCreateKernel, (cl_program, const char *, int32_t *))                        \
    item(int32_t, clReleaseKernel, (cl_kernel))                                                   \
    item(int32_t, clSetKernelArg, (cl_kernel, uint32_t, size_t, const void *))                    \
    item(int32_t, clEnqueueNDRangeKernel,                                                         \
         (cl_command_queue, cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *,  \
          uint32_t, const cl_event *, cl_event *))

#define OPENCL_FIELD(result, name, arguments) result(*name) arguments;
typedef struct opencl_api {
    OPENCL_CALLS(OPENCL_FIELD)
} opencl_api;

#endif
