/* Building distributed matrices: own block, edge rows, ghosts, and who needs what of whom. */
#include "ranks/distributed.h"

#include "matrix/entries.h"
#include "ranks/partition.h"

#include <stdlib.h>

void dist_free(spry_context *ctx, distributed *s)
{
    spry_matrix_free(s->own);
    spry_matrix_free(s->edge);
    void *const arrays[] = {s->row_starts, s->col_starts, s->edge_rows, s->kept_index,
                            s->ghost_cols, s->sent,       s->receive,   s->send};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(ctx, arrays[k]);
    base_free(ctx, s);
}

static spry_status check_rows(spry_context *ctx, const dist_rows *m, const int64_t *col_starts)
{
    const int64_t all = col_starts[team_ranks(ctx)];
    if (m->offsets[0] != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "offsets begin with %" PRId64 ", expected 0",
                         m->offsets[0]);
    for (int64_t i = 0; i < m->rows; i++) {
        if (m->offsets[i + 1] < m->offsets[i] || m->offsets[i + 1] > m->offsets[m->rows])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "row %" PRId64 " (of this rank, from 0): offsets fall", i);
        for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
            if (m->columns[k] < 0 || m->columns[k] >= all)
                return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                                 "row %" PRId64 " (of this rank, from 0): column %" PRId64
                                 " is outside 0..%" PRId64,
                                 i, m->columns[k], all - 1);
    }
    if (m->rows > INT32_MAX || m->cols > INT32_MAX)
        return SPRY_FAIL(
            ctx, SPRY_STATUS_UNSUPPORTED,
            "%" PRId64 " x %" PRId64
            " rows and columns on one rank, expected at most 2^31 - 1: take more ranks",
            m->rows, m->cols);
    return SPRY_STATUS_OK;
}

/* Reductions over all ranks are those of one where no rank's first chunk is cut. */
static spry_status check_strict(spry_context *ctx, const int64_t *starts)
{
    const int ranks = team_ranks(ctx);
    for (int r = 0; ctx->options.repeat == REPEAT_STRICT && r < ranks; r++)
        if (starts[r] % VECTOR_CHUNK != 0 && starts[r] != starts[ranks])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "rank %d begins with row or column %" PRId64
                             ": repeat=strict needs multiples of %d",
                             r, starts[r], VECTOR_CHUNK);
    return SPRY_STATUS_OK;
}

/* What one rank works out of its rows by itself. */
typedef struct sorting {
    spry_context *ctx;
    const dist_rows *m;
    distributed *s;
    int64_t first, end; /* own columns */
    int64_t own_nnz, edge_nnz, ghost_nnz;
} sorting;

static bool is_own(const sorting *g, int64_t k)
{
    return g->m->columns[k] >= g->first && g->m->columns[k] < g->end;
}

static int64_t ghosts_in_row(const sorting *g, int64_t i)
{
    int64_t count = 0;
    for (int64_t k = g->m->offsets[i]; k < g->m->offsets[i + 1]; k++)
        count += !is_own(g, k);
    return count;
}

static void count_rows(sorting *g)
{
    for (int64_t i = 0; i < g->m->rows; i++) {
        const int64_t length = g->m->offsets[i + 1] - g->m->offsets[i];
        const int64_t ghosts = ghosts_in_row(g, i);
        g->own_nnz += length - ghosts;
        g->ghost_nnz += ghosts;
        g->edge_nnz += ghosts > 0 ? length : 0;
        g->s->edges += ghosts > 0;
    }
}

static spry_status make_own(sorting *g)
{
    const dist_rows *m = g->m;
    const size_t size = spry_type_size(m->type);
    matrix_arrays a = {.type = m->type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = m->rows,
                       .cols = m->cols,
                       .nnz = g->own_nnz};
    spry_status status = matrix_allocate(g->ctx, &a);
    int64_t n = 0;
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < m->rows; i++) {
        a.offsets[i] = n;
        for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            if (!is_own(g, k))
                continue;
            a.col_index[n] = (int32_t)(m->columns[k] - g->first);
            element_move(size, a.values, n++, m->values, k);
        }
    }
    if (status == SPRY_STATUS_OK)
        a.offsets[m->rows] = n;
    return matrix_finish(g->ctx, status, &a, &g->s->own);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The ghosts, each once, rising. */
