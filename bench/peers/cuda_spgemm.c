/* Products of sparse matrices by cusparseSpGEMM. */
#include "cuda_peers.h"

#include <stdlib.h>
#include <string.h>

bool cuda_sparse_open(const peer_arrays *a, cuda_sparse *A)
{
    const size_t size = spry_type_size(a->type);
    *A = (cuda_sparse){.type = a->type, .rows = a->rows, .cols = a->cols};
    if (a->nnz > INT32_MAX)
        return false;
    int32_t *offsets = malloc((size_t)(a->rows + 1) * sizeof *offsets);
    if (!offsets)
        return false;
    for (int64_t i = 0; i <= a->rows; i++)
        offsets[i] = (int32_t)a->offsets[i];
    A->offsets = cuda_sent(offsets, (size_t)(a->rows + 1) * sizeof *offsets);
    free(offsets);
    A->columns = cuda_sent(a->col_index, (size_t)a->nnz * sizeof *a->col_index);
    A->values = cuda_sent(a->values, (size_t)a->nnz * size);
    CUDA_MUST(cusparseCreateCsr(&A->matrix, a->rows, a->cols, a->nnz, A->offsets, A->columns,
                                A->values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(a->type)));
    return true;
}

void cuda_sparse_close(cuda_sparse *A)
{
    if (A->matrix)
        cusparseDestroySpMat(A->matrix);
    cudaFree(A->offsets);
    cudaFree(A->columns);
    cudaFree(A->values);
    *A = (cuda_sparse){0};
}

/* One product: what its calls share. */
typedef struct job {
    cuda_peers *p;
    const cuda_sparse *A, *B;
    cusparseSpMatDescr_t C;
    cusparseSpGEMMDescr_t how;
    cusparseSpGEMMAlg_t algorithm;
    double one[2], zero[2]; /* large enough for every type */
    void *memory[8];
    int count;
} job;

/* Memory of the pool, freed at the end; NULL with *good false where there is none. */
static void *take(job *j, size_t bytes, bool *good)
{
    void *m = NULL;
    if (*good && cudaMallocAsync(&m, bytes ? bytes : 1, j->p->stream) != cudaSuccess) {
        (void)cudaGetLastError();
        *good = false;
        return NULL;
    }
    if (*good)
        j->memory[j->count++] = m;
    return m;
}

#define PRODUCT                                                                               \
    j->p->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, j->one, \
        j->A->matrix, j->B->matrix, j->zero, j->C, cuda_type_of(j->A->type), j->algorithm, j->how

static bool estimate(job *j)
{
    size_t bytes = 0;
    bool good = cusparseSpGEMM_workEstimation(PRODUCT, &bytes, NULL) == CUSPARSE_STATUS_SUCCESS;
    void *room = take(j, bytes, &good);
    return good && cusparseSpGEMM_workEstimation(PRODUCT, &bytes, room) == CUSPARSE_STATUS_SUCCESS;
}

static bool compute(job *j)
{
    const float chunk = 0.2F;
    size_t bytes = 0, more = 0;
    bool good;
    if (j->algorithm == CUSPARSE_SPGEMM_ALG1)
        good = cusparseSpGEMM_compute(PRODUCT, &bytes, NULL) == CUSPARSE_STATUS_SUCCESS;
    else {
        good = cusparseSpGEMM_estimateMemory(PRODUCT, chunk, &more, NULL, NULL) ==
               CUSPARSE_STATUS_SUCCESS;
        void *room = take(j, more, &good);
        good = good && cusparseSpGEMM_estimateMemory(PRODUCT, chunk, &more, room, &bytes) ==
                           CUSPARSE_STATUS_SUCCESS;
    }
    void *room = take(j, bytes, &good);
    return good && cusparseSpGEMM_compute(PRODUCT, &bytes, room) == CUSPARSE_STATUS_SUCCESS;
}

/* C's own arrays. */
static bool copy(job *j, void *offsets, int64_t *nnz)
{
    const size_t size = spry_type_size(j->A->type);
    int64_t rows, cols;
    bool good = cusparseSpMatGetSize(j->C, &rows, &cols, nnz) == CUSPARSE_STATUS_SUCCESS;
    void *columns = take(j, good ? (size_t)*nnz * sizeof(int32_t) : 0, &good);
    void *values = take(j, good ? (size_t)*nnz * size : 0, &good);
    return good &&
           cusparseCsrSetPointers(j->C, offsets, columns, values) == CUSPARSE_STATUS_SUCCESS &&
           cusparseSpGEMM_copy(PRODUCT) == CUSPARSE_STATUS_SUCCESS;
}

/* The pool keeps what was freed, as spry's does. */
static void keep_pool(void)
{
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    CUDA_MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA_MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

int64_t cuda_spgemm(cuda_peers *p, const cuda_sparse *A, const cuda_sparse *B, int algorithm)
{
    static const cusparseSpGEMMAlg_t algorithms[] = {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2,
                                                     CUSPARSE_SPGEMM_ALG3};
    const bool wide = A->type == SPRY_TYPE_D || A->type == SPRY_TYPE_Z;
    job its = {.p = p, .A = A, .B = B, .algorithm = algorithms[algorithm - 1]}, *j = &its;
    int64_t nnz = -1;
    bool good = true;
    memcpy(its.one, wide ? (const void *)&(double){1} : (const void *)&(float){1},
           wide ? sizeof(double) : sizeof(float));
    keep_pool();
    void *offsets = take(j, (size_t)(A->rows + 1) * sizeof(int32_t), &good);
    CUDA_MUST(cusparseCreateCsr(&its.C, A->rows, B->cols, 0, offsets, NULL, NULL,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                cuda_type_of(A->type)));
    CUDA_MUST(cusparseSpGEMM_createDescr(&its.how));
    good = good && estimate(j) && compute(j) && copy(j, offsets, &nnz);
    for (int i = 0; i < its.count; i++)
        CUDA_MUST(cudaFreeAsync(its.memory[i], p->stream));
    cusparseSpGEMM_destroyDescr(its.how);
    cusparseDestroySpMat(its.C);
    CUDA_MUST(cudaStreamSynchronize(p->stream));
    return good ? nnz : -1;
}
