/* Steps in time: orders against exact solutions, exact decay of modes of the heat equation, the
 * last step, the largest stable step, solvers that are kept, bad input. */
#include "operator/operator.h"
#include "support/support.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static spry_stepper *make(spry_context *ctx, const char *options)
{
    spry_stepper *s = NULL;
    assert_ok(ctx, spry_stepper_new(ctx, options, &s));
    return s;
}

static spry_vector *vector_of(spry_context *ctx, int n, const double *numbers)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, (void *)numbers, SPRY_OWN_COPY, &v));
    return v;
}

/* --- orders --------------------------------------------------------------------------------------
 */

/* u' = u cos t, u(0) = 1: u = exp(sin t). */
static spry_status cosine_rate(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    *(double *)rate->data = *(const double *)u->data * cos(t);
    return SPRY_STATUS_OK;
}

/* Kutta's method of third order. */
static const double kutta_a[] = {0, 0, 0, 0.5, 0, 0, -1, 2, 0};
static const double kutta_b[] = {1.0 / 6, 2.0 / 3, 1.0 / 6};

static double cosine_error(spry_context *ctx, const char *method, double dt)
{
    spry_stepper *s = make(ctx, method);
    spry_vector *u = vector_of(ctx, 1, (const double[]){1});
    if (!method)
        assert_ok(ctx, spry_stepper_set_table(s, 3, kutta_a, kutta_b, NULL));
    assert_ok(ctx, spry_stepper_set_real(s, "dt", dt));
    assert_ok(ctx, spry_stepper_set_function(s, cosine_rate, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 2, u, NULL));
    const double error = fabs(*(double *)u->data - exp(sin(2)));
    spry_vector_free(u);
    spry_stepper_free(s);
    return error;
}

/* The error is C dt^p (1 + O(dt)), with numbers near 1 for this problem: halving steps of 1/32
 * gives the order to about dt. */
static void orders_of_functions(void **state)
{
    static const struct {
        const char *method;
        double order;
    } cases[] = {{"method=euler", 1}, {"method=heun", 2}, {NULL, 3}, {"method=rk4", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double coarse = cosine_error(*state, cases[i].method, 1.0 / 32);
        const double fine = cosine_error(*state, cases[i].method, 1.0 / 64);
        assert_true(fabs(log2(coarse / fine) - cases[i].order) < 0.15);
    }
}

/* M u' = A u + f with M = diag(2, 4), u = (cos t, exp(-t)), A of two coupled rows. */
static const double coupled[] = {-3, 1, 0.5, -5};
static spry_status coupled_source(void *data, double t, spry_vector *source)
{
    double *f = source->data;
    const double u[2] = {cos(t), exp(-t)}, rate[2] = {-sin(t), -exp(-t)};
    (void)data;
    for (int i = 0; i < 2; i++)
        f[i] = (i ? 4 : 2) * rate[i] - coupled[2 * i] * u[0] - coupled[2 * i + 1] * u[1];
    return SPRY_STATUS_OK;
}

static double coupled_error(spry_context *ctx, const char *options, double dt)
{
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, coupled);
    spry_matrix *M = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (const double[]){2, 0, 0, 4});
    spry_operator *a = NULL, *m = NULL;
    spry_stepper *s = make(ctx, options);
    spry_vector *u = vector_of(ctx, 2, (const double[]){1, 1});
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &a));
    assert_ok(ctx, spry_operator_from_matrix(M, NULL, NULL, &m));
    assert_ok(ctx, spry_stepper_set_operator(s, a, m, coupled_source, NULL));
    assert_ok(ctx, spry_stepper_set_real(s, "dt", dt));
    assert_ok(ctx, spry_stepper_run(s, 0, 1, u, NULL));
    const double *x = u->data;
    const double error = fabs(x[0] - cos(1)) + fabs(x[1] - exp(-1));
    spry_stepper_free(s);
    spry_operator_free(a);
    spry_operator_free(m);
    spry_matrix_free(A);
    spry_matrix_free(M);
    spry_vector_free(u);
    return error;
}

