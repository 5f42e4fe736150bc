/*
 * Ranks on devices, and ranks on devices and on processors together: solves arrive where they do
 * without devices, for odd partitions too; and what fails on one rank's device fails on all.
 */
#include "mpi/ranks.h"

#include "device/engine/device.h"

#include <math.h>
#include <spry/spry.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *engine; /* "opencl" or "cuda" */

typedef struct system {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
} system_t;

static void system_open(system_t *s, const char *kind, const char *matrix, ranks_way way)
{
    int64_t starts[16];
    spry_matrix *W = NULL;
    s->ctx = ranks_context(NULL);
    assert_ok(s->ctx, spry_generate(s->ctx, kind, matrix, &W));
    ranks_starts(s->ctx, way, W->a.rows, 1, starts);
    assert_ok(s->ctx, dist_from_whole(W, starts, NULL, &s->A));
    assert_ok(s->ctx, spry_vector_ones(s->ctx, s->A, &s->b));
    assert_ok(s->ctx, spry_vector_zeros(s->ctx, s->A, &s->x));
    const int64_t first = s->A->distributed ? starts[spry_context_rank(s->ctx)] : 0;
    for (int64_t i = 0; i < s->b->n; i++) /* something that no symmetry helps with */
        value_set(s->b->type, s->b->data, i, support_number(s->b->type, 5, (uint64_t)(first + i)));
    spry_matrix_free(W);
}

static void system_close(system_t *s)
{
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_matrix_free(s->A);
    spry_context_free(s->ctx); /* which has devices open */
}

/* x itself, whatever the solve says of it: |b - A x| / |b| by products on processors. */
static void check_x(const system_t *s, const spry_vector *x, double tolerance, const char *text)
{
    spry_operator *op = NULL;
    spry_vector *r = NULL;
    double above = 0, below = 0;
    assert_ok(s->ctx, spry_operator_from_matrix(s->A, NULL, NULL, &op));
    assert_ok(s->ctx, spry_vector_like(s->b, s->b->n, &r));
    assert_ok(s->ctx, spry_vector_copy(s->b, r));
    assert_ok(s->ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                             (spry_scalar){1, 0}, r));
    assert_ok(s->ctx, spry_vector_norm(r, &above));
    assert_ok(s->ctx, spry_vector_norm(s->b, &below));
    if (!(above <= (1 + 1e-6) * tolerance * below)) /* of the same product, added up otherwise */
        fail_msg("%s: x has a residual of %g", text, above / below);
    spry_vector_free(r);
    spry_operator_free(op);
}

