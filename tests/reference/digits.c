/*
 * Nearest points of lattices against a search through all of them, and the last digits of x:
 * residuals below those of the solution when each of its numbers is rounded to the nearest one,
 * which is known here to the last bit.
 */
#include "support/numeric.h"

#include "krylov/digits.h"
#include "krylov/lattice.h"

#include <spry/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- lattices -----------------------------------------------------------------------------------
 */

static double distance(int n, double r[3][3], const double *y, const double *z)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double rest = y[i];
        for (int j = i; j < n; j++)
            rest -= r[j][i] * z[j];
        sum += rest * rest;
    }
    return sqrt(sum);
}

static double nearest_of_all(int n, double r[3][3], const double *y)
{
    const int reach = 60;
    double best = INFINITY;
    for (int a = -reach; a <= reach; a++)
        for (int b = n > 1 ? -reach : 0; b <= (n > 1 ? reach : 0); b++)
            for (int c = n > 2 ? -reach : 0; c <= (n > 2 ? reach : 0); c++)
                best = fmin(best, distance(n, r, y, (double[]){a, b, c}));
    return best;
}

/* Babai's bound: at most 2^(n/2) times as far as the nearest one. */
static void test_nearest(void **state)
{
    (void)state;
    for (uint64_t turn = 0; turn < 60; turn++) {
        const int n = 1 + (int)(turn % 3);
        double r[3][3] = {{0}}, y[3], z[LATTICE_MOST];
        double *random = numeric_array(SPRY_TYPE_D, 12, 0, turn + 1);
        lattice l = {.n = n};
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < j; i++)
                r[j][i] = l.r[j][i] = 5 * random[3 * j + i];
            r[j][j] = l.r[j][j] = random[3 * j + j] / (1 + 4 * (double)j); /* nearly parallel */
            y[j] = l.y[j] = random[9 + j];
        }
        lattice_nearest(&l, z);
        for (int j = 0; j < n; j++)
            assert_true(z[j] == rint(z[j]));
        const double found = distance(n, r, y, z), best = nearest_of_all(n, r, y);
        if (!(found <= pow(2, n / 2.0) * best * (1 + 1e-12)))
            fail_msg("turn %d: %g, nearest %g", (int)turn, found, best);
        numeric_free(SPRY_TYPE_D, random, 0);
    }
}

/* Columns that are 0, or the same twice: numbers are still there. */
static void test_dependent(void **state)
{
    (void)state;
    lattice l = {.n = 3};
    double z[LATTICE_MOST];
    l.r[0][0] = l.r[1][0] = 2;
    l.y[0] = 5.1;
    lattice_nearest(&l, z);
    assert_true(fabs(5.1 - 2 * (z[0] + z[1])) <= 1.1);
    assert_true(isfinite(z[2]));
    l = (lattice){.n = 1};
    lattice_nearest(&l, z);
    assert_true(z[0] == 0);
}

/* --- digits -------------------------------------------------------------------------------------
 */

/* c T^2 with T = tridiag(-1, 2, -1), rows in the reverse order if asked for. */
static spry_matrix *make_beam(spry_context *ctx, spry_type type, int64_t n, spry_scalar c,
                              bool reversed)
{
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets), at = 0;
    int32_t *columns = malloc((size_t)(5 * n) * sizeof *columns);
    char *values = malloc((size_t)(5 * n) * spry_type_size(type));
    offsets[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = reversed ? n - 1 - k : k;
        for (int64_t j = i - 2; j <= i + 2; j++) {
            const int64_t far = llabs(i - j);
            const double v = far == 2 ? 1 : far == 1 ? -4 : i == 0 || i == n - 1 ? 5 : 6;
            if (j < 0 || j >= n)
                continue;
            columns[at] = (int32_t)j;
            value_set(type, values, at++, (spry_scalar){v * c.re, v * c.im});
        }
        offsets[k + 1] = at;
    }
    return support_from_csr(ctx, type, n, n, offsets, columns, values);
}

