/* What is asked for: what makes no sense together, the wave, and whether grid and basin suit it. */
#include "ocean/ocean.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* The ship's place, and whether a ship is as small waves around it want it. */
static int check_ship(const app_config *c, ocean_options *o)
{
    if (o->ship_speed == 0)
        return o->ship_draft > 0 ? app_fault(c, "ship_draft", "a ship needs a speed: ship_speed")
                                 : EXIT_DONE;
    const bool wide = o->ny > 0;
    o->ship_x = o->ship_x < 0 ? o->length / 2 : o->ship_x;
    o->ship_y = o->ship_y < 0 ? o->width / 2 : o->ship_y;
    if (!(o->ship_length > 0 && o->ship_draft > 0 && (o->ship_beam > 0 || !wide)))
        return app_fault(c, "ship_speed", "a ship needs ship_length, ship_draft%s",
                         wide ? " and ship_beam" : "");
    if (o->wave != WAVE_NONE)
        return app_fault(c, "wave", "incoming waves are not supported with a ship: wave = none");
    if (o->bottom != BOTTOM_FLAT || o->depths)
        return app_fault(c, "bottom", "the basin moves with the ship: its bottom is to be flat");
    if (o->pressure != 0)
        return app_fault(c, "pressure", "either a ship or a spot of pressure");
    const double x = fmin(o->ship_x, o->length - o->ship_x) - o->ship_length / 2;
    const double y = fmin(o->ship_y, o->width - o->ship_y) - o->ship_beam / 2;
    if (x < o->absorption || (wide && y < o->absorption))
        return app_fault(c, "ship_length", "the ship is in the zones where waves die, or outside");
    return EXIT_DONE;
}

static int check_wave(const app_config *c, const ocean_options *o)
{
    if (o->wave == WAVE_NONE && (o->start != 0 || o->generation > 0))
        return app_fault(c, o->start != 0 ? "start" : "generation",
                         "start = wave and generation need a wave: wave = linear, stream or sea, "
                         "height, period");
    if (o->surface && (o->start != 0 || o->ship_speed > 0))
        return app_fault(c, "surface",
                         "a surface from a file begins at rest: start = still, and "
                         "no ship");
    if (o->wave == WAVE_NONE)
        return EXIT_DONE;
    if (o->period > 0 && o->wavelength > 0)
        return app_fault(c, app_find(c, "wavelength") >= 0 ? "wavelength" : "period",
                         "period and wavelength are both given: each follows from the other");
    if (!(o->height > 0) || !(o->period > 0 || o->wavelength > 0))
        return app_fault(c, "wave", "a wave needs a height, and a period or a wavelength");
    if (o->ny == 0 && (o->direction != 0 || o->spreading > 0))
        return app_fault(c, o->direction != 0 ? "direction" : "spreading",
                         "waves along x alone have one direction: ny and width are missing");
    if (o->wave == WAVE_STREAM && o->terms > WAVE_STREAM_MOST)
        return app_fault(c, "terms", "%lld terms, a stream function has %d at most",
                         (long long)o->terms, WAVE_STREAM_MOST);
    return EXIT_DONE;
}

/* What makes no sense together. */
static int check(const app_config *c, ocean_options *o)
{
    const int exit_status = check_wave(c, o);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (!(o->length > 0) && (o->bottom != BOTTOM_FLAT || o->depths || o->surface))
        return app_fault(c, NULL, "length is missing: a bottom or a surface needs it");
    if (!(o->length > 0) && o->wave == WAVE_SEA)
        return app_fault(c, NULL, "length is missing: a sea has many wavelengths");
    if (!(o->length > 0) && o->wave == WAVE_NONE)
        return app_fault(c, NULL, "length is missing");
    if (!(o->end > 0))
        return app_fault(c, "end", "the end of the run is missing: end = 10 s");
    if ((o->ny > 0) != (o->width > 0))
        return app_fault(c, o->ny > 0 ? "ny" : "width",
                         "width and ny belong together: %s is missing", o->ny > 0 ? "width" : "ny");
    if (o->bottom == BOTTOM_RAMP && !(o->shore > 0 && o->ramp_to > o->ramp_from))
        return app_fault(c, "bottom", "bottom = ramp needs shore, ramp_from and a larger ramp_to");
    if (o->slices > 0 && (o->series || o->frames || o->checkpoint || o->filter || o->harmonics))
        return app_fault(c, "slices",
                         "slices of time have an end alone: no series, frames, "
                         "checkpoint, filter or harmonics");
    if (o->resume && !o->checkpoint)
        return cli_fail(EXIT_INPUT, "--resume needs the --checkpoint to begin with");
    return check_ship(c, o);
}

/* What ranks have is lines along x, on processors. */
static int check_ranks(spry_context *ctx, const app_config *c, const ocean_options *o)
{
    const int ranks = spry_context_ranks(ctx);
    if (ranks == 1)
        return EXIT_DONE;
    if (o->ny == 0)
        return app_fault(c, "nx",
                         "ranks have lines of a basin along x and y: ny is missing, or "
                         "one process is to do it");
    if (ranks > o->ny)
        return app_fault(c, "ny", "%d ranks for %lld intervals along y: take fewer ranks", ranks,
                         (long long)o->ny);
    if (strcmp(o->device, "cpu") != 0)
        return app_fault(c, "device", "ranks work on processors: device = cpu");
    if (o->ship_speed > 0)
        return app_fault(c, "ship_speed", "waves around a ship are for one process");
    if (o->slices > 0)
        return app_fault(c, "slices", "slices of time are for the workers of one process");
    return EXIT_DONE;
}

