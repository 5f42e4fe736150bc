/* Jagged diagonals made on a device: see device_make.h and make_jds.knl. */
#include "formats/shared/device_columnwise_format.h"

#include "formats/shared/columnwise.h"
#include "formats/shared/device_make.h"

enum { DIGIT_BITS = 8 }; /* 2^8 are MAKE_GROUP */

static spry_status build(const device_maker *m, device_program **p)
{
    return make_build(m, "make_jds", "", p);
}

static spry_status sort_rows(const device_maker *m, device_program *p, int64_t longest,
                             device_memory **sorted)
{
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows, groups = make_groups(rows), counted = groups * MAKE_GROUP + 1;
    const int32_t most = (int32_t)longest;
    device_memory *order = NULL, *next = NULL, *counts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, rows * (int64_t)sizeof(int32_t), &order));
    SPRY_GO(ctx, device_alloc(m->d, rows * (int64_t)sizeof(int32_t), &next));
    SPRY_GO(ctx, device_alloc(m->d, counted * (int64_t)sizeof(int64_t), &counts));
    for (int32_t shift = 0; rows > 0 && (shift == 0 || most >> shift > 0); shift += DIGIT_BITS) {
        const device_arg args[] = {DEVICE_VALUE(rows),
                                   DEVICE_VALUE(groups),
                                   DEVICE_VALUE(most),
                                   DEVICE_VALUE(shift),
                                   device_arg_memory(m->A->offsets),
                                   device_arg_memory(order),
                                   device_arg_memory(counts),
                                   {0}};
        SPRY_GO(ctx, make_launch(p, "count_digits", rows, args));
        SPRY_GO(ctx, device_sum_up(m->d, counts, counted));
        const device_arg place_args[] = {args[0], args[1], args[2], args[3],
                                         args[4], args[5], args[6], device_arg_memory(next),
                                         {0}};
        SPRY_GO(ctx, make_launch(p, "place_rows", rows, place_args));
        device_memory *const other = order;
        order = next;
        next = other;
    }
    *sorted = order;
    order = NULL;
done:
    device_free(order);
    device_free(next);
    device_free(counts);
    return status;
}

spry_status make_sort_rows(const device_maker *m, device_memory **sorted)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    int64_t longest = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_longest(m, &longest));
    SPRY_GO(ctx, sort_rows(m, p, longest, sorted));
done:
    return status;
}

/* The entries of each line, and where columns begin; how many places there are. */
static spry_status find_columns(const device_maker *m, device_program *p, int64_t width,
                                const device_memory *order, device_memory *lengths,
                                device_memory *starts, int64_t *places)
{
    spry_context *ctx = m->d->ctx;
    const int64_t pad = make_option(m, "pad");
    spry_status status = SPRY_STATUS_OK;
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(order),
                               device_arg_memory(lengths),
                               {0}};
    if (m->A->rows > 0)
        SPRY_GO(ctx, make_launch(p, "line_lengths", m->A->rows, args));
    const device_arg height_args[] = {DEVICE_VALUE(m->A->rows),  DEVICE_VALUE(width),
                                      DEVICE_VALUE(pad),         device_arg_memory(lengths),
                                      device_arg_memory(starts), {0}};
    SPRY_GO(ctx, make_launch(p, "heights", width + 1, height_args));
    SPRY_GO(ctx, device_sum_up(m->d, starts, width + 1));
    SPRY_GO(ctx, make_look(starts, width, places));
done:
    return status;
}

static spry_status fill(const device_maker *m, device_program *p, const device_memory *order,
                        const device_memory *starts, device_memory *columns, device_memory *values)
{
    const int64_t lines = m->L->number[COLUMNWISE_LINES], width = m->L->number[COLUMNWISE_WIDTH];
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(lines),
                               DEVICE_VALUE(width),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(order),
                               device_arg_memory(starts),
                               device_arg_memory(columns),
                               device_arg_memory(values),
                               {0}};
    return width > 0 ? make_launch(p, "fill", lines, args) : SPRY_STATUS_OK;
}

spry_status device_make_jds(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows, pad = make_option(m, "pad");
    columnwise_sizes sizes = {.T = 1, .pad = pad, .rest = -1};
    device_program *p = NULL;
    device_memory *order = NULL, *lengths = NULL, *starts = NULL, *values = NULL, *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_longest(m, &sizes.width));
    SPRY_GO(ctx, sort_rows(m, p, sizes.width, &order));
    SPRY_GO(ctx, device_alloc(m->d, rows * (int64_t)sizeof(int32_t), &lengths));
    SPRY_GO(ctx, device_alloc(m->d, (sizes.width + 1) * (int64_t)sizeof(int64_t), &starts));
    SPRY_GO(ctx, find_columns(m, p, sizes.width, order, lengths, starts, &sizes.places));
    layout_note(m->L, "pad", pad);
    SPRY_GO(ctx, columnwise_describe(m->L, &sizes));
    const int64_t stored = m->L->stored;
    SPRY_GO(ctx, make_add(m, COLUMNWISE_VALUES, "values", stored, m->size, &values));
    SPRY_GO(ctx, make_add(m, COLUMNWISE_COLUMNS, "columns", stored, sizeof(int32_t), &columns));
    SPRY_GO(ctx, fill(m, p, order, starts, columns, values));
    make_adopt(m, COLUMNWISE_LENGTHS, "lengths", rows, sizeof(int32_t), lengths);
    make_adopt(m, COLUMNWISE_STARTS, "starts", sizes.width + 1, sizeof(int64_t), starts);
    make_adopt(m, COLUMNWISE_ROWS, "rows", rows, sizeof(int32_t), order);
    lengths = starts = order = NULL;
done:
    device_free(order);
    device_free(lengths);
    device_free(starts);
    return status;
}
