/*
 * Time per iteration of conjugate gradients, b = 1, x = 0, against the same statements unfused, CG
 * written by hand over OpenBLAS, and PETSc:
 *   bench_cg [--rounds N] [--iterations N] [--threads N] [--precons none,jacobi] [MATRIX...]
 * Each contender is a program of its own, so that no library's threads disturb another's. A round
 * runs each of them once, and measures the read bandwidth, so that noise of the machine hits all
 * alike. The limit is spry's bytes per iteration over the largest read bandwidth of all rounds.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 99, MOST_PRECONS = 2 };

typedef struct options {
    int rounds, iterations, threads;
    const char *precons;
} options;

/* --- the contenders ------------------------------------------------------------------------ */

#ifndef OPENBLAS_PROGRAM
#define OPENBLAS_PROGRAM NULL
#endif
#ifndef PETSC_PROGRAM
#define PETSC_PROGRAM NULL
#endif

/* Who shares a line of the summary. */
typedef enum group { FUSED, UNFUSED, OPENBLAS, PETSC, GROUPS } group;

/* ONE and PROCESSES mean MPI's; each then has no other threads, not even OpenBLAS's in PETSc. */
typedef enum parallel { THREADS, PROCESSES, ONE } parallel;

typedef struct contender {
    const char *name, *program, *variant;
    group group;
    parallel parallel;
    const char *precon; /* NULL: every one */
} contender;

static const contender contenders[] = {
    {"spry", SPRY_PROGRAM, "fused", FUSED, THREADS, NULL},
    {"spry unfused", SPRY_PROGRAM, "unfused", UNFUSED, THREADS, NULL},
    {"openblas parts", OPENBLAS_PROGRAM, "parts,axpby", OPENBLAS, THREADS, NULL},
    {"openblas parts, own csr", OPENBLAS_PROGRAM, "parts,axpby,csr", OPENBLAS, THREADS, NULL},
    {"openblas threads", OPENBLAS_PROGRAM, "threads", OPENBLAS, THREADS, NULL},
    {"openblas threads, axpby", OPENBLAS_PROGRAM, "threads,axpby", OPENBLAS, THREADS, NULL},
    {"petsc mpi", PETSC_PROGRAM, "natural", PETSC, PROCESSES, NULL},
    {"petsc mpi, |r|", PETSC_PROGRAM, "unpreconditioned", PETSC, PROCESSES, "jacobi"},
    {"petsc", PETSC_PROGRAM, "natural", PETSC, ONE, NULL},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

/* What a contender has come to with one preconditioner; rounds is 0 when it did not run. */
typedef struct score {
    double seconds[MOST_ROUNDS];
    int rounds;
    double residual;
    int64_t bytes;
    char reason[200];
} score;

/* --- running them -------------------------------------------------------------------------- */

static bool run_command(const char *command, score *s)
{
    char line[sizeof s->reason] = "";
    FILE *pipe = popen(command, "r");
    const bool read = pipe && fgets(line, sizeof line, pipe);
    const int status = pipe ? pclose(pipe) : -1;
    double seconds = 0;
    long long bytes = 0;
    line[strcspn(line, "\n")] = '\0';
    if (!read || status != 0 || sscanf(line, "%lf %lf %lld", &seconds, &s->residual, &bytes) != 3) {
        snprintf(s->reason, sizeof s->reason, "%s", line[0] ? line : "it failed");
        return false;
    }
    s->bytes = bytes;
    s->seconds[s->rounds++] = seconds;
    return true;
}

static int threads_of(const contender *c, const options *o)
{
    return c->parallel == ONE ? 1 : o->threads;
}

static void run_contender(const contender *c, const options *o, const char *matrix,
                          const char *precon, score *s)
{
    char command[1024], mpi[64] = "";
    const char *alone = c->parallel == THREADS ? "" : "OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ";
    if (s->reason[0] || (c->precon && strcmp(c->precon, precon) != 0))
        return;
    if (!c->program) {
        snprintf(s->reason, sizeof s->reason, "not found when this was built");
        return;
    }
    if (c->parallel == PROCESSES)
        snprintf(mpi, sizeof mpi, "mpirun -n %d ", o->threads);
    snprintf(command, sizeof command, "%s%s%s '%s' %s %s %d %d </dev/null 2>/dev/null", alone, mpi,
             c->program, matrix, c->variant, precon, threads_of(c, o), o->iterations);
    run_command(command, s);
}

/* --- the table ----------------------------------------------------------------------------- */

static double least(const double *numbers, int count)
{
    double best = numbers[0];
    for (int k = 1; k < count; k++)
        best = numbers[k] < best ? numbers[k] : best;
    return best;
}

static double median_of(const double *numbers, int count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, numbers, (size_t)count * sizeof *numbers);
    return peer_median(sorted, count);
}

/* The median over the rounds of one time over another of the same round. */
static double median_ratio(const score *above, const score *below)
{
    double ratios[MOST_ROUNDS];
    const int count = above->rounds < below->rounds ? above->rounds : below->rounds;
    for (int k = 0; k < count; k++)
        ratios[k] = above->seconds[k] / below->seconds[k];
    return peer_median(ratios, count);
}

