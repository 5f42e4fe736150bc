/* What fails on one rank fails on all, within the call and with the same words. */
#include "mpi/ranks.h"

#include <math.h>
#include <spry/spry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spry_matrix *make(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *W = NULL, *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &W));
    assert_ok(ctx, spry_matrix_distribute(W, &A));
    spry_matrix_free(W);
    return A;
}

/* What a solver that has these options would do; it is collective as a solve is. */
static spry_status foretell(spry_context *ctx, const spry_matrix *A, const char *options)
{
    spry_solver *solver = NULL;
    spry_plan plan = SPRY_PLAN_INIT;
    spry_status status = spry_context_agree(ctx, spry_solver_new(ctx, &solver));
    if (status == SPRY_STATUS_OK)
        status = spry_context_agree(ctx, spry_solver_set(solver, options));
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_plan(solver, 1, &plan);
    spry_plan_clear(ctx, &plan);
    spry_solver_free(solver);
    return status;
}

/* The nth allocation of one rank fails, at every place of making a matrix and solving. */
static void memory(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    static const char *const options[] = {
        "method=cg precon=jacobi max-iter=3", "method=bicg precon=none max-iter=3",
        "method=gmres precon=ilu max-iter=3 restart=3", "method=cg precon=jacobi"}; /* a plan */
    enum { SOLVES = 3 };
    spry_matrix *W = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &W));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (int nth = 1;; nth++) {
            spry_matrix *A = NULL;
            spry_vector *b = NULL, *x = NULL;
            int64_t before, after;
            const bool bad = spry_context_rank(ctx) == nth % ranks;
            spry_context_memory(ctx, &before, NULL);
            base_fail_allocation(ctx, bad ? nth : 0, false);
            spry_status status = spry_matrix_distribute(W, &A);
            if (status == SPRY_STATUS_OK)
                status = spry_context_agree(ctx, spry_vector_ones(ctx, A, &b));
            if (status == SPRY_STATUS_OK)
                status = spry_context_agree(ctx, spry_vector_zeros(ctx, A, &x));
            if (status == SPRY_STATUS_OK)
                status = k < SOLVES ? spry_quick_solve(ctx, A, b, x, options[k], NULL)
                                    : foretell(ctx, A, options[k]);
            base_fail_allocation(ctx, 0, false);
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

typedef struct waster {
    spry_context *ctx;
    bool me;
} waster;

/* From here on the next allocation fails. */
static bool waste(void *data, int64_t iteration, double residual)
{
    const waster *w = data;
    (void)iteration, (void)residual;
    if (w->me)
        base_fail_allocation(w->ctx, 1, false);
    return true;
}

/* More right-hand sides than are solved side by side: at the end of the first of them, where
 * results are filled in, one rank has no memory for a warning. None goes on with the rest. */
static void batches(void **state)
{
    enum { COUNT = 9 };
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=5");
    spry_vector *b = NULL, *x[COUNT];
    const spry_vector *all[COUNT];
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    /* A device that the environment names and that is missing is warned of. */
    setenv("SPRY_DEVICE", "opencl:99", 1);
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=jacobi"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    for (int k = 0; k < COUNT; k++) {
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x[k]));
        all[k] = b;
    }
    for (int way = 0; way < 3; way++) {
        spry_result results[COUNT];
        waster w = {ctx, way == 1 && spry_context_rank(ctx) == spry_context_ranks(ctx) - 1};
        for (int k = 0; k < COUNT; k++) {
            results[k] = (spry_result)SPRY_RESULT_INIT;
            assert_ok(ctx, spry_vector_fill(x[k], (spry_scalar){0, 0}));
        }
        spry_solver_set_watch(solver, waste, &w);
        const spry_status status = spry_solve_many(solver, COUNT, all, x, results);
        base_fail_allocation(ctx, 0, false);
        ranks_alike(ctx, status);
        assert_status(ctx, way == 1 ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_OK, status);
        if (way == 1) /* the rest has not begun */
            assert_int_equal(results[COUNT - 1].iterations, 0);
        else
            assert_non_null(results[0].warnings);
        for (int k = 0; k < COUNT; k++)
            spry_result_clear(ctx, &results[k]);
    }
    unsetenv("SPRY_DEVICE");
    for (int k = 0; k < COUNT; k++)
        spry_vector_free(x[k]);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Products with several x, of which one rank has no room for some: one alone is multiplied after
 * each. */
