/*
 * What must not show in a solve, to the bit: x, history, reason, what the monitor is shown. Several
 * right-hand sides at once must each come to what they come to alone, whatever is solved with them,
 * ends before them or is zero; a fused method to what it comes to statement by statement.
 */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9, LONGEST = 4000 };

/* What the monitor was shown, in any order. */
typedef struct shown {
    int64_t iteration;
    double residual;
    uint64_t x;
} shown;

typedef struct watch {
    int64_t stop_at; /* iteration; 0: never */
    int count;
    shown list[LONGEST];
} watch;

static uint64_t hash_of(const spry_vector *x)
{
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = spry_vector_data_const(x);
    for (size_t i = 0; i < (size_t)spry_vector_size(x) * spry_type_size(spry_vector_type(x)); i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static bool look(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    watch *w = data;
    assert_true(w->count < LONGEST);
    w->list[w->count++] = (shown){iteration, residual, hash_of(x)};
    return iteration != w->stop_at;
}

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(shown));
}

static bool same_shown(watch *a, watch *b)
{
    qsort(a->list, (size_t)a->count, sizeof *a->list, by_bits);
    qsort(b->list, (size_t)b->count, sizeof *b->list, by_bits);
    return a->count == b->count &&
           memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0;
}

/* Tridiagonal; complex types hermitian. Well conditioned, so that all converge. */
static spry_matrix *tridiagonal(spry_context *ctx, spry_type type, int64_t n)
{
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n};
    a.offsets = spry_alloc(ctx, (size_t)(n + 1) * sizeof *a.offsets);
    a.col_index = spry_alloc(ctx, (size_t)(3 * n) * sizeof *a.col_index);
    a.values = spry_alloc(ctx, (size_t)(3 * n) * spry_type_size(type));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
            const spry_scalar off_diagonal = {-1,
                                              spry_type_is_complex(type) ? (double)(j - i) / 2 : 0};
            const spry_scalar middle = {2.6 + (double)(i % 7) / 8, 0};
            value_set(type, a.values, a.nnz, i == j ? middle : off_diagonal);
            a.col_index[a.nnz++] = (int32_t)j;
        }
        a.offsets[i + 1] = a.nnz;
    }
    spry_matrix *A = NULL;
    assert_ok(ctx, support_new(ctx, &a, SPRY_OWN_TAKE, &A));
    return A;
}

/* Right-hand sides that need different numbers of iterations; number 2 is zero, 4 very small. */
static spry_vector *right_side(spry_context *ctx, const spry_matrix *A, int k)
{
    spry_vector *b = NULL;
    const int64_t n = spry_matrix_rows(A);
    const spry_type type = A->a.type;
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &b));
    for (int64_t i = 0; i < n && k != 2; i++) {
        spry_scalar v = support_number(type, (uint64_t)k + 1, (uint64_t)i);
        const double scale = k == 4 ? single ? 1e-30 : 1e-200 : 1;
        if (i % (1 + 5 * k) != 0)
            v = (spry_scalar){0, 0};
        value_set(type, spry_vector_data(b), i, (spry_scalar){v.re * scale, v.im * scale});
    }
    return b;
}

typedef struct many_case {
    const char *options;
    spry_type type;
    int64_t n;
    int threads;
    int64_t stop_at;
} many_case;

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void same_results(const many_case *c, int count, int k, const spry_result *alone,
                         const spry_result *among)
{
    const bool same = alone->reason == among->reason && alone->iterations == among->iterations &&
                      same_bits(alone->residual, among->residual) &&
                      same_bits(alone->true_residual, among->true_residual) &&
                      same_bits(alone->initial_residual, among->initial_residual) &&
                      alone->history_size == among->history_size &&
                      strcmp(alone->detail, among->detail) == 0 &&
                      memcmp(alone->history, among->history,
                             (size_t)alone->history_size * sizeof *alone->history) == 0;
    if (!same)
        fail_msg("%s, type %d, n %lld, %d of %d: %s after %lld iterations, alone %s after %lld",
                 c->options, c->type, (long long)c->n, k, count, spry_reason_name(among->reason),
                 (long long)among->iterations, spry_reason_name(alone->reason),
                 (long long)alone->iterations);
}

