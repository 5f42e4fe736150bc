/*
 * spry odt: optical diffraction tomography. Holograms of particles in a fluid, and back from
 * holograms to particles, or to the index of the whole volume (NLODT-P: chapter 5 of G. Ortega,
 * 2014, after J. Lobera and J. M. Coupland). docs/odt.md has the model, the files and what it
 * finds.
 */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, odt_options, ODT_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static const app_unit kept_units[] = {{"wavelength", "m"}, {"voxel", "m"}, {"diameter", "m"},
                                      {"gap", "m"},        {"field", "m"}, {"distance", "m"},
                                      {"pixel", "m"},      {NULL, NULL}};

/* Options to the numbers of files. */
static spry_status setup_from_options(odt_run *r)
{
    const odt_options *o = r->o;
    double *s = r->record.setup;
    const double given[SETUP_COUNT] = {[SETUP_wavelength] = o->wavelength,
                                       [SETUP_voxel] = o->voxel > 0 ? o->voxel : o->wavelength / 10,
                                       [SETUP_fluid] = o->fluid,
                                       [SETUP_index] = o->index,
                                       [SETUP_diameter] = o->diameter,
                                       [SETUP_absorption] = o->absorption,
                                       [SETUP_na] = o->na,
                                       [SETUP_kind] = o->kind,
                                       [SETUP_field] = o->field,
                                       [SETUP_distance] = o->distance,
                                       [SETUP_pixels] = (double)o->pixels};
    memcpy(s, given, sizeof given);
    spry_status status = odt_read_size(r);
    return status == SPRY_STATUS_OK ? odt_read_views(r) : status;
}

/* What is written takes the place neither of what is read nor of what else is written. show has a
 * prefix, and names of its own. */
static int check_paths(const odt_options *o, const char *operand)
{
    enum { COUNT = 3, INPUTS = 4 };
    const char *const in[INPUTS] = {operand, o->config, o->places, o->directions};
    const char *const out[COUNT] = {o->output, o->checkpoint, o->json};
    static const char *const names[COUNT] = {"-o", "--checkpoint", "--json"};
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < INPUTS; i++) {
            if (file_is_same(out[k], in[i]))
                return cli_fail(EXIT_INPUT, "%s: %s would replace what is read from there",
                                text_name(out[k]), names[k]);
            if (i < k && file_is_same(out[k], out[i]))
                return cli_fail(EXIT_INPUT, "%s: %s and %s have the same name", text_name(out[k]),
                                names[i], names[k]);
        }
    return EXIT_DONE;
}

/* --- the actions ---------------------------------------------------------------------------------
 */