static void print_row(const contender *c, const options *o, const char *precon, const score *s,
                      const score *spry, double limit)
{
    if (s->rounds == 0) {
        if (s->reason[0])
            printf("%-24s %-7s not available: %s\n", c->name, precon, s->reason);
        return;
    }
    const double median = median_of(s->seconds, s->rounds), best = least(s->seconds, s->rounds);
    printf("%-24s %-7s %7d %10.3f %10.3f", c->name, precon, threads_of(c, o), median * 1e3,
           best * 1e3);
    if (spry->rounds > 0)
        printf(" %10.3f %10.3f %10.3f %10.3f", median_ratio(s, spry),
               best / least(spry->seconds, spry->rounds), limit / median, limit / best);
    printf("   %.6e\n", s->residual);
}

/* What the issue is about: how much faster than the best of each group. */
static void print_summary(const score scores[CONTENDERS], const char *precon, double limit)
{
    static const char *const names[] = {"spry", "spry unfused", "the best OpenBLAS",
                                        "the best PETSc"};
    const score *best[GROUPS] = {NULL};
    for (int c = 0; c < CONTENDERS; c++) {
        const score *s = &scores[c], **b = &best[contenders[c].group];
        if (s->rounds > 0 && (!*b || median_ratio(s, *b) < 1))
            *b = s;
    }
    if (!best[FUSED])
        return;
    printf("%s: spry reaches %.3f of the limit; times as fast as", precon,
           limit / median_of(best[FUSED]->seconds, best[FUSED]->rounds));
    for (int g = UNFUSED; g < GROUPS; g++) {
        if (best[g])
            printf(" %s: %.3f;", names[g], median_ratio(best[g], best[FUSED]));
    }
    printf("\n");
}

static void print_table(const options *o, const char *matrix, const char *const *precons, int count,
                        score scores[][CONTENDERS], const score *read)
{
    const double byte = least(read->seconds, read->rounds);
    printf("\n%s, %d threads, %d iterations, %d rounds; read %.2f GB/s (median %.2f)\n", matrix,
           o->threads, o->iterations, o->rounds, 1e-9 / byte,
           1e-9 / median_of(read->seconds, read->rounds));
    for (int p = 0; p < count; p++)
        printf("limit with %s: %lld bytes per iteration, %.3f ms\n", precons[p],
               (long long)scores[p][0].bytes, (double)scores[p][0].bytes * byte * 1e3);
    printf("%-24s %-7s %7s %10s %10s %10s %10s %10s %10s   %s\n", "", "precon", "threads",
           "median ms", "best ms", "over spry", "(best)", "of limit", "(best)", "|r|/|b|");
    for (int p = 0; p < count; p++) {
        const score *spry = &scores[p][0];
        for (int c = 0; c < CONTENDERS; c++)
            print_row(&contenders[c], o, precons[p], &scores[p][c], spry,
                      (double)spry->bytes * byte);
    }
    for (int p = 0; p < count; p++)
        print_summary(scores[p], precons[p], (double)scores[p][0].bytes * byte);
    fflush(stdout);
}

static void run_matrix(const options *o, const char *matrix, const char *const *precons, int count)
{
    static const contender reader = {"read", SPRY_PROGRAM, "read", FUSED, THREADS, NULL};
    static score scores[MOST_PRECONS][CONTENDERS], read;
    memset(scores, 0, sizeof scores);
    memset(&read, 0, sizeof read);
    for (int round = 0; round < o->rounds; round++) {
        fprintf(stderr, "%s: round %d of %d\n", matrix, round + 1, o->rounds);
        run_contender(&reader, o, matrix, "none", &read);
        for (int p = 0; p < count; p++) {
            for (int c = 0; c < CONTENDERS; c++)
                run_contender(&contenders[c], o, matrix, precons[p], &scores[p][c]);
        }
    }
    if (read.rounds > 0)
        print_table(o, matrix, precons, count, scores, &read);
    else
        printf("%s: %s\n", matrix, read.reason);
}

/* --- the command line ----------------------------------------------------------------------- */

/* Which OpenBLAS it is, and whose threads it has, matters. */
static void print_openblas(void)
{
    const char *program = OPENBLAS_PROGRAM;
    char command[512], line[200];
    if (!program)
        return;
    snprintf(command, sizeof command, "%s --version", program);
    FILE *pipe = popen(command, "r");
    if (pipe && fgets(line, sizeof line, pipe))
        printf("%s", line);
    if (pipe)
        pclose(pipe);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=128,points=7", "poisson3d:size=192,points=7"};
    options o = {.rounds = 7, .iterations = 60, .precons = "none,jacobi"};
    const char *precons[MOST_PRECONS];
    const peer_option list[] = {
        {.name = "rounds", .whole = &o.rounds},
        {.name = "iterations", .whole = &o.iterations},
        {.name = "threads", .whole = &o.threads},
        {.name = "precons", .text = &o.precons},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    int count = 0;
    o.rounds = peer_within(o.rounds, MOST_ROUNDS);
    o.iterations = peer_within(o.iterations, 100000);
    o.threads = o.threads < 1 ? peer_usual_threads() : peer_within(o.threads, 4096);
    if (strstr(o.precons, "none"))
        precons[count++] = "none";
    if (strstr(o.precons, "jacobi"))
        precons[count++] = "jacobi";
    /* Debian's Open MPI refuses root, whom containers often have. */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    print_openblas();
    for (int m = 0; m < names.count; m++)
        run_matrix(&o, names.all[m], precons, count);
    return 0;
}
