/* Networks of the generators: graphs, power flow, interior points. */
#include "support/generated.h"

#include <float.h>
#include <math.h>

/* Edges of weight 1 whose sums are exact: rows add up to 0, but for the edge to ground. With it A
 * is definite, which it is for graphs of one piece alone. */
static void laplacians_of_one_piece(void **state)
{
    static const char *const models[] = {"size=300", "size=300 model=preferential",
                                         "size=300 ground=0"};
    for (int m = 0; m < 3; m++) {
        support_dense A = generated_dense(*state, "graph", models[m]);
        assert_true(generated_symmetric(&A, false));
        for (int64_t i = 0; i < 300; i++) {
            double sum = 0;
            for (int64_t j = 0; j < 300; j++) {
                const double v = generated_at(&A, i, j).re;
                assert_true(i == j || v <= 0);
                sum += v;
            }
            assert_true(sum == (i == 0 && m < 2));
        }
        assert_true(m == 2 || generated_definite(&A));
        support_dense_free(&A);
    }
}

/* About `per-row` entries; preferential ones have hubs, points of a plane none. */
static void degrees_are_as_asked(void **state)
{
    static const char *const models[] = {"size=20000 per-row=9",
                                         "size=20000 per-row=9 model=preferential"};
    for (int m = 0; m < 2; m++) {
        spry_matrix *A = generated(*state, "graph", models[m]);
        int64_t most = 0;
        for (int64_t i = 0; i < 20000; i++) {
            const int64_t length = A->a.offsets[i + 1] - A->a.offsets[i];
            most = length > most ? length : most;
        }
        assert_in_range(A->a.nnz, 20000 * 7, 20000 * 10);
        assert_true(m ? most > 200 : most <= 25);
        spry_matrix_free(A);
    }
}

/* Turning all angles together changes no power: but for the slack, columns of angles add up to 0.
 */
static void angles_count_by_difference(void **state)
{
    spry_matrix *A = generated(*state, "power-flow", "size=400");
    const double *v = A->a.values;
    int64_t held = 0;
    assert_int_equal(A->a.rows, 800);
    for (int64_t i = 0; i < 800; i++) {
        double sum = 0, size = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            sum += A->a.col_index[k] % 2 ? 0 : v[k];
            size += fabs(v[k]);
        }
        assert_true(i == 0 ? sum == 1 : fabs(sum) <= 20 * DBL_EPSILON * size);
        held += A->a.offsets[i + 1] - A->a.offsets[i] == 1;
    }
    assert_int_equal(held, 41); /* the slack's angle and every tenth voltage */
    assert_true(A->a.nnz > 6 * 800 && A->a.nnz < 8 * 800);
    spry_matrix_free(A);
}

/* One line: the derivatives of P = g V^2 - V W (g cos t - b sin t), by differences. */
static void powers_by_differences(void **state)
{
    support_dense A = generated_dense(*state, "power-flow", "size=2");
    const double p_angle = generated_at(&A, 2, 2).re, p_volt = generated_at(&A, 2, 3).re;
    const double q_angle = generated_at(&A, 3, 2).re, q_volt = generated_at(&A, 3, 3).re;
    const double p_other = generated_at(&A, 2, 1).re, q_other = generated_at(&A, 3, 1).re;
    /* V dP/dV = 2 g V^2 + W dP/dW and V dQ/dV = 2 b V^2 + W dQ/dW, where dP/dt = -W dQ/dW and
     * dQ/dt = W dP/dW for the angle t of the other. */
    const double g = (p_volt - p_other) / 2, b = (q_volt - q_other) / 2;
    assert_true(fabs(p_angle + q_other) <= 16 * DBL_EPSILON * fabs(p_angle));
    assert_true(fabs(q_angle - p_other) <= 16 * DBL_EPSILON * fabs(p_angle));
    assert_true(g > 0 && b > 0 && g / b >= 0.09 && g / b <= 0.51); /* r/x of the line */
    support_dense_free(&A);
}

/* As many negative eigenvalues as constraints: the complement of H is definite. */
static void interior_points_are_saddles(void **state)
{
    const int64_t n = 200, m = 50;
    support_dense A = generated_dense(*state, "interior-point", "size=200 decades=4");
    double least = INFINITY, most = 0, sum[50][50] = {{0}};
    assert_true(generated_symmetric(&A, false));
    for (int64_t i = 0; i < n - m; i++) {
        const double h = generated_at(&A, i, i).re;
        least = fmin(least, h);
        most = fmax(most, h);
        for (int64_t j = 0; j < n - m; j++)
            assert_true(i == j || generated_at(&A, i, j).re == 0);
        for (int64_t k = 0; k < m; k++)
            for (int64_t l = 0; l < m; l++)
                sum[k][l] +=
                    generated_at(&A, n - m + k, i).re * generated_at(&A, i, n - m + l).re / h;
    }
    assert_true(least >= 0.01 && most <= 100 && most > 1000 * least);
    for (int64_t k = 0; k < m; k++) {
        assert_true(sum[k][k] > 0);
        for (int64_t l = 0; l < m; l++) {
            assert_true(sum[k][l] == sum[l][k]);
            assert_true(generated_at(&A, n - m + k, n - m + l).re == 0);
        }
        assert_true(generated_at(&A, n - m + k, n - 2 * m + k).re == -1);
        assert_true(generated_at(&A, n - m + k, 2 * k).re != 0);
    }
    support_dense_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplacians_of_one_piece),     cmocka_unit_test(degrees_are_as_asked),
        cmocka_unit_test(angles_count_by_difference),  cmocka_unit_test(powers_by_differences),
        cmocka_unit_test(interior_points_are_saddles),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
