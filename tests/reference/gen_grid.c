/* Generators on grids against numbers worked out by hand. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Asserts that a generated matrix is this one, entry by entry. */
static void assert_is(spry_context *ctx, const char *kind, const char *options, int64_t n,
                      const double *numbers)
{
    spry_matrix *expected = support_from_rows(ctx, SPRY_TYPE_D, n, n, numbers);
    spry_matrix *found = generated(ctx, kind, options);
    support_same_arrays(expected, found);
    spry_matrix_free(expected);
    spry_matrix_free(found);
}

static void tridiagonal_by_hand(void **state)
{
    static const double numbers[] = {2, -1, 0, -1, 2, -1, 0, -1, 2};
    assert_is(*state, "tridiagonal", "size=3", 3, numbers);
    static const double one[] = {2};
    assert_is(*state, "tridiagonal", "size=1", 1, one);
}

static void poisson2d_by_hand(void **state)
{
    /* clang-format off */
    static const double five[] = {
         4, -1,  0, -1,  0,  0,
        -1,  4, -1,  0, -1,  0,
         0, -1,  4,  0,  0, -1,
        -1,  0,  0,  4, -1,  0,
         0, -1,  0, -1,  4, -1,
         0,  0, -1,  0, -1,  4};
    static const double nine[] = {
         8, -1,  0, -1, -1,  0,
        -1,  8, -1, -1, -1, -1,
         0, -1,  8,  0, -1, -1,
        -1, -1,  0,  8, -1,  0,
        -1, -1, -1, -1,  8, -1,
         0, -1, -1,  0, -1,  8};
    /* clang-format on */
    assert_is(*state, "poisson2d", "nx=3 ny=2", 6, five);
    assert_is(*state, "poisson2d", "nx=3 ny=2 points=5", 6, five);
    assert_is(*state, "poisson2d", "nx=3 ny=2 points=9", 6, nine);
}

/* The middle of a 3 x 3 x 3 grid is coupled to its 6 or 26 neighbours, a corner to 3 or 7. */
static void poisson3d_by_hand(void **state)
{
    for (int full = 0; full < 2; full++) {
        support_dense A =
            generated_dense(*state, "poisson3d", full ? "size=3 points=27" : "size=3 points=7");
        assert_int_equal(A.rows, 27);
        for (int j = 0; j < 27; j++) {
            int steps = abs(j % 3 - 1) + abs(j / 3 % 3 - 1) + abs(j / 9 - 1);
            double middle = j == 13 ? (full ? 26 : 6) : full || steps == 1 ? -1 : 0;
            assert_true(generated_at(&A, 13, j).re == middle);
            int far = j % 3 == 2 || j / 3 % 3 == 2 || j / 9 == 2;
            steps = j % 3 + j / 3 % 3 + j / 9;
            double corner = j == 0 ? (full ? 26 : 6) : !far && (full || steps == 1) ? -1 : 0;
            assert_true(generated_at(&A, 0, j).re == corner);
        }
        assert_true(generated_symmetric(&A, false));
        assert_true(generated_definite(&A));
        support_dense_free(&A);
    }
}

/* Eigenvalues are known: the vector of sines belongs to 6 - 2 (cos + cos + cos). */
static void poisson3d_has_its_eigenvector(void **state)
{
    enum { NX = 4, NY = 3, NZ = 5, N = NX * NY * NZ };
    const double pi = acos(-1.0);
    spry_matrix *A = generated(*state, "poisson3d", "nx=4 ny=3 nz=5");
    spry_scalar x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = (spry_scalar){sin(pi * (i % NX + 1) / (NX + 1)) *
                                 sin(pi * (i / NX % NY + 1) / (NY + 1)) *
                                 sin(pi * (i / NX / NY + 1) / (NZ + 1)),
                             0};
    support_multiply(A, SPRY_TRANSPOSE_NO, x, y);
    double eigenvalue = 6 - 2 * (cos(pi / (NX + 1)) + cos(pi / (NY + 1)) + cos(pi / (NZ + 1)));
    /* Seven products of numbers up to 6 in size, and sines and cosines right to an ulp or two. */
    for (int i = 0; i < N; i++)
        assert_true(fabs(y[i].re - eigenvalue * x[i].re) <= 64 * DBL_EPSILON);
    spry_matrix_free(A);
}

