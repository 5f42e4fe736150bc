/* AXC on devices: see axc.knl. */
#include "formats/axc/axc.h"

#include "formats/shared/device_formats.h"
#include "formats/shared/device_lanes_format.h"
#include "formats/shared/device_make.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d, (void)columns;
    form->text = "formats/axc";
    form->positions = L->rows;
    form->lanes = device_lanes(L->stored, L->rows);
    snprintf(form->defines, sizeof form->defines, "HBRS=%d KEPT=%d", (int)L->number[AXC_HBRS],
             (int)L->number[AXC_KEPT]);
    return SPRY_STATUS_OK;
}

/* Bricks are strands of one line; all rows are one unit on devices. */
static make_strands strands_of(const device_maker *m)
{
    const int64_t HBRS = make_option(m, "HBRS");
    return (make_strands){.height = HBRS, .TH = 1, .THW = HBRS, .share = INT64_MAX / 2, .units = 1};
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    layout *L = m->L;
    const int64_t ends[2] = {0, m->A->rows};
    device_memory *values = NULL, *columns = NULL;
    make_strands s = strands_of(m);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, axc_describe(L, m->options));
    m->elsewhere = L->number[AXC_KEPT] != 0;
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, make_strands_count(m, &s));
    L->stored = s.count * s.height;
    SPRY_GO(ctx, device_copy_over(m->d, ends, sizeof ends, &s.first));
    SPRY_GO(ctx, make_add(m, AXC_AX, "ax", L->stored, m->size, &values));
    SPRY_GO(ctx, make_add(m, AXC_COLUMNS, "columns", L->stored, sizeof(int32_t), &columns));
    SPRY_GO(ctx, make_strands_fill(m, &s, L->stored, columns, values));
    make_adopt(m, AXC_BRP, "brp", m->A->rows + 1, sizeof(int64_t), s.owned);
    s.owned = NULL;
done:
    make_strands_free(&s);
    return status;
}

const device_format device_format_axc = {.name = "axc", .open = open, .make = make};
