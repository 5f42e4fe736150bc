// spry for C++17: objects that free themselves, exceptions, spans, lambdas; see docs/cpp.md.
// Header-only, over the C interface: get() gives the C object, and every function of spry.h takes
// it.
#ifndef SPRY_HPP
#define SPRY_HPP

#include <complex>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <spry/spry.h>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spry {

/// A failed call: what() is the library's message.
class error : public std::runtime_error {
public:
    error(spry_status status, const std::string &text)
        : std::runtime_error(text), status_(status) {}
    spry_status status() const noexcept { return status_; }

private:
    spry_status status_;
};

/// Contiguous numbers that it does not own; the part of std::span that this header needs.
template <class T> class span {
public:
    span() = default;
    span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N> span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /// From anything with data() and size(): std::vector, std::array, std::span.
    template <class C, class = std::enable_if_t<
                           std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    span(C &&other) noexcept : data_(other.data()), size_(other.size()) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    T &operator[](std::size_t i) const { return data_[i]; }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + size_; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
template <class C> span(C &&) -> span<std::remove_pointer_t<decltype(std::declval<C &>().data())>>;

/// Several columns of numbers that it does not own.
template <class T> struct dense {
    T *data;
    std::int64_t rows, cols, ld; ///< ld: from a column (by_rows: row) to the next
    bool by_rows;
};
/// Columns one after another, as in std::vector: columns(b, 3).
template <class C> auto columns(C &&numbers, std::int64_t cols) {
    const span all(numbers);
    const auto rows = static_cast<std::int64_t>(all.size()) / (cols > 0 ? cols : 1);
    return dense<std::remove_reference_t<decltype(all[0])>>{all.data(), rows, cols, rows, false};
}

/// type_of<double>::value is SPRY_TYPE_D, and so on for float and the complex types.
template <class T> struct type_of {
    template <class U> static constexpr bool is = std::is_same_v<T, U>;
    static_assert(is<float> || is<double> || is<std::complex<float>> || is<std::complex<double>>);
    static constexpr spry_type value = is<float>                 ? SPRY_TYPE_S
                                       : is<double>              ? SPRY_TYPE_D
                                       : is<std::complex<float>> ? SPRY_TYPE_C
                                                                 : SPRY_TYPE_Z;
};

namespace detail {
using home = std::shared_ptr<spry_context>;

/// The exception of a function of yours, kept until the C call that called it has returned. (The
/// thread that made the call calls your functions.)
inline std::exception_ptr &thrown() noexcept {
    static thread_local std::exception_ptr it;
    return it;
}

inline void check(const home &ctx, spry_status status) {
    if (std::exception_ptr it = std::exchange(thrown(), nullptr))
        std::rethrow_exception(it);
    if (status == SPRY_STATUS_OK)
        return;
    const std::string text = ctx ? spry_message(ctx.get()) : "";
    throw error(status, text.empty() ? spry_status_text(status) : text);
}

/// Calls a function of yours from within C: keeps its exception and then returns `failed`.
template <class R, class F> R guard(R failed, F &&call) noexcept {
    try {
        return call();
    } catch (...) {
        if (!thrown())
            thrown() = std::current_exception();
        return failed;
    }
}

/// A dense<T>, or what has data(), rows(), cols() and outerStride(), as Eigen's matrices.
template <class T> dense<T> as_dense(const dense<T> &it) { return it; }
template <class E, class = decltype(std::declval<E &>().outerStride())> auto as_dense(E &&it) {
    using T = std::remove_pointer_t<decltype(it.data())>;
    return dense<T>{it.data(), it.rows(), it.cols(), it.outerStride(),
                    static_cast<bool>(std::decay_t<E>::IsRowMajor)};
}
template <class T> spry_dense to_c(const dense<T> &it) {
    spry_dense c = SPRY_DENSE_INIT;
    c.data = const_cast<std::remove_const_t<T> *>(it.data);
    c.rows = it.rows;
    c.cols = it.cols;
    c.ld = it.ld;
    c.by_rows = it.by_rows;
    return c;
}

template <class T> spry_vector *borrow(const home &ctx, span<T> numbers) {
    using plain = std::remove_const_t<T>;
    spry_vector *v = nullptr;
    check(ctx, spry_vector_new(ctx.get(), type_of<plain>::value,
                               static_cast<std::int64_t>(numbers.size()),
                               const_cast<plain *>(numbers.data()), SPRY_OWN_BORROW, &v));
    return v;
}

/// The base of all objects: they can be moved, and keep their context and the objects they were
/// made from alive.
template <class T> class object {
public:
    object(object &&) noexcept = default;
    object &operator=(object &&) noexcept = default;
    /// The C object; NULL after a move.
    T *get() const noexcept { return it_.get(); }
    const home &context_handle() const noexcept { return ctx_; }
    const std::shared_ptr<T> &share() const noexcept { return it_; }

protected:
    object(home ctx, std::shared_ptr<T> it) : ctx_(std::move(ctx)), it_(std::move(it)) {}
    ~object() = default;
    home ctx_;
    std::shared_ptr<T> it_;
};
} // namespace detail

/// Memory, messages and threads of a group of objects, which keep it alive.
class context {
public:
    explicit context(const std::string &options = "") {
        spry_context *raw = nullptr;
        const spry_status status = spry_context_new(options.c_str(), &raw);
        ctx_ = detail::home(raw, spry_context_free);
        detail::check(ctx_, status);
    }
    spry_context *get() const noexcept { return ctx_.get(); }
    const detail::home &context_handle() const noexcept { return ctx_; }
    int threads() const noexcept { return spry_context_threads(get()); }
    /// Asks the call that runs to stop; from any thread or signal handler.
    void interrupt() const noexcept { spry_context_interrupt(get()); }

private:
    detail::home ctx_;
};

/// The library's vector, as a monitor sees it.
class vector_view {
public:
    explicit vector_view(const spry_vector *v) noexcept : v_(v) {}
    const spry_vector *get() const noexcept { return v_; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(spry_vector_size(v_)); }
    /// The numbers of a vector on the host.
    template <class T> span<const T> data() const {
        if (spry_vector_type(v_) != type_of<T>::value || spry_vector_device(v_))
            throw error(SPRY_STATUS_BAD_USAGE, "the vector has no such numbers on the host");
        return {static_cast<const T *>(spry_vector_data_const(v_)), size()};
    }

private:
    const spry_vector *v_;
};

/// Numbers, owned or borrowed, on the host or on a device.
class vector : public detail::object<spry_vector> {
public:
    /// n zeros.
    vector(const context &ctx, spry_type type, std::size_t n)
        : vector(ctx.context_handle(), nullptr) {
        spry_vector *v = nullptr;
        detail::check(ctx_, spry_vector_new(ctx_.get(), type, static_cast<std::int64_t>(n), nullptr,
                                            SPRY_OWN_COPY, &v));
        it_.reset(v, spry_vector_free);
    }
    /// n zeros on a device: "cuda", "opencl:0".
    vector(const context &ctx, const std::string &device, spry_type type, std::size_t n)
        : vector(ctx.context_handle(), nullptr) {
        spry_device *where = nullptr;
        spry_vector *v = nullptr;
        detail::check(ctx_, spry_device_open(ctx_.get(), device.c_str(), &where));
        detail::check(ctx_, spry_vector_on(where, type, static_cast<std::int64_t>(n), nullptr, &v));
        it_.reset(v, spry_vector_free);
    }
    /// Over numbers of yours, which must outlive it.
    template <class T>
    vector(const context &ctx, span<T> numbers) : vector(ctx.context_handle(), nullptr) {
        static_assert(!std::is_const_v<T>, "a vector may be written to: its numbers are not const");
        it_.reset(detail::borrow(ctx_, numbers), spry_vector_free);
    }
    std::size_t size() const noexcept { return static_cast<std::size_t>(spry_vector_size(get())); }
    template <class T> span<T> data() {
        return {const_cast<T *>(vector_view(get()).data<T>().data()), size()};
    }
    /// Copies between the host and any device.
    void copy_from(const vector &other) {
        detail::check(ctx_, spry_vector_copy(other.get(), get()));
    }
    void fill(std::complex<double> value) {
        detail::check(ctx_, spry_vector_fill(get(), {value.real(), value.imag()}));
    }
    double norm() const {
        double value = 0;
        detail::check(ctx_, spry_vector_norm(get(), &value));
        return value;
    }

private:
    vector(detail::home ctx, std::nullptr_t) : object(std::move(ctx), nullptr) {}
};

/// A sparse matrix.
class matrix : public detail::object<spry_matrix> {
public:
    /// From CSR arrays with offsets and columns of 32 or 64 bits, which count from
    /// the first offset (0 or 1). With SPRY_OWN_BORROW the arrays are used in place if possible,
    /// and must outlive the matrix. Symmetric kinds hold the lower triangle.
    template <class O, class I, class T>
    static matrix from_csr(const context &ctx, std::int64_t cols, const O &offsets,
                           const I &columns, const T &values, spry_own own = SPRY_OWN_COPY,
                           spry_symmetry symmetry = SPRY_SYMMETRY_GENERAL) {
        spry_arrays arrays = compressed(offsets, columns, values);
        arrays.format = SPRY_FORMAT_CSR;
        arrays.rows = static_cast<std::int64_t>(span(offsets).size()) - 1;
        arrays.cols = cols;
        arrays.col_index = address(columns);
        return of_arrays(ctx, arrays, own, symmetry);
    }
    /// The same by columns: CSC arrays, with the row of each entry.
    template <class O, class I, class T>
    static matrix from_csc(const context &ctx, std::int64_t rows, const O &offsets,
                           const I &row_index, const T &values, spry_own own = SPRY_OWN_COPY,
                           spry_symmetry symmetry = SPRY_SYMMETRY_GENERAL) {
        spry_arrays arrays = compressed(offsets, row_index, values);
        arrays.format = SPRY_FORMAT_CSC;
        arrays.rows = rows;
        arrays.cols = static_cast<std::int64_t>(span(offsets).size()) - 1;
        arrays.row_index = address(row_index);
        return of_arrays(ctx, arrays, own, symmetry);
    }
    /// Entry by entry, in any order, with rows and columns that count from `base`.
    template <class I, class T>
    static matrix from_coo(const context &ctx, std::int64_t rows, std::int64_t cols, const I &row,
                           const I &column, const T &values, int base = 0,
                           spry_own own = SPRY_OWN_COPY,
                           spry_symmetry symmetry = SPRY_SYMMETRY_GENERAL) {
        if (span(row).size() != span(values).size() || span(column).size() != span(values).size())
            throw error(SPRY_STATUS_BAD_INPUT, "the arrays of entries differ in length");
        spry_arrays arrays = entries(row, values, span(values).size());
        arrays.format = SPRY_FORMAT_COO;
        arrays.rows = rows;
        arrays.cols = cols;
        arrays.base = base;
        arrays.row_index = address(row);
        arrays.col_index = address(column);
        return of_arrays(ctx, arrays, own, symmetry);
    }
    /// An Eigen::SparseMatrix, compressed, by columns or by rows as its type says.
    template <class E>
    static matrix from_eigen(const context &ctx, const E &A, spry_own own = SPRY_OWN_COPY,
                             spry_symmetry symmetry = SPRY_SYMMETRY_GENERAL) {
        if (!A.isCompressed())
            throw error(SPRY_STATUS_BAD_INPUT, "makeCompressed() comes before from_eigen()");
        const span offsets(A.outerIndexPtr(), static_cast<std::size_t>(A.outerSize()) + 1);
        const auto nnz = static_cast<std::size_t>(A.nonZeros());
        const span index(A.innerIndexPtr(), nnz);
        const span values(A.valuePtr(), nnz);
        if constexpr (static_cast<bool>(E::IsRowMajor))
            return from_csr(ctx, A.cols(), offsets, index, values, own, symmetry);
        else
            return from_csc(ctx, A.rows(), offsets, index, values, own, symmetry);
    }
    /// From a file, by the ending of its name.
    static matrix read(const context &ctx, const std::string &path,
                       const std::string &options = "") {
        return make(ctx, [&](spry_matrix **A) {
            return spry_matrix_read(ctx.get(), path.c_str(), options.c_str(), A);
        });
    }
    /// A generated matrix: generate(ctx, "poisson3d", "size=100").
    static matrix generate(const context &ctx, const std::string &kind,
                           const std::string &options = "") {
        return make(ctx, [&](spry_matrix **A) {
            return spry_generate(ctx.get(), kind.c_str(), options.c_str(), A);
        });
    }
    std::int64_t rows() const noexcept { return spry_matrix_rows(get()); }
    std::int64_t cols() const noexcept { return spry_matrix_cols(get()); }
    std::int64_t nnz() const noexcept { return spry_matrix_nnz(get()); }
    /// Copies new values for the entries; solvers use them at their next solve.
    template <class C> void set_values(const C &values) {
        const span v(values);
        using number = std::remove_const_t<std::remove_reference_t<decltype(v[0])>>;
        if (type_of<number>::value != spry_matrix_type(get()) ||
            v.size() < static_cast<std::size_t>(nnz()))
            throw error(SPRY_STATUS_BAD_INPUT,
                        "the values are too few, or not of the matrix's type");
        detail::check(ctx_, spry_matrix_set_values(get(), v.data(), SPRY_OWN_COPY));
    }
    /// States what you know: set_fact(SPRY_FACT_DEFINITE, true).
    void set_fact(spry_fact fact, bool holds) {
        detail::check(ctx_,
                      spry_matrix_set_fact(get(), fact, holds ? SPRY_TRUTH_YES : SPRY_TRUTH_NO));
    }

private:
    using object::object;
    template <class C> static void *address(const C &numbers) {
        return const_cast<void *>(static_cast<const void *>(span(numbers).data()));
    }
    template <class I, class T>
    static spry_arrays entries(const I &index, const T &values, std::size_t nnz) {
        using number = std::remove_const_t<std::remove_reference_t<decltype(span(values)[0])>>;
        constexpr std::size_t width = sizeof(span(index)[0]);
        static_assert(width == 4 || width == 8);
        if (nnz > span(index).size() || nnz > span(values).size())
            throw error(SPRY_STATUS_BAD_INPUT,
                        "the last offset says that there are more entries than the arrays have");
        spry_arrays arrays = SPRY_ARRAYS_INIT;
        arrays.type = type_of<number>::value;
        arrays.nnz = static_cast<std::int64_t>(nnz);
        arrays.index_bits = 8 * static_cast<int>(width);
        arrays.values = address(values);
        return arrays;
    }
    template <class O, class I, class T>
    static spry_arrays compressed(const O &offsets, const I &index, const T &values) {
        const span o(offsets);
        static_assert(sizeof(o[0]) == 4 || sizeof(o[0]) == 8);
        if (o.size() == 0 || o[0] < 0 || o[0] > 1 || o[o.size() - 1] < o[0])
            throw error(SPRY_STATUS_BAD_INPUT, "offsets have to rise from 0 or 1");
        spry_arrays arrays =
            entries(index, values, static_cast<std::size_t>(o[o.size() - 1] - o[0]));
        arrays.base = static_cast<int>(o[0]);
        arrays.offset_bits = 8 * static_cast<int>(sizeof(o[0]));
        arrays.offsets = address(offsets);
        return arrays;
    }
    static matrix of_arrays(const context &ctx, spry_arrays &arrays, spry_own own,
                            spry_symmetry symmetry) {
        arrays.symmetry = symmetry;
        return make(ctx,
                    [&](spry_matrix **A) { return spry_matrix_new(ctx.get(), &arrays, own, A); });
    }
    template <class F> static matrix make(const context &ctx, F &&call) {
        spry_matrix *A = nullptr;
        detail::check(ctx.context_handle(), call(&A));
        return matrix(ctx.context_handle(), std::shared_ptr<spry_matrix>(A, spry_matrix_free));
    }
};

/// What computes y = A x: a matrix in a storage format, a preconditioner, a function.
class linear_operator : public detail::object<spry_operator> {
public:
    /// A matrix, stored as format says: "csr", "sell:C=8", "auto".
    explicit linear_operator(const matrix &A, const std::string &format = "csr")
        : linear_operator(A.context_handle(), nullptr) {
        spry_operator *op = nullptr;
        detail::check(ctx_, spry_operator_from_matrix(A.get(), NULL, format.c_str(), &op));
        keep(op, A.share());
    }
    /// A preconditioner: precon(A, "ilu:level=1").
    static linear_operator precon(const matrix &A, const std::string &spec) {
        linear_operator M(A.context_handle(), nullptr);
        spry_operator *op = nullptr;
        detail::check(M.ctx_, spry_precon_new(A.get(), nullptr, spec.c_str(), &op));
        M.keep(op, A.share());
        return M;
    }
    /// A function of numbers of type T: f(span<const T> x, span<T> y), or with a spry_transpose
    /// behind them if it computes more than y = A x. Its exception ends the solve, which throws
    /// it.
    template <class T, class F>
    static linear_operator function(const context &ctx, std::int64_t rows, std::int64_t cols, F f) {
        struct state {
            F f;
            std::size_t rows, cols;
        };
        constexpr bool transposes = std::is_invocable_v<F, span<const T>, span<T>, spry_transpose>;
        auto mine = std::make_shared<state>(
            state{std::move(f), static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)});
        const spry_apply_fn call = [](void *data, spry_transpose op, const void *x, void *y) {
            return detail::guard(SPRY_STATUS_BAD_USAGE, [&] {
                auto &it = *static_cast<state *>(data);
                const bool plain = op == SPRY_TRANSPOSE_NO;
                const span<const T> from(static_cast<const T *>(x), plain ? it.cols : it.rows);
                const span<T> to(static_cast<T *>(y), plain ? it.rows : it.cols);
                if constexpr (transposes)
                    it.f(from, to, op);
                else
                    it.f(from, to);
                return SPRY_STATUS_OK;
            });
        };
        linear_operator A(ctx.context_handle(), nullptr);
        spry_operator *op = nullptr;
        detail::check(A.ctx_, spry_operator_from_function(ctx.get(), type_of<T>::value, rows, cols,
                                                          transposes, call, mine.get(), &op));
        A.keep(op, std::move(mine));
        return A;
    }
    /// y = op(A) x on vectors.
    void apply(const vector &x, vector &y, spry_transpose op = SPRY_TRANSPOSE_NO) const {
        detail::check(ctx_, spry_operator_multiply(get(), op, {1, 0}, x.get(), {0, 0}, y.get()));
    }

private:
    linear_operator(detail::home ctx, std::nullptr_t) : object(std::move(ctx), nullptr) {}
    void keep(spry_operator *op, std::shared_ptr<void> needed) {
        it_ = std::shared_ptr<spry_operator>(
            op, [needed = std::move(needed)](spry_operator *gone) { spry_operator_free(gone); });
    }
};

