/* Matrices that a solver runs with: what is called from within can neither change nor free them. */
#include "support/support.h"

#include "operator/operator.h"

#include <math.h>
#include <string.h>

enum { MOST = 2 };

/* A solver, and matrices whose arrays its solves read. */
typedef struct fixture {
    spry_context *ctx, *other; /* other: of a matrix that the solver has a view of */
    spry_matrix *A, *share, *B;
    spry_operator *op, *M;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_matrix **held[MOST]; /* which of the matrices they are */
    int visits, refused;
    bool frees; /* the first call frees all matrices */
} fixture;

static void is_refused(fixture *f, const spry_matrix *A, spry_status status)
{
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    support_message_has(A->ctx, "a solver is running with the matrix");
    f->refused++;
}

/* All that would change a matrix or move its arrays; entries of row 0 are not in order. */
static void change(fixture *f, spry_matrix *A)
{
    spry_context *ctx = A->ctx;
    spry_matrix *share = NULL;
    spry_vector *values = NULL, *ones = NULL;
    matrix_follow(A);
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.nnz, A->a.values, SPRY_OWN_COPY, &values));
    assert_ok(ctx, spry_vector_ones(ctx, A, &ones));
    const void *data = spry_vector_data_const(values);
    is_refused(f, A, spry_matrix_set_values(A, data, SPRY_OWN_COPY));
    is_refused(f, A, spry_matrix_set_values(A, data, SPRY_OWN_BORROW));
    is_refused(f, A, spry_matrix_set_values(A, A->a.values, SPRY_OWN_BORROW));
    is_refused(f, A, spry_matrix_set_values_from(A, values));
    is_refused(f, A, spry_matrix_set_near_null(A, 0, NULL));
    is_refused(f, A, spry_matrix_scale(A, ones, NULL));
    is_refused(f, A, spry_matrix_sort(A));
    is_refused(f, A, spry_matrix_sum_duplicates(A));
    /* what is shared from it here is not read by the solve */
    assert_ok(ctx, spry_matrix_share(ctx, A, &share));
    assert_ok(ctx, spry_vector_scale((spry_scalar){3, 0}, values));
    assert_ok(ctx, spry_matrix_set_values(share, data, SPRY_OWN_COPY));
    spry_matrix_free(share);
    spry_vector_free(values);
    spry_vector_free(ones);
}

static void visit(fixture *f)
{
    if (f->visits++ > 1)
        return;
    for (int k = 0; k < MOST; k++)
        if (f->held[k])
            change(f, *f->held[k]);
    if (f->frees) {
        spry_matrix_free(f->share);
        spry_matrix_free(f->A);
        spry_matrix_free(f->B);
        f->A = f->B = f->share = NULL;
        f->visits = 100;
    }
}

static bool on_monitor(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    (void)iteration, (void)residual, (void)x;
    visit(data);
    return true;
}

static void on_log(void *data, spry_log_level level, const char *text)
{
    (void)level, (void)text;
    visit(data);
}

/* diag(4) and -1 next to it, columns of the first row the wrong way round. */
static spry_matrix *make_matrix(spry_context *ctx)
{
    enum { ROWS = 64 };
    int64_t offsets[ROWS + 1] = {0};
    int32_t columns[3 * ROWS];
    double values[3 * ROWS];
    int64_t at = 0;
    spry_matrix *A = NULL;
    for (int i = 0; i < ROWS; i++) {
        for (int j = i + 1; j >= i - 1; j--) {
            if (j < 0 || j >= ROWS)
                continue;
            columns[at] = j;
            values[at++] = i == j ? 4 : -1;
        }
        offsets[i + 1] = at;
    }
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, ROWS, ROWS, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    return A;
}

/* In which way a solver comes to read a matrix. */
enum { BY_MATRIX, BY_SHARE, BY_CONTEXT, BY_OPERATOR, BY_PRECON, WAYS };

