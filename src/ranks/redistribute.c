/*
 * Redistributing a matrix: rows get their numbers, numbers get their ranks, entries are sent.
 * Between, each rank looks after a block of the rows, whoever has them before and after: it knows
 * how many entries they have, or the new numbers of them.
 */
#include "ranks/redistribute.h"

#include "ranks/pattern.h"

void redistributed_matrix_clear(spry_context *ctx, redistributed_matrix *redistributed)
{
    ranks_rows_clear(ctx, &redistributed->rows);
    ranks_move_clear(ctx, &redistributed->move);
    ranks_move_clear(ctx, &redistributed->known);
    base_free(ctx, redistributed->blocks);
    base_free(ctx, redistributed->first);
    *redistributed = (redistributed_matrix){0};
}

/* Fails where what this rank gives cannot be. */
static spry_status check_given(spry_context *ctx, const ranks_given *g, const ranks_wish *wish)
{
    if (g->rows < 0 || g->all_rows < 0 || g->all_cols < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%" PRId64 " rows of %" PRId64 " x %" PRId64 " are given", g->rows,
                         g->all_rows, g->all_cols);
    if ((wish->kind == RANKS_BY_GRAPH || wish->kind == RANKS_TOGETHER) &&
        g->all_rows != g->all_cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a partition by the graph is for square matrices, this one is %" PRId64
                         " x %" PRId64,
                         g->all_rows, g->all_cols);
    for (int64_t i = 0; i < g->rows; i++)
        if (g->offsets[i] > g->offsets[i + 1] || g->offsets[0] != 0)
            return SPRY_FAIL(
                ctx, SPRY_STATUS_BAD_INPUT,
                "the offsets of the rows given do not rise from 0 at row %" PRId64 " of them", i);
    for (int64_t k = 0; g->rows > 0 && k < g->offsets[g->rows]; k++)
        if (g->columns[k] < 0 || g->columns[k] >= g->all_cols)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "column %" PRId64 " is outside 0..%" PRId64, g->columns[k],
                             g->all_cols - 1);
    return SPRY_STATUS_OK;
}

/* The numbers of the rows given, in memory of their own. */
static spry_status number_given(spry_context *ctx, const ranks_given *g, int64_t **numbers)
{
    int64_t *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, g->rows, sizeof **numbers, numbers)));
    SPRY_GO(ctx, team_offsets(ctx, g->rows, &offsets));
    if (offsets[team_ranks(ctx)] != g->all_rows)
        SPRY_GO(ctx,
                SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "the ranks give %" PRId64 " rows of %" PRId64,
                          offsets[team_ranks(ctx)], g->all_rows));
    for (int64_t k = 0; k < g->rows; k++)
        (*numbers)[k] = g->numbers ? g->numbers[k] : offsets[team_rank(ctx)] + k;
done:
    base_free(ctx, offsets);
    return status;
}

/* --- who gets what -------------------------------------------------------------------------------
 */

/* What is known on the way. */
typedef struct redistribution {
    const ranks_given *given;
    const ranks_wish *wish;
    int64_t *numbers; /* of the rows given: old ones, then new ones */
    const int64_t *blocks;
    const ranks_move *known; /* rows given to the blocks that they are in */
    int64_t *block; /* a number of each row of this rank's block: entries, or its new number */
    bool renumbered;
    int64_t *columns; /* renumbered */
} redistribution;

static void redistribution_clear(spry_context *ctx, redistribution *d)
{
    base_free(ctx, d->numbers);
    base_free(ctx, d->block);
    base_free(ctx, d->columns);
}

/* The entries of each row of the block. */
static spry_status count_entries(spry_context *ctx, redistribution *d)
{
    const ranks_given *g = d->given;
    int64_t *entries = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, g->rows, sizeof *entries, &entries)));
    for (int64_t i = 0; i < g->rows; i++)
        entries[i] = g->offsets[i + 1] - g->offsets[i];
    SPRY_GO(ctx, ranks_move_in(ctx, d->known, sizeof *entries, entries, d->block));
done:
    base_free(ctx, entries);
    return status;
}

static spry_status cut_by_work(spry_context *ctx, redistribution *d, int64_t *first)
{
    const spry_status status = count_entries(ctx, d);
    return status == SPRY_STATUS_OK ? ranks_cut(ctx, d->blocks, d->block, d->wish, first) : status;
}

static spry_status number_together(spry_context *ctx, redistribution *d, int64_t *first)
{
    const spry_status status = count_entries(ctx, d);
    d->renumbered = true;
    return status == SPRY_STATUS_OK ? ranks_number_together(ctx, d->given, d->numbers, d->wish,
                                                            d->blocks, first, d->block)
                                    : status;
}

