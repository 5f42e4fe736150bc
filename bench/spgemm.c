/*
 * A times A compared with other libraries, on the same arrays in one run: bench_spgemm [--threads
 * N]
 * [--repeat N] [MATRIX...]. spry runs on one thread and on all, Eigen on one (it has no other way),
 * MKL on all; SciPy is a program that makes the same matrix. Products take turns, so that a slow
 * moment hits all of them; the best of each counts. Times include making the result's arrays,
 * sorted.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    int threads, repeat;
} options;

/* Someone who multiplies: a name, threads, and what runs. */
typedef struct runner {
    const char *name;
    int threads;
    spry_context *ctx; /* of spry */
    spry_matrix *A;
    const peer_square *peer; /* or another */
    void *state;
    double best;
    int64_t entries;
} runner;

enum { RUNNERS = 4 };

static runner make_spry(const char *matrix, int threads)
{
    runner r = {.name = "spry", .threads = threads};
    char text[32];
    snprintf(text, sizeof text, "threads=%d", threads);
    peer_need(r.ctx, spry_context_new(text, &r.ctx));
    r.A = peer_matrix(r.ctx, matrix);
    return r;
}

/* A peer on the arrays of a matrix of spry's; its state is NULL where it cannot be had. */
static runner make_peer(const char *name, const peer_square *other, const spry_matrix *A,
                        const int32_t *offsets, int threads)
{
    const peer_arrays a = peer_arrays_of(A);
    runner r = {.name = name, .threads = threads, .peer = other};
    if (other)
        r.state = other->prepare(&a, offsets, threads);
    return r;
}

static void run_once(runner *r)
{
    const double start = peer_seconds();
    if (r->peer) {
        r->entries = r->peer->square(r->state);
    } else {
        spry_matrix *C = NULL;
        peer_need(r->ctx, spry_matrix_multiply(r->A, r->A, &C));
        r->entries = spry_matrix_nnz(C);
        spry_matrix_free(C);
    }
    const double seconds = peer_seconds() - start;
    r->best = r->best > 0 && r->best < seconds ? r->best : seconds;
}

static void print_row(const char *matrix, const char *who, int threads, double seconds,
                      int64_t entries, double work, double ours)
{
    printf("%-32s %-6s %7d %9.4f %12lld %9.1f %9.2f\n", matrix, who, threads, seconds,
           (long long)entries, work / seconds / 1e6, seconds / ours);
    fflush(stdout);
}

#ifdef SCIPY_PROGRAM
/* Seconds of SciPy's best product; 0 when it failed. */
static double run_scipy(const char *matrix)
{
    char command[1024], line[256] = "";
    snprintf(command, sizeof command, "%s '%s' square </dev/null 2>/dev/null", SCIPY_PROGRAM,
             matrix);
    FILE *pipe = popen(command, "r");
    const bool read = pipe && fgets(line, sizeof line, pipe);
    const int status = pipe ? pclose(pipe) : -1;
    return read && status == 0 ? strtod(line, NULL) : 0;
}
#else
static double run_scipy(const char *matrix)
{
    (void)matrix;
    return 0;
}
#endif

/* Multiplications of A times A. */
static double count_work(const spry_matrix *A)
{
    const peer_arrays a = peer_arrays_of(A);
    double work = 0;
    for (int64_t k = 0; k < a.nnz; k++)
        work += (double)(a.offsets[a.col_index[k] + 1] - a.offsets[a.col_index[k]]);
    return work;
}

static void run_matrix(const options *o, const char *matrix)
{
    const peer_square *eigen = NULL, *mkl = NULL;
#ifdef HAVE_EIGEN
    eigen = &peer_eigen_square;
#endif
#ifdef HAVE_MKL
    mkl = &peer_mkl_square;
#endif
    runner all[RUNNERS] = {make_spry(matrix, o->threads), make_spry(matrix, 1)};
    const peer_arrays a = peer_arrays_of(all[0].A);
    int32_t *offsets = malloc((size_t)(a.rows + 1) * sizeof *offsets);
    if (!offsets || a.nnz > INT32_MAX)
        exit(3);
    for (int64_t i = 0; i <= a.rows; i++)
        offsets[i] = (int32_t)a.offsets[i];
    all[2] = make_peer("eigen", eigen, all[0].A, offsets, 1);
    all[3] = make_peer("mkl", mkl, all[0].A, offsets, o->threads);
    for (int k = 0; k < o->repeat; k++)
        for (int r = 0; r < RUNNERS; r++)
            if (all[r].ctx || all[r].state)
                run_once(&all[r]);
    const double work = count_work(all[0].A), scipy = run_scipy(matrix);
    for (int r = 0; r < RUNNERS; r++) {
        if (all[r].best > 0)
            print_row(matrix, all[r].name, all[r].threads, all[r].best, all[r].entries, work,
                      all[0].best);
        else
            printf("%-32s %-6s skipped: not found when this was built, or not for this matrix\n",
                   matrix, all[r].name);
        if (all[r].state)
            all[r].peer->destroy(all[r].state);
    }
    if (scipy > 0)
        print_row(matrix, "scipy", 1, scipy, all[0].entries, work, all[0].best);
    free(offsets);
    for (int r = 0; r < 2; r++) {
        spry_matrix_free(all[r].A);
        spry_context_free(all[r].ctx);
    }
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=100", "poisson3d:size=64,points=27",
                            "elasticity:size=26", "random:size=300000,per-row=8",
                            "rmat:size=30000",    "circuit:size=20000"};
    options o = {.repeat = 5};
    const peer_option list[] = {
        {.name = "threads", .whole = &o.threads},
        {.name = "repeat", .whole = &o.repeat},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    if (o.threads < 1)
        o.threads = peer_usual_threads();
    printf("%-32s %-6s %7s %9s %12s %9s %9s\n", "matrix, times itself", "who", "threads", "best s",
           "entries", "Mmul/s", "over spry");
    for (int m = 0; m < names.count; m++)
        run_matrix(&o, names.all[m]);
    return 0;
}
