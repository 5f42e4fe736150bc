/*
 * spry obstacle: a time-dependent obstacle problem in the unit cube, by projected relaxations on
 * one process, ranks or a device, with and without waiting, and by multigrid. docs/obstacle.md has
 * the problem, the methods and what they take.
 */
#include "obstacle/obstacle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, obstacle_options, OBSTACLE_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static const app_unit kept_units[] = {{"dt", "s"},   {"eta", "m^2/s"}, {"bx", "m/s"}, {"by", "m/s"},
                                      {"bz", "m/s"}, {"c", "Hz"},      {NULL, NULL}};

static const char *const method_names[] = {"auto", "multigrid", "redblack", "richardson"};

/* Whether it is one of relaxations on ranks, which may be without waiting. */
static bool splits(const obstacle_run *r)
{
    return spry_context_ranks(r->ctx) > 1 && r->method != METHOD_MULTIGRID;
}

/* --- what was found ------------------------------------------------------------------------------
 */

static double number_at(const spry_vector *v, int64_t i)
{
    const void *data = spry_vector_data_const(v);
    return spry_vector_type(v) == SPRY_TYPE_D ? ((const double *)data)[i]
                                              : (double)((const float *)data)[i];
}

/* Where the solution is known, the largest error; else NaN. */
static double error_of(const obstacle_run *r)
{
    double worst = 0;
    if (!r->p->exact || !r->u || obstacle_fields_given(r->o) > 0)
        return NAN;
    for (int64_t i = 0; i < spry_vector_size(r->u); i++) {
        double place[3];
        spry_grid_place(r->grid, false, i, place);
        worst = fmax(worst, fabs(number_at(r->u, i) - r->p->known(place)));
    }
    return worst;
}

static double unknowns(const obstacle_run *r)
{
    return (double)r->n * (double)r->n * (double)r->n;
}

static void print_table(const obstacle_run *r)
{
    const bool ranks = splits(r);
    const double error = error_of(r);
    int64_t iterations = 0;
    table *t = table_new(ranks ? ">step|>relaxations|>of all ranks|>residual|>contact|>seconds"
                               : ">step|>iterations|>residual|>contact|>seconds");
    for (int64_t k = 0; k < r->done; k++) {
        const obstacle_step *s = &r->step[k];
        table_cell(t, "%lld", (long long)k + 1);
        table_cell(t, "%s", text_count(s->iterations));
        if (ranks)
            table_cell(t, "%s", text_count(s->all));
        table_cell(t, "%.2e", s->residual);
        table_cell(t, "%.2f%%", 100 * (double)s->contacts / unknowns(r));
        table_cell(t, "%.3g", s->seconds);
        iterations += s->all;
    }
    table_print(t, stdout);
    printf("all           %s %s in %s, set-up %s\n", text_count(iterations),
           r->method == METHOD_MULTIGRID ? "cycles" : "relaxations", text_seconds(r->seconds),
           text_seconds(r->setup_seconds));
    if (!isnan(error))
        printf("error         %.2e of the exact solution\n", error);
}

static void write_json(FILE *out, const void *data)
{
    const obstacle_run *r = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "problem", r->p->name);
    json_text(&j, "method", method_names[r->method]);
    json_text(&j, "mode", !splits(r) ? NULL : r->o->mode == MODE_SYNC ? "sync" : "async");
    json_int(&j, "ranks", spry_context_ranks(r->ctx));
    json_text(&j, "device", r->o->device);
    json_text(&j, "type", spry_type_name(obstacle_type(r->o)));
    json_int(&j, "unknowns", r->n * r->n * r->n);
    json_int(&j, "levels", r->levels);
    json_open(&j, "steps", '[');
    for (int64_t k = 0; k < r->done; k++) {
        const obstacle_step *s = &r->step[k];
        json_open(&j, NULL, '{');
        json_bool(&j, "converged", s->converged);
        json_text(&j, "reason", spry_reason_name(s->reason));
        json_int(&j, "iterations", s->iterations);
        json_int(&j, "iterations_of_all", s->all);
        json_real(&j, "residual", s->residual);
        json_real(&j, "tolerance", s->tolerance);
        json_int(&j, "contacts", s->contacts);
        json_real(&j, "seconds", s->seconds);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_real(&j, "error", error_of(r));
    json_real(&j, "setup_seconds", r->setup_seconds);
    json_real(&j, "seconds", r->seconds);
    json_close(&j, '}');
}

