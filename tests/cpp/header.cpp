// The C++ header: types, moves, lifetimes, exceptions that pass through C, errors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spry/spry.hpp>

#define CHECK(holds)                                                         \
    do {                                                                     \
        if (!(holds)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds); \
            std::exit(1);                                                    \
        }                                                                    \
    } while (0)

static_assert(!std::is_copy_constructible_v<spry::matrix>);
static_assert(!std::is_copy_constructible_v<spry::vector>);
static_assert(!std::is_copy_constructible_v<spry::linear_operator>);
static_assert(!std::is_copy_constructible_v<spry::solver>);
static_assert(!std::is_copy_constructible_v<spry::result>);
static_assert(std::is_nothrow_move_constructible_v<spry::solver>);
static_assert(std::is_nothrow_move_assignable_v<spry::matrix>);

// 3 on the diagonal, -1 next to it: eigenvalues are between 1 and 5
template <class T, class O, class I> void solves(int base, double tol)
{
    const int n = 50;
    std::vector<O> offsets{static_cast<O>(base)};
    std::vector<I> columns;
    std::vector<T> values, b, x(n);
    for (int i = 0; i < n; i++) {
        for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); j++) {
            columns.push_back(static_cast<I>(j + base));
            values.push_back(i == j ? T(3) : T(-1));
        }
        offsets.push_back(static_cast<O>(columns.size()) + static_cast<O>(base));
        b.push_back(i == 0 || i == n - 1 ? T(2) : T(1)); // A times ones
    }
    spry::context ctx("threads=1");
    auto A = spry::matrix::from_csr(ctx, n, offsets, columns, values);
    CHECK(A.rows() == n && A.cols() == n && A.nnz() == 3 * n - 2);
    offsets.clear(); // copied
    auto result = spry::solve(A, b, x, "tol=" + std::to_string(tol));
    CHECK(result && result->converged && !std::strcmp(result.reason(), "converged"));
    for (const T &v : x) // |x - 1| <= |r| <= tol |b|, |b| < 1.1 sqrt(n)
        CHECK(std::abs(v - T(1)) <= tol * 1.1 * std::sqrt(n));
    for (T &v : values)
        v = v * T(2);
    A.set_values(values);
    spry::solve(A, b, x, "tol=" + std::to_string(tol));
    CHECK(std::abs(x[n / 2] - T(0.5)) <= tol * 1.1 * std::sqrt(n));
}

template <class F> spry_status status_of(F &&call)
{
    try {
        call();
    } catch (const spry::error &e) {
        CHECK(*e.what());
        return e.status();
    }
    return SPRY_STATUS_OK;
}

