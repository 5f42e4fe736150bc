/*
 * Block methods: several right-hand sides that share one space, with every way in which it can lose
 * rank. What holds of each right-hand side is what holds of a solve by itself; that they help each
 * other shows in the number of iterations, which is bounded by that of cg, and by the dimension of
 * the space.
 */
#include "support/problems.h"

#include "matrix/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 19 };

typedef enum rank_loss {
    LOSS_NONE,      /* random numbers */
    LOSS_EQUAL,     /* all the same */
    LOSS_PAIRS,     /* two by two the same */
    LOSS_ZEROS,     /* every other one is 0 */
    LOSS_DEPENDENT, /* b_k = b_0 + b_1 / k */
    LOSS_NEAR,      /* the same but for the last digits */
    LOSS_SOLVED,    /* the first guess of every third is the solution */
    LOSS_SCALES,    /* of very different sizes */
    LOSS_KINDS
} rank_loss;

typedef struct block {
    problem p;
    int count;
    spry_vector *b[MOST], *x[MOST];
    spry_result results[MOST];
} block;

static spry_scalar times(spry_scalar a, double factor)
{
    return (spry_scalar){a.re * factor, a.im * factor};
}

static spry_scalar number(spry_type type, int column, int64_t i)
{
    const uint64_t seed = 17 + (uint64_t)column, at = (uint64_t)(2 * i);
    return (spry_scalar){2 * base_uniform(seed, at) - 1,
                         spry_type_is_complex(type) ? 2 * base_uniform(seed, at + 1) - 1 : 0};
}

static spry_scalar right_hand_side(spry_type type, rank_loss loss, int k, int64_t i)
{
    const spry_scalar own = number(type, k, i), first = number(type, 0, i),
                      second = number(type, 1, i);
    const double near = type_is_single(type) ? 1e-6 : 1e-14;
    switch (loss) {
    case LOSS_EQUAL:
        return first;
    case LOSS_PAIRS:
        return number(type, k / 2, i);
    case LOSS_ZEROS:
        return times(own, k % 2);
    case LOSS_DEPENDENT:
        return k < 2 ? own : (spry_scalar){first.re + second.re / k, first.im + second.im / k};
    case LOSS_NEAR:
        return (spry_scalar){first.re + near * own.re, first.im + near * own.im};
    case LOSS_SCALES:
        return times(own, ldexp(1, 4 * (k % 5) - 8));
    default:
        return own;
    }
}

static void block_open(spry_context *ctx, problem_kind kind, spry_type type, int64_t n,
                       rank_loss loss, int count, block *s)
{
    memset(s, 0, sizeof *s);
    problem_make(ctx, kind, type, n, &s->p);
    s->count = count;
    for (int k = 0; k < count; k++) {
        assert_ok(ctx, spry_vector_like(s->p.b, spry_vector_size(s->p.b), &s->b[k]));
        assert_ok(ctx, spry_vector_like(s->p.b, spry_vector_size(s->p.b), &s->x[k]));
        for (int64_t i = 0; i < s->b[k]->n; i++)
            value_set(type, s->b[k]->data, i, right_hand_side(type, loss, k, i));
        s->results[k] = (spry_result)SPRY_RESULT_INIT;
    }
}

static void clear_results(block *s)
{
    for (int k = 0; k < s->count; k++)
        spry_result_clear(s->p.ctx, &s->results[k]);
}

static void block_close(block *s)
{
    clear_results(s);
    for (int k = 0; k < s->count; k++) {
        spry_vector_free(s->b[k]);
        spry_vector_free(s->x[k]);
    }
    problem_free(&s->p);
}

/* From x = 0; `solved`: but for every third, which begins with what it has. */
static void solve(block *s, const char *options, bool solved)
{
    const spry_vector *b[MOST];
    spry_solver *solver = NULL;
    spry_context *ctx = s->p.ctx;
    clear_results(s);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, s->p.A));
    for (int k = 0; k < s->count; k++) {
        b[k] = s->b[k];
        if (!solved || k % 3 != 0)
            assert_ok(ctx, spry_vector_fill(s->x[k], (spry_scalar){0, 0}));
    }
    assert_ok(ctx, spry_solve_many(solver, s->count, b, s->x, s->results));
    spry_solver_free(solver);
}

/* What is said of each is true, and all have converged. */
static void check_converged(block *s, double tol, const char *options)
{
    for (int k = 0; k < s->count; k++) {
        problem one = s->p;
        double norm, rounding;
        one.b = s->b[k];
        one.x = s->x[k];
        assert_ok(s->p.ctx, spry_vector_norm(one.b, &norm));
        if (norm == 0) {
            assert_ok(s->p.ctx, spry_vector_norm(one.x, &norm));
            assert_true(s->results[k].converged && norm == 0);
            continue;
        }
        problem_check(&one, &s->results[k], options);
        const double residual = problem_residual(&one, &rounding);
        if (!s->results[k].converged || !(residual <= tol + rounding))
            fail_msg("%s, right-hand side %d: %s after %lld iterations, residual %g", options, k,
                     s->results[k].detail, (long long)s->results[k].iterations, residual);
    }
}

