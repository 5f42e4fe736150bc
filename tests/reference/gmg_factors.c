/*
 * Factors of convergence of geometric multigrid. On two grids they are computed besides, by local
 * Fourier analysis (U. Trottenberg, C. Oosterlee, A. Schueller, Multigrid, 2001, chapter 4): a
 * frequency and those that look like it on the coarse grid, 2^d in all, go into each other alone.
 * Between faces with known values that is no model but exact: sines of k pi / n are differences of
 * such waves.
 */
#include "grid/polynomial.h"
#include "operator/operator.h"
#include "support/support.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- local Fourier analysis ----------------------------------------------------------------------
 */

enum { HARMONICS = 8 };
typedef struct symbol {
    int n;
    double complex a[HARMONICS][HARMONICS];
} symbol;

static symbol times(const symbol *x, const symbol *y)
{
    symbol z = {.n = x->n};
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++)
            for (int k = 0; k < x->n; k++)
                z.a[i][j] += x->a[i][k] * y->a[k][j];
    return z;
}

/* The spectral radius: |M^(2^k)|^(1 / 2^k), with the size taken out at each squaring. What the norm
 * is off by is less than (n^2)^(1 / 2^k), and times k where a Jordan block stands. */
static double radius(symbol m)
{
    double log_size = 0, weight = 1;
    for (int k = 0; k <= 12; k++, weight /= 2) {
        double size = 0;
        for (int i = 0; i < m.n; i++)
            for (int j = 0; j < m.n; j++)
                size = fmax(size, cabs(m.a[i][j]));
        if (size == 0)
            return 0;
        log_size += weight * log(size);
        for (int i = 0; i < m.n; i++)
            for (int j = 0; j < m.n; j++)
                m.a[i][j] /= size;
        m = times(&m, &m);
    }
    return exp(log_size);
}

/* A half-sweep of Gauss-Seidel, on points whose indices along some axes (flip) add up to an even
 * number or an odd one: the factor (-1)^sum takes a frequency to the one that has pi more along
 * these axes. */
static symbol half_sweep(int n, const double *jacobi, int flip, int sign)
{
    symbol s = {.n = n};
    for (int i = 0; i < n; i++) {
        const int other = i ^ flip;
        s.a[i][i] = (jacobi[i] + 1) / 2;
        s.a[i][other] = sign * (jacobi[other] - 1) / 2;
    }
    return s;
}

/* -c_0 dx^2 - c_1 dy^2 - ..., and the axis of lines; -1: points. */
typedef struct problem {
    int dimensions, line;
    double c[3];
} problem;

/* The factor of sweeps and a correction on the coarse grid, for full weighting and linear
 * interpolation, at a frequency of -pi/2..pi/2 along each axis. Unknown 0 is point 1: where colours
 * are those of an odd number of indices, the first one is of points with an odd sum. */
static double two_grid_factor(const problem *p, const double *frequency, int sweeps)
{
    const int n = 1 << p->dimensions, flip = p->line < 0 ? n - 1 : (n - 1) ^ (1 << p->line);
    const int first = (p->dimensions - (p->line >= 0)) % 2 == 0 ? 1 : -1;
    double fine[HARMONICS], jacobi[HARMONICS], weight[HARMONICS], coarse = 0;
    for (int a = 0; a < p->dimensions; a++)
        coarse += 2 * p->c[a] * (1 - cos(2 * frequency[a])) / 4;
    for (int i = 0; i < n; i++) {
        double solved = 0;
        fine[i] = 0;
        weight[i] = 1;
        for (int a = 0; a < p->dimensions; a++) {
            const double c = cos(frequency[a]) * (i >> a & 1 ? -1 : 1);
            fine[i] += 2 * p->c[a] * (1 - c);
            solved += 2 * p->c[a] * (a == p->line ? 1 - c : 1);
            weight[i] *= (1 + c) / 2;
        }
        jacobi[i] = 1 - fine[i] / solved;
    }
    symbol m = {.n = n};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m.a[i][j] = (i == j) - weight[i] * weight[j] * fine[j] / coarse;
    const symbol red = half_sweep(n, jacobi, flip, first),
                 black = half_sweep(n, jacobi, flip, -first);
    for (int k = 0; k < sweeps; k++) {
        m = times(&red, &m);
        m = times(&black, &m);
    }
    return radius(m);
}

