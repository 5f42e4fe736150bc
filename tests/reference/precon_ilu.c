/*
 * Incomplete factorizations on the host: the product of the factors is A where they have entries
 * (and everywhere where all fill is kept), patterns by levels of fill against a dense model of
 * them, solves against the factors; bounds are those of the roundings of each sum. Row sums,
 * adjoints, new values, threads, memory, and what cannot be made.
 */
#include "support/factored.h"
#include "support/generated.h"

#include "matrix/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const specs[] = {
    "ilu",
    "ilu:level=1",
    "ilu:level=2,order=rcm",
    "ilu:level=99",
    "ilu:order=multicolour",
    "ilu:modified=1",
    "ilu:shift=0.25,level=1",
    "ic",
    "ic:level=1,order=multicolour",
    "ic:level=99",
    "ic:modified=0.5,shift=0.125",
    "ilut:tau=0,fill=100",
    "ilut:tau=0.05,fill=100,order=rcm",
    "ilut:fill=1",
    "ict:tau=0,fill=100,order=multicolour",
    "ict:tau=0.1,fill=100",
    "ict:fill=1",
    "ilu:solve=sweeps,sweeps=99",
    "ilu:construct=sweeps,rounds=80",
    "ilu:construct=sweeps,rounds=81,level=1,order=rcm",
    "ic:construct=sweeps,rounds=80",
    "ilut:solve=sweeps,sweeps=99,order=rcm",
};
enum { SPECS = sizeof specs / sizeof *specs };

static bool is_hermitian(const char *spec)
{
    return spec[1] == 'c';
}

/* --- the factors ---------------------------------------------------------------------------------
 */

/* Levels of fill of a dense model: level(i, j) = min over k of level(i, k) + level(k, j) + 1. */
static int *fill_levels(const factored *f)
{
    const int64_t n = f->n;
    int *level = malloc((size_t)(n * n) * sizeof *level + 1);
    for (int64_t i = 0; i < n * n; i++)
        level[i] = f->stored[i] || i / n == i % n ? 0 : 1000000;
    for (int64_t at = 0; at < n; at++) {
        const int64_t k = f->order[at];
        for (int64_t p = at + 1; p < n; p++)
            for (int64_t q = at + 1; q < n; q++) {
                const int64_t i = f->order[p], j = f->order[q];
                const int by = level[i * n + k] + level[k * n + j] + 1;
                if (by < level[i * n + j])
                    level[i * n + j] = by;
            }
    }
    return level;
}

static void check_pattern(const factored *f, int most, const char *spec)
{
    int *level = fill_levels(f);
    for (int64_t i = 0; i < f->n * f->n; i++)
        if (f->has[i] != (level[i] <= most))
            fail_msg("%s: entry (%lld, %lld) has level %d but is %sthere", spec,
                     (long long)(i / f->n), (long long)(i % f->n), level[i],
                     f->has[i] ? "" : "not ");
    free(level);
}

/* No row of a factor has more than `more` entries beyond A's, and some have them. */
static void check_fill(const factored *f, int more, const char *spec)
{
    int most = -1;
    for (int64_t p = 0; p < f->n; p++) {
        const int64_t i = f->order[p];
        int lower = 0, upper = 0;
        for (int64_t q = 0; q < f->n; q++) {
            const int64_t at = i * f->n + f->order[q];
            lower += q < p ? f->has[at] - f->stored[at] : 0;
            upper += q > p ? f->has[at] - f->stored[at] : 0;
        }
        most = lower > most ? lower : most;
        if (lower > more || (!is_hermitian(spec) && upper > more))
            fail_msg("%s: row %lld has %d and %d entries more", spec, (long long)i, lower, upper);
    }
    assert_int_equal(most, more);
}

static void check_factors(spry_context *ctx, const spry_matrix *A, const char *spec)
{
    spry_operator *M = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
    factored f = factored_of(A, M);
    const char *level = strstr(spec, "level="), *shift = strstr(spec, "shift=");
    const bool thresholds = strncmp(spec, "ilut", 4) == 0 || strncmp(spec, "ict", 3) == 0;
    const int most = level ? atoi(level + 6) : 0;
    if (!thresholds)
        check_pattern(&f, most, spec);
    /* what does not fit into rows is dropped after it was used */
    if (!strstr(spec, "modified=") && (!thresholds || strstr(spec, "fill=100")))
        factored_check_product(&f, most == 99 || strstr(spec, "tau=0,"),
                               shift ? atof(shift + 6) : 0, spec);
    if (strstr(spec, "fill=1") && !strstr(spec, "fill=100"))
        check_fill(&f, 1, spec);
    if (strstr(spec, "modified=1"))
        factored_check_row_sums(&f, spec);
    for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++)
        factored_check_solve(&f, M, (spry_transpose)op, spec);
    factored_free(&f);
    spry_operator_free(M);
}

