/* Matrices whose rows were distributed, and their vectors as callers number them. */
#include "ranks/ordering.h"

#include "ranks/fetch.h"

static void order_free(spry_context *ctx, void *data)
{
    ranks_order *o = data;
    base_free(ctx, o->first);
    base_free(ctx, o->blocks);
    ranks_move_clear(ctx, &o->move);
    ranks_move_clear(ctx, &o->known);
    base_free(ctx, o);
}

const ranks_order *ranks_order_of(const spry_matrix *A)
{
    return A->redistributed;
}

/* One rank has a matrix as any other. */
static spry_status make_matrix(spry_context *ctx, const ranks_rows *rows, const int64_t *first,
                               spry_matrix **A)
{
    const int me = team_rank(ctx);
    const bool square = rows->all_rows == rows->all_cols;
    const dist_rows mine = {
        .type = rows->type,
        .rows = rows->rows,
        .cols = square ? first[me + 1] - first[me]
                       : base_share(rows->all_cols, team_ranks(ctx), me, 1).end -
                             base_share(rows->all_cols, team_ranks(ctx), me, 1).begin,
        .offsets = rows->offsets,
        .columns = rows->columns,
        .values = rows->values};
    return dist_make(ctx, &mine, A);
}

spry_status ranks_wrap(spry_context *ctx, redistributed_matrix *redistributed, uint64_t fingerprint,
                       spry_matrix **A)
{
    ranks_order *o = NULL;
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(ctx, team_agree(ctx, base_calloc(ctx, 1, sizeof *o, &o)));
    SPRY_GO(ctx, make_matrix(ctx, &redistributed->rows, redistributed->first, A));
    *o = (ranks_order){redistributed->first, redistributed->blocks, redistributed->move,
                       redistributed->known, fingerprint};
    redistributed->first = redistributed->blocks = NULL;
    redistributed->move = redistributed->known = (ranks_move){0};
    (*A)->redistributed = o;
    (*A)->free_redistributed = order_free;
    o = NULL;
done:
    base_free(ctx, o);
    redistributed_matrix_clear(ctx, redistributed);
    return status;
}

/* --- vectors -------------------------------------------------------------------------------------
 */

spry_status ranks_blocks_of(const spry_matrix *A, int64_t **blocks)
{
    spry_context *ctx = A->ctx;
    const int ranks = team_ranks(ctx);
    const ranks_order *o = ranks_order_of(A);
    const spry_status status = base_alloc(ctx, ranks + 1, sizeof **blocks, blocks);
    for (int r = 0; status == SPRY_STATUS_OK && r <= ranks; r++)
        (*blocks)[r] = o                ? o->blocks[r]
                       : A->distributed ? A->distributed->row_starts[r]
                       : r > 0          ? A->a.rows
                                        : 0;
    return status;
}

static spry_status check_length(const spry_matrix *A, int64_t n)
{
    return n == A->a.rows
               ? SPRY_STATUS_OK
               : SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                           "the vector has %" PRId64 " numbers here, the matrix %" PRId64 " rows",
                           n, A->a.rows);
}

spry_status ranks_to_blocks(const spry_matrix *A, const spry_vector *v, int64_t **blocks,
                            void **values)
{
    spry_context *ctx = A->ctx;
    const ranks_order *o = ranks_order_of(A);
    const size_t size = spry_type_size(v->type);
    const int me = team_rank(ctx);
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    void *given = NULL;
    *blocks = NULL;
    *values = NULL;
    spry_status status = check_length(A, v->n);
    if (status == SPRY_STATUS_OK)
        status = vector_on_host(v, &on_host, &copy);
    if (status == SPRY_STATUS_OK)
        status = ranks_blocks_of(A, blocks);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, (*blocks)[me + 1] - (*blocks)[me], size, values);
    if (status == SPRY_STATUS_OK && o)
        status = base_alloc(ctx, o->move.way.sends, size, &given);
    SPRY_GO(ctx, team_agree(ctx, status));
    if (o) {
        SPRY_GO(ctx, ranks_move_back(ctx, &o->move, size, on_host->data, given));
        SPRY_GO(ctx, ranks_move_in(ctx, &o->known, size, given, *values));
    } else if (v->n > 0) {
        memcpy(*values, on_host->data, (size_t)v->n * size);
    }
