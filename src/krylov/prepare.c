/* Programs of likely solves, compiled by doing such solves: see spry_device_prepare(). */
#include "krylov/krylov.h"

#include "device/engine/cache.h"
#include "device/linalg/vector.h"

#include <spry/generate.h>

static const char all_methods[] = "cg bicgstabl minres gmres fgmres fcg";

/* Formats and matrices whose rows differ in length, each with one method; then all methods over the
 * formats that sweeps read, with systems whose loop is one kernel and with larger ones. */
static const struct {
    const char *kind, *format;
} stored[] = {{"poisson3d size=12", "csr"},           {"tridiagonal size=999", "csr"},
              {"poisson3d size=12 points=27", "csr"}, {"poisson3d size=12", "sell16:C=32"},
              {"poisson3d size=12", "sell16:C=64"},   {"poisson3d size=12", "csr16"},
              {"poisson3d size=12", "dia"},           {"poisson3d size=12", "ell"},
              {"poisson3d size=12", "merge"}};
static const char *const swept[] = {"csr", "sell:C=32"};
static const char *const precons[] = {"none", "jacobi", "amg"};
static const char *const sizes[] = {"poisson3d size=12", "poisson3d size=64"};

enum {
    STORED = sizeof stored / sizeof *stored,
    SWEPT = sizeof swept / sizeof *swept,
    PRECONS = sizeof precons / sizeof *precons,
    SIZES = sizeof sizes / sizeof *sizes,
    METHODS_MOST = 64,
    TYPES_MOST = 4
};

/* What is asked for, and how far it is. */
typedef struct preparation {
    spry_device *d;
    char methods[METHODS_MOST][64], types[TYPES_MOST];
    int method_count, type_count, sizes;
    int jobs, next, done; /* solves */
    int64_t compiled;
    bool stopped;
    void (*progress)(void *data, int done, int all);
    void *data;
} preparation;

/* One solve of few iterations; that it fails, as where a method does not suit, is of no matter but
 * for the first. */
static spry_status solve_likely(spry_context *ctx, const char *device, char type,
                                const char *matrix, const char *options)
{
    char all[256], generated[64], kind[32];
    const size_t length = strcspn(matrix, " ");
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_status status = SPRY_STATUS_OK;
    snprintf(kind, sizeof kind, "%.*s", (int)length, matrix);
    snprintf(generated, sizeof generated, "%s type=%c", matrix + length, type);
    snprintf(all, sizeof all, "device=%s max-iter=2 %s", device, options);
    SPRY_GO(ctx, spry_generate(ctx, kind, generated, &A));
    SPRY_GO(ctx, spry_vector_ones(ctx, A, &b));
    SPRY_GO(ctx, spry_vector_zeros(ctx, A, &x));
    SPRY_GO(ctx, spry_quick_solve(ctx, A, b, x, all, &result));
done:
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    return status;
}

static int jobs_per_type(const preparation *p)
{
    return STORED + p->method_count * PRECONS * SWEPT * p->sizes;
}

static spry_status run_job(const preparation *p, spry_context *ctx, int job)
{
    const char type = p->types[job / jobs_per_type(p)];
    char options[160];
    int k = job % jobs_per_type(p);
    if (k < STORED) {
        snprintf(options, sizeof options, "method=cg precon=jacobi format=%s", stored[k].format);
        return solve_likely(ctx, p->d->facts.name, type, stored[k].kind, options);
    }
    k -= STORED;
    const char *precon = precons[k % PRECONS], *format = swept[k / PRECONS % SWEPT];
    k /= PRECONS * SWEPT;
    snprintf(options, sizeof options, "method=%s precon=%s format=%s",
             p->methods[k % p->method_count], precon, format);
    return solve_likely(ctx, p->d->facts.name, type, sizes[k / p->method_count], options);
}

/* Counts what a context's device has compiled, and closes it. */
static void count_compiled(preparation *p, spry_context *ctx)
{
    int64_t compiled = 0;
    for (const spry_device *d = ctx->devices; d; d = d->next)
        compiled += d->cache ? d->cache->compiled : 0;
    spry_context_free(ctx);
#pragma omp atomic
    p->compiled += compiled;
}

static int next_job(preparation *p)
{
    int job;
    bool stopped;
#pragma omp atomic read
    stopped = p->stopped;
#pragma omp atomic capture
    job = p->next++;
    return stopped ? p->jobs : job;
}

/* Jobs that no other thread has begun, with a context of this thread's own. The caller's thread
 * reports. */
