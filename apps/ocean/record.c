/* What a run records: series at gauges, harmonics, frames, checkpoints, the end. */
#include "ocean/ocean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Points of the surface, of all ranks. */
static int64_t all_points(const ocean_run *r)
{
    return (int64_t)r->flow.points.sizes.nx * r->flow.points.sizes.all_y;
}

/* Looks at u: all of it, on all ranks. */
static spry_status see(ocean_run *r, const spry_vector *u)
{
    return ocean_is_cut(&r->flow) ? ocean_ranks_collect(&r->flow, 2, u, spry_vector_data(r->seen))
                                  : spry_vector_copy(u, r->seen);
}

/* --- gauges --------------------------------------------------------------------------------------
 */

/* "3.5 10:2": x, or x:y, in m */
static int read_gauges(ocean_run *r)
{
    const ocean_setup *s = &r->flow.setup;
    const char *text = r->o->gauges, *at = text;
    while (*(at += strspn(at, " ,\t"))) {
        char *after = NULL;
        const double x = strtod(at, &after);
        double y = s->width / 2;
        if (after != at && *after == ':') {
            const char *second = after + 1;
            y = strtod(second, &after);
            at = after == second ? after : at;
        }
        if (after == at || !strchr(" ,\t", *after))
            return cli_fail(EXIT_INPUT, "gauges: column %d: expected X or X:Y in m",
                            (int)(at - text) + 1);
        if (r->gauges == OCEAN_GAUGES || !(x >= 0 && x <= s->length && y >= 0 && y <= s->width))
            return cli_fail(EXIT_INPUT,
                            "gauges: column %d: %g:%g is outside the basin of %g m by %g m, or one "
                            "of more than %d",
                            (int)(at - text) + 1, x, y, s->length, s->width, OCEAN_GAUGES);
        r->gauge[r->gauges][0] = x;
        r->gauge[r->gauges++][1] = y;
        at = after;
    }
    return EXIT_DONE;
}

/* The surface between points, linear along both axes. */
static double surface_at(const ocean_run *r, const double *eta, double x, double y)
{
    const ocean_sizes *s = &r->flow.points.sizes;
    const double p = x / r->flow.dx, q = s->all_y > 1 ? y / r->flow.dy : 0;
    const int i = (int)fmin(floor(p), s->nx - 1), j = (int)fmin(floor(q), s->all_y - 1);
    const int right = s->round_x ? (i + 1) % s->nx : i + 1 < s->nx ? i + 1 : i;
    const int behind = s->round_y ? (j + 1) % s->all_y : j + 1 < s->all_y ? j + 1 : j;
    const double *near = eta + (ptrdiff_t)j * s->nx, *far = eta + (ptrdiff_t)behind * s->nx;
    const double a = p - i, b = q - j;
    return (1 - b) * ((1 - a) * near[i] + a * near[right]) +
           b * ((1 - a) * far[i] + a * far[right]);
}

static spry_status add_row(ocean_run *r, double t, const double *eta)
{
    spry_status status = ocean_text_print(r->ctx, &r->series, "%.9g,%.12g,%.12g", t, r->water,
                                          r->flow.ship ? r->resistance : r->energy);
    for (int g = 0; g < r->gauges && status == SPRY_STATUS_OK; g++)
        status = ocean_text_print(r->ctx, &r->series, ",%.9g",
                                  surface_at(r, eta, r->gauge[g][0], r->gauge[g][1]));
    if (status == SPRY_STATUS_OK)
        status = probes_row(r, &r->series);
    return status == SPRY_STATUS_OK ? ocean_text_print(r->ctx, &r->series, "\n") : status;
}

static spry_status add_head(ocean_run *r)
{
    spry_status status =
        ocean_text_print(r->ctx, &r->series, "t,water,%s", r->flow.ship ? "resistance" : "energy");
    for (int g = 0; g < r->gauges && status == SPRY_STATUS_OK; g++)
        status = ocean_text_print(r->ctx, &r->series, ",eta %g:%g", r->gauge[g][0], r->gauge[g][1]);
    if (status == SPRY_STATUS_OK)
        status = probes_head(r, &r->series);
    return status == SPRY_STATUS_OK ? ocean_text_print(r->ctx, &r->series, "\n") : status;
}

/* --- harmonics -----------------------------------------------------------------------------------
 */

