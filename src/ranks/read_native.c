/* Native files by all ranks: each copies the rows that hold its share of the entries. */
#include "ranks/files.h"

#include "matrix/entries.h"

static spry_status fault_at(spry_context *ctx, const io_bytes *bytes, int64_t row, int64_t col,
                            const char *what)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: entry (%" PRId64 ", %" PRId64 ") %s",
                     bytes->path, row + 1, col + 1, what);
}

/* What this rank has to know of its rows before it follows them. */
static spry_status check_rows(spry_context *ctx, const io_bytes *bytes, const matrix_arrays *a,
                              range rows)
{
    if (a->offsets[0] != 0 || a->offsets[a->rows] != a->nnz)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: offsets go from %" PRId64 " to %" PRId64 "; 0 to %" PRId64
                         " are expected",
                         bytes->path, a->offsets[0], a->offsets[a->rows], a->nnz);
    for (int64_t i = rows.begin; i < rows.end; i++)
        if (a->offsets[i] > a->offsets[i + 1] || a->offsets[i] < 0 || a->offsets[i + 1] > a->nnz)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "%s: offsets fall or leave the entries after row %" PRId64,
                             bytes->path, i + 1);
    for (int64_t i = rows.begin; i < rows.end; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            if (j < 0 || j >= a->cols)
                return fault_at(ctx, bytes, i, j, "has a column outside the matrix");
            if (a->symmetry != SPRY_SYMMETRY_GENERAL && j > i)
                return fault_at(ctx, bytes, i, j, "lies above the diagonal of a stored triangle");
        }
    return SPRY_STATUS_OK;
}

static spry_status copy_rows(spry_context *ctx, const io_bytes *bytes, const matrix_arrays *a,
                             range rows, const read_options *o, ranks_entries *e)
{
    const int64_t first = a->offsets[rows.begin], count = a->offsets[rows.end] - first;
    const size_t size = spry_type_size(a->type);
    const bool keep = o->nonfinite != 0;
    char why[RANKS_WHY];
    int64_t bad = -1;
    spry_status status = ranks_entries_allocate(ctx, a->type, count, e);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = rows.begin; i < rows.end; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            e->row[k - first] = i;
            e->col[k - first] = a->col_index[k];
        }
    if (count > 0)
        memcpy(e->values, (const char *)a->values + (size_t)first * size, (size_t)count * size);
    for (int64_t k = 0; k < count && !keep; k++)
        if (!value_finite(value_get(e->type, e->values, k)))
            return fault_at(ctx, bytes, e->row[k], e->col[k],
                            "is not a finite number; nonfinite=keep would let it pass");
    const spry_type wanted = o->type == 0 ? e->type : (spry_type)(o->type - 1);
    status = ranks_cast(ctx, e->type, count, &e->values, wanted, &bad, why);
    e->type = wanted;
    if (status == SPRY_STATUS_OK && bad >= 0)
        return fault_at(ctx, bytes, e->row[bad], e->col[bad], why);
    return status;
}

spry_status ranks_take_native(spry_context *ctx, const io_bytes *bytes, const read_options *options,
                              ranks_found *found)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    matrix_arrays a = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, io_native_arrays(ctx, bytes, &a, &found->whole)));
    if (found->whole)
        goto done;
    found->symmetry = a.symmetry;
    found->rows = a.rows;
    found->cols = a.cols;
    const range share = base_share(a.nnz, ranks, me, 1); /* offsets are not known to rise yet */
    const range mine = {me == 0 ? 0 : matrix_first_from(a.offsets, a.rows, share.begin),
                        me + 1 == ranks ? a.rows : matrix_first_from(a.offsets, a.rows, share.end)};
    status = check_rows(ctx, bytes, &a, mine);
    if (status == SPRY_STATUS_OK)
        status = copy_rows(ctx, bytes, &a, mine, options, &found->entries);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}
