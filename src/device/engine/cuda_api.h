/*
 * The part of the CUDA driver's and of NVRTC's interfaces that is used: names, numbers and
 * signatures as NVIDIA documents them. Both libraries are loaded at run time, so that neither their
 * headers nor the toolkit are needed to build. Handles are plain pointers.
 */
#ifndef SPRY_CUDA_API_H
#define SPRY_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;               /* CUresult */
typedef int cuda_index;                /* CUdevice */
typedef unsigned long long cuda_place; /* CUdeviceptr */
typedef void *cuda_handle;             /* CUcontext, CUstream, CUevent, CUmodule, CUgraph ... */

enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_DEINITIALIZED = 4,
    CUDA_STUB_LIBRARY = 34,
    CUDA_DEVICE_UNAVAILABLE = 46,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_IMAGE = 200,
    CUDA_NO_BINARY_FOR_GPU = 209,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_NVLINK_UNCORRECTABLE = 220,
    CUDA_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_CONTAINED = 226,
    CUDA_NOT_FOUND = 500,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_CONTEXT_IS_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_STACK_ERROR = 714,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_UNKNOWN = 999
};

/* CUdevice_attribute */
enum {
    CUDA_MAX_THREADS_PER_BLOCK = 1,
    CUDA_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CUDA_WARP_SIZE = 10,
    CUDA_MULTIPROCESSOR_COUNT = 16,
    CUDA_L2_CACHE_SIZE = 38,
    CUDA_COMPUTE_CAPABILITY_MAJOR = 75,
    CUDA_COMPUTE_CAPABILITY_MINOR = 76,
    CUDA_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CUDA_COOPERATIVE_LAUNCH = 95,
    CUDA_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};

/* Flags and options, each of its own call. */
enum {
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_EVENT_DEFAULT = 0,
    CUDA_EVENT_DISABLE_TIMING = 2,
    CUDA_MEMHOSTALLOC_PORTABLE = 1,
    CUDA_CAPTURE_THREAD_LOCAL = 1,
    CUDA_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CUDA_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CUDA_JIT_ERROR_LOG_BUFFER = 5,
    CUDA_JIT_ERROR_LOG_BUFFER_SIZE = 6
};

