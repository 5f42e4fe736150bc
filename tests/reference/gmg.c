/* Geometric multigrid: factors of convergence against those of the textbook, levels, kinds of
 * cycles. */
#include "matrix/matrix.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){base_uniform(*seed, 0) + 0.5, 0};
    *seed += 1;
}

static void bumpy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(7 * place[0]) * cos(5 * place[1]), 0};
}

typedef struct system {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *k, *b, *x;
    spry_solver *solver;
} system_of;

static system_of make(spry_context *ctx, const char *grid, const char *text, const char *options,
                      const char *solver)
{
    system_of s = {0};
    static const char *const names[] = {"k"};
    uint64_t seed = 5;
    assert_ok(ctx, spry_grid_new(ctx, grid, &s.grid));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, bumpy, NULL, &s.k));
    assert_ok(ctx, spry_operator_stencil(s.grid, text, options, 1, names,
                                         (const spry_vector *[]){s.k}, &s.A));
    assert_ok(ctx, spry_field_new(s.grid, spry_operator_type(s.A), false, noise, &seed, &s.b));
    assert_ok(ctx, spry_field_new(s.grid, spry_operator_type(s.A), false, NULL, NULL, &s.x));
    assert_ok(ctx, spry_solver_new(ctx, &s.solver));
    assert_ok(ctx, spry_solver_set(s.solver, solver));
    assert_ok(ctx, spry_solver_set_operator(s.solver, s.A));
    return s;
}

static void unmake(system_of *s)
{
    spry_solver_free(s->solver);
    spry_operator_free(s->A);
    spry_vector_free(s->k);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_grid_free(s->grid);
}

/* Iterations that a solve takes; it has to converge. */
static int64_t iterations(spry_context *ctx, const char *grid, const char *text,
                          const char *options, const char *solver)
{
    spry_result result = SPRY_RESULT_INIT;
    system_of s = make(ctx, grid, text, options, solver);
    assert_ok(ctx, spry_solve(s.solver, s.b, s.x, &result));
    if (!result.converged)
        fail_msg("%s, %s, %s: %s after %d iterations, residual %.3g", grid, text, solver,
                 result.detail, (int)result.iterations, result.residual);
    const int64_t count = result.iterations;
    spry_result_clear(ctx, &result);
    unmake(&s);
    return count;
}

/* The factor by which x -> x - M A x shrinks x in the end: M A x by products. */
static double factor(spry_context *ctx, const char *grid, const char *precon)
{
    char solver[192];
    snprintf(solver, sizeof solver, "method=richardson precon=%s tol=1e-30 max-iter=1", precon);
    spry_result result = SPRY_RESULT_INIT;
    system_of s = make(ctx, grid, "-laplace", NULL, solver);
    spry_vector *zero;
    double before = 1, product = 1;
    int counted = 0;
    assert_ok(ctx, spry_vector_like(s.x, s.x->n, &zero));
    assert_ok(ctx, spry_vector_fill(zero, (spry_scalar){0, 0}));
    /* b = A e, x begins with 0: x is M A e, and e - x the next error */
    spry_vector *e = s.b, *r;
    assert_ok(ctx, spry_vector_like(s.x, s.x->n, &r));
    for (int k = 0; k < 40; k++) {
        double norm;
        assert_ok(ctx, spry_vector_norm(e, &norm));
        assert_ok(ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, e));
        if (k >= 30) {
            product *= norm / before;
            counted++;
        }
        before = 1;
        assert_ok(ctx, spry_operator_apply(s.A, e, r));
        assert_ok(ctx, spry_vector_fill(s.x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(s.solver, r, s.x, &result));
        spry_result_clear(ctx, &result);
        result = (spry_result)SPRY_RESULT_INIT;
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, s.x, e));
    }
    spry_vector_free(zero);
    spry_vector_free(r);
    unmake(&s);
    return pow(product, 1.0 / counted);
}

/* Table 3.3 and section 4.5 of Trottenberg et al.: two grids, red-black, full weighting, linear
 * interpolation: 0.25, 0.074, 0.053, 0.041 for 1 to 4 sweeps. Those are bounds for all frequencies,
 * which a grid of 64 intervals comes near to. */
static void two_grids(void **state)
{
    static const struct {
        int pre, post;
        double factor;
    } cases[] = {{1, 0, 0.25}, {1, 1, 0.074}, {2, 1, 0.053}, {2, 2, 0.041}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        char precon[96];
        snprintf(precon, sizeof precon, "gmg:pre=%d,post=%d,symmetric=no,coarsest=2000",
                 cases[k].pre, cases[k].post);
        const double found = factor(*state, "64x64", precon);
        print_message("%d + %d sweeps: %.4f, the book has %.3f\n", cases[k].pre, cases[k].post,
                      found, cases[k].factor);
        assert_true(found < 1.1 * cases[k].factor && found > 0.9 * cases[k].factor);
    }
}

static void cycles(void **state)
{
    static const char *const kinds[] = {"gmg",
                                        "gmg:cycle=w",
                                        "gmg:cycle=f",
                                        "gmg:cycle=full",
                                        "gmg:symmetric=no",
                                        "gmg:precision=single",
                                        "gmg:smoother=jacobi,pre=2,post=2"};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        char solver[128];
        snprintf(solver, sizeof solver, "method=richardson precon=%s tol=1e-8", kinds[k]);
        int64_t first = 0;
        for (int n = 16; n <= 64; n *= 2) {
            char grid[32];
            snprintf(grid, sizeof grid, "%dx%d", n, n);
            const int64_t count = iterations(*state, grid, "-laplace", NULL, solver);
            print_message("%s, %s: %d\n", kinds[k], grid, (int)count);
            first = n == 16 ? count : first;
            assert_true(count <= 14 + 6 * (k == 6) && count <= first + 3);
        }
    }
}

