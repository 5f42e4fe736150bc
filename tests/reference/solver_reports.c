/* What monitors and watches receive, and what they may answer. */
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEMS = 11 }; /* more than are solved side by side */

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op;
    spry_vector *b[SYSTEMS], *x[SYSTEMS], *r;
    spry_solver *solver;
    spry_result results[SYSTEMS];

    /* What is said, and what was heard. */
    int accept_in;     /* of this system; -1: of all */
    int64_t accept_at; /* in this iteration */
    int64_t calls[SYSTEMS], last[SYSTEMS];
    double first[SYSTEMS];
    spry_vector *seen; /* the x that was accepted, where a monitor has said so */
} fixture;

static void open_fixture(fixture *f)
{
    *f = (fixture){.accept_in = -1, .accept_at = -1};
    assert_int_equal(spry_context_new(NULL, &f->ctx), SPRY_STATUS_OK);
    assert_ok(f->ctx, spry_generate(f->ctx, "poisson2d", "size=12", &f->A));
    assert_ok(f->ctx, spry_operator_from_matrix(f->A, NULL, NULL, &f->op));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->r));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->seen));
    for (int k = 0; k < SYSTEMS; k++) {
        f->results[k] = (spry_result)SPRY_RESULT_INIT;
        assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x[k]));
        assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b[k]));
        double *b = spry_vector_data(f->b[k]);
        for (int64_t i = 0; i < spry_vector_size(f->b[k]); i++)
            b[i] = cos((double)((k + 1) * i));
    }
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    for (int k = 0; k < SYSTEMS; k++) {
        spry_result_clear(f->ctx, &f->results[k]);
        spry_vector_free(f->b[k]);
        spry_vector_free(f->x[k]);
    }
    spry_vector_free(f->r);
    spry_vector_free(f->seen);
    spry_operator_free(f->op);
    spry_matrix_free(f->A);
    spry_context_free(f->ctx);
}

static void solve(fixture *f, int count)
{
    memset(f->calls, 0, sizeof f->calls);
    for (int k = 0; k < count; k++) {
        spry_result_clear(f->ctx, &f->results[k]);
        assert_ok(f->ctx, spry_vector_fill(f->x[k], (spry_scalar){0, 0}));
    }
    assert_ok(f->ctx, spry_solve_many(f->solver, count, (const spry_vector *const *)f->b, f->x,
                                      f->results));
}

static bool hear(void *data, int64_t iteration, double residual)
{
    fixture *f = data;
    const int k = spry_solver_system(f->solver);
    assert_in_range(k, 0, SYSTEMS - 1);
    if (f->calls[k]++ == 0)
        f->first[k] = residual;
    f->last[k] = iteration;
    if ((f->accept_in == k || f->accept_in < 0) && iteration == f->accept_at)
        assert_ok(f->ctx, spry_solver_accept(f->solver));
    return true;
}

static bool see(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    fixture *f = data;
    if (iteration == f->accept_at)
        assert_ok(f->ctx, spry_vector_copy(x, f->seen));
    return hear(data, iteration, residual);
}

static double true_residual(fixture *f, int k)
{
    double norm, b;
    assert_ok(f->ctx, spry_vector_copy(f->b[k], f->r));
    assert_ok(f->ctx, spry_operator_multiply(f->op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0},
                                             f->x[k], (spry_scalar){1, 0}, f->r));
    assert_ok(f->ctx, spry_vector_norm(f->r, &norm));
    assert_ok(f->ctx, spry_vector_norm(f->b[k], &b));
    return norm / b;
}

/* One of each kind: x at each step, at the end of a cycle, as x + R d. */
static const char *const methods[] = {"cg",     "minres", "bicgstab", "gmres:restart=5", "fgmres",
                                      "lgmres", "gcr",    "idr",      "bicgstabl",       "gpbicg",
                                      "tfqmr",  "lsqr",   "lsmr",     "symmlq",          "qmr"};
enum { METHODS = sizeof methods / sizeof *methods };

/* What is handed back is the x of the iteration, bit by bit that of as many iterations. */
static void accepted_x_is_that_of_the_iteration(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    for (int m = 0; m < METHODS; m++)
        for (int watched = 0; watched < 2; watched++) {
            spry_solver_set_monitor(f.solver, watched ? NULL : see, &f);
            spry_solver_set_watch(f.solver, watched ? hear : NULL, &f);
            assert_ok(f.ctx, spry_solver_set(f.solver, "precon=none tol=1e-12 keep=best"));
            assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=1000"));
            assert_ok(f.ctx, spry_solver_set_text(f.solver, "method", methods[m]));
            f.accept_at = 3;
            solve(&f, 1);
            const spry_result *r = f.results;
            if (r->reason != SPRY_REASON_ACCEPTED || r->converged || r->iterations != 3 ||
                f.last[0] != 3)
                fail_msg("%s: %s after %d", methods[m], spry_reason_name(r->reason),
                         (int)r->iterations);
            assert_string_equal(r->detail, "");
            assert_true(fabs(r->true_residual - true_residual(&f, 0)) <= 1e-12);
            assert_ok(f.ctx, spry_vector_copy(f.x[0], f.x[1]));
            f.accept_at = -1;
            assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=3 keep=last"));
            solve(&f, 1);
            assert_int_equal(f.results->reason, SPRY_REASON_ITERATIONS);
            assert_memory_equal(spry_vector_data(f.x[0]), spry_vector_data(f.x[1]),
                                (size_t)spry_vector_size(f.x[0]) * sizeof(double));
        }
    close_fixture(&f);
}

