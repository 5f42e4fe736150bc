/* Multigrid of damped waves as preconditioner for waves: laplace + k2 by laplace + (1 + i shift) k2
 * (Y. A. Erlangga, C. W. Oosterlee, C. Vuik, SIAM J. Sci. Comput. 27 (2006), 1471-1492).
 * gmg_factors.c has factors of convergence against local Fourier analysis. */
#include "grid/polynomial.h"
#include "operator/operator.h"
#include "support/support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- weights -------------------------------------------------------------------------------------
 */

/* The normal equations of least squares: p is orthogonal to z, z^2, .... Zeros are found to 1e-12,
 * and each moves p by about as much as it is off by times the other factors, which are below 3 for
 * numbers of up to 2.3 and zeros between them. */
static void least(void **state)
{
    enum { NUMBERS = 400, DEGREE = 6 };
    double complex z[NUMBERS];
    spry_scalar w[DEGREE];
    for (int degree = 1; degree <= DEGREE; degree++) {
        int count;
        for (int i = 0; i < NUMBERS; i++) /* of waves: a segment next to 0, and a bent one */
            z[i] =
                2.0 * i / NUMBERS - 0.3 * (1 + 0.3 * I) + (i % 3 == 0 ? 0.1 * I * i / NUMBERS : 0);
        assert_ok(*state, polynomial_fit(*state, NUMBERS, z, degree, &count, w));
        assert_int_equal(count, degree);
        for (int power = 1; power <= degree; power++) {
            double complex sum = 0;
            double size = 0;
            for (int i = 0; i < NUMBERS; i++) {
                double complex p = 1;
                for (int k = 0; k < degree; k++)
                    p *= 1 - (w[k].re + I * w[k].im) * z[i];
                sum += conj(cpow(z[i], power)) * p;
                size += pow(cabs(z[i]), power);
            }
            if (!(cabs(sum) <= 1e-12 * DEGREE * pow(3, DEGREE) * size))
                fail_msg("degree %d: %.3g left of %.3g", degree, cabs(sum), size);
        }
    }
    /* fewer numbers than the degree: p is 0 there */
    int count;
    for (int i = 0; i < NUMBERS; i++)
        z[i] = 1 + i % 3;
    assert_ok(*state, polynomial_fit(*state, NUMBERS, z, DEGREE, &count, w));
    assert_in_range(count, 3, 3);
    for (int i = 0; i < 3; i++) {
        double least_distance = 1;
        for (int k = 0; k < count; k++)
            least_distance = fmin(least_distance, cabs(1 - (w[k].re + I * w[k].im) * (1 + i)));
        assert_true(least_distance < 1e-9);
    }
    for (int i = 0; i < NUMBERS; i++)
        z[i] = 2;
    assert_ok(*state, polynomial_fit(*state, NUMBERS, z, DEGREE, &count, w));
    assert_in_range(count, 1, 1);
    assert_true(fabs(w[0].re - 0.5) < 1e-12 && fabs(w[0].im) < 1e-12);
}

/* --- solves --------------------------------------------------------------------------------------
 */

typedef struct medium {
    int dimensions;
    double k2, contrast; /* at the middle; k differs by up to so much along each axis */
} medium;

static void square_of_k(void *data, const double *place, spry_scalar *value)
{
    const medium *m = data;
    double k = 1;
    for (int a = 0; a < m->dimensions; a++)
        k *= 1 + m->contrast * sin(9 * place[a] + a);
    *value = (spry_scalar){m->k2 * k * k, 0};
}

static void point(void *data, const double *place, spry_scalar *value)
{
    const medium *m = data;
    double square = 0;
    for (int a = 0; a < m->dimensions; a++)
        square += (place[a] - 0.375) * (place[a] - 0.375);
    *value = (spry_scalar){exp(-2000 * square), 0};
}

typedef struct system {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *x;
    spry_solver *solver;
} system_of;

/* Waves of `points` points in a wavelength between absorbing layers. In texts k2 is the square of
 * k, j the imaginary unit, a the rate of a sponge, and ax, ay, s are of matched layers. */
