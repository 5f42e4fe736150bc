/*
 * SpMV against the read bandwidth measured in the same run, and against other libraries on the same
 * arrays: bench_spmv [--types sdcz] [--threads N] [--rounds N] [--formats LIST] [MATRIX...].
 * What runs in this process (spry in CSR and in the formats of the list, "auto" being the tuner's
 * choice; Eigen; MKL in CSR and, where the matrix has blocks, in BSR) takes turns, so that all see
 * the same machine. PETSc (AIJ and SELL, one and several MPI processes) and SciPy are programs that
 * make the same matrix. GB/s and its share of read count the least traffic of CSR for all, so that
 * they compare: each array, x and y once.
 */
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONTENDERS = 40, MOST_ROUNDS = 1000 };

typedef struct options {
    const char *types, *formats;
    int threads, rounds;
} options;

struct stage;

/* Who takes turns. */
typedef struct contender {
    char who[160];
    struct stage *stage;
    spry_operator *op; /* spry's */
    const peer *peer;  /* or another's, with its state */
    void *state;
    double convert; /* seconds */
    double times[MOST_ROUNDS];
} contender;

/* One matrix with all that a row of the table needs. */
typedef struct stage {
    spry_context *ctx;
    const options *options;
    char text[256];  /* the matrix with its type */
    char label[272]; /* the same without folders */
    spry_matrix *A;
    int32_t *offsets; /* A's, as 32 bits */
    spry_vector *x, *y;
    double bytes; /* of CSR */
    double read;  /* bytes per second */
    double csr;   /* seconds of spry's CSR product */
    contender *contenders;
    int count;
} stage;

/* Number k of an array of any type. */
static spry_scalar number(spry_type type, const void *values, int64_t k)
{
    const float *f = values;
    const double *d = values;
    switch (type) {
    case SPRY_TYPE_S:
        return (spry_scalar){(double)f[k], 0};
    case SPRY_TYPE_D:
        return (spry_scalar){d[k], 0};
    case SPRY_TYPE_C:
        return (spry_scalar){(double)f[2 * k], (double)f[2 * k + 1]};
    case SPRY_TYPE_Z:
        break;
    }
    return (spry_scalar){d[2 * k], d[2 * k + 1]};
}

/* Numbers in 1/2 to 3/2 that differ. */
static void fill(spry_vector *v)
{
    const spry_type type = spry_vector_type(v);
    const int64_t n = spry_vector_size(v) * (spry_type_is_complex(type) ? 2 : 1);
    void *data = spry_vector_data(v);
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        const double value = 0.5 + state / 4294967291.0;
        if (type == SPRY_TYPE_S || type == SPRY_TYPE_C)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
}

static void print_row(const stage *s, const char *who, int threads, peer_times t, double convert,
                      const char *rest)
{
    const double speed = s->bytes / t.best;
    printf("%-36s %-28s %7d %11.6f %11.6f %9.2f %7.2f %8.2f", s->label, who, threads, t.best,
           t.median, s->csr / t.best, speed / 1e9, speed / s->read);
    if (convert >= 0)
        printf(" %9.4f", convert);
    printf("%s\n", rest);
    fflush(stdout);
}

static void print_skipped(const stage *s, const char *who, const char *why)
{
    printf("%-36s %-28s skipped: %s\n", s->label, who, why);
}

/* Largest error of a sample of rows over |A| |x|, against sums in long double. */
static double sample_error(const stage *s)
{
    const peer_arrays a = peer_arrays_of(s->A);
    const void *x = spry_vector_data_const(s->x), *y = spry_vector_data_const(s->y);
    const int64_t step = a.rows / 5000 + 1;
    long double worst = 0;
    for (int64_t i = 0; i < a.rows; i += step) {
        long double re = 0, im = 0, size = 0;
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++) {
            const spry_scalar v = number(a.type, a.values, k),
                              u = number(a.type, x, a.col_index[k]);
            re += (long double)v.re * u.re - (long double)v.im * u.im;
            im += (long double)v.re * u.im + (long double)v.im * u.re;
            size += (fabsl((long double)v.re) + fabsl((long double)v.im)) *
                    (fabsl((long double)u.re) + fabsl((long double)u.im));
        }
        const spry_scalar found = number(a.type, y, i);
        const long double error = fabsl(found.re - re) + fabsl(found.im - im);
        if (isnan(error))
            return NAN;
        if (error > worst * size)
            worst = error / size;
    }
    return (double)worst;
}

/* --- who takes turns in this process ------------------------------------------------------- */

static contender *join(stage *s, const char *who)
{
    contender *c = &s->contenders[s->count++];
    *c = (contender){.stage = s};
    snprintf(c->who, sizeof c->who, "%s", who);
    return c;
}

