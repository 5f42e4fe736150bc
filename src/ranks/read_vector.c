/* Vectors read by all ranks: lines are numbered through the ranks, and sent where they belong. */
#include "ranks/files.h"

/* A vector that the first rank has read. */
static spry_status read_alone(spry_context *ctx, io_bytes *bytes, const io_format *format,
                              const char *options, spry_type *type, int64_t *count, void **values)
{
    spry_vector *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    if (team_rank(ctx) == 0)
        status = io_read_vector_bytes(ctx, bytes, format, options, &v, NULL);
    if (v) {
        *type = v->type;
        *count = v->n;
        status = base_alloc(ctx, v->n, spry_type_size(v->type), values);
    }
    if (v && status == SPRY_STATUS_OK)
        memcpy(*values, v->data, (size_t)v->n * spry_type_size(v->type));
    spry_vector_free(v);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, type, sizeof *type));
done:
    return status;
}

static spry_status read_numbers(spry_context *ctx, const char *path, const char *options,
                                spry_type *type, int64_t *count, void **values)
{
    io_bytes bytes = {0};
    const io_format *format = NULL;
    read_options parsed;
    spry_status status = SPRY_STATUS_OK;
    *count = -1;
    SPRY_GO(ctx, team_agree(ctx, options_take(ctx, read_option_list(), &parsed, options)));
    SPRY_GO(ctx, ranks_open_file(ctx, path, &bytes));
    SPRY_GO(ctx, team_agree(ctx, io_choose(ctx, &bytes, &format)));
    if (format == &io_mtx)
        SPRY_GO(ctx, ranks_parse_numbers(ctx, &bytes, &parsed, type, count, values));
    if (*count < 0)
        SPRY_GO(ctx, read_alone(ctx, &bytes, format, options, type, count, values));
done:
    io_close(ctx, &bytes);
    return status;
}

/* From those who have read to those who own, both in the vector's order. */
static spry_status send(spry_context *ctx, const char *path, spry_type type, int64_t count,
                        const void *from, const int64_t *first, void **values)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    int64_t *offsets = NULL, *numbers = NULL;
    ranks_move move = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_offsets(ctx, count, &offsets));
    if (offsets[ranks] != first[ranks])
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                               "%s: has %" PRId64 " numbers; %" PRId64 " are expected", path,
                               offsets[ranks], first[ranks]));
    status = base_alloc(ctx, count, sizeof *numbers, &numbers);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, first[me + 1] - first[me], spry_type_size(type), values);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t k = 0; k < count; k++)
        numbers[k] = offsets[me] + k;
    SPRY_GO(ctx, ranks_move_make(ctx, count, numbers, first, &move));
    SPRY_GO(ctx, ranks_move_in(ctx, &move, spry_type_size(type), from, *values));
done:
    ranks_move_clear(ctx, &move);
    base_free(ctx, offsets);
    base_free(ctx, numbers);
    return status;
}

spry_status ranks_read_vector(spry_context *ctx, const char *path, const char *options,
                              const int64_t *first, spry_type *type, void **values)
{
    void *read = NULL;
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    *values = NULL;
    *type = SPRY_TYPE_D;
    SPRY_GO(ctx, read_numbers(ctx, path, options, type, &count, &read));
    SPRY_GO(ctx, send(ctx, path, *type, count, read, first, values));
done:
    base_free(ctx, read);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *values);
        *values = NULL;
    }
    return status;
}
