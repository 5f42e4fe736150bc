// Heat that spreads over a square plate, one step of implicit Euler: the system of
// docs/tutorial.md, from CSR arrays. Far from the edge u is what it was, 1.
#include <cmath>
#include <cstdio>
#include <spry/spry.hpp>
#include <vector>

int main()
try {
    const int side = 200, n = side * side;
    const double k = 10;
    std::vector<int> offsets{0}, columns;
    std::vector<double> values, b(n, 1.0), x(n);
    const auto add = [&](int column, double value) {
        columns.push_back(column);
        values.push_back(value);
    };
    for (int row = 0; row < n; row++) {
        const int i = row / side, j = row % side;
        if (i > 0)
            add(row - side, -k);
        if (j > 0)
            add(row - 1, -k);
        add(row, 1 + 4 * k);
        if (j < side - 1)
            add(row + 1, -k);
        if (i < side - 1)
            add(row + side, -k);
        offsets.push_back(static_cast<int>(columns.size()));
    }

    spry::context ctx;
    auto A = spry::matrix::from_csr(ctx, n, offsets, columns, values, SPRY_OWN_BORROW);
    auto result = spry::solve(A, b, x, "tol=1e-10 method=cg precon=ic");
    std::printf("c++: %s after %d iterations, true residual %.1e\n", result.reason(),
                static_cast<int>(result->iterations), result->true_residual);
    // |x - u| <= |A^-1| |b - A x|, where A's smallest eigenvalue is above 1 and |b| = side
    return result && std::abs(x[n / 2 + side / 2] - 1) <= side * 1e-10 ? 0 : 1;
} catch (const spry::error &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
