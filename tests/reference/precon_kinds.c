/*
 * What single kinds of preconditioners must do by their theory: polynomials on eigenvectors, parts
 * that overlap everything, blocks that are all there is, storage in less than their own precision.
 */
#include "support/generated.h"
#include "support/numeric.h"
#include "support/precons.h"

#include "choose/precons.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* r - A M r in the place of r; its size. */
static double leave(const spry_matrix *A, const spry_operator *M, double *r)
{
    const int64_t n = A->a.rows;
    double *z = malloc((size_t)n * sizeof *z), sum = 0;
    spry_vector *vr = numeric_vector(A->ctx, SPRY_TYPE_D, n, r),
                *vz = numeric_vector(A->ctx, SPRY_TYPE_D, n, z);
    assert_ok(A->ctx, spry_operator_apply(M, vr, vz));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            r[i] -= ((const double *)A->a.values)[k] * z[A->a.col_index[k]];
        sum += r[i] * r[i];
    }
    spry_vector_free(vr);
    spry_vector_free(vz);
    free(z);
    return sqrt(sum);
}

/* --- polynomials ---------------------------------------------------------------------------------
 */

enum { POINTS = 7 };

/* Chebyshev's polynomial of degree k, of the first kind. */
static double chebyshev(int k, double x)
{
    return fabs(x) <= 1 ? cos(k * acos(x))
                        : (x > 0   ? 1
                           : k % 2 ? -1
                                   : 1) *
                              cosh(k * acosh(fabs(x)));
}

/* What is left of an eigenvector with eigenvalue t of D^-1 A, by the theory. */
static double theory(int kind, int degree, double t, double low, double high)
{
    const int k = degree + 1;
    const double theta = (high + low) / 2, delta = (high - low) / 2, angle = acos(1 - 2 * t / high);
    if (kind == 0)
        return pow(1 - t * (high > 1.9 ? 1.9 / high : 1), k);
    if (kind == 1)
        return chebyshev(k, (theta - t) / delta) / chebyshev(k, theta / delta);
    return sin((k + 0.5) * angle) / sin(angle / 2) / (2 * k + 1);
}

static void check_polynomial(const spry_matrix *A, int kind, int degree)
{
    static const char *const kinds[] = {"neumann", "chebyshev", "least-squares"};
    const double low = 0.25, high = 2.125;
    char spec[96];
    snprintf(spec, sizeof spec, "poly:kind=%s,degree=%d,low=%g,high=%g", kinds[kind], degree, low,
             high);
    spry_operator *M = precons_make(A, spec);
    for (int a = 1; a <= POINTS; a++)
        for (int b = 1; b <= a; b++) {
            double v[POINTS * POINTS], r[POINTS * POINTS];
            for (int i = 0; i < POINTS * POINTS; i++) {
                const int row = 1 + i / POINTS, column = 1 + i % POINTS;
                v[i] = r[i] =
                    sin(a * pi * row / (POINTS + 1)) * sin(b * pi * column / (POINTS + 1));
            }
            leave(A, M, r);
            const double t = 1 - (cos(a * pi / (POINTS + 1)) + cos(b * pi / (POINTS + 1))) / 2,
                         share = theory(kind, degree, t, low, high);
            for (int i = 0; i < POINTS * POINTS; i++)
                /* some roundings each step, of numbers below 2^degree */
                if (!(fabs(r[i] - share * v[i]) <= 1e-15 * 16 * ldexp(1, degree)))
                    fail_msg("%s, eigenvalue %g: %g is left of %g, by theory %g", spec, t, r[i],
                             v[i], share * v[i]);
        }
    spry_operator_free(M);
}

static void test_polynomials(void **state)
{
    spry_matrix *A = generated(*state, "poisson2d", "size=7");
    for (int kind = 0; kind < 3; kind++)
        for (int degree = 1; degree <= 6; degree++)
            check_polynomial(A, kind, degree);
    spry_matrix_free(A);
}

/* The estimate is above the largest eigenvalue, 1.924 here, and below the largest sum of a row, 2.
 */
