/* CSR to SELL on a device: widths, their sums, then all entries in one pass; see convert.h. */
#include "device/convert.h"

#include "matrix/formats/sell.h"
#include "matrix/slices.h"

enum { GROUP = 256, OPTIONS_SIZE = 64 };

static int64_t groups_for(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

static spry_status build(spry_device *d, spry_type type, int C, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSLICE=%d", C);
    return device_matrix_build(d, type, GROUP, "convert", options, p);
}

/* Offsets of slices and which are mixed; the host hears how many places there are. */
static spry_status cut(device_program *p, spry_device *d, const device_matrix *A, int C,
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
    SPRY_GO(d->ctx, device_sum_up(d, s->offsets, s->slices + 1));
    SPRY_GO(d->ctx, device_get(s->offsets, s->slices * (int64_t)sizeof s->stored, &s->stored,
                               sizeof s->stored));
    SPRY_GO(d->ctx, device_get(any, 0, &any_mixed, sizeof any_mixed));
    s->any_mixed = any_mixed != 0;
    SPRY_GO(d->ctx, slices_check_fill(d->ctx, "sell", C, s->stored, A->nnz));
done:
    device_free(any);
    return status;
}

static spry_status fill(device_program *p, const device_matrix *A, int C, const device_sell *s)
{
    const int64_t lanes = s->slices * C;
    const device_arg args[] = {
        DEVICE_VALUE(A->rows),         DEVICE_VALUE(lanes),          device_arg_memory(A->offsets),
        device_arg_memory(A->columns), device_arg_memory(A->values), device_arg_memory(s->offsets),
        device_arg_memory(s->columns), device_arg_memory(s->values), device_arg_memory(s->lengths)};
    return device_launch(p, "sell_fill", NULL, groups_for(lanes, GROUP), GROUP, args,
                         sizeof args / sizeof *args);
}

spry_status device_csr_to_sell(spry_device *d, const device_matrix *A, int C, device_sell *out)
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
static spry_status make_shell(const device_matrix *A, int C, const device_sell *s, layout **out)
{
    spry_context *ctx = A->d->ctx;
    layout *L = NULL;
    const spry_status status = base_calloc(ctx, 1, sizeof *L, &L);
    if (status != SPRY_OK)
        return status;
    *L = (layout){
        .ctx = ctx,
        .class = &format_sell,
        .type = A->type,
        .rows = A->rows,
        .cols = A->cols,
        .nnz = A->nnz,
        .exact = true,
        .stored = s->stored,
        .number = {[SELL_C] = C, [SELL_SIGMA] = 1, [SELL_SLICES] = s->slices, [SELL_PER_UNIT] = 1},
        .units = s->slices,
        .unit_rows = C};
    L->array[SELL_VALUES] =
        (layout_array){"values", s->stored, spry_type_size(A->type), NULL, false};
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

static spry_status sell_from_matrix(const device_matrix *A, int C, device_layout **D)
{
    device_sell s = {0};
    layout *L = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(A->d->ctx, device_csr_to_sell(A->d, A, C, &s));
    SPRY_GO(A->d->ctx, make_shell(A, C, &s, &L));
    device_memory *memory[LAYOUT_MOST_ARRAYS] = {[SELL_VALUES] = s.values,
                                                 [SELL_COLUMNS] = s.columns,
                                                 [SELL_OFFSETS] = s.offsets,
                                                 [SELL_LENGTHS] = s.lengths,
                                                 [SELL_MIXED] = s.mixed};
    s = (device_sell){0};
    SPRY_GO(A->d->ctx, device_layout_adopt(A->d, L, memory, D));
done:
    device_sell_free(&s);
    return status;
}

static spry_status make_sell(spry_device *d, const spry_matrix *A, int C, device_layout **D)
{
    device_matrix from = {0};
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, device_matrix_put_csr(d, &A->a, &from));
    SPRY_GO(d->ctx, sell_from_matrix(&from, C, D));
done:
    device_matrix_free(&from);
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
