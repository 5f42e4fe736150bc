/* What fails on one rank fails on all, within the call and with the same words. */
#include "mpi/ranks.h"

#include <spry/spry.h>
#include <stdio.h>
#include <string.h>

static spry_matrix *make(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *W = NULL, *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &W));
    assert_ok(ctx, spry_matrix_spread(W, &A));
    spry_matrix_free(W);
    return A;
}

/* The nth allocation of one rank fails, at every place of making a matrix and solving. */
static void memory(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    static const char *const options[] = {"method=cg precon=jacobi max-iter=3",
                                          "method=bicg precon=none max-iter=3",
                                          "method=gmres precon=ilu max-iter=3 restart=3"};
    spry_matrix *W = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &W));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (int nth = 1;; nth++) {
            spry_matrix *A = NULL;
            spry_vector *b = NULL, *x = NULL;
            int64_t before, after;
            const bool bad = spry_context_rank(ctx) == nth % ranks;
            spry_context_memory(ctx, &before, NULL);
            spry_context_fail_allocation(ctx, bad ? nth : 0, false);
            spry_status status = spry_matrix_spread(W, &A);
            if (status == SPRY_STATUS_OK)
                status = spry_context_agree(ctx, spry_vector_ones(ctx, A, &b));
            if (status == SPRY_STATUS_OK)
                status = spry_context_agree(ctx, spry_vector_zeros(ctx, A, &x));
            if (status == SPRY_STATUS_OK)
                status = spry_quick_solve(ctx, A, b, x, options[k], NULL);
            spry_context_fail_allocation(ctx, 0, false);
            ranks_alike(ctx, status);
            if (status != SPRY_STATUS_OK)
                assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
            spry_vector_free(b);
            spry_vector_free(x);
            spry_matrix_free(A);
            spry_context_memory(ctx, &after, NULL);
            assert_int_equal(after, before);
            /* As many allocations as there are at most here; some failures are got over. */
            if (nth > 400)
                break;
        }
    spry_matrix_free(W);
    support_context_free(ctx);
}

/* A number that is none, on the last rank alone. */
static void not_finite(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int last = spry_context_ranks(ctx) - 1;
    const bool bad = spry_context_rank(ctx) == last;
    spry_matrix *A = make(ctx, "poisson2d", "size=8");
    spry_vector *b, *x;
    char text[64];
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    if (bad)
        value_set(b->type, b->data, b->n - 1, (spry_scalar){NAN, 0});
    spry_status status = spry_quick_solve(ctx, A, b, x, "method=cg precon=none", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    support_message_has(ctx, "the right-hand side is not finite at row 63");
    snprintf(text, sizeof text, "rank %d", last);
    if (last > 0)
        support_message_has(ctx, text);
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    if (bad) {
        spry_matrix *own = A->spread ? A->spread->own : A;
        value_set(own->a.type, own->a.values, own->a.nnz - 1, (spry_scalar){INFINITY, 0});
        matrix_forget(own, FACTS_ALL);
    }
    status = spry_quick_solve(ctx, A, b, x, "method=cg precon=none", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    /* A preconditioner that one rank cannot make. */
    if (bad) {
        spry_matrix *own = A->spread ? A->spread->own : A;
        value_set(own->a.type, own->a.values, own->a.nnz - 1, (spry_scalar){0, 0});
        matrix_forget(own, FACTS_ALL);
    }
    matrix_forget(A, FACTS_ALL);
    status = spry_quick_solve(ctx, A, b, x, "method=cg precon=jacobi", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    support_message_has(ctx, "has no inverse");
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

typedef struct stopper {
    spry_context *ctx;
    bool me;
    int64_t at;
    bool by_interrupt;
} stopper;

static bool stop_at(void *data, int64_t iteration, double residual)
{
    const stopper *s = data;
    (void)residual;
    if (s->me && iteration == s->at && s->by_interrupt)
        spry_context_interrupt(s->ctx);
    return s->by_interrupt || !s->me || iteration < s->at;
}

/* One rank's wish to stop ends the solve of all, at the same iteration. */
static void stops(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=30");
    spry_vector *b, *x;
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=none"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    for (int way = 0; way < 2; way++) {
        stopper s = {ctx, spry_context_rank(ctx) == spry_context_ranks(ctx) - 1, 7, way == 1};
        spry_result result = SPRY_RESULT_INIT;
        int64_t most = 0, sum = 0;
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        spry_solver_set_watch(solver, stop_at, &s);
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_int_equal(result.reason, SPRY_REASON_STOPPED);
        assert_in_range(result.iterations, 7, 8);
        most = result.iterations;
        assert_ok(ctx, team_sum(ctx, most, &sum));
        assert_int_equal(sum, most * spry_context_ranks(ctx));
        assert_false(spry_context_interrupted(ctx, false)); /* it was taken */
        spry_result_clear(ctx, &result);
    }
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* What would change a part of it alone is refused. */
static void not_changed(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=30");
    const spry_status expected =
        spry_context_ranks(ctx) > 1 ? SPRY_STATUS_UNSUPPORTED : SPRY_STATUS_OK;
    assert_int_equal(spry_matrix_scale(A, NULL, NULL), expected);
    assert_ok(ctx, spry_matrix_sort(A)); /* it is */
    spry_matrix_free(A);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(not_finite), cmocka_unit_test(stops),
                                       cmocka_unit_test(memory), cmocka_unit_test(not_changed)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