static void test_estimate(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "size=7");
    spry_operator *found = precons_make(A, "poly:kind=least-squares, degree=1"),
                  *least = precons_make(A, "poly:kind=least-squares, degree=1, high=1.92"),
                  *most = precons_make(A, "poly:kind=least-squares, degree=1, high=2.0001");
    double r[3][POINTS * POINTS], sum[3] = {0, 0, 0};
    const spry_operator *const all[] = {least, found, most};
    for (int k = 0; k < 3; k++) {
        spry_vector *x = NULL, *z = numeric_vector(ctx, SPRY_TYPE_D, POINTS * POINTS, r[k]);
        assert_ok(ctx, spry_vector_ones(ctx, A, &x));
        assert_ok(ctx, spry_operator_apply(all[k], x, z));
        for (int i = 0; i < POINTS * POINTS; i++)
            sum[k] += r[k][i];
        spry_vector_free(x);
        spry_vector_free(z);
    }
    assert_true(sum[0] > sum[1] && sum[1] > sum[2]); /* M falls as `high` grows */
    spry_operator_free(found);
    spry_operator_free(least);
    spry_operator_free(most);
    spry_matrix_free(A);
}

/* --- parts and blocks ----------------------------------------------------------------------------
 */

static double left_of_random(const spry_matrix *A, const char *spec)
{
    double *r = numeric_array(SPRY_TYPE_D, A->a.rows, 0, 3), size = 0;
    for (int64_t i = 0; i < A->a.rows; i++)
        size += r[i] * r[i];
    spry_operator *M = precons_make(A, spec);
    const double left = leave(A, M, r) / sqrt(size);
    numeric_free(SPRY_TYPE_D, r, 0);
    spry_operator_free(M);
    return left;
}

static int64_t iterations(const spry_matrix *A, const char *options)
{
    spry_context *ctx = A->ctx;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = {0};
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
    assert_true(result.converged);
    const int64_t count = result.iterations;
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    return count;
}

/* Overlap that reaches everywhere makes each part's solve that of A: ras is A^-1, and as is that as
 * many times as there are parts. Overlap saves iterations. */
static void test_overlap(void **state)
{
    spry_matrix *A = generated(*state, "convection-diffusion", "size=12 peclet=5");
    assert_true(left_of_random(A, "schwarz:parts=4,overlap=100,sub=direct") < 1e-12);
    const double as = left_of_random(A, "schwarz:kind=as,parts=4,overlap=100,sub=direct");
    assert_true(fabs(as - 3) < 1e-11); /* |r - 4 r| */
    const int64_t none = iterations(A, "method=gmres precon=schwarz:parts=4,overlap=0,sub=direct"),
                  some = iterations(A, "method=gmres precon=schwarz:parts=4,overlap=4,sub=direct");
    assert_true(none > 1 && some < none);
    spry_matrix_free(A);
}

/* More parts than rows, and parts that are rows of their own. */
static void test_many_parts(void **state)
{
    spry_matrix *A = generated(*state, "poisson2d", "size=3");
    const double jacobi = left_of_random(A, "jacobi"),
                 parts = left_of_random(A, "schwarz:parts=1000,overlap=0,sub=direct");
    assert_true(parts <= jacobi * (1 + 1e-12)); /* METIS may leave two in a part */
    spry_matrix_free(A);
}

static void test_sub(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "size=6");
    spry_operator *M = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(A, NULL, "schwarz:sub=none", &M));
    support_message_has(ctx, "solves nothing");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(A, NULL, "schwarz:sub=nothing", &M));
    support_message_has(ctx, "precon schwarz: part 0 (from 0, 36 rows): ");
    assert_null(M);
    spry_matrix_free(A);
}

/* What parts are the whole is: of single precision, or no fixed map. */
static void test_traits(void **state)
{
    spry_matrix *A = generated(*state, "poisson2d", "size=8");
    spry_operator *plain = precons_make(A, "schwarz:parts=2,sub=ilu"),
                  *single = precons_make(A, "schwarz:parts=2,sub=[ilu:precision=single]"),
                  *varies = precons_make(A, "schwarz:parts=2,sub=[amg:cycle=k]");
    assert_true(!plain->single && !plain->varies);
    assert_true(single->single && !single->varies);
    assert_true(varies->varies && !varies->single);
    spry_operator_free(plain);
    spry_operator_free(single);
    spry_operator_free(varies);
    spry_matrix_free(A);
}

/* A matrix without rows has a polynomial of any kind. */
static void test_no_rows(void **state)
{
    spry_context *ctx = *state;
    static const char *const all[] = {"poly:kind=chebyshev", "poly:kind=least-squares",
                                      "poly:kind=neumann", "ilu:level=1"};
    const int64_t offsets[1] = {0};
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 0, 0, offsets, NULL, NULL,
                                        SPRY_OWN_BORROW, &A));
    for (int k = 0; k < 4; k++)
        spry_operator_free(precons_make(A, all[k]));
    spry_matrix_free(A);
}

