/*
 * Solves of one system again and again by one solver, as in time steps: the cost of the first, of
 * later ones, and of what comes on top of the iterations.
 *
 *     bench_repeat [--device cpu|cuda|opencl] [--formats csr+sell] [--sizes 10+40] [--threads n]
 *                  [--rounds n] [--vectors device|host] [--counts yes] [--precon amg]
 *
 * cg, without a preconditioner unless one is given, on 7-point Poisson systems to 1e-8; x is set to
 * zeros between solves, outside the clock. "later": the median of whole calls of spry_solve().
 * "fit": medians of solves that are cut short at several numbers of iterations, as a + b
 * iterations: looks at the true residual count as parts of iterations. "step" (host): the
 * median time from one iteration to the next, and what a later solve takes on top of as many of
 * these. Vectors are on the device ("device") or copied by each solve ("host"). --counts yes prints
 * what the library logs of the last solve.
 */
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 1000, CUTS = 4, MOST_STEPS = 4096 };

typedef struct setting {
    const char *device, *formats, *sizes, *vectors, *counts, *precon;
    int rounds, threads;
} setting;

typedef struct problem {
    spry_context *ctx;
    const setting *set;
    spry_matrix *A;
    spry_vector *b, *x;
    const char *format;
} problem;

/* Times of an iteration's end, as they are reported. */
typedef struct steps {
    double at[MOST_STEPS];
    int count;
} steps;

static bool note_step(void *data, int64_t iteration, double residual)
{
    steps *s = data;
    (void)iteration;
    (void)residual;
    if (s->count < MOST_STEPS)
        s->at[s->count++] = peer_seconds();
    return true;
}

