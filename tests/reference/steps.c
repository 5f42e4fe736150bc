/* Methods that make several steps between sums: s = 1 is the standard method, bases that lose their
 * digits do no harm, and Newton bases are what they should be. */
#include "program/program.h"
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 4, VALUES = STEPS };

/* Inner products of the basis that steps make of the vector of ones and diag(values), the number of
 * which is one more than that of the steps. */
static void make_gram(const spry_scalar *values, int n, const spry_scalar *B, int steps,
                      spry_scalar *G)
{
    spry_scalar v[STEPS + 1][VALUES + 1];
    for (int i = 0; i < n; i++)
        v[0][i] = (spry_scalar){1, 0};
    for (int j = 0; j < steps; j++)
        for (int i = 0; i < n; i++) {
            const spry_scalar *b = B + 3 * j, before = j > 0 ? v[j - 1][i] : (spry_scalar){0, 0};
            const spry_scalar terms[3] = {
                scalar_multiply(b[0], scalar_multiply(values[i], v[j][i])),
                scalar_multiply(b[1], v[j][i]), scalar_multiply(b[2], before)};
            v[j + 1][i] = (spry_scalar){terms[0].re + terms[1].re + terms[2].re,
                                        terms[0].im + terms[1].im + terms[2].im};
        }
    for (int j = 0; j <= steps; j++)
        for (int i = 0; i <= steps; i++) {
            spry_scalar sum = {0, 0};
            for (int k = 0; k < n; k++) {
                const spry_scalar left = {v[i][k].re, -v[i][k].im};
                const spry_scalar p = scalar_multiply(left, v[j][k]);
                sum = (spry_scalar){sum.re + p.re, sum.im + p.im};
            }
            G[i * (steps + 1) + j] = sum;
        }
}

/* The polynomial of the last vector, and of the one before it, at a number; the largest of all. */
static double last_polynomial(const spry_scalar *B, int steps, spry_scalar at, double *largest)
{
    spry_scalar now = {1, 0}, before = {0, 0};
    *largest = 0;
    for (int j = 0; j < steps; j++) {
        const spry_scalar *b = B + 3 * j;
        const spry_scalar terms[3] = {scalar_multiply(b[0], scalar_multiply(at, now)),
                                      scalar_multiply(b[1], now), scalar_multiply(b[2], before)};
        before = now;
        now = (spry_scalar){terms[0].re + terms[1].re + terms[2].re,
                            terms[0].im + terms[1].im + terms[2].im};
        *largest = fmax(*largest, hypot(now.re, now.im));
    }
    return hypot(now.re, now.im);
}

/* A normal matrix with as many eigenvalues as there are steps: these are the Ritz values, so that
 * the polynomial of the last step has them as its zeros. The condition of the monomial basis of
 * these is below 1e4, that of the eigenvalues 1. */
