/* Systems with known answers, and what every solve of them must keep to. */
#include "support/problems.h"
#include "support/numeric.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

const char *const problem_names[PROBLEM_KINDS] = {
    "definite",  "ill",  "dominant", "indefinite", "singular",    "convection",
    "symmetric", "tall", "wide",     "deficient",  "inconsistent"};

double problem_tolerance(spry_type type)
{
    return numeric_unit(type) > 1e-10 ? 1e-4 : 1e-10;
}

static number number_of(spry_scalar v)
{
    return v.re + v.im * I;
}

static spry_scalar scalar_of(number v)
{
    return (spry_scalar){creal(v), cimag(v)};
}

static double square(number v)
{
    return creal(v) * creal(v) + cimag(v) * cimag(v);
}

static void *zeros(int64_t n, size_t size)
{
    void *out = calloc((size_t)n + 1, size);
    assert_non_null(out);
    return out;
}

/* A random vector; real if asked. */
static number *chance(int64_t n, bool complex_too, uint64_t seed)
{
    number *v = zeros(n, sizeof *v);
    for (int64_t i = 0; i < n; i++) {
        v[i] = 2 * base_uniform(seed, 2 * (uint64_t)i) - 1;
        if (complex_too)
            v[i] += (2 * base_uniform(seed, 2 * (uint64_t)i + 1) - 1) * I;
    }
    return v;
}

/* Multiplies a dense matrix by the reflection I - 2 v v^H / (v, v), from the left or the right. */
static void reflect(number *a, int64_t rows, int64_t cols, bool left, const number *v)
{
    const int64_t n = left ? rows : cols, others = left ? cols : rows;
    const int64_t step = left ? cols : 1, next = left ? 1 : cols;
    double length = 0;
    for (int64_t i = 0; i < n; i++)
        length += square(v[i]);
    for (int64_t k = 0; k < others; k++) {
        number sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += (left ? conj(v[i]) : v[i]) * a[k * next + i * step];
        sum *= 2 / length;
        for (int64_t i = 0; i < n; i++)
            a[k * next + i * step] -= sum * (left ? v[i] : conj(v[i]));
    }
}

/* The stored matrix, zeros left out. */
static spry_matrix *store(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                          const number *a)
{
    int64_t *offsets = zeros(rows + 1, sizeof *offsets);
    int32_t *columns = zeros(rows * cols, sizeof *columns);
    void *values = zeros(rows * cols, spry_type_size(type));
    for (int64_t i = 0, k = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (a[i * cols + j] != 0) {
                columns[k] = (int32_t)j;
                value_set(type, values, k++, scalar_of(a[i * cols + j]));
            }
        offsets[i + 1] = k;
    }
    return support_from_csr(ctx, type, rows, cols, offsets, columns, values);
}

/* y + A x or y + A^H x */
static void multiply(const spry_matrix *A, bool transposed, const spry_scalar *x, wide *y)
{
    const matrix_arrays a = A->a;
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++) {
            const int64_t j = a.col_index[k], to = transposed ? j : i, from = transposed ? i : j;
            y[to] = numeric_muladd(y[to], value_get(a.type, a.values, k), transposed, x[from]);
        }
}

static long double norm_of(const wide *v, int64_t n)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += v[i].re * v[i].re + v[i].im * v[i].im;
    return sqrtl(sum);
}

/* b = A answer + beyond */
static void set_answer(problem *p, const number *answer, const number *beyond)
{
    const int64_t rows = spry_matrix_rows(p->A), cols = spry_matrix_cols(p->A);
    wide *b = zeros(rows, sizeof *b);
    p->answer = zeros(cols, sizeof *p->answer);
    for (int64_t j = 0; j < cols; j++)
        p->answer[j] = scalar_of(answer[j]);
    for (int64_t i = 0; beyond && i < rows; i++)
        b[i] = (wide){creal(beyond[i]), cimag(beyond[i]), 0};
    assert_ok(p->ctx, spry_vector_ones(p->ctx, p->A, &p->b));
    assert_ok(p->ctx, spry_vector_zeros(p->ctx, p->A, &p->x));
    multiply(p->A, false, p->answer, b);
    for (int64_t i = 0; i < rows; i++)
        value_set(p->type, spry_vector_data(p->b), i,
                  (spry_scalar){(double)b[i].re, (double)b[i].im});
    free(b);
}

static problem begin(spry_context *ctx, spry_type type)
{
    return (problem){.ctx = ctx, .type = type};
}

