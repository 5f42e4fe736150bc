/* cuSPARSE and cuBLAS: handles, memory, and matrices in the formats that cuSPARSE has. */
#include "cuda_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuda_must(int status, const char *call)
{
    if (status == 0)
        return;
    const cudaError_t last = cudaGetLastError();
    fprintf(stderr, "%s failed with status %d; CUDA says: %s\n", call, status,
            cudaGetErrorString(last));
    exit(1);
}

bool cuda_peers_open(cuda_peers *p)
{
    enum { WORKSPACE = 32 << 20 };
    struct cudaDeviceProp about;
    int count = 0, sparse = 0, blas = 0;
    *p = (cuda_peers){0};
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return false;
    CUDA_MUST(cudaSetDevice(0));
    CUDA_MUST(cudaGetDeviceProperties(&about, 0));
    CUDA_MUST(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    CUDA_MUST(cusparseCreate(&p->sparse));
    CUDA_MUST(cusparseSetStream(p->sparse, p->stream));
    CUDA_MUST(cublasCreate(&p->blas));
    CUDA_MUST(cublasSetStream(p->blas, p->stream));
    p->workspace = cuda_room(WORKSPACE);
    CUDA_MUST(cublasSetWorkspace(p->blas, p->workspace, WORKSPACE));
    CUDA_MUST(cublasSetPointerMode(p->blas, CUBLAS_POINTER_MODE_DEVICE));
    CUDA_MUST(cusparseGetVersion(p->sparse, &sparse));
    CUDA_MUST(cublasGetVersion(p->blas, &blas));
    snprintf(p->device, sizeof p->device, "%.100s, cuSPARSE %d, cuBLAS %d", about.name, sparse,
             blas);
    return true;
}

void cuda_peers_close(cuda_peers *p)
{
    if (!p->stream)
        return;
    cublasDestroy(p->blas);
    cusparseDestroy(p->sparse);
    cudaFree(p->workspace);
    cudaStreamDestroy(p->stream);
}

void cuda_peers_finish(cuda_peers *p)
{
    CUDA_MUST(cudaStreamSynchronize(p->stream));
}

void *cuda_room(size_t bytes)
{
    void *room = NULL;
    CUDA_MUST(cudaMalloc(&room, bytes ? bytes : 1));
    CUDA_MUST(cudaMemset(room, 0, bytes));
    CUDA_MUST(cudaDeviceSynchronize()); /* other streams do not wait for it */
    return room;
}

void *cuda_sent(const void *from, size_t bytes)
{
    void *room = NULL;
    CUDA_MUST(cudaMalloc(&room, bytes ? bytes : 1));
    CUDA_MUST(cudaMemcpy(room, from, bytes, cudaMemcpyHostToDevice));
    return room;
}

double cuda_read_bandwidth(cuda_peers *p)
{
    enum { COUNT = 1 << 29, TIMES = 10 };
    double best = 0, *numbers = cuda_room((size_t)COUNT * sizeof *numbers);
    double *sum = cuda_room(sizeof *sum);
    for (int k = 0; k <= TIMES; k++) {
        const double begin = peer_seconds();
        CUDA_MUST(cublasDasum(p->blas, COUNT, numbers, 1, sum));
        cuda_peers_finish(p);
        const double speed = (double)COUNT * sizeof *numbers / (peer_seconds() - begin);
        best = k > 0 && speed > best ? speed : best;
    }
    CUDA_MUST(cudaFree(numbers));
    CUDA_MUST(cudaFree(sum));
    return best;
}

/* --- the matrix --------------------------------------------------------------------------------*/

cudaDataType cuda_type_of(spry_type type)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[(type == SPRY_TYPE_D || type == SPRY_TYPE_Z) +
                 2 * (spry_type_is_complex(type) ? 1 : 0)];
}

static void *keep(cuda_matrix *A, void *memory)
{
    A->memory[A->memory_count++] = memory;
    return memory;
}

static void *copy(cuda_matrix *A, const void *from, size_t bytes)
{
    return keep(A, cuda_sent(from, bytes));
}

static void add_way(cuda_matrix *A, const char *name, cusparseSpMatDescr_t matrix, int algorithm)
{
    A->ways[A->way_count++] = (cuda_way){.name = name, .matrix = matrix, .algorithm = algorithm};
}

