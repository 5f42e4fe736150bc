/*
 * Grids that are cut into blocks of ranks that work on devices: products, transposes and multigrid
 * have the bits of the device without ranks, and what fails on one rank's device fails on all.
 */
#include "mpi/ranks.h"

#include "device/engine/device.h"

#include <spry/spry.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *engine; /* "opencl" or "cuda" */

static double mix(const double *place, double seed)
{
    double t = seed;
    for (int a = 0; a < 3; a++)
        t += (place[a] + 0.137) * (12.9898 + 65.233 * a);
    t *= 43.75;
    return t - (double)(int64_t)t;
}

static void noise(void *data, const double *place, spry_scalar *value)
{
    const double seed = *(const double *)data;
    *value = (spry_scalar){mix(place, seed) + 0.5, mix(place, seed + 1)};
}

/* A grid on ranks (0) and the same one without (1), with an operator on the first rank alone:
 * others would compile its programs once more. */
typedef struct pair {
    spry_context *ctx[2];
    spry_grid *grid[2];
    spry_operator *A[2];
    spry_grid_info info;
} pair;

static bool has(const pair *p, int k)
{
    return k == 0 || spry_context_rank(p->ctx[0]) == 0;
}

/* What the first rank has made, to all. */
static void share(spry_vector *v)
{
    const int64_t bytes = v->n * (int64_t)spry_type_size(v->type);
    MPI_Bcast(spry_vector_data(v), (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void open_pair(pair *p, const char *grid, const char *ranks, const char *text,
                      const char *options)
{
    static const char *const names[] = {"k"};
    p->info = (spry_grid_info)SPRY_GRID_INFO_INIT;
    for (int k = 0; k < 2; k++) {
        char all[160];
        double seed = 9;
        spry_vector *field = NULL;
        snprintf(all, sizeof all, "%s%s%s", grid, k == 0 && ranks ? " ranks=" : "",
                 k == 0 && ranks ? ranks : "");
        assert_ok(p->ctx[k], spry_grid_new(p->ctx[k], all, &p->grid[k]));
        assert_ok(p->ctx[k], spry_field_new(p->grid[k], SPRY_TYPE_D, true, noise, &seed, &field));
        snprintf(all, sizeof all, "%s device=%s", options, engine);
        p->A[k] = NULL;
        if (has(p, k)) {
            assert_ok(p->ctx[k], spry_operator_stencil(p->grid[k], text, all, 1, names,
                                                       (const spry_vector *[]){field}, &p->A[k]));
            assert_non_null(spry_operator_device(p->A[k]));
        }
        spry_vector_free(field);
    }
    assert_ok(p->ctx[0], spry_grid_describe(p->grid[0], &p->info));
}

static void close_pair(pair *p)
{
    for (int k = 0; k < 2; k++) {
        spry_operator_free(p->A[k]);
        spry_grid_free(p->grid[k]);
    }
}

/* Of the host: what is made of it goes to the device. */
static spry_vector *noise_on(const pair *p, int k, double seed)
{
    spry_vector *v = NULL;
    assert_ok(p->ctx[k],
              spry_field_new(p->grid[k], spry_operator_type(p->A[0]), false, noise, &seed, &v));
    return v;
}

static void same_field(const pair *p, const spry_vector *on_host, const spry_vector *on_device,
                       const char *what)
{
    const size_t size = spry_type_size(on_host->type);
    const spry_grid_info *g = &p->info;
    int64_t i = 0;
    for (int64_t z = g->begin[2]; z < g->end[2]; z++)
        for (int64_t y = g->begin[1]; y < g->end[1]; y++)
            for (int64_t x = g->begin[0]; x < g->end[0]; x++, i++) {
                const int64_t k = x + g->axis_unknowns[0] * (y + g->axis_unknowns[1] * z);
                if (memcmp((char *)on_host->data + (size_t)i * size,
                           (char *)on_device->data + (size_t)k * size, size) != 0)
                    fail_msg("%s: unknown %d %d %d is %.17g, without ranks %.17g", what, (int)x,
                             (int)y, (int)z, value_get(on_host->type, on_host->data, i).re,
                             value_get(on_device->type, on_device->data, k).re);
            }
    assert_int_equal(i, on_host->n);
}

static void check_products(const pair *p, int transposes, const char *what)
{
    for (int t = 0; t < transposes; t++)
        for (int scaled = 0; scaled < 2; scaled++) {
            const spry_scalar alpha = {scaled ? -0.5 : 1, 0}, beta = {scaled ? 2 : 0, 0};
            spry_vector *x[2], *y[2];
            for (int k = 0; k < 2; k++) {
                x[k] = noise_on(p, k, 1);
                y[k] = noise_on(p, k, 2);
                if (has(p, k))
                    assert_ok(p->ctx[k], spry_operator_multiply(p->A[k], (spry_transpose)t, alpha,
                                                                x[k], beta, y[k]));
            }
            share(y[1]);
            same_field(p, y[0], y[1], what);
            for (int k = 0; k < 2; k++) {
                spry_vector_free(x[k]);
                spry_vector_free(y[k]);
            }
        }
}

/* Mixed derivatives with fields, which need edges and corners, around a cut axis whose ends meet;
 * rows with tables at the ends, of which some reach farther than a rank has lines. Rows that march
 * are those of multigrid below. There are few cases, as each has programs to compile. */
static void products(void **state)
{
    static const struct {
        const char *grid, *ranks, *text, *options;
        int transposes;
    } cases[] = {{"9x8x7 y=periodic z=periodic", "1x%dx1", "dx*k*dy + laplace", "type=c", 1},
                 {"10x5 boundary=neumann", "1x%d", "-div(k*grad) + dy^2", "order=4", 2}};
    pair p = {.ctx = {*state, support_context(NULL)}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char cut[32];
        snprintf(cut, sizeof cut, cases[k].ranks, spry_context_ranks(p.ctx[0]));
        open_pair(&p, cases[k].grid, cut, cases[k].text, cases[k].options);
        check_products(&p, cases[k].transposes, cases[k].text);
        close_pair(&p);
    }
    spry_context_free(p.ctx[1]); /* which has a device open */
}

/* One cycle, to the bit. */
static void check_cycle(const pair *p, const char *spec)
{
    spry_vector *x[2], *b[2];
    char options[160];
    snprintf(options, sizeof options, "method=richardson precon=%s max-iter=1 tol=1e-30", spec);
    for (int k = 0; k < 2; k++) {
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        b[k] = noise_on(p, k, 5);
        assert_ok(p->ctx[k], spry_field_new(p->grid[k], spry_operator_type(p->A[0]), false, NULL,
                                            NULL, &x[k]));
        if (!has(p, k))
            continue;
        assert_ok(p->ctx[k], spry_solver_new(p->ctx[k], &solver));
        assert_ok(p->ctx[k], spry_solver_set(solver, options));
        assert_ok(p->ctx[k], spry_solver_set_operator(solver, p->A[k]));
        assert_ok(p->ctx[k], spry_solve(solver, b[k], x[k], &result));
        assert_int_equal(result.iterations, 1);
        spry_result_clear(p->ctx[k], &result);
        spry_solver_free(solver);
    }
    share(x[1]);
    same_field(p, x[0], x[1], spec);
    for (int k = 0; k < 2; k++) {
        spry_vector_free(x[k]);
        spry_vector_free(b[k]);
    }
}

/* Levels that are cut and such that each rank has whole; red and black points, whose colours are
 * counted over the whole grid, with marches, whose programs take long to compile, and all points at
 * once. */
static void multigrid(void **state)
{
    static const struct {
        const char *grid, *ranks, *text, *spec;
    } cases[] = {{"8x8x16", "1x1x%d", "-laplace", "gmg:rank-rows=1,coarsest=30,smoother=redblack"},
                 {"16x16 y=periodic", "1x%d", "-div(k*grad) + 4",
                  "gmg:rank-rows=20,coarsest=8,smoother=jacobi,cycle=full"}};
    pair p = {.ctx = {*state, support_context(NULL)}};
    for (size_t k = support_full() ? 0 : 1; k < sizeof cases / sizeof *cases; k++) {
        char cut[32];
        snprintf(cut, sizeof cut, cases[k].ranks, spry_context_ranks(p.ctx[0]));
        open_pair(&p, cases[k].grid, cut, cases[k].text, "order=2");
        check_cycle(&p, cases[k].spec);
        close_pair(&p);
    }
    spry_context_free(p.ctx[1]); /* which has a device open */
}

/* A vector on the operator's device, from the host's. */
static spry_vector *on_device(const pair *p, int k, spry_vector *on_host)
{
    spry_vector *v = NULL;
    assert_ok(p->ctx[k],
              spry_vector_on(spry_operator_device(p->A[k]), on_host->type, on_host->n, NULL, &v));
    assert_ok(p->ctx[k], spry_vector_copy(on_host, v));
    return v;
}

static void check_bounded(const pair *p, const char *options)
{
    spry_vector *x[2];
    spry_bounded_stats stats[2] = {SPRY_BOUNDED_STATS_INIT, SPRY_BOUNDED_STATS_INIT};
    spry_result results[2] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    for (int k = 0; k < 2; k++) {
        spry_bounded *s = NULL;
        spry_vector *b = noise_on(p, k, 5), *lower = noise_on(p, k, 6);
        x[k] = noise_on(p, k, 7);
        assert_ok(p->ctx[k], spry_vector_scale((spry_scalar){-8, 0}, b));
        assert_ok(p->ctx[k], spry_vector_scale((spry_scalar){-0.05, 0}, lower));
        assert_ok(p->ctx[k], spry_vector_scale((spry_scalar){-0.1, 0}, x[k]));
        if (has(p, k)) {
            spry_vector *on[] = {on_device(p, k, b), on_device(p, k, lower), on_device(p, k, x[k])};
            assert_ok(p->ctx[k], spry_bounded_new(p->A[k], options, &s));
            assert_ok(p->ctx[k],
                      spry_bounded_solve(s, on[0], on[1], on[2], &results[k], &stats[k]));
            assert_ok(p->ctx[k], spry_vector_copy(on[2], x[k]));
            assert_true(stats[k].contacts > 0);
            spry_bounded_free(s);
            for (int i = 0; i < 3; i++)
                spry_vector_free(on[i]);
        }
        spry_vector_free(b);
        spry_vector_free(lower);
    }
    share(x[1]);
    same_field(p, x[0], x[1], options);
    if (has(p, 1)) {
        assert_int_equal(stats[0].contacts, stats[1].contacts);
        assert_int_equal(results[0].iterations, results[1].iterations);
        assert_int_equal(stats[0].levels, stats[1].levels);
        assert_true(results[0].residual == results[1].residual);
        assert_true(results[0].initial_residual == results[1].initial_residual);
    }
    spry_vector_free(x[0]);
    spry_vector_free(x[1]);
}

/* Every launch and copy of a solve on one rank's device fails in turn. */
static void fail_bounded_solve(const pair *p, const spry_vector *b, const spry_vector *lower,
                               spry_vector *x)
{
    spry_context *ctx = p->ctx[0];
    spry_device *d = spry_operator_device(p->A[0]);
    spry_bounded *s = NULL;
    assert_ok(ctx, spry_bounded_new(p->A[0], "method=redblack max-iter=1", &s));
    for (int work = WORK_COPY; work <= WORK_LAUNCH; work++) {
        spry_status status = SPRY_STATUS_DEVICE;
        for (int nth = 1; status != SPRY_STATUS_OK; nth++) {
            if (spry_context_rank(ctx) == spry_context_ranks(ctx) - 1)
                device_fail_next(d, (device_work)work, nth);
            status = spry_bounded_solve(s, b, lower, x, NULL, NULL);
            device_fail_next(d, (device_work)work, 0);
            ranks_alike(ctx, status);
            assert_true(nth > 1 || status != SPRY_STATUS_OK);
        }
    }
    spry_bounded_free(s);
}

/* The nth call of one rank's device fails, or the nth piece of the host's memory. */
static void fail_bounded(const pair *p)
{
    enum { WORKS = WORK_LAUNCH + 2 };
    spry_context *ctx = p->ctx[0];
    spry_device *d = spry_operator_device(p->A[0]);
    spry_vector *on_host = noise_on(p, 0, 5);
    spry_vector *b = on_device(p, 0, on_host), *lower = on_device(p, 0, on_host),
                *x = on_device(p, 0, on_host);
    int failed = 0, tried = 0;
    for (int work = WORK_ALLOC; work < WORKS; work++)
        for (int nth = 1; nth < 100; nth += 1 + nth, tried++) {
            const bool mine = spry_context_rank(ctx) == nth % spry_context_ranks(ctx);
            spry_bounded *s = NULL;
            if (mine && work <= WORK_LAUNCH)
                device_fail_next(d, (device_work)work, nth);
            else if (mine)
                base_fail_allocation(ctx, nth, false);
            spry_status status = spry_bounded_new(p->A[0], "rank-rows=40 max-iter=1", &s);
            if (status == SPRY_STATUS_OK)
                status = spry_bounded_solve(s, b, lower, x, NULL, NULL);
            if (work <= WORK_LAUNCH)
                device_fail_next(d, (device_work)work, 0);
            base_fail_allocation(ctx, 0, false);
            ranks_alike(ctx, status);
            failed += status != SPRY_STATUS_OK;
            spry_bounded_free(s);
        }
    assert_true(failed > 0 && failed < tried);
    fail_bounded_solve(p, b, lower, x);
    spry_vector_free(on_host);
    spry_vector_free(b);
    spry_vector_free(lower);
    spry_vector_free(x);
}

/* Lower bounds, on levels that are cut to the last, joined on the way and from the first on; by
 * marches and points. */
static void bounded(void **state)
{
    static const struct {
        const char *grid, *ranks, *text;
    } cases[] = {{"8x16x8", "1x%dx1", "-laplace"},
                 {"16x24 y=periodic", "1x%d", "-div(k*grad) + 4"},
                 {"16x24 y=periodic", "%dx1", "-div(k*grad) + 4"}};
    static const char *const options[] = {
        "rank-rows=1 max-iter=3 tol=0", "rank-rows=40 max-iter=3 tol=0 pre=1",
        "method=redblack max-iter=3 tol=0 look-every=2", "method=richardson max-iter=3 tol=0"};
    pair p = {.ctx = {*state, support_context(NULL)}};
    for (size_t k = support_full() ? 0 : 1; k < sizeof cases / sizeof *cases; k++) {
        char cut[32];
        snprintf(cut, sizeof cut, cases[k].ranks, spry_context_ranks(p.ctx[0]));
        open_pair(&p, cases[k].grid, cut, cases[k].text, "order=2");
        for (size_t i = k == 2 ? 1 : 0; i < sizeof options / sizeof *options; i += k == 2 ? 2 : 1)
            check_bounded(&p, options[i]);
        if (k == 1)
            fail_bounded(&p);
        close_pair(&p);
    }
    spry_context_free(p.ctx[1]); /* which has a device open */
}

/* --- failures ------------------------------------------------------------------------------------
 */

/* The allocation of this rank that is to fail, while the operator is made and while it solves; 0:
 * none. */
static spry_status make_and_solve(spry_context *ctx, int64_t making, int64_t solving)
{
    spry_grid *grid = NULL;
    static const char *const names[] = {"k"};
    spry_vector *k = NULL, *b = NULL, *x = NULL;
    spry_operator *A = NULL;
    spry_solver *solver = NULL;
    char options[64];
    double seed = 9;
    snprintf(options, sizeof options, "device=%s", engine);
    assert_ok(ctx, spry_grid_new(ctx, "16x16 y=periodic", &grid)); /* as above */
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, noise, &seed, &k));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, noise, &seed, &b));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=richardson max-iter=2 "
                                           "precon=gmg:rank-rows=20,coarsest=8,smoother=jacobi"));
    base_fail_allocation(ctx, making, false);
    spry_status status = spry_operator_stencil(grid, "-div(k*grad) + 4", options, 1, names,
                                               (const spry_vector *[]){k}, &A);
    base_fail_allocation(ctx, 0, false);
    if (status == SPRY_STATUS_OK) {
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        base_fail_allocation(ctx, solving, false);
        status = spry_solve(solver, b, x, NULL);
        base_fail_allocation(ctx, 0, false);
    }
    spry_solver_free(solver);
    spry_vector_free(k);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