static void anisotropic_by_hand(void **state)
{
    static const double straight[] = {2.5,   -1, -0.25, 0,  -1, 2.5,   0,  -0.25,
                                      -0.25, 0,  2.5,   -1, 0,  -0.25, -1, 2.5};
    assert_is(*state, "anisotropic", "size=2 epsilon=0.25", 4, straight);
    /* Turned by a right angle x and y change places; the corners are zero but for rounding. */
    spry_matrix *turned = generated(*state, "anisotropic", "size=3 epsilon=0.25 angle=90");
    spry_matrix *plain = generated(*state, "poisson2d", "size=3");
    assert_int_equal(spry_matrix_nnz(turned), spry_matrix_nnz(plain));
    support_dense A = support_dense_of(turned);
    assert_true(fabs(generated_at(&A, 4, 3).re + 0.25) <= 4 * DBL_EPSILON);
    assert_true(fabs(generated_at(&A, 4, 1).re + 1) <= 4 * DBL_EPSILON);
    support_dense_free(&A);
    spry_matrix_free(turned);
    spry_matrix_free(plain);
}

/* The plane's numbers stay, but for the diagonal; those across are epsilon, which is the third axis
 * of a Laplacian when epsilon is 1. */
static void anisotropic_in_a_box(void **state)
{
    support_dense box = generated_dense(*state, "anisotropic", "size=3 nz=3 epsilon=0.25 angle=30");
    support_dense plane = generated_dense(*state, "anisotropic", "size=3 epsilon=0.25 angle=30");
    for (int j = 0; j < 27; j++) {
        double expected = j / 9 == 1 ? generated_at(&plane, 4, j % 9).re : 0;
        expected += j == 13 ? 0.5 : j == 4 || j == 22 ? -0.25 : 0;
        assert_true(fabs(generated_at(&box, 13, j).re - expected) <= 8 * DBL_EPSILON);
    }
    assert_true(generated_symmetric(&box, false));
    assert_true(generated_definite(&box));
    support_dense_free(&box);
    support_dense_free(&plane);
    box = generated_dense(*state, "anisotropic", "nx=4 ny=3 nz=2 epsilon=1");
    support_dense laplacian = generated_dense(*state, "poisson3d", "nx=4 ny=3 nz=2");
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++)
            assert_true(generated_at(&box, i, j).re == generated_at(&laplacian, i, j).re);
    support_dense_free(&box);
    support_dense_free(&laplacian);
}

/* At 45 degrees: cxx = cyy = (1 + e) / 2, cxy = (1 - e) / 2, so -5/8, and corners of 3/16 for e =
 * 1/4. */
static void anisotropic_at_an_angle(void **state)
{
    support_dense A = generated_dense(*state, "anisotropic", "size=3 epsilon=0.25 angle=45");
    static const double middle[] = {-0.1875, -0.625, 0.1875, -0.625, 2.5,
                                    -0.625,  0.1875, -0.625, -0.1875};
    for (int j = 0; j < 9; j++)
        assert_true(fabs(generated_at(&A, 4, j).re - middle[j]) <= 8 * DBL_EPSILON);
    support_dense_free(&A);
    for (int angle = -80; angle < 180; angle += 37) {
        char options[64];
        snprintf(options, sizeof options, "size=7 epsilon=1e-3 angle=%d", angle);
        A = generated_dense(*state, "anisotropic", options);
        assert_true(generated_symmetric(&A, false));
        assert_true(generated_definite(&A));
        support_dense_free(&A);
    }
}

/*
 * The point (1/2, 0) of a 3 x 3 grid on (-1, 1)^2, spacing 1/2: wind (0, -1), so that 10 v h = -5
 * is added to the neighbour below (upwind: it comes from above) or taken from both sides by halves.
 */
static void convection_by_hand(void **state)
{
    support_dense A = generated_dense(*state, "convection-diffusion", "size=3 peclet=10");
    assert_true(generated_at(&A, 5, 5).re == 9);
    assert_true(generated_at(&A, 5, 4).re == -1);
    assert_true(generated_at(&A, 5, 2).re == -1);
    assert_true(generated_at(&A, 5, 8).re == -6);
    support_dense_free(&A);
    A = generated_dense(*state, "convection-diffusion", "size=3 peclet=10 scheme=central");
    assert_true(generated_at(&A, 5, 5).re == 4);
    assert_true(generated_at(&A, 5, 4).re == -1);
    assert_true(generated_at(&A, 5, 2).re == 1.5);
    assert_true(generated_at(&A, 5, 8).re == -3.5);
    /* The wind turns: at (0, 1/2) it is (1, 0). */
    assert_true(generated_at(&A, 7, 8).re == 1.5);
    assert_true(generated_at(&A, 7, 6).re == -3.5);
    support_dense_free(&A);
}

/* Twice as high as wide, spacing 1/4: the stretched wind is as strong along x and twice as strong
 * along y. */
static void convection_on_a_rectangle(void **state)
{
    support_dense A = generated_dense(*state, "convection-diffusion", "nx=3 ny=7 peclet=10");
    assert_true(generated_at(&A, 11, 11).re == 9); /* (1/2, 0): wind (0, -2) */
    assert_true(generated_at(&A, 11, 14).re == -6);
    assert_true(generated_at(&A, 16, 16).re == 6.5); /* (0, 1/2): wind (1, 0) */
    assert_true(generated_at(&A, 16, 15).re == -3.5);
    support_dense_free(&A);
}