cusparseSpMatDescr_t cuda_csr(const cuda_matrix *A)
{
    cusparseSpMatDescr_t matrix;
    CUDA_MUST(cusparseCreateCsr(&matrix, A->rows, A->cols, A->nnz, A->memory[0], A->memory[1],
                                A->memory[2], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(A->type)));
    return matrix;
}

/* CSR with 32-bit offsets, which are read faster than 64. Its arrays are the first. */
static void add_csr(cuda_matrix *A, const peer_arrays *a)
{
    static const struct {
        const char *name;
        int algorithm;
    } ways[] = {{"csr default", CUSPARSE_SPMV_ALG_DEFAULT},
                {"csr alg1", CUSPARSE_SPMV_CSR_ALG1},
                {"csr alg2", CUSPARSE_SPMV_CSR_ALG2}};
    int32_t *offsets = malloc((size_t)(a->rows + 1) * sizeof *offsets);
    if (!offsets)
        peer_refuse("out of memory");
    for (int64_t i = 0; i <= a->rows; i++)
        offsets[i] = (int32_t)a->offsets[i];
    copy(A, offsets, (size_t)(a->rows + 1) * sizeof *offsets);
    copy(A, a->col_index, (size_t)a->nnz * sizeof *a->col_index);
    copy(A, a->values, (size_t)a->nnz * spry_type_size(a->type));
    free(offsets);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        add_way(A, ways[k].name, cuda_csr(A), ways[k].algorithm);
}

/* Rows of a slice lie side by side; places without an entry have column -1. */
static void fill_slices(const peer_arrays *a, int height, const int32_t *starts, int32_t *cols,
                        char *values)
{
    const size_t size = spry_type_size(a->type);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t slice = i / height, width = (starts[slice + 1] - starts[slice]) / height;
        const int64_t count = a->offsets[i + 1] - a->offsets[i];
        for (int64_t k = 0; k < width; k++) {
            const int64_t to = starts[slice] + k * height + i % height;
            cols[to] = k < count ? a->col_index[a->offsets[i] + k] : -1;
            if (k < count)
                memcpy(values + (size_t)to * size,
                       (const char *)a->values + (size_t)(a->offsets[i] + k) * size, size);
        }
    }
}

static int64_t longest_row(const peer_arrays *a, int64_t first, int height)
{
    int64_t most = 0;
    for (int64_t i = first; i < a->rows && i < first + height; i++) {
        const int64_t count = a->offsets[i + 1] - a->offsets[i];
        most = count > most ? count : most;
    }
    return most;
}

/* cuSPARSE's sliced ELL, where that is at most twice as large as CSR. */
static void add_sell(cuda_matrix *A, const peer_arrays *a)
{
    enum { HEIGHT = 32 };
    const int64_t slices = (a->rows + HEIGHT - 1) / HEIGHT;
    const size_t size = spry_type_size(a->type);
    int32_t *starts = calloc((size_t)(slices + 1), sizeof *starts), *cols = NULL;
    char *values = NULL;
    int64_t places = 0;
    if (!starts)
        peer_refuse("out of memory");
    for (int64_t s = 0; s <= slices; s++) {
        starts[s] = (int32_t)places;
        places += HEIGHT * longest_row(a, s * HEIGHT, HEIGHT);
        if (places > INT32_MAX || places > 2 * a->nnz + HEIGHT)
            goto done;
    }
    cols = malloc((size_t)places * sizeof *cols + 1);
    values = calloc((size_t)places + 1, size);
    if (!cols || !values)
        peer_refuse("out of memory");
    memset(cols, -1, (size_t)places * sizeof *cols);
    fill_slices(a, HEIGHT, starts, cols, values);
    cusparseSpMatDescr_t matrix;
    CUDA_MUST(cusparseCreateSlicedEll(
        &matrix, a->rows, a->cols, a->nnz, places, HEIGHT,
        copy(A, starts, (size_t)(slices + 1) * sizeof *starts),
        copy(A, cols, (size_t)places * sizeof *cols), copy(A, values, (size_t)places * size),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(a->type)));
    add_way(A, "sell", matrix, CUSPARSE_SPMV_SELL_ALG1);
done:
    free(starts);
    free(cols);
    free(values);
}

