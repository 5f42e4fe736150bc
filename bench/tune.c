/*
 * The tuner against an exhaustive search: bench_tune [--seconds N] [--rounds N] [--products N]
 * [--threads N] [--learn yes] [--details yes] MATRIX...
 * For each matrix the tuner chooses, and then every format with every option of its grid is built
 * and timed in turn with CSR; the nearest to the best, the tuner's choice, CSR and MKL where it is
 * there then take turns for the figures that count. A matrix takes about --seconds at most. With
 * --learn the tuner keeps and uses what it learned ($SPRY_CACHE); otherwise each matrix is its
 * first.
 */
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS = 8, LEAST_FINAL = 5, MOST = 1024 };

typedef struct options {
    double seconds;
    int rounds, threads;
    long long products;
    bool learn, details;
} options;

/* A format with its options, or another library. */
typedef struct racer {
    char who[160];
    double ratio;   /* of its time to CSR's, measured together */
    double seconds; /* the best of the final */
    double convert;
    spry_operator *op;
    const peer *peer;
    void *state;
} racer;

typedef struct stage {
    const options *o;
    spry_context *ctx;
    spry_matrix *A;
    int32_t *offsets;
    spry_vector *x, *y;
    spry_operator *csr;
    double begin;
    racer *all;
    int count, skipped;
    char pick[160];
    double tuning;
} stage;

/* What is summed up over matrices: logarithms of ratios. */
typedef struct summary {
    int matrices, near, near_total, mkl;
    double pick_best, csr_pick, csr_best, total_best, mkl_pick;
} summary;

static double run_once(stage *s, const racer *r)
{
    const double begin = peer_seconds();
    if (r->peer)
        r->peer->multiply(r->state, spry_vector_data_const(s->x), spry_vector_data(s->y));
    else
        peer_need(s->ctx, spry_operator_apply(r->op, s->x, s->y));
    return peer_seconds() - begin;
}

static bool build(stage *s, racer *r)
{
    const double begin = peer_seconds();
    const spry_status status = spry_operator_from_matrix(s->A, NULL, r->who, &r->op);
    r->convert = strcmp(r->who, "csr") == 0 ? 0 : peer_seconds() - begin;
    return status == SPRY_STATUS_OK;
}

static void leave(racer *r)
{
    spry_operator_free(r->op);
    r->op = NULL;
    if (r->peer && r->state)
        r->peer->destroy(r->state);
    r->state = NULL;
}

/* --- the search ----------------------------------------------------------------------------- */

static racer *join(stage *s, const char *who)
{
    if (s->count == MOST)
        return NULL;
    racer *r = &s->all[s->count++];
    *r = (racer){.ratio = INFINITY, .seconds = INFINITY};
    snprintf(r->who, sizeof r->who, "%s", who);
    return r;
}

/* All candidates there are, most promising first: the table of a tuner that may time nothing. */
static void list_all(stage *s)
{
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    peer_need(s->ctx, spry_tune(s->A, NULL, "always=yes remember=no budget=0", &report));
    for (int64_t i = 0; i < report.count; i++)
        if (report.rows[i].bytes > 0)
            join(s, report.rows[i].format);
    spry_tune_report_clear(s->ctx, &report);
}

static void choose(stage *s)
{
    char text[160];
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    snprintf(text, sizeof text, "always=yes products=%lld %s", s->o->products,
             s->o->learn ? "again=yes" : "remember=no");
    peer_need(s->ctx, spry_tune(s->A, NULL, text, &report));
    snprintf(s->pick, sizeof s->pick, "%s", report.format);
    s->tuning = report.seconds;
    if (s->o->details)
        for (int64_t i = 0; i < report.count; i++)
            if (report.rows[i].seconds > 0)
                fprintf(stderr, "    tuner: %-40s model %.6f timed %.6f converted %.4f\n",
                        report.rows[i].format, report.rows[i].model_seconds, report.rows[i].seconds,
                        report.rows[i].conversion_seconds);
    spry_tune_report_clear(s->ctx, &report);
}

