/*
 * Matrix powers: every way to make them has the bits of plain products, for patterns of all kinds;
 * bases are what they say; forecasts are exact.
 */
#include "host/powers.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/stepped.h"

#include <math.h>
#include <stdlib.h>

/* x, unless it is NULL, and k others, full of what is none of theirs. */
static void vectors_make(spry_context *ctx, const spry_matrix *A, int k, spry_vector **x,
                         spry_vector **v)
{
    if (x)
        *x = numeric_random(ctx, NULL, A->a.type, A->a.rows, 7);
    stepped_make(ctx, NULL, A->a.type, A->a.rows, k, v);
}

static void vectors_free(int k, spry_vector *x, spry_vector **v)
{
    spry_vector_free(x);
    stepped_free(k, v);
}

/* Powers by products, one after the other. */
static void by_products(spry_context *ctx, const spry_matrix *A, int k, const spry_vector *x,
                        spry_vector **v)
{
    spry_operator *op;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    for (int j = 0; j < k; j++)
        assert_ok(ctx, spry_operator_apply(op, j > 0 ? v[j - 1] : x, v[j]));
    spry_operator_free(op);
}

/* With these options A's powers are made as `schedule` says, and have the bits of products. */
static void check(spry_context *ctx, const spry_matrix *A, int k, const char *more,
                  const char *schedule)
{
    char options[128];
    spry_vector *x, *v[MOST_POWERS], *w[MOST_POWERS];
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    snprintf(options, sizeof options, "k=%d %s", k, more);
    vectors_make(ctx, A, k, &x, v);
    vectors_make(ctx, A, k, NULL, w);
    by_products(ctx, A, k, x, w);
    assert_ok(ctx, spry_powers_new(A, options, &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    if (schedule && strcmp(info.schedule, schedule) != 0)
        fail_msg("%s: %s, expected %s", options, info.schedule, schedule);
    assert_int_equal(info.steps, k);
    assert_ok(ctx, spry_powers_apply(p, x, v));
    for (int j = 0; j < k; j++)
        stepped_same(v[j], w[j], "%s: power %d", options, j + 1);
    spry_powers_free(p);
    vectors_free(k, x, v);
    vectors_free(k, NULL, w);
}

/* --- all ways ------------------------------------------------------------------------------------
 */

static const struct {
    const char *options, *schedule;
} ways[] = {{"schedule=plain", "plain"},
            {"schedule=skewed cut=rows depth=3", "skewed"},
            {"schedule=skewed cut=rcm", "skewed"},
            {"schedule=parts cut=rows memory=9000 depth=2", "parts"},
            {"schedule=parts cut=rcm memory=9000", "parts"},
            {"schedule=parts cut=metis memory=30000 depth=4", "parts"}};
enum { WAYS = sizeof ways / sizeof *ways };

static void types_threads_and_ways(void **state)
{
    (void)state;
    base_use_all_threads(true);
    for (int t = 0; t < 4; t++)
        for (int threads = 1; threads <= 3; threads++) {
            char text[32];
            snprintf(text, sizeof text, "threads=%d", threads);
            spry_context *ctx = support_context(text);
            spry_matrix *A = generated_as(ctx, support_types[t], "convection-diffusion",
                                          "nx=19 ny=23"); /* rows that no block divides */
            for (int way = 0; way < WAYS; way++)
                check(ctx, A, 5, ways[way].options, ways[way].schedule);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
    base_use_all_threads(false);
}

static void every_number_of_steps(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "nx=11 ny=31 points=9");
    for (int k = 1; k <= MOST_POWERS; k++) {
        const char *schedule = k > 1 ? "skewed" : "plain";
        check(ctx, A, k, "schedule=skewed", schedule);
        check(ctx, A, k, "schedule=skewed cut=rcm depth=5", schedule);
        check(ctx, A, k, "schedule=parts cut=rows memory=20000 depth=3", k > 1 ? "parts" : "plain");
    }
    spry_matrix_free(A);
}

/* Threads have shares of their own where a band leaves room for them, and fill the gaps. */
static void narrow_bands_are_shared(void **state)
{
    (void)state;
    base_use_all_threads(true);
    spry_context *ctx = support_context("threads=4");
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_matrix *A = generated(ctx, "tridiagonal", "size=2000");
    assert_ok(ctx, spry_powers_new(A, "k=6 schedule=skewed", &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_int_equal(info.parts, 4);
    assert_int_equal(info.depth, 6);
    spry_powers_free(p);
    check(ctx, A, 6, "schedule=skewed", "skewed");
    spry_matrix_free(A);
    support_context_free(ctx);
    base_use_all_threads(false);
}

/* --- patterns ------------------------------------------------------------------------------------
 */

static void all_ways(spry_context *ctx, const spry_matrix *A)
{
    for (int way = 0; way < WAYS; way++)
        check(ctx, A, 4, ways[way].options, NULL);
}

static void patterns(void **state)
{
    spry_context *ctx = *state;
    static const support_shape shapes[] = {SUPPORT_UNIFORM, SUPPORT_ONE_ROW, SUPPORT_ONE_COL,
                                           SUPPORT_BANDED};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int64_t nnz = 0; nnz <= 600; nnz += 300) { /* many rows are empty */
            const support_recipe recipe = {.type = SPRY_TYPE_D,
                                           .format = SPRY_FORMAT_CSR,
                                           .rows = 300,
                                           .cols = 300,
                                           .nnz = nnz,
                                           .shape = shapes[s],
                                           .seed = 5 + (uint64_t)nnz};
            spry_matrix *A = support_matrix(ctx, &recipe);
            all_ways(ctx, A);
            spry_matrix_free(A);
        }
    spry_matrix *one = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (const double[]){0.5});
    all_ways(ctx, one);
    spry_matrix_free(one);
    spry_matrix *none = support_from_rows(ctx, SPRY_TYPE_D, 0, 0, (const double[]){0});
    all_ways(ctx, none);
    spry_matrix_free(none);
}

static void other_formats(void **state)
{
    spry_context *ctx = *state;
    static const spry_format formats[] = {SPRY_FORMAT_COO, SPRY_FORMAT_CSC};
    spry_matrix *A = generated(ctx, "poisson2d", "size=12"), *B;
    for (int f = 0; f < 2; f++) {
        assert_ok(ctx, spry_matrix_convert(A, formats[f], &B));
        all_ways(ctx, B);
        spry_matrix_free(B);
    }
    spry_matrix_free(A);
}

/* Where each part would need all rows, and where sums of long rows are made by chunks. */
static void dense_rows_are_refused(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "arrowhead", "size=300");
    check(ctx, A, 4, "schedule=parts cut=rows memory=1000", "plain");
    check(ctx, A, 4, "memory=1000", "plain");
    spry_matrix_free(A);
    A = support_long_row(ctx, SPRY_TYPE_D, 8193);
    check(ctx, A, 2, "schedule=skewed depth=2", "plain");
    spry_matrix_free(A);
}

/* --- bases ---------------------------------------------------------------------------------------
 */

/* T_j of diag(d) on ones is cos(j acos z). An error of z is multiplied by T_j' <= j^2, each step
 * adds roundings of three terms of at most 2 |T| and is followed by U_(k-j) <= k - j. */
static void chebyshev(void **state)
{
    spry_context *ctx = *state;
    enum { N = 20, K = MOST_POWERS };
    double a[N * N] = {0};
    spry_vector *x, *v[K];
    spry_powers *p;
    for (int i = 0; i < N; i++)
        a[i * N + i] = 2 + 6 * (i + 0.5) / N;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, N, N, a);
    vectors_make(ctx, A, K, &x, v);
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_powers_new(A, "k=16 basis=chebyshev low=2 high=8", &p));
    assert_ok(ctx, spry_powers_apply(p, x, v));
    for (int j = 1; j <= K; j++)
        for (int i = 0; i < N; i++) {
            const double z = (a[i * N + i] - 5) / 3;
            const double bound = (8.0 * j * j + 4 * j * j) * 0x1p-53 * (5.0 / 3 + 2);
            assert_true(fabs(((double *)v[j - 1]->data)[i] - cos(j * acos(z))) <= bound);
        }
    spry_powers_free(p);
    vectors_free(K, x, v);
    spry_matrix_free(A);
}

