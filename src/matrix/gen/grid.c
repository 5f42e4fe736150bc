/*
 * Finite differences on a box of nx * ny * nz points, x fastest, with the same spacing in all
 * directions and zero outside (Dirichlet). Equations are multiplied by the spacing squared: entries
 * are of order 1.
 */
#include "matrix/gen/gen.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

typedef struct place {
    int64_t x, y, z;
} place;

static place place_of(const gen_problem *p, int64_t i)
{
    int64_t line = i / p->nx;
    return (place){i % p->nx, line % p->ny, line / p->ny};
}

/* Writes a row with these numbers on the stencil; `im` is the diagonal's imaginary part. */
static void put_stencil(const gen_problem *p, int64_t i, const double *values, double im,
                        gen_row *row)
{
    place at = place_of(p, i);
    for (int k = 0; k < p->points; k++) {
        gen_shift shift = p->shifts[k];
        int64_t x = at.x + shift.dx, y = at.y + shift.dy, z = at.z + shift.dz;
        if (x < 0 || x >= p->nx || y < 0 || y >= p->ny || z < 0 || z >= p->nz)
            continue;
        int64_t j = (z * p->ny + y) * p->nx + x;
        gen_put(row, j, values[k], j == i ? im : 0);
    }
}

void gen_stencil_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    put_stencil(p, i, p->table, 0, row);
}

/* Adds a point with a number; to be called in the order of columns. */
static void add_point(gen_problem *p, int dx, int dy, int dz, double value)
{
    p->table[p->points] = value;
    p->shifts[p->points++] = (gen_shift){dx, dy, dz};
}

/* -1 for the neighbours within `reach` steps along axes, and their number in the middle. */
static void set_laplacian(gen_problem *p, int reach)
{
    int height = p->dimensions > 1, depth = p->dimensions > 2;
    for (int dz = -depth; dz <= depth; dz++)
        for (int dy = -height; dy <= height; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (abs(dx) + abs(dy) + abs(dz) <= reach)
                    add_point(p, dx, dy, dz, -1);
    p->table[p->points / 2] = p->points - 1;
}

/* tridiagonal, poisson2d, poisson3d, and what convection-diffusion and helmholtz start from. */
spry_status gen_prepare_stencil(spry_context *ctx, gen_problem *p)
{
    int cross = 2 * p->dimensions + 1, full = p->dimensions == 2 ? 9 : 27;
    int64_t points = p->options.points ? p->options.points : cross;
    if (points != cross && points != full)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "points=%" PRId64 ": the stencil has %d or %d points", points, cross,
                         full);
    set_laplacian(p, points == full ? p->dimensions : 1);
    return SPRY_STATUS_OK;
}

/*
 * -div(Q diag(1, epsilon) Q^T grad u) with Q the rotation by the angle and the mixed derivative by
 * the four corners. Its symbol is at least cxx sin^2 s + 2 cxy sin s sin t + cyy sin^2 t >= 0:
 * positive definite. In a box the strong direction lies in the planes of x and y, and diffusion
 * across them is epsilon too.
 */
spry_status gen_prepare_anisotropic(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    double epsilon = p->options.epsilon, angle = p->options.angle * pi / 180;
    double cosine = cos(angle), sine = sin(angle);
    double cxx = cosine * cosine + epsilon * sine * sine;
    double cyy = sine * sine + epsilon * cosine * cosine;
    double czz = p->dimensions > 2 ? epsilon : 0;
    double corner = (1 - epsilon) * sine * cosine / 2;
    bool straight = fabs(corner) <= 1e-15 * (1 + epsilon); /* along the axes, but for rounding */
    if (czz > 0)
        add_point(p, 0, 0, -1, -czz);
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx && dy && !straight)
                add_point(p, dx, dy, 0, -dx * dy * corner);
            else if (!dx || !dy)
                add_point(p, dx, dy, 0, dx ? -cxx : dy ? -cyy : 2 * (cxx + cyy + czz));
        }
    }
    if (czz > 0)
        add_point(p, 0, 0, 1, -czz);
    return SPRY_STATUS_OK;
}

/* Adds w du along an axis: `before` and `after` are the stencil's points on that axis. */
static void add_flow(const gen_problem *p, double *values, int before, int after, double w)
{
    int upwind = p->options.scheme == 0;
    values[before] -= upwind ? fmax(w, 0) : w / 2;
    values[after] += upwind ? fmin(w, 0) : w / 2;
    values[p->points / 2] += upwind ? fabs(w) : 0;
}

/*
 * -laplace u + peclet v . grad u on (-1, 1)^2, or on a taller box, with the wind that turns about
 * the centre, v = (2 y (1 - x^2), -2 x (1 - y^2)): H. Elman, D. Silvester, A. Wathen, Finite
 * Elements and Fast Iterative Solvers, example 3.1.4. On a box that is not square the same stream
 * function is stretched.
 */
void gen_convection_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    if (!row->cols) {
        gen_stencil_row(data, i, row);
        return;
    }
    place at = place_of(p, i);
    double values[7];
    memcpy(values, p->table, sizeof values);
    double wide = (double)p->nx + 1, high = (double)p->ny + 1, longest = fmax(wide, high);
    double x = 2 * ((double)at.x + 1) / wide - 1, y = 2 * ((double)at.y + 1) / high - 1;
    double strength = p->options.peclet * 2 / longest; /* times the spacing */
    int middle = p->points / 2;
    add_flow(p, values, middle - 1, middle + 1, strength * 2 * y * (1 - x * x) * (longest / high));
    add_flow(p, values, middle - 2, middle + 2, -strength * 2 * x * (1 - y * y) * (longest / wide));
    put_stencil(p, i, values, 0, row);
}

/* Rises from 0 at the layer's inner edge to near 1 at the boundary. */
static double damping(int64_t layer, int64_t at, int64_t n)
{
    int64_t from_wall = at < n - 1 - at ? at : n - 1 - at;
    double depth = from_wall < layer ? (double)(layer - from_wall) / (double)(layer + 1) : 0;
    return depth * depth;
}

/*
 * -laplace u - k^2 (1 + i s) u, where s > 0 in a layer along the boundary swallows outgoing waves
 * (those that go as exp(i k r)). All of it lies on the diagonal, so that the others stay constant,
 * as in G. Ortega's thesis (2014), section 4.4. Real numbers cannot absorb: the layer is left out
 * for them.
 */
void gen_helmholtz_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    double values[7], kh = 2 * pi / p->options.wavelength, im = 0;
    memcpy(values, p->table, sizeof values);
    values[3] -= kh * kh;
    if (spry_type_is_complex(p->type)) {
        place at = place_of(p, i);
        int64_t layer = p->options.layer;
        double sum =
            damping(layer, at.x, p->nx) + damping(layer, at.y, p->ny) + damping(layer, at.z, p->nz);
        im = -kh * kh * p->options.absorption * sum;
    }
    put_stencil(p, i, values, im, row);
}