static void solve_alike(const many_case *c, int count)
{
    static watch alone, among;
    char options[32];
    snprintf(options, sizeof options, "threads=%d", c->threads);
    spry_context *ctx = support_context(options);
    spry_matrix *A = tridiagonal(ctx, c->type, c->n);
    spry_solver *solver = NULL;
    spry_vector *b[MOST], *x[MOST], *y[MOST];
    spry_result results[MOST] = {{0}}, one[MOST] = {{0}};
    alone.count = among.count = 0;
    alone.stop_at = among.stop_at = c->stop_at;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, c->options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    for (int k = 0; k < count; k++) {
        b[k] = right_side(ctx, A, k);
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x[k]));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &y[k]));
    }
    spry_solver_set_monitor(solver, look, &alone);
    for (int k = 0; k < count; k++)
        assert_ok(ctx, spry_solve(solver, b[k], y[k], &one[k]));
    spry_solver_set_monitor(solver, look, &among);
    assert_ok(ctx, spry_solve_many(solver, count, (const spry_vector *const *)b, x, results));
    for (int k = 0; k < count; k++) {
        same_results(c, count, k, &one[k], &results[k]);
        if (hash_of(x[k]) != hash_of(y[k]))
            fail_msg("%s, type %d: x of %d of %d is not what it is alone", c->options, c->type, k,
                     count);
        if (c->stop_at == 0)
            assert_true(results[k].converged);
    }
    assert_true(same_shown(&alone, &among));
    for (int k = 0; k < count; k++) {
        spry_result_clear(ctx, &one[k]);
        spry_result_clear(ctx, &results[k]);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
        spry_vector_free(y[k]);
    }
    spry_solver_free(solver);
    spry_matrix_free(A);
    support_context_free(ctx);
}

static const char *const methods[] = {"method=cg precon=jacobi",
                                      "method=gmres:restart=6 precon=ssor",
                                      "method=gmres:restart=6,side=left precon=jacobi",
                                      "method=bicgstab precon=none",
                                      "method=minres precon=none",
                                      "method=lsmr precon=none",
                                      "method=idr:s=3 precon=jacobi",
                                      "method=cg precon=none fuse=no"};
enum { METHODS = sizeof methods / sizeof *methods };

static void every_count(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (int count = 1; count <= MOST; count++) {
            char options[128];
            const spry_type type = support_types[(m + count) % 4];
            snprintf(options, sizeof options, "%s tol=%s", methods[m],
                     type == SPRY_TYPE_S || type == SPRY_TYPE_C ? "1e-4" : "1e-9");
            solve_alike(&(many_case){options, type, 97, 1, 0}, count);
        }
}

static void every_type(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (int t = 0; t < 4; t++) {
            char options[128];
            snprintf(options, sizeof options, "%s tol=1e-4", methods[m]);
            solve_alike(&(many_case){options, support_types[t], 1030, 1, 0}, 5);
        }
}

/* Long enough for several threads. */
static void several_threads(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        solve_alike(
            &(many_case){"method=cg precon=jacobi tol=1e-8", SPRY_TYPE_D, 17000, threads, 0}, 4);
        solve_alike(&(many_case){"method=gmres:restart=4 tol=1e-3", SPRY_TYPE_Z, 17000, threads, 0},
                    3);
    }
}

/* A monitor that stops each at its third iteration. */
static void stopped(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        char options[128];
        snprintf(options, sizeof options, "%s tol=1e-12", methods[m]);
        solve_alike(&(many_case){options, SPRY_TYPE_D, 97, 1, 3}, 7);
    }
}

/* One solve with a monitor. */
static void solve_one(const spry_matrix *A, spry_context *ctx, const char *options, watch *w,
                      spry_vector *x, spry_result *result)
{
    spry_solver *solver = NULL;
    spry_vector *b = right_side(ctx, A, 0);
    w->count = 0;
    w->stop_at = 0;
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0.5, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    spry_solver_set_monitor(solver, look, w);
    assert_ok(ctx, spry_solve(solver, b, x, result));
    spry_vector_free(b);
    spry_solver_free(solver);
}

/* Every method, fused and statement by statement; with a monitor that looks at every x. */
static void fused_and_not(void **state)
{
    static const char *const precons[] = {"none", "jacobi", "sor:omega=0.9", "auto"};
    static watch watches[2];
    spry_context *ctx = *state;
    spry_entry info = SPRY_ENTRY_INIT;
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++)
        for (int k = 0; k < 8; k++) {
            const many_case c = {info.name, support_types[k % 4], 150, 1, 0};
            spry_matrix *A = tridiagonal(ctx, c.type, c.n);
            spry_vector *x[2];
            spry_result results[2] = {{0}};
            for (int fuse = 0; fuse < 2; fuse++) {
                char options[128];
                snprintf(options, sizeof options, "method=%s precon=%s fuse=%s max-iter=25 tol=0",
                         info.name, precons[(m + k) % 4], fuse ? "yes" : "no");
                assert_ok(ctx, spry_vector_zeros(ctx, A, &x[fuse]));
                solve_one(A, ctx, options, &watches[fuse], x[fuse], &results[fuse]);
            }
            same_results(&c, 1, 0, &results[0], &results[1]);
            assert_int_equal(hash_of(x[0]), hash_of(x[1]));
            if (!same_shown(&watches[0], &watches[1]))
                fail_msg("%s, type %d: the monitor sees another x", info.name, c.type);
            for (int fuse = 0; fuse < 2; fuse++) {
                spry_vector_free(x[fuse]);
                spry_result_clear(ctx, &results[fuse]);
            }
            spry_matrix_free(A);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count),
        cmocka_unit_test(every_type),
        cmocka_unit_test(several_threads),
        cmocka_unit_test(stopped),
        cmocka_unit_test_setup_teardown(fused_and_not, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
