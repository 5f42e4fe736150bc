/*
 * Where methods end early, as the literature has it: orthogonal vectors they divide by, Krylov
 * spaces that are exhausted, stagnation, systems without a solution. Every end has a reason, a text
 * and an x that is no worse than the first guess.
 */
#include "support/numeric.h"
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CYCLE = 10 };

/* Small systems, rows written out; b real unless `turned` gives the imaginary parts. */
typedef struct trap {
    const char *name;
    int n;
    double rows[CYCLE * CYCLE], b[CYCLE], turned[CYCLE];
} trap;

static const trap traps[] = {
    {"skew", 2, {0, 1, -1, 0}, {1, 0}, {0}},
    {"skew and 1", 3, {0, 1, 0, -1, 0, 0, 0, 0, 1}, {1, 1, 1}, {0}},
    {"plus and minus", 2, {1, 0, 0, -1}, {1, 1}, {0}},
    {"swap", 2, {0, 1, 1, 0}, {1, 0}, {0}},
    {"swap, solved at once", 2, {0, 1, 1, 0}, {1, 1}, {0}},
    {"negative", 3, {-2, 1, 0, 1, -2, 1, 0, 1, -2}, {1, 0, 0}, {0}},
    {"zero", 3, {0}, {1, 1, 1}, {0}},
    {"inconsistent", 3, {1, 0, 0, 0, 2, 0, 0, 0, 0}, {1, 1, 1}, {0}},
    {"rank 1", 3, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0}, {0}},
    {"nilpotent", 3, {0, 1, 0, 0, 0, 1, 0, 0, 0}, {1, 1, 1}, {0}},
    {"nilpotent, at its end", 3, {0, 1, 0, 0, 0, 1, 0, 0, 0}, {1, 0, 0}, {0}},
    {"defective", 2, {1, 1, 0, 1}, {1, 1}, {0}},
    {"isotropic", 2, {1, 0, 0, 2}, {1, 0}, {0, 1}}, /* b^T b = 0 in complex types */
    {"wide range", 2, {1e30, 0, 0, 1e-30}, {1, 1}, {0}},
};
enum { TRAPS = sizeof traps / sizeof *traps };

/* The shift x_i = b_(i+1): Krylov vectors are unit vectors until the last. */
static trap cyclic_shift(void)
{
    trap t = {.name = "cyclic shift", .n = CYCLE, .b = {1}};
    for (int i = 0; i < CYCLE; i++)
        t.rows[i * CYCLE + (i + CYCLE - 1) % CYCLE] = 1;
    return t;
}

static void spring(spry_context *ctx, const trap *t, spry_type type, problem *p)
{
    problem_from_matrix(ctx, support_from_rows(ctx, type, t->n, t->n, t->rows), p);
    for (int i = 0; i < t->n; i++)
        value_set(type, spry_vector_data(p->b), i, (spry_scalar){t->b[i], t->turned[i]});
}

static const trap *find_trap(const char *name)
{
    for (int k = 0; k < TRAPS; k++)
        if (strcmp(traps[k].name, name) == 0)
            return &traps[k];
    fail_msg("no trap %s", name);
    return NULL;
}

/* Runs a method into a trap; false where the method cannot be set up (a zero diagonal). */
static bool fall(problem *p, const char *options, spry_result *result)
{
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    const spry_status status = spry_quick_solve(p->ctx, p->A, p->b, p->x, options, result);
    if (status != SPRY_STATUS_OK) {
        assert_status(p->ctx, SPRY_STATUS_BAD_INPUT, status);
        assert_true(spry_message(p->ctx)[0] != '\0');
        return false;
    }
    problem_check(p, result, options);
    return true;
}

/* No trap makes any method hang, lie, or spoil x. */
static void every_method_ends_well(void **state)
{
    spry_entry info = SPRY_ENTRY_INIT;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k <= TRAPS; k++) {
            const trap shift = cyclic_shift();
            problem p;
            spring(*state, k < TRAPS ? &traps[k] : &shift, support_types[t], &p);
            for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++) {
                spry_result result = SPRY_RESULT_INIT;
                char options[128];
                snprintf(options, sizeof options,
                         "method=%s precon=%s tol=%g max-iter=300 stall=50", info.name,
                         strstr(info.text, "\nprecon ") ? "auto" : "none",
                         problem_tolerance(support_types[t]));
                fall(&p, options, &result);
                spry_result_clear(p.ctx, &result);
            }
            problem_free(&p);
        }
}

