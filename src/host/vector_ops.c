/*
 * Arithmetic with vectors. Work is cut into chunks of VECTOR_CHUNK elements and every chunk goes
 * through the kernel by itself, so that a result's bits do not depend on the number of threads:
 * neither by the order of sums nor by where a vectorised loop has its ends.
 */
#include "host/apply.h"
#include "host/host.h"
#include "matrix/distribution.h"

#include <math.h>

/* One piece of element-by-element work: the arrays an operation has, the others NULL. */
typedef struct element_job {
    const host_kernels *kernels;
    int64_t n, size; /* elements and bytes of one */
    uint64_t seed;
    int64_t first; /* the first element's place among those of all ranks */
    spry_scalar factor, other;
    const char *x, *y;
    char *out;
} element_job;

typedef void (*chunk_work)(const element_job *job, int64_t begin, int64_t n);

typedef struct chunks {
    const element_job *job;
    chunk_work work;
} chunks;

static void run_chunks(void *argument, int share, int shares)
{
    const chunks *c = argument;
    const range part = base_share(c->job->n, shares, share, VECTOR_CHUNK);
    for (int64_t i = part.begin; i < part.end; i += VECTOR_CHUNK)
        c->work(c->job, i, part.end - i < VECTOR_CHUNK ? part.end - i : VECTOR_CHUNK);
}

static void run(const spry_context *ctx, const element_job *job, chunk_work work)
{
    chunks c = {job, work};
    base_share_out(ctx, host_threads(ctx, job->n), run_chunks, &c);
}

static element_job job_for(const spry_vector *out)
{
    return (element_job){.kernels = host_kernels_for(out->ctx, out->type),
                         .n = out->n,
                         .size = (int64_t)spry_type_size(out->type),
                         .out = out->data};
}

static spry_status check_factor(const spry_vector *v, const char *name, spry_scalar factor)
{
    if (factor.im == 0 || spry_type_is_complex(v->type))
        return SPRY_STATUS_OK;
    return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE,
                     "%s has an imaginary part of %g, the vector is of type %s", name, factor.im,
                     spry_type_name(v->type));
}

/* Whether x and y can be combined element by element. */
static spry_status check_pair(const spry_vector *x, const spry_vector *y)
{
    const spry_status status = vector_check_lengths(x, y);
    if (status == SPRY_STATUS_OK && x->type != y->type)
        return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_USAGE, "the vectors are of types %s and %s",
                         spry_type_name(x->type), spry_type_name(y->type));
    if (status == SPRY_STATUS_OK && x->device != y->device)
        return SPRY_FAIL(
            x->ctx, SPRY_STATUS_BAD_USAGE,
            "the vectors are on %s and %s; spry_vector_copy() brings them to one place",
            place_name(x->device), place_name(y->device));
    return status;
}

static void fill_chunk(const element_job *job, int64_t begin, int64_t n)
{
    job->kernels->fill(n, job->factor, job->out + begin * job->size);
}

spry_status spry_vector_fill(spry_vector *v, spry_scalar value)
{
    SPRY_NEED(CTX_OF(v), v);
    const spry_status status = check_factor(v, "the value", value);
    if (status != SPRY_STATUS_OK)
        return status;
    if (v->class)
        return vector_note(v, v->class->fill(v, value));
    v->bring = NULL;
    element_job job = job_for(v);
    job.factor = value;
    run(v->ctx, &job, fill_chunk);
    return SPRY_STATUS_OK;
}

static void random_chunk(const element_job *job, int64_t begin, int64_t n)
{
    job->kernels->random(n, job->seed, job->first + begin, job->out + begin * job->size);
}

spry_status vector_random(spry_vector *v, uint64_t seed)
{
    if (v->class)
        return v->class->random(v, seed);
    element_job job = job_for(v);
    job.seed = seed;
    job.first = v->part.first;
    v->bring = NULL;
    run(v->ctx, &job, random_chunk);
    return SPRY_STATUS_OK;
}