/* Each together with CSR, as long as there is time; half of it is for the final. */
static void search(stage *s)
{
    racer csr = {.op = s->csr};
    for (int i = 0; i < s->count; i++) {
        racer *r = &s->all[i];
        double mine = INFINITY, other = INFINITY;
        if (peer_seconds() - s->begin > 0.6 * s->o->seconds || !build(s, r)) {
            s->skipped++;
            continue;
        }
        for (int k = 0; k < 4; k++) {
            const double b = run_once(s, &csr), a = run_once(s, r);
            mine = k > 0 && a < mine ? a : mine;
            other = k > 0 && b < other ? b : other;
        }
        r->ratio = mine / other;
        leave(r);
        fprintf(stderr, "\r%-60.60s %d of %d  ", r->who, i + 1, s->count);
        if (s->o->details)
            fprintf(stderr, "\n    %-40s %.3f of csr's time, converted %.4f\n", r->who, r->ratio,
                    r->convert);
    }
    fprintf(stderr, "\r%80s\r", "");
}

static int by_ratio(const void *a, const void *b)
{
    const racer *x = a, *y = b;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* --- the final ------------------------------------------------------------------------------ */

static racer *find(stage *s, const char *who)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->all[i].who, who) == 0)
            return &s->all[i];
    return join(s, who);
}

static racer *join_mkl(stage *s)
{
#ifdef HAVE_MKL
    const peer_arrays a = peer_arrays_of(s->A);
    racer *r = s->offsets ? join(s, "mkl") : NULL;
    const double begin = peer_seconds();
    if (!r)
        return NULL;
    r->peer = &peer_mkl;
    r->state = peer_mkl.prepare(&a, s->offsets, s->o->threads);
    r->convert = peer_seconds() - begin;
    return r->state ? r : NULL;
#else
    (void)s;
    return NULL;
#endif
}

static double total(const stage *s, const racer *r)
{
    return r->convert + (double)s->o->products * r->seconds;
}

static void hold_final(stage *s, racer **finalists, int count)
{
    for (int round = -1; round < s->o->rounds; round++) {
        if (round >= LEAST_FINAL && peer_seconds() - s->begin > s->o->seconds)
            break;
        for (int i = 0; i < count; i++) {
            const double seconds = run_once(s, finalists[i]);
            if (round >= 0 && seconds < finalists[i]->seconds)
                finalists[i]->seconds = seconds;
        }
    }
}

static void print_final(const stage *s, const char *matrix, racer **finalists, int count,
                        summary *sum)
{
    const racer *csr = finalists[0], *pick = finalists[1], *best = pick, *cheapest = pick;
    const racer *mkl = NULL;
    for (int i = 0; i < count; i++) {
        const racer *r = finalists[i];
        if (r->peer) {
            mkl = r;
            continue;
        }
        best = r->seconds < best->seconds ? r : best;
        cheapest = total(s, r) < total(s, cheapest) ? r : cheapest;
    }
    const double ratio = pick->seconds / best->seconds;
    const double whole = total(s, pick) / total(s, cheapest);
    const char *slash = strrchr(matrix, '/');
    printf("%-34.34s %-34s %-34s %9.3f %9.3f %8.2f %9.3f %9.2f", slash ? slash + 1 : matrix,
           best->who, s->pick, ratio, whole, csr->seconds / pick->seconds, csr->seconds * 1e3,
           s->tuning / csr->seconds);
    if (mkl)
        printf(" %8.2f", mkl->seconds / pick->seconds);
    if (s->skipped)
        printf("  (%d of %d not searched)", s->skipped, s->count);
    printf("\n");
    fflush(stdout);
    sum->matrices++;
    sum->near += ratio <= 1.05;
    sum->near_total += whole <= 1.05;
    sum->pick_best += log(ratio);
    sum->total_best += log(whole);
    sum->csr_pick += log(csr->seconds / pick->seconds);
    sum->csr_best += log(csr->seconds / best->seconds);
    if (mkl) {
        sum->mkl++;
        sum->mkl_pick += log(mkl->seconds / pick->seconds);
    }
}

