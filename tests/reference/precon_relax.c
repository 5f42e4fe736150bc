/*
 * Gauss-Seidel, SOR and SSOR as preconditioners: against triangular solves in long double, plain
 * and transposed; colourings; the same bits for any number of threads; what cannot be made.
 */
#include "support/generated.h"
#include "support/numeric.h"

#include "choose/precons.h"
#include "precon/factors/triangle.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex number;
static const spry_scalar one = {1, 0}, zero = {0, 0};

static number at(const support_dense *A, int64_t i, int64_t j)
{
    const spry_scalar v = A->at[i * A->cols + j];
    return (long double)v.re + I * (long double)v.im;
}

/* An unsymmetric matrix whose diagonal dominates rows and columns, complex for complex types. */
static spry_matrix *unsymmetric(spry_context *ctx, spry_type type)
{
    spry_matrix *A = generated_as(ctx, type, "random", "size=120 per-row=7 dominance=16 seed=3");
    generated_turn(A, 0, (spry_scalar){0.6, 0.8});
    return A;
}

static spry_matrix *hermitian(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = generated_as(ctx, type, "poisson2d", "size=%d", size);
    generated_turn(A, 1, one);
    return A;
}

/* What a preconditioner is to do, written out. */
typedef struct recipe {
    const char *name, *spec;
    double omega;
    bool both, natural;
} recipe;

static const recipe recipes[] = {
    {"gs", "gs", 1, false, false},
    {"gs", "gs:order=natural", 1, false, true},
    {"sor", "sor:omega=1.25", 1.25, false, false},
    {"sor", "sor:order=natural,omega=0.75", 0.75, false, true},
    {"ssor", "ssor", 1, true, false},
    {"ssor", "ssor:omega=1.25,order=multicolour", 1.25, true, false},
    {"ssor", "ssor:omega=0.75,order=natural", 0.75, true, true},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static spry_operator *make(spry_context *ctx, const spry_matrix *A, const recipe *r)
{
    spry_operator *M = NULL;
    char name[32];
    assert_ok(ctx, precon_make_from_text(ctx, A, NULL, r->spec, &M, name));
    assert_string_equal(name, r->name);
    assert_string_equal(spry_operator_name(M), r->name);
    return M;
}

/* The reference: A, the set of each row, and the rows by sets. */
typedef struct reference {
    const recipe *recipe;
    support_dense A;
    int64_t n;
    int64_t *set, *rows;
    double bound;
} reference;

/*
 * How far a computed op(M) r may be off, relative to the largest number in it. A row of the
 * computed system has at most `length` + 20 roundings: its sum, E (Smith's division, the factor),
 * and the products that make it. |E L| and |E U| are at most q here, so that their inverses
 * 1 / (1 - q) and the condition (1 + q) / (1 - q) bound what a solve makes of the errors; ssor has
 * two solves, and the first one's errors grow in the second.
 */
static double bound_for(const reference *f)
{
    double q = 0, length = 0;
    for (int64_t i = 0; i < f->n; i++) {
        double row = 0, col = 0, entries = 0;
        for (int64_t j = 0; j < f->n; j++) {
            row += j == i ? 0 : (double)cabsl(at(&f->A, i, j));
            col += j == i ? 0 : (double)cabsl(at(&f->A, j, i));
            entries += (at(&f->A, i, j) != 0) + (at(&f->A, j, i) != 0);
        }
        const double d = (double)cabsl(at(&f->A, i, i)) / f->recipe->omega;
        q = fmax(q, fmax(row, col) / d);
        length = fmax(length, entries);
    }
    assert_true(q < 0.7);
    return 2 * (length + 20) * (1 + q) / (1 - q) / (1 - q);
}

/* By colours, however small they are. */
static void make_sets(spry_context *ctx, const spry_matrix *A, triangle_sets *sets)
{
    const triangle_pattern pattern = {.offsets = A->a.offsets, .columns = A->a.col_index};
    int32_t *perm = NULL;
    assert_ok(ctx, spry_reorder(A, "colour", &perm));
    assert_ok(ctx, triangle_sets_make(ctx, A->a.rows, &pattern, 1, perm, true, sets));
    spry_free(ctx, perm);
}

static reference reference_new(spry_context *ctx, const spry_matrix *A, const recipe *r)
{
    reference f = {r, support_dense_of(A), A->a.rows, NULL, NULL, 0};
    f.bound = bound_for(&f);
    f.set = malloc(((size_t)f.n + 1) * sizeof *f.set);
    f.rows = malloc(((size_t)f.n + 1) * sizeof *f.rows);
    if (r->natural) {
        for (int64_t i = 0; i < f.n; i++)
            f.set[i] = f.rows[i] = i;
        return f;
    }
    spry_matrix *csr = NULL;
    triangle_sets sets = {0};
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &csr));
    make_sets(ctx, csr, &sets);
    for (int64_t s = 0; s < sets.count; s++)
        for (int64_t k = sets.first[s]; k < sets.first[s + 1]; k++) {
            f.rows[k] = sets.rows[k];
            f.set[sets.rows[k]] = s;
        }
    triangle_sets_clear(ctx, &sets);
    spry_matrix_free(csr);
    return f;
}

