/* Matrices in a device's memory: making, copying, prefix sums; see matrix.h. */
#include "device/linalg/matrix.h"

#include "device/engine/staging.h"
#include "matrix/entries.h"

enum { GROUP = 256, PER_ITEM = 8 };

void device_matrix_free(device_matrix *A)
{
    if (!A)
        return;
    device_free(A->offsets);
    device_free(A->columns);
    device_free(A->values);
    *A = (device_matrix){0};
}

static spry_status check_type(const spry_device *d, spry_type type)
{
    if (!type_is_single(type) && !d->facts.has_double)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                         "device %s has no double precision; take type s or c", d->facts.name);
    return SPRY_STATUS_OK;
}

spry_status device_matrix_new(spry_device *d, spry_type type, int64_t rows, int64_t cols,
                              device_matrix *out)
{
    *out = (device_matrix){0};
    device_matrix A = {.d = d, .type = type, .rows = rows, .cols = cols};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, check_type(d, type));
    SPRY_GO(d->ctx, device_alloc(d, (rows + 1) * (int64_t)sizeof(int64_t), &A.offsets));
    *out = A;
done:
    return status;
}

/* A is none after a failure. */
spry_status device_matrix_allocate_known(device_matrix *A)
{
    spry_device *d = A->d;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_alloc(d, A->nnz * (int64_t)sizeof(int32_t), &A->columns));
    SPRY_GO(d->ctx, device_alloc(d, A->nnz * (int64_t)spry_type_size(A->type), &A->values));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(A);
    return status;
}

spry_status device_matrix_allocate(device_matrix *A)
{
    spry_device *d = A->d;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_sum_up(d, A->offsets, A->rows + 1));
    SPRY_GO(d->ctx,
            device_get(A->offsets, A->rows * (int64_t)sizeof A->nnz, &A->nnz, sizeof A->nnz));
    return device_matrix_allocate_known(A);
done:
    device_matrix_free(A);
    return status;
}

/* --- to the device and back ----------------------------------------------------------------------
 */

/* The arrays of both sides: offsets, columns, values. */
typedef struct array_pair {
    device_memory *device;
    void *host;
    int64_t bytes;
} array_pair;

static void pair_up(const device_matrix *A, const matrix_arrays *a, array_pair pairs[3])
{
    pairs[0] = (array_pair){A->offsets, a->offsets, (a->rows + 1) * (int64_t)sizeof *a->offsets};
    pairs[1] = (array_pair){A->columns, a->col_index, a->nnz * (int64_t)sizeof *a->col_index};
    pairs[2] = (array_pair){A->values, a->values, a->nnz * (int64_t)spry_type_size(a->type)};
}

spry_status device_matrix_put_csr(spry_device *d, const matrix_arrays *csr, device_matrix *out)
{
    device_matrix to = {0};
    array_pair pairs[3];
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(d->ctx, device_matrix_new(d, csr->type, csr->rows, csr->cols, &to));
    to.nnz = csr->nnz;
    SPRY_GO(d->ctx, device_matrix_allocate_known(&to));
    pair_up(&to, csr, pairs);
    for (int i = 0; i < 3; i++)
        SPRY_GO(d->ctx, device_put_large(pairs[i].device, pairs[i].host, pairs[i].bytes));
    *out = to;
    to = (device_matrix){0};
done:
    device_matrix_free(&to);
    return status;
}

spry_status device_matrix_copy(const device_matrix *A, device_matrix *out)
{
    spry_context *ctx = A->d->ctx;
    device_matrix to = {0};
    spry_status status = SPRY_STATUS_OK;
    *out = to;
    SPRY_GO(ctx, device_matrix_new(A->d, A->type, A->rows, A->cols, &to));
    to.nnz = A->nnz;
    SPRY_GO(ctx, device_matrix_allocate_known(&to));
    SPRY_GO(ctx,
            device_copy(A->offsets, 0, to.offsets, 0, (A->rows + 1) * (int64_t)sizeof(int64_t)));
    if (A->nnz > 0) {
        SPRY_GO(ctx, device_copy(A->columns, 0, to.columns, 0, A->nnz * (int64_t)sizeof(int32_t)));
        SPRY_GO(ctx,
                device_copy(A->values, 0, to.values, 0, A->nnz * (int64_t)spry_type_size(A->type)));
    }
    *out = to;
    to = (device_matrix){0};
done:
    device_matrix_free(&to);
    return status;
}

spry_status device_matrix_put(spry_device *d, const spry_matrix *A, device_matrix *out)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    SPRY_GO(d->ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(d->ctx, device_matrix_put_csr(d, &csr->a, out));
done:
    spry_matrix_free(owned);
    return status;
}

spry_status device_matrix_get(const device_matrix *A, spry_matrix **out)
{
    spry_context *ctx = A->d->ctx;
    matrix_arrays a = {.type = A->type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = A->rows,
                       .cols = A->cols,
                       .nnz = A->nnz};
    array_pair pairs[3];
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    pair_up(A, &a, pairs);
    for (int i = 0; i < 3; i++)
        SPRY_GO(ctx, device_get_large(pairs[i].device, pairs[i].host, pairs[i].bytes));
done:
    return matrix_finish(ctx, status, &a, out);
}

/* --- programs and prefix sums --------------------------------------------------------------------
 */

spry_status device_matrix_build(spry_device *d, spry_type type, int group, const char *names,
                                const char *options, device_program **p)
{
    static const int types[] = {
        [SPRY_TYPE_S] = 0, [SPRY_TYPE_D] = 1, [SPRY_TYPE_C] = 2, [SPRY_TYPE_Z] = 3};
    char all[256];
    snprintf(all, sizeof all, "-DSP_TYPE=%d -DSP_GROUP=%d %s", types[type], group, options);
    return device_build_text(d, names, all, p);
}

static spry_status sum_pieces(device_program *p, spry_device *d, device_memory *numbers,
                              int64_t count)
{
    const int64_t each = (int64_t)GROUP * PER_ITEM, pieces = (count + each - 1) / each;
    device_memory *totals = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_alloc(d, pieces * (int64_t)sizeof(int64_t), &totals));
    const device_arg args[] = {DEVICE_VALUE(count), device_arg_memory(numbers),
                               device_arg_memory(totals)};
    SPRY_GO(d->ctx, device_launch(p, "sum_pieces", NULL, pieces, GROUP, args, 3));
    if (pieces > 1) {
        SPRY_GO(d->ctx, sum_pieces(p, d, totals, pieces));
        SPRY_GO(d->ctx, device_launch(p, "add_before", NULL, pieces, GROUP, args, 3));
    }
done:
    device_free(totals);
    return status;
}

static spry_status build_sums(spry_device *d, device_program **p)
{
    return device_matrix_build(d, SPRY_TYPE_S, GROUP, "sums", "", p);
}

spry_status device_sum_up(spry_device *d, device_memory *numbers, int64_t count)
{
    device_program *p = NULL;
    const spry_status status = build_sums(d, &p);
    return status == SPRY_STATUS_OK ? sum_pieces(p, d, numbers, count) : status;
}
