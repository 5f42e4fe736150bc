/*
 * Powers of operators on grids: whatever the order of the work, the number of threads and of the
 * vectors, steps have the bits of spry_operator_multiply() and spry_vector_axpy().
 */
#include "host/powers.h"
#include "support/generated.h"
#include "support/stepped.h"

enum { K = 6 };

static const struct {
    const char *grid, *text;
    int order;
} problems[] = {
    {"300", "-laplace", 2},
    {"301 x=periodic", "dx^2 + 3*dx", 4},
    {"200 x=neumann", "dx^4 - dx^2", 4},
    {"17x40", "-laplace", 2},
    {"17x41 boundary=neumann", "-laplace + k", 2},
    {"16x30 x=periodic y=neumann:dirichlet", "div(k*grad) + dx", 4},
    {"12x30 boundary=periodic", "laplace - 0.1*dx^2*dy^2", 2},
    {"14x36 stretch=x:cosine,y:ratio:1.05", "-laplace + 2*dy", 2},
    {"13x50 x=absorb layer=3", "laplace", 6},
    {"5x6x24", "-laplace", 2},
    {"6x6x20 y=periodic z=neumann", "-dx^2 - dy*k*dy - dz^2", 2},
    {"9x9x12 z=dirichlet:neumann", "-laplace", 8},
    {"6x7x12 z=periodic", "-laplace + dz", 2},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void field_number(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1 + 0.5 * place[0] + 0.25 * place[1] * place[1] + place[2], 0};
}

static spry_operator *make(spry_context *ctx, int problem, spry_type type)
{
    static const char *const name = "k";
    char options[32];
    spry_grid *grid;
    spry_vector *k;
    spry_operator *A;
    snprintf(options, sizeof options, "order=%d type=%s", problems[problem].order,
             spry_type_name(type));
    assert_ok(ctx, spry_grid_new(ctx, problems[problem].grid, &grid));
    assert_ok(ctx, spry_field_new(grid, type, true, field_number, NULL, &k));
    assert_ok(ctx, spry_operator_stencil(grid, problems[problem].text, options, 1, &name,
                                         (const spry_vector *const *)&k, &A));
    spry_vector_free(k);
    spry_grid_free(grid);
    return A;
}

/* One after the other; v[0] is x. */
static void by_products(spry_context *ctx, const spry_operator *A, const power_step *steps,
                        spry_vector **v)
{
    for (int j = 0; j < K; j++) {
        const bool three = j > 0 && (steps[j].gamma.re != 0 || steps[j].gamma.im != 0);
        assert_ok(ctx, spry_vector_copy(three ? v[j - 1] : v[j], v[j + 1]));
        assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, steps[j].alpha, v[j],
                                              three ? steps[j].gamma : steps[j].beta, v[j + 1]));
        if (three)
            assert_ok(ctx, spry_vector_axpy(steps[j].beta, v[j], v[j + 1]));
    }
}

static const spry_scalar shifts[K] = {{2, 0}, {0.5, 1}, {0.5, -1}, {-3, 0}, {1, 2}, {1, -2}};
static const char *const bases[] = {"", "basis=chebyshev low=-3 high=40", "basis=newton"};
enum { BASES = sizeof bases / sizeof *bases };

static void steps_of(int basis, spry_type type, power_step *steps)
{
    if (basis == 0)
        power_steps_plain(K, steps);
    else if (basis == 1)
        power_steps_chebyshev(K, -3, 40, steps);
    else
        power_steps_newton(K, shifts, !spry_type_is_complex(type), steps);
}

static const struct {
    const char *options, *schedule;
} ways[] = {{"schedule=plain", "plain"},
            {"schedule=skewed", "skewed"},
            {"schedule=skewed depth=4", "skewed"},
            {"schedule=plain results=last", "plain"},
            {"schedule=skewed results=last", "skewed"},
            {"schedule=skewed results=last depth=3", "skewed"}};