/* Seconds of one solve from x = 0. */
static double solve_once(const problem *p, spry_solver *solver, spry_result *result)
{
    peer_need(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    spry_scalar sum; /* waits for a device */
    peer_need(p->ctx, spry_vector_dot(p->x, p->x, &sum));
    const double begin = peer_seconds();
    peer_need(p->ctx, spry_solve(solver, p->b, p->x, result));
    return peer_seconds() - begin;
}

static spry_solver *make_solver(const problem *p, int64_t most)
{
    spry_solver *solver = NULL;
    char options[256];
    snprintf(options, sizeof options,
             "method=cg precon=%s tol=1e-8 format=%s device=%s max-iter=%lld", p->set->precon,
             p->format, p->set->device, (long long)most);
    peer_need(p->ctx, spry_solver_new(p->ctx, &solver));
    peer_need(p->ctx, spry_solver_set(solver, options));
    peer_need(p->ctx, spry_solver_set_matrix(solver, p->A));
    return solver;
}

/* The median of later solves; *first: the first one, with its set-up. */
static double time_solves(const problem *p, spry_solver *solver, double *first, spry_result *result)
{
    double times[MOST_ROUNDS];
    *first = solve_once(p, solver, result);
    for (int k = 0; k < p->set->rounds + 2; k++) {
        spry_result_clear(p->ctx, result);
        times[k < 2 ? 0 : k - 2] = solve_once(p, solver, result);
    }
    return peer_median(times, p->set->rounds);
}

/* The line through (iterations, seconds) of solves that are cut short. */
static void fit(const problem *p, int64_t iterations, double *once, double *each)
{
    double n = 0, sum_k = 0, sum_t = 0, sum_kk = 0, sum_kt = 0;
    for (int c = 1; c <= CUTS; c++) {
        spry_result result = SPRY_RESULT_INIT;
        double first;
        const int64_t most = iterations * c / (CUTS + 1);
        if (most < 1)
            continue;
        spry_solver *solver = make_solver(p, most);
        const double t = time_solves(p, solver, &first, &result), k = (double)most;
        spry_result_clear(p->ctx, &result);
        spry_solver_free(solver);
        n++;
        sum_k += k;
        sum_t += t;
        sum_kk += k * k;
        sum_kt += k * t;
    }
    *each = (n * sum_kt - sum_k * sum_t) / (n * sum_kk - sum_k * sum_k);
    *once = (sum_t - *each * sum_k) / n;
}

/* The median time of an iteration in the middle of a solve. */
static double step_time(const problem *p, spry_solver *solver)
{
    static steps s;
    double gaps[MOST_STEPS];
    spry_result result = SPRY_RESULT_INIT;
    s.count = 0;
    spry_solver_set_watch(solver, note_step, &s);
    (void)solve_once(p, solver, &result);
    spry_solver_set_watch(solver, NULL, NULL);
    spry_result_clear(p->ctx, &result);
    for (int k = 1; k < s.count; k++)
        gaps[k - 1] = s.at[k] - s.at[k - 1];
    return s.count > 1 ? peer_median(gaps, s.count - 1) : NAN;
}

static void print_log(void *data, spry_log_level level, const char *text)
{
    (void)data;
    (void)level;
    printf("#   %.600s\n", text);
}

static void run_problem(const problem *p, const char *size)
{
    const bool host = strcmp(p->set->device, "cpu") == 0;
    spry_result result = SPRY_RESULT_INIT;
    double first, once, each, step = NAN;
    spry_solver *solver = make_solver(p, 10000);
    const double later = time_solves(p, solver, &first, &result);
    const double n = (double)result.iterations;
    if (host)
        step = step_time(p, solver);
    if (strcmp(p->set->counts, "yes") == 0) {
        spry_result ignored = SPRY_RESULT_INIT;
        spry_context_set_log(p->ctx, print_log, NULL);
        (void)solve_once(p, solver, &ignored);
        spry_context_set_log(p->ctx, NULL, NULL);
        spry_result_clear(p->ctx, &ignored);
    }
    spry_solver_free(solver);
    fit(p, result.iterations, &once, &each);
    printf("%-8s %-6s %-8s %6lld %10.3f %10.4f %10.1f %8.2f %8.2f %10.1f %9.1e%s\n", result.device,
           size, p->format, (long long)result.iterations, first * 1e3, later * 1e3, once * 1e6,
           each * 1e6, step * 1e6, (later - n * (host ? step : each)) * 1e6, result.true_residual,
           result.converged ? "" : " not converged");
    fflush(stdout);
    spry_result_clear(p->ctx, &result);
}

static void run_size(spry_context *ctx, const setting *set, const char *size)
{
    char text[64], formats[128], *save = NULL;
    problem p = {.ctx = ctx, .set = set};
    spry_device *device = NULL;
    snprintf(text, sizeof text, "poisson3d:size=%s,points=7", size);
    p.A = peer_matrix(ctx, text);
    const int64_t n = spry_matrix_rows(p.A);
    if (strcmp(set->device, "cpu") != 0 && strcmp(set->vectors, "device") == 0)
        peer_need(ctx, spry_device_open(ctx, set->device, &device));
    if (device) {
        peer_need(ctx, spry_vector_on(device, SPRY_TYPE_D, n, NULL, &p.b));
        peer_need(ctx, spry_vector_on(device, SPRY_TYPE_D, n, NULL, &p.x));
    } else {
        peer_need(ctx, spry_vector_zeros(ctx, p.A, &p.b));
        peer_need(ctx, spry_vector_zeros(ctx, p.A, &p.x));
    }
    peer_need(ctx, spry_vector_fill(p.b, (spry_scalar){1, 0}));
    snprintf(formats, sizeof formats, "%s", set->formats);
    for (char *f = strtok_r(formats, "+", &save); f; f = strtok_r(NULL, "+", &save)) {
        p.format = f;
        run_problem(&p, size);
    }
    spry_vector_free(p.b);
    spry_vector_free(p.x);
    spry_matrix_free(p.A);
}

int main(int argc, char **argv)
{
    setting set = {.device = "cpu",
                   .formats = "sell+csr+auto",
                   .sizes = "10+40+64+100",
                   .vectors = "device",
                   .counts = "no",
                   .precon = "none",
                   .rounds = 21};
    const peer_option list[] = {
        {.name = "device", .text = &set.device},
        {.name = "formats", .text = &set.formats},
        {.name = "sizes", .text = &set.sizes},
        {.name = "vectors", .text = &set.vectors},
        {.name = "counts", .text = &set.counts},
        {.name = "rounds", .whole = &set.rounds},
        {.name = "threads", .whole = &set.threads},
        {.name = "precon", .text = &set.precon},
        {.name = NULL},
    };
    char sizes[128], options[64], *save = NULL;
    spry_context *ctx = NULL;
    (void)peer_arguments(argc, argv, list, NULL, 0);
    set.rounds = peer_within(set.rounds, MOST_ROUNDS);
    snprintf(options, sizeof options, "log=debug threads=%d", set.threads);
    if (spry_context_new(set.threads > 0 ? options : "log=debug", &ctx) != SPRY_STATUS_OK)
        return 1;
    printf("%-8s %-6s %-8s %6s %10s %10s %10s %8s %8s %10s %9s\n", "device", "grid", "format",
           "iter.", "first ms", "later ms", "fit: us", "+us/it", "step us", "extra us", "residual");
    snprintf(sizes, sizeof sizes, "%s", set.sizes);
    for (char *size = strtok_r(sizes, "+", &save); size; size = strtok_r(NULL, "+", &save))
        run_size(ctx, &set, size);
    spry_context_free(ctx);
    return 0;
}
