/* A plan: it is what the solve then does, what it has made is gone on from, what it forecasts of
 * memory comes true, and what cannot fit is refused. */
#include "matrix/entries.h"
#include "operator/operator.h"
#include "precon/precon.h"
#include "support/spec.h"
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result;
    spry_plan plan;
} fixture;

static void open_limited(fixture *f, const char *context, const char *kind, const char *options)
{
    *f = (fixture){.result = SPRY_RESULT_INIT, .plan = SPRY_PLAN_INIT};
    f->ctx = support_context(context);
    assert_ok(f->ctx, spry_generate(f->ctx, kind, options, &f->A));
    assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set(f->solver, "memory=no"));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void open_fixture(fixture *f, const char *kind, const char *options)
{
    open_limited(f, "threads=1", kind, options);
}

static void close_fixture(fixture *f)
{
    spry_plan_clear(f->ctx, &f->plan);
    spry_result_clear(f->ctx, &f->result);
    spry_solver_free(f->solver);
    spry_vector_free(f->x);
    spry_vector_free(f->b);
    spry_matrix_free(f->A);
    support_context_free(f->ctx);
}

/* The name in front of options. */
static void assert_named(const char *spec, const char *name)
{
    const size_t length = strcspn(spec, ":");
    if (length != strlen(name) || strncmp(spec, name, length) != 0)
        fail_msg("planned %s, done %s", spec, name);
}

/* Kinds that are solved in different ways: in a band, by sparse factors of three kinds, with the
 * diagonal, by multigrid and by incomplete factors. */
static const struct {
    const char *kind, *options, *precon;
} systems[] = {
    {"poisson2d", "size=20", "direct"},   {"tridiagonal", "size=3000", NULL},
    {"random", "size=3000", NULL},        {"convection-diffusion", "size=40", NULL},
    {"helmholtz", "size=9 type=z", NULL}, {"poisson3d", "size=24", NULL},
    {"elasticity", "size=8", NULL},       {"circuit", "size=2000", NULL},
};

static void is_what_is_done(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        fixture f;
        open_fixture(&f, systems[k].kind, systems[k].options);
        assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
        if (f.result.tried) { /* what did not arrive was the plan's, and what did came next */
            assert_true(strstr(f.result.tried, f.plan.method) != NULL);
        } else {
            assert_named(f.plan.precon, f.result.precon);
            assert_string_equal(f.plan.method, f.result.method);
        }
        if (systems[k].precon)
            assert_named(f.plan.precon, systems[k].precon);
        assert_string_equal(f.plan.device, f.result.device);
        assert_int_equal(strncmp(f.result.format, f.plan.format, strlen(f.plan.format)), 0);
        assert_int_equal(f.plan.rows, spry_matrix_rows(f.A));
        assert_int_equal(f.plan.nnz, spry_matrix_nnz(f.A));
        assert_true(f.plan.memory_known && f.plan.memory_bytes > 0);
        assert_true(f.plan.least_iterations <= f.plan.iterations &&
                    f.plan.iterations <= f.plan.most_iterations);
        assert_true(f.plan.least_seconds <= f.plan.setup_seconds + f.plan.solve_seconds &&
                    f.plan.setup_seconds + f.plan.solve_seconds <= f.plan.most_seconds);
        close_fixture(&f);
    }
}

/* A diagonal that is larger, in a matrix without symmetry: other pivots. */
static void change_values(const fixture *f)
{
    matrix_arrays *a = &f->A->a;
    for (int64_t i = 0; i < a->rows; i++)
        ((double *)a->values)[matrix_find(a, i, i)] += 1 + (double)(i % 3);
    matrix_changed(f->A);
}

/* A solve with a plan before it gives the bits of one without, also for values that have changed in
 * between, and for the pattern of another matrix. */
static void is_gone_on_from(void **state)
{
    (void)state;
    fixture f, g;
    open_fixture(&f, "convection-diffusion", "size=30");
    open_fixture(&g, "convection-diffusion", "size=30");
    const size_t bytes = (size_t)spry_matrix_rows(f.A) * sizeof(double);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=direct"));
    assert_ok(g.ctx, spry_solver_set(g.solver, "method=direct"));
    for (int turn = 0; turn < 3; turn++) {
        assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
        spry_plan_clear(f.ctx, &f.plan);
        if (turn == 1) {
            change_values(&f);
            change_values(&g);
        }
        spry_result_clear(f.ctx, &f.result);
        spry_result_clear(g.ctx, &g.result);
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
        assert_ok(g.ctx, spry_vector_fill(g.x, (spry_scalar){0, 0}));
        assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
        assert_ok(g.ctx, spry_solve(g.solver, g.b, g.x, &g.result));
        assert_true(f.result.converged);
        assert_memory_equal(spry_vector_data(f.x), spry_vector_data(g.x), bytes);
    }
    spry_matrix *other = NULL;
    assert_ok(f.ctx, spry_generate(f.ctx, "poisson2d", "size=30", &other));
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, other));
    assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
    spry_result_clear(f.ctx, &f.result);
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
    assert_true(f.result.converged);
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
    spry_matrix_free(other);
    close_fixture(&f);
    close_fixture(&g);
}