static void keep_warning(void *data, spry_log_level level, const char *text)
{
    if (level == SPRY_LOG_WARNING)
        snprintf(data, 256, "%s", text);
}

/* The first row, or else column, of zeros is named, whatever is made of it; none is, where there
 * is none. */
static void test_zero_rows(void **state)
{
    spry_context *ctx = *state;
    static const char *const all[] = {"sai", "isai", "spai", "amg:smoother=sai,coarse=smoother",
                                      "schwarz:sub=sai,parts=2"};
    static const double rows[9] = {2, 1, 0, 0, 0, 0, 1, 2, 1},
                        columns[9] = {2, 0, 1, 1, 0, 2, 1, 0, 1},
                        swaps[9] = {0, 1, 0, 1, 0, 0, 0, 0, 1};
    static const double *const matrices[] = {rows, columns, swaps};
    static const char *const words[] = {": row 1 (from 0)", ": column 1 (from 0)", ""};
    char text[256];
    spry_context_set_log(ctx, keep_warning, text);
    for (int m = 0; m < 3; m++) {
        spry_matrix *A = support_from_rows(ctx, support_types[m], 3, 3, matrices[m]);
        for (int k = 0; k < 5; k++) {
            text[0] = '\0';
            spry_operator_free(precons_make(A, all[k]));
            if (m == 2 ? text[0] != '\0' : strstr(text, words[m]) == NULL)
                fail_msg("%s, matrix %d: '%s'", all[k], m, text);
        }
        spry_matrix_free(A);
    }
    spry_context_set_log(ctx, NULL, NULL);
}

/* Nine tenths of what is off the diagonal is negative, but for rounding, so that the order of
 * the sums decides which side of the limit the share is on. */
static spry_matrix *on_the_limit(spry_context *ctx, double seed)
{
    enum { N = 12000, FAR = 100 };
    matrix_arrays a = {.type = SPRY_TYPE_D, .format = SPRY_FORMAT_CSR, .rows = N, .cols = N};
    spry_matrix *A = NULL;
    a.offsets = malloc((N + 1) * sizeof *a.offsets);
    a.col_index = malloc(5 * N * sizeof *a.col_index);
    double *values = malloc(5 * N * sizeof *values);
    a.values = values;
    a.offsets[0] = 0;
    for (int64_t i = 0; i < N; i++) {
        const int64_t columns[] = {i - FAR, i - 1, i, i + 1, i + FAR};
        for (int k = 0; k < 5; k++) {
            const int64_t j = columns[k], low = i < j ? i : j;
            if (j < 0 || j >= N)
                continue;
            /* (i, i + 1) and (i, i + FAR) weigh the same, or nothing where one is not there. */
            const double v = low < N - FAR ? 1 + 0.5 * sin(seed * (double)low) : 0;
            a.col_index[a.nnz] = (int32_t)j;
            values[a.nnz++] = k == 2 ? 4 : k == 1 || k == 3 ? -0.9 * v : 0.1 * v;
        }
        a.offsets[i + 1] = a.nnz;
    }
    assert_ok(ctx, support_new(ctx, &a, SPRY_OWN_COPY, &A));
    free(a.offsets);
    free(a.col_index);
    free(values);
    return A;
}

