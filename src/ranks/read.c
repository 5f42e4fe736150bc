/* A matrix read by all ranks: their parts of the file, mirrored, sent to where the rows belong. */
#include "ranks/files.h"

/* The other half of a triangle, after the stored entries. */
static spry_status mirror(spry_context *ctx, spry_symmetry symmetry, ranks_entries *e)
{
    const int64_t count = e->count;
    int64_t more = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < count; k++)
        more += e->row[k] != e->col[k];
    SPRY_GO(ctx, base_grow(ctx, count, count + more, sizeof *e->row, &e->row));
    SPRY_GO(ctx, base_grow(ctx, count, count + more, sizeof *e->col, &e->col));
    SPRY_GO(ctx, base_grow(ctx, count, count + more, spry_type_size(e->type), &e->values));
    const double re = symmetry == SPRY_SYMMETRY_SKEW ? -1 : 1,
                 im = symmetry == SPRY_SYMMETRY_SYMMETRIC ? 1 : -1;
    for (int64_t k = 0; k < count; k++) {
        if (e->row[k] == e->col[k])
            continue;
        const spry_scalar v = value_get(e->type, e->values, k);
        e->row[e->count] = e->col[k];
        e->col[e->count] = e->row[k];
        value_set(e->type, e->values, e->count++, (spry_scalar){re * v.re, im * v.im});
    }
done:
    return status;
}

/* Of a file's own entries, also where this is a mirrored one's row. */
static spry_status refuse_duplicate(spry_context *ctx, const io_bytes *bytes,
                                    const io_format *format, const ranks_found *found,
                                    const ranks_rows *rows)
{
    int64_t row = 0;
    const int64_t k = ranks_find_duplicate(rows, &row);
    if (k == rows->offsets[rows->rows])
        return SPRY_STATUS_OK;
    const int64_t col = rows->columns[k];
    const bool turned = found->symmetry != SPRY_SYMMETRY_GENERAL && row < col;
    const int64_t i = turned ? col : row, j = turned ? row : col;
    const size_t position = format->position_of ? format->position_of(bytes, i, j, 2) : bytes->size;
    if (position < bytes->size)
        return io_fault(ctx, bytes, position,
                        "entry (%" PRId64 ", %" PRId64
                        ") is given a second time; duplicates=sum would add them up",
                        i + 1, j + 1);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "%s: entry (%" PRId64 ", %" PRId64
                     ") is given a second time; duplicates=sum would add them up",
                     bytes->path, i + 1, j + 1);
}

static spry_status settle_duplicates(spry_context *ctx, const io_bytes *bytes,
                                     const io_format *format, const read_options *options,
                                     const ranks_found *found, ranks_rows *rows)
{
    enum { REFUSE, ADD, KEEP };
    if (options->duplicates == ADD)
        ranks_sum_duplicates(rows);
    return options->duplicates == REFUSE ? refuse_duplicate(ctx, bytes, format, found, rows)
                                         : SPRY_STATUS_OK;
}

/* Files that cannot be cut: the first rank reads and has all entries. */
static spry_status read_alone(spry_context *ctx, io_bytes *bytes, const io_format *format,
                              const char *options, ranks_found *found)
{
    spry_matrix *A = NULL;
    ranks_entries *e = &found->entries;
    spry_status status = SPRY_STATUS_OK;
    struct {
        int64_t rows, cols;
        spry_type type;
    } shared = {0};
    if (team_rank(ctx) == 0)
        status = io_read_bytes(ctx, bytes, format, options, &A);
    if (A)
        status = ranks_entries_allocate(ctx, A->a.type, A->a.nnz, e);
    if (A && status == SPRY_STATUS_OK) {
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
                e->row[k] = i;
                e->col[k] = A->a.col_index[k];
            }
        memcpy(e->values, A->a.values, (size_t)A->a.nnz * spry_type_size(A->a.type));
        shared.rows = A->a.rows;
        shared.cols = A->a.cols;
        shared.type = A->a.type;
    }
    spry_matrix_free(A);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, &shared, sizeof shared));
    found->rows = shared.rows;
    found->cols = shared.cols;
    if (team_rank(ctx) != 0)
        SPRY_GO(ctx, ranks_entries_allocate(ctx, shared.type, 0, e));
done:
    return status;
}

static spry_status find_entries(spry_context *ctx, io_bytes *bytes, const io_format *format,
                                const read_options *parsed, const char *options, ranks_found *found)
{
    spry_status status = SPRY_STATUS_OK;
    if (format == &io_mtx)
        status = io_name_binary(ctx, bytes, format, ranks_parse_mtx(ctx, bytes, parsed, found));
    else if (format == &io_native)
        status = ranks_take_native(ctx, bytes, parsed, found);
    else
        found->whole = true;
    if (status != SPRY_STATUS_OK || !found->whole)
        return status;
    return read_alone(ctx, bytes, format, options, found);
}

spry_status ranks_read(spry_context *ctx, const char *path, const char *options, ranks_rows *rows)
{
    io_bytes bytes = {0};
    const io_format *format = NULL;
    read_options parsed;
    ranks_found found = {0};
    int64_t *blocks = NULL;
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){0};
    SPRY_GO(ctx, team_agree(ctx, options_take(ctx, read_option_list(), &parsed, options)));
    SPRY_GO(ctx, ranks_open_file(ctx, path, &bytes));
    SPRY_GO(ctx, team_agree(ctx, io_choose(ctx, &bytes, &format)));
    SPRY_GO(ctx, find_entries(ctx, &bytes, format, &parsed, options, &found));
    if (found.symmetry != SPRY_SYMMETRY_GENERAL)
        SPRY_GO(ctx, team_agree(ctx, mirror(ctx, found.symmetry, &found.entries)));
    SPRY_GO(ctx, team_agree(ctx, ranks_blocks(ctx, found.rows, &blocks)));
    SPRY_GO(ctx, ranks_gather_rows(ctx, &found.entries, blocks, found.cols, rows));
    status = settle_duplicates(ctx, &bytes, format, &parsed, &found, rows);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    io_close(ctx, &bytes);
    ranks_entries_clear(ctx, &found.entries);
    base_free(ctx, blocks);
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, rows);
    return status;
}
