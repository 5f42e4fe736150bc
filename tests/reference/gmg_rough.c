/* Geometric multigrid where coefficients jump, where a wind blows, and on grids of any size; and
 * that auto takes it. */
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct medium {
    bool blocks;
    double jump;
    int dimensions;
} medium;

/* 8 blocks along each axis with a number between 1 and the jump each; or the jump within a box that
 * no coarse line goes along. */
static void conductivity(void *data, const double *place, spry_scalar *value)
{
    enum { BLOCKS = 8 };
    const medium *m = data;
    bool inside = true;
    uint64_t block = 0;
    for (int a = 0; a < m->dimensions; a++) {
        const int at = (int)(place[a] * BLOCKS);
        block = block * BLOCKS + (uint64_t)(at < BLOCKS ? at : BLOCKS - 1);
        inside = inside && place[a] > 0.3 && place[a] < 0.7;
    }
    const double log_of = m->blocks ? base_uniform(11, block) + 0.5 : inside;
    *value = (spry_scalar){pow(m->jump, log_of), 0};
}

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){base_uniform(*seed, 0), 0};
    *seed += 1;
}

/* A wind that goes round. */
static void wind_x(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1000 * sin(3.14159 * place[0]) * cos(3.14159 * place[1]), 0};
}

static void wind_y(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){-1000 * cos(3.14159 * place[0]) * sin(3.14159 * place[1]), 0};
}

typedef struct system {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *k[3], *b, *x;
} system_of;

static system_of make(spry_context *ctx, const char *grid, const char *text, const char *options,
                      const medium *m)
{
    static const char *const names[] = {"k", "u", "v"};
    system_of s = {0};
    uint64_t seed = 5;
    medium none = {false, 1, 2};
    assert_ok(ctx, spry_grid_new(ctx, grid, &s.grid));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, conductivity,
                                  m ? (void *)(uintptr_t)m : &none, &s.k[0]));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, wind_x, NULL, &s.k[1]));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, wind_y, NULL, &s.k[2]));
    assert_ok(ctx, spry_operator_stencil(s.grid, text, options, 3, names,
                                         (const spry_vector *const *)s.k, &s.A));
    assert_ok(ctx, spry_field_new(s.grid, spry_operator_type(s.A), false, noise, &seed, &s.b));
    assert_ok(ctx, spry_field_new(s.grid, spry_operator_type(s.A), false, NULL, NULL, &s.x));
    return s;
}

static void unmake(system_of *s)
{
    spry_operator_free(s->A);
    for (size_t k = 0; k < COUNT(s->k); k++)
        spry_vector_free(s->k[k]);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_grid_free(s->grid);
}

/* Iterations that a solve takes, with its result; its residual is looked at with A. */
static spry_result solved(spry_context *ctx, const system_of *s, const char *options)
{
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, s->A));
    assert_ok(ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, s->b, s->x, &result));
    spry_solver_free(solver);
    return result;
}

static int64_t iterations(spry_context *ctx, const char *grid, const char *text,
                          const char *options, const medium *m, const char *solver)
{
    system_of s = make(ctx, grid, text, options, m);
    spry_result result = solved(ctx, &s, solver);
    if (!result.converged)
        fail_msg("%s, %s, %s: %s after %d iterations, residual %.3g", grid, text, solver,
                 result.detail, (int)result.iterations, result.residual);
    const int64_t count = result.iterations;
    print_message("%s, %s, %s: %d\n", grid, text, solver, (int)count);
    spry_result_clear(ctx, &result);
    unmake(&s);
    return count;
}

