/* Bytes: what an iteration moves at least, and what a run keeps. All is counted in planes, the
 * numbers of one for each point of the surface. docs/ocean.md has the table. */
#include "ocean/flow.h"

#include <string.h>

static double plane_bytes(const ocean_setup *setup)
{
    const ocean_sizes s = ocean_sizes_of(setup);
    return (double)sizeof(double) * (double)s.nx * (double)s.ny;
}

/* All levels of multigrid over the first one. */
static double levels(const ocean_setup *s)
{
    return s->ny > 0 ? 4 / 3.0 : 2;
}

/* Whether mu / h^2 is a field, and no number. */
static bool has_field(const ocean_setup *s)
{
    return s->depths || strcmp(s->device, "cpu") != 0;
}

/* The sweep slopes reads phi and writes all slopes but the surface's, which only a rate needs; the
 * product reads both, still and shape, and writes a plane for each level. */
double ocean_bytes_product(const ocean_setup *s)
{
    const double slopes = 2 * s->nz, product = 3 * s->nz + 4 + SHAPE_PLANES;
    return plane_bytes(s) * (slopes + product);
}

/*
 * Into the modes and back: each reads all planes and writes all. Of each mode's cycle, on a level:
 * a sweep from 0 reads b and writes x; the residual reads both; the correction with a sweep reads
 * them again and writes x. All three read the coefficient, where it is a field.
 */
double ocean_bytes_precon(const ocean_setup *s, bool apart)
{
    const double cycle = levels(s) * (7 + (has_field(s) ? 3 : 0)) * (s->single ? 0.5 : 1);
    return plane_bytes(s) * s->nz * (4 + (apart ? 4 : 0) + cycle);
}

/*
 * In planes: the vectors of a flow; u and the stages of a step; those of the solver, gmres with its
 * restart of 30 having most; of each mode the levels below the first, and the coefficient of all
 * levels where there is one, which is the host's, too. A tenth more is for what is small.
 */
void ocean_bytes_kept(const ocean_setup *s, double *host, double *device)
{
    const double plane = 1.1 * plane_bytes(s), nz = s->nz, field = has_field(s) ? levels(s) : 0;
    const double krylov = strncmp(s->method, "gmres", 5) == 0 ? 35 : 10;
    const double flow = 4 + SHAPE_PLANES + 1 + 2 + 1 + 7 * nz, steps = 2 * 8;
    const double modes = nz * (field + 2 * levels(s) - 1 + (s->single ? levels(s) : 0));
    const double all = plane * (flow + steps + krylov * nz + modes);
    const double copies = plane * (4 + field * nz); /* what is seen; coefficients */
    const bool on_host = strcmp(s->device, "cpu") == 0;
    *host = on_host ? all + copies : copies;
    *device = on_host ? 0 : all;
}
