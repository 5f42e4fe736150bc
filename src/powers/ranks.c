/* Several steps with one message; see ranks.h. */
#include "powers/ranks.h"

#include "base/team.h"
#include "host/csr_shares.h"

void powers_ranks_clear(spry_context *ctx, powers_ranks *r)
{
    ranks_halo_clear(&r->halo);
    powers_parts_clear(ctx, &r->parts);
    base_free(ctx, r->received);
    base_free(ctx, r->local);
    *r = (powers_ranks){.depth = 1};
}

/* --- making --------------------------------------------------------------------------------------
 */

/* Copies a run of a row's entries, whose columns move by `move`. */
static int64_t copy_run(const matrix_arrays *from, int64_t begin, int64_t end, int64_t move,
                        matrix_arrays *to, int64_t at)
{
    const int64_t size = (int64_t)spry_type_size(from->type);
    for (int64_t k = begin; k < end; k++)
        to->col_index[at + k - begin] = (int32_t)(from->col_index[k] + move);
    if (end > begin)
        memcpy((char *)to->values + at * size, (const char *)from->values + begin * size,
               (size_t)((end - begin) * size));
    return at + end - begin;
}

/*
 * The rows that a rank reaches, in the global ordering: they arrive as own, then others. Entries of
 * a row are own, others before and others behind: summed in the global ordering, results have the
 * bits of one process.
 */
static void put_in_order(const powers_ranks *r, const matrix_arrays *from, matrix_arrays *to)
{
    int64_t at = 0;
    for (int64_t row = 0; row < to->rows; row++) {
        const int64_t source = row < r->low            ? r->own + row
                               : row < r->low + r->own ? row - r->low
                                                       : row;
        const int64_t begin = from->offsets[source], end = from->offsets[source + 1];
        int64_t others = begin;
        while (others < end && from->col_index[others] < r->own)
            others++;
        int64_t behind = others;
        while (behind < end && from->col_index[behind] < r->own + r->low)
            behind++;
        to->offsets[row] = at;
        at = copy_run(from, others, behind, -r->own, to, at);
        at = copy_run(from, begin, others, r->low, to, at);
        at = copy_run(from, behind, end, 0, to, at);
    }
    to->offsets[to->rows] = at;
}

/* The part of this rank, and its memory. */
static spry_status make_part(spry_context *ctx, const ranks_reach *reach, int depth,
                             powers_ranks *r)
{
    const size_t size = spry_type_size(reach->A->a.type);
    matrix_arrays a = {.type = reach->A->a.type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = reach->A->a.rows,
                       .cols = reach->A->a.rows,
                       .nnz = reach->A->a.nnz};
    row_cuts cuts = {.count = 1};
    bool stops;
    spry_status status = SPRY_STATUS_OK;
    while (r->low < reach->count && reach->others[r->low] < reach->begin)
        r->low++;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    put_in_order(r, &reach->A->a, &a);
    SPRY_GO(ctx, base_alloc(ctx, r->own, sizeof *cuts.order, &cuts.order));
    SPRY_GO(ctx, base_alloc(ctx, 2, sizeof *cuts.start, &cuts.start));
    for (int64_t i = 0; i < r->own; i++)
        cuts.order[i] = (int32_t)(r->low + i);
    cuts.start[0] = 0;
    cuts.start[1] = r->own;
    SPRY_GO(ctx, powers_parts_make(ctx, &a, &cuts, depth, true, 0, &r->parts, &stops));
    SPRY_GO(ctx, base_alloc(ctx, r->others, size, &r->received));
    SPRY_GO(ctx, base_alloc(ctx, r->own + r->others, size, &r->local));
done:
    powers_cuts_clear(ctx, &cuts);
    matrix_free_arrays(ctx, &a);
    return status;
}

static bool has_long_rows(const matrix_arrays *a)
{
    for (int64_t i = 0; i < a->rows; i++)
        if (a->offsets[i + 1] - a->offsets[i] > LONG_ROW)
            return true;
    return false;
}

/* The most steps whose others are no more than twice the own rows, on each rank, where each layer
 * is as large as the mean of the first two. */
static spry_status find_depth(const spry_matrix *A, int k, int *depth)
{
    ranks_reach reach = {0};
    double most = 0, least;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, ranks_reach_make(A, 2, 1, &reach));
    const double each = (double)reach.count / 2;
    const double mine = each > 0 ? 2 * (double)reach.own / each : k;
    SPRY_GO(A->ctx, team_bounds(A->ctx, mine, &least, &most));
    *depth = least >= k ? k : least < 2 ? 1 : (int)least;
