/*
 * Multigrid for edge elements: the gradient that is found in the matrix, in whatever order and with
 * whatever signs, what it is on each level, iterations that hardly grow, adjoints, new values,
 * failing allocations, and what is refused and what is chosen.
 */
#include "matrix/entries.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/precons.h"

#include "choose/precons.h"
#include "precon/amg/amg.h"

#include <math.h>
#include <spry/solver.h>
#include <stdlib.h>
#include <string.h>

static const spry_scalar one = {1, 0}, zero = {0, 0};

static spry_matrix *maxwell(spry_context *ctx, spry_type type, int size, double sigma)
{
    return generated_as(ctx, type, "maxwell", "size=%d sigma=%g", size, sigma);
}

/* Rows and columns in another order, and each with a sign. */
static spry_matrix *disguised(spry_context *ctx, spry_type type, int size, double sigma)
{
    spry_matrix *A = maxwell(ctx, type, size, sigma), *B = NULL;
    const int64_t n = A->a.rows;
    int32_t *order = malloc((size_t)n * sizeof *order);
    uint32_t state = 12345;
    for (int64_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        const int64_t k = (int64_t)(state >> 8) % (i + 1);
        const int32_t swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar v = value_get(type, A->a.values, k);
            const int turned = (order[i] ^ order[A->a.col_index[k]]) & 1;
            value_set(type, A->a.values, k,
                      turned ? (spry_scalar){-v.re, -v.im} : (spry_scalar){v.re, v.im});
        }
    assert_ok(ctx, spry_matrix_permute(A, order, order, &B));
    free(order);
    spry_matrix_free(A);
    return B;
}

/* --- the gradient --------------------------------------------------------------------------------
 */

/* Inner nodes of the box have six edges each; edges at its walls have one end. */
static void test_found(void **state)
{
    enum { SIZE = 6, NODES = (SIZE - 1) * (SIZE - 1) * (SIZE - 1) };
    for (int t = 0; t < 4; t++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            spry_matrix *A = (shuffled ? disguised : maxwell)(*state, support_types[t], SIZE, 1);
            spry_operator *M = precons_make(A, "edges:coarse-size=20");
            const amg_level *level = ((const amg *)M->state)->levels;
            int64_t ends = 0;
            int edges[NODES] = {0};
            assert_int_equal(level->between, NODES);
            for (int64_t k = 0; k < 2 * A->a.rows; k++)
                if (level->ends[k] >= 0) {
                    edges[level->ends[k]]++;
                    ends++;
                }
            assert_int_equal(ends, 6 * NODES);
            for (int v = 0; v < NODES; v++)
                assert_int_equal(edges[v], 6);
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* Without a mass term A G = 0 on each level, for nodes' columns of G. An entry is a sum over the
 * edges of a node; entries of R A P are sums of up to 60 times 30 products, in the worst case. */
static void test_null_space(void **state)
{
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        spry_matrix *A = (shuffled ? disguised : maxwell)(*state, SPRY_TYPE_D, 14, 0);
        spry_operator *M = precons_make(A, "edges:coarse-size=20,coarse=smoother");
        const amg *h = M->state;
        assert_true(h->count > 2);
        for (int l = 0; l < h->count; l++) {
            const amg_level *level = &h->levels[l];
            const matrix_arrays *a = &level->A->a;
            double *sums = calloc((size_t)level->between, sizeof *sums);
            assert_null(level->nodes); /* there is nothing to smooth */
            for (int64_t i = 0; i < a->rows; i++) {
                double size = 0;
                memset(sums, 0, (size_t)level->between * sizeof *sums);
                for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
                    const int32_t *end = level->ends + 2 * (int64_t)a->col_index[k];
                    const double v = value_get(a->type, a->values, k).re;
                    size += fabs(v);
                    for (int side = 0; side < 2; side++)
                        if (end[side] >= 0)
                            sums[end[side]] += side ? v : -v;
                }
                for (int64_t v = 0; v < level->between; v++)
                    if (!(fabs(sums[v]) <= 1800 * numeric_unit(a->type) * size))
                        fail_msg("level %d, row %d, node %d: %g of %g", l, (int)i, (int)v, sums[v],
                                 size);
            }
            free(sums);
        }
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* --- iterations ----------------------------------------------------------------------------------
 */

static double iterations(spry_context *ctx, const spry_matrix *A, const char *options)
{
    spry_vector *u = numeric_random(ctx, NULL, A->a.type, A->a.rows, 11), *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_operator *op = NULL;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_operator_apply(op, u, b)); /* in the range, if A is singular */
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
    if (!result.converged)
        fail_msg("%s: %s after %d iterations", options, result.detail, (int)result.iterations);
    const double found = (double)result.iterations;
    spry_result_clear(ctx, &result);
    spry_vector_free(u);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(op);
    return found;
}

/* Iterations with no more than the diagonal grow as the side of the box. Those with multigrid grow
 * by less than half of that, with a mass term and without, also of rows in any order. */
static void test_iterations(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 3; k++) {
        double jacobi[2], edges[2];
        for (int fine = 0; fine < 2; fine++) {
            spry_matrix *A =
                (k == 2 ? disguised : maxwell)(ctx, SPRY_TYPE_D, fine ? 24 : 8, k == 0 ? 0 : 1);
            jacobi[fine] = iterations(ctx, A, "method=cg precon=jacobi");
            edges[fine] = iterations(ctx, A, "method=cg precon=edges");
            spry_matrix_free(A);
        }
        if (!(edges[1] / edges[0] - 1 < 0.5 * (jacobi[1] / jacobi[0] - 1)) ||
            !(edges[1] < 0.25 * jacobi[1]))
            fail_msg("case %d: %g and %g iterations, with jacobi %g and %g", k, edges[0], edges[1],
                     jacobi[0], jacobi[1]);
    }
}

