/*
 * SpMV against the read bandwidth measured in the same run, and against other libraries on the same
 * arrays: bench_spmv [--types sdcz] [--threads N] [--repeat N] [MATRIX...]. Eigen and MKL run in
 * this process; PETSc (one and several MPI processes) and SciPy as programs that make the same
 * matrix. GB/s and its share of read count the least traffic of CSR: each array, x and y once.
 */
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *types;
    int threads, repeat;
} options;

/* One matrix with all that a row of the table needs. */
typedef struct stage {
    spry_context *ctx;
    const options *options;
    char text[256]; /* the matrix with its type */
    spry_matrix *A;
    spry_vector *x, *y;
    spry_operator *op;
    double read; /* bytes a second */
} stage;

static void check(spry_context *ctx, spry_status status)
{
    if (status == SPRY_OK)
        return;
    fprintf(stderr, "bench_spmv: %s\n", spry_message(ctx));
    exit(3);
}

static void print_row(const stage *s, const char *who, int threads, peer_times t)
{
    const double speed = (double)spry_operator_bytes(s->op) / t.best;
    printf("%-36s %-10s %7d %11.6f %11.6f %7.2f %8.2f\n", s->text, who, threads, t.best, t.median,
           speed / 1e9, speed / s->read);
    fflush(stdout);
}

static void print_skipped(const stage *s, const char *who, const char *why)
{
    printf("%-36s %-10s skipped: %s\n", s->text, who, why);
}

/* --- spry ---------------------------------------------------------------------------------- */

static void spry_product(void *data)
{
    const stage *s = data;
    check(s->ctx, spry_operator_apply(s->op, s->x, s->y));
}

/* Largest error of a sample of rows over |A| |x|; x is all ones, and sums are long double. */
static double sample_error(const stage *s)
{
    const spry_arrays a = spry_matrix_arrays(s->A);
    const bool is_complex = spry_type_is_complex(a.type);
    const bool single = a.type == SPRY_S || a.type == SPRY_C;
    const void *y = spry_vector_read(s->y);
    const int64_t step = a.rows / 5000 + 1;
    long double worst = 0;
    for (int64_t i = 0; i < a.rows; i += step) {
        long double sum[2] = {0, 0}, size = 0;
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++) {
            for (int part = 0; part <= is_complex; part++) {
                const int64_t at = k * (1 + is_complex) + part;
                const long double v =
                    single ? ((const float *)a.values)[at] : ((const double *)a.values)[at];
                sum[part] += v;
                size += fabsl(v);
            }
        }
        for (int part = 0; part <= is_complex; part++) {
            const int64_t at = i * (1 + is_complex) + part;
            const long double v = single ? ((const float *)y)[at] : ((const double *)y)[at];
            const long double error = fabsl(v - sum[part]);
            if (!(error <= worst * size)) /* a NaN stays */
                worst = error / size;
        }
    }
    return (double)worst;
}

/* --- peers in this process ----------------------------------------------------------------- */

typedef struct guest {
    const stage *stage;
    const peer *peer;
    void *state;
} guest;

static void guest_product(void *data)
{
    const guest *g = data;
    g->peer->multiply(g->state, spry_vector_read(g->stage->x), spry_vector_data(g->stage->y));
}

static void run_peer(const stage *s, const char *name, const peer *other)
{
    if (!other) {
        print_skipped(s, name, "not found when this was built");
        return;
    }
    const spry_arrays a = spry_matrix_arrays(s->A);
    int32_t *offsets = malloc((size_t)(a.rows + 1) * sizeof *offsets);
    guest g = {s, other, NULL};
    if (a.nnz <= INT32_MAX && offsets) {
        for (int64_t i = 0; i <= a.rows; i++)
            offsets[i] = (int32_t)a.offsets[i];
        g.state = other->prepare(&a, offsets, s->options->threads);
    }
    if (g.state) {
        print_row(s, name, s->options->threads, peer_time(guest_product, &g, s->options->repeat));
        other->destroy(g.state);
    } else {
        print_skipped(s, name, "not for this matrix");
    }
    free(offsets);
}

static void run_peers(const stage *s)
{
#ifdef HAVE_EIGEN
    run_peer(s, "eigen", &peer_eigen);
#else
    run_peer(s, "eigen", NULL);
#endif
#ifdef HAVE_MKL
    run_peer(s, "mkl", &peer_mkl);
#else
    run_peer(s, "mkl", NULL);
#endif
}

/* --- peers as programs --------------------------------------------------------------------- */