/* As above; errors of rk4 are near 1e-10, so solves are to 1e-14. */
static void orders_of_operators(void **state)
{
    static const struct {
        const char *options;
        double order;
    } cases[] = {{"method=implicit-euler", 1},
                 {"method=crank-nicolson", 2},
                 {"method=heun", 2},
                 {"method=rk4 solver=[tol=1e-14]", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double coarse = coupled_error(*state, cases[i].options, 1.0 / 16);
        const double fine = coupled_error(*state, cases[i].options, 1.0 / 32);
        assert_true(fabs(log2(coarse / fine) - cases[i].order) < 0.25);
    }
}

/* --- heat ----------------------------------------------------------------------------------------
 */

enum { INTERVALS = 16 };

static void sines(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    (void)data;
    *value = (spry_scalar){sin(pi * place[0]) * sin(pi * place[1]), 0};
}

typedef struct plate {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *u;
} plate;

static plate make_plate(spry_context *ctx, spry_type type)
{
    plate p = {0};
    char text[32], options[32];
    snprintf(text, sizeof text, "%dx%d", INTERVALS, INTERVALS);
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    assert_ok(ctx, spry_grid_new(ctx, text, &p.grid));
    assert_ok(ctx, spry_operator_stencil(p.grid, "laplace", options, 0, NULL, NULL, &p.A));
    assert_ok(ctx, spry_field_new(p.grid, type, false, sines, NULL, &p.u));
    return p;
}

static void free_plate(plate *p)
{
    spry_vector_free(p->u);
    spry_operator_free(p->A);
    spry_grid_free(p->grid);
}

/* Eigenvalue of the second differences along both axes, of waves of so many halves. */
static double eigenvalue(int halves)
{
    const double n = INTERVALS, s = sin(acos(-1) * halves / (2 * n));
    return -8 * n * n * s * s;
}

enum { METHODS = 5 };
static const char *const methods[METHODS] = {"euler", "heun", "rk4", "implicit-euler",
                                             "crank-nicolson"};

/* What a step of each method makes of sin sin, with z = dt times its eigenvalue. */
static double step_factor(int method, double z)
{
    const double factors[] = {1 + z, 1 + z + z * z / 2,
                              1 + z + z * z / 2 + z * z * z / 6 + z * z * z * z / 24, 1 / (1 - z),
                              (1 + z / 2) / (1 - z / 2)};
    return factors[method];
}

/* sin sin is an eigenvector of the differences: a step multiplies it by R(dt lambda), known for
 * each method. What a step errs by is the rounding of dt A u, of terms of 8 n^2 dt |u| in all, and
 * of a few sums, and the residual of its solve, dt |A u| times tol. */
static void heat_decays(void **state)
{
    spry_context *ctx = *state;
    enum { STEPS = 40 };
    const double dt = 0.9 * 2 / -eigenvalue(INTERVALS - 1), z = dt * eigenvalue(1);
    for (int t = 0; t < 4; t++)
        for (int m = 0; m < 5; m++) {
            const bool single = type_is_single(support_types[t]);
            const double unit = single ? FLT_EPSILON : DBL_EPSILON, tol = single ? 1e-5 : 1e-10;
            const double bound = STEPS * (32 * unit + (m > 2 ? -z * tol * INTERVALS : 0));
            plate p = make_plate(ctx, support_types[t]), start = make_plate(ctx, SPRY_TYPE_Z);
            spry_stepper *s = make(ctx, NULL);
            spry_step_stats stats = SPRY_STEP_STATS_INIT;
            assert_ok(ctx, spry_stepper_set_real(s, "dt", dt));
            char text[64];
            snprintf(text, sizeof text, "method=%s", methods[m]);
            assert_ok(ctx, spry_stepper_set(s, text));
            assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
            assert_ok(ctx, spry_stepper_run(s, 0, STEPS * dt, p.u, &stats));
            assert_int_equal(stats.steps, STEPS);
            assert_int_equal(stats.setups, m > 2);
            for (int64_t i = 0; i < p.u->n; i++) {
                const double exact =
                    pow(step_factor(m, z), STEPS) * value_get(SPRY_TYPE_Z, start.u->data, i).re;
                const spry_scalar found = value_get(p.u->type, p.u->data, i);
                assert_true(hypot(found.re - exact, found.im) <= bound);
            }
            spry_stepper_free(s);
            free_plate(&p);
            free_plate(&start);
        }
}

/* --- lengths of steps ----------------------------------------------------------------------------
 */

static spry_status one(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    (void)t;
    (void)u;
    return spry_vector_fill(rate, (spry_scalar){1, 0});
}

/* u' = 1 is exact with any steps, but for the sum of four numbers. */
static void last_step(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, "method=euler dt=0.3");
    spry_vector *u = vector_of(ctx, 1, (const double[]){0});
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    assert_ok(ctx, spry_stepper_set_function(s, one, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 1, u, &stats));
    assert_int_equal(stats.steps, 4);
    assert_true(fabs(stats.last_dt - 0.1) <= 2 * DBL_EPSILON);
    assert_true(fabs(*(double *)u->data - 1) <= 4 * DBL_EPSILON);
    assert_true(stats.t == 1);
    /* 10 x 0.1 is no 11 steps, and the last is as long as the others */
    assert_ok(ctx, spry_stepper_set_real(s, "dt", 0.1));
    assert_ok(ctx, spry_stepper_run(s, 1, 2, u, &stats));
    assert_int_equal(stats.steps, 10);
    assert_true(stats.last_dt == 0.1);
    /* one step for all, and none */
    assert_ok(ctx, spry_stepper_set_real(s, "dt", 5));
    assert_ok(ctx, spry_stepper_run(s, 2, 3, u, &stats));
    assert_int_equal(stats.steps, 1);
    assert_true(fabs(*(double *)u->data - 3) <= 16 * DBL_EPSILON);
    assert_ok(ctx, spry_stepper_run(s, 3, 3, u, &stats));
    assert_int_equal(stats.steps, 0);
    /* a run for each step is a step, however far from 0 the times are */
    assert_ok(ctx, spry_stepper_set_real(s, "dt", 0.007));
    for (int k = 0; k < 2000; k++) {
        const double t = 700 + k * 0.007;
        assert_ok(ctx, spry_stepper_run(s, t, t + 0.007, u, &stats));
        assert_int_equal(stats.steps, 1);
        assert_true(stats.last_dt == 0.007);
    }
    spry_vector_free(u);
    spry_stepper_free(s);
}

