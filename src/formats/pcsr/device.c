/* PCSR on devices: see formats/shared/segments.knl. A piece is a group of `pad` entries. */
#include "formats/pcsr/pcsr.h"

#include "formats/shared/device_make.h"
#include "formats/shared/device_segments_format.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const int64_t pad = L->number[PCSR_PAD];
    const device_segments s = {.count = L->stored / pad,
                               .pieces =
                                   (int)(L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS] / pad),
                               .piece = (int)pad,
                               .TH = 1,
                               .THW = 1};
    (void)d;
    return device_segments_open(L, columns, &s, form);
}

static spry_status arrays(const layout *L, layout_array *array)
{
    static const int read[] = {PCSR_VALUES, PCSR_COLUMNS, PCSR_FIRSTS, PCSR_ENDS};
    enum { COUNT = sizeof read / sizeof *read };
    for (int i = 0; i < COUNT; i++)
        array[i] = L->array[read[i]];
    array[COUNT] = device_segments_carries(L);
    return SPRY_STATUS_OK;
}

/* Groups are strands of one line. */
static make_strands strands_of(const device_maker *m)
{
    const int64_t pad = make_option(m, "pad");
    return (make_strands){.height = pad, .TH = 1, .THW = pad, .bare = true};
}

/* Values and columns: all rows are one unit on devices. */
static spry_status fill(device_maker *m, const make_strands *s)
{
    spry_context *ctx = m->d->ctx;
    const int64_t stored = m->L->stored, ends[2] = {0, m->A->rows};
    device_memory *values = NULL, *columns = NULL, *all = NULL;
    make_strands whole = *s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_add(m, PCSR_VALUES, "values", stored, m->size, &values));
    SPRY_GO(ctx, make_add(m, PCSR_COLUMNS, "columns", stored, sizeof(int32_t), &columns));
    SPRY_GO(ctx, device_copy_over(m->d, ends, sizeof ends, &all));
    whole.share = INT64_MAX / 2;
    whole.first = all;
    SPRY_GO(ctx, make_strands_fill(m, &whole, stored, columns, values));
done:
    device_free(all);
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    layout *L = m->L;
    device_memory *first = NULL, *ends = NULL, *carry_at = NULL, *firsts = NULL;
    make_strands s = strands_of(m);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_strands_count(m, &s));
    SPRY_GO(ctx, pcsr_describe(L, m->options, s.count * s.height));
    m->elsewhere = L->units >= INT32_MAX || L->rows == 0;
    if (m->elsewhere)
        goto done;
    s.units = L->units;
    s.share = L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS] / s.height;
    SPRY_GO(ctx, fill(m, &s));
    SPRY_GO(ctx, make_add(m, PCSR_FIRSTS, "firsts", s.units + 1, sizeof(int64_t), &first));
    SPRY_GO(ctx, make_add(m, PCSR_ENDS, "ends", m->A->rows, sizeof(uint16_t), &ends));
    SPRY_GO(ctx, make_cleared(m->d, s.units + 1, sizeof(int64_t), &carry_at));
    make_adopt(m, PCSR_ENDS + 1, "carry_at", s.units + 1, sizeof(int64_t), carry_at);
    SPRY_GO(ctx, make_cleared(m->d, s.units + 1, sizeof(int64_t), &firsts));
    SPRY_GO(ctx, make_strands_cut_ends(m, &s, first, carry_at, firsts, ends));
    SPRY_GO(ctx, make_list_carries(m, &(make_carried){first, 1, 1, 0}, carry_at, firsts));
done:
    device_free(firsts);
    make_strands_free(&s);
    return status;
}

const device_format device_format_pcsr = {
    .name = "pcsr", .open = open, .arrays = arrays, .make = make};
