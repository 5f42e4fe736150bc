/*
 * Conjugate gradients, BiCGStab and GMRES(30) on a device, in double, compared with the same
 * methods over cuSPARSE and cuBLAS (peers/cuda_methods.h):
 *
 *     bench_device_methods [--device cuda:0] [--formats csr+sell+auto] [--methods
 * cg+bicgstab+gmres]
 *                          [--rounds n] [--solve yes|no|only] [--problem poisson3d:points=7]
 *                          [edge ...]
 *
 * for 7-point stencils on cubes with this many points per edge, or another of spry's problems;
 * methods that the libraries' side has not, and complex problems, have spry alone. The first table
 * is the time of an iteration: the difference of a long and a short solve over the iterations
 * between, so that copies, set-up and the end do not count. Its matrix is S A S with a
 * diagonal S of six orders of magnitude, with which nothing converges: solves are as long as they
 * should be, and spry's looks at the true residual, which come with progress, are not among the
 * iterations. The second is of whole solves to 1e-8 with A itself, with all that belongs to them
 * but the set-up: b copied to the device, x back, and of spry the true residual now and at the end.
 * Contenders take turns.
 */
#include "peers/cuda_methods.h"
#include "peers/device_spry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 49, MOST_CONTENDERS = 12, SHORT = 30 };

typedef struct options {
    const char *device, *formats, *methods, *problem;
    const char *tables; /* whole solves too: yes, no, only */
    int rounds;
} options;

/* Methods of the libraries' side, by cuda_method. */
static const char *const peer_methods[] = {"cg", "bicgstab", "gmres"};
enum { PEER_METHODS = 3 };

/* The tolerance of whole solves. */
static const double tolerance = 1e-8; /* as in the heading */

/* One who takes part: spry with a format, or the libraries with a course. */
typedef struct contender {
    char name[64];
    spry_operator *op; /* spry's; NULL: theirs */
    cuda_course course;
    spry_solver *solver[2]; /* short or long, of the method at hand */
    double seconds[MOST_ROUNDS], total[MOST_ROUNDS];
    int rounds;
    int64_t bytes, iterations;
    double residual;
    bool out; /* it failed */
} contender;

typedef struct stage {
    const options *o;
    spry_context *ctx;
    cuda_peers peers;
    bool has_peers;
    int edge;
    const char *method;
    spry_matrix *A;
    spry_vector *b, *x;
    cuda_matrix theirs;
    cuda_solver *solver; /* theirs */
    contender contenders[MOST_CONTENDERS];
    int count, longest; /* iterations of the long solve */
    double bandwidth;
} stage;

static bool is_gmres(const stage *s)
{
    return strcmp(s->method, peer_methods[CUDA_GMRES]) == 0;
}

/* --- one solve ---------------------------------------------------------------------------------*/