static spry_status list_ghosts(sorting *g)
{
    distributed *s = g->s;
    int64_t n = 0;
    const spry_status status =
        base_alloc(g->ctx, g->ghost_nnz, sizeof *s->ghost_cols, &s->ghost_cols);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t k = 0; k < g->m->offsets[g->m->rows]; k++)
        if (!is_own(g, k) && (n == 0 || s->ghost_cols[n - 1] != g->m->columns[k]))
            s->ghost_cols[n++] = g->m->columns[k];
    qsort(s->ghost_cols, (size_t)n, sizeof *s->ghost_cols, by_number);
    for (int64_t k = 0; k < n; k++)
        if (s->ghosts == 0 || s->ghost_cols[s->ghosts - 1] != s->ghost_cols[k])
            s->ghost_cols[s->ghosts++] = s->ghost_cols[k];
    return SPRY_STATUS_OK;
}

/* Places of own columns in the compact vector, in the order of columns; -1: none. */
static spry_status list_kept(sorting *g, int32_t **place)
{
    distributed *s = g->s;
    spry_context *ctx = g->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->m->cols, sizeof **place, place));
    memset(*place, 0, (size_t)g->m->cols * sizeof **place);
    for (int64_t e = 0; e < s->edges; e++) {
        const int64_t i = s->edge_rows[e];
        for (int64_t k = g->m->offsets[i]; k < g->m->offsets[i + 1]; k++)
            if (is_own(g, k))
                (*place)[g->m->columns[k] - g->first] = 1;
    }
    for (int64_t j = 0; j < g->m->cols; j++)
        s->kept += (*place)[j];
    SPRY_GO(ctx, base_alloc(ctx, s->kept, sizeof *s->kept_index, &s->kept_index));
    int32_t n = 0;
    for (int64_t j = 0; j < g->m->cols; j++) {
        const bool taken = (*place)[j] != 0;
        (*place)[j] = taken ? n : -1;
        if (taken)
            s->kept_index[n++] = (int32_t)j;
    }
done:
    return status;
}

static spry_status make_edge(sorting *g)
{
    const dist_rows *m = g->m;
    distributed *s = g->s;
    spry_context *ctx = g->ctx;
    const size_t size = spry_type_size(m->type);
    matrix_arrays a = {.type = m->type, .format = SPRY_FORMAT_CSR, .rows = s->edges};
    int32_t *place = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->edges, sizeof *s->edge_rows, &s->edge_rows));
    for (int64_t i = 0, e = 0; i < m->rows; i++)
        if (ghosts_in_row(g, i) > 0)
            s->edge_rows[e++] = (int32_t)i;
    SPRY_GO(ctx, list_kept(g, &place));
    a.nnz = g->edge_nnz;
    a.cols = s->kept + s->ghosts;
    if (a.cols > INT32_MAX) {
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                      "a rank needs %" PRId64 " elements of others: take more ranks", s->ghosts);
        goto done;
    }
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    int64_t n = 0;
    for (int64_t e = 0; e < s->edges; e++) {
        const int64_t i = s->edge_rows[e];
        a.offsets[e] = n;
        for (int64_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            a.col_index[n] = is_own(g, k)
                                 ? place[m->columns[k] - g->first]
                                 : (int32_t)(s->kept + matrix_first_from(s->ghost_cols, s->ghosts,
                                                                         m->columns[k]));
            element_move(size, a.values, n++, m->values, k);
        }
    }
    a.offsets[s->edges] = n;
done:
    base_free(ctx, place);
    return matrix_finish(ctx, status, &a, &s->edge);
}

/* --- who needs what of whom ----------------------------------------------------------------------
 */

/* Bytes for each rank, with what they are about. */
typedef struct exchange {
    int64_t *send_bytes, *receive_bytes, *eights;
} exchange;

/* Every rank sends every other how much is to come. */
static spry_status swap_counts(spry_context *ctx, const exchange *x)
{
    for (int r = 0; r < team_ranks(ctx); r++)
        x->eights[r] = (int64_t)sizeof *x->eights;
    return team_swap(ctx, x->eights, x->send_bytes, x->eights, x->receive_bytes);
}

static spry_status exchange_new(spry_context *ctx, exchange *x)
{
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    *x = (exchange){0};
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *x->send_bytes, &x->send_bytes));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *x->receive_bytes, &x->receive_bytes));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *x->eights, &x->eights));
done:
    return status;
}

static void exchange_free(spry_context *ctx, const exchange *x)
{
    base_free(ctx, x->send_bytes);
    base_free(ctx, x->receive_bytes);
    base_free(ctx, x->eights);
}

/* The ranks with anything to say, from the bytes of each. */
static spry_status list_neighbours(spry_context *ctx, const int64_t *bytes, int *count,
                                   dist_neighbour **list)
{
    const int64_t size = (int64_t)sizeof(int64_t);
    const spry_status status = base_alloc(ctx, team_ranks(ctx), sizeof **list, list);
    int64_t first = 0;
    for (int r = 0; status == SPRY_STATUS_OK && r < team_ranks(ctx); r++) {
        if (bytes[r] > 0)
            (*list)[(*count)++] = (dist_neighbour){r, first, bytes[r] / size};
        first += bytes[r] / size;
    }
    return status;
}

