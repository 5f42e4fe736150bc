/* Rows by their numbers: those who have them are asked, send their lengths, and then the rows. */
#include "ranks/fetch.h"

#include "matrix/entries.h"
#include "ranks/partition.h"

/* --- the rows of a matrix ------------------------------------------------------------------------
 */

static spry_status copy_plain(const spry_matrix *A, ranks_rows *rows)
{
    spry_context *ctx = A->ctx;
    const matrix_arrays *a = &A->a;
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){a->type, 0, a->rows, a->rows, a->cols, NULL, NULL, NULL};
    SPRY_GO(ctx, base_alloc(ctx, a->rows + 1, sizeof *rows->offsets, &rows->offsets));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *rows->columns, &rows->columns));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, spry_type_size(a->type), &rows->values));
    memcpy(rows->offsets, a->offsets, (size_t)(a->rows + 1) * sizeof *rows->offsets);
    for (int64_t k = 0; k < a->nnz; k++)
        rows->columns[k] = a->col_index[k];
    if (a->nnz > 0)
        memcpy(rows->values, a->values, (size_t)a->nnz * spry_type_size(a->type));
done:
    return status;
}

/* The column over all ranks of a column of the edge. */
static int64_t edge_column(const distributed *s, int64_t first, int32_t j)
{
    return j < s->kept ? first + s->kept_index[j] : s->ghost_cols[j - s->kept];
}

/* A row from one matrix or the other. */
static void copy_row(const matrix_arrays *from, int64_t row, const distributed *edge, int64_t first,
                     ranks_rows *rows, int64_t *at)
{
    const size_t size = spry_type_size(rows->type);
    for (int64_t k = from->offsets[row]; k < from->offsets[row + 1]; k++, ++*at) {
        const int32_t j = from->col_index[k];
        rows->columns[*at] = edge ? edge_column(edge, first, j) : first + j;
        element_move(size, rows->values, *at, from->values, k);
    }
}

static spry_status copy_distributed(const spry_matrix *A, ranks_rows *rows)
{
    spry_context *ctx = A->ctx;
    const distributed *s = A->distributed;
    const matrix_arrays *own = &s->own->a, *edge = &s->edge->a;
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    int64_t nnz = edge->nnz, at = 0, e = 0;
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){.type = own->type,
                         .begin = s->row_starts[me],
                         .rows = own->rows,
                         .all_rows = s->row_starts[ranks],
                         .all_cols = s->col_starts[ranks]};
    for (int64_t i = 0; i < own->rows; i++) {
        const bool outer = e < s->edges && s->edge_rows[e] == i;
        e += outer;
        nnz += outer ? 0 : own->offsets[i + 1] - own->offsets[i];
    }
    SPRY_GO(ctx, base_alloc(ctx, own->rows + 1, sizeof *rows->offsets, &rows->offsets));
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof *rows->columns, &rows->columns));
    SPRY_GO(ctx, base_alloc(ctx, nnz, spry_type_size(own->type), &rows->values));
    e = 0;
    for (int64_t i = 0; i < own->rows; i++) {
        const bool outer = e < s->edges && s->edge_rows[e] == i;
        rows->offsets[i] = at;
        copy_row(outer ? edge : own, outer ? e : i, outer ? s : NULL, s->col_starts[me], rows, &at);
        e += outer;
    }
    rows->offsets[own->rows] = at;
done:
    return status;
}

spry_status ranks_rows_of(const spry_matrix *A, ranks_rows *rows)
{
    *rows = (ranks_rows){0};
    spry_status status = A->distributed ? copy_distributed(A, rows) : copy_plain(A, rows);
    if (status == SPRY_STATUS_OK) /* callers give entries in any order */
        status = ranks_sort_rows(A->ctx, rows);
    status = team_agree(A->ctx, status);
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(A->ctx, rows);
    return status;
}

spry_status ranks_distribute(spry_context *ctx, const ranks_rows *rows, int64_t cols,
                             spry_matrix **A)
{
    const dist_rows mine = {.type = rows->type,
                            .rows = rows->rows,
                            .cols = cols,
                            .offsets = rows->offsets,
                            .columns = rows->columns,
                            .values = rows->values};
    return dist_make(ctx, &mine, A);
}

/* --- fetching ------------------------------------------------------------------------------------
 */

/* What is asked of whom. */
typedef struct request {
    route way;
    int32_t *to;
    int64_t *asked; /* own places that others ask for */
} request;

static void request_clear(spry_context *ctx, request *q)
{
    route_clear(ctx, &q->way);
    base_free(ctx, q->to);
    base_free(ctx, q->asked);
}

static spry_status request_make(spry_context *ctx, const int64_t *first, int64_t count,
                                const int64_t *numbers, request *q)
{
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    *q = (request){0};
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, count, sizeof *q->to, &q->to)));
    for (int64_t k = 0; k < count; k++)
        q->to[k] = partition_owner(ranks, first, numbers[k]);
    SPRY_GO(ctx, route_make(ctx, count, q->to, &q->way));
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, q->way.receives, sizeof *q->asked, &q->asked)));
    SPRY_GO(ctx, route_send(ctx, &q->way, sizeof *numbers, numbers, q->asked));
    for (int64_t k = 0; k < q->way.receives; k++)
        q->asked[k] -= first[team_rank(ctx)];
done:
    return status;
}

