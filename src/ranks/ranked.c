/* Matrices and vectors that ranks give, read and write together, as callers see them. */
#include "ranks/files.h"
#include "ranks/ordering.h"

#include <spry/ranks.h>

/* Nodes of meshes have 1, 2, 3, 4, 6 or 12 unknowns, which should stay together. */
enum { NODES = 12 };

/* As the context's options say. */
static ranks_wish wish_of(const spry_context *ctx, int64_t rows, partition_limits *limits)
{
    const bool strict = ctx->options.repeat == REPEAT_STRICT;
    const int64_t grain = strict ? VECTOR_CHUNK : NODES, parts = rows / grain + (rows % grain != 0);
    *limits = (partition_limits){parts <= INT32_MAX ? (int)parts : 0, grain};
    const bool many = rows / team_ranks(ctx) >= 8 * NODES;
    static const ranks_kind kinds[] = {[PARTITION_ROWS] = RANKS_BY_WORK,
                                       [PARTITION_GRAPH] = RANKS_BY_GRAPH,
                                       [PARTITION_PTSCOTCH] = RANKS_TOGETHER};
    return (ranks_wish){kinds[ctx->options.partition], ctx->team ? ctx->team->shares : NULL,
                        strict || many ? limits : NULL};
}

static uint64_t mark_given(const ranks_given *g, int64_t begin)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t k = g->offsets[i]; k < g->offsets[i + 1]; k++)
            sum += ranks_mark(g->numbers ? g->numbers[i] : begin + i, g->columns[k],
                              value_get(g->type, g->values, k));
    return sum;
}

static spry_status ranks_out(spry_context *ctx, const ranks_given *given, spry_matrix **A)
{
    partition_limits limits;
    const ranks_wish wish = wish_of(ctx, given->all_rows, &limits);
    redistributed_matrix redistributed = {0};
    int64_t *offsets = NULL;
    uint64_t all = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_matrix(ctx, given, &wish, &redistributed));
    SPRY_GO(ctx, team_offsets(ctx, given->rows, &offsets));
    SPRY_GO(ctx, ranks_add_marks(ctx, mark_given(given, offsets[team_rank(ctx)]), &all));
    SPRY_GO(ctx, ranks_wrap(ctx, &redistributed, all, A));
done:
    base_free(ctx, offsets);
    redistributed_matrix_clear(ctx, &redistributed);
    return status;
}

spry_status spry_matrix_new_distributed(spry_context *ctx, spry_type type, int64_t all_rows,
                                        int64_t all_cols, int64_t rows, const int64_t *numbers,
                                        const int64_t *offsets, const int64_t *columns,
                                        const void *values, spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, A);
    static const int64_t none = 0;
    const ranks_given given = {
        type, rows, all_rows, all_cols, numbers, offsets ? offsets : &none, columns, values};
    *A = NULL;
    spry_status status = base_check_type(ctx, type);
    if (status == SPRY_STATUS_OK &&
        (rows < 0 || (rows > 0 && (!offsets || (offsets[rows] > 0 && (!columns || !values))))))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "offsets, columns or values of %" PRId64 " rows are NULL", rows);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_alike(ctx, "the type of a matrix", type));
    SPRY_GO(ctx, team_alike(ctx, "rows of all ranks", all_rows));
    SPRY_GO(ctx, team_alike(ctx, "columns of all ranks", all_cols));
    SPRY_GO(ctx, ranks_out(ctx, &given, A));
done:
    return status;
}

spry_status spry_matrix_read_ranked(spry_context *ctx, const char *path, const char *options,
                                    spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, path, A);
    ranks_rows rows = {0};
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    if (team_ranks(ctx) == 1)
        return spry_matrix_read(ctx, path, options, A);
    SPRY_GO(ctx, ranks_read(ctx, path, options, &rows));
    const ranks_given given = {.type = rows.type,
                               .rows = rows.rows,
                               .all_rows = rows.all_rows,
                               .all_cols = rows.all_cols,
                               .offsets = rows.offsets,
                               .columns = rows.columns,
                               .values = rows.values};
    SPRY_GO(ctx, ranks_out(ctx, &given, A));
done:
    ranks_rows_clear(ctx, &rows);
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return ranks_about_file(ctx, path, status);
}

spry_status spry_vector_new_distributed(const spry_matrix *A, const void *values, spry_vector **v)
{
    SPRY_NEED(CTX_OF(A), A, v);
    spry_context *ctx = A->ctx;
    const ranks_order *o = ranks_order_of(A);
    const size_t size = spry_type_size(A->a.type);
    const int64_t given = o ? o->move.way.sends : A->a.rows;
    *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (given > 0 && !values)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the numbers of %" PRId64 " rows are NULL",
                           given);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, v);
    SPRY_GO(ctx, team_agree(ctx, status));
    (*v)->part = dist_own_rows(A);
    if (o)
        SPRY_GO(ctx, ranks_move_in(ctx, &o->move, size, values, (*v)->data));
    else if (given > 0)
        memcpy((*v)->data, values, (size_t)given * size);
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*v);
        *v = NULL;
    }
    return status;
}

spry_status spry_vector_get_distributed(const spry_matrix *A, const spry_vector *v, void *values)
{
    SPRY_NEED(CTX_OF_ANY(A, v), A, v);
    spry_context *ctx = A->ctx;
    const ranks_order *o = ranks_order_of(A);
    const size_t size = spry_type_size(v->type);
    const int64_t given = o ? o->move.way.sends : A->a.rows;
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (v->n != A->a.rows || (given > 0 && !values))
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                      "%" PRId64 " numbers of a vector for a matrix with %" PRId64 " rows here%s",
                      v->n, A->a.rows, values ? "" : ", to nowhere");
    if (status == SPRY_STATUS_OK)
        status = vector_on_host(v, &on_host, &copy);
    SPRY_GO(ctx, team_agree(ctx, status));
    if (o)
        SPRY_GO(ctx, ranks_move_back(ctx, &o->move, size, on_host->data, values));
    else if (given > 0)
        memcpy(values, on_host->data, (size_t)given * size);
done:
    spry_vector_free(copy);
    return status;
}

spry_status spry_vector_read_ranked(const spry_matrix *A, const char *path, const char *options,
                                    spry_vector **v)
{
    SPRY_NEED(CTX_OF(A), A, path, v);
    spry_context *ctx = A->ctx;
    int64_t *blocks = NULL;
    void *values = NULL;
    spry_type type;
    spry_status status = SPRY_STATUS_OK;
    *v = NULL;
    SPRY_GO(ctx, team_agree(ctx, ranks_blocks_of(A, &blocks)));
    SPRY_GO(ctx, ranks_read_vector(ctx, path, options, blocks, &type, &values));
    SPRY_GO(ctx, ranks_from_blocks(A, type, values, v));
done:
    base_free(ctx, blocks);
    base_free(ctx, values);
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return ranks_about_file(ctx, path, status);
}

spry_status spry_vector_write_ranked(const spry_matrix *A, const spry_vector *v, const char *path)
{
    SPRY_NEED(CTX_OF_ANY(A, v), A, v, path);
    spry_context *ctx = A->ctx;
    int64_t *blocks = NULL;
    void *values = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_to_blocks(A, v, &blocks, &values));
    SPRY_GO(ctx, ranks_write_vector(ctx, path, NULL, v->type, blocks, values));
done:
    base_free(ctx, blocks);
    base_free(ctx, values);
    return ranks_about_file(ctx, path, status);
}
