// Eigen's matrices as they are: a sparse one, one right-hand side, and three.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cstdio>
#include <spry/spry.hpp>

int main()
try {
    const int n = 1000;
    Eigen::SparseMatrix<double> sparse(n, n);
    for (int i = 0; i < n; i++) {
        sparse.insert(i, i) = 3;
        if (i > 0)
            sparse.insert(i, i - 1) = -1;
    }
    sparse.makeCompressed();
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(n);
    const Eigen::MatrixXd B = Eigen::MatrixXd::Random(n, 3);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
    Eigen::MatrixXd X = Eigen::MatrixXd::Zero(n, 3);

    spry::context ctx;
    auto A = spry::matrix::from_eigen(ctx, sparse); // by columns or by rows, as its type says
    spry::solver solver(A, "tol=1e-10");
    auto result = solver.solve(b, x);
    auto results = solver.solve_many(B, X); // a result for each column
    std::printf("eigen: %s, %s\n", result.reason(), results[2].reason());
    const double error = (sparse * X - B).norm() / B.norm();
    return result && results[0] && results[1] && results[2] && error <= 1e-9 ? 0 : 1;
} catch (const spry::error &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