/* The largest factor over the frequencies of a grid with so many intervals along each axis. */
static double computed(const problem *p, int intervals, int sweeps)
{
    double most = 0;
    int k[3] = {1, 1, 1};
    for (k[0] = 1; 2 * k[0] < intervals; k[0]++)
        for (k[1] = 1; 2 * k[1] < intervals; k[1]++)
            for (k[2] = 1; k[2] == 1 || (p->dimensions > 2 && 2 * k[2] < intervals); k[2]++) {
                double frequency[3];
                for (int a = 0; a < 3; a++)
                    frequency[a] = acos(-1) * k[a] / intervals;
                most = fmax(most, two_grid_factor(p, frequency, sweeps));
            }
    return most;
}

/* --- damped waves --------------------------------------------------------------------------------
 */

/* laplace + q of a grid, q h^2 = k; and weights of sweeps before and after. */
typedef struct damped {
    int dimensions, before, after;
    double complex k;
    spry_scalar weight[2][4];
} damped;

/* What a row makes of a wave, over its diagonal, with the cosines of its angles along axes. */
static double complex wave_symbol(const damped *p, const double *cosine)
{
    double complex sum = p->k;
    for (int a = 0; a < 3 && a < p->dimensions; a++)
        sum -= 2 * (1 - cosine[a]);
    return sum / (p->k - 2 * p->dimensions);
}

/* What sweeps leave of it. */
static double complex swept(const damped *p, double complex z)
{
    double complex left = 1;
    for (int side = 0; side < 2; side++)
        for (int s = 0; s < (side ? p->after : p->before); s++)
            left *= 1 - (p->weight[side][s].re + I * p->weight[side][s].im) * z;
    return left;
}

/* Weights for frequencies of multiples of pi / steps, along some axis beyond pi / 2. */
static void fit_weights(spry_context *ctx, damped *p)
{
    enum { MOST = 729 };
    const int steps = p->dimensions == 2 ? 16 : 8;
    double complex z[MOST];
    int64_t count = 0;
    int k[3] = {0}, found;
    for (k[2] = 0; k[2] <= (p->dimensions > 2 ? steps : 0); k[2]++)
        for (k[1] = 0; k[1] <= steps; k[1]++)
            for (k[0] = 0; k[0] <= steps; k[0]++) {
                double cosine[3];
                for (int a = 0; a < 3; a++)
                    cosine[a] = cos(acos(-1) * k[a] / steps);
                if (2 * k[0] > steps || 2 * k[1] > steps || 2 * k[2] > steps)
                    z[count++] = wave_symbol(p, cosine);
            }
    assert_ok(ctx, polynomial_fit(ctx, count, z, p->before, &found, p->weight[0]));
    assert_int_equal(found, p->before);
    assert_ok(ctx, polynomial_fit(ctx, count, z, p->after, &found, p->weight[1]));
    assert_int_equal(found, p->after);
}

/* As two_grid_factor(). Sweeps do not mix frequencies, so that it does not matter which of them
 * come before. Where an angle is pi / 2 nothing arrives on the coarse grid. */
static double wave_factor(const damped *p, const int *number, int intervals)
{
    const int n = 1 << p->dimensions;
    double complex z[HARMONICS], coarse = 4 * p->k;
    double weight[HARMONICS];
    bool seen = true;
    for (int a = 0; a < 3 && a < p->dimensions; a++) {
        coarse -= 2 * (1 - cos(2 * acos(-1) * number[a] / intervals));
        seen = seen && 2 * number[a] != intervals;
    }
    for (int i = 0; i < n; i++) {
        double cosine[3];
        weight[i] = 1;
        for (int a = 0; a < 3 && a < p->dimensions; a++) {
            cosine[a] = cos(acos(-1) * number[a] / intervals) * (i >> a & 1 ? -1 : 1);
            weight[i] *= (1 + cosine[a]) / 2;
        }
        z[i] = wave_symbol(p, cosine);
    }
    if (!seen) {
        double most = 0;
        for (int i = 0; i < n; i++)
            most = fmax(most, cabs(swept(p, z[i])));
        return most;
    }
    symbol m = {.n = n};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m.a[i][j] = swept(p, z[i]) * ((i == j) - weight[i] * weight[j] * 4 * z[j] *
                                                         (p->k - 2 * p->dimensions) / coarse);
    return radius(m);
}