/* Without a matrix auto is gmg where that suits, else no preconditioner. */
static void choice(void **state)
{
    static const struct {
        const char *grid, *text, *options, *precon;
        int most;
    } cases[] = {{"64x64", "-laplace", NULL, "gmg", 15},
                 {"16x16x16", "-laplace + 1", "order=4", "gmg", 25},
                 {"64x64 x=periodic", "-div(k*grad) + k", "type=z", "gmg", 15},
                 {"128", "-dx^2", NULL, "gmg", 15},
                 /* indefinite; not of second order */
                 {"16x16", "-laplace - 100", "order=2", "none", 3000},
                 {"32", "dx + 20", "order=2", "none", 3000}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        system_of s = make(*state, cases[k].grid, cases[k].text, cases[k].options, NULL);
        spry_result result = solved(*state, &s, "tol=1e-8");
        print_message("%s, %s: %s, %s, %d\n", cases[k].grid, cases[k].text, result.method,
                      result.precon, (int)result.iterations);
        if (strcmp(result.precon, cases[k].precon) != 0)
            fail_msg("%s with %s, expected %s; tried %s", result.method, result.precon,
                     cases[k].precon, result.tried ? result.tried : "nothing");
        assert_true(result.converged && result.iterations <= cases[k].most);
        spry_result_clear(*state, &result);
        spry_operator *M = NULL;
        assert_ok(*state, spry_precon_for_operator(s.A, NULL, "auto", &M));
        assert_true((M != NULL) == (strcmp(cases[k].precon, "gmg") == 0));
        spry_operator_free(M);
        unmake(&s);
    }
}

/* What gmg does not do is left to a method without it. */
static void falls_back(void **state)
{
    system_of s = make(*state, "24x24", "-laplace - k", NULL, &(medium){false, 1e3, 2});
    spry_result result = solved(*state, &s, "tol=1e-8 max-iter=3000");
    print_message("indefinite in the middle: %s, %s, %d\n", result.method, result.precon,
                  (int)result.iterations);
    assert_true(result.converged);
    spry_result_clear(*state, &result);
    unmake(&s);
}

static void media(void **state)
{
    static const struct {
        const char *grid, *text, *options;
        medium m;
        const char *method;
        int most;
    } cases[] = {{"64x64", "-div(k*grad)", NULL, {true, 1e6, 2}, "cg", 20},
                 {"64x64", "-div(k*grad)", NULL, {true, 1e8, 2}, "cg", 20},
                 {"63x61 x=neumann:dirichlet", "-div(k*grad)", NULL, {true, 1e8, 2}, "gmres", 20},
                 {"64x65 x=periodic", "-div(k*grad)", NULL, {true, 1e6, 2}, "cg", 20},
                 {"65x64 x=periodic", "-div(k*grad)", NULL, {true, 1e6, 2}, "cg", 20},
                 {"64x64", "-div(k*grad) + 1", "type=z", {true, 1e6, 2}, "cg", 20},
                 {"64x64", "-div(k*grad)", NULL, {false, 1e4, 2}, "cg", 20},
                 {"24x24x24", "-div(k*grad)", NULL, {true, 1e8, 3}, "cg", 20},
                 {"24x24x24", "-div(k*grad)", NULL, {false, 1e4, 3}, "cg", 20}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        char solver[96];
        snprintf(solver, sizeof solver, "method=%s precon=gmg tol=1e-8", cases[k].method);
        assert_true(iterations(*state, cases[k].grid, cases[k].text, cases[k].options, &cases[k].m,
                               solver) <= cases[k].most);
    }
}

static void wind(void **state)
{
    const char *solver = "method=bicgstab precon=gmg tol=1e-8 max-iter=300";
    assert_true(iterations(*state, "64x64", "-laplace + 1000*dx", NULL, NULL, solver) <= 20);
    assert_true(iterations(*state, "64x64", "-laplace - 10000*dy", NULL, NULL, solver) <= 20);
    assert_true(iterations(*state, "16x16x16", "-laplace + 1000*dz", NULL, NULL, solver) <= 20);
    /* winds along both axes: levels of matrices with the wind's diffusion */
    assert_true(iterations(*state, "64x64", "-laplace + u*dx + v*dy", NULL, NULL, solver) <= 60);
    assert_true(iterations(*state, "63x66", "-laplace + 300*dx + 300*dy", NULL, NULL, solver) <=
                60);
}

