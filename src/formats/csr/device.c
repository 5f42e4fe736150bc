/* CSR on devices: as many lanes per row as leave each of them a few entries. */
#include "formats/csr/csr.h"

#include "formats/shared/device_lanes.h"
#include "formats/shared/device_make.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { GROUP = 128 };
    form->text = "formats/csr";
    form->positions = L->rows;
    form->group = d->facts.most_group < GROUP ? d->facts.most_group : GROUP;
    const int ahead = device_choose_lanes(L, columns, form);
    snprintf(form->defines, sizeof form->defines, "GROUP_ROWS=%d AHEAD=%d", CSR_GROUP, ahead);
    return SPRY_STATUS_OK;
}

static spry_status build(spry_device *d, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DROWS=%d", CSR_GROUP);
    return device_matrix_build(d, SPRY_TYPE_S, MAKE_GROUP, "make_csr", options, p);
}

/* Starts and ends of A's rows. */
static spry_status cut_rows(const device_maker *m, device_memory *starts, device_memory *ends)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    device_memory *any = NULL;
    int32_t too_many = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m->d, &p));
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof too_many, &any));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),  device_arg_memory(m->A->offsets),
                               device_arg_memory(starts), device_arg_memory(ends),
                               device_arg_memory(any),    {0}};
    SPRY_GO(ctx, make_launch(p, "csr_cut", m->A->rows + 1, args));
    if (m->A->nnz > UINT32_MAX)
        SPRY_GO(ctx, make_look32(any, 0, &too_many));
    if (too_many)
        status = SPRY_FAIL(
            ctx, SPRY_STATUS_UNSUPPORTED,
            "format csr: %d rows hold more entries than offsets of 32 bits can count; take merge",
            CSR_GROUP);
done:
    device_free(any);
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    layout *L = m->L;
    device_memory *starts = NULL, *ends = NULL;
    spry_status status = SPRY_STATUS_OK;
    L->stored = A->nnz;
    L->units = (A->rows + CSR_GROUP - 1) / CSR_GROUP;
    L->unit_rows = CSR_GROUP;
    SPRY_GO(ctx, make_add_entries(m, CSR_VALUES, CSR_COLUMNS));
    SPRY_GO(ctx, make_add(m, CSR_STARTS, "starts", L->units + 1, sizeof(int64_t), &starts));
    SPRY_GO(ctx, make_add(m, CSR_ENDS, "ends", A->rows, sizeof(uint32_t), &ends));
    SPRY_GO(ctx, cut_rows(m, starts, ends));
done:
    return status;
}

const device_format device_format_csr = {.name = "csr", .open = open, .make = make};