enum { WAYS = sizeof ways / sizeof *ways };

static void check(spry_context *ctx, const spry_operator *A, int problem, int basis, int way,
                  spry_vector **w)
{
    char options[128];
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_vector *v[K];
    const bool last = strstr(ways[way].options, "last") != NULL;
    snprintf(options, sizeof options, "k=%d %s %s", K, ways[way].options, bases[basis]);
    stepped_make(ctx, NULL, A->type, A->rows, K, v);
    assert_ok(ctx, spry_powers_from_operator(A, options, &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_string_equal(info.schedule, ways[way].schedule);
    if (basis == 2)
        assert_ok(ctx, spry_powers_set_shifts(p, K, shifts));
    for (int turn = 0; turn < 2; turn++) /* what was there before counts for nothing */
        assert_ok(ctx, spry_powers_apply(p, w[0], v));
    if (last)
        stepped_same(v[0], w[K], "%s, %s: step %d", problems[problem].grid, options, K);
    for (int j = 0; j < K && !last; j++)
        stepped_same(v[j], w[j + 1], "%s, %s: step %d", problems[problem].grid, options, j + 1);
    spry_powers_free(p);
    stepped_free(K, v);
}

static void bits_of_products(void **state)
{
    (void)state;
    base_use_all_threads(true);
    for (int threads = 1; threads <= 3; threads++) {
        char text[32];
        snprintf(text, sizeof text, "threads=%d", threads);
        spry_context *ctx = support_context(text);
        for (int problem = 0; problem < PROBLEMS; problem++)
            for (int t = 0; t < 4; t++) {
                if (!support_turn(t, problem + threads))
                    continue;
                spry_operator *A = make(ctx, problem, support_types[t]);
                spry_vector *w[K + 1];
                power_step steps[K];
                stepped_make(ctx, NULL, A->type, A->rows, K + 1, w);
                const int basis = support_full() ? 0 : (problem + threads + t) % BASES;
                for (int b = basis; b < (support_full() ? BASES : basis + 1); b++) {
                    steps_of(b, A->type, steps);
                    by_products(ctx, A, steps, w);
                    for (int way = 0; way < WAYS; way++)
                        check(ctx, A, problem, b, way, w);
                }
                stepped_free(K + 1, w);
                spry_operator_free(A);
            }
        support_context_free(ctx);
    }
    base_use_all_threads(false);
}

/* Threads have shares of their own, and the gaps between them are filled: with all vectors, and
 * with two that take turns. */
static void lines_are_shared(void **state)
{
    (void)state;
    base_use_all_threads(true);
    spry_context *ctx = support_context("threads=3");
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_operator *A = make(ctx, 3, SPRY_TYPE_D);
    assert_ok(ctx, spry_powers_from_operator(A, "k=6 schedule=skewed", &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_int_equal(info.parts, 3);
    assert_int_equal(info.depth, 6);
    spry_powers_free(p);
    spry_operator_free(A);
    support_context_free(ctx);
    base_use_all_threads(false);
}

/* The least bytes, as docs/powers.md has them. */
static void forecasts(void **state)
{
    spry_context *ctx = *state;
    spry_operator *A = make(ctx, 3, SPRY_TYPE_D);
    const int64_t vector = A->rows * 8;
    static const struct {
        const char *options;
        int vectors, depth;
    } cases[] = {{"k=6 schedule=plain", 12, 1},
                 {"k=6 schedule=skewed", 7, 6},
                 {"k=6 schedule=skewed depth=3", 8, 3},
                 {"k=6 schedule=skewed results=last", 3, 6},
                 {"k=6 schedule=skewed results=last depth=2", 9, 2},
                 {"k=6 schedule=skewed memory=100", 12, 1},
                 {"k=6", 12, 1}}; /* all of it is in the cache */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        spry_powers *p;
        spry_powers_info info = SPRY_POWERS_INFO_INIT;
        assert_ok(ctx, spry_powers_from_operator(A, cases[c].options, &p));
        assert_ok(ctx, spry_powers_forecast(p, &info));
        assert_int_equal(info.depth, cases[c].depth);
        assert_int_equal(info.bytes, A->own_bytes + cases[c].vectors * vector);
        assert_int_equal(info.plain_bytes, 12 * vector);
        spry_powers_free(p);
    }
    spry_operator_free(A);
}

/* Measured or not, `auto` has the same bits. Too little memory for the vectors to be cached. */
static void measured(void **state)
{
    spry_context *ctx = *state;
    enum { PROBLEM = 9 };
    spry_operator *A = make(ctx, PROBLEM, SPRY_TYPE_D);
    spry_vector *w[K + 1], *v[K];
    power_step steps[K];
    spry_powers *p;
    stepped_make(ctx, NULL, A->type, A->rows, K + 1, w);
    stepped_make(ctx, NULL, A->type, A->rows, K, v);
    steps_of(0, A->type, steps);
    by_products(ctx, A, steps, w);
    assert_ok(ctx, spry_powers_from_operator(A, "k=6 memory=7000", &p));
    assert_ok(ctx, spry_powers_apply(p, w[0], v));
    for (int j = 0; j < K; j++)
        stepped_same(v[j], w[j + 1], "%s, %s: step %d", problems[PROBLEM].grid, "auto", j + 1);
    spry_powers_free(p);
    stepped_free(K + 1, w);
    stepped_free(K, v);
    spry_operator_free(A);
}

/* What methods ask an operator for, and the operator that is made of powers. */
static void as_operators(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const int problem = 5;
        spry_operator *A = make(ctx, problem, support_types[t]), *P;
        spry_vector *w[K + 1], *v[K];
        power_step steps[K];
        spry_powers *p;
        stepped_make(ctx, NULL, A->type, A->rows, K + 1, w);
        stepped_make(ctx, NULL, A->type, A->rows, K, v);
        steps_of(1, A->type, steps);
        by_products(ctx, A, steps, w);
        assert_ok(ctx, operator_powers(A, SPRY_TRANSPOSE_NO, K, steps, w[0], v));
        for (int j = 0; j < K; j++)
            stepped_same(v[j], w[j + 1], "%s, %s: step %d", problems[problem].grid,
                         "of the operator", j + 1);
        assert_ok(ctx, spry_powers_from_operator(A, "schedule=skewed depth=4", &p));
        assert_ok(ctx, spry_powers_operator(p, &P));
        assert_ok(ctx, operator_powers(P, SPRY_TRANSPOSE_NO, K, steps, w[0], v));
        for (int j = 0; j < K; j++)
            stepped_same(v[j], w[j + 1], "%s, %s: step %d", problems[problem].grid,
                         "of powers' operator", j + 1);
        spry_vector *turns[K] = {v[1], v[0], v[1], v[0], v[1], v[0]};
        assert_ok(ctx, operator_powers(A, SPRY_TRANSPOSE_NO, K, steps, w[0], turns));
        stepped_same(v[0], w[K], "%s, %s: step %d", problems[problem].grid, "with two vectors", K);
        assert_ok(ctx, spry_operator_multiply(P, SPRY_TRANSPOSE_CONJUGATE, steps[0].alpha, w[0],
                                              (spry_scalar){0, 0}, v[0]));
        assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_CONJUGATE, steps[0].alpha, w[0],
                                              (spry_scalar){0, 0}, v[1]));
        stepped_same(v[0], v[1], "%s, %s: step %d", problems[problem].grid, "transposed", 1);
        spry_operator_free(P);
        spry_powers_free(p);
        stepped_free(K + 1, w);
        stepped_free(K, v);
        spry_operator_free(A);
    }
}

