// Eigen's product of two row-major sparse matrices, which runs on one thread.
#include "peer.h"

#include <Eigen/Sparse>

namespace
{
using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using view = Eigen::Map<const matrix>;

void *prepare(const peer_arrays *a, const int32_t *offsets, int threads)
{
    if (a->type != SPRY_TYPE_D || threads != 1)
        return nullptr;
    return new view(a->rows, a->cols, a->nnz, offsets, a->col_index,
                    static_cast<const double *>(a->values));
}

int64_t square(void *state)
{
    const view &A = *static_cast<view *>(state);
    const matrix C = A * A;
    return C.nonZeros();
}

void destroy(void *state)
{
    delete static_cast<view *>(state);
}
} // namespace

extern "C" const peer_square peer_eigen_square = {prepare, square, destroy};