spry_status ranks_fetch(spry_context *ctx, const int64_t *first, size_t size, const void *mine,
                        int64_t count, const int64_t *numbers, void *fetched)
{
    request q;
    char *answer = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, request_make(ctx, first, count, numbers, &q));
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, q.way.receives, size, &answer)));
    for (int64_t k = 0; k < q.way.receives; k++)
        memcpy(answer + (size_t)k * size, (const char *)mine + (size_t)q.asked[k] * size, size);
    SPRY_GO(ctx, route_return(ctx, &q.way, size, answer, fetched));
done:
    base_free(ctx, answer);
    request_clear(ctx, &q);
    return status;
}

/* What is sent for entries of rows, and what comes. */
typedef struct entries_way {
    int64_t *send, *receive; /* entries to and from each rank, then bytes */
    int64_t out, in;
    int64_t *start; /* where each row begins among those received, by its place on the way */
} entries_way;

static spry_status count_entries(spry_context *ctx, const request *q, const ranks_rows *mine,
                                 const ranks_rows *fetched, entries_way *w)
{
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 2 * ranks, sizeof *w->send, &w->send));
    SPRY_GO(ctx, base_alloc(ctx, q->way.sends + 1, sizeof *w->start, &w->start));
    w->receive = w->send + ranks;
    int64_t k = 0;
    for (int r = 0; r < ranks; r++)
        for (const int64_t end = k + q->way.receive_each[r]; k < end; k++)
            w->send[r] += mine->offsets[q->asked[k] + 1] - mine->offsets[q->asked[k]];
    for (int64_t i = 0; i < q->way.sends; i++) {
        const int64_t length = fetched->offsets[i + 1] - fetched->offsets[i];
        w->receive[q->to[i]] += length;
        w->start[q->way.place[i] + 1] = length;
    }
    w->start[0] = 0;
    for (int64_t i = 0; i < q->way.sends; i++)
        w->start[i + 1] += w->start[i];
    for (int r = 0; r < ranks; r++) {
        w->out += w->send[r];
        w->in += w->receive[r];
    }
done:
    return status;
}

/* Columns or values, of `size` bytes, from all rows asked for to the places of those fetched. */
static spry_status send_entries(spry_context *ctx, const request *q, const ranks_rows *mine,
                                const entries_way *w, size_t size, const void *from,
                                const ranks_rows *fetched, void *to)
{
    const int ranks = team_ranks(ctx);
    char *out = NULL, *in = NULL;
    int64_t *bytes = NULL;
    spry_status status = base_alloc(ctx, w->out, size, &out);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, w->in, size, &in);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, 2 * ranks, sizeof *bytes, &bytes);
    SPRY_GO(ctx, team_agree(ctx, status));
    char *p = out;
    for (int64_t k = 0; k < q->way.receives; k++) {
        const int64_t at = mine->offsets[q->asked[k]];
        const size_t length = (size_t)(mine->offsets[q->asked[k] + 1] - at) * size;
        memcpy(p, (const char *)from + (size_t)at * size, length);
        p += length;
    }
    for (int r = 0; r < 2 * ranks; r++)
        bytes[r] = w->send[r] * (int64_t)size;
    SPRY_GO(ctx, team_swap(ctx, bytes, out, bytes + ranks, in));
    for (int64_t i = 0; i < q->way.sends; i++)
        memcpy((char *)to + (size_t)fetched->offsets[i] * size,
               in + (size_t)w->start[q->way.place[i]] * size,
               (size_t)(fetched->offsets[i + 1] - fetched->offsets[i]) * size);
done:
    base_free(ctx, out);
    base_free(ctx, in);
    base_free(ctx, bytes);
    return status;
}

static spry_status fetch_lengths(spry_context *ctx, const request *q, const ranks_rows *mine,
                                 ranks_rows *fetched)
{
    int64_t *lengths = NULL;
    spry_status status = base_alloc(ctx, q->way.receives, sizeof *lengths, &lengths);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, fetched->rows + 1, sizeof *fetched->offsets, &fetched->offsets);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t k = 0; k < q->way.receives; k++)
        lengths[k] = mine->offsets[q->asked[k] + 1] - mine->offsets[q->asked[k]];
    fetched->offsets[0] = 0;
    SPRY_GO(ctx, route_return(ctx, &q->way, sizeof *lengths, lengths, fetched->offsets + 1));
    for (int64_t i = 0; i < fetched->rows; i++)
        fetched->offsets[i + 1] += fetched->offsets[i];
done:
    base_free(ctx, lengths);
    return status;
}

spry_status ranks_fetch_rows(spry_context *ctx, const ranks_rows *mine, const int64_t *first,
                             int64_t count, const int64_t *numbers, ranks_rows *fetched)
{
    const size_t size = spry_type_size(mine->type);
    request q;
    entries_way w = {0};
    spry_status status = SPRY_STATUS_OK;
    *fetched = (ranks_rows){.type = mine->type,
                            .begin = -1,
                            .rows = count,
                            .all_rows = mine->all_rows,
                            .all_cols = mine->all_cols};
    SPRY_GO(ctx, request_make(ctx, first, count, numbers, &q));
    SPRY_GO(ctx, fetch_lengths(ctx, &q, mine, fetched));
    status = count_entries(ctx, &q, mine, fetched, &w);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, w.in, sizeof *fetched->columns, &fetched->columns);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, w.in, size, &fetched->values);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, send_entries(ctx, &q, mine, &w, sizeof *mine->columns, mine->columns, fetched,
                              fetched->columns));
    SPRY_GO(ctx, send_entries(ctx, &q, mine, &w, size, mine->values, fetched, fetched->values));
done:
    request_clear(ctx, &q);
    base_free(ctx, w.send);
    base_free(ctx, w.start);
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, fetched);
    return status;
}