/// The outcome of a solve: result->converged, result->iterations and so on, the members of C's
/// spry_result.
class result {
public:
    explicit result(detail::home ctx) noexcept : ctx_(std::move(ctx)) { raw_.size = sizeof raw_; }
    /// Of one that C has filled, which it takes over.
    result(detail::home ctx, spry_result raw) noexcept : ctx_(std::move(ctx)), raw_(raw) {}
    result(result &&other) noexcept
        : ctx_(std::move(other.ctx_)), raw_(std::exchange(other.raw_, spry_result{})) {}
    result &operator=(result &&other) noexcept {
        std::swap(ctx_, other.ctx_);
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~result() {
        if (ctx_)
            spry_result_clear(ctx_.get(), &raw_);
    }
    const spry_result *operator->() const noexcept { return &raw_; }
    spry_result *get() noexcept { return &raw_; }
    explicit operator bool() const noexcept { return raw_.converged; }
    const char *reason() const noexcept { return spry_reason_name(raw_.reason); }
    /// Residuals of iteration 0, 1, ...
    span<const double> history() const noexcept {
        return {raw_.history, static_cast<std::size_t>(raw_.history_size)};
    }
    std::string warnings() const { return raw_.warnings ? raw_.warnings : ""; }

private:
    detail::home ctx_;
    spry_result raw_{};
};

/// A method, a preconditioner and options, with their set-up for a matrix.
class solver {
    using monitor = std::function<bool(std::int64_t, double, vector_view)>;
    struct inner {
        detail::home ctx;
        std::shared_ptr<void> A, M;
        spry_type type{};
        std::shared_ptr<monitor> hear;
        std::unique_ptr<spry_solver, decltype(&spry_solver_free)> raw{nullptr, spry_solver_free};
    };

public:
    explicit solver(const matrix &A, const std::string &options = "") : solver(A, A.share()) {
        check(spry_solver_set_matrix(get(), A.get()));
        it_->type = spry_matrix_type(A.get());
        set(options);
    }
    explicit solver(const linear_operator &A, const std::string &options = "")
        : solver(A, A.share()) {
        check(spry_solver_set_operator(get(), A.get()));
        it_->type = spry_operator_type(A.get());
        set(options);
    }
    solver(solver &&) noexcept = default;
    solver &operator=(solver &&) noexcept = default;
    spry_solver *get() const noexcept { return it_ ? it_->raw.get() : nullptr; }