static double computed_waves(const damped *p, int intervals)
{
    double most = 0;
    int k[3] = {1, 1, 1};
    for (k[0] = 1; 2 * k[0] <= intervals; k[0]++)
        for (k[1] = 1; 2 * k[1] <= intervals; k[1]++)
            for (k[2] = 1; k[2] == 1 || (p->dimensions > 2 && 2 * k[2] <= intervals); k[2]++)
                most = fmax(most, wave_factor(p, k, intervals));
    return most;
}

static const problem plane_points = {2, -1, {1, 1}}, space_points = {3, -1, {1, 1, 1}};

#define PLANE_MOST 0.2
#define SPACE_MOST 0.35

/* --- measured ------------------------------------------------------------------------------------
 */

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){base_uniform(*seed, 0) - 0.5, 0};
    *seed += 1;
}

/* The factor by which e -> e - M A e shrinks e in the end: a step of richardson from 0 with A e on
 * the right is M A e. */
static double measured_of(spry_context *ctx, const char *grid_text, const char *text,
                          const spry_scalar *q, const char *precon, int steps)
{
    const spry_type type = q ? SPRY_TYPE_Z : SPRY_TYPE_D;
    static const char *const names[] = {"q"};
    spry_vector *constant = NULL;
    char options[192];
    uint64_t seed = 5;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *e, *r, *x;
    spry_solver *solver;
    double logs = 0;
    const int counted = steps / 3;
    snprintf(options, sizeof options, "method=richardson precon=gmg:%s tol=1e-30 max-iter=1",
             precon);
    assert_ok(ctx, spry_grid_new(ctx, grid_text, &grid));
    if (q) {
        assert_ok(ctx, spry_vector_new(ctx, type, 1, NULL, SPRY_OWN_COPY, &constant));
        assert_ok(ctx, spry_vector_fill(constant, *q));
    }
    assert_ok(ctx, spry_operator_stencil(grid, text, q ? "type=z" : NULL, q != NULL, names,
                                         (const spry_vector *[]){constant}, &A));
    assert_ok(ctx, spry_field_new(grid, type, false, noise, &seed, &e));
    assert_ok(ctx, spry_field_new(grid, type, false, NULL, NULL, &x));
    assert_ok(ctx, spry_field_new(grid, type, false, NULL, NULL, &r));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    for (int k = 0; k < steps; k++) {
        double norm;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_vector_norm(e, &norm));
        assert_ok(ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, e));
        if (k >= steps - counted)
            logs += log(norm);
        assert_ok(ctx, spry_operator_apply(A, e, r));
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, r, x, &result));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, x, e));
        spry_result_clear(ctx, &result);
    }
    spry_solver_free(solver);
    spry_vector_free(constant);
    spry_vector_free(e);
    spry_vector_free(r);
    spry_vector_free(x);
    spry_operator_free(A);
    spry_grid_free(grid);
    return exp(logs / counted);
}

static double measured(spry_context *ctx, const char *grid, const char *text, const char *precon,
                       int steps)
{
    return measured_of(ctx, grid, text, NULL, precon, steps);
}

