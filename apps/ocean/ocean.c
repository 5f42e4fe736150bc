/*
 * spry ocean: waves on water by potential flow without small parameters (A. P. Engsig-Karup et al.
 * in R. Couturier, ed., Designing Scientific Applications on GPUs, 2013, chapter 11): basins with
 * any bottom, zones that make and absorb waves, pressure on the surface.
 */
#include "ocean/ocean.h"

#include <math.h>
#include <string.h>

enum { LOG_SIZE = 512 };
static const double PI = 3.14159265358979323846;

SPRY_OPTION_TABLE(rows, ocean_options, OCEAN_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static const app_unit kept_units[] = {{"length", "m"},       {"width", "m"},
                                      {"depth", "m"},        {"shore", "m"},
                                      {"ramp_from", "m"},    {"ramp_to", "m"},
                                      {"shift", "m"},        {"gravity", "m/s^2"},
                                      {"height", "m"},       {"period", "s"},
                                      {"wavelength", "m"},   {"direction", "rad"},
                                      {"generation", "m"},   {"absorption", "m"},
                                      {"ramp", "s"},         {"shift_y", "m"},
                                      {"depths", "file"},    {"surface", "file"},
                                      {"spot_x", "m"},       {"spot_y", "m"},
                                      {"spot_speed", "m/s"}, {"spot_heading", "rad"},
                                      {"spot_radius", "m"},  {"ship_speed", "m/s"},
                                      {"ship_length", "m"},  {"ship_beam", "m"},
                                      {"ship_draft", "m"},   {"ship_x", "m"},
                                      {"ship_y", "m"},       {"end", "s"},
                                      {"dt", "s"},           {"harmonics_y", "m"},
                                      {NULL, NULL}};

/* --- the run -------------------------------------------------------------------------------------
 */

/* The first rate of a step is that of the state before it, which is recorded. */
static spry_status rate(void *data, double t, const spry_vector *u, spry_vector *result)
{
    ocean_run *r = data;
    spry_status status = ocean_flow_rate(&r->flow, t, u, result);
    if (status == SPRY_STATUS_OK && r->fresh)
        status = record_state(r, t, u, result);
    r->fresh = false;
    return status;
}

static spry_status take_step(ocean_run *r, spry_stepper *stepper)
{
    const ocean_options *o = r->o;
    const double next = fmin((double)(r->step + 1) * r->dt, o->end);
    char text[96];
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    r->fresh = true;
    spry_status status = spry_stepper_run(stepper, r->t, next, r->u, &stats);
    if (status == SPRY_STATUS_OK && stats.stopped)
        status = SPRY_STATUS_INTERRUPTED;
    status = spry_context_agree(r->ctx, status); /* one may have been asked alone */
    if (status != SPRY_STATUS_OK)
        return status;
    r->t = next;
    r->step++;
    if (o->filter > 0 && r->step % o->filter == 0)
        status = ocean_flow_filter(&r->flow, r->u);
    if (status == SPRY_STATUS_OK && r->step % o->every == 0) {
        status = record_frame(r);
        if (status == SPRY_STATUS_OK)
            status = record_checkpoint(r);
    }
    snprintf(text, sizeof text, "t %.4g s  step %s", r->t, text_count(r->step));
    progress_part(&r->progress, r->t / o->end, text);
    return status;
}

/* All steps, and the state at their end. */
static spry_status take_steps(ocean_run *r)
{
    spry_stepper *stepper = NULL;
    spry_vector *last = NULL;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(spry_stepper_new(r->ctx, "method=rk4", &stepper));
    OCEAN_GO(spry_stepper_set_function(stepper, rate, r));
    OCEAN_GO(spry_stepper_set_real(stepper, "dt", r->dt));
    while (r->t < r->o->end * (1 - 1e-12))
        OCEAN_GO(take_step(r, stepper));
    OCEAN_GO(spry_vector_like(r->u, spry_vector_size(r->u), &last));
    r->fresh = true;
    OCEAN_GO(rate(r, r->t, r->u, last));
done:
    spry_vector_free(last);
    spry_stepper_free(stepper);
    return status;
}

/* The waves behind a ship are as fast as it is: g tanh(k h)/k = U^2, where there are such. */
static void report_ship(const ocean_run *r)
{
    const ocean_options *o = r->o;
    const double U = o->ship_speed, deep = o->gravity / (U * U);
    double k = deep;
    printf("ship          %.4g m/s, U / sqrt(g length) %.3g", U,
           U / sqrt(o->gravity * o->ship_length));
    for (int i = 0; i < 1000; i++)
        k = deep * tanh(k * o->depth);
    if (deep * o->depth > 1)
        printf(", waves behind it %.4g m long", 2 * PI / k);
    printf("\nresistance    %.4e over the density\n", r->resistance);
}

/* The memory is measured now, where the run has just been: what it gives changes. */
static spry_status report_figures(const ocean_run *r)
{
    const ocean_flow *f = &r->flow;
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    const spry_status status =
        spry_device_bandwidth(r->ctx, f->device ? f->setup.device : NULL, true, &bandwidth);
    if (status == SPRY_STATUS_OK && f->iterations > 0)
        printf("traffic       %s per iteration, %s/s, %.2f of the memory's read bandwidth\n",
               text_bytes(f->traffic / (double)f->iterations), text_bytes(f->traffic / f->seconds),
               f->traffic / f->seconds / bandwidth.read);
    return status;
}

static void report(const ocean_run *r, double seconds)
{
    const ocean_flow *f = &r->flow;
    const double solves = f->solves > 0 ? (double)f->solves : 1;
    printf("grid          %d x %d x %d points, order %d, %s\n", f->points.sizes.nx,
           f->points.sizes.all_y, f->points.sizes.nz + 1, f->setup.order,
           f->device ? f->setup.device : "cpu");
    if (spry_context_ranks(r->ctx) > 1)
        printf("ranks         %d, with lines along x each\n", spry_context_ranks(r->ctx));
    if (r->wave.count > 0)
        printf("wave          period %.6g s, length %.6g m, height %.4g m, kh %.4g\n", r->period,
               2 * PI / r->wave.k, r->wave.height, r->wave.k * r->wave.depth);
    if (r->o->wave == WAVE_SEA)
        printf("sea           %d waves, of that significant height and peak\n", r->wave.count);
    printf("steps         %lld of %.4g s to %.6g s; stable below %.3g s\n", (long long)r->step,
           r->dt, r->t, ocean_flow_limit(f));
    printf("solves        %lld, %.1f iterations each, %lld at most\n", (long long)f->solves,
           (double)f->iterations / solves, (long long)f->worst);
    printf("water         %+.3e m%s above the still one, %+.1e in the run\n", r->water,
           f->setup.ny > 0 ? "^3" : "^2", r->water - r->first_water);
    if (f->ship)
        report_ship(r);
    else
        printf("energy        %.6e over the density, %+.2e of it in the run\n", r->energy,
               r->first_energy > 0 ? r->energy / r->first_energy - 1 : 0);
    printf("time          %s; %s per solve, with all of its step\n", text_seconds(seconds),
           text_seconds(r->seconds / solves));
}

typedef struct summary {
    const ocean_run *r;
    double seconds;
} summary;

static void write_json(FILE *out, const void *data)
{
    const ocean_run *r = ((const summary *)data)->r;
    const ocean_flow *f = &r->flow;
    const bool wave = r->wave.count > 0;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_int(&j, "nx", f->points.sizes.nx);
    json_int(&j, "ny", f->points.sizes.all_y);
    json_int(&j, "nz", f->points.sizes.nz + 1);
    json_int(&j, "order", f->setup.order);
    json_text(&j, "device", f->device ? f->setup.device : "cpu");
    json_real(&j, "period", wave ? r->period : NAN);
    json_real(&j, "wavelength", wave ? 2 * PI / r->wave.k : NAN);
    json_real(&j, "height", wave ? r->wave.height : NAN);
    json_real(&j, "kh", wave ? r->wave.k * r->wave.depth : NAN);
    json_int(&j, "steps", r->step);
    json_real(&j, "dt", r->dt);
    json_real(&j, "stable_dt", ocean_flow_limit(f));
    json_real(&j, "end", r->t);
    json_int(&j, "solves", f->solves);
    json_int(&j, "iterations", f->iterations);
    json_int(&j, "most_iterations", f->worst);
    json_real(&j, "water", r->water);
    json_real(&j, "water_change", r->water - r->first_water);
    json_real(&j, "resistance", f->ship ? r->resistance : NAN);
    json_real(&j, "energy", r->energy);
    json_real(&j, "energy_change", r->first_energy > 0 ? r->energy / r->first_energy - 1 : NAN);
    json_real(&j, "seconds", ((const summary *)data)->seconds);
    json_close(&j, '}');
}

/* A message that is the same for each mode is printed once. */
static void log_once(void *data, spry_log_level level, const char *text)
{
    char *last = data;
    if (strcmp(last, text) == 0)
        return;
    snprintf(last, LOG_SIZE, "%s", text);
    cli_log(NULL, level, text);
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    ocean_options *o = arguments->fields[0];
    ocean_run r = {.ctx = ctx, .o = o};
    const double begun = cli_clock();
    char last[LOG_SIZE] = "";
    spry_status status = SPRY_STATUS_OK;
    app_config config;
    int exit_status = app_configure(ctx, arguments->operands[0], arguments, kept_units, &config);
    if (exit_status == EXIT_DONE)
        exit_status = asked_check(ctx, &config, o);
    exit_status = ranks_agree(ctx, exit_status);
    if (exit_status != EXIT_DONE)
        return exit_status;
    signals_watch(ctx);
    spry_context_set_log(ctx, log_once, last);
    exit_status = ocean_check_memory(&r);
    if (exit_status == EXIT_DONE)
        status = basin_depths(ctx, o, o->length, &r.depths);
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE)
        status = asked_wave(&r);
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE)
        exit_status = asked_fit(&r, &config);
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE)
        status = ocean_prepare(&r);
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE)
        exit_status = record_prepare(&r);
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE) {
        if (o->resume)
            status = record_resume(&r);
        progress_start(&r.progress, o->quiet || ranks_silent(), 1);
        const double steps_begun = cli_clock();
        if (status == SPRY_STATUS_OK)
            status = o->slices > 0 ? slices_run(&r) : take_steps(&r);
        r.seconds = cli_clock() - steps_begun;
        progress_clear(&r.progress);
        if (status == SPRY_STATUS_OK)
            status = record_end(&r);
    }
    if (status == SPRY_STATUS_OK && exit_status == EXIT_DONE && !ranks_silent()) {
        const summary found = {&r, cli_clock() - begun};
        if (o->json)
            exit_status = file_write_text(ctx, o->json, write_json, &found);
        if (!o->json || !file_is_stdout(o->json))
            report(&r, found.seconds);
        status = o->figures ? report_figures(&r) : SPRY_STATUS_OK;
    }
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    record_free(&r);
    spry_free(ctx, r.depths);
    spry_vector_free(r.u);
    ocean_flow_free(&r.flow);
    spry_context_set_log(ctx, cli_log, NULL);
    signals_unwatch();
    return exit_status;
}

const cli_command app_command = {
    .name = "ocean",
    .summary = "waves on water, by potential flow without small parameters",
    .synopsis = "CONFIG",
    .description =
        "Waves in a basin, along x alone or along x and y, over a bottom of any shape: the surface "
        "and the potential there go on in time by Runge-Kutta's method of fourth order, and "
        "Laplace's equation below the surface is solved at each of its stages, by differences of "
        "high order with multigrid of second order as preconditioner. CONFIG has lines NAME = "
        "VALUE "
        "UNIT; names are those of the options below, which come first. Files that are written are "
        "named on the command line. Under mpirun each rank has some lines of the basin. "
        "docs/ocean.md has the "
        "equations and examples.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples = (const cli_example[]){{"spry ocean wave.txt --series gauges.csv",
                                       "A run, with a table of what gauges saw."},
                                      {"spry ocean shoal.txt --frames film --every 20",
                                       "Pictures of the surface, each 20 steps."},
                                      {"mpirun -n 4 spry ocean shoal.txt", "On ranks."},
                                      {0}},
    .least = 1,
    .most = 1,
    .ranks = true,
    .run = run,
};
