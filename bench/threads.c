/*
 * A product and an iteration of cg on the host with a number of threads, beside the loop over CSR
 * that anybody writes; bench/threads.sh runs it with several numbers.
 *
 *     bench_threads SIZE THREADS [ROUNDS]
 *
 * Poisson's equation with 7 points on SIZE^3, format csr. One line: size, threads, then in
 * microseconds the plain loop (OpenMP, static schedule), a product of the library, an iteration of
 * cg with jacobi (of a solve that is run to 1e-8), and what the iteration's bytes would take at the
 * rate that the plain loop has reached. Medians.
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

/* An iteration, as the mean of whole solves after the first; bytes: what one moves. */
static double time_iteration(spry_context *ctx, const spry_matrix *A, double *bytes)
{
    enum { SOLVES = 3 };
    double seconds[SOLVES];
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    peer_need(ctx, spry_vector_ones(ctx, A, &b));
    peer_need(ctx, spry_vector_zeros(ctx, A, &x));
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx,
              spry_solver_set(solver, "method=cg precon=jacobi format=csr tol=1e-8 device=cpu"));
    peer_need(ctx, spry_solver_set_matrix(solver, A));
    for (int k = -1; k < SOLVES; k++) {
        spry_result result = SPRY_RESULT_INIT;
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        peer_need(ctx, spry_solve(solver, b, x, &result));
        if (k >= 0)
            seconds[k] = result.solve_seconds / (double)result.iterations;
        *bytes = (double)result.bytes_per_iteration;
        spry_result_clear(ctx, &result);
    }
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    return median(seconds, SOLVES);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int side = atoi(argv[1]), threads = atoi(argv[2]);
    const int rounds = argc > 3 ? atoi(argv[3]) : 100;
    char options[64];
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    double bytes = 0;
    if (side < 2 || side > 512 || threads < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    snprintf(options, sizeof options, "threads=%d", threads);
    peer_need(ctx, spry_context_new(options, &ctx));
    snprintf(options, sizeof options, "size=%d", side);
    peer_need(ctx, spry_generate(ctx, "poisson3d", options, &A));
    const double iteration = time_iteration(ctx, A, &bytes);
    const double product = time_product(ctx, A, rounds);
    const plain p = make_plain(side, threads);
    const double loop = time_plain(&p, rounds);
    const double moved = 12.0 * p.offsets[p.n] + 20.0 * p.n;
    printf("%4d %3d %10.1f %10.1f %10.1f %10.1f\n", side, threads, 1e6 * loop, 1e6 * product,
           1e6 * iteration, 1e6 * loop * bytes / moved);
    spry_matrix_free(A);
    spry_context_free(ctx);
    free(p.offsets);
    free(p.columns);
    free(p.values);
    free(p.x);
    free(p.y);
    return 0;
}
