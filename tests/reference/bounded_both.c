/* Lower and upper bounds on grids, against an active-set method of its own with dense elimination;
 * upper bounds alone, against the mirrored problem. */
#include "operator/operator.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- the other way to solve it -------------------------------------------------------------------
 */

enum { MOST = 400 };

/* lower <= x <= upper; A x = b between them, A x >= b at lower, A x <= b at upper. */
typedef struct lcp {
    int n;
    double A[MOST][MOST], b[MOST], lower[MOST], upper[MOST];
    double x[MOST], left[MOST]; /* A x - b */
    int side[MOST];             /* -1: at lower, 1: at upper */
} lcp;

/* With x given where side is not 0: Gaussian elimination with pivots. */
static void solve_free(lcp *p)
{
    static double M[MOST][MOST + 1];
    int at[MOST], m = 0;
    for (int i = 0; i < p->n; i++)
        if (p->side[i] == 0)
            at[m++] = i;
        else
            p->x[i] = p->side[i] < 0 ? p->lower[i] : p->upper[i];
    for (int r = 0; r < m; r++) {
        M[r][m] = p->b[at[r]];
        for (int j = 0; j < p->n; j++)
            M[r][m] -= p->side[j] ? p->A[at[r]][j] * p->x[j] : 0;
        for (int c = 0; c < m; c++)
            M[r][c] = p->A[at[r]][at[c]];
    }
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int r = k + 1; r < m; r++)
            best = fabs(M[r][k]) > fabs(M[best][k]) ? r : best;
        for (int c = k; c <= m; c++) {
            const double v = M[k][c];
            M[k][c] = M[best][c];
            M[best][c] = v;
        }
        for (int r = k + 1; r < m; r++) {
            const double f = M[r][k] / M[k][k];
            for (int c = k; f != 0 && c <= m; c++)
                M[r][c] -= f * M[k][c];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        double v = M[k][m];
        for (int c = k + 1; c < m; c++)
            v -= M[k][c] * p->x[at[c]];
        p->x[at[k]] = v / M[k][k];
    }
}

/* M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13 (2003) 865-888: until sets stay. */
static void active_set(lcp *p)
{
    bool changed = true;
    memset(p->side, 0, sizeof p->side);
    for (int round = 0; changed; round++) {
        assert_true(round < 100);
        solve_free(p);
        changed = false;
        for (int i = 0; i < p->n; i++) {
            long double left = -(long double)p->b[i];
            for (int j = 0; j < p->n; j++)
                left += (long double)p->A[i][j] * p->x[j];
            p->left[i] = p->side[i] ? (double)left : 0;
            const double c = p->A[i][i];
            const int side = p->left[i] + c * (p->lower[i] - p->x[i]) > 0   ? -1
                             : p->left[i] + c * (p->upper[i] - p->x[i]) < 0 ? 1
                                                                            : 0;
            /* where bounds are equal either side is right */
            if (side != p->side[i] && !(p->side[i] && p->lower[i] == p->upper[i])) {
                p->side[i] = side;
                changed = true;
            }
        }
    }
}

/* --- problems ------------------------------------------------------------------------------------
 */

typedef struct problem {
    const char *grid, *text;
    double force, gap; /* of b; least distance of bounds */
    bool parts;        /* some points have no bounds, or equal ones */
} problem;

static const problem problems[] = {
    {"32", "-laplace", 60, 0.05, false},        {"16x12", "-laplace", 100, 0.02, false},
    {"16x12", "-laplace + 8*dx", 100, 0, true}, {"8x8x8", "-laplace", 100, 0.01, false},
    {"24x16", "-laplace + 3", 400, 0.01, true},
};

/* Bounds that wave, not in step with b, so that both are touched. */
static void fill(const spry_grid *grid, const problem *q, spry_vector *b, spry_vector *lower,
                 spry_vector *upper)
{
    const double pi = acos(-1);
    for (int64_t i = 0; i < spry_vector_size(b); i++) {
        double at[3] = {0.5, 0.5, 0.5};
        (void)spry_grid_place(grid, false, i, at);
        const double wave = sin(5 * pi * at[0]) * (1 + cos(3 * pi * at[1])) * cos(pi * at[2] / 2);
        const double low = -0.1 + 0.08 * sin(7 * pi * at[0] + 2 * at[1]);
        const double high = fmax(0.1 + 0.07 * cos(4 * pi * at[1] + at[0]), low + q->gap);
        ((double *)spry_vector_data(b))[i] = q->force * wave + base_uniform(7, (uint64_t)i);
        const bool none = q->parts && i % 5 == 0, equal = q->parts && i % 7 == 3;
        ((double *)spry_vector_data(lower))[i] = none ? -INFINITY : low;
        ((double *)spry_vector_data(upper))[i] = none ? INFINITY : equal ? low : high;
    }
}

typedef struct setting {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *lower, *upper, *x;
} setting;