/* One list gives the struct of calls and the symbols they are looked up by. */
#define CUDA_DRIVER_CALLS(item)                                                                    \
    item(cuInit, "cuInit", (unsigned))                                                             \
    item(cuGetErrorName, "cuGetErrorName", (cuda_result, const char **))                           \
    item(cuGetErrorString, "cuGetErrorString", (cuda_result, const char **))                       \
    item(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                            \
    item(cuDeviceGet, "cuDeviceGet", (cuda_index *, int))                                          \
    item(cuDeviceGetName, "cuDeviceGetName", (char *, int, cuda_index))                            \
    item(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, cuda_index))                   \
    item(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, cuda_index))                          \
    item(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (cuda_handle *, cuda_index))        \
    item(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (cuda_index))                  \
    item(cuCtxGetCurrent, "cuCtxGetCurrent", (cuda_handle *))                                      \
    item(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (cuda_handle))                                   \
    item(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (cuda_handle *))                                   \
    item(cuMemAlloc, "cuMemAlloc_v2", (cuda_place *, size_t))                                      \
    item(cuMemFree, "cuMemFree_v2", (cuda_place))                                                  \
    item(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                    \
    item(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                            \
    item(cuMemFreeHost, "cuMemFreeHost", (void *))                                                 \
    item(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                \
         (cuda_place, const void *, size_t, cuda_handle))                                          \
    item(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, cuda_place, size_t, cuda_handle))     \
    item(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (cuda_place, cuda_place, size_t, cuda_handle)) \
    item(cuMemsetD8Async, "cuMemsetD8Async", (cuda_place, unsigned char, size_t, cuda_handle))     \
    item(cuStreamCreate, "cuStreamCreate", (cuda_handle *, unsigned))                              \
    item(cuStreamDestroy, "cuStreamDestroy_v2", (cuda_handle))                                     \
    item(cuStreamSynchronize, "cuStreamSynchronize", (cuda_handle))                                \
    item(cuStreamWaitEvent, "cuStreamWaitEvent", (cuda_handle, cuda_handle, unsigned))             \
    item(cuEventCreate, "cuEventCreate", (cuda_handle *, unsigned))                                \
    item(cuEventDestroy, "cuEventDestroy_v2", (cuda_handle))                                       \
    item(cuEventRecord, "cuEventRecord", (cuda_handle, cuda_handle))                               \
    item(cuEventSynchronize, "cuEventSynchronize", (cuda_handle))                                  \
    item(cuEventElapsedTime, "cuEventElapsedTime", (float *, cuda_handle, cuda_handle))            \
    item(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                 \
         (cuda_handle *, const void *, unsigned, const int *, void **))                            \
    item(cuModuleUnload, "cuModuleUnload", (cuda_handle))                                          \
    item(cuModuleGetFunction, "cuModuleGetFunction", (cuda_handle *, cuda_handle, const char *))   \
    item(cuFuncSetAttribute, "cuFuncSetAttribute", (cuda_handle, int, int))                        \
    item(cuLaunchKernel, "cuLaunchKernel",                                                         \
         (cuda_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
          cuda_handle, void **, void **))                                                          \
    item(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel",                                   \
         (cuda_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
          cuda_handle, void **))                                                                   \
    item(cuOccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                \
         (int *, cuda_handle, int, size_t))                                                        \
    item(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (cuda_handle, int))                      \
    item(cuStreamEndCapture, "cuStreamEndCapture", (cuda_handle, cuda_handle *))                   \
    item(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                        \
         (cuda_handle *, cuda_handle, unsigned long long))                                         \
    item(cuGraphDestroy, "cuGraphDestroy", (cuda_handle))                                          \
    item(cuGraphLaunch, "cuGraphLaunch", (cuda_handle, cuda_handle))                               \
    item(cuGraphExecDestroy, "cuGraphExecDestroy", (cuda_handle))

/* The newest of these calls came with CUDA 11.4 (driver 470). */
enum { CUDA_LEAST_DRIVER = 11040 };

#define CUDA_CALL_FIELD(name, symbol, signature) cuda_result(*name) signature;
typedef struct cuda_driver {
    CUDA_DRIVER_CALLS(CUDA_CALL_FIELD)
    void *library;
    int version; /* 13000: the CUDA it was made for */
} cuda_driver;

/* NVRTC, the compiler. Calls give an nvrtcResult. */
enum { NVRTC_OK = 0, NVRTC_COMPILATION_FAILED = 6 };
#define NVRTC_CALLS(item)                                                                      \
    item(nvrtcVersion, "nvrtcVersion", (int *, int *))                                         \
    item(nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs", (int *))                      \
    item(nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs", (int *))                            \
    item(nvrtcCreateProgram, "nvrtcCreateProgram",                                             \
         (void **, const char *, const char *, int, const char *const *, const char *const *)) \
    item(nvrtcDestroyProgram, "nvrtcDestroyProgram", (void **))                                \
    item(nvrtcCompileProgram, "nvrtcCompileProgram", (void *, int, const char *const *))       \
    item(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", (void *, size_t *))                 \
    item(nvrtcGetProgramLog, "nvrtcGetProgramLog", (void *, char *))                           \
    item(nvrtcGetPTXSize, "nvrtcGetPTXSize", (void *, size_t *))                               \
    item(nvrtcGetPTX, "nvrtcGetPTX", (void *, char *))                                         \
    item(nvrtcGetCUBINSize, "nvrtcGetCUBINSize", (void *, size_t *))                           \
    item(nvrtcGetCUBIN, "nvrtcGetCUBIN", (void *, char *))

#define NVRTC_CALL_FIELD(name, symbol, signature) int(*name) signature;
typedef struct nvrtc_library {
    NVRTC_CALLS(NVRTC_CALL_FIELD)
    const char *(*nvrtcGetErrorString)(int error);
    void *library; /* NULL: not loaded */
    int version;   /* 13040 */
} nvrtc_library;

#endif