static void test_auto_threads(void **state)
{
    (void)state;
    int diffusion = 0;
    enum { SEEDS = 12 };
    for (int seed = 1; seed <= SEEDS; seed++) {
        precon_choice choice[2];
        for (int k = 0; k < 2; k++) {
            spry_context *ctx = support_context(k ? "threads=3" : "threads=1");
            spry_matrix *A = on_the_limit(ctx, seed);
            precon_choose(ctx, A, 1, false, &choice[k]);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
        assert_int_equal(choice[0].count, choice[1].count);
        for (int k = 0; k < choice[0].count; k++)
            assert_string_equal(choice[0].list[k].spec, choice[1].list[k].spec);
        for (int k = 0; k < choice[0].count; k++)
            diffusion += strcmp(choice[0].list[k].spec, "amg") == 0;
    }
    assert_true(diffusion > 0 && diffusion < SEEDS); /* or it says nothing */
}

/* Factors come first from some right-hand sides on, with a limit that grows with them. */
static void test_auto_systems(void **state)
{
    spry_context *ctx = *state;
    precon_choice one, many, more;
    spry_matrix *A = generated(ctx, "poisson2d", "size=250");
    assert_ok(ctx, precon_choose(ctx, A, 1, false, &one));
    assert_ok(ctx, precon_choose(ctx, A, 16, false, &many));
    assert_ok(ctx, precon_choose(ctx, A, 100, false, &more));
    assert_string_equal(one.list[0].spec, "amg");
    assert_int_equal(strncmp(many.list[0].spec, "direct:most=", 12), 0);
    assert_int_equal(strncmp(more.list[0].spec, "direct:most=", 12), 0);
    assert_true(more.list[0].seconds > many.list[0].seconds);
    spry_matrix_free(A);
}

/* A flow that is more than slight has multigrid between points, on the host in an order that sweeps
 * can follow where the rows have none. */
static void test_auto_flows(void **state)
{
    static const char points[] = "amg-classical:aggressive=40";
    static const char ordered[] = "prepare:scale=none,match=no,order=rcm,sub=[amg-classical:";
    spry_context *ctx = *state;
    precon_choice calm, here, shuffled, there, lines;
    spry_matrix *A = generated(ctx, "convection-diffusion", "size=350 peclet=20");
    spry_matrix *B = generated(ctx, "convection-diffusion", "size=350 peclet=1e4"), *C = NULL;
    spry_matrix *D = generated(ctx, "convection-diffusion", "size=30 nz=30 peclet=1e7");
    int32_t *perm = malloc((size_t)B->a.rows * sizeof *perm);
    for (int64_t i = 0; i < B->a.rows; i++)
        perm[i] = (int32_t)(i * 45131 % B->a.rows); /* a prime number */
    assert_ok(ctx, spry_matrix_permute(B, perm, perm, &C));
    assert_ok(ctx, precon_choose(ctx, A, 1, false, &calm));
    assert_ok(ctx, precon_choose(ctx, B, 1, false, &here));
    assert_ok(ctx, precon_choose(ctx, C, 1, false, &shuffled));
    assert_ok(ctx, precon_choose(ctx, C, 1, true, &there));
    assert_ok(ctx, precon_choose(ctx, D, 1, false, &lines));
    assert_string_equal(lines.list[0].spec, "ilut");
    assert_string_equal(calm.list[0].spec, "amg");
    assert_string_equal(calm.list[1].spec, points);
    assert_string_equal(here.list[0].spec, points);
    assert_int_equal(strncmp(shuffled.list[0].spec, ordered, sizeof ordered - 1), 0);
    assert_string_equal(there.list[0].spec, points);
    free(perm);
    spry_matrix_free(A);
    spry_matrix_free(B);
    spry_matrix_free(C);
    spry_matrix_free(D);
}

/* Of the first candidate of a kind. */
static double forecast_of(const precon_choice *choice, const char *kind)
{
    for (int i = 0; i < choice->count; i++)
        if (strcspn(choice->list[i].spec, ":") == strlen(kind) &&
            strncmp(choice->list[i].spec, kind, strlen(kind)) == 0)
            return choice->list[i].seconds;
    fail_msg("%s is no candidate", kind);
    return 0;
}

/* Devices solve with triangles level after level, in whatever matrix. */
static void test_auto_on_device(void **state)
{
    static const char *const recipes[][3] = {{"tridiagonal", "size=30000", "ic"},
                                             {"circuit", "size=30000", "ilu"},
                                             {"elasticity", "size=10", "ic"}};
    spry_context *ctx = *state;
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        precon_choice here, there;
        spry_matrix *A = generated(ctx, recipes[k][0], recipes[k][1]);
        assert_ok(ctx, precon_choose(ctx, A, 1, false, &here));
        assert_ok(ctx, precon_choose(ctx, A, 1, true, &there));
        assert_true(forecast_of(&there, recipes[k][2]) > 3 * forecast_of(&here, recipes[k][2]));
        spry_matrix_free(A);
    }
}

/* Three unknowns a point that are coupled among themselves, and not with others: blocks are found
 * and are all of A. */
