/* Entries sent to the ranks that have their rows, grouped by row and sorted there. */
#include "ranks/rows.h"

#include "matrix/entries.h"
#include "ranks/partition.h"

void ranks_rows_clear(spry_context *ctx, ranks_rows *rows)
{
    base_free(ctx, rows->offsets);
    base_free(ctx, rows->columns);
    base_free(ctx, rows->values);
    *rows = (ranks_rows){0};
}

spry_status ranks_entries_allocate(spry_context *ctx, spry_type type, int64_t count,
                                   ranks_entries *e)
{
    spry_status status = SPRY_STATUS_OK;
    *e = (ranks_entries){.type = type, .count = count};
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *e->row, &e->row));
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *e->col, &e->col));
    SPRY_GO(ctx, base_alloc(ctx, count, spry_type_size(type), &e->values));
done:
    if (status != SPRY_STATUS_OK)
        ranks_entries_clear(ctx, e);
    return status;
}

void ranks_entries_clear(spry_context *ctx, ranks_entries *e)
{
    base_free(ctx, e->row);
    base_free(ctx, e->col);
    base_free(ctx, e->values);
    *e = (ranks_entries){0};
}

/* The rank of each entry's row; entries of one row follow one another, mostly. */
static void find_owners(const ranks_entries *e, int ranks, const int64_t *first, int32_t *to)
{
    int last = 0;
    for (int64_t k = 0; k < e->count; k++) {
        if (e->row[k] < first[last] || e->row[k] >= first[last + 1])
            last = partition_owner(ranks, first, e->row[k]);
        to[k] = last;
    }
}

static spry_status send_entries(spry_context *ctx, const ranks_entries *given, const int64_t *first,
                                ranks_entries *received)
{
    int32_t *to = NULL;
    route r = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, given->count, sizeof *to, &to)));
    find_owners(given, team_ranks(ctx), first, to);
    SPRY_GO(ctx, route_make(ctx, given->count, to, &r));
    SPRY_GO(ctx, team_agree(ctx, ranks_entries_allocate(ctx, given->type, r.receives, received)));
    SPRY_GO(ctx, route_send(ctx, &r, sizeof *given->row, given->row, received->row));
    SPRY_GO(ctx, route_send(ctx, &r, sizeof *given->col, given->col, received->col));
    SPRY_GO(ctx, route_send(ctx, &r, spry_type_size(given->type), given->values, received->values));
done:
    route_clear(ctx, &r);
    base_free(ctx, to);
    return status;
}

/* --- grouping and sorting ------------------------------------------------------------------------
 */

/* An entry's column, and where it is among those received. */
typedef struct placed {
    int64_t column, from;
} placed;

static bool is_sorted(const placed *p, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (p[k].column < p[k - 1].column)
            return false;
    return true;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Merges runs of 1, 2, 4, ...: entries of one column stay in their order. */
static void sort_row(placed *p, placed *room, int64_t n)
{
    if (is_sorted(p, n))
        return;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t at = 0; at < n; at += 2 * width) {
            const int64_t middle = smaller(at + width, n), end = smaller(at + 2 * width, n);
            int64_t a = at, b = middle;
            for (int64_t k = at; k < end; k++)
                room[k] = a < middle && (b == end || p[a].column <= p[b].column) ? p[a++] : p[b++];
        }
        memcpy(p, room, (size_t)n * sizeof *p);
    }
}

static spry_status count_rows(spry_context *ctx, const ranks_entries *e, ranks_rows *rows,
                              int64_t *longest)
{
    spry_status status = base_calloc(ctx, rows->rows + 1, sizeof *rows->offsets, &rows->offsets);
    *longest = 0;
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t k = 0; k < e->count; k++)
        rows->offsets[e->row[k] - rows->begin + 1]++;
    for (int64_t i = 0; i < rows->rows; i++)
        *longest = rows->offsets[i + 1] > *longest ? rows->offsets[i + 1] : *longest;
    return base_prefix_sum(ctx, rows->offsets, rows->rows);
}