/* An odd number of intervals takes at most half as many iterations again as an even one. */
static void odd_sizes(void **state)
{
    static const char *const faces[] = {"", "boundary=periodic", "x=neumann:dirichlet y=periodic"};
    for (size_t f = 0; f < COUNT(faces); f++) {
        const bool periodic = strcmp(faces[f], "boundary=periodic") == 0;
        const char *text = periodic ? "-laplace + 1" : "-laplace",
                   *solver = f == 2 ? "method=gmres precon=gmg tol=1e-8"
                                    : "method=cg precon=gmg tol=1e-8";
        char grid[96];
        int64_t count[3];
        for (int k = 0; k < 3; k++) {
            snprintf(grid, sizeof grid, "%dx%d %s", 127 + (k + 1) % 3, 127 + (k + 1) % 3, faces[f]);
            count[k] = iterations(*state, grid, text, NULL, NULL, solver);
        }
        assert_true(2 * count[1] <= 3 * count[0] && 2 * count[2] <= 3 * count[0]);
    }
    assert_true(iterations(*state, "129x129 x=neumann:dirichlet", "-laplace", "order=4", NULL,
                           "method=richardson precon=gmg:symmetric=no tol=1e-8") <= 40);
    const char *cg = "method=cg precon=gmg tol=1e-8";
    const int64_t even = iterations(*state, "32x32x32", "-laplace", NULL, NULL, cg);
    assert_true(2 * iterations(*state, "31x31x31", "-laplace", NULL, NULL, cg) <= 3 * even);
    assert_true(2 * iterations(*state, "33x31x29", "-laplace", NULL, NULL, cg) <= 3 * even);
}

/* Solutions are those of the equation, also where nothing tells them from one more constant. */
static void singular(void **state)
{
    system_of s =
        make(*state, "63x63 boundary=periodic", "-div(k*grad)", NULL, &(medium){true, 1e4, 2});
    double sum = 0, *b = spry_vector_data(s.b);
    const int64_t n = spry_vector_size(s.b);
    for (int64_t i = 0; i < n; i++)
        sum += b[i];
    for (int64_t i = 0; i < n; i++)
        b[i] -= sum / (double)n;
    spry_result result = solved(*state, &s, "method=cg precon=gmg nullspace=constant tol=1e-8");
    print_message("singular: %d\n", (int)result.iterations);
    assert_true(result.converged && result.iterations <= 25);
    spry_result_clear(*state, &result);
    unmake(&s);
}

static void same_bits(void **state)
{
    double *first = NULL;
    (void)state;
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        base_use_all_threads(true);
        system_of s = make(ctx, "33x30x17", "-div(k*grad)", NULL, &(medium){true, 1e6, 3});
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_for_operator(s.A, NULL, "gmg", &M));
        assert_ok(ctx, spry_operator_apply(M, s.b, s.x));
        const size_t size = (size_t)spry_vector_size(s.x) * sizeof(double);
        if (!first) {
            first = test_malloc(size);
            memcpy(first, spry_vector_data(s.x), size);
        }
        assert_memory_equal(first, spry_vector_data(s.x), size);
        spry_operator_free(M);
        unmake(&s);
        base_use_all_threads(false);
        support_context_free(ctx);
    }
    test_free(first);
}

static void faults(void **state)
{
    static const struct {
        const char *text, *precon, *message;
    } cases[] = {
        {"-laplace", "gmg:levels=galerkin,smoother=line", "has no smoother=redblack, line"},
        {"-laplace", "gmg:levels=galerkin,cycle=full", "has no cycle=f or full"},
        {"-laplace", "gmg:levels=galerkin,pre=2", "has no pre that is not post"},
        {"-dx*k*dx - dy*k*dy", "gmg:levels=galerkin", "rows of these terms reach further"}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        system_of s = make(*state, "32x32", cases[k].text, NULL, NULL);
        spry_operator *M = NULL;
        assert_status(*state, SPRY_STATUS_UNSUPPORTED,
                      spry_precon_for_operator(s.A, NULL, cases[k].precon, &M));
        support_message_has(*state, cases[k].message);
        assert_null(M);
        unmake(&s);
    }
}

static spry_status life(spry_context *ctx, void *data)
{
    const system_of *s = data;
    spry_operator *M = NULL;
    const spry_status status = spry_precon_for_operator(s->A, NULL, "gmg", &M);
    (void)ctx;
    spry_operator_free(M);
    return status;
}

static void torture(void **state)
{
    system_of s = make(*state, "33x35", "-div(k*grad)", NULL, &(medium){true, 1e6, 2});
    support_torture(*state, life, &s);
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(choice, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(falls_back, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(media, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(wind, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(odd_sizes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(singular, support_setup, support_teardown),
        cmocka_unit_test(same_bits),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
