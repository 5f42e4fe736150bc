/* Tiling: copies of a matrix along the diagonal and what couples them. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static spry_matrix *tiled(const spry_matrix *base, int64_t size)
{
    spry_matrix *A = NULL;
    assert_int_equal(spry_generate_tiled(base, size, &A), SPRY_STATUS_OK);
    generated_check(A);
    assert_int_equal(spry_matrix_rows(A), size);
    assert_int_equal(spry_matrix_type(A), spry_matrix_type(base));
    return A;
}

/*
 * Four rows of -1, 2, -1, cut in the middle: the copy across a border couples its last row to the
 * next copy's first by -1/8, and both their diagonals grow by 1/8. Ten rows are two copies and a
 * half.
 */
static void tridiagonal_by_hand(void **state)
{
    double numbers[100] = {0};
    for (int i = 0; i < 10; i++) {
        bool before = i == 3 || i == 7, after = i == 4 || i == 8;
        numbers[11 * i] = before || after ? 2.125 : 2;
        if (i < 9)
            numbers[11 * i + 1] = numbers[11 * i + 10] = before ? -0.125 : -1;
    }
    for (int t = 0; t < 4; t++) {
        spry_matrix *base = generated_as(*state, support_types[t], "tridiagonal", "size=4");
        spry_matrix *A = tiled(base, 10);
        spry_matrix *expected = support_from_rows(*state, support_types[t], 10, 10, numbers);
        support_same_arrays(expected, A);
        spry_matrix_free(expected);
        spry_matrix_free(A);
        spry_matrix_free(base);
    }
}

/* Only entry (0, 1) leaves the diagonal: the cut moves to it, and it joins the last row to the next
 * copy. */
static void the_cut_moves_to_where_entries_cross(void **state)
{
    static const double numbers[] = {1, 8, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -4};
    spry_matrix *base = support_from_rows(*state, SPRY_TYPE_D, 4, 4, numbers);
    spry_matrix *A = tiled(base, 8);
    support_dense dense = support_dense_of(A);
    assert_true(generated_at(&dense, 3, 4).re == 1);
    assert_true(generated_at(&dense, 3, 3).re == -5); /* grows away from 0 */
    assert_true(generated_at(&dense, 4, 4).re == 1);  /* its own row has no coupling */
    assert_true(generated_at(&dense, 5, 5).re == -1);
    assert_int_equal(spry_matrix_nnz(A), 11);
    support_dense_free(&dense);
    spry_matrix_free(A);
    spry_matrix_free(base);
}

/* Entries 8, 16, 24 off the diagonal: that in the middle is the one between copies. */
static void the_cut_is_in_the_middle(void **state)
{
    static const double numbers[] = {1, 8, 0, 0, 0, 1, 16, 0, 0, 0, 1, 24, 0, 0, 0, 1};
    spry_matrix *base = support_from_rows(*state, SPRY_TYPE_D, 4, 4, numbers);
    spry_matrix *A = tiled(base, 5);
    support_dense dense = support_dense_of(A);
    assert_true(generated_at(&dense, 3, 4).re == 2);
    support_dense_free(&dense);
    spry_matrix_free(A);
    spry_matrix_free(base);
}

static void without_crossing_entries_there_are_no_couplings(void **state)
{
    static const double numbers[] = {3, 0, 0, 5};
    for (int n = 1; n <= 2; n++) {
        spry_matrix *base = support_from_rows(*state, SPRY_TYPE_S, n, n, numbers);
        spry_matrix *A = tiled(base, 5);
        assert_int_equal(spry_matrix_nnz(A), 5);
        spry_matrix_free(A);
        spry_matrix_free(base);
    }
}

/* Fewer rows than the base: its leading part. */
static void a_smaller_size_cuts_the_base(void **state)
{
    spry_matrix *base = generated(*state, "poisson2d", "size=4");
    spry_matrix *A = tiled(base, 7);
    support_dense a = support_dense_of(A), b = support_dense_of(base);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            assert_true(generated_at(&a, i, j).re == generated_at(&b, i, j).re);
    support_dense_free(&a);
    support_dense_free(&b);
    spry_matrix_free(A);
    spry_matrix_free(base);
}

/* Any format, one triangle or both, unsorted with duplicates: the same result, and symmetry is
 * kept. */
static void symmetry_is_kept(void **state)
{
    static const spry_symmetry kinds[] = {SPRY_SYMMETRY_SYMMETRIC, SPRY_SYMMETRY_SKEW,
                                          SPRY_SYMMETRY_HERMITIAN};
    for (int s = 0; s < 3; s++) {
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
            support_recipe recipe = {.type = SPRY_TYPE_Z,
                                     .format = (spry_format)format,
                                     .symmetry = kinds[s],
                                     .rows = 15,
                                     .cols = 15,
                                     .nnz = 60,
                                     .seed = 7};
            spry_matrix *base = support_matrix(*state, &recipe), *full = NULL;
            assert_ok(*state, spry_matrix_expand(base, &full));
            spry_matrix *A = tiled(base, 40), *B = tiled(full, 40);
            support_same_arrays(A, B);
            support_dense dense = support_dense_of(A);
            for (int64_t i = 0; i < 40 && kinds[s] == SPRY_SYMMETRY_SKEW; i++)
                for (int64_t j = 0; j < 40; j++)
                    assert_true(generated_at(&dense, i, j).re == -generated_at(&dense, j, i).re);
            assert_true(kinds[s] == SPRY_SYMMETRY_SKEW ||
                        generated_symmetric(&dense, kinds[s] == SPRY_SYMMETRY_HERMITIAN));
            bool coupled = false;
            for (int64_t i = 0; i < 15; i++)
                for (int64_t j = 15; j < 30; j++)
                    coupled = coupled || dense.entries[i * 40 + j];
            assert_true(coupled);
            support_dense_free(&dense);
            spry_matrix_free(A);
            spry_matrix_free(B);
            spry_matrix_free(base);
            spry_matrix_free(full);
        }
    }
}

