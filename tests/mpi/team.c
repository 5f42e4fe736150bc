/* The operations of a team, and what is made of them. */
#include "base/team.h"
#include "base/base.h"
#include "support/support.h"

#include <math.h>
#include <spry/mpi.h>
#include <stdlib.h>

static int setup(void **state)
{
    spry_context *ctx = NULL;
    spry_team *t = spry_mpi_team_new(NULL);
    assert_non_null(t);
    assert_ok(ctx, spry_context_new_ranked(t, NULL, &ctx));
    *state = ctx;
    return 0;
}

static int teardown(void **state)
{
    spry_context_free(*state);
    return 0;
}

static void all_hear_all(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx), rank = spry_context_rank(ctx);
    team_request *request = NULL;
    double mine[2] = {rank + 0.5, -rank}, all[64];
    assert_true(ranks <= 32);
    assert_ok(ctx, team_gather(ctx, mine, sizeof mine, all));
    for (int r = 0; r < ranks; r++) {
        assert_true(all[2 * r] == r + 0.5);
        assert_true(all[2 * r + 1] == -r);
        all[2 * r] = 0;
    }
    assert_ok(ctx, team_gather_begin(ctx, mine, sizeof mine, all, &request));
    assert_ok(ctx, team_gather_end(ctx, request));
    for (int r = 0; r < ranks; r++)
        assert_true(all[2 * r] == r + 0.5);
    for (int r = 0; r < ranks; r++) {
        int word = rank == r ? 100 + r : 0;
        assert_ok(ctx, team_share(ctx, r, &word, sizeof word));
        assert_int_equal(word, 100 + r);
    }
}

/* Rank r sends s of its own to rank s, (r + s) % 3 of them: some send nothing. */
static void each_to_each(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx), rank = spry_context_rank(ctx);
    int64_t bytes[32];
    int32_t send[96], receive[96];
    int n = 0;
    for (int s = 0; s < ranks; s++) {
        bytes[s] = (rank + s) % 3 * (int64_t)sizeof *send;
        for (int k = 0; k < (rank + s) % 3; k++)
            send[n++] = 100 * rank + 10 * s + k;
    }
    assert_ok(ctx, team_swap(ctx, bytes, send, bytes, receive));
    n = 0;
    for (int s = 0; s < ranks; s++)
        for (int k = 0; k < (rank + s) % 3; k++)
            assert_int_equal(receive[n++], 100 * s + 10 * rank + k);
}

/* Round a ring, both ways, many times from the same places. */
static void neighbours(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx), rank = spry_context_rank(ctx);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const int others = ranks == 1 ? 0 : ranks == 2 ? 1 : 2;
    enum { N = 50000 }; /* more than goes at once */
    double *numbers = calloc(4 * N, sizeof *numbers);
    const int64_t bytes = N * (int64_t)sizeof *numbers;
    const team_message send[] = {{left, bytes, numbers}, {right, bytes, numbers + N}};
    const team_message receive[] = {{left, bytes, numbers + 2 * N},
                                    {right, bytes, numbers + 3 * N}};
    team_halo *halo = NULL;
    assert_ok(ctx, team_halo_new(ctx, others, send, others, receive, &halo));
    for (int turn = 0; turn < 5; turn++) {
        for (int k = 0; k < N; k++) {
            numbers[k] = rank + 0.001 * turn + k;
            numbers[N + k] = -numbers[k];
        }
        assert_ok(ctx, team_halo_start(ctx, halo));
        assert_ok(ctx, team_halo_finish(ctx, halo));
        for (int k = 0; k < N && others > 0; k += 7) { /* two ranks: left is right */
            const double sign = others == 1 ? 1 : -1;
            assert_true(numbers[2 * N + k] == sign * (left + 0.001 * turn + k));
            if (others == 2)
                assert_true(numbers[3 * N + k] == right + 0.001 * turn + k);
        }
    }
    team_halo_free(ctx, halo);
    free(numbers);
}

