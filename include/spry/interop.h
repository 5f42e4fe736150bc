/*
 * Sharing memory and streams with other libraries: streams of CUDA and OpenCL, vectors by DLPack,
 * and by the __cuda_array_interface__ of Python. Memory of the caller's is borrowed by
 * spry_vector_new() and spry_vector_on().
 */
#ifndef SPRY_INTEROP_H
#define SPRY_INTEROP_H

#include <spry/vector.h>

SPRY_BEGIN

/**
 * A hash of an array, at the speed of memory: shows whether a borrowed array has changed. It
 * depends on every byte and its place, and is not made against adversaries.
 *
 * @param memory  any array; NULL where bytes is 0
 * @param bytes   of it
 * @param seed    the hash of an array before this one, or any number
 * @return the hash
 */
SPRY_API int64_t spry_fingerprint(const void *memory, int64_t bytes, int64_t seed);

/** DLPack's structs, as dlpack/dlpack.h declares them; that header is not needed here. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/**
 * Submits the work of the device to a stream of yours (a CUstream or cudaStream_t, a
 * cl_command_queue) from now on, after work submitted before; NULL: to the device's own again. The
 * stream stays yours, and must live until another replaces it.
 */
SPRY_API spry_status spry_device_use_stream(spry_device *device, void *stream);
/** Waits until all work of the device is done. */
SPRY_API spry_status spry_device_finish(spry_device *device);

/**
 * A vector as a tensor of one dimension over the same numbers. The tensor owns v from here on, and
 * frees it when its deleter is called; until then v can be used as before. Work on v is done when
 * this returns. The deleter is called by the thread that uses the context, which stays alive for
 * the tensor.
 */
SPRY_API spry_status spry_vector_to_dlpack(spry_vector *v, struct DLManagedTensor **tensor);
/** The same with a struct of version 1.0. */
SPRY_API spry_status spry_vector_to_dlpack_versioned(spry_vector *v,
                                                     struct DLManagedTensorVersioned **tensor);
/**
 * A vector over the numbers of a tensor on the host, on a CUDA device or in a cl_mem of ours: float
 * or complex of 32 or 64 bits a real, of one dimension or with one that is not 1. Contiguous
 * numbers are shared, and the deleter is called when v is freed; others are copied, and it is
 * called at once. The vector owns the tensor from here on; after a failure you still own it. The
 * producer's work must be done.
 */
SPRY_API spry_status spry_vector_from_dlpack(spry_context *ctx, struct DLManagedTensor *tensor,
                                             spry_vector **v);
/** The same with a struct of version 1.0. */
SPRY_API spry_status spry_vector_from_dlpack_versioned(spry_context *ctx,
                                                       struct DLManagedTensorVersioned *tensor,
                                                       spry_vector **v);

/** What version 3 of __cuda_array_interface__ holds for a vector. */
typedef struct spry_array_interface {
    size_t size;     /**< SPRY_ARRAY_INTERFACE_INIT */
    int64_t shape;   /**< elements */
    int64_t strides; /**< bytes from one to the next; 0: contiguous (None) */
    char typestr[8]; /**< "<f4", "<f8", "<c8", "<c16" */
    void *data;      /**< address on the device */
    bool read_only;  /**< data must not be written */
    int version;     /**< 3 */
    int64_t stream;  /**< to wait for before data is read; 0: none (None), 1: the legacy default
                          stream, 2: the per-thread one, else a cudaStream_t */
} spry_array_interface;
#define SPRY_ARRAY_INTERFACE_INIT SPRY_SIZED(spry_array_interface)

/** Describes a vector on a CUDA device; it must stay alive while others use it. */
SPRY_API spry_status spry_vector_array_interface(const spry_vector *v, spry_array_interface *array);
/** A vector on a CUDA device over numbers that another library describes and keeps. Work
 * of the device waits for the stream. Numbers with steps between them are copied. */
SPRY_API spry_status spry_vector_from_array_interface(spry_device *device,
                                                      const spry_array_interface *array,
                                                      spry_vector **v);

SPRY_END

#endif
