/* Steps that follow the error: orders of pairs, errors in proportion to the tolerance, rejected
 * steps, an operator and a function side by side, a stiff reaction with diffusion, bad input. */
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
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

static double *at(const spry_vector *v)
{
    return (double *)spry_vector_data_const(v);
}

/* --- M u' = A u + f(t) + F(t, u), u = (cos t, exp(-t))
 * --------------------------------------------
 */

static const double coupled[] = {-3, 1, 0.5, -5}, masses[] = {2, 4};

static void term(const double *u, double *F)
{
    F[0] = u[0] * u[1];
    F[1] = sin(u[0]);
}

static spry_status coupled_term(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    (void)t;
    term(at(u), at(rate));
    return SPRY_STATUS_OK;
}

/* data: whether there is an F. */
static spry_status coupled_source(void *data, double t, spry_vector *source)
{
    const double u[2] = {cos(t), exp(-t)}, rate[2] = {-sin(t), -exp(-t)};
    double F[2] = {0, 0};
    if (*(bool *)data)
        term(u, F);
    for (int i = 0; i < 2; i++)
        at(source)[i] =
            masses[i] * rate[i] - coupled[2 * i] * u[0] - coupled[2 * i + 1] * u[1] - F[i];
    return SPRY_STATUS_OK;
}

/* All of it as one function, without M on the left. */
static spry_status coupled_rate(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    double F[2] = {0, 0};
    coupled_source(data, t, rate);
    if (*(bool *)data)
        term(at(u), F);
    for (int i = 0; i < 2; i++)
        at(rate)[i] =
            (at(rate)[i] + coupled[2 * i] * at(u)[0] + coupled[2 * i + 1] * at(u)[1] + F[i]) /
            masses[i];
    return SPRY_STATUS_OK;
}

enum problem { ONE_FUNCTION, AN_OPERATOR, BOTH };

/* The error at t = 1; steps of dt, or as the options have it where it is 0. */
static double coupled_error(spry_context *ctx, enum problem kind, const char *options, double dt,
                            spry_step_stats *stats)
{
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, coupled);
    spry_matrix *M =
        support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (const double[]){masses[0], 0, 0, masses[1]});
    spry_operator *a = NULL, *m = NULL;
    spry_stepper *s = make(ctx, options);
    spry_vector *u = vector_of(ctx, 2, (const double[]){1, 1});
    bool has_term = kind != AN_OPERATOR;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &a));
    assert_ok(ctx, spry_operator_from_matrix(M, NULL, NULL, &m));
    if (kind == ONE_FUNCTION)
        assert_ok(ctx, spry_stepper_set_function(s, coupled_rate, &has_term));
    else
        assert_ok(ctx, spry_stepper_set_operator(s, a, m, coupled_source, &has_term));
    if (kind == BOTH)
        assert_ok(ctx, spry_stepper_add_function(s, coupled_term, NULL));
    if (dt > 0)
        assert_ok(ctx, spry_stepper_set_real(s, "dt", dt));
    assert_ok(ctx, spry_stepper_run(s, 0, 1, u, stats));
    const double error = hypot(at(u)[0] - cos(1), at(u)[1] - exp(-1));
    spry_stepper_free(s);
    spry_operator_free(a);
    spry_operator_free(m);
    spry_matrix_free(A);
    spry_matrix_free(M);
    spry_vector_free(u);
    return error;
}

/* The error is C dt^p (1 + O(dt)): halving steps of 1/16 gives the order to a few tenths. Solves
 * are to 1e-14, and errors of ark4 and dp5 not below 1e-11. */