/* Polynomials that are 0 at eigenvalues: exactly, in small whole numbers. */
static void newton(void **state)
{
    spry_context *ctx = *state;
    enum { N = 5, K = 5 };
    /* diag(5, 2, 3) and the eigenvalues 1 +- 2i */
    const double a[N * N] = {5, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0,  0, 3,
                             0, 0, 0, 0, 0, 1, 2, 0, 0, 0, -2, 1};
    const spry_scalar shifts[K] = {{2, 0}, {1, 2}, {1, -2}, {3, 0}, {5, 0}};
    for (int t = 0; t < 4; t++) {
        spry_vector *x, *v[K];
        spry_powers *p;
        spry_matrix *A = support_from_rows(ctx, support_types[t], N, N, a);
        vectors_make(ctx, A, K, &x, v);
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
        assert_ok(ctx, spry_powers_new(A, "k=5 basis=newton", &p));
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, x, v));
        support_message_has(ctx, "spry_powers_set_shifts");
        assert_ok(ctx, spry_powers_set_shifts(p, K, shifts));
        assert_ok(ctx, spry_powers_apply(p, x, v));
        for (int j = 0; j < K; j++)
            for (int i = 0; i < N; i++) {
                const spry_scalar found = value_get(support_types[t], v[j]->data, i);
                const bool gone = (i == 1) || (i >= 3 && j >= 2) || (i == 2 && j >= 3) || j == 4;
                assert_int_equal(found.re == 0 && found.im == 0, gone);
            }
        spry_powers_free(p);
        vectors_free(K, x, v);
        spry_matrix_free(A);
    }
}

