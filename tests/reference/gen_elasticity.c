/* The elasticity generator: what every correct assembly of the equations must do. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { SIDE = 5, NODES = SIDE * SIDE * SIDE, N = 3 * NODES };

typedef struct vec {
    double x, y, z;
} vec;

/* Forces at the nodes for displacements that a function gives; node (0, 0, 0) lies at x = 1 from
 * the clamp. */
static void forces(const spry_matrix *A, vec (*displace)(vec), vec *out)
{
    spry_scalar *u = calloc(N, sizeof *u), *f = calloc(N, sizeof *f);
    assert_non_null(u);
    assert_non_null(f);
    for (int i = 0; i < NODES; i++) {
        vec d = displace((vec){i % SIDE + 1, i / SIDE % SIDE, i / SIDE / SIDE});
        u[3 * i].re = d.x;
        u[3 * i + 1].re = d.y;
        u[3 * i + 2].re = d.z;
    }
    support_multiply(A, SPRY_TRANSPOSE_NO, u, f);
    for (int i = 0; i < NODES; i++)
        out[i] = (vec){f[3 * i].re, f[3 * i + 1].re, f[3 * i + 2].re};
    free(u);
    free(f);
}

/* Displacements up to 8, numbers up to 2, 81 products with numbers of 8 additions each. */
static const double bound = 81 * 8 * 8 * 2 * DBL_EPSILON;

static bool equals(vec a, double x, double y, double z)
{
    return fabs(a.x - x) <= bound && fabs(a.y - y) <= bound && fabs(a.z - z) <= bound;
}

static vec move_x(vec p)
{
    (void)p;
    return (vec){1, 0, 0};
}
static vec move_all(vec p)
{
    (void)p;
    return (vec){1, -2, 3};
}
static vec turn_z(vec p)
{
    return (vec){-p.y, p.x, 0};
}
static vec turn_x(vec p)
{
    return (vec){0, -p.z, p.y};
}

/* Rigid motions cost nothing where no clamped node is near. */
static void rigid_motions_need_no_force(void **state)
{
    vec (*const motions[])(vec) = {move_x, move_all, turn_z, turn_x};
    spry_matrix *A = generated(*state, "elasticity", "size=5");
    for (int m = 0; m < 4; m++) {
        vec f[NODES];
        forces(A, motions[m], f);
        double clamped = 0;
        for (int i = 0; i < NODES; i++) {
            if (i % SIDE > 0)
                assert_true(equals(f[i], 0, 0, 0));
            else
                clamped += fabs(f[i].x) + fabs(f[i].y) + fabs(f[i].z);
        }
        assert_true(clamped > 1); /* the clamp resists */
    }
    spry_matrix_free(A);
}

static vec stretch(vec p)
{
    return (vec){p.x, 0, 0};
}
static vec shear(vec p)
{
    return (vec){0, p.x, 0};
}

/* A uniform strain has a uniform stress: no force inside, stress times area on a face (the patch
 * test). */
static void uniform_strain_passes_the_patch_test(void **state)
{
    const double nu = 0.25, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
    spry_matrix *A = generated(*state, "elasticity", "size=5 nu=0.25");
    vec f[NODES];
    const int middle = 2 + SIDE * (2 + SIDE * 2);
    forces(A, stretch, f);
    assert_true(equals(f[middle], 0, 0, 0));
    assert_true(equals(f[middle - 2], 0, 0, 0)); /* at the clamp, which the strain agrees with */
    assert_true(equals(f[middle + 2], lambda + 2 * mu, 0, 0));
    assert_true(equals(f[middle + 2 * SIDE], 0, lambda, 0));
    assert_true(equals(f[middle - 2 * SIDE * SIDE], 0, 0, -lambda));
    forces(A, shear, f);
    assert_true(equals(f[middle], 0, 0, 0));
    assert_true(equals(f[middle + 2], 0, mu, 0));
    assert_true(equals(f[middle + 2 * SIDE], mu, 0, 0));
    spry_matrix_free(A);
}

/* One element whose four nodes at x = 1 are free; (d_x N, d_x N) = 1/9 for a corner with itself. */
static void one_element_by_hand(void **state)
{
    const double lambda = 0.3 / (1.3 * 0.4), mu = 1 / 2.6;
    support_dense A = generated_dense(*state, "elasticity", "nx=1 ny=2 nz=2");
    assert_int_equal(A.rows, 12);
    assert_true(fabs(generated_at(&A, 0, 0).re - (lambda + 4 * mu) / 9) <= 4 * DBL_EPSILON);
    /* Corner (1,0,0): d_x N d_y N integrates to 1/2 * -1/2 * 1/3. */
    assert_true(fabs(generated_at(&A, 0, 1).re + (lambda + mu) / 12) <= 4 * DBL_EPSILON);
    /* With the corner across y: 1 * 1/6 * 1/3, 1/3 * -1 * 1/3, 1/3 * 1/6 * 1. */
    double across = lambda / 18 + mu / 18 + mu * (1.0 / 18 - 1.0 / 9 + 1.0 / 18);
    assert_true(fabs(generated_at(&A, 0, 3).re - across) <= 4 * DBL_EPSILON);
    assert_true(generated_symmetric(&A, false));
    assert_true(generated_definite(&A));
    support_dense_free(&A);
}

static void rows_have_81_entries(void **state)
{
    spry_matrix *A = generated(*state, "elasticity", "size=5");
    matrix_arrays a = A->a;
    assert_int_equal(a.rows, N);
    for (int i = 0; i < N; i++) {
        int node = i / 3, x = node % SIDE, y = node / SIDE % SIDE, z = node / SIDE / SIDE;
        int wide = 3 - (x == 0) - (x == SIDE - 1), high = 3 - (y == 0) - (y == SIDE - 1);
        int deep = 3 - (z == 0) - (z == SIDE - 1);
        assert_int_equal(a.offsets[i + 1] - a.offsets[i], 3 * wide * high * deep);
    }
    spry_matrix_free(A);
}

static void symmetric_and_definite(void **state)
{
    static const char *const options[] = {"size=4", "nx=3 ny=4 nz=2 nu=0.49", "size=3 nu=-0.9"};
    for (int k = 0; k < 3; k++) {
        support_dense A = generated_dense(*state, "elasticity", options[k]);
        assert_true(generated_symmetric(&A, false));
        assert_true(generated_definite(&A));
        support_dense_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_need_no_force),
        cmocka_unit_test(uniform_strain_passes_the_patch_test),
        cmocka_unit_test(one_element_by_hand),
        cmocka_unit_test(rows_have_81_entries),
        cmocka_unit_test(symmetric_and_definite),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