    /// "tol=1e-8 method=cg precon=ic"
    void set(const std::string &options) { check(spry_solver_set(get(), options.c_str())); }
    /// One option, by a number, a bool or text.
    template <class V> void set(const std::string &name, const V &value) {
        if constexpr (std::is_same_v<V, bool>)
            check(spry_solver_set_text(get(), name.c_str(), value ? "yes" : "no"));
        else if constexpr (std::is_integral_v<V>)
            check(spry_solver_set_text(get(), name.c_str(), std::to_string(value).c_str()));
        else if constexpr (std::is_floating_point_v<V>)
            check(spry_solver_set_real(get(), name.c_str(), static_cast<double>(value)));
        else
            check(spry_solver_set_text(get(), name.c_str(), std::string(value).c_str()));
    }
    /// Any option as text.
    std::string get(const std::string &name) const {
        char text[SPRY_OPTION_TEXT_SIZE];
        check(spry_solver_get_text(get(), name.c_str(), text, sizeof text));
        return text;
    }
    /// A preconditioner of yours: z = M r.
    void set_precon(const linear_operator &M) {
        check(spry_solver_set_precon(get(), M.get()));
        it_->M = M.share();
    }
    /// A function called for each iteration: f(iteration, residual) or f(iteration, residual, x).
    /// Returning false ends the solve, and so does an exception, which the solve throws.
    template <class F> void set_monitor(F f) {
        monitor call = [f = std::move(f)](std::int64_t iteration, double residual,
                                          vector_view x) mutable {
            const auto ask = [&]() -> decltype(auto) {
                if constexpr (std::is_invocable_v<F, std::int64_t, double, vector_view>)
                    return f(iteration, residual, x);
                else
                    return f(iteration, residual);
            };
            if constexpr (std::is_void_v<decltype(ask())>) {
                ask();
                return true;
            } else
                return static_cast<bool>(ask());
        };
        here().hear = std::make_shared<monitor>(std::move(call));
        const spry_monitor_fn hear = [](void *data, std::int64_t iteration, double residual,
                                        const spry_vector *x) {
            return detail::guard(false, [&] {
                return (*static_cast<monitor *>(data))(iteration, residual, vector_view(x));
            });
        };
        spry_solver_set_monitor(get(), hear, it_->hear.get());
    }
    /// No monitor any more.
    void set_monitor(std::nullptr_t) {
        spry_solver_set_monitor(get(), nullptr, nullptr);
        here().hear.reset();
    }
    /// In a monitor: accepts the x of this iteration and ends the solve with it.
    void accept() { check(spry_solver_accept(get())); }

