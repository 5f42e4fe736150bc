/* Finite elements of the generators: what holds exactly between their spaces. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum of `terms` numbers up to `size`, each itself made of some forty roundings. */
static double bound(int terms, double size)
{
    return 40.0 * terms * size * DBL_EPSILON;
}

/* y = A x by rows first..last-1 for an x that a function gives; returns the largest |y|. */
static double largest(const spry_matrix *A, int64_t first, int64_t last, const double *x)
{
    const matrix_arrays *a = &A->a;
    double most = 0;
    for (int64_t i = first; i < last; i++) {
        double sum = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            sum += value_get(a->type, a->values, k).re * x[a->col_index[k]];
        most = fmax(most, fabs(sum));
    }
    return most;
}

static void symmetric_to_the_bit(void **state)
{
    static const char *const all[][2] = {
        {"diffusion", "nx=7 ny=5 jump=6"},
        {"diffusion", "size=4 nz=5"},
        {"stokes", "nx=3 ny=4"},
        {"stokes", "size=2 nz=2 jump=3"},
        {"stokes", "nx=5 ny=4 elements=q1q1"},
        {"stokes", "size=3 nz=2 elements=q1q1 jump=3"},
        {"darcy", "nx=5 ny=6 jump=4"},
        {"darcy", "size=3 nz=4"},
        {"maxwell", "nx=3 ny=4 nz=5 jump=3"},
        {"maxwell", "size=4 sigma=0"},
        {"maxwell", "size=3 type=z jump=2"},
        {"elasticity", "nx=3 ny=4 nz=2 nu=0.4999"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        support_dense A = generated_dense(*state, all[k][0], all[k][1]);
        assert_true(generated_symmetric(&A, false));
        support_dense_free(&A);
    }
}

static void definite_where_it_should_be(void **state)
{
    static const char *const all[][2] = {{"diffusion", "nx=7 ny=5 jump=6"},
                                         {"diffusion", "size=4 nz=5"},
                                         {"maxwell", "nx=3 ny=4 nz=5 jump=3 sigma=10"}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        support_dense A = generated_dense(*state, all[k][0], all[k][1]);
        assert_true(generated_definite(&A));
        support_dense_free(&A);
    }
}

/* Bilinear elements on squares: 8/3 and -1/3; each of four cells adds two products of thirds. With
 * a jump, rows that no boundary is near still add up to 0. */
static void diffusion_by_hand(void **state)
{
    support_dense A = generated_dense(*state, "diffusion", "size=3");
    for (int64_t j = 0; j < 9; j++)
        assert_true(fabs(generated_at(&A, 4, j).re - (j == 4 ? 8.0 / 3 : -1.0 / 3)) <= bound(4, 1));
    support_dense_free(&A);
    spry_matrix *B = generated(*state, "diffusion", "size=24 jump=4");
    double ones[24 * 24], jumps = 0;
    for (int i = 0; i < 24 * 24; i++)
        ones[i] = 1;
    for (int64_t y = 1; y < 23; y++)
        jumps = fmax(jumps, largest(B, 24 * y + 1, 24 * y + 23, ones));
    assert_true(jumps <= bound(9, 100 * 8.0 / 3));
    assert_true(largest(B, 0, 1, ones) > 1e-3);
    double least = INFINITY, most = 0; /* diagonals of cells that agree: 8/3 k */
    for (int64_t i = 0; i < 24 * 24; i++) {
        double diagonal = 0;
        for (int64_t k = B->a.offsets[i]; k < B->a.offsets[i + 1]; k++)
            if (B->a.col_index[k] == i)
                diagonal = ((const double *)B->a.values)[k];
        least = fmin(least, diagonal);
        most = fmax(most, diagonal);
    }
    assert_true(least >= 0.01 * 2 && most <= 100 * 3 && most > 1000 * least);
    spry_matrix_free(B);
}

/* A constant pressure drives no flow but at the open end; a flow that is constant but near the
 * walls has a divergence there alone; and a linear one, u = (x, -y), satisfies both equations
 * inside with pressure 0. */
static void stokes_knows_pressure_and_flow(void **state)
{
    enum { N = 6 };
    for (int stable = 0; stable < 2; stable++) {
        const int side = stable ? 2 * N : N, half = stable ? 2 : 1; /* lattice of velocities */
        const int velocities = 2 * side * (side - 1), pressures = (N + 1) * (N + 1);
        spry_matrix *A = generated(*state, "stokes", stable ? "size=6" : "size=6 elements=q1q1");
        double *x = calloc((size_t)(velocities + pressures), sizeof *x), inside = 0, div = 0;
        assert_non_null(x);
        assert_int_equal(A->a.rows, velocities + pressures);
        for (int i = 0; i < pressures; i++)
            x[velocities + i] = 1;
        for (int i = 0; i < side * (side - 1); i++) {
            const double y = largest(A, 2 * i, 2 * i + 1, x);
            if (i % side < side - 1)
                inside = fmax(inside, fmax(y, largest(A, 2 * i + 1, 2 * i + 2, x)));
            else
                assert_true(y > 0.1);
        }
        assert_true(inside <= bound(9, 1));
        assert_true(largest(A, velocities, velocities + pressures, x) <= bound(9, 1));
        memset(x, 0, (size_t)(velocities + pressures) * sizeof *x);
        for (int i = 0; i < side * (side - 1); i++) {
            x[2 * i] = (double)(i % side + 1) / half;
            x[2 * i + 1] = -(double)(i / side + 1) / half;
        }
        inside = 0;
        for (int i = 0; i < side * (side - 1); i++) {
            const int px = i % side + 1, py = i / side + 1; /* two cells from the ends */
            if (px > 2 * half && px < side - 2 * half && py > 2 * half && py < side - 2 * half)
                inside = fmax(inside, largest(A, 2 * i, 2 * i + 2, x));
        }
        for (int i = 0; i < pressures; i++)
            if (i % (N + 1) > 1 && i % (N + 1) < N && i / (N + 1) > 1 && i / (N + 1) < N - 1)
                div = fmax(div, largest(A, velocities + i, velocities + i + 1, x));
        assert_true(inside <= bound(25, 16.0 * N));
        assert_true(div <= bound(50, 4.0 * N));
        free(x);
        spry_matrix_free(A);
    }
}

/* The rows of pressures hold 1 and -1 alone: the flux through the faces of a cell. */
static void darcy_divergence_is_exact(void **state)
{
    const int64_t n = 4, faces = 3 * n * n * (n + 1), cells = n * n * n;
    spry_matrix *A = generated(*state, "darcy", "size=4 nz=4 jump=5");
    const double *v = A->a.values;
    assert_int_equal(A->a.rows, faces + cells);
    for (int64_t i = faces; i < faces + cells; i++) {
        const int64_t k = A->a.offsets[i], cell = i - faces;
        const int64_t x = cell % n, y = cell / n % n, z = cell / n / n;
        const int64_t first[3] = {x + (n + 1) * (y + n * z),
                                  n * n * (n + 1) + x + n * (y + (n + 1) * z),
                                  2 * n * n * (n + 1) + x + n * (y + n * z)};
        const int64_t step[3] = {1, n, n * n};
        assert_int_equal(A->a.offsets[i + 1] - k, 6);
        for (int d = 0; d < 3; d++) {
            assert_int_equal(A->a.col_index[k + 2 * d], first[d]);
            assert_int_equal(A->a.col_index[k + 2 * d + 1], first[d] + step[d]);
            assert_true(v[k + 2 * d] == 1 && v[k + 2 * d + 1] == -1);
        }
    }
    for (int64_t i = 0; i < faces; i++) /* two fluxes before and after, itself, two pressures */
        assert_in_range(A->a.offsets[i + 1] - A->a.offsets[i], 3, 5);
    spry_matrix_free(A);
}

/* curl grad = 0: the differences of any numbers at inner vertices. */
static void curls_of_gradients_vanish(void **state)
{
    enum { N = 5, M = N - 1 };
    const int each = N * M * M, rows = 3 * each, steps[3] = {1, N + 1, (N + 1) * (N + 1)};
    double at[(N + 1) * (N + 1) * (N + 1)] = {0}, *x = calloc((size_t)rows, sizeof *x);
    spry_matrix *A = generated(*state, "maxwell", "size=5 sigma=0");
    spry_matrix *B = generated(*state, "maxwell", "size=5 sigma=25");
    assert_non_null(x);
    assert_int_equal(A->a.rows, rows);
    for (int v = 0; v < (N + 1) * (N + 1) * (N + 1); v++) {
        const int c[3] = {v % (N + 1), v / (N + 1) % (N + 1), v / (N + 1) / (N + 1)};
        bool inner = true;
        for (int d = 0; d < 3; d++)
            inner = inner && c[d] > 0 && c[d] < N;
        at[v] = inner ? 2 * base_uniform(7, (uint64_t)v) - 1 : 0;
    }
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < each; i++) {
            const int wide = d == 0 ? N : M, high = d == 1 ? N : M;
            const int px = i % wide + (d != 0), py = i / wide % high + (d != 1);
            const int pz = i / wide / high + (d != 2), v = px + (N + 1) * (py + (N + 1) * pz);
            x[d * each + i] = at[v + steps[d]] - at[v];
        }
    }
    assert_true(largest(A, 0, rows, x) <= bound(33, 2 * 4));
    assert_true(largest(B, 0, rows, x) > 0.1); /* the mass term is not blind to them */
    spry_matrix_free(A);
    spry_matrix_free(B);
    free(x);
}

/* Complex types have the mass alone in the imaginary part. */
static void losses_are_imaginary(void **state)
{
    spry_matrix *A = generated(*state, "maxwell", "size=4 sigma=0");
    spry_matrix *B = generated(*state, "maxwell", "size=4 sigma=3 jump=2");
    spry_matrix *Z = generated_as(*state, SPRY_TYPE_Z, "maxwell", "size=4 sigma=3 jump=2");
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const double curl = ((double *)A->a.values)[k], both = ((double *)B->a.values)[k];
        const spry_scalar z = value_get(SPRY_TYPE_Z, Z->a.values, k);
        assert_true(fabs(z.re - curl) <= bound(4, 4));
        assert_true(fabs(z.re + z.im - both) <= bound(4, 8));
    }
    spry_matrix_free(A);
    spry_matrix_free(B);
    spry_matrix_free(Z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_to_the_bit),
        cmocka_unit_test(definite_where_it_should_be),
        cmocka_unit_test(diffusion_by_hand),
        cmocka_unit_test(stokes_knows_pressure_and_flow),
        cmocka_unit_test(darcy_divergence_is_exact),
        cmocka_unit_test(curls_of_gradients_vanish),
        cmocka_unit_test(losses_are_imaginary),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
