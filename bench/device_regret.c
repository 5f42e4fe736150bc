/*
 * What the tuner's choice on a device costs, over patterns with arbitrary values:
 *
 *     bench_device_regret [--device cuda:0] [--runs 10] [--products 1000] [--seconds 330] [--log 1]
 *                         [--formats csr+merge+teams] [pattern ...]
 *
 * Every pattern is tuned `runs` times; then all formats that the tuner knows for it are timed
 * one by one, with all options of their grids, and cuSPARSE in all its ways where it is available.
 * A row has the slowest choice of all runs over the best format (regret), how many different
 * choices there were, cuSPARSE's best over the slowest choice, and in products with CSR: bringing
 * CSR to the device, and the rest of deciding (the median of all runs but the first, which
 * compiles). With --formats only those and the choices are timed, each with a line of its own.
 *
 * A pattern is a text as benchmarks have them ("poisson3d:size=128"), or one of those below. Values
 * are multiplied by numbers that differ from row to row and from column to column.
 *
 *     near:rows,least,most,reach      entries within reach of the diagonal, least to most a row
 *     power:rows,mean,exponent        lengths by a power law, columns anywhere
 *     blocks:rows,size,per_row        dense blocks anywhere, per_row in each row of blocks
 *     tails:rows,short,long,every     short rows near the diagonal, a long one every `every` rows
 *     mixed:rows                      of 100 rows 90 have 3 to 7 entries, 9 have 40 to 100, one
 *                                     400 to 1200, columns anywhere
 *     shuffled:SIZE,TEXT              another pattern, blocks of SIZE rows and columns shuffled
 *     hubs:TEXT                       another pattern, columns with many entries first
 */
#include "peers/cuda_peers.h"
#include "peers/device_spry.h"

#include <spry/reorder.h>
#include <spry/tune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 32, MOST_FORMATS = 192, NAME = 128 };

typedef struct options {
    const char *device, *formats;
    int runs, products, log;
    double seconds;
} options;

typedef struct format_time {
    char name[NAME];
    double seconds; /* 0: cannot be used */
} format_time;

typedef struct stage {
    const options *o;
    spry_context *ctx;
    spry_device *device;
    cuda_peers peers;
    bool has_peers;
    spry_matrix *A;
    spry_vector *x, *y;
    format_time formats[MOST_FORMATS];
    int count;
    char choices[MOST_RUNS][NAME];
    double deciding[MOST_RUNS], bringing[MOST_RUNS];
    /* over all patterns */
    int patterns, near, same, ahead;
    double log_theirs, log_regret, worst_theirs, worst_regret, most_deciding;
    int compared;
} stage;

/* --- patterns
 * -----------------------------------------------------------------------------------*/