static void errors()
{
    spry::context ctx;
    const std::vector<int> offsets{0, 1, 2}, wrong{0, 5}, falling{1, 0, 0}, two{2, 3, 4};
    const std::vector<int> columns{0, 1}, outside{0, 2};
    const std::vector<double> values{1, 1}, b{1, 1};
    std::array<double, 2> x{};
    const auto make = [&](const std::vector<int> &o, const std::vector<int> &c) {
        return status_of([&] { spry::matrix::from_csr(ctx, 2, o, c, values); });
    };
    CHECK(make(offsets, columns) == SPRY_STATUS_OK);
    CHECK(make(offsets, outside) == SPRY_STATUS_BAD_INPUT);
    CHECK(make(wrong, columns) == SPRY_STATUS_BAD_INPUT);
    CHECK(make(falling, columns) == SPRY_STATUS_BAD_INPUT);
    CHECK(make(two, columns) == SPRY_STATUS_BAD_INPUT);
    CHECK(make({}, columns) == SPRY_STATUS_BAD_INPUT);
    CHECK(status_of([] { spry::context("nosuch=1"); }) == SPRY_STATUS_BAD_USAGE);
    CHECK(status_of([&] { spry::matrix::read(ctx, "/nosuch.mtx"); }) == SPRY_STATUS_IO);
    auto A = spry::matrix::from_csr(ctx, 2, offsets, columns, values);
    CHECK(status_of([&] { spry::solver(A, "nosuch=1"); }) == SPRY_STATUS_BAD_USAGE);
    CHECK(status_of([&] { A.set_values(std::vector<double>{1}); }) == SPRY_STATUS_BAD_INPUT);
    CHECK(status_of([&] { A.set_values(std::vector<float>{1, 1}); }) == SPRY_STATUS_BAD_INPUT);
    CHECK(status_of([&] { spry::solve(A, std::vector<double>(3), x); }) != SPRY_STATUS_OK);
    CHECK(status_of([&] { spry::solve(A, std::vector<float>(2), x); }) != SPRY_STATUS_OK);
    spry::vector v(ctx, SPRY_TYPE_D, 2);
    CHECK(status_of([&] { v.data<float>(); }) == SPRY_STATUS_BAD_USAGE);
    CHECK(status_of([&] { spry::vector(ctx, "nosuch", SPRY_TYPE_D, 2); }) != SPRY_STATUS_OK);
    spry::solver first(A), second = std::move(first);
    CHECK(status_of([&] { first.solve(std::vector<double>(2), x); }) == SPRY_STATUS_BAD_USAGE);
    CHECK(status_of([&] { first.set("tol", 1e-3); }) == SPRY_STATUS_BAD_USAGE);
    CHECK(status_of([&] { first.set_monitor([](auto, auto) {}); }) == SPRY_STATUS_BAD_USAGE);
    spry::matrix gone = std::move(A);
    CHECK(!A.get() && gone.get()); // NOLINT(bugprone-use-after-move)
    CHECK(status_of([&] { spry::solve(A, b, x); }) != SPRY_STATUS_OK);
}

// What a solver needs lives as long as it does; so do contexts and results.
static spry::solver kept()
{
    spry::context ctx("threads=1");
    auto A = spry::matrix::generate(ctx, "poisson2d", "size=20");
    A.set_fact(SPRY_FACT_DEFINITE, true);
    auto M = spry::linear_operator::precon(A, "ic");
    spry::solver solver(A, "method=cg");
    solver.set_precon(M);
    solver.set("tol", 1e-9);
    solver.set("max-iter", 300);
    solver.set("keep", "last");
    return solver;
}

static void lifetimes()
{
    spry::solver solver = kept();
    CHECK(solver.get("tol") == "1e-09" || solver.get("tol") == "1e-9");
    CHECK(solver.get("max-iter") == "300" && solver.get("method") == "cg");
    const std::vector<double> b(400, 1.0);
    std::vector<double> x(400);
    spry::result result = solver.solve(b, x);
    solver = kept();
    spry::result other = solver.solve(b, spry::span(x));
    CHECK(result && other && result.history().size() > 1 && result.warnings().empty());
    std::swap(result, other);
    result = std::move(other);
    CHECK(result->rows == 400);
}

struct thrown {
    std::int64_t at;
};

