/* Intel MKL's inspector-executor products in CSR, and in BSR where the matrix has blocks, after its
 * own optimisation for many products. */
#include "peer.h"

#include <mkl.h>
#include <mkl_spblas.h>
#include <stdlib.h>

typedef struct state {
    spry_type type;
    sparse_matrix_t A;
} state;

static void *prepare(const peer_arrays *a, const int32_t *offsets, int threads)
{
    state *s = malloc(sizeof *s);
    MKL_INT *begin = (MKL_INT *)offsets, *column = (MKL_INT *)a->col_index;
    const MKL_INT rows = (MKL_INT)a->rows, cols = (MKL_INT)a->cols;
    const sparse_index_base_t zero = SPARSE_INDEX_BASE_ZERO;
    sparse_status_t status = SPARSE_STATUS_NOT_SUPPORTED;
    if (!s)
        return NULL;
    mkl_set_num_threads(threads);
    s->type = a->type;
    if (a->type == SPRY_TYPE_S)
        status =
            mkl_sparse_s_create_csr(&s->A, zero, rows, cols, begin, begin + 1, column, a->values);
    else if (a->type == SPRY_TYPE_D)
        status =
            mkl_sparse_d_create_csr(&s->A, zero, rows, cols, begin, begin + 1, column, a->values);
    else if (a->type == SPRY_TYPE_C)
        status =
            mkl_sparse_c_create_csr(&s->A, zero, rows, cols, begin, begin + 1, column, a->values);
    else
        status =
            mkl_sparse_z_create_csr(&s->A, zero, rows, cols, begin, begin + 1, column, a->values);
    if (status != SPARSE_STATUS_SUCCESS) {
        free(s);
        return NULL;
    }
    const struct matrix_descr general = {.type = SPARSE_MATRIX_TYPE_GENERAL};
    mkl_sparse_set_mv_hint(s->A, SPARSE_OPERATION_NON_TRANSPOSE, general, 1000);
    mkl_sparse_optimize(s->A);
    return s;
}

/* The size of A's blocks; 1 when there are none. */
static int block_size(const peer_arrays *a)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_stats stats = {.block_size = 1};
    if (spry_context_new(NULL, &ctx) == SPRY_STATUS_OK &&
        spry_matrix_from_csr(ctx, a->type, a->rows, a->cols, a->offsets, a->col_index, a->values,
                             SPRY_OWN_BORROW, &A) == SPRY_STATUS_OK)
        spry_matrix_stats(A, &stats);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return stats.block_size;
}

static void *prepare_bsr(const peer_arrays *a, const int32_t *offsets, int threads)
{
    const struct matrix_descr general = {.type = SPARSE_MATRIX_TYPE_GENERAL};
    const int block = block_size(a);
    if (block < 2 || a->rows % block != 0 || a->cols % block != 0)
        return NULL;
    state *s = prepare(a, offsets, threads);
    sparse_matrix_t blocks;
    if (!s)
        return NULL;
    if (mkl_sparse_convert_bsr(s->A, block, SPARSE_LAYOUT_ROW_MAJOR, SPARSE_OPERATION_NON_TRANSPOSE,
                               &blocks) != SPARSE_STATUS_SUCCESS) {
        mkl_sparse_destroy(s->A);
        free(s);
        return NULL;
    }
    mkl_sparse_destroy(s->A);
    s->A = blocks;
    mkl_sparse_set_mv_hint(s->A, SPARSE_OPERATION_NON_TRANSPOSE, general, 1000);
    mkl_sparse_optimize(s->A);
    return s;
}

static void multiply(void *data, const void *x, void *y)
{
    const state *s = data;
    const struct matrix_descr general = {.type = SPARSE_MATRIX_TYPE_GENERAL};
    const sparse_operation_t plain = SPARSE_OPERATION_NON_TRANSPOSE;
    const MKL_Complex8 one8 = {1, 0}, zero8 = {0, 0};
    const MKL_Complex16 one16 = {1, 0}, zero16 = {0, 0};
    if (s->type == SPRY_TYPE_S)
        mkl_sparse_s_mv(plain, 1, s->A, general, x, 0, y);
    else if (s->type == SPRY_TYPE_D)
        mkl_sparse_d_mv(plain, 1, s->A, general, x, 0, y);
    else if (s->type == SPRY_TYPE_C)
        mkl_sparse_c_mv(plain, one8, s->A, general, x, zero8, y);
    else
        mkl_sparse_z_mv(plain, one16, s->A, general, x, zero16, y);
}

static void multiply_dense(void *data, const spry_dense *B, const spry_dense *C)
{
    const state *s = data;
    const struct matrix_descr general = {.type = SPARSE_MATRIX_TYPE_GENERAL};
    const sparse_operation_t plain = SPARSE_OPERATION_NON_TRANSPOSE;
    const sparse_layout_t layout =
        B->by_rows ? SPARSE_LAYOUT_ROW_MAJOR : SPARSE_LAYOUT_COLUMN_MAJOR;
    const MKL_INT cols = (MKL_INT)B->cols, ldb = (MKL_INT)B->ld, ldc = (MKL_INT)C->ld;
    const MKL_Complex8 one8 = {1, 0}, zero8 = {0, 0};
    const MKL_Complex16 one16 = {1, 0}, zero16 = {0, 0};
    if (s->type == SPRY_TYPE_S)
        mkl_sparse_s_mm(plain, 1, s->A, general, layout, B->data, cols, ldb, 0, C->data, ldc);
    else if (s->type == SPRY_TYPE_D)
        mkl_sparse_d_mm(plain, 1, s->A, general, layout, B->data, cols, ldb, 0, C->data, ldc);
    else if (s->type == SPRY_TYPE_C)
        mkl_sparse_c_mm(plain, one8, s->A, general, layout, B->data, cols, ldb, zero8, C->data,
                        ldc);
    else
        mkl_sparse_z_mm(plain, one16, s->A, general, layout, B->data, cols, ldb, zero16, C->data,
                        ldc);
}

static void destroy(void *data)
{
    state *s = data;
    mkl_sparse_destroy(s->A);
    free(s);
}

const peer peer_mkl = {prepare, multiply, destroy, multiply_dense};
const peer peer_mkl_bsr = {prepare_bsr, multiply, destroy, multiply_dense};
