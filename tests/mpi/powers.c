/*
 * Matrix powers on ranks: with one message for several steps, bit by bit those of one process,
 * whatever the partition; forecasts, bad input alike on all ranks.
 */
#include "mpi/systems.h"

#include "host/powers.h"

#include <string.h>

enum { N = 240, K = 5 };

static spry_matrix *make(spry_context *ctx, spry_type type, int kind)
{
    spry_matrix *A = NULL;
    if (kind == 0)
        return support_sorted(ctx, type, SUPPORT_BANDED, N, N, 4 * N, 4);
    if (kind == 1)
        return support_sorted(ctx, type, SUPPORT_UNIFORM, N, N, 2 * N, 3);
    char options[32];
    snprintf(options, sizeof options, "nx=12 ny=20 type=%s", spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "convection-diffusion", options, &A));
    return A;
}

static void vectors(spry_context *ctx, spry_type type, int64_t first, int64_t n, spry_vector **v)
{
    for (int j = 0; j <= K; j++) {
        assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v[j]));
        for (int64_t i = 0; i < n; i++)
            value_set(type, v[j]->data, i, support_number(type, 7, (uint64_t)(first + i)));
    }
}

/* Steps on a grid that is cut along y, against those of one that is not. */
static void compare_grids(spry_context *ctx, spry_context *alone, spry_type type)
{
    char text[32], options[16];
    spry_grid *cut, *whole;
    spry_operator *A, *B;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    spry_vector *v[K + 1], *w[K + 1];
    power_step steps[K];
    for (int j = 0; j < K; j++)
        steps[j] = (power_step){{1 - 0.1 * j, 0}, {j == 2 ? 0 : 0.5, 0}, {j % 2, 0}, NULL};
    snprintf(text, sizeof text, "12x20 ranks=1x%d", spry_context_ranks(ctx));
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    assert_ok(ctx, spry_grid_new(ctx, text, &cut));
    assert_ok(alone, spry_grid_new(alone, "12x20", &whole));
    assert_ok(ctx, spry_operator_stencil(cut, "-laplace", options, 0, NULL, NULL, &A));
    assert_ok(alone, spry_operator_stencil(whole, "-laplace", options, 0, NULL, NULL, &B));
    assert_ok(ctx, spry_grid_describe(cut, &info));
    const int64_t first = info.begin[1] * info.axis_unknowns[0];
    vectors(ctx, type, first, A->rows, v);
    vectors(alone, type, 0, B->rows, w);
    for (int j = 0; j <= K; j++)
        v[j]->part = A->rows_part;
    assert_ok(ctx, operator_powers(A, SPRY_TRANSPOSE_NO, K, steps, v[0], v + 1));
    assert_ok(alone, operator_powers(B, SPRY_TRANSPOSE_NO, K, steps, w[0], w + 1));
    const size_t size = spry_type_size(type);
    for (int j = 1; j <= K; j++)
        assert_memory_equal(v[j]->data, (char *)w[j]->data + (size_t)first * size,
                            (size_t)A->rows * size);
    spry_powers *p, *q;
    assert_ok(ctx, spry_powers_from_operator(A, "k=5 results=last", &p));
    assert_ok(alone, spry_powers_from_operator(B, "k=5 schedule=skewed results=last", &q));
    assert_ok(ctx, spry_powers_apply(p, v[0], v + 1));
    assert_ok(alone, spry_powers_apply(q, w[0], w + 1));
    assert_memory_equal(v[1]->data, (char *)w[1]->data + (size_t)first * size,
                        (size_t)A->rows * size);
    spry_powers_free(p);
    spry_powers_free(q);
    for (int j = 0; j <= K; j++) {
        spry_vector_free(v[j]);
        spry_vector_free(w[j]);
    }
    spry_operator_free(A);
    spry_operator_free(B);
    spry_grid_free(cut);
    spry_grid_free(whole);
}