/* How certain ends must be; an empty text: converged. */
static void ends_from_the_literature(void **state)
{
    static const struct {
        const char *method, *trap, *detail;
    } ends[] = {
        {"cg", "plus and minus",
         "(p, A p) = 0 is not positive: the matrix is not positive definite"},
        {"cg", "negative", "(p, A p) = -2 is not positive"},
        {"cg-cg", "plus and minus", "(p, A p) = 0 is not positive"},
        {"pipecg", "plus and minus", "(p, A p) = 0 is not positive"},
        {"fcg", "plus and minus", "(p, A p) = 0 is not positive"},
        {"cr", "plus and minus", "(z, A z) = 0 is 0 up to rounding"},
        {"minres", "plus and minus", ""},
        {"symmlq", "plus and minus", ""},
        {"minres", "swap", ""},
        {"qmrsym", "swap", ""},
        {"bicg", "skew", "(pt, A p) = 0 is lost in rounding errors"},
        {"cgs", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"bicgstab", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"pipebicgstab", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"gpbicg", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"qmr", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"tfqmr", "skew", "(r, A r) = 0 is lost in rounding errors"},
        {"gcr", "skew", "A r lies in the space of earlier directions: (r, A r) = 0 was met"},
        {"bicgstabl", "skew", ""}, /* what it was made for */
        {"gmres", "skew", ""},
        {"idr", "skew", ""},
        {"lsqr", "skew", ""},
        {"gmres", "cyclic shift", ""},
        {"bicgstabl", "cyclic shift", "neither the Lanczos process nor the polynomial"},
        {"gmres", "zero", "the matrix is singular on the Krylov space"},
        {"fgmres", "zero", "the matrix is singular on the Krylov space"},
        {"lgmres", "zero", "the matrix is singular on the Krylov space"},
        {"idr", "zero", "orthogonal to the shadow space"},
        {"minres", "inconsistent", "b is not in its range: x has the least residual"},
        {"cocg", "skew", "p^T A p = 0 is 0 up to rounding"},
    };
    const trap shift = cyclic_shift();
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        for (int t = 1; t < 4; t += 2) {
            const bool is_shift = strcmp(ends[k].trap, shift.name) == 0;
            problem p;
            spry_result result = SPRY_RESULT_INIT;
            char options[96];
            spring(*state, is_shift ? &shift : find_trap(ends[k].trap), support_types[t], &p);
            snprintf(options, sizeof options, "method=%s precon=none", ends[k].method);
            assert_true(fall(&p, options, &result));
            const bool good = ends[k].detail[0];
            const spry_reason reason = good ? SPRY_REASON_BREAKDOWN : SPRY_REASON_CONVERGED;
            if (result.reason != reason || !strstr(result.detail, ends[k].detail))
                fail_msg("%s on %s: %s, %s", options, ends[k].trap, spry_reason_name(result.reason),
                         result.detail);
            spry_result_clear(p.ctx, &result);
            problem_free(&p);
        }
}

/* r^T r = 0 for a residual that is not 0. */
static void isotropic_residuals_stop_complex_symmetric_methods(void **state)
{
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    spring(*state, find_trap("isotropic"), SPRY_TYPE_Z, &p);
    assert_true(fall(&p, "method=cocg precon=none", &result));
    assert_int_equal(result.reason, SPRY_REASON_BREAKDOWN);
    assert_non_null(strstr(result.detail, "the residual is orthogonal to its conjugate"));
    spry_result_clear(p.ctx, &result);
    assert_true(fall(&p, "method=qmrsym precon=none", &result));
    assert_int_equal(result.reason, SPRY_REASON_BREAKDOWN);
    assert_non_null(strstr(result.detail, "the Lanczos process broke down"));
    spry_result_clear(p.ctx, &result);
    assert_true(fall(&p, "method=cocr precon=none", &result)); /* z^T A z = -1 */
    assert_true(result.converged);
    spry_result_clear(p.ctx, &result);
    problem_free(&p);
}