static int64_t solve(system_t *s, const char *options, const char *device)
{
    char text[256];
    spry_result result = SPRY_RESULT_INIT;
    snprintf(text, sizeof text, "%s device=%s", options, device);
    assert_ok(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    assert_ok(s->ctx, spry_quick_solve(s->ctx, s->A, s->b, s->x, text, &result));
    if (!result.converged || !(result.true_residual <= result.tolerance))
        fail_msg("%s: %s %g %s", text, spry_reason_name(result.reason), result.true_residual,
                 result.detail);
    check_x(s, s->x, result.tolerance, text);
    const int64_t iterations = result.iterations;
    spry_result_clear(s->ctx, &result);
    return iterations;
}

/* Names by the rank's place: all there, the first, all but the first. */
static const char *place_of(int kind)
{
    static char text[64];
    snprintf(text, sizeof text, kind == 0 ? "%s" : kind == 1 ? "[%s,cpu]" : "[cpu,%s]", engine);
    return text;
}

/* The same answers, by their own measure, after about as many iterations as on processors. */
static void arrive(const char *kind, const char *matrix, ranks_way way, const char *options)
{
    system_t s;
    system_open(&s, kind, matrix, way);
    const int64_t expected = solve(&s, options, "cpu");
    for (int k = 0; k < 3; k++) {
        const int64_t found = solve(&s, options, place_of(k));
        if (found < expected * 8 / 10 || found > expected * 12 / 10 + 2)
            fail_msg("%s on %s: %lld iterations, on processors %lld", options, place_of(k),
                     (long long)found, (long long)expected);
    }
    system_close(&s);
}

static void methods(void **state)
{
    static const char *const options[] = {"method=bicg precon=jacobi", "method=cg precon=jacobi",
                                          "method=gmres precon=ilu", "method=lsqr precon=none",
                                          "method=cg precon=amg fuse=no"};
    (void)state;
    for (size_t k = support_full() ? 0 : 1; k < sizeof options / sizeof *options; k++)
        arrive("convection-diffusion", "size=10 peclet=0", RANKS_EVEN, options[k]);
    arrive("helmholtz", "nx=9 ny=9 nz=1 wavelength=20", RANKS_EVEN, "method=gmres precon=jacobi");
}

static void odd(void **state)
{
    (void)state;
    for (int way = RANKS_FIRST_EMPTY; way < RANKS_WAYS; way++)
        arrive("poisson2d", "size=9", (ranks_way)way, "method=cg precon=jacobi");
    arrive("poisson2d", "size=9", RANKS_FIRST_EMPTY, "method=gmres precon=ilu");
    arrive("tridiagonal", "size=3", RANKS_EVEN, "method=cg precon=jacobi"); /* all halo */
    arrive("dense", "size=12", RANKS_EVEN, "method=gmres precon=ilu");
}

static bool always(team *t, const char *name)
{
    (void)t, (void)name;
    return true;
}

/* Whatever way halos travel, x has the bits that it has where they go through pinned memory; that
 * MPI says it takes devices' memory is not enough where that has no addresses. */
static void transport(void **state)
{
    system_t s;
    spry_vector *staged = NULL;
    (void)state;
    for (int said = 0; said < 2; said++) {
        system_open(&s, "poisson2d", "size=30", RANKS_EVEN);
        const team_class *real = s.ctx->team->class;
        team_class saying = *real;
        saying.takes_devices = said ? always : real->takes_devices;
        assert_ok(s.ctx, spry_vector_like(s.x, s.x->n, &staged));
        for (int way = 0; way < 2; way++) {
            spry_solver *solver = NULL;
            spry_rank_report mine = SPRY_RANK_REPORT_INIT;
            char text[96];
            if (way == 0)
                assert_int_equal(setenv("SPRY_TRANSPORT", "staged", 1), 0);
            else
                assert_int_equal(unsetenv("SPRY_TRANSPORT"), 0);
            spry_device *d = NULL;
            assert_ok(s.ctx, device_open(s.ctx, engine, &d));
            /* A class that says yes is believed only where that can be so. */
            if (!d->facts.has_pointers)
                s.ctx->team->class = &saying;
            snprintf(text, sizeof text, "method=cg precon=jacobi device=%s", engine);
            assert_ok(s.ctx, spry_solver_new(s.ctx, &solver));
            assert_ok(s.ctx, spry_solver_set(solver, text));
            assert_ok(s.ctx, spry_solver_set_matrix(solver, s.A));
            assert_ok(s.ctx, spry_vector_fill(s.x, (spry_scalar){0, 0}));
            assert_ok(s.ctx, spry_solve(solver, s.b, s.x, NULL));
            s.ctx->team->class = real;
            if (s.A->distributed) {
                assert_ok(s.ctx, spry_solver_rank(solver, spry_context_rank(s.ctx), &mine));
                const bool direct = strcmp(mine.transport, "direct") == 0;
                assert_true(direct || strcmp(mine.transport, "staged") == 0);
                assert_true(!direct || (way == 1 && d->facts.has_pointers));
                assert_int_equal(direct, s.ctx->team->on_devices);
                if (spry_context_rank(s.ctx) == 0 && way == 1)
                    print_message("halos: %s\n", mine.transport);
            }
            if (way == 0)
                assert_ok(s.ctx, spry_vector_copy(s.x, staged));
            else
                assert_memory_equal(s.x->data, staged->data, (size_t)s.x->n * sizeof(double));
            spry_solver_free(solver);
        }
        spry_vector_free(staged);
        system_close(&s);
    }
}

/* Several right-hand sides are solved side by side. */
static void many(void **state)
{
    enum { COUNT = 3 };
    system_t s;
    spry_solver *solver = NULL;
    spry_vector *x[COUNT];
    const spry_vector *b[COUNT];
    spry_result results[COUNT] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    char text[160];
    (void)state;
    system_open(&s, "poisson2d", "size=11", RANKS_EVEN);
    snprintf(text, sizeof text, "method=bicgstab precon=jacobi device=%s", place_of(1));
    assert_ok(s.ctx, spry_solver_new(s.ctx, &solver));
    assert_ok(s.ctx, spry_solver_set(solver, text));
    assert_ok(s.ctx, spry_solver_set_matrix(solver, s.A));
    for (int k = 0; k < COUNT; k++) {
        assert_ok(s.ctx, spry_vector_zeros(s.ctx, s.A, &x[k]));
        b[k] = s.b;
    }
    for (int again = 0; again < 2; again++) {
        assert_ok(s.ctx, spry_solve_many(solver, COUNT, b, x, results));
        for (int k = 0; k < COUNT; k++) {
            assert_true(results[k].converged);
            check_x(&s, x[k], results[k].tolerance, text);
            assert_ok(s.ctx, spry_vector_fill(x[k], (spry_scalar){0, 0}));
            spry_result_clear(s.ctx, &results[k]);
            results[k] = (spry_result)SPRY_RESULT_INIT;
        }
    }
    for (int k = 0; k < COUNT; k++)
        spry_vector_free(x[k]);
    spry_solver_free(solver);
    system_close(&s);
}

/* --- failures ------------------------------------------------------------------------------------
 */

/* What is looked at where a solve did not arrive is looked at by all ranks, wherever they work: all
 * are in step after it. */
static void not_arrived(void **state)
{
    static const char *const options[] = {"method=cg precon=jacobi max-iter=3",
                                          "method=cg precon=ilu max-iter=3",
                                          "method=cocg precon=jacobi max-iter=3"};
    system_t s;
    char text[160];
    int64_t in_step = 0;
    (void)state;
    system_open(&s, "poisson2d", "size=9", RANKS_EVEN);
    for (int k = 0; k < (support_full() ? 9 : 6); k++) {
        spry_result result = SPRY_RESULT_INIT;
        snprintf(text, sizeof text, "%s device=%s", options[k / 3], place_of(k % 3));
        assert_ok(s.ctx, spry_vector_fill(s.x, (spry_scalar){0, 0}));
        const spry_status status = spry_quick_solve(s.ctx, s.A, s.b, s.x, text, &result);
        ranks_alike(s.ctx, status);
        assert_ok(s.ctx, status);
        assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
        assert_ok(s.ctx, team_sum(s.ctx, k, &in_step));
        assert_int_equal(in_step, k * spry_context_ranks(s.ctx));
        spry_result_clear(s.ctx, &result);
    }
    system_close(&s);
}

static spry_device *own_device(system_t *s)
{
    spry_device *d = NULL;
    assert_ok(s->ctx, device_open(s->ctx, engine, &d));
    return d;
}

/* Bytes over the bus, and waits of the host, in a solve of so many iterations. */
static void count_moved(system_t *s, spry_device *d, int iterations, int64_t *bytes, int64_t *waits)
{
    char text[160];
    spry_result result = SPRY_RESULT_INIT;
    const int64_t moved = d->moved, waited = d->waits;
    snprintf(text, sizeof text, "method=cg precon=jacobi tol=0 max-iter=%d device=%s:0", iterations,
             engine);
    assert_ok(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    assert_ok(s->ctx, spry_quick_solve(s->ctx, s->A, s->b, s->x, text, &result));
    assert_int_equal(result.iterations, iterations);
    spry_result_clear(s->ctx, &result);
    *bytes = d->moved - moved;
    *waits = d->waits - waited;
}

/* In an iteration halos and scalars go over the bus, and no vectors; the host waits once for halos
 * and once at each of the two points with inner products. One rank alone has none of that: what it
 * reports comes with a look at times. */
static void traffic(void **state)
{
    enum { FEW = 10, MORE = 10, SCALARS = 4096 };
    int64_t bytes[2], waits[2];
    system_t s;
    (void)state;
    system_open(&s, "poisson2d", "size=80", RANKS_EVEN);
    spry_device *d = own_device(&s);
    count_moved(&s, d, FEW, &bytes[0], &waits[0]);
    count_moved(&s, d, FEW, &bytes[0], &waits[0]); /* nothing is new to it */
    count_moved(&s, d, FEW + MORE, &bytes[1], &waits[1]);
    const distributed *p = s.A->distributed;
    const int64_t halo = p ? (p->sent_count + p->ghosts) * (int64_t)sizeof(double) : 0;
    const int64_t per = (bytes[1] - bytes[0]) / MORE;
    assert_true(SCALARS < s.b->n * (int64_t)sizeof(double));
    assert_true(per <= halo + SCALARS);
    assert_true(waits[1] - waits[0] <= (p ? 3 * MORE : MORE / 2));
    system_close(&s);
}

/* Ranks that share a device have the same shares, whatever else there is; they add up, and all hear
 * the same. */
static void shares(void **state)
{
    system_t s;
    double all[16];
    (void)state;
    system_open(&s, "poisson2d", "size=60", RANKS_EVEN);
    const int ranks = spry_context_ranks(s.ctx);
    for (int kind = 0; kind < 3 && ranks > 1; kind++) {
        bool changed = true;
        int64_t reported = 0;
        double sum = 0;
        char list[64];
        snprintf(list, sizeof list, kind == 2 ? "%s,%s,cpu" : "%s", engine, engine);
        if (kind == 0) /* a sample */
            assert_ok(s.ctx, spry_context_set_shares(s.ctx, "auto", list));
        else
            assert_ok(s.ctx, spry_context_correct_shares(s.A, list, &changed));
        assert_ok(s.ctx, team_sum(s.ctx, changed, &reported));
        assert_true(reported == 0 || reported == ranks);
        memcpy(all, s.ctx->team->shares, (size_t)ranks * sizeof *all);
        for (int r = 0; r < ranks; r++)
            sum += all[r];
        for (int r = 0; r < ranks; r++)
            if (kind != 2 || r < 2)
                assert_true(fabs(all[r] - all[0]) <= 1e-12 * sum);
        assert_true(all[0] > 0);
    }
    system_close(&s);
}

/* The nth call of the device of one rank fails. */
static void failures(void **state)
{
    system_t s;
    char text[96];
    (void)state;
    system_open(&s, "poisson2d", "size=7", RANKS_EVEN);
    const int ranks = spry_context_ranks(s.ctx);
    spry_device *d = own_device(&s);
    snprintf(text, sizeof text, "method=cg precon=jacobi device=%s:0", engine);
    solve(&s, "method=cg precon=jacobi", "cpu");
    for (int work = WORK_ALLOC; work <= WORK_LAUNCH; work++) {
        int failed = 0;
        for (int nth = 1; nth < 70; nth += 1 + nth / 6) {
            spry_result result = SPRY_RESULT_INIT;
            assert_ok(s.ctx, spry_vector_fill(s.x, (spry_scalar){0, 0}));
            if (spry_context_rank(s.ctx) == nth % ranks)
                device_fail_next(d, (device_work)work, nth);
            const spry_status status = spry_quick_solve(s.ctx, s.A, s.b, s.x, text, &result);
            device_fail_next(d, (device_work)work, 0);
            ranks_alike(s.ctx, status);
            failed += status != SPRY_STATUS_OK;
            spry_result_clear(s.ctx, &result);
        }
        assert_true(failed > 0);
        assert_true(solve(&s, "method=cg precon=jacobi", engine) > 0);
    }
    system_close(&s);
}

static bool lose(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    spry_device *d = data;
    (void)residual, (void)x;
    if (iteration == 3 && d) {
        d->lost = true;
        snprintf(d->why_lost, sizeof d->why_lost, "it is gone");
    }
    return true;
}

/* A device that is lost in the middle of a solve. */
static void lost(void **state)
{
    system_t s;
    spry_solver *solver = NULL;
    char text[96];
    (void)state;
    system_open(&s, "poisson2d", "size=9", RANKS_EVEN);
    spry_device *d = own_device(&s);
    const bool bad = spry_context_rank(s.ctx) == spry_context_ranks(s.ctx) - 1;
    snprintf(text, sizeof text, "method=cg precon=jacobi device=%s:0", engine);
    assert_ok(s.ctx, spry_solver_new(s.ctx, &solver));
    assert_ok(s.ctx, spry_solver_set(solver, text));
    assert_ok(s.ctx, spry_solver_set_matrix(solver, s.A));
    spry_solver_set_monitor(solver, lose, bad ? d : NULL);
    const spry_status status = spry_solve(solver, s.b, s.x, NULL);
    assert_status(s.ctx, SPRY_STATUS_DEVICE_LOST, status);
    ranks_alike(s.ctx, status);
    spry_solver_free(solver);
    system_close(&s);
}

/* The engine to test with: as SPRY_TEST_DEVICE says, or any that exists. */
static bool find_engine(void)
{
    static const char *const engines[] = {"cuda", "opencl"};
    const char *wanted = getenv("SPRY_TEST_DEVICE");
    spry_context *ctx = support_context(NULL);
    char why[256];
    for (int k = 0; k < 2 && !engine; k++)
        if ((!wanted || strcmp(wanted, engines[k]) == 0) &&
            device_count(ctx, engines[k], why, sizeof why) > 0)
            engine = engines[k];
    spry_context_free(ctx);
    return engine != NULL;
}

/* PoCL's cache is not for several processes at once while it is filled. */
static void part_caches(void)
{
    const char *folder = getenv("SPRY_CACHE");
    char path[1024];
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/pocl-%d", folder && *folder ? folder : "/tmp", rank);
    (void)mkdir(path, 0700);
    (void)setenv("POCL_CACHE_DIR", path, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods), cmocka_unit_test(odd),         cmocka_unit_test(transport),
        cmocka_unit_test(many),    cmocka_unit_test(not_arrived), cmocka_unit_test(traffic),
        cmocka_unit_test(shares),  cmocka_unit_test(failures),    cmocka_unit_test(lost)};
    MPI_Init(NULL, NULL);
    part_caches();
    if (!find_engine()) {
        MPI_Finalize();
        return 77;
    }
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
