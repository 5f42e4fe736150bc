/*
 * Matrix Market files by all ranks: each takes the lines that begin in its share of the bytes. The
 * first rank reads the header; places in messages are those in the whole file.
 */
#include "ranks/files.h"

#include "io/mtx.h"

const char *ranks_line_of(const char *begin, const char *end, int ranks, int rank)
{
    if (rank <= 0)
        return begin;
    if (rank >= ranks)
        return end;
    const int64_t size = end - begin, each = size / ranks, extra = size % ranks;
    const char *at = begin + each * rank + (rank < extra ? rank : extra);
    /* The line that the share begins in is the one before's, unless it begins there. */
    return at == begin ? begin : mtx_next_line(at - 1, end);
}

static spry_status read_header(spry_context *ctx, const io_bytes *bytes, mtx_header *h)
{
    mtx_problem problem;
    spry_status status = SPRY_STATUS_OK;
    memset(h, 0, sizeof *h);
    if (team_rank(ctx) == 0 && !io_mtx_read_header(bytes, h, &problem))
        status = io_fault(ctx, bytes, problem.position, "%s", problem.text);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, h, sizeof *h));
done:
    return status;
}

/* Cuts this rank's lines out, counts them, and compares the sum with the header's. */
static spry_status count(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                         mtx_part *part)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const char *body = bytes->data + h->body, *end = bytes->data + bytes->size;
    const char *from = ranks_line_of(body, end, ranks, me),
               *to = ranks_line_of(body, end, ranks, me + 1);
    int64_t *offsets = NULL;
    spry_status status = io_mtx_cut(ctx, from, to, part);
    if (status == SPRY_STATUS_OK)
        status = io_mtx_count_part(ctx, bytes->path, part);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_offsets(ctx, part->count, &offsets));
    /* All ranks find the same: the place of an extra entry by the whole file. */
    if (offsets[ranks] != h->entries)
        status =
            io_mtx_miscounted(ctx, bytes, h, offsets[ranks], io_mtx_find(body, end, h->entries));
done:
    base_free(ctx, offsets);
    return status;
}

/* A fault of entry k of this rank's, whose place in the file is looked for. */
static spry_status fault_of(spry_context *ctx, const io_bytes *bytes, const mtx_part *part,
                            const mtx_header *h, int64_t k, const char *what)
{
    const char *end = bytes->data + bytes->size;
    const char *p = io_mtx_find(part->lines[0].begin, end, k);
    int64_t row = 0, col = 0;
    if (h->array)
        return io_fault(ctx, bytes, (size_t)(p - bytes->data), "the number %s", what);
    const char *q = base_parse_int(p, end, &row);
    (void)base_parse_int(q ? mtx_skip_blanks(q, end) : end, end, &col);
    return io_fault(ctx, bytes, (size_t)(p - bytes->data), "entry (%" PRId64 ", %" PRId64 ") %s",
                    row, col, what);
}

/* Values as the options want them. */
static spry_status finish_values(spry_context *ctx, const io_bytes *bytes, const mtx_part *part,
                                 const mtx_header *h, const read_options *o, spry_type *type,
                                 void **values)
{
    const bool keep = o->nonfinite != 0;
    char why[RANKS_WHY];
    int64_t bad = -1;
    for (int64_t k = 0; k < part->count && !keep; k++)
        if (!value_finite(value_get(*type, *values, k)))
            return fault_of(ctx, bytes, part, h, k,
                            "is not a finite number; nonfinite=keep would let it pass");
    const spry_type wanted = o->type == 0 ? *type : (spry_type)(o->type - 1);
    const spry_status status = ranks_cast(ctx, *type, part->count, values, wanted, &bad, why);
    if (status == SPRY_STATUS_OK && bad >= 0)
        return fault_of(ctx, bytes, part, h, bad, why);
    *type = wanted;
    return status;
}

spry_status ranks_parse_mtx(spry_context *ctx, const io_bytes *bytes, const read_options *options,
                            ranks_found *found)
{
    mtx_header h;
    mtx_part part = {0};
    ranks_entries *e = &found->entries;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, read_header(ctx, bytes, &h));
    found->whole = h.array;
    if (found->whole)
        goto done;
    SPRY_GO(ctx, count(ctx, bytes, &h, &part));
    found->symmetry = h.symmetry;
    found->rows = h.rows;
    found->cols = h.cols;
    status = ranks_entries_allocate(ctx, h.field == MTX_COMPLEX ? SPRY_TYPE_Z : SPRY_TYPE_D,
                                    part.count, e);
    if (status == SPRY_STATUS_OK) {
        const mtx_target target = {.row = e->row, .col = e->col, .values = e->values};
        status = io_mtx_parse_part(ctx, bytes, &h, &part, &target);
    }
    if (status == SPRY_STATUS_OK)
        status = finish_values(ctx, bytes, &part, &h, options, &e->type, &e->values);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    base_free(ctx, part.lines);
    return status;
}

spry_status ranks_parse_numbers(spry_context *ctx, const io_bytes *bytes,
                                const read_options *options, spry_type *type, int64_t *count_out,
                                void **values)
{
    mtx_header h;
    mtx_part part = {0};
    spry_status status = SPRY_STATUS_OK;
    *values = NULL;
    SPRY_GO(ctx, read_header(ctx, bytes, &h));
    if (!h.array || h.symmetry != SPRY_SYMMETRY_GENERAL || (h.rows != 1 && h.cols != 1)) {
        *count_out = -1; /* no lines of a vector */
        goto done;
    }
    SPRY_GO(ctx, count(ctx, bytes, &h, &part));
    *type = h.field == MTX_COMPLEX ? SPRY_TYPE_Z : SPRY_TYPE_D;
    *count_out = part.count;
    status = base_alloc(ctx, part.count, spry_type_size(*type), values);
    if (status == SPRY_STATUS_OK) {
        const mtx_target target = {.values = *values};
        status = io_mtx_parse_part(ctx, bytes, &h, &part, &target);
    }
    if (status == SPRY_STATUS_OK)
        status = finish_values(ctx, bytes, &part, &h, options, type, values);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    base_free(ctx, part.lines);
    return status;
}