static setting make(spry_context *ctx, const problem *q)
{
    setting s = {0};
    assert_ok(ctx, spry_grid_new(ctx, q->grid, &s.grid));
    assert_ok(ctx, spry_operator_stencil(s.grid, q->text, NULL, 0, NULL, NULL, &s.A));
    spry_vector **const all[] = {&s.b, &s.lower, &s.upper, &s.x};
    for (size_t k = 0; k < COUNT(all); k++)
        assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, NULL, NULL, all[k]));
    fill(s.grid, q, s.b, s.lower, s.upper);
    return s;
}

static void unmake(setting *s)
{
    spry_vector_free(s->b);
    spry_vector_free(s->lower);
    spry_vector_free(s->upper);
    spry_vector_free(s->x);
    spry_operator_free(s->A);
    spry_grid_free(s->grid);
}

static void solve(spry_context *ctx, setting *s, const char *options, spry_result *r,
                  spry_bounded_stats *b)
{
    spry_bounded *solver = NULL;
    *r = (spry_result)SPRY_RESULT_INIT;
    *b = (spry_bounded_stats)SPRY_BOUNDED_STATS_INIT;
    assert_ok(ctx, spry_bounded_new(s->A, options, &solver));
    assert_ok(ctx, spry_bounded_set_upper(solver, s->upper));
    assert_ok(ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_bounded_solve(solver, s->b, s->lower, s->x, r, b));
    spry_bounded_free(solver);
}

static lcp *as_dense(spry_context *ctx, const setting *s)
{
    lcp *p = calloc(1, sizeof *p);
    spry_matrix *matrix = NULL;
    spry_arrays a = SPRY_ARRAYS_INIT;
    assert_non_null(p);
    assert_ok(ctx, spry_operator_to_matrix(s->A, &matrix));
    assert_ok(ctx, spry_matrix_arrays(matrix, &a));
    p->n = (int)spry_vector_size(s->b);
    assert_true(p->n <= MOST && a.offset_bits != 32 && a.index_bits != 64);
    for (int i = 0; i < p->n; i++)
        for (int64_t k = ((const int64_t *)a.offsets)[i]; k < ((const int64_t *)a.offsets)[i + 1];
             k++)
            p->A[i][((const int32_t *)a.col_index)[k]] += ((const double *)a.values)[k];
    memcpy(p->b, spry_vector_data_const(s->b), (size_t)p->n * sizeof *p->b);
    memcpy(p->lower, spry_vector_data_const(s->lower), (size_t)p->n * sizeof *p->b);
    memcpy(p->upper, spry_vector_data_const(s->upper), (size_t)p->n * sizeof *p->b);
    spry_matrix_free(matrix);
    return p;
}

/*
 * Of the same problem with an M-matrix and w >= 0, A w >= 1, two x differ by (1 + max w) times the
 * sum of their residuals at most (bounded.c): w is at most 1/8 for these operators. The residual of
 * the dense solve is its rounding, n EPSILON of the largest products. Contact sets are equal at
 * every point that this cannot move.
 */
static void against_active_set(void **state)
{
    static const char *const methods[] = {"multigrid", "redblack", "richardson"};
    for (size_t k = 0; k < COUNT(problems); k++) {
        setting s = make(*state, &problems[k]);
        lcp *p = as_dense(*state, &s);
        active_set(p);
        for (size_t m = 0; m < COUNT(methods); m++) {
            spry_result r;
            spry_bounded_stats stats;
            char options[96];
            snprintf(options, sizeof options, "method=%s tol=1e-13", methods[m]);
            solve(*state, &s, options, &r, &stats);
            const double *x = spry_vector_data_const(s.x);
            double worst = 0, scale = 0;
            int low = 0, high = 0, unsure = 0;
            for (int i = 0; i < p->n; i++)
                scale = fmax(scale, fabs(p->A[i][i] * p->x[i]) + fabs(p->b[i]));
            const double most = 1.125 * (r.residual + p->n * DBL_EPSILON * scale);
            for (int i = 0; i < p->n; i++) {
                const int side = x[i] == p->lower[i] ? -1 : x[i] == p->upper[i] ? 1 : 0;
                const double inside = fmin(p->x[i] - p->lower[i], p->upper[i] - p->x[i]);
                const bool equal = p->lower[i] == p->upper[i];
                assert_true(x[i] >= p->lower[i] && x[i] <= p->upper[i]);
                worst = fmax(worst, fabs(x[i] - p->x[i]));
                const bool sure = equal || (p->side[i] ? fabs(p->left[i]) > 2 * p->A[i][i] * most
                                                       : inside > most);
                unsure += !sure;
                if (sure && !equal)
                    assert_int_equal(side, p->side[i]);
                low += side < 0 && !equal;
                high += side > 0 && !equal;
            }
            print_message("%s %s %s: %s, %d iterations, residual %.1e, apart %.1e of %.1e, %d and "
                          "%d of %d at bounds, %d unsure\n",
                          problems[k].grid, problems[k].text, methods[m],
                          spry_reason_name(r.reason), (int)r.iterations, r.residual, worst, most,
                          low, high, p->n, unsure);
            assert_true(r.converged && worst <= most);
            assert_true(low > 0 && high > 0 && unsure == 0);
        }
        free(p);
        unmake(&s);
    }
}