/* Each system is accepted by itself, with its index; the others go on. */
static void one_of_several_is_accepted(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=jacobi"));
    for (int watched = 0; watched < 2; watched++) {
        spry_solver_set_monitor(f.solver, watched ? NULL : see, &f);
        spry_solver_set_watch(f.solver, watched ? hear : NULL, &f);
        for (f.accept_in = 0; f.accept_in < SYSTEMS; f.accept_in += 3) {
            f.accept_at = 2;
            solve(&f, SYSTEMS);
            for (int k = 0; k < SYSTEMS; k++) {
                assert_int_equal(f.results[k].reason,
                                 k == f.accept_in ? SPRY_REASON_ACCEPTED : SPRY_REASON_CONVERGED);
                assert_int_equal(f.calls[k], f.results[k].iterations);
                assert_int_equal(f.last[k], f.results[k].iterations);
            }
        }
    }
    assert_int_equal(spry_solver_system(f.solver), -1);
    assert_int_equal(spry_solver_accept(f.solver), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "there is no x to accept");
    close_fixture(&f);
}

/* An accepted x within the tolerance has converged: that word is the residual's. */
static void accepted_within_the_tolerance(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    spry_solver_set_monitor(f.solver, see, &f);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=none tol=1e-3"));
    solve(&f, 1);
    assert_true(f.results->converged);
    f.accept_at = f.results->iterations;
    solve(&f, 1);
    assert_true(f.results->converged && f.results->reason == SPRY_REASON_CONVERGED);
    close_fixture(&f);
}

/* The first guess is iteration 0 where that is asked for, and may be accepted or refused. */
static void the_first_guess_is_reported(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=gmres:restart=4 precon=jacobi"));
    for (int watched = 0; watched < 2; watched++) {
        spry_solver_set_monitor(f.solver, watched ? NULL : see, &f);
        spry_solver_set_watch(f.solver, watched ? hear : NULL, &f);
        f.accept_at = -1;
        assert_ok(f.ctx, spry_solver_set(f.solver, "report-start=yes"));
        solve(&f, SYSTEMS);
        for (int k = 0; k < SYSTEMS; k++) {
            assert_true(f.results[k].converged && f.first[k] == 1);
            assert_int_equal(f.calls[k], f.results[k].iterations + 1);
        }
        f.accept_at = 0;
        f.accept_in = 4;
        solve(&f, SYSTEMS);
        for (int k = 0; k < SYSTEMS; k++)
            assert_int_equal(f.results[k].reason,
                             k == 4 ? SPRY_REASON_ACCEPTED : SPRY_REASON_CONVERGED);
        assert_true(f.results[4].iterations == 0 && f.results[4].true_residual == 1);
        assert_true(true_residual(&f, 4) == 1);
        assert_ok(f.ctx, spry_solver_set(f.solver, "report-start=no"));
        solve(&f, 1);
        assert_true(f.first[0] < 1 && f.calls[0] == f.results->iterations);
        f.accept_in = -1;
    }
    close_fixture(&f);
}

enum { LOOKS = 9 };

/* x of each system in each iteration, as a monitor saw it. */
typedef struct looks {
    spry_solver *solver;
    double *seen[3][LOOKS + 1];
    int64_t n;
    int every; /* iterations */
} looks;

static bool look(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    looks *l = data;
    (void)residual;
    if (iteration % l->every == 0 && iteration <= LOOKS)
        memcpy(l->seen[spry_solver_system(l->solver)][iteration], spry_vector_data_const(x),
               (size_t)l->n * sizeof(double));
    return true;
}

/* Monitors see the x that would be handed back there, also where a method makes it at its end, and
 * looking at it changes nothing. */
