/* Rows and entries of matrices in a device's memory: see setup.h. */
#include "device/linalg/setup.h"

enum { GROUP = 256, OPTIONS_SIZE = 32 };

spry_status device_entries_build(spry_device *d, spry_type type, device_program **p)
{
    return device_matrix_build(d, type, GROUP, "lengths entries", "", p);
}

/* Launches a kernel of kernels/entries.knl, a work-item per row. */
static spry_status launch(const device_matrix *A, const char *kernel, const device_arg *args,
                          int count)
{
    device_program *p = NULL;
    const spry_status status = device_entries_build(A->d, A->type, &p);
    return status == SPRY_STATUS_OK
               ? device_launch(p, kernel, NULL, (A->rows + GROUP - 1) / GROUP, GROUP, args, count)
               : status;
}

#define LAUNCH(A, kernel, args) launch(A, kernel, args, (int)(sizeof(args) / sizeof *(args)))

static device_arg factor_arg(spry_type type, const spry_scalar *factor)
{
    return (device_arg){NULL, factor,
                        spry_type_is_complex(type) ? sizeof *factor : sizeof factor->re};
}

/* Memory that may be missing; kernels get a flag that says so. */
static device_arg maybe_memory(const device_memory *m, const device_memory *instead)
{
    return device_arg_memory(m ? m : instead);
}

/* --- diagonals --------------------------------------------------------------------
 */

spry_status device_matrix_diagonal(const device_matrix *A, device_memory *diagonal)
{
    const int32_t rows = (int32_t)A->rows;
    const device_arg args[] = {DEVICE_VALUE(rows), device_arg_memory(A->offsets),
                               device_arg_memory(A->columns), device_arg_memory(A->values),
                               device_arg_memory(diagonal)};
    return LAUNCH(A, "take_diagonal", args);
}

/* All that comes back is in one place: the bounds of groups, the first of which becomes the
 * largest, and before them how far from the end the first bad row is. */
spry_status device_matrix_inverse_diagonal(const device_matrix *A, device_memory *inverse,
                                           device_memory *conjugate, device_scales *scales)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows, has_conjugate = conjugate != NULL;
    const int32_t groups = (int32_t)((A->rows + GROUP - 1) / GROUP);
    struct {
        int64_t bad;
        double bound;
    } found = {0, 0};
    device_program *p = NULL;
    device_memory *on_device = NULL;
    spry_status status = SPRY_STATUS_OK;
    *scales = (device_scales){-1, 0};
    if (rows == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, device_entries_build(A->d, A->type, &p));
    SPRY_GO(ctx, device_alloc(A->d, (groups + 1) * (int64_t)sizeof(double), &on_device));
    SPRY_GO(ctx, device_clear(on_device, 0, sizeof(double)));
    const device_arg args[] = {DEVICE_VALUE(rows),
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               device_arg_memory(inverse),
                               DEVICE_VALUE(has_conjugate),
                               maybe_memory(conjugate, inverse),
                               device_arg_memory(on_device),
                               device_arg_memory(on_device)};
    const device_arg most[] = {DEVICE_VALUE(groups), device_arg_memory(on_device)};
    SPRY_GO(ctx, LAUNCH(A, "invert_diagonal", args));
    SPRY_GO(ctx, device_launch(p, "largest_bound", NULL, 1, GROUP, most, 2));
    SPRY_GO(ctx, device_get(on_device, 0, &found, sizeof found));
    *scales = (device_scales){found.bad > 0 ? A->rows - found.bad : -1, found.bound};
done:
    device_free(on_device);
    return status;
}

/* --- sums of matrices, entries left out ----------------------------------------------------------
 */

