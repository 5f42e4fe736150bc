/* CSR to SELL on a device: widths, their sums, then all entries in one pass; and back. */
#include "device/convert.h"

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
    spry_status status = SPRY_STATUS_OK;
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
    spry_status status = SPRY_STATUS_OK;
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

/* --- back ----------------------------------------------------------------------------------------
 */

spry_status device_sell_to_csr(spry_device *d, const device_sell *s, int C, device_matrix *A)
{
    const int64_t groups = groups_for(A->rows, GROUP);
    const int32_t any_mixed = s->any_mixed;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, build(d, A->type, C, &p));
    SPRY_GO(d->ctx, device_clear(A->offsets, 0, sizeof(int64_t)));
    const device_arg lengths[] = {DEVICE_VALUE(A->rows),         device_arg_memory(s->offsets),
                                  device_arg_memory(s->columns), DEVICE_VALUE(any_mixed),
                                  device_arg_memory(s->mixed),   device_arg_memory(s->lengths),
                                  device_arg_memory(A->offsets)};
    SPRY_GO(d->ctx, device_launch(p, "sell_lengths", NULL, groups, GROUP, lengths, 7));
    SPRY_GO(d->ctx, device_matrix_allocate(A));
    const device_arg entries[] = {DEVICE_VALUE(A->rows),         device_arg_memory(s->offsets),
                                  device_arg_memory(s->columns), device_arg_memory(s->values),
                                  device_arg_memory(A->offsets), device_arg_memory(A->columns),
                                  device_arg_memory(A->values)};
    SPRY_GO(d->ctx, device_launch(p, "sell_entries", NULL, groups, GROUP, entries, 7));
done:
    return status;
}
