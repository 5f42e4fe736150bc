/* Partitions that ranks make together (PT-Scotch): fewer elements to be sent than rows in their
 * order have, and the right answers; where there is no library for them all ranks say so. */
#include "mpi/ranks.h"

#include <math.h>
#include <spry/spry.h>
#include <string.h>

/* The 5-point matrix of a SIZE x SIZE grid, whose points are numbered at random: each rank gives
 * some of the rows. */
enum { SIZE = 24, ALL = SIZE * SIZE };

typedef struct given {
    int64_t first, rows, offsets[ALL + 1], columns[5 * ALL];
    double values[5 * ALL], b[ALL], x[ALL];
    int64_t number[ALL], point[ALL]; /* of a point; of a number */
} given;

static void shuffle(given *g)
{
    for (int64_t k = 0; k < ALL; k++)
        g->point[k] = k;
    for (int64_t k = ALL - 1; k > 0; k--) {
        const int64_t other = (int64_t)(base_random(7, (uint64_t)k) % (uint64_t)(k + 1));
        const int64_t kept = g->point[k];
        g->point[k] = g->point[other];
        g->point[other] = kept;
    }
    for (int64_t k = 0; k < ALL; k++)
        g->number[g->point[k]] = k;
}

static double solution(int64_t number)
{
    return 1 + (double)(number % 7);
}

static void add(given *g, int64_t row, int64_t *n, int64_t i, int64_t j, double value)
{
    if (i < 0 || i >= SIZE || j < 0 || j >= SIZE)
        return;
    g->columns[*n] = g->number[i * SIZE + j];
    g->values[*n] = value;
    g->b[row] += value * solution(g->columns[*n]);
    ++*n;
}

static void give(spry_context *ctx, given *g)
{
    const int ranks = spry_context_ranks(ctx), me = spry_context_rank(ctx);
    int64_t n = 0;
    shuffle(g);
    g->first = (int64_t)ALL * me / ranks;
    g->rows = (int64_t)ALL * (me + 1) / ranks - g->first;
    for (int64_t row = 0; row < g->rows; row++) {
        const int64_t point = g->point[g->first + row], i = point / SIZE, j = point % SIZE;
        g->offsets[row] = n;
        g->b[row] = 0;
        add(g, row, &n, i, j, 4.5);
        add(g, row, &n, i - 1, j, -1);
        add(g, row, &n, i + 1, j, -1);
        add(g, row, &n, i, j - 1, -1);
        add(g, row, &n, i, j + 1, -1);
    }
    g->offsets[g->rows] = n;
}

static spry_status distribute(spry_context *ctx, const given *g, spry_matrix **A)
{
    return spry_matrix_new_distributed(ctx, SPRY_TYPE_D, ALL, ALL, g->rows, NULL, g->offsets,
                                       g->columns, g->values, A);
}

/* Elements that all ranks receive for a product, and rows of all. */
static void count(spry_context *ctx, const spry_matrix *A, int64_t *received)
{
    int64_t rows = 0;
    assert_ok(ctx, team_sum(ctx, A->a.rows, &rows));
    assert_int_equal(rows, ALL);
    assert_ok(ctx, team_sum(ctx, A->distributed ? A->distributed->ghosts : 0, received));
}

/* The condition of A is below 17, and so an error below 17 times the residual relative to x. */
static void solve(spry_context *ctx, const spry_matrix *A, given *g)
{
    const double tolerance = 1e-10;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double error = 0, all = 0, least, most;
    assert_ok(ctx, spry_vector_new_distributed(A, g->b, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "method=cg precon=jacobi tol=1e-10", &result));
    assert_true(result.converged);
    assert_ok(ctx, spry_vector_get_distributed(A, x, g->x));
    for (int64_t row = 0; row < ALL; row++)
        all += solution(row) * solution(row);
    for (int64_t row = 0; row < g->rows; row++)
        error = fmax(error, fabs(g->x[row] - solution(g->first + row)));
    assert_ok(ctx, team_bounds(ctx, error, &least, &most));
    assert_true(most <= 17 * tolerance * sqrt(all));
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
}