/* Boundaries, dimensions, coefficients, higher order by defect correction, all types. */
static void kinds(void **state)
{
    static const struct {
        const char *grid, *text, *options, *method;
        int most;
    } cases[] = {{"32", "-laplace", NULL, "cg", 9},
                 {"32x32 x=neumann:dirichlet", "-laplace", NULL, "gmres", 9},
                 {"32x32 x=periodic", "-laplace", NULL, "cg", 9},
                 {"32x32 boundary=neumann", "-laplace + 1", NULL, "gmres", 9},
                 {"16x16x16", "-laplace", NULL, "cg", 10},
                 {"16x16x16 z=neumann x=periodic", "-laplace", NULL, "bicgstab", 9},
                 {"32x32", "-div(k*grad) + k", NULL, "cg", 11},
                 {"32x32", "-laplace", "order=4", "gmres", 14},
                 {"32x32", "-laplace", "order=6", "gmres", 18},
                 {"32x32", "-laplace + 3*dx", "type=z", "gmres", 11},
                 {"32x32", "-laplace + dx*dy/2", NULL, "gmres", 25},
                 {"48x32", "-laplace", "type=d", "cg", 12},
                 {"20x20", "-laplace", "type=d", "cg", 12}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        char solver[128];
        snprintf(solver, sizeof solver, "method=%s precon=gmg tol=1e-8", cases[k].method);
        const int64_t count =
            iterations(*state, cases[k].grid, cases[k].text, cases[k].options, solver);
        print_message("%s, %s: %d\n", cases[k].grid, cases[k].text, (int)count);
        assert_true(count <= cases[k].most);
    }
}

/* One cycle of `sweeps` sweeps with all of a share's slabs in waves (one thread has most of them),
 * and with next to none (about as many threads as slabs): one stage after the other. Fewer unknowns
 * would be left to one thread. */
static void waves(void **state)
{
    static const struct {
        const char *grid, *text;
    } cases[] = {{"64x16x20", "-laplace"},
                 {"64x16x20 z=periodic", "-laplace"},
                 {"256x80 x=periodic y=neumann:dirichlet", "-div(k*grad)"}};
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int sweeps = 1; sweeps <= 3; sweeps++) {
            static const char *const threads[] = {"threads=1", "threads=16"};
            double *first = NULL;
            for (int t = 0; t < 2; t++) {
                char solver[128];
                snprintf(solver, sizeof solver,
                         "method=richardson max-iter=1 precon=gmg:pre=%d,post=%d", sweeps, sweeps);
                spry_context *ctx = support_context(threads[t]);
                base_use_all_threads(true);
                system_of s = make(ctx, cases[c].grid, cases[c].text, NULL, solver);
                assert_ok(ctx, spry_solve(s.solver, s.b, s.x, NULL));
                const size_t bytes = (size_t)s.x->n * sizeof(double);
                if (!first) {
                    first = test_malloc(bytes);
                    memcpy(first, s.x->data, bytes);
                }
                assert_memory_equal(first, s.x->data, bytes);
                unmake(&s);
                base_use_all_threads(false);
                support_context_free(ctx);
            }
            test_free(first);
        }
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
        spry_result result = SPRY_RESULT_INIT;
        system_of s = make(ctx, "64x20x16 x=neumann:dirichlet", "-laplace", NULL,
                           "method=bicgstab precon=gmg:cycle=f tol=1e-6");
        assert_ok(ctx, spry_solve(s.solver, s.b, s.x, &result));
        const size_t bytes = (size_t)s.x->n * sizeof(double);
        if (!first) {
            first = test_malloc(bytes);
            memcpy(first, s.x->data, bytes);
        }
        assert_memory_equal(first, s.x->data, bytes);
        spry_result_clear(ctx, &result);
        unmake(&s);
        base_use_all_threads(false);
        support_context_free(ctx);
    }
    test_free(first);
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    spry_result result = SPRY_RESULT_INIT;
    system_of s =
        make(ctx, "16x16", "-laplace + dx*dy", NULL, "method=gmres precon=gmg:smoother=redblack");
    assert_int_not_equal(spry_solve(s.solver, s.b, s.x, &result), SPRY_STATUS_OK);
    support_message_has(ctx, "neighbours along the axes alone");
    spry_result_clear(ctx, &result);
    unmake(&s);
    result = (spry_result)SPRY_RESULT_INIT;
    s = make(ctx, "16x16", "-laplace", NULL, "method=gmres precon=gmg:precision=half");
    assert_int_not_equal(spry_solve(s.solver, s.b, s.x, &result), SPRY_STATUS_OK);
    support_message_has(ctx, "take precision=single");
    spry_result_clear(ctx, &result);
    unmake(&s);
    spry_matrix *A;
    spry_operator *M;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=8", &A));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_precon_new(A, NULL, "gmg", &M));
    spry_matrix_free(A);
}

static spry_status life(spry_context *ctx, void *data)
{
    const system_of *s = data;
    spry_solver *solver = NULL;
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status =
            spry_solver_set(solver, "method=richardson precon=gmg:precision=single max-iter=2");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_operator(solver, s->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, s->b, s->x, NULL);
    spry_solver_free(solver);
    return status;
}

static void torture(void **state)
{
    system_of s = make(*state, "32x16", "-laplace", NULL, "method=richardson");
    support_torture(*state, life, &s);
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(cycles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(kinds, support_setup, support_teardown),
        cmocka_unit_test(waves),
        cmocka_unit_test(same_bits),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
