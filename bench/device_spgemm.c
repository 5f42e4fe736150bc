/*
 * Products of sparse matrices on a device:
 *
 *     bench_device_spgemm [--device cuda:0] [matrix ...]
 *
 * A A, and what a level of multigrid by smoothed aggregation takes: strong entries, aggregates, the
 * tentative prolongator T, P = (I - w D^-1 A) T, A P, P^H, P^H (A P); and A^T. "least GB" is what
 * must be moved: each operand read once and the result written once; "of bandwidth" that over the
 * time, as a share of the measured read bandwidth. Products are compared with cusparseSpGEMM's
 * where that does them; "x" is its best time over spry's. Times have everything from operands to
 * the result on the device, memory from a pool included, and are medians.
 */
#include "device/linalg/operator.h"
#include "device/linalg/setup.h"
#include "peers/cuda_peers.h"
#include "peers/device_spry.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5 };

static spry_context *ctx;
static spry_device *device;
static cuda_peers peers;
static bool has_peers;
static double bandwidth; /* bytes per second */

/* --- what is timed -------------------------------------------------------------------------------
 */

typedef struct level {
    device_matrix A, S, T, P, AP, R, X; /* X: the result that is timed */
    device_memory *inverse, *aggregate, *coarse;
    int64_t aggregates, vanished;
    const device_matrix *left, *right; /* of a product */
} level;

static int64_t bytes_of(const device_matrix *A)
{
    return (A->rows + 1) * (int64_t)sizeof(int64_t) +
           A->nnz * (int64_t)(sizeof(int32_t) + spry_type_size(A->type));
}

static void multiply(void *data)
{
    level *l = data;
    device_matrix_free(&l->X);
    peer_need(ctx, device_matrix_multiply(l->left, l->right, &l->X));
}

static void transpose(void *data)
{
    level *l = data;
    device_matrix_free(&l->X);
    peer_need(ctx, device_matrix_transpose(l->left, true, &l->X));
}

static void filter(void *data)
{
    level *l = data;
    device_matrix_free(&l->S);
    peer_need(ctx, device_matrix_filter(&l->A, 0.08, false, &l->S));
}

static void aggregate(void *data)
{
    level *l = data;
    peer_need(ctx, device_aggregate(&l->S, false, l->aggregate, &l->aggregates));
}

static void tentative(void *data)
{
    level *l = data;
    const device_nodes nodes = {l->A.rows, l->aggregates, l->aggregate, 1, 1, NULL};
    device_matrix_free(&l->T);
    device_free(l->coarse);
    peer_need(ctx, device_tentative(device, l->A.type, &nodes, &l->T, &l->coarse, &l->vanished));
}

static void smooth(void *data)
{
    level *l = data;
    device_matrix_free(&l->P);
    peer_need(ctx, device_smooth_prolongator(&l->A, l->inverse, 2.0 / 3, &l->T, &l->P));
}

/* --- a line of the table -------------------------------------------------------------------------
 */

/* The best time of cuSPARSE's algorithms for a product; 0: it does not do it. */
static double peers_time(const device_matrix *A, const device_matrix *B, int *which)
{
    cuda_sparse a, b = {0};
    spry_matrix *one = NULL, *other = NULL;
    double best = 0;
    if (!has_peers)
        return 0;
    peer_need(ctx, device_matrix_get(A, &one));
    peer_need(ctx, device_matrix_get(B, &other));
    const peer_arrays first = peer_arrays_of(one), second = peer_arrays_of(other);
    if (cuda_sparse_open(&first, &a) && cuda_sparse_open(&second, &b))
        for (int way = 1; way <= 3; way++) {
            double times[ROUNDS];
            int done = 0;
            for (int k = -1; k < ROUNDS; k++) {
                const double begin = peer_seconds();
                if (cuda_spgemm(&peers, &a, &b, way) < 0)
                    break;
                if (k >= 0)
                    times[done++] = peer_seconds() - begin;
            }
            const double time = done == ROUNDS ? peer_median(times, ROUNDS) : 0;
            if (time > 0 && (best == 0 || time < best)) {
                best = time;
                *which = way;
            }
        }
    cuda_sparse_close(&a);
    cuda_sparse_close(&b);
    spry_matrix_free(one);
    spry_matrix_free(other);
    return best;
}

