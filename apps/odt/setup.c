/* What follows from the options of a run, and whether it can be. */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* An edge of the medium is where it is seen to be with this number of voxels per wavelength. */
static const double LEAST_PER_WAVELENGTH = 4;

static spry_status check_grid(const odt_run *r)
{
    const double *s = r->record.setup;
    const double most = fmax(s[SETUP_index], s[SETUP_fluid]);
    const double per = s[SETUP_wavelength] / (most * s[SETUP_voxel]);
    char text[400];
    if (per < LEAST_PER_WAVELENGTH) {
        snprintf(text, sizeof text,
                 "voxel = %.4g um is too coarse: %.2g voxels to the wavelength of %.4g um in a "
                 "medium of index %g, at least %g are needed; take voxel = %.3g um or less",
                 1e6 * s[SETUP_voxel], per, 1e6 * s[SETUP_wavelength], most, LEAST_PER_WAVELENGTH,
                 1e6 * s[SETUP_wavelength] / (most * LEAST_PER_WAVELENGTH));
        return odt_fail(r->ctx, text);
    }
    for (int a = 0; a < 3; a++)
        if (s[SETUP_nx + a] < s[SETUP_diameter] / s[SETUP_voxel] + 6) {
            snprintf(text, sizeof text,
                     "size: %g voxels along %c are too few for a particle of %.3g voxels; at least "
                     "%.0f are needed",
                     s[SETUP_nx + a], "xyz"[a], s[SETUP_diameter] / s[SETUP_voxel],
                     ceil(s[SETUP_diameter] / s[SETUP_voxel] + 6));
            return odt_fail(r->ctx, text);
        }
    return SPRY_STATUS_OK;
}

static double cosine(const double *a, const double *b)
{
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) /
           (hypot(hypot(a[0], a[1]), a[2]) * hypot(hypot(b[0], b[1]), b[2]));
}

/* Intensities need light in the picture, to interfere with. */
static spry_status check_optics(const odt_run *r)
{
    const double *s = r->record.setup, sine = s[SETUP_na] / s[SETUP_fluid];
    char text[240];
    if (!(sine < 1)) {
        snprintf(text, sizeof text, "na = %g is not below the fluid's index %g", s[SETUP_na],
                 s[SETUP_fluid]);
        return odt_fail(r->ctx, text);
    }
    if (s[SETUP_index] == s[SETUP_fluid] && s[SETUP_absorption] == 0) {
        snprintf(text, sizeof text, "index = %g is the fluid's, too: nothing would be seen",
                 s[SETUP_index]);
        return odt_fail(r->ctx, text);
    }
    if (s[SETUP_kind] == KIND_FIELD && !r->grey)
        return SPRY_STATUS_OK;
    for (int i = 0; i < r->record.views; i++) {
        const double *d = r->record.directions + 6 * (ptrdiff_t)i;
        const double c = cosine(d, d + 3);
        if (c <= 0 || sqrt(fmax(1 - c * c, 0)) > sine) {
            snprintf(text, sizeof text,
                     "%s: the light of view %d does not reach its camera within the aperture; take "
                     "%sa camera in line",
                     r->grey ? "images" : "kind = intensity", i + 1,
                     r->grey ? "" : "kind = field, or ");
            return odt_fail(r->ctx, text);
        }
    }
    return SPRY_STATUS_OK;
}

/* Numbers that were left to us. Gives how wide a picture of all of the volume is. */
static double choose(odt_run *r)
{
    double *s = r->record.setup;
    odt_box *b = &r->setup.box;
    double widest = 0, longest = 0;
    b->h = s[SETUP_voxel];
    for (int a = 0; a < 3; a++) {
        b->n[a] = (int64_t)s[SETUP_nx + a];
        longest = fmax(longest, s[SETUP_nx + a] * b->h);
    }
    for (int i = 0; i < r->record.views; i++)
        widest = fmax(widest, odt_view_extent(b, r->record.directions + 6 * (ptrdiff_t)i + 3));
    if (s[SETUP_field] == 0)
        s[SETUP_field] = 1.25 * widest;
    if (s[SETUP_distance] == 0 && s[SETUP_kind] == KIND_INTENSITY)
        s[SETUP_distance] = longest;
    if (s[SETUP_pixels] == 0) /* intensities have twice the width of fields: 4 na / wavelength */
        s[SETUP_pixels] = 2 * ceil(4 * s[SETUP_na] * s[SETUP_field] / s[SETUP_wavelength]);
    return widest;
}

/* Pictures repeat themselves beyond their edges: what is further apart than they are wide is seen
 * at one place. */
static spry_status check_field(const odt_run *r, double widest)
{
    const double *s = r->record.setup;
    char text[300];
    if (s[SETUP_field] < s[SETUP_diameter]) {
        snprintf(text, sizeof text,
                 "field = %.4g um is narrower than a particle of %.4g um; the whole volume is %.4g "
                 "um wide",
                 1e6 * s[SETUP_field], 1e6 * s[SETUP_diameter], 1e6 * widest);
        return odt_fail(r->ctx, text);
    }
    if (s[SETUP_field] < 0.999 * widest) {
        snprintf(text, sizeof text,
                 "holograms of %.4g um do not show all of a volume that is %.4g um wide: particles "
                 "that far apart are seen at one place",
                 1e6 * s[SETUP_field], 1e6 * widest);
        cli_log(NULL, SPRY_LOG_WARNING, text);
    }
    return SPRY_STATUS_OK;
}

