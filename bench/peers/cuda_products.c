/* Products by cuSPARSE: each way is tried, the fastest is kept. */
#include "cuda_peers.h"

/* --- one column --------------------------------------------------------------------------------*/

/* A real number as cuSPARSE takes it for a type. */
typedef struct cuda_number {
    union {
        float s[2];
        double d[2];
    } as;
} cuda_number;

static cuda_number number_of(spry_type type, double value)
{
    cuda_number number = {{{0, 0}}};
    if (type == SPRY_TYPE_D || type == SPRY_TYPE_Z) {
        number.as.d[0] = value;
        number.as.d[1] = 0;
    } else
        number.as.s[0] = (float)value;
    return number;
}

static cusparseStatus_t multiply(cuda_matrix *A, const cuda_way *w, double alpha, double beta)
{
    const cuda_number one = number_of(A->type, alpha), other = number_of(A->type, beta);
    return cusparseSpMV(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, w->matrix, A->x,
                        &other, A->y, cuda_type_of(A->type), (cusparseSpMVAlg_t)w->algorithm,
                        w->buffer);
}

/* Its buffer and what it looks at beforehand; false where it does not take this matrix. */
static bool prepare(cuda_matrix *A, cuda_way *w)
{
    const cuda_number one = number_of(A->type, 1), zero = number_of(A->type, 0);
    const cusparseSpMVAlg_t algorithm = (cusparseSpMVAlg_t)w->algorithm;
    size_t bytes = 0;
    if (cusparseSpMV_bufferSize(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, w->matrix,
                                A->x, &zero, A->y, cuda_type_of(A->type), algorithm,
                                &bytes) != CUSPARSE_STATUS_SUCCESS)
        return false;
    w->buffer = cuda_room(bytes);
    /* Not every format has something to prepare; whether it multiplies is what counts. */
    (void)cusparseSpMV_preprocess(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                  w->matrix, A->x, &zero, A->y, cuda_type_of(A->type), algorithm,
                                  w->buffer);
    const bool works = multiply(A, w, 1, 0) == CUSPARSE_STATUS_SUCCESS;
    cuda_peers_finish(A->peers);
    return works;
}

/* Seconds of a product, the best of some batches. */
static double time_of(cuda_matrix *A, void (*product)(cuda_matrix *A))
{
    enum { BATCHES = 4, BATCH = 5 };
    double best = 1e30;
    for (int k = 0; k <= BATCHES; k++) {
        const double begin = peer_seconds();
        for (int j = 0; j < BATCH; j++)
            product(A);
        cuda_peers_finish(A->peers);
        const double seconds = (peer_seconds() - begin) / BATCH;
        best = k > 0 && seconds < best ? seconds : best;
    }
    return best;
}

static void multiply_best(cuda_matrix *A)
{
    CUDA_MUST(multiply(A, &A->ways[A->best], 1, 0));
}

static void set_vectors(cuda_matrix *A, const void *x, void *y)
{
    void *from = (void *)(uintptr_t)x; /* which cuSPARSE does not write to */
    if (!A->x) {
        CUDA_MUST(cusparseCreateDnVec(&A->x, A->cols, from, cuda_type_of(A->type)));
        CUDA_MUST(cusparseCreateDnVec(&A->y, A->rows, y, cuda_type_of(A->type)));
    }
    CUDA_MUST(cusparseDnVecSetValues(A->x, from));
    CUDA_MUST(cusparseDnVecSetValues(A->y, y));
}

void cuda_spmv_choose(cuda_matrix *A, const void *x, void *y)
{
    int fastest = -1;
    set_vectors(A, x, y);
    for (int k = 0; k < A->way_count; k++) {
        A->best = k;
        A->ways[k].seconds = prepare(A, &A->ways[k]) ? time_of(A, multiply_best) : 0;
        if (A->ways[k].seconds > 0 &&
            (fastest < 0 || A->ways[k].seconds < A->ways[fastest].seconds))
            fastest = k;
    }
    A->best = fastest;
    if (fastest < 0)
        peer_refuse("cuSPARSE has no way to multiply by this matrix");
}

void cuda_spmv(cuda_matrix *A, double alpha, const void *x, double beta, void *y)
{
    set_vectors(A, x, y);
    CUDA_MUST(multiply(A, &A->ways[A->best], alpha, beta));
}

/* --- several columns ---------------------------------------------------------------------------*/

static cusparseStatus_t multiply_dense(cuda_matrix *A, const cuda_way *w)
{
    const cuda_number one = number_of(A->type, 1), zero = number_of(A->type, 0);
    return cusparseSpMM(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                        CUSPARSE_OPERATION_NON_TRANSPOSE, &one, w->matrix, A->B, &zero, A->C,
                        cuda_type_of(A->type), (cusparseSpMMAlg_t)w->algorithm, w->buffer);
}

