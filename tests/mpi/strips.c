/*
 * Absorbing strips on ranks: the blocks of ranks are the strips that one rank makes of as many
 * parts, to the bit, at once and in sweeps; blocks along two axes solve what one rank solves; what
 * fails fails on all ranks alike.
 */
#include "mpi/ranks.h"

#include <math.h>
#include <spry/spry.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void medium(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){30 + 8 * place[0] * place[1] - 4 * place[2], 0};
}

static void noise(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){sin(50 * place[0] + 77 * place[1] + 91 * place[2]) + 0.5,
                           cos(63 * place[0] * place[1])};
}

/* Waves on a grid, and what a preconditioner makes of a field. */
typedef struct waves {
    spry_context *ctx;
    spry_grid *grid;
    spry_grid_info info;
    spry_operator *A;
    spry_vector *r, *z;
} waves;

static waves waves_new(spry_context *ctx, const char *text, const char *ranks, const char *scheme)
{
    waves w = {.ctx = ctx, .info = SPRY_GRID_INFO_INIT};
    char all[160];
    spry_vector *k2 = NULL;
    snprintf(all, sizeof all, "%s%s", text, ranks);
    assert_ok(ctx, spry_grid_new(ctx, all, &w.grid));
    assert_ok(ctx, spry_grid_describe(w.grid, &w.info));
    assert_ok(ctx, spry_field_new(w.grid, SPRY_TYPE_D, true, medium, NULL, &k2));
    assert_ok(ctx, spry_operator_helmholtz(w.grid, k2, scheme, &w.A, NULL));
    assert_ok(ctx, spry_field_new(w.grid, SPRY_TYPE_Z, false, noise, NULL, &w.r));
    assert_ok(ctx, spry_field_new(w.grid, SPRY_TYPE_Z, false, NULL, NULL, &w.z));
    spry_vector_free(k2);
    return w;
}

static void waves_free(waves *w)
{
    spry_vector_free(w->r);
    spry_vector_free(w->z);
    spry_operator_free(w->A);
    spry_grid_free(w->grid);
}

static void apply(waves *w, const char *spec)
{
    spry_operator *M = NULL;
    assert_ok(w->ctx, spry_precon_for_operator(w->A, NULL, spec, &M));
    assert_ok(w->ctx, spry_operator_apply(M, w->r, w->z));
    spry_operator_free(M);
}

/* The largest difference of z between ranks and one rank alone, over the largest number. */
static double difference(const waves *w, const waves *alone)
{
    const spry_grid_info *g = &w->info;
    double most = 0, size = 0;
    int64_t i = 0;
    for (int64_t z = g->begin[2]; z < g->end[2]; z++)
        for (int64_t y = g->begin[1]; y < g->end[1]; y++)
            for (int64_t x = g->begin[0]; x < g->end[0]; x++, i++) {
                const int64_t k = x + g->axis_unknowns[0] * (y + g->axis_unknowns[1] * z);
                const spry_scalar a = value_get(SPRY_TYPE_Z, w->z->data, i);
                const spry_scalar b = value_get(SPRY_TYPE_Z, alone->z->data, k);
                most = fmax(most, hypot(a.re - b.re, a.im - b.im));
            }
    for (int64_t k = 0; k < alone->z->n; k++) {
        const spry_scalar b = value_get(SPRY_TYPE_Z, alone->z->data, k);
        size = fmax(size, hypot(b.re, b.im));
    }
    assert_int_equal(i, w->z->n);
    assert_true(size > 0);
    return most / size;
}

/* Blocks along one axis are parts of it: their matrices are the same, and so are products. */
static void parts(void **state)
{
    static const struct {
        const char *grid, *scheme, *spec;
        int axis;
    } cases[] = {{"12x30 boundary=absorb layer=4", "scheme=optimal", "layer=3", 1},
                 {"12x30 boundary=absorb layer=4", "scheme=compact4", "layer=4,sweeps=1", 1},
                 {"12x30 boundary=absorb layer=4", "scheme=second", "sweeps=2,overlap=1", 1},
                 {"30x10 x=neumann:absorb layer=4", "scheme=optimal layer=damp", "sweeps=1", 0},
                 {"7x6x20 boundary=absorb layer=2", "scheme=optimal", "layer=3,sweeps=1", 2}};
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    for (size_t k = 0; k < COUNT(cases); k++) {
        char cut[32], spec[64];
        const bool deep = strstr(cases[k].grid, "x20 ") != NULL;
        snprintf(cut, sizeof cut, deep ? " ranks=%dx%dx%d" : " ranks=%dx%d",
                 cases[k].axis == 0 ? ranks : 1, cases[k].axis == 1 ? ranks : 1, ranks);
        waves w = waves_new(ctx, cases[k].grid, cut, cases[k].scheme);
        waves one = waves_new(alone, cases[k].grid, "", cases[k].scheme);
        snprintf(spec, sizeof spec, "strips:%s", cases[k].spec);
        apply(&w, spec);
        snprintf(spec, sizeof spec, "strips:%s,parts=%d,axis=%c", cases[k].spec, ranks,
                 "xyz"[cases[k].axis]);
        apply(&one, spec);
        if (difference(&w, &one) != 0)
            fail_msg("%s, %s: %.3g relative to one rank", cases[k].grid, cases[k].spec,
                     difference(&w, &one));
        waves_free(&w);
        waves_free(&one);
    }
    support_context_free(alone);
    support_context_free(ctx);
}

