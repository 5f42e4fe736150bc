/* Which rank has which rows: contiguous cuts, METIS, numbering. */
#include "support/support.h"

#include "ranks/partition.h"

#include <stdlib.h>

/* Offsets of rows with so many entries. */
static void offsets_of(int64_t rows, const int64_t *entries, int64_t *offsets)
{
    offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++)
        offsets[i + 1] = offsets[i] + entries[i];
}

static int64_t work_of(const int64_t *offsets, int64_t begin, int64_t end)
{
    return offsets[end] - offsets[begin] + end - begin;
}

/* Cuts where one process has all offsets: one piece. */
static spry_status cut(spry_context *ctx, int64_t rows, const int64_t *offsets, int ranks,
                       const double *shares, const partition_limits *limits, int64_t *first)
{
    const spry_status status = partition_check_shares(ctx, ranks, shares);
    if (status != SPRY_STATUS_OK)
        return status;
    const partition_piece all = {
        .count = rows, .offsets = offsets, .all = (double)work_of(offsets, 0, rows)};
    for (int r = 0; r <= ranks; r++)
        first[r] = rows; /* of cuts behind all work */
    partition_cut_piece(&all, ranks, shares, first);
    partition_settle(rows, limits, ranks, first);
    return SPRY_STATUS_OK;
}

/* Every cut is as near to what is due as whole rows allow: off by half of the longest row. */
static void contiguous_is_balanced(void **state)
{
    enum { N = 1000 };
    int64_t entries[N], offsets[N + 1], first[9];
    int64_t longest = 0;
    for (int i = 0; i < N; i++) {
        entries[i] = (int64_t)(base_random(7, (uint64_t)i) % 50);
        longest = entries[i] > longest ? entries[i] : longest;
    }
    offsets_of(N, entries, offsets);
    const double shares[] = {1, 0, 3, 0.5, 2, 1, 1, 1};
    for (int ranks = 1; ranks <= 8; ranks++) {
        for (int s = 0; s < 2; s++) {
            const double *given = s ? shares : NULL;
            assert_ok(*state, cut(*state, N, offsets, ranks, given, NULL, first));
            assert_int_equal(first[0], 0);
            assert_int_equal(first[ranks], N);
            for (int r = 0; r < ranks; r++) {
                const double due =
                    partition_target((double)work_of(offsets, 0, N), ranks, given, r);
                assert_true(first[r] <= first[r + 1]);
                assert_true(fabs((double)work_of(offsets, 0, first[r]) - due) <=
                            0.5 * (double)(longest + 1));
            }
        }
    }
}

/* The cuts that several ranks find in their pieces are those of one that has all. */
static void pieces_find_the_same(void **state)
{
    enum { N = 300, RANKS = 7 };
    int64_t entries[N], offsets[N + 1], first[RANKS + 1], found[RANKS + 1];
    for (int i = 0; i < N; i++)
        entries[i] = i % 37 == 0 ? 400 : i % 5;
    offsets_of(N, entries, offsets);
    assert_ok(*state, cut(*state, N, offsets, RANKS, NULL, NULL, first));
    const int64_t cuts[] = {0, 0, 41, 41, 42, 200, 299, 300, 300};
    for (int r = 0; r <= RANKS; r++)
        found[r] = N;
    for (size_t p = 0; p + 1 < sizeof cuts / sizeof *cuts; p++) {
        const partition_piece piece = {.begin = cuts[p],
                                       .count = cuts[p + 1] - cuts[p],
                                       .offsets = offsets + cuts[p],
                                       .before = (double)work_of(offsets, 0, cuts[p]),
                                       .all = (double)work_of(offsets, 0, N)};
        partition_cut_piece(&piece, RANKS, NULL, found);
    }
    partition_settle(N, NULL, RANKS, found);
    assert_memory_equal(first, found, sizeof first);
}

