/*
 * Whole solves of systems whose rows stand in no order, with reorder=none, auto, rcm and hubs.
 *
 *     bench_reorder KIND-OR-FILE GENERATOR-OPTIONS GROUP SOLVER-OPTIONS [ROUNDS]
 *     bench_reorder poisson3d size=90 1 "method=cg precon=jacobi" 3
 *
 * Groups of a number of rows (0: none) change places by random numbers. The least processor seconds
 * of the rounds, which take turns, one thread; set-up and order are within. With device=NAME among
 * the options: the least seconds of the clock, with all threads, of set-up and solve.
 */
#include "peers/peer.h"

#include <spry/spry.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static spry_matrix *shuffle(spry_context *ctx, spry_matrix *A, int64_t group)
{
    spry_arrays a = SPRY_ARRAYS_INIT;
    spry_matrix *shuffled = NULL;
    uint64_t number = 1;
    peer_need(ctx, spry_matrix_arrays(A, &a));
    const int64_t n = a.rows, groups = n / group;
    int32_t *perm = malloc((size_t)n * sizeof *perm), *places = malloc((size_t)n * sizeof *places);
    for (int64_t i = 0; i < groups; i++)
        places[i] = (int32_t)i;
    for (int64_t i = groups - 1; i > 0; i--) {
        number = number * UINT64_C(6364136223846793005) + 1;
        const int64_t j = (int64_t)((number >> 33) % (uint64_t)(i + 1));
        const int32_t t = places[i];
        places[i] = places[j];
        places[j] = t;
    }
    for (int64_t i = 0; i < n; i++)
        perm[i] =
            i < groups * group ? (int32_t)(places[i / group] * group + i % group) : (int32_t)i;
    peer_need(ctx, spry_matrix_permute(A, perm, perm, &shuffled));
    free(perm);
    free(places);
    spry_matrix_free(A);
    return shuffled;
}

int main(int count, char **words)
{
    enum { ORDERS = 4 };
    static const char *const orders[ORDERS] = {"none", "auto", "rcm", "hubs"};
    double least[ORDERS] = {1e300, 1e300, 1e300, 1e300}, setup[ORDERS] = {0};
    long long iterations[ORDERS] = {0};
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    const bool on_device = count > 4 && strstr(words[4], "device=");
    if (count < 5 || spry_context_new(on_device ? NULL : "threads=1", &ctx) != SPRY_STATUS_OK)
        return 2;
    const int rounds = count > 5 ? atoi(words[5]) : 3;
    peer_need(ctx, strchr(words[1], '.') ? spry_matrix_read(ctx, words[1], NULL, &A)
                                         : spry_generate(ctx, words[1], words[2], &A));
    if (atoll(words[3]) > 0)
        A = shuffle(ctx, A, atoll(words[3]));
    peer_need(ctx, spry_vector_ones(ctx, A, &b));
    peer_need(ctx, spry_vector_zeros(ctx, A, &x));
    for (int k = 0; k < ORDERS * rounds; k++) {
        char options[512];
        spry_result result = SPRY_RESULT_INIT;
        snprintf(options, sizeof options, "reorder=%s %s", orders[k % ORDERS], words[4]);
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        const double begin = cpu_seconds();
        peer_need(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
        const double seconds =
            on_device ? result.setup_seconds + result.solve_seconds : cpu_seconds() - begin;
        if (seconds < least[k % ORDERS]) {
            least[k % ORDERS] = seconds;
            setup[k % ORDERS] = result.setup_seconds;
        }
        iterations[k % ORDERS] = result.converged ? (long long)result.iterations : -1;
        if (k == 1)
            printf("%s with %s:", result.method, result.precon);
        spry_result_clear(ctx, &result);
    }
    for (int k = 0; k < ORDERS; k++)
        printf(" %s %lld it. %.3f s (set-up %.3f)%s", orders[k], iterations[k], least[k], setup[k],
               k < ORDERS - 1 ? "," : "\n");
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return 0;
}
