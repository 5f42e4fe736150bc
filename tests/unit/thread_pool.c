/*
 * The threads of iterations: each share is run once, whoever runs it; teams that synchronise see
 * what the others wrote before; work within work, and of several callers at once; a fork's child;
 * cores that OpenMP's threads would keep.
 */
#include "support/support.h"

#include "base/background.h"

#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARES = 13, TURNS = 3000 };

typedef struct tally {
    spry_context *ctx;
    int runs[SHARES];
    bool wrong;
} tally;

static void count_share(void *argument, int share, int shares)
{
    tally *t = argument;
    t->runs[share]++;
    if (shares != SHARES)
        t->wrong = true;
}

static bool shares_run_once(spry_context *ctx, int turns)
{
    tally t = {.ctx = ctx};
    bool fine = true;
    for (int turn = 0; turn < turns; turn++)
        base_share_out(ctx, SHARES, count_share, &t);
    for (int share = 0; share < SHARES; share++)
        fine = fine && t.runs[share] == turns;
    return fine && !t.wrong;
}

static void test_shares_run_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", threads);
        spry_context *ctx = support_context(options);
        assert_true(shares_run_once(ctx, TURNS));
        spry_context_free(ctx);
    }
}

/* Some shares take a hundred times longer: those who have done theirs sleep meanwhile. */
static void slow_share(void *argument, int share, int shares)
{
    const double until = base_seconds() + (share % 4 == 1 ? 300e-6 : 3e-6);
    while (base_seconds() < until)
        sched_yield();
    count_share(argument, share, shares);
}

static void test_waiting_threads_sleep_and_wake(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=4");
    tally t = {.ctx = ctx};
    for (int turn = 0; turn < 100; turn++)
        base_share_out(ctx, SHARES, slow_share, &t);
    for (int share = 0; share < SHARES; share++)
        assert_int_equal(t.runs[share], 100);
    spry_context_free(ctx);
}

typedef struct relay {
    int64_t seen[64]; /* by member */
    int teams[64];    /* how large each believes the team to be */
    bool wrong;
} relay;

/* After each meeting everybody has everybody's number. */
static void pass_on(void *argument, int me, int team)
{
    enum { ROUNDS = 50 };
    relay *r = argument;
    r->teams[me] = team;
    for (int64_t round = 1; round <= ROUNDS; round++) {
        r->seen[me] = round;
        base_barrier();
        for (int i = 0; i < team; i++)
            if (r->seen[i] != round)
                r->wrong = true;
        base_barrier();
    }
}

static void test_teams_synchronise(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=4");
    for (int turn = 0; turn < 100; turn++) {
        relay r = {.wrong = false};
        base_work_together(ctx, 1 + turn % 4, pass_on, &r);
        assert_false(r.wrong);
        assert_in_range(r.teams[0], 1, 1 + turn % 4);
        for (int i = 0; i < r.teams[0]; i++)
            assert_int_equal(r.teams[i], r.teams[0]);
        /* and shares in between, with another number of threads */
        assert_true(shares_run_once(ctx, 1 + turn % 3));
    }
    spry_context_free(ctx);
}

/* Each goes on when the one before it has come as far; the last one's numbers were all there. */
static void follow(void *argument, int me, int team)
{
    enum { ROUNDS = 200 };
    relay *r = argument;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (me > 0) {
            base_wait_for(me - 1, round);
            if (r->seen[me - 1] < round)
                r->wrong = true;
        }
        r->seen[me] = round;
        base_step();
    }
    base_barrier();
    for (int i = 0; i < team; i++)
        if (r->seen[i] != ROUNDS)
            r->wrong = true;
}

static void test_one_waits_for_another(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=4");
    for (int turn = 0; turn < 100; turn++) {
        relay r = {.wrong = false};
        base_work_together(ctx, 1 + turn % 4, follow, &r);
        assert_false(r.wrong);
    }
    spry_context_free(ctx);
}

/* Within work, shared or together, there is one thread. */
static void nest(void *argument, int share, int shares)
{
    tally *outer = argument, inner = {.ctx = outer->ctx};
    relay r = {.wrong = false};
    base_share_out(outer->ctx, SHARES, count_share, &inner);
    base_work_together(outer->ctx, 3, pass_on, &r);
    for (int i = 0; i < SHARES; i++)
        if (inner.runs[i] != 1)
            outer->wrong = true;
    if (r.wrong || r.teams[0] != 1)
        outer->wrong = true;
    outer->runs[share]++;
    (void)shares;
}

