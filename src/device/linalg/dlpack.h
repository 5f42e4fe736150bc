/*
 * The structs of DLPack (https://dmlc.github.io/dlpack, version 1.0), declared again after its
 * specification: an interface between programs that is public and does not change.
 */
#ifndef SPRY_DLPACK_H
#define SPRY_DLPACK_H

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0 };

/* Where data is: the codes that spry knows. */
enum {
    DLPACK_CPU = 1,
    DLPACK_CUDA = 2,
    DLPACK_CUDA_HOST = 3, /* pinned memory of the host's */
    DLPACK_OPENCL = 4,
    DLPACK_CUDA_MANAGED = 13
};
/* What elements are. */
enum { DLPACK_FLOAT = 2, DLPACK_COMPLEX = 5 };
/* Flags of versioned tensors. */
enum { DLPACK_READ_ONLY = 1 };

typedef struct dlpack_device {
    int32_t type, id;
} dlpack_device;

typedef struct dlpack_type {
    uint8_t code, bits;
    uint16_t lanes;
} dlpack_type;

typedef struct dlpack_tensor {
    void *data;
    dlpack_device device;
    int32_t ndim;
    dlpack_type dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: compact, by rows */
    uint64_t byte_offset;
} dlpack_tensor;

typedef struct DLManagedTensor {
    dlpack_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} dlpack_managed;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    dlpack_tensor dl_tensor;
} dlpack_versioned;

#endif
