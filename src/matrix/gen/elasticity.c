/*
 * Linear elasticity of a box of unit cubes, trilinear elements, three displacements per node,
 * Young's modulus 1 and Poisson's ratio nu. The nodes before x = 0 are clamped and left out, so
 * that every row is an equation of a free node and the matrix is symmetric positive definite.
 * Unknown 3 (x + nx (y + ny z)) + component.
 */
#include "matrix/gen/gen.h"

enum { CORNERS = 8, SIDE = 3 * CORNERS };

/* Integral over one axis of shape function a times b, or of their derivatives, for nodes at 0
 * and 1. */
static double along_axis(int a, int b, bool derive_a, bool derive_b)
{
    double slope_a = a ? 1 : -1, slope_b = b ? 1 : -1;
    if (derive_a && derive_b)
        return slope_a * slope_b;
    if (derive_a || derive_b)
        return (derive_a ? slope_a : slope_b) / 2;
    return a == b ? 1.0 / 3 : 1.0 / 6;
}

/* Integral over the cube of dN_a/dx_i dN_b/dx_j; bit d of a corner is its place on axis d. */
static double over_cube(int a, int b, int i, int j)
{
    double product = 1;
    for (int d = 0; d < 3; d++)
        product *= along_axis(a >> d & 1, b >> d & 1, d == i, d == j);
    return product;
}

/* K[a i][b j] = lambda (d_i N_a, d_j N_b) + mu (d_j N_a, d_i N_b) + mu delta_ij (grad N_a, grad
 * N_b) */
static void element_matrix(double nu, double *matrix)
{
    double lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
    for (int r = 0; r < SIDE; r++) {
        for (int c = 0; c < SIDE; c++) {
            int a = r / 3, b = c / 3, i = r % 3, j = c % 3;
            double gradients = 0;
            for (int d = 0; d < 3 && i == j; d++)
                gradients += over_cube(a, b, d, d);
            matrix[r * SIDE + c] =
                lambda * over_cube(a, b, i, j) + mu * over_cube(a, b, j, i) + mu * gradients;
        }
    }
}

spry_status gen_prepare_elasticity(spry_context *ctx, gen_problem *p)
{
    if (p->ny < 2 || p->nz < 2)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " x %" PRId64
                         " nodes: an element needs two nodes or more in y and z",
                         p->nx, p->ny, p->nz);
    element_matrix(p->options.nu, p->table);
    return SPRY_STATUS_OK;
}

/*
 * Adds up, over the elements that hold both a node and its neighbour `shift` away, the three
 * numbers that couple one component to the neighbour's. has[d][s] is 1 when on axis d there is an
 * element before (s = 0) or after the node. Elements come in the order of their place for both
 * nodes: the matrix is symmetric to the bit.
 */
static void couple(const double *matrix, int component, gen_shift shift, const int has[3][2],
                   double sum[3])
{
    const int away[3] = {shift.dx, shift.dy, shift.dz};
    sum[0] = sum[1] = sum[2] = 0;
    for (int element = 0; element < CORNERS; element++) {
        int mine = 0, other = 0;
        bool shared = true;
        for (int d = 0; d < 3; d++) {
            int side = element >> d & 1, at = 1 - side, to = at + away[d];
            shared = shared && has[d][side] && to >= 0 && to <= 1;
            mine |= at << d;
            other |= (to & 1) << d;
        }
        for (int j = 0; j < 3 && shared; j++)
            sum[j] += matrix[(3 * mine + component) * SIDE + 3 * other + j];
    }
}

void gen_elasticity_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    int component = (int)(i % 3);
    int64_t node = i / 3, x = node % p->nx, y = node / p->nx % p->ny, z = node / p->nx / p->ny;
    const int has[3][2] = {{1, x + 1 < p->nx}, {y > 0, y + 1 < p->ny}, {z > 0, z + 1 < p->nz}};
    for (int dz = -has[2][0]; dz <= has[2][1]; dz++) {
        for (int dy = -has[1][0]; dy <= has[1][1]; dy++) {
            for (int dx = x > 0 ? -1 : 0; dx <= has[0][1]; dx++) {
                double sum[3] = {0};
                if (row->cols)
                    couple(p->table, component, (gen_shift){dx, dy, dz}, has, sum);
                int64_t neighbour = node + dx + p->nx * (dy + p->ny * dz);
                for (int j = 0; j < 3; j++)
                    gen_put(row, 3 * neighbour + j, sum[j], 0);
            }
        }
    }
}
