/*
 * spry heat: the introductory examples on grids. Heat in a rod, a plate or a block whose surface is
 * kept at 0, which decays as exp(-d (pi/L)^2 k t); Poisson's equation with the same shape, by
 * defect correction; heat once more, by slices of time side by side. Each is run on grids that are
 * twice as fine in turn, and compared with the exact solution.
 */
#include "heat/heat.h"

#include <math.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, heat_options, HEAT_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static const app_unit kept_units[] = {
    {"length", "m"}, {"diffusivity", "m^2/s"}, {"end", "s"}, {"dt", "s"}, {NULL, NULL}};

/* --- heat ----------------------------------------------------------------------------------------
 */

/* What is done while steps are taken. */
typedef struct filming {
    const heat_plate *p;
    progress line;
    double end;
    bool finest;
    int64_t before; /* steps of the run that a checkpoint is of */
    int64_t frames;
    spry_status status;
    char what[64];
} filming;

static bool see(void *data, int64_t step, double t, const spry_vector *u)
{
    filming *f = data;
    const heat_options *o = f->p->o;
    char text[96];
    step += f->before;
    snprintf(text, sizeof text, "%lld intervals  step %s  t %.4g", (long long)f->p->size,
             text_count(step), t);
    progress_part(&f->line, t / f->end, text);
    if (!f->finest || step % o->every != 0)
        return true;
    f->status = app_frame(f->p->grid, u, o->frames, ++f->frames, "low=0 high=1");
    if (f->status == SPRY_STATUS_OK && o->checkpoint)
        f->status = app_checkpoint_write(f->p->ctx, o->checkpoint, f->what, step, t, 1,
                                         (const spry_vector *const[]){u});
    return f->status == SPRY_STATUS_OK;
}

/* Steps of implicit methods that err less than the differences: as h of second order in time, as
 * h^2 of first. Explicit ones take what is stable. */
static double natural_dt(const heat_plate *p)
{
    const heat_options *o = p->o;
    const double h = 1 / (double)p->size, unit = o->length * o->length / o->diffusivity;
    return o->method < METHOD_IMPLICIT_EULER    ? 0
           : o->method == METHOD_IMPLICIT_EULER ? h * h * unit / 4
                                                : h * unit / 16;
}

