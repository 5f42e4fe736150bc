/* Heat by slices of time side by side: implicit Euler is coarse, Crank and Nicolson's method fine.
 */
#include "heat/heat.h"

#include <math.h>

enum { MOST_WORKERS = 64, FINE_STEPS = 64 };

/* All that the workers have: each a context with its own plate. */
typedef struct workers {
    int count;
    spry_context *ctx[MOST_WORKERS];
    heat_plate plate[MOST_WORKERS];
    spry_stepper *coarse[MOST_WORKERS], *fine[MOST_WORKERS];
} workers;

static spry_status worker_make(workers *c, int w, spry_context *ctx, const heat_options *o)
{
    const double slice = o->end / (double)o->slices;
    heat_plate *p = &c->plate[w];
    spry_status status = w == 0 ? SPRY_STATUS_OK : spry_context_new("threads=1", &c->ctx[w]);
    c->count = w + 1;
    if (w == 0)
        c->ctx[w] = ctx;
    if (status == SPRY_STATUS_OK)
        status = heat_plate_make(c->ctx[w], o, o->size, p);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_new(p->ctx, "method=implicit-euler", &c->coarse[w]);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(c->coarse[w], p->A, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_real(c->coarse[w], "dt", slice);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_new(p->ctx, "method=crank-nicolson", &c->fine[w]);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_operator(c->fine[w], p->A, NULL, NULL, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_stepper_set_real(c->fine[w], "dt", o->dt > 0 ? o->dt : slice / FINE_STEPS);
    return status;
}

static void workers_free(workers *c)
{
    for (int w = 0; w < c->count; w++) {
        spry_stepper_free(c->coarse[w]);
        spry_stepper_free(c->fine[w]);
        heat_plate_free(&c->plate[w]);
        if (w > 0)
            spry_context_free(c->ctx[w]);
    }
}

/* --- the map -------------------------------------------------------------------------------------
 */

enum { MOST_MAPPED = 64, CELL = 16 };

/* Differences from the fine run, by slices and iterations, as their logarithms. */
typedef struct error_map {
    int slices;
    double log[MOST_MAPPED][MOST_MAPPED];
} error_map;

/* The box is as wide as there are slices, and has CELL x CELL points for each. */
static void colour(void *data, const double *place, spry_scalar *value)
{
    const error_map *m = data;
    const int last = m->slices - 1;
    const int n = place[0] < last ? (int)place[0] : last,
              k = place[1] < last ? (int)place[1] : last;
    *value = (spry_scalar){m->log[n][k], 0};
}

/* What a slice ends with depends on those before it alone: parareal of n slices, stopped after k
 * iterations, has the end of slice n as that of all slices has it. After n it is exact. */
static spry_status fill_map(const workers *c, const heat_options *o, error_map *m)
{
    const heat_plate *p = &c->plate[0];
    spry_vector *u = NULL;
    spry_status status = spry_vector_like(p->u, spry_vector_size(p->u), &u);
    for (int n = 1; n <= m->slices; n++)
        for (int k = 1; k <= m->slices && status == SPRY_STATUS_OK; k++) {
            char options[96];
            spry_result result = SPRY_RESULT_INIT;
            spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
            snprintf(options, sizeof options, "slices=%d max-iter=%d tol=0 compare=yes", n, k);
            if (k < n)
                status = spry_vector_copy(p->u, u);
            if (k < n && status == SPRY_STATUS_OK)
                status = spry_parareal(c->count, c->coarse, c->fine, 0,
                                       o->end * n / (double)m->slices, u, options, &result, &stats);
            m->log[n - 1][k - 1] = log10(fmax(stats.difference, 1e-300));
        }
    spry_vector_free(u);
    return status;
}

static spry_status write_map(const workers *c, const heat_options *o)
{
    error_map m = {.slices = (int)o->slices};
    char text[96];
    spry_grid *grid = NULL;
    spry_vector *field = NULL;
    snprintf(text, sizeof text, "%dx%d box=0:%d ranks=none", CELL * m.slices - 1,
             CELL * m.slices - 1, m.slices);
    spry_status status = fill_map(c, o, &m);
    if (status == SPRY_STATUS_OK)
        status = spry_grid_new(c->ctx[0], text, &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, true, colour, &m, &field);
    if (status == SPRY_STATUS_OK && !ranks_silent())
        status = spry_field_write(grid, field, o->map, "low=-12 high=0");
    spry_vector_free(field);
    spry_grid_free(grid);
    return spry_context_agree(c->ctx[0], status);
}

/* --- the run -------------------------------------------------------------------------------------
 */

/* What came out of it. */
typedef struct outcome {
    const heat_options *o;
    spry_result result;
    spry_parareal_stats stats;
    double error;
} outcome;

static void print(const outcome *all)
{
    const spry_result *r = &all->result;
    const spry_parareal_stats *s = &all->stats;
    printf("slices        %d on %d worker%s\n", s->slices, s->workers, s->workers > 1 ? "s" : "");
    printf("iterations    %d, last change %.2e%s\n", (int)r->iterations, r->residual,
           r->iterations == s->slices ? " (the fine run itself)" : "");
    printf("error         %.2e of the exact solution, %lld intervals\n", all->error,
           (long long)all->o->size);
    printf("difference    %.2e from the fine run\n", s->difference);
    printf("a slice       fine %s, coarse %s: ratio %.1f\n", text_seconds(s->fine_seconds),
           text_seconds(s->coarse_seconds), s->ratio);
    printf("time          %s, fine run %s\n", text_seconds(r->solve_seconds),
           text_seconds(s->serial_seconds));
    printf("speed-up      %.2f, by the cost model %.2f\n", s->speedup, s->model_speedup);
}

static void write_json(FILE *out, const void *data)
{
    const outcome *all = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "problem", "parareal");
    json_int(&j, "intervals", all->o->size);
    json_int(&j, "slices", all->stats.slices);
    json_int(&j, "workers", all->stats.workers);
    json_int(&j, "iterations", all->result.iterations);
    json_real(&j, "change", all->result.residual);
    json_real(&j, "error", all->error);
    json_real(&j, "difference", all->stats.difference);
    json_real(&j, "ratio", all->stats.ratio);
    json_real(&j, "speedup", all->stats.speedup);
    json_real(&j, "model_speedup", all->stats.model_speedup);
    json_real(&j, "seconds", all->result.solve_seconds);
    json_real(&j, "fine_seconds", all->stats.serial_seconds);
    json_close(&j, '}');
}

static int report(spry_context *ctx, const outcome *all)
{
    if (!all->o->json || !file_is_stdout(all->o->json))
        print(all);
    return all->o->json ? file_write_text(ctx, all->o->json, write_json, all) : EXIT_DONE;
}

int heat_parareal(spry_context *ctx, const heat_options *o)
{
    workers c = {0};
    char options[96];
    outcome all = {.o = o, .result = SPRY_RESULT_INIT, .stats = SPRY_PARAREAL_STATS_INIT};
    spry_status status = SPRY_STATUS_OK;
    if (o->map && o->slices > MOST_MAPPED)
        return cli_fail(EXIT_INPUT, "--map has room for %d slices, not for %lld", MOST_MAPPED,
                        (long long)o->slices);
    snprintf(options, sizeof options, "slices=%lld tol=%.17g compare=yes", (long long)o->slices,
             o->change);
    for (int w = 0; w < o->workers && status == SPRY_STATUS_OK; w++)
        status = worker_make(&c, w, ctx, o);
    status = spry_context_agree(ctx, status);
    if (status == SPRY_STATUS_OK && o->map)
        status = write_map(&c, o);
    if (status == SPRY_STATUS_OK)
        status = spry_parareal(c.count, c.coarse, c.fine, 0, o->end, c.plate[0].u, options,
                               &all.result, &all.stats);
    int exit_status = status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
    if (exit_status == EXIT_DONE) {
        all.error = heat_error(&c.plate[0], exp(-heat_rate(o) * o->diffusivity * o->end));
        if (!ranks_silent())
            exit_status = report(ctx, &all);
        status = spry_context_agree(ctx, heat_write(&c.plate[0]));
        if (status != SPRY_STATUS_OK)
            exit_status = cli_failed(ctx, status);
    }
    workers_free(&c);
    return exit_status;
}