/* u with T^2 u = 1, exactly: T v = 1 has v_i = i (n + 1 - i) / 2. */
static double *solve_beam(int64_t n)
{
    double *u = malloc((size_t)(n + 2) * sizeof *u), sum = 0;
    for (int64_t i = 1; i <= n; i++)
        sum += (double)((n + 1 - i) * i * (n + 1 - i)) / 2;
    u[0] = 0;
    u[1] = sum / (double)(n + 1);
    for (int64_t i = 1; i <= n; i++)
        u[i + 1] = 2 * u[i] - u[i - 1] - (double)(i * (n + 1 - i)) / 2;
    assert_true(u[n + 1] == 0);
    memmove(u, u + 1, (size_t)n * sizeof *u);
    return u;
}

/* |b - A x| in long double, in which these sums have no errors that count; r may be NULL. */
static double residual(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                       spry_vector *r)
{
    long double sum = 0;
    for (int64_t i = 0; i < A->a.rows; i++) {
        const spry_scalar first = value_get(b->type, b->data, i);
        wide w = {first.re, first.im, 0};
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar v = value_get(A->a.type, A->a.values, k);
            w = numeric_muladd(w, (spry_scalar){-v.re, -v.im}, false,
                               value_get(x->type, x->data, A->a.col_index[k]));
        }
        sum += w.re * w.re + w.im * w.im;
        if (r)
            value_set(r->type, r->data, i, (spry_scalar){(double)w.re, (double)w.im});
    }
    return (double)sqrtl(sum);
}

/* A system whose solution is u p, u being known and p of so few digits that b = c p is exact. */
typedef struct beam {
    spry_matrix *A;
    spry_vector *b, *x, *r; /* x: the solution, each number rounded to the nearest */
    double rounded;         /* its residual, and |b| */
    double size;
} beam;

static beam beam_make(spry_context *ctx, spry_type type, int64_t n, double sign, bool reversed)
{
    const double digits = type_is_single(type) ? 0x1p20 : 0x1p48;
    const bool complex = spry_type_is_complex(type);
    const spry_scalar c = {2 * sign, complex ? 1 : 0};
    const spry_scalar p = {rint(digits / 3) / digits, complex ? rint(digits / 7) / digits : 0};
    double *u = solve_beam(n);
    beam s = {.A = make_beam(ctx, type, n, c, reversed)};
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &s.b));
    assert_ok(ctx, spry_vector_like(s.b, n, &s.x));
    assert_ok(ctx, spry_vector_like(s.b, n, &s.r));
    for (int64_t i = 0; i < n; i++) {
        value_set(type, s.b->data, i,
                  (spry_scalar){c.re * p.re - c.im * p.im, c.re * p.im + c.im * p.re});
        value_set(type, s.x->data, i, (spry_scalar){u[i] * p.re, u[i] * p.im});
    }
    free(u);
    s.rounded = residual(s.A, s.b, s.x, s.r);
    assert_ok(ctx, spry_vector_norm(s.b, &s.size));
    return s;
}

static void beam_free(beam *s)
{
    spry_matrix_free(s->A);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_vector_free(s->r);
}

/* Digits that are chosen leave less than half of what nearest ones leave. There are points of the
 * lattice for about a tenth: its volume is (n + 1)^2 times the last digits, and columns are
 * sqrt(70) of them long. */
static void test_digits(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int reversed = 0; reversed < 2; reversed++) {
            const spry_type type = support_types[t];
            beam s = beam_make(ctx, type, type_is_single(type) ? 30 : 240, 1, reversed);
            assert_ok(ctx, digits_choose(s.A, s.rounded / 100, s.x, s.r));
            const double told = numeric_norm(s.r), found = residual(s.A, s.b, s.x, NULL);
            if (!(found <= s.rounded / 2))
                fail_msg("type %s: %g, rounded %g", spry_type_name(type), found, s.rounded);
            assert_true(fabs(told - found) <= 1e-3 * found);
            beam_free(&s);
        }
}