static void join_format(stage *s, const char *format)
{
    spry_operator *op = NULL;
    const double begin = peer_seconds();
    const spry_status status = spry_operator_from_matrix(s->A, NULL, format, &op);
    const double convert = peer_seconds() - begin;
    if (status != SPRY_STATUS_OK) {
        print_skipped(s, format, spry_message(s->ctx));
        return;
    }
    spry_storage storage = SPRY_STORAGE_INIT;
    char who[160];
    peer_need(s->ctx, spry_operator_storage(op, &storage));
    snprintf(who, sizeof who, "%s%s%s%s", strncmp(format, "auto", 4) == 0 ? "auto " : "",
             storage.format, *storage.options ? ":" : "", storage.options);
    contender *c = join(s, who);
    c->op = op;
    c->convert = convert;
}

static void join_peer(stage *s, const char *name, const peer *other)
{
    if (!other) {
        print_skipped(s, name, "not found when this was built");
        return;
    }
    const peer_arrays a = peer_arrays_of(s->A);
    const double begin = peer_seconds();
    void *state = s->offsets ? other->prepare(&a, s->offsets, s->options->threads) : NULL;
    if (!state) {
        print_skipped(s, name, "not for this matrix");
        return;
    }
    contender *c = join(s, name);
    c->peer = other;
    c->state = state;
    c->convert = peer_seconds() - begin;
}

static void product(contender *c)
{
    stage *s = c->stage;
    if (c->op)
        peer_need(s->ctx, spry_operator_apply(c->op, s->x, s->y));
    else
        c->peer->multiply(c->state, spry_vector_data_const(s->x), spry_vector_data(s->y));
}

/* Everyone's turn, round after round; the first does not count. */
static void take_turns(stage *s)
{
    for (int round = -1; round < s->options->rounds; round++)
        for (int i = 0; i < s->count; i++) {
            contender *c = &s->contenders[i];
            const double begin = peer_seconds();
            product(c);
            if (round >= 0)
                c->times[round] = peer_seconds() - begin;
        }
}

static peer_times times_of(contender *c)
{
    const double median = peer_median(c->times, c->stage->options->rounds);
    return (peer_times){c->times[0], median};
}

static void print_turns(stage *s)
{
    for (int i = 0; i < s->count; i++) {
        contender *c = &s->contenders[i];
        char rest[64];
        const peer_times t = times_of(c);
        s->csr = i == 0 ? t.best : s->csr;
        peer_need(s->ctx, spry_vector_fill(s->y, (spry_scalar){0, 0}));
        product(c);
        snprintf(rest, sizeof rest, "  %.1e", sample_error(s));
        print_row(s, c->who, s->options->threads, t, c->convert, rest);
    }
}

static void join_all(stage *s)
{
    char format[256];
    join_format(s, "csr");
    for (const char *p = s->options->formats; *p && s->count < MOST_CONTENDERS - 4;
         p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");
        snprintf(format, sizeof format, "%.*s", (int)length, p);
        if (strcmp(format, "csr") != 0)
            join_format(s, format);
        p += length;
    }
#ifdef HAVE_EIGEN
    join_peer(s, "eigen", &peer_eigen);
#else
    join_peer(s, "eigen", NULL);
#endif
#ifdef HAVE_MKL
    join_peer(s, "mkl csr", &peer_mkl);
    join_peer(s, "mkl bsr", &peer_mkl_bsr);
#else
    join_peer(s, "mkl", NULL);
#endif
}

/* --- peers as programs --------------------------------------------------------------------- */

#if defined(PETSC_PROGRAM) || defined(SCIPY_PROGRAM)
/* Runs a command that prints the seconds of the best and the median product. */
static void run_command(const stage *s, const char *who, int threads, const char *command)
{
    char line[256] = "";
    FILE *pipe = popen(command, "r");
    const bool read = pipe && fgets(line, sizeof line, pipe);
    const int status = pipe ? pclose(pipe) : -1;
    peer_times t;
    char *end = line;
    t.best = strtod(line, &end);
    t.median = strtod(end, NULL);
    if (read && status == 0 && t.best > 0)
        print_row(s, who, threads, t, -1, "");
    else
        print_skipped(s, who, "it failed");
}
#endif

