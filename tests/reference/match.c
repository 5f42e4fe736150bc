/* Matchings against all there are, on small matrices; their scalings, also on real ones. */
#include "support/support.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

#include <float.h>
#include <stdlib.h>

/* |a_ij| where the matching may take it, else 0. */
static double size_at(const support_dense *d, int64_t i, int64_t j)
{
    const spry_scalar v = d->at[i * d->cols + j];
    const double size = hypot(v.re, v.im);
    return isfinite(size) ? size : 0;
}

typedef struct best {
    int64_t count;
    double sum; /* of logs */
} best;

static bool better(best a, best b)
{
    return a.count > b.count || (a.count == b.count && a.sum > b.sum);
}

/* The best of all matchings of rows i and below with the columns that are not taken. */
static best try_all(const support_dense *d, int64_t i, unsigned taken)
{
    if (i == d->rows)
        return (best){0, 0};
    best most = try_all(d, i + 1, taken);
    for (int64_t j = 0; j < d->cols; j++)
        if (!(taken >> j & 1) && size_at(d, i, j) > 0) {
            best b = try_all(d, i + 1, taken | 1u << j);
            b.count++;
            b.sum += log(size_at(d, i, j));
            if (better(b, most))
                most = b;
        }
    return most;
}

/* Duals are moved by at most one addition a search, of numbers as large as the largest log. */
static double rounding(const matching *m)
{
    double largest = 1;
    for (int64_t i = 0; i < m->rows; i++)
        largest = fmax(largest, fabs(log(m->left[i])));
    for (int64_t j = 0; j < m->cols; j++)
        largest = fmax(largest, fabs(log(m->right[j])));
    return 4 * largest * DBL_EPSILON * (double)(m->rows + m->cols + 8);
}

/* Partners agree; factors make matched entries 1 and no entry more, single rows and columns have 1
 * as their largest. The sum of logs of matched entries. */
static double check(const matrix_arrays *a, const matching *m)
{
    const double bound = rounding(m);
    double *most = calloc((size_t)a->cols + 1, sizeof *most), sum = 0;
    int64_t rank = 0;
    assert_non_null(most);
    for (int64_t i = 0; i < a->rows; i++) {
        double row_most = 0;
        assert_true(isfinite(m->left[i]) && m->left[i] > 0);
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            const spry_scalar v = value_get(a->type, a->values, k);
            const double size = hypot(v.re, v.im);
            if (!isfinite(size) || size == 0) {
                assert_int_not_equal(m->column_of[i], j);
                continue;
            }
            const double scaled = size * m->left[i] * m->right[j];
            assert_true(scaled <= 1 + bound);
            row_most = fmax(row_most, scaled);
            most[j] = fmax(most[j], scaled);
            if (m->column_of[i] != j)
                continue;
            assert_true(scaled >= 1 - bound);
            assert_int_equal(m->row_of[j], i);
            sum += log(size);
            rank++;
        }
        assert_true(row_most == 0 ? m->left[i] == 1
                                  : m->column_of[i] >= 0 || row_most >= 1 - bound);
    }
    for (int64_t j = 0; j < a->cols; j++)
        assert_true(most[j] == 0 ? m->right[j] == 1 && m->row_of[j] < 0 : most[j] >= 1 - bound);
    assert_int_equal(rank, m->rank);
    free(most);
    return sum;
}

/* Every one is paired with what pairs with it; factors are the same for rows and columns. */
static void check_pairs(spry_context *ctx, const matrix_arrays *a, const matching *m)
{
    double *factor = calloc((size_t)a->rows + 1, sizeof *factor);
    int32_t *pair = calloc((size_t)a->rows + 1, sizeof *pair);

    assert_true(factor && pair);
    assert_ok(ctx, algebra_match_pairs(ctx, a, m, factor, pair));
    for (int64_t i = 0; i < a->rows; i++) {
        assert_in_range(pair[i], 0, a->rows - 1);
        assert_int_equal(pair[pair[i]], i);

        if (pair[i] == i || m->rank < a->rows)
            continue;
        const int64_t k = matrix_find(a, i, pair[i]);
        assert_true(k >= 0); /* a matched entry, of modulus 1 */
        const spry_scalar v = value_get(a->type, a->values, k);
        const double size = hypot(v.re, v.im) * factor[i] * factor[pair[i]];
        assert_true(fabs(size - 1) <= rounding(m));
    }

    free(factor);
    free(pair);
}

