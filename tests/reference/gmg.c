/* Geometric multigrid: kinds of cycles, boundaries and operators, levels. gmg_factors.c has factors
 * of convergence. */
#include "operator/operator.h"
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

static void cycles(void **state)
{
    static const char *const kinds[] = {"gmg",
                                        "gmg:cycle=w",
                                        "gmg:cycle=f",
                                        "gmg:cycle=full",
                                        "gmg:symmetric=no",
                                        "gmg:precision=single",
                                        "gmg:precision=single,cycle=full,interpolation=cubic",
                                        "gmg:precision=single,smoother=chebyshev,pre=2,post=2",
                                        "gmg:smoother=chebyshev,pre=2,post=2",
                                        "gmg:smoother=line",
                                        "gmg:smoother=line,line=x,precision=single",
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
            const bool jacobi = strstr(kinds[k], "jacobi") != NULL;
            assert_true(count <= (jacobi ? 20 : 14) && count <= first + 3);
        }
    }
}

/* Chebyshev's polynomials make a symmetric preconditioner, and take neighbours across corners. */
static void polynomials(void **state)
{
    const char *cg = "method=cg precon=gmg:smoother=chebyshev,pre=2,post=2 tol=1e-8",
               *gmres = "method=gmres precon=gmg:smoother=chebyshev,pre=2,post=2 tol=1e-8";
    const int64_t space = iterations(*state, "16x16x16", "-laplace", NULL, cg),
                  mixed = iterations(*state, "32x32", "-laplace + dx*dy/2", "type=z", gmres);
    print_message("chebyshev: %d in three dimensions, %d with a mixed derivative\n", (int)space,
                  (int)mixed);
    assert_true(space <= 10 && mixed <= 12);
}

/* Boundaries, dimensions, coefficients, higher order by defect correction, all types. */
static void kinds(void **state)
{
    static const struct {
        const char *grid, *text, *options, *method;
        int most;
    } cases[] = {
        {"32", "-laplace", NULL, "cg", 9},
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
        {"256x8 box=0:1,0:0.01 y=periodic", "-div(k*grad)", NULL, "cg", 9},
        {"33x64", "-laplace", "type=d", "cg", 12},
        {"48x32", "-laplace", "type=d", "cg", 12},
        {"20x20", "-laplace", "type=d", "cg", 12},
        {"31x32", "-div(k*grad) + k", NULL, "cg", 12},
        {"64x32 stretch=x:cosine,y:cosine", "-laplace", NULL, "gmres", 10},
        {"64x32 x=neumann stretch=x:cosine", "-div(k*grad) + k", NULL, "gmres", 13},
        {"32x32 stretch=y:ratio:1.1", "-laplace + 3*dx", "type=z", "gmres", 10},
        {"32x16x16 z=neumann:dirichlet stretch=z:ratio:1.2", "-laplace", "order=4", "gmres", 20}};
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
        const char *grid, *text, *more;
    } cases[] = {{"64x16x20", "-laplace", ""},
                 {"64x16x20 z=periodic", "-laplace", ""},
                 {"16x64x40 y=neumann", "-laplace", ""}, /* y is halved, then z, x at the end */
                 {"256x80 x=periodic y=neumann:dirichlet", "-div(k*grad)", ""},
                 {"80x16x20 z=periodic", "-laplace", ",smoother=line,line=x"},
                 {"80x16x20 z=periodic", "-laplace", ",smoother=line,line=y"},
                 {"80x16x20 z=periodic", "-div(k*grad)", ",smoother=line,line=z"},
                 {"256x80 stretch=x:cosine,y:cosine", "-laplace", ""}};
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int sweeps = 1; sweeps <= 3; sweeps++) {
            static const char *const threads[] = {"threads=1", "threads=16"};
            double *first = NULL;
            for (int t = 0; t < 2; t++) {
                char solver[128];
                snprintf(solver, sizeof solver,
                         "method=richardson max-iter=1 precon=gmg:pre=%d,post=%d%s", sweeps, sweeps,
                         cases[c].more);
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

/* No known value anywhere. Rows at Neumann faces are twice what a symmetric matrix would have, so
 * that the left null vector is 1 inside and halves for each face. */
static void face_weights(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1, 0};
    for (int a = 0; a < 2; a++)
        if (place[a] == 0 || place[a] == 1)
            value->re /= 2;
}

static void singular(void **state)
{
    spry_context *ctx = *state;
    static const char *const periodic[] = {"64x64 boundary=periodic", "16x16x16 boundary=periodic"};
    for (size_t k = 0; k < 2 * COUNT(periodic); k++) {
        const char *grid = periodic[k / 2],
                   *solver =
                       k % 2 ? "method=cg precon=gmg:precision=single nullspace=constant tol=1e-8"
                             : "method=cg precon=gmg nullspace=constant tol=1e-8";
        const int64_t count = iterations(ctx, grid, "-laplace", NULL, solver);
        print_message("%s, %s: %d\n", grid, solver, (int)count);
        assert_true(count <= 10);
    }
    spry_result result = SPRY_RESULT_INIT;
    spry_vector *left, *right;
    system_of s =
        make(ctx, "64x64 boundary=neumann", "-laplace", NULL, "method=gmres precon=gmg tol=1e-8");
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, face_weights, NULL, &left));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, NULL, NULL, &right));
    assert_ok(ctx, spry_vector_fill(right, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_solver_set_null_space(s.solver, 1, (const spry_vector *[]){right},
                                              (const spry_vector *[]){left}));
    assert_ok(ctx, spry_solve(s.solver, s.b, s.x, &result));
    print_message("neumann: %d\n", (int)result.iterations);
    assert_true(result.converged && result.iterations <= 12);
    spry_result_clear(ctx, &result);
    spry_vector_free(left);
    spry_vector_free(right);
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
    /* of first derivatives the diagonal is 0 between the ends, with a field or without */
    static const char *const zero[] = {"dx", "k*dx + dy"};
    for (int k = 0; k < 4; k++) {
        char options[64];
        snprintf(options, sizeof options, "method=gmres precon=gmg:smoother=%s,coarsest=10",
                 k % 2 ? "jacobi" : "redblack");
        s = make(ctx, "16x16", zero[k / 2], "order=2", options);
        result = (spry_result)SPRY_RESULT_INIT;
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(s.solver, s.b, s.x, &result));
        support_message_has(ctx, "the diagonal of level 0 is 0");
        spry_result_clear(ctx, &result);
        unmake(&s);
    }
    result = (spry_result)SPRY_RESULT_INIT;
    s = make(ctx, "16x16", "-laplace + dx*dy", NULL, "method=gmres precon=gmg:smoother=line");
    assert_int_not_equal(spry_solve(s.solver, s.b, s.x, &result), SPRY_STATUS_OK);
    support_message_has(ctx, "smoother=line needs lines");
    spry_result_clear(ctx, &result);
    unmake(&s);
    spry_matrix *A;
    spry_operator *M;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=8", &A));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_precon_new(A, NULL, "gmg", &M));
    spry_matrix_free(A);
}