/* Each rank asks the others for its ghosts, and so learns what it is asked for. */
spry_status dist_find_neighbours(spry_context *ctx, distributed *s)
{
    const int ranks = team_ranks(ctx);
    const int64_t first = s->col_starts[team_rank(ctx)];
    exchange x;
    int64_t *wanted = NULL;
    spry_status status = exchange_new(ctx, &x);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t k = 0; k < s->ghosts; k++)
        x.receive_bytes[partition_owner(ranks, s->col_starts, s->ghost_cols[k])] +=
            (int64_t)sizeof *s->ghost_cols;
    status = list_neighbours(ctx, x.receive_bytes, &s->receives, &s->receive);
    memcpy(x.send_bytes, x.receive_bytes, (size_t)ranks * sizeof *x.send_bytes);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, swap_counts(ctx, &x)); /* receive_bytes: what this rank is asked for */
    for (int r = 0; r < ranks; r++)
        s->sent_count += x.receive_bytes[r] / (int64_t)sizeof *wanted;
    status = list_neighbours(ctx, x.receive_bytes, &s->sends, &s->send);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, s->sent_count, sizeof *wanted, &wanted);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, s->sent_count, sizeof *s->sent, &s->sent);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_swap(ctx, x.send_bytes, s->ghost_cols, x.receive_bytes, wanted));
    for (int64_t k = 0; k < s->sent_count; k++)
        s->sent[k] = (int32_t)(wanted[k] - first);
done:
    base_free(ctx, wanted);
    exchange_free(ctx, &x);
    return status;
}

/* What a rank makes by itself. */
static spry_status sort_rows(sorting *g)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(g->ctx, check_rows(g->ctx, g->m, g->s->col_starts));
    g->first = g->s->col_starts[team_rank(g->ctx)];
    g->end = g->first + g->m->cols;
    count_rows(g);
    SPRY_GO(g->ctx, make_own(g));
    SPRY_GO(g->ctx, list_ghosts(g));
    SPRY_GO(g->ctx, make_edge(g));
done:
    return status;
}

/* The matrix that callers hold: it looks like its own block. */
static spry_status wrap(spry_context *ctx, distributed *s, spry_matrix **A)
{
    const spry_status status = base_object_new(ctx, sizeof **A, A);
    if (status == SPRY_STATUS_OK) {
        (*A)->ctx = ctx;
        (*A)->a = s->own->a;
        (*A)->distributed = s;
    }
    return status;
}

spry_status dist_make_as(spry_context *ctx, const dist_class *class, const dist_rows *mine,
                         spry_matrix **A)
{
    distributed *s = NULL;
    *A = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof *s, &s);
    SPRY_GO(ctx, team_agree(ctx, status));
    s->class = class;
    sorting g = {.ctx = ctx, .m = mine, .s = s};
    SPRY_GO(ctx, team_offsets(ctx, mine->rows, &s->row_starts));
    SPRY_GO(ctx, team_offsets(ctx, mine->cols, &s->col_starts));
    s->square = memcmp(s->row_starts, s->col_starts,
                       (size_t)(team_ranks(ctx) + 1) * sizeof *s->row_starts) == 0;
    SPRY_GO(ctx, check_strict(ctx, s->row_starts));
    SPRY_GO(ctx, check_strict(ctx, s->col_starts));
    SPRY_GO(ctx, team_agree(ctx, sort_rows(&g)));
    if (team_ranks(ctx) == 1) { /* an ordinary one */
        *A = s->own;
        s->own = NULL;
        goto done;
    }
    SPRY_GO(ctx, dist_find_neighbours(ctx, s));
    SPRY_GO(ctx, team_sum(ctx, mine->offsets[mine->rows], &s->nnz));
    status = wrap(ctx, s, A);
    s = *A ? NULL : s; /* which goes with it then */
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    if (s)
        dist_free(ctx, s);
    if (status != SPRY_STATUS_OK) {
        spry_matrix_free(*A);
        *A = NULL;
    }
    return status;
}

spry_status dist_list_messages(spry_context *ctx, int count, const dist_neighbour *with,
                               int64_t size, void *place, team_message **list)
{
    const spry_status status = base_alloc(ctx, count, sizeof **list, list);
    for (int k = 0; status == SPRY_STATUS_OK && k < count; k++)
        (*list)[k] = (team_message){with[k].rank, with[k].count * size,
                                    (char *)place + with[k].first * size};
    return status;
}