static spry_status write_field(const obstacle_run *r, const spry_vector *v, const char *title,
                               const char *options, const char *path)
{
    const int64_t across = r->o->across;
    app_field field = {.title = title,
                       .x = across == 0 ? "y" : "x",
                       .y = across == 2 ? "y" : "z",
                       .plane = options,
                       .length = 1,
                       .intervals = r->o->size};
    if (!app_field_is_svg(path))
        return spry_field_write(r->grid, v, path, options);
    (void)app_field_view(r->o->view, 1, field.view); /* was checked */
    return app_field_draw(r->ctx, r->grid, v, &field, path);
}

/* A bound as it is in the type that is computed in. */
static double bound_at(const obstacle_run *r, int which, const int64_t at[3])
{
    const double value = obstacle_value(r, which, at);
    return obstacle_type(r->o) == SPRY_TYPE_D ? value : (double)(float)value;
}

/* u, and where it is on the obstacle. */
static spry_status write_fields(const obstacle_run *r)
{
    char options[64];
    spry_vector *on = NULL;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "across=%c at=%.17g", "xyz"[r->o->across], r -> o -> at);
    if (r->o->output)
        status = write_field(r, r->u, "u", options, r->o->output);
    if (status != SPRY_STATUS_OK || !r->o->contact)
        return status;
    status = spry_vector_new(r->ctx, SPRY_TYPE_D, spry_vector_size(r->u), NULL, SPRY_OWN_COPY, &on);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < spry_vector_size(r->u); i++) {
        const int64_t at[] = {i % r->n, i / r->n % r->n, i / r->n / r->n};
        const double low = bound_at(r, OBSTACLE_LOWER, at), high = bound_at(r, OBSTACLE_UPPER, at);
        const double u = number_at(r->u, i);
        ((double *)spry_vector_data(on))[i] = u <= low ? 1 : u >= high ? -1 : 0;
    }
    if (status == SPRY_STATUS_OK)
        status = write_field(r, on, "contact", options, r->o->contact);
    spry_vector_free(on);
    return status;
}

/* What the last step came to, as an exit status. */
static int verdict(obstacle_run *r)
{
    const obstacle_step *last = &r->step[r->done - 1];
    if (last->converged)
        return EXIT_DONE;
    if (last->reason == SPRY_REASON_STOPPED)
        return cli_failed(r->ctx, SPRY_STATUS_INTERRUPTED);
    return cli_fail(EXIT_UNCONVERGED,
                    "step %lld: %s after %lld iterations, residual %.2e where %.2e was asked for",
                    (long long)r->done, spry_reason_text(last->reason), (long long)last->iterations,
                    last->residual, last->tolerance);
}

static int report(obstacle_run *r)
{
    int exit_status = EXIT_DONE;
    if (r->o->json)
        exit_status = file_write_text(r->ctx, r->o->json, write_json, r);
    if (!r->o->json || !file_is_stdout(r->o->json))
        print_table(r);
    if (exit_status == EXIT_DONE) {
        const spry_status status = write_fields(r);
        if (status != SPRY_STATUS_OK)
            exit_status = cli_failed(r->ctx, status);
    }
    return exit_status;
}

/* --- a run ---------------------------------------------------------------------------------------
 */

/* Differences of b.grad take from neighbours more than diffusion gives where intervals are long:
 * there is no M-matrix then, and perhaps no solution. */
