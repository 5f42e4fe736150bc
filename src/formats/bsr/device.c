/* Dense blocks on devices: see bsr.knl. */
#include "formats/bsr/bsr.h"

#include "formats/shared/device_lanes_format.h"
#include "formats/shared/device_make.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const int64_t block_rows = L->array[BSR_OFFSETS].count - 1, r = L->number[BSR_R];
    int step = 1;
    (void)d, (void)columns;
    while (step < r)
        step *= 2;
    if (block_rows * step > INT32_MAX) /* seldom, and no more than a loss of time */
        step = (int)r;
    form->text = "formats/bsr";
    form->positions = block_rows * step;
    form->lanes = device_lanes(L->array[BSR_COLUMNS].count, block_rows);
    snprintf(form->defines, sizeof form->defines, "R=%d C=%d STEP=%d", (int)r,
             (int)L->number[BSR_C], step);
    form->number[0] = (device_number){"last", L->rows};
    return SPRY_STATUS_OK;
}

/* The rows that the size of blocks is chosen by, as a matrix of the host's: offsets count from 0.
 */
static spry_status bring_sample(const device_matrix *A, matrix_arrays *sample)
{
    spry_context *ctx = A->d->ctx;
    const int64_t stretches = bsr_stretches(A->rows);
    int64_t at = 0, begin = 0, *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    *sample = (matrix_arrays){.type = A->type, .format = SPRY_FORMAT_CSR, .cols = A->cols};
    SPRY_GO(ctx, base_calloc(ctx, stretches * BSR_STRETCH + 1, sizeof *offsets, &offsets));
    sample->offsets = offsets;
    for (int64_t t = 0; t < stretches; t++) {
        const int64_t row = bsr_stretch(A->rows, t), left = A->rows - row;
        const int64_t rows = left < BSR_STRETCH ? left : BSR_STRETCH;
        SPRY_GO(ctx, make_look(A->offsets, row, &begin));
        SPRY_GO(ctx, device_get(A->offsets, (row + 1) * 8, offsets + sample->rows + 1, rows * 8));
        const int64_t count = offsets[sample->rows + rows] - begin;
        for (int64_t i = 1; i <= rows; i++)
            offsets[sample->rows + i] += at - begin;
        SPRY_GO(ctx,
                base_grow(ctx, at, at + count + 1, sizeof *sample->col_index, &sample->col_index));
        if (count > 0)
            SPRY_GO(ctx, device_get(A->columns, begin * 4, sample->col_index + at, count * 4));
        at += count;
        sample->rows += rows;
    }
    sample->nnz = at;
done:
    return status;
}

static spry_status choose(const device_maker *m, int64_t *r, int64_t *c)
{
    spry_context *ctx = m->d->ctx;
    const bool said = make_option(m, "r") > 0 && make_option(m, "c") > 0; /* nothing to look for */
    matrix_arrays sample = {.type = m->A->type, .format = SPRY_FORMAT_CSR, .cols = m->A->cols};
    const spry_status status = said ? SPRY_STATUS_OK : bring_sample(m->A, &sample);
    if (status == SPRY_STATUS_OK)
        bsr_choose(&sample, m->options, r, c);
    base_free(ctx, sample.offsets);
    base_free(ctx, sample.col_index);
    return status;
}

static spry_status build(const device_maker *m, device_program **p)
{
    char options[48];
    snprintf(options, sizeof options, "-DR=%d -DC=%d", (int)m->L->number[BSR_R],
             (int)m->L->number[BSR_C]);
    return make_build(m, "make_bsr", options, p);
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const device_matrix *A = m->A;
    layout *L = m->L;
    device_program *p = NULL;
    device_memory *values = NULL, *columns = NULL, *offsets = NULL;
    int64_t r = 1, c = 1, blocks = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, choose(m, &r, &c));
    const int64_t block_rows = (A->rows + r - 1) / r;
    L->number[BSR_R] = r;
    L->number[BSR_C] = c;
    L->units = (A->rows + BSR_UNIT_ROWS - 1) / BSR_UNIT_ROWS;
    L->unit_rows = BSR_UNIT_ROWS;
    layout_note(L, "r", r);
    layout_note(L, "c", c);
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_cleared(m->d, block_rows + 1, sizeof(int64_t), &offsets));
    const device_arg count[] = {DEVICE_VALUE(A->rows),
                                DEVICE_VALUE(A->cols),
                                DEVICE_VALUE(block_rows),
                                device_arg_memory(A->offsets),
                                device_arg_memory(A->columns),
                                device_arg_memory(offsets),
                                {0}};
    SPRY_GO(ctx, make_launch(p, "count_blocks", block_rows, count));
    SPRY_GO(ctx, device_sum_up(m->d, offsets, block_rows + 1));
    SPRY_GO(ctx, make_look(offsets, block_rows, &blocks));
    L->stored = blocks * r * c;
    SPRY_GO(ctx, make_cleared(m->d, L->stored + BSR_BEHIND, m->size, &values));
    make_adopt(m, BSR_VALUES, "values", L->stored, m->size, values);
    SPRY_GO(ctx, make_add(m, BSR_COLUMNS, "columns", blocks, sizeof(int32_t), &columns));
    const device_arg put[] = {DEVICE_VALUE(A->rows),         DEVICE_VALUE(A->cols),
                              DEVICE_VALUE(block_rows),      device_arg_memory(A->offsets),
                              device_arg_memory(A->columns), device_arg_memory(m->values),
                              device_arg_memory(offsets),    device_arg_memory(columns),
                              device_arg_memory(values),     {0}};
    SPRY_GO(ctx, make_launch(p, "put_blocks", block_rows, put));
    make_adopt(m, BSR_OFFSETS, "offsets", block_rows + 1, sizeof(int64_t), offsets);
    offsets = NULL;
done:
    device_free(offsets);
    return status;
}

const device_format device_format_bsr = {.name = "bsr", .open = open, .make = make, .grid = "r=0"};