    /// Solves A x = b for vectors.
    result solve(const vector &b, vector &x) {
        return run([&](inner &it, result &r) {
            return spry_solve(it.raw.get(), b.get(), x.get(), r.get());
        });
    }
    /// The same for numbers on the host: std::vector, std::array, spans, arrays.
    template <class B, class X, class = decltype(span(std::declval<X &>()))>
    result solve(const B &b, X &&x) {
        static_assert(!std::is_const_v<std::remove_reference_t<decltype(span(x)[0])>>,
                      "x is written to: it must not be const");
        const detail::home ctx = here().ctx;
        const holder right{detail::borrow(ctx, span(b)), spry_vector_free};
        const holder left{detail::borrow(ctx, span(x)), spry_vector_free};
        return run([&](inner &it, result &r) {
            return spry_solve(it.raw.get(), right.get(), left.get(), r.get());
        });
    }

    /// Several right-hand sides, a result for each: solve_many(columns(b, 3), columns(x, 3)), or
    /// matrices of Eigen's, by columns or by rows.
    template <class B, class X> std::vector<result> solve_many(const B &b, X &&x) {
        const auto from = detail::as_dense(b);
        const auto to = detail::as_dense(x);
        using number = std::remove_pointer_t<decltype(to.data)>;
        static_assert(!std::is_const_v<number>, "x is written to: it must not be const");
        static_assert(
            std::is_same_v<std::remove_const_t<std::remove_pointer_t<decltype(from.data)>>,
                           number>);
        const std::shared_ptr<inner> held = (here(), it_);
        const auto monitor_held = held->hear;
        if (type_of<number>::value != held->type || from.cols != to.cols)
            throw error(SPRY_STATUS_BAD_USAGE,
                        "b and x have as many columns, and numbers of the matrix's type");
        const spry_dense left = detail::to_c(to);
        const spry_dense right = detail::to_c(from);
        std::vector<spry_result> raw(static_cast<std::size_t>(to.cols), SPRY_RESULT_INIT);
        const spry_status status = spry_solve_dense(held->raw.get(), &right, &left, raw.data());
        std::vector<result> results;
        for (spry_result &one : raw)
            results.emplace_back(held->ctx, one);
        detail::check(held->ctx, status);
        return results;
    }

private:
    using holder = std::unique_ptr<spry_vector, decltype(&spry_vector_free)>;
    template <class A> solver(const A &of, std::shared_ptr<void> needed) : it_(new inner) {
        spry_solver *raw = nullptr;
        it_->ctx = of.context_handle();
        it_->A = std::move(needed);
        check(spry_solver_new(it_->ctx.get(), &raw));
        it_->raw.reset(raw);
    }
    /// Its state; none after a move.
    inner &here() const {
        if (!it_)
            throw error(SPRY_STATUS_BAD_USAGE, "the solver was moved from");
        return *it_;
    }
    void check(spry_status status) const { detail::check(here().ctx, status); }
    template <class F> result run(F &&call) {
        here();
        const std::shared_ptr<inner> held = it_; // a monitor may end the life of this,
        const auto monitor_held = held->hear;    // and set another for the next solve
        result r(held->ctx);
        detail::check(held->ctx, call(*held, r));
        return r;
    }
    std::shared_ptr<inner> it_;
};

/// Solves A x = b in one call.
template <class B, class X>
result solve(const matrix &A, const B &b, X &&x, const std::string &options = "") {
    return solver(A, options).solve(b, std::forward<X>(x));
}

} // namespace spry

#endif
