/* The block triangular form: no entries below, irreducible blocks, the parts with too few and too
 * many equations by what defines them. */
#include "support/support.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* Where perm[new] = old has each old number. */
static int64_t *places_of(const int32_t *perm, int64_t n)
{
    int64_t *place = malloc(((size_t)n + 1) * sizeof *place);
    assert_non_null(place);
    for (int64_t k = 0; k < n; k++)
        place[k] = -1;
    for (int64_t k = 0; k < n; k++) {
        assert_in_range(perm[k], 0, n - 1);
        assert_int_equal(place[perm[k]], -1);
        place[perm[k]] = k;
    }
    return place;
}

static int64_t block_at(const int64_t *start, int64_t blocks, int64_t place)
{
    for (int64_t b = 0; b < blocks; b++)
        if (place < start[b + 1])
            return b;
    fail();
    return -1;
}

/* Structural rank without row (column) `left_out`; -1: none. */
static int64_t rank_without(spry_context *ctx, const spry_matrix *A, int64_t row, int64_t col)
{
    spry_matrix *B = NULL;
    matching m;
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &B));
    for (int64_t i = 0; i < B->a.rows; i++)
        for (int64_t k = B->a.offsets[i]; k < B->a.offsets[i + 1]; k++)
            if (i == row || B->a.col_index[k] == col)
                support_put(B, k, (spry_scalar){0, 0});
    assert_ok(ctx, algebra_match(ctx, &B->a, &m));
    const int64_t rank = m.rank;
    algebra_match_clear(ctx, &m);
    spry_matrix_free(B);
    return rank;
}

/* Every row of a square block is reached from every other by entries within the block. */
static void check_irreducible(const spry_matrix *A, const block_form *f, int64_t b)
{
    const int64_t first = f->row_start[b], n = f->row_start[b + 1] - first;
    bool *reached = calloc((size_t)(n * n) + 1, sizeof *reached);
    assert_non_null(reached);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t k =
                matrix_find(&A->a, f->row_perm[first + i], f->col_perm[f->col_start[b] + j]);
            reached[i * n + j] = i == j || (k >= 0 && algebra_is_entry(&A->a, k));
        }
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n && reached[i * n + k]; j++)
                reached[i * n + j] = reached[i * n + j] || reached[k * n + j];
    for (int64_t k = 0; k < n * n; k++)
        assert_true(reached[k]);
    free(reached);
}

static void check(spry_context *ctx, const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    matching m;
    block_form f;
    assert_ok(ctx, algebra_match(ctx, a, &m));
    assert_ok(ctx, algebra_block_form(ctx, a, &m, &f));
    int64_t *row = places_of(f.row_perm, a->rows), *col = places_of(f.col_perm, a->cols);
    assert_int_equal(f.row_start[f.blocks], a->rows);
    assert_int_equal(f.col_start[f.blocks], a->cols);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            if (algebra_is_entry(a, k))
                assert_true(block_at(f.row_start, f.blocks, row[i]) <=
                            block_at(f.col_start, f.blocks, col[a->col_index[k]]));
    for (int64_t b = 0; b < f.blocks; b++) {
        const int64_t rows = f.row_start[b + 1] - f.row_start[b];
        const int64_t cols = f.col_start[b + 1] - f.col_start[b];
        if (f.wide && b == 0) {
            assert_true(rows < cols);
        } else if (f.tall && b == f.blocks - 1) {
            assert_true(rows > cols);
        } else {
            assert_int_equal(rows, cols);
            assert_true(rows > 0);
            for (int64_t k = 0; k < rows; k++)
                assert_int_equal(m.column_of[f.row_perm[f.row_start[b] + k]],
                                 f.col_perm[f.col_start[b] + k]);
            check_irreducible(A, &f, b);
        }
    }
    /* A row is one too many where the rest has as large a rank; so for columns. */
    for (int64_t i = 0; i < a->rows; i++)
        assert_int_equal(f.tall && row[i] >= f.row_start[f.blocks - 1],
                         rank_without(ctx, A, i, -1) == m.rank);
    for (int64_t j = 0; j < a->cols; j++)
        assert_int_equal(f.wide && col[j] < f.col_start[1], rank_without(ctx, A, -1, j) == m.rank);
    free(row);
    free(col);
    algebra_block_form_clear(ctx, &f);
    algebra_match_clear(ctx, &m);
}

static void random_matrices(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0},   {1, 1},   {2, 2},  {5, 5},
                                        {9, 9}, {6, 9}, {12, 12}, {20, 20}, {12, 7}, {15, 14}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int64_t density = 0; density < 6; density++)
            for (uint64_t seed = 0; seed < 12; seed++) {
                const int64_t rows = shapes[s][0], cols = shapes[s][1];
                spry_matrix *A = support_sorted(*state, support_types[seed % 4], SUPPORT_UNIFORM,
                                                rows, cols, density * (rows + cols) / 3, seed);
                if (A->a.nnz > 2 && seed % 3 == 0)
                    support_put(A, 1, (spry_scalar){0, 0}); /* stored, but no entry */
                check(*state, A);
                spry_matrix_free(A);
            }
}