/* It stops where that was asked for: at the goal nothing is done. */
static void test_goal(void **state)
{
    spry_context *ctx = *state;
    beam s = beam_make(ctx, SPRY_TYPE_D, 240, 1, false);
    assert_ok(ctx, digits_choose(s.A, s.rounded / 1.5, s.x, s.r));
    const double found = residual(s.A, s.b, s.x, NULL);
    assert_true(found <= s.rounded / 1.5 && found > 0);
    beam_free(&s);
}

static void choose_plainly(spry_context *ctx, spry_matrix *A, uint64_t seed)
{
    spry_vector *b = numeric_random(ctx, NULL, A->a.type, A->a.rows, seed), *x = NULL, *r = NULL;
    assert_ok(ctx, spry_vector_like(b, b->n, &x));
    assert_ok(ctx, spry_vector_like(b, b->n, &r));
    memset(x->data, 0, (size_t)x->n * spry_type_size(x->type));
    const double before = residual(A, b, x, r);
    assert_ok(ctx, digits_choose(A, 0, x, r));
    const double after = residual(A, b, x, NULL);
    assert_true(after <= before * (1 + 1e-6));
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(r);
    spry_matrix_free(A);
}

/* n = 0 and 1, columns of zeros, of 300 entries, of numbers whose squares overflow or vanish. */
static void test_odd(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const double large = type_is_single(type) ? 1e38 : 1e300, small = 1 / large;
        choose_plainly(ctx, support_from_rows(ctx, type, 0, 0, NULL), 1);
        choose_plainly(ctx, support_from_rows(ctx, type, 1, 1, (double[]){3}), 2);
        choose_plainly(ctx, support_from_rows(ctx, type, 1, 1, (double[]){0}), 3);
        choose_plainly(ctx, support_from_rows(ctx, type, 2, 2, (double[]){1, 0, 3, 0}), 4);
        choose_plainly(
            ctx, support_from_rows(ctx, type, 2, 2, (double[]){large, large, -large, large}), 5);
        choose_plainly(ctx, support_from_rows(ctx, type, 2, 2, (double[]){small, 1, small, -1}), 6);
        choose_plainly(ctx, support_from_rows(ctx, type, 2, 2, (double[]){1, 1, 1, 1}), 7);
        choose_plainly(ctx, support_long_row(ctx, type, 300), 8);
    }
}

/* --- solves -------------------------------------------------------------------------------------
 */

/* Definite, hermitian or symmetric, and general ones, and one where the solver chooses, come to a
 * tolerance that the solution, each number rounded to the nearest, does not keep. */
static void test_solve(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 8; k++) {
        const spry_type type = k % 2 ? SPRY_TYPE_Z : SPRY_TYPE_D;
        beam s = beam_make(ctx, type, 240, k / 2 == 1 ? -1 : 1, k / 2 == 2);
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        const double tol = s.rounded / s.size / 2;
        memset(s.x->data, 0, (size_t)s.x->n * spry_type_size(type));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, k < 6 ? "method=direct:kind=sparse" : ""));
        assert_ok(ctx, spry_solver_set_real(solver, "tol", tol));
        assert_ok(ctx, spry_solver_set_matrix(solver, s.A));
        assert_ok(ctx, spry_solve(solver, s.b, s.x, &result));
        if (result.reason != SPRY_REASON_CONVERGED)
            fail_msg("system %d: %s, %g", k, result.detail, result.true_residual);
        assert_true(residual(s.A, s.b, s.x, NULL) <= tol * s.size);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        beam_free(&s);
    }
}

static spry_status torture_call(spry_context *ctx, void *data)
{
    beam *s = data;
    (void)ctx;
    return digits_choose(s->A, s->rounded / 2, s->x, s->r);
}

static void test_torture(void **state)
{
    beam s = beam_make(*state, SPRY_TYPE_Z, 20, 1, false);
    support_torture(*state, torture_call, &s);
    beam_free(&s);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_nearest), CASE(test_dependent), CASE(test_digits),
                                       CASE(test_goal),    CASE(test_odd),       CASE(test_solve),
                                       CASE(test_torture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