/* Damped waves on two grids, with fitted weights: 10 points in a wavelength and fewer. */
static void waves_on_two_grids(void **state)
{
    static const struct {
        const char *grid;
        int dimensions, intervals, coarsest;
        double k2, shift;
    } grids[] = {{"64x64", 2, 64, 1000, 0.4, 0.5},
                 {"64x64", 2, 64, 1000, 0.5, 0.3},
                 {"16x16x16", 3, 16, 400, 0.4, 0.3}};
    for (size_t g = 0; g < COUNT(grids); g++)
        for (int sweeps = 1; sweeps <= 4; sweeps++) {
            const double n2 = (double)grids[g].intervals * grids[g].intervals;
            const spry_scalar q = {grids[g].k2 * n2, grids[g].shift * grids[g].k2 * n2};
            damped p = {.dimensions = grids[g].dimensions,
                        .before = (sweeps + 1) / 2,
                        .after = sweeps / 2,
                        .k = grids[g].k2 * (1 + I * grids[g].shift)};
            char precon[96];
            fit_weights(*state, &p);
            snprintf(precon, sizeof precon, "smoother=fitted,pre=%d,post=%d,coarsest=%d", p.before,
                     p.after, grids[g].coarsest);
            const double found = measured_of(*state, grids[g].grid, "laplace + q", &q, precon, 60),
                         exact = computed_waves(&p, grids[g].intervals);
            print_message("waves, %s, %g, shift %g, %d sweeps: %.4f, computed %.4f\n",
                          grids[g].grid, grids[g].k2, grids[g].shift, sweeps, found, exact);
            assert_true(fabs(found - exact) < 0.1 * exact);
        }
}

static void two_grids(void **state)
{
    static const struct {
        const char *grid;
        const problem *p;
        int intervals, coarsest;
    } grids[] = {{"64x64", &plane_points, 64, 1000}, {"16x16x16", &space_points, 16, 400}};
    for (size_t g = 0; g < COUNT(grids); g++)
        for (int sweeps = 1; sweeps <= 4; sweeps++) {
            char precon[96];
            snprintf(precon, sizeof precon, "pre=%d,post=%d,symmetric=no,coarsest=%d",
                     (sweeps + 1) / 2, sweeps / 2, grids[g].coarsest);
            const double found = measured(*state, grids[g].grid, "-laplace", precon, 45),
                         exact = computed(grids[g].p, grids[g].intervals, sweeps);
            print_message("%s, %d sweeps: %.4f, computed %.4f\n", grids[g].grid, sweeps, found,
                          exact);
            assert_true(fabs(found - exact) < 0.1 * exact);
        }
    for (int sweeps = 1; sweeps <= 4; sweeps++)
        print_message("fine grids, %d sweeps: %.4f in two dimensions, %.4f in three\n", sweeps,
                      computed(&plane_points, 128, sweeps), computed(&space_points, 32, sweeps));
}

/* Lines on two grids, both halved along all axes, whatever the couplings. */
static void lines_on_two_grids(void **state)
{
    static const struct {
        const char *grid, *text;
        problem p;
        int intervals, coarsest;
    } cases[] = {{"64x64", "-dx^2 - dy^2", {2, 1, {1, 1}}, 64, 1000},
                 {"64x64", "-dx^2 - dy^2", {2, 0, {1, 1}}, 64, 1000},
                 {"64x64", "-0.1*dx^2 - dy^2", {2, 1, {0.1, 1}}, 64, 1000},
                 {"64x64", "-100*dx^2 - dy^2", {2, 0, {100, 1}}, 64, 1000},
                 {"16x16x16", "-laplace", {3, 2, {1, 1, 1}}, 16, 400},
                 {"16x16x16", "-dx^2 - 50*dy^2 - dz^2", {3, 1, {1, 50, 1}}, 16, 400}};
    for (size_t k = 0; k < COUNT(cases); k++)
        for (int sweeps = 1; sweeps <= 2; sweeps++) {
            char precon[128];
            snprintf(precon, sizeof precon,
                     "smoother=line,line=%c,coarsening=full,pre=1,post=%d,symmetric=no,coarsest=%d",
                     "xyz"[cases[k].p.line], sweeps - 1, cases[k].coarsest);
            const double found = measured(*state, cases[k].grid, cases[k].text, precon, 45),
                         exact = computed(&cases[k].p, cases[k].intervals, sweeps);
            print_message("%s, %s, lines along %c, %d sweeps: %.4f, computed %.4f\n", cases[k].grid,
                          cases[k].text, "xyz"[cases[k].p.line], sweeps, found, exact);
            assert_true(fabs(found - exact) < 0.1 * exact);
        }
}