static void reference_free(reference *f)
{
    support_dense_free(&f->A);
    free(f->set);
    free(f->rows);
}

/* Entry (i, j) of op(T), for T = D/omega + L or D/omega + U. */
static number entry_of(const reference *f, bool upper, spry_transpose op, int64_t i, int64_t j)
{
    const int64_t row = op == SPRY_TRANSPOSE_NO ? i : j, col = op == SPRY_TRANSPOSE_NO ? j : i;
    number v = at(&f->A, row, col);
    if (row == col)
        v /= (long double)f->recipe->omega;
    else if (upper ? f->set[col] <= f->set[row] : f->set[col] >= f->set[row])
        v = 0;
    return op == SPRY_TRANSPOSE_CONJUGATE ? conjl(v) : v;
}

/* z = op(T)^-1 z */
static void solve(const reference *f, bool upper, spry_transpose op, number *z)
{
    const bool backward = upper == (op == SPRY_TRANSPOSE_NO);
    for (int64_t k = 0; k < f->n; k++) {
        const int64_t i = f->rows[backward ? f->n - 1 - k : k];
        for (int64_t j = 0; j < f->n; j++)
            z[i] -= j == i ? 0 : entry_of(f, upper, op, i, j) * z[j];
        z[i] /= entry_of(f, upper, op, i, i);
    }
}

/* z = op(M) z */
static void apply(const reference *f, spry_transpose op, number *z)
{
    const bool both = f->recipe->both;
    const long double omega = f->recipe->omega;
    solve(f, both && op != SPRY_TRANSPOSE_NO, op, z);
    if (!both)
        return;
    for (int64_t i = 0; i < f->n; i++) {
        const number d = at(&f->A, i, i);
        z[i] *= (2 - omega) / omega * (op == SPRY_TRANSPOSE_CONJUGATE ? conjl(d) : d);
    }
    solve(f, op == SPRY_TRANSPOSE_NO, op, z);
}

static void check_product(const reference *f, const spry_operator *M, spry_transpose op)
{
    const spry_type type = M->type;
    void *r = numeric_array(type, f->n, 1, 1), *z = numeric_array(type, f->n, 1, 2);
    number *exact = malloc((size_t)f->n * sizeof *exact + 1);
    long double most = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const spry_scalar v = value_get(type, r, i);
        exact[i] = (long double)v.re + I * (long double)v.im;
    }
    apply(f, op, exact);
    assert_ok(M->ctx, M->class->multiply(M, op, one, r, zero, z));
    for (int64_t i = 0; i < f->n; i++)
        most = fmaxl(most, cabsl(exact[i]));
    for (int64_t i = 0; i < f->n; i++)
        numeric_near(type, value_get(type, z, i), (wide){creall(exact[i]), cimagl(exact[i]), most},
                     f->bound, f->recipe->spec, i);
    numeric_free(type, r, 1);
    numeric_free(type, z, 1);
    free(exact);
}

static void products(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = unsymmetric(ctx, support_types[t]);
        for (int k = 0; k < RECIPES; k++) {
            reference f = reference_new(ctx, A, &recipes[k]);
            spry_operator *M = make(ctx, A, &recipes[k]);
            assert_true(M->own_bytes > 0 && M->bytes > M->own_bytes);
            for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++)
                check_product(&f, M, (spry_transpose)op);
            spry_operator_free(M);
            reference_free(&f);
        }
        spry_matrix_free(A);
    }
}

static void test_products(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, products);
}

/* Other formats are read as the matrix they are. */
static void test_formats(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = unsymmetric(ctx, SPRY_TYPE_Z);
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *B = NULL;
        assert_ok(ctx, spry_matrix_convert(A, (spry_format)format, &B));
        reference f = reference_new(ctx, A, &recipes[5]);
        spry_operator *M = make(ctx, B, &recipes[5]);
        for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++)
            check_product(&f, M, (spry_transpose)op);
        spry_operator_free(M);
        reference_free(&f);
        spry_matrix_free(B);
    }
    spry_matrix_free(A);
}