static void open_fixture(fixture *f, spry_context *ctx, int way)
{
    *f = (fixture){.ctx = ctx};
    assert_ok(ctx, spry_context_new("threads=1", &f->other));
    f->A = make_matrix(way == BY_CONTEXT ? f->other : ctx);
    f->B = make_matrix(ctx);
    assert_ok(ctx, spry_vector_ones(ctx, f->B, &f->b));
    assert_ok(ctx, spry_vector_zeros(ctx, f->B, &f->x));
    assert_ok(ctx, spry_matrix_share(ctx, f->A, &f->share));
    assert_ok(ctx, spry_solver_new(ctx, &f->solver));
    assert_ok(ctx, spry_solver_set(f->solver, "tol=1e-10 method=gmres precon=none"));
    assert_ok(ctx, spry_solver_set_matrix(f->solver, way == BY_SHARE ? f->share : f->A));
    f->held[0] = &f->A;
    if (way == BY_SHARE)
        f->held[1] = &f->share;
    if (way == BY_OPERATOR) {
        assert_ok(ctx, spry_operator_from_matrix(f->A, NULL, NULL, &f->op));
        assert_ok(ctx, spry_solver_set_operator(f->solver, f->op));
    }
    if (way == BY_PRECON) {
        assert_ok(ctx, spry_precon_new(f->B, NULL, "jacobi", &f->M));
        assert_ok(ctx, spry_solver_set_precon(f->solver, f->M));
        f->held[1] = &f->B;
    }
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    spry_operator_free(f->M);
    spry_operator_free(f->op);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_matrix_free(f->share);
    spry_matrix_free(f->A);
    spry_matrix_free(f->B);
    spry_context_free(f->other);
}

static double solve_at(fixture *f, int64_t i)
{
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &result));
    assert_true(result.converged);
    assert_true(f->visits > 0);
    spry_result_clear(f->ctx, &result);
    return ((const double *)spry_vector_data_const(f->x))[i];
}

static void changes_are_refused(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        fixture f;
        open_fixture(&f, *state, way);
        f.visits = 100; /* no meddling */
        const double before = solve_at(&f, 7);
        f.visits = 0;
        spry_solver_set_monitor(f.solver, on_monitor, &f);
        assert_true(solve_at(&f, 7) == before);
        assert_int_equal(f.refused, 2 * 8 * (f.held[1] ? 2 : 1));
        /* and when it has ended all of it is taken, A's values once more */
        for (int k = 0; k < MOST; k++) {
            spry_matrix *A = f.held[k] ? *f.held[k] : NULL;
            if (A)
                assert_ok(A->ctx, spry_matrix_set_values(A, A->a.values, SPRY_OWN_COPY));
            if (A)
                assert_ok(A->ctx, spry_matrix_sort(A));
        }
        close_fixture(&f);
    }
}

/* Also what the log hears of, which may be while a preconditioner is made. */
static void logs_may_not_change_it_either(void **state)
{
    fixture f;
    open_fixture(&f, *state, BY_MATRIX);
    assert_ok(f.ctx, spry_solver_set(f.solver, "precon=auto method=auto"));
    f.ctx->options.log = SPRY_LOG_DEBUG + 1;
    spry_context_set_log(f.ctx, on_log, &f);
    solve_at(&f, 0);
    spry_context_set_log(f.ctx, NULL, NULL);
    assert_int_equal(f.refused, 2 * 8);
    assert_ok(f.ctx, spry_matrix_sort(f.A));
    close_fixture(&f);
}

/* Freed in the middle of a solve: the solve ends as it would have. The teardown counts memory. */
static void matrices_freed_meanwhile_stay_until_the_end(void **state)
{
    for (int way = 0; way < WAYS; way++) {
        fixture f;
        open_fixture(&f, *state, way);
        f.visits = 100;
        const double before = solve_at(&f, 7);
        f.visits = 0;
        f.frees = true;
        spry_solver_set_monitor(f.solver, on_monitor, &f);
        assert_true(solve_at(&f, 7) == before);
        assert_null(f.A);
        close_fixture(&f);
    }
}

/* A solve that fails lets go of the matrix, too: by its input, and by each allocation in turn. */
static void failures_let_go(void **state)
{
    fixture f;
    open_fixture(&f, *state, BY_SHARE);
    assert_ok(f.ctx, spry_vector_fill(f.b, (spry_scalar){NAN, 0}));
    assert_status(f.ctx, SPRY_STATUS_BAD_INPUT, spry_solve(f.solver, f.b, f.x, NULL));
    assert_ok(f.ctx, spry_matrix_set_values(f.A, f.A->a.values, SPRY_OWN_COPY));
    assert_ok(f.ctx, spry_vector_fill(f.b, (spry_scalar){1, 0}));
    spry_status status = SPRY_STATUS_NO_MEMORY;
    for (int64_t n = 1; status == SPRY_STATUS_NO_MEMORY; n++) {
        assert_true(n < 10000);
        assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.share));
        base_fail_allocation(f.ctx, n, false);
        status = spry_solve(f.solver, f.b, f.x, NULL);
        base_fail_allocation(f.ctx, 0, false);
        assert_ok(f.ctx, spry_matrix_set_values(f.A, f.A->a.values, SPRY_OWN_COPY));
    }
    assert_ok(f.ctx, status);
    close_fixture(&f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(changes_are_refused),
        TEST(logs_may_not_change_it_either),
        TEST(matrices_freed_meanwhile_stay_until_the_end),
        TEST(failures_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