spry_status spry_vector_ones(spry_context *ctx, const spry_matrix *A, spry_vector **b)
{
    SPRY_NEED(ctx, ctx, A, b);
    const spry_status status = spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, b);
    if (status == SPRY_STATUS_OK)
        (*b)->part = dist_own_rows(A);
    return status == SPRY_STATUS_OK ? spry_vector_fill(*b, (spry_scalar){1, 0}) : status;
}

static void axpy_chunk(const element_job *job, int64_t begin, int64_t n)
{
    const int64_t at = begin * job->size;
    job->kernels->axpy(n, job->factor, job->x + at, job->out + at);
}

static void xpay_chunk(const element_job *job, int64_t begin, int64_t n)
{
    const int64_t at = begin * job->size;
    job->kernels->xpay(n, job->x + at, job->factor, job->out + at);
}

/* y = a x + b y by a work that needs one of them alone, which `factor` is. */
static spry_status update(spry_scalar a, const spry_vector *x, spry_scalar b, spry_vector *y,
                          const char *name, spry_scalar factor, chunk_work work)
{
    spry_status status = check_pair(x, y);
    if (status == SPRY_STATUS_OK)
        status = check_factor(y, name, factor);
    if (status != SPRY_STATUS_OK)
        return status;
    if (y->class)
        return vector_note(y, y->class->blend(a, x, b, y));
    element_job job = job_for(y);
    job.x = x->data;
    job.factor = factor;
    run(y->ctx, &job, work);
    return SPRY_STATUS_OK;
}

spry_status spry_vector_axpy(spry_scalar alpha, const spry_vector *x, spry_vector *y)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, y);
    return update(alpha, x, (spry_scalar){1, 0}, y, "alpha", alpha, axpy_chunk);
}

spry_status vector_xpay(const spry_vector *x, spry_scalar beta, spry_vector *y)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, y);
    return update((spry_scalar){1, 0}, x, beta, y, "beta", beta, xpay_chunk);
}

static void scale_chunk(const element_job *job, int64_t begin, int64_t n)
{
    job->kernels->scale(n, job->factor, job->out + begin * job->size);
}

spry_status spry_vector_scale(spry_scalar alpha, spry_vector *x)
{
    SPRY_NEED(CTX_OF(x), x);
    return update(alpha, x, (spry_scalar){0, 0}, x, "alpha", alpha, scale_chunk);
}

static void blend_chunk(const element_job *job, int64_t begin, int64_t n)
{
    const int64_t at = begin * job->size;
    const bool reads = job->other.re != 0 || job->other.im != 0;
    job->kernels->combine(n, 1 + reads, (const spry_scalar[]){job->factor, job->other},
                          (const void *const[]){job->x + at, job->out + at}, job->out + at);
}

void host_blend(const spry_context *ctx, spry_type type, int64_t n, spry_scalar a, const void *x,
                spry_scalar b, void *y)
{
    const element_job job = {.kernels = host_kernels_for(ctx, type),
                             .n = n,
                             .size = (int64_t)spry_type_size(type),
                             .factor = a,
                             .other = b,
                             .x = x,
                             .out = y};
    run(ctx, &job, blend_chunk);
}

static void multiply_chunk(const element_job *job, int64_t begin, int64_t n)
{
    const int64_t at = begin * job->size;
    job->kernels->multiply(n, job->x + at, job->y + at, job->out + at);
}

spry_status spry_vector_multiply(const spry_vector *x, const spry_vector *y, spry_vector *z)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, y, z);
    spry_status status = check_pair(x, y);
    if (status == SPRY_STATUS_OK)
        status = check_pair(x, z);
    if (status != SPRY_STATUS_OK)
        return status;
    if (x->class)
        return vector_note(z, x->class->multiply(x, y, z));
    element_job job = job_for(z);
    job.x = x->data;
    job.y = y->data;
    run(z->ctx, &job, multiply_chunk);
    return SPRY_STATUS_OK;
}