/*
 * r^T A r = 0 after a step that has brought something, A = diag(1, 2, 3): with m_k = b^T A^k b that
 * is m_1 m_3 = m_2^2, here 24 * 54 = 36^2, and r = (1, -1, -i). Another start goes on from there, a
 * step of minimal residuals further: the same one would meet the same product.
 */
static void products_that_are_zero_on_the_way(void **state)
{
    static const trap one = {"on the way", 3, {1, 0, 0, 0, 2, 0, 0, 0, 3}, {3, 3, 0}, {0, 0, 1}};
    for (int t = 2; t < 4; t++) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        char options[64];
        snprintf(options, sizeof options, "method=cocr precon=none tol=%g",
                 problem_tolerance(support_types[t]));
        spring(*state, &one, support_types[t], &p);
        assert_true(fall(&p, options, &result));
        assert_true(result.converged);
        assert_non_null(strstr(result.warnings, "z^T A z"));
        assert_non_null(strstr(result.warnings, "restarted from the best x"));
        spry_result_clear(p.ctx, &result);
        problem_free(&p);
    }
}

/*
 * Where the residual is in the null space of A but for rounding, no step from there makes sense: x
 * stays what it was, and the solve ends. Rank 1, a projection, and a chain without ends, with a b
 * that is in the range of none. The least x has |x| <= |b| / sigma, sigma the least singular value
 * that is not 0: 0.3 at least; what a step of rounding makes is 1e11 of that.
 */
static void steps_of_rounding_are_not_taken(void **state)
{
    enum { N = 4 };
    static const double v[N] = {0.7, -1.1, 0.4, 0.9}, weights[N - 1] = {0.73, 1.21, 0.57};
    static const char *const methods[] = {"minres", "gmres", "fgmres", "qmrsym", "symmlq"};
    for (int which = 0; which < 6; which++) {
        const spry_type type = which < 3 ? SPRY_TYPE_D : SPRY_TYPE_Z;
        double rows[N * N] = {0}, square = 0;
        problem p;
        for (int i = 0; i < N; i++)
            square += v[i] * v[i];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N && which % 3 < 2; j++)
                rows[i * N + j] = which % 3 == 0 ? v[i] * v[j] : (i == j) - v[i] * v[j] / square;
        for (int i = 0; i + 1 < N && which % 3 == 2; i++) {
            rows[i * N + i] += weights[i];
            rows[(i + 1) * N + i + 1] += weights[i];
            rows[i * N + i + 1] = rows[(i + 1) * N + i] = -weights[i];
        }
        problem_from_matrix(*state, support_from_rows(*state, type, N, N, rows), &p);
        for (int i = 0; i < N; i++)
            value_set(type, spry_vector_data(p.b), i, (spry_scalar){1.3 - 0.37 * i * i, 0});
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            spry_result result = SPRY_RESULT_INIT;
            char options[96];
            double norm, b_norm;
            snprintf(options, sizeof options, "method=%s precon=none tol=1e-10 max-iter=2000",
                     methods[m]);
            assert_true(fall(&p, options, &result));
            assert_ok(p.ctx, spry_vector_norm(p.x, &norm));
            assert_ok(p.ctx, spry_vector_norm(p.b, &b_norm));
            if (norm > 1e6 * b_norm)
                fail_msg("%s, case %d: |x| = %g after %d iterations, %s", options, which, norm,
                         (int)result.iterations, spry_reason_name(result.reason));
            spry_result_clear(p.ctx, &result);
        }
        problem_free(&p);
    }
}

/* N. M. Nachtigal, S. C. Reddy, L. N. Trefethen, SIAM J. Matrix Anal. Appl. 13 (1992): nothing
 * until the last step, everything in it; a restart before that changes nothing for ever. */