/* All depths of a matrix distributed in some way, against what one process makes. */
static void compare(spry_context *ctx, spry_context *alone, spry_type type, int kind, int way)
{
    static const char *const options[] = {"k=5", "k=5 depth=2", "k=5 depth=5",
                                          "k=5 schedule=plain"};
    int64_t starts[RANKS_MOST + 1];
    spry_matrix *whole = make(alone, type, kind), *given = make(ctx, type, kind), *A;
    spry_vector *v[K + 1], *w[K + 1], *product;
    spry_operator *plain;
    power_step steps[K];
    for (int j = 0; j < K; j++)
        steps[j] = (power_step){{1 - 0.1 * j, 0}, {0.5, 0}, {j % 2, 0}, NULL};
    ranks_starts(ctx, way, N, 1, starts);
    assert_ok(alone, spry_operator_from_matrix(whole, NULL, NULL, &plain));
    assert_ok(ctx, dist_from_whole(given, starts, NULL, &A));
    spry_matrix_free(given);
    const int64_t first = starts[team_rank(ctx)], own = starts[team_rank(ctx) + 1] - first;
    vectors(ctx, type, first, own, v);
    vectors(alone, type, 0, N, w);
    const size_t size = spry_type_size(type);
    assert_ok(ctx, spry_vector_like(v[0], own, &product));
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        spry_powers *p;
        spry_operator *op;
        spry_powers_info info = SPRY_POWERS_INFO_INIT;
        assert_ok(ctx, spry_powers_new(A, options[o], &p));
        assert_ok(ctx, spry_powers_forecast(p, &info));
        if (spry_context_ranks(ctx) > 1 && o > 0)
            assert_int_equal(info.depth, o == 1 ? 2 : o == 2 ? 5 : 1);
        assert_ok(ctx, spry_powers_apply(p, v[0], v + 1));
        for (int j = 0; j < K; j++) {
            assert_ok(alone, spry_operator_apply(plain, w[j], w[j + 1]));
            assert_memory_equal(v[j + 1]->data, (char *)w[j + 1]->data + (size_t)first * size,
                                (size_t)own * size);
        }
        assert_ok(ctx, spry_powers_operator(p, &op));
        steps[2].product = product;
        assert_ok(ctx, operator_powers(op, SPRY_TRANSPOSE_NO, K, steps, v[0], v + 1));
        steps[2].product = NULL;
        assert_ok(alone, operator_powers(plain, SPRY_TRANSPOSE_NO, K, steps, w[0], w + 1));
        for (int j = 1; j <= K; j++)
            assert_memory_equal(v[j]->data, (char *)w[j]->data + (size_t)first * size,
                                (size_t)own * size);
        assert_ok(alone, spry_operator_apply(plain, w[2], w[3])); /* kept by itself */
        assert_memory_equal(product->data, (char *)w[3]->data + (size_t)first * size,
                            (size_t)own * size);
        spry_operator_free(op);
        spry_powers_free(p);
    }
    for (int j = 0; j <= K; j++) {
        spry_vector_free(v[j]);
        spry_vector_free(w[j]);
    }
    spry_vector_free(product);
    spry_operator_free(plain);
    spry_matrix_free(A);
    spry_matrix_free(whole);
}

static void powers_of_one_process(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context("threads=1"), *alone = support_context("threads=1");
    for (int kind = 0; kind < 3; kind++)
        for (int way = 0; way < RANKS_WAYS; way++)
            compare(ctx, alone, support_types[(kind + way) % 4], kind, way);
    for (int t = 0; t < 4; t++)
        compare_grids(ctx, alone, support_types[t]);
    support_context_free(alone);
    support_context_free(ctx);
}