/* Number 0 of the sums is how many states they are of; then cosines and sines of each harmonic. */
static int64_t harmonic_size(const ocean_run *r)
{
    return 1 + 2 * r->o->harmonics * r->flow.points.sizes.nx;
}

static void add_harmonics(ocean_run *r, double t, const double *eta)
{
    const int nx = r->flow.points.sizes.nx;
    const double from = r->o->end - (double)r->o->harmonics_periods * r->period;
    double *sum = spry_vector_data(r->harmonics);
    if (r->o->harmonics == 0 || t < from + r->dt / 2 || t > r->o->end + r->dt / 2)
        return;
    sum[0]++;
    for (int n = 1; n <= r->o->harmonics; n++) {
        const double c = cos(n * 2 * PI / r->period * t), s = sin(n * 2 * PI / r->period * t);
        double *real = sum + 1 + 2 * (n - 1) * nx, *imaginary = real + nx;
        for (int i = 0; i < nx; i++) {
            real[i] += c * eta[(ptrdiff_t)r->line * nx + i];
            imaginary[i] += s * eta[(ptrdiff_t)r->line * nx + i];
        }
    }
}

static spry_status write_spectrum(ocean_run *r)
{
    const int nx = r->flow.points.sizes.nx;
    const double *sum = spry_vector_data(r->harmonics);
    double *still = NULL;
    ocean_text text = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!r->o->spectrum || r->o->harmonics == 0 || sum[0] == 0)
        return SPRY_STATUS_OK;
    OCEAN_GO(ocean_text_print(r->ctx, &text, "x,depth"));
    still = spry_alloc(r->ctx, (size_t)all_points(r) * sizeof *still);
    OCEAN_GO(still ? ocean_flow_depths(&r->flow, still) : SPRY_STATUS_NO_MEMORY);
    for (int n = 1; n <= r->o->harmonics; n++)
        OCEAN_GO(ocean_text_print(r->ctx, &text, ",a%d", n));
    for (int i = 0; i < nx; i++) {
        OCEAN_GO(ocean_text_print(r->ctx, &text, "\n%.6g,%.6g", i * r->flow.dx,
                                  still[(ptrdiff_t)r->line * nx + i]));
        for (int n = 1; n <= r->o->harmonics; n++) {
            const double *real = sum + 1 + 2 * (n - 1) * nx;
            OCEAN_GO(ocean_text_print(r->ctx, &text, ",%.6g",
                                      2 / sum[0] * hypot(real[i], real[nx + i])));
        }
    }
    OCEAN_GO(ocean_text_print(r->ctx, &text, "\n"));
    status = ocean_text_write(r, &text, r->o->spectrum);
done:
    spry_free(r->ctx, still);
    spry_free(r->ctx, text.text);
    return status;
}

/* --- states --------------------------------------------------------------------------------------
 */

int record_prepare(ocean_run *r)
{
    const ocean_options *o = r->o;
    const int ny = r->flow.points.sizes.all_y;
    spry_status status = SPRY_STATUS_OK;
    int exit_status = read_gauges(r);
    if (exit_status == EXIT_DONE)
        exit_status = probes_prepare(r);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (o->harmonics > 0 && !(r->period > 0))
        return cli_fail(EXIT_INPUT, "harmonics are of a wave's period: wave = linear or stream");
    const double at = o->harmonics_y < 0 ? r->flow.setup.width / 2 : o->harmonics_y;
    r->line = ny > 1 ? (int)fmin(round(at / r->flow.dy), ny - 1) : 0;
    OCEAN_GO(add_head(r));
    OCEAN_GO(
        spry_vector_new(r->ctx, SPRY_TYPE_D, 2 * all_points(r), NULL, SPRY_OWN_TAKE, &r->seen));
    OCEAN_GO(
        spry_vector_new(r->ctx, SPRY_TYPE_D, harmonic_size(r), NULL, SPRY_OWN_TAKE, &r->harmonics));
done:
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

spry_status record_state(ocean_run *r, double t, const spry_vector *u, const spry_vector *rate)
{
    spry_status status = ocean_flow_sums(&r->flow, u, rate, &r->water, &r->energy);
    if (status == SPRY_STATUS_OK && r->flow.ship)
        status = ocean_flow_resistance(&r->flow, u, &r->resistance);
    if (status == SPRY_STATUS_OK && (r->gauges > 0 || r->o->harmonics > 0))
        status = see(r, u);
    if (status == SPRY_STATUS_OK)
        status = probes_look(r, u, rate);
    if (status == SPRY_STATUS_OK)
        status = volume_record(r, t, u, rate);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!r->has_first) {
        r->first_energy = r->energy;
        r->first_water = r->water;
        r->has_first = true;
    }
    add_harmonics(r, t, spry_vector_data(r->seen));
    return r->o->series ? add_row(r, t, spry_vector_data(r->seen)) : status;
}