static double solve_spry(stage *s, contender *c, bool is_long)
{
    spry_result result = {0};
    peer_need(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    const double begin = peer_seconds();
    const spry_status status = spry_solve(c->solver[is_long], s->b, s->x, &result);
    const double seconds = peer_seconds() - begin - result.setup_seconds;
    if (status != SPRY_STATUS_OK || result.iterations == 0) {
        printf("%-5d %-9s %-26s %s\n", s->edge, s->method, c->name,
               status == SPRY_STATUS_OK ? spry_reason_name(result.reason) : spry_message(s->ctx));
        c->out = true;
    }
    c->residual = result.residual;
    c->iterations = result.iterations;
    c->bytes = result.bytes_per_iteration;
    spry_result_clear(s->ctx, &result);
    return seconds;
}

/* Iterations of a solve; 0: to the tolerance. */
static double solve(stage *s, contender *c, int iterations, bool is_long)
{
    if (c->op)
        return solve_spry(s, c, is_long);
    cuda_course course = c->course;
    course.iterations = iterations ? iterations : 10000;
    course.tol = iterations ? 0 : tolerance;
    const double seconds = cuda_solve(s->solver, &course, spry_vector_data(s->x));
    c->residual = cuda_solver_residual(s->solver);
    c->iterations = cuda_solver_iterations(s->solver);
    return seconds;
}

/* spry's solvers, ready before the clock runs: one for each length, since options undo set-up. */
static void make_solver(stage *s, contender *c, bool is_long, int iterations)
{
    char text[160];
    if (!c->op)
        return;
    spry_solver_free(c->solver[is_long]);
    c->solver[is_long] = NULL;
    if (iterations)
        snprintf(text, sizeof text,
                 "method=%s precon=none tol=0 stall=0 keep=last divergence=1e300 max-iter=%d",
                 s->method, iterations);
    else
        snprintf(text, sizeof text, "method=%s precon=none tol=%g", s->method, tolerance);
    peer_need(s->ctx, spry_solver_new(s->ctx, &c->solver[is_long]));
    peer_need(s->ctx, spry_solver_set(c->solver[is_long], text));
    peer_need(s->ctx, spry_solver_set_operator(c->solver[is_long], c->op));
}

/* --- rounds ------------------------------------------------------------------------------------*/

/* Makes all ready for solves of two lengths; 0: whole ones, and those of one kind alone. */
static void begin_rounds(stage *s, int first, int last)
{
    for (int k = 0; k < s->count; k++) {
        contender *c = &s->contenders[k];
        c->out = !c->op && (!s->solver || (is_gmres(s) && c->course.graph));
        c->rounds = 0;
        if (c->out)
            continue;
        make_solver(s, c, true, last);
        solve(s, c, last, true); /* compiles, allocates, records */
        if (c->out || first == 0)
            continue;
        make_solver(s, c, false, first);
        solve(s, c, first, false);
    }
}

static void time_iterations(stage *s)
{
    begin_rounds(s, SHORT, SHORT + s->longest);
    for (int round = 0; round < s->o->rounds; round++)
        for (int k = 0; k < s->count; k++) {
            contender *c = &s->contenders[k];
            if (c->out)
                continue;
            const double before = solve(s, c, SHORT, false);
            const double after = solve(s, c, SHORT + s->longest, true);
            if (c->out || c->iterations != SHORT + s->longest) {
                if (!c->out)
                    printf("%-5d %-9s %-26s ended after %lld iterations, |r|/|b| = %.1e\n", s->edge,
                           s->method, c->name, (long long)c->iterations, c->residual);
                c->out = true;
                continue;
            }
            c->seconds[c->rounds] = (after - before) / s->longest;
            c->total[c->rounds++] = after;
        }
}

static void time_solves(stage *s)
{
    const int rounds = s->o->rounds < 3 ? s->o->rounds : 3;
    begin_rounds(s, 0, 0);
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < s->count; k++) {
            contender *c = &s->contenders[k];
            if (c->out)
                continue;
            c->total[c->rounds] = solve(s, c, 0, true);
            c->seconds[c->rounds] =
                c->total[c->rounds] / (double)(c->iterations ? c->iterations : 1);
            c->rounds += !c->out;
        }
}

/* --- tables ------------------------------------------------------------------------------------*/

/* The median; the smallest is first afterwards. */
static double middle(contender *c, double *times)
{
    return c->rounds > 0 && !c->out ? peer_median(times, c->rounds) : NAN;
}

/* The fastest of the libraries; with or without graphs and rare looks. */
static double theirs(stage *s, bool plain)
{
    double best = NAN;
    for (int k = 0; k < s->count; k++) {
        contender *c = &s->contenders[k];
        const double time = c->op ? NAN : middle(c, c->seconds);
        if (!isnan(time) && plain == (c->course.every == 1 && !c->course.graph) && !(best <= time))
            best = time;
    }
    return best;
}

static void print_header(void)
{
    printf("%-5s %-9s %-26s %10s %10s %9s %9s %9s %10s %10s  %s\n", "edge", "method", "who",
           "us/iter", "(best)", "x plain", "x best", "of limit", "limit us", "total ms",
           "iterations, |r|/|b|");
}

