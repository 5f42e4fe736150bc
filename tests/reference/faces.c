/* Faces of grids: defect correction with Neumann's and Robin's conditions, null vectors of pure
 * Neumann problems, orders of solutions with Robin's. */
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){base_uniform(*seed, 0) - 0.5, 0};
    *seed += 1;
}

static void bumpy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(3 * place[0]) * cos(2 * place[1] + place[2]), 0};
}

typedef struct problem {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *k, *b, *x;
    spry_solver *solver;
    spry_result result;
} problem;

static problem make(spry_context *ctx, const char *grid, const char *text, const char *options)
{
    static const char *const names[] = {"k"};
    problem p = {.result = SPRY_RESULT_INIT};
    uint64_t seed = 5;
    assert_ok(ctx, spry_grid_new(ctx, grid, &p.grid));
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, true, bumpy, NULL, &p.k));
    assert_ok(ctx, spry_operator_stencil(p.grid, text, options, 1, names,
                                         (const spry_vector *[]){p.k}, &p.A));
    assert_ok(ctx, spry_field_new(p.grid, spry_operator_type(p.A), false, noise, &seed, &p.b));
    assert_ok(ctx, spry_field_new(p.grid, spry_operator_type(p.A), false, NULL, NULL, &p.x));
    assert_ok(ctx, spry_solver_new(ctx, &p.solver));
    assert_ok(ctx, spry_solver_set_operator(p.solver, p.A));
    return p;
}

static void solve(spry_context *ctx, problem *p, const char *solver)
{
    assert_ok(ctx, spry_solver_set(p->solver, solver));
    assert_ok(ctx, spry_solve(p->solver, p->b, p->x, &p->result));
}

static void unmake(spry_context *ctx, problem *p)
{
    spry_result_clear(ctx, &p->result);
    spry_solver_free(p->solver);
    spry_operator_free(p->A);
    spry_vector_free(p->k);
    spry_vector_free(p->b);
    spry_vector_free(p->x);
    spry_grid_free(p->grid);
}

/* --- defect correction ---------------------------------------------------------------------------
 */

/* relax.c: errors shrink by 0.41, 0.49 and 0.53 for orders 4, 6 and 8 at a Neumann face if A2 is
 * solved exactly, by 0.43, 0.55 and 0.63 where two faces meet; 1e-8 takes 22, 31 and 40 iterations
 * then. Cycles of multigrid leave 0.1 to 0.2 of what they are given, and rough residuals of other
 * sizes than errors take some more at the beginning: twice as many are enough. */
static int most_iterations(int order)
{
    return order == 2 ? 15 : order == 4 ? 44 : order == 6 ? 62 : 80;
}

static void converges(void **state)
{
    spry_context *ctx = *state;
    static const char *const grids[] = {"64 x=neumann:dirichlet",
                                        "64 x=robin(2):robin(3,0.5)",
                                        "32x32 x=neumann:dirichlet",
                                        "32x32 x=neumann y=robin(1):neumann",
                                        "32x32 x=periodic y=neumann:dirichlet",
                                        "32x32 x=dirichlet",
                                        "16x16x16 x=neumann y=neumann:dirichlet z=periodic",
                                        "16x16x16 boundary=neumann z=dirichlet"};
    static const char *const texts[] = {"-laplace", "-div(k*grad)"};
    char order[32];
    for (size_t g = 0; g < COUNT(grids); g++)
        for (size_t t = 0; t < COUNT(texts); t++)
            for (int o = 4; o <= 8; o += 2) {
                snprintf(order, sizeof order, "order=%d", o);
                problem p = make(ctx, grids[g], texts[t], order);
                solve(ctx, &p, "method=richardson precon=gmg:symmetric=no tol=1e-8 max-iter=90");
                print_message("%s, %s, order %d: %d\n", grids[g], texts[t], o,
                              (int)p.result.iterations);
                assert_true(p.result.converged && p.result.iterations <= most_iterations(o));
                unmake(ctx, &p);
            }
}

/* --- pure Neumann problems -----------------------------------------------------------------------
 */

/* b is random: no solution without what is orthogonal to it. */
static void free_faces(void **state)
{
    spry_context *ctx = *state;
    static const char *const grids[] = {"64 boundary=neumann", "33x32 boundary=neumann",
                                        "32x32 x=periodic y=neumann", "16x16x16 boundary=neumann"};
    static const char *const texts[] = {"-laplace", "-div(k*grad)"};
    static const char *const solvers[] = {
        "method=richardson precon=gmg:symmetric=no nullspace=constant tol=1e-8 max-iter=200",
        "method=bicgstab precon=gmg nullspace=constant tol=1e-8 max-iter=200"};
    char order[32];
    for (size_t g = 0; g < COUNT(grids); g++)
        for (size_t t = 0; t < COUNT(texts); t++)
            for (int o = 2; o <= 8; o += 2)
                for (size_t m = 0; m < COUNT(solvers); m++) {
                    snprintf(order, sizeof order, "order=%d", o);
                    problem p = make(ctx, grids[g], texts[t], order);
                    solve(ctx, &p, solvers[m]);
                    print_message("%s, %s, order %d: %d\n", grids[g], texts[t], o,
                                  (int)p.result.iterations);
                    assert_true(p.result.converged);
                    assert_true(m == 0 || p.result.iterations <= 25);
                    unmake(ctx, &p);
                }
}