/* The surface of u, as a field of the host's. */
static spry_status surface_field(ocean_run *r, spry_vector **eta)
{
    spry_status status = spry_field_new(r->flow.surface, SPRY_TYPE_D, false, NULL, NULL, eta);
    if (status == SPRY_STATUS_OK)
        status = see(r, r->u);
    if (status == SPRY_STATUS_OK)
        ocean_ranks_take(&r->flow, 1, spry_vector_data(r->seen), *eta);
    return status;
}

/* Colours of pictures: twice the wave's amplitude. */
static const char *colours(const ocean_run *r, char text[96])
{
    if (!(r->wave.height > 0))
        return NULL;
    snprintf(text, 96, "low=%.6g high=%.6g", -r->wave.height, r->wave.height);
    return text;
}

static void pixel(void *data, const double *place, spry_scalar *value)
{
    const ocean_run *r = data;
    *value = (spry_scalar){surface_at(r, spry_vector_data_const(r->seen), place[0],
                                      r->flow.setup.ny > 0 ? place[1] : 0),
                           0};
}

/* The surface as a field of the host's with `zoom` points per interval. Waves along x alone are a
 * stripe. */
static spry_status picture_field(ocean_run *r, spry_vector **field)
{
    enum { STRIPE = 16 };
    const ocean_setup *s = &r->flow.setup;
    const long long zoom = (long long)r->o->zoom;
    char text[192];
    spry_status status = see(r, r->u);
    snprintf(text, sizeof text, "%lldx%lld box=0:%.17g,0:%.17g boundary=neumann", zoom * s->nx,
             s->ny > 0 ? zoom * s->ny : STRIPE, s->length, s->ny > 0 ? s->width : 1.0);
    if (status == SPRY_STATUS_OK && !r->picture)
        status = spry_grid_new(r->ctx, text, &r->picture);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(r->picture, SPRY_TYPE_D, false, pixel, r, field);
    return status;
}

spry_status record_frame(ocean_run *r)
{
    char text[96];
    spry_vector *eta = NULL;
    if (!r->o->frames)
        return SPRY_STATUS_OK;
    spry_status status = picture_field(r, &eta);
    if (status == SPRY_STATUS_OK)
        status = app_frame(r->picture, eta, r->o->frames, ++r->frames, colours(r, text));
    spry_vector_free(eta);
    return status;
}

static spry_status write_series(ocean_run *r)
{
    if (!r->o->series)
        return SPRY_STATUS_OK;
    return ocean_text_write(r, &r->series, r->o->series);
}

/* What a checkpoint has: u, phi and the one before, as all ranks have them together. */
enum { KEPT = 3 };
typedef struct kept {
    spry_vector *of[KEPT], *whole[KEPT]; /* whole: of the flow itself without ranks */
    int planes[KEPT];
} kept;

static void drop_kept(const ocean_run *r, kept *k)
{
    for (int i = 0; i < KEPT && ocean_is_cut(&r->flow); i++)
        spry_vector_free(k->whole[i]);
}

static spry_status find_kept(ocean_run *r, kept *k)
{
    const int nz = r->flow.points.sizes.nz;
    spry_status status = SPRY_STATUS_OK;
    *k = (kept){.of = {r->u, r->flow.phi, r->flow.past}, .planes = {2, nz, nz}};
    for (int i = 0; i < KEPT && status == SPRY_STATUS_OK; i++)
        if (ocean_is_cut(&r->flow))
            status = spry_vector_new(r->ctx, SPRY_TYPE_D, k->planes[i] * all_points(r), NULL,
                                     SPRY_OWN_TAKE, &k->whole[i]);
        else
            k->whole[i] = k->of[i];
    return spry_context_agree(r->ctx, status);
}

