/* Intel MKL's product of two sparse matrices, with its columns put in order. */
#include "peer.h"

#include <mkl.h>
#include <mkl_spblas.h>
#include <stdlib.h>

static void *prepare(const peer_arrays *a, const int32_t *offsets, int threads)
{
    sparse_matrix_t *A = malloc(sizeof *A);
    MKL_INT *begin = (MKL_INT *)offsets, *column = (MKL_INT *)a->col_index;
    mkl_set_num_threads(threads);
    if (A && a->type == SPRY_TYPE_D &&
        mkl_sparse_d_create_csr(A, SPARSE_INDEX_BASE_ZERO, (MKL_INT)a->rows, (MKL_INT)a->cols,
                                begin, begin + 1, column, a->values) == SPARSE_STATUS_SUCCESS)
        return A;
    free(A);
    return NULL;
}

static int64_t square(void *state)
{
    const sparse_matrix_t A = *(sparse_matrix_t *)state;
    sparse_matrix_t C = NULL;
    if (mkl_sparse_spmm(SPARSE_OPERATION_NON_TRANSPOSE, A, A, &C) != SPARSE_STATUS_SUCCESS)
        return -1;
    mkl_sparse_order(C);
    sparse_index_base_t base;
    MKL_INT rows, cols, *begin, *end, *column;
    double *values;
    mkl_sparse_d_export_csr(C, &base, &rows, &cols, &begin, &end, &column, &values);
    const int64_t entries = end[rows - 1];
    mkl_sparse_destroy(C);
    return entries;
}

static void destroy(void *state)
{
    mkl_sparse_destroy(*(sparse_matrix_t *)state);
    free(state);
}

const peer_square peer_mkl_square = {prepare, square, destroy};
