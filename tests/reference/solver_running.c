/* A solver that is called from within its own calls, and requests to stop: what ends, what goes on.
 */
#include "support/support.h"

#include "operator/operator.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op, *function;
    spry_vector *b, *x;
    spry_solver *solver, *other;
    int calls, refused;
    bool frees; /* the first call frees the solver */
    int64_t interrupt_at;
} fixture;

static void note(fixture *f, spry_status status)
{
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    support_message_has(f->ctx, "the solver is running");
    f->refused++;
}

/* All that could change a solver, or start it; and what does no harm. */
static void meddle(fixture *f)
{
    spry_solver *s = f->solver;
    spry_result result = SPRY_RESULT_INIT;
    spry_vector *x = NULL;
    char *text = NULL;
    double whole, tol;
    note(f, spry_solver_set_matrix(s, f->A));
    note(f, spry_solver_set_operator(s, f->op));
    note(f, spry_solver_set_precon(s, NULL));
    note(f, spry_solver_set_method_text(s, NULL));
    note(f, spry_solver_set(s, "format=sell"));
    note(f, spry_solver_set(s, "tol=0.5"));
    note(f, spry_solver_set_real(s, "tol", 0.5));
    note(f, spry_solver_set_real(s, "max-iter", 1));
    note(f, spry_solver_set_text(s, "fuse", "no"));
    note(f, spry_solver_set_text(s, "precon", "none"));
    note(f, spry_solver_set_null_space(s, 0, NULL, NULL));
    note(f, spry_solver_update(s));
    note(f, spry_solver_explain(s, &text));
    note(f, spry_solver_get_real(s, "method:restart", &whole));
    assert_ok(f->ctx, spry_solver_get_real(s, "tol", &tol));
    assert_true(tol == 1e-10);
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &x));
    note(f, spry_solve(s, f->b, x, &result));
    assert_int_equal(result.reason, SPRY_REASON_FAILED);
    note(f, spry_solve_many(s, 1, (const spry_vector *[]){f->b}, (spry_vector *[]){x}, NULL));
    assert_ok(f->ctx, spry_solve(f->other, f->b, x, &result)); /* another solver */
    assert_true(result.converged);
    spry_result_clear(f->ctx, &result);
    spry_vector_free(x);
}

static void visit(fixture *f)
{
    if (f->calls++ > 2)
        return;
    meddle(f);
    if (f->frees)
        spry_solver_free(f->solver);
    f->frees = false;
}

static bool on_monitor(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    fixture *f = data;
    (void)residual, (void)x;
    visit(f);
    if (iteration == f->interrupt_at)
        spry_context_interrupt(f->ctx);
    return true;
}

static bool on_watch(void *data, int64_t iteration, double residual)
{
    (void)iteration, (void)residual;
    visit(data);
    return true;
}

static spry_status on_product(void *data, spry_transpose op, const void *x, void *y)
{
    fixture *f = data;
    visit(f);
    return f->op->class->multiply(f->op, op, (spry_scalar){1, 0}, x, (spry_scalar){0, 0}, y);
}

static void open_fixture(fixture *f, spry_context *ctx)
{
    *f = (fixture){.ctx = ctx};
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=15", &f->A));
    assert_ok(ctx, spry_vector_ones(ctx, f->A, &f->b));
    assert_ok(ctx, spry_vector_zeros(ctx, f->A, &f->x));
    assert_ok(ctx, spry_operator_from_matrix(f->A, NULL, NULL, &f->op));
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, f->x->n, f->x->n, true, on_product,
                                               f, &f->function));
    assert_ok(ctx, spry_solver_new(ctx, &f->solver));
    assert_ok(ctx, spry_solver_set(f->solver, "tol=1e-10 method=cg"));
    assert_ok(ctx, spry_solver_set_matrix(f->solver, f->A));
    assert_ok(ctx, spry_solver_new(ctx, &f->other));
    assert_ok(ctx, spry_solver_set(f->other, "method=cg"));
    assert_ok(ctx, spry_solver_set_matrix(f->other, f->A));
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    spry_solver_free(f->other);
    spry_operator_free(f->function);
    spry_operator_free(f->op);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_matrix_free(f->A);
}

enum { BY_MONITOR, BY_WATCH, BY_OPERATOR, BY_PRECON, WAYS };

