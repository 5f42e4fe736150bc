/* Rows and columns of a matrix in a device's memory in another order: see matrix.h. */
#include "device/linalg/matrix.h"

#include "device/engine/staging.h"

enum { GROUP = 256, LANES = 8 };

static spry_status launch(device_program *p, const char *kernel, int64_t items,
                          const device_arg *args, int count)
{
    return device_launch(p, kernel, NULL, (items + GROUP - 1) / GROUP, GROUP, args, count);
}

/* P has the places both ways, and room for those of A. */
static spry_status move_rows(const device_matrix *A, const device_memory *from, device_memory *to,
                             device_matrix *P)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows;
    device_program *p = NULL;
    char options[32];
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "-DLANES=%d", LANES);
    SPRY_GO(ctx, device_matrix_build(A->d, A->type, GROUP, "permute", options, &p));
    const device_arg length_args[] = {DEVICE_VALUE(rows), device_arg_memory(from),
                                      device_arg_memory(A->offsets), device_arg_memory(to),
                                      device_arg_memory(P->offsets)};
    SPRY_GO(ctx, launch(p, "permute_lengths", rows, length_args, 5));
    SPRY_GO(ctx, device_sum_up(A->d, P->offsets, A->rows + 1));
    const device_arg fill_args[] = {DEVICE_VALUE(rows),
                                    device_arg_memory(from),
                                    device_arg_memory(to),
                                    device_arg_memory(A->offsets),
                                    device_arg_memory(A->columns),
                                    device_arg_memory(A->values),
                                    device_arg_memory(P->offsets),
                                    device_arg_memory(P->columns),
                                    device_arg_memory(P->values)};
    SPRY_GO(ctx, launch(p, "permute_fill", (int64_t)rows * LANES, fill_args,
                        sizeof fill_args / sizeof *fill_args));
done:
    return status;
}

spry_status device_matrix_permute(const device_matrix *A, const int32_t *from, device_matrix *out)
{
    spry_device *d = A->d;
    const int64_t bytes = A->rows * (int64_t)sizeof *from;
    device_memory *on_device = NULL, *to = NULL;
    device_matrix P = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(d->ctx, device_matrix_new(d, A->type, A->rows, A->cols, &P));
    P.nnz = A->nnz;
    SPRY_GO(d->ctx, device_matrix_allocate_known(&P));
    SPRY_GO(d->ctx, device_alloc(d, bytes, &on_device));
    SPRY_GO(d->ctx, device_alloc(d, bytes, &to));
    SPRY_GO(d->ctx, device_put_large(on_device, from, bytes));
    SPRY_GO(d->ctx, move_rows(A, on_device, to, &P));
    SPRY_GO(d->ctx, device_matrix_sort(&P));
    *out = P;
    P = (device_matrix){0};
done:
    device_free(on_device);
    device_free(to);
    device_matrix_free(&P);
    return status;
}