/* An operator that knows nothing of its rows: products, with two vectors, too. T_j of a diagonal
 * is exact in small whole numbers. */
static void matrices(void **state)
{
    spry_context *ctx = *state;
    const double a[9] = {-1, 0, 0, 0, 1, 0, 0, 0, 3};
    static const double expected[3] = {1, 1, 577}; /* T_4 at -1, 1 and 3 */
    spry_matrix *M = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, a);
    spry_operator *A;
    spry_powers *p;
    spry_powers_info info = SPRY_POWERS_INFO_INIT;
    spry_vector *v[3];
    assert_ok(ctx, spry_operator_from_matrix(M, NULL, NULL, &A));
    stepped_make(ctx, NULL, A->type, A->rows, 3, v);
    assert_ok(ctx, spry_vector_fill(v[2], (spry_scalar){1, 0}));
    assert_ok(ctx,
              spry_powers_from_operator(A, "k=4 basis=chebyshev low=-1 high=1 results=last", &p));
    assert_ok(ctx, spry_powers_forecast(p, &info));
    assert_string_equal(info.schedule, "plain");
    assert_ok(ctx, spry_powers_apply(p, v[2], v));
    assert_memory_equal(v[0]->data, expected, sizeof expected);
    spry_powers_free(p);
    stepped_free(3, v);
    spry_operator_free(A);
    spry_matrix_free(M);
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *flat = support_from_rows(ctx, SPRY_TYPE_D, 1, 2, (const double[]){1, 2});
    spry_operator *oblong, *A = make(ctx, 3, SPRY_TYPE_D);
    spry_powers *p = NULL;
    spry_vector *v[3];
    stepped_make(ctx, NULL, A->type, A->rows, 3, v);
    assert_ok(ctx, spry_operator_from_matrix(flat, NULL, NULL, &oblong));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_from_operator(oblong, NULL, &p));
    support_message_has(ctx, "1 x 2");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_from_operator(A, "schedule=parts", &p));
    support_message_has(ctx, "spry_operator_to_matrix");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_from_operator(A, "cut=rcm", &p));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_from_operator(A, "k=0", &p));
    assert_null(p);
    spry_matrix *M = generated(ctx, "poisson2d", "size=4");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_new(M, "results=last", &p));
    support_message_has(ctx, "spry_powers_from_operator");
    assert_null(p);
    assert_ok(ctx, spry_powers_from_operator(A, "k=5 results=last", &p));
    spry_vector *twice[2] = {v[1], v[1]}, *first[2] = {v[1], v[0]}, *lacking[2] = {v[1], NULL};
    assert_ok(ctx, spry_powers_apply(p, v[0], v + 1));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, v[0], twice));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, v[0], first));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_powers_apply(p, v[0], lacking));
    spry_powers_free(p);
    stepped_free(3, v);
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_operator_free(oblong);
    spry_matrix_free(flat);
}