static void set_way(fixture *f, int way)
{
    if (way == BY_MONITOR)
        spry_solver_set_monitor(f->solver, on_monitor, f);
    else if (way == BY_WATCH)
        spry_solver_set_watch(f->solver, on_watch, f);
    else if (way == BY_OPERATOR)
        assert_ok(f->ctx, spry_solver_set_operator(f->solver, f->function));
    else
        assert_ok(f->ctx, spry_solver_set_precon(f->solver, f->function));
}

static void calls_from_within_are_refused(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        fixture f;
        spry_result result = SPRY_RESULT_INIT;
        open_fixture(&f, *state);
        set_way(&f, way);
        if (way == BY_PRECON) /* A is no preconditioner of A: a few steps will do */
            assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=5 method=gmres"));
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
        assert_true(result.converged || way == BY_PRECON);
        assert_int_equal(f.refused, 3 * 16);
        spry_result_clear(f.ctx, &result);
        /* and now it takes everything again */
        f.calls = 100;
        assert_ok(f.ctx, spry_solver_set(f.solver, "tol=1e-4 method=cg max-iter=1000"));
        assert_ok(f.ctx, spry_solver_set_precon(f.solver, NULL));
        assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
        assert_true(result.converged);
        spry_result_clear(f.ctx, &result);
        close_fixture(&f);
    }
}

/* Freed in the middle of a solve: the solve ends as it would have, and then the solver is gone. */
static void freed_while_it_runs(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        fixture f;
        spry_result result = SPRY_RESULT_INIT;
        open_fixture(&f, *state);
        set_way(&f, way);
        if (way == BY_PRECON)
            assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=5 method=gmres"));
        f.frees = true;
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
        assert_true(result.converged || way == BY_PRECON);
        f.solver = NULL;
        spry_result_clear(f.ctx, &result);
        close_fixture(&f); /* whose memory the teardown counts */
    }
    /* while it is set up for a question */
    fixture f;
    double whole;
    open_fixture(&f, *state);
    set_way(&f, BY_OPERATOR);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=auto")); /* which asks A by products */
    f.frees = true;
    assert_status(f.ctx, SPRY_STATUS_BAD_USAGE,
                  spry_solver_get_real(f.solver, "method:restart", &whole));
    support_message_has(f.ctx, "the solver was freed while it was set up");
    f.solver = NULL;
    close_fixture(&f);
}

static void solve_is(fixture *f, const char *reason, int64_t most)
{
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &result));
    assert_string_equal(spry_reason_name(result.reason), reason);
    assert_true(most < 0 || result.iterations <= most);
    spry_result_clear(f->ctx, &result);
}

/* The first solve that ends by a request takes it; the next ones run. */
static void requests_end_one_solve(void **state)
{
    fixture f;
    open_fixture(&f, *state);
    f.calls = 100; /* no meddling */
    spry_solver_set_monitor(f.solver, on_monitor, &f);
    f.interrupt_at = 4;
    solve_is(&f, "interrupted", 4);
    assert_false(spry_context_interrupted(f.ctx, false));
    f.interrupt_at = -1;
    solve_is(&f, "converged", -1);
    /* between two solves, twice: it is one request */
    spry_context_interrupt(f.ctx);
    spry_context_interrupt(f.ctx);
    assert_true(spry_context_interrupted(f.ctx, false));
    solve_is(&f, "interrupted", 1);
    solve_is(&f, "converged", -1);
    /* taken back in between */
    spry_context_interrupt(f.ctx);
    assert_true(spry_context_interrupted(f.ctx, true));
    solve_is(&f, "converged", -1);
    /* a solve that ends by itself leaves it to the next */
    assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=0"));
    spry_context_interrupt(f.ctx);
    solve_is(&f, "iterations", 0);
    assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=1000"));
    solve_is(&f, "interrupted", 1);
    solve_is(&f, "converged", -1);
    close_fixture(&f);
}

/* An inner solve, or a solver of the caller's in a monitor, stops too, but leaves the request to
 * the solve around it. */