/* (M x, y) = (x, M^H y): each product is off by as much as in check_product(). */
static void test_adjoint(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 4 * RECIPES; k++) {
        const spry_type type = support_types[k / RECIPES];
        spry_matrix *A = unsymmetric(ctx, type);
        reference f = reference_new(ctx, A, &recipes[k % RECIPES]);
        spry_operator *M = make(ctx, A, &recipes[k % RECIPES]);
        void *x = numeric_array(type, f.n, 0, 3), *y = numeric_array(type, f.n, 0, 4);
        void *Mx = numeric_array(type, f.n, 0, 5), *My = numeric_array(type, f.n, 0, 6);
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, x, zero, Mx));
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_CONJUGATE, one, y, zero, My));
        wide left = {0}, right = {0};
        long double most = 0, sum = 0;
        for (int64_t i = 0; i < f.n; i++) {
            const spry_scalar v = value_get(type, Mx, i), w = value_get(type, My, i);
            left = numeric_muladd(left, v, true, value_get(type, y, i));
            right = numeric_muladd(right, value_get(type, x, i), true, w);
            most = fmaxl(most, fmaxl(numeric_size(v), numeric_size(w)));
            sum += numeric_size(value_get(type, x, i)) + numeric_size(value_get(type, y, i));
        }
        const spry_scalar found = {(double)left.re, (double)left.im};
        right.size = most * sum;
        numeric_near(type, found, right, f.bound, recipes[k % RECIPES].spec, k);
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
        numeric_free(type, Mx, 0);
        numeric_free(type, My, 0);
        spry_operator_free(M);
        reference_free(&f);
        spry_matrix_free(A);
    }
}

/* SSOR of a hermitian matrix is hermitian: M^H is M. Made dominant, for the bound. */
static void test_hermitian(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 4 * RECIPES; k++) {
        const recipe *r = &recipes[k % RECIPES];
        const spry_type type = support_types[k / RECIPES];
        if (!r->both)
            continue;
        spry_matrix *A = hermitian(ctx, type, 12);
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
                if (A->a.col_index[e] == i)
                    support_put(A, e, (spry_scalar){9, 0});
        reference f = reference_new(ctx, A, r);
        spry_operator *M = make(ctx, A, r);
        void *x = numeric_array(type, f.n, 0, 3);
        void *y = numeric_array(type, f.n, 0, 4), *z = numeric_array(type, f.n, 0, 5);
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, x, zero, y));
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_CONJUGATE, one, x, zero, z));
        long double most = 0;
        for (int64_t i = 0; i < f.n; i++)
            most = fmaxl(most, numeric_size(value_get(type, y, i)));
        for (int64_t i = 0; i < f.n; i++) {
            const spry_scalar v = value_get(type, z, i);
            numeric_near(type, value_get(type, y, i), (wide){v.re, v.im, most}, 2 * f.bound,
                         r->spec, i);
        }
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
        numeric_free(type, z, 0);
        spry_operator_free(M);
        reference_free(&f);
        spry_matrix_free(A);
    }
}

/* No two neighbours share a colour, and there are at most as many as neighbours and one. */
static void check_colours(spry_context *ctx, const spry_matrix *A, int64_t expected)
{
    triangle_sets sets;
    make_sets(ctx, A, &sets);
    const int64_t n = A->a.rows;
    int64_t *degree = calloc((size_t)n + 1, sizeof *degree), most = 0;
    int64_t *set = calloc((size_t)n + 1, sizeof *set);
    assert_int_equal(sets.first[0], 0);
    assert_int_equal(sets.first[sets.count], n);
    for (int64_t s = 0; s < sets.count; s++) {
        assert_true(sets.first[s] < sets.first[s + 1]);
        for (int64_t k = sets.first[s]; k < sets.first[s + 1]; k++) {
            set[sets.rows[k]] = s;
            assert_int_equal(sets.places[sets.rows[k]], k);
            assert_true(k == sets.first[s] || sets.rows[k] > sets.rows[k - 1]);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k];
            assert_true(j == i || set[i] != set[j]);
            degree[i] += j != i;
            degree[j] += j != i;
        }
    }
    for (int64_t i = 0; i < n; i++)
        most = degree[i] > most ? degree[i] : most;
    assert_true(sets.count <= most + 1);
    if (expected >= 0)
        assert_int_equal(sets.count, expected);
    free(degree);
    free(set);
    triangle_sets_clear(ctx, &sets);
}

