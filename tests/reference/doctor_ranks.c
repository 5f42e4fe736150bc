/* Ranks that are known by how matrices were made: what the doctor finds, and solves with them. */
#include "choose/precons.h"
#include "doctor/doctor.h"
#include "krylov/singular.h"
#include "krylov/solver.h"
#include "operator/operator.h"
#include "support/diagnosed.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/problems.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time that no machine needs, so that nothing is left out. */
#define OPTIONS "seconds=1000 "
#define FOR_TYPES for (int t = 0; t < 4; t++)

/* --- for solvers ---------------------------------------------------------------------------------
 */

/* With the generalized inverse that a solver has. */
static singular_result solve_singular(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                                      spry_vector *x)
{
    spry_operator *M = NULL;
    char name[32];
    singular_result s;
    assert_ok(ctx, precon_make_from_text(ctx, A, NULL, "direct:regular=yes", &M, name));
    assert_ok(ctx, singular_solve(&krylov_nested, A, M, b, x, 1e-8, 5, &s));
    spry_operator_free(M);
    return s;
}

/* --- ranks that are known ------------------------------------------------------------------------
 */

enum { RANK_GENERAL, RANK_SYMMETRIC, RANK_HERMITIAN, RANK_KINDS };

static int64_t pick(uint64_t seed, int64_t i, int64_t n)
{
    return (int64_t)(base_random(seed, (uint64_t)i) % (uint64_t)n);
}

/* Row or column i of P = [I, Q] with two numbers of 1 or -1 in each column of Q. */
static void scattered_row(uint64_t seed, int64_t r, int64_t i, int64_t at[2], double sign[2])
{
    at[0] = i < r ? i : pick(seed, 2 * i, r);
    at[1] = i < r ? i : (at[0] + 1 + pick(seed, 2 * i + 1, r - 1)) % r;
    sign[0] = 1;
    sign[1] = i < r ? 0 : -1;
}

/*
 * P1^T T P2 with a tridiagonal T of small whole numbers, diagonally dominant: of rank r, the order
 * of T, to the last bit in every type, and its least singular value that is not 0 is no less than
 * T's, as P P^T - I has none below 0. Turned by 1, i, -1, -i, which are exact, and scaled by powers
 * of two.
 */
static spry_matrix *of_rank(spry_context *ctx, spry_type type, int64_t n, int64_t r, int kind,
                            bool scaled)
{
    const uint64_t left = 71, right = kind == RANK_GENERAL ? 72 : 71;
    double *a = calloc((size_t)(n * n), sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t p[2], q[2];
            double s[2], v[2], sum = 0;
            scattered_row(left, r, i, p, s);
            scattered_row(right, r, j, q, v);
            for (int k = 0; k < 4; k++) {
                const int64_t row = p[k / 2], col = q[k % 2];
                const double skew = kind == RANK_GENERAL ? 2 : 1;
                sum += s[k / 2] * v[k % 2] *
                       (row == col       ? 4 + (double)(row % 3)
                        : col == row + 1 ? -1
                        : col == row - 1 ? -skew
                                         : 0);
            }
            a[i * n + j] = sum;
        }
    spry_matrix *A = support_from_rows(ctx, type, n, n, a);
    static const spry_scalar turns[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k];
            const int there = (int)pick(5, i, 4), back = (int)pick(5, j, 4);
            const spry_scalar turn =
                turns[(there + (kind == RANK_HERMITIAN ? 4 - back : back)) % 4];
            const int half = scaled ? 10 : 0;
            const int64_t up = pick(6, i, 2 * half + 1) - half;
            const int64_t on = pick(kind == RANK_GENERAL ? 7 : 6, j, 2 * half + 1) - half;
            const double v = ldexp(value_get(type, A->a.values, k).re, (int)(up + on));
            const bool complex = spry_type_is_complex(type);
            support_put(A, k,
                        complex ? (spry_scalar){v * turn.re, v * turn.im} : (spry_scalar){v, 0});
        }
    free(a);
    return A;
}

/* |A^H r| / (|A| |r|) with r = b - A x, |A| that of Frobenius. */
static double gradient(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                       const spry_vector *x, double *residual, double *rounding)
{
    spry_operator *op = NULL;
    spry_vector *r = NULL, *g = NULL;
    double all, size, found, norm = 0;
    const spry_scalar one = {1, 0}, minus = {-1, 0}, zero = {0, 0};
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_like(b, b->n, &r));
    assert_ok(ctx, spry_vector_like(b, b->n, &g));
    assert_ok(ctx, spry_vector_copy(b, r));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, minus, x, one, r));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_CONJUGATE, one, r, zero, g));
    assert_ok(ctx, spry_vector_norm(b, &all));
    assert_ok(ctx, spry_vector_norm(r, &size));
    assert_ok(ctx, spry_vector_norm(g, &found));
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const spry_scalar v = value_get(A->a.type, A->a.values, k);
        norm = hypot(norm, hypot(v.re, v.im));
    }
    *residual = size / all;
    /* what rounding of x, and of this product, makes: u |A| |x| in r */
    assert_ok(ctx, spry_vector_norm(x, &all));
    *rounding = 4 * numeric_unit(A->a.type) * (norm * all + size) / size;
    spry_operator_free(op);
    spry_vector_free(r);
    spry_vector_free(g);
    return found / norm / size;
}