static void monitors_see_the_x_of_the_moment(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    static const char *const precons[] = {"none", "jacobi", "ilu"};
    static const double sizes[] = {1, 0x1p600};
    fixture f;
    looks l = {0};
    open_fixture(&f);
    l.solver = f.solver;
    l.n = spry_vector_size(f.b[0]);
    const size_t bytes = (size_t)l.n * sizeof(double);
    double *plain[COUNT];
    for (int k = 0; k < COUNT; k++) {
        plain[k] = malloc(bytes);
        for (int i = 0; i <= LOOKS; i++)
            l.seen[k][i] = malloc(bytes);
    }
    for (int m = 0; m < METHODS * 6; m++) {
        const char *method = methods[m / 6];
        const double size = sizes[m % 2];
        if (m / 2 % 3 != 0 && (strncmp(method, "ls", 2) == 0 || strcmp(method, "qmr") == 0))
            continue;
        l.every = 1 + m % 3;
        for (int k = 0; k < COUNT; k++)
            assert_ok(f.ctx, spry_vector_scale((spry_scalar){size, 0}, f.b[k]));
        spry_solver_set_monitor(f.solver, NULL, NULL);
        assert_ok(f.ctx, spry_solver_set(f.solver, "tol=1e-8 keep=last max-iter=1000"));
        assert_ok(f.ctx, spry_solver_set_text(f.solver, "method", method));
        assert_ok(f.ctx, spry_solver_set_text(f.solver, "precon", precons[m / 2 % 3]));
        solve(&f, COUNT);
        int64_t iterations[COUNT];
        for (int k = 0; k < COUNT; k++) {
            iterations[k] = f.results[k].iterations;
            memcpy(plain[k], spry_vector_data(f.x[k]), bytes);
        }
        spry_solver_set_monitor(f.solver, look, &l);
        solve(&f, COUNT);
        for (int k = 0; k < COUNT; k++) {
            assert_int_equal(f.results[k].iterations, iterations[k]);
            assert_memory_equal(spry_vector_data(f.x[k]), plain[k], bytes);
        }
        spry_solver_set_monitor(f.solver, NULL, NULL);
        for (int64_t i = l.every; i <= LOOKS; i += l.every) {
            assert_ok(f.ctx, spry_solver_set_real(f.solver, "max-iter", (double)i));
            solve(&f, COUNT);
            for (int k = 0; k < COUNT; k++)
                if (i <= iterations[k] &&
                    memcmp(spry_vector_data(f.x[k]), l.seen[k][i], bytes) != 0)
                    fail_msg("%s %s: x %d of iteration %d differs", method, precons[m / 2 % 3], k,
                             (int)i);
        }
        for (int k = 0; k < COUNT; k++)
            assert_ok(f.ctx, spry_vector_scale((spry_scalar){1 / size, 0}, f.b[k]));
    }
    for (int k = 0; k < COUNT; k++) {
        free(plain[k]);
        for (int i = 0; i <= LOOKS; i++)
            free(l.seen[k][i]);
    }
    close_fixture(&f);
}

static bool glance(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    double norm;
    (void)data;
    (void)iteration;
    (void)residual;
    return spry_vector_norm(x, &norm) != SPRY_STATUS_OK || norm >= 0;
}

/* A look may fail for want of memory; then the solve goes on, or fails, and nothing is lost. */
static void looks_may_fail(void **state)
{
    (void)state;
    fixture f;
    int64_t before, after;
    bool whole = false;
    open_fixture(&f);
    spry_solver_free(f.solver);
    f.solver = NULL;
    spry_context_memory(f.ctx, &before, NULL);
    for (int64_t nth = 1; !whole; nth++) {
        spry_solver *solver = NULL;
        assert_in_range(nth, 1, 2000);
        base_fail_allocation(f.ctx, nth, false);
        spry_status status = spry_solver_new(f.ctx, &solver);
        if (status == SPRY_STATUS_OK)
            status = spry_solver_set(solver, "method=gmres:restart=3 precon=jacobi max-iter=5");
        if (status == SPRY_STATUS_OK)
            status = spry_solver_set_matrix(solver, f.A);
        if (solver)
            spry_solver_set_monitor(solver, glance, NULL);
        assert_ok(f.ctx, spry_vector_fill(f.x[0], (spry_scalar){0, 0}));
        if (status == SPRY_STATUS_OK)
            status = spry_solve(solver, f.b[0], f.x[0], f.results);
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
        spry_result_clear(f.ctx, f.results);
        spry_solver_free(solver);
        /* Whether there was an nth: else the next allocation fails. */
        void *one = spry_alloc(f.ctx, 1);
        whole = !one;
        spry_free(f.ctx, one);
        base_fail_allocation(f.ctx, 0, false);
        spry_context_memory(f.ctx, &after, NULL);
        assert_true(after == before);
        whole = whole && nth > 10;
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_x_is_that_of_the_iteration),
        cmocka_unit_test(one_of_several_is_accepted),
        cmocka_unit_test(accepted_within_the_tolerance),
        cmocka_unit_test(the_first_guess_is_reported),
        cmocka_unit_test(monitors_see_the_x_of_the_moment),
        cmocka_unit_test(looks_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