static spry_status new_stepper(const heat_plate *p, double dt, spry_stepper **stepper)
{
    static const char *const names[] = {HEAT_METHOD_NAMES};
    char options[SPRY_OPTION_TEXT_SIZE];
    snprintf(options, sizeof options, "method=%s", names[p->o->method]);
    spry_status status = spry_stepper_new(p->ctx, options, stepper);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(*stepper, p->A, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_real(*stepper, "dt", dt);
    return status;
}

static spry_status run_heat(heat_plate *p, bool finest, heat_row *row)
{
    const heat_options *o = p->o;
    filming f = {.p = p, .end = o->end, .finest = finest};
    spry_stepper *stepper = NULL;
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    double t = 0;
    snprintf(f.what, sizeof f.what, "heat %lldd %lld", (long long)o->dimensions,
             (long long)p->size);
    spry_status status = new_stepper(p, o->dt > 0 ? o->dt : natural_dt(p), &stepper);
    if (status == SPRY_STATUS_OK && finest && o->resume)
        status = app_checkpoint_read(p->ctx, o->checkpoint, f.what, &f.before, &t, 1, &p->u);
    if (status == SPRY_STATUS_OK) {
        progress_start(&f.line, o->quiet || ranks_silent(), 1);
        spry_stepper_set_watch(stepper, see, &f);
        status = spry_stepper_run(stepper, t, o->end, p->u, &stats);
        progress_clear(&f.line);
    }
    if (status == SPRY_STATUS_OK)
        status = f.status;
    if (status == SPRY_STATUS_OK && stats.stopped)
        status = SPRY_STATUS_INTERRUPTED;
    row->count = stats.steps + f.before;
    row->dt = stats.dt;
    row->seconds = stats.seconds;
    row->error = heat_error(p, exp(-heat_rate(o) * o->diffusivity * o->end));
    spry_stepper_free(stepper);
    return status;
}

/* --- Poisson -------------------------------------------------------------------------------------
 */

/* -laplace u = d (pi/L)^2 sin sin: multigrid of second order corrects what the differences of high
 * order leave. */
static spry_status run_poisson(heat_plate *p, bool finest, heat_row *row)
{
    char options[96];
    spry_vector *f = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    (void)finest;
    snprintf(options, sizeof options, "method=richardson precon=gmg:symmetric=no tol=%.17g",
             p->o->tol);
    spry_status status = spry_vector_like(p->u, spry_vector_size(p->u), &f);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(p->u, f);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_scale((spry_scalar){heat_rate(p->o), 0}, f);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(p->u, (spry_scalar){0, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_solver_new(p->ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, options);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_operator(solver, p->minus);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, f, p->u, &result);
    row->count = result.iterations;
    row->converged = result.converged;
    row->seconds = result.setup_seconds + result.solve_seconds;
    row->error = heat_error(p, 1);
    spry_result_clear(p->ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(f);
    return status;
}

/* --- the table -----------------------------------------------------------------------------------
 */

static void print_table(const heat_row *list, int count, bool poisson)
{
    table *t = table_new(poisson ? ">intervals|>iterations|>error|>order|>seconds"
                                 : ">intervals|>steps|>dt|>error|>order|>seconds");
    for (int i = 0; i < count; i++) {
        const heat_row *row = &list[i];
        table_cell(t, "%lld", (long long)row->size);
        table_cell(t, "%lld", (long long)row->count);
        if (!poisson)
            table_cell(t, "%.3g", row->dt);
        table_cell(t, "%.2e", row->error);
        if (i > 0)
            table_cell(t, "%.2f", log2(list[i - 1].error / row->error));
        else
            table_cell(t, "%s", "");
        table_cell(t, "%.3g", row->seconds);
    }
    table_print(t, stdout);
}

/* What is printed. */
typedef struct heat_table {
    const char *problem;
    const heat_row *list;
    int count;
} heat_table;

static void write_json(FILE *out, const void *data)
{
    const heat_table *t = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "problem", t->problem);
    json_open(&j, "grids", '[');
    for (int i = 0; i < t->count; i++) {
        const heat_row *row = &t->list[i];
        json_open(&j, NULL, '{');
        json_int(&j, "intervals", row->size);
        json_int(&j, strcmp(t->problem, "poisson") == 0 ? "iterations" : "steps", row->count);
        if (row->dt > 0)
            json_real(&j, "dt", row->dt);
        json_real(&j, "error", row->error);
        json_real(&j, "order", i > 0 ? log2(t->list[i - 1].error / row->error) : NAN);
        json_real(&j, "seconds", row->seconds);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static int report(spry_context *ctx, const heat_options *o, const heat_table *t)
{
    if (!o->json || !file_is_stdout(o->json))
        print_table(t->list, t->count, strcmp(t->problem, "poisson") == 0);
    return o->json ? file_write_text(ctx, o->json, write_json, t) : EXIT_DONE;
}

/* Grids from coarse to fine. */
static int run_grids(spry_context *ctx, const heat_options *o, bool poisson)
{
    heat_row list[HEAT_GRIDS] = {{0}};
    int exit_status = EXIT_DONE;
    const int first = o->resume ? (int)o->grids - 1 : 0;
    for (int i = first; i < o->grids && exit_status == EXIT_DONE; i++) {
        const bool finest = i + 1 == o->grids;
        heat_plate p;
        heat_row *row = &list[i];
        row->size = o->size >> (o->grids - 1 - i);
        row->converged = true;
        spry_status status = heat_plate_make(ctx, o, row->size, &p);
        if (status == SPRY_STATUS_OK)
            status = poisson ? run_poisson(&p, finest, row) : run_heat(&p, finest, row);
        if (status == SPRY_STATUS_OK && finest)
            status = heat_write(&p);
        heat_plate_free(&p);
        if (status != SPRY_STATUS_OK)
            exit_status = cli_failed(ctx, status);
        else if (!row->converged)
            exit_status = cli_fail(EXIT_UNCONVERGED,
                                   "%lld intervals: no convergence to %g in %lld iterations",
                                   (long long)row->size, o->tol, (long long)row->count);
    }
    if (exit_status == EXIT_DONE && !ranks_silent())
        exit_status = report(
            ctx, o,
            &(heat_table){poisson ? "poisson" : "heat", list + first, (int)o->grids - first});
    return exit_status;
}

/* The options of command line and file, completed; an error where they make no sense. */
static int settle(heat_options *o)
{
    if (o->end == 0)
        o->end = o->length * o->length / (20 * o->diffusivity);
    if (o->size % (1 << (o->grids - 1)) != 0 || o->size >> (o->grids - 1) < 4)
        return cli_fail(EXIT_INPUT,
                        "--size %lld cannot be halved %lld times to 4 or more; --grids says how "
                        "many grids there are",
                        (long long)o->size, (long long)o->grids - 1);
    if (o->dimensions == 1 && app_field_is_svg(o->output))
        return cli_fail(EXIT_INPUT, "%s: pictures have --dimensions 2 or 3", text_name(o->output));
    double view[4];
    if (app_field_view(o->view, o->length, view) != EXIT_DONE)
        return EXIT_INPUT;
    if (o->resume && !o->checkpoint)
        return cli_fail(EXIT_INPUT, "--resume needs the --checkpoint to begin with");
    return EXIT_DONE;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    heat_options *o = arguments->fields[0];
    const char *problem = arguments->count > 0 ? arguments->operands[0] : "heat";
    app_config config;
    int exit_status = app_configure(ctx, o->config, arguments, kept_units, &config);
    if (exit_status == EXIT_DONE)
        exit_status = settle(o);
    if (exit_status != EXIT_DONE)
        return exit_status;
    signals_watch(ctx);
    if (strcmp(problem, "heat") == 0)
        exit_status = run_grids(ctx, o, false);
    else if (strcmp(problem, "poisson") == 0)
        exit_status = run_grids(ctx, o, true);
    else if (strcmp(problem, "parareal") == 0)
        exit_status = heat_parareal(ctx, o);
    else
        exit_status =
            cli_fail(EXIT_INPUT, "no problem %s; there are: heat poisson parareal", problem);
    signals_unwatch();
    return exit_status;
}

static void problem_names(char words[CLI_WORDS])
{
    snprintf(words, CLI_WORDS, "heat poisson parareal");
}

const cli_command app_command = {
    .name = "heat",
    .summary = "the heat equation and Poisson's on a regular grid, against their exact solutions",
    .synopsis = "[heat|poisson|parareal]",
    .description =
        "Heat in a rod, a plate or a block whose surface is kept at 0 and that begins as a product "
        "of sines, which decays exponentially; Poisson's equation with the same solution, by "
        "defect "
        "correction with multigrid; and heat by slices of time side by side (parareal). Operators "
        "are differences on a grid, without a matrix. Each problem is run on some grids, each "
        "twice as fine as the one before, and its largest error relative to the exact solution is "
        "reported, with the order that two of them give.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry heat", "A plate on grids of 16, 32 and 64 intervals, by rk4."},
            {"spry heat --method crank-nicolson -o u.png", "Implicit steps, and a picture."},
            {"spry heat poisson --order 6 --size 128",
             "Poisson's equation, differences of order 6."},
            {"spry heat parareal --slices 8 --workers 2", "Slices of time, on two threads."},
            {0}},
    .most = 1,
    .choices = problem_names,
    .ranks = true,
    .run = run,
};
