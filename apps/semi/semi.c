/*
 * spry semi: electrons and holes in transistors, by drift and diffusion with quantum corrections.
 * docs/semi.md has the physics, the numbers it was compared with, and what it is not for.
 */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, semi_options, SEMI_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static const app_unit kept_units[] = {
    {"length", "m"},        {"width", "m"},     {"height", "m"},      {"depth", "m"},
    {"extension", "m"},     {"junction", "m"},  {"oxide", "m"},       {"spacing", "m"},
    {"spread", "m"},        {"mesh_unit", "m"}, {"at", "m"},          {"donors", "cm^-3"},
    {"acceptors", "cm^-3"}, {"work", "eV"},     {"temperature", "K"}, {"lifetime", "s"},
    {"from", "V"},          {"to", "V"},        {"step", "V"},        {NULL, NULL}};

/* --- what is asked for -------------------------------------------------------------------------*/

/* NAME VOLTS [V|mV] */
static int take_bias(void *data, const char *part)
{
    semi_run *r = data;
    char name[SEMI_NAME], unit[8] = "V", rest[2];
    double volts;
    const int given = sscanf(part, "%31s %lf %7s %1s", name, &volts, unit, rest);
    if ((given != 2 && given != 3) || (strcmp(unit, "V") != 0 && strcmp(unit, "mV") != 0))
        return app_fault(r->config, "bias", "%s: expected NAME VOLTS", part);
    const int k = semi_device_contact(&r->device, "bias", name);
    if (k < 0)
        return EXIT_INPUT;
    volts *= unit[0] == 'm' ? 1e-3 : 1;
    if (!(fabs(volts) <= 1000))
        return app_fault(r->config, "bias", "%g V is more than 1000 V", volts);
    r->bias[k] = volts;
    return EXIT_DONE;
}

/* NAME VOLTS VOLTS ... */
static int take_family(semi_run *r)
{
    char name[SEMI_NAME];
    int used = 0;
    double volts;
    r->family = -1;
    r->members = 1;
    if (!*r->o->family)
        return EXIT_DONE;
    if (sscanf(r->o->family, "%31s%n", name, &used) < 1)
        return app_fault(r->config, "family", "expected NAME VOLTS VOLTS ...");
    r->family = semi_device_contact(&r->device, "family", name);
    if (r->family < 0)
        return EXIT_INPUT;
    if (r->sweep < 0 || r->sweep == r->family)
        return app_fault(r->config, "family", "a family needs the sweep of another contact");
    const char *at = r->o->family + used;
    for (r->members = 0; at[strspn(at, " ")] && r->members < SEMI_POINTS; at += used)
        if (sscanf(at, "%lf%n", &volts, &used) == 1 && fabs(volts) <= 1000)
            r->values[r->members++] = volts;
        else
            return app_fault(r->config, "family", "%s: expected voltages up to 1000 V", at);
    return r->members > 0 ? EXIT_DONE : app_fault(r->config, "family", "there is no voltage");
}

static int take_sweep(semi_run *r)
{
    const semi_options *o = r->o;
    r->sweep = -1;
    r->lengths = 1;
    if (!*o->sweep)
        return EXIT_DONE;
    r->sweep = semi_device_contact(&r->device, "sweep", o->sweep);
    if (r->sweep < 0)
        return EXIT_INPUT;
    const double count = ceil(fabs(o->to - o->from) / o->step - 1e-9) + 1;
    if (count > SEMI_POINTS)
        return app_fault(r->config, "step", "%.0f voltages are more than %d", count, SEMI_POINTS);
    r->lengths = (int64_t)count;
    return EXIT_DONE;
}

/* Voltages of a point that is asked for. */
static void volts_of(const semi_run *r, int64_t number, double *volts)
{
    const semi_options *o = r->o;
    const int64_t k = number % r->lengths;
    memcpy(volts, r->bias, sizeof r->bias);
    if (r->family >= 0)
        volts[r->family] = r->values[number / r->lengths];
    if (r->sweep >= 0)
        volts[r->sweep] =
            k + 1 == r->lengths ? o->to : o->from + copysign((double)k * o->step, o->to - o->from);
}

/* --- the device --------------------------------------------------------------------------------*/

