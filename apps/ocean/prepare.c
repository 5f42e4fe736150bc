/* The flow of a run and what drives it: its set-up, memory, the length of its steps. */
#include "ocean/ocean.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static ocean_setup setup_of(const ocean_run *r)
{
    static const char *const methods[] = {"gmres", "bicgstab", "richardson:omega=0.55"};
    const ocean_options *o = r->o;
    return (ocean_setup){.nx = (int)o->nx,
                         .ny = (int)o->ny,
                         .nz = (int)o->nz,
                         .order = (int)o->order,
                         .clustered = o->clustered,
                         .round_x = o->ends == 1,
                         .round_y = o->sides == 1,
                         .length = o->length > 0 ? o->length : 2 * PI / r->wave.k,
                         .width = o->width,
                         .gravity = o->gravity,
                         .depth = o->depth,
                         .method = methods[o->solver],
                         .tol = o->tol,
                         .device = o->device,
                         .single = o->precision == 1};
}

static spry_status make_flow(ocean_run *r)
{
    ocean_setup setup = setup_of(r);
    setup.depths = r->depths;
    return ocean_flow_make(r->ctx, &setup, &r->flow);
}

/* Before anything is asked for. */
int ocean_check_memory(const ocean_run *r)
{
    static const double some = 0; /* depths that exist, whatever they are */
    ocean_setup setup = setup_of(r);
    double host, device;
    char what[96];
    if (r->o->depths || r->o->bottom != BOTTOM_FLAT)
        setup.depths = &some;
    const ocean_sizes s = ocean_sizes_of(&setup);
    ocean_bytes_kept(&setup, &host, &device);
    host /= spry_context_ranks(r->ctx); /* but for the lines around, which are few */
    if (r->o->probes[0] || r->o->forces || volume_is_shaped(r->o)) /* of all ranks; see inside.c */
        host += sizeof(double) * (double)s.nx * s.ny *
                (5 + 2 * s.nz + (volume_is_shaped(r->o) ? 16 * s.nz : 0));
    if (r->o->slices > 0) /* four states of each slice, and a flow of each worker */
        host = host * (double)r->o->workers +
               4 * 2 * sizeof(double) * (double)s.nx * s.ny * (double)r->o->slices;
    snprintf(what, sizeof what, "a grid of %d x %d x %d points%s", s.nx, s.ny, s.nz + 1,
             r->o->slices > 0 ? " with its slices" : "");
    const int exit_status = app_check_memory(r->ctx, "cpu", host, what, "fewer points");
    return exit_status != EXIT_DONE
               ? exit_status
               : app_check_memory(r->ctx, setup.device, device, what, "fewer points");
}

/* Steps by courant, as many to a period as make it whole; within what is stable. */
static spry_status choose_step(ocean_run *r)
{
    const ocean_options *o = r->o;
    const double limit = ocean_flow_limit(&r->flow);
    const double speed = r->wave.count > 0 ? r->wave.omega / r->wave.k
                                           : fmax(sqrt(o->gravity * r->flow.deep), r->flow.speed);
    char text[160];
    r->dt = o->dt > 0 ? o->dt : fmin(o->courant * r->flow.dx / speed, 0.9 * limit);
    if (o->dt == 0 && r->period > 0)
        r->dt = r->period / ceil(r->period / r->dt - 1e-9);
    if (r->dt <= limit)
        return SPRY_STATUS_OK;
    snprintf(text, sizeof text,
             "steps of %g s are not stable: the longest stable one is %.3g s for small waves; "
             "fewer or not clustered levels allow longer ones",
             r->dt, limit);
    return ocean_fail(r->ctx, text);
}

spry_status ocean_prepare(ocean_run *r)
{
    const ocean_options *o = r->o;
    const ocean_spot spot = {o->pressure,   o->spot_x,       o->spot_y,
                             o->spot_speed, o->spot_heading, o->spot_radius};
    const ocean_ship ship = {o->ship_speed, o->ship_length, o->ship_beam,
                             o->ship_draft, o->ship_x,      o->ship_y};
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(make_flow(r));
    if (ship.speed > 0)
        OCEAN_GO(ocean_flow_set_ship(&r->flow, &ship));
    OCEAN_GO(choose_step(r));
    const double ramp = o->ramp >= 0 ? o->ramp : 2 * r->period;
    OCEAN_GO(ocean_flow_set_wave(&r->flow, &r->wave, o->start ? 0 : ramp));
    OCEAN_GO(ocean_flow_set_spot(&r->flow, &spot));
    OCEAN_GO(basin_zones(r));
    OCEAN_GO(ocean_flow_own_vector(&r->flow, 2, &r->u));
    OCEAN_GO(basin_start(r));
    snprintf(r->what, sizeof r->what, "ocean %dx%dx%d dt %.12g", r->flow.points.sizes.nx,
             r->flow.points.sizes.all_y, r->flow.points.sizes.nz, r->dt);
done:
    return status;
}
