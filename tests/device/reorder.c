/* Orders of rows on devices against the host's, and solves in them: b and x on the host or on the
 * device stay in the caller's. */
#include "support/devices.h"
#include "support/support.h"

#include "device/linalg/order.h"
#include "krylov/solver.h"
#include "matrix/entries.h"

#include <spry/algebra.h>
#include <spry/generate.h>
#include <spry/reorder.h>
#include <stdlib.h>

static bool keep_last(void *data, int64_t at, double residual, const spry_vector *x)
{
    (void)at;
    (void)residual;
    return spry_vector_copy(x, data) == SPRY_STATUS_OK;
}

/* |b - A x| / |b| on the host. */
static double residual_of(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                          const spry_vector *x)
{
    spry_operator *op = NULL;
    spry_vector *r = NULL;
    double norm, b_norm;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &r));
    assert_ok(ctx, spry_operator_apply(op, x, r));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, b, r));
    assert_ok(ctx, spry_vector_norm(r, &norm));
    assert_ok(ctx, spry_vector_norm(b, &b_norm));
    spry_operator_free(op);
    spry_vector_free(r);
    return norm / b_norm;
}

static void solve_on_device(spry_context *ctx, spry_device *d, const spry_matrix *A,
                            const char *order, bool on_device)
{
    /* A x is rounded by at most 8 units of |A| |x| for 5 entries per row; |A| is at most 8, and |x|
     * at most |b| / 0.1, the least eigenvalue of a grid of 12 x 12 being 0.116. */
    const double tol = 1e-8, rounding = 8 * 0x1p-53 * 8 / 0.1;
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL, *seen = NULL, *b_on_device = NULL, *x_on_device = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &seen));
    assert_ok(ctx, vector_random(b, 1));
    assert_ok(ctx, vector_random(x, 2));
    if (on_device) {
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, b->n, NULL, &b_on_device));
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, b->n, NULL, &x_on_device));
        assert_ok(ctx, spry_vector_copy(b, b_on_device));
        assert_ok(ctx, spry_vector_copy(x, x_on_device));
    }
    snprintf(options, sizeof options, "method=cg precon=jacobi reorder=%s tol=%g device=%s", order,
             tol, spry_device_name(d));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    spry_solver_set_monitor(solver, keep_last, seen);
    assert_ok(
        ctx, spry_solve(solver, on_device ? b_on_device : b, on_device ? x_on_device : x, &result));
    assert_true(result.converged);
    assert_non_null(solver->setup.order.matrix);
    assert_string_equal(solver->setup.order.name, order);
    assert_string_equal(result.device, spry_device_name(d));
    if (on_device)
        assert_ok(ctx, spry_vector_copy(x_on_device, x));
    assert_true(residual_of(ctx, A, b, x) <= tol + rounding);
    /* what the monitor saw last is x, or one iteration from it */
    assert_true(residual_of(ctx, A, b, seen) <= 100 * tol);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(seen);
    spry_vector_free(b_on_device);
    spry_vector_free(x_on_device);
}

/* Rows and columns change places by random numbers. */
static spry_matrix *mix(spry_context *ctx, const spry_matrix *A)
{
    const int64_t n = A->a.rows;
    spry_matrix *mixed = NULL;
    int32_t *perm = malloc((size_t)n * sizeof *perm);
    assert_non_null(perm);
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)(base_random(5, (uint64_t)i) % (uint64_t)(i + 1));
        perm[i] = perm[j];
        perm[j] = (int32_t)i;
    }
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &mixed));
    free(perm);
    return mixed;
}

static spry_matrix *mixed(spry_context *ctx, const char *kind, const char *options)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &A));
    spry_matrix *B = mix(ctx, A);
    spry_matrix_free(A);
    return B;
}

static void solves_in_another_order(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = mixed(ctx, "poisson2d", "size=12");
    solve_on_device(ctx, d, A, "rcm", false);
    solve_on_device(ctx, d, A, "rcm", true);
    solve_on_device(ctx, d, A, "hubs", true);
    spry_matrix_free(A);
}

