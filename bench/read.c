/*
 * How fast files are read: bench_read FILE... prints name, megabytes, seconds (median of 5 after
 * one to warm the file's pages) and MB/s. bench_read --make digits|short SIZE FILE... writes the
 * matrices to read: the 27-point operator on a cube, its values short (26 and -1) or random with 17
 * digits.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS = 5 };

static int complain(spry_context *ctx)
{
    fprintf(stderr, "bench_read: %s\n", spry_message(ctx));
    return 1;
}

static int time_file(spry_context *ctx, const char *path)
{
    double times[RUNS];
    int64_t nnz = 0;
    for (int run = -1; run < RUNS; run++) {
        spry_matrix *A = NULL;
        const double start = peer_seconds();
        if (spry_matrix_read(ctx, path, NULL, &A) != SPRY_STATUS_OK)
            return complain(ctx);
        if (run >= 0)
            times[run] = peer_seconds() - start;
        nnz = spry_matrix_nnz(A);
        spry_matrix_free(A);
    }
    struct stat about = {0};
    stat(path, &about);
    const double megabytes = (double)about.st_size / 1e6, median = peer_median(times, RUNS);
    printf("%s\t%.1f\t%.4f\t%.0f\t%lld\n", path, megabytes, median, megabytes / median,
           (long long)nnz);
    return 0;
}

/* A number in [-1, 1) from a multiplicative generator: any 53 bits will do here. */
static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static int make(spry_context *ctx, int argc, char **argv)
{
    char options[64];
    spry_matrix *A = NULL, *B = NULL;
    snprintf(options, sizeof options, "size=%d points=27", atoi(argv[1]));
    if (spry_generate(ctx, "poisson3d", options, &A) != SPRY_STATUS_OK)
        return complain(ctx);
    peer_arrays a = peer_arrays_of(A);
    double *values = malloc((size_t)a.nnz * sizeof *values);
    if (!values)
        return 1;
    memcpy(values, a.values, (size_t)a.nnz * sizeof *values);
    uint64_t state = 1;
    for (int64_t k = 0; k < a.nnz && strcmp(argv[0], "digits") == 0; k++)
        values[k] = random_number(&state);
    int failed = spry_matrix_from_csr(ctx, a.type, a.rows, a.cols, a.offsets, a.col_index, values,
                                      SPRY_OWN_BORROW, &B) != SPRY_STATUS_OK;
    for (int i = 2; i < argc && !failed; i++) {
        const double start = peer_seconds();
        failed = spry_matrix_write(B, argv[i]) != SPRY_STATUS_OK;
        fprintf(stderr, "wrote %s in %.2f s\n", argv[i], peer_seconds() - start);
    }
    if (failed)
        complain(ctx);
    spry_matrix_free(B);
    spry_matrix_free(A);
    free(values);
    return failed;
}

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    int failed = spry_context_new(getenv("BENCH_OPTIONS"), &ctx) != SPRY_STATUS_OK;
    if (failed)
        complain(ctx);
    else if (argc > 4 && strcmp(argv[1], "--make") == 0)
        failed = make(ctx, argc - 2, argv + 2);
    else
        for (int i = 1; i < argc; i++)
            failed |= time_file(ctx, argv[i]);
    spry_context_free(ctx);
    return failed;
}