/* The nth call of one rank's device fails. */
static void failures(void **state)
{
    spry_context *ctx = *state;
    const int ranks = spry_context_ranks(ctx);
    spry_device *d = NULL;
    char name[DEVICE_NAME];
    device_for_rank(ctx, engine, name);
    assert_ok(ctx, device_open(ctx, name, &d));
    assert_ok(ctx, make_and_solve(ctx, 0, 0));
    for (int work = WORK_ALLOC; work <= WORK_LAUNCH; work++) {
        int failed = 0;
        for (int nth = 1; nth < 100; nth += 1 + 2 * nth / 3) {
            if (spry_context_rank(ctx) == nth % ranks)
                device_fail_next(d, (device_work)work, nth);
            const spry_status status = make_and_solve(ctx, 0, 0);
            device_fail_next(d, (device_work)work, 0);
            ranks_alike(ctx, status);
            failed += status != SPRY_STATUS_OK;
        }
        assert_true(failed > 0);
    }
    int failed = 0;
    for (int nth = 1; nth < 400; nth += 1 + nth / 2) { /* of the host's memory */
        const bool mine = spry_context_rank(ctx) == nth % ranks;
        for (int solving = 0; solving < 2; solving++) {
            const spry_status status =
                make_and_solve(ctx, mine && !solving ? nth : 0, mine && solving ? nth : 0);
            ranks_alike(ctx, status);
            failed += status != SPRY_STATUS_OK;
        }
    }
    assert_true(failed > 0);
    assert_ok(ctx, make_and_solve(ctx, 0, 0));
}

