/* Slices of rows made on a device: see device_make.h and formats/shared/slices.h. */
#include "formats/shared/device_make.h"

#include "formats/shared/slices.h"

enum { OPTIONS_SIZE = 96 };

void make_slices_free(make_slices *s)
{
    device_free(s->offsets);
    device_free(s->rows);
    device_free(s->mixed);
    device_free(s->lengths);
    *s = (make_slices){0};
}

static spry_status build(const device_maker *m, const make_slices *s, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSLICE=%d%s", (int)s->C, s->sigma > 1 ? " -DSORTED" : "");
    return make_build(m, "make_sliced", options, p);
}

/* The order of rows is an argument also where there is none. */
static device_arg order_arg(const make_slices *s)
{
    return device_arg_memory(s->rows ? s->rows : s->offsets);
}

/* Windows' places in local memory. */
static int64_t padded_window(const make_slices *s)
{
    int64_t padded = 2;
    while (padded < s->sigma && padded < INT32_MAX)
        padded *= 2;
    return padded;
}

static bool sorts_on_device(const device_maker *m, const make_slices *s)
{
    return padded_window(s) * (int64_t)sizeof(int64_t) <= m->d->facts.local_bytes;
}

static spry_status build_sorting(const device_maker *m, const make_slices *s, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSLICE=%d -DSORTED -DWINDOW=%d -DPADDED=%d", (int)s->C,
             (int)s->sigma, (int)padded_window(s));
    return make_build(m, "make_sliced", options, p);
}

/* Rows sorted by length in windows; those that have no room in local memory are the host's. */
static spry_status sort_rows(device_maker *m, make_slices *s)
{
    const int64_t lanes = s->count * s->C, windows = (m->A->rows + s->sigma - 1) / s->sigma;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    m->elsewhere = !sorts_on_device(m, s);
    if (m->elsewhere)
        return SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx, build_sorting(m, s, &p));
    SPRY_GO(m->d->ctx, device_alloc(m->d, lanes * (int64_t)sizeof(int32_t), &s->rows));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(lanes),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(s->rows),
                               {0}};
    SPRY_GO(m->d->ctx, make_launch(p, "sort_windows", windows * MAKE_GROUP, args));
done:
    return status;
}

/* Offsets of slices and which are mixed; the host hears how many places there are. */
static spry_status find_widths(device_maker *m, make_slices *s)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    device_memory *any = NULL;
    int32_t any_mixed = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof any_mixed, &any));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),         DEVICE_VALUE(s->count),
                               device_arg_memory(m->A->offsets), order_arg(s),
                               device_arg_memory(s->offsets),    device_arg_memory(s->mixed),
                               device_arg_memory(any),           {0}};
    SPRY_GO(ctx, make_launch(p, "widths", s->count, args));
    SPRY_GO(ctx, device_sum_up(m->d, s->offsets, s->count + 1));
    const device_piece found[] = {
        {s->offsets, s->count * (int64_t)sizeof s->stored, &s->stored, sizeof s->stored},
        {any, 0, &any_mixed, sizeof any_mixed}};
    SPRY_GO(ctx, device_get_pieces(m->d, found, 2));
    s->any_mixed = any_mixed != 0;
done:
    device_free(any);
    return status;
}

static spry_status find_lengths(device_maker *m, make_slices *s)
{
    const int64_t lanes = s->count * s->C;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx, build(m, s, &p));
    SPRY_GO(m->d->ctx, device_alloc(m->d, lanes * (int64_t)sizeof(int32_t), &s->lengths));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),         DEVICE_VALUE(lanes),
                               device_arg_memory(m->A->offsets), order_arg(s),
                               device_arg_memory(s->lengths),    {0}};
    SPRY_GO(m->d->ctx, make_launch(p, "lane_lengths", lanes, args));
done:
    return status;
}

spry_status make_slices_cut(device_maker *m, make_slices *s)
{
    spry_context *ctx = m->d->ctx;
    const slices plan =
        slices_plan(m->L->type, m->A->rows, make_option(m, "C"), make_option(m, "sigma"));
    spry_status status = SPRY_STATUS_OK;
    *s = (make_slices){.C = plan.C, .sigma = plan.sigma, .count = plan.count};
    slices_describe(m->L, &plan);
    SPRY_GO(ctx, make_cleared(m->d, s->count + 1, sizeof(int64_t), &s->offsets));
    SPRY_GO(ctx, device_alloc(m->d, s->count, &s->mixed));
    if (s->sigma > 1)
        SPRY_GO(ctx, sort_rows(m, s));
    if (s->count == 0 || m->elsewhere)
        goto done;
    SPRY_GO(ctx, find_widths(m, s));
    SPRY_GO(ctx, slices_check_fill(ctx, m->L->class->name, s->C, s->stored, m->A->nnz));
    if (m->most_fill > 0 && (double)s->stored > m->most_fill * (double)m->A->nnz) {
        status = SPRY_STATUS_UNSUPPORTED;
        goto done;
    }
    if (s->any_mixed)
        SPRY_GO(ctx, find_lengths(m, s));
done:
    m->L->stored = s->stored;
    if (status != SPRY_STATUS_OK || m->elsewhere)
        make_slices_free(s);
    return status;
}

spry_status make_slices_fill(device_maker *m, const make_slices *s, device_memory **columns)
{
    spry_context *ctx = m->d->ctx;
    const int64_t lanes = s->count * s->C;
    device_program *p = NULL;
    device_memory *values = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, s, &p));
    SPRY_GO(ctx, make_add(m, SELL_VALUES, "values", s->stored, m->size, &values));
    SPRY_GO(ctx, device_alloc(m->d, s->stored * (int64_t)sizeof(int32_t), columns));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),         DEVICE_VALUE(lanes),
                               device_arg_memory(m->A->offsets), order_arg(s),
                               device_arg_memory(m->A->columns), device_arg_memory(m->values),
                               device_arg_memory(s->offsets),    device_arg_memory(*columns),
                               device_arg_memory(values),        {0}};
    SPRY_GO(ctx, make_launch(p, "fill", lanes, args));
done:
    return status;
}

void make_slices_add(device_maker *m, make_slices *s)
{
    const int64_t lanes = s->count * s->C;
    make_adopt(m, SELL_OFFSETS, "offsets", s->count + 1, sizeof(int64_t), s->offsets);
    s->offsets = NULL;
    if (s->rows)
        make_adopt(m, SELL_ROWS, "rows", lanes, sizeof(int32_t), s->rows);
    s->rows = NULL;
    if (s->any_mixed) {
        make_adopt(m, SELL_MIXED, "mixed", s->count, 1, s->mixed);
        make_adopt(m, SELL_LENGTHS, "lengths", lanes, sizeof(int32_t), s->lengths);
        s->mixed = s->lengths = NULL;
    }
    make_slices_free(s);
}