static bool prepare_dense(cuda_matrix *A, cuda_way *w)
{
    const cuda_number one = number_of(A->type, 1), zero = number_of(A->type, 0);
    const cusparseSpMMAlg_t algorithm = (cusparseSpMMAlg_t)w->algorithm;
    size_t bytes = 0;
    w->buffer = NULL;
    if (cusparseSpMM_bufferSize(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &one, w->matrix, A->B, &zero,
                                A->C, cuda_type_of(A->type), algorithm,
                                &bytes) != CUSPARSE_STATUS_SUCCESS)
        return false;
    w->buffer = cuda_room(bytes);
    (void)cusparseSpMM_preprocess(A->peers->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  CUSPARSE_OPERATION_NON_TRANSPOSE, &one, w->matrix, A->B, &zero,
                                  A->C, cuda_type_of(A->type), algorithm, w->buffer);
    const bool works = multiply_dense(A, w) == CUSPARSE_STATUS_SUCCESS;
    cuda_peers_finish(A->peers);
    return works;
}

static void set_dense(cuda_matrix *A, int width, bool by_rows, void *B, void *C)
{
    const cusparseOrder_t order = by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    if (A->B) {
        CUDA_MUST(cusparseDestroyDnMat(A->B));
        CUDA_MUST(cusparseDestroyDnMat(A->C));
    }
    CUDA_MUST(cusparseCreateDnMat(&A->B, A->cols, width, by_rows ? width : A->cols, B,
                                  cuda_type_of(A->type), order));
    CUDA_MUST(cusparseCreateDnMat(&A->C, A->rows, width, by_rows ? width : A->rows, C,
                                  cuda_type_of(A->type), order));
}

void cuda_spmm(cuda_matrix *A)
{
    CUDA_MUST(multiply_dense(A, &A->dense));
}

/* The matrix in blocks, which is the last of the ways where there are any; NULL: there are none. */
static cuda_way *blocks_of(cuda_matrix *A)
{
    cuda_way *last = A->way_count > 0 ? &A->ways[A->way_count - 1] : NULL;
    return last && last->algorithm == CUSPARSE_SPMV_BSR_ALG1 ? last : NULL;
}

void cuda_spmm_forget(cuda_matrix *A)
{
    cudaFree(A->dense.buffer);
    if (A->dense.matrix && !(blocks_of(A) && A->dense.matrix == blocks_of(A)->matrix))
        cusparseDestroySpMat(A->dense.matrix);
    A->dense = (cuda_way){0};
}

/* Algorithms keep what they found in the description of the matrix: each gets its own. */
static void choose_csr(cuda_matrix *A)
{
    static const struct {
        const char *name;
        int algorithm;
    } ways[] = {{"csr default", CUSPARSE_SPMM_ALG_DEFAULT},
                {"csr alg1", CUSPARSE_SPMM_CSR_ALG1},
                {"csr alg2", CUSPARSE_SPMM_CSR_ALG2},
                {"csr alg3", CUSPARSE_SPMM_CSR_ALG3}};
    cuda_way best = {0};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        A->dense =
            (cuda_way){.name = ways[k].name, .matrix = cuda_csr(A), .algorithm = ways[k].algorithm};
        A->dense.seconds = prepare_dense(A, &A->dense) ? time_of(A, cuda_spmm) : 0;
        const bool better = A->dense.seconds > 0 && (!best.name || A->dense.seconds < best.seconds);
        if (!better) {
            cuda_spmm_forget(A);
            continue;
        }
        const cuda_way fastest = A->dense;
        A->dense = best;
        cuda_spmm_forget(A);
        best = fastest;
    }
    A->dense = best;
}

void cuda_spmm_choose(cuda_matrix *A, int width, bool by_rows, void *B, void *C)
{
    cuda_way *blocks = blocks_of(A);
    cuda_spmm_forget(A);
    set_dense(A, width, by_rows, B, C);
    choose_csr(A);
    const cuda_way csr = A->dense;
    if (blocks) {
        A->dense = (cuda_way){
            .name = "bsr", .matrix = blocks->matrix, .algorithm = CUSPARSE_SPMM_BSR_ALG1};
        A->dense.seconds = prepare_dense(A, &A->dense) ? time_of(A, cuda_spmm) : 0;
        const cuda_way bsr = A->dense;
        const bool better = bsr.seconds > 0 && (!csr.name || bsr.seconds < csr.seconds);
        A->dense = better ? csr : bsr;
        cuda_spmm_forget(A);
        A->dense = better ? bsr : csr;
    }
    if (!A->dense.name)
        peer_refuse("cuSPARSE has no way to multiply several columns by this matrix");
}
