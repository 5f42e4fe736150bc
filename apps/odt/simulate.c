/* Holograms of particles that are known. */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

/* Noise of a share of what the particles have made, as rms over the pixels. */
static void add_noise(odt_run *r, int view, uint64_t *state)
{
    const odt_view *v = &r->model.view[view];
    const int m = v->optics.pixels;
    const bool field = v->optics.kind == KIND_FIELD;
    spry_scalar *picture = r->record.holo + (ptrdiff_t)view * m * m;
    double sum = 0;
    for (int k = 0; k < m * m; k++)
        sum += field ? odt_square(picture[k])
                     : (picture[k].re - 1) * (picture[k].re - 1); /* the light alone is 1 */
    const double size = r->o->noise * sqrt(sum / (m * m));
    for (int k = 0; k < m * m && size > 0; k++) {
        picture[k].re += (field ? size / sqrt(2) : size) * odt_normal(state);
        if (field)
            picture[k].im += size / sqrt(2) * odt_normal(state);
    }
}

static spry_status take_picture(odt_run *r, int view, spry_scalar *alone)
{
    odt_view *v = &r->model.view[view];
    const int m = v->optics.pixels;
    const odt_particles *truth = &r->record.truth;
    const spry_status status = odt_model_see_particles(&r->model, view, truth, alone);
    for (int j = 1; j < truth->count && status == SPRY_STATUS_OK; j++)
        for (int k = 0; k < v->count; k++)
            alone[k] = odt_plus(alone[k], alone[(ptrdiff_t)j * v->count + k]);
    if (status == SPRY_STATUS_OK)
        odt_view_show(v, alone, r->record.holo + (ptrdiff_t)view * m * m);
    return status;
}

static void report(const odt_run *r)
{
    const double *s = r->record.setup;
    const odt_model *m = &r->model;
    printf("volume        %g x %g x %g voxels of %.4g um, %.3g to the wavelength\n", s[SETUP_nx],
           s[SETUP_ny], s[SETUP_nz], 1e6 * s[SETUP_voxel],
           s[SETUP_wavelength] / (s[SETUP_fluid] * s[SETUP_voxel]));
    printf("particles     %d of index %g in %g, %.4g um wide\n", r->record.truth.count,
           s[SETUP_index], s[SETUP_fluid], 1e6 * s[SETUP_diameter]);
    printf("holograms     %d of %g x %g pixels, %.4g um wide, %s%s\n", r->record.views,
           s[SETUP_pixels], s[SETUP_pixels], 1e6 * s[SETUP_field],
           s[SETUP_kind] == KIND_FIELD ? "fields" : "intensities",
           r->o->noise > 0 ? ", with noise" : "");
    printf("solves        %lld, %.1f iterations each\n", (long long)m->solves,
           m->solves > 0 ? (double)m->iterations / (double)m->solves : 0);
    printf("time          %s, of solves %s\n", text_seconds(cli_clock() - r->begun),
           text_seconds(m->seconds));
}

spry_status odt_simulate(odt_run *r)
{
    spry_context *ctx = r->ctx;
    const size_t pixels = (size_t)r->setup.optics.pixels;
    uint64_t state = (uint64_t)r->o->seed + 0x5bd1e995;
    spry_status status = SPRY_STATUS_OK;
    spry_scalar *alone = NULL;
    progress_part(&r->line, 0, "waves through the volume");
    ODT_GO(spry_file_check_place(ctx, r->o->output));
    ODT_GO(odt_make_model(r));
    r->record.holo =
        spry_alloc(ctx, (size_t)r->record.views * pixels * pixels * sizeof(spry_scalar));
    if (!r->record.holo)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    ODT_GO(odt_model_set_particles(&r->model, &r->record.truth));
    for (int i = 0; i < r->record.views; i++) {
        const size_t count = (size_t)r->model.view[i].count * (size_t)r->record.truth.count;
        alone = spry_alloc(ctx, count * sizeof *alone);
        if (!alone)
            ODT_GO(SPRY_STATUS_NO_MEMORY);
        ODT_GO(take_picture(r, i, alone));
        add_noise(r, i, &state);
        spry_free(ctx, alone);
        alone = NULL;
    }
    ODT_GO(odt_is_array(r->o->output) ? odt_holograms_write(ctx, &r->record, r->o->output)
                                      : odt_record_write(ctx, &r->record, r->o->output));
    progress_clear(&r->line);
    report(r);
done:
    spry_free(ctx, alone);
    return status;
}