/* Blocks of 1, 2 and 3 rows that depend on each other in this order, shuffled. */
static void known_blocks(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 6, 6,
                                       (double[]){0,       1, 0, 5, 0, 1, /* */ 5, 0, 1, 0, 0, 0,
                                                  /* */ 0, 0, 0, 0, 5, 0, 0,       5, 0, 0, 1, 1,
                                                  /* */ 1, 0, 5, 0, 0, 0, /* */ 1, 0, 0, 1, 0, 5});
    matching m;
    block_form f;
    assert_ok(*state, algebra_match(*state, &A->a, &m));
    assert_int_equal(m.rank, 6);
    assert_ok(*state, algebra_block_form(*state, &A->a, &m, &f));
    assert_int_equal(f.blocks, 3);
    assert_false(f.wide || f.tall);
    assert_int_equal(f.row_start[1], 3); /* rows 0, 3, 5 come first */
    assert_memory_equal(f.row_perm, ((int32_t[]){0, 3, 5}), 3 * sizeof *f.row_perm);
    assert_int_equal(f.row_start[3], 6);
    algebra_block_form_clear(*state, &f);
    algebra_match_clear(*state, &m);
    spry_matrix_free(A);
}

/* A path of 200,000 rows, and a triangle: neither recurses. */
static void deep_graphs(void **state)
{
    for (int upper = 0; upper < 2; upper++) {
        spry_matrix *A = NULL;
        int32_t *perm = NULL;
        assert_ok(*state, spry_generate(*state, "tridiagonal", "size=200000", &A));
        for (int64_t i = 0; i < A->a.rows && upper; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
                if (A->a.col_index[k] > i)
                    support_put(A, k, (spry_scalar){0, 0});
        assert_ok(*state, spry_reorder(A, "btf", &perm));
        for (int32_t i = 0; i < A->a.rows; i++) /* lower triangular: turned round */
            assert_int_equal(perm[i], upper ? A->a.rows - 1 - i : i);
        spry_free(*state, perm);
        spry_matrix_free(A);
    }
}

/* An entry below the diagonal belongs to a cycle: by entries one comes back to its row. */
static void check_below(const spry_matrix *A)
{
    const int64_t n = A->a.rows;
    bool *reached = calloc((size_t)(n * n), sizeof *reached);
    assert_non_null(reached);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            reached[i * n + A->a.col_index[k]] = true;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n && reached[i * n + k]; j++)
                reached[i * n + j] = reached[i * n + j] || reached[k * n + j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            assert_true(A->a.col_index[k] >= i || reached[A->a.col_index[k] * n + i]);
    free(reached);
}

/* spry_matrix_match(), then btf: blocks along the diagonal, nothing below. */
static void by_public_functions(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        const int64_t n = 2 + (int64_t)seed;
        spry_matrix *A = support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, n, n, 3 * n, seed);
        spry_matrix *B = NULL, *C = NULL;
        int32_t *match = NULL, *perm = NULL;
        int64_t rank = -1, diagonal = 0;
        assert_ok(*state, spry_matrix_match(A, &match, &rank));
        assert_ok(*state, spry_matrix_permute(A, match, NULL, &B));
        for (int64_t i = 0; i < n; i++)
            diagonal += matrix_find(&B->a, i, i) >= 0;
        assert_int_equal(diagonal, rank);
        assert_ok(*state, spry_reorder(B, "btf", &perm));
        assert_ok(*state, spry_matrix_permute(B, perm, perm, &C));
        check_below(C);
        spry_free(*state, perm);
        spry_free(*state, match);
        spry_matrix_free(A);
        spry_matrix_free(B);
        spry_matrix_free(C);
    }
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 1, 2, (double[]){1, 2});
    int32_t *perm = NULL;
    assert_status(*state, SPRY_STATUS_BAD_USAGE, spry_matrix_match(A, &perm, NULL));
    support_message_has(*state, "square matrices, this one is 1 x 2");
    assert_null(perm);
    spry_matrix_free(A);
}

static spry_status form_once(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    matching m;
    block_form f = {0};
    spry_status status = algebra_match(ctx, &A->a, &m);
    if (status == SPRY_STATUS_OK)
        status = algebra_block_form(ctx, &A->a, &m, &f);
    algebra_block_form_clear(ctx, &f);
    algebra_match_clear(ctx, &m);
    return status;
}

static spry_status match_public(spry_context *ctx, void *data)
{
    int32_t *perm = NULL;
    const spry_status status = spry_matrix_match(data, &perm, NULL);
    spry_free(ctx, perm);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    spry_matrix *A = support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 20, 20, 30, 3);
    support_torture(*state, form_once, A);
    support_torture(*state, match_public, A);
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_matrices),
        TEST(known_blocks),
        TEST(deep_graphs),
        TEST(by_public_functions),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