/* --- blocks ------------------------------------------------------------------------------------*/

/* Whether rows b i .. b i + b - 1 have whole blocks of b columns, all the same. */
static bool is_block_row(const peer_arrays *a, int64_t i, int b)
{
    const int64_t first = a->offsets[i * b], count = a->offsets[i * b + 1] - first;
    bool fits = count % b == 0;
    for (int r = 1; fits && r < b; r++) {
        const int64_t begin = a->offsets[i * b + r];
        fits = a->offsets[i * b + r + 1] - begin == count &&
               memcmp(a->col_index + first, a->col_index + begin,
                      (size_t)count * sizeof *a->col_index) == 0;
    }
    for (int64_t k = 0; fits && k < count; k++)
        fits = a->col_index[first + k] == a->col_index[first + k - k % b] + (int32_t)(k % b) &&
               a->col_index[first + k - k % b] % b == 0;
    return fits;
}

/* Block CSR, where the matrix is made of whole blocks and nothing else. */
static bool add_blocks(cuda_matrix *A, const peer_arrays *a, int b)
{
    const size_t size = spry_type_size(a->type);
    if (a->rows % b || a->cols % b || a->nnz % (b * b))
        return false;
    for (int64_t i = 0; i < a->rows / b; i++)
        if (!is_block_row(a, i, b))
            return false;
    int32_t *starts = malloc((size_t)(a->rows / b + 1) * sizeof *starts);
    int32_t *cols = malloc((size_t)(a->nnz / b / b) * sizeof *cols + 1);
    char *values = malloc((size_t)a->nnz * size + 1);
    if (!starts || !cols || !values)
        peer_refuse("out of memory");
    for (int64_t i = 0; i <= a->rows / b; i++)
        starts[i] = (int32_t)(a->offsets[i * b] / b / b);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = 0; k < a->offsets[i + 1] - a->offsets[i]; k++) {
            const int64_t block = starts[i / b] + k / b, from = a->offsets[i] + k;
            cols[block] = a->col_index[from] / b;
            memcpy(values + (size_t)(block * b * b + i % b * b + k % b) * size,
                   (const char *)a->values + (size_t)from * size, size);
        }
    cusparseSpMatDescr_t matrix;
    CUDA_MUST(cusparseCreateBsr(&matrix, a->rows / b, a->cols / b, a->nnz / b / b, b, b,
                                copy(A, starts, (size_t)(a->rows / b + 1) * sizeof *starts),
                                copy(A, cols, (size_t)(a->nnz / b / b) * sizeof *cols),
                                copy(A, values, (size_t)a->nnz * size), CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(a->type),
                                CUSPARSE_ORDER_ROW));
    add_way(A, "bsr", matrix, CUSPARSE_SPMV_BSR_ALG1);
    free(starts);
    free(cols);
    free(values);
    return true;
}

bool cuda_matrix_open(cuda_peers *p, const peer_arrays *a, cuda_matrix *A)
{
    *A = (cuda_matrix){
        .peers = p, .rows = a->rows, .cols = a->cols, .nnz = a->nnz, .type = a->type, .best = -1};
    if (a->format != SPRY_FORMAT_CSR || a->symmetry != SPRY_SYMMETRY_GENERAL || a->nnz > INT32_MAX)
        return false;
    add_csr(A, a);
    add_sell(A, a);
    for (int b = 4; b >= 2 && !add_blocks(A, a, b); b--)
        ;
    return true;
}

void cuda_matrix_close(cuda_matrix *A)
{
    for (int k = 0; k < A->way_count; k++) {
        cudaFree(A->ways[k].buffer);
        if (A->ways[k].matrix)
            cusparseDestroySpMat(A->ways[k].matrix);
    }
    for (int k = 0; k < A->memory_count; k++)
        cudaFree(A->memory[k]);
    cuda_spmm_forget(A);
    if (A->x)
        cusparseDestroyDnVec(A->x);
    if (A->y)
        cusparseDestroyDnVec(A->y);
    if (A->B)
        cusparseDestroyDnMat(A->B);
    if (A->C)
        cusparseDestroyDnMat(A->C);
    *A = (cuda_matrix){0};
}