static void orders(void **state)
{
    static const struct {
        enum problem kind;
        const char *options;
        double order;
    } cases[] = {
        {ONE_FUNCTION, "method=bs3", 3},
        {ONE_FUNCTION, "method=dp5", 5},
        {BOTH, "method=bs3 solver=[tol=1e-14]", 3},
        {AN_OPERATOR, "method=ark3 solver=[tol=1e-14]", 3},
        {AN_OPERATOR, "method=ark4 solver=[tol=1e-14]", 4},
        {BOTH, "method=ark3 solver=[tol=1e-14]", 3},
        {BOTH, "method=ark4 solver=[tol=1e-14]", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double coarse =
            coupled_error(*state, cases[i].kind, cases[i].options, 1.0 / 16, NULL);
        const double fine = coupled_error(*state, cases[i].kind, cases[i].options, 1.0 / 32, NULL);
        const double order = log2(coarse / fine);
        if (fabs(order - cases[i].order) > 0.3)
            fail_msg("%s: order %.2f, expected %.0f (%.2e, %.2e)", cases[i].options, order,
                     cases[i].order, coarse, fine);
    }
}

/* A step of a pair of order p errs by the estimate's dt^p, a run of 1 / dt of them by dt^p of its
 * own: in proportion to the tolerance. Over four decades the slope is 1 but for what steps are
 * shortened at the end and by the controller, a factor of two at each. */
static void proportional(void **state)
{
    static const struct {
        enum problem kind;
        const char *method;
    } cases[] = {{ONE_FUNCTION, "bs3"}, {ONE_FUNCTION, "dp5"}, {AN_OPERATOR, "ark3"},
                 {AN_OPERATOR, "ark4"}, {BOTH, "ark3"},        {BOTH, "ark4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error[2];
        spry_step_stats stats[2] = {SPRY_STEP_STATS_INIT, SPRY_STEP_STATS_INIT};
        for (int k = 0; k < 2; k++) {
            char options[96];
            snprintf(options, sizeof options, "method=%s tol=%s solver=[tol=1e-14]",
                     cases[i].method, k ? "1e-9" : "1e-5");
            error[k] = coupled_error(*state, cases[i].kind, options, 0, &stats[k]);
        }
        const double slope = log10(error[0] / error[1]) / 4;
        if (fabs(slope - 1) > 0.25 || error[1] > 1e-8 || stats[1].steps <= stats[0].steps)
            fail_msg("%s: errors %.2e and %.2e of %d and %d steps, slope %.2f", cases[i].method,
                     error[0], error[1], (int)stats[0].steps, (int)stats[1].steps, slope);
    }
}

/* --- rejected steps ------------------------------------------------------------------------------
 */

/* u' = -u + a pulse of width 0.01 at t = 1, that no step before sees. */
static spry_status pulse(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    const double x = (t - 1) / 0.01;
    ++*(int64_t *)data;
    at(rate)[0] = exp(-x * x / 2) / (0.01 * sqrt(2 * acos(-1))) - at(u)[0];
    return SPRY_STATUS_OK;
}

/* The pulse is 1 in all: after it u is e^-2 + e^-1 times the mean of e^s over the pulse. */
static void rejected(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 2; k++) {
        spry_stepper *s = make(ctx, k ? "method=dp5 tol=1e-6" : "method=bs3 tol=1e-6 dt=0.05");
        spry_vector *u = vector_of(ctx, 1, (const double[]){1});
        spry_step_stats stats = SPRY_STEP_STATS_INIT;
        int64_t calls = 0;
        assert_ok(ctx, spry_stepper_set_function(s, pulse, &calls));
        assert_ok(ctx, spry_stepper_run(s, 0, 2, u, &stats));
        assert_true(stats.rejected > 0 && stats.t == 2);
        assert_int_equal(stats.evaluations, calls);
        /* the first stage of all tries but the first is known */
        const int64_t tries = stats.steps + stats.rejected;
        assert_int_equal(calls, 1 + tries * (k ? 6 : 3));
        const double exact = exp(-2) + exp(-1) * exp(0.5 * 1e-4);
        assert_true(fabs(at(u)[0] - exact) < 20 * 1e-6); /* errors of 20 to 200 steps, partly */
        spry_stepper_free(s);
        spry_vector_free(u);
    }
}

/* From u = 0, where there is nothing to be relative to; and u that stays 0. */
static spry_status ramp(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)u;
    at(rate)[0] = *(double *)data * cos(t);
    return SPRY_STATUS_OK;
}

static void from_zero(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 2; k++) {
        double scale = k;
        spry_stepper *s = make(ctx, "method=bs3 tol=1e-6");
        spry_vector *u = vector_of(ctx, 1, (const double[]){0});
        spry_step_stats stats = SPRY_STEP_STATS_INIT;
        assert_ok(ctx, spry_stepper_set_function(s, ramp, &scale));
        assert_ok(ctx, spry_stepper_run(s, 0, 1, u, &stats));
        assert_true(fabs(at(u)[0] - scale * sin(1)) < 1e-5);
        assert_true(stats.steps < 200);
        /* an absolute tolerance alone */
        assert_ok(ctx, spry_stepper_set(s, "tol=0 atol=1e-6"));
        assert_ok(ctx, spry_vector_fill(u, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_stepper_run(s, 0, 1, u, &stats));
        assert_true(fabs(at(u)[0] - scale * sin(1)) < 1e-5);
        spry_stepper_free(s);
        spry_vector_free(u);
    }
}

/* --- Allen and Cahn: u' = D laplace u + k (u - u^3)
 * ------------------------------------------------
 */