int asked_check(spry_context *ctx, const app_config *c, ocean_options *o)
{
    const int exit_status = check_ranks(ctx, c, o);
    return exit_status == EXIT_DONE ? check(c, o) : exit_status;
}

/* --- the wave ------------------------------------------------------------------------------------
 */

static void warn(const char *text)
{
    if (!ranks_silent())
        cli_log(NULL, SPRY_LOG_WARNING, text);
}

/* Waves of a sea are to have as many intervals along each axis. */
static double shortest_wave(const ocean_options *o)
{
    enum { INTERVALS = 6 };
    const double dx = o->length / (double)o->nx;
    return INTERVALS * (o->ny > 0 ? fmax(dx, o->width / (double)o->ny) : dx);
}

spry_status asked_wave(ocean_run *r)
{
    const ocean_options *o = r->o;
    double least, most;
    char text[256];
    spry_status status = SPRY_STATUS_OK;
    if (o->wave == WAVE_NONE)
        return SPRY_STATUS_OK;
    const double depth = basin_maker_depth(r, &least, &most);
    if (!(least > 0)) /* is said with its place where the flow is made */
        return SPRY_STATUS_OK;
    const ocean_sea sea = {.height = o->height,
                           .period = o->period,
                           .length = o->wavelength,
                           .gamma = o->gamma,
                           .spreading = o->spreading,
                           .direction = o->direction,
                           .shortest = shortest_wave(o),
                           .round_x = o->ends == 1 ? o->length : 0,
                           .round_y = o->sides == 1 ? o->width : 0,
                           .terms = o->terms > 0 ? (int)o->terms : 200,
                           .seed = (uint64_t)o->seed};
    if (o->wave == WAVE_SEA)
        status = ocean_wave_sea(r->ctx, o->gravity, depth, &sea, &r->wave);
    else if (o->wave == WAVE_STREAM)
        status = ocean_wave_stream(r->ctx, o->gravity, depth, o->height, o->wavelength, o->period,
                                   o->terms > 0 ? (int)o->terms : 16, &r->wave);
    else
        ocean_wave_linear(o->gravity, depth, o->height, o->wavelength, o->period, &r->wave);
    if (status != SPRY_STATUS_OK)
        return status;
    if (o->wave != WAVE_SEA)
        ocean_wave_turn(&r->wave, o->direction);
    r->period = 2 * PI / r->wave.omega;
    if (most > 1.01 * least) {
        snprintf(text, sizeof text,
                 "where the wave is made the depth goes from %.4g m to %.4g m: it is that over "
                 "%.4g m",
                 least, most, depth);
        warn(text);
    }
    return status;
}

/* How wrong the speed of a wave is that has the vertical axis of so many levels. */
static double speed_error(const ocean_options *o, const ocean_wave *w, int nz)
{
    static ocean_vertical v; /* large */
    ocean_vertical_make(nz, (int)o->order, o->clustered, &v);
    const double up = ocean_vertical_response(&v, w->depth, w->k * w->k);
    return fabs(sqrt(up / (w->k * tanh(w->k * w->depth))) - 1);
}

static void check_levels(const ocean_run *r)
{
    static const double most = 0.01;
    const ocean_options *o = r->o;
    char text[256];
    if (o->nz < o->order || o->order % 2 != 0)
        return; /* a fault, which is said elsewhere */
    const double error = speed_error(o, &r->wave, (int)o->nz);
    int nz = (int)o->nz;
    if (error <= most)
        return;
    while (nz < LEVELS_MOST && !(speed_error(o, &r->wave, nz) <= most))
        nz++;
    snprintf(text, sizeof text,
             "nz = %lld levels are few for kh = %.3g: the wave's speed is wrong by %.2g%%; take "
             "nz = %d%s",
             (long long)o->nz, r->wave.k * r->wave.depth, 100 * error, nz,
             o->clustered ? "" : ", or clustered = yes");
    warn(text);
}

/* Whether a whole number of waves goes into periodic sides. */
static int check_side(const app_config *c, const ocean_wave *w, char axis, double side, double k)
{
    static const double most = 1e-3; /* of a wavelength, that the ends may differ by */
    const double count = fabs(k) * side / (2 * PI), near = fmax(round(count), 1);
    if (fabs(count - round(count)) <= most)
        return EXIT_DONE;
    return app_fault(c, axis == 'x' ? "ends" : "sides",
                     "the basin has %.6g waves along %c, a periodic one has to have a whole "
                     "number: %s = %.9g m has %g (the wave is %.9g m long)",
                     count, axis, axis == 'x' ? "length" : "width", near * 2 * PI / fabs(k), near,
                     2 * PI / w->k);
}

int asked_fit(const ocean_run *r, const app_config *c)
{
    const ocean_options *o = r->o;
    const ocean_wave *w = &r->wave;
    int exit_status = EXIT_DONE;
    if (w->count == 0)
        return EXIT_DONE;
    check_levels(r);
    if (o->ends == 1 && o->absorption == 0 && o->length > 0 && o->wave != WAVE_SEA)
        exit_status = check_side(c, w, 'x', o->length, w->term[0].kx);
    if (exit_status == EXIT_DONE && o->sides == 1 && o->ny > 0 && o->wave != WAVE_SEA)
        exit_status = check_side(c, w, 'y', o->width, w->term[0].ky);
    return exit_status;
}