static int64_t most_iterations(const block *s)
{
    int64_t most = 0;
    for (int k = 0; k < s->count; k++)
        most = s->results[k].iterations > most ? s->results[k].iterations : most;
    return most;
}

/*
 * An iterate of block-cg is the best of the block's space in the norm of A, which holds the space
 * of cg for each right-hand side: |e|_A is no larger than cg's. |r| is between sqrt(least) |e|_A
 * and sqrt(largest) |e|_A of the eigenvalues, so it is at most sqrt(condition) times cg's: what cg
 * reaches for tol / sqrt(condition) block-cg has reached for tol by then. The condition is 100.
 */
static void losses(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int loss = 0; loss < LOSS_KINDS; loss++) {
            const double tol = problem_tolerance(support_types[t]);
            char options[96];
            block s;
            block_open(*state, PROBLEM_DEFINITE, support_types[t], 80, (rank_loss)loss, 9, &s);
            snprintf(options, sizeof options, "method=cg precon=none tol=%g", tol / 10);
            solve(&s, options, false);
            const int64_t most = most_iterations(&s);
            snprintf(options, sizeof options, "method=block-cg precon=none tol=%g", tol);
            solve(&s, options, loss == LOSS_SOLVED);
            check_converged(&s, tol, options);
            if (most_iterations(&s) > most)
                fail_msg("type %d, rank loss %d: %lld iterations, cg %lld", t, loss,
                         (long long)most_iterations(&s), (long long)most);
            block_close(&s);
        }
}

/*
 * An iterate of block-gmres, and of block-gcr while nothing is restarted, has the least residual of
 * the block's space, which holds the space of gmres for each right-hand side: so it is no larger
 * than that of gmres, but for rounding, for which gmres has a tenth of the tolerance.
 */
static void square_losses(void **state)
{
    static const char *const methods[] = {"block-gmres:restart=40", "block-gcr:restart=40"};
    for (int t = 0; t < 4; t++)
        for (int loss = 0; loss < LOSS_KINDS; loss++) {
            const char *const method = methods[(t / 2 + loss) % 2];
            const double tol = problem_tolerance(support_types[t]);
            const bool compared = t % 2 == 1 && loss / 2 % 2 == 0; /* in double precision */
            char options[96];
            block s;
            block_open(*state, PROBLEM_CONVECTION, support_types[t], 60, (rank_loss)loss, 6, &s);
            int64_t most = INT64_MAX;
            if (compared || loss == LOSS_SOLVED) {
                snprintf(options, sizeof options, "method=gmres:restart=70 precon=none tol=%g",
                         tol / 10);
                solve(&s, options, false);
                most = most_iterations(&s);
            }
            snprintf(options, sizeof options, "method=%s precon=%s tol=%g", method,
                     compared ? "none" : "jacobi", tol);
            solve(&s, options, loss == LOSS_SOLVED);
            check_converged(&s, tol, options);
            if (compared && most_iterations(&s) > most)
                fail_msg("%s, type %d, rank loss %d: %lld iterations, gmres %lld", method, t, loss,
                         (long long)most_iterations(&s), (long long)most);
            block_close(&s);
        }
}

/* Every loss of rank; and 16 right-hand sides end in a space of 64 dimensions after 4 steps, as
 * those of block-cg do: rounding of doubles, which products of polynomials multiply, takes as many
 * again at most. */
static void stabilized(void **state)
{
    for (int t = 0; t < 4; t++) {
        const double tol = problem_tolerance(support_types[t]);
        char options[96];
        block s;
        snprintf(options, sizeof options, "method=block-bicgstab precon=jacobi tol=%g", tol);
        for (int loss = 0; loss < LOSS_KINDS; loss++) {
            block_open(*state, PROBLEM_CONVECTION, support_types[t], 60, (rank_loss)loss, 6, &s);
            solve(&s, options, loss == LOSS_SOLVED);
            check_converged(&s, tol, options);
            block_close(&s);
        }
        block_open(*state, PROBLEM_CONVECTION, support_types[t], 64, LOSS_NONE, 16, &s);
        solve(&s, options, false);
        check_converged(&s, tol, options);
        print_message("%lld\n", (long long)most_iterations(&s));
        assert_true(type_is_single(support_types[t]) || most_iterations(&s) <= 8);
        block_close(&s);
    }
}