static spry_status check_pixels(const odt_run *r)
{
    const double *s = r->record.setup;
    const double least = ceil((s[SETUP_kind] == KIND_FIELD ? 2 : 4) * s[SETUP_na] * s[SETUP_field] /
                              s[SETUP_wavelength]) +
                         1;
    char text[200];
    if (s[SETUP_pixels] >= least)
        return SPRY_STATUS_OK;
    snprintf(text, sizeof text,
             "pixels = %g are too few for na = %g and holograms of %.4g um; at least %.0f are "
             "needed",
             s[SETUP_pixels], s[SETUP_na], 1e6 * s[SETUP_field], least);
    return odt_fail(r->ctx, text);
}

/* Factors of 1000 are lost with a unit: a wavelength in mm, a diameter in m. */
static void question_units(const odt_run *r)
{
    const double *s = r->record.setup, wavelength = s[SETUP_wavelength];
    const double ratio = s[SETUP_diameter] / wavelength;
    char text[240];
    if (wavelength >= 100e-9 && wavelength <= 20e-6 && ratio >= 0.02 && ratio <= 200)
        return;
    if (wavelength < 100e-9 || wavelength > 20e-6)
        snprintf(text, sizeof text,
                 "wavelength = %.4g um is not that of light (0.1 to 20 um): is it in another unit?",
                 1e6 * wavelength);
    else
        snprintf(text, sizeof text,
                 "diameter = %.4g um with a wavelength of %.4g um: is one of them in another unit?",
                 1e6 * s[SETUP_diameter], 1e6 * wavelength);
    cli_log(NULL, SPRY_LOG_WARNING, text);
}

spry_status odt_prepare(odt_run *r)
{
    const double *s = r->record.setup;
    spry_status status = SPRY_STATUS_OK;
    question_units(r);
    ODT_GO(check_grid(r));
    ODT_GO(check_optics(r));
    ODT_GO(check_field(r, choose(r)));
    ODT_GO(check_pixels(r));
    r->setup.fluid = s[SETUP_fluid];
    r->setup.views = r->record.views;
    r->setup.directions = r->record.directions;
    r->setup.device = r->o->device;
    r->setup.type = r->o->type ? "z" : "c";
    r->setup.tol = r->o->tol;
    r->setup.most_iterations = r->o->max_iter;
    r->setup.layer = r->o->layer;
    r->setup.optics = (odt_optics){.k = 2 * PI * s[SETUP_fluid] / s[SETUP_wavelength],
                                   .sine = s[SETUP_na] / s[SETUP_fluid],
                                   .field = s[SETUP_field],
                                   .distance = s[SETUP_distance],
                                   .pixels = (int)s[SETUP_pixels],
                                   .kind = (int)s[SETUP_kind]};
done:
    return status;
}

/* Voxels of the grid that solves are made on: with layers, and some for the sake of transforms. */
static double padded_voxels(const odt_run *r)
{
    const odt_box *b = &r->setup.box;
    const double wavelength = 2 * PI / r->setup.optics.k;
    const double layer =
        r->setup.layer > 0 ? (double)r->setup.layer : ceil(2.5 * wavelength / b->h);
    double all = 1;
    for (int a = 0; a < 3; a++)
        all *= 1.03 * ((double)b->n[a] + 2 * layer);
    return all;
}

int odt_check_memory(const odt_run *r, bool searches)
{
    const odt_box *b = &r->setup.box;
    const bool single = r->o->type == 0, device = strcmp(r->o->device, "cpu") != 0;
    const double n = (double)odt_voxels(b), padded = padded_voxels(r);
    const double views = r->record.views;
    char what[100];
    /* on the device, where fields are: the model's, the filter's, the solver's; on the host: how
     * the first medium becomes the solver's, images and what files have of them; coarse grids have
     * a model, too */
    const bool volume = searches && r->o->mode == MODE_VOLUME;
    const double on_device = (16 * n * (views + 6 + (searches ? 2 * views + 1 : 0)) +
                              (single ? 8 : 16) * (views * n + 13 * padded)) *
                             (volume && r->o->grids > 1 ? 1.125 : 1);
    /* holograms, and amplitudes of each particle in each: directions within the aperture */
    const double reach = r->record.setup[SETUP_na] * r->record.setup[SETUP_field] /
                         r->record.setup[SETUP_wavelength];
    const double pixels = r->record.setup[SETUP_pixels];
    const double pictures =
        16 * views *
        (2 * pixels * pixels +
         PI * reach * reach * (searches ? (double)r->o->most + 5 : r->record.truth.count));
    const double on_host =
        pictures +
        n * (24 + (searches ? 44 : 0) + (volume ? 48 : 0) + (volume && r->o->checkpoint ? 48 : 0)) +
        48 * padded;
    snprintf(what, sizeof what, "a volume of %lld x %lld x %lld voxels", (long long)b->n[0],
             (long long)b->n[1], (long long)b->n[2]);
    const char *advice = pictures > 0.5 * (on_host + on_device) ? "a smaller --field"
                         : single                               ? "a smaller size"
                                                                : "a smaller size, or --type c";
    const int exit_status =
        device ? app_check_memory(r->ctx, r->o->device, on_device, what, advice) : EXIT_DONE;
    return exit_status == EXIT_DONE
               ? app_check_memory(r->ctx, "cpu", on_host + (device ? 0 : on_device), what, advice)
               : exit_status;
}

spry_status odt_make_model(odt_run *r)
{
    return odt_model_make(r->ctx, &r->setup, &r->model);
}