static void requests_end_solves_around(void **state)
{
    fixture f;
    open_fixture(&f, *state);
    f.calls = 100;
    spry_solver_set_monitor(f.solver, on_monitor, &f);
    f.interrupt_at = 2;
    assert_ok(f.ctx,
              spry_solver_set(f.solver, "method=fcg precon=inner:method=cg,tol=0.5 tol=1e-12"));
    solve_is(&f, "interrupted", 2);
    f.interrupt_at = -1;
    solve_is(&f, "converged", -1);
    close_fixture(&f);
}

static bool solve_other(void *data, int64_t iteration, double residual)
{
    fixture *f = data;
    spry_vector *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    (void)residual;
    if (iteration != 3)
        return true;
    spry_context_interrupt(f->ctx);
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &x));
    assert_ok(f->ctx, spry_solve(f->other, f->b, x, &result));
    assert_string_equal(spry_reason_name(result.reason), "interrupted");
    assert_true(spry_context_interrupted(f->ctx, false));
    assert_status(f->ctx, SPRY_STATUS_INTERRUPTED,
                  spry_text_write(f->ctx, "x", 1, "/tmp/unwritten"));
    assert_true(spry_context_interrupted(f->ctx, false));
    spry_result_clear(f->ctx, &result);
    spry_vector_free(x);
    f->refused++;
    return true;
}

static void requests_are_left_to_the_call_around(void **state)
{
    fixture f;
    open_fixture(&f, *state);
    spry_solver_set_watch(f.solver, solve_other, &f);
    solve_is(&f, "interrupted", 3);
    assert_int_equal(f.refused, 1);
    assert_false(spry_context_interrupted(f.ctx, false));
    spry_solver_set_watch(f.solver, NULL, NULL);
    solve_is(&f, "converged", -1);
    close_fixture(&f);
}

/* All right-hand sides of a call end by one request, also those that have not begun. */
static void requests_end_all_of_a_call(void **state)
{
    enum { COUNT = 20 };
    fixture f;
    spry_vector *x[COUNT];
    const spry_vector *b[COUNT];
    spry_result results[COUNT];
    open_fixture(&f, *state);
    for (int k = 0; k < COUNT; k++) {
        results[k] = (spry_result)SPRY_RESULT_INIT;
        b[k] = f.b;
        assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &x[k]));
    }
    spry_context_interrupt(f.ctx);
    assert_ok(f.ctx, spry_solve_many(f.solver, COUNT, b, x, results));
    for (int k = 0; k < COUNT; k++) {
        assert_string_equal(spry_reason_name(results[k].reason), "interrupted");
        assert_true(results[k].iterations <= 1);
        spry_result_clear(f.ctx, &results[k]);
    }
    assert_ok(f.ctx, spry_solve_many(f.solver, COUNT, b, x, results));
    for (int k = 0; k < COUNT; k++) {
        assert_true(results[k].converged);
        spry_result_clear(f.ctx, &results[k]);
        spry_vector_free(x[k]);
    }
    close_fixture(&f);
}

/* Asks for a stop when the solve has ended but for its last look. */
static bool ask_late(void *data, int64_t iteration, double residual)
{
    fixture *f = data;
    (void)iteration;
    if (residual <= 1e-8)
        spry_context_interrupt(f->ctx);
    return true;
}

/* Who takes back what was asked for before, as a program does that stays after Ctrl-C, is not
 * stopped by it: whether it came between solves, or too late for one. */
static void requests_between_solves_are_taken_back(void **state)
{
    fixture f;
    open_fixture(&f, *state);
    f.calls = 100;
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=jacobi tol=1e-8"));
    for (int round = 0; round < 3; round++) {
        spry_context_interrupt(f.ctx);
        assert_true(spry_context_interrupted(f.ctx, true));
        spry_solver_set_watch(f.solver, round == 1 ? ask_late : NULL, &f);
        solve_is(&f, "converged", -1);
        if (round == 1)
            assert_true(spry_context_interrupted(f.ctx, true));
        assert_false(spry_context_interrupted(f.ctx, true));
    }
    close_fixture(&f);
}

/* A request that comes while factors and hierarchies are made ends the solve as one that comes
 * while it iterates: there is a result, x is the guess, and the truth is reported of it. */
