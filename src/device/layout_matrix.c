/* Layouts in a device's memory made of matrices that are there, and back: see convert.h. The host
 * has no arrays of them. */
#include "device/convert.h"

#include "matrix/formats/csr.h"
#include "matrix/formats/sell.h"

enum { GROUP = 256, OPTIONS_SIZE = 64, DEFAULT_C = 32 };

/* A layout of the host's without arrays. */
static spry_status make_shell(const device_matrix *A, const layout_class *class, layout **out)
{
    spry_context *ctx = A->d->ctx;
    layout *L = NULL;
    const spry_status status = base_calloc(ctx, 1, sizeof *L, &L);
    if (status != SPRY_STATUS_OK)
        return status;
    *L = (layout){.ctx = ctx,
                  .class = class,
                  .type = A->type,
                  .rows = A->rows,
                  .cols = A->cols,
                  .nnz = A->nnz,
                  .exact = true};
    *out = L;
    return SPRY_STATUS_OK;
}

static layout_array array_of(const char *name, int64_t count, size_t size, bool aside)
{
    return (layout_array){name, count, size, NULL, aside};
}

/* --- sell ----------------------------------------------------------------------------------------
 */

static void describe_sell(layout *L, int C, const device_sell *s)
{
    L->stored = s->stored;
    L->units = s->slices;
    L->unit_rows = C;
    L->number[SELL_C] = C;
    L->number[SELL_SIGMA] = L->number[SELL_PER_UNIT] = 1;
    L->number[SELL_SLICES] = s->slices;
    L->array[SELL_VALUES] = array_of("values", s->stored, spry_type_size(L->type), false);
    L->array[SELL_COLUMNS] = array_of("columns", s->stored, sizeof(int32_t), false);
    L->array[SELL_OFFSETS] = array_of("offsets", s->slices + 1, sizeof(int64_t), false);
    L->array[SELL_LENGTHS] = array_of("lengths", s->slices * C, sizeof(int32_t), true);
    if (s->any_mixed)
        L->array[SELL_MIXED] = array_of("mixed", s->slices, 1, false);
    layout_note(L, "C", C);
    layout_note(L, "sigma", 1);
}

/* most_fill: how many places per entry may take on the average; 0: any number. */
static spry_status make_sell(const device_matrix *A, int C, double most_fill, device_layout **D)
{
    device_sell s = {0};
    layout *L = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->d->ctx, device_csr_to_sell(A->d, A, C, &s));
    if (most_fill > 0 && (double)s.stored > most_fill * (double)A->nnz) {
        status = SPRY_STATUS_UNSUPPORTED;
        goto done;
    }
    SPRY_GO(A->d->ctx, make_shell(A, &format_sell, &L));
    describe_sell(L, C, &s);
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

spry_status device_layout_from_csr(spry_device *d, const spry_matrix *A, const char *spec,
                                   bool *made, device_layout **D)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    const layout_class *class;
    device_matrix from = {0};
    int64_t C = 0;
    *made = false;
    spry_status status = layout_parse(d->ctx, spec, &class, options);
    if (status != SPRY_STATUS_OK || class != &format_sell || !sell_is_plain(options, &C) ||
        !(d->facts.has_double || type_is_single(A->a.type)))
        return status;
    SPRY_GO(d->ctx, device_matrix_put_csr(d, &A->a, &from));
    SPRY_GO(d->ctx, make_sell(&from, C > 0 ? (int)C : DEFAULT_C, 0, D));
    *made = true;
done:
    device_matrix_free(&from);
    return status == SPRY_STATUS_NO_MEMORY ? SPRY_STATUS_OK : status;
}