spry_status device_matrix_add(spry_scalar alpha, const device_matrix *A, spry_scalar beta,
                              const device_memory *left, const device_matrix *B, device_matrix *C)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows, has_left = left != NULL;
    device_matrix sum = {0};
    spry_status status = SPRY_STATUS_OK;
    *C = (device_matrix){0};
    if (A->d != B->d || A->type != B->type || A->rows != B->rows || A->cols != B->cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "sum on %s: %" PRId64 " x %" PRId64 " of type %s and %" PRId64
                         " x %" PRId64 " of type %s do not go together",
                         A->d->facts.name, A->rows, A->cols, spry_type_name(A->type), B->rows,
                         B->cols, spry_type_name(B->type));
    SPRY_GO(ctx, device_matrix_new(A->d, A->type, A->rows, A->cols, &sum));
    SPRY_GO(ctx, device_clear(sum.offsets, 0, sizeof(int64_t)));
    const device_arg count[] = {DEVICE_VALUE(rows),
                                device_arg_memory(A->offsets),
                                device_arg_memory(A->columns),
                                device_arg_memory(B->offsets),
                                device_arg_memory(B->columns),
                                device_arg_memory(sum.offsets)};
    SPRY_GO(ctx, LAUNCH(A, "sum_count", count));
    SPRY_GO(ctx, device_matrix_allocate(&sum));
    const device_arg fill[] = {DEVICE_VALUE(rows),
                               factor_arg(A->type, &alpha),
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               factor_arg(A->type, &beta),
                               device_arg_memory(B->offsets),
                               device_arg_memory(B->columns),
                               device_arg_memory(B->values),
                               DEVICE_VALUE(has_left),
                               maybe_memory(left, A->values),
                               device_arg_memory(sum.offsets),
                               device_arg_memory(sum.columns),
                               device_arg_memory(sum.values)};
    SPRY_GO(ctx, LAUNCH(A, "sum_fill", fill));
    *C = sum;
    sum = (device_matrix){0};
done:
    device_matrix_free(&sum);
    return status;
}

spry_status device_matrix_filter(const device_matrix *A, double theta, bool lump,
                                 device_matrix *out)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows, lumps = lump;
    device_memory *diagonal = NULL;
    device_matrix kept = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(ctx, device_alloc(A->d, A->rows * (int64_t)spry_type_size(A->type), &diagonal));
    SPRY_GO(ctx, device_matrix_diagonal(A, diagonal));
    SPRY_GO(ctx, device_matrix_new(A->d, A->type, A->rows, A->cols, &kept));
    SPRY_GO(ctx, device_clear(kept.offsets, 0, sizeof(int64_t)));
    const device_arg count[] = {DEVICE_VALUE(rows),
                                device_arg_memory(A->offsets),
                                device_arg_memory(A->columns),
                                device_arg_memory(A->values),
                                device_arg_memory(diagonal),
                                DEVICE_VALUE(theta),
                                device_arg_memory(kept.offsets)};
    SPRY_GO(ctx, LAUNCH(A, "filter_count", count));
    SPRY_GO(ctx, device_matrix_allocate(&kept));
    const device_arg fill[] = {DEVICE_VALUE(rows),
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               device_arg_memory(diagonal),
                               DEVICE_VALUE(theta),
                               DEVICE_VALUE(lumps),
                               device_arg_memory(kept.offsets),
                               device_arg_memory(kept.columns),
                               device_arg_memory(kept.values)};
    SPRY_GO(ctx, LAUNCH(A, "filter_fill", fill));
    *out = kept;
    kept = (device_matrix){0};
done:
    device_free(diagonal);
    device_matrix_free(&kept);
    return status;
}

spry_status device_matrix_filter_blocks(const device_matrix *A, int block, const device_matrix *S,
                                        bool lump, device_matrix *out)
{
    spry_context *ctx = A->d->ctx;
    const int32_t rows = (int32_t)A->rows, size = block, lumps = lump;
    device_matrix kept = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    if (A->rows != A->cols || S->rows != S->cols || S->rows * block != A->rows)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " is not of blocks of %d for %" PRId64 " nodes",
                         A->rows, A->cols, block, S->rows);
    SPRY_GO(ctx, device_matrix_new(A->d, A->type, A->rows, A->cols, &kept));
    SPRY_GO(ctx, device_clear(kept.offsets, 0, sizeof(int64_t)));
    const device_arg count[] = {DEVICE_VALUE(rows),
                                device_arg_memory(A->offsets),
                                device_arg_memory(A->columns),
                                DEVICE_VALUE(size),
                                device_arg_memory(S->offsets),
                                device_arg_memory(S->columns),
                                device_arg_memory(kept.offsets)};
    SPRY_GO(ctx, LAUNCH(A, "block_count", count));
    SPRY_GO(ctx, device_matrix_allocate(&kept));
    const device_arg fill[] = {DEVICE_VALUE(rows),
                               device_arg_memory(A->offsets),
                               device_arg_memory(A->columns),
                               device_arg_memory(A->values),
                               DEVICE_VALUE(size),
                               device_arg_memory(S->offsets),
                               device_arg_memory(S->columns),
                               DEVICE_VALUE(lumps),
                               device_arg_memory(kept.offsets),
                               device_arg_memory(kept.columns),
                               device_arg_memory(kept.values)};
    SPRY_GO(ctx, LAUNCH(A, "block_fill", fill));
    *out = kept;
    kept = (device_matrix){0};
done:
    device_matrix_free(&kept);
    return status;
}
