// A matrix that is never stored, and a monitor, both lambdas: -u'' = 1 on (0, 1), u = 0 at both
// ends. The second difference has its solution u = s (1 - s) / 2 exactly. The monitor throws when
// it has seen enough, and what it throws comes out of the solve.
#include <cmath>
#include <cstdio>
#include <spry/spry.hpp>
#include <vector>

struct enough {
    std::int64_t iteration;
};

int main()
{
    const std::size_t n = 199;
    const double h = 1.0 / (n + 1);
    std::vector<double> b(n, 1.0), x(n);

    spry::context ctx;
    auto A = spry::linear_operator::function<double>(
        ctx, n, n, [=](spry::span<const double> u, spry::span<double> y) {
            for (std::size_t i = 0; i < n; i++)
                y[i] = (2 * u[i] - (i > 0 ? u[i - 1] : 0) - (i < n - 1 ? u[i + 1] : 0)) / (h * h);
        });
    spry::solver solver(A, "tol=1e-12 method=cg");
    solver.set_monitor([=](std::int64_t iteration, double residual, spry::vector_view now) {
        if (iteration % 50 == 0)
            std::printf("%4d  %.2e  u in the middle %.5f\n", static_cast<int>(iteration), residual,
                        now.data<double>()[n / 2]);
    });
    auto result = solver.solve(b, x);
    double error = 0;
    for (std::size_t i = 0; i < n; i++) {
        const double s = h * static_cast<double>(i + 1);
        error = std::fmax(error, std::abs(x[i] - s * (1 - s) / 2));
    }
    std::printf("%s after %d iterations, largest error %.1e\n", result.reason(),
                static_cast<int>(result->iterations), error);

    std::int64_t last = 0;
    solver.set_monitor([](std::int64_t iteration, double) {
        if (iteration == 7)
            throw enough{iteration};
    });
    try {
        x.assign(n, 0);
        solver.solve(b, x);
    } catch (const enough &seen) {
        last = seen.iteration;
        std::printf("enough after %d\n", static_cast<int>(last));
    }
    return error <= 1e-10 && last == 7 ? 0 : 1;
}