/* U diag(values) V^H with products of two reflections each; the first min(rows, cols) values. */
static number *product(int64_t rows, int64_t cols, const spry_scalar *values, number *const u[2],
                       number *const v[2])
{
    number *a = zeros(rows * cols, sizeof *a);
    for (int64_t i = 0; i < rows && i < cols; i++)
        a[i * cols + i] = number_of(values[i]);
    for (int k = 0; k < 2; k++) {
        reflect(a, rows, cols, true, u[k]);
        reflect(a, rows, cols, false, v[k]);
    }
    return a;
}

/* Takes the parts in columns first .. last - 1 of V, the product of the reflections, out of x. */
static void take_out(number *x, int64_t n, int64_t first, int64_t last, number *const v[2])
{
    for (int k = 1; k >= 0; k--)
        reflect(x, n, 1, true, v[k]);
    for (int64_t i = first; i < last; i++)
        x[i] = 0;
    for (int k = 0; k < 2; k++)
        reflect(x, n, 1, true, v[k]);
}

static void find_norms(problem *p, const spry_scalar *values, int64_t n)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double size = hypot(values[i].re, values[i].im);
        p->norm = fmax(p->norm, size);
        if (size > 0)
            least = fmin(least, size);
        else
            p->shortest = true;
    }
    p->inverse = 1 / least;
}

void problem_from_spectrum(spry_context *ctx, spry_type type, int64_t n, const spry_scalar *values,
                           bool conjugate, problem *p)
{
    const bool complex_q = spry_type_is_complex(type) && conjugate;
    number *q[2] = {chance(n, complex_q, 11), chance(n, complex_q, 12)};
    number *answer = chance(n, spry_type_is_complex(type), 13);
    number *a = product(n, n, values, q, q);
    for (int64_t i = 0; i < n; i++) /* what rounding has undone */
        for (int64_t j = 0; j < i; j++)
            a[j * n + i] = conjugate ? conj(a[i * n + j]) : a[i * n + j];
    for (int64_t i = 0; conjugate && i < n; i++)
        a[i * n + i] = creal(a[i * n + i]);
    *p = begin(ctx, type);
    p->A = store(ctx, type, n, n, a);
    find_norms(p, values, n);
    for (int64_t i = 0; i < n; i++)
        if (values[i].re == 0 && values[i].im == 0)
            take_out(answer, n, i, i + 1, q);
    set_answer(p, answer, NULL);
    free(a);
    free(answer);
    free(q[0]);
    free(q[1]);
}