static void compare(spry_context *ctx, const spry_matrix *A)
{
    matching m;
    assert_ok(ctx, algebra_match(ctx, &A->a, &m));
    const double sum = check(&A->a, &m);
    support_dense d = support_dense_of(A);
    const best all = try_all(&d, 0, 0);
    assert_int_equal(m.rank, all.count);
    assert_true(fabs(sum - all.sum) <= rounding(&m));
    support_dense_free(&d);
    algebra_match_clear(ctx, &m);
}

static void best_of_all_matchings(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 4}, {4, 1}, {2, 2},
                                        {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {4, 7}, {7, 4}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int64_t density = 0; density <= 6; density++)
            for (uint64_t seed = 0; seed < 24; seed++) {
                const int64_t rows = shapes[s][0], cols = shapes[s][1];
                spry_matrix *A = support_sorted(*state, support_types[seed % 4], SUPPORT_UNIFORM,
                                                rows, cols, density * (rows + cols) / 3, seed);
                compare(*state, A);
                spry_matrix_free(A);
            }
}

/* Entries of all sizes, so that the largest of a row is seldom the one to take. */
static void entries_of_many_magnitudes(void **state)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        const spry_type type = support_types[seed % 4];
        spry_matrix *A = support_sorted(*state, type, SUPPORT_UNIFORM, 6, 6, 18, seed);
        for (int64_t k = 0; k < A->a.nnz; k++) {
            const double power = 60 * (base_uniform(seed, (uint64_t)k) - 0.5);
            const spry_scalar v = value_get(type, A->a.values, k);
            support_put(A, k, (spry_scalar){v.re * exp2(power), v.im * exp2(power)});
        }
        compare(*state, A);
        spry_matrix_free(A);
    }
}

static void zeros_and_what_is_not_finite_are_no_entries(void **state)
{
    const double numbers[] = {0, NAN, INFINITY};
    for (int c = 0; c < 3; c++) {
        spry_matrix *A =
            support_from_rows(*state, SPRY_TYPE_D, 3, 3, (double[]){9, 1, 1, 1, 0, 1, 1, 1, 9});
        matching m;
        support_put(A, 0, (spry_scalar){numbers[c], 0});
        assert_ok(*state, algebra_match(*state, &A->a, &m));
        assert_memory_equal(m.column_of, ((int32_t[]){1, 0, 2}), 3 * sizeof(int32_t));
        algebra_match_clear(*state, &m);
        support_put(A, 1, (spry_scalar){numbers[c], 0});
        support_put(A, 2, (spry_scalar){numbers[c], 0});
        assert_ok(*state, algebra_match(*state, &A->a, &m));
        assert_int_equal(m.rank, 2);
        assert_int_equal(m.column_of[0], -1);
        assert_true(m.left[0] == 1);
        algebra_match_clear(*state, &m);
        spry_matrix_free(A);
    }
}

/* 1e300 and 1e-300 together: factors stay finite, the product is still the largest. */
static void extreme_magnitudes(void **state)
{
    spry_matrix *A =
        support_from_rows(*state, SPRY_TYPE_D, 2, 2, (double[]){1e300, 1e300, 1e-300, 5e-324});
    compare(*state, A);
    spry_matrix_free(A);
    A = support_from_rows(*state, SPRY_TYPE_Z, 1, 1, (double[]){DBL_MAX});
    support_put(A, 0, (spry_scalar){DBL_MAX, DBL_MAX}); /* the modulus overflows */
    matching m;
    assert_ok(*state, algebra_match(*state, &A->a, &m));
    assert_int_equal(m.rank, 1);
    assert_true(isfinite(m.left[0]) && m.left[0] >= DBL_MIN);
    algebra_match_clear(*state, &m);
    spry_matrix_free(A);
}

static spry_matrix *expanded(spry_context *ctx, spry_type type, spry_symmetry symmetry, int64_t n,
                             int64_t nnz, uint64_t seed)
{
    spry_matrix *half = support_matrix(ctx, &(support_recipe){.type = type,
                                                              .format = SPRY_FORMAT_CSR,
                                                              .symmetry = symmetry,
                                                              .rows = n,
                                                              .cols = n,
                                                              .nnz = nnz,
                                                              .seed = seed,
                                                              .sorted = true});
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    assert_ok(ctx, matrix_as_sorted_csr(half, &csr, &owned));
    if (csr == half)
        return half;
    spry_matrix_free(half);
    return owned;
}