static void all_factors(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *general = factored_unsymmetric(ctx, support_types[t], 70);
        spry_matrix *hermitian = factored_hermitian(ctx, support_types[t], 8);
        for (int k = 0; k < SPECS; k++)
            check_factors(ctx, is_hermitian(specs[k]) ? hermitian : general, specs[k]);
        check_factors(ctx, hermitian, "ilu"); /* by sets of a grid */
        spry_matrix_free(general);
        spry_matrix_free(hermitian);
    }
}

static void test_factors(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, all_factors);
}

/* Rows of more entries than are merged, sorted and not; and sums of rows that ic keeps, where what
 * is lost before the diagonal counts as well as what is lost behind it. */
static void test_long_rows(void **state)
{
    static const char *const general[] = {"ilu", "ilu:order=rcm", "ilu:modified=1,order=nd"};
    static const char *const hermitian[] = {"ic", "ic:order=rcm", "ic:modified=0.5"};
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = generated_as(ctx, type, "random", "size=120 per-row=40 dominance=2");
        spry_matrix *H = NULL, *turned = NULL;
        assert_ok(ctx, spry_matrix_transpose(A, true, &turned));
        assert_ok(ctx, spry_matrix_add((spry_scalar){1, 0}, A, (spry_scalar){1, 0}, turned, &H));
        for (int k = 0; k < 3; k++) {
            check_factors(ctx, A, general[k]);
            check_factors(ctx, H, hermitian[k]);
        }
        if (!spry_type_is_complex(type)) {
            spry_matrix *grid = factored_hermitian(ctx, type, 8);
            check_factors(ctx, H, "ic:modified=1");
            check_factors(ctx, grid, "ic:modified=1");
            check_factors(ctx, grid, "ic:modified=1,level=1,order=rcm");
            spry_matrix_free(grid);
        }
        spry_matrix_free(turned);
        spry_matrix_free(H);
        spry_matrix_free(A);
    }
}

/* U of ic is L^H to the bit, and ilu of the same matrix is the same but for roundings: each of its
 * numbers is a quotient of sums of at most n terms that are dominated by the diagonal. */
static void test_cholesky(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = factored_hermitian(ctx, support_types[t], 8);
        spry_operator *M = NULL, *N = NULL;
        assert_ok(ctx, spry_precon_new(A, NULL, "ic", &M));
        assert_ok(ctx, spry_precon_new(A, NULL, "ilu", &N));
        factored f = factored_of(A, M), g = factored_of(A, N);
        const double bound = 4 * 64 * numeric_unit(support_types[t]);
        for (int64_t i = 0; i < f.n; i++) {
            assert_true(cimagl(f.d[i]) == 0 && creall(f.d[i]) > 0);
            for (int64_t j = 0; j < f.n; j++) {
                assert_true(f.lower[i * f.n + j] == conjl(f.upper[j * f.n + i]));
                assert_true(cabsl(f.lower[i * f.n + j] - g.lower[i * g.n + j]) <= bound);
                assert_true(cabsl(f.upper[i * f.n + j] - g.upper[i * g.n + j]) <= bound);
            }
        }
        factored_free(&f);
        factored_free(&g);
        spry_operator_free(M);
        spry_operator_free(N);
        spry_matrix_free(A);
    }
}

/*
 * solve=isai of a triangular matrix (I + T) D: M is D^-1 and the approximate inverse W, which has
 * the pattern of the triangle, and W (I + T) is I there. An entry of that is a sum of at most n
 * products, each of which was rounded when W was made.
 */