static void run_jobs(preparation *p, bool reports)
{
    spry_context *ctx = NULL;
    if (spry_context_new("threads=1", &ctx) != SPRY_STATUS_OK)
        return;
    for (int job; (job = next_job(p)) < p->jobs;) {
        int done;
        (void)run_job(p, ctx, job);
#pragma omp atomic capture
        done = ++p->done;
        if (reports && p->progress)
            p->progress(p->data, done, p->jobs);
        if (reports && spry_context_interrupted(p->d->ctx, true)) {
#pragma omp atomic write
            p->stopped = true;
        }
    }
    count_compiled(p, ctx);
}

/* The first job by itself compiles what all take. */
static spry_status run_first(preparation *p)
{
    spry_context *ctx = NULL;
    spry_status status = spry_context_new("threads=1", &ctx);
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(p->d->ctx, status, "no memory for another context");
    status = run_job(p, ctx, p->next++);
    if (status != SPRY_STATUS_OK)
        (void)SPRY_FAIL(p->d->ctx, status, "%s", spry_message(ctx));
    count_compiled(p, ctx);
    p->done++;
    if (p->progress)
        p->progress(p->data, p->done, p->jobs);
    return status;
}

/* Solves would go to the host without a compiler: a failure is this one's. */
static spry_status try_compiler(preparation *p)
{
    static const char text[] = "SP_KERNEL nothing(SP_GLOBAL int *a)\n{\n    a[0] = 0;\n}\n";
    const int64_t before = p->d->cache ? p->d->cache->compiled : 0;
    device_program *built = NULL;
    const spry_status status = device_build(p->d, text, "", &built);
    p->compiled += status == SPRY_STATUS_OK ? p->d->cache->compiled - before : 0;
    return status;
}

static spry_status run_all(preparation *p)
{
    spry_context *ctx = p->d->ctx;
    const int threads = p->d->facts.has_compilers ? spry_context_threads(ctx) : 1;
    const spry_status can = try_compiler(p);
    if (can != SPRY_STATUS_OK)
        return can;
    p->sizes = p->d->facts.processor ? 1 : SIZES; /* programs of a CPU do not depend on sizes */
    p->jobs = p->type_count * jobs_per_type(p);
    const spry_status status = p->jobs > 0 ? run_first(p) : SPRY_STATUS_OK;
    if (status != SPRY_STATUS_OK)
        return status;
    p->stopped = spry_context_interrupted(ctx, true);
#pragma omp parallel num_threads(threads)
    {
        bool reports = false;
#pragma omp master
        reports = true;
        run_jobs(p, reports);
    }
    return p->stopped ? SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED,
                                  "%s: interrupted; %d programs were compiled and kept",
                                  p->d->facts.name, (int)p->compiled)
                      : SPRY_STATUS_OK;
}

static spry_status read_types(preparation *p, const char *types)
{
    static const char letters[] = "sdcz"; /* in the order of spry_type */
    spry_context *ctx = p->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (const char *at = types; *at; at++) {
        const char *word = strchr(letters, *at);
        if (*at == ' ' || *at == ',' || memchr(p->types, *at, sizeof p->types))
            continue;
        if (!word)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "types \"%.32s\" of matrices: expected some of s d c z", types);
        SPRY_GO(ctx, device_check_type(p->d, (spry_type)(word - letters)));
        p->types[p->type_count++] = *at;
    }
done:
    return status;
}

static spry_status read_methods(preparation *p, const char *methods)
{
    spry_context *ctx = p->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (const char *at = methods + strspn(methods, " "); *at && p->method_count < METHODS_MOST;
         at += strspn(at, " ")) {
        char *name = p->methods[p->method_count++];
        program *parsed = NULL;
        snprintf(name, sizeof *p->methods, "%.*s", (int)strcspn(at, " "), at);
        at += strcspn(at, " ");
        SPRY_GO(ctx, krylov_parse(ctx, name, NULL, "", 0, &parsed));
        program_free(parsed);
    }
done:
    return status;
}

spry_status spry_device_prepare(spry_device *device, const char *types, const char *methods,
                                void (*progress)(void *data, int done, int all), void *data,
                                int *made)
{
    if (made)
        *made = 0;
    if (!device)
        return SPRY_STATUS_BAD_USAGE;
    preparation p = {.d = device, .progress = progress, .data = data};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(device->ctx, read_types(&p, types ? types : "d"));
    SPRY_GO(device->ctx, read_methods(&p, methods ? methods : all_methods));
    SPRY_GO(device->ctx, run_all(&p));
done:
    if (made)
        *made = (int)p.compiled;
    return status;
}
