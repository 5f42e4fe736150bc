/* CSR to SELL on a device: widths, their sums, then all entries in one pass; see convert.h. */
#include "device/convert.h"

#include "matrix/formats/sell.h"
#include "matrix/slices.h"

enum { GROUP = 256, PER_ITEM = 8, OPTIONS_SIZE = 64 };

static int64_t groups_for(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

static spry_status build(spry_device *d, spry_type type, int C, device_program **p)
{
    static const int types[] = {[SPRY_S] = 0, [SPRY_D] = 1, [SPRY_C] = 2, [SPRY_Z] = 3};
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d -DSLICE=%d", types[type], GROUP,
             C);
    return device_build(d, device_text("convert"), options, p);
}

/* Sums numbers up from the first on, in place: pieces, their totals likewise, pieces again. */
static spry_status sum_up(device_program *p, spry_device *d, device_memory *numbers, int64_t count)
{
    const int64_t pieces = groups_for(count, GROUP * PER_ITEM);
    device_memory *totals = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, device_alloc(d, pieces * (int64_t)sizeof(int64_t), &totals));
    const device_arg args[] = {DEVICE_VALUE(count), device_arg_memory(numbers),
                               device_arg_memory(totals)};
    SPRY_GO(d->ctx, device_launch(p, "sum_pieces", NULL, pieces, GROUP, args, 3));
    if (pieces > 1) {
        SPRY_GO(d->ctx, sum_up(p, d, totals, pieces));
        SPRY_GO(d->ctx, device_launch(p, "add_before", NULL, pieces, GROUP, args, 3));
    }
done:
    device_free(totals);
    return status;
}

/* Offsets of slices and which are mixed; the host hears how many places there are. */
static spry_status cut(device_program *p, spry_device *d, const device_csr *A, int C,
                       device_sell *s)
{
    device_memory *any = NULL;
    int32_t any_mixed = 0;
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, device_alloc(d, sizeof any_mixed, &any));
    SPRY_GO(d->ctx, device_clear(any, 0, sizeof any_mixed));
    const device_arg args[] = {DEVICE_VALUE(A->rows),         DEVICE_VALUE(s->slices),
                               device_arg_memory(A->offsets), device_arg_memory(s->offsets),
                               device_arg_memory(s->mixed),   device_arg_memory(any)};
    SPRY_GO(d->ctx, device_launch(p, "sell_widths", NULL, groups_for(s->slices, GROUP), GROUP, args,
                                  sizeof args / sizeof *args));
    SPRY_GO(d->ctx, sum_up(p, d, s->offsets, s->slices + 1));
    SPRY_GO(d->ctx, device_get(s->offsets, s->slices * (int64_t)sizeof s->stored, &s->stored,
                               sizeof s->stored));
    SPRY_GO(d->ctx, device_get(any, 0, &any_mixed, sizeof any_mixed));
    s->any_mixed = any_mixed != 0;
    SPRY_GO(d->ctx, slices_check_fill(d->ctx, "sell", C, s->stored, A->nnz));
done:
    device_free(any);
    return status;
}

static spry_status fill(device_program *p, const device_csr *A, int C, const device_sell *s)
{
    const int64_t lanes = s->slices * C;
    const device_arg args[] = {
        DEVICE_VALUE(A->rows),         DEVICE_VALUE(lanes),          device_arg_memory(A->offsets),
        device_arg_memory(A->columns), device_arg_memory(A->values), device_arg_memory(s->offsets),
        device_arg_memory(s->columns), device_arg_memory(s->values), device_arg_memory(s->lengths)};
    return device_launch(p, "sell_fill", NULL, groups_for(lanes, GROUP), GROUP, args,
                         sizeof args / sizeof *args);
}

spry_status device_csr_to_sell(spry_device *d, const device_csr *A, int C, device_sell *out)
{
    spry_context *ctx = d->ctx;
    const int64_t size = (int64_t)spry_type_size(A->type);
    device_sell s = {.slices = groups_for(A->rows, C)};
    device_program *p = NULL;
    spry_status status = SPRY_OK;
    *out = (device_sell){0};
    SPRY_GO(ctx, build(d, A->type, C, &p));
    SPRY_GO(ctx, device_alloc(d, (s.slices + 1) * (int64_t)sizeof(int64_t), &s.offsets));
    SPRY_GO(ctx, device_alloc(d, s.slices, &s.mixed));
    SPRY_GO(ctx, device_alloc(d, s.slices * C * (int64_t)sizeof(int32_t), &s.lengths));
    if (s.slices == 0)
        SPRY_GO(ctx, device_clear(s.offsets, 0, sizeof(int64_t)));
    else
        SPRY_GO(ctx, cut(p, d, A, C, &s));
    SPRY_GO(ctx, device_alloc(d, s.stored * (int64_t)sizeof(int32_t), &s.columns));
    SPRY_GO(ctx, device_alloc(d, s.stored * size, &s.values));
    SPRY_GO(ctx, fill(p, A, C, &s));
    *out = s;
    s = (device_sell){0};
done:
    device_sell_free(&s);
    return status;
}