static spry_status from_sell(const device_layout *D, device_matrix *out)
{
    const layout *L = device_layout_host(D);
    /* They are read only. */
    const device_sell s = {.slices = L->number[SELL_SLICES],
                           .stored = L->stored,
                           .any_mixed = L->array[SELL_MIXED].name != NULL,
                           .values = device_layout_array(D, "values"),
                           .columns = device_layout_array(D, "columns"),
                           .offsets = device_layout_array(D, "offsets"),
                           .lengths = device_layout_array(D, "lengths"),
                           .mixed = device_layout_array(D, "mixed")};
    return device_sell_to_csr(out->d, &s, (int)L->number[SELL_C], out);
}

/* --- csr -----------------------------------------------------------------------------------------
 */

static spry_status build_csr(spry_device *d, device_program **p)
{
    char options[OPTIONS_SIZE];
    snprintf(options, sizeof options, "-DROWS=%d", CSR_GROUP);
    return device_matrix_build(d, SPRY_TYPE_S, GROUP, "convert_csr", options, p);
}

/* Starts and ends of A's rows. */
static spry_status cut_rows(const device_matrix *A, device_memory *starts, device_memory *ends)
{
    spry_context *ctx = A->d->ctx;
    device_program *p = NULL;
    device_memory *any = NULL;
    int32_t too_many = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build_csr(A->d, &p));
    SPRY_GO(ctx, device_alloc(A->d, sizeof too_many, &any));
    SPRY_GO(ctx, device_clear(any, 0, sizeof too_many));
    const device_arg args[] = {DEVICE_VALUE(A->rows), device_arg_memory(A->offsets),
                               device_arg_memory(starts), device_arg_memory(ends),
                               device_arg_memory(any)};
    SPRY_GO(ctx, device_launch(p, "csr_cut", NULL, A->rows / GROUP + 1, GROUP, args, 5));
    SPRY_GO(ctx, device_get(any, 0, &too_many, sizeof too_many));
    if (too_many)
        status = SPRY_FAIL(
            ctx, SPRY_STATUS_UNSUPPORTED,
            "format csr: %d rows hold more entries than offsets of 32 bits can count", CSR_GROUP);
done:
    device_free(any);
    return status;
}

/* The columns and values of A, or copies. */
static spry_status take_entries(device_matrix *A, bool keep, device_memory **columns,
                                device_memory **values)
{
    spry_context *ctx = A->d->ctx;
    const int64_t column_bytes = A->nnz * (int64_t)sizeof(int32_t);
    const int64_t value_bytes = A->nnz * (int64_t)spry_type_size(A->type);
    spry_status status = SPRY_STATUS_OK;
    if (!keep) {
        *columns = A->columns;
        *values = A->values;
        A->columns = A->values = NULL;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, device_alloc(A->d, column_bytes, columns));
    SPRY_GO(ctx, device_alloc(A->d, value_bytes, values));
    if (A->nnz > 0) {
        SPRY_GO(ctx, device_copy(A->columns, 0, *columns, 0, column_bytes));
        SPRY_GO(ctx, device_copy(A->values, 0, *values, 0, value_bytes));
    }
done:
    return status;
}

static spry_status make_csr(device_matrix *A, bool keep, device_layout **D)
{
    spry_context *ctx = A->d->ctx;
    device_memory *memory[LAYOUT_MOST_ARRAYS] = {NULL};
    layout *L = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_shell(A, &format_csr, &L));
    L->stored = A->nnz;
    L->units = (A->rows + CSR_GROUP - 1) / CSR_GROUP;
    L->unit_rows = CSR_GROUP;
    L->array[CSR_VALUES] = array_of("values", A->nnz, spry_type_size(A->type), false);
    L->array[CSR_COLUMNS] = array_of("columns", A->nnz, sizeof(int32_t), false);
    L->array[CSR_STARTS] = array_of("starts", L->units + 1, sizeof(int64_t), false);
    L->array[CSR_ENDS] = array_of("ends", A->rows, sizeof(uint32_t), false);
    SPRY_GO(ctx, device_alloc(A->d, (L->units + 1) * 8, &memory[CSR_STARTS]));
    SPRY_GO(ctx, device_alloc(A->d, A->rows * 4, &memory[CSR_ENDS]));
    SPRY_GO(ctx, cut_rows(A, memory[CSR_STARTS], memory[CSR_ENDS]));
    SPRY_GO(ctx, take_entries(A, keep, &memory[CSR_COLUMNS], &memory[CSR_VALUES]));
    status = device_layout_adopt(A->d, L, memory, D);
    L = NULL;
    SPRY_GO(ctx, status);