/* Three steps and two fifths of one: each is what its own length makes of an eigenvector, to the
 * bounds of heat_decays(). The end is that of the caller's, to the bit. */
static void clipped_step(void **state)
{
    spry_context *ctx = *state;
    const double dt = 0.9 * 2 / -eigenvalue(INTERVALS - 1), z = dt * eigenvalue(1);
    const double span = 3.4 * dt;
    for (int m = 0; m < METHODS; m++) {
        const double bound = 4 * (32 * DBL_EPSILON + (m > 2 ? -z * 1e-10 * INTERVALS : 0));
        plate p = make_plate(ctx, SPRY_TYPE_D), start = make_plate(ctx, SPRY_TYPE_D);
        spry_stepper *s = make(ctx, NULL);
        spry_step_stats stats = SPRY_STEP_STATS_INIT;
        char text[64];
        snprintf(text, sizeof text, "method=%s", methods[m]);
        assert_ok(ctx, spry_stepper_set(s, text));
        assert_ok(ctx, spry_stepper_set_real(s, "dt", dt));
        assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
        assert_ok(ctx, spry_stepper_run(s, 0.25, 0.25 + span, p.u, &stats));
        assert_int_equal(stats.steps, 4);
        assert_true(stats.dt == dt && stats.t == 0.25 + span);
        /* times near 0.25 are rounded: that is what the rest of the run is known to */
        assert_true(fabs(stats.last_dt - 0.4 * dt) <= 8 * DBL_EPSILON);
        assert_int_equal(stats.setups, m > 2 ? 2 : 0);
        const double factor =
            pow(step_factor(m, z), 3) * step_factor(m, stats.last_dt * eigenvalue(1));
        for (int64_t i = 0; i < p.u->n; i++)
            assert_true(fabs(((double *)p.u->data)[i] - factor * ((double *)start.u->data)[i]) <=
                        bound);
        spry_stepper_free(s);
        free_plate(&p);
        free_plate(&start);
    }
}

/* A set-up for steps of dt, one for the last, none when all is run again; new ones for another dt.
 */
static void solvers_are_kept(void **state)
{
    spry_context *ctx = *state;
    plate p = make_plate(ctx, SPRY_TYPE_D);
    spry_stepper *s = make(ctx, "method=crank-nicolson dt=0.03");
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 0.1, p.u, &stats));
    assert_int_equal(stats.steps, 4);
    assert_int_equal(stats.setups, 2);
    assert_int_equal(stats.solves, 4);
    assert_ok(ctx, spry_stepper_run(s, 0, 0.1, p.u, &stats));
    assert_int_equal(stats.setups, 0);
    assert_ok(ctx, spry_stepper_set(s, "dt=0.05"));
    assert_ok(ctx, spry_stepper_run(s, 0, 0.1, p.u, &stats));
    assert_int_equal(stats.setups, 1);
    spry_stepper_free(s);
    free_plate(&p);
}

