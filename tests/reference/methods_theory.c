/*
 * Krylov methods against what is proven about them: steps to the end, optimality over the Krylov
 * space, methods that are the same in exact arithmetic, bounds.
 *
 * Two methods that are the same differ by rounding errors that grow by the condition and, where the
 * Lanczos vectors lose their orthogonality, much faster. The first LIKE residuals of well
 * conditioned systems (condition at most 100) agree to 1e-8, a generous 1e8 roundings.
 */
#include "support/problems.h"

#include "matrix/matrix.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIKE = 10 };

/* The residuals of a solve that must go well or reach its max-iter, at least `need` of them; to be
 * freed. */
static double *course(problem *p, const char *options, int64_t need, int64_t *iterations)
{
    spry_result result = SPRY_RESULT_INIT;
    problem_solve(p, options, &result);
    problem_check(p, &result, options);
    if (!(result.converged || result.reason == SPRY_REASON_ITERATIONS) || result.iterations < need)
        fail_msg("%s: %s after %lld iterations: %s", options, spry_reason_name(result.reason),
                 (long long)result.iterations, result.detail);
    const size_t size = (size_t)result.history_size * sizeof *result.history;
    double *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, result.history, size);
    if (iterations)
        *iterations = result.iterations;
    spry_result_clear(p->ctx, &result);
    return copy;
}

static int64_t count_of(problem *p, const char *options)
{
    int64_t count;
    free(course(p, options, 0, &count));
    return count;
}

static void same_course(problem *p, const char *one, const char *other, int64_t steps, double bound)
{
    double *a = course(p, one, steps, NULL), *b = course(p, other, steps, NULL);
    for (int64_t k = 0; k <= steps; k++)
        if (!(fabs(a[k] - b[k]) <= bound * a[k]))
            fail_msg("%s against %s: residual %lld is %.10g against %.10g", one, other,
                     (long long)k, a[k], b[k]);
    free(a);
    free(b);
}

static void residuals_fall(const double *history, int64_t steps)
{
    for (int64_t k = 0; k < steps; k++) /* up to the rounding of the two */
        assert_true(history[k + 1] <= history[k] * (1 + 4 * DBL_EPSILON));
}

/*
 * k distinct eigenvalues: a polynomial of degree k is 0 at all of them, and k steps end it; one of
 * lower degree leaves far more than 1e-10. The rounding of A makes each eigenvalue a cluster some
 * 1e-15 wide, which costs no step at this tolerance.
 */
static void distinct_eigenvalues_are_steps(void **state)
{
    static const char *const methods[] = {"cg",     "cg-cg", "pipecg", "fcg",    "cr",  "minres",
                                          "symmlq", "bicg",  "qmr",    "qmrsym", "gcr", "gmres"};
    enum { N = 40 };
    for (int t = 1; t < 4; t += 2)
        for (int k = 1; k <= 8; k++) {
            spry_scalar values[N];
            problem p;
            for (int i = 0; i < N; i++)
                values[i] = (spry_scalar){1 + i % k, 0};
            problem_from_spectrum(*state, support_types[t], N, values, true, &p);
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                char options[96];
                if (t == 3 && strcmp(methods[m], "qmrsym") == 0) /* A is not symmetric then */
                    continue;
                snprintf(options, sizeof options, "method=%s precon=none tol=1e-10", methods[m]);
                const int64_t count = count_of(&p, options);
                if (count != k)
                    fail_msg("%s: %lld steps for %d eigenvalues", options, (long long)count, k);
            }
            problem_free(&p);
        }
}

/* --- the Krylov space, written out --------------------------------------------------------- */

enum { SMALL = 25 }; /* a grid of 5 x 5 */
typedef double complex number;

static number dot(const number *a, const number *b)
{
    number sum = 0;
    for (int i = 0; i < SMALL; i++)
        sum += conj(a[i]) * b[i];
    return sum;
}

static void multiply(const problem *p, const number *x, number *y)
{
    spry_scalar in[SMALL], out[SMALL];
    for (int i = 0; i < SMALL; i++)
        in[i] = (spry_scalar){creal(x[i]), cimag(x[i])};
    support_multiply(p->A, SPRY_TRANSPOSE_NO, in, out);
    for (int i = 0; i < SMALL; i++)
        y[i] = out[i].re + out[i].im * I;
}

