/*
 * What solves are said to need before they need it: no program is built that was not foreseen, so
 * that lists of programs cannot fall behind what is done. The device takes down what it is told,
 * and compiles as it does otherwise.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/layouts.h"
#include "support/opened.h"

#include "device/engine/cache.h"
#include "device/linalg/foresee.h"

#include <string.h>

typedef struct heard {
    char names[4096]; /* of programs that nobody foresaw */
} heard;

static void hear(void *data, spry_log_level level, const char *message)
{
    heard *h = data;
    const size_t used = strlen(h->names);
    (void)level;
    if (strstr(message, "not foreseen"))
        snprintf(h->names + used, sizeof h->names - used, "%s\n", message);
}

/* Solves on the device, opened anew by another context, which must have been told of all programs
 * but so many. */
static void check(const spry_device *named, const char *kind, const char *size, const char *options,
                  int64_t most)
{
    spry_context *ctx = support_context("log=debug");
    spry_device *d = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    heard h = {0};
    char all[256];
    spry_context_set_log(ctx, hear, &h);
    assert_ok(ctx, spry_device_open(ctx, named->facts.name, &d));
    device_listen(d);
    spry_matrix *A = generated(ctx, kind, size);
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    snprintf(all, sizeof all, "device=%s %s", named->facts.name, options);
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, all, &result));
    assert_true(result.converged);
    assert_non_null(d->cache->programs);
    if (d->cache->unforeseen > most)
        fail_msg("%s: %d programs were not foreseen:\n%s", options, (int)d->cache->unforeseen,
                 h.names);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_device_close_all(ctx);
    support_context_free(ctx);
}

/* All of multigrid and its method; of the tuner's formats all in the forecast's order. */
static void test_amg(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "poisson3d", "size=24", "method=cg precon=amg tol=1e-8", 0);
}

static void test_classical(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "poisson3d", "size=24", "method=cg precon=amg-classical format=csr tol=1e-8", 0);
}

static void test_amg_single(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "poisson3d", "size=24", "method=cg precon=amg:precision=single format=csr", 0);
}

/* Sets of some rows, and of many. */
static void test_factors(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check(d, "poisson3d", "size=24", "method=cg precon=ic format=csr", 0);
    check(d, "poisson2d", "size=50", "method=bicgstabl precon=ilu format=csr", 0);
    check(d, "poisson2d", "size=50", "method=cg precon=ssor format=csr", 0);
    check(d, "poisson2d", "size=50",
          "method=cg precon=ilu:order=multicolour,precision=single format=csr", 0);
}

/* A stencil tells of its product when it is made, multigrid of its levels before they are needed.
 */
static void test_grids(spry_context *named_by, spry_device *named)
{
    spry_context *ctx = support_context("log=debug");
    spry_device *d = NULL;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    heard h = {0};
    char options[64];
    (void)named_by;
    spry_context_set_log(ctx, hear, &h);
    assert_ok(ctx, spry_device_open(ctx, named->facts.name, &d));
    device_listen(d);
    snprintf(options, sizeof options, "device=%s", named->facts.name);
    assert_ok(ctx, spry_grid_new(ctx, "32x16x24", &grid));
    assert_ok(ctx, spry_operator_stencil(grid, "-laplace", options, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, spry_operator_rows(A), NULL, &b));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, spry_operator_rows(A), NULL, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=gmg tol=1e-8"));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    if (d->cache->unforeseen > 0)
        fail_msg("%d programs were not foreseen:\n%s", (int)d->cache->unforeseen, h.names);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(A);
    spry_grid_free(grid);
    spry_device_close_all(ctx);
    support_context_free(ctx);
}

/* All formats: what is made for their texts is smaller than the matrix that it speaks for. */
static void foresee_one(const char *spec, void *data)
{
    spry_device *d = data;
    device_foresee_named(d, SPRY_TYPE_D, 1, 0, spec);
    device_foresee_named(d, SPRY_TYPE_D, 1000, 300, spec);
    device_foresee_named(d, SPRY_TYPE_D, 1000, 90000, spec);
    device_foresee_named(d, SPRY_TYPE_Z, (int64_t)1 << 32, (int64_t)1 << 40, spec);
}

static void test_formats(spry_context *named_by, spry_device *named)
{
    spry_context *ctx = support_context(NULL);
    spry_device *d = NULL;
    (void)named_by;
    assert_ok(ctx, spry_device_open(ctx, named->facts.name, &d));
    device_listen(d);
    layouts_each(foresee_one, d);
    assert_non_null(d->cache->ahead);
    spry_device_close_all(ctx);
    support_context_free(ctx);
}

static void stop(void *data, int done, int all)
{
    (void)all;
    if (done >= 2)
        spry_context_interrupt(data);
}

/* Where the compiler takes one thread the caller compiles, and hears who asks to stop. */
static void test_prepare(spry_context *ctx, spry_device *d)
{
    cache_place place;
    int made = 0;
    place_open(&place);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_device_prepare(d, "s", "", stop, ctx, &made));
    assert_true(made >= 2);
    assert_int_equal(place_count(&place), made);
    place_close(&place);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(test_amg),     DEVICES_TEST(test_classical), DEVICES_TEST(test_amg_single),
        DEVICES_TEST(test_factors), DEVICES_TEST(test_grids),     DEVICES_TEST(test_formats),
        DEVICES_TEST(test_prepare)};
    return DEVICES_RUN(tests);
}