static void print_rows(stage *s)
{
    const double plain = theirs(s, true), rare = theirs(s, false);
    const double best = plain <= rare || isnan(rare) ? plain : rare;
    int64_t bytes = 0; /* of the first of spry's, which is CSR, for the libraries too */
    for (int k = s->count - 1; k >= 0; k--)
        bytes = s->contenders[k].bytes ? s->contenders[k].bytes : bytes;
    for (int k = 0; k < s->count; k++) {
        contender *c = &s->contenders[k];
        const double time = middle(c, c->seconds), total = middle(c, c->total);
        const double limit = (double)(c->bytes ? c->bytes : bytes) / s->bandwidth;
        if (isnan(time))
            continue;
        printf("%-5d %-9s %-26s %10.2f %10.2f %9.2f %9.2f %9.3f %10.2f %10.3f  %lld, %.3e\n",
               s->edge, s->method, c->name, time * 1e6, c->seconds[0] * 1e6, plain / time,
               best / time, limit / time, limit * 1e6, total * 1e3, (long long)c->iterations,
               c->residual);
    }
    fflush(stdout);
}

/* --- the matrix --------------------------------------------------------------------------------*/

/* Numbers between 0 and 1 that look like chance, the same everywhere. */
static double chance(uint64_t i)
{
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
    i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
    return (double)((i ^ (i >> 31)) >> 11) / 9007199254740992.0;
}

static double factor(int64_t i)
{
    return pow(10, 6 * chance((uint64_t)i) - 3);
}

/* S A S in A's place. */
static void make_hard(spry_matrix *A)
{
    const peer_arrays a = peer_arrays_of(A);
    double *values = a.values;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++)
            values[k] *= factor(i) * factor(a.col_index[k]);
}

/* A in general CSR; or S A S. Complex systems are waves, which need thousands of iterations. */
static void open_matrix(stage *s, bool hard)
{
    char text[128];
    snprintf(text, sizeof text, "%s%csize=%d", s->o->problem,
             strchr(s->o->problem, ':') ? ',' : ':', s->edge);
    spry_matrix *A = peer_matrix(s->ctx, text);
    peer_need(s->ctx, spry_matrix_expand(A, &s->A));
    spry_matrix_free(A);
    const spry_type type = spry_matrix_type(s->A);
    const int64_t parts = type == SPRY_TYPE_Z ? 2 : 1;
    if (hard && type == SPRY_TYPE_D)
        make_hard(s->A);
    peer_need(s->ctx, spry_vector_ones(s->ctx, s->A, &s->b));
    peer_need(s->ctx, spry_vector_zeros(s->ctx, s->A, &s->x));
    double *b = spry_vector_data(s->b);
    for (int64_t i = 0; i < parts * spry_matrix_rows(s->A); i++)
        b[i] = chance((uint64_t)i + 7) - 0.5;
}

static void open_spry(stage *s)
{
    char names[256];
    snprintf(names, sizeof names, "%s", s->o->formats);
    for (char *name = strtok(names, "+"); name && s->count < MOST_CONTENDERS - 3;
         name = strtok(NULL, "+")) {
        contender *c = &s->contenders[s->count];
        spry_storage storage = SPRY_STORAGE_INIT;
        *c = (contender){.course = {.every = 1}};
        if (device_spry_operator(s->ctx, s->o->device, s->A, name, &c->op) != SPRY_STATUS_OK) {
            printf("%-5d %-9s spry %-21s %s\n", s->edge, "", name, spry_message(s->ctx));
            continue;
        }
        snprintf(c->name, sizeof c->name, "spry %s", name);
        if (strcmp(name, "auto") == 0 && spry_operator_storage(c->op, &storage) == SPRY_STATUS_OK)
            snprintf(c->name, sizeof c->name, "spry auto: %.20s %.20s", storage.format,
                     storage.options);
        s->count++;
    }
}

static void open_theirs(stage *s)
{
    static const struct {
        const char *name;
        cuda_course course;
    } all[] = {{"libraries", {.every = 1}},
               {"libraries, |r| every 10", {.every = 10}},
               {"libraries, graph", {.every = 10, .graph = true}}};
    const peer_arrays a = peer_arrays_of(s->A);
    if (!s->has_peers || spry_matrix_type(s->A) != SPRY_TYPE_D ||
        !cuda_matrix_open(&s->peers, &a, &s->theirs))
        return;
    void *x = cuda_room((size_t)a.cols * sizeof(double)),
         *y = cuda_room((size_t)a.rows * sizeof(double));
    cuda_spmv_choose(&s->theirs, x, y);
    CUDA_MUST(cudaFree(x));
    CUDA_MUST(cudaFree(y));
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        contender *c = &s->contenders[s->count++];
        *c = (contender){.course = all[k].course};
        snprintf(c->name, sizeof c->name, "%s", all[k].name);
    }
    printf("# %d^3: cuSPARSE's product is %s, %.2f us\n", s->edge,
           s->theirs.ways[s->theirs.best].name, s->theirs.ways[s->theirs.best].seconds * 1e6);
}