/* A vector that does not fit on one rank ends all of them; new values are seen by all. */
static void alike(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context("threads=1");
    int64_t starts[RANKS_MOST + 1];
    spry_matrix *whole = make(ctx, SPRY_TYPE_D, 2), *A;
    spry_vector *v[K + 1], *bad;
    spry_powers *p;
    const int last = spry_context_ranks(ctx) - 1;
    ranks_starts(ctx, RANKS_EVEN, N, 1, starts);
    assert_ok(ctx, dist_from_whole(whole, starts, NULL, &A));
    const int64_t first = starts[team_rank(ctx)], own = starts[team_rank(ctx) + 1] - first;
    vectors(ctx, SPRY_TYPE_D, first, own, v);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, own + 1, NULL, SPRY_OWN_COPY, &bad));
    assert_ok(ctx, spry_powers_new(A, "k=5 depth=3", &p));
    spry_vector *given[K];
    memcpy(given, v + 1, sizeof given);
    if (team_rank(ctx) == last)
        given[3] = bad;
    const spry_status status = spry_powers_apply(p, v[0], given);
    assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
    ranks_alike(ctx, status);
    assert_ok(ctx, spry_powers_apply(p, v[0], v + 1));
    double *values = calloc((size_t)dist_entries(A) + 1, sizeof *values);
    assert_non_null(values);
    assert_ok(ctx, dist_set_values(A, values));
    assert_ok(ctx, spry_powers_apply(p, v[0], v + 1));
    for (int64_t i = 0; i < own; i++)
        assert_true(((double *)v[K]->data)[i] == 0);
    free(values);
    spry_powers_free(p);
    spry_vector_free(bad);
    for (int j = 0; j <= K; j++)
        spry_vector_free(v[j]);
    spry_matrix_free(A);
    spry_matrix_free(whole);
    support_context_free(ctx);
}

/* Messages of a solve to neighbours, of this rank. */
static int64_t messages_of(system_t *s, const char *options)
{
    spry_solver *solver = NULL;
    spry_vector *x;
    spry_result result = SPRY_RESULT_INIT;
    spry_rank_report report = SPRY_RANK_REPORT_INIT;
    assert_ok(s->ctx, spry_vector_zeros(s->ctx, s->A, &x));
    assert_ok(s->ctx, spry_solver_new(s->ctx, &solver));
    assert_ok(s->ctx, spry_solver_set_matrix(solver, s->A));
    assert_ok(s->ctx, spry_solver_set(solver, options));
    assert_ok(s->ctx, spry_solve(solver, s->b, x, &result));
    assert_ok(s->ctx, spry_solver_rank(solver, spry_context_rank(s->ctx), &report));
    spry_result_clear(s->ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(x);
    return report.messages;
}

/* Methods that ask for several steps have them with one message, and the bits of one process: of s
 * steps as many messages as of one. With a preconditioner between the products that cannot be. */
static void solves(void **state)
{
    (void)state;
    static const char *const methods[] = {"s-step-cg:s=4,replace=0", "ca-gmres:s=4,restart=8"};
    system_t s;
    system_open(&s, "threads=1 repeat=strict", "poisson2d", "nx=130 ny=130", RANKS_EVEN, GRAIN);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        int64_t sent[2]; /* between the 4th iteration and the 8th */
        for (int precon = 0; precon < 2; precon++) {
            int64_t messages[2];
            for (int end = 0; end < 2; end++) {
                char options[160];
                snprintf(options, sizeof options,
                         "method=%s precon=%s tol=1e-12 keep=last max-iter=%d", methods[k],
                         precon ? "jacobi" : "none", 4 + 4 * end);
                if (end == 1)
                    same_bits(&s, options);
                messages[end] = messages_of(&s, options);
            }
            sent[precon] = messages[1] - messages[0];
        }
        if (spry_context_ranks(s.ctx) > 1) {
            assert_true(sent[0] > 0);
            assert_int_equal(sent[1], 4 * sent[0]);
        }
    }
    system_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers_of_one_process),
                                       cmocka_unit_test(alike), cmocka_unit_test(solves)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
