/*
 * Small systems by factors, compared with KLU (SuiteSparse): microseconds of one core for a whole
 * solve, for one with new values in the same places, for another right-hand side, and for new
 * values by factors as an operator (spry_precon_new), as Newton's method uses them. KLU's are
 * analysis, factors and solution; refactorisation and solution; solution; again refactorisation and
 * solution. They, and those of the operator, are not refined, and no residual is computed.
 *
 *     bench_small [--rounds n] [KIND:size=N...]
 *
 * Medians of the processor time of rounds, each as long as some ten milliseconds; b is ones.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef HAVE_KLU
#include <klu.h>
#endif

enum { MOST_ROUNDS = 101, WAYS = 4 };
static const double round_seconds = 0.01;
static const char *const ways[WAYS] = {"whole", "new values", "solve", "operator"};

typedef struct small_system {
    spry_context *ctx;
    spry_matrix *A;
    spry_arrays arrays;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_operator *factors;
#ifdef HAVE_KLU
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int *offsets;
#endif
    double *solution;
} small_system;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void by_spry(small_system *s, int way)
{
    spry_matrix *fresh = NULL;
    peer_need(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    if (way == 0) {
        peer_need(s->ctx, spry_matrix_new(s->ctx, &s->arrays, SPRY_OWN_BORROW, &fresh));
        peer_need(s->ctx, spry_quick_solve(s->ctx, fresh, s->b, s->x, "", NULL));
        spry_matrix_free(fresh);
        return;
    }
    if (way == 1 || way == 3)
        peer_need(s->ctx, spry_matrix_set_values(s->A, s->arrays.values, SPRY_OWN_COPY));
    if (way == 3) {
        peer_need(s->ctx, spry_operator_update(s->factors, s->A));
        peer_need(s->ctx, spry_operator_apply(s->factors, s->b, s->x));
        return;
    }
    peer_need(s->ctx, spry_solve(s->solver, s->b, s->x, NULL));
}

#ifdef HAVE_KLU
/* CSR is CSC of the transpose. */
static void by_klu(small_system *s, int way)
{
    const int n = (int)s->arrays.rows;
    int *columns = s->arrays.col_index;
    double *values = s->arrays.values;
    if (way == 0) {
        klu_free_numeric(&s->numeric, &s->common);
        klu_free_symbolic(&s->symbolic, &s->common);
        s->symbolic = klu_analyze(n, s->offsets, columns, &s->common);
        s->numeric = klu_factor(s->offsets, columns, values, s->symbolic, &s->common);
    } else if (way == 1 || way == 3) {
        klu_refactor(s->offsets, columns, values, s->symbolic, s->numeric, &s->common);
    }
    for (int i = 0; i < n; i++)
        s->solution[i] = 1;
    klu_tsolve(s->symbolic, s->numeric, n, 1, s->solution, &s->common);
}
#endif

static double time_way(small_system *s, void (*solve)(small_system *, int), int way, int rounds)
{
    double times[MOST_ROUNDS];
    double begin = processor_seconds();
    solve(s, way);
    const int count = 1 + (int)(round_seconds / (processor_seconds() - begin + 1e-7));
    for (int k = 0; k < rounds; k++) {
        begin = processor_seconds();
        for (int i = 0; i < count; i++)
            solve(s, way);
        times[k] = (processor_seconds() - begin) / count;
    }
    return peer_median(times, rounds) * 1e6;
}

static void open_system(small_system *s, const char *text)
{
    s->A = peer_matrix(s->ctx, text);
    s->arrays = (spry_arrays)SPRY_ARRAYS_INIT;
    peer_need(s->ctx, spry_matrix_arrays(s->A, &s->arrays));
    peer_need(s->ctx, spry_vector_ones(s->ctx, s->A, &s->b));
    peer_need(s->ctx, spry_vector_zeros(s->ctx, s->A, &s->x));
    peer_need(s->ctx, spry_solver_new(s->ctx, &s->solver));
    peer_need(s->ctx, spry_solver_set(s->solver, "method=direct"));
    peer_need(s->ctx, spry_solver_set_matrix(s->solver, s->A));
    peer_need(s->ctx, spry_precon_new(s->A, NULL, "direct:kind=sparse", &s->factors));
    s->solution = malloc((size_t)s->arrays.rows * sizeof *s->solution);
#ifdef HAVE_KLU
    const int64_t *offsets = s->arrays.offsets;
    klu_defaults(&s->common);
    s->offsets = malloc((size_t)(s->arrays.rows + 1) * sizeof *s->offsets);
    for (int64_t i = 0; i <= s->arrays.rows; i++)
        s->offsets[i] = (int)offsets[i];
#endif
}

static void close_system(small_system *s)
{
#ifdef HAVE_KLU
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    free(s->offsets);
#endif
    free(s->solution);
    spry_operator_free(s->factors);
    spry_solver_free(s->solver);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_matrix_free(s->A);
}

int main(int argc, char **argv)
{
    int rounds = 11;
    char *usual[] = {"circuit:size=100",   "circuit:size=1000", "circuit:size=2000",
                     "circuit:size=10000", "poisson2d:size=10", "poisson2d:size=32",
                     "poisson2d:size=45",  "poisson2d:size=100"};
    const peer_option list[] = {{.name = "rounds", .whole = &rounds}, {.name = NULL}};
    const peer_words words =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    spry_context *ctx = NULL;
    if (spry_context_new("threads=1", &ctx) != SPRY_STATUS_OK)
        return 1;
    rounds = peer_within(rounds, MOST_ROUNDS);
    printf("%-20s %8s %-12s %10s %10s %8s\n", "matrix", "rows", "", "spry us", "KLU us", "ratio");
    for (int k = 0; k < words.count; k++) {
        small_system s = {.ctx = ctx};
        open_system(&s, words.all[k]);
        for (int way = 0; way < WAYS; way++) {
            const double ours = time_way(&s, by_spry, way, rounds);
            printf("%-20s %8lld %-12s %10.1f", words.all[k], (long long)s.arrays.rows, ways[way],
                   ours);
#ifdef HAVE_KLU
            const double theirs = time_way(&s, by_klu, way, rounds);
            printf(" %10.1f %8.2f", theirs, ours / theirs);
#endif
            printf("\n");
            fflush(stdout);
        }
        close_system(&s);
    }
    spry_context_free(ctx);
    return 0;
}