static system_of make(spry_context *ctx, const char *grid, const char *text, const char *options,
                      double points, double contrast, const char *solver)
{
    enum { NAMES = 6 };
    static const char *const names[NAMES] = {"k2", "j", "a", "ax", "ay", "s"};
    static const char *const axes[] = {"x", "y", "all"};
    system_of s = {0};
    spry_vector *value[NAMES];
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    const char *type = strstr(options, "type=");
    const spry_type of = type && type[5] == 'c' ? SPRY_TYPE_C : SPRY_TYPE_Z;
    assert_ok(ctx, spry_grid_new(ctx, grid, &s.grid));
    assert_ok(ctx, spry_grid_describe(s.grid, &info));
    medium m = {.dimensions = info.dimensions, .contrast = contrast};
    m.k2 = pow(2 * acos(-1) / (points * info.spacing[0]), 2);
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, square_of_k, &m, &value[0]));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, 1, NULL, SPRY_OWN_COPY, &value[1]));
    assert_ok(ctx, spry_vector_fill(value[1], (spry_scalar){0, 1}));
    assert_ok(ctx, spry_field_absorb(s.grid, SPRY_TYPE_D, "strength=2", &value[2]));
    for (int k = 0; k < 3; k++) {
        char layer[48];
        snprintf(layer, sizeof layer, "kind=pml axis=%s strength=2", axes[k]);
        assert_ok(ctx, spry_field_absorb(s.grid, SPRY_TYPE_Z, layer, &value[3 + k]));
    }
    assert_ok(ctx, spry_operator_stencil(s.grid, text, options, NAMES, names,
                                         (const spry_vector *const *)value, &s.A));
    for (int k = 0; k < NAMES; k++)
        spry_vector_free(value[k]);
    assert_ok(ctx, spry_field_new(s.grid, of, false, point, &m, &s.b));
    assert_ok(ctx, spry_field_new(s.grid, of, false, NULL, NULL, &s.x));
    assert_ok(ctx, spry_solver_new(ctx, &s.solver));
    assert_ok(ctx, spry_solver_set(s.solver, solver));
    assert_ok(ctx, spry_solver_set_operator(s.solver, s.A));
    return s;
}

static void unmake(system_of *s)
{
    spry_solver_free(s->solver);
    spry_operator_free(s->A);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_grid_free(s->grid);
}

/* Iterations, of which all have to be enough. */
static int64_t iterations(spry_context *ctx, const char *grid, const char *text,
                          const char *options, double points, double contrast, const char *solver)
{
    spry_result result = SPRY_RESULT_INIT;
    system_of s = make(ctx, grid, text, options, points, contrast, solver);
    assert_ok(ctx, spry_solve(s.solver, s.b, s.x, &result));
    if (!result.converged)
        fail_msg("%s, %s, %s: %s after %d iterations, residual %.3g", grid, text, solver,
                 result.detail, (int)result.iterations, result.true_residual);
    const int64_t count = result.iterations;
    spry_result_clear(ctx, &result);
    unmake(&s);
    return count;
}

#define SPONGE "laplace + k2 + j*a*k2"

/* In media that differ from place to place, with every kind of layer, in both precisions, by
 * methods for all systems and for symmetric ones; some against none. */
static void counts(void **state)
{
    static const struct {
        const char *grid, *text, *options, *method;
        double points, contrast;
        int most;
        bool compared;
    } cases[] = {
        {"64x64 boundary=absorb layer=10", SPONGE, "type=z", "gmres", 10, 0, 22, true},
        {"64x64 boundary=absorb layer=10", SPONGE, "type=c", "gmres", 10, 0, 22, false},
        {"64x64 boundary=absorb layer=10", SPONGE, "type=z", "bicgstab", 10, 0.15, 17, true},
        {"64x64 boundary=absorb layer=10", SPONGE, "type=z", "cocg", 10, 0.15, 32, true},
        {"64x64 boundary=absorb layer=10", SPONGE, "type=z order=4", "idr", 10, 0.15, 36, false},
        {"64x64 boundary=absorb layer=10", "-laplace - k2 - j*a*k2", "type=z", "gmres", 20, 0.15,
         24, false},
        {"64x64 boundary=absorb layer=10", "dx(ax*dx) + dy(ay*dy) + k2*s", "type=z", "gmres", 10,
         0.15, 50, false},
        {"24x24x24 boundary=absorb layer=6", SPONGE, "type=z", "gmres", 8, 0.1, 20, false},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        char with[128], without[128];
        int64_t slow = 0;
        snprintf(with, sizeof with, "method=%s precon=gmg:shift=0.3 tol=1e-5", cases[k].method);
        snprintf(without, sizeof without, "method=%s tol=1e-5 max-iter=5000", cases[k].method);
        const int64_t fast = iterations(*state, cases[k].grid, cases[k].text, cases[k].options,
                                        cases[k].points, cases[k].contrast, with);
        if (cases[k].compared)
            slow = iterations(*state, cases[k].grid, cases[k].text, cases[k].options,
                              cases[k].points, cases[k].contrast, without);
        print_message("%s, %s, %s, %s: %d, %d without\n", cases[k].grid, cases[k].text,
                      cases[k].options, cases[k].method, (int)fast, (int)slow);
        assert_true(fast <= cases[k].most && (!cases[k].compared || 10 * fast <= slow));
    }
}

/* M of A with a shift is M of the damped operator without one, to the bit; and A and M are
 * symmetric together: x^T M y = y^T M x but for roundings, of which each of about 40 steps adds a
 * few to numbers that grow to no more than 100 times the largest in between. */
