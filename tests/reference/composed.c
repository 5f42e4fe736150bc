/* One operator after another, and preconditioners in two parts. */
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>
#include <string.h>

enum { N = 5, K = 3 };

static void fill(int rows, int cols, int seed, double *a)
{
    for (int k = 0; k < rows * cols; k++)
        a[k] = cos((double)(seed + 7 * k * k + k));
}

/* y = A (B x), and B^H (A^H x): numbers are those of two products, to the bit. */
static void products_are_those_of_the_parts(void **state)
{
    (void)state;
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    static const spry_transpose ways[] = {SPRY_TRANSPOSE_NO, SPRY_TRANSPOSE_YES,
                                          SPRY_TRANSPOSE_CONJUGATE};
    double a[N * K], b[K * N];
    fill(N, K, 1, a);
    fill(K, N, 2, b);
    for (int t = 0; t < 4; t++)
        for (int way = 0; way < 3; way++) {
            spry_context *ctx;
            spry_operator *A, *B, *AB;
            spry_vector *x, *w, *y, *z;
            assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
            spry_matrix *MA = support_from_rows(ctx, types[t], N, K, a);
            spry_matrix *MB = support_from_rows(ctx, types[t], K, N, b);
            assert_ok(ctx, spry_operator_from_matrix(MA, NULL, NULL, &A));
            assert_ok(ctx, spry_operator_from_matrix(MB, NULL, NULL, &B));
            assert_ok(ctx, spry_operator_compose(A, B, &AB));
            assert_int_equal(spry_operator_rows(AB), N);
            assert_int_equal(spry_operator_cols(AB), N);
            assert_true(spry_operator_has_transpose(AB));
            assert_string_equal(spry_operator_name(AB), "composed");
            assert_ok(ctx, spry_vector_new(ctx, types[t], N, NULL, SPRY_OWN_COPY, &x));
            assert_ok(ctx, spry_vector_like(x, K, &w));
            assert_ok(ctx, spry_vector_like(x, N, &y));
            assert_ok(ctx, spry_vector_like(x, N, &z));
            const bool complex = spry_type_is_complex(types[t]);
            assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0.7, complex ? -0.3 : 0}));
            const bool plain = ways[way] == SPRY_TRANSPOSE_NO;
            const spry_scalar one = {1, 0}, zero = {0, 0};
            assert_ok(ctx, spry_operator_multiply(AB, ways[way], one, x, zero, y));
            assert_ok(ctx, spry_operator_multiply(plain ? B : A, ways[way], one, x, zero, w));
            assert_ok(ctx, spry_operator_multiply(plain ? A : B, ways[way], one, w, zero, z));
            assert_memory_equal(spry_vector_data(y), spry_vector_data(z),
                                N * spry_type_size(types[t]));
            spry_operator *bad = NULL;
            assert_int_equal(spry_operator_compose(A, A, &bad), SPRY_STATUS_BAD_USAGE);
            support_message_has(ctx, "the inner operator is 5 x 3");
            assert_null(bad);
            spry_vector_free(x);
            spry_vector_free(w);
            spry_vector_free(y);
            spry_vector_free(z);
            spry_operator_free(AB);
            spry_operator_free(A);
            spry_operator_free(B);
            spry_matrix_free(MA);
            spry_matrix_free(MB);
            spry_context_free(ctx);
        }
}

/* M = U^-1 L^-1 of A = L U by parts, each as a caller's function: one step to the answer. */
typedef struct triangle {
    int n;
    bool lower; /* (1, -1/2) below the diagonal, else above */
} triangle;

static spry_status solve_triangle(void *data, spry_transpose op, const void *x, void *y)
{
    const triangle *t = data;
    const double *r = x;
    double *z = y;
    const bool down = t->lower == (op == SPRY_TRANSPOSE_NO);
    for (int k = 0; k < t->n; k++) {
        const int i = down ? k : t->n - 1 - k;
        z[i] = r[i] + (k > 0 ? 0.5 * z[down ? i - 1 : i + 1] : 0);
    }
    return SPRY_STATUS_OK;
}

static void preconditioners_in_two_parts(void **state)
{
    (void)state;
    enum { SIZE = 50 };
    static const char *const methods[] = {"gmres", "gmres:side=left", "bicgstab", "qmr", "bicg",
                                          "cg",    "minres",          "fgmres",   "idr"};
    double a[SIZE * SIZE] = {0};
    for (int i = 0; i < SIZE; i++) { /* (I - S/2) (I - S^T/2) */
        a[i * SIZE + i] = i == 0 ? 1 : 1.25;
        if (i > 0)
            a[i * SIZE + i - 1] = a[(i - 1) * SIZE + i] = -0.5;
    }
    spry_context *ctx;
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, SIZE, SIZE, a);
    triangle L = {SIZE, true}, U = {SIZE, false};
    spry_operator *M1, *M2, *M;
    spry_vector *b, *x;
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, SIZE, SIZE, true, solve_triangle,
                                               &L, &M1));
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, SIZE, SIZE, true, solve_triangle,
                                               &U, &M2));
    assert_ok(ctx, spry_operator_compose(M2, M1, &M));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set_text(solver, "method", methods[m]));
        assert_ok(ctx, spry_solver_set_real(solver, "tol", 1e-12));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solver_set_precon(solver, M));
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        if (!result.converged || result.iterations > 2)
            fail_msg("%s: %s after %d, %s", methods[m], spry_reason_name(result.reason),
                     (int)result.iterations, result.detail);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(M);
    spry_operator_free(M1);
    spry_operator_free(M2);
    spry_matrix_free(A);
    spry_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_parts),
        cmocka_unit_test(preconditioners_in_two_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