static void bases_have_ritz_values_as_shifts(void **state)
{
    (void)state;
    static const struct {
        spry_scalar values[VALUES];
        bool real;
    } cases[] = {{{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, true},
                 {{{1, 0}, {-2, 0}, {0.5, 0}, {3, 0}}, false},
                 {{{1, 1}, {1, -1}, {3, 0.5}, {3, -0.5}}, true},
                 {{{1, 1}, {0, 2}, {-1, 0}, {2, -1}}, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_scalar B[3 * STEPS] = {{0, 0}}, G[(STEPS + 1) * (STEPS + 1)];
        for (int j = 0; j < STEPS; j++)
            B[3 * j] = (spry_scalar){0.5, 0};
        make_gram(cases[k].values, VALUES, B, STEPS, G);
        const program_array gram = {STEPS + 1, STEPS + 1, G}, steps = {STEPS, 3, B};
        program_basis(SMALL_NEWTON, &gram, &steps, cases[k].real);
        for (int i = 0; i < VALUES; i++) {
            double largest;
            const double last = last_polynomial(B, STEPS, cases[k].values[i], &largest);
            if (last > 1e-8 || largest > 1 + 1e-8)
                fail_msg("case %d: %g at an eigenvalue, %g on the way", (int)k, last, largest);
        }
        for (int j = 0; cases[k].real && j < 3 * STEPS; j++)
            assert_true(B[j].im == 0);
        for (int j = 0; j < STEPS; j++)
            assert_true(B[3 * j].re > 0 && B[3 * j].im == 0);
    }
}

/* Chebyshev polynomials of an ellipse a tenth wider than the Ritz values, which are these: along
 * the real numbers T_j(x / 1.1) with x from -1 to 1, or that of points on both axes. */
static void chebyshev_bases_are_bounded(void **state)
{
    (void)state;
    static const struct {
        spry_scalar values[VALUES];
        bool real;
        double first[3], second[3];
    } cases[] = {
        {{{1, 0}, {2, 0}, {3, 0}, {5, 0}}, true, {1 / 2.2, -3 / 2.2, 0}, {2 / 2.2, -6 / 2.2, -1}},
        {{{1, 1}, {1, -1}, {3, 0.5}, {3, -0.5}},
         true,
         {1 / 2.2, -2 / 2.2, 0},
         {2 / 2.2, -4 / 2.2, 0}},
        {{{0, 2}, {0, -2}, {1, 0}, {-1, 0}}, false, {1 / 3.3, 0, 0}, {2 / 3.3, 0, 3.0 / 9}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_scalar B[3 * STEPS] = {{0, 0}}, G[(STEPS + 1) * (STEPS + 1)];
        for (int j = 0; j < STEPS; j++)
            B[3 * j] = (spry_scalar){0.5, 0};
        make_gram(cases[k].values, VALUES, B, STEPS, G);
        const program_array gram = {STEPS + 1, STEPS + 1, G}, steps = {STEPS, 3, B};
        program_basis(SMALL_CHEBYSHEV, &gram, &steps, cases[k].real);
        for (int j = 0; j < 3; j++) { /* Ritz values are known to 1e-8, as those of Newton's are */
            assert_true(fabs(B[j].re - cases[k].first[j]) <= 1e-7);
            assert_true(fabs(B[3 + j].re - cases[k].second[j]) <= 1e-7);
            assert_true(fabs(B[j].im) <= 1e-7 && fabs(B[3 + j].im) <= 1e-7);
        }
    }
}

/* Every basis solves, and in the same number of steps as long as it has its digits. */
static void bases_are_alike(void **state)
{
    static const char *const methods[] = {"s-step-cg:s=3", "ca-gmres:s=3,restart=30",
                                          "s-step-bicgstab:s=2"};
    static const char *const bases[] = {"newton", "chebyshev", "monomial"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int t = 1; t < 4; t += 2) { /* d and z */
            int64_t iterations[3];
            for (int k = 0; k < 3; k++) {
                char options[160];
                problem p;
                spry_result result = SPRY_RESULT_INIT;
                problem_make(*state, PROBLEM_DOMINANT, support_types[t], 60, &p);
                snprintf(options, sizeof options, "method=%s,basis=%s precon=none tol=1e-8",
                         methods[m], bases[k]);
                problem_solve(&p, options, &result);
                problem_check_converged(&p, &result, 1e-8, options);
                iterations[k] = result.iterations;
                spry_result_clear(p.ctx, &result);
                problem_free(&p);
            }
            assert_in_range(iterations[1], iterations[0] - 1, iterations[0] + 1);
            assert_in_range(iterations[2], iterations[0] - 1, iterations[0] + 1);
        }
}

/* Gram matrices that say nothing leave the steps as they are. */
static void bases_stay_where_nothing_is_known(void **state)
{
    (void)state;
    static const double diagonals[] = {0, NAN, INFINITY, -1};
    for (size_t k = 0; k < sizeof diagonals / sizeof *diagonals; k++) {
        spry_scalar B[6] = {{2, 0}, {1, 0}, {0, 0}, {3, 0}, {0, 0}, {1, 0}}, kept[6];
        spry_scalar G[9] = {
            {diagonals[k], 0}, {1, 0}, {1, 0}, {0, 0}, {1, 0}, {1, 0}, {0, 0}, {0, 0},
            {diagonals[k], 0}};
        const program_array gram = {3, 3, G}, steps = {2, 3, B};
        memcpy(kept, B, sizeof kept);
        program_basis(SMALL_NEWTON, &gram, &steps, true);
        assert_memory_equal(B, kept, sizeof kept);
    }
}

/* Solves by a method and by one that it should be like; residuals of both, as far as both go. Each
 * method's own residual follows the exact one to its condition times a few hundred roundings while
 * it is large: 1e-7 of the first is as far as that is compared. `late`: those of the method come so
 * many iterations later. */
static void compare(problem *p, const char *method, const char *standard, int late)
{
    spry_result result[2] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT};
    for (int k = 0; k < 2; k++) {
        char options[160];
        snprintf(options, sizeof options, "method=%s precon=jacobi tol=1e-9 max-iter=200",
                 k == 0 ? method : standard);
        problem_solve(p, options, &result[k]);
        problem_check_converged(p, &result[k], 1e-9, options);
    }
    const int64_t count = result[0].history_size - late < result[1].history_size
                              ? result[0].history_size - late
                              : result[1].history_size;
    for (int64_t i = 0; i < count; i++) {
        const double one = result[0].history[i + late], other = result[1].history[i];
        if (other < 1e-7 * result[1].history[0])
            break;
        if (fabs(one - other) > 1e-3 * other)
            fail_msg("%s: residual %d is %g, by %s it is %g", method, (int)i, one, standard, other);
    }
    for (int k = 0; k < 2; k++)
        spry_result_clear(p->ctx, &result[k]);
}

static void one_step_is_the_standard_method(void **state)
{
    static const struct {
        const char *method, *standard;
        problem_kind kind;
        int late;
    } cases[] = {{"ca-gmres:s=1,restart=20", "gmres:restart=20", PROBLEM_CONVECTION, 0},
                 {"ca-gmres:s=4,restart=20", "gmres:restart=20", PROBLEM_CONVECTION, 0},
                 {"s-step-bicgstab:s=1", "bicgstab", PROBLEM_DOMINANT, 0},
                 {"s-step-bicgstab:s=3", "bicgstab", PROBLEM_DOMINANT, 0},
                 {"s-step-cg:s=1", "cg", PROBLEM_DOMINANT, 1},
                 {"ecg:t=1", "cg", PROBLEM_DOMINANT, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int t = 1; t < 4; t += 2) { /* double */
            problem p;
            problem_make(*state, cases[k].kind, support_types[t], 100, &p);
            compare(&p, cases[k].method, cases[k].standard, cases[k].late);
            problem_free(&p);
        }
}

/* s steps are s steps of conjugate gradients: as many iterations as s steps ask for, and one in
 * which the last s products are found to be too many. */
static void iterations_are_as_many_steps(void **state)
{
    problem p;
    int64_t standard = 0;
    problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_D, 60, &p);
    for (int s = 0; s <= 8; s += 2) {
        char options[160];
        spry_result result = SPRY_RESULT_INIT;
        snprintf(options, sizeof options,
                 s == 0 ? "method=cg precon=none tol=1e-8"
                        : "method=s-step-cg:s=%d precon=none tol=1e-8",
                 s);
        problem_solve(&p, options, &result);
        problem_check_converged(&p, &result, 1e-8, options);
        if (s == 0)
            standard = result.iterations;
        else if (result.iterations > standard / s + 3)
            fail_msg("%d iterations of %d steps, %d of one", (int)result.iterations, s,
                     (int)standard);
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

/* More parts, fewer iterations; and no part of a right-hand side need be there. */
static void parts_save_iterations(void **state)
{
    problem p;
    int64_t before = INT64_MAX;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 400, &p);
    for (int t = 1; t <= 16; t *= 4) {
        char options[160];
        spry_result result = SPRY_RESULT_INIT;
        snprintf(options, sizeof options, "method=ecg:t=%d precon=none tol=1e-9", t);
        problem_solve(&p, options, &result);
        problem_check_converged(&p, &result, 1e-9, options);
        assert_true(result.iterations < before);
        before = result.iterations;
        spry_result_clear(p.ctx, &result);
    }
    double *b = spry_vector_data(p.b);
    for (int64_t i = 0; i < spry_vector_size(p.b); i++)
        b[i] = i == 5;
    spry_result result = SPRY_RESULT_INIT;
    problem_solve(&p, "method=ecg:t=16 precon=none tol=1e-9", &result);
    assert_true(result.converged && result.true_residual <= 1e-9);
    spry_result_clear(p.ctx, &result);
    problem_free(&p);
}

/* So many steps that every basis loses its digits, in single precision at once. */
static void bases_without_digits_do_no_harm(void **state)
{
    static const char *const methods[] = {"ca-gmres:s=16,restart=40", "s-step-cg:s=16",
                                          "s-step-bicgstab:s=8"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int t = 0; t < 4; t++) {
            char options[160];
            problem p;
            spry_result result = SPRY_RESULT_INIT;
            const double tol = problem_tolerance(support_types[t]);
            problem_make(*state, PROBLEM_DEFINITE, support_types[t], 80, &p);
            snprintf(options, sizeof options, "method=%s precon=none tol=%g max-iter=3000",
                     methods[m], tol);
            problem_solve(&p, options, &result);
            problem_check_converged(&p, &result, tol, options);
            spry_result_clear(p.ctx, &result);
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bases_have_ritz_values_as_shifts),
        cmocka_unit_test(chebyshev_bases_are_bounded),
        cmocka_unit_test_setup_teardown(bases_are_alike, support_setup, support_teardown),
        cmocka_unit_test(bases_stay_where_nothing_is_known),
        cmocka_unit_test_setup_teardown(one_step_is_the_standard_method, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(iterations_are_as_many_steps, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(parts_save_iterations, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bases_without_digits_do_no_harm, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