/* Factors of a definite matrix have no delayed pivots: what is allocated is what was forecast, but
 * for vectors. */
static void forecasts_the_memory_of_factors(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "poisson2d", "size=60");
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=direct"));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
    const double vectors = 20 * 8 * (double)spry_matrix_rows(f.A);
    assert_true(f.plan.precon_bytes > f.plan.matrix_bytes);
    assert_true(fabs((double)f.plan.memory_bytes - (double)f.result.memory_bytes) < vectors);
    close_fixture(&f);
}

/* Of factors by thresholds what they keep, and what is in use at most while they are made, is
 * forecast, and up to 1.6 times as much: how many entries a threshold drops only numbers show. */
static void forecasts_factors_by_thresholds(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *options, *spec;
    } cases[] = {
        {"poisson2d", "size=60", "ilut"},          {"poisson2d", "size=60", "ict"},
        {"poisson3d", "size=16", "ilut"},          {"poisson3d", "size=16", "ict:fill=5"},
        {"elasticity", "size=6", "ilut"},          {"convection-diffusion", "size=50", "ilut"},
        {"random", "size=2000", "ilut"},           {"helmholtz", "size=12 type=z", "ilut"},
        {"poisson2d", "size=60", "ilut:fill=100"}, {"poisson2d", "size=60", "ilut:tau=1e-2"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        precon_forecast forecast;
        spry_operator *begun = NULL, *M = NULL;
        int64_t before = 0, now = 0, most = 0;
        open_fixture(&f, cases[k].kind, cases[k].options);
        const precon_spec spec = support_spec(f.ctx, cases[k].spec);
        assert_ok(f.ctx, precon_begin(f.ctx, f.A, NULL, &spec, &forecast, &begun));
        assert_null(begun);
        spry_context_memory(f.ctx, &before, NULL);
        assert_ok(f.ctx, spry_precon_new(f.A, NULL, cases[k].spec, &M));
        spry_context_memory(f.ctx, &now, &most);
        const double kept = (double)forecast.bytes / (double)(now - before);
        const double making = (double)(forecast.bytes + forecast.work) / (double)(most - before);
        if (kept < 0.9 || kept > 1.6 || making < 0.9 || making > 1.6)
            fail_msg("%s of %s %s: %.2f of what is kept, %.2f while it is made", cases[k].spec,
                     cases[k].kind, cases[k].options, kept, making);
        spry_operator_free(M);
        close_fixture(&f);
    }
}

/* A plan after a plan, and one after a solve, report what exists as the first reported what was to
 * come: bytes of the preconditioner, and vectors once. */
static void reports_what_stands(void **state)
{
    (void)state;
    static const char *const wishes[] = {"method=direct", "method=cg precon=ic",
                                         "method=gmres precon=jacobi", "method=cg precon=amg"};
    for (size_t k = 0; k < sizeof wishes / sizeof *wishes; k++) {
        fixture f;
        open_fixture(&f, "poisson2d", "size=50");
        assert_ok(f.ctx, spry_solver_set(f.solver, wishes[k]));
        assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
        const spry_plan first = f.plan;
        assert_true(first.precon_bytes > 0);
        assert_true(first.device_matrix_bytes == 0 && first.device_vector_bytes == 0 &&
                    first.device_precon_bytes == 0 && first.device_other_bytes == 0);
        for (int turn = 0; turn < 3; turn++) {
            if (turn > 0)
                assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, NULL));
            spry_plan_clear(f.ctx, &f.plan);
            assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
            if (f.plan.precon_bytes != first.precon_bytes)
                print_error("%s: %lld bytes, then %lld\n", wishes[k], (long long)first.precon_bytes,
                            (long long)f.plan.precon_bytes);
            assert_int_equal(f.plan.precon_bytes, first.precon_bytes);
        }
        int64_t now = 0, most = 0;
        spry_context_memory(f.ctx, &now, &most);
        const int64_t texts = 64 << 10; /* of what runs a method, which are counted again */
        assert_true(f.plan.memory_bytes >= most && f.plan.memory_bytes <= most + texts);
        close_fixture(&f);
    }
}

/* Where factors were asked for nothing else is tried; where they were not, something that needs
 * less is. */