static int check_wind(const obstacle_run *r)
{
    for (int a = 0; a < 3; a++)
        if (fabs(r->wind[a]) * r->h > 2 * r->eta)
            return cli_fail(EXIT_INPUT,
                            "--b%c %g is too much for intervals of %g with --eta %g: at least "
                            "--size %.0f is needed",
                            "xyz"[a], r -> wind[a], r -> h, r -> eta,
                            ceil(fabs(r->wind[a]) / (2 * r->eta)));
    return EXIT_DONE;
}

static int check_ranks(const obstacle_run *r)
{
    const int ranks = spry_context_ranks(r->ctx);
    if (*r->o->upper && strcmp(r->o->device, "cpu") != 0)
        return cli_fail(EXIT_INPUT, "--upper is for the host alone; leave out --device");
    if (ranks == 1)
        return EXIT_DONE;
    if (splits(r) && (strcmp(r->o->device, "cpu") != 0 || obstacle_type(r->o) != SPRY_TYPE_D))
        return cli_fail(EXIT_INPUT, "relaxations on ranks work on processors, in double precision; "
                                    "leave out --device and --type, or take --method multigrid");
    if (splits(r) && *r->o->upper)
        return cli_fail(EXIT_INPUT, "relaxations on ranks know lower bounds alone; leave out "
                                    "--upper, or take --method multigrid");
    if (ranks > r->n)
        return cli_fail(EXIT_INPUT, "%d ranks for %lld planes; take a larger --size", ranks,
                        (long long)r->n);
    return EXIT_DONE;
}

/*
 * Vectors as long as the unknowns on the host: in one process f, g, bounds, u and what is written,
 * with multigrid 1/7 of another three, with richardson one more; of those on a device one is left
 * here. On ranks, all together: with multigrid three more of the first grid, with two planes around
 * each slab, and every rank has u in the end; of relaxations the rows take 16 numbers before they
 * are a matrix, the matrix 12, and vectors 8; then every rank has u twice. What is given is on
 * every rank; upper bounds are two more vectors and those of coarse grids.
 */
static double bytes_needed(const obstacle_run *r)
{
    const int ranks = spry_context_ranks(r->ctx);
    const double vector = unknowns(r) * (double)spry_type_size(obstacle_type(r->o));
    const double given = (double)(ranks * obstacle_fields_given(r->o)) * 8 * unknowns(r);
    const double upper = *r->o->upper ? 3 * vector : 0;
    if (splits(r))
        return (36 + 2 * ranks) * vector + given;
    if (strcmp(r->o->device, "cpu") != 0)
        return (ranks > 1 ? 1 + ranks : 1) * vector + given;
    return given + upper +
           (ranks > 1 ? (9 + 12.0 * ranks / (double)r->n + ranks) * vector : 6 * vector);
}

static int check_memory(const obstacle_run *r)
{
    char what[32];
    snprintf(what, sizeof what, "--size %lld", (long long)r->o->size);
    return app_check_memory(r->ctx, "cpu", bytes_needed(r), what, "a smaller --size");
}

static int prepare(obstacle_run *r)
{
    const obstacle_options *o = r->o;
    const bool steady = r->p->steady;
    r->h = 1 / (double)o->size;
    r->n = o->size - 1;
    r->eta = steady ? 1 : o->eta;
    r->dt = steady ? 0 : o->dt;
    r->shift = steady ? 0 : o->c + 1 / o->dt;
    r->steps = steady ? 1 : o->steps;
    r->wind[0] = steady ? 0 : o->bx;
    r->wind[1] = steady ? 0 : o->by;
    r->wind[2] = steady ? 0 : o->bz;
    r->method = o->method == METHOD_AUTO ? METHOD_MULTIGRID : (int)o->method;
    double view[4];
    int exit_status = app_field_view(o->view, 1, view);
    if (exit_status == EXIT_DONE)
        exit_status = check_wind(r);
    if (exit_status == EXIT_DONE)
        exit_status = check_ranks(r);
    if (exit_status == EXIT_DONE)
        exit_status = check_memory(r);
    if (exit_status == EXIT_DONE && o->json)
        exit_status = file_check_text(r->ctx, o->json);
    if (exit_status == EXIT_DONE)
        exit_status = obstacle_take_fields(r);
    return exit_status;
}