/* Upper bounds alone: the bits of the mirrored problem with lower ones. */
static void mirrored(void **state)
{
    static const char *const methods[] = {"method=multigrid", "method=redblack",
                                          "method=richardson max-iter=100"};
    for (size_t m = 0; m < COUNT(methods); m++) {
        spry_bounded *solver = NULL;
        spry_result r;
        spry_bounded_stats with, without = SPRY_BOUNDED_STATS_INIT;
        spry_vector *y = NULL;
        setting s = make(*state, &problems[3]);
        const size_t bytes = (size_t)spry_vector_size(s.x) * sizeof(double);
        assert_ok(*state, spry_vector_fill(s.lower, (spry_scalar){-INFINITY, 0}));
        solve(*state, &s, methods[m], &r, &with);
        assert_true(with.contacts > 0);
        assert_ok(*state, spry_vector_like(s.x, spry_vector_size(s.x), &y));
        assert_ok(*state, spry_vector_scale((spry_scalar){-1, 0}, s.b));
        assert_ok(*state, spry_vector_scale((spry_scalar){-1, 0}, s.upper));
        assert_ok(*state, spry_vector_fill(y, (spry_scalar){0, 0}));
        assert_ok(*state, spry_bounded_new(s.A, methods[m], &solver));
        assert_ok(*state, spry_bounded_set_upper(solver, s.lower));
        assert_ok(*state, spry_bounded_set_upper(solver, NULL)); /* none again */
        assert_ok(*state, spry_bounded_solve(solver, s.b, s.upper, y, NULL, &without));
        assert_ok(*state, spry_vector_scale((spry_scalar){-1, 0}, y));
        for (int64_t i = 0; i < spry_vector_size(y); i++) /* 0 is -0 */
            assert_true(((double *)spry_vector_data(y))[i] == ((double *)spry_vector_data(s.x))[i]);
        assert_true(bytes > 0 && with.contacts == without.contacts);
        spry_bounded_free(solver);
        spry_vector_free(y);
        unmake(&s);
    }
}

/* The same bits for any number of threads. */
static void threads(void **state)
{
    double *first = NULL;
    (void)state;
    for (int k = 1; k <= 4; k++) {
        char text[32];
        spry_context *ctx = NULL;
        spry_result r;
        spry_bounded_stats stats;
        snprintf(text, sizeof text, "threads=%d", k);
        assert_int_equal(spry_context_new(text, &ctx), SPRY_STATUS_OK);
        setting s = make(ctx, &(problem){"48x40x36", "-laplace", 100, 0.01, false});
        solve(ctx, &s, "tol=1e-9", &r, &stats);
        assert_true(r.converged);
        const size_t bytes = (size_t)spry_vector_size(s.x) * sizeof(double);
        if (!first)
            first = memcpy(malloc(bytes), spry_vector_data_const(s.x), bytes);
        assert_memory_equal(first, spry_vector_data_const(s.x), bytes);
        unmake(&s);
        spry_context_free(ctx);
    }
    free(first);
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    spry_bounded *solver = NULL;
    spry_vector *longer = NULL;
    setting s = make(ctx, &problems[1]);
    assert_ok(ctx, spry_bounded_new(s.A, NULL, &solver));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 50, NULL, SPRY_OWN_COPY, &longer));
    assert_int_equal(spry_bounded_set_upper(solver, longer), SPRY_STATUS_BAD_USAGE);
    ((double *)spry_vector_data(s.upper))[17] = -5;
    assert_ok(ctx, spry_bounded_set_upper(solver, s.upper));
    assert_int_equal(spry_bounded_solve(solver, s.b, s.lower, s.x, NULL, NULL),
                     SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "row 17: its lower bound is above its upper one"));
    ((double *)spry_vector_data(s.upper))[17] = NAN;
    assert_ok(ctx, spry_bounded_set_upper(solver, s.upper));
    assert_int_equal(spry_bounded_solve(solver, s.b, s.lower, s.x, NULL, NULL),
                     SPRY_STATUS_BAD_INPUT);
    spry_bounded_free(solver);
    spry_vector_free(longer);
    unmake(&s);
}

static spry_status life(spry_context *ctx, void *data)
{
    const setting *s = data;
    spry_bounded *solver = NULL;
    (void)ctx;
    spry_status status = spry_bounded_new(s->A, "max-iter=2", &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_set_upper(solver, s->upper);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_solve(solver, s->b, s->lower, s->x, NULL, NULL);
    spry_bounded_free(solver);
    return status;
}

static void torture(void **state)
{
    setting s = make(*state, &problems[3]);
    support_torture(*state, life, &s);
    unmake(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(against_active_set), TEST(mirrored),
                                       cmocka_unit_test(threads), TEST(faults), TEST(torture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
