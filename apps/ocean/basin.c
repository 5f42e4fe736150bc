/* Basins: the bottom, zones that make and take waves, the beginning. */
#include "ocean/ocean.h"

#include <math.h>
#include <stdlib.h>

/* R. W. Whalin, The limit of applicability of linear wave refraction theory in a convergence zone,
 * Waterways Experiment Station, 1971: a slope of 1 to 25 in semicircles. */
static double whalin(double x, double y)
{
    const double width = 6.096, deep = 0.4572, shallow = 0.1524, from = 10.67;
    const double inside = fmin(fmax(y, 0), width), G = sqrt(inside * (width - inside));
    return fmax(shallow, fmin(deep, deep + (from - G - x) / 25));
}

static double ramp(const ocean_options *o, double x)
{
    const double part = (x - o->ramp_from) / (o->ramp_to - o->ramp_from);
    return o->depth + (o->shore - o->depth) * fmin(fmax(part, 0), 1);
}

static spry_status read_depths(spry_context *ctx, const char *path, int64_t points, double *depths)
{
    char text[512];
    spry_vector *v = NULL, *mine = NULL;
    spry_status status = spry_vector_read(ctx, path, NULL, &v);
    if (status == SPRY_STATUS_OK && spry_vector_size(v) != points) {
        snprintf(text, sizeof text, "%s has %lld numbers, expected %lld, one for each point", path,
                 (long long)spry_vector_size(v), (long long)points);
        status = ocean_fail(ctx, text);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, points, depths, SPRY_OWN_BORROW, &mine);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(v, mine);
    spry_vector_free(mine);
    spry_vector_free(v);
    return status;
}

spry_status basin_depths(spry_context *ctx, const ocean_options *o, double length, double **depths)
{
    const int64_t nx = o->nx + (o->ends == 0), ny = o->ny > 0 ? o->ny + (o->sides == 0) : 1;
    double *d = NULL;
    *depths = NULL;
    if (o->bottom == BOTTOM_FLAT && !o->depths)
        return SPRY_STATUS_OK;
    d = *depths = spry_alloc(ctx, (size_t)(nx * ny) * sizeof *d);
    if (!d)
        return SPRY_STATUS_NO_MEMORY;
    if (o->depths)
        return read_depths(ctx, o->depths, nx * ny, d);
    for (int64_t i = 0; i < nx * ny; i++) {
        const int64_t line = i / nx;
        const double x = length / (double)o->nx * (double)(i - line * nx) - o->shift;
        const double y = o->ny > 0 ? o->width / (double)o->ny * (double)line : 3.048;
        d[i] = o->bottom == BOTTOM_WHALIN ? whalin(x, y) : ramp(o, x);
    }
    return SPRY_STATUS_OK;
}

/* How far it is to where waves are to die: the other end, or around a ship the nearest side. */
static double way_out(const ocean_run *r, double x, double y)
{
    const ocean_setup *s = &r->flow.setup;
    double way = s->length - x;
    if (!r->flow.ship)
        return way;
    way = fmin(way, x);
    return s->ny > 0 ? fmin(way, fmin(y, s->width - y)) : way;
}

/* Gamma of Larsen and Dancy's zones is 1 where the flow is left to itself, and 0 where it is as
 * prescribed at the end of a step; what is missing to 1 becomes a rate. */
spry_status basin_zones(ocean_run *r)
{
    const ocean_options *o = r->o;
    const double rate = o->strength / r->dt;
    const size_t size = (size_t)r->flow.wide * sizeof(double);
    double *wave = spry_alloc(r->ctx, size), *rest = spry_alloc(r->ctx, size);
    spry_status status = wave && rest ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < r->flow.wide && status == SPRY_STATUS_OK; i++) {
        double x, y;
        ocean_flow_place(&r->flow, i, &x, &y);
        const double in = o->generation > 0 ? fmin(x / o->generation, 1) : 1;
        const double out = o->absorption > 0 ? fmin(way_out(r, x, y) / o->absorption, 1) : 1;
        wave[i] = rate * (1 - in * in * (3 - 2 * in));
        rest[i] = rate * pow(1 - out, o->power);
    }
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_set_zones(&r->flow, wave, rest);
    spry_free(r->ctx, wave);
    spry_free(r->ctx, rest);
    return status;
}

spry_status basin_start(ocean_run *r)
{
    const ocean_options *o = r->o;
    const int64_t plane = r->flow.plane;
    if (o->start == 0)
        return SPRY_STATUS_OK;
    double *u = spry_alloc(r->ctx, 2 * (size_t)plane * sizeof *u);
    if (!u)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < plane; i++) {
        double x, y;
        ocean_flow_own_place(&r->flow, i, &x, &y);
        const double theta = r->wave.k * (x * cos(o->direction) + y * sin(o->direction));
        ocean_wave_at(&r->wave, theta, &u[i], &u[plane + i]);
    }
    const spry_status status = ocean_flow_copy(&r->flow, u, r->u);
    spry_free(r->ctx, u);
    return status;
}
