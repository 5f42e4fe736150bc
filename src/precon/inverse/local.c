/* Local problems distributed to threads: those with as many vectors are neighbours, so that kernels
 * do several of them at once, and the largest come first, so that no thread is left with them. */
#include "precon/inverse/local.h"

#include "precon/kernels.h"

#include <omp.h>

enum { CHUNK = 64 }; /* problems that a thread takes at a time */

static local_size size_of(const local_problems *p, const spry_context *ctx)
{
    int64_t cols = 0, entries = 0;
#pragma omp parallel for num_threads(host_threads(ctx, p->n)) reduction(max : cols, entries)
    for (int64_t i = 0; i < p->n; i++) {
        int64_t sum = 0;
        for (int64_t k = p->pattern_at[i]; k < p->pattern_at[i + 1]; k++)
            sum += p->at[p->pattern[k] + 1] - p->at[p->pattern[k]];
        const int64_t length = p->pattern_at[i + 1] - p->pattern_at[i];
        cols = length > cols ? length : cols;
        entries = sum > entries ? sum : entries;
    }
    int64_t rows = p->kind == LOCAL_LEAST_SQUARES ? entries : cols;
    rows = rows > p->n ? p->n : rows;
    return (local_size){cols, rows, entries};
}

/* Bytes of a thread's room. */
static int64_t room_bytes(const spry_context *ctx, spry_type type, const local_size *size)
{
    return (precon_kernels_for(ctx, type)->local_bytes(size) + ALIGNMENT - 1) / ALIGNMENT *
           ALIGNMENT;
}

static int threads_for(const spry_context *ctx, const local_problems *p)
{
    return host_threads(ctx, 64 * p->pattern_at[p->n]);
}

/* Problems in the order of their vectors' number, the most first, and where chunks of one number
 * begin. */
typedef struct local_shares {
    int32_t *list;
    int64_t *cuts, chunks;
} local_shares;

static void redistribution_clear(spry_context *ctx, local_shares *d)
{
    base_free(ctx, d->list);
    base_free(ctx, d->cuts);
}

static spry_status share_out(spry_context *ctx, const local_problems *p, int64_t most,
                             local_shares *d)
{
    int64_t *first = NULL;
    spry_status status = SPRY_STATUS_OK;
    *d = (local_shares){0};
    SPRY_GO(ctx, base_calloc(ctx, most + 2, sizeof *first, &first));
    SPRY_GO(ctx, base_alloc(ctx, p->n, sizeof *d->list, &d->list));
    SPRY_GO(ctx, base_alloc(ctx, p->n / CHUNK + most + 2, sizeof *d->cuts, &d->cuts));
    for (int64_t i = 0; i < p->n; i++)
        first[most - (p->pattern_at[i + 1] - p->pattern_at[i]) + 1]++;
    for (int64_t k = 0; k < most; k++) {
        for (int64_t at = first[k]; at < first[k] + first[k + 1]; at += CHUNK)
            d->cuts[d->chunks++] = at;
        first[k + 1] += first[k];
    }
    d->cuts[d->chunks] = first[most]; /* what follows has no vectors */
    for (int64_t i = 0; i < p->n; i++)
        d->list[first[most - (p->pattern_at[i + 1] - p->pattern_at[i])]++] = (int32_t)i;
done:
    base_free(ctx, first);
    return status;
}

/* Which rows of B are the one before, a column further: problems of such rows have one shape. */
static void find_moved(const local_problems *p, int threads, uint8_t *moved)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t begin = p->at[i], length = p->at[i + 1] - begin;
        int32_t differ = i == 0 || p->at[i] - p->at[i - 1] != length;
        const int32_t *these = p->columns + begin, *before = these - (differ ? 0 : length);
        for (int64_t k = 0; k < length && differ == 0; k++)
            differ |= these[k] - before[k] - 1;
        moved[i] = differ == 0;
    }
}

spry_status local_solve(spry_context *ctx, spry_type type, const local_problems *given,
                        local_outcome *outcome)
{
    local_problems all = *given, *p = &all;
    const precon_kernels *kernels = precon_kernels_for(ctx, type);
    local_outcome (*rows)(const local_problems *p, const local_size *most, const int32_t *list,
                          int64_t count, void *room) =
        p->kind == LOCAL_FACTOR ? kernels->local_factors : kernels->local_rows;
    const local_size size = size_of(p, ctx);
    const int64_t bytes = room_bytes(ctx, type, &size);
    const int threads = threads_for(ctx, p);
    local_shares d = {0};
    char *rooms = NULL;
    uint8_t *moved = NULL;
    int64_t deficient = 0, bad = INT64_MAX;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, share_out(ctx, p, size.cols, &d));
    SPRY_GO(ctx, base_alloc(ctx, p->n, sizeof *moved, &moved));
    find_moved(p, threads, moved);
    p->moved = moved;
    status = base_alloc(ctx, bytes, (size_t)threads, &rooms);
    if (status != SPRY_STATUS_OK) {
        status = SPRY_CAUSE(ctx, status,
                            "local problems of up to %" PRId64 " x %" PRId64
                            "; try a smaller most=, tau= or power=",
                            size.rows, size.cols);
        goto done;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) \
    reduction(+ : deficient) reduction(min : bad)
    for (int64_t c = 0; c < d.chunks; c++) {
        if (spry_context_interrupted(ctx, false))
            continue;
        const local_outcome part = rows(p, &size, d.list + d.cuts[c], d.cuts[c + 1] - d.cuts[c],
                                        rooms + bytes * omp_get_thread_num());
        deficient += part.deficient;
        if (part.bad >= 0 && part.bad < bad)
            bad = part.bad;
    }
    *outcome = (local_outcome){deficient, bad == INT64_MAX ? -1 : bad};
    status = base_go_on(ctx, "local problems");
done:
    base_free(ctx, rooms);
    base_free(ctx, moved);
    redistribution_clear(ctx, &d);
    return status;
}
