/*
 * Inner products and norms. A vector is cut into at most BLOCKS blocks of whole chunks, by its
 * length alone; a thread adds up a block's chunks in order, and the blocks are added as a tree. So
 * the order of additions, and with it every bit, is the same for any number of threads, and nothing
 * needs to be allocated.
 */
#include "base/team.h"
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

static int64_t chunks_of(int64_t n)
{
    return n / VECTOR_CHUNK + (n % VECTOR_CHUNK != 0);
}

static int blocks_of(int64_t n)
{
    const int64_t chunks = chunks_of(n);
    return chunks < 1 ? 1 : chunks < BLOCKS ? (int)chunks : BLOCKS;
}

static spry_scalar join_all(spry_scalar *part, int count, reduction_join join)
{
    for (int width = 1; width < count; width *= 2) {
        for (int b = 0; b + width < count; b += 2 * width)
            part[b] = join(part[b], part[b + width]);
    }
    return part[0];
}

/* Of this rank's elements. */
static spry_scalar reduce_own(const spry_context *ctx, const reduction *r, reduction_work work,
                              reduction_join join)
{
    spry_scalar part[BLOCKS];
    blocks all = {r, work, join, blocks_of(r->n), part};
    base_share_out(ctx, host_threads(ctx, r->n), reduce_blocks, &all);
    return join_all(part, all.count, join);
}

/* --- over ranks ----------------------------------------------------------------------------------
 */

/* Chunks one by one, from all ranks, joined as without ranks: these begin at multiples of a chunk.
 */
static spry_status reduce_strictly(spry_context *ctx, spry_status own, const reduction *r,
                                   const vector_part *part, reduction_work work,
                                   reduction_join join, spry_scalar *result)
{
    const int ranks = team_ranks(ctx);
    const int64_t all_chunks = chunks_of(part->all);
    spry_scalar *all = NULL, *mine, parts[BLOCKS];
    int64_t most, sum = 0;
    double least, longest;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_bounds(ctx, (double)chunks_of(r->n), &least, &longest));
    most = (int64_t)longest;
    if (own == SPRY_STATUS_OK)
        own = base_calloc(ctx, (ranks + 1) * (most + 1), sizeof *all, &all);
    SPRY_GO(ctx, team_agree(ctx, own));
    mine = all + ranks * (most + 1);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it was made */
    mine[0].re = (double)chunks_of(r->n);
    for (int64_t i = 0; i * VECTOR_CHUNK < r->n; i++) {
        const int64_t at = i * VECTOR_CHUNK;
        mine[i + 1] = work(r, at, r->n - at < VECTOR_CHUNK ? r->n - at : VECTOR_CHUNK);
    }
    SPRY_GO(ctx, team_gather(ctx, mine, (most + 1) * (int64_t)sizeof *mine, all));
    for (int k = 0; k < ranks; k++) { /* one after the other */
        const int64_t count = (int64_t)all[k * (most + 1)].re;
        memmove(all + sum, all + k * (most + 1) + 1, (size_t)count * sizeof *all);
        sum += count;
    }
    const int count = blocks_of(part->all);
    for (int b = 0; b < count; b++) {
        const range rows = base_share(part->all, count, b, VECTOR_CHUNK);
        parts[b] = (spry_scalar){0, 0};
        for (int64_t i = rows.begin / VECTOR_CHUNK; i * VECTOR_CHUNK < rows.end && i < all_chunks;
             i++)
            parts[b] = join(parts[b], all[i]);
    }
    *result = join_all(parts, count, join);
done:
    base_free(ctx, all);
    return status;
}

/* Joins what each rank has, in the order of ranks; several at once, up to VECTOR_MOST_NORMS. With
 * them goes whether a rank has failed to make its own, or had failed before: then all fail. */
static spry_status join_ranks(spry_context *ctx, spry_status own, int count, spry_scalar *sums,
                              reduction_join join)
{
    const int ranks = team_ranks(ctx);
    spry_scalar few[64], mine[VECTOR_MOST_NORMS + 1], *all = few;
    spry_status status = SPRY_STATUS_OK;
    bool failed = false;
    if (ranks * (count + 1) > 64)
        SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, ranks * (count + 1), sizeof *all, &all)));
    memcpy(mine, sums, (size_t)count * sizeof *sums);
    mine[count] = (spry_scalar){team_late(ctx, own), 0};
    SPRY_GO(ctx, team_gather(ctx, mine, (count + 1) * (int64_t)sizeof *mine, all));
    for (int r = 0; r < ranks; r++)
        failed = failed || all[r * (count + 1) + count].re != 0;
    if (failed)
        SPRY_GO(ctx, team_agree(ctx, own));
    for (int k = 0; k < count; k++) {
        sums[k] = all[k];
        for (int r = 1; r < ranks; r++)
            sums[k] = join(sums[k], all[r * (count + 1) + k]);
    }