void device_sell_free(device_sell *s)
{
    device_free(s->values);
    device_free(s->columns);
    device_free(s->offsets);
    device_free(s->lengths);
    device_free(s->mixed);
    *s = (device_sell){0};
}

/* --- operators -----------------------------------------------------------------------------------
 */

/* A layout of the host's without the arrays' contents. */
static spry_status make_shell(const spry_matrix *A, int C, const device_sell *s, layout **out)
{
    const spry_arrays *a = &A->a;
    layout *L = NULL;
    const spry_status status = base_calloc(A->ctx, 1, sizeof *L, &L);
    if (status != SPRY_OK)
        return status;
    *L = (layout){
        .ctx = A->ctx,
        .class = &format_sell,
        .type = a->type,
        .rows = a->rows,
        .cols = a->cols,
        .nnz = a->nnz,
        .exact = true,
        .stored = s->stored,
        .number = {[SELL_C] = C, [SELL_SIGMA] = 1, [SELL_SLICES] = s->slices, [SELL_PER_UNIT] = 1},
        .units = s->slices,
        .unit_rows = C};
    L->array[SELL_VALUES] =
        (layout_array){"values", s->stored, spry_type_size(a->type), NULL, false};
    L->array[SELL_COLUMNS] = (layout_array){"columns", s->stored, sizeof(int32_t), NULL, false};
    L->array[SELL_OFFSETS] = (layout_array){"offsets", s->slices + 1, sizeof(int64_t), NULL, false};
    L->array[SELL_LENGTHS] = (layout_array){"lengths", s->slices * C, sizeof(int32_t), NULL, true};
    if (s->any_mixed)
        L->array[SELL_MIXED] = (layout_array){"mixed", s->slices, 1, NULL, false};
    layout_note(L, "C", C);
    layout_note(L, "sigma", 1);
    *out = L;
    return SPRY_OK;
}

/* A's arrays in the device's memory. */
static spry_status put_csr(spry_device *d, const spry_arrays *A, device_memory *memory[3])
{
    const void *const from[] = {A->offsets, A->col_index, A->values};
    const int64_t bytes[] = {(A->rows + 1) * (int64_t)sizeof *A->offsets,
                             A->nnz * (int64_t)sizeof *A->col_index,
                             A->nnz * (int64_t)spry_type_size(A->type)};
    spry_status status = SPRY_OK;
    for (int i = 0; i < 3; i++) {
        SPRY_GO(d->ctx, device_alloc(d, bytes[i], &memory[i]));
        if (bytes[i] > 0)
            SPRY_GO(d->ctx, device_put(memory[i], 0, from[i], bytes[i]));
    }
done:
    return status;
}

static spry_status make_sell(spry_device *d, const spry_matrix *A, int C, device_layout **D)
{
    device_memory *csr[3] = {NULL, NULL, NULL};
    device_sell s = {0};
    layout *L = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, put_csr(d, &A->a, csr));
    const device_csr from = {A->a.type, A->a.rows, A->a.nnz, csr[0], csr[1], csr[2]};
    SPRY_GO(d->ctx, device_csr_to_sell(d, &from, C, &s));
    SPRY_GO(d->ctx, make_shell(A, C, &s, &L));
    device_memory *memory[LAYOUT_MOST_ARRAYS] = {[SELL_VALUES] = s.values,
                                                 [SELL_COLUMNS] = s.columns,
                                                 [SELL_OFFSETS] = s.offsets,
                                                 [SELL_LENGTHS] = s.lengths,
                                                 [SELL_MIXED] = s.mixed};
    s = (device_sell){0};
    SPRY_GO(d->ctx, device_layout_adopt(d, L, memory, D));
done:
    device_sell_free(&s);
    for (int i = 0; i < 3; i++)
        device_free(csr[i]);
    return status;
}

spry_status device_layout_from_csr(spry_device *d, const spry_matrix *A, const char *spec,
                                   bool *made, device_layout **D)
{
    enum { DEFAULT_C = 32 };
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    const layout_class *class;
    int64_t C = 0;
    *made = false;
    spry_status status = layout_parse(d->ctx, spec, &class, options);
    if (status != SPRY_OK || class != &format_sell || !sell_is_plain(options, &C) ||
        !(d->facts.has_double || A->a.type == SPRY_S || A->a.type == SPRY_C))
        return status;
    status = make_sell(d, A, C > 0 ? (int)C : DEFAULT_C, D);
    *made = status == SPRY_OK;
    return status == SPRY_NO_MEMORY ? SPRY_OK : status;
}