/* With singular values; `misfit` adds to b what A cannot make, of that length. */
static void from_singular(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                          const spry_scalar *values, double misfit, problem *p)
{
    const bool is_complex = spry_type_is_complex(type);
    const int64_t rank = rows < cols ? rows : cols;
    number *u[2] = {chance(rows, is_complex, 21), chance(rows, is_complex, 22)};
    number *v[2] = {chance(cols, is_complex, 23), chance(cols, is_complex, 24)};
    number *answer = chance(cols, is_complex, 25), *beyond = chance(rows, is_complex, 26);
    number *a = product(rows, cols, values, u, v);
    *p = begin(ctx, type);
    p->A = store(ctx, type, rows, cols, a);
    find_norms(p, values, rank);
    p->shortest = p->shortest || cols > rows;
    p->inconsistent = misfit > 0;
    for (int64_t i = 0; i < cols; i++)
        if (i >= rank || values[i].re == 0)
            take_out(answer, cols, i, i + 1, v);
    take_out(beyond, rows, 0, rank, u);
    double length = 0;
    for (int64_t i = 0; i < rows; i++)
        length += square(beyond[i]);
    for (int64_t i = 0; i < rows; i++)
        beyond[i] *= length > 0 ? misfit / sqrt(length) : 0;
    set_answer(p, answer, beyond);
    number *const all[] = {u[0], u[1], v[0], v[1], answer, beyond, a};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

/*
 * Five points on a grid of side x side: `diagonal`, -(1 + c) west and south, -(1 - c) east and
 * north; in complex types these times i and -i. The hermitian part is that of c = 0, its least
 * eigenvalue diagonal - 4 cos(pi h), and the inverse at most one over that. With `scaled` the rows
 * are multiplied by 1, 1.25, 1.5, 1.75, 1, ... afterwards, which makes the inverse no larger.
 */
static void from_grid(spry_context *ctx, spry_type type, int64_t side, double diagonal, double c,
                      bool scaled, problem *p)
{
    const int64_t n = side * side;
    const bool turn = spry_type_is_complex(type);
    number *a = zeros(n * n, sizeof *a), *answer = chance(n, turn, 31);
    for (int64_t i = 0; i < n; i++) {
        const int64_t neighbours[4] = {i % side > 0 ? i - 1 : -1, i - side,
                                       i % side < side - 1 ? i + 1 : -1, i + side};
        const double factor = scaled ? 1 + 0.25 * (double)(i % 4) : 1;
        a[i * n + i] = factor * diagonal;
        for (int k = 0; k < 4; k++)
            if (neighbours[k] >= 0 && neighbours[k] < n)
                a[i * n + neighbours[k]] =
                    -factor * (k < 2 ? 1 + c : 1 - c) * (turn ? (k < 2 ? I : -I) : 1);
    }
    *p = begin(ctx, type);
    p->A = store(ctx, type, n, n, a);
    const double cosine = cos(acos(-1) / (double)(side + 1));
    p->inverse = 1 / (diagonal - 4 * cosine);
    p->norm = (scaled ? 1.75 : 1) * (diagonal + 4); /* Gershgorin for |c| < 1 */
    set_answer(p, answer, NULL);
    free(a);
    free(answer);
}

static double spread(double low, double high, int64_t i, int64_t n)
{
    return n > 1 ? low + (high - low) * (double)i / (double)(n - 1) : high;
}

static void from_kind(spry_context *ctx, problem_kind kind, spry_type type, int64_t n, problem *p)
{
    const bool single = numeric_unit(type) > 1e-10;
    spry_scalar *values = zeros(n, sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        double re = spread(1, 100, i, n), im = 0;
        if (kind == PROBLEM_ILL)
            re = pow(single ? 1e-3 : 1e-6, spread(1, 0, i, n));
        if (kind == PROBLEM_INDEFINITE)
            re = (i % 2 ? -1 : 1) * spread(1, 10, i, n);
        if (kind == PROBLEM_SINGULAR || kind == PROBLEM_DEFICIENT)
            re = i < 3 && i + 1 < n ? 0 : spread(1, 20, i, n);
        if (kind >= PROBLEM_TALL && kind != PROBLEM_DEFICIENT)
            re = spread(1, 20, i, n);
        if (kind == PROBLEM_SYMMETRIC && spry_type_is_complex(type))
            im = 0.5 * re * sin(7.0 * (double)i) + 10;
        values[i] = (spry_scalar){re, im};
    }
    const int64_t more = n + n / 2;
    if (kind < PROBLEM_TALL)
        problem_from_spectrum(ctx, type, n, values, kind != PROBLEM_SYMMETRIC, p);
    else
        from_singular(ctx, type, kind == PROBLEM_WIDE ? n : more, kind == PROBLEM_WIDE ? more : n,
                      values, kind == PROBLEM_INCONSISTENT ? 10 : 0, p);
    free(values);
}

void problem_make(spry_context *ctx, problem_kind kind, spry_type type, int64_t n, problem *p)
{
    const int64_t side = (int64_t)ceil(sqrt((double)n));
    if (kind == PROBLEM_DOMINANT)
        from_grid(ctx, type, side, 4.5, 0, false, p);
    else if (kind == PROBLEM_CONVECTION)
        from_grid(ctx, type, side, 4, 0.6, true, p);
    else
        from_kind(ctx, kind, type, n, p);
}

void problem_from_matrix(spry_context *ctx, spry_matrix *A, problem *p)
{
    *p = begin(ctx, spry_matrix_type(A));
    p->A = A;
    number *answer = chance(spry_matrix_cols(A), spry_type_is_complex(p->type), 41);
    set_answer(p, answer, NULL);
    free(answer);
}

void problem_free(problem *p)
{
    spry_vector_free(p->b);
    spry_vector_free(p->x);
    spry_matrix_free(p->A);
    free(p->answer);
    *p = (problem){0};
}

void problem_solve(problem *p, const char *options, spry_result *result)
{
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    const spry_status status = spry_quick_solve(p->ctx, p->A, p->b, p->x, options, result);
    if (status != SPRY_STATUS_OK)
        fail_msg("%s: %s", options, spry_message(p->ctx));
}

/* r = b - A x */
static wide *residual_vector(const problem *p)
{
    const int64_t rows = spry_matrix_rows(p->A), cols = spry_matrix_cols(p->A);
    const spry_scalar minus = {-1, 0};
    wide *r = zeros(rows, sizeof *r);
    spry_scalar *x = zeros(cols, sizeof *x);
    for (int64_t j = 0; j < cols; j++)
        x[j] = value_get(p->type, spry_vector_data_const(p->x), j);
    multiply(p->A, false, x, r);
    for (int64_t i = 0; i < rows; i++) {
        r[i] =
            numeric_muladd(r[i], minus, false, value_get(p->type, spry_vector_data_const(p->b), i));
        r[i].re = -r[i].re;
        r[i].im = -r[i].im;
    }
    free(x);
    return r;
}

/* The norm of r, and what an evaluation in the type adds at most: a sum of k products has k + 1
 * roundings, complex ones two more each; then b, and the norm itself. */
static double measure(const problem *p, const wide *r, double *rounding)
{
    const matrix_arrays a = p->A->a;
    long double sum = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        const long double terms = (long double)(a.offsets[i + 1] - a.offsets[i] + 4);
        sum += terms * r[i].size * terms * r[i].size;
    }
    if (rounding)
        *rounding = 2 * numeric_unit(p->type) * (double)sqrtl(sum);
    return (double)norm_of(r, a.rows);
}

