/* Matrices, clocks and answers of the benchmarks. */
#include "peer.h"

#include <private/programs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tiles of the matrix in a file, as the options say; "file,size=N,type=T". */
static spry_status read_tiled(spry_context *ctx, const char *options, spry_matrix **A)
{
    char path[256], type[16] = "";
    const char *comma = strchr(options, ','), *size = strstr(options, "size="),
               *wanted = strstr(options, "type=");
    spry_matrix *base = NULL;
    snprintf(path, sizeof path, "%.*s", (int)(comma ? comma - options : (long)strlen(options)),
             options);
    if (wanted)
        snprintf(type, sizeof type, "%.6s", wanted);
    spry_status status = spry_matrix_read(ctx, path, type, &base);
    if (status == SPRY_STATUS_OK)
        status = spry_generate_tiled(base, size ? strtoll(size + 5, NULL, 10) : 0, A);
    spry_matrix_free(base);
    return status;
}

static spry_status read_file(spry_context *ctx, const char *path, spry_matrix **A)
{
    spry_matrix *read = NULL, *rows = NULL;
    spry_status status = spry_matrix_read(ctx, path, NULL, &read);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_convert(read, SPRY_FORMAT_CSR, &rows);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_expand(rows, A);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_sort(*A);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_sum_duplicates(*A);
    spry_matrix_free(read);
    spry_matrix_free(rows);
    return status;
}

spry_matrix *peer_matrix(spry_context *ctx, const char *text)
{
    char kind[64] = "", options[256] = "";
    const char *colon = strchr(text, ':');
    snprintf(kind, sizeof kind, "%.*s", (int)(colon ? colon - text : (long)strlen(text)), text);
    if (colon)
        snprintf(options, sizeof options, "%s", colon + 1);
    spry_matrix *A = NULL;
    spry_status status;
    if (strcmp(kind, "tiled") == 0)
        status = read_tiled(ctx, options, &A);
    else if (strncmp(text, PEER_FILE, sizeof PEER_FILE - 1) == 0)
        status = read_file(ctx, options, &A);
    else
        status = spry_generate(ctx, kind, options, &A);
    if (status != SPRY_STATUS_OK) {
        fprintf(stderr, "%s: %s\n", text, spry_message(ctx));
        exit(2);
    }
    return A;
}

peer_arrays peer_arrays_of(const spry_matrix *A)
{
    spry_arrays a = SPRY_ARRAYS_INIT;
    spry_matrix_arrays(A, &a);
    return (peer_arrays){a.type, a.format,  a.symmetry,  a.rows,      a.cols,
                         a.nnz,  a.offsets, a.row_index, a.col_index, a.values};
}

void peer_rows(const peer_arrays *a, int rank, int size, int64_t *begin, int64_t *end)
{
    *begin = *end = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        *begin += a->offsets[i] < a->nnz / size * rank;
        *end += rank == size - 1 || a->offsets[i] < a->nnz / size * (rank + 1);
    }
}

double peer_seconds(void)
{
    const char *clock = getenv("BENCH_CLOCK");
    struct timespec now;
    clock_gettime(clock && strcmp(clock, "processor") == 0 ? CLOCK_PROCESS_CPUTIME_ID
                                                           : CLOCK_MONOTONIC,
                  &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double peer_median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, by_size);
    return numbers[count / 2];
}

peer_times peer_time(void (*product)(void *data), void *data, int count)
{
    enum { MOST = 1000 };
    double times[MOST];
    count = count < MOST ? count : MOST;
    product(data);
    for (int k = 0; k < count; k++) {
        const double begin = peer_seconds();
        product(data);
        times[k] = peer_seconds() - begin;
    }
    const double median = peer_median(times, count);
    return (peer_times){times[0], median};
}

bool peer_job_read(int argc, char **argv, peer_job *job)
{
    if (argc != 6)
        return false;
    *job = (peer_job){argv[1], argv[2], argv[3], atoi(argv[4]), atoi(argv[5])};
    return job->threads > 0 && job->iterations > 0;
}

double peer_iteration_time(double (*solve)(void *data, int iterations), void *data, int iterations)
{
    solve(data, 3); /* touches all memory, wakes all threads */
    const double before = solve(data, PEER_FIRST_ITERATIONS);
    return (solve(data, PEER_FIRST_ITERATIONS + iterations) - before) / iterations;
}

void peer_answer(double seconds, double residual, int64_t bytes)
{
    printf("%.9g %.9g %lld\n", seconds, residual, (long long)bytes);
}

void peer_refuse(const char *reason)
{
    printf("%s\n", reason);
    exit(1);
}

void peer_check(spry_context *ctx, spry_status status)
{
    if (status != SPRY_STATUS_OK)
        peer_refuse(spry_message(ctx));
}

void peer_need(const spry_context *ctx, spry_status status)
{
    if (status == SPRY_STATUS_OK)
        return;
    fprintf(stderr, "benchmark: %s\n", ctx ? spry_message(ctx) : "no context");
    exit(1);
}

static void read_option(const char *name, const char *value, const peer_option *list)
{
    for (; list->name; list++) {
        if (strcmp(name, list->name) != 0)
            continue;
        if (list->text)
            *list->text = value;
        else if (list->whole)
            *list->whole = (int)strtol(value, NULL, 10);
        else
            *list->real = strtod(value, NULL);
    }
}

peer_words peer_arguments(int argc, char **argv, const peer_option *list, char **usual, int count)
{
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2)
        read_option(argv[at] + 2, argv[at + 1], list);
    return at < argc ? (peer_words){argv + at, argc - at} : (peer_words){usual, count};
}

int peer_within(int number, int most)
{
    return number < 1 ? 1 : number > most ? most : number;
}

int peer_usual_threads(void)
{
    spry_context *ctx = NULL;
    peer_need(ctx, spry_context_new(NULL, &ctx));
    const int threads = spry_context_threads(ctx);
    spry_context_free(ctx);
    return threads;
}