static void odd_sizes(void **state)
{
    int64_t first[6];
    const int64_t none[] = {0}, one[] = {0, 3}, three[] = {0, 1, 2, 3},
                  dense_row[] = {0, 1, 2, 1002, 1003, 1004};
    assert_ok(*state, cut(*state, 0, none, 5, NULL, NULL, first));
    for (int r = 0; r <= 5; r++)
        assert_int_equal(first[r], 0);
    assert_ok(*state, cut(*state, 1, one, 5, NULL, NULL, first));
    assert_int_equal(first[5], 1);
    for (int r = 0; r < 5; r++)
        assert_true(first[r] <= first[r + 1]);
    assert_ok(*state, cut(*state, 3, three, 5, NULL, NULL, first));
    for (int r = 0; r < 5; r++)
        assert_in_range(first[r + 1] - first[r], 0, 1);
    /* Of a dense row all cuts are at one side or the other. */
    assert_ok(*state, cut(*state, 5, dense_row, 4, NULL, NULL, first));
    for (int r = 1; r < 4; r++)
        assert_true(first[r] == 2 || first[r] == 3);
}

/* Offsets and rows beyond 32 bits: two rows stand for 2^33 with 2^40 entries before them. */
static void beyond_32_bits(void **state)
{
    const int64_t rows = INT64_C(1) << 33, begin = rows / 2 - 1;
    const int64_t offsets[] = {INT64_C(1) << 40, (INT64_C(1) << 40) + 100,
                               (INT64_C(1) << 40) + 200};
    int64_t first[] = {0, -1, rows};
    const double before = (double)(INT64_C(1) << 40) + (double)begin;
    const partition_piece piece = {
        .begin = begin, .count = 2, .offsets = offsets, .before = before, .all = 2 * before + 202};
    partition_cut_piece(&piece, 2, NULL, first);
    assert_int_equal(first[1], begin + 1);
    const partition_limits limits = {512, 1024};
    partition_settle(rows, &limits, 2, first);
    assert_int_equal(first[1], rows / 2);
    assert_int_equal(partition_owner(2, first, rows / 2 - 1), 0);
    assert_int_equal(partition_owner(2, first, rows / 2), 1);
    (void)state;
}

/* Ranks have whole parts, and those of base_share(). */
static void cuts_at_limits(void **state)
{
    enum { N = 100000, RANKS = 5 };
    int64_t *offsets = malloc((N + 1) * sizeof *offsets), first[RANKS + 1];
    assert_non_null(offsets);
    for (int64_t i = 0; i <= N; i++)
        offsets[i] = 5 * i;
    const partition_limits limits = {98, 1024};
    assert_ok(*state, cut(*state, N, offsets, RANKS, NULL, &limits, first));
    for (int r = 1; r < RANKS; r++) {
        const int part = base_share_of(N, limits.parts, first[r], limits.grain);
        assert_int_equal(base_share(N, limits.parts, part, limits.grain).begin, first[r]);
        assert_true(llabs(first[r] - (int64_t)r * N / RANKS) <= limits.grain);
    }
    free(offsets);
}

