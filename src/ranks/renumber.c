/*
 * Asking for numbers: each rank asks for each row once, those who know answer by the same route. A
 * hash table finds what was asked for before.
 */
#include "ranks/move.h"

#include "ranks/partition.h"

/* Rows that are asked for, and where they are in the table: slot s holds 1 + the index in `rows`.
 */
typedef struct wanted {
    int64_t *rows, count;
    int64_t *slots, size; /* a power of two, at least twice the count */
} wanted;

static int64_t *find_slot(const wanted *w, int64_t row)
{
    int64_t s = (int64_t)(base_random(1, (uint64_t)row) & (uint64_t)(w->size - 1));
    while (w->slots[s] && w->rows[w->slots[s] - 1] != row)
        s = (s + 1) & (w->size - 1);
    return &w->slots[s];
}

static void fill_slots(wanted *w)
{
    memset(w->slots, 0, (size_t)w->size * sizeof *w->slots);
    for (int64_t k = 0; k < w->count; k++)
        *find_slot(w, w->rows[k]) = k + 1;
}

/* Makes room for one more. */
static spry_status grow(spry_context *ctx, wanted *w)
{
    const int64_t size = w->size ? 2 * w->size : 1024;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_grow(ctx, w->count, size / 2, sizeof *w->rows, &w->rows));
    base_free(ctx, w->slots);
    w->slots = NULL;
    w->size = size;
    SPRY_GO(ctx, base_alloc(ctx, size, sizeof *w->slots, &w->slots));
    fill_slots(w);
done:
    return status;
}

/* Lists rows once each, and puts the index in the list in each one's place. */
static spry_status list_rows(spry_context *ctx, int64_t all, int64_t count, int64_t *rows,
                             wanted *w)
{
    for (int64_t k = 0; k < count; k++) {
        if (rows[k] < 0 || rows[k] >= all)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "column %" PRId64 " is outside 0..%" PRId64, rows[k], all - 1);
        if (2 * w->count >= w->size) {
            const spry_status status = grow(ctx, w);
            if (status != SPRY_STATUS_OK)
                return status;
        }
        int64_t *slot = find_slot(w, rows[k]);
        if (!*slot) {
            w->rows[w->count++] = rows[k];
            *slot = w->count;
        }
        rows[k] = *slot - 1;
    }
    return SPRY_STATUS_OK;
}

/* Has the ranks that know answer; w->rows become the numbers. */
static spry_status ask(spry_context *ctx, const ranks_numbers *numbers, wanted *w)
{
    const int ranks = team_ranks(ctx);
    const int64_t begin = numbers->first[team_rank(ctx)];
    int32_t *to = NULL;
    int64_t *asked = NULL;
    route r = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, w->count, sizeof *to, &to)));
    for (int64_t k = 0; k < w->count; k++)
        to[k] = partition_owner(ranks, numbers->first, w->rows[k]);
    SPRY_GO(ctx, route_make(ctx, w->count, to, &r));
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, r.receives, sizeof *asked, &asked)));
    SPRY_GO(ctx, route_send(ctx, &r, sizeof *asked, w->rows, asked));
    for (int64_t k = 0; k < r.receives; k++)
        asked[k] = numbers->number[asked[k] - begin];
    SPRY_GO(ctx, route_return(ctx, &r, sizeof *asked, asked, w->rows));
done:
    route_clear(ctx, &r);
    base_free(ctx, to);
    base_free(ctx, asked);
    return status;
}

spry_status ranks_renumber(spry_context *ctx, const ranks_numbers *numbers, int64_t count,
                           int64_t *rows)
{
    wanted w = {0};
    spry_status status = SPRY_STATUS_OK;
    const int64_t all = numbers->first[team_ranks(ctx)];
    SPRY_GO(ctx, team_agree(ctx, list_rows(ctx, all, count, rows, &w)));
    SPRY_GO(ctx, ask(ctx, numbers, &w));
    for (int64_t k = 0; k < count; k++)
        rows[k] = w.rows[rows[k]];
done:
    base_free(ctx, w.rows);
    base_free(ctx, w.slots);
    return status;
}