static void check_isai(spry_context *ctx, spry_type type, bool upper)
{
    spry_matrix *A = factored_unsymmetric(ctx, type, 40);
    const int64_t n = A->a.rows;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
            if (upper ? A->a.col_index[e] < i : A->a.col_index[e] > i)
                support_put(A, e, (spry_scalar){0, 0});
    spry_operator *M = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, "ilu:solve=isai", &M));
    factored f = factored_of(A, M);
    factored_number *W = calloc((size_t)(n * n), sizeof *W);
    void *x = numeric_array(type, n, 0, 1), *y = numeric_array(type, n, 0, 2);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++)
            value_set(type, x, i, (spry_scalar){i == j, 0});
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, x,
                                          (spry_scalar){0, 0}, y));
        for (int64_t i = 0; i < n; i++) {
            const spry_scalar v = value_get(type, y, i);
            W[i * n + j] = ((long double)v.re + I * (long double)v.im) * f.d[upper ? j : i];
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const factored_number *T = upper ? f.upper : f.lower;
            factored_number sum = W[i * n + j] - (i == j);
            long double size = cabsl(W[i * n + j]) + (i == j);
            for (int64_t k = 0; k < n; k++) {
                sum += W[i * n + k] * T[k * n + j];
                size += cabsl(W[i * n + k] * T[k * n + j]);
            }
            if (!f.stored[i * n + j] && i != j)
                assert_true(W[i * n + j] == 0);
            else
                assert_true(cabsl(sum) <= (4 * n + 24) * (long double)numeric_unit(type) * size);
        }
    numeric_free(type, x, 0);
    numeric_free(type, y, 0);
    free(W);
    factored_free(&f);
    spry_operator_free(M);
    spry_matrix_free(A);
}

static void test_isai(void **state)
{
    for (int t = 0; t < 4; t++) {
        check_isai(*state, support_types[t], false);
        check_isai(*state, support_types[t], true);
    }
}

/* --- the operators -------------------------------------------------------------------------------
 */

/* M r for random numbers. */
static void *product(const spry_operator *M, spry_transpose op, uint64_t seed)
{
    void *r = numeric_array(M->type, M->rows, 0, seed), *z = numeric_array(M->type, M->rows, 0, 9);
    assert_ok(M->ctx, M->class->multiply(M, op, (spry_scalar){1, 0}, r, (spry_scalar){0, 0}, z));
    numeric_free(M->type, r, 0);
    return z;
}

static void test_update(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 4 * SPECS; k++) {
        const spry_type type = support_types[k / SPECS];
        const char *spec = specs[k % SPECS];
        spry_matrix *A = is_hermitian(spec) ? factored_hermitian(ctx, type, 8)
                                            : factored_unsymmetric(ctx, type, 70);
        spry_matrix *B = NULL;
        spry_operator *M = NULL, *N = NULL;
        assert_ok(ctx, spry_matrix_cast(A, type, &B));
        for (int64_t i = 0; i < B->a.rows; i++)
            for (int64_t e = B->a.offsets[i]; e < B->a.offsets[i + 1]; e++)
                if (B->a.col_index[e] == i)
                    support_put(B, e, (spry_scalar){7 + (double)(i % 5), 0});
        assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
        void *before = product(M, SPRY_TRANSPOSE_CONJUGATE, 1);
        assert_ok(ctx, spry_operator_update(M, B));
        assert_ok(ctx, spry_precon_new(B, NULL, spec, &N));
        for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
            void *x = product(M, (spry_transpose)op, 1), *y = product(N, (spry_transpose)op, 1);
            assert_memory_equal(x, y, (size_t)M->rows * spry_type_size(type));
            assert_memory_not_equal(x, before, (size_t)M->rows * spry_type_size(type));
            numeric_free(type, x, 0);
            numeric_free(type, y, 0);
        }
        numeric_free(type, before, 0);
        spry_operator_free(M);
        spry_operator_free(N);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* The same bits whatever the number of threads: sets large enough to be shared, and rows in turn.
 */