/* A solver that is set up on the device with reorder=rcm; of its device's calls the n-th of a kind
 * may fail.
 */
static spry_solver *set_up(spry_context *ctx, spry_device *d, const spry_matrix *A,
                           device_work work, int64_t fails)
{
    spry_solver *solver = NULL;
    char options[96];
    snprintf(options, sizeof options, "method=cg precon=jacobi reorder=rcm device=%s",
             spry_device_name(d));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, solver_begin(solver));
    device_fail_next(d, work, fails);
    const spry_status status = solver_set_up(solver, NULL);
    device_fail_next(d, work, 0);
    solver_end(solver, status);
    assert_ok(ctx, status);
    assert_non_null(solver->setup.order.matrix);
    return solver;
}

/* Nodes of three rows stay together, whose own order is that of their graph. */
static void keeps_nodes_together(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "elasticity", "size=4", &A));
    spry_solver *solver = set_up(ctx, d, A, WORK_ALLOC, 0);
    for (int64_t i = 0; i < A->a.rows; i++)
        assert_int_equal(solver->setup.order.from[i], solver->setup.order.from[i - i % 3] + i % 3);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* Where the device has no room, or fails, the order is the host's, which puts rows with few
 * neighbours before others. */
static void falls_back_to_the_host(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_LAUNCH};
    spry_matrix *A = mixed(ctx, "poisson2d", "nx=12 ny=11");
    int32_t *want = NULL;
    assert_ok(ctx, spry_reorder(A, "rcm", &want));
    for (int k = 0; k < 3; k++) {
        spry_solver *solver = set_up(ctx, d, A, works[k % 2], k < 2 ? 2 : 0);
        const bool same =
            memcmp(solver->setup.order.from, want, (size_t)A->a.rows * sizeof *want) == 0;
        assert_true(same == (k < 2));
        assert_ptr_equal(solver->setup.device, d);
        spry_solver_free(solver);
    }
    spry_free(ctx, want);
    spry_matrix_free(A);
}

/* Values of A that are others later are those of the matrix in the order. */
static void takes_new_values(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = mixed(ctx, "poisson2d", "nx=12 ny=11"), *want = NULL;
    spry_solver *solver = set_up(ctx, d, A, WORK_ALLOC, 0);
    const spry_matrix *ordered = solver->setup.order.matrix;
    for (int64_t k = 0; k < A->a.nnz; k++)
        ((double *)A->a.values)[k] *= 1 + (double)k;
    matrix_changed(A);
    assert_ok(ctx, spry_solver_update(solver));
    assert_ptr_equal(solver->setup.order.matrix, ordered);
    assert_ok(ctx,
              spry_matrix_permute(A, solver->setup.order.from, solver->setup.order.from, &want));
    assert_memory_equal(ordered->a.values, want->a.values, (size_t)A->a.nnz * sizeof(double));
    spry_matrix_free(want);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* --- the orders themselves -----------------------------------------------------------------------
 */

/* Adds the component of a row to the queue, one row after the other, neighbours by their numbers.
 * Where the last level begins. */
static int32_t search(const matrix_arrays *g, int32_t row, char *seen, int32_t *queue, int32_t *end)
{
    int32_t head = *end, last = *end, level_end = *end + 1;
    queue[(*end)++] = row;
    seen[row] = 1;
    for (; head < *end; head++) {
        if (head == level_end) {
            last = head;
            level_end = *end;
        }
        for (int64_t k = g->offsets[queue[head]]; k < g->offsets[queue[head] + 1]; k++)
            if (!seen[g->col_index[k]]) {
                seen[g->col_index[k]] = 1;
                queue[(*end)++] = g->col_index[k];
            }
    }
    return last;
}

static bool is_alone(const matrix_arrays *g, int64_t i)
{
    const int64_t length = g->offsets[i + 1] - g->offsets[i];
    return length == 0 || (length == 1 && g->col_index[g->offsets[i]] == i);
}

/* What the device is to find, of the places of A and A^T together: rows alone, then each component
 * twice, the second time from the first row of the last level; turned round. */
static int32_t *plain_rcm(const spry_matrix *graph)
{
    const matrix_arrays *g = &graph->a;
    const int32_t n = (int32_t)g->rows;
    char *seen = calloc((size_t)n + 1, 1);
    int32_t *queue = malloc(((size_t)n + 1) * sizeof *queue), end = 0;
    assert_true(seen && queue);
    for (int32_t i = 0; i < n; i++)
        if (is_alone(g, i)) {
            seen[i] = 1;
            queue[end++] = i;
        }
    for (int32_t i = 0; i < n; i++) {
        const int32_t begin = end;
        if (seen[i])
            continue;
        const int32_t start = queue[search(g, i, seen, queue, &end)];
        for (; end > begin; end--)
            seen[queue[end - 1]] = 0;
        search(g, start, seen, queue, &end);
    }
    assert_int_equal(end, n);
    for (int32_t i = 0; i < n / 2; i++) {
        const int32_t t = queue[i];
        queue[i] = queue[n - 1 - i];
        queue[n - 1 - i] = t;
    }
    free(seen);
    return queue;
}

/* Rows of all kinds: components, rows without entries or with the diagonal alone, full ones, one
 * triangle of places, and nothing at all. */
static spry_matrix *unlike(spry_context *ctx, int which)
{
    enum { N = 90 };
    double *dense = calloc((size_t)N * N, sizeof *dense);
    const int n = which == 0 ? 0 : which == 1 ? 1 : N;
    assert_non_null(dense);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int near = j == i + 1 || j == i + 3, same = i / 30 == j / 30;
            const int diagonal = i == j && i % 4;
            dense[i * n + j] = which == 3   ? diagonal
                               : which == 4 ? i == 7 || j == 11
                                            : diagonal || (near && same && i % 10 != 9);
        }
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, n, n, dense);
    free(dense);
    return A;
}

