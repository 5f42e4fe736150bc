/*
 * The part of NVIDIA cuDSS's interface that is used: names, numbers and signatures as NVIDIA
 * documents them, of versions 0.7 and 1. The library is loaded at run time, so that its headers are
 * not needed to build. Handles are plain pointers, and results are cudssStatus_t.
 */
#ifndef SPRY_PRECON_CUDSS_API_H
#define SPRY_PRECON_CUDSS_API_H

#include <stddef.h>
#include <stdint.h>

/* cudssStatus_t */
enum {
    CUDSS_OK,
    CUDSS_NOT_INITIALIZED,
    CUDSS_ALLOC_FAILED,
    CUDSS_INVALID_VALUE,
    CUDSS_NOT_SUPPORTED,
    CUDSS_EXECUTION_FAILED,
    CUDSS_INTERNAL_ERROR
};

/* cudssPhase_t */
enum {
    CUDSS_ANALYSIS = 3,
    CUDSS_FACTORIZATION = 4,
    CUDSS_REFACTORIZATION = 8,
    CUDSS_SOLVE = 0x3f0 /* permutations, triangles and diagonal */
};

/* cudssMatrixType_t, cudssMatrixViewType_t */
enum { CUDSS_GENERAL, CUDSS_SYMMETRIC, CUDSS_HERMITIAN, CUDSS_SPD, CUDSS_HPD };
enum { CUDSS_VIEW_FULL, CUDSS_VIEW_LOWER, CUDSS_VIEW_UPPER };
/* cudssIndexBase_t, cudssLayout_t */
enum { CUDSS_BASE_ZERO = 0, CUDSS_COLUMN_MAJOR = 0 };
/* cudaDataType_t */
enum { CUDSS_R_32F = 0, CUDSS_R_64F = 1, CUDSS_C_32F = 4, CUDSS_C_64F = 5, CUDSS_R_32I = 10 };
/* libraryPropertyType */
enum { CUDSS_MAJOR, CUDSS_MINOR };

/* cudssDataParam_t: an int, an int64_t, an int. */
enum { CUDSS_DATA_INFO = 0, CUDSS_DATA_LU_NNZ = 1, CUDSS_DATA_NPIVOTS = 2 };
/* The same, with numbers that differ: 16 of int64_t, the second the most bytes of the device. */
enum { CUDSS_0_MEMORY_ESTIMATES = 12, CUDSS_1_MEMORY_ESTIMATES = 13, CUDSS_ESTIMATES = 16 };
/* cudssConfigParam_t: an int. Version 1 decides by itself. */
enum { CUDSS_0_USE_MATCHING = 3 };

/* One list gives the struct of calls and the symbols they are looked up by. */
#define CUDSS_CALLS(item)                                                                    \
    item(cudssGetProperty, int, (int property, int *value))                                  \
    item(cudssCreate, int, (void **handle))                                                  \
    item(cudssDestroy, int, (void *handle))                                                  \
    item(cudssSetStream, int, (void *handle, void *stream))                                  \
    item(cudssSetThreadingLayer, int, (void *handle, const char *file))                      \
    item(cudssConfigCreate, int, (void **config))                                            \
    item(cudssConfigDestroy, int, (void *config))                                            \
    item(cudssConfigSet, int, (void *config, int what, void *value, size_t size))            \
    item(cudssDataCreate, int, (void *handle, void **data))                                  \
    item(cudssDataDestroy, int, (void *handle, void *data))                                  \
    item(cudssDataGet, int,                                                                  \
         (void *handle, void *data, int what, void *value, size_t size, size_t *written))    \
    item(cudssMatrixCreateDn, int,                                                           \
         (void **matrix, int64_t rows, int64_t cols, int64_t stride, void *values, int type, \
          int layout))                                                                       \
    item(cudssMatrixCreateCsr, void, (void)) /* see below */                                 \
    item(cudssMatrixSetValues, int, (void *matrix, void *values))                            \
    item(cudssMatrixDestroy, int, (void *matrix))                                            \
    item(cudssExecute, int,                                                                  \
         (void *handle, int phase, void *config, void *data, void *matrix, void *solution,   \
          void *right))

/* cudssMatrixCreateCsr() of version 0, and of version 1, which has a type of offsets before that of
 * columns. Each offset of `ends` is where a row ends; NULL: where the next begins. */
typedef int (*cudss_create_csr_0)(void **matrix, int64_t rows, int64_t cols, int64_t nnz,
                                  void *offsets, void *ends, void *columns, void *values,
                                  int index_type, int type, int kind, int view, int base);
typedef int (*cudss_create_csr_1)(void **matrix, int64_t rows, int64_t cols, int64_t nnz,
                                  void *offsets, void *ends, void *columns, void *values,
                                  int offset_type, int index_type, int type, int kind, int view,
                                  int base);

#define CUDSS_FIELD(name, result, signature) result(*name) signature;
typedef struct cudss_calls {
    CUDSS_CALLS(CUDSS_FIELD)
} cudss_calls;

#endif