static void test_threads(void **state)
{
    (void)state;
    static const char *const some[] = {"ilu",
                                       "ilu:level=1",
                                       "ilu:order=multicolour",
                                       "ilut:order=rcm",
                                       "ilu:solve=isai",
                                       "ilu:modified=1",
                                       "ic",
                                       "ic:level=1,modified=0.5"};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        void *first[3] = {NULL, NULL, NULL};
        const size_t bytes = 64000 * sizeof(double);
        for (int t = 0; t < 4; t++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", support_threads[t]);
            spry_context *ctx = support_context(options);
            spry_matrix *A =
                generated(ctx, is_hermitian(some[k]) ? "poisson3d" : "convection-diffusion",
                          "nx=160 ny=20 nz=20");
            spry_operator *M = NULL;
            assert_ok(ctx, spry_precon_new(A, NULL, some[k], &M));
            for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
                void *y = product(M, (spry_transpose)op, 2);
                if (t == 0)
                    first[op] = memcpy(malloc(bytes), y, bytes);
                assert_memory_equal(first[op], y, bytes);
                numeric_free(SPRY_TYPE_D, y, 0);
            }
            spry_operator_free(M);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
        for (int op = 0; op < 3; op++)
            free(first[op]);
    }
}

/* The same row is reported, too, also where the first one of the sets is not the first one of A. */
static void test_threads_fail(void **state)
{
    (void)state;
    enum { IN_A = 150, IN_SETS = 160 };
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        spry_matrix *A = generated(ctx, "poisson3d", "nx=160 ny=20 nz=20");
        spry_operator *M = NULL;
        for (int64_t i = IN_A; i <= IN_SETS; i += IN_SETS - IN_A)
            support_put(A, matrix_find_diagonal(&A->a, i), (spry_scalar){-1, 0});
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "ic:tries=0", &M));
        support_message_has(ctx, "row 160 (from 0): the pivot is not positive");
        spry_matrix_free(A);
        support_context_free(ctx);
    }
}

/* --- what is hard or cannot be done --------------------------------------------------------------
 */

/* Zero pivots and indefinite matrices get a shift; a diagonal that is not stored gets a place. */
static void test_shifts(void **state)
{
    spry_context *ctx = *state;
    static const double swap[] = {0, 1, 1, 0}, late[] = {0, 2, 1, 3, 1, 1, 1, 1, 4};
    static const double indefinite[] = {1, 2, 0, 2, 1, 2, 0, 2, 1};
    static const struct {
        const char *spec;
        int n;
        const double *numbers;
        bool shifts;
    } cases[] = {
        {"ilu", 2, swap, true},
        {"ilu", 3, late, true},
        {"ic", 3, indefinite, true},
        {"ilu:construct=sweeps", 2, swap, true},
        {"ic:construct=sweeps,rounds=9", 3, indefinite, true},
        {"ilu", 3, indefinite, false},
        {"ilu:modified=1", 3, indefinite, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A =
            support_from_rows(ctx, SPRY_TYPE_D, cases[k].n, cases[k].n, cases[k].numbers);
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_new(A, NULL, cases[k].spec, &M));
        assert_true((factors_of(M)->shift > 0) == cases[k].shifts);
        factored f = factored_of(A, M);
        factored_check_solve(&f, M, SPRY_TRANSPOSE_NO, cases[k].spec);
        factored_check_solve(&f, M, SPRY_TRANSPOSE_YES, cases[k].spec);
        factored_free(&f);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/*
 * The identity but for blocks of three rows whose dropped fill is divided by a pivot of about 1e-6:
 * two directions each in which M A is far from the identity, with numbers of their own. A few of
 * them are what a few steps are rid of; for many the diagonal is shifted.
 */
static void test_kept(void **state)
{
    spry_context *ctx = *state;
    enum { N = 100 };
    static const struct {
        int blocks;
        bool kept;
    } cases[] = {{1, true}, {3, true}, {20, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double *numbers = calloc((size_t)N * N, sizeof *numbers), tiny = 1e-6;
        for (int i = 0; i < N; i++)
            numbers[i * N + i] = 1;
        for (int b = 0; b < cases[k].blocks; b++, tiny *= 1.5) {
            double *at = numbers + (size_t)b * 3 * (N + 1);
            at[1] = at[2] = at[N] = at[2 * N] = 1;
            at[N + 1] = 1 + tiny;
            at[2 * N + 2] = 2;
        }
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, N, N, numbers);
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_new(A, NULL, "ilu", &M));
        assert_true((factors_of(M)->shift == 0) == cases[k].kept);
        spry_operator_free(M);
        spry_matrix_free(A);
        free(numbers);
    }
}

/* Zeros that are stored on one side of the diagonal alone do not keep a matrix from being
 * symmetric.
 */
static void test_one_sided(void **state)
{
    spry_context *ctx = *state;
    static const char *const some[] = {"ic", "ic:level=1", "ict", "ilu", "ic:construct=sweeps"};
    static const int64_t offsets[2][4] = {{0, 3, 4, 6}, {0, 2, 4, 6}};
    static const int32_t columns[2][6] = {{0, 1, 2, 1, 0, 2}, {0, 2, 0, 1, 0, 2}};
    static const double values[2][6] = {{4, 0, -1, 4, -1, 4}, {4, -1, 0, 4, -1, 4}};
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
            spry_matrix *A = NULL;
            spry_operator *M = NULL;
            assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 3, 3, offsets[side],
                                                columns[side], values[side], SPRY_OWN_COPY, &A));
            assert_ok(ctx, spry_precon_new(A, NULL, some[k], &M));
            factored f = factored_of(A, M);
            factored_check_product(&f, true, 0, some[k]);
            factored_check_solve(&f, M, SPRY_TRANSPOSE_NO, some[k]);
            factored_free(&f);
            spry_operator_free(M);
            spry_matrix_free(A);
        }
    /* a number without a mirror image is another matter */
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){4, 0, 1, 4});
    spry_operator *M = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "ic", &M));
    support_message_has(ctx, "row 1 (from 0) is not the same as its column");
    spry_matrix_free(A);
}