static const double diffusion = 1e-2, reaction = 4;

static spry_status cubic(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    (void)t;
    for (int64_t i = 0; i < spry_vector_size(u); i++)
        at(rate)[i] = reaction * (at(u)[i] - at(u)[i] * at(u)[i] * at(u)[i]);
    return SPRY_STATUS_OK;
}

static void bumps(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    (void)data;
    *value = (spry_scalar){
        sin(2 * pi * place[0]) * sin(pi * place[1]) + 0.1 * sin(5 * pi * place[0]), 0};
}

static spry_vector *allen_cahn(spry_context *ctx, const char *options, spry_step_stats *stats)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *u = NULL;
    spry_stepper *s = make(ctx, options);
    char text[64];
    snprintf(text, sizeof text, "%g*laplace", diffusion);
    assert_ok(ctx, spry_grid_new(ctx, "128x128", &grid));
    assert_ok(ctx, spry_operator_stencil(grid, text, NULL, 0, NULL, NULL, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, bumps, NULL, &u));
    assert_ok(ctx, spry_stepper_set_operator(s, A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_add_function(s, cubic, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 1, u, stats));
    spry_stepper_free(s);
    spry_operator_free(A);
    spry_grid_free(grid);
    return u;
}

/* Explicit steps are held by stability at 2.5 / (8 D n^2), 1 / 520, whatever the tolerance; those
 * of ark4 follow the solution. Both reach the tolerance: errors add up over steps, and grow by the
 * reaction, exp(4) at most where u is near 0. */
static void stiff_reaction(void **state)
{
    spry_context *ctx = *state;
    spry_step_stats own = SPRY_STEP_STATS_INIT, explicit = SPRY_STEP_STATS_INIT;
    spry_vector *truth = allen_cahn(ctx, "method=dp5 tol=1e-9", NULL);
    spry_vector *u = allen_cahn(ctx, "method=ark4 tol=1e-5", &own);
    spry_vector *v = allen_cahn(ctx, "method=bs3 tol=1e-5", &explicit);
    double norm, error, other;
    assert_ok(ctx, spry_vector_norm(truth, &norm));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, truth, u));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, truth, v));
    assert_ok(ctx, spry_vector_norm(u, &error));
    assert_ok(ctx, spry_vector_norm(v, &other));
    if (error > exp(4) * 1e-5 * norm || other > exp(4) * 1e-5 * norm)
        fail_msg("errors %.2e and %.2e", error / norm, other / norm);
    print_message("ark4: %d steps, %d rejected, %d set-ups, %d iterations; bs3: %d, %d\n",
                  (int)own.steps, (int)own.rejected, (int)own.setups, (int)own.iterations,
                  (int)explicit.steps, (int)explicit.rejected);
    if (own.steps * 8 > explicit.steps)
        fail_msg("%d steps of ark4, %d of bs3", (int)own.steps, (int)explicit.steps);
    assert_true(own.setups <= own.steps + own.rejected && own.solves > 0);
    spry_vector_free(truth);
    spry_vector_free(u);
    spry_vector_free(v);
}

/* The heat equation alone, with eigenvalues to -1e6 and a rough u: errors stay within a hundred
 * tolerances of the exact decay (the differences' own, from a run of small steps of an A-stable
 * method that damps), and rough parts are gone. */