spry_status record_checkpoint(ocean_run *r)
{
    kept k;
    if (!r->o->checkpoint)
        return SPRY_STATUS_OK;
    spry_status status = write_series(r);
    if (status != SPRY_STATUS_OK)
        return status;
    OCEAN_GO(find_kept(r, &k));
    for (int i = 0; i < KEPT && ocean_is_cut(&r->flow); i++)
        OCEAN_GO(ocean_ranks_collect(&r->flow, k.planes[i], k.of[i], spry_vector_data(k.whole[i])));
    if (spry_context_rank(r->ctx) == 0)
        status =
            app_checkpoint_write(r->ctx, r->o->checkpoint, r->what, r->step, r->t, KEPT + 2,
                                 (const spry_vector *const[]){k.whole[0], k.whole[1], k.whole[2],
                                                              r->flow.times, r->harmonics});
    OCEAN_GO(spry_context_agree(r->ctx, status));
done:
    drop_kept(r, &k);
    return status;
}

/* Rows of the run before, as far as the checkpoint's. */
static spry_status keep_series(ocean_run *r)
{
    char line[16384]; /* of all gauges and probes */
    FILE *file = r->o->series ? fopen(r->o->series, "r") : NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!file)
        return status;
    if (!fgets(line, sizeof line, file)) /* its head */
        line[0] = '\0';
    while (status == SPRY_STATUS_OK && fgets(line, sizeof line, file))
        if (strtod(line, NULL) < r->t - r->dt / 2)
            status = ocean_text_add(r->ctx, &r->series, line, strlen(line));
    (void)fclose(file);
    return status;
}

spry_status record_resume(ocean_run *r)
{
    kept k;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(find_kept(r, &k));
    status = app_checkpoint_read(
        r->ctx, r->o->checkpoint, r->what, &r->step, &r->t, KEPT + 2,
        (spry_vector *const[]){k.whole[0], k.whole[1], k.whole[2], r->flow.times, r->harmonics});
    if (status == SPRY_STATUS_OK)
        status = keep_series(r);
    OCEAN_GO(spry_context_agree(r->ctx, status));
    for (int i = 0; i < KEPT && ocean_is_cut(&r->flow); i++)
        ocean_ranks_take(&r->flow, k.planes[i], spry_vector_data(k.whole[i]), k.of[i]);
    r->frames = r->step / r->o->every;
done:
    drop_kept(r, &k);
    return status;
}

/* The potential below the surface, without it, on levels. */
static spry_status write_volume(ocean_run *r)
{
    const ocean_setup *s = &r->flow.setup;
    char text[320];
    spry_grid *grid = NULL;
    if (!r->o->volume || volume_is_shaped(r->o))
        return SPRY_STATUS_OK;
    if (s->ny > 0)
        snprintf(text, sizeof text,
                 "%dx%dx%d box=0:%.17g,0:%.17g,0:1 x=%s y=%s z=neumann:dirichlet ranks=1x%dx1",
                 s->nx, s->ny, s->nz, s->length, s->width, s->round_x ? "periodic" : "neumann",
                 s->round_y ? "periodic" : "neumann", spry_context_ranks(r->ctx));
    else
        snprintf(text, sizeof text, "%dx%d box=0:%.17g,0:1 x=%s y=neumann:dirichlet", s->nx, s->nz,
                 s->length, s->round_x ? "periodic" : "neumann");
    spry_status status = spry_grid_new(r->ctx, text, &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_field_write(grid, r->flow.phi, r->o->volume, NULL);
    spry_grid_free(grid);
    return status;
}

static bool is_picture(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

spry_status record_end(ocean_run *r)
{
    char text[96];
    spry_vector *eta = NULL;
    spry_status status = record_checkpoint(r);
    if (status == SPRY_STATUS_OK)
        status = write_series(r);
    if (status == SPRY_STATUS_OK)
        status = write_spectrum(r);
    if (status == SPRY_STATUS_OK)
        status = write_volume(r);
    if (status == SPRY_STATUS_OK && r->o->output) {
        const bool picture = is_picture(r->o->output);
        status = picture ? picture_field(r, &eta) : surface_field(r, &eta);
        if (status == SPRY_STATUS_OK)
            status = spry_field_write(picture ? r->picture : r->flow.surface, eta, r->o->output,
                                      picture ? colours(r, text) : NULL);
        spry_vector_free(eta);
    }
    return status;
}

void record_free(ocean_run *r)
{
    ocean_inside_free(&r->inside);
    spry_vector_free(r->seen);
    spry_vector_free(r->harmonics);
    spry_grid_free(r->picture);
    spry_free(r->ctx, r->series.text);
}