/* Long rows that few others need. */
static void test_arrow(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = generated_as(ctx, support_types[t], "arrowhead", "size=90");
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_new(A, NULL, "ilu", &M));
        factored f = factored_of(A, M);
        factored_check_product(&f, false, factors_of(M)->shift, "arrow");
        factored_check_solve(&f, M, SPRY_TRANSPOSE_NO, "arrow");
        factored_free(&f);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_bad(void **state)
{
    spry_context *ctx = *state;
    static const double swap[] = {0, 1, 1, 0}, empty[] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    static const double indefinite[] = {1, 2, 0, 2, 1, 2, 0, 2, 1}, general[] = {1, 2, 3, 4};
    static const double huge[] = {1e-300, 5e-301, 1e300, 1e300};
    static const struct {
        const char *spec;
        int n;
        const double *numbers;
        const char *message;
        spry_status status;
    } cases[] = {
        {"ilu:tries=0", 2, swap, "row 0 (from 0): the pivot is zero", SPRY_STATUS_BAD_INPUT},
        {"ilu:tries=0", 2, huge, "row 1 (from 0): the pivot is zero, or numbers are not finite",
         SPRY_STATUS_BAD_INPUT},
        {"ilu", 3, empty, "row 1 (from 0) has no entry but zeros", SPRY_STATUS_BAD_INPUT},
        {"ic", 3, empty, "row 1 (from 0) has no entry but zeros", SPRY_STATUS_BAD_INPUT},
        {"ic:tries=0", 3, indefinite, "row 1 (from 0): the pivot is not positive",
         SPRY_STATUS_BAD_INPUT},
        {"ic", 2, general, "row 0 (from 0) is not the same as its column", SPRY_STATUS_BAD_INPUT},
        {"ilu:construct=sweeps,modified=1", 2, swap, "take modified=0", SPRY_STATUS_BAD_USAGE},
        {"ilu:construct=sweeps,tries=0", 2, swap, "row 0 (from 0): the pivot is zero",
         SPRY_STATUS_BAD_INPUT},
        {"ilu:level=-1", 2, swap, "level=-1 is outside", SPRY_STATUS_BAD_USAGE},
        {"ilu:order=best", 2, swap, "there are: none rcm amd nd multicolour",
         SPRY_STATUS_BAD_USAGE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A =
            support_from_rows(ctx, SPRY_TYPE_D, cases[k].n, cases[k].n, cases[k].numbers);
        spry_operator *M = (spry_operator *)1;
        assert_status(ctx, cases[k].status, spry_precon_new(A, NULL, cases[k].spec, &M));
        assert_null(M);
        support_message_has(ctx, cases[k].message);
        spry_matrix_free(A);
    }
    /* complex symmetric, not hermitian */
    spry_matrix *A = factored_unsymmetric(ctx, SPRY_TYPE_Z, 5);
    spry_operator *M = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "ic", &M));
    support_message_has(ctx, "ic is for hermitian matrices; take ilu");
    spry_matrix_free(A);
}