static void run_programs(const stage *s)
{
#ifdef PETSC_PROGRAM
    static const char *const kinds[] = {"aij", "sell"};
    for (int k = 0; k < 2; k++)
        for (int several = 0; several < 2; several++) {
            char petsc[1024], mpi[64] = "", who[64];
            const int threads = several ? s->options->threads : 1;
            snprintf(who, sizeof who, "petsc %s%s", kinds[k], several ? " mpi" : "");
            if (several)
                snprintf(mpi, sizeof mpi, "mpirun -n %d ", threads);
            snprintf(petsc, sizeof petsc, "%s%s '%s' %s </dev/null 2>/dev/null", mpi, PETSC_PROGRAM,
                     s->text, kinds[k]);
            if (spry_matrix_type(s->A) == SPRY_TYPE_D)
                run_command(s, who, threads, petsc);
            else
                print_skipped(s, who, "built for type d");
        }
#else
    print_skipped(s, "petsc", "not found when this was built");
#endif
#ifdef SCIPY_PROGRAM
    char scipy[1024];
    snprintf(scipy, sizeof scipy, "%s '%s' </dev/null 2>/dev/null", SCIPY_PROGRAM, s->text);
    run_command(s, "scipy", 1, scipy);
#else
    print_skipped(s, "scipy", "not found when this was built");
#endif
}

/* --- the table ------------------------------------------------------------------------------ */

/* The read bandwidth, as the best of what was measured before and after the products. */
static void measure_read(stage *s)
{
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    peer_need(s->ctx, spry_device_bandwidth(s->ctx, NULL, true, &bandwidth));
    s->read = bandwidth.read > s->read ? bandwidth.read : s->read;
}

static void narrow_offsets(stage *s)
{
    const peer_arrays a = peer_arrays_of(s->A);
    if (a.nnz > INT32_MAX)
        return;
    s->offsets = malloc((size_t)(a.rows + 1) * sizeof *s->offsets);
    for (int64_t i = 0; s->offsets && i <= a.rows; i++)
        s->offsets[i] = (int32_t)a.offsets[i];
}

static void run_matrix(const options *o, const char *matrix, char type)
{
    stage s = {.options = o};
    char threads[32];
    snprintf(threads, sizeof threads, "threads=%d", o->threads);
    peer_need(s.ctx, spry_context_new(threads, &s.ctx));
    snprintf(s.text, sizeof s.text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    const char *folder = strncmp(s.text, "tiled:", 6) == 0 ? strrchr(s.text, '/') : NULL;
    snprintf(s.label, sizeof s.label, "%s%s", folder ? "tiled:" : "", folder ? folder + 1 : s.text);
    s.A = peer_matrix(s.ctx, s.text);
    s.contenders = calloc(MOST_CONTENDERS, sizeof *s.contenders);
    if (!s.contenders)
        exit(3);
    narrow_offsets(&s);
    peer_need(s.ctx, spry_vector_zeros(s.ctx, s.A, &s.x));
    peer_need(s.ctx, spry_vector_ones(s.ctx, s.A, &s.y));
    fill(s.x);
    measure_read(&s);
    join_all(&s);
    take_turns(&s);
    measure_read(&s);
    s.bytes = (double)spry_operator_bytes(s.contenders[0].op);
    printf("%-36s rows %lld, entries %lld, CSR %.0f MB, read %.2f GB/s\n", s.label,
           (long long)spry_matrix_rows(s.A), (long long)spry_matrix_nnz(s.A), s.bytes / 1e6,
           s.read / 1e9);
    print_turns(&s);
    for (int i = 0; i < s.count; i++) {
        spry_operator_free(s.contenders[i].op);
        if (s.contenders[i].peer)
            s.contenders[i].peer->destroy(s.contenders[i].state);
    }
    run_programs(&s);
    spry_vector_free(s.x);
    spry_vector_free(s.y);
    spry_matrix_free(s.A);
    spry_context_free(s.ctx);
    free(s.offsets);
    free(s.contenders);
}

int main(int argc, char **argv)
{
    static char *usual[] = {
        "poisson3d:size=128,points=27", "poisson3d:size=160,points=7", "elasticity:size=56",
        "random:size=1000000",          "rmat:size=1000000",           "circuit:size=1000000"};
    options o = {.types = "d", .formats = "auto", .rounds = 30};
    const peer_option list[] = {
        {.name = "types", .text = &o.types},
        {.name = "threads", .whole = &o.threads},
        {.name = "rounds", .whole = &o.rounds},
        {.name = "formats", .text = &o.formats},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    o.formats += strspn(o.formats, " ");
    o.rounds = peer_within(o.rounds, MOST_ROUNDS);
    if (o.threads < 1)
        o.threads = peer_usual_threads();
    /* Debian's Open MPI refuses root, whom containers often have. */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    printf("%-36s %-28s %7s %11s %11s %9s %7s %8s %9s  %s\n", "matrix", "who", "threads", "best s",
           "median s", "x csr", "GB/s", "of read", "convert s", "error");
    for (int m = 0; m < names.count; m++) {
        for (const char *type = o.types; *type; type++)
            run_matrix(&o, names.all[m], *type);
    }
    return 0;
}