static uint64_t hash(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double chance(uint64_t a, uint64_t b)
{
    return (double)(hash(a, b) >> 11) * 0x1p-53;
}

/* What a pattern's rows are: lengths, and candidates for columns, which may come twice. */
typedef struct recipe {
    int64_t rows;
    double number[4];
    int64_t (*length)(const struct recipe *r, int64_t row);
    int64_t (*column)(const struct recipe *r, int64_t row, int64_t k);
} recipe;

static int64_t clipped(const recipe *r, double column)
{
    return column < 0 ? 0 : column >= (double)r->rows ? r->rows - 1 : (int64_t)column;
}

static int64_t near_length(const recipe *r, int64_t row)
{
    const double least = r->number[1], most = r->number[2];
    return (int64_t)(least + chance(1, (uint64_t)row) * (most - least + 1));
}

static int64_t near_column(const recipe *r, int64_t row, int64_t k)
{
    const double reach = r->number[3];
    return clipped(r, (double)row + (2 * chance((uint64_t)row, (uint64_t)k) - 1) * reach);
}

/* Lengths are least u^(-1 / (exponent - 1)), at most rows / 64; that these have the mean asked for
 * determines least, for exponents of 2 and less, too: it rises with it. */
static double power_least(const recipe *r)
{
    const double mean = r->number[1], a = r->number[2] - 1, most = (double)r->rows / 64;
    double low = 0, high = mean;
    for (int turn = 0; turn < 60; turn++) {
        const double least = (low + high) / 2, ratio = most / least;
        const double found =
            least * (fabs(a - 1) < 1e-9 ? 1 + log(ratio) : (a - pow(ratio, 1 - a)) / (a - 1));
        *(found < mean ? &low : &high) = least;
    }
    return low;
}

static int64_t power_length(const recipe *r, int64_t row)
{
    const double length = r->number[3] * pow(1 - chance(2, (uint64_t)row), -1 / (r->number[2] - 1));
    /* rounded up or down by chance, so that the mean stays */
    return (int64_t)fmax(1, fmin(length, (double)r->rows / 64) + chance(4, (uint64_t)row));
}

static int64_t any_column(const recipe *r, int64_t row, int64_t k)
{
    return clipped(r, chance((uint64_t)row, (uint64_t)k) * (double)r->rows);
}

static int64_t mixed_length(const recipe *r, int64_t row)
{
    static const struct {
        uint64_t percent;
        int64_t least, most;
    } kinds[] = {{1, 400, 1200}, {10, 40, 100}, {100, 3, 7}};
    const uint64_t kind = hash(5, (uint64_t)row) % 100;
    int k = 0;
    (void)r;
    while (kind >= kinds[k].percent)
        k++;
    return kinds[k].least +
           (int64_t)(chance(6, (uint64_t)row) * (double)(kinds[k].most - kinds[k].least + 1));
}

static int64_t blocks_length(const recipe *r, int64_t row)
{
    (void)row;
    return (int64_t)(r->number[1] * r->number[2]);
}

static int64_t blocks_column(const recipe *r, int64_t row, int64_t k)
{
    const int64_t size = (int64_t)r->number[1], blocks = r->rows / size;
    const int64_t block = (int64_t)(hash((uint64_t)(row / size), (uint64_t)(k / size)) %
                                    (uint64_t)(blocks > 0 ? blocks : 1));
    return block * size + k % size;
}

static int64_t tails_length(const recipe *r, int64_t row)
{
    return (int64_t)(hash(3, (uint64_t)row) % (uint64_t)r->number[3] == 0 ? r->number[2]
                                                                          : r->number[1]);
}

static int64_t tails_column(const recipe *r, int64_t row, int64_t k)
{
    const double reach = 4 * (double)tails_length(r, row);
    return clipped(r, (double)row + (2 * chance((uint64_t)row, (uint64_t)k) - 1) * reach);
}

static int compare_columns(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Sorts n columns and leaves one of each; how many. */
static int64_t tidy(int32_t *columns, int64_t n)
{
    int64_t left = 0;
    qsort(columns, (size_t)n, sizeof *columns, compare_columns);
    for (int64_t k = 0; k < n; k++)
        if (left == 0 || columns[left - 1] != columns[k])
            columns[left++] = columns[k];
    return left;
}

static void *need(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(3);
    }
    return memory;
}

static spry_matrix *cook(spry_context *ctx, const recipe *r)
{
    int64_t *room = need((size_t)(r->rows + 1) * sizeof *room);
    int64_t *offsets = need((size_t)(r->rows + 1) * sizeof *offsets);
    spry_matrix *A = NULL;
    room[0] = offsets[0] = 0;
    for (int64_t i = 0; i < r->rows; i++)
        room[i + 1] = room[i] + r->length(r, i);
    int32_t *loose = need((size_t)room[r->rows] * sizeof *loose);
#pragma omp parallel for schedule(dynamic, 4096)
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t k = room[i]; k < room[i + 1]; k++)
            loose[k] = (int32_t)r->column(r, i, k - room[i]);
        offsets[i + 1] = tidy(loose + room[i], room[i + 1] - room[i]);
    }
    for (int64_t i = 0; i < r->rows; i++)
        offsets[i + 1] += offsets[i];
    int32_t *columns = need((size_t)offsets[r->rows] * sizeof *columns);
    double *values = need((size_t)offsets[r->rows] * sizeof *values);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            columns[k] = loose[room[i] + k - offsets[i]];
            values[k] = 1;
        }
    peer_need(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, r->rows, r->rows, offsets, columns,
                                        values, SPRY_OWN_COPY, &A));
    free(room);
    free(offsets);
    free(loose);
    free(columns);
    free(values);
    return A;
}