typedef struct torture {
    const spry_operator *A;
    const char *options;
    spry_vector **v;
} torture;

static spry_status make_and_apply(spry_context *ctx, void *data)
{
    const torture *t = data;
    spry_powers *p = NULL;
    spry_operator *op = NULL;
    (void)ctx;
    spry_status status = spry_powers_from_operator(t->A, t->options, &p);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_operator(p, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_powers_apply(p, t->v[0], t->v + 1);
    spry_operator_free(op);
    spry_powers_free(p);
    return status;
}

static void allocations(void **state)
{
    spry_context *ctx = *state;
    static const char *const options[] = {"k=3 schedule=skewed", "k=3 memory=7000",
                                          "k=3 schedule=plain results=last"};
    spry_operator *A = make(ctx, 3, SPRY_TYPE_D);
    spry_vector *v[4];
    stepped_make(ctx, NULL, A->type, A->rows, 4, v);
    for (int o = 0; o < 3; o++) {
        torture t = {A, options[o], v};
        support_torture(ctx, make_and_apply, &t);
    }
    stepped_free(4, v);
    spry_operator_free(A);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(bits_of_products), TEST(lines_are_shared), TEST(forecasts), TEST(measured),
        TEST(as_operators),     TEST(matrices),         TEST(bad_input), TEST(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