static int simulate(odt_run *r, const cli_arguments *arguments)
{
    spry_status status = SPRY_STATUS_OK;
    app_config config;
    int exit_status = app_configure(r->ctx, arguments->operands[1], arguments, kept_units, &config);
    if (exit_status != EXIT_DONE)
        return exit_status;
    r->config = &config;
    if (!r->o->output)
        return cli_fail(EXIT_INPUT, "simulate needs -o HOLOGRAMS.h5");
    exit_status = check_paths(r->o, arguments->operands[1]);
    if (exit_status != EXIT_DONE)
        return exit_status;
    ODT_GO(setup_from_options(r));
    ODT_GO(odt_prepare(r));
    ODT_GO(odt_read_particles(r));
    exit_status = odt_check_memory(r, false);
    if (exit_status != EXIT_DONE)
        return exit_status;
    ODT_GO(odt_simulate(r));
done:
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

/* Whether an option was set, on the command line or in the configuration. */
static bool is_set(const cli_arguments *arguments, const app_config *config, const char *name)
{
    bool set = app_find(config, name) >= 0;
    for (int i = 0; i < arguments->given_count; i++)
        set = set || strcmp(arguments->given[i].option->name, name) == 0;
    return set;
}

/* What is looked for may be specified again: index and size of particles, and all of the solver. */
static void take_given(odt_run *r, const cli_arguments *arguments, const app_config *config)
{
    if (is_set(arguments, config, "index"))
        r->record.setup[SETUP_index] = r->o->index;
    if (is_set(arguments, config, "diameter"))
        r->record.setup[SETUP_diameter] = r->o->diameter;
    if (is_set(arguments, config, "absorption"))
        r->record.setup[SETUP_absorption] = r->o->absorption;
}

/* Lengths of files went through units, which round. */
static bool is_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* The first direction that is not the file's. A camera without views applies to all of the file's.
 */
static void compare_directions(const odt_run *r, const odt_run *other, const char *path, bool views,
                               char *text, size_t size)
{
    for (int k = views ? 0 : 1; k < 2 * r->record.views && !text[0]; k += views ? 1 : 2) {
        const double *file = r->record.directions + 3 * (ptrdiff_t)k;
        const double *given = other->record.directions + 3 * (ptrdiff_t)(views ? k : 1);
        if (!odt_is_along(file, given))
            snprintf(text, size,
                     "%.200s has hologram %d of %s along %g %g %g, options say %g %g %g", path,
                     k / 2 + 1, k % 2 ? "a camera" : "light", file[0], file[1], file[2], given[0],
                     given[1], given[2]);
    }
}

/* Holograms are of what their file says. Where options say something else they are of others: a
 * mistake that would not be seen. Index and diameter are what is looked for, and free. */
static spry_status check_said(const odt_run *r, const odt_run *other, const char *path,
                              const cli_arguments *arguments, const app_config *config)
{
    static const char *const names[SETUP_COUNT] = {ODT_SETUP(ODT_SETUP_NAME)};
    static const char *const kinds[] = {"field", "intensity"};
    const double *file = r->record.setup, *given = other->record.setup;
    char text[400] = "";
    for (int k = 0; k < SETUP_COUNT; k++) {
        const bool free =
            k == SETUP_index || k == SETUP_diameter || k == SETUP_absorption || k == SETUP_kind;
        const bool chosen = given[k] == 0; /* left to us */
        if (!free && !chosen && is_set(arguments, config, names[k]) && !is_same(given[k], file[k]))
            snprintf(text, sizeof text, "%.200s has holograms of %s = %g, options say %g", path,
                     names[k], file[k], given[k]);
    }
    if (is_set(arguments, config, "kind") && given[SETUP_kind] != file[SETUP_kind])
        snprintf(text, sizeof text, "%.200s has holograms of kind = %s, options say %s", path,
                 kinds[(int)file[SETUP_kind]], kinds[(int)given[SETUP_kind]]);
    if (is_set(arguments, config, "size"))
        for (int k = SETUP_nx; k <= SETUP_nz; k++)
            if (given[k] != file[k])
                snprintf(text, sizeof text,
                         "%.200s has holograms of %g x %g x %g voxels, options say %g x %g x %g",
                         path, file[SETUP_nx], file[SETUP_ny], file[SETUP_nz], given[SETUP_nx],
                         given[SETUP_ny], given[SETUP_nz]);
    const bool views =
        is_set(arguments, config, "views") || is_set(arguments, config, "directions");
    if (views && other->record.views != r->record.views)
        snprintf(text, sizeof text, "%.200s has %d holograms, options say %d views", path,
                 r->record.views, other->record.views);
    else if (views || (is_set(arguments, config, "camera") && *r->o->camera))
        compare_directions(r, other, path, views, text, sizeof text);
    return text[0] ? odt_fail(r->ctx, text) : SPRY_STATUS_OK;
}

static spry_status read_file(odt_run *r, const char *path, const cli_arguments *arguments,
                             const app_config *config)
{
    odt_run other = {.ctx = r->ctx, .o = r->o, .config = config};
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(odt_record_read(r->ctx, path, &r->record));
    ODT_GO(setup_from_options(&other));
    ODT_GO(check_said(r, &other, path, arguments, config));
    take_given(r, arguments, config);
done:
    odt_record_free(r->ctx, &other.record);
    return status;
}

static int reconstruct(odt_run *r, const cli_arguments *arguments)
{
    spry_status status = SPRY_STATUS_OK;
    const char *path = arguments->operands[1];
    app_config config;
    int exit_status = app_configure(r->ctx, r->o->config, arguments, kept_units, &config);
    if (exit_status != EXIT_DONE)
        return exit_status;
    r->config = &config;
    const bool images = odt_is_image(path);
    if ((images || odt_is_array(path)) && !r->o->config)
        return cli_fail(EXIT_INPUT, "%s has holograms alone; --config CONFIG describes them",
                        text_name(path));
    if (!images && arguments->count > 2)
        return cli_fail(EXIT_INPUT, "several files are images; %s is none", text_name(path));
    if (r->o->resume && !r->o->checkpoint)
        return cli_fail(EXIT_INPUT, "--resume needs the --checkpoint to begin with");
    if (r->o->mode == MODE_LINEAR && r->o->checkpoint)
        return cli_fail(EXIT_INPUT, "--mode linear has no --checkpoint: there is nothing worth "
                                    "keeping before it is done");
    exit_status = check_paths(r->o, path);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (images) {
        ODT_GO(setup_from_options(r));
        ODT_GO(odt_images_read(r, arguments->count - 1, arguments->operands + 1));
    } else if (odt_is_array(path)) {
        ODT_GO(setup_from_options(r));
        ODT_GO(odt_holograms_read(r->ctx, path, &r->record));
    } else {
        ODT_GO(read_file(r, path, arguments, &config));
    }
    ODT_GO(odt_prepare(r));
    exit_status = odt_check_memory(r, true);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (images)
        ODT_GO(odt_images_develop(r));
    ODT_GO(odt_reconstruct(r));
done:
    return status == SPRY_STATUS_OK ? odt_report(r) : cli_failed(r->ctx, status);
}

static void run_free(odt_run *r)
{
    odt_compared_free(r->ctx, &r->compared);
    odt_search_free(&r->search);
    odt_model_free(&r->model);
    odt_record_free(r->ctx, &r->record);
    spry_free(r->ctx, r->grey);
    spry_free(r->ctx, r->background);
}

/* The particles of one frame: those of a result, or found from its holograms, beginning where those
 * of the frame before were. */
static int take_frame(odt_run *r, const char *path, const cli_arguments *arguments,
                      const odt_particles *before)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(read_file(r, path, arguments, r->config));
    if (r->record.found.p)
        return EXIT_DONE;
    ODT_GO(odt_prepare(r));
    const int exit_status = odt_check_memory(r, true);
    if (exit_status != EXIT_DONE)
        return exit_status;
    r->start = before; /* if there are none: no failure */
    ODT_GO(odt_reconstruct(r));
done:
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

/* The next frame; its particles come to the place of those before. */
static int add_frame(odt_run *r, odt_tracks *t, const char *path, const cli_arguments *arguments,
                     odt_particles *before)
{
    odt_run frame = {.ctx = r->ctx, .o = r->o, .config = r->config, .line = r->line};
    int exit_status = take_frame(&frame, path, arguments, before);
    if (exit_status == EXIT_DONE) {
        t->reach = r->o->reach > 0 ? r->o->reach : frame.record.setup[SETUP_diameter];
        const spry_status status = odt_tracks_add(t, &frame.record.found);
        exit_status = status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
    }
    if (exit_status == EXIT_DONE)
        printf("frame %-7d %d particles, %d tracks so far; %s\n", t->frames,
               frame.record.found.count, t->tracks, text_name(path));
    spry_free(r->ctx, before->p);
    *before = frame.record.found;
    frame.record.found = (odt_particles){0};
    run_free(&frame);
    return exit_status;
}

static int track(odt_run *r, const cli_arguments *arguments)
{
    app_config config;
    odt_tracks t = {.ctx = r->ctx};
    odt_particles before = {0};
    const char *output = r->o->output;
    int exit_status = app_configure(r->ctx, r->o->config, arguments, kept_units, &config);
    r->config = &config;
    if (exit_status == EXIT_DONE && !output)
        exit_status = cli_fail(EXIT_INPUT, "track needs -o TRACKS.csv");
    if (exit_status == EXIT_DONE &&
        (r->o->checkpoint || r->o->json || r->o->mode != MODE_PARTICLES))
        exit_status = cli_fail(EXIT_INPUT, "track has no --checkpoint, no --json and no --mode");
    for (int k = 1; k < arguments->count && exit_status == EXIT_DONE; k++)
        exit_status = check_paths(r->o, arguments->operands[k]);
    r->o->output = NULL; /* which is of the tracks */
    for (int k = 1; k < arguments->count && exit_status == EXIT_DONE; k++)
        exit_status = add_frame(r, &t, arguments->operands[k], arguments, &before);
    if (exit_status == EXIT_DONE)
        exit_status = file_write_text(r->ctx, output, odt_tracks_write, &t);
    spry_free(r->ctx, before.p);
    odt_tracks_free(&t);
    return exit_status;
}

static int calibrate(odt_run *r, const cli_arguments *arguments)
{
    app_config config;
    spry_status status = SPRY_STATUS_OK;
    int exit_status = app_configure(r->ctx, r->o->config, arguments, kept_units, &config);
    if (exit_status != EXIT_DONE)
        return exit_status;
    r->config = &config;
    if (!r->o->output)
        return cli_fail(EXIT_INPUT, "calibrate needs -o HOLOGRAMS.h5");
    exit_status = check_paths(r->o, arguments->operands[1]);
    if (exit_status != EXIT_DONE)
        return exit_status;
    ODT_GO(spry_file_check_place(r->ctx, r->o->output));
    ODT_GO(read_file(r, arguments->operands[1], arguments, &config));
    ODT_GO(odt_prepare(r));
    exit_status = odt_check_memory(r, false);
    if (exit_status != EXIT_DONE)
        return exit_status;
    ODT_GO(odt_calibrate(r));
done:
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

static int show(odt_run *r, const cli_arguments *arguments)
{
    spry_status status = odt_record_read(r->ctx, arguments->operands[1], &r->record);
    if (!r->o->output)
        return cli_fail(EXIT_INPUT, "show needs -o PREFIX: files PREFIX.html, PREFIX-....png");
    if (status == SPRY_STATUS_OK)
        status = odt_show(r);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

static const struct {
    const char *name;
    int (*run)(odt_run *r, const cli_arguments *arguments);
} actions[] = {{"simulate", simulate},
               {"reconstruct", reconstruct},
               {"calibrate", calibrate},
               {"track", track},
               {"show", show}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    odt_run r = {.ctx = ctx, .o = arguments->fields[0], .begun = cli_clock()};
    int exit_status = EXIT_INPUT, found = -1;
    for (int k = 0; k < ACTIONS; k++)
        if (strcmp(arguments->operands[0], actions[k].name) == 0)
            found = k;
    if (found < 0)
        return cli_fail(EXIT_INPUT,
                        "no action %s; there are: simulate reconstruct calibrate track show",
                        text_name(arguments->operands[0]));
    if (actions[found].run != reconstruct && actions[found].run != track && arguments->count > 2)
        return cli_fail(EXIT_INPUT, "%s has one file; %s is too many", actions[found].name,
                        text_name(arguments->operands[2]));
    if (ranks_started() > 1)
        return cli_fail(EXIT_INPUT, "odt works in one process; start it without mpirun");
    signals_watch(ctx);
    progress_start(&r.line, r.o->quiet, 1);
    exit_status = actions[found].run(&r, arguments);
    progress_clear(&r.line);
    run_free(&r);
    signals_unwatch();
    return exit_status;
}

static void action_names(char words[CLI_WORDS])
{
    for (int k = 0; k < ACTIONS; k++)
        cli_add_word(words, actions[k].name);
}

const cli_command app_command = {
    .name = "odt",
    .summary = "optical diffraction tomography: from holograms to particles",
    .synopsis = "simulate CONFIG | reconstruct HOLOGRAMS | reconstruct IMAGE... | calibrate RESULT "
                "| track FRAME... | "
                "show RESULT",
    .description =
        "simulate makes holograms of spheres in a fluid, each lit by a plane wave and seen by a "
        "camera of limited aperture, with all multiple scattering. reconstruct finds the spheres "
        "from holograms, one after the other, each through the medium of those before; or the "
        "index "
        "of refraction of the whole volume. show makes pictures, a file for ParaView and a page "
        "for "
        "browsers of what was found.\n"
        "IMAGEs are of cameras, PNG or TIFF of 8 or 16 bits, one for each view: in-line "
        "intensities, "
        "or off-axis holograms (kind = field), which are demodulated. --config describes them.\n"
        "calibrate fits the size of a pixel, the plane in focus and the tilts of the views "
        "together "
        "with the places of particles. "
        "track links particles of a sequence of frames, holograms or results, and writes a table "
        "of "
        "them.\n"
        "CONFIG has lines NAME = VALUE UNIT; names are those of the options below, which come "
        "first. Lengths on the command line are in m. Holograms and results are HDF5 files, of "
        "which docs/odt.md has the layout.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry odt simulate four.txt -o holograms.h5", "Holograms of four particles."},
            {"spry odt reconstruct holograms.h5 -o result.h5 --checkpoint c",
             "Particles from them; --resume goes on where it was stopped."},
            {"spry odt reconstruct holograms.h5 --mode linear -o linear.h5",
             "By the first image alone, for comparison."},
            {"spry odt show result.h5 -o result", "Pictures, result.vti and result.html."},
            {0}},
    .least = 2,
    .most = 10001,
    .choices = action_names,
    .run = run,
};
