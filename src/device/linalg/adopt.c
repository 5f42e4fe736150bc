/* Matrices whose arrays a caller has on the device: see operator.h and kernels/adopt.knl. */
#include "device/linalg/operator.h"

#include "device/engine/engine.h"
#include "device/linalg/matrix.h"
#include "formats/shared/device_make.h"
#include "matrix/entries.h"

typedef struct given {
    const spry_arrays *a;
    int64_t offset_size, index_size;
    device_memory *offsets, *columns, *values;
} given;

static void given_free(given *g)
{
    device_free(g->offsets);
    device_free(g->columns);
    device_free(g->values);
}

/* The caller's arrays as memory of the device's, which stays the caller's. */
static spry_status lend(spry_device *d, void *place, int64_t bytes, device_memory **m)
{
    *m = NULL;
    if (bytes == 0)
        return SPRY_STATUS_OK;
    return place
               ? device_borrow(d, place, bytes, m)
               : SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                           "a matrix on %s: offsets, col_index or values are NULL", d->facts.name);
}

static spry_status check(spry_device *d, const spry_arrays *a)
{
    if (a->format != SPRY_FORMAT_CSR || a->symmetry != SPRY_SYMMETRY_GENERAL || a->base != 0)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a matrix on %s: general CSR that counts from 0 is needed, not %s %s",
                         d->facts.name, spry_symmetry_name(a->symmetry),
                         spry_format_name(a->format));
    if (a->rows < 0 || a->cols < 0 || a->nnz < 0 || a->rows > INT32_MAX || a->cols > INT32_MAX)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                         "a matrix on %s: %" PRId64 " x %" PRId64 " with %" PRId64 " entries",
                         d->facts.name, a->rows, a->cols, a->nnz);
    return SPRY_STATUS_OK;
}

/* Whether `to` is the matrix; else the host has to look. */
static spry_status take(const given *g, device_matrix *to, bool *whole)
{
    spry_device *d = to->d;
    device_program *p = NULL;
    device_memory *found = NULL;
    char options[96];
    int32_t count[3];
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "-DSP_GROUP=%d -DGIVEN_OFFSET=%s -DGIVEN_INDEX=%s",
             MAKE_GROUP, g->offset_size == 4 ? "int" : "offset",
             g->index_size == 4 ? "int" : "offset");
    SPRY_GO(d->ctx, device_build_text(d, "adopt", options, &p));
    SPRY_GO(d->ctx, make_cleared(d, 3, sizeof *count, &found));
    const device_arg rows_args[] = {DEVICE_VALUE(to->rows),
                                    DEVICE_VALUE(to->cols),
                                    DEVICE_VALUE(to->nnz),
                                    device_arg_memory(g->offsets),
                                    device_arg_memory(g->columns ? g->columns : g->offsets),
                                    device_arg_memory(to->offsets),
                                    device_arg_memory(found),
                                    {0}};
    SPRY_GO(d->ctx, make_launch(p, "adopt_offsets", to->rows + 1, rows_args));
    const device_arg columns_args[] = {
        DEVICE_VALUE(to->cols),         DEVICE_VALUE(to->nnz),    device_arg_memory(g->columns),
        device_arg_memory(to->columns), device_arg_memory(found), {0}};
    if (to->nnz > 0) {
        SPRY_GO(d->ctx, make_launch(p, "adopt_columns", to->nnz, columns_args));
        SPRY_GO(d->ctx, device_copy(g->values, 0, to->values, 0,
                                    to->nnz * (int64_t)spry_type_size(to->type)));
    }
    SPRY_GO(d->ctx, device_get(found, 0, count, sizeof count));
    *whole = count[0] == count[1] && count[2] == 0;
done:
    device_free(found);
    return status;
}

/* By way of the host, which sorts rows, adds up duplicates, and names the place of a fault. */
static spry_status take_by_host(spry_device *d, const given *g, device_matrix *to)
{
    spry_context *ctx = d->ctx;
    const spry_arrays *a = g->a;
    spry_arrays on_host = *a;
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    on_host.offsets = on_host.col_index = on_host.values = NULL;
    SPRY_GO(ctx, base_alloc(ctx, a->rows + 1, (size_t)g->offset_size, &on_host.offsets));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, (size_t)g->index_size, &on_host.col_index));
    SPRY_GO(ctx, base_alloc(ctx, a->nnz, spry_type_size(a->type), &on_host.values));
    SPRY_GO(ctx, device_get(g->offsets, 0, on_host.offsets, (a->rows + 1) * g->offset_size));
    if (a->nnz > 0) {
        SPRY_GO(ctx, device_get(g->columns, 0, on_host.col_index, a->nnz * g->index_size));
        SPRY_GO(ctx, device_get(g->values, 0, on_host.values,
                                a->nnz * (int64_t)spry_type_size(a->type)));
    }
    SPRY_GO(ctx, spry_matrix_new(ctx, &on_host, SPRY_OWN_BORROW, &A));
    SPRY_GO(ctx, device_matrix_put(d, A, to));
done:
    spry_matrix_free(A);
    base_free(ctx, on_host.offsets);
    base_free(ctx, on_host.col_index);
    base_free(ctx, on_host.values);
    return status;
}

static spry_status adopt(spry_device *d, const spry_arrays *a, device_matrix *out)
{
    spry_context *ctx = d->ctx;
    given g = {.a = a, .offset_size = a->offset_bits / 8, .index_size = a->index_bits / 8};
    bool whole = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, lend(d, a->offsets, (a->rows + 1) * g.offset_size, &g.offsets));
    SPRY_GO(ctx, lend(d, a->col_index, a->nnz * g.index_size, &g.columns));
    SPRY_GO(ctx, lend(d, a->values, a->nnz * (int64_t)spry_type_size(a->type), &g.values));
    SPRY_GO(ctx, device_matrix_new(d, a->type, a->rows, a->cols, out));
    out->nnz = a->nnz;
    SPRY_GO(ctx, device_matrix_allocate_known(out));
    SPRY_GO(ctx, take(&g, out, &whole));
    if (whole)
        goto done;
    device_matrix_free(out);
    SPRY_GO(ctx, take_by_host(d, &g, out));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(out);
    given_free(&g);
    return status;
}

spry_status spry_operator_from_arrays(const spry_arrays *arrays, spry_device *device,
                                      const char *format, spry_operator **op)
{
    SPRY_NEED(CTX_OF(device), device, arrays, format, op);
    spry_arrays a;
    device_matrix A = {0};
    spry_status status = SPRY_STATUS_OK;
    const bool chosen = strcmp(format, "auto") == 0;
    *op = NULL;
    SPRY_GO(device->ctx, matrix_read_arrays(device->ctx, arrays, &a));
    SPRY_GO(device->ctx, base_check_type(device->ctx, a.type));
    SPRY_GO(device->ctx, check(device, &a));
    SPRY_GO(device->ctx, adopt(device, &a, &A));
    SPRY_GO(device->ctx, device_matrix_operator(&A, false, chosen ? NULL : format, op));
done:
    device_matrix_free(&A);
    return status;
}