/* New numbers for rows that stay where they are given. */
static spry_status number_as_given(spry_context *ctx, redistribution *d, int64_t *first)
{
    int64_t *offsets = NULL, *fresh = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_offsets(ctx, d->given->rows, &offsets));
    memcpy(first, offsets, (size_t)(team_ranks(ctx) + 1) * sizeof *first);
    if (!d->given->numbers)
        goto done;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, d->given->rows, sizeof *fresh, &fresh)));
    for (int64_t k = 0; k < d->given->rows; k++)
        fresh[k] = offsets[team_rank(ctx)] + k;
    SPRY_GO(ctx, ranks_move_in(ctx, d->known, sizeof *fresh, fresh, d->block));
    d->renumbered = true;
done:
    base_free(ctx, offsets);
    base_free(ctx, fresh);
    return status;
}

static spry_status choose(spry_context *ctx, redistribution *d, int64_t *first)
{
    switch (d->wish->kind) {
    case RANKS_AS_GIVEN:
        return number_as_given(ctx, d, first);
    case RANKS_BY_GRAPH:
        d->renumbered = true;
        return ranks_number_by_graph(ctx, d->given, d->numbers, d->wish, d->blocks, first,
                                     d->block);
    case RANKS_TOGETHER:
        return number_together(ctx, d, first);
    default:
        return cut_by_work(ctx, d, first);
    }
}

/* Rows and, of square matrices, columns get their new numbers. */
static spry_status renumber(spry_context *ctx, redistribution *d)
{
    const ranks_given *g = d->given;
    const int64_t entries = g->rows > 0 ? g->offsets[g->rows] : 0;
    const ranks_numbers numbers = {d->blocks, d->block};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_renumber(ctx, &numbers, g->rows, d->numbers));
    if (g->all_rows != g->all_cols)
        goto done;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, entries, sizeof *d->columns, &d->columns)));
    if (entries > 0)
        memcpy(d->columns, g->columns, (size_t)entries * sizeof *d->columns);
    SPRY_GO(ctx, ranks_renumber(ctx, &numbers, entries, d->columns));
done:
    return status;
}

/* The entries given, with the numbers of their rows. */
static spry_status send(spry_context *ctx, const redistribution *d,
                        redistributed_matrix *redistributed)
{
    const ranks_given *g = d->given;
    ranks_entries e = {.type = g->type,
                       .count = g->rows > 0 ? g->offsets[g->rows] : 0,
                       .col = d->columns ? d->columns : (int64_t *)g->columns,
                       .values = (void *)g->values};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, e.count, sizeof *e.row, &e.row)));
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t k = g->offsets[i]; k < g->offsets[i + 1]; k++)
            e.row[k] = d->numbers[i];
    SPRY_GO(ctx,
            ranks_gather_rows(ctx, &e, redistributed->first, g->all_cols, &redistributed->rows));
    SPRY_GO(ctx,
            ranks_move_make(ctx, g->rows, d->numbers, redistributed->first, &redistributed->move));
done:
    base_free(ctx, e.row);
    return status;
}

static spry_status allocate(spry_context *ctx, redistribution *d,
                            redistributed_matrix *redistributed)
{
    const int me = team_rank(ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_blocks(ctx, d->given->all_rows, &redistributed->blocks));
    d->blocks = redistributed->blocks;
    SPRY_GO(ctx, base_alloc(ctx, d->blocks[me + 1] - d->blocks[me], sizeof *d->block, &d->block));
    SPRY_GO(ctx, base_alloc(ctx, team_ranks(ctx) + 1, sizeof *redistributed->first,
                            &redistributed->first));
done:
    return status;
}

spry_status ranks_matrix(spry_context *ctx, const ranks_given *given, const ranks_wish *wish,
                         redistributed_matrix *redistributed)
{
    redistribution d = {.given = given, .wish = wish, .known = &redistributed->known};
    spry_status status = SPRY_STATUS_OK;
    *redistributed = (redistributed_matrix){0};
    SPRY_GO(ctx, team_agree(ctx, check_given(ctx, given, wish)));
    SPRY_GO(ctx, team_agree(ctx, allocate(ctx, &d, redistributed)));
    SPRY_GO(ctx, number_given(ctx, given, &d.numbers));
    SPRY_GO(ctx, ranks_move_make(ctx, given->rows, d.numbers, d.blocks, &redistributed->known));
    SPRY_GO(ctx, choose(ctx, &d, redistributed->first));
    if (d.renumbered)
        SPRY_GO(ctx, renumber(ctx, &d));
    SPRY_GO(ctx, send(ctx, &d, redistributed));
done:
    redistribution_clear(ctx, &d);
    if (status != SPRY_STATUS_OK)
        redistributed_matrix_clear(ctx, redistributed);
    return status;
}