/* Ritz values of a symmetric operator are within its spectrum: the limit is never reported too
 * small, and power iteration is let stop where it is near. */
static void largest_step(void **state)
{
    spry_context *ctx = *state;
    plate p = make_plate(ctx, SPRY_TYPE_D);
    spry_stepper *s = make(ctx, "method=euler");
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    const double exact = 2 / -eigenvalue(INTERVALS - 1);
    double limit = 0;
    assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_limit(s, p.u, &limit));
    assert_true(limit >= exact * (1 - 1e-12) && limit <= 1.05 * exact);
    assert_ok(ctx, spry_stepper_set_real(s, "dt", 1.2 * exact));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 1, p.u, &stats));
    support_message_has(ctx, "the largest stable one is about");
    assert_int_equal(stats.steps, 0);
    /* the number that is reported is that of the run, to its three digits */
    const char *reported = strstr(spry_message(ctx), "is about ");
    assert_non_null(reported);
    assert_true(fabs(strtod(reported + 9, NULL) / stats.limit - 1) <= 5e-3);
    assert_true(stats.limit >= limit && stats.limit < 1.2 * exact);
    /* a few steps do no harm; so it is not refused */
    assert_ok(ctx, spry_stepper_run(s, 0, 2 * exact, p.u, &stats));
    assert_int_equal(stats.steps, 2);
    /* without the check u runs away, which is reported with the step */
    assert_ok(ctx, spry_stepper_set(s, "check=no"));
    assert_ok(ctx, spry_stepper_set_real(s, "dt", 100 * exact));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 1e5 * exact, p.u, &stats));
    support_message_has(ctx, "no longer finite at step");
    /* dt=0: what is stable */
    plate q = make_plate(ctx, SPRY_TYPE_D);
    spry_stepper *own = make(ctx, "method=euler");
    assert_ok(ctx, spry_stepper_set_operator(own, q.A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_run(own, 0, 0.1, q.u, &stats));
    assert_true(stats.dt <= exact && stats.dt >= 0.85 * exact);
    spry_stepper_free(own);
    free_plate(&q);
    spry_stepper_free(s);
    free_plate(&p);
}

/* Limits of methods, in units of 2 / |lambda|: the zeros of R(z) + 1 or R(z) - 1 on the negative
 * axis, known to more digits than the bisection finds; lambda is the same estimate for all.
 * Implicit methods have none. With M = 2 I eigenvalues are half as large; 60 products err by 1e-10
 * each. */
static void limits(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *options;
        double expected;
    } cases[] = {{"method=euler", 1},
                 {"method=heun", 1},
                 {NULL, 2.5127453266183 / 2},
                 {"method=rk4", 2.7852935634052818 / 2},
                 {"method=implicit-euler", INFINITY},
                 {"method=crank-nicolson", INFINITY}};
    plate p = make_plate(ctx, SPRY_TYPE_D);
    double first = 0, limit = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spry_stepper *s = make(ctx, cases[i].options);
        if (!cases[i].options)
            assert_ok(ctx, spry_stepper_set_table(s, 3, kutta_a, kutta_b, NULL));
        assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
        assert_ok(ctx, spry_stepper_limit(s, p.u, &limit));
        first = i == 0 ? limit : first;
        if (isinf(cases[i].expected))
            assert_true(isinf(limit));
        else
            assert_true(fabs(limit / first - cases[i].expected) <= 1e-12);
        spry_stepper_free(s);
    }
    spry_operator *M = NULL;
    assert_ok(ctx, spry_operator_stencil(p.grid, "2", NULL, 0, NULL, NULL, &M));
    spry_stepper *s = make(ctx, "method=euler");
    assert_ok(ctx, spry_stepper_set_operator(s, p.A, M, NULL, NULL));
    assert_ok(ctx, spry_stepper_limit(s, p.u, &limit));
    assert_true(fabs(limit / first - 2) <= 60 * 1e-10 * 2);
    spry_stepper_free(s);
    spry_operator_free(M);
    free_plate(&p);
}

/* Waves: eigenvalues i sin(theta) / h. Steps of rk4 are stable up to 2 sqrt(2) h, none of Euler's.
 */