static spry_status group(spry_context *ctx, const ranks_entries *e, ranks_rows *rows)
{
    const size_t size = spry_type_size(e->type);
    placed *all = NULL, *room = NULL;
    int64_t *next = NULL, longest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, count_rows(ctx, e, rows, &longest));
    SPRY_GO(ctx, base_alloc(ctx, e->count, sizeof *all, &all));
    SPRY_GO(ctx, base_alloc(ctx, longest, sizeof *room, &room));
    SPRY_GO(ctx, base_alloc(ctx, rows->rows + 1, sizeof *next, &next));
    SPRY_GO(ctx, base_alloc(ctx, e->count, sizeof *rows->columns, &rows->columns));
    SPRY_GO(ctx, base_alloc(ctx, e->count, size, &rows->values));
    memcpy(next, rows->offsets, (size_t)(rows->rows + 1) * sizeof *next);
    for (int64_t k = 0; k < e->count; k++)
        all[next[e->row[k] - rows->begin]++] = (placed){e->col[k], k};
    for (int64_t i = 0; i < rows->rows; i++)
        sort_row(all + rows->offsets[i], room, rows->offsets[i + 1] - rows->offsets[i]);
    for (int64_t k = 0; k < e->count; k++) {
        rows->columns[k] = all[k].column;
        element_move(size, rows->values, k, e->values, all[k].from);
    }
done:
    base_free(ctx, all);
    base_free(ctx, room);
    base_free(ctx, next);
    return status;
}

spry_status ranks_gather_rows(spry_context *ctx, const ranks_entries *given, const int64_t *first,
                              int64_t all_cols, ranks_rows *rows)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    ranks_entries mine = {0};
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){.type = given->type,
                         .begin = first[me],
                         .rows = first[me + 1] - first[me],
                         .all_rows = first[ranks],
                         .all_cols = all_cols};
    SPRY_GO(ctx, send_entries(ctx, given, first, &mine));
    SPRY_GO(ctx, team_agree(ctx, group(ctx, &mine, rows)));
done:
    ranks_entries_clear(ctx, &mine);
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, rows);
    return status;
}

static bool rise(const ranks_rows *rows)
{
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t k = rows->offsets[i] + 1; k < rows->offsets[i + 1]; k++)
            if (rows->columns[k] <= rows->columns[k - 1])
                return false;
    return true;
}

spry_status ranks_sort_rows(spry_context *ctx, ranks_rows *rows)
{
    ranks_entries e = {.type = rows->type,
                       .count = rows->offsets[rows->rows],
                       .col = rows->columns,
                       .values = rows->values};
    ranks_rows sorted = *rows;
    spry_status status = SPRY_STATUS_OK;
    sorted.offsets = sorted.columns = NULL;
    sorted.values = NULL;
    if (rise(rows))
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, e.count, sizeof *e.row, &e.row));
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1]; k++)
            e.row[k] = rows->begin + i;
    SPRY_GO(ctx, group(ctx, &e, &sorted));
    ranks_sum_duplicates(&sorted);
    ranks_rows_clear(ctx, rows);
    *rows = sorted;
    sorted = (ranks_rows){0};
done:
    base_free(ctx, e.row);
    ranks_rows_clear(ctx, &sorted);
    return status;
}

int64_t ranks_find_duplicate(const ranks_rows *rows, int64_t *row)
{
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t k = rows->offsets[i] + 1; k < rows->offsets[i + 1]; k++)
            if (rows->columns[k] == rows->columns[k - 1]) {
                *row = rows->begin + i;
                return k;
            }
    return rows->offsets[rows->rows];
}

void ranks_sum_duplicates(ranks_rows *rows)
{
    int64_t to = 0;
    for (int64_t i = 0; i < rows->rows; i++) {
        const int64_t begin = rows->offsets[i], start = to;
        rows->offsets[i] = to;
        for (int64_t k = begin; k < rows->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(rows->type, rows->values, k);
            if (to > start && rows->columns[to - 1] == rows->columns[k]) {
                const spry_scalar sum = value_load(rows->type, rows->values, to - 1);
                value_set(rows->type, rows->values, to - 1,
                          (spry_scalar){sum.re + v.re, sum.im + v.im});
                continue;
            }
            rows->columns[to] = rows->columns[k];
            value_set(rows->type, rows->values, to++, v);
        }
    }
    rows->offsets[rows->rows] = to;
}