/* Makes v orthogonal to the vectors before it, twice, and of length 1; false when nothing is left.
 */
static bool orthonormalise(number (*basis)[SMALL], int count, number *v)
{
    const double before = sqrt(creal(dot(v, v)));
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < count; j++) {
            const number h = dot(basis[j], v);
            for (int i = 0; i < SMALL; i++)
                v[i] -= h * basis[j][i];
        }
    const double length = sqrt(creal(dot(v, v)));
    for (int i = 0; i < SMALL; i++)
        v[i] /= length;
    return length > 1e-12 * before;
}

/* least[k]: the smallest |b - A x| / |b| of all x in the Krylov space of dimension k. */
static void optimum(const problem *p, double *least)
{
    number V[SMALL + 1][SMALL], Q[SMALL][SMALL], r[SMALL];
    double size = 0;
    const double *b = spry_vector_data_const(p->b);
    const bool pairs = spry_type_is_complex(p->type);
    for (int i = 0; i < SMALL; i++)
        V[0][i] = r[i] = pairs ? b[2 * i] + b[2 * i + 1] * I : b[i];
    size = sqrt(creal(dot(r, r)));
    least[0] = 1;
    bool more = orthonormalise(V, 0, V[0]);
    for (int k = 0; k < SMALL; k++) {
        least[k + 1] = 0;
        if (!more)
            continue;
        multiply(p, V[k], Q[k]);
        memcpy(V[k + 1], Q[k], sizeof V[k]);
        orthonormalise(Q, k, Q[k]);
        const number h = dot(Q[k], r);
        for (int i = 0; i < SMALL; i++)
            r[i] -= h * Q[k][i];
        least[k + 1] = sqrt(creal(dot(r, r))) / size;
        more = orthonormalise(V, k + 1, V[k + 1]);
    }
}

/*
 * The residuals of full GMRES, and of methods that are the same, are the least there can be, fall,
 * and n steps are enough. Bound: n^2 roundings times a condition of at most 20. Lanczos vectors
 * stay orthogonal until the first eigenvalue is found: minres is watched until the residual has
 * fallen to 1e-4.
 */
static void minimal_residuals_are_minimal(void **state)
{
    static const problem_kind kinds[] = {PROBLEM_CONVECTION, PROBLEM_INDEFINITE, PROBLEM_SYMMETRIC};
    static const char *const methods[] = {
        "gmres:restart=25",  "gmres:restart=25,orthogonalization=mgs",
        "fgmres:restart=25", "lgmres:restart=25",
        "gcr:restart=25",    "minres"};
    const double bound = SMALL * SMALL * DBL_EPSILON * 20;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int t = 1; t < 4; t += 2) {
            problem p;
            double least[SMALL + 1];
            problem_make(*state, kinds[k], support_types[t], SMALL, &p);
            optimum(&p, least);
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                const bool lanczos = strcmp(methods[m], "minres") == 0;
                char options[96];
                int64_t count;
                snprintf(options, sizeof options, "method=%s precon=none tol=1e-11", methods[m]);
                if (lanczos && kinds[k] != PROBLEM_INDEFINITE)
                    continue;
                double *history = course(&p, options, 1, &count);
                assert_true(lanczos || count <= SMALL);
                residuals_fall(history, count);
                for (int64_t i = 0; i <= count && i <= SMALL; i++)
                    if ((!lanczos || least[i] > 1e-4) && !(fabs(history[i] - least[i]) <= bound))
                        fail_msg("%s on %s: residual %lld is %.15g, the least is %.15g", options,
                                 problem_names[kinds[k]], (long long)i, history[i], least[i]);
                free(history);
            }
            problem_free(&p);
        }
}

/* --- methods that are the same ------------------------------------------------------------- */