/* Steps with all factors: every way has the bits of operator_powers() on the plain product. */
static void recurrences(void **state)
{
    spry_context *ctx = *state;
    enum { K = 7 };
    power_step steps[K];
    for (int t = 0; t < 4; t++) {
        const bool complex = spry_type_is_complex(support_types[t]);
        for (int j = 0; j < K; j++)
            steps[j] = (power_step){{1.1 - 0.1 * j, complex ? 0.3 : 0},
                                    {0.7, complex ? -0.2 * j : 0},
                                    {j % 3 == 1 ? 0 : 0.4, complex ? 0.1 : 0},
                                    NULL};
        spry_matrix *A = generated_as(ctx, support_types[t], "poisson2d", "nx=14 ny=15");
        spry_vector *x, *v[K], *w[K], *products[K], *product;
        spry_operator *plain;
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &plain));
        vectors_make(ctx, A, K, &x, v);
        vectors_make(ctx, A, K, NULL, w);
        vectors_make(ctx, A, K, NULL, products);
        assert_ok(ctx, spry_vector_like(x, A->a.rows, &product));
        assert_ok(ctx, operator_powers(plain, SPRY_TRANSPOSE_NO, K, steps, x, w));
        for (int j = 0; j < K; j++) /* those that are kept by themselves */
            steps[j].product = j % 2 == 0 ? products[j] : NULL;
        for (int way = 0; way < WAYS; way++) {
            spry_powers *p;
            spry_operator *op;
            assert_ok(ctx, spry_powers_new(A, ways[way].options, &p));
            assert_ok(ctx, spry_powers_operator(p, &op));
            assert_ok(ctx, operator_powers(op, SPRY_TRANSPOSE_NO, K, steps, x, v));
            for (int j = 0; j < K; j++)
                stepped_same(v[j], w[j], "%s: power %d", ways[way].options, j + 1);
            for (int j = 0; j < K; j += 2) {
                assert_ok(ctx, spry_operator_apply(plain, j > 0 ? w[j - 1] : x, product));
                stepped_same(products[j], product, "%s: power %d", ways[way].options, j + 1);
            }
            assert_ok(ctx, operator_powers(op, SPRY_TRANSPOSE_CONJUGATE, 2, steps, x, v));
            spry_operator_free(op);
            spry_powers_free(p);
        }
        spry_operator_free(plain);
        spry_vector_free(product);
        vectors_free(K, NULL, products);
        vectors_free(K, x, v);
        vectors_free(K, NULL, w);
        spry_matrix_free(A);
    }
}

/* A solver hands runs of steps over to what makes them in parts or close behind each other, and x
 * has the bits of products. */
