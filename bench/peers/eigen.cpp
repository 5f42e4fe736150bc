// Eigen's row-major sparse matrix times vector, which it shares among OpenMP threads by rows.
#include "peer.h"

#include <Eigen/Sparse>
#include <complex>

namespace
{
template <typename Scalar> struct product {
    using matrix = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, int32_t>;
    using vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

    const peer_arrays arrays;
    const Eigen::Map<const matrix> A;

    product(const peer_arrays &a, const int32_t *offsets)
        : arrays(a), A(a.rows, a.cols, a.nnz, offsets, a.col_index, static_cast<Scalar *>(a.values))
    {
    }
    void multiply(const void *x, void *y) const
    {
        Eigen::Map<const vector> from(static_cast<const Scalar *>(x), arrays.cols);
        Eigen::Map<vector> to(static_cast<Scalar *>(y), arrays.rows);
        to.noalias() = A * from;
    }
    template <int Order> void multiply_dense(const spry_dense *B, const spry_dense *C) const
    {
        using dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Order>;
        using stride = Eigen::OuterStride<>;
        Eigen::Map<const dense, 0, stride> from(static_cast<const Scalar *>(B->data), B->rows,
                                                B->cols, stride(B->ld));
        Eigen::Map<dense, 0, stride> to(static_cast<Scalar *>(C->data), C->rows, C->cols,
                                        stride(C->ld));
        to.noalias() = A * from;
    }
};

struct state {
    spry_type type;
    void *product;
};

template <typename Work> void with_product(const state *s, Work work)
{
    switch (s->type) {
    case SPRY_TYPE_S:
        return work(static_cast<product<float> *>(s->product));
    case SPRY_TYPE_D:
        return work(static_cast<product<double> *>(s->product));
    case SPRY_TYPE_C:
        return work(static_cast<product<std::complex<float>> *>(s->product));
    case SPRY_TYPE_Z:
        return work(static_cast<product<std::complex<double>> *>(s->product));
    }
}

void *make(const peer_arrays *a, const int32_t *offsets)
{
    switch (a->type) {
    case SPRY_TYPE_S:
        return new product<float>(*a, offsets);
    case SPRY_TYPE_D:
        return new product<double>(*a, offsets);
    case SPRY_TYPE_C:
        return new product<std::complex<float>>(*a, offsets);
    case SPRY_TYPE_Z:
        break;
    }
    return new product<std::complex<double>>(*a, offsets);
}

void *prepare(const peer_arrays *a, const int32_t *offsets, int threads)
{
    Eigen::setNbThreads(threads);
    return new state{a->type, make(a, offsets)};
}

void multiply(void *data, const void *x, void *y)
{
    with_product(static_cast<state *>(data), [=](auto *p) { p->multiply(x, y); });
}

void multiply_dense(void *data, const spry_dense *B, const spry_dense *C)
{
    with_product(static_cast<state *>(data), [=](auto *p) {
        if (B->by_rows)
            p->template multiply_dense<Eigen::RowMajor>(B, C);
        else
            p->template multiply_dense<Eigen::ColMajor>(B, C);
    });
}

void destroy(void *data)
{
    with_product(static_cast<state *>(data), [](auto *p) { delete p; });
    delete static_cast<state *>(data);
}
} // namespace

extern "C" const peer peer_eigen = {prepare, multiply, destroy, multiply_dense};