/* Restarts, and more right-hand sides than are solved together; with one each is gmres, and gcr. */
static void restarted(void **state)
{
    static const char *const methods[] = {"block-gmres:restart=3", "block-gcr:restart=3"};
    static const int list[] = {1, 5, 17};
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            char options[96];
            block s;
            block_open(*state, PROBLEM_CONVECTION, SPRY_TYPE_D, 200, LOSS_NONE, list[k], &s);
            snprintf(options, sizeof options, "method=%s precon=ilu tol=1e-10", methods[m]);
            solve(&s, options, false);
            check_converged(&s, 1e-10, options);
            block_close(&s);
        }
    for (size_t m = 0; m < 2; m++) {
        char options[96];
        int64_t counts[2];
        block s;
        block_open(*state, PROBLEM_CONVECTION, SPRY_TYPE_D, 200, LOSS_NONE, 1, &s);
        for (int k = 0; k < 2; k++) {
            snprintf(options, sizeof options, "method=%s:restart=15 precon=none tol=1e-8",
                     k == 0   ? (m == 0 ? "gmres" : "gcr")
                     : m == 0 ? "block-gmres"
                              : "block-gcr");
            solve(&s, options, false);
            check_converged(&s, 1e-8, options);
            counts[k] = most_iterations(&s);
        }
        assert_int_equal(counts[0], counts[1]);
        block_close(&s);
    }
}

/* 16 right-hand sides fill a space of 64 dimensions with 4 steps: then x is exact but for rounding,
 * which a fifth step makes good. */
static void ends_early(void **state)
{
    for (int t = 0; t < 4; t++) {
        const double tol = problem_tolerance(support_types[t]);
        char options[96];
        block s;
        block_open(*state, PROBLEM_DEFINITE, support_types[t], 64, LOSS_NONE, 16, &s);
        snprintf(options, sizeof options, "method=block-cg precon=none tol=%g", tol);
        solve(&s, options, false);
        check_converged(&s, tol, options);
        assert_true(most_iterations(&s) <= 5);
        block_close(&s);
    }
}

static void preconditioned(void **state)
{
    static const char *const precons[] = {"jacobi", "ssor", "ic", "amg"};
    for (size_t m = 0; m < sizeof precons / sizeof *precons; m++)
        for (int t = 0; t < 4; t++) {
            const double tol = problem_tolerance(support_types[t]);
            const rank_loss loss = (rank_loss)((m * 4 + (size_t)t) % LOSS_KINDS);
            char options[96];
            block s;
            block_open(*state, PROBLEM_DOMINANT, support_types[t], 400, loss, 7, &s);
            snprintf(options, sizeof options, "method=block-cg precon=%s tol=%g", precons[m], tol);
            solve(&s, options, loss == LOSS_SOLVED);
            check_converged(&s, tol, options);
            block_close(&s);
        }
}

/* One, and more than are solved together. */
static void counts(void **state)
{
    static const int list[] = {1, 2, 16, 17, MOST};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const char *const options = "method=block-cg precon=jacobi tol=1e-10";
        block s;
        block_open(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 300, LOSS_NONE, list[k], &s);
        solve(&s, options, false);
        check_converged(&s, 1e-10, options);
        block_close(&s);
    }
}

/* Bits depend on neither threads nor fusing; chunks of 1,024 rows are several here. */
static void alike(void **state)
{
    static const char *const methods[] = {"block-cg", "block-gmres:restart=2",
                                          "block-gcr:restart=2", "block-bicgstab"};
    static const char *const contexts[] = {"threads=1", "threads=2", "threads=3"};
    (void)state;
    for (int t = 0; t < 4; t++) {
        char first[MOST][5000 * sizeof(spry_scalar)];
        for (int run = 0; run < 4; run++) {
            spry_context *ctx = support_context(contexts[run % 3]);
            char options[96];
            block s;
            block_open(ctx, PROBLEM_DOMINANT, support_types[t], 4900, LOSS_PAIRS, 5, &s);
            snprintf(options, sizeof options, "method=%s precon=jacobi max-iter=6 tol=0%s",
                     methods[t], run == 3 ? " fuse=no" : "");
            solve(&s, options, false);
            for (int k = 0; k < s.count; k++) {
                const size_t bytes = (size_t)s.x[k]->n * spry_type_size(support_types[t]);
                assert_true(bytes <= sizeof first[k]);
                if (run == 0)
                    memcpy(first[k], s.x[k]->data, bytes);
                else
                    assert_memory_equal(first[k], s.x[k]->data, bytes);
            }
            block_close(&s);
            support_context_free(ctx);
        }
    }
}

static void indefinite(void **state)
{
    block s;
    block_open(*state, PROBLEM_INDEFINITE, SPRY_TYPE_D, 60, LOSS_NONE, 4, &s);
    solve(&s, "method=block-cg precon=none tol=1e-10", false);
    for (int k = 0; k < s.count; k++) {
        assert_int_equal(s.results[k].reason, SPRY_REASON_BREAKDOWN);
        assert_non_null(strstr(s.results[k].detail, "not positive definite"));
    }
    block_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(losses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(square_losses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(stabilized, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(restarted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(ends_early, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(preconditioned, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(counts, support_setup, support_teardown),
        cmocka_unit_test(alike),
        cmocka_unit_test_setup_teardown(indefinite, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