static bool read_recipe(const char *text, recipe *r)
{
    static const struct {
        const char *name;
        int64_t (*length)(const recipe *, int64_t), (*column)(const recipe *, int64_t, int64_t);
    } kinds[] = {{"near:", near_length, near_column},
                 {"power:", power_length, any_column},
                 {"mixed:", mixed_length, any_column},
                 {"blocks:", blocks_length, blocks_column},
                 {"tails:", tails_length, tails_column}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strncmp(text, kinds[k].name, strlen(kinds[k].name)) == 0) {
            char *at = (char *)(uintptr_t)(text + strlen(kinds[k].name));
            *r = (recipe){.length = kinds[k].length, .column = kinds[k].column};
            for (int i = 0; i < 4; i++, at += *at == ',')
                r->number[i] = strtod(at, &at);
            r->rows = (int64_t)r->number[0];
            if (r->length == power_length)
                r->number[3] = power_least(r);
            return true;
        }
    return false;
}

static spry_matrix *make_pattern(spry_context *ctx, const char *text);

/* Blocks of `size` rows and columns in another order, the same for both. */
static spry_matrix *shuffle(spry_context *ctx, const char *text)
{
    char *rest = NULL;
    const int64_t size = strtoll(text, &rest, 10);
    spry_matrix *base = make_pattern(ctx, rest + 1), *A = NULL;
    const int64_t rows = spry_matrix_rows(base), blocks = (rows + size - 1) / size;
    int32_t *order = need((size_t)blocks * sizeof *order);
    int32_t *perm = need((size_t)rows * sizeof *perm);
    for (int64_t b = 0; b < blocks; b++)
        order[b] = (int32_t)b;
    for (int64_t b = blocks - 1; b > 0; b--) {
        const int64_t other = (int64_t)(hash(7, (uint64_t)b) % (uint64_t)(b + 1));
        const int32_t kept = order[b];
        order[b] = order[other];
        order[other] = kept;
    }
    int64_t at = 0;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t i = order[b] * size; i < (order[b] + 1) * size && i < rows; i++)
            perm[at++] = (int32_t)i;
    peer_need(ctx, spry_matrix_permute(base, perm, perm, &A));
    spry_matrix_free(base);
    free(order);
    free(perm);
    return A;
}

/* Columns with many entries first, and their rows. */
static spry_matrix *sort_hubs(spry_context *ctx, const char *text)
{
    spry_matrix *base = make_pattern(ctx, text), *A = NULL;
    int32_t *perm = NULL;
    peer_need(ctx, spry_reorder(base, "hubs", &perm));
    peer_need(ctx, spry_matrix_permute(base, perm, perm, &A));
    spry_matrix_free(base);
    spry_free(ctx, perm);
    return A;
}

static spry_matrix *make_pattern(spry_context *ctx, const char *text)
{
    static const char shuffled[] = "shuffled:", hubs[] = "hubs:";
    recipe r;
    if (strncmp(text, shuffled, sizeof shuffled - 1) == 0)
        return shuffle(ctx, text + sizeof shuffled - 1);
    if (strncmp(text, hubs, sizeof hubs - 1) == 0)
        return sort_hubs(ctx, text + sizeof hubs - 1);
    if (read_recipe(text, &r))
        return cook(ctx, &r);
    spry_matrix *half = peer_matrix(ctx, text), *A = NULL;
    peer_need(ctx, spry_matrix_expand(half, &A));
    spry_matrix_free(half);
    return A;
}

/* Numbers between 1 and 2, no two alike. */
static spry_vector *factors_apart(spry_context *ctx, int64_t n, double step)
{
    spry_vector *v = NULL;
    peer_need(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &v));
    double *numbers = spry_vector_data(v);
    for (int64_t i = 0; i < n; i++) {
        const double place = (double)(i + 1) * step;
        numbers[i] = 1 + place - floor(place);
    }
    return v;
}