#if defined(PETSC_PROGRAM) || defined(SCIPY_PROGRAM)
/* Runs a command that prints the seconds of the best and the median product. */
static void run_command(const stage *s, const char *who, int threads, const char *command)
{
    char line[256] = "";
    FILE *pipe = popen(command, "r");
    const bool read = pipe && fgets(line, sizeof line, pipe);
    const int status = pipe ? pclose(pipe) : -1;
    peer_times t;
    char *end = line;
    t.best = strtod(line, &end);
    t.median = strtod(end, NULL);
    if (read && status == 0 && t.best > 0)
        print_row(s, who, threads, t);
    else
        print_skipped(s, who, "it failed");
}
#endif

static void run_programs(const stage *s)
{
#ifdef PETSC_PROGRAM
    char petsc[1024];
    if (spry_matrix_type(s->A) == SPRY_D) {
        snprintf(petsc, sizeof petsc, "%s '%s' </dev/null 2>/dev/null", PETSC_PROGRAM, s->text);
        run_command(s, "petsc", 1, petsc);
        snprintf(petsc, sizeof petsc, "mpirun -n %d %s '%s' </dev/null 2>/dev/null",
                 s->options->threads, PETSC_PROGRAM, s->text);
        run_command(s, "petsc mpi", s->options->threads, petsc);
    } else {
        print_skipped(s, "petsc", "built for type d");
    }
#else
    print_skipped(s, "petsc", "not found when this was built");
#endif
#ifdef SCIPY_PROGRAM
    char scipy[1024];
    snprintf(scipy, sizeof scipy, "%s '%s' </dev/null 2>/dev/null", SCIPY_PROGRAM, s->text);
    run_command(s, "scipy", 1, scipy);
#else
    print_skipped(s, "scipy", "not found when this was built");
#endif
}

/* --- the table ------------------------------------------------------------------------------ */

/* The read bandwidth, as the best of what was measured before and after the products. */
static void measure_read(stage *s)
{
    spry_bandwidth bandwidth;
    check(s->ctx, spry_device_bandwidth_now(s->ctx, &bandwidth));
    s->read = bandwidth.read > s->read ? bandwidth.read : s->read;
}

static void run_matrix(const options *o, const char *matrix, char type)
{
    stage s = {.options = o};
    char threads[32];
    snprintf(threads, sizeof threads, "threads=%d", o->threads);
    check(s.ctx, spry_context_new(threads, &s.ctx));
    snprintf(s.text, sizeof s.text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    s.A = peer_matrix(s.ctx, s.text);
    check(s.ctx, spry_vector_zeros(s.ctx, s.A, &s.x));
    check(s.ctx, spry_vector_ones(s.ctx, s.A, &s.y));
    check(s.ctx, spry_vector_fill(s.x, (spry_scalar){1, 0}));
    check(s.ctx, spry_operator_from_matrix(s.A, &s.op));
    measure_read(&s);
    const peer_times t = peer_time(spry_product, &s, o->repeat);
    measure_read(&s);
    print_row(&s, "spry", o->threads, t);
    printf("%-36s rows %lld, entries %lld, read %.2f GB/s, error %.1e\n", "",
           (long long)spry_matrix_rows(s.A), (long long)spry_matrix_nnz(s.A), s.read / 1e9,
           sample_error(&s));
    run_peers(&s);
    run_programs(&s);
    spry_operator_free(s.op);
    spry_vector_free(s.x);
    spry_vector_free(s.y);
    spry_matrix_free(s.A);
    spry_context_free(s.ctx);
}

int main(int argc, char **argv)
{
    static char *usual[] = {
        "poisson3d:size=128,points=27", "poisson3d:size=160,points=7", "elasticity:size=56",
        "random:size=1000000",          "rmat:size=1000000",           "circuit:size=1000000"};
    options o = {.types = "d", .repeat = 30};
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--types") == 0)
            o.types = argv[at + 1];
        else if (strcmp(argv[at], "--threads") == 0)
            o.threads = (int)strtol(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--repeat") == 0)
            o.repeat = (int)strtol(argv[at + 1], NULL, 10);
    }
    if (o.threads < 1) {
        spry_context *ctx = NULL;
        check(ctx, spry_context_new(NULL, &ctx));
        o.threads = spry_context_threads(ctx);
        spry_context_free(ctx);
    }
    /* Debian's Open MPI refuses root, whom containers often have. */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    printf("%-36s %-10s %7s %11s %11s %7s %8s\n", "matrix", "who", "threads", "best s", "median s",
           "GB/s", "of read");
    char **matrices = at < argc ? argv + at : usual;
    const int count = at < argc ? argc - at : (int)(sizeof usual / sizeof *usual);
    for (int m = 0; m < count; m++) {
        for (const char *type = o.types; *type; type++)
            run_matrix(&o, matrices[m], *type);
    }
    return 0;
}