done:
    if (all != few)
        base_free(ctx, all);
    return status;
}

/* One for each of several vectors, which are all parts or none. `own`: whether they are on the
 * host. */
static spry_status reduce(spry_status own, int count, const spry_vector *const *x,
                          const reduction *r, reduction_work work, reduction_join join,
                          spry_scalar *results)
{
    spry_context *ctx = x[0]->ctx;
    spry_status status = SPRY_STATUS_OK;
    const bool strict = x[0]->part.is && ctx->options.repeat == REPEAT_STRICT;
    for (int k = 0; k < count; k++) {
        if (strict)
            SPRY_GO(ctx, reduce_strictly(ctx, own, &r[k], &x[k]->part, work, join, &results[k]));
        else if (own == SPRY_STATUS_OK)
            results[k] = reduce_own(ctx, &r[k], work, join);
    }
    if (!strict)
        SPRY_GO(ctx, x[0]->part.is ? join_ranks(ctx, own, count, results, join) : own);
done:
    return status;
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
    if (x->class) {
        if (status == SPRY_STATUS_OK)
            status = x->class->dot(x, y, result);
        return x->part.is || y->part.is ? join_ranks(x->ctx, status, 1, result, join_sum) : status;
    }
    reduction r = reduction_of(x);
    r.y = y->data;
    return reduce(status, 1, x->part.is ? &x : &y, &r, dot_chunk, join_sum, result);
}

/* `own`: whether they are on the host, on this rank. */
static spry_status sum_squares(spry_status own, int count, const spry_vector *const *x,
                               double scale, double *sums)
{
    reduction r[VECTOR_MOST_NORMS] = {0};
    spry_scalar results[VECTOR_MOST_NORMS] = {{0, 0}};
    spry_status status = own;
    if (x[0]->class) {
        if (status == SPRY_STATUS_OK)
            status = x[0]->class->squares(count, x, scale, sums);
        if (!x[0]->part.is)
            return status;
        for (int k = 0; k < count; k++)
            results[k].re = sums[k];
        status = join_ranks(x[0]->ctx, status, count, results, join_sum);
    } else {
        for (int k = 0; k < count; k++) {
            r[k] = reduction_of(x[k]);
            r[k].scale = scale;
        }
        status = reduce(own, count, x, r, squares_chunk, join_sum, results);
    }
    for (int k = 0; k < count; k++)
        sums[k] = results[k].re;
    return status;
}

spry_status vector_largest(const spry_vector *x, double *most)
{
    spry_scalar found = {NAN, 0};
    spry_status status = SPRY_STATUS_OK;
    if (x->class) {
        status = x->class->largest(x, &found.re);
        if (x->part.is)
            status = join_ranks(x->ctx, status, 1, &found, join_most);
    } else {
        const reduction r = reduction_of(x);
        status = reduce(SPRY_STATUS_OK, 1, &x, &r, largest_chunk, join_most, &found);
    }
    *most = found.re;
    return status;
}

/* The norm where the sum of squares may have left the range of numbers. */
static spry_status norm_by_scaling(const spry_vector *x, double *result)
{
    double sum = NAN, most = NAN;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(x->ctx, vector_largest(x, &most));
    *result = most;
    if (most == 0 || isinf(most))
        return SPRY_STATUS_OK;
    /* A power of two scales without rounding; 2^1000 is enough for the smallest number. */
    int exponent;
    frexp(most, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent;
    SPRY_GO(x->ctx, sum_squares(SPRY_STATUS_OK, 1, &x, ldexp(1, -exponent), &sum));
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
    spry_status status = SPRY_STATUS_OK, own = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++) {
        norms[k] = sums[k] = NAN;
        own = own == SPRY_STATUS_OK ? vector_fetch(x[k]) : own; /* reported with the sums */
    }
    SPRY_GO(ctx, sum_squares(own, count, x, 1, sums));
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