static void bad_shares(void **state)
{
    const int64_t offsets[] = {0, 1, 2};
    int64_t first[3];
    const double bad[][2] = {{-1, 2}, {0, 0}, {NAN, 1}, {INFINITY, 1}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_status(*state, SPRY_STATUS_BAD_USAGE,
                      cut(*state, 2, offsets, 2, bad[k], NULL, first));
}

static void numbers_and_owners(void **state)
{
    const int32_t owner[] = {2, 0, 2, 4, 0, 2};
    int64_t first[6], number[6];
    partition_number(6, owner, 5, first, number);
    const int64_t firsts[] = {0, 2, 2, 5, 5, 6}, numbers[] = {2, 0, 3, 5, 1, 4};
    assert_memory_equal(first, firsts, sizeof firsts);
    assert_memory_equal(number, numbers, sizeof numbers);
    for (int i = 0; i < 6; i++)
        assert_int_equal(partition_owner(5, first, number[i]), owner[i]);
    (void)state;
}

static spry_matrix *grid(spry_context *ctx, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", options, &A));
    return A;
}

/* Entries whose column is another rank's. */
static int64_t entries_cut(const spry_matrix *A, const int32_t *owner)
{
    int64_t count = 0;
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            count += owner[A->a.col_index[k]] != owner[i];
    return count;
}

/* The most work of a rank over its share of all; 1 is best. */
static double imbalance(const spry_matrix *A, int ranks, const double *shares, const int32_t *owner)
{
    const double all = (double)work_of(A->a.offsets, 0, A->a.rows);
    double worst = 0;
    for (int r = 0; r < ranks; r++) {
        const double due =
            partition_target(all, ranks, shares, r + 1) - partition_target(all, ranks, shares, r);
        int64_t work = 0;
        for (int64_t i = 0; i < A->a.rows; i++)
            work += owner[i] == r ? work_of(A->a.offsets, i, i + 1) : 0;
        if (work > 0)
            worst = fmax(worst, (double)work / due);
    }
    return worst;
}

/* METIS is better than cutting at random, which cuts (1 - 1/p) of all edges, and keeps to the
 * shares within its 3% and a row. */
static void metis_cuts_little(void **state)
{
    spry_matrix *A = grid(*state, "size=40");
    const int64_t n = A->a.rows, edges = A->a.nnz - n;
    int32_t *owner = malloc((size_t)n * sizeof *owner);
    assert_non_null(owner);
    const double shares[] = {3, 1, 0, 4};
    for (int s = 0; s < 2; s++)
        for (int ranks = 1; ranks <= 4; ranks++) {
            const double *given = s ? shares : NULL;
            assert_ok(*state, partition_graph(A, ranks, given, owner));
            for (int64_t i = 0; i < n; i++)
                assert_true(owner[i] >= 0 && owner[i] < ranks && (!given || given[owner[i]] > 0));
            assert_true(entries_cut(A, owner) <= edges / 4);
            assert_true(imbalance(A, ranks, given, owner) < 1.1);
        }
    free(owner);
    spry_matrix_free(A);
}

/* A dense row, parts that are not connected, no edges, fewer rows than ranks, no rows. */
static void odd_graphs(void **state)
{
    spry_matrix *list[] = {
        support_long_row(*state, SPRY_TYPE_D, 60),
        support_from_rows(*state, SPRY_TYPE_D, 4, 4,
                          (double[]){1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 2, 0, 0, 2, 1}),
        support_from_rows(*state, SPRY_TYPE_D, 3, 3, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}),
        support_from_rows(*state, SPRY_TYPE_Z, 1, 1, (double[]){1}),
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 0, 0, 0, 1),
    };
    int32_t owner[64];
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (int ranks = 1; ranks <= 6; ranks++) {
            assert_ok(*state, partition_graph(list[k], ranks, NULL, owner));
            for (int64_t i = 0; i < list[k]->a.rows; i++)
                assert_in_range(owner[i], 0, ranks - 1);
            if (list[k]->a.nnz == list[k]->a.rows)
                assert_int_equal(entries_cut(list[k], owner), 0);
        }
        spry_matrix_free(list[k]);
    }
}

static spry_status partition_all(spry_context *ctx, void *data)
{
    (void)ctx;
    int32_t owner[64];
    const double shares[] = {1, 2, 1};
    return partition_graph(data, 3, shares, owner);
}

static void torture(void **state)
{
    spry_matrix *A = grid(*state, "size=8");
    support_torture(*state, partition_all, A);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contiguous_is_balanced, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(pieces_find_the_same, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(odd_sizes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(beyond_32_bits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(cuts_at_limits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_shares, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(numbers_and_owners, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(metis_cuts_little, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(odd_graphs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