static void symmetric_ones_in_pairs(void **state)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        const int64_t n = 1 + (int64_t)seed % 40;
        spry_matrix *A = expanded(*state, support_types[seed % 4],
                                  seed % 3 ? SPRY_SYMMETRY_SYMMETRIC : SPRY_SYMMETRY_HERMITIAN, n,
                                  n * (1 + (int64_t)seed % 4), seed);
        matching m;
        assert_ok(*state, algebra_match(*state, &A->a, &m));
        check(&A->a, &m);
        check_pairs(*state, &A->a, &m);
        algebra_match_clear(*state, &m);
        spry_matrix_free(A);
    }
}

/* A saddle point with a zero block: every row of the block is one half of a pair. */
static void pairs_of_a_saddle_point(void **state)
{
    spry_matrix *A = support_from_rows(
        *state, SPRY_TYPE_D, 5, 5,
        (double[]){1, 0, 0, 8, 0, 0, 1, 0, 0, 8, 0, 0, 1, 0, 1, 8, 0, 0, 0, 0, 0, 8, 1, 0, 0});
    matching m;
    double factor[5];
    int32_t pair[5];
    assert_ok(*state, algebra_match(*state, &A->a, &m));
    assert_ok(*state, algebra_match_pairs(*state, &A->a, &m, factor, pair));
    assert_memory_equal(pair, ((int32_t[]){3, 4, 2, 0, 1}), sizeof pair);
    algebra_match_clear(*state, &m);
    spry_matrix_free(A);
}

/* Of a cycle of three that is matched all round, the row with a diagonal entry stands alone. */
static void odd_cycles(void **state)
{
    spry_matrix *A =
        support_from_rows(*state, SPRY_TYPE_D, 3, 3, (double[]){0, 4, 4, 4, 1, 4, 4, 4, 0});
    matching m;
    double factor[3];
    int32_t pair[3];
    assert_ok(*state, algebra_match(*state, &A->a, &m));
    assert_int_equal(m.rank, 3);
    assert_ok(*state, algebra_match_pairs(*state, &A->a, &m, factor, pair));
    assert_memory_equal(pair, ((int32_t[]){2, 1, 0}), sizeof pair);
    algebra_match_clear(*state, &m);
    spry_matrix_free(A);
}

static void interrupted(void **state)
{
    spry_context *ctx = *state;
    /* two rows and one column: a search that fails */
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 1, (double[]){1, 2});
    matching m;
    spry_context_interrupt(ctx);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, algebra_match(ctx, &A->a, &m));
    algebra_match_clear(ctx, &m);
    assert_true(spry_context_interrupted(ctx, true));
    spry_matrix_free(A);
}

static void real_matrices(void **state)
{
    static const char *const names[] = {"west0479", "gemat12",  "mahindas", "bp_1000",
                                        "bayer10",  "olm500",   "cavity14", "shl_0",
                                        "rajat19",  "impcol_e", "ash219",   "illc1033",
                                        "jagmesh7", "Si2",      "bloweya",  "circuit204"};
    const char *folder = getenv("SPRY_MATRICES");
    int seen = 0;
    if (!folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        skip();
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[512];
        const spry_matrix *csr = NULL;
        spry_matrix *A = NULL, *owned = NULL;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, names[k]);
        if (spry_matrix_read(*state, path, NULL, &A) != SPRY_STATUS_OK)
            continue;
        matching m;
        assert_ok(*state, matrix_as_sorted_csr(A, &csr, &owned));
        assert_ok(*state, algebra_match(*state, &csr->a, &m));
        check(&csr->a, &m);
        if (A->a.symmetry != SPRY_SYMMETRY_GENERAL)
            check_pairs(*state, &csr->a, &m);
        seen++;
        algebra_match_clear(*state, &m);
        spry_matrix_free(owned);
        spry_matrix_free(A);
    }
    assert_true(seen > 0);
}

static spry_status match_once(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    matching m;
    const spry_status status = algebra_match(ctx, &A->a, &m);
    algebra_match_clear(ctx, &m);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    spry_matrix *A = support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 20, 20, 30, 3);
    support_torture(*state, match_once, A);
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(best_of_all_matchings),
        TEST(entries_of_many_magnitudes),
        TEST(zeros_and_what_is_not_finite_are_no_entries),
        TEST(extreme_magnitudes),
        TEST(symmetric_ones_in_pairs),
        TEST(pairs_of_a_saddle_point),
        TEST(odd_cycles),
        TEST(interrupted),
        TEST(real_matrices),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