/* --- Robin's condition ---------------------------------------------------------------------------
 */

/* u = sin(4 x + 0.3) exp(y / 2 - z / 3), and its derivative along an axis. */
static double exact(const double *at, int axis)
{
    static const double rate[] = {0, 0.5, -1.0 / 3};
    const double others = exp(at[1] / 2 - at[2] / 3);
    return axis == 0 ? 4 * cos(4 * at[0] + 0.3) * others
                     : (axis < 0 ? 1 : rate[axis]) * sin(4 * at[0] + 0.3) * others;
}

/* On "x=robin(2,0.5):neumann y=robin(1):dirichlet z=robin(-0.5,-2)". */
static void known(void *data, int axis, const double *place, spry_scalar *value)
{
    static const double a[3][2] = {{2, 0}, {1, 0}, {-0.5, -0.5}},
                        b[3][2] = {{0.5, 1}, {1, 1}, {-2, -2}};
    const int side = axis >= 0 && place[axis] > 0.5;
    (void)data;
    *value = (spry_scalar){exact(place, -1), 0};
    if (axis >= 0)
        value->re =
            a[axis][side] * exact(place, -1) + (side ? 1 : -1) * b[axis][side] * exact(place, axis);
}

/* f = -laplace u */
static void source(void *data, const double *place, spry_scalar *value)
{
    const int *dimensions = data;
    const double rates = (*dimensions > 1 ? 0.25 : 0) + (*dimensions > 2 ? 1.0 / 9 : 0);
    *value = (spry_scalar){(16 - rates) * exact(place, -1), 0};
}

static double error_of(spry_context *ctx, const char *sizes, const char *more, int dimensions,
                       int order)
{
    static const char *const faces[] = {"x=robin(2,0.5):neumann", "y=robin(1):dirichlet",
                                        "z=robin(-0.5,-2)"};
    char grid[160], options[32];
    snprintf(grid, sizeof grid, "%s %s %s %s %s", sizes, more, faces[0],
             dimensions > 1 ? faces[1] : "", dimensions > 2 ? faces[2] : "");
    snprintf(options, sizeof options, "order=%d", order);
    problem p = make(ctx, grid, "-laplace", options);
    double most = 0;
    spry_vector *f;
    assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, false, source, &dimensions, &f));
    assert_ok(ctx, spry_stencil_rhs(p.A, f, known, NULL, p.b));
    solve(ctx, &p, "method=bicgstab precon=gmg tol=1e-13 max-iter=100");
    assert_true(p.result.true_residual < 1e-11); /* what rounding may leave */
    for (int64_t i = 0; i < spry_vector_size(f); i++) {
        double at[3] = {0};
        assert_ok(ctx, spry_grid_place(p.grid, false, i, at));
        most = fmax(most, fabs(((const double *)p.x->data)[i] - exact(at, -1)));
    }
    spry_vector_free(f);
    unmake(ctx, &p);
    return most;
}

static void robin(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *sizes[2], *more;
        int dimensions, order;
    } cases[] = {{{"32", "64"}, "", 1, 2},
                 {{"32x32", "64x64"}, "", 2, 2},
                 {{"16x16x16", "32x32x32"}, "", 3, 2},
                 {{"16x16", "32x32"}, "", 2, 4},
                 {{"12x12x12", "24x24x24"}, "", 3, 4},
                 {{"14x14", "28x28"}, "", 2, 6},
                 {{"12x12", "24x24"}, "", 2, 8},
                 {{"32x32", "64x64"}, "stretch=x:cosine", 2, 2},
                 {{"16x16", "32x32"}, "stretch=x:cosine", 2, 4}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        double e[2];
        for (int i = 0; i < 2; i++)
            e[i] = error_of(ctx, cases[k].sizes[i], cases[k].more, cases[k].dimensions,
                            cases[k].order);
        print_message("%s %s, order %d: %.2e %.2e, %.2f\n", cases[k].sizes[0], cases[k].more,
                      cases[k].order, e[0], e[1], log2(e[0] / e[1]));
        assert_true(log2(e[0] / e[1]) > cases[k].order - 0.5);
    }
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    static const char *const wrong[][2] = {{"8 x=robin", "expected robin(a)"},
                                           {"8 x=robin()", "expected robin(a)"},
                                           {"8 x=robin(1,2,3)", "expected robin(a)"},
                                           {"8 x=robin(1)2", "expected robin(a)"},
                                           {"8 x=robin(1,0)", "b not 0"},
                                           {"8 x=robin(inf)", "finite"},
                                           {"8 x=robin(1e300,1e-300)", "finite"},
                                           {"8 x=neumann(1)", "robin alone"},
                                           {"8 x=robin(1):periodic", "both faces"},
                                           {"8 boundary=robin(1):periodic", "both faces"},
                                           {"8 x=rbin(1)", "robin"},
                                           {"8 boundary=nauman", "neumann"},
                                           {"8 y=robin(1)", "no such axis"}};
    for (size_t k = 0; k < COUNT(wrong); k++) {
        spry_grid *grid;
        assert_int_not_equal(spry_grid_new(ctx, wrong[k][0], &grid), SPRY_STATUS_OK);
        assert_null(grid);
        support_message_has(ctx, wrong[k][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(converges, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(free_faces, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(robin, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