/* Couplings that differ by up to 10^6: halving the axes of strong ones alone keeps V-cycles with
 * two sweeps fast, where halving all of them does not smooth what oscillates along the weak axis.
 */
static void anisotropy(void **state)
{
    static const double sizes[] = {1e-3, 1e-2, 0.1, 0.5, 0.75, 1, 1.6, 3, 10, 100, 1e3};
    char text[96];
    for (size_t k = 0; k < COUNT(sizes); k++) {
        snprintf(text, sizeof text, "-%g*dx^2 - dy^2", sizes[k]);
        const double plane = measured(*state, "64x64", text, "symmetric=no", 24);
        snprintf(text, sizeof text, "-%g*dx^2 - dy^2 - dz^2", sizes[k]);
        const double one_axis = measured(*state, "16x16x16", text, "symmetric=no", 24);
        snprintf(text, sizeof text, "-%g*dx^2 - dy^2 - %g*dz^2", sizes[k], sqrt(sizes[k]));
        const double all = measured(*state, "16x16x16", text, "symmetric=no", 24);
        print_message("%g: %.3f in two dimensions, %.3f and %.3f in three\n", sizes[k], plane,
                      one_axis, all);
        assert_true(plane < PLANE_MOST && one_axis < SPACE_MOST && all < SPACE_MOST);
    }
    const double fully = measured(*state, "64x64", "-0.01*dx^2 - dy^2", "coarsening=full", 24);
    print_message("halving both axes: %.3f\n", fully);
    assert_true(fully > 0.7);
}

/* Lines along the strong axis, with all axes halved; points whose strong axis is another one from
 * place to place, where lines along both take turns; an axis that cannot be halved. */
static void lines(void **state)
{
    static const double sizes[] = {1e-3, 0.1, 1, 10, 1e3};
    static const struct {
        const char *grid, *text;
        double most;
    } cases[] = {
        {"64x64 stretch=y:cosine", "-laplace", PLANE_MOST},
        {"64x64 stretch=x:ratio:1.08", "-laplace", PLANE_MOST},
        {"64x64 stretch=x:cosine,y:cosine", "-laplace", PLANE_MOST},
        {"64x64 stretch=x:ratio:1.05,y:ratio:0.92", "-laplace", PLANE_MOST},
        {"64x64 x=neumann y=neumann:dirichlet stretch=y:ratio:1.1", "-laplace", PLANE_MOST},
        {"64x64 x=periodic y=neumann:dirichlet stretch=y:ratio:1.1", "-laplace", PLANE_MOST},
        {"64x64 x=neumann:dirichlet y=periodic stretch=x:ratio:1.1", "-laplace", PLANE_MOST},
        {"63x64", "-laplace", PLANE_MOST},
        {"15x16x16", "-laplace", SPACE_MOST},
        {"16x16x16 stretch=z:ratio:1.15", "-laplace", SPACE_MOST}};
    char text[96];
    for (size_t k = 0; k < COUNT(sizes); k++) {
        snprintf(text, sizeof text, "-%g*dx^2 - dy^2", sizes[k]);
        const double found =
            measured(*state, "64x64", text, "smoother=line,coarsening=full,symmetric=no", 24);
        print_message("%g, lines: %.3f\n", sizes[k], found);
        assert_true(found < PLANE_MOST);
    }
    for (size_t k = 0; k < COUNT(cases); k++) {
        const double found = measured(*state, cases[k].grid, cases[k].text, "symmetric=no", 24);
        print_message("%s, %s: %.3f\n", cases[k].grid, cases[k].text, found);
        assert_true(found < cases[k].most);
    }
    const double points = measured(*state, "64x64 stretch=x:cosine,y:cosine", "-laplace",
                                   "smoother=redblack,symmetric=no", 24);
    print_message("points alone: %.3f\n", points);
    assert_true(points > 2 * PLANE_MOST);
}

/* --- full multigrid ------------------------------------------------------------------------------
 */