static void conjugate_gradients_are_one_method(void **state)
{
    static const char *const likes[] = {"cg-cg", "pipecg", "fcg", "fcg:truncate=1", "bicg", "cocg"};
    for (int t = 1; t < 4; t += 2)
        for (int precon = 0; precon < 2; precon++) {
            problem p;
            char cg[96], like[96];
            const char *name = precon ? "jacobi" : "none";
            problem_make(*state, PROBLEM_DEFINITE, support_types[t], 60, &p);
            snprintf(cg, sizeof cg, "method=cg precon=%s max-iter=%d", name, LIKE);
            for (size_t m = 0; m < sizeof likes / sizeof *likes; m++) {
                if (t == 3 && strcmp(likes[m], "cocg") == 0)
                    continue;
                snprintf(like, sizeof like, "method=%s precon=%s max-iter=%d", likes[m], name,
                         LIKE);
                same_course(&p, cg, like, LIKE, 1e-8);
            }
            problem_free(&p);
        }
}

static void conjugate_residuals_are_minimal_residuals(void **state)
{
    problem p;
    const char *const minres = "method=minres precon=none max-iter=10";
    problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_D, 60, &p);
    same_course(&p, minres, "method=cr precon=none max-iter=10", LIKE, 1e-8);
    same_course(&p, minres, "method=cocr precon=none max-iter=10", LIKE, 1e-8);
    same_course(&p, minres, "method=qmrsym precon=none max-iter=10", LIKE, 1e-8);
    same_course(&p, minres, "method=qmr precon=none max-iter=10", LIKE, 1e-8);
    same_course(&p, minres, "method=gcr:restart=2,truncate=yes precon=none max-iter=10", LIKE,
                1e-8);
    problem_free(&p);
    problem_make(*state, PROBLEM_INDEFINITE, SPRY_TYPE_Z, 60, &p);
    same_course(&p, minres, "method=gmres precon=none max-iter=10", LIKE, 1e-8);
    problem_free(&p);
}

/* Flexible methods do not mind that the preconditioner stays the same; the way to orthogonal
 * vectors is one of several. A restart looks at the true residual, which with a preconditioner on
 * the left is not the one the method has estimated: there none is compared. */
static void general_methods_are_alike(void **state)
{
    static const char *const same[][2] = {
        {"gmres", "fgmres"},
        {"gmres", "gmres:orthogonalization=mgs"},
        {"gmres", "gcr"},
        {"fgmres", "fgmres:orthogonalization=mgs"},
        {"bicgstab", "bicgstabl:l=1"},
        {"bicgstab", "pipebicgstab"},
    };
    for (int t = 1; t < 4; t += 2) {
        problem p;
        problem_make(*state, PROBLEM_CONVECTION, support_types[t], 100, &p);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            for (int left = 0; left < 2; left++) {
                char a[128], b[128];
                const char *colon = strchr(same[k][1], ':');
                if (left && strstr(same[k][1], "fgmres"))
                    continue;
                snprintf(a, sizeof a, "method=%s%s precon=jacobi restart=%d max-iter=10",
                         same[k][0], left ? ":side=left" : "", left ? 12 : 7);
                snprintf(b, sizeof b, "method=%s%s%s precon=jacobi restart=%d max-iter=10",
                         same[k][1],
                         !left   ? ""
                         : colon ? ","
                                 : ":",
                         left ? "side=left" : "", left ? 12 : 7);
                same_course(&p, a, b, LIKE, 1e-8);
            }
        problem_free(&p);
    }
}

/* A^H A x = A^H b for the methods that work with A alone: the same x after a few steps. The
 * condition is 20^2 there, and 1e-8 as above. */
