/* The graph of a matrix, distributed over ranks in blocks of rows, and numbers by the parts that
 * the team's own library makes of it. */
#include "ranks/pattern.h"

/* The entries given but for the diagonal, and their mirror images, to the blocks of their rows. */
static spry_status gather_graph(spry_context *ctx, const ranks_given *g, const int64_t *numbers,
                                const int64_t *blocks, ranks_rows *rows)
{
    const int64_t count = g->rows > 0 ? g->offsets[g->rows] : 0;
    ranks_entries e = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, ranks_entries_allocate(ctx, SPRY_TYPE_S, 2 * count, &e)));
    e.count = 0;
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t k = g->offsets[i]; k < g->offsets[i + 1]; k++)
            if (g->columns[k] != numbers[i]) {
                e.row[e.count] = e.col[e.count + 1] = numbers[i];
                e.col[e.count] = e.row[e.count + 1] = g->columns[k];
                e.count += 2;
            }
    memset(e.values, 0, (size_t)e.count * sizeof(float)); /* bytes without a meaning */
    SPRY_GO(ctx, ranks_gather_rows(ctx, &e, blocks, g->all_cols, rows));
    ranks_sum_duplicates(rows);
done:
    ranks_entries_clear(ctx, &e);
    return status;
}

/* Rows of a rank follow one another, in their old order: counts are of each rank's block by part.
 */
static spry_status number_parts(spry_context *ctx, int64_t rows, const int32_t *part,
                                int64_t *counts, int64_t *first, int64_t *block)
{
    const int ranks = team_ranks(ctx);
    int64_t *mine = counts + (int64_t)ranks * ranks, at = 0;
    memset(mine, 0, (size_t)ranks * sizeof *mine);
    for (int64_t i = 0; i < rows; i++)
        mine[part[i]]++;
    const spry_status status = team_gather(ctx, mine, ranks * (int64_t)sizeof *mine, counts);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int p = 0; p < ranks; p++) {
        first[p] = at;
        for (int r = 0; r < ranks; r++) {
            if (r == team_rank(ctx))
                mine[p] = at; /* the first of this block's */
            at += counts[(int64_t)r * ranks + p];
        }
    }
    first[ranks] = at;
    for (int64_t i = 0; i < rows; i++)
        block[i] = mine[part[i]]++;
    return SPRY_STATUS_OK;
}

/* Memory of one call. */
typedef struct parts {
    int32_t *part;
    int64_t *counts;
    int *ranked;
    double *share;
} parts;

static spry_status parts_allocate(spry_context *ctx, int64_t rows, parts *p)
{
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, rows, sizeof *p->part, &p->part));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)ranks * (ranks + 1), sizeof *p->counts, &p->counts));
    SPRY_GO(ctx, base_alloc(ctx, ranks, sizeof *p->ranked, &p->ranked));
    SPRY_GO(ctx, base_alloc(ctx, ranks, sizeof *p->share, &p->share));
done:
    return status;
}

spry_status ranks_number_together(spry_context *ctx, const ranks_given *given,
                                  const int64_t *numbers, const ranks_wish *wish,
                                  const int64_t *blocks, int64_t *first, int64_t *block)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const int64_t n = blocks[me + 1] - blocks[me];
    ranks_rows rows = {0};
    parts p = {0};
    spry_status status = partition_check_shares(ctx, ranks, wish->shares);
    if (status == SPRY_STATUS_OK)
        status = parts_allocate(ctx, n, &p);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, gather_graph(ctx, given, numbers, blocks, &rows));
    for (int64_t i = 0; i < n; i++)
        block[i] += 1; /* the work of a row */
    const int count = partition_sharers(ranks, wish->shares, p.ranked, p.share);
    const team_graph g = {.vertices = n,
                          .offsets = rows.offsets,
                          .neighbours = rows.columns,
                          .weights = block,
                          .parts = count,
                          .shares = p.share};
    SPRY_GO(ctx, team_agree(ctx, team_partition(ctx, &g, p.part)));
    for (int64_t i = 0; i < n; i++)
        p.part[i] = p.ranked[p.part[i]];
    SPRY_GO(ctx, number_parts(ctx, n, p.part, p.counts, first, block));
done:
    ranks_rows_clear(ctx, &rows);
    base_free(ctx, p.part);
    base_free(ctx, p.counts);
    base_free(ctx, p.ranked);
    base_free(ctx, p.share);
    return status;
}