static void definiteness_and_dominance_are_kept(void **state)
{
    static const char *const kinds[] = {"elasticity", "anisotropic", "arrowhead", "circuit"};
    static const char *const options[] = {"size=3 nu=0.45", "size=8 epsilon=1e-5 angle=20",
                                          "size=40 type=z", "size=80 transistors=0"};
    for (int k = 0; k < 4; k++) {
        spry_matrix *base = generated(*state, kinds[k], options[k]);
        spry_matrix *A = tiled(base, 3 * spry_matrix_rows(base) - 11);
        support_dense dense = support_dense_of(A);
        assert_true(generated_symmetric(&dense, true));
        assert_true(generated_definite(&dense));
        support_dense_free(&dense);
        spry_matrix_free(A);
        spry_matrix_free(base);
    }
    spry_matrix *base = generated(*state, "random", "size=50 per-row=5 type=z");
    spry_matrix *A = tiled(base, 120);
    support_dense dense = support_dense_of(A);
    for (int64_t i = 0; i < 120; i++)
        assert_true(generated_at(&dense, i, i).re > generated_others(&dense, i));
    support_dense_free(&dense);
    spry_matrix_free(A);
    spry_matrix_free(base);
}

static void wrong_arguments_are_refused(void **state)
{
    static const double numbers[] = {1, 2};
    spry_matrix *wide = support_from_rows(*state, SPRY_TYPE_D, 1, 2, numbers), *A = wide;
    assert_status(*state, SPRY_STATUS_BAD_INPUT, spry_generate_tiled(wide, 10, &A));
    support_message_has(*state, "has 1 rows and 2 columns; expected a square one");
    assert_null(A);
    spry_matrix_free(wide);
    int64_t offsets[1] = {0};
    spry_matrix *none = NULL;
    assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_D, 0, 0, offsets, NULL, NULL,
                                           SPRY_OWN_COPY, &none));
    assert_status(*state, SPRY_STATUS_BAD_INPUT, spry_generate_tiled(none, 10, &A));
    spry_matrix_free(none);
    spry_matrix *base = generated(*state, "tridiagonal", "size=4");
    static const int64_t sizes[] = {0, -5, INT64_C(2147483648), INT64_MAX, INT64_MIN};
    for (int k = 0; k < 5; k++) {
        assert_status(*state, SPRY_STATUS_BAD_USAGE, spry_generate_tiled(base, sizes[k], &A));
        support_message_has(*state, "rows is outside 1..2147483647");
        assert_null(A);
    }
    spry_matrix_free(base);
}

/* Real patterns: bandwidth, symmetry and definiteness are those of the base. */
static void real_matrices(void **state)
{
    static const char *const names[] = {"bcsstk01", "bcsstk05", "west0067", "young1c"};
    const char *folder = getenv("SPRY_MATRICES");
    if (!folder || !*folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        skip();
    }
    for (int k = 0; k < 4; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, names[k]);
        spry_matrix *base = NULL;
        assert_ok(*state, spry_matrix_read(*state, path, NULL, &base));
        spry_matrix *A = tiled(base, 5 * spry_matrix_rows(base) / 2);
        spry_stats before = SPRY_STATS_INIT, after = SPRY_STATS_INIT;
        assert_ok(*state, spry_matrix_stats(base, &before));
        assert_ok(*state, spry_matrix_stats(A, &after));
        assert_int_equal(before.symmetric, after.symmetric);
        assert_int_equal(before.lower_bandwidth, after.lower_bandwidth);
        assert_int_equal(before.upper_bandwidth, after.upper_bandwidth);
        assert_true(after.nnz > 2 * before.nnz);
        if (k < 2) { /* stiffness matrices: positive definite */
            support_dense dense = support_dense_of(A);
            assert_true(generated_definite(&dense));
            support_dense_free(&dense);
        }
        spry_matrix_free(A);
        spry_matrix_free(base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tridiagonal_by_hand),
        cmocka_unit_test(the_cut_moves_to_where_entries_cross),
        cmocka_unit_test(the_cut_is_in_the_middle),
        cmocka_unit_test(without_crossing_entries_there_are_no_couplings),
        cmocka_unit_test(a_smaller_size_cuts_the_base),
        cmocka_unit_test(symmetry_is_kept),
        cmocka_unit_test(definiteness_and_dominance_are_kept),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(real_matrices),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