typedef struct life_of {
    system_of system;
    const char *options;
} life_of;

static spry_status life(spry_context *ctx, void *data)
{
    const life_of *l = data;
    const system_of *s = &l->system;
    spry_solver *solver = NULL;
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, l->options);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_operator(solver, s->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, s->b, s->x, NULL);
    spry_solver_free(solver);
    return status;
}

/* A cycle by itself, of an operator without a matrix: what the first iteration of a solve adds. */
static void by_itself(void **state)
{
    spry_context *ctx = *state;
    system_of s = make(ctx, "32x16", "-laplace + k", "order=4",
                       "method=richardson precon=gmg max-iter=1 stall=0");
    spry_operator *M = NULL;
    spry_vector *z = NULL;
    assert_ok(ctx, spry_vector_like(s.b, spry_vector_size(s.b), &z));
    assert_ok(ctx, spry_precon_for_operator(s.A, NULL, "gmg", &M));
    assert_ok(ctx, spry_operator_apply(M, s.b, z));
    assert_ok(ctx, spry_solve(s.solver, s.b, s.x, NULL));
    assert_memory_equal(spry_vector_data(z), spry_vector_data(s.x),
                        (size_t)spry_vector_size(z) * sizeof(double));
    spry_operator_free(M);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_for_operator(s.A, NULL, "ilu", &M));
    support_message_has(ctx, "needs a matrix");
    assert_null(M);
    spry_vector_free(z);
    unmake(&s);
}

static void torture(void **state)
{
    life_of l = {make(*state, "32x16", "-laplace", NULL, "method=richardson"),
                 "method=richardson precon=gmg:precision=single max-iter=2"};
    support_torture(*state, life, &l);
    l.options = "method=richardson "
                "precon=gmg:cycle=full,interpolation=cubic,smoother=chebyshev max-iter=2";
    support_torture(*state, life, &l);
    l.options = "method=richardson precon=gmg:smoother=line,line=y max-iter=2";
    support_torture(*state, life, &l);
    unmake(&l.system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cycles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(polynomials, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(kinds, support_setup, support_teardown),
        cmocka_unit_test(waves),
        cmocka_unit_test_setup_teardown(singular, support_setup, support_teardown),
        cmocka_unit_test(same_bits),
        cmocka_unit_test_setup_teardown(by_itself, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
