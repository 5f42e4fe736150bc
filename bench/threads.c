/*
 * What numbers of threads make of products, iterations and set-ups on the host; bench/threads.sh
 * runs it with several numbers, each in a process of its own.
 *
 *     bench_threads SIZE THREADS [ROUNDS]
 *
 * Poisson's equation with 7 points on SIZE^3, format csr. One line: size, threads, then in
 * microseconds the loop that anybody writes over CSR (OpenMP, static schedule), a product of the
 * library, an iteration of cg with jacobi and one of gmres:restart=10, and what the bytes of these
 * two would take at the rate that the loop has reached. Medians.
 *
 *     bench_threads MATRIX THREADS OPTIONS
 *
 * Whole solves of a generated matrix ("poisson3d:size=40") with all ones, to 1e-8. One line:
 * threads, seconds of set-up, and of the second solve and later ones milliseconds, iterations and
 * microseconds of each.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 1000 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, by_size);
    return seconds[count / 2];
}

/* CSR arrays of the loop's own, whose pages are where the threads are that use them. */
typedef struct plain {
    int n, threads;
    int *offsets, *columns;
    double *values, *x, *y;
} plain;

static void *need(size_t count, size_t size)
{
    void *p = malloc(count * size);
    if (!p)
        exit(1);
    return p;
}

/* The points in each direction that have a neighbour: rows of the grid without its boundary. */
static int fill_row(const plain *p, int side, int row, int at)
{
    const int place[3] = {row % side, row / side % side, row / side / side};
    const int step[3] = {1, side, side * side};
    for (int d = 2; d >= 0; d--)
        if (place[d] > 0) {
            p->columns[at] = row - step[d];
            p->values[at++] = -1;
        }
    p->columns[at] = row;
    p->values[at++] = 6;
    for (int d = 0; d < 3; d++)
        if (place[d] < side - 1) {
            p->columns[at] = row + step[d];
            p->values[at++] = -1;
        }
    return at;
}

static int row_length(int side, int row)
{
    const int place[3] = {row % side, row / side % side, row / side / side};
    int length = 1;
    for (int d = 0; d < 3; d++)
        length += (place[d] > 0) + (place[d] < side - 1);
    return length;
}

static plain make_plain(int side, int threads)
{
    const int n = side * side * side;
    plain p = {.n = n, .threads = threads};
    p.offsets = need((size_t)n + 1, sizeof *p.offsets);
    p.offsets[0] = 0;
    for (int i = 0; i < n; i++)
        p.offsets[i + 1] = p.offsets[i] + row_length(side, i);
    p.columns = need((size_t)p.offsets[n], sizeof *p.columns);
    p.values = need((size_t)p.offsets[n], sizeof *p.values);
    p.x = need((size_t)n, sizeof *p.x);
    p.y = need((size_t)n, sizeof *p.y);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < n; i++) {
        fill_row(&p, side, i, p.offsets[i]);
        p.x[i] = 1.0 / (i + 1);
        p.y[i] = 0;
    }
    return p;
}

static void multiply(const plain *p)
{
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int i = 0; i < p->n; i++) {
        double sum = 0;
        for (int k = p->offsets[i]; k < p->offsets[i + 1]; k++)
            sum += p->values[k] * p->x[p->columns[k]];
        p->y[i] = sum;
    }
}

static double time_plain(const plain *p, int rounds)
{
    double seconds[MOST_ROUNDS];
    for (int k = -3; k < rounds; k++) {
        const double begin = peer_seconds();
        multiply(p);
        if (k >= 0)
            seconds[k] = peer_seconds() - begin;
    }
    return median(seconds, rounds);
}