/* Constants away from the boundary are carried without change; upwind rows are those of an
 * M-matrix. */
static void convection_in_a_box(void **state)
{
    static const char *const options[] = {"nx=5 ny=7 peclet=1000", "nx=6 ny=4 nz=5 peclet=300",
                                          "nx=5 ny=6 peclet=40 scheme=central"};
    for (int k = 0; k < 3; k++) {
        support_dense A = generated_dense(*state, "convection-diffusion", options[k]);
        int nx = k == 1 ? 6 : 5, ny = k == 0 ? 7 : k == 1 ? 4 : 6, nz = k == 1 ? 5 : 1;
        assert_int_equal(A.rows, nx * ny * nz);
        for (int i = 0; i < A.rows; i++) {
            int x = i % nx, y = i / nx % ny, z = i / nx / ny;
            double sum = 0, size = 0;
            for (int j = 0; j < A.rows; j++) {
                double a = generated_at(&A, i, j).re;
                sum += a;
                size += fabs(a);
                assert_true(k == 2 || (i == j ? a > 0 : a <= 0));
            }
            bool inside =
                x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && (nz == 1 || (z > 0 && z < nz - 1));
            /* Each number is rounded once or twice when flow is added, and seven are added up. */
            assert_true(!inside || fabs(sum) <= 8 * DBL_EPSILON * size);
        }
        assert_false(generated_symmetric(&A, false));
        support_dense_free(&A);
    }
}

static void no_flow_is_diffusion(void **state)
{
    support_dense a = generated_dense(*state, "convection-diffusion", "size=4 peclet=0");
    support_dense b = generated_dense(*state, "poisson2d", "size=4");
    support_dense_same(a, b);
}

/* Wavelength 10: (2 pi / 10)^2 is taken from the 6. A layer of 1 point: depth 1/2, damping 1/4 an
 * axis. */
static void helmholtz_by_hand(void **state)
{
    const double k2 = 4 * acos(-1.0) * acos(-1.0) / 100;
    support_dense A = generated_dense(*state, "helmholtz", "size=3 layer=1 absorption=2");
    spry_scalar middle = generated_at(&A, 13, 13), corner = generated_at(&A, 0, 0);
    spry_scalar face = generated_at(&A, 4, 4);
    assert_true(fabs(middle.re - (6 - k2)) <= 4 * DBL_EPSILON * 6);
    assert_true(middle.im == 0);
    assert_true(corner.re == middle.re && face.re == middle.re);
    assert_true(fabs(corner.im + k2 * 2 * 0.75) <= 4 * DBL_EPSILON);
    assert_true(fabs(face.im + k2 * 2 * 0.25) <= 4 * DBL_EPSILON);
    assert_true(generated_symmetric(&A, false));
    assert_false(generated_symmetric(&A, true));
    for (int j = 0; j < 27; j++) { /* all numbers off the diagonal are -1 */
        spry_scalar a = generated_at(&A, 13, j);
        assert_true(j == 13 || (a.im == 0 && (a.re == 0 || a.re == -1)));
    }
    support_dense_free(&A);
}

/* Real types have no layer and are indefinite once a wave fits into the box. */
static void helmholtz_of_real_numbers(void **state)
{
    support_dense A = generated_dense(*state, "helmholtz", "size=4 type=d wavelength=4");
    support_dense B = generated_dense(*state, "helmholtz", "size=4 type=z wavelength=4 layer=0");
    assert_true(generated_symmetric(&A, false));
    for (int k = 0; k < 64 * 64; k++)
        assert_true(A.at[k].im == 0);
    assert_false(generated_definite(&A));
    support_dense_free(&A);
    A = generated_dense(*state, "helmholtz", "size=4 type=d wavelength=4");
    support_dense_same(A, B);
    A = generated_dense(*state, "helmholtz", "size=4 type=d wavelength=1000");
    assert_true(generated_definite(&A));
    support_dense_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tridiagonal_by_hand),
        cmocka_unit_test(poisson2d_by_hand),
        cmocka_unit_test(poisson3d_by_hand),
        cmocka_unit_test(poisson3d_has_its_eigenvector),
        cmocka_unit_test(anisotropic_by_hand),
        cmocka_unit_test(anisotropic_at_an_angle),
        cmocka_unit_test(anisotropic_in_a_box),
        cmocka_unit_test(convection_by_hand),
        cmocka_unit_test(convection_on_a_rectangle),
        cmocka_unit_test(convection_in_a_box),
        cmocka_unit_test(no_flow_is_diffusion),
        cmocka_unit_test(helmholtz_by_hand),
        cmocka_unit_test(helmholtz_of_real_numbers),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