static void exceptions()
{
    spry::context ctx;
    std::vector<double> b(100, 1.0), x(100);
    int products = 0;
    bool fail = false;
    auto A = spry::linear_operator::function<double>(
        ctx, 100, 100, [&](spry::span<const double> in, spry::span<double> out, spry_transpose op) {
            CHECK(op == SPRY_TRANSPOSE_NO || op == SPRY_TRANSPOSE_YES || !fail);
            if (products++ == 5 && fail)
                throw thrown{products};
            for (std::size_t i = 0; i < in.size(); i++)
                out[i] = static_cast<double>(i + 1) * in[i];
        });
    spry::solver solver(A, "method=cg tol=1e-8");
    std::int64_t heard = 0;
    solver.set_monitor([&](std::int64_t iteration, double) { heard = iteration; });
    CHECK(solver.solve(b, x) && heard > 5);

    // in the operator
    fail = true;
    products = 0;
    std::int64_t at = 0;
    try {
        x.assign(100, 0);
        solver.solve(b, x);
    } catch (const thrown &e) {
        at = e.at;
    }
    CHECK(at == 6);
    // in the monitor, from a solve within a solve
    fail = false;
    at = 0;
    solver.set_monitor([&](std::int64_t, double, spry::vector_view now) {
        CHECK(now.data<double>().size() == 100);
        auto inner = spry::matrix::generate(ctx, "poisson2d", "size=10");
        spry::solver second(inner, "method=cg precon=none");
        second.set_monitor([](std::int64_t iteration, double) {
            if (iteration == 3)
                throw thrown{iteration};
        });
        std::vector<double> y(100);
        second.solve(b, y);
        return true;
    });
    try {
        x.assign(100, 0);
        solver.solve(b, x);
    } catch (const thrown &e) {
        at = e.at;
    }
    CHECK(at == 3);
    // nothing of it is left: a monitor that stops, sets another, and the next solve
    solver.set_monitor([&](std::int64_t iteration, double) {
        solver.set_monitor([](std::int64_t, double) {});
        return iteration < 4;
    });
    x.assign(100, 0);
    auto stopped = solver.solve(b, x);
    CHECK(!stopped && stopped->iterations <= 4 && stopped->reason == SPRY_REASON_STOPPED);
    CHECK(solver.solve(b, x));
    CHECK(status_of([&] { solver.accept(); }) == SPRY_STATUS_BAD_USAGE);
    solver.set_monitor([&](std::int64_t iteration, double) {
        if (iteration == 3)
            solver.accept();
    });
    x.assign(100, 0);
    auto taken = solver.solve(b, x);
    CHECK(taken->reason == SPRY_REASON_ACCEPTED && taken->iterations == 3);
    // and one that ends the solver's life
    auto *mine = new spry::solver(A, "method=cg tol=1e-8");
    mine->set_monitor([&](std::int64_t, double) {
        delete std::exchange(mine, nullptr);
        return false;
    });
    x.assign(100, 0);
    CHECK(mine->solve(b, x)->iterations == 1);
}

static void vectors()
{
    spry::context ctx;
    std::array<std::complex<double>, 4> numbers{};
    spry::vector v(ctx, spry::span(numbers)), w(ctx, SPRY_TYPE_Z, 4);
    v.fill({3, 4});
    CHECK(numbers[3] == std::complex<double>(3, 4) && std::abs(v.norm() - 10) < 1e-14);
    w.copy_from(v);
    CHECK(w.data<std::complex<double>>()[1] == numbers[1]);
    auto A = spry::matrix::generate(ctx, "poisson2d", "size=10");
    spry::linear_operator op(A, "sell:C=4");
    double plain[100] = {1};
    spry::vector x(ctx, spry::span<double>(plain)), y(ctx, SPRY_TYPE_D, 100);
    op.apply(x, y);
    CHECK(y.data<double>()[0] > 0 && y.data<double>()[1] < 0);
    spry::solver solver(A);
    CHECK(solver.solve(y, x) && std::abs(plain[0] - 1) < 1e-5 && ctx.threads() > 0);
}

// What Eigen's types have of what the header reads.
template <bool rows_first> struct eigen_sparse {
    static constexpr int IsRowMajor = rows_first;
    std::vector<int> offsets{0, 1, 3}, index{0, 0, 1};
    std::vector<double> numbers{2, -1, 2};
    bool compressed = true;
    bool isCompressed() const
    {
        return compressed;
    }
    const int *outerIndexPtr() const
    {
        return offsets.data();
    }
    const int *innerIndexPtr() const
    {
        return index.data();
    }
    const double *valuePtr() const
    {
        return numbers.data();
    }
    long outerSize() const
    {
        return 2;
    }
    long rows() const
    {
        return 2;
    }
    long cols() const
    {
        return 2;
    }
    long nonZeros() const
    {
        return 3;
    }
};
template <bool rows_first> struct eigen_dense {
    static constexpr int IsRowMajor = rows_first;
    std::vector<double> numbers;
    double *data()
    {
        return numbers.data();
    }
    const double *data() const
    {
        return numbers.data();
    }
    long rows() const
    {
        return 2;
    }
    long cols() const
    {
        return 3;
    }
    long outerStride() const
    {
        return rows_first ? 3 : 2;
    }
    double &at(int i, int j)
    {
        return numbers[static_cast<std::size_t>(rows_first ? 3 * i + j : 2 * j + i)];
    }
};