/* CSR, the tuner's choice, the best of the search, MKL. */
static void decide(stage *s, const char *matrix, summary *sum)
{
    racer *finalists[FINALISTS + 3];
    int count = 0;
    qsort(s->all, (size_t)s->count, sizeof *s->all, by_ratio);
    racer *csr = find(s, "csr"), *pick = find(s, s->pick), *mkl = join_mkl(s);
    if (!csr || !pick || !build(s, csr) || (pick != csr && !build(s, pick)))
        return;
    finalists[count++] = csr;
    finalists[count++] = pick;
    for (int i = 0; i < s->count && count < FINALISTS + 2; i++) {
        racer *r = &s->all[i];
        if (r != csr && r != pick && r != mkl && isfinite(r->ratio) && build(s, r))
            finalists[count++] = r;
    }
    if (mkl)
        finalists[count++] = mkl;
    hold_final(s, finalists, count);
    print_final(s, matrix, finalists, count, sum);
    if (s->o->details)
        for (int i = 0; i < count; i++)
            fprintf(stderr, "    final: %-40s %.6f converted %.4f\n", finalists[i]->who,
                    finalists[i]->seconds, finalists[i]->convert);
    for (int i = 0; i < count; i++)
        leave(finalists[i]);
}

static void run_matrix(const options *o, const char *matrix, summary *sum)
{
    stage s = {.o = o, .all = calloc(MOST, sizeof *s.all)};
    char threads[32];
    snprintf(threads, sizeof threads, "threads=%d", o->threads);
    peer_need(s.ctx, spry_context_new(threads, &s.ctx));
    fprintf(stderr, "%s\n", matrix);
    s.A = peer_matrix(s.ctx, matrix);
    s.begin = peer_seconds();
    const peer_arrays a = peer_arrays_of(s.A);
    if (a.nnz <= INT32_MAX)
        s.offsets = malloc((size_t)(a.rows + 1) * sizeof *s.offsets);
    for (int64_t i = 0; s.offsets && i <= a.rows; i++)
        s.offsets[i] = (int32_t)a.offsets[i];
    if (!s.all)
        exit(3);
    peer_need(s.ctx, spry_vector_zeros(s.ctx, s.A, &s.x));
    peer_need(s.ctx, spry_vector_ones(s.ctx, s.A, &s.y));
    peer_need(s.ctx, spry_vector_fill(s.x, (spry_scalar){1, 0}));
    peer_need(s.ctx, spry_operator_from_matrix(s.A, NULL, NULL, &s.csr));
    choose(&s);
    list_all(&s);
    search(&s);
    decide(&s, matrix, sum);
    spry_operator_free(s.csr);
    spry_vector_free(s.x);
    spry_vector_free(s.y);
    spry_matrix_free(s.A);
    spry_context_free(s.ctx);
    free(s.offsets);
    free(s.all);
}

static double mean(double logs, int count)
{
    return exp(logs / (count > 0 ? count : 1));
}

static void print_summary(const summary *s)
{
    const double count = s->matrices > 0 ? s->matrices : 1;
    printf("\n%d matrices, geometric means: choice over best %.3f a product, %.3f with the "
           "conversion; csr over choice %.3f, csr over best %.3f",
           s->matrices, mean(s->pick_best, s->matrices), mean(s->total_best, s->matrices),
           mean(s->csr_pick, s->matrices), mean(s->csr_best, s->matrices));
    if (s->mkl)
        printf(", mkl over choice %.3f", mean(s->mkl_pick, s->mkl));
    printf("\nwithin 5%% of the best: %.0f%% a product, %.0f%% with the conversion\n",
           100 * s->near / count, 100 * s->near_total / count);
}

int main(int argc, char **argv)
{
    options o = {.seconds = 60, .rounds = 20};
    summary sum = {0};
    double products = 1000;
    const char *learn = "no", *details = "no";
    const peer_option list[] = {
        {.name = "seconds", .real = &o.seconds},
        {.name = "rounds", .whole = &o.rounds},
        {.name = "products", .real = &products},
        {.name = "threads", .whole = &o.threads},
        {.name = "learn", .text = &learn},
        {.name = "details", .text = &details},
        {.name = NULL},
    };
    const peer_words names = peer_arguments(argc, argv, list, NULL, 0);
    o.products = (long long)products;
    o.learn = strcmp(learn, "yes") == 0;
    o.details = strcmp(details, "yes") == 0;
    if (o.threads < 1)
        o.threads = peer_usual_threads();
    printf("%-34s %-34s %-34s %9s %9s %8s %9s %9s %8s\n", "matrix", "best", "choice", "x best",
           "in all", "csr/", "csr ms", "tuning", "mkl/");
    for (int m = 0; m < names.count; m++)
        run_matrix(&o, names.all[m], &sum);
    print_summary(&sum);
    return 0;
}