static void make_values_arbitrary(spry_context *ctx, spry_matrix *A)
{
    spry_vector *left = factors_apart(ctx, spry_matrix_rows(A), 0.6180339887498949);
    spry_vector *right = factors_apart(ctx, spry_matrix_cols(A), 0.4142135623730951);
    peer_need(ctx, spry_matrix_scale(A, left, right));
    spry_vector_free(left);
    spry_vector_free(right);
}

/* --- times
 * --------------------------------------------------------------------------------------*/

/* Seconds of a product: the best of some batches, each of a few milliseconds. */
static double time_batches(void (*work)(void *), void (*finish)(void *), void *data)
{
    enum { BATCHES = 5 };
    const double enough = 2e-3;
    double best = 1e30;
    int many = 3;
    work(data);
    finish(data);
    for (int batch = -1; batch < BATCHES; batch++) {
        const double begin = peer_seconds();
        for (int k = 0; k < many; k++)
            work(data);
        finish(data);
        const double each = (peer_seconds() - begin) / many;
        if (batch >= 0)
            best = each < best ? each : best;
        else
            many = each > enough ? 1 : (int)(enough / each) + 1;
    }
    return best;
}

typedef struct job {
    stage *s;
    spry_operator *op;
    cuda_matrix theirs;
} job;

static void multiply(void *data)
{
    const job *j = data;
    peer_need(j->s->ctx, spry_operator_apply(j->op, j->s->x, j->s->y));
}

static void finish(void *data)
{
    const job *j = data;
    peer_need(j->s->ctx, device_spry_finish(j->s->device));
}

static double time_format(stage *s, const char *format)
{
    job j = {.s = s};
    double seconds = 0;
    if (spry_operator_from_matrix(s->A, s->device, format, &j.op) == SPRY_STATUS_OK &&
        spry_operator_apply(j.op, s->x, s->y) == SPRY_STATUS_OK)
        seconds = time_batches(multiply, finish, &j);
    spry_operator_free(j.op);
    return seconds;
}

static double time_theirs(stage *s, char *name)
{
    const peer_arrays a = peer_arrays_of(s->A);
    cuda_matrix theirs;
    snprintf(name, NAME, "-");
    if (!s->has_peers || !cuda_matrix_open(&s->peers, &a, &theirs))
        return 0;
    cuda_spmv_choose(&theirs, spry_vector_data_const(s->x), spry_vector_data(s->y));
    snprintf(name, NAME, "%s", theirs.ways[theirs.best].name);
    const double seconds = theirs.ways[theirs.best].seconds;
    cuda_matrix_close(&theirs);
    return seconds;
}

/* --- a pattern
 * ----------------------------------------------------------------------------------*/

static void note_format(stage *s, const char *name)
{
    for (int k = 0; k < s->count; k++)
        if (strcmp(s->formats[k].name, name) == 0)
            return;
    if (s->count < MOST_FORMATS)
        snprintf(s->formats[s->count++].name, NAME, "%s", name);
}

static void tune(stage *s, int run)
{
    char text[96];
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    snprintf(text, sizeof text, "products=%d again=yes", s->o->products);
    peer_need(s->ctx, spry_tune(s->A, s->device, text, &report));
    snprintf(s->choices[run], NAME, "%s", report.format);
    if (s->o->log)
        printf("# run %d: %s\n", run, report.format);
    s->bringing[run] = report.count > 0 ? spry_tune_row_at(&report, 0)->conversion_seconds : 0;
    s->deciding[run] = report.seconds - s->bringing[run];
    note_format(s, report.format);
    for (int64_t i = 0; i < report.count && run == 0 && !s->o->formats; i++)
        if (spry_tune_row_at(&report, i)->bytes > 0)
            note_format(s, spry_tune_row_at(&report, i)->format);
    spry_tune_report_clear(s->ctx, &report);
}