static void solves(void **state)
{
    spry_context *ctx = *state;
    static const char *const methods[] = {"s-step-cg:s=4", "ca-gmres:s=4", "s-step-bicgstab:s=2"};
    static const char *const schedules[] = {"k=4 schedule=skewed depth=4",
                                            "k=4 schedule=parts cut=metis memory=30000 depth=3"};
    spry_matrix *A = generated_as(ctx, SPRY_TYPE_D, "poisson2d", "nx=14 ny=15");
    spry_vector *b, *x[3];
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (int way = 0; way < 3; way++) {
            char options[96];
            spry_solver *solver;
            spry_powers *p = NULL;
            spry_operator *op = NULL;
            spry_result result = SPRY_RESULT_INIT;
            snprintf(options, sizeof options, "method=%s precon=none tol=1e-9 format=csr",
                     methods[m]);
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x[way]));
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            assert_ok(ctx, spry_solver_set(solver, options));
            if (way > 0) {
                assert_ok(ctx, spry_powers_new(A, schedules[way - 1], &p));
                assert_ok(ctx, spry_powers_operator(p, &op));
                assert_int_equal(operator_powers_depth(op, 4), way == 1 ? 4 : 3);
            }
            assert_ok(ctx, way > 0 ? spry_solver_set_operator(solver, op)
                                   : spry_solver_set_matrix(solver, A));
            assert_ok(ctx, spry_solve(solver, b, x[way], &result));
            assert_true(result.converged);
            stepped_same(x[way], x[0], "%s: power %d", methods[m], way + 1);
            spry_result_clear(ctx, &result);
            spry_solver_free(solver);
            spry_operator_free(op);
            spry_powers_free(p);
        }
        for (int way = 0; way < 3; way++)
            spry_vector_free(x[way]);
    }
    spry_vector_free(b);
    spry_matrix_free(A);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

/* Parts of a chain: each cut makes one ghost row more on either side for each step to come. */
static void forecasts_are_exact(void **state)
{
    spry_context *ctx = *state;
    enum { K = 4, SIZE = 400 };
    spry_matrix *A = generated(ctx, "tridiagonal", "size=400");
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    assert_ok(ctx, spry_powers_new(A, "k=4 schedule=parts cut=rows memory=6000", &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_string_equal(info.schedule, "parts");
    assert_string_equal(info.cut, "rows");
    assert_int_equal(info.depth, K);
    assert_true(info.parts > 1 && info.part_bytes <= 6000);
    for (int j = 0; j < K; j++) {
        assert_int_equal(info.ghost_rows[j], 2 * (info.parts - 1) * (K - 1 - j));
        assert_int_equal(info.ghost_entries[j], 3 * info.ghost_rows[j]);
    }
    const int64_t matrix = (3 * SIZE - 2) * 12 + (SIZE + 1) * 8;
    assert_int_equal(info.plain_bytes, K * (matrix + 2 * SIZE * 8));
    assert_true(info.bytes < info.plain_bytes && info.gain > 1);
    spry_powers_free(p);
    assert_ok(ctx, spry_powers_new(A, "k=4 schedule=skewed", &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_int_equal(info.bytes, matrix + SIZE * 8 + K * SIZE * 8);
    for (int j = 0; j < K; j++)
        assert_int_equal(info.ghost_rows[j] + info.ghost_entries[j], 0);
    spry_powers_free(p);
    spry_matrix_free(A);
}

/* Too little fast memory: fewer steps at a time, in the end plain products. */
static void memory_bounds_the_depth(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "nx=16 ny=200");
    int before = 9;
    for (int64_t memory = 1 << 20; memory > 1000; memory /= 2) {
        char options[64];
        spry_powers *p;
        spry_powers_info info = SPRY_POWERS_INFO_INIT;
        snprintf(options, sizeof options, "k=8 schedule=skewed cut=rows memory=%d", (int)memory);
        assert_ok(ctx, spry_powers_new(A, options, &p));
        assert_ok(ctx, spry_powers_forecast(p, &info));
        assert_true(info.depth <= before && (info.depth == 1 || info.part_bytes <= memory));
        before = info.depth;
        spry_powers_free(p);
    }
    assert_int_equal(before, 1);
    spry_matrix_free(A);
}

static void new_values(void **state)
{
    spry_context *ctx = *state;
    enum { K = 3 };
    spry_matrix *A = generated(ctx, "poisson2d", "size=13");
    spry_vector *x, *v[K], *w[K];
    vectors_make(ctx, A, K, &x, v);
    vectors_make(ctx, A, K, NULL, w);
    double *values = malloc((size_t)A->a.nnz * sizeof *values);
    assert_non_null(values);
    for (int way = 0; way < WAYS; way++) {
        char options[128];
        spry_powers *p;
        snprintf(options, sizeof options, "k=%d %s", K, ways[way].options);
        assert_ok(ctx, spry_powers_new(A, options, &p));
        for (int64_t k = 0; k < A->a.nnz; k++)
            values[k] = (double)(k % 7) - way;
        assert_ok(ctx, spry_matrix_set_values(A, values, SPRY_OWN_COPY));
        assert_ok(ctx, spry_powers_apply(p, x, v));
        by_products(ctx, A, K, x, w);
        for (int j = 0; j < K; j++)
            stepped_same(v[j], w[j], "%s: power %d", ways[way].options, j + 1);
        spry_powers_free(p);
    }
    free(values);
    vectors_free(K, x, v);
    vectors_free(K, NULL, w);
    spry_matrix_free(A);
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    enum { K = 2 };
    spry_matrix *A = generated(ctx, "poisson2d", "size=5");
    spry_matrix *flat = support_from_rows(ctx, SPRY_TYPE_D, 1, 2, (const double[]){1, 2});
    spry_vector *x, *v[K], *short_one;
    spry_powers *p = NULL;
    vectors_make(ctx, A, K, &x, v);
    assert_ok(ctx, spry_vector_like(x, 3, &short_one));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_new(flat, NULL, &p));
    support_message_has(ctx, "1 x 2");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_new(A, "k=17", &p));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_new(A, "k=0", &p));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_new(A, "basis=chebyshev", &p));
    support_message_has(ctx, "interval");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_powers_new(A, "basis=chebyshev low=-1e308 high=1.7e308", &p));
    assert_null(p);

    assert_ok(ctx, spry_powers_new(A, "k=2", &p));
    const spry_scalar pair[K] = {{1, 2}, {1, 2}}, endless[K] = {{1, 0}, {INFINITY, 0}};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_set_shifts(p, K, pair));
    spry_vector *twice[K] = {v[0], v[0]}, *first[K] = {x, v[1]}, *lacking[K] = {v[0], NULL},
                *unlike[K] = {v[0], short_one};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, x, twice));
    support_message_has(ctx, "vector 2 is the same");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, x, first));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, x, lacking));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, x, unlike));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, short_one, v));
    spry_powers_free(p);
    assert_ok(ctx, spry_powers_new(A, "k=2 basis=newton", &p));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_set_shifts(p, 1, pair));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_set_shifts(p, K, pair));
    support_message_has(ctx, "conjugate");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_set_shifts(p, K, endless));
    spry_powers_free(p);
    spry_vector_free(short_one);
    vectors_free(K, x, v);
    spry_matrix_free(A);
    spry_matrix_free(flat);
}

