/*
 * Stationary methods and Chebyshev's against their theory: D. M. Young, Iterative Solution of Large
 * Linear Systems (1971). For the second difference on a grid of m x m with h = 1 / (m + 1) Jacobi's
 * iteration matrix has the spectral radius mu = cos(pi h), Gauss-Seidel's mu^2, and that of SOR at
 * its best omega is omega - 1, in the natural order and in that of two colours alike.
 */
#include "support/generated.h"
#include "support/problems.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The residuals of the iterations; to be freed. */
static double *course(problem *p, const char *method, int iterations)
{
    char options[160];
    spry_result result = SPRY_RESULT_INIT;
    snprintf(options, sizeof options, "method=%s tol=0 stall=0 max-iter=%d", method, iterations);
    problem_solve(p, options, &result);
    problem_check(p, &result, options);
    assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
    double *history = malloc((size_t)(iterations + 1) * sizeof *history);
    assert_non_null(history);
    memcpy(history, result.history, (size_t)(iterations + 1) * sizeof *history);
    spry_result_clear(p->ctx, &result);
    return history;
}

/* The mean factor of the residual over the second half of the iterations. */
static double rate(problem *p, const char *method, int iterations)
{
    double *history = course(p, method, iterations);
    const int half = iterations / 2;
    const double factor = pow(history[iterations] / history[half], 1.0 / (iterations - half));
    free(history);
    return factor;
}

static void rate_is(problem *p, const char *method, int iterations, double low, double high)
{
    const double found = rate(p, method, iterations);
    if (!(found >= low && found <= high))
        fail_msg("%s: the residual falls by %.6f a step, %.6f to %.6f expected", method, found, low,
                 high);
}

/*
 * m = 15. The next eigenvalue is smaller by 1.5 percent (of Jacobi's; of Gauss-Seidel's by 3):
 * after 150 steps it weighs a tenth, and a mean over 150 more is off by 1e-3 at most. At the best
 * omega the eigenvalue is defective: the residual goes like k (omega - 1)^k, which gives a factor
 * of up to 2^(2/60) over steps 30 to 60.
 */
static void rates_on_the_grid(void **state)
{
    const double pi = acos(-1), h = 1.0 / 16, mu = cos(pi * h);
    const double omega = 2 / (1 + sin(pi * h));
    static const char *const orders[] = {"natural", "multicolour"};
    for (int t = 1; t < 4; t += 2) {
        problem p;
        char text[96];
        problem_from_matrix(*state, generated_as(*state, support_types[t], "poisson2d", "size=15"),
                            &p);
        rate_is(&p, "jacobi", 300, mu * (1 - 1e-3), mu * (1 + 1e-3));
        rate_is(&p, "jacobi:omega=0.7", 300, (0.3 + 0.7 * mu) * (1 - 1e-3),
                (0.3 + 0.7 * mu) * (1 + 1e-3));
        for (int k = 0; k < 2; k++) {
            snprintf(text, sizeof text, "gs:order=%s", orders[k]);
            rate_is(&p, text, 300, mu * mu * (1 - 1e-3), mu * mu * (1 + 1e-3));
            snprintf(text, sizeof text, "sor:omega=%.15g,order=%s", omega, orders[k]);
            rate_is(&p, text, 60, omega - 1, (omega - 1) * pow(2, 2.0 / 60) * 1.01);
        }
        /* with two colours the sweep back begins where the one forth ended, and does nothing new */
        rate_is(&p, "ssor:omega=1", 300, mu * mu * (1 - 1e-3), mu * mu * (1 + 1e-3));
        problem_free(&p);
    }
}

/* Normal matrices: |r| after k steps is at most max |polynomial| over the spectrum, eigenvalues 1
 * .. 100. Rounding adds less than 1e-12 at residuals above 1e-8. */