static void waves(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *u = NULL;
    const double h = 1.0 / 64;
    double limit = 0;
    assert_ok(ctx, spry_grid_new(ctx, "64 boundary=periodic", &grid));
    assert_ok(ctx, spry_operator_stencil(grid, "-dx", NULL, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, sines, NULL, &u));
    spry_stepper *s = make(ctx, "method=rk4");
    assert_ok(ctx, spry_stepper_set_operator(s, A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_limit(s, u, &limit));
    assert_true(fabs(limit / (2 * sqrt(2) * h) - 1) < 0.05);
    assert_ok(ctx, spry_stepper_set(s, "method=euler"));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "no step of euler is stable");
    spry_stepper_free(s);
    spry_operator_free(A);
    spry_vector_free(u);
    spry_grid_free(grid);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

static bool until_third(void *data, int64_t step, double t, const spry_vector *u)
{
    (void)t;
    (void)u;
    ++*(int *)data;
    return step < 3;
}

static void stopping(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, "method=heun dt=0.25");
    spry_vector *u = vector_of(ctx, 1, (const double[]){0});
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    int seen = 0;
    assert_ok(ctx, spry_stepper_set_function(s, one, NULL));
    spry_stepper_set_watch(s, until_third, &seen);
    assert_ok(ctx, spry_stepper_run(s, 0, 2, u, &stats));
    assert_true(stats.stopped && stats.steps == 3 && seen == 3 && stats.t == 0.75);
    assert_true(*(double *)u->data == 0.75);
    spry_stepper_set_watch(s, NULL, NULL);
    spry_context_interrupt(ctx);
    assert_ok(ctx, spry_stepper_run(s, 0, 2, u, &stats));
    assert_true(stats.stopped && stats.steps == 1);
    assert_ok(ctx, spry_stepper_run(s, 0, 2, u, &stats));
    assert_true(!stats.stopped && stats.steps == 8);
    spry_vector_free(u);
    spry_stepper_free(s);
}

/* A failure of the caller's is handed on. */
static spry_status failing(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)t;
    (void)rate;
    (void)data;
    spry_context_set_message(u->ctx, "out of fuel");
    return SPRY_STATUS_BAD_INPUT;
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_new(ctx, "methd=rk4", &s));
    support_message_has(ctx, "method");
    s = make(ctx, NULL);
    plate p = make_plate(ctx, SPRY_TYPE_D);
    spry_vector *u = vector_of(ctx, 1, (const double[]){0});
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "has no problem");
    assert_ok(ctx, spry_stepper_set_function(s, failing, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "dt is not given");
    assert_ok(ctx, spry_stepper_set(s, "dt=0.1"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 1, 0, u, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, NAN, u, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "out of fuel");
    assert_ok(ctx, spry_stepper_set(s, "method=implicit-euler"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "is implicit");
    assert_ok(ctx, spry_stepper_set_operator(s, p.A, NULL, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "u has 1 elements");
    assert_ok(ctx, spry_stepper_set(s, "solver=[max-iter=1 tol=1e-13 method=cg precon=none]"));
    assert_ok(ctx, spry_vector_fill(p.u, (spry_scalar){1, 0}));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 1, p.u, NULL));
    support_message_has(ctx, "was not solved");
    spry_stepper_free(s);
    spry_vector_free(u);
    free_plate(&p);
}

static void bad_tables(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, NULL);
    const double half[] = {0.5, 0.5}, wrong[] = {0.5, 0.6};
    const double later[] = {0, 1, 0, 0}, unlike[] = {1, 0, 0, 2}, nan[] = {0, 0, NAN, 0};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_set_table(s, 17, later, half, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_set_table(s, 2, later, half, NULL));
    support_message_has(ctx, "a[0][1]");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_set_table(s, 2, unlike, half, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_set_table(s, 2, nan, half, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_stepper_set_table(s, 2, (const double[]){0, 0, 1, 0}, wrong, NULL));
    support_message_has(ctx, "sum up to");
    spry_stepper_free(s);
}

static spry_status run_plate(spry_context *ctx, void *data)
{
    plate *p = data;
    spry_stepper *s = NULL;
    spry_status status = spry_stepper_new(ctx, "method=crank-nicolson dt=0.03", &s);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(s, p->A, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_run(s, 0, 0.05, p->u, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set(s, "method=heun dt=0");
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_run(s, 0, 0.001, p->u, NULL);
    spry_stepper_free(s);
    return status;
}

static void torture(void **state)
{
    plate p = make_plate(*state, SPRY_TYPE_D);
    support_torture(*state, run_plate, &p);
    free_plate(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders_of_functions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(orders_of_operators, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(heat_decays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(last_step, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(clipped_step, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(limits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(solvers_are_kept, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(largest_step, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(waves, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(stopping, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_input, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_tables, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