/* REGION MATERIAL */
static int take_material(void *data, const char *part)
{
    semi_run *r = data;
    semi_mesh *m = &r->device.mesh;
    char region[SEMI_NAME], material[SEMI_NAME], rest[2];
    if (sscanf(part, "%31s %31s %1s", region, material, rest) != 2)
        return app_fault(r->config, "materials", "%s: expected REGION MATERIAL", part);
    const int found = semi_materials_find(&r->materials, material);
    if (found < 0)
        return app_fault(r->config, "materials", "no material %s", material);
    const int number = semi_find(m->region_name, m->regions, region);
    if (number < 0)
        return app_fault(r->config, "materials", "the mesh has no region %s", region);
    m->material[number] = found;
    return EXIT_DONE;
}

/* What regions are by their names: "silicon", "sio2-left"; those of shapes are a body and oxides.
 */
static int name_materials(semi_run *r)
{
    semi_mesh *m = &r->device.mesh;
    for (int k = 0; k < m->regions; k++) {
        char name[SEMI_NAME];
        snprintf(name, sizeof name, "%s", m->region_name[k]);
        name[strcspn(name, "-_. ")] = '\0';
        m->material[k] = semi_materials_find(&r->materials, !r->name ? name
                                                            : k == 0 ? "silicon"
                                                                     : "sio2");
    }
    const int exit_status = semi_each_part(r->o->materials, take_material, r);
    for (int k = 0; k < m->regions && exit_status == EXIT_DONE; k++)
        if (m->material[k] < 0)
            return cli_fail(EXIT_INPUT, "what is region %s made of? --materials says it",
                            m->region_name[k]);
    return exit_status;
}

static int make_mesh(semi_run *r)
{
    semi_mesh *m = &r->device.mesh;
    int exit_status = r->name ? semi_shape_make(r->ctx, r->o, r->config, r->name, &r->shape, m)
                              : semi_gmsh_read(r->o->mesh, r->o->mesh_unit, m);
    if (exit_status == EXIT_DONE && !r->name) {
        m->thick[0] = m->thick[1] = r->o->width > 0 ? r->o->width : 1e-6;
        exit_status =
            app_check_memory(r->ctx, "cpu", 2500.0 * (double)m->nodes, "the mesh", "a coarser one");
    }
    if (exit_status == EXIT_DONE)
        exit_status = name_materials(r);
    return exit_status == EXIT_DONE ? semi_mesh_finish(m) : exit_status;
}

static int prepare(semi_run *r)
{
    const double begin = cli_clock();
    if (!r->name == !r->o->mesh)
        return cli_fail(EXIT_INPUT, "expected a built-in shape (%s) or a --mesh", SEMI_SHAPES);
    if (r->o->resume && !r->o->checkpoint)
        return cli_fail(EXIT_INPUT, "--resume needs the --checkpoint to begin with");
    int exit_status = semi_check_fields(r);
    if (exit_status == EXIT_DONE)
        exit_status = semi_materials_make(&r->materials, r->o->material_file);
    for (int k = 0; k < r->materials.count && exit_status == EXIT_DONE; k++)
        semi_material_heat(&r->materials.list[k], r->o->temperature);
    if (exit_status == EXIT_DONE)
        exit_status = make_mesh(r);
    if (exit_status == EXIT_DONE)
        exit_status = semi_device_make(&r->device, r->name ? &r->shape : NULL);
    if (exit_status == EXIT_DONE)
        exit_status = semi_each_part(r->o->bias, take_bias, r);
    if (exit_status == EXIT_DONE)
        exit_status = take_sweep(r);
    if (exit_status == EXIT_DONE)
        exit_status = take_family(r);
    r->mesh_seconds = cli_clock() - begin;
    return exit_status;
}

/* --- biases ------------------------------------------------------------------------------------*/

static void note_point(semi_run *r, double seconds)
{
    const semi_device *d = &r->device;
    semi_point *p = &r->point[r->points++];
    for (int k = 0; k < d->mesh.contacts; k++) {
        p->volts[k] = d->contact[k].voltage;
        p->current[k] = d->contact[k].current;
        p->charge[k] = d->contact[k].charge;
    }
    p->imbalance = semi_imbalance(d);
    p->seconds = seconds;
    p->linear_seconds = d->linear_seconds;
    p->steps = (double)r->solve.steps;
    p->solves = (double)d->linear_solves;
    p->iterations = (double)d->linear_iterations;
}