/* Blocks on the device of a grid that is cut; the host's are multiplied. */
static void refuse_block(spry_context *ctx, spry_grid *grid)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_operator *A = NULL;
    spry_vector *on_host[2] = {NULL}, *on_device[2] = {NULL};
    spry_dense at[2], away[2];
    char options[64];
    snprintf(options, sizeof options, "device=%s", engine);
    assert_ok(ctx, spry_operator_stencil(grid, "dx", options, 0, NULL, NULL, &A));
    spry_device *d = spry_operator_device(A);
    const int64_t n = spry_operator_rows(A);
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &on_host[k]));
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, n, NULL, &on_device[k]));
        at[k] = (spry_dense){.rows = n, .cols = 1, .ld = n, .data = spry_vector_data(on_host[k])};
        away[k] = at[k];
        away[k].data = spry_vector_handle(on_device[k]);
        away[k].device = d;
    }
    assert_ok(ctx, spry_operator_multiply_dense(A, SPRY_TRANSPOSE_NO, one, &at[0], zero, &at[1]));
    const spry_status status =
        spry_operator_multiply_dense(A, SPRY_TRANSPOSE_NO, one, &away[0], zero, &away[1]);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    assert_non_null(strstr(spry_message(ctx), "takes blocks of the host"));
    ranks_alike(ctx, status);
    for (int k = 0; k < 2; k++) {
        spry_vector_free(on_host[k]);
        spry_vector_free(on_device[k]);
    }
    spry_operator_free(A);
}