static void least_squares_are_normal_equations(void **state)
{
    static const char *const pairs[][2] = {{"lsqr", "cg"}, {"cgls", "cg"}, {"lsmr", "minres"}};
    spry_context *ctx = *state;
    enum { N = 30 };
    problem p, normal;
    double squares[N * N] = {0};
    problem_make(ctx, PROBLEM_INCONSISTENT, SPRY_TYPE_D, N, &p);
    const support_dense a = support_dense_of(p.A);
    for (int i = 0; i < N * N; i++)
        for (int64_t k = 0; k < a.rows; k++)
            squares[i] += a.at[k * N + i / N].re * a.at[k * N + i % N].re;
    problem_from_matrix(ctx, support_from_rows(ctx, SPRY_TYPE_D, N, N, squares), &normal);
    spry_operator *A = NULL;
    assert_ok(ctx, spry_operator_from_matrix(p.A, NULL, NULL, &A));
    assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, p.b,
                                          (spry_scalar){0, 0}, normal.b));
    for (int m = 0; m < 3; m++)
        for (int steps = 1; steps <= 8; steps++) {
            char one[96], other[96];
            snprintf(one, sizeof one, "method=%s precon=none max-iter=%d", pairs[m][0], steps);
            snprintf(other, sizeof other, "method=%s precon=none max-iter=%d", pairs[m][1], steps);
            free(course(&p, one, steps, NULL));
            free(course(&normal, other, steps, NULL));
            const double *x = spry_vector_data_const(p.x), *y = spry_vector_data_const(normal.x);
            double apart = 0, size = 0;
            for (int i = 0; i < N; i++) {
                apart += (x[i] - y[i]) * (x[i] - y[i]);
                size += y[i] * y[i];
            }
            if (!(apart <= 1e-16 * size))
                fail_msg("%s against %s: apart by %g", one, other, sqrt(apart / size));
        }
    same_course(&p, "method=lsqr precon=none max-iter=10", "method=cgls precon=none max-iter=10",
                LIKE, 1e-8);
    spry_operator_free(A);
    support_dense dense = a;
    support_dense_free(&dense);
    problem_free(&p);
    problem_free(&normal);
}

/*
 * R. W. Freund, N. M. Nachtigal, Numer. Math. 60 (1991): the residual of QMR after k steps is at
 * most sqrt(k + 1) tau, where tau^-2 is the sum of the squared inverse residuals of BiCG.
 */
static void quasi_minimal_residuals_are_bounded(void **state)
{
    for (int t = 1; t < 4; t += 2) {
        problem p;
        problem_make(*state, PROBLEM_CONVECTION, support_types[t], 100, &p);
        double *bicg = course(&p, "method=bicg precon=none max-iter=15", 15, NULL);
        double *qmr = course(&p, "method=qmr precon=none max-iter=15", 15, NULL), sum = 0;
        for (int k = 0; k <= 15; k++) {
            sum += 1 / (bicg[k] * bicg[k]);
            assert_true(qmr[k] <= sqrt((k + 1) / sum) * (1 + 1e-8));
        }
        free(bicg);
        free(qmr);
        problem_free(&p);
    }
}

/* |e|_A after k steps of cg is at most 2 q^k times that of the first guess, q = (sqrt(100) - 1) /
 * (sqrt(100) + 1), and rounding is far below at these k. */
static void conjugate_gradients_keep_their_bound(void **state)
{
    static const char *const methods[] = {"cg", "cg-cg", "pipecg", "fcg"};
    enum { N = 80 };
    problem p;
    problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_D, N, &p);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double before = 0;
        for (int k = 0; k <= 30; k += 5) {
            char options[96];
            spry_scalar e[N], Ae[N];
            double energy = 0;
            snprintf(options, sizeof options, "method=%s precon=none max-iter=%d", methods[m], k);
            free(course(&p, options, k, NULL));
            const double *x = spry_vector_data_const(p.x);
            for (int i = 0; i < N; i++)
                e[i] = (spry_scalar){x[i] - p.answer[i].re, 0};
            support_multiply(p.A, SPRY_TRANSPOSE_NO, e, Ae);
            for (int i = 0; i < N; i++)
                energy += e[i].re * Ae[i].re;
            before = k == 0 ? energy : before;
            assert_true(sqrt(energy) <= 2 * pow(9.0 / 11, k) * sqrt(before));
        }
    }
    problem_free(&p);
}

/* |x - A^-1 b|_A / |x|_A of a solve, whose solution is known. */
static double energy_error(const problem *p)
{
    enum { MOST = 120 };
    spry_scalar e[MOST], Ae[MOST], Ax[MOST];
    double error = 0, all = 0;
    for (int64_t i = 0; i < p->x->n; i++) {
        const spry_scalar x = value_get(p->x->type, p->x->data, i);
        e[i] = (spry_scalar){x.re - p->answer[i].re, x.im - p->answer[i].im};
    }
    support_multiply(p->A, SPRY_TRANSPOSE_NO, e, Ae);
    support_multiply(p->A, SPRY_TRANSPOSE_NO, p->answer, Ax);
    for (int64_t i = 0; i < p->x->n; i++) {
        error += e[i].re * Ae[i].re + e[i].im * Ae[i].im;
        all += p->answer[i].re * Ax[i].re + p->answer[i].im * Ax[i].im;
    }
    return sqrt(error / all);
}