/* What was not reached, from where, and what was left of the equations. */
static int fail_bias(const semi_run *r, const double *volts)
{
    const semi_mesh *m = &r->device.mesh;
    const semi_solve *s = &r->solve;
    char wanted[SPRY_OPTION_TEXT_SIZE] = "", last[SPRY_OPTION_TEXT_SIZE] = "", part[SEMI_NAME + 32];
    for (int k = 0; k < m->contacts; k++) {
        snprintf(part, sizeof part, " %s %.4g", m->contact_name[k], volts[k]);
        strncat(wanted, part, sizeof wanted - strlen(wanted) - 1);
        snprintf(part, sizeof part, " %s %.4g", m->contact_name[k], r->device.contact[k].voltage);
        strncat(last, part, sizeof last - strlen(last) - 1);
    }
    return cli_fail(EXIT_UNCONVERGED,
                    "the bias%s V was not reached; the last one is%s V. Residuals in kT/q: psi "
                    "%.1e, phi_n %.1e, phi_p %.1e, lambda_n %.1e, lambda_p %.1e; the last linear "
                    "solve: %s",
                    wanted, last, s->residual[PSI], s->residual[PHI_N], s->residual[PHI_P],
                    s->residual[LAM_N], s->residual[LAM_P], spry_reason_text(s->reason));
}

static spry_status write_matrix(const semi_run *r)
{
    char path[4096];
    const char *name = r->o->matrices, *dot = name ? strrchr(name, '.') : NULL;
    if (!name)
        return SPRY_STATUS_OK;
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, sizeof path, "%.*s-%lld%s", stem, name, (long long)r->points,
             name[stem] ? name + stem : ".mtx");
    return spry_matrix_write(r->solve.full.A, path);
}

/* The state, and all points so far, as vectors that borrow them; write: or read. */
static spry_status checkpoint(semi_run *r, bool write)
{
    enum { PARTS = KINDS + 2 };
    semi_device *d = &r->device;
    spry_vector *v[PARTS] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    char what[96];
    int64_t step = r->points;
    double t = (double)r->points;
    if (!r->o->checkpoint)
        return SPRY_STATUS_OK;
    snprintf(what, sizeof what, "semi %s %lld %lld %lld %lld", r->name ? r->name : "mesh",
             (long long)d->mesh.nodes, (long long)d->mesh.cells, (long long)r->lengths,
             (long long)r->members);
    for (int k = 0; k < PARTS && status == SPRY_STATUS_OK; k++) {
        void *const data = k < KINDS    ? (void *)d->x[k]
                           : k == KINDS ? (void *)r->solve.volts_last
                                        : (void *)r->point;
        const int64_t n =
            k < KINDS    ? d->mesh.nodes
            : k == KINDS ? SEMI_CONTACTS
                         : r->lengths * r->members * (int64_t)(sizeof(semi_point) / sizeof(double));
        status = spry_vector_new(r->ctx, SPRY_TYPE_D, n, data, SPRY_OWN_BORROW, &v[k]);
    }
    if (status == SPRY_STATUS_OK && write)
        status = app_checkpoint_write(r->ctx, r->o->checkpoint, what, step, t, PARTS,
                                      (const spry_vector *const *)v);
    else if (status == SPRY_STATUS_OK)
        status = app_checkpoint_read(r->ctx, r->o->checkpoint, what, &step, &t, PARTS, v);
    for (int k = 0; k < PARTS; k++)
        spry_vector_free(v[k]);
    r->points = step;
    return status;
}

/* Begins from a checkpoint, whose voltages are those of its state. */
static spry_status resume(semi_run *r)
{
    const spry_status status = checkpoint(r, false);
    return status == SPRY_STATUS_OK ? semi_resume(&r->solve) : status;
}