/* P A P^T is the host's, to the bit. */
static void check_permuted(spry_context *ctx, spry_device *d, const spry_matrix *csr,
                           const int32_t *from)
{
    device_matrix A, P;
    spry_matrix *want = NULL, *got = NULL;
    assert_ok(ctx, spry_matrix_permute(csr, from, from, &want));
    assert_ok(ctx, device_matrix_put(d, csr, &A));
    assert_ok(ctx, device_matrix_permute(&A, from, &P));
    assert_ok(ctx, device_matrix_get(&P, &got));
    const matrix_arrays *a = &want->a, *b = &got->a;
    assert_true(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz);
    assert_memory_equal(a->offsets, b->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
    assert_memory_equal(a->col_index, b->col_index, (size_t)a->nnz * sizeof *a->col_index);
    assert_memory_equal(a->values, b->values, (size_t)a->nnz * spry_type_size(a->type));
    device_matrix_free(&A);
    device_matrix_free(&P);
    spry_matrix_free(want);
    spry_matrix_free(got);
}

static void check_orders(spry_context *ctx, spry_device *d, const spry_matrix *A)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL, *T = NULL, *graph = NULL;
    const spry_scalar one = {1, 0};
    const size_t bytes = (size_t)A->a.rows * sizeof(int32_t);
    int32_t *found = NULL, *want = NULL;
    assert_ok(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    assert_ok(ctx, spry_matrix_transpose(csr, false, &T));
    assert_ok(ctx, spry_matrix_add(one, csr, one, T, &graph));
    int32_t *plain = plain_rcm(graph);
    assert_ok(ctx, device_order(d, &csr->a, "rcm", false, INT32_MAX, &found));
    assert_memory_equal(found, plain, bytes);
    base_free(ctx, found);
    assert_ok(ctx, device_order(d, &graph->a, "rcm", true, INT32_MAX, &found));
    assert_memory_equal(found, plain, bytes);
    base_free(ctx, found);
    assert_ok(ctx, device_order(d, &csr->a, "hubs", false, INT32_MAX, &found));
    assert_ok(ctx, spry_reorder(A, "hubs", &want));
    assert_memory_equal(found, want, bytes);
    check_permuted(ctx, d, csr, found);
    base_free(ctx, found);
    spry_free(ctx, want);
    free(plain);
    spry_matrix_free(graph);
    spry_matrix_free(T);
    spry_matrix_free(owned);
}

static void orders_are_those_of_the_host(spry_context *ctx, spry_device *d)
{
    enum { UNLIKE = 5, LONG = 3000 };
    for (int k = 0; k < UNLIKE; k++) {
        spry_matrix *A = unlike(ctx, k);
        check_orders(ctx, d, A);
        spry_matrix_free(A);
    }
    spry_matrix *cases[] = {
        mixed(ctx, "poisson3d", "size=13"), mixed(ctx, "rmat", "size=5000 per-row=8"),
        support_long_row(ctx, SPRY_TYPE_D, LONG), mixed(ctx, "poisson2d", "size=10 type=c")};
    for (int k = 0; k < 4; k++) {
        check_orders(ctx, d, cases[k]);
        spry_matrix_free(cases[k]);
    }
}

/* A path has as many levels as rows, both searches together at least as many, twice at most. */
static void gives_up_what_is_deep(spry_context *ctx, spry_device *d)
{
    enum { N = 200 };
    spry_matrix *A = mixed(ctx, "tridiagonal", "size=200");
    int32_t *from = NULL;
    assert_ok(ctx, device_order(d, &A->a, "rcm", true, N - 1, &from));
    assert_null(from);
    assert_ok(ctx, device_order(d, &A->a, "rcm", true, 2 * N, &from));
    assert_non_null(from);
    base_free(ctx, from);
    spry_matrix_free(A);
}

/* What is taken without being asked for is found on the device; a path, of which each row is a
 * level, is left where the search would take longer than all products gain. */
static void takes_what_pays(spry_context *ctx, spry_device *d)
{
    const double cache = 4096;
    spry_matrix *A = mixed(ctx, "poisson2d", "nx=120 ny=121"), *path = NULL;
    order_forecast f = order_on_device(cache, 1e6);
    solver_order order = {0};
    f.device = d;
    int32_t *plain = plain_rcm(A);
    assert_ok(ctx, order_find(A, &f, NULL, 1, &order));
    assert_non_null(order.from);
    assert_string_equal(order.name, "rcm");
    assert_memory_equal(order.from, plain, (size_t)A->a.rows * sizeof *plain);
    order_free(ctx, &order);
    free(plain);
    spry_matrix_free(A);

    path = mixed(ctx, "tridiagonal", "size=30000");
    f = order_on_device(cache, 2e4); /* which gain 0.02 s at most, or 600 levels */
    assert_ok(ctx, order_find(path, &f, NULL, 1, &order));
    assert_non_null(order.from);
    order_free(ctx, &order);
    f.device = d;
    assert_ok(ctx, order_find(path, &f, NULL, 1, &order));
    assert_null(order.from);
    spry_matrix_free(path);
}

typedef struct tortured {
    spry_device *d;
    const spry_matrix *A;
} tortured;

static spry_status order_tortured(spry_context *ctx, void *data)
{
    const tortured *t = data;
    int32_t *from = NULL;
    const spry_status status = device_order(t->d, &t->A->a, "rcm", false, INT32_MAX, &from);
    assert_true(status == SPRY_STATUS_OK || !from);
    base_free(ctx, from);
    return status;
}

static void leaves_nothing_behind(spry_context *ctx, spry_device *d)
{
    enum { LEAST = 5 };
    tortured t = {.d = d, .A = mixed(ctx, "poisson2d", "nx=3 ny=2")};
    devices_torture(ctx, d, LEAST, order_tortured, &t);
    spry_matrix_free((spry_matrix *)t.A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(solves_in_another_order),
                                         DEVICES_TEST(keeps_nodes_together),
                                         DEVICES_TEST(falls_back_to_the_host),
                                         DEVICES_TEST(takes_new_values),
                                         DEVICES_TEST(orders_are_those_of_the_host),
                                         DEVICES_TEST(gives_up_what_is_deep),
                                         DEVICES_TEST(takes_what_pays),
                                         DEVICES_TEST(leaves_nothing_behind)};
    return DEVICES_RUN(tests);
}