static void finds_ranks_that_are_known(void **state)
{
    static const struct {
        int64_t n, missing;
    } cases[] = {{12, 1}, {40, 2}, {60, 10}, {250, 1}, {250, 2}, {250, 10}, {250, 100}};
    spry_context *ctx = *state;
    int bad = 0;
    FOR_TYPES
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int way = 0; way < 2 * RANK_KINDS; way++) {
            const spry_type type = support_types[t];
            if (!support_turn(t, (int64_t)c + way / 2))
                continue;
            const int64_t n = cases[c].n, rank = n - cases[c].missing;
            const bool exact = !type_is_single(type) || way % 2 == 0; /* else it may find none */
            double residual, rounding;
            spry_matrix *A = of_rank(ctx, type, n, rank, way / 2, way % 2);
            spry_vector *b = NULL, *x = NULL;
            assert_ok(ctx, spry_vector_ones(ctx, A, &b));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
            const spry_finding *f = diagnosed_find(&d, "singular");
            const double reported = f ? diagnosed_figure(f, "rank") : NAN;
            const singular_result s = solve_singular(ctx, A, b, x);
            const double slope = gradient(ctx, A, b, x, &residual, &rounding);
            if (reported != (double)rank || s.rank != rank || (exact && !s.least_squares) ||
                !(residual <= 1 + rounding) || (s.least_squares && !(slope <= 1e-6 + rounding))) {
                print_error("%s, %d rows, rank %d, way %d: %g, %s; gradient %.2g\n",
                            spry_type_name(type), (int)n, (int)rank, way, reported,
                            s.singular ? s.text : "not singular", slope);
                bad++;
            }
            spry_diagnosis_clear(ctx, &d);
            spry_matrix_free(A);
            spry_vector_free(b);
            spry_vector_free(x);
        }
    assert_int_equal(bad, 0);
}

/* The x of least squares and least norm is known. */
static void solves_singular_systems(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        const double unit = numeric_unit(support_types[t]);
        problem p;
        problem_make(ctx, PROBLEM_SINGULAR, support_types[t], 40, &p);
        const int64_t n = spry_matrix_rows(p.A);
        singular_result s = solve_singular(ctx, p.A, p.b, p.x);
        if (!s.singular || !s.least_squares || s.rank != n - 3)
            fail_msg("%s: %s", spry_type_name(support_types[t]), s.text);
        /* LSMR ends at 1e-8, or what single precision reaches; the condition is 100 */
        assert_true(s.residual <= fmax(1e-8, 400 * unit) && s.in_range);
        assert_non_null(strstr(s.text, "singular: rank about 37 of 40, rows "));
        assert_true(problem_error(&p) <= fmax(1e-8, 1e3 * unit) * p.inverse * p.norm);
        problem_free(&p);
        /* 0 = 1 in row 4, and nothing else is wrong: the residual is 1 / sqrt(36) */
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        spry_vector *b = NULL, *x = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        for (int64_t k = A->a.offsets[4]; k < A->a.offsets[5]; k++)
            support_put(A, k, (spry_scalar){0, 0});
        s = solve_singular(ctx, A, b, x);
        assert_true(s.singular && s.least_squares && !s.in_range && s.rank == 35);
        assert_true(fabs(s.residual - 1.0 / 6) < fmax(1e-8, 1e3 * unit));
        assert_true(s.row_count == 1 && s.rows[0] == 4);
        assert_non_null(strstr(s.text, "b is not in its range; the least-squares solution has "));
        spry_matrix_free(A);
        /* one that is not singular is left alone */
        A = diagnosed_grid(ctx, support_types[t]);
        s = solve_singular(ctx, A, b, x);
        assert_false(s.singular);
        spry_matrix_free(A);
        spry_vector_free(b);
        spry_vector_free(x);
    }
}

/* As singular as rounding shows, but 2^52 (1 + 2^-52, -1) solves it to the last bit: none reports
 * that b is not in its range, and no other x takes its place. */
static void an_x_disproves_what_vectors_suggest(void **state)
{
    spry_context *ctx = *state;
    const double entries[] = {1, 1, 1, 1 + 0x1p-52}, solution[] = {0x1p52 + 1, -0x1p52};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, entries);
    spry_vector *b = NULL, *x = NULL;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    value_set(SPRY_TYPE_D, spry_vector_data(b), 0, (spry_scalar){1, 0});
    const spry_result r = {.size = sizeof r, .reason = SPRY_REASON_SINGULAR, .rows = 2, .cols = 2};
    spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, &r);
    const spry_finding *f = diagnosed_must(&d, "not-in-range", SPRY_SEVERITY_WARNING);
    assert_non_null(strstr(f->text, "whether b is in the range of A is up to rounding"));
    spry_diagnosis_clear(ctx, &d);
    for (int i = 0; i < 2; i++)
        value_set(SPRY_TYPE_D, spry_vector_data(x), i, (spry_scalar){solution[i], 0});
    const singular_result s = solve_singular(ctx, A, b, x);
    assert_true(s.singular && s.residual == 0);
    assert_null(strstr(s.text, "not in its range"));
    for (int i = 0; i < 2; i++)
        assert_true(value_get(SPRY_TYPE_D, spry_vector_data(x), i).re == solution[i]);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(solves_singular_systems, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(an_x_disproves_what_vectors_suggest, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(finds_ranks_that_are_known, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