static void gmres_stagnates_on_the_cyclic_shift(void **state)
{
    static const char *const full[] = {"method=gmres precon=none", "method=fgmres precon=none",
                                       "method=gmres:orthogonalization=mgs precon=none",
                                       "method=lgmres precon=none"};
    static const char *const cut[] = {"method=gmres:restart=2", "method=fgmres:restart=9",
                                      "method=gmres:restart=5,orthogonalization=mgs",
                                      "method=lgmres:restart=2,augment=1",
                                      "method=gmres:restart=1"};
    const trap shift = cyclic_shift();
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    spring(*state, &shift, SPRY_TYPE_D, &p);
    for (int m = 0; m < 4; m++) {
        assert_true(fall(&p, full[m], &result));
        assert_true(result.converged);
        assert_int_equal(result.iterations, CYCLE);
        for (int k = 0; k < CYCLE; k++)
            assert_true(result.history[k] == 1);
        assert_true(result.history[CYCLE] == 0);
        spry_result_clear(p.ctx, &result);
    }
    for (int m = 0; m < 5; m++) {
        char options[128];
        snprintf(options, sizeof options, "%s precon=none stall=30 max-iter=100000", cut[m]);
        assert_true(fall(&p, options, &result));
        if (result.reason != SPRY_REASON_STAGNATED && result.reason != SPRY_REASON_BREAKDOWN)
            fail_msg("%s: %s", options, spry_reason_name(result.reason));
        assert_true(result.iterations < 1000);
        assert_true(result.true_residual == 1);
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

/* Singular systems without a solution: minimal residuals still end at the least one, 1 / sqrt(3)
 * here, and least squares know that they have. */
static void inconsistent_systems_end_at_the_least_residual(void **state)
{
    static const char *const methods[] = {"minres", "gmres", "gcr", "lsqr", "lsmr", "cgls"};
    for (int t = 0; t < 4; t++) {
        problem p;
        spring(*state, find_trap("inconsistent"), support_types[t], &p);
        for (int m = 0; m < 6; m++) {
            spry_result result = SPRY_RESULT_INIT;
            char options[64];
            snprintf(options, sizeof options, "method=%s precon=none tol=1e-5", methods[m]);
            assert_true(fall(&p, options, &result));
            /* three roundings of numbers of size 1, and a few in x */
            assert_true(fabs(result.true_residual - sqrt(1.0 / 3)) <=
                        16 * numeric_unit(support_types[t]));
            assert_true(result.converged == (m >= 3));
            if (m >= 3)
                assert_non_null(strstr(result.detail, "to the least-squares solution"));
            spry_result_clear(p.ctx, &result);
        }
        problem_free(&p);
    }
}

/*
 * Skew-symmetric systems: the stabilising step of BiCGStab has omega = (t, s) / (t, t) = 0, that of
 * BiCGStab(2) a polynomial of degree 2 with complex roots. With 1 on the diagonal of one row the
 * first step of both exists.
 */
static void stabilising_steps_vanish_on_skew_parts(void **state)
{
    enum { N = 20 };
    double rows[N * N] = {0};
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    for (int i = 0; i + 1 < N; i++) {
        rows[i * N + i + 1] = 1;
        rows[(i + 1) * N + i] = -1;
    }
    rows[0] = 1;
    problem_from_matrix(*state, support_from_rows(*state, SPRY_TYPE_D, N, N, rows), &p);
    const char *two = "method=bicgstabl:l=2 precon=none max-iter=300 tol=1e-6";
    assert_true(fall(&p, two, &result));
    assert_true(result.converged);
    assert_true(result.iterations <= N);
    spry_result_clear(p.ctx, &result);
    assert_true(fall(&p, "method=bicgstab precon=none max-iter=300 stall=50", &result));
    assert_true(result.reason != SPRY_REASON_NONFINITE);
    spry_result_clear(p.ctx, &result);
    problem_free(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_method_ends_well),
        TEST(ends_from_the_literature),
        TEST(isotropic_residuals_stop_complex_symmetric_methods),
        TEST(products_that_are_zero_on_the_way),
        TEST(steps_of_rounding_are_not_taken),
        TEST(gmres_stagnates_on_the_cyclic_shift),
        TEST(inconsistent_systems_end_at_the_least_residual),
        TEST(stabilising_steps_vanish_on_skew_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
