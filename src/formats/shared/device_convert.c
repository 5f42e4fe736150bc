/* Layouts in a device's memory made of matrices, and back: see device_convert.h. */
#include "formats/shared/device_convert.h"

#include "formats/csr/csr.h"
#include "formats/sell/sell.h"
#include "formats/shared/device_make.h"

enum { OPTIONS_SIZE = 64 };

/* --- to the device -------------------------------------------------------------------------------
 */

spry_status device_layout_from_csr(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                                   const char *spec, bool *made, device_layout **D)
{
    device_matrix brought = {0};
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    if (!device_makes(spec) || !(d->facts.has_double || type_is_single(A->a.type)))
        return SPRY_STATUS_OK;
    const base_kept before = base_try(d->ctx);
    if (!on_device)
        SPRY_GO(d->ctx, device_matrix_put_csr(d, &A->a, &brought));
    SPRY_GO(d->ctx,
            device_layout_make(on_device ? on_device : &brought, on_device != NULL, spec, made, D));
    if (on_device && !*made)
        SPRY_GO(d->ctx, SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                                  "format %s: only the host can make it of this matrix", spec));
done:
    device_matrix_free(&brought);
    if (status == SPRY_STATUS_NO_MEMORY && !on_device) { /* nothing failed for the caller */
        base_forgive(d->ctx, &before);
        return SPRY_STATUS_OK;
    }
    return status;
}

spry_status device_layout_from_matrix(device_matrix *A, bool keep, const char *spec,
                                      device_layout **D)
{
    bool made = false;
    spry_status status = device_layout_make(A, keep, spec, &made, D);
    if (status == SPRY_STATUS_OK && made && !device_layout_goes_back(*D)) {
        device_layout_free(*D);
        *D = NULL;
        made = false;
    }
    if (status == SPRY_STATUS_OK && !made)
        status = SPRY_FAIL(A->d->ctx, SPRY_STATUS_UNSUPPORTED,
                           "format %s of a matrix that was made on %s: take csr or sell, values as "
                           "they are and rows not sorted",
                           spec, A->d->facts.name);
    if (!keep)
        device_matrix_free(A);
    return status;
}

/* --- back ----------------------------------------------------------------------------------------
 */

static spry_status build_from_sell(spry_device *d, spry_type type, int64_t C, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DSLICE=%d", (int)C);
    return device_matrix_build(d, type, MAKE_GROUP, "convert", options, p);
}

/* Fill differs from entries by its columns, which do not rise; lengths and mixed are looked at
 * where slices are mixed. */
static spry_status from_sell(const device_layout *D, device_matrix *A)
{
    const layout *L = device_layout_host(D);
    spry_context *ctx = L->ctx;
    const int64_t groups = make_groups(A->rows);
    const int32_t any_mixed = L->array[SELL_MIXED].name != NULL;
    const device_memory *offsets = device_layout_array(D, "offsets");
    const device_memory *columns = device_layout_array(D, "columns");
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build_from_sell(A->d, A->type, L->number[SELL_C], &p));
    SPRY_GO(ctx, device_clear(A->offsets, 0, sizeof(int64_t)));
    const device_arg lengths[] = {
        DEVICE_VALUE(A->rows),
        device_arg_memory(offsets),
        device_arg_memory(columns),
        DEVICE_VALUE(any_mixed),
        device_arg_memory(any_mixed ? device_layout_array(D, "mixed") : offsets),
        device_arg_memory(any_mixed ? device_layout_array(D, "lengths") : offsets),
        device_arg_memory(A->offsets)};
    SPRY_GO(ctx, device_launch(p, "sell_lengths", NULL, groups, MAKE_GROUP, lengths, 7));
    SPRY_GO(ctx, device_matrix_allocate(A));
    const device_arg entries[] = {
        DEVICE_VALUE(A->rows),         device_arg_memory(offsets),
        device_arg_memory(columns),    device_arg_memory(device_layout_array(D, "values")),
        device_arg_memory(A->offsets), device_arg_memory(A->columns),
        device_arg_memory(A->values)};
    SPRY_GO(ctx, device_launch(p, "sell_entries", NULL, groups, MAKE_GROUP, entries, 7));
done:
    return status;
}

/* A copy of one of the layout's arrays. */
static spry_status copy_array(const device_layout *D, const char *name, int64_t bytes,
                              device_memory **to)
{
    const spry_status status = device_alloc(device_layout_device(D), bytes, to);
    return status == SPRY_STATUS_OK && bytes > 0
               ? device_copy(device_layout_array(D, name), 0, *to, 0, bytes)
               : status;
}

static spry_status from_csr(const device_layout *D, device_matrix *A)
{
    spry_context *ctx = A->d->ctx;
    char options[OPTIONS_SIZE];
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    A->nnz = device_layout_host(D)->nnz;
    snprintf(options, sizeof options, "-DROWS=%d", CSR_GROUP);
    SPRY_GO(ctx, device_matrix_build(A->d, SPRY_TYPE_S, MAKE_GROUP, "make_csr", options, &p));
    const device_arg args[] = {DEVICE_VALUE(A->rows),
                               device_arg_memory(device_layout_array(D, "starts")),
                               device_arg_memory(device_layout_array(D, "ends")),
                               device_arg_memory(A->offsets),
                               {0}};
    SPRY_GO(ctx, make_launch(p, "csr_join", A->rows + 1, args));
    SPRY_GO(ctx, copy_array(D, "columns", A->nnz * (int64_t)sizeof(int32_t), &A->columns));
    SPRY_GO(ctx, copy_array(D, "values", A->nnz * (int64_t)spry_type_size(A->type), &A->values));
done:
    return status;
}

bool device_layout_goes_back(const device_layout *D)
{
    const layout *L = device_layout_host(D);
    const bool sell = L->class == &format_sell && !L->array[SELL_ROWS].name;
    return L->kind == STORED_OWN && (sell || L->class == &format_csr);
}

spry_status device_layout_to_matrix(const device_layout *D, device_matrix *out)
{
    const layout *L = device_layout_host(D);
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    if (!device_layout_goes_back(D))
        return SPRY_STATUS_OK;
    SPRY_GO(L->ctx, device_matrix_new(device_layout_device(D), L->type, L->rows, L->cols, out));
    SPRY_GO(L->ctx, L->class == &format_csr ? from_csr(D, out) : from_sell(D, out));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(out);
    return status;
}