static double size_of_b(const problem *p)
{
    double size;
    assert_ok(p->ctx, spry_vector_norm(p->b, &size));
    return size;
}

double problem_residual(const problem *p, double *rounding)
{
    wide *r = residual_vector(p);
    const double size = size_of_b(p), length = measure(p, r, rounding);
    free(r);
    if (rounding && size > 0)
        *rounding /= size;
    return size > 0 ? length / size : 0;
}

double problem_gradient(const problem *p)
{
    const int64_t rows = spry_matrix_rows(p->A), cols = spry_matrix_cols(p->A);
    wide *r = residual_vector(p), *g = zeros(cols, sizeof *g);
    spry_scalar *rounded = zeros(rows, sizeof *rounded);
    for (int64_t i = 0; i < rows; i++)
        rounded[i] = (spry_scalar){(double)r[i].re, (double)r[i].im};
    multiply(p->A, true, rounded, g);
    const long double size = norm_of(r, rows), length = norm_of(g, cols);
    free(r);
    free(g);
    free(rounded);
    return size > 0 ? (double)(length / size) : 0;
}

double problem_error(const problem *p)
{
    long double sum = 0;
    for (int64_t j = 0; j < spry_matrix_cols(p->A); j++) {
        const spry_scalar v = value_get(p->type, spry_vector_data_const(p->x), j);
        const long double re = (long double)v.re - p->answer[j].re;
        const long double im = (long double)v.im - p->answer[j].im;
        sum += re * re + im * im;
    }
    return (double)sqrtl(sum);
}

static void wrong(const problem *p, const spry_result *r, const char *options, const char *what)
{
    fail_msg("%s, type %s, %lld rows: %s; %s after %lld iterations, true residual %g, detail %s",
             options, spry_type_name(p->type), (long long)spry_matrix_rows(p->A), what,
             spry_reason_name(r->reason), (long long)r->iterations, r->true_residual, r->detail);
}

static void check(const problem *p, const spry_result *r, const char *options, double truth,
                  double rounding)
{
    const int64_t last = r->iterations;
    const bool quiet = r->reason == SPRY_REASON_CONVERGED || r->reason == SPRY_REASON_ITERATIONS ||
                       r->reason == SPRY_REASON_STOPPED;
    if (r->converged != (r->reason == SPRY_REASON_CONVERGED))
        wrong(p, r, options, "the reason is another");
    if (!quiet && !r->detail[0])
        wrong(p, r, options, "the reason has no detail");
    if (!(fabs(truth - r->true_residual) <= rounding)) /* nor when x is not finite */
        wrong(p, r, options, "the true residual is not true");
    if (!(r->true_residual <= r->initial_residual + rounding))
        wrong(p, r, options, "x is worse than the first guess");
    if (!r->history || r->history_size != last + 1 || r->history[0] != r->initial_residual ||
        memcmp(&r->history[last], &r->residual, sizeof r->residual) != 0)
        wrong(p, r, options, "the history does not fit");
}

void problem_check(const problem *p, const spry_result *r, const char *options)
{
    double rounding;
    const double truth = problem_residual(p, &rounding);
    check(p, r, options, truth, rounding);
}

void problem_check_converged(const problem *p, const spry_result *r, double tol,
                             const char *options)
{
    double rounding, bound;
    const double residual = problem_residual(p, &rounding), size = size_of_b(p);
    check(p, r, options, residual, rounding);
    if (!r->converged)
        wrong(p, r, options, "not converged");
    /* A (x - answer) is the residual but for the rounding of b; in least squares A^H A (x - answer)
     * is A^H r. Twice, for A is rounded too. */
    if (p->inconsistent) {
        const double gradient = problem_gradient(p);
        if (!(gradient <= (tol + rounding / residual) * p->norm))
            wrong(p, r, options, "A^H r is too large");
        bound = p->inverse * (p->inverse * gradient * residual + rounding) * size;
    } else {
        if (!(residual <= tol + rounding))
            wrong(p, r, options, "the residual is too large");
        bound = p->inverse * (residual + rounding) * size;
    }
    if (p->inverse > 0 && !(problem_error(p) <= 2 * bound))
        wrong(p, r, options, "x is too far from the answer");
}