static void test_tiny(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < SPECS; k++) {
        if (strstr(specs[k], "shift"))
            continue;
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 0, 0, NULL);
        spry_operator *M = NULL;
        double x = 8, y = 0;
        assert_ok(ctx, spry_precon_new(A, NULL, specs[k], &M));
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, &x,
                                          (spry_scalar){0, 0}, &y));
        assert_true(y == 0);
        spry_operator_free(M);
        spry_matrix_free(A);
        A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (double[]){4});
        assert_ok(ctx, spry_precon_new(A, NULL, specs[k], &M));
        assert_ok(ctx, M->class->multiply(M, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, &x,
                                          (spry_scalar){0, 0}, &y));
        assert_true(y == 2);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* What takes too long can be given up. */
static void test_interrupted(void **state)
{
    spry_context *ctx = *state;
    static const char *const some[] = {
        "ilu:level=2", "ilut", "ict",  "amg:coarse-size=4", "amg-classical:coarse-size=4",
        "spai",        "isai", "fsai", "fsai:growth=3",     "schwarz"};
    spry_matrix *A = factored_hermitian(ctx, SPRY_TYPE_D, 6);
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        spry_operator *M = NULL;
        spry_context_interrupt(ctx);
        assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_precon_new(A, NULL, some[k], &M));
        assert_null(M);
        assert_false(spry_context_interrupted(ctx, false));
        assert_ok(ctx, spry_precon_new(A, NULL, some[k], &M));
        spry_operator_free(M);
    }
    spry_matrix_free(A);
}

typedef struct torture {
    const spry_matrix *A;
    const char *spec;
} torture;

static spry_status use(spry_context *ctx, void *data)
{
    const torture *t = data;
    spry_operator *M = NULL;
    spry_vector *x = NULL, *y = NULL;
    spry_status status = spry_precon_new(t->A, NULL, t->spec, &M);
    if (status != SPRY_STATUS_OK)
        assert_null(M);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, t->A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, t->A, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(M, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, y,
                                        (spry_scalar){0, 0}, x);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_update(M, t->A);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(M);
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < SPECS; k++) {
        spry_matrix *A = is_hermitian(specs[k]) ? factored_hermitian(ctx, SPRY_TYPE_C, 4)
                                                : factored_unsymmetric(ctx, SPRY_TYPE_C, 20);
        torture t = {A, specs[k]};
        support_torture(ctx, use, &t);
        spry_matrix_free(A);
    }
}

/* Lines of a grid that are no whole number of chunks: rows that are no neighbours begin one, or all
 * lines would be in turn. Chunks stay together, and parts of sets are whole chunks. */
static void test_lines(void **state)
{
    enum { PARTS = 5 };
    spry_matrix *A = generated(*state, "poisson3d", "size=22");
    const triangle_pattern p = {.offsets = A->a.offsets, .columns = A->a.col_index, .sorted = true};
    const int64_t n = A->a.rows;
    triangle_sets s;
    assert_ok(*state, triangle_sets_make(*state, n, &p, 1, NULL, false, &s));
    assert_true(s.count > 1 && 64 * s.count <= n);
    int64_t next = 0;
    for (int64_t set = 0; set < s.count; set++) {
        for (int part = 0; part < PARTS; part++) {
            const range own = triangle_share(&s, set, PARTS, part);
            assert_int_equal(own.begin, next);
            assert_true(own.begin == own.end || s.begins[own.begin]);
            next = own.end;
        }
        assert_int_equal(next, s.first[set + 1]);
        int64_t begin = s.first[set];
        for (int64_t k = begin; k < next; k++) {
            begin = s.begins[k] ? k : begin;
            for (int64_t e = p.offsets[s.rows[k]]; e < p.offsets[s.rows[k] + 1]; e++) {
                const int64_t other = s.places[p.columns[e]];
                assert_true(other < s.first[set] || other >= begin);
                assert_true(other >= s.first[set] || p.columns[e] < s.rows[k]);
                assert_true(other < next || p.columns[e] > s.rows[k]);
            }
        }
    }
    triangle_sets_clear(*state, &s);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
        CASE(test_long_rows),
        CASE(test_cholesky),
        CASE(test_isai),
        CASE(test_one_sided),
        CASE(test_arrow),
        CASE(test_update),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_fail),
        CASE(test_lines),
        CASE(test_shifts),
        CASE(test_kept),
        CASE(test_bad),
        CASE(test_tiny),
        CASE(test_interrupted),
        CASE(test_torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