/*
 * A step lessens |e|_A^2 by no less than one of steepest descent, 1 / 25.5 of it for a condition of
 * 100. So what is left after the last step is at most 24.5 times what that took; the estimate is
 * between once and 25.5 times that, which is at most the |e|_A^2 before. A solve that has not
 * arrived, or one by another method, has no estimate.
 */
static void conjugate_gradients_know_their_error(void **state)
{
    static const char *const methods[] = {"cg", "cg-cg", "pipecg", "fcg"};
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            char options[96], before[128];
            problem p;
            spry_result result = SPRY_RESULT_INIT;
            problem_make(*state, PROBLEM_DEFINITE, (spry_type)type, 120, &p);
            snprintf(options, sizeof options, "method=%s precon=none tol=%s", methods[m],
                     type_is_single((spry_type)type) ? "1e-3" : "1e-8");
            problem_solve(&p, options, &result);
            const double truth = energy_error(&p), found = result.energy_error;
            assert_true(result.converged);
            snprintf(before, sizeof before, "%s keep=last max-iter=%d", options,
                     (int)result.iterations - 1);
            spry_result_clear(*state, &result);
            problem_solve(&p, before, &result);
            assert_true(result.energy_error == 0);
            if (!(found >= truth / sqrt(24.5) && found <= sqrt(25.5) * energy_error(&p)))
                fail_msg("%s, type %d: off by %.2e, estimated %.2e, before %.2e", options, type,
                         truth, found, energy_error(&p));
            spry_result_clear(*state, &result);
            problem_free(&p);
        }
    static const char *const others[] = {"method=gmres", "method=direct"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_D, 120, &p);
        problem_solve(&p, others[k], &result);
        assert_true(result.energy_error == 0);
        spry_result_clear(*state, &result);
        problem_free(&p);
    }
}

/*
 * What options that bound the memory cost. For a hermitian matrix truncation loses nothing.
 * IDR(s) needs n + n / s products (P. Sonneveld, M. B. van Gijzen, SIAM J. Sci. Comput. 31 (2008)),
 * here with a tenth to spare for rounding.
 */
static void options_bound_the_steps(void **state)
{
    problem p;
    problem_make(*state, PROBLEM_DEFINITE, SPRY_TYPE_D, 120, &p);
    const int64_t full = count_of(&p, "method=gmres:restart=120 precon=none");
    const int64_t ten = count_of(&p, "method=gmres:restart=10 precon=none");
    const int64_t two = count_of(&p, "method=gmres:restart=2 precon=none");
    assert_true(full < ten && ten < two);
    assert_int_equal(count_of(&p, "method=gmres restart=10 precon=none"), ten);
    const int64_t helped = count_of(&p, "method=lgmres:restart=10,augment=2 precon=none");
    assert_true(full < helped && helped < ten);
    assert_int_equal(count_of(&p, "method=gcr:restart=10 precon=none"), ten);
    assert_int_equal(count_of(&p, "method=gcr:restart=120 precon=none"), full);
    assert_int_equal(count_of(&p, "method=gcr:restart=2,truncate=yes precon=none"), full);
    problem_free(&p);
    problem_make(*state, PROBLEM_INDEFINITE, SPRY_TYPE_D, 40, &p);
    for (int s = 1; s <= 8; s *= 2) {
        char options[96];
        snprintf(options, sizeof options, "method=idr:s=%d precon=none tol=1e-8", s);
        assert_true(10 * count_of(&p, options) <= 11 * (40 + 40 / s));
    }
    problem_free(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(distinct_eigenvalues_are_steps),
        TEST(minimal_residuals_are_minimal),
        TEST(conjugate_gradients_are_one_method),
        TEST(conjugate_residuals_are_minimal_residuals),
        TEST(general_methods_are_alike),
        TEST(least_squares_are_normal_equations),
        TEST(quasi_minimal_residuals_are_bounded),
        TEST(conjugate_gradients_keep_their_bound),
        TEST(conjugate_gradients_know_their_error),
        TEST(options_bound_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