/* Eddy currents: complex symmetric. */
static void test_complex(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = maxwell(ctx, SPRY_TYPE_Z, 12, 100);
    const double jacobi = iterations(ctx, A, "method=fgmres precon=jacobi");
    assert_true(iterations(ctx, A, "method=fgmres precon=edges") < 0.5 * jacobi);
    spry_matrix_free(A);
}

/* --- the operator --------------------------------------------------------------------------------
 */

static spry_vector *apply(const spry_operator *M, spry_transpose transpose, const spry_vector *r)
{
    spry_vector *z = NULL;
    assert_ok(M->ctx, spry_vector_new(M->ctx, M->type, r->n, NULL, SPRY_OWN_COPY, &z));
    assert_ok(M->ctx, spry_operator_multiply(M, transpose, one, r, zero, z));
    return z;
}

/* (M x, y) = (x, M^H y), and (x, M y) where A is hermitian. Of some forty products with up to 60
 * terms each, whose errors are as often up as down: sqrt(40 60) < 50, in units of the norms. */
static void test_adjoint(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = maxwell(ctx, type, 7, 1);
        spry_operator *M = precons_make(A, "edges:coarse-size=20");
        spry_vector *x = numeric_random(ctx, NULL, type, A->a.rows, 3),
                    *y = numeric_random(ctx, NULL, type, A->a.rows, 4),
                    *mx = apply(M, SPRY_TRANSPOSE_NO, x),
                    *my = apply(M,
                                spry_type_is_complex(type) ? SPRY_TRANSPOSE_CONJUGATE
                                                           : SPRY_TRANSPOSE_NO,
                                y);
        spry_scalar left, right;
        assert_ok(ctx, spry_vector_dot(y, mx, &left));
        assert_ok(ctx, spry_vector_dot(my, x, &right));
        const double size = numeric_norm(mx) * numeric_norm(y) + numeric_norm(my) * numeric_norm(x);
        assert_true(hypot(left.re - right.re, left.im - right.im) <=
                    50 * numeric_unit(type) * size);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(mx);
        spry_vector_free(my);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* New values on kept edges and aggregates are those of a new set-up, to the bit. */
static void test_new_values(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 2; k++) {
        spry_matrix *A = maxwell(ctx, SPRY_TYPE_D, 8, k), *B = maxwell(ctx, SPRY_TYPE_D, 8, k);
        for (int64_t i = 0; i < B->a.nnz; i++)
            value_set(B->a.type, B->a.values, i,
                      (spry_scalar){1.25 * value_get(B->a.type, B->a.values, i).re, 0});
        spry_operator *M = precons_make(A, "edges:coarse-size=20"),
                      *fresh = precons_make(B, "edges:coarse-size=20");
        assert_ok(ctx, spry_operator_update(M, B));
        spry_vector *r = numeric_random(ctx, NULL, SPRY_TYPE_D, A->a.rows, 5),
                    *z = apply(M, SPRY_TRANSPOSE_NO, r),
                    *expected = apply(fresh, SPRY_TRANSPOSE_NO, r);
        assert_memory_equal(z->data, expected->data, (size_t)r->n * sizeof(double));
        spry_vector_free(r);
        spry_vector_free(z);
        spry_vector_free(expected);
        spry_operator_free(M);
        spry_operator_free(fresh);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* Set-up, new values and a product, each allocation failing in turn. */
static spry_status use(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    spry_operator *M = NULL;
    spry_vector *r = NULL, *z = NULL;
    bool suits;
    spry_status status = precon_edges_suits(A, &suits);
    if (status == SPRY_STATUS_OK)
        status = spry_precon_new(A, NULL, "edges:coarse-size=20", &M);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_update(M, A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, A, &r);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &z);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(M, r, z);
    spry_vector_free(r);
    spry_vector_free(z);
    spry_operator_free(M);
    return status;
}

static void test_allocations(void **state)
{
    for (int mass = 0; mass < 2; mass++) {
        spry_matrix *A = maxwell(*state, SPRY_TYPE_D, 5, mass);
        support_torture(*state, use, A);
        spry_matrix_free(A);
    }
}

/* --- what it is for ------------------------------------------------------------------------------
 */

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    static const char *const others[][2] = {
        {"poisson2d", "size=20"}, {"poisson3d", "size=10"},
        {"elasticity", "size=6"}, {"diffusion", "size=12 nz=12 jump=4"},
        {"graph", "size=2000"},   {"random", "size=500"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        spry_matrix *A = generated(ctx, others[k][0], others[k][1]);
        spry_operator *M = NULL;
        bool suits = true;
        assert_int_equal(spry_precon_new(A, NULL, "edges", &M), SPRY_STATUS_BAD_INPUT);
        assert_null(M);
        assert_non_null(strstr(spry_message(ctx), "not one of edge elements"));
        assert_ok(ctx, precon_edges_suits(A, &suits));
        assert_false(suits);
        spry_matrix_free(A);
    }
}

static void test_chosen(void **state)
{
    spry_context *ctx = *state;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        spry_matrix *A = (shuffled ? disguised : maxwell)(ctx, SPRY_TYPE_D, 24, 1);
        precon_choice choice;
        assert_ok(ctx, precon_choose(ctx, A, 1, false, &choice));
        assert_string_equal(choice.list[0].spec, "edges");
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_null_space, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_iterations, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_complex, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_adjoint, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_new_values, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_allocations, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_chosen, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