static int64_t solve(waves *w, const char *options)
{
    spry_result result = SPRY_RESULT_INIT;
    spry_solver *solver = NULL;
    assert_ok(w->ctx, spry_solver_new(w->ctx, &solver));
    assert_ok(w->ctx, spry_solver_set(solver, options));
    assert_ok(w->ctx, spry_solver_set_operator(solver, w->A));
    assert_ok(w->ctx, spry_vector_fill(w->z, (spry_scalar){0, 0}));
    assert_ok(w->ctx, spry_solve(solver, w->r, w->z, &result));
    assert_true(result.converged);
    const int64_t iterations = result.iterations;
    spry_result_clear(w->ctx, &result);
    spry_solver_free(solver);
    return iterations;
}

/* Cut along any axes, into blocks that are thinner than the overlap, or empty, or in parts of
 * ranks' own: the solution is one rank's. Residuals of 1e-10 leave errors of that times the
 * condition, some hundreds for boxes of few wavelengths with layers. */
static void solves(void **state)
{
    static const struct {
        const char *grid, *cut, *context, *spec;
    } cases[] = {{"20x20 boundary=absorb layer=5", "", NULL, "strips"},
                 {"20x20 boundary=absorb layer=5", "", NULL, "strips:parts=2,sweeps=1"},
                 {"20x20 x=periodic y=absorb layer=5", "", NULL, "strips"},
                 {"8x8x5 boundary=absorb layer=2", "", NULL, "strips:overlap=3,layer=2"},
                 {"12x12 boundary=absorb layer=3", "", "repeat=strict", "strips:sweeps=1"}};
    (void)state;
    spry_context *alone = support_context(NULL);
    for (size_t k = 0; k < COUNT(cases); k++) {
        spry_context *ctx = ranks_context(cases[k].context);
        const bool along_x = strstr(cases[k].grid, "periodic") != NULL;
        char options[96], cut[32] = "";
        if (along_x)
            snprintf(cut, sizeof cut, " ranks=%dx1", spry_context_ranks(ctx));
        else if (spry_context_ranks(ctx) == 4 && !cases[k].context)
            snprintf(cut, sizeof cut, "%s",
                     strstr(cases[k].grid, "x5") ? " ranks=1x2x2" : " ranks=2x2");
        waves w = waves_new(ctx, cases[k].grid, cut, "scheme=optimal");
        waves one = waves_new(alone, cases[k].grid, "", "scheme=optimal");
        snprintf(options, sizeof options, "method=gmres tol=1e-10 precon=%s", cases[k].spec);
        const int64_t count = solve(&w, options);
        if (count > (along_x ? 100 : 60)) /* waves go round a periodic axis many times */
            fail_msg("%s, %s: %d iterations", cases[k].grid, cases[k].spec, (int)count);
        solve(&one, "method=gmres tol=1e-12 precon=strips");
        if (!(difference(&w, &one) <= 1e-7))
            fail_msg("%s, %s: %.3g relative to one rank", cases[k].grid, cases[k].spec,
                     difference(&w, &one));
        waves_free(&w);
        waves_free(&one);
        support_context_free(ctx);
    }
    support_context_free(alone);
}

static void refused(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    waves w = waves_new(ctx, "12x12 boundary=absorb layer=3", "", "scheme=second");
    spry_operator *M = NULL;
    spry_status status = spry_precon_for_operator(w.A, NULL, "strips:parts=12", &M);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    ranks_alike(ctx, status);
    status = spry_precon_for_operator(w.A, NULL, "strips:sub=none", &M);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    ranks_alike(ctx, status);
    waves_free(&w);
    support_context_free(ctx);
}

/* Each allocation of one rank fails in turn. */
static void memory(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int ranks = spry_context_ranks(ctx);
    waves w = waves_new(ctx, "5x9 boundary=absorb layer=2", "", "scheme=second");
    int passed = 0;
    /* With more ranks nothing is made that two do not make. */
    for (int nth = 1; ranks < 3 && passed < 2 && nth < 4000; nth += nth < 40 ? 1 : 13) {
        int64_t before, after;
        spry_operator *M = NULL;
        spry_context_memory(ctx, &before, NULL);
        base_fail_allocation(ctx, spry_context_rank(ctx) == nth % ranks ? nth : 0, false);
        spry_status status = spry_precon_for_operator(
            w.A, NULL, "strips:layer=2,sweeps=1,sub=[direct:kind=band]", &M);
        if (status == SPRY_STATUS_OK) /* or on none */
            status = spry_context_agree(ctx, spry_operator_apply(M, w.r, w.z));
        base_fail_allocation(ctx, 0, false);
        ranks_alike(ctx, status);
        if (status != SPRY_STATUS_OK)
            assert_int_equal(status, SPRY_STATUS_NO_MEMORY);
        passed = status == SPRY_STATUS_OK ? passed + 1 : 0;
        spry_operator_free(M);
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(after, before);
    }
    assert_true(passed > 0 || ranks > 2);
    waves_free(&w);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(solves),
                                       cmocka_unit_test(refused), cmocka_unit_test(memory)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