static void close_matrix(stage *s)
{
    for (int k = 0; k < s->count; k++) {
        contender *c = &s->contenders[k];
        spry_solver_free(c->solver[0]);
        spry_solver_free(c->solver[1]);
        spry_operator_free(c->op);
    }
    cuda_matrix_close(&s->theirs);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_matrix_free(s->A);
    s->count = 0;
}

/* --- all of it ---------------------------------------------------------------------------------*/

/* Whole cycles of GMRES, and solves of some tens of milliseconds. */
static int length_for(int edge)
{
    return edge <= 64 ? 600 : edge <= 100 ? 300 : edge <= 160 ? 150 : 60;
}

static void run_edge(stage *s, int edge, bool whole)
{
    s->edge = edge;
    s->longest = length_for(edge);
    open_matrix(s, !whole);
    open_spry(s);
    open_theirs(s);
    char names[128];
    snprintf(names, sizeof names, "%s", s->o->methods);
    for (char *name = strtok(names, "+"); name; name = strtok(NULL, "+")) {
        s->method = name;
        /* GMRES needs thousands of iterations for large cubes. */
        if (whole && is_gmres(s) && edge > 64)
            continue;
        for (int m = 0; m < PEER_METHODS && s->theirs.peers; m++)
            if (strcmp(name, peer_methods[m]) == 0)
                s->solver =
                    cuda_solver_new(&s->theirs, (cuda_method)m, spry_vector_data_const(s->b));
        if (whole)
            time_solves(s);
        else
            time_iterations(s);
        print_rows(s);
        if (s->solver)
            cuda_solver_free(s->solver);
        s->solver = NULL;
    }
    close_matrix(s);
}

static void run(stage *s, char **edges, int count)
{
    peer_need(s->ctx, spry_context_new(NULL, &s->ctx));
    s->has_peers = strncmp(s->o->device, "cuda", 4) == 0 && cuda_peers_open(&s->peers);
    s->bandwidth = device_spry_bandwidth(s->ctx, s->o->device);
    const double blas = s->has_peers ? cuda_read_bandwidth(&s->peers) : 0;
    printf("%s; read bandwidth %.1f GB/s by spry, %.1f by cuBLAS's asum; the larger is the limit\n",
           s->has_peers ? s->peers.device : s->o->device, s->bandwidth / 1e9, blas / 1e9);
    s->bandwidth = blas > s->bandwidth ? blas : s->bandwidth;
    printf(
        "x plain: times as fast as cuSPARSE and cuBLAS with |r| read each iteration; x best: as\n"
        "the fastest of theirs. of limit: bytes per iteration must move, over the time; matrices\n"
        "that fit the cache can be beyond 1.\n");
    for (int whole = 0; whole < 2; whole++) {
        if (strcmp(s->o->tables, whole ? "no" : "only") == 0)
            continue;
        printf("\n== %s\n", whole ? "whole solves of A x = b to 1e-8, copies of b and x included"
                                  : "an iteration (S A S)");
        print_header();
        for (int k = 0; k < count; k++)
            run_edge(s, (int)strtol(edges[k], NULL, 10), whole != 0);
    }
    spry_context_free(s->ctx);
    cuda_peers_close(&s->peers);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"20", "40", "64", "100", "160", "256"};
    static stage s;
    options o = {"cuda:0", "csr+sell+auto", "cg+bicgstab+gmres", "poisson3d:points=7", "yes", 5};
    const peer_option list[] = {
        {.name = "device", .text = &o.device},
        {.name = "formats", .text = &o.formats},
        {.name = "methods", .text = &o.methods},
        {.name = "solve", .text = &o.tables},
        {.name = "rounds", .whole = &o.rounds},
        {.name = "problem", .text = &o.problem},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    o.rounds = peer_within(o.rounds, MOST_ROUNDS);
    s.o = &o;
    run(&s, names.all, names.count);
    return 0;
}