static void together(void **state)
{
    enum { COUNT = 3 };
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=5");
    spry_operator *op = NULL;
    operator_rows rows = {0};
    spry_vector *x = NULL, *y = NULL;
    const void *several[COUNT];
    assert_ok(ctx, spry_vector_ones(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &y));
    for (int nth = 1; nth <= 8; nth++) {
        int64_t before, after;
        spry_context_memory(ctx, &before, NULL);
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_NO, &rows));
        for (int k = 0; k < COUNT; k++)
            several[k] = x->data;
        for (int tried = 0; tried < 2 && rows.begin; tried++) {
            const bool bad = tried == 0 && spry_context_rank(ctx) == nth % spry_context_ranks(ctx);
            base_fail_allocation(ctx, bad ? nth : 0, false);
            const spry_status status = rows.begin(&rows, COUNT, several);
            base_fail_allocation(ctx, 0, false);
            ranks_alike(ctx, status);
            if (status == SPRY_STATUS_OK)
                assert_ok(ctx, rows.finish(&rows));
            assert_true(status == SPRY_STATUS_OK || bad || tried == 0);
            assert_ok(ctx, spry_operator_apply(op, x, y));
        }
        spry_operator_free(op);
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(after, before);
    }
    spry_vector_free(x);
    spry_vector_free(y);
    spry_matrix_free(A);
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
        spry_matrix *own = A->distributed ? A->distributed->own : A;
        value_set(own->a.type, own->a.values, own->a.nnz - 1, (spry_scalar){INFINITY, 0});
        matrix_forget(own, FACTS_ALL);
    }
    status = spry_quick_solve(ctx, A, b, x, "method=cg precon=none", NULL);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    ranks_alike(ctx, status);
    /* A preconditioner that one rank cannot make. */
    if (bad) {
        spry_matrix *own = A->distributed ? A->distributed->own : A;
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

typedef struct looker {
    bool me;
    double last; /* the first element of x, when it was last looked at */
    int looks;
} looker;

static bool look(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    looker *l = data;
    (void)iteration, (void)residual;
    if (l->me) {
        const void *numbers = spry_vector_data_const(x);
        assert_non_null(numbers);
        l->last = x->n > 0 ? value_get(x->type, numbers, 0).re : 0;
        l->looks++;
    }
    return true;
}

/* One rank alone looks at an x that is made of the basis: the others do not wait for it, nor it for
 * them. */
static void looks(void **state)
{
    static const char *const methods[] = {"method=gmres precon=ilu", "method=cg precon=none"};
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=12");
    spry_vector *b, *x;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    for (int k = 0; k < 2; k++) {
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        looker l = {.me = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1};
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, methods[k]));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        spry_solver_set_monitor(solver, look, &l);
        const spry_status status = spry_solve(solver, b, x, &result);
        ranks_alike(ctx, status);
        assert_ok(ctx, status);
        assert_true(result.converged);
        if (l.me) { /* the last x that was seen is the one that was found */
            assert_int_equal(l.looks, result.iterations);
            assert_true(fabs(l.last - value_get(x->type, x->data, 0).re) <= 1e-12 * fabs(l.last));
        }
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

static spry_status bring_none(void *from, spry_vector *v)
{
    (void)from;
    return SPRY_FAIL(v->ctx, SPRY_STATUS_DEVICE, "its numbers are gone");
}

/* Numbers that one rank cannot bring: sums fail on all. */
static void not_brought(void **state)
{
    static const char *const repeats[] = {NULL, "repeat=strict"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        spry_context *ctx = ranks_context(repeats[k % 2]);
        spry_matrix *A = make(ctx, "poisson2d", "size=5");
        spry_vector *x, *y;
        spry_scalar dot;
        double norm;
        assert_ok(ctx, spry_vector_ones(ctx, A, &x));
        assert_ok(ctx, spry_vector_ones(ctx, A, &y));
        if (spry_context_rank(ctx) == spry_context_ranks(ctx) - 1)
            y->bring = bring_none;
        const spry_status status = k < 2 ? spry_vector_norm(y, &norm) : spry_vector_dot(x, y, &dot);
        assert_status(ctx, SPRY_STATUS_DEVICE, status);
        ranks_alike(ctx, status);
        y->bring = NULL;
        assert_ok(ctx, spry_vector_dot(x, y, &dot)); /* in step */
        assert_true(dot.re == 25);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
}

/* A solution that is beyond the range of the type in the rows of one rank. */
static void beyond(void **state)
{
    enum { ROWS = 2 };
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const bool last = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1;
    const int64_t first = (int64_t)spry_context_rank(ctx) * ROWS, offsets[] = {0, 1, 2};
    const int64_t columns[ROWS] = {first, first + 1};
    const float values[ROWS] = {1e20F, last ? 1e-10F : 1e20F};
    spry_matrix *A = NULL;
    spry_vector *b, *x;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx,
              spry_matrix_new_ranked(ctx, SPRY_TYPE_S, ROWS, -1, offsets, columns, values, &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1e30, 0}));
    const spry_status status =
        spry_quick_solve(ctx, A, b, x, "method=richardson precon=jacobi", &result);
    ranks_alike(ctx, status);
    assert_ok(ctx, status);
    assert_int_equal(result.reason, SPRY_REASON_NONFINITE);
    assert_non_null(strstr(result.detail, "beyond the range"));
    assert_true(value_get(x->type, x->data, 0).re == 0); /* on all */
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Vectors that a method keeps, given to it by ranks of which one has no memory. */
static void kept(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    spry_matrix *A = make(ctx, "poisson2d", "size=5");
    spry_vector *v;
    assert_ok(ctx, spry_vector_ones(ctx, A, &v));
    for (int nth = 1, got_over = 0; got_over < 3; nth += 1 + nth / 8) {
        spry_solver *solver = NULL;
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=gcrot precon=none"));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        const bool bad = spry_context_rank(ctx) == nth % spry_context_ranks(ctx);
        base_fail_allocation(ctx, bad ? nth : 0, false);
        const spry_status status =
            spry_solver_set_space(solver, "U", 1, (const spry_vector *const *)&v);
        base_fail_allocation(ctx, 0, false);
        ranks_alike(ctx, status);
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
        got_over = status == SPRY_STATUS_OK ? got_over + 1 : 0;
        spry_solver_free(solver);
    }
    spry_vector_free(v);
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

/* Fails alike, and the message has a text; one rank has none to differ from. */
static void differ(spry_context *ctx, spry_status status, const char *text)
{
    ranks_alike(ctx, status);
    if (spry_context_ranks(ctx) == 1)
        return;
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    support_message_has(ctx, text);
    support_message_has(ctx, "rank 1 has another than rank 0");
}

/* A solve of another kind on one rank: they would wait for each other. */
static void solves_alike(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int odd = spry_context_rank(ctx) == 1;
    spry_matrix *A = make(ctx, "poisson2d", "size=6");
    spry_vector *b, *x;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    static const struct {
        const char *options[2], *text;
    } cases[] = {{{"method=cg precon=none", "method=gmres precon=none"}, "method"},
                 {{"method=cg precon=none", "method=cg precon=ilu"}, "precon"},
                 {{"method=cg precon=none", "method=cg precon=none tol=1e-6"}, "tol"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        differ(ctx, spry_quick_solve(ctx, A, b, x, cases[k].options[odd], NULL), cases[k].text);
    const spry_status split = spry_solve_split(
        A, b, x, odd ? "mode=async inner=jacobi" : "mode=sync inner=jacobi", NULL, NULL);
    if (spry_context_ranks(ctx) > 1)
        differ(ctx, split, "mode");
    spry_solver *solver = NULL;
    const spry_vector *const several[] = {b, b};
    spry_vector *const results[] = {x, x};
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=none"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    const spry_status many = spry_solve_many(solver, 1 + odd, several, results, NULL);
    ranks_alike(ctx, many);
    if (spry_context_ranks(ctx) > 1)
        support_message_has(ctx, "the number of right-hand sides");
    assert_ok(ctx, spry_solve(solver, b, x, NULL)); /* it is as good as before */
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Rows of one rank that cannot be, or are of another matrix than those of the others. */
static void rows_alike(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int rank = spry_context_rank(ctx), ranks = spry_context_ranks(ctx), odd = rank == 1;
    const int64_t offsets[] = {0, 1}, columns[] = {rank};
    const double values[] = {1, 1}; /* of any type */
    const spry_type type = odd ? SPRY_TYPE_S : SPRY_TYPE_D;
    spry_matrix *A = NULL;
    differ(ctx, spry_matrix_new_ranked(ctx, type, 1, -1, offsets, columns, values, &A), "type");
    spry_matrix_free(A);
    differ(
        ctx,
        spry_matrix_new_distributed(ctx, type, ranks, ranks, 1, NULL, offsets, columns, values, &A),
        "type");
    spry_matrix_free(A);
    differ(ctx,
           spry_matrix_new_distributed(ctx, SPRY_TYPE_D, ranks + odd, ranks + odd, 1, NULL, offsets,
                                       columns, values, &A),
           "rows of all");
    spry_matrix_free(A);
    differ(ctx,
           spry_matrix_new_distributed(ctx, SPRY_TYPE_D, ranks, ranks + odd, 1, NULL, offsets,
                                       columns, values, &A),
           "columns of all");
    spry_matrix_free(A);
    /* Offsets that rise beyond the last: what they promise is not looked at. */
    const int64_t falling[] = {0, 1000000, 1};
    const spry_status status = spry_matrix_new_ranked(ctx, SPRY_TYPE_D, rank == ranks - 1 ? 2 : 0,
                                                      -1, falling, columns, values, &A);
    ranks_alike(ctx, status);
    assert_int_equal(status, SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, "offsets fall");
    support_context_free(ctx);
    /* And contexts. */
    spry_context *other = NULL;
    const spry_status made =
        spry_mpi_context_new(MPI_COMM_WORLD, odd ? "repeat=strict threads=1" : "threads=2", &other);
    differ(other, made, "repeat");
    spry_context_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_finite),   cmocka_unit_test(stops),
        cmocka_unit_test(memory),       cmocka_unit_test(batches),
        cmocka_unit_test(together),     cmocka_unit_test(looks),
        cmocka_unit_test(beyond),       cmocka_unit_test(not_brought),
        cmocka_unit_test(kept),         cmocka_unit_test(not_changed),
        cmocka_unit_test(solves_alike), cmocka_unit_test(rows_alike)};
    MPI_Init(NULL, NULL);
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