done:
    for (int i = 0; i < LAYOUT_MOST_ARRAYS && L; i++)
        device_free(memory[i]);
    layout_free(L);
    return status;
}

static spry_status from_csr(const device_layout *D, device_matrix *out)
{
    spry_context *ctx = out->d->ctx;
    device_program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    const device_arg args[] = {
        DEVICE_VALUE(out->rows), device_arg_memory(device_layout_array(D, "starts")),
        device_arg_memory(device_layout_array(D, "ends")), device_arg_memory(out->offsets)};
    SPRY_GO(ctx, build_csr(out->d, &p));
    SPRY_GO(ctx, device_launch(p, "csr_join", NULL, out->rows / GROUP + 1, GROUP, args, 4));
    device_matrix view = *out; /* its entries are the layout's */
    view.nnz = device_layout_host(D)->nnz;
    view.columns = device_layout_array(D, "columns");
    view.values = device_layout_array(D, "values");
    out->nnz = view.nnz;
    SPRY_GO(ctx, take_entries(&view, true, &out->columns, &out->values));
done:
    return status;
}

/* --- either --------------------------------------------------------------------------------------
 */

static spry_status make_any(device_matrix *A, bool keep, device_layout **D)
{
    const double most_fill = 1.4;
    char before[MESSAGE_SIZE];
    memcpy(before, A->d->ctx->message, sizeof before);
    const spry_status status = make_sell(A, DEFAULT_C, most_fill, D);
    if (status != SPRY_STATUS_UNSUPPORTED)
        return status;
    memcpy(A->d->ctx->message, before, sizeof before); /* nothing failed for the caller */
    return make_csr(A, keep, D);
}

spry_status device_layout_from_matrix(device_matrix *A, bool keep, const char *spec,
                                      device_layout **D)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    spry_context *ctx = A->d->ctx;
    const layout_class *class;
    int64_t C = 0;
    spry_status status = SPRY_STATUS_OK;
    *D = NULL;
    if (!spec) {
        SPRY_GO(ctx, make_any(A, keep, D));
        goto done;
    }
    SPRY_GO(ctx, layout_parse(ctx, spec, &class, options));
    if (class == &format_sell && sell_is_plain(options, &C))
        SPRY_GO(ctx, make_sell(A, C > 0 ? (int)C : DEFAULT_C, 0, D));
    else if (class == &format_csr && csr_is_plain(options))
        SPRY_GO(ctx, make_csr(A, keep, D));
    else
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "format %s of a matrix that was made on %s: take csr or sell, values as "
                           "they are and rows not sorted",
                           spec, A->d->facts.name);
done:
    if (!keep)
        device_matrix_free(A);
    return status;
}

spry_status device_layout_to_matrix(const device_layout *D, device_matrix *out)
{
    const layout *L = device_layout_host(D);
    spry_device *d = device_layout_device(D);
    const bool csr = L->class == &format_csr;
    const bool sell = L->class == &format_sell && !L->array[SELL_ROWS].name;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    if (L->kind != STORED_OWN || !(csr || sell))
        return SPRY_STATUS_OK;
    SPRY_GO(L->ctx, device_matrix_new(d, L->type, L->rows, L->cols, out));
    SPRY_GO(L->ctx, csr ? from_csr(D, out) : from_sell(D, out));
done:
    if (status != SPRY_STATUS_OK)
        device_matrix_free(out);
    return status;
}
