/*
 * Tolerances below what rounding of x allows: the solution is known to the last bit here, and its
 * residual, each number rounded to the nearest one, is above the tolerance. The solver says so, and
 * hands back the refined x, with a bound of its error that holds.
 */
#include "support/numeric.h"

#include <spry/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* |b - A x| / |b| in long double, in which these sums have no errors that count. */
static double residual(const spry_matrix *A, const spry_vector *b, const spry_vector *x)
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
    }
    return (double)sqrtl(sum) / numeric_norm(b);
}

/* A system whose solution is u p, u being known and p of so few digits that b = c p is exact. */
typedef struct beam {
    spry_matrix *A;
    spry_vector *b, *x; /* x: the solution, each number rounded to the nearest */
    double rounded;     /* its residual, relative */
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
    for (int64_t i = 0; i < n; i++) {
        value_set(type, s.b->data, i,
                  (spry_scalar){c.re * p.re - c.im * p.im, c.re * p.im + c.im * p.re});
        value_set(type, s.x->data, i, (spry_scalar){u[i] * p.re, u[i] * p.im});
    }
    free(u);
    s.rounded = residual(s.A, s.b, s.x);
    return s;
}

static void beam_free(beam *s)
{
    spry_matrix_free(s->A);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
}

/* The largest difference of two vectors, over the largest number of the first. */
static double difference(const spry_vector *x, const spry_vector *other)
{
    double most = 0, size = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar v = value_get(x->type, x->data, i);
        const spry_scalar w = value_get(x->type, other->data, i);
        most = fmax(most, hypot(v.re - w.re, v.im - w.im));
        size = fmax(size, hypot(v.re, v.im));
    }
    return most / size;
}

/* Solves to half of the residual that the solution itself has. */
static void solve_below(spry_context *ctx, const beam *s, const char *options)
{
    const double unit = type_is_single(s->A->a.type) ? 0x1p-24 : 0x1p-53;
    spry_solver *solver = NULL;
    spry_vector *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double backward, bound;
    assert_ok(ctx, spry_vector_like(s->b, s->b->n, &x));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_real(solver, "tol", s->rounded / 2));
    assert_ok(ctx, spry_solver_set_matrix(solver, s->A));
    assert_ok(ctx, spry_solve(solver, s->b, x, &result));
    const double off = difference(s->x, x), found = residual(s->A, s->b, x);
    if (result.reason == SPRY_REASON_CONVERGED)
        assert_true(found <= s->rounded / 2); /* by good luck, and then it is true */
    else if (result.reason != SPRY_REASON_STAGNATED || !strstr(result.detail, "was not reached") ||
             !strstr(result.detail, "rounding in "))
        fail_msg("%s: %s", spry_reason_text(result.reason), result.detail);
    assert_true(fabs(result.true_residual - found) <= 0.02 * found);
    /* Both x are rounded, and the last step of refinement was. */
    if (!(off <= 4 * unit))
        fail_msg("x is off by %g, %g roundings", off, off / unit);
    assert_ok(ctx, spry_solver_errors(solver, s->b, x, &backward, &bound));
    assert_true(bound >= off - unit && backward <= 4 * unit);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(x);
}

/* Definite, hermitian or symmetric, and general ones, and one where the solver chooses. */
static void test_solve(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 16; k++) {
        const spry_type type = support_types[k % 4];
        beam s =
            beam_make(ctx, type, type_is_single(type) ? 30 : 240, k / 4 == 1 ? -1 : 1, k / 4 == 2);
        solve_below(ctx, &s, k < 12 ? "method=direct:kind=sparse" : "");
        beam_free(&s);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_solve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
