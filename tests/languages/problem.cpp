// The two systems of README.md in C++: problem FOLDER NAME
#include <complex>
#include <cstdio>
#include <fstream>
#include <spry/spry.hpp>
#include <string>
#include <vector>

template <class T>
static void solve(const std::string &path, const char *kind, T diagonal, T before, T after,
                  const char *options, std::ofstream &report)
{
    const int side = 24, n = side * side;
    std::vector<int> offsets{0}, columns;
    std::vector<T> values, b, x(n);
    const auto add = [&](int column, T value) {
        columns.push_back(column);
        values.push_back(value);
    };
    for (int row = 0; row < n; row++) {
        const int i = row / side, j = row % side;
        if (i > 0)
            add(row - side, T(-1));
        if (j > 0)
            add(row - 1, before);
        add(row, diagonal);
        if (j < side - 1)
            add(row + 1, after);
        if (i < side - 1)
            add(row + side, T(-1));
        offsets.push_back(static_cast<int>(columns.size()));
        b.push_back(T(1 + row % 7 / 8.0));
    }
    spry::context ctx;
    auto A = spry::matrix::from_csr(ctx, n, offsets, columns, values);
    auto result = spry::solve(A, b, x, options);
    report << kind << ' ' << result.reason() << ' ' << result->iterations << '\n';
    std::ofstream file(path + "-" + kind + ".x", std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.write(reinterpret_cast<const char *>(x.data()),
               static_cast<std::streamsize>(x.size() * sizeof(T)));
}

int main(int argc, char **argv)
try {
    if (argc != 3)
        return 2;
    const std::string path = std::string(argv[1]) + "/" + argv[2];
    std::ofstream report(path + ".txt");
    solve<double>(path, "real", 4, -1.375, -0.625,
                  "method=bicgstab precon=ilu format=csr tol=1e-10", report);
    solve<std::complex<double>>(path, "complex", {3.5, 0.625}, -1, -1,
                                "method=gmres:restart=20 precon=jacobi format=csr tol=1e-10",
                                report);
    return report ? 0 : 1;
} catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
