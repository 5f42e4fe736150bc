/*
 * NVIDIA's libraries compared with spry on one device: products by cuSPARSE, in every way it has
 * for a matrix, of which the fastest is kept. A call of theirs that fails ends the program with its
 * name. Work goes to one stream and is not waited for, unless a function says so.
 */
#ifndef BENCH_CUDA_PEERS_H
#define BENCH_CUDA_PEERS_H

#include "peer.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

/* Ends the program where a call of CUDA's failed; 0 is success for all three libraries. */
#define CUDA_MUST(call) cuda_must((int)(call), #call)
void cuda_must(int status, const char *call);

/* The first device: its stream, and the libraries' handles. Scalars of cuBLAS are read from and
 * written to the device, those of cuSPARSE come from the host. */
typedef struct cuda_peers {
    cudaStream_t stream;
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    void *workspace; /* of cuBLAS, so that it allocates nothing while a graph is recorded */
    char device[256];
} cuda_peers;

/* False where there is no device. */
bool cuda_peers_open(cuda_peers *p);
void cuda_peers_close(cuda_peers *p);
void cuda_peers_finish(cuda_peers *p); /* waits until all is done */

void *cuda_room(size_t bytes); /* on the device, zeros */
void *cuda_sent(const void *from, size_t bytes);
/* Bytes per second that cuBLAS reads when it sums the sizes of 4 GB, best of some. */
double cuda_read_bandwidth(cuda_peers *p);

/* --- products ----------------------------------------------------------------------------------*/

enum { CUDA_MOST_WAYS = 8 };

/* A way to multiply: the matrix in one of cuSPARSE's formats, and one of its algorithms. */
typedef struct cuda_way {
    const char *name; /* "csr alg1" */
    cusparseSpMatDescr_t matrix;
    int algorithm;
    void *buffer;
    double seconds; /* of a product, as measured when it was chosen */
} cuda_way;

typedef struct cuda_matrix {
    cuda_peers *peers;
    int64_t rows, cols, nnz;
    spry_type type;
    void *memory[12]; /* all that it has on the device */
    int memory_count;
    cuda_way ways[CUDA_MOST_WAYS]; /* of SpMV */
    int way_count, best;
    cusparseDnVecDescr_t x, y;
    /* C = A B as it was last set */
    cuda_way dense;
    cusparseDnMatDescr_t B, C;
} cuda_matrix;

/* General CSR with fewer than 2^31 entries; else false. Nothing is measured yet. */
bool cuda_matrix_open(cuda_peers *p, const peer_arrays *a, cuda_matrix *A);
void cuda_matrix_close(cuda_matrix *A);
/* Measures all ways with these arrays on the device; the fastest is used from then on. */
void cuda_spmv_choose(cuda_matrix *A, const void *x, void *y);
/* y = alpha A x + beta y */
void cuda_spmv(cuda_matrix *A, double alpha, const void *x, double beta, void *y);
/* The same for C = A B with `width` columns, in arrays on the device without gaps. */
void cuda_spmm_choose(cuda_matrix *A, int width, bool by_rows, void *B, void *C);
void cuda_spmm(cuda_matrix *A);
void cuda_spmm_forget(cuda_matrix *A); /* what was chosen */

/* --- products of sparse matrices ---------------------------------------------------------------*/

typedef struct cuda_sparse {
    spry_type type;
    int64_t rows, cols;
    void *offsets, *columns, *values;
    cusparseSpMatDescr_t matrix;
} cuda_sparse;

/* General CSR with fewer than 2^31 entries; else false. */
bool cuda_sparse_open(const peer_arrays *a, cuda_sparse *A);
void cuda_sparse_close(cuda_sparse *A);
/* C = A B by algorithm 1, 2 or 3 of cusparseSpGEMM, from no memory for it to C, which is freed
 * again; memory comes from a pool that keeps it. Entries of C, -1 where it fails. */
int64_t cuda_spgemm(cuda_peers *p, const cuda_sparse *A, const cuda_sparse *B, int algorithm);

/* --- between these files -----------------------------------------------------------------------*/

cudaDataType cuda_type_of(spry_type type);
/* A description of the matrix as CSR, one more each time. */
cusparseSpMatDescr_t cuda_csr(const cuda_matrix *A);

#endif