static double time_of(const stage *s, const char *name)
{
    for (int k = 0; k < s->count; k++)
        if (strcmp(s->formats[k].name, name) == 0)
            return s->formats[k].seconds;
    return 0;
}

static void judge(stage *s, const char *text)
{
    double best = 1e30, slowest = 0, later[MOST_RUNS], bus[MOST_RUNS];
    char theirs_name[NAME];
    const char *winner = "", *choice = s->choices[0];
    int others = 0;
    for (int k = 0; k < s->count; k++)
        if (s->formats[k].seconds > 0 && s->formats[k].seconds < best) {
            best = s->formats[k].seconds;
            winner = s->formats[k].name;
        }
    for (int run = 0; run < s->o->runs; run++) {
        const double time = time_of(s, s->choices[run]);
        bool seen = false;
        for (int k = 0; k < run; k++)
            seen = seen || strcmp(s->choices[k], s->choices[run]) == 0;
        others += !seen;
        choice = time > slowest ? s->choices[run] : choice;
        slowest = time > slowest ? time : slowest;
        later[run] = s->deciding[run];
        bus[run] = s->bringing[run];
    }
    const int skip = s->o->runs > 1;
    const double csr = time_of(s, "csr"), theirs = time_theirs(s, theirs_name);
    const double deciding = peer_median(later + skip, s->o->runs - skip) / csr;
    printf("%-44s %5.1fM %6.1f %8.1f %-22s %8.1f %-22s %7.3f %3d", text,
           (double)spry_matrix_nnz(s->A) * 1e-6,
           (double)spry_matrix_nnz(s->A) / (double)spry_matrix_rows(s->A), csr * 1e6, winner,
           best * 1e6, choice, slowest / best, others);
    printf(" %8.1f %-14s %6.2f %8.1f %8.1f\n", theirs * 1e6, theirs_name,
           theirs > 0 ? theirs / slowest : 0, peer_median(bus + skip, s->o->runs - skip) / csr,
           deciding);
    fflush(stdout);
    s->patterns++;
    s->near += slowest <= 1.05 * best;
    s->same += others == 1;
    s->log_regret += log(slowest / best);
    s->worst_regret = fmax(s->worst_regret, slowest / best);
    s->most_deciding = fmax(s->most_deciding, deciding);
    if (theirs > 0) {
        s->ahead += theirs >= 0.97 * slowest;
        s->worst_theirs =
            s->compared == 0 ? theirs / slowest : fmin(s->worst_theirs, theirs / slowest);
        s->log_theirs += log(theirs / slowest);
        s->compared++;
    }
}

/* Formats that only the host makes, which the tuner looks at for long runs alone. */
static const char *const of_host[] = {"jds:pad=32",
                                      "scoo:h=1024",
                                      "scoo:h=4096",
                                      "scoo:h=2048,order=row,bits=12",
                                      "scoo:h=4096,order=row,bits=12",
                                      "pb:room=104",
                                      "pb:room=32"};

/* The formats to be timed besides those of the tuner. */
static void note_formats(stage *s)
{
    for (size_t k = 0; k < sizeof of_host / sizeof *of_host && !s->o->formats; k++)
        note_format(s, of_host[k]);
    for (const char *at = s->o->formats; at && *at; at += strcspn(at, "+"), at += *at == '+') {
        char name[NAME];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "+"), at);
        note_format(s, name);
    }
}

static void run_pattern(stage *s, const char *text)
{
    s->A = make_pattern(s->ctx, text);
    make_values_arbitrary(s->ctx, s->A);
    peer_need(s->ctx, spry_vector_on(s->device, SPRY_TYPE_D, spry_matrix_cols(s->A), NULL, &s->x));
    peer_need(s->ctx, spry_vector_on(s->device, SPRY_TYPE_D, spry_matrix_rows(s->A), NULL, &s->y));
    peer_need(s->ctx, spry_vector_fill(s->x, (spry_scalar){1, 0}));
    s->count = 0;
    note_format(s, "csr");
    for (int run = 0; run < s->o->runs; run++)
        tune(s, run);
    note_formats(s);
    for (int k = 0; k < s->count; k++) {
        s->formats[k].seconds = time_format(s, s->formats[k].name);
        if (s->o->formats)
            printf("#   %-40s %10.1f us\n", s->formats[k].name, s->formats[k].seconds * 1e6);
    }
    judge(s, text);
    spry_vector_free(s->x);
    spry_vector_free(s->y);
    spry_matrix_free(s->A);
}