static int run_points(semi_run *r)
{
    semi_solve *s = &r->solve;
    const int64_t all = r->lengths * r->members;
    bool converged = true;
    double volts[SEMI_CONTACTS];
    char text[64];
    spry_status status = r->o->resume ? resume(r) : semi_equilibrium(s, &converged);
    memcpy(volts, s->volts_last, sizeof volts);
    while (status == SPRY_STATUS_OK && converged && r->points < all) {
        const double begin = cli_clock();
        volts_of(r, r->points, volts);
        if (r->o->verbose)
            printf("point %lld of %lld\n", (long long)r->points + 1, (long long)all);
        status = semi_reach(s, volts, &converged);
        if (status != SPRY_STATUS_OK || !converged)
            break;
        note_point(r, cli_clock() - begin);
        snprintf(text, sizeof text, "bias %lld of %lld", (long long)r->points, (long long)all);
        progress_part(&s->line, (double)r->points / (double)all, text);
        status = write_matrix(r);
        if (status == SPRY_STATUS_OK)
            status = checkpoint(r, true);
    }
    progress_clear(&s->line);
    if (s->stopped)
        status = SPRY_STATUS_INTERRUPTED;
    return status != SPRY_STATUS_OK ? cli_failed(r->ctx, status)
           : converged              ? EXIT_DONE
                                    : fail_bias(r, volts);
}

static int solve(semi_run *r)
{
    const double begin = cli_clock();
    r->point = cli_alloc((size_t)(r->lengths * r->members) * sizeof *r->point);
    progress_start(&r->solve.line, r->o->quiet || r->o->verbose, 1);
    semi_solve_make(&r->device, &r->solve);
    int exit_status = run_points(r);
    r->seconds = cli_clock() - begin;
    if (r->points > 0) { /* what there is, also where the rest is missing */
        signals_target(NULL);
        if (!r->o->json || !file_is_stdout(r->o->json))
            semi_print(r);
        int written = semi_write_curves(r);
        if (written == EXIT_DONE)
            written = semi_write_fields(r);
        exit_status = exit_status == EXIT_DONE ? written : exit_status;
    }
    semi_solve_free(&r->solve);
    free(r->point);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    semi_options *o = arguments->fields[0];
    app_config config;
    semi_run *r = cli_alloc(sizeof *r);
    *r = (semi_run){.ctx = ctx, .o = o, .config = &config, .sweep = -1, .family = -1};
    r->name = arguments->count > 0 ? arguments->operands[0] : NULL;
    r->device =
        (semi_device){.ctx = ctx, .o = o, .config = &config, .mesh.materials = &r->materials};
    signals_watch(ctx);
    if (!o->verbose) /* what linear solves meet on their way */
        spry_context_set_log(ctx, NULL, NULL);
    int exit_status = app_configure(ctx, o->config, arguments, kept_units, &config);
    const bool floats =
        r->name && (strcmp(r->name, "finfet") == 0 || strcmp(r->name, "nanowire") == 0);
    if (o->carriers == CARRIERS_AUTO)
        o->carriers = floats ? CARRIERS_ELECTRONS : CARRIERS_BOTH;
    if (exit_status == EXIT_DONE)
        exit_status = prepare(r);
    if (exit_status == EXIT_DONE)
        exit_status = solve(r);
    signals_unwatch();
    semi_device_free(&r->device);
    free(r);
    return exit_status;
}

static void shape_names(char words[CLI_WORDS])
{
    snprintf(words, CLI_WORDS, SEMI_SHAPES);
}

const cli_command app_command = {
    .name = "semi",
    .summary = "electrons and holes in transistors: drift and diffusion, quantum corrections",
    .synopsis = "[diode|mos|mosfet|finfet|nanowire]",
    .description =
        "Solves Poisson's equation with the continuity of electrons and holes on a mesh of lines, "
        "triangles or tetrahedra, by the fluxes of Scharfetter and Gummel and Newton's method, and "
        "prints the currents of all contacts while the voltage of one is swept. The density "
        "gradient corrects for what quantum mechanics does to carriers at an oxide.\n"
        "A device is a built-in shape, or a mesh of Gmsh whose volumes are regions and whose "
        "surfaces are contacts. Lengths on the command line are in m, voltages in V, densities in "
        "cm^-3; a configuration has units.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry semi diode --sweep anode --to 0.8 -o diode.csv", "A diode's curve."},
            {"spry semi mosfet --sweep gate --family 'drain 0.05 1' --plot transfer.svg",
             "Transfer curves of a transistor."},
            {"spry semi finfet --quantum electrons --bias 'drain 0.05, gate 0.5' --fields fin.vtu",
             "A fin with quantum corrections, for ParaView."},
            {"spry semi --mesh fin.msh --materials 'fin silicon' --bias 'drain 0.05' --sweep gate",
             "A mesh of Gmsh."},
            {0}},
    .most = 1,
    .choices = shape_names,
    .run = run,
};