static void test_work_within_work(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=3");
    tally t = {.ctx = ctx};
    base_share_out(ctx, 5, nest, &t);
    for (int share = 0; share < 5; share++)
        assert_int_equal(t.runs[share], 1);
    assert_false(t.wrong);
#pragma omp parallel for num_threads(2)
    for (int i = 5; i < 7; i++)
        nest(&t, i, 7);
    assert_false(t.wrong);
    spry_context_free(ctx);
}

#if defined(__linux__) && !defined(__clang__)
static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

static void spend_time(void *argument, int share, int shares)
{
    const double until = base_seconds() + 1e-3;
    while (base_seconds() < until)
        sched_yield();
    count_share(argument, share, shares);
}

/* Milliseconds, at least. */
static void spend_milliseconds(const spry_context *ctx, tally *t)
{
    for (int k = 0; k < 4; k++)
        base_share_out(ctx, SHARES, spend_time, t);
}

/* gcc's run-time keeps its threads after a region, and they spin: iterations that last and need
 * their cores end them, other work leaves them. The next region has as many again. */
static void test_openmp_gives_cores_back(void **state)
{
    (void)state;
    const int threads = omp_get_num_procs() < 2 ? 2 : omp_get_num_procs();
    spry_context *ctx = support_context("threads=2");
    tally t = {.ctx = ctx};
    if (2 * SHARES <= threads + 1)
        skip(); /* there are cores for all */
    assert_true(shares_run_once(ctx, 1));
    for (int turn = 0; turn < 2; turn++) {
        int team = 0;
#pragma omp parallel num_threads(threads) reduction(+ : team)
        team++;
        assert_int_equal(team, threads);
        const int before = count_threads();
        spend_milliseconds(ctx, &t);
        assert_int_equal(count_threads(), before);
        assert_false(base_iterate(true));
        spend_milliseconds(ctx, &t);
        assert_true(base_iterate(false));
        assert_int_equal(count_threads(), before - (threads - 1));
    }
    spry_context_free(ctx);
}
#endif

static void *solve_alone(void *data)
{
    return shares_run_once(data, TURNS) ? data : NULL;
}

/* Each caller has threads of its own, which end with it. */
static void test_several_callers(void **state)
{
    (void)state;
    spry_context *ctx[3];
    pthread_t callers[3];
    for (int i = 0; i < 3; i++) {
        ctx[i] = support_context("threads=3");
        assert_int_equal(spry_context_threads(ctx[i]), 3);
        assert_int_equal(pthread_create(&callers[i], NULL, solve_alone, ctx[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(callers[i], &result), 0);
        assert_ptr_equal(result, ctx[i]);
        spry_context_free(ctx[i]);
    }
}

static void test_child_of_a_fork(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=3");
    int status = -1;
    assert_true(shares_run_once(ctx, TURNS));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60); /* rather than for ever */
        _exit(shares_run_once(ctx, TURNS) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(shares_run_once(ctx, TURNS));
    spry_context_free(ctx);
}

static int use_all(void **state)
{
    (void)state;
    base_use_all_threads(true);
    return 0;
}

static int use_some(void **state)
{
    (void)state;
    base_use_all_threads(false);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_run_once),
        cmocka_unit_test(test_waiting_threads_sleep_and_wake),
        cmocka_unit_test(test_teams_synchronise),
        cmocka_unit_test(test_one_waits_for_another),
        cmocka_unit_test(test_work_within_work),
        cmocka_unit_test(test_several_callers),
        cmocka_unit_test(test_child_of_a_fork), /* the last: few run-times live on in a child */
    };
#if defined(__linux__) && !defined(__clang__)
    const struct CMUnitTest openmp[] = {cmocka_unit_test(test_openmp_gives_cores_back)};
    const int spin = cmocka_run_group_tests(openmp, use_all, use_some);
#else
    const int spin = 0;
#endif
    /* Threads that do not serve rest: what can go wrong among them shows where they do not. */
    const int all = cmocka_run_group_tests(tests, use_all, use_some);
    return spin + all + cmocka_run_group_tests(tests, NULL, NULL);
}