static void posts_come_in_order(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx), rank = spry_context_rank(ctx);
    enum { TIMES = 20 };
    int next[32] = {0}, left = (ranks - 1) * TIMES;
    for (int k = 0; k < TIMES; k++)
        for (int r = 0; r < ranks; r++) {
            const int word[2] = {k, rank};
            if (r != rank)
                assert_ok(ctx, team_post(ctx, r, word, sizeof word));
        }
    while (left > 0) {
        int from, word = 0;
        int64_t bytes = 0;
        assert_ok(ctx, team_poll(ctx, &from, &word, sizeof word, &bytes)); /* less than was sent */
        if (from < 0)
            continue;
        assert_int_equal(bytes, 2 * sizeof word);
        assert_int_equal(word, next[from]++);
        left--;
    }
}

static void they_agree(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx), rank = spry_context_rank(ctx);
    double least, most;
    int64_t sum, *offsets = NULL;
    bool any;
    assert_ok(ctx, team_agree(ctx, SPRY_STATUS_OK));
    for (int bad = 0; bad < ranks; bad++) {
        spry_status status = SPRY_STATUS_OK;
        if (rank >= bad) /* the first one's is everybody's */
            status = rank == bad ? SPRY_FAIL(ctx, SPRY_STATUS_IO, "row %d", 7 + bad)
                                 : SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "none hears this");
        assert_status(ctx, SPRY_STATUS_IO, team_agree(ctx, status));
        char expected[64];
        if (bad > 0)
            snprintf(expected, sizeof expected, "rank %d: row %d", bad, 7 + bad);
        else
            snprintf(expected, sizeof expected, "row %d", 7);
        assert_string_equal(spry_message(ctx), expected);
    }
    assert_ok(ctx, team_bounds(ctx, rank - 1.5, &least, &most));
    assert_true(least == -1.5 && most == ranks - 2.5);
    /* What is no number on some ranks is the same on all, so that they decide alike. */
    double bounds[2], all[2 * 32];
    for (int bad = 0; bad < ranks; bad++) {
        assert_ok(ctx, team_bounds(ctx, rank == bad ? (double)NAN : rank, &bounds[0], &bounds[1]));
        assert_ok(ctx, team_gather(ctx, bounds, sizeof bounds, all));
        for (int r = 0; r < ranks; r++)
            assert_memory_equal(all + (ptrdiff_t)2 * r, bounds, sizeof bounds);
    }
    assert_ok(ctx, team_sum(ctx, rank + 1, &sum));
    assert_int_equal(sum, ranks * (ranks + 1) / 2);
    assert_ok(ctx, team_any(ctx, rank == ranks - 1, &any));
    assert_true(any);
    assert_ok(ctx, team_any(ctx, false, &any));
    assert_false(any);
    assert_ok(ctx, team_offsets(ctx, rank, &offsets));
    for (int r = 0; r <= ranks; r++)
        assert_int_equal(offsets[r], r * (r - 1) / 2);
    spry_free(ctx, offsets);
}

/* Options that are wrong on one rank alone, in a second context. */
static void contexts_fail_alike(void **state)
{
    spry_context *ctx = NULL;
    const int rank = spry_context_rank(*state), ranks = spry_context_ranks(*state);
    const MPI_Comm world = MPI_COMM_WORLD;
    spry_team *t = spry_mpi_team_new(&world);
    const spry_status status =
        spry_context_new_ranked(t, rank == ranks - 1 ? "threads=-1" : NULL, &ctx);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, status);
    support_message_has(ctx, "threads");
    spry_context_free(ctx);
    assert_int_equal(spry_mpi_context_new(MPI_COMM_NULL, NULL, &ctx), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(spry_mpi_context_new(MPI_COMM_WORLD, NULL, NULL), SPRY_STATUS_BAD_USAGE);
    assert_ok(ctx, spry_mpi_context_new_f((int)MPI_Comm_c2f(MPI_COMM_WORLD), NULL, &ctx));
    assert_int_equal(spry_context_ranks(ctx), ranks);
    spry_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_hear_all), cmocka_unit_test(each_to_each),
        cmocka_unit_test(neighbours),   cmocka_unit_test(posts_come_in_order),
        cmocka_unit_test(they_agree),   cmocka_unit_test(contexts_fail_alike),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