/* All ranks work on devices or none, and one that is not there is missed by all. */
static void refused(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    char options[64];
    assert_ok(ctx, spry_grid_new(ctx, "8x8", &grid));
    snprintf(options, sizeof options, "device=[%s,cpu]", engine);
    const spry_status mixed = spry_operator_stencil(grid, "dx", options, 0, NULL, NULL, &A);
    assert_int_equal(mixed, SPRY_STATUS_UNSUPPORTED);
    ranks_alike(ctx, mixed);
    snprintf(options, sizeof options, "device=[%s,%s:77]", engine, engine);
    const spry_status missing = spry_operator_stencil(grid, "dx", options, 0, NULL, NULL, &A);
    assert_int_not_equal(missing, SPRY_STATUS_OK);
    ranks_alike(ctx, missing);
    assert_null(A);
    refuse_block(ctx, grid);
    spry_grid_free(grid);
}

/* --- the program ---------------------------------------------------------------------------------
 */

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

static int setup(void **state)
{
    *state = ranks_context(NULL);
    return 0;
}

static int teardown(void **state)
{
    spry_context_free(*state); /* which has devices open */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(products, setup, teardown),
                                       cmocka_unit_test_setup_teardown(multigrid, setup, teardown),
                                       cmocka_unit_test_setup_teardown(bounded, setup, teardown),
                                       cmocka_unit_test_setup_teardown(failures, setup, teardown),
                                       cmocka_unit_test_setup_teardown(refused, setup, teardown)};
    MPI_Init(NULL, NULL);
    part_caches();
    if (!find_engine()) {
        MPI_Finalize();
        return 77;
    }
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
