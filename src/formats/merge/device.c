/* Merge-path CSR on devices: a group per unit; see merge.knl. */
#include "formats/merge/merge.h"

#include "formats/shared/device_make.h"

/*
 * Entries that a group keeps in local memory, at most MOST; less where that has no room. Units as
 * small as that are done by few work-items with many entries each, which suits matrices that are
 * read in order; larger ones by many with few each, which suits those whose columns are all over
 * the place.
 */
static int choose_tile(const spry_device *d, const layout *L, int columns, int group)
{
    enum { MOST = 2048 };
    const int64_t items = L->number[MERGE_ITEMS], size = (int64_t)spry_type_size(L->type);
    int64_t tile = columns > 1 || L->type == SPRY_TYPE_Z ? MOST / 2 : MOST;
    while (tile > group &&
           (tile / 2 >= items || tile * (size * 17 / 16 + (columns > 1 ? 4 : 0)) + group * size >
                                     d->facts.local_bytes * 3 / 4))
        tile /= 2;
    return (int)tile;
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { SMALL = 1024, FEW = 128, MANY = 512 };
    form->text = "formats/merge";
    form->by_units = true;
    form->positions = L->units;
    form->group = columns > 1 || L->number[MERGE_ITEMS] <= SMALL ? FEW : MANY;
    form->group = d->facts.most_group < form->group ? d->facts.most_group : form->group;
    snprintf(form->defines, sizeof form->defines, "TILE=%d",
             choose_tile(d, L, columns, form->group));
    return SPRY_STATUS_OK;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    for (int i = 0; i <= MERGE_ENDS; i++)
        array[i] = L->array[i];
    array[MERGE_ENDS + 1] = (layout_array){.name = "carry_at",
                                           .count = L->units + 1,
                                           .size = sizeof *L->carry_at,
                                           .data = L->carry_at};
    return SPRY_STATUS_OK;
}

static spry_status list_carries(device_maker *m, device_program *p, const device_memory *starts,
                                device_memory *carry_at)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = m->L->units;
    device_memory *firsts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, units + 1, sizeof(int64_t), &firsts));
    const device_arg args[] = {DEVICE_VALUE(units),       device_arg_memory(m->A->offsets),
                               device_arg_memory(starts), device_arg_memory(carry_at),
                               device_arg_memory(firsts), {0}};
    SPRY_GO(ctx, make_launch(p, "merge_carries", units, args));
    SPRY_GO(ctx, make_list_carries(m, &(make_carried){starts, 2, 2, 0}, carry_at, firsts));
done:
    device_free(firsts);
    return status;
}

spry_status make_merge_cut(device_maker *m, int64_t items, const make_merge *at,
                           device_memory **starts)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    const int64_t units = m->L->units;
    device_program *p = NULL;
    device_memory *ends = NULL, *carry_at = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_build(m, "make_merge", "", &p));
    SPRY_GO(ctx, make_add(m, at->starts, "starts", 2 * (units + 1), sizeof(int64_t), starts));
    SPRY_GO(ctx, make_add(m, at->ends, "ends", A->rows, sizeof(uint16_t), &ends));
    SPRY_GO(ctx, make_cleared(m->d, units + 1, sizeof(int64_t), &carry_at));
    make_adopt(m, at->carry_at, "carry_at", units + 1, sizeof(int64_t), carry_at);
    const device_arg cut[] = {DEVICE_VALUE(A->rows),
                              DEVICE_VALUE(A->nnz),
                              DEVICE_VALUE(units),
                              DEVICE_VALUE(items),
                              device_arg_memory(A->offsets),
                              device_arg_memory(*starts),
                              {0}};
    SPRY_GO(ctx, make_launch(p, "merge_starts", units + 1, cut));
    const device_arg rows[] = {DEVICE_VALUE(A->rows),         DEVICE_VALUE(items),
                               device_arg_memory(A->offsets), device_arg_memory(*starts),
                               device_arg_memory(ends),       {0}};
    SPRY_GO(ctx, make_launch(p, "merge_ends", A->rows, rows));
    SPRY_GO(ctx, list_carries(m, p, *starts, carry_at));
done:
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const make_merge at = {MERGE_STARTS, MERGE_ENDS, MERGE_ENDS + 1};
    layout *L = m->L;
    const int64_t items = make_option(m, "items");
    device_memory *starts = NULL;
    spry_status status = SPRY_STATUS_OK;
    L->units = (m->A->rows + m->A->nnz + items - 1) / items;
    L->stored = m->A->nnz;
    L->number[MERGE_ITEMS] = items;
    layout_note(L, "items", items);
    if (L->units >= INT32_MAX) {
        m->elsewhere = true; /* which reports it */
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, make_add_entries(m, MERGE_VALUES, MERGE_COLUMNS));
    SPRY_GO(ctx, make_merge_cut(m, items, &at, &starts));
done:
    return status;
}

const device_format device_format_merge = {.name = "merge",
                                           .open = open,
                                           .grid = "items=1024|2048",
                                           .defaults = "items=2048",
                                           .arrays = arrays,
                                           .make = make};