done:
    ranks_reach_clear(A->ctx, &reach);
    return status;
}

spry_status powers_ranks_make(const spry_matrix *A, int k, int depth, powers_ranks *r)
{
    spry_context *ctx = A->ctx;
    ranks_reach reach = {0};
    bool has_long = false;
    spry_status status = SPRY_STATUS_OK;
    *r = (powers_ranks){.depth = 1};
    if (depth == 0)
        SPRY_GO(ctx, find_depth(A, k, &depth));
    depth = depth < k ? depth : k;
    if (depth < 2)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_reach_make(A, depth, 1, &reach));
    SPRY_GO(ctx, team_any(ctx, has_long_rows(&reach.A->a), &has_long));
    if (!has_long) {
        r->own = reach.own;
        r->others = reach.count;
        SPRY_GO(ctx, ranks_halo_make(ctx, A->a.type, A->distributed->row_starts, reach.count,
                                     reach.others, &r->halo));
        SPRY_GO(ctx, team_agree(ctx, make_part(ctx, &reach, depth, r)));
        r->depth = depth;
    }
done:
    ranks_reach_clear(ctx, &reach);
    if (status != SPRY_STATUS_OK)
        powers_ranks_clear(ctx, r);
    return status;
}

/* --- running -------------------------------------------------------------------------------------
 */

/* This rank's elements and those of others, in the part's order. */
static spry_status bring(spry_context *ctx, const powers_ranks *r, int64_t count, const void *x,
                         char *to)
{
    const int64_t size = (int64_t)spry_type_size(r->parts.type);
    const spry_status status = ranks_halo_exchange(&r->halo, x, r->received);
    if (status != SPRY_STATUS_OK)
        return status;
    const size_t before = (size_t)(r->low * size), own = (size_t)(r->own * size);
    memcpy(r->local, r->received, before);
    memcpy(r->local + before, x, own);
    memcpy(r->local + before + own, r->received + before, (size_t)(r->others * size) - before);
    powers_gather(ctx, count, r->parts.parts->rows, size, r->local, to);
    return SPRY_STATUS_OK;
}

typedef struct step_job {
    const host_kernels *kernels;
    const part *p;
    const power_step *step;
    int64_t rows, own, size;
    const char *before, *x;
    char *next;
} step_job;

static void step_share(void *argument, int share, int shares)
{
    enum { GRAIN = 16 };
    const step_job *j = argument;
    const host_csr csr = {j->p->offsets, j->p->columns, j->p->values};
    const range mine = base_share(j->rows, shares, share, GRAIN);
    const int64_t at = mine.begin * j->size;
    if (mine.begin == mine.end)
        return;
    j->kernels->csr_rows(&csr, mine.begin, mine.end, false, (spry_scalar){1, 0}, j->x,
                         (spry_scalar){0, 0}, j->next + at);
    const int64_t own = (mine.end < j->own ? mine.end : j->own) - mine.begin;
    if (own > 0)
        power_step_keep(j->step, at, j->next + at, own * j->size);
    power_step_finish(j->kernels, j->step, mine.end - mine.begin, j->before ? j->before + at : NULL,
                      j->x + at, j->next + at);
}

spry_status powers_ranks_run(spry_context *ctx, const powers_ranks *r, int count,
                             const power_step *steps, const void *before, const void *x,
                             void *const *v)
{
    const part *p = r->parts.parts;
    const int64_t size = (int64_t)spry_type_size(r->parts.type);
    const int64_t stride = powers_parts_stride(&r->parts);
    const bool reads = before && (steps[0].gamma.re != 0 || steps[0].gamma.im != 0);
    char *at = r->parts.room + stride;
    spry_status status = SPRY_STATUS_OK;
    if (reads)
        SPRY_GO(ctx, bring(ctx, r, p->layer[count - 1], before, r->parts.room));
    SPRY_GO(ctx, bring(ctx, r, p->layer[count], x, at));
    for (int j = 0; j < count; j++, at += stride) {
        step_job job = {.kernels = host_kernels_for(ctx, r->parts.type),
                        .p = p,
                        .step = &steps[j],
                        .rows = p->layer[count - 1 - j],
                        .own = r->own,
                        .size = size,
                        .before = j > 0 || reads ? at - stride : NULL,
                        .x = at,
                        .next = at + stride};
        base_share_out(ctx, host_threads(ctx, p->entries[count - 1 - j]), step_share, &job);
        if (r->own > 0)
            memcpy(v[j], at + stride, (size_t)(r->own * size));
    }
done:
    return status;
}
