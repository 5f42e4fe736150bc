/* Basins: the bottom, zones that make and take waves, the beginning. */
#include "common/samples.h"
#include "ocean/ocean.h"

#include <math.h>
#include <string.h>

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

/* A row that has a number for each point of the grid is that: x fastest. Along x and y no other row
 * says where it lies. */
static spry_status take_points(const app_samples *s, int64_t points, bool wide, double *values,
                               bool *are)
{
    const bool row = s->points == 0 && s->axis[1].count == 1 && !s->axis[0].at;
    *are = row && s->axis[0].count == points;
    if (row && wide && !*are)
        return app_samples_fail(s, 0, 0,
                                "has %lld numbers, expected %lld, one for each point, or an array "
                                "with rows along y",
                                (long long)s->axis[0].count, (long long)points);
    for (int64_t i = 0; *are && i < points; i++)
        values[i] = s->value[i];
    return SPRY_STATUS_OK;
}

/* The samples of a file at all points. */
static spry_status read_file(spry_context *ctx, const ocean_options *o, const char *path,
                             double length, double *values)
{
    const int64_t nx = o->nx + (o->ends == 0), ny = o->ny > 0 ? o->ny + (o->sides == 0) : 1;
    app_samples s;
    bool are = false;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(app_samples_read(ctx, path, &s));
    OCEAN_GO(take_points(&s, nx * ny, ny > 1, values, &are));
    /* what says nothing about places is as long as the basin, wherever that lies */
    const double shift_x = s.points > 0 || s.axis[0].at ? o->shift : 0;
    const double shift_y = s.points > 0 || s.axis[1].at ? o->shift_y : 0;
    OCEAN_GO(app_samples_span(&s, 0, length, o->ends == 1));
    OCEAN_GO(app_samples_span(&s, 1, o->width, o->sides == 1));
    for (int64_t i = 0; !are && i < nx * ny; i++)
        OCEAN_GO(app_samples_at(
            &s, length / (double)o->nx * (double)(i % nx) - shift_x,
            (ny > 1 ? o->width / (double)o->ny * (double)(i / nx) : 0) - shift_y, &values[i]));
    for (int64_t i = 0; i < nx * ny; i++)
        if (!isfinite(values[i]))
            OCEAN_GO(
                app_samples_fail(&s, 0, 0, "a value is missing: number %lld", (long long)i + 1));
done:
    app_samples_free(&s);
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
    if (o->depths) {
        const spry_status status = read_file(ctx, o, o->depths, length, d);
        for (int64_t i = 0; i < nx * ny && status == SPRY_STATUS_OK && o->upwards; i++)
            d[i] = -d[i];
        return status;
    }
    for (int64_t i = 0; i < nx * ny; i++) {
        const int64_t line = i / nx;
        const double x = length / (double)o->nx * (double)(i - line * nx) - o->shift;
        const double y = o->ny > 0 ? o->width / (double)o->ny * (double)line : 3.048;
        d[i] = o->bottom == BOTTOM_WHALIN ? whalin(x, y) : ramp(o, x);
    }
    return SPRY_STATUS_OK;
}

double basin_maker_depth(const ocean_run *r, double *least, double *most)
{
    const ocean_options *o = r->o;
    const int64_t nx = o->nx + (o->ends == 0), ny = o->ny > 0 ? o->ny + (o->sides == 0) : 1;
    const double zone = o->generation > 0 ? o->generation : o->length;
    double sum = 0;
    int64_t count = 0;
    *least = *most = r->depths ? r->depths[0] : o->depth;
    for (int64_t i = 0; r->depths && i < nx * ny; i++) {
        if (o->length / (double)o->nx * (double)(i % nx) > zone)
            continue;
        *least = fmin(*least, r->depths[i]);
        *most = fmax(*most, r->depths[i]);
        sum += r->depths[i];
        count++;
    }
    return *least < *most ? sum / (double)count : *least;
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

/* A surface from a file, with no flow below it: this rank's points. */
static spry_status read_surface(ocean_run *r, double *eta)
{
    const ocean_sizes *s = &r->flow.points.sizes;
    const int64_t first = (int64_t)(s->first + s->from) * s->nx;
    double *all = spry_alloc(r->ctx, (size_t)s->nx * (size_t)s->all_y * sizeof *all);
    if (!all)
        return SPRY_STATUS_NO_MEMORY;
    const spry_status status = read_file(r->ctx, r->o, r->o->surface, r->flow.setup.length, all);
    for (int64_t i = 0; i < r->flow.plane && status == SPRY_STATUS_OK; i++)
        eta[i] = all[first + i];
    spry_free(r->ctx, all);
    return status;
}

spry_status basin_start(ocean_run *r)
{
    const ocean_options *o = r->o;
    const int64_t plane = r->flow.plane;
    spry_status status = SPRY_STATUS_OK;
    if (o->start == 0 && !o->surface)
        return SPRY_STATUS_OK;
    double *u = spry_alloc(r->ctx, 2 * (size_t)plane * sizeof *u);
    if (!u)
        return SPRY_STATUS_NO_MEMORY;
    memset(u, 0, 2 * (size_t)plane * sizeof *u);
    if (o->surface)
        status = read_surface(r, u);
    for (int64_t i = 0; i < plane && o->start != 0; i++) {
        double x, y;
        ocean_flow_own_place(&r->flow, i, &x, &y);
        ocean_wave_at(&r->wave, x, y, 0, &u[i], &u[plane + i]);
    }
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_copy(&r->flow, u, r->u);
    spry_free(r->ctx, u);
    return status;
}