static void report(const char *what, double seconds, double bytes, int64_t nnz)
{
    printf("    %-16s %10.3f ms", what, seconds * 1e3);
    if (bytes > 0)
        printf("  least GB %7.3f  of bandwidth %5.2f", bytes / 1e9, bytes / seconds / bandwidth);
    printf("  entries %11lld", (long long)nnz);
}

static void run_product(level *l, const char *what, const device_matrix *A, const device_matrix *B)
{
    int which = 0;
    l->left = A;
    l->right = B;
    const double seconds = device_spry_median(ctx, device, ROUNDS, multiply, l);
    const double bytes =
        (double)bytes_of(A) + (double)bytes_of(&l->X) + (A == B ? 0 : (double)bytes_of(B));
    report(what, seconds, bytes, l->X.nnz);
    const double theirs = peers_time(A, B, &which);
    if (theirs > 0)
        printf("  cuSPARSE %10.3f ms (alg%d)  x %.2f", theirs * 1e3, which, theirs / seconds);
    printf("\n");
    fflush(stdout);
}

static void run_transpose(level *l, const char *what, const device_matrix *A)
{
    l->left = A;
    const double seconds = device_spry_median(ctx, device, ROUNDS, transpose, l);
    report(what, seconds, (double)bytes_of(A) + (double)bytes_of(&l->X), l->X.nnz);
    printf("\n");
}

static device_matrix take_result(level *l)
{
    const device_matrix made = l->X;
    l->X = (device_matrix){0};
    return made;
}

static void run(const char *name)
{
    spry_matrix *A = peer_matrix(ctx, name);
    level l = {0};
    device_scales scales;
    peer_need(ctx, device_matrix_put(device, A, &l.A));
    spry_matrix_free(A);
    printf("%s: %lld rows, %lld entries\n", name, (long long)l.A.rows, (long long)l.A.nnz);
    const double size = (double)bytes_of(&l.A);
    peer_need(ctx, device_alloc(device, l.A.rows * (int64_t)spry_type_size(l.A.type), &l.inverse));
    peer_need(ctx, device_alloc(device, l.A.rows * (int64_t)sizeof(int32_t), &l.aggregate));
    peer_need(ctx, device_matrix_inverse_diagonal(&l.A, l.inverse, NULL, &scales));
    run_product(&l, "A A", &l.A, &l.A);
    run_transpose(&l, "A^H", &l.A);
    device_matrix_free(&l.X);
    double seconds = device_spry_median(ctx, device, ROUNDS, filter, &l);
    report("strong entries", seconds, size + (double)bytes_of(&l.S), l.S.nnz);
    seconds = device_spry_median(ctx, device, ROUNDS, aggregate, &l);
    printf("\n");
    report("aggregates", seconds, 0, l.aggregates);
    seconds = device_spry_median(ctx, device, ROUNDS, tentative, &l);
    printf("\n");
    report("T", seconds, (double)bytes_of(&l.T), l.T.nnz);
    device_matrix_free(&l.S);
    seconds = device_spry_median(ctx, device, ROUNDS, smooth, &l);
    printf("\n");
    report("P", seconds, size + (double)bytes_of(&l.T) + (double)bytes_of(&l.P), l.P.nnz);
    printf("\n");
    run_product(&l, "A P", &l.A, &l.P);
    l.AP = take_result(&l);
    run_transpose(&l, "P^H", &l.P);
    l.R = take_result(&l);
    run_product(&l, "P^H (A P)", &l.R, &l.AP);
    device_matrix *const all[] = {&l.A, &l.S, &l.T, &l.P, &l.AP, &l.R, &l.X};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        device_matrix_free(all[i]);
    device_free(l.inverse);
    device_free(l.aggregate);
    device_free(l.coarse);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=128,points=7", "poisson3d:size=128,points=27",
                            "poisson3d:size=256,points=7"};
    const char *where = "cuda:0";
    const peer_option list[] = {{.name = "device", .text = &where}, {.name = NULL}};
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    peer_need(ctx, spry_device_open(ctx, where, &device));
    bandwidth = device_spry_bandwidth(ctx, where);
    has_peers = strncmp(where, "cuda", 4) == 0 && cuda_peers_open(&peers);
    printf("%s: reads %.0f GB/s; %s\n", where, bandwidth / 1e9, has_peers ? peers.device : "");
    for (int i = 0; i < names.count; i++)
        run(names.all[i]);
    if (has_peers)
        cuda_peers_close(&peers);
    spry_context_free(ctx);
    return 0;
}