static double time_product(spry_context *ctx, const spry_matrix *A, int rounds)
{
    double seconds[MOST_ROUNDS];
    spry_operator *op = NULL;
    spry_vector *x = NULL, *y = NULL;
    peer_need(ctx, spry_operator_from_matrix(A, NULL, "csr", &op));
    peer_need(ctx, spry_vector_ones(ctx, A, &x));
    peer_need(ctx, spry_vector_zeros(ctx, A, &y));
    for (int k = -3; k < rounds; k++) {
        const double begin = peer_seconds();
        peer_need(ctx, spry_operator_apply(op, x, y));
        if (k >= 0)
            seconds[k] = peer_seconds() - begin;
    }
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    return median(seconds, rounds);
}

typedef struct times {
    double setup, solve; /* seconds; of solves after the first */
    int64_t iterations, bytes;
} times;

static times time_solves(spry_context *ctx, const spry_matrix *A, const char *options)
{
    enum { SOLVES = 3 };
    double seconds[SOLVES];
    times t = {0};
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    peer_need(ctx, spry_vector_ones(ctx, A, &b));
    peer_need(ctx, spry_vector_zeros(ctx, A, &x));
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, "format=csr tol=1e-8 device=cpu"));
    peer_need(ctx, spry_solver_set(solver, options));
    peer_need(ctx, spry_solver_set_matrix(solver, A));
    for (int k = -1; k < SOLVES; k++) {
        spry_result result = SPRY_RESULT_INIT;
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        peer_need(ctx, spry_solve(solver, b, x, &result));
        if (k < 0)
            t.setup = result.setup_seconds;
        else
            seconds[k] = result.solve_seconds;
        t.iterations = result.iterations;
        t.bytes = result.bytes_per_iteration;
        spry_result_clear(ctx, &result);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    t.solve = median(seconds, SOLVES);
    return t;
}

static double microseconds_each(const times *t)
{
    return 1e6 * t->solve / (double)(t->iterations > 0 ? t->iterations : 1);
}

/* The first form. */
static int compare(spry_context *ctx, int side, int threads, int rounds)
{
    char text[64];
    snprintf(text, sizeof text, "poisson3d:size=%d", side);
    spry_matrix *A = peer_matrix(ctx, text);
    const char *few = side > 100 ? "max-iter=20" : "max-iter=200";
    char options[2][64];
    snprintf(options[0], sizeof options[0], "method=cg precon=jacobi %s", few);
    snprintf(options[1], sizeof options[1], "method=gmres:restart=10 precon=none %s", few);
    const times cg = time_solves(ctx, A, options[0]), gmres = time_solves(ctx, A, options[1]);
    const double product = time_product(ctx, A, rounds);
    const plain p = make_plain(side, threads);
    const double loop = time_plain(&p, rounds);
    const double per_byte = 1e6 * loop / (12.0 * p.offsets[p.n] + 20.0 * p.n);
    printf("%4d %3d %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n", side, threads, 1e6 * loop,
           1e6 * product, microseconds_each(&cg), per_byte * (double)cg.bytes,
           microseconds_each(&gmres), per_byte * (double)gmres.bytes);
    spry_matrix_free(A);
    free(p.offsets);
    free(p.columns);
    free(p.values);
    free(p.x);
    free(p.y);
    return 0;
}

static int solve(spry_context *ctx, const char *matrix, int threads, const char *options)
{
    spry_matrix *A = peer_matrix(ctx, matrix);
    const times t = time_solves(ctx, A, options);
    printf("%3d %9.3f %9.2f %6lld %9.1f\n", threads, t.setup, 1e3 * t.solve,
           (long long)t.iterations, microseconds_each(&t));
    spry_matrix_free(A);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int side = atoi(argv[1]), threads = atoi(argv[2]);
    const int rounds = argc > 3 && side > 0 ? atoi(argv[3]) : 100;
    char options[64];
    spry_context *ctx = NULL;
    if (threads < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    snprintf(options, sizeof options, "threads=%d", threads);
    peer_need(ctx, spry_context_new(options, &ctx));
    const int failed = side >= 2 && side <= 512 ? compare(ctx, side, threads, rounds)
                       : argc > 3               ? solve(ctx, argv[1], threads, argv[3])
                                                : 2;
    spry_context_free(ctx);
    return failed;
}