typedef struct torture {
    const spry_matrix *A;
    const char *options;
    spry_vector *x, **v;
} torture;

static spry_status make_and_apply(spry_context *ctx, void *data)
{
    const torture *t = data;
    spry_powers *p = NULL;
    spry_operator *op = NULL;
    (void)ctx;
    spry_status status = spry_powers_new(t->A, t->options, &p);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_operator(p, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_apply(p, t->x, t->v);
    spry_operator_free(op);
    spry_powers_free(p);
    return status;
}

static void allocations(void **state)
{
    spry_context *ctx = *state;
    enum { K = 4 };
    spry_matrix *A = generated(ctx, "poisson2d", "size=9");
    spry_vector *x, *v[K];
    vectors_make(ctx, A, K, &x, v);
    for (int way = 0; way < WAYS; way++) {
        char options[128];
        snprintf(options, sizeof options, "k=%d %s", K, ways[way].options);
        torture t = {A, options, x, v};
        support_torture(ctx, make_and_apply, &t);
    }
    vectors_free(K, x, v);
    spry_matrix_free(A);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {TEST(types_threads_and_ways),
                                       TEST(every_number_of_steps),
                                       TEST(narrow_bands_are_shared),
                                       TEST(patterns),
                                       TEST(other_formats),
                                       TEST(dense_rows_are_refused),
                                       TEST(chebyshev),
                                       TEST(newton),
                                       TEST(recurrences),
                                       TEST(solves),
                                       TEST(forecasts_are_exact),
                                       TEST(memory_bounds_the_depth),
                                       TEST(new_values),
                                       TEST(bad_input),
                                       TEST(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