static void less_to_send(void **state)
{
    static given g;
    (void)state;
    int64_t received[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        spry_context *ctx = ranks_context(k == 0 ? "partition=rows" : "partition=ptscotch");
        spry_matrix *A = NULL;
        const bool none = k == 1 && !ctx->team->class->partition;
        give(ctx, &g);
        const spry_status status = distribute(ctx, &g, &A);
        ranks_alike(ctx, status);
        assert_status(ctx, none ? SPRY_STATUS_UNSUPPORTED : SPRY_STATUS_OK, status);
        if (none) {
            support_message_has(ctx, "libptscotch-dev");
            support_context_free(ctx);
            skip();
        }
        count(ctx, A, &received[k]);
        solve(ctx, A, &g);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
    /* Of a random order nearly all elements go to every rank; parts of a grid have sides. */
    assert_true(received[1] <= received[0] / 4);
}

/* A rank without a share has no rows; the others have what they are to have, within a tenth. */
static void by_shares(void **state)
{
    static given g;
    (void)state;
    spry_context *ctx = ranks_context("partition=ptscotch");
    spry_matrix *A = NULL;
    const int ranks = spry_context_ranks(ctx), me = spry_context_rank(ctx);
    if (ctx->team->class->partition && ranks > 1) {
        const double due = (double)ALL / (ranks - 1);
        assert_ok(ctx, spry_context_set_shares(ctx, "0,1", NULL));
        give(ctx, &g);
        assert_ok(ctx, distribute(ctx, &g, &A));
        const bool fine = me == 0 ? A->a.rows == 0 : fabs((double)A->a.rows - due) <= due / 10;
        ranks_alike(ctx, fine ? SPRY_STATUS_OK : SPRY_STATUS_BAD_INPUT);
        assert_true(fine);
        solve(ctx, A, &g);
        spry_matrix_free(A);
    }
    spry_context_free(ctx); /* which has the shares */
}

/* Fewer rows than ranks may be, all given by the last one, and a pattern that is not symmetric. */
static void few_rows(void **state)
{
    enum { N = 3 };
    static const int64_t offsets[] = {0, 2, 3, 5}, columns[] = {0, 2, 1, 1, 2};
    static const double values[] = {2, 1, 3, -1, 4}, b[] = {5, 6, 10}, expected[] = {1, 2, 3};
    static const char *const ways[] = {"partition=ptscotch", "partition=graph", "partition=rows"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        spry_context *ctx = ranks_context(ways[k]);
        const bool mine = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1;
        spry_matrix *A = NULL;
        spry_vector *v = NULL, *x = NULL;
        double found[N];
        if (k > 0 || ctx->team->class->partition) {
            assert_ok(ctx, spry_matrix_new_distributed(ctx, SPRY_TYPE_D, N, N, mine ? N : 0, NULL,
                                                       offsets, columns, values, &A));
            assert_ok(ctx, spry_vector_new_distributed(A, b, &v));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            /* A has integers, and three steps of gmres are all there are. */
            assert_ok(ctx,
                      spry_quick_solve(ctx, A, v, x, "method=gmres precon=none tol=1e-12", NULL));
            assert_ok(ctx, spry_vector_get_distributed(A, x, found));
            for (int i = 0; mine && i < N; i++) /* of a condition below 4 */
                assert_true(fabs(found[i] - expected[i]) <= 4e-12 * 3.8);
            spry_vector_free(v);
            spry_vector_free(x);
            spry_matrix_free(A);
        }
        support_context_free(ctx);
    }
}

/* The nth allocation of one rank fails. */
static void memory(void **state)
{
    static given g;
    (void)state;
    spry_context *ctx = ranks_context("partition=ptscotch");
    give(ctx, &g);
    for (int nth = 1, fine = 0; ctx->team->class->partition && fine < 2; nth += 1 + nth / 8) {
        spry_matrix *A = NULL;
        int64_t before, after;
        spry_context_memory(ctx, &before, NULL);
        if (spry_context_rank(ctx) == nth % spry_context_ranks(ctx))
            base_fail_allocation(ctx, nth, false);
        const spry_status status = distribute(ctx, &g, &A);
        base_fail_allocation(ctx, 0, false);
        ranks_alike(ctx, status);
        assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
        fine += status == SPRY_STATUS_OK;
        spry_matrix_free(A);
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(after, before);
    }
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(less_to_send), cmocka_unit_test(by_shares),
                                       cmocka_unit_test(few_rows), cmocka_unit_test(memory)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
