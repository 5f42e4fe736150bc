// The same from C++: 2.5 on the diagonal, -1 next to it, x of ones.
#include <cmath>
#include <cstdio>
#include <spry/spry.hpp>

int main()
{
    const int n = 100;
    std::vector<int> offsets{0}, columns;
    std::vector<double> values, b, x(n);
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= n)
                continue;
            columns.push_back(j);
            values.push_back(i == j ? 2.5 : -1);
        }
        offsets.push_back(static_cast<int>(columns.size()));
        b.push_back(i == 0 || i == n - 1 ? 1.5 : 0.5);
    }
    spry::context ctx;
    auto A = spry::matrix::from_csr(ctx, n, offsets, columns, values);
    auto result = spry::solve(A, b, x, "tol=1e-12");
    bool good = static_cast<bool>(result);
    for (double v : x)
        good = good && std::abs(v - 1) <= 2e-11;
    std::printf("spry %s from C++: %s after %d iterations\n", spry_version(), result.reason(),
                static_cast<int>(result->iterations));
    return good ? 0 : 1;
}