done:
    base_free(ctx, given);
    spry_vector_free(copy);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *blocks);
        base_free(ctx, *values);
        *blocks = NULL;
        *values = NULL;
    }
    return status;
}

spry_status ranks_from_blocks(const spry_matrix *A, spry_type type, const void *values,
                              spry_vector **v)
{
    spry_context *ctx = A->ctx;
    const ranks_order *o = ranks_order_of(A);
    const size_t size = spry_type_size(type);
    void *given = NULL;
    spry_status status = spry_vector_new(ctx, type, A->a.rows, NULL, SPRY_OWN_COPY, v);
    if (status == SPRY_STATUS_OK && o)
        status = base_alloc(ctx, o->move.way.sends, size, &given);
    SPRY_GO(ctx, team_agree(ctx, status));
    (*v)->part = dist_own_rows(A);
    if (o) {
        SPRY_GO(ctx, ranks_move_back(ctx, &o->known, size, values, given));
        SPRY_GO(ctx, ranks_move_in(ctx, &o->move, size, given, (*v)->data));
    } else if ((*v)->n > 0) {
        memcpy((*v)->data, values, (size_t)(*v)->n * size);
    }
done:
    base_free(ctx, given);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}

/* --- fingerprints --------------------------------------------------------------------------------
 */

uint64_t ranks_mark(int64_t row, int64_t col, spry_scalar value)
{
    uint64_t re, im;
    const double parts[] = {value.re + 0.0, value.im + 0.0}; /* one zero */
    memcpy(&re, &parts[0], sizeof re);
    memcpy(&im, &parts[1], sizeof im);
    return base_random(base_random(re, (uint64_t)row), base_random(im + 1, (uint64_t)col));
}

spry_status ranks_add_marks(spry_context *ctx, uint64_t mine, uint64_t *all)
{
    /* Halves, so that sums of any number of ranks are exact. */
    int64_t low, high;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_sum(ctx, (int64_t)(mine & UINT32_MAX), &low));
    SPRY_GO(ctx, team_sum(ctx, (int64_t)(mine >> 32), &high));
    *all = (uint64_t)low + ((uint64_t)high << 32);
done:
    return status;
}

spry_status ranks_fingerprint(const spry_matrix *A, uint64_t *fingerprint)
{
    spry_context *ctx = A->ctx;
    const ranks_order *o = ranks_order_of(A);
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    ranks_rows rows = {0};
    uint64_t sum = 0;
    spry_status status = SPRY_STATUS_OK;
    if (o) {
        *fingerprint = o->fingerprint;
        return SPRY_STATUS_OK;
    }
    if (!A->distributed)
        SPRY_GO(ctx, matrix_as_csr(A, &csr, &owned));
    SPRY_GO(ctx, ranks_rows_of(csr ? csr : A, &rows));
    for (int64_t i = 0; i < rows.rows; i++)
        for (int64_t k = rows.offsets[i]; k < rows.offsets[i + 1]; k++)
            sum +=
                ranks_mark(rows.begin + i, rows.columns[k], value_get(rows.type, rows.values, k));
    SPRY_GO(ctx, ranks_add_marks(ctx, sum, fingerprint));
done:
    ranks_rows_clear(ctx, &rows);
    spry_matrix_free(owned);
    return status;
}

spry_status ranks_fingerprint_vector(const spry_matrix *A, const spry_vector *v,
                                     uint64_t *fingerprint)
{
    spry_context *ctx = A->ctx;
    const int me = team_rank(ctx);
    int64_t *blocks = NULL;
    void *values = NULL;
    uint64_t sum = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_to_blocks(A, v, &blocks, &values));
    for (int64_t i = blocks[me]; i < blocks[me + 1]; i++)
        sum += ranks_mark(i, 0, value_get(v->type, values, i - blocks[me]));
    SPRY_GO(ctx, ranks_add_marks(ctx, sum, fingerprint));
done:
    base_free(ctx, blocks);
    base_free(ctx, values);
    return status;
}