static spry_matrix *blocks_of_three(spry_context *ctx)
{
    enum { BLOCKS = 40 };
    double rows[BLOCKS * 3][BLOCKS * 3] = {{0}};
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                rows[3 * b + i][3 * b + j] = i == j ? 3 + b % 3 : 1 - 0.5 * (i + 2 * j + b % 2) / 4;
    return support_from_rows(ctx, SPRY_TYPE_D, BLOCKS * 3, BLOCKS * 3, rows[0]);
}

static void test_blocks(void **state)
{
    spry_matrix *A = blocks_of_three(*state);
    assert_true(left_of_random(A, "block-jacobi") < 1e-14);
    assert_true(left_of_random(A, "block-jacobi:block=3") < 1e-14);
    assert_true(left_of_random(A, "block-jacobi:block=4") > 1e-2);
    assert_true(left_of_random(A, "jacobi") > 1e-2);
    /* Half precision is enough for these blocks, whose conditions are small: 2^-11 each number. */
    const double half = left_of_random(A, "block-jacobi:adaptive=yes");
    assert_true(half > 1e-6 && half < 9 * 0x1p-11);
    spry_matrix_free(A);
}

/* Badly conditioned blocks keep their precision, the worse the more. */
static void test_adaptive(void **state)
{
    spry_context *ctx = *state;
    static const double near[] = {0.3, 1.3e-3, 1e-9}, most[] = {9 * 0x1p-11, 1e-3, 1e-5},
                        least[] = {1e-6, 1e-10, 0};
    for (int k = 0; k < 3; k++) {
        const double rows[4] = {1, 1 - near[k], 1, 1};
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, rows);
        spry_operator *M = precons_make(A, "block-jacobi:block=2, adaptive=yes");
        double r[2] = {0.3, -0.7};
        const double left = leave(A, M, r) / hypot(0.3, 0.7);
        if (!(left <= most[k] && left >= least[k]))
            fail_msg("condition about %g: %g is left", 4 / near[k], left);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* l1 is the sums of rows, with the diagonal's sign. */
static void test_l1(void **state)
{
    spry_context *ctx = *state;
    static const double rows[9] = {2, -1, 1, 0, -4, 4, 1, 1, 0};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, rows);
    spry_operator *M = precons_make(A, "l1");
    double r[3] = {4, 8, 2}, z[3];
    spry_vector *vr = numeric_vector(ctx, SPRY_TYPE_D, 3, r),
                *vz = numeric_vector(ctx, SPRY_TYPE_D, 3, z);
    assert_string_equal(spry_operator_name(M), "l1");
    assert_ok(ctx, spry_operator_apply(M, vr, vz));
    assert_true(z[0] == 1 && z[1] == -1 && z[2] == 1);
    spry_vector_free(vr);
    spry_vector_free(vz);
    spry_operator_free(M);
    spry_matrix_free(A);
}

/* --- the one that docs/preconditioners.md shows --------------------------------------------------
 */

extern const precon_kind precon_kind_gershgorin; /* tests/support/gershgorin.c */

/* z times the sums of rows is r, also with new values, in all types. */
static void test_shown(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = precons_matrix(ctx, support_types[t], false, 5);
        const int64_t n = A->a.rows;
        spry_vector *ones = numeric_random(ctx, NULL, A->a.type, n, 0),
                    *z = numeric_random(ctx, NULL, A->a.type, n, 0);
        spry_operator *M = NULL;
        assert_ok(ctx, spry_vector_fill(ones, (spry_scalar){1, 0}));
        assert_ok(ctx, precon_make_kind(A, &precon_kind_gershgorin, "precision=same", &M));
        for (int turn = 0; turn < 2; turn++) {
            assert_ok(ctx, spry_operator_apply(M, ones, z));
            for (int64_t i = 0; i < n; i++) {
                double sum = 0;
                for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
                    const spry_scalar v = value_get(A->a.type, A->a.values, k);
                    sum += hypot(v.re, v.im);
                }
                /* a sum of at most five, an inverse and a product in single precision */
                assert_true(fabs(value_get(A->a.type, z->data, i).re * sum - 1) < 8 * 0x1p-24);
            }
            precons_change(A);
            assert_ok(ctx, spry_operator_update(M, A));
        }
        spry_operator_free(M);
        spry_vector_free(ones);
        spry_vector_free(z);
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_polynomials, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_estimate, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_overlap, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_many_parts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sub, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_traits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_no_rows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_zero_rows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_auto_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_auto_systems, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_auto_flows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_auto_on_device, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_blocks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_adaptive, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_l1, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_shown, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
