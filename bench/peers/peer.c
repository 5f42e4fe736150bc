/* Matrices and clocks of the SpMV benchmarks. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

spry_matrix *peer_matrix(spry_context *ctx, const char *text)
{
    char kind[64] = "", options[256] = "";
    const char *colon = strchr(text, ':');
    snprintf(kind, sizeof kind, "%.*s", (int)(colon ? colon - text : (long)strlen(text)), text);
    if (colon)
        snprintf(options, sizeof options, "%s", colon + 1);
    spry_matrix *A = NULL;
    if (spry_generate(ctx, kind, options, &A) != SPRY_OK) {
        fprintf(stderr, "%s: %s\n", text, spry_message(ctx));
        exit(2);
    }
    return A;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

peer_times peer_time(void (*product)(void *data), void *data, int count)
{
    enum { MOST = 1000 };
    double times[MOST];
    count = count < MOST ? count : MOST;
    product(data);
    for (int k = 0; k < count; k++) {
        const double begin = seconds();
        product(data);
        times[k] = seconds() - begin;
    }
    qsort(times, (size_t)count, sizeof times[0], by_size);
    return (peer_times){times[0], times[count / 2]};
}