static void test_colours(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *kind, *options;
        int64_t colours;
    } cases[] = {
        {"poisson3d", "size=7", 2},   {"poisson2d", "size=9 points=9", 4},
        {"dense", "size=30", 30},     {"arrowhead", "size=50", 2},
        {"tridiagonal", "size=1", 1}, {"random", "size=300 per-row=9", -1},
        {"circuit", "size=500", -1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A = generated(ctx, cases[k].kind, cases[k].options);
        check_colours(ctx, A, cases[k].colours);
        spry_matrix_free(A);
    }
    /* neighbours by one triangle alone */
    spry_matrix *A =
        support_from_rows(ctx, SPRY_TYPE_D, 3, 3, (double[]){1, 1, 1, 0, 1, 1, 0, 0, 1});
    check_colours(ctx, A, 3);
    spry_matrix_free(A);
    A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, (double[]){1, 0, 0, 1, 1, 0, 1, 1, 1});
    check_colours(ctx, A, 3);
    spry_matrix_free(A);
    A = support_from_rows(ctx, SPRY_TYPE_D, 0, 0, NULL);
    check_colours(ctx, A, 0);
    spry_matrix_free(A);
}

/*
 * x + M (b - A x) again and again converges for a positive definite matrix. Gauss-Seidel's factor
 * on a 9 x 9 grid is cos(pi / 10)^2 = 0.9045 in either order (Young), so that 120 steps leave
 * 6e-6, times at most 10 for the start.
 */
static void test_stationary(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 4 * RECIPES; k++) {
        const spry_type type = support_types[k / RECIPES];
        spry_matrix *A = hermitian(ctx, type, 9);
        spry_operator *M = make(ctx, A, &recipes[k % RECIPES]), *op = NULL;
        spry_vector *x = NULL, *b = NULL, *r = NULL;
        double norm, start;
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &r));
        assert_ok(ctx, spry_vector_norm(b, &start));
        for (int step = 0; step < (recipes[k % RECIPES].omega < 1 ? 240 : 120); step++) {
            assert_ok(ctx, spry_vector_copy(b, r));
            assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                                  one, r));
            assert_ok(ctx, spry_operator_multiply(M, SPRY_TRANSPOSE_NO, one, r, one, x));
        }
        assert_ok(ctx, spry_vector_norm(r, &norm));
        assert_true(norm <= 6e-5 * start);
        spry_vector_free(x);
        spry_vector_free(b);
        spry_vector_free(r);
        spry_operator_free(M);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

/* The same bits whatever the number of threads, with factors too. */
static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < RECIPES; k++) {
        void *first[3] = {NULL, NULL, NULL};
        const size_t bytes = 64000 * sizeof(double);
        for (int t = 0; t < 4; t++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", support_threads[t]);
            spry_context *ctx = support_context(options);
            spry_matrix *A = generated(ctx, "convection-diffusion", "nx=160 ny=20 nz=20");
            spry_operator *M = make(ctx, A, &recipes[k]);
            void *x = numeric_array(SPRY_TYPE_D, 64000, 0, 1);
            for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
                void *y = numeric_array(SPRY_TYPE_D, 64000, 0, 2);
                assert_ok(ctx, M->class->multiply(M, (spry_transpose)op, (spry_scalar){3, 0}, x,
                                                  (spry_scalar){0.5, 0}, y));
                if (t == 0)
                    first[op] = memcpy(malloc(bytes), y, bytes);
                assert_memory_equal(first[op], y, bytes);
                numeric_free(SPRY_TYPE_D, y, 0);
            }
            numeric_free(SPRY_TYPE_D, x, 0);
            spry_operator_free(M);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
        for (int op = 0; op < 3; op++)
            free(first[op]);
    }
}

/* y = alpha M x + beta y, from M x: a product and a sum more. */
static void test_factors(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = unsymmetric(ctx, SPRY_TYPE_Z);
    spry_operator *M = make(ctx, A, &recipes[5]);
    const spry_scalar alpha = {0.5, -2}, beta = {3, 1};
    void *x = numeric_array(SPRY_TYPE_Z, 120, 0, 1), *z = numeric_array(SPRY_TYPE_Z, 120, 0, 2);
    void *y = numeric_array(SPRY_TYPE_Z, 120, 0, 3), *old = numeric_array(SPRY_TYPE_Z, 120, 0, 3);
    assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, x, zero, z));
    assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, alpha, x, beta, y));
    for (int64_t i = 0; i < 120; i++) {
        wide sum = numeric_muladd((wide){0}, alpha, false, value_get(SPRY_TYPE_Z, z, i));
        sum = numeric_muladd(sum, beta, false, value_get(SPRY_TYPE_Z, old, i));
        numeric_near(SPRY_TYPE_Z, value_get(SPRY_TYPE_Z, y, i), sum, 6, "factors", i);
    }
    numeric_free(SPRY_TYPE_Z, x, 0);
    numeric_free(SPRY_TYPE_Z, y, 0);
    numeric_free(SPRY_TYPE_Z, z, 0);
    numeric_free(SPRY_TYPE_Z, old, 0);
    spry_operator_free(M);
    spry_matrix_free(A);
}