/* What the tuner reports of its course. */
static void log_line(void *data, spry_log_level level, const char *text)
{
    (void)data, (void)level;
    if (strncmp(text, "tuner:", 6) == 0)
        printf("# %s\n", text);
}

static void run(stage *s, char **patterns, int count)
{
    const double begin = peer_seconds();
    peer_need(s->ctx, spry_context_new(s->o->log ? "log=debug" : NULL, &s->ctx));
    if (s->o->log)
        spry_context_set_log(s->ctx, log_line, NULL);
    s->has_peers = strncmp(s->o->device, "cuda", 4) == 0 && cuda_peers_open(&s->peers);
    peer_need(s->ctx, spry_device_open(s->ctx, s->o->device, &s->device));
    printf("%-44s %6s %6s %8s %-22s %8s %-22s %7s %3s %8s %-14s %6s %8s %8s\n", "pattern", "nnz",
           "a row", "csr us", "best", "us", "auto", "regret", "ch.", "cuSP us", "way", "x cuSP",
           "bus", "deciding");
    for (int p = 0; p < count; p++) {
        if (peer_seconds() - begin > s->o->seconds) {
            printf("# stopped after %.0f s: %d patterns are left\n", s->o->seconds, count - p);
            break;
        }
        run_pattern(s, patterns[p]);
    }
    if (s->patterns > 0)
        printf("%d patterns: regret %.3f by geometric mean, %.3f at most; within 5%% of the best "
               "on %d; "
               "the same choice in %d runs on %d; deciding %.1f products at most\n",
               s->patterns, exp(s->log_regret / s->patterns), s->worst_regret, s->near, s->o->runs,
               s->same, s->most_deciding);
    if (s->compared > 0)
        printf("times as fast as cuSPARSE's best: %.3f by geometric mean, %.3f at least; not more "
               "than 3%% "
               "behind on %d of %d\n",
               exp(s->log_theirs / s->compared), s->worst_theirs, s->ahead, s->compared);
    spry_context_free(s->ctx);
    cuda_peers_close(&s->peers);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=150,points=7",
                            "poisson3d:size=96,points=27",
                            "poisson2d:size=2000,points=5",
                            "poisson2d:size=1500,points=9",
                            "elasticity:size=44",
                            "tridiagonal:size=6000000",
                            "convection-diffusion:size=140,nz=140",
                            "anisotropic:size=1800",
                            "circuit:size=2500000",
                            "random:size=1200000",
                            "rmat:size=1200000",
                            "power:1200000,16,2.3",
                            "power:2000000,8,2.8",
                            "near:1500000,15,15,2000",
                            "near:1500000,2,30,500",
                            "near:300000,20,120,5000",
                            "shuffled:512,near:1500000,12,18,300",
                            "shuffled:64,poisson3d:size=140,points=7",
                            "shuffled:1,poisson3d:size=110,points=7",
                            "blocks:1200000,3,6",
                            "blocks:1000000,4,4",
                            "blocks:900000,6,4",
                            "tails:1500000,5,400,200",
                            "tails:1000000,12,3000,3000"};
    static stage s;
    options o = {.device = "cuda:0", .runs = 10, .products = 1000, .seconds = 330};
    const peer_option list[] = {
        {.name = "device", .text = &o.device},
        {.name = "runs", .whole = &o.runs},
        {.name = "products", .whole = &o.products},
        {.name = "seconds", .real = &o.seconds},
        {.name = "log", .whole = &o.log},
        {.name = "formats", .text = &o.formats},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    o.runs = peer_within(o.runs, MOST_RUNS);
    s.o = &o;
    run(&s, names.all, names.count);
    return 0;
}