static int run_steps(obstacle_run *r)
{
    char text[96];
    snprintf(text, sizeof text, "%lldx%lldx%lld ranks=none", (long long)r->o->size,
             (long long)r->o->size, (long long)r->o->size);
    r->step = cli_alloc((size_t)r->steps * sizeof *r->step);
    spry_status status = spry_grid_new(r->ctx, text, &r->grid);
    if (status == SPRY_STATUS_OK) {
        progress_start(&r->line, r->o->quiet || ranks_silent(), 1);
        status = splits(r) ? obstacle_ranks(r) : obstacle_bounded(r);
        progress_clear(&r->line);
    }
    int exit_status = status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
    if (exit_status == EXIT_DONE) {
        exit_status = ranks_silent() ? EXIT_DONE : report(r);
        exit_status = ranks_agree(r->ctx, exit_status);
    }
    if (exit_status == EXIT_DONE)
        exit_status = verdict(r);
    spry_vector_free(r->u);
    spry_grid_free(r->grid);
    free(r->step);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    const obstacle_options *o = arguments->fields[0];
    obstacle_run r = {.ctx = ctx, .o = o};
    app_config config;
    r.p = obstacle_find(arguments->count > 0 ? arguments->operands[0] : "source");
    int exit_status =
        r.p ? app_configure(ctx, o->config, arguments, kept_units, &config) : EXIT_INPUT;
    if (exit_status == EXIT_DONE)
        exit_status = prepare(&r);
    if (exit_status == EXIT_DONE) {
        signals_watch(ctx);
        exit_status = run_steps(&r);
        signals_unwatch();
    }
    obstacle_free_fields(&r);
    return exit_status;
}

static void problem_names(char words[CLI_WORDS])
{
    snprintf(words, CLI_WORDS, OBSTACLE_PROBLEMS);
}

const cli_command app_command = {
    .name = "obstacle",
    .summary = "a time-dependent obstacle problem in the unit cube",
    .synopsis = "[source|ball|steady]",
    .description =
        "Solves u_t + b.grad u - eta laplace u + c u >= f, u >= 0, and at each point and time one "
        "of them an equality, with u = 0 on the faces and at the beginning, by implicit steps in "
        "time. source has f = cos 2 pi x cos 4 pi y cos 6 pi z; ball is a steady problem whose "
        "solution is known: a membrane under a weight, which lies on the floor in a ball; steady "
        "has f = 0, for "
        "data of your own: --force, --lower, --upper, --start and --faces replace those of any "
        "problem, by expressions of x, y and z or by files.\n"
        "Each step is solved until the largest |min(A u - g, u)| is small, which is computed from "
        "the u that is kept. Ranks have a slab of the cube each, on processors or, by multigrid, "
        "devices; in relaxations they wait for each other or not.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry obstacle --size 128", "Three steps by multigrid."},
            {"spry obstacle --size 256 --device cuda --json run.json", "On a GPU."},
            {"spry obstacle ball -o u.png --contact c.png",
             "Where the membrane lies on the floor."},
            {"spry obstacle steady --force -10 --lower 'x < 0.5 ? -0.2 : -0.1' --upper 0.3",
             "Bounds of your own, from below and from above."},
            {"mpirun -n 4 spry obstacle --size 128", "By multigrid on ranks."},
            {"mpirun -n 4 spry obstacle --method redblack --mode sync",
             "By relaxations on ranks, in step."},
            {0}},
    .most = 1,
    .choices = problem_names,
    .ranks = true,
    .run = run,
};