/* n = 0 and n = 1. */
static void test_tiny(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < RECIPES; k++) {
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 0, 0, NULL);
        spry_operator *M = make(ctx, A, &recipes[k]);
        double x = 8, y = 0;
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, &x, zero, &y));
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_YES, one, &x, zero, &y));
        assert_true(y == 0);
        spry_operator_free(M);
        spry_matrix_free(A);
        A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (double[]){4});
        M = make(ctx, A, &recipes[k]);
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, &x, zero, &y));
        /* powers of two and omegas of few bits: exact */
        const double w = recipes[k].omega;
        assert_true(y == 2 * w * (recipes[k].both ? 2 - w : 1));
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_bad(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A =
        support_from_rows(ctx, SPRY_TYPE_D, 3, 3, (double[]){1, 2, 0, 2, 1, 0, 0, 5, 0});
    spry_matrix *wide_one = support_from_rows(ctx, SPRY_TYPE_D, 1, 2, (double[]){1, 2});
    static const struct {
        const char *spec, *message;
        spry_status status;
    } cases[] = {
        {"gs", "row 2 (from 0): diagonal entry 0", SPRY_STATUS_BAD_INPUT},
        {"ssor:omega=1.5", "has no inverse for ssor", SPRY_STATUS_BAD_INPUT},
        {"sor:omega=2.5", "precon sor: omega=2.5 is outside 0.01..1.99", SPRY_STATUS_BAD_USAGE},
        {"sor:omga=1", "did you mean omega?", SPRY_STATUS_BAD_USAGE},
        {"sor:order=odd", "there are: multicolour natural", SPRY_STATUS_BAD_USAGE},
        {"gs:omega=1", "option omega is unknown", SPRY_STATUS_BAD_USAGE},
        {"jacobi:w=1", "precon jacobi: option w is unknown", SPRY_STATUS_BAD_USAGE},
        {"none:w=1", "has no options", SPRY_STATUS_BAD_USAGE},
        {"ssorr:omega=1", "did you mean ssor?", SPRY_STATUS_BAD_USAGE},
        {"", "is unknown", SPRY_STATUS_BAD_USAGE},
        {":", "is unknown", SPRY_STATUS_BAD_USAGE},
    };
    spry_operator *M = (spry_operator *)1;
    char name[32];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_status(ctx, cases[k].status,
                      precon_make_from_text(ctx, A, NULL, cases[k].spec, &M, name));
        assert_null(M);
        support_message_has(ctx, cases[k].message);
    }
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  precon_make_from_text(ctx, wide_one, NULL, "gs", &M, name));
    support_message_has(ctx, "gs needs a square matrix, not 1 x 2");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  precon_make_from_text(ctx, NULL, NULL, "sor:omega=1.2", &M, name));
    support_message_has(ctx, "precon=sor needs a matrix");
    assert_int_equal(precon_options("ssor").count, 3);
    assert_int_equal(precon_options("gs").count, 2);
    assert_int_equal(precon_options("jacobi").count, 1);
    assert_int_equal(precon_options("none at all").count, 0);
    spry_matrix_free(A);
    spry_matrix_free(wide_one);
}

static spry_status use(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    spry_operator *M = NULL;
    spry_vector *x = NULL, *y = NULL;
    char name[32];
    spry_status status = precon_make_from_text(ctx, A, NULL, "ssor:omega=1.5", &M, name);
    if (status != SPRY_STATUS_OK)
        assert_null(M);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, A, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(M, SPRY_TRANSPOSE_CONJUGATE, one, y, zero, x);
    if (M && y && x) /* a failure leaves an operator that works */
        assert_int_equal(spry_operator_multiply(M, SPRY_TRANSPOSE_NO, one, y, zero, x),
                         SPRY_STATUS_OK);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(M);
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = unsymmetric(ctx, SPRY_TYPE_C), *B = NULL;
    support_torture(ctx, use, A);
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_COO, &B));
    support_torture(ctx, use, B);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        CASE(test_formats),
        CASE(test_adjoint),
        CASE(test_hermitian),
        CASE(test_colours),
        CASE(test_stationary),
        cmocka_unit_test(test_threads),
        CASE(test_factors),
        CASE(test_tiny),
        CASE(test_bad),
        CASE(test_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