static void bounds_on_the_spectrum(void **state)
{
    problem p;
    problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_Z, 40, &p);
    double *richardson = course(&p, "richardson:omega=0.0198019801980198 precon=none", 200);
    double *chebyshev = course(&p, "chebyshev:low=1,high=100 precon=none", 90);
    for (int k = 0; k <= 200; k++)
        assert_true(richardson[k] <= pow(99.0 / 101, k) + 1e-12);
    const double q = 9.0 / 11;
    for (int k = 0; k <= 90; k++) {
        const double bound = 2 * pow(q, k) / (1 + pow(q, 2 * k));
        assert_true(chebyshev[k] <= bound + 1e-12);
        assert_true(chebyshev[k] >= bound / 100); /* and hardly ever much better */
    }
    free(richardson);
    free(chebyshev);
    problem_free(&p);
}

/* Without bounds they are estimated: low at half the true one costs sqrt(2) times the steps, high
 * at a tenth more another 5 percent, Gershgorin's bound of the Lanczos matrix at most twice the
 * largest eigenvalue sqrt(2) again. */
static void estimated_bounds_are_good(void **state)
{
    static const char *const precons[] = {"none", "jacobi"};
    for (int k = 0; k < 2; k++) {
        problem p;
        spry_result exact = SPRY_RESULT_INIT, estimated = SPRY_RESULT_INIT;
        char text[128];
        problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 100, &p);
        const double cosine = 4 * cos(acos(-1) / 11), by = k == 0 ? 1 : 4.5;
        snprintf(text, sizeof text, "method=chebyshev:low=%.15g,high=%.15g precon=%s tol=1e-10",
                 (4.5 - cosine) / by, (4.5 + cosine) / by, precons[k]);
        problem_solve(&p, text, &exact);
        problem_check_converged(&p, &exact, 1e-10, text);
        snprintf(text, sizeof text, "method=chebyshev precon=%s tol=1e-10", precons[k]);
        problem_solve(&p, text, &estimated);
        problem_check_converged(&p, &estimated, 1e-10, text);
        assert_true((double)estimated.iterations <= 2.1 * (double)exact.iterations);
        spry_result_clear(p.ctx, &exact);
        spry_result_clear(p.ctx, &estimated);
        problem_free(&p);
    }
}

/*
 * Ones on the diagonal and 0.8 off it: eigenvalues 0.2, 0.2, 2.6. Jacobi's iteration matrix has
 * 0.2, 0.2, -1.6 and diverges; damped by less than 2 / 2.6 it converges, and Gauss-Seidel does for
 * every definite matrix.
 */
static void jacobi_diverges_where_theory_says(void **state)
{
    const double rows[] = {1, 0.8, 0.8, 0.8, 1, 0.8, 0.8, 0.8, 1};
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    problem_from_matrix(*state, support_from_rows(*state, SPRY_TYPE_D, 3, 3, rows), &p);
    const char *diverging = "method=jacobi max-iter=1000 divergence=1e6";
    problem_solve(&p, diverging, &result);
    problem_check(&p, &result, diverging);
    assert_int_equal(result.reason, SPRY_REASON_DIVERGED);
    assert_non_null(strstr(result.detail, "the residual grew beyond the divergence limit"));
    /* 1.6^k of the part of b in the direction of ones, which is between a tenth and all of it */
    assert_in_range(result.iterations, 29, 35);
    spry_result_clear(p.ctx, &result);
    rate_is(&p, "jacobi", 20, 1.6 * (1 - 1e-6), 1.6 * (1 + 1e-6));
    static const char *const converging[] = {"method=jacobi:omega=0.7", "method=gs", "method=sor",
                                             "method=ssor", "method=richardson:omega=0.7"};
    for (int m = 0; m < 5; m++) {
        problem_solve(&p, converging[m], &result);
        problem_check_converged(&p, &result, 1e-8, converging[m]);
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rates_on_the_grid),
        TEST(bounds_on_the_spectrum),
        TEST(estimated_bounds_are_good),
        TEST(jacobi_diverges_where_theory_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