static void cycle(void **state)
{
    spry_context *ctx = *state;
    static const char *const texts[] = {"laplace + k2", "laplace + k2 + j*k2/4"};
    static const char *const specs[] = {"gmg:shift=0.25,coarsest=50,last=12",
                                        "gmg:smoother=fitted,coarsest=50,last=12"};
    spry_vector *z[2], *other = NULL, *y = NULL;
    for (int k = 0; k < 2; k++) {
        system_of s =
            make(ctx, "32x48 layer=4 boundary=absorb", texts[k], "type=z", 9, 0.2, "method=gmres");
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_for_operator(s.A, NULL, specs[k], &M));
        assert_ok(ctx, spry_vector_like(s.b, s.b->n, &z[k]));
        assert_ok(ctx, spry_operator_apply(M, s.b, z[k]));
        if (k == 0) {
            spry_scalar one = {0, 0}, two = {0, 0};
            double size = 0, most = 0, largest = 0;
            assert_ok(ctx, spry_vector_like(s.b, s.b->n, &other));
            assert_ok(ctx, spry_vector_like(s.b, s.b->n, &y));
            for (int64_t i = 0; i < other->n; i++)
                value_set(
                    SPRY_TYPE_Z, other->data, i,
                    (spry_scalar){base_uniform((uint64_t)i, 1), base_uniform((uint64_t)i, 2)});
            assert_ok(ctx, spry_operator_apply(M, other, y));
            for (int64_t i = 0; i < other->n; i++) {
                const spry_scalar p = value_get(SPRY_TYPE_Z, other->data, i),
                                  q = value_get(SPRY_TYPE_Z, z[0]->data, i),
                                  r = value_get(SPRY_TYPE_Z, s.b->data, i),
                                  t = value_get(SPRY_TYPE_Z, y->data, i);
                one = (spry_scalar){one.re + p.re * q.re - p.im * q.im,
                                    one.im + p.re * q.im + p.im * q.re};
                two = (spry_scalar){two.re + r.re * t.re - r.im * t.im,
                                    two.im + r.re * t.im + r.im * t.re};
                size += hypot(p.re, p.im) + hypot(r.re, r.im);
                most = fmax(most, hypot(q.re, q.im));
                largest = fmax(largest, hypot(t.re, t.im));
            }
            const double bound = 40 * 4 * 100 * 0x1p-52 * size * fmax(most, largest);
            print_message("x^T M y is %.15g, y^T M x %.15g, bound %.3g\n", one.re, two.re, bound);
            assert_true(hypot(one.re - two.re, one.im - two.im) <= bound);
            assert_true(hypot(one.re, one.im) > 1000 * bound);
        }
        spry_operator_free(M);
        unmake(&s);
    }
    const size_t bytes = (size_t)z[0]->n * spry_type_size(SPRY_TYPE_Z);
    assert_memory_equal(z[0]->data, z[1]->data, bytes);
    spry_vector_free(z[0]);
    spry_vector_free(z[1]);
    spry_vector_free(other);
    spry_vector_free(y);
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *text, *options, *precon, *message;
    } cases[] = {
        {"laplace", "type=z", "gmg:shift=0.3", "the operator has none"},
        {"laplace + k2", "type=d", "gmg:shift=0.3", "make it with type=z"},
        {"laplace + k2", "type=s", "gmg:smoother=fitted", "make it with type=c"},
        {"laplace + k2", "type=z", "gmg:shift=0.3,omega=0.7", "leave omega=0.7 out"},
        {"laplace + k2", "type=z", "gmg:shift=11", "shift=11"},
        {"laplace + k2", "type=z", "gmg:last=65", "last=65"},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        spry_grid *grid;
        spry_operator *A, *M = NULL;
        spry_vector *constant;
        assert_ok(ctx, spry_grid_new(ctx, "16x16", &grid));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &constant));
        assert_ok(ctx, spry_vector_fill(constant, (spry_scalar){50, 0}));
        assert_ok(ctx, spry_operator_stencil(grid, cases[k].text, cases[k].options, 1,
                                             (const char *[]){"k2"},
                                             (const spry_vector *[]){constant}, &A));
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_precon_for_operator(A, NULL, cases[k].precon, &M));
        support_message_has(ctx, cases[k].message);
        assert_null(M);
        spry_operator_free(A);
        spry_vector_free(constant);
        spry_grid_free(grid);
    }
}

typedef struct life_of {
    system_of system;
    const char *options;
} life_of;

static spry_status life(spry_context *ctx, void *data)
{
    const life_of *l = data;
    (void)ctx;
    spry_operator *M = NULL;
    spry_status status = spry_precon_for_operator(l->system.A, NULL, l->options, &M);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(M, l->system.b, l->system.x);
    spry_operator_free(M);
    return status;
}

static void torture(void **state)
{
    life_of l = {make(*state, "16x16", "laplace + k2", "type=z", 9, 0, "method=gmres"),
                 "gmg:shift=0.3,coarsest=20,last=4"};
    support_torture(*state, life, &l);
    unmake(&l.system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(least, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(counts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(cycle, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