static void requests_end_set_ups(void **state)
{
    static const char *const precons[] = {
        "direct:kind=sparse", "direct:kind=dense", "ilutp", "ilut", "ilu:level=2", "amg", "sai"};
    fixture f;
    spry_vector *r = NULL;
    double norm, b_norm;
    open_fixture(&f, *state);
    f.calls = 100;
    assert_ok(f.ctx, spry_vector_like(f.b, f.b->n, &r));
    for (size_t k = 0; k < sizeof precons / sizeof *precons; k++) {
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){3, 0}));
        assert_ok(f.ctx, spry_operator_apply(f.op, f.x, r));
        assert_ok(f.ctx, spry_vector_axpy((spry_scalar){-1, 0}, f.b, r));
        assert_ok(f.ctx, spry_vector_norm(r, &norm));
        assert_ok(f.ctx, spry_vector_norm(f.b, &b_norm));
        assert_ok(f.ctx, spry_solver_set_text(f.solver, "method", "gmres"));
        assert_ok(f.ctx, spry_solver_set_text(f.solver, "precon", precons[k]));
        spry_context_interrupt(f.ctx);
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
        assert_int_equal(result.reason, SPRY_REASON_STOPPED);
        assert_false(spry_context_interrupted(f.ctx, false));
        assert_true(result.iterations <= 1); /* where nothing was long enough to listen */
        assert_int_equal(result.rows, f.A->a.rows);
        if (result.iterations == 0) {
            for (int64_t i = 0; i < f.x->n; i++)
                assert_true(((double *)f.x->data)[i] == 3);
            assert_true(fabs(result.true_residual - norm / b_norm) <= 1e-13 * norm / b_norm);
        }
        spry_result_clear(f.ctx, &result);
        solve_is(&f, "converged", -1);
    }
    spry_vector_free(r);
    close_fixture(&f);
}

/* --- vectors -------------------------------------------------------------------------------------
 */

typedef struct freed {
    spry_vector *b, *x;
    double last; /* of the x that was seen last */
    int released, seen;
} freed;

static void count_release(void *data)
{
    ++*(int *)data;
}

static bool free_vectors(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    freed *f = data;
    (void)iteration, (void)residual;
    if (f->seen++ == 2) {
        spry_vector_free(f->b);
        spry_vector_free(f->x);
        spry_vector_free((spry_vector *)(uintptr_t)x); /* the same one, or a copy that is shown */
    }
    assert_int_equal(f->released, 0);
    assert_ok(x->ctx, spry_vector_norm(x, &f->last));
    return true;
}

/* The b and x of a solve that its monitor frees stay to its end. (gmres shows a copy of x.) */
static void vectors_freed_by_a_monitor(void **state)
{
    spry_context *ctx = *state;
    const char *const options[] = {"method=cg precon=none tol=1e-10",
                                   "method=gmres precon=none tol=1e-10 restart=40"};
    for (int k = 0; k < 2; k++) {
        enum { N = 100 };
        double rhs[N], solution[N] = {0}, size = 0;
        freed f = {0};
        spry_matrix *A = NULL;
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=10", &A));
        for (int i = 0; i < N; i++)
            rhs[i] = 1 + i % 7;
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, rhs, SPRY_OWN_BORROW, &f.b));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, solution, SPRY_OWN_BORROW, &f.x));
        assert_ok(ctx, spry_vector_set_release(f.b, count_release, &f.released));
        assert_ok(ctx, spry_vector_set_release(f.x, count_release, &f.released));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solver_set(solver, options[k]));
        spry_solver_set_monitor(solver, free_vectors, &f);
        assert_ok(ctx, spry_solve(solver, f.b, f.x, &result));
        assert_true(result.converged && f.seen > 3);
        assert_int_equal(f.released, 2);
        for (int i = 0; i < N; i++)
            size = hypot(size, solution[i]);
        assert_true(fabs(size - f.last) <=
                    1e-6 * size); /* the x that was shown is the x there is */
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_matrix_free(A);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(calls_from_within_are_refused),
        TEST(freed_while_it_runs),
        TEST(requests_end_one_solve),
        TEST(requests_end_solves_around),
        TEST(requests_are_left_to_the_call_around),
        TEST(requests_end_all_of_a_call),
        TEST(requests_between_solves_are_taken_back),
        TEST(requests_end_set_ups),
        TEST(vectors_freed_by_a_monitor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
