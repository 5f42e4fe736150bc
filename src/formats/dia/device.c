/* Diagonals on devices: see dia.knl. */
#include "formats/dia/dia.h"

#include "formats/shared/device_make.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d, (void)columns;
    form->text = "formats/dia";
    form->positions = L->rows;
    form->number[0] = (device_number){"cols", L->cols};
    snprintf(form->defines, sizeof form->defines, "BLOCK=%d STRIP=%d", (int)L->number[DIA_BLOCK],
             (int)L->number[DIA_STRIP]);
    return SPRY_STATUS_OK;
}

typedef struct finding {
    int64_t blocks;
    device_program *p;
} finding;

static spry_status build(const device_maker *m, int slots, device_program **p)
{
    char options[96];
    snprintf(options, sizeof options, "-DBLOCK=%d -DSTRIP=%d -DSLOTS=%d",
             (int)m->L->number[DIA_BLOCK], (int)m->L->number[DIA_STRIP], slots);
    return make_build(m, "make_dia", options, p);
}

enum { LEAST = 64, MOST = 2048 };

static int first_slots(int64_t rows, int64_t nnz)
{
    enum { FEW = 4 };
    int slots = LEAST;
    while (slots < MOST && (int64_t)slots * rows < FEW * nnz)
        slots *= 2;
    return slots;
}

/* Diagonals before each block. The table is as small as will do for blocks of few; those that have
 * more than the largest are left to the host. */
static spry_status count_diagonals(device_maker *m, finding *f, device_memory *lists)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    device_memory *crowded = NULL;
    int32_t any = 1;
    int slots = first_slots(A->rows, A->nnz);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, sizeof any, &crowded));
    const device_arg args[] = {DEVICE_VALUE(A->rows),         device_arg_memory(A->offsets),
                               device_arg_memory(A->columns), device_arg_memory(lists),
                               device_arg_memory(crowded),    {0}};
    for (; any; slots = MOST) {
        SPRY_GO(ctx, build(m, slots, &f->p));
        SPRY_GO(ctx, device_clear(crowded, 0, sizeof any));
        SPRY_GO(ctx, make_launch(f->p, "count_diagonals", f->blocks * MAKE_GROUP, args));
        SPRY_GO(ctx, make_look32(crowded, 0, &any));
        m->elsewhere = any && slots == MOST;
        if (m->elsewhere)
            goto done;
    }
    SPRY_GO(ctx, device_sum_up(m->d, lists, f->blocks + 1));
done:
    device_free(crowded);
    return status;
}

/* Places of a diagonal in the last block, filled up to whole strips, and the rows of it. */
static int64_t last_places(const device_maker *m, int64_t blocks, int64_t *rows)
{
    const int64_t block = m->L->number[DIA_BLOCK], strip = m->L->number[DIA_STRIP];
    *rows = m->A->rows - (blocks - 1) * block;
    return (*rows + strip - 1) / strip * strip;
}

static spry_status fill(device_maker *m, const finding *f, device_memory *lists,
                        device_memory *starts, int64_t count)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    const layout *L = m->L;
    device_memory *values = NULL, *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, L->stored, m->size, &values));
    make_adopt(m, DIA_VALUES, "values", L->stored, m->size, values);
    SPRY_GO(ctx, make_add(m, DIA_OFFSETS, "offsets", count, sizeof(int32_t), &offsets));
    const device_arg list[] = {DEVICE_VALUE(A->rows),         device_arg_memory(A->offsets),
                               device_arg_memory(A->columns), device_arg_memory(lists),
                               device_arg_memory(offsets),    {0}};
    SPRY_GO(ctx, make_launch(f->p, "list_diagonals", f->blocks * MAKE_GROUP, list));
    const device_arg put[] = {
        DEVICE_VALUE(A->rows),        device_arg_memory(A->offsets), device_arg_memory(A->columns),
        device_arg_memory(m->values), device_arg_memory(lists),      device_arg_memory(starts),
        device_arg_memory(offsets),   device_arg_memory(values),     {0}};
    SPRY_GO(ctx, make_launch(f->p, "put_values", A->rows, put));
done:
    return status;
}

/* Sizes from how many diagonals there are before the last block and in all. */
static spry_status describe(device_maker *m, int64_t blocks, int64_t before, int64_t count)
{
    layout *L = m->L;
    int64_t rows = 0;
    const int64_t places = last_places(m, blocks, &rows), fill_most = make_option(m, "fill");
    L->stored = before * L->number[DIA_BLOCK] + (count - before) * places;
    layout_note(L, "block", L->number[DIA_BLOCK]);
    layout_note(L, "fill", fill_most);
    return dia_check_fill(L->ctx,
                          (double)before * (double)L->number[DIA_BLOCK] +
                              (double)(count - before) * (double)rows,
                          m->A->nnz, fill_most);
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    layout *L = m->L;
    device_memory *lists = NULL, *starts = NULL;
    int64_t before = 0, count = 0;
    spry_status status = SPRY_STATUS_OK;
    L->unit_rows = L->number[DIA_BLOCK] = dia_block_rows(make_option(m, "block"));
    L->number[DIA_STRIP] = dia_strip_rows(L->type);
    finding f = {.blocks = (A->rows + L->unit_rows - 1) / L->unit_rows};
    L->units = f.blocks;
    m->elsewhere = f.blocks == 0;
    if (m->elsewhere)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, make_cleared(m->d, f.blocks + 1, sizeof(int64_t), &lists));
    SPRY_GO(ctx, count_diagonals(m, &f, lists));
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, make_look(lists, f.blocks - 1, &before));
    SPRY_GO(ctx, make_look(lists, f.blocks, &count));
    SPRY_GO(ctx, describe(m, f.blocks, before, count));
    SPRY_GO(ctx, device_alloc(m->d, (f.blocks + 1) * (int64_t)sizeof(int64_t), &starts));
    const device_arg args[] = {DEVICE_VALUE(A->rows),
                               DEVICE_VALUE(f.blocks),
                               device_arg_memory(lists),
                               device_arg_memory(starts),
                               {0}};
    SPRY_GO(ctx, make_launch(f.p, "put_starts", f.blocks + 1, args));
    SPRY_GO(ctx, fill(m, &f, lists, starts, count));
    make_adopt(m, DIA_LISTS, "lists", f.blocks + 1, sizeof(int64_t), lists);
    make_adopt(m, DIA_STARTS, "starts", f.blocks + 1, sizeof(int64_t), starts);
    lists = starts = NULL;
done:
    device_free(lists);
    device_free(starts);
    return status;
}

const device_format device_format_dia = {.name = "dia", .open = open, .make = make};