template <bool rows_first> static void of_eigen()
{
    spry::context ctx;
    eigen_sparse<rows_first> given; // [2 0; -1 2] by rows, [2 -1; 0 2] by columns
    auto A = spry::matrix::from_eigen(ctx, given);
    eigen_dense<rows_first> b{std::vector<double>(6)}, x{std::vector<double>(6)};
    for (int j = 0; j < 3; j++) {
        b.at(0, j) = j + 1;
        b.at(1, j) = 2;
    }
    spry::solver solver(A, "method=direct tol=1e-14");
    CHECK(solver.solve_many(b, x).size() == 3);
    for (int j = 0; j < 3; j++) {
        const double first = rows_first ? (j + 1) / 2.0 : (j + 1 + 1) / 2.0;
        CHECK(std::abs(x.at(0, j) - first) <= 1e-13);
        CHECK(std::abs(x.at(1, j) - (rows_first ? (2 + first) / 2 : 1)) <= 1e-13);
    }
    given.compressed = false;
    CHECK(status_of([&] { spry::matrix::from_eigen(ctx, given); }) == SPRY_STATUS_BAD_INPUT);
}

static void kinds()
{
    spry::context ctx;
    // [2 -1; -1 2] as its lower triangle, in three ways
    const std::vector<int> by_rows{0, 1, 3}, by_cols{0, 2, 3}, columns{0, 0, 1}, rows{0, 1, 1};
    const std::vector<double> v{2, -1, 2}, b{1, 1, 3, 0};
    const std::vector<int> row{2, 1, 2}, column{2, 1, 1};
    const spry_symmetry kind = SPRY_SYMMETRY_SYMMETRIC;
    spry::matrix all[] = {spry::matrix::from_csr(ctx, 2, by_rows, columns, v, SPRY_OWN_COPY, kind),
                          spry::matrix::from_csc(ctx, 2, by_cols, rows, v, SPRY_OWN_BORROW, kind),
                          spry::matrix::from_coo(ctx, 2, 2, row, column,
                                                 std::vector<double>{2, 2, -1}, 1, SPRY_OWN_COPY,
                                                 kind)};
    for (const spry::matrix &A : all) {
        std::vector<double> x(4);
        spry::solver solver(A, "method=direct tol=1e-14");
        solver.set_monitor([](std::int64_t, double) { return false; });
        solver.set_monitor(nullptr);
        const auto results = solver.solve_many(spry::columns(b, 2), spry::columns(x, 2));
        CHECK(results.size() == 2 && results[0] && results[1]);
        const double expected[] = {1, 1, 2, 1};
        for (std::size_t i = 0; i < 4; i++)
            CHECK(std::abs(x[i] - expected[i]) <= 1e-13);
        std::vector<float> single(4);
        CHECK(status_of([&] {
                  solver.solve_many(spry::columns(single, 2), spry::columns(single, 2));
              }) == SPRY_STATUS_BAD_USAGE);
    }
    CHECK(status_of([&] { spry::matrix::from_coo(ctx, 2, 2, row, column, b); }) ==
          SPRY_STATUS_BAD_INPUT);
}

int main()
{
    of_eigen<true>();
    of_eigen<false>();
    kinds();
    for (int base = 0; base < 2; base++) {
        solves<float, std::int32_t, std::int32_t>(base, 1e-4);
        solves<double, std::int64_t, std::int32_t>(base, 1e-6);
        solves<std::complex<float>, std::int64_t, std::int64_t>(base, 1e-4);
        solves<std::complex<double>, std::int32_t, std::int32_t>(base, 1e-6);
    }
    errors();
    lifetimes();
    exceptions();
    vectors();
    std::puts("c++: all as it should be");
}