static void ends_of_stiff_modes(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    enum { N = 256 };
    double numbers[N - 1], pi = acos(-1);
    assert_ok(ctx, spry_grid_new(ctx, "256", &grid));
    assert_ok(ctx, spry_operator_stencil(grid, "laplace", NULL, 0, NULL, NULL, &A));
    for (int i = 1; i < N; i++)
        numbers[i - 1] = sin(pi * i / N) + (i % 2 ? 0.5 : -0.5);
    for (int k = 0; k < 2; k++) {
        spry_stepper *s = make(ctx, k ? "method=ark4 tol=1e-6" : "method=ark3 tol=1e-6");
        spry_vector *u = vector_of(ctx, N - 1, numbers);
        spry_step_stats stats = SPRY_STEP_STATS_INIT;
        assert_ok(ctx, spry_stepper_set_operator(s, A, NULL, NULL, NULL));
        assert_ok(ctx, spry_stepper_run(s, 0, 1, u, &stats));
        /* each mode of the start decays with its own eigenvalue; only the first is left at t = 1 */
        const double wave = sin(pi / (2 * N)), lambda = -4.0 * N * N * wave * wave;
        double first = 0, error = 0;
        for (int i = 1; i < N; i++)
            first += 2.0 / N * numbers[i - 1] * sin(pi * i / N);
        for (int i = 1; i < N; i++)
            error = fmax(error, fabs(at(u)[i - 1] - first * exp(lambda) * sin(pi * i / N)));
        if (!(error < 1e-4 * first * exp(lambda)) || stats.steps > 1000)
            fail_msg("%d steps, error %.2e of %.2e", (int)stats.steps, error, first * exp(lambda));
        spry_stepper_free(s);
        spry_vector_free(u);
    }
    spry_operator_free(A);
    spry_grid_free(grid);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

/* u' = u^2 is infinite at t = 1. */
static spry_status squared(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    (void)t;
    at(rate)[0] = at(u)[0] * at(u)[0];
    return SPRY_STATUS_OK;
}

static bool until_third(void *data, int64_t step, double t, const spry_vector *u)
{
    (void)data;
    (void)t;
    (void)u;
    return step < 3;
}

static void ends(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, "method=dp5 tol=1e-6");
    spry_vector *u = vector_of(ctx, 1, (const double[]){1});
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    assert_ok(ctx, spry_stepper_set_function(s, squared, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 0, 2, u, &stats));
    support_message_has(ctx, "tol and atol allow");
    assert_true(fabs(stats.t - 1) < 1e-3 && stats.rejected > 0);
    assert_ok(ctx, spry_vector_fill(u, (spry_scalar){1, 0}));
    spry_stepper_set_watch(s, until_third, NULL);
    assert_ok(ctx, spry_stepper_run(s, 0, 0.5, u, &stats));
    assert_true(stats.stopped && stats.steps == 3 && stats.t < 0.5);
    assert_ok(ctx, spry_stepper_run(s, 0.5, 0.5, u, &stats));
    assert_int_equal(stats.steps, 0);
    spry_stepper_free(s);
    spry_vector_free(u);
}

static spry_status not_finite(void *data, double t, const spry_vector *u, spry_vector *rate)
{
    (void)data;
    (void)t;
    (void)u;
    return spry_vector_fill(rate, (spry_scalar){NAN, 0});
}

/* A span that is itself as short as rounding ends as well. */
static void shortest_spans(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, "method=dp5 tol=1e-6");
    spry_vector *u = vector_of(ctx, 2, (const double[]){1, 1});
    assert_ok(ctx, spry_stepper_set_function(s, not_finite, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_stepper_run(s, 1, nextafter(1, 2), u, NULL));
    support_message_has(ctx, "u is no longer smooth, or not finite");
    spry_stepper_free(s);
    spry_vector_free(u);
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    spry_stepper *s = make(ctx, "method=rk4 tol=1e-6");
    spry_vector *u = vector_of(ctx, 2, (const double[]){1, 1});
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, coupled);
    spry_operator *a = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &a));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_add_function(s, coupled_term, NULL));
    support_message_has(ctx, "no operator to add F to");
    assert_ok(ctx, spry_stepper_set_operator(s, a, NULL, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "no estimate of its error");
    assert_ok(ctx, spry_stepper_set(s, "method=crank-nicolson tol=0 dt=0.1"));
    assert_ok(ctx, spry_stepper_add_function(s, coupled_term, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "no explicit part");
    assert_ok(ctx, spry_stepper_add_function(s, NULL, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 1, u, NULL));
    assert_ok(ctx, spry_stepper_set(s, "method=ark3"));
    assert_ok(ctx, spry_stepper_set_function(s, coupled_term, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_run(s, 0, 1, u, NULL));
    support_message_has(ctx, "is implicit");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_stepper_set(s, "tol=-1"));
    spry_stepper_free(s);
    spry_operator_free(a);
    spry_matrix_free(A);
    spry_vector_free(u);
}

static spry_status run_pair(spry_context *ctx, void *data)
{
    spry_stepper *s = NULL;
    spry_vector *u = NULL;
    spry_status status = spry_stepper_new(ctx, "method=ark3 tol=1e-2", &s);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(s, data, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_add_function(s, coupled_term, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, 2, NULL, SPRY_OWN_COPY, &u);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(u, (spry_scalar){1, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_run(s, 0, 0.5, u, NULL);
    spry_stepper_free(s);
    spry_vector_free(u);
    return status;
}

static void torture(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, coupled);
    spry_operator *a = NULL;
    assert_ok(*state, spry_operator_from_matrix(A, NULL, NULL, &a));
    support_torture(*state, run_pair, a);
    spry_operator_free(a);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(proportional, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(rejected, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(from_zero, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(stiff_reaction, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(ends_of_stiff_modes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(ends, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(shortest_spans, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_input, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
