/*
 * Inner products and norms. A vector is cut into at most BLOCKS blocks of whole chunks, by its
 * length alone; a thread adds up a block's chunks in order, and the blocks are added as a tree. So
 * the order of additions, and with it every bit, is the same for any number of threads, and nothing
 * needs to be allocated.
 */
#include "host/host.h"
#include "matrix/matrix.h"

#include <math.h>

enum { BLOCKS = 512 };

typedef struct reduction {
    const host_kernels *kernels;
    int64_t n, size;
    double scale;
    const char *x, *y;
} reduction;

typedef spry_scalar (*reduction_work)(const reduction *r, int64_t begin, int64_t n);
typedef spry_scalar (*reduction_join)(spry_scalar a, spry_scalar b);

static spry_scalar join_sum(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re + b.re, a.im + b.im};
}

static spry_scalar join_most(spry_scalar a, spry_scalar b)
{
    return a.re > b.re ? a : b;
}

static spry_scalar reduce_block(const reduction *r, reduction_work work, reduction_join join,
                                range block)
{
    spry_scalar result = {0, 0};
    for (int64_t i = block.begin; i < block.end; i += VECTOR_CHUNK)
        result =
            join(result, work(r, i, block.end - i < VECTOR_CHUNK ? block.end - i : VECTOR_CHUNK));
    return result;
}

typedef struct blocks {
    const reduction *r;
    reduction_work work;
    reduction_join join;
    int count;
    spry_scalar *part;
} blocks;

static void reduce_blocks(void *argument, int share, int shares)
{
    const blocks *all = argument;
    const range mine = base_share(all->count, shares, share, 1);
    for (int64_t b = mine.begin; b < mine.end; b++)
        all->part[b] = reduce_block(all->r, all->work, all->join,
                                    base_share(all->r->n, all->count, (int)b, VECTOR_CHUNK));
}

static spry_scalar reduce(const spry_context *ctx, const reduction *r, reduction_work work,
                          reduction_join join)
{
    spry_scalar part[BLOCKS];
    const int64_t chunks = r->n / VECTOR_CHUNK + (r->n % VECTOR_CHUNK != 0);
    const int count = chunks < 1 ? 1 : chunks < BLOCKS ? (int)chunks : BLOCKS;
    blocks all = {r, work, join, count, part};
    base_share_out(ctx, host_threads(ctx, r->n), reduce_blocks, &all);
    for (int width = 1; width < count; width *= 2) {
        for (int b = 0; b + width < count; b += 2 * width)
            part[b] = join(part[b], part[b + width]);
    }
    return part[0];
}

static reduction reduction_of(const spry_vector *x)
{
    return (reduction){.kernels = host_kernels_for(x->ctx, x->type),
                       .n = x->n,
                       .size = (int64_t)spry_type_size(x->type),
                       .scale = 1,
                       .x = x->data};
}

static spry_scalar dot_chunk(const reduction *r, int64_t begin, int64_t n)
{
    return r->kernels->dot(n, r->x + begin * r->size, r->y + begin * r->size);
}

static spry_scalar squares_chunk(const reduction *r, int64_t begin, int64_t n)
{
    return (spry_scalar){r->kernels->squares(n, r->scale, r->x + begin * r->size), 0};
}

static spry_scalar largest_chunk(const reduction *r, int64_t begin, int64_t n)
{
    return (spry_scalar){r->kernels->largest(n, r->x + begin * r->size), 0};
}

spry_status spry_vector_dot(const spry_vector *x, const spry_vector *y, spry_scalar *result)
{
    SPRY_NEED(CTX_OF_ANY(x, y), x, y, result);
    *result = (spry_scalar){0, 0};
    if (x->ctx != y->ctx || x->type != y->type || x->n != y->n)
        return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_USAGE,
                         "(x, y) of %" PRId64 " elements of type %s and %" PRId64 " of type %s%s",
                         x->n, spry_type_name(x->type), y->n, spry_type_name(y->type),
                         x->ctx != y->ctx ? ", of different contexts" : "");
    if (x->device != y->device)
        return SPRY_FAIL(x->ctx, SPRY_STATUS_BAD_USAGE,
                         "(x, y) of vectors on %s and %s; spry_vector_copy() brings them to one "
                         "place",
                         place_name(x->device), place_name(y->device));
    spry_status status = vector_fetch(x);
    if (status == SPRY_STATUS_OK)
        status = vector_fetch(y);
    if (status != SPRY_STATUS_OK || x->class)
        return status != SPRY_STATUS_OK ? status : x->class->dot(x, y, result);
    reduction r = reduction_of(x);
    r.y = y->data;
    *result = reduce(x->ctx, &r, dot_chunk, join_sum);
    return SPRY_STATUS_OK;
}

static spry_status sum_squares(int count, const spry_vector *const *x, double scale, double *sums)
{
    if (x[0]->class)
        return x[0]->class->squares(count, x, scale, sums);
    for (int k = 0; k < count; k++) {
        reduction r = reduction_of(x[k]);
        r.scale = scale;
        sums[k] = reduce(x[k]->ctx, &r, squares_chunk, join_sum).re;
    }
    return SPRY_STATUS_OK;
}

static spry_status find_largest(const spry_vector *x, double *most)
{
    if (x->class)
        return x->class->largest(x, most);
    const reduction r = reduction_of(x);
    *most = reduce(x->ctx, &r, largest_chunk, join_most).re;
    return SPRY_STATUS_OK;
}

/* The norm where the sum of squares may have left the range of numbers. */
static spry_status norm_by_scaling(const spry_vector *x, double *result)
{
    double sum = NAN, most = NAN;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(x->ctx, find_largest(x, &most));
    *result = most;
    if (most == 0 || isinf(most))
        return SPRY_STATUS_OK;
    /* A power of two scales without rounding; 2^1000 is enough for the smallest number. */
    int exponent;
    frexp(most, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent;
    SPRY_GO(x->ctx, sum_squares(1, &x, ldexp(1, -exponent), &sum));
    *result = ldexp(sqrt(sum), exponent);
done:
    return status;
}

spry_status vector_norms(int count, const spry_vector *const *x, double *norms)
{
    /* Below this a sum of squares may have lost terms that matter: each is off by 2^-1075 at most,
     * there are at most 2^62, and 2^-53 of the sum is to be kept. */
    const double small = 0x1p-950;
    spry_context *ctx = x[0]->ctx;
    double sums[VECTOR_MOST_NORMS];
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++) {
        norms[k] = sums[k] = NAN;
        SPRY_GO(ctx, vector_fetch(x[k]));
    }
    SPRY_GO(ctx, sum_squares(count, x, 1, sums));
    for (int k = 0; k < count; k++) {
        norms[k] = sqrt(sums[k]);
        if (!isnan(sums[k]) && !(sums[k] >= small && isfinite(sums[k])))
            SPRY_GO(ctx, norm_by_scaling(x[k], &norms[k]));
    }
done:
    return status;
}

spry_status spry_vector_norm(const spry_vector *x, double *result)
{
    SPRY_NEED(CTX_OF(x), x, result);
    return vector_norms(1, &x, result);
}