static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    fixture f;
    int64_t now = 0;
    char limited[96];
    open_fixture(&f, "elasticity", "size=10");
    spry_context_memory(f.ctx, &now, NULL);
    assert_ok(f.ctx, spry_solver_set(f.solver, "precon=direct"));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    snprintf(limited, sizeof limited, "threads=1 memory-limit=%lld",
             (long long)((now + f.plan.memory_bytes) / 2));
    close_fixture(&f);
    open_limited(&f, limited, "elasticity", "size=10");
    assert_ok(f.ctx, spry_solver_set(f.solver, "precon=direct"));
    assert_int_equal(spry_solver_plan(f.solver, 1, &f.plan), SPRY_STATUS_NO_MEMORY);
    assert_non_null(strstr(spry_message(f.ctx), "memory_limit="));
    assert_null(f.plan.next);
    assert_int_equal(spry_solve(f.solver, f.b, f.x, &f.result), SPRY_STATUS_NO_MEMORY);
    assert_ok(f.ctx, spry_solver_set(f.solver, "precon=auto"));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    assert_true(f.plan.memory_bytes <= f.plan.memory_limit);
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
    assert_true(f.result.converged);
    close_fixture(&f);
}

/* Bytes of data that this process has. */
static rlim_t data_now(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%*d %*d %*d %*d %*d %lld", &pages) != 1) /* NOLINT(cert-err34-c) */
            pages = 0;
        fclose(f);
    }
    return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

/* A limit of the process has to have room for what is to come, not for what was in use at most
 * before, while files were read, say, and is free again. */
static void counts_no_memory_that_was_freed(void **state)
{
    (void)state;
    enum { FREED = 96 << 20, ROOM = 48 << 20 };
    struct rlimit before, less;
    fixture f;
    if (data_now() == 0)
        skip();
    open_fixture(&f, "poisson2d", "size=30");
    spry_free(f.ctx, spry_alloc(f.ctx, FREED));
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=jacobi"));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    spry_plan_clear(f.ctx, &f.plan);
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    less = before;
    less.rlim_cur = data_now() + ROOM;
    assert_int_equal(setrlimit(RLIMIT_DATA, &less), 0);
    const spry_status status = spry_solver_plan(f.solver, 1, &f.plan);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
    assert_ok(f.ctx, status);
    assert_true(f.plan.memory_bytes >= FREED); /* which is the most that was in use */
    close_fixture(&f);
}

/* Methods with blocks keep the vectors of all columns that they solve at a time; methods for
 * rectangular matrices have most of theirs as long as x. */
static void counts_the_vectors_of_columns(void **state)
{
    enum { N = 20 * 20, COLUMNS = 32, ROWS = 3, COLS = 4000 };
    const int64_t vector = N * (int64_t)sizeof(double);
    fixture f;
    (void)state;
    open_fixture(&f, "poisson2d", "size=20");
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=block-cg precon=none"));
    assert_ok(f.ctx, spry_solver_plan(f.solver, COLUMNS, &f.plan));
    /* b and x of all columns, and r, p and A p of 16 at least */
    assert_true(f.plan.vector_bytes >= (2 * COLUMNS + 3 * 16) * vector);
    spry_matrix *wide = NULL;
    int32_t rows[COLS], cols[COLS];
    double values[COLS];
    for (int i = 0; i < COLS; i++) {
        rows[i] = i % ROWS;
        cols[i] = i;
        values[i] = 1;
    }
    const spry_arrays arrays = {.size = sizeof arrays,
                                .type = SPRY_TYPE_D,
                                .format = SPRY_FORMAT_COO,
                                .rows = ROWS,
                                .cols = COLS,
                                .nnz = COLS,
                                .row_index = rows,
                                .col_index = cols,
                                .values = values};
    assert_ok(f.ctx, spry_matrix_new(f.ctx, &arrays, SPRY_OWN_COPY, &wide));
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=lsmr"));
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, wide));
    assert_ok(f.ctx, spry_solver_plan(f.solver, 1, &f.plan));
    /* x, and at least v and two directions */
    assert_true(f.plan.vector_bytes >= 4 * COLS * (int64_t)sizeof(double));
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
    spry_matrix_free(wide);
    close_fixture(&f);
}

static void misuse_is_reported(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "poisson2d", "size=4");
    assert_int_equal(spry_solver_plan(f.solver, 0, &f.plan), SPRY_STATUS_BAD_USAGE);
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, NULL));
    assert_int_equal(spry_solver_plan(f.solver, 1, &f.plan), SPRY_STATUS_BAD_USAGE);
    assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
    assert_string_equal(spry_solver_method(f.solver), "");
    assert_string_equal(spry_solver_precon(f.solver), "");
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=jacobi"));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &f.result));
    assert_string_equal(spry_solver_method(f.solver), "cg");
    assert_string_equal(spry_solver_precon(f.solver), "jacobi");
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_is_done),
        cmocka_unit_test(is_gone_on_from),
        cmocka_unit_test(forecasts_the_memory_of_factors),
        cmocka_unit_test(forecasts_factors_by_thresholds),
        cmocka_unit_test(reports_what_stands),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(counts_no_memory_that_was_freed),
        cmocka_unit_test(counts_the_vectors_of_columns),
        cmocka_unit_test(misuse_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