/* Waves that differences of order 2 take to multiples of themselves, by the numbers k. */
typedef struct waves {
    int dimensions;
    bool cosine[3];
    double k[3];
} waves;

static void wave(void *data, const double *place, spry_scalar *value)
{
    const waves *w = data;
    *value = (spry_scalar){1, 0};
    for (int a = 0; a < w->dimensions; a++) {
        const double angle = w->k[a] * acos(-1) * place[a];
        value->re *= w->cosine[a] ? cos(angle) : sin(angle);
    }
}

/* What one cycle from nothing leaves of the system's error, over that of the system's solution. Of
 * -laplace u = sum (k pi)^2 u the solution is known, and so is that of the system: -dx^2 takes u to
 * 2 (1 - cos(k pi h)) / h^2 u. */
static double left_over(spry_context *ctx, const char *faces, waves *w, const char *precon, int n)
{
    char text[160];
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *x, *u;
    spry_solver *solver;
    double exact = 0, discrete = 0, worst = 0, largest = 0;
    for (int a = 0; a < w->dimensions; a++) {
        exact += pow(w->k[a] * acos(-1), 2);
        discrete += 2 * (1 - cos(w->k[a] * acos(-1) / n)) * n * n;
    }
    snprintf(text, sizeof text, "%dx%d%s%.0d %s", n, n, w->dimensions > 2 ? "x" : "",
             w->dimensions > 2 ? n : 0, faces);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave, w, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, wave, w, &b));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    assert_ok(ctx, spry_vector_scale((spry_scalar){exact, 0}, b));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    snprintf(text, sizeof text, "method=richardson precon=gmg:cycle=full,%s max-iter=1", precon);
    assert_ok(ctx, spry_solver_set(solver, text));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    for (int64_t i = 0; i < x->n; i++) {
        const double value = ((double *)u->data)[i];
        worst = fmax(worst, fabs(((double *)x->data)[i] - exact / discrete * value));
        largest = fmax(largest, fabs(value));
    }
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(u);
    spry_operator_free(A);
    spry_grid_free(grid);
    return worst / ((exact / discrete - 1) * largest);
}

/* One cycle is enough where what it leaves is less than the error of the differences, so that the
 * whole is less than twice that. If a V-cycle leaves eta of an error, and solutions of a level and
 * the next coarser one differ by 3 errors of the finer one (4 - 1 with order 2), a cycle on each
 * level leaves e with e = eta (4 e + 3): 0.6 with the 0.11 of two dimensions and 1 + 1 sweeps, 0.5
 * in three with 2 + 2. Interpolation adds to that, a linear one as much as the differences. */
static void full_multigrid(void **state)
{
    static struct {
        const char *faces;
        waves w;
        int n, sweeps;
    } cases[] = {{"", {2, {false, false}, {1, 2}}, 128, 1},
                 {"x=neumann", {2, {true, false}, {1, 2}}, 128, 1},
                 {"x=neumann:dirichlet", {2, {true, false}, {1.5, 2}}, 128, 1},
                 {"x=periodic", {2, {true, false}, {2, 3}}, 128, 1},
                 {"z=periodic", {3, {false, false, true}, {1, 1, 2}}, 32, 2}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        char sweeps[48], linear[96], cubic[96];
        snprintf(sweeps, sizeof sweeps, "pre=%d,post=%d,symmetric=no", cases[k].sweeps,
                 cases[k].sweeps);
        snprintf(linear, sizeof linear, "interpolation=linear,%s", sweeps);
        snprintf(cubic, sizeof cubic, "interpolation=cubic,%s", sweeps);
        for (int n = 32; n <= cases[k].n; n *= 2) {
            const double by_lines = left_over(*state, cases[k].faces, &cases[k].w, linear, n),
                         by_cubics = left_over(*state, cases[k].faces, &cases[k].w, cubic, n);
            print_message("%dD %s, %d: %.3f, linear %.3f\n", cases[k].w.dimensions, cases[k].faces,
                          n, by_cubics, by_lines);
            assert_true(by_cubics < 1 && by_cubics < by_lines / 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(lines_on_two_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(waves_on_two_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(lines, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(anisotropy, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(full_multigrid, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
