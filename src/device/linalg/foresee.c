/* See foresee.h. Texts of products depend on a layout: small ones are made on the host for them. */
#include "device/linalg/foresee.h"

#include "device/linalg/setup.h"
#include "device/linalg/vector.h"
#include "formats/shared/device_convert.h"
#include "formats/shared/device_make.h"
#include "matrix/entries.h"

/* What texts of a format depend on, more or less: making a layout and its texts takes as long as
 * several products, and is done once for each. */
static uint64_t key_of(const spry_matrix *small, int64_t rows, int64_t nnz, const char *spec)
{
    const int64_t longest = matrix_longest_row(small->ctx, &small->a);
    uint64_t key = base_random(11, (uint64_t)small->a.type);
    int mean = 0;
    while (mean < 60 && rows << mean < 2 * nnz)
        mean++;
    key = base_random(key, (uint64_t)mean);
    key = base_random(key, longest * small->a.rows == small->a.nnz); /* rows are of one length */
    key = base_random(key, small->a.nnz < small->a.rows);            /* some have no entries */
    for (const char *p = spec; *p; p++)
        key = base_random(key, (unsigned char)*p);
    return key;
}

void device_foresee_format(spry_device *d, const spry_matrix *small, int64_t rows, int64_t nnz,
                           const char *spec)
{
    char before[MESSAGE_SIZE];
    layout *L = NULL;
    if (!device_foresees(d) || device_was_told(d, key_of(small, rows, nnz, spec)))
        return;
    memcpy(before, d->ctx->message, sizeof before);
    if (layout_build(small, spec, &L) == SPRY_STATUS_OK)
        device_layout_make_foresee(d, L, rows, nnz, spec);
    layout_free(L);
    memcpy(d->ctx->message, before, sizeof before); /* nothing failed for the caller */
}

/* Rows of one entry each; where `holes`, not all of them. */
static spry_status make_small(spry_context *ctx, spry_type type, bool holes, spry_matrix **A)
{
    enum { ROWS = 32 };
    matrix_arrays a = {.type = type,
                       .format = SPRY_FORMAT_CSR,
                       .rows = ROWS,
                       .cols = ROWS,
                       .nnz = holes ? ROWS / 2 : ROWS};
    spry_status status = SPRY_STATUS_OK;
    *A = NULL;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    memset(a.values, 0, (size_t)a.nnz * spry_type_size(type));
    for (int i = 0; i <= ROWS; i++)
        a.offsets[i] = i < a.nnz ? i : a.nnz;
    for (int k = 0; k < a.nnz; k++)
        a.col_index[k] = k;
done:
    return matrix_finish(ctx, status, &a, A);
}

void device_foresee_named(spry_device *d, spry_type type, int64_t rows, int64_t nnz,
                          const char *spec)
{
    spry_matrix *small = NULL;
    if (device_foresees(d) && make_small(d->ctx, type, false, &small) == SPRY_STATUS_OK)
        device_foresee_format(d, small, rows, nnz, spec);
    spry_matrix_free(small);
}

/* Levels are in sell, or in csr where rows differ much, with lanes as they are long. */
static void foresee_levels(spry_device *d, spry_type type)
{
    static const int64_t means[] = {3, 7, 12, 24, 48, 96};
    spry_matrix *small = NULL;
    for (int holes = 0; holes < 2; holes++) {
        if (make_small(d->ctx, type, holes, &small) != SPRY_STATUS_OK)
            return;
        device_foresee_format(d, small, small->a.rows, small->a.nnz, "sell:C=32");
        for (size_t k = 0; !holes && k < sizeof means / sizeof *means; k++)
            device_foresee_format(d, small, small->a.rows, means[k] * small->a.rows, "csr");
        spry_matrix_free(small);
    }
}

/* Multigrid with nodes of so many rows, or classical (0). */
static void foresee_multigrid(spry_device *d, spry_type type, int block, int vectors)
{
    char before[MESSAGE_SIZE];
    if (!device_foresees(d))
        return;
    memcpy(before, d->ctx->message, sizeof before);
    device_vectors_foresee(d, type);
    device_convert_foresee(d, type);
    if (block > 0)
        device_setup_foresee(d, type, block, vectors);
    else
        device_setup_foresee_classical(d, type);
    foresee_levels(d, type);
    memcpy(d->ctx->message, before, sizeof before);
}

void device_foresee_amg(spry_device *d, spry_type type, int block, int vectors)
{
    foresee_multigrid(d, type, block, vectors);
}

void device_foresee_classical(spry_device *d, spry_type type)
{
    foresee_multigrid(d, type, 0, 0);
}

/* What all of them take. */
static void foresee_products(spry_device *d, spry_type type)
{
    (void)device_entries_build(d, type, NULL);
    device_sums_foresee(d);
    device_classes_foresee(d);
    device_multiply_foresee(d, type);
    device_transpose_foresee(d, type);
}

void device_setup_foresee(spry_device *d, spry_type type, int block, int vectors)
{
    foresee_products(d, type);
    device_aggregate_foresee(d, type);
    device_prolong_foresee(d, type, block, vectors);
    if (type != SPRY_TYPE_S)
        device_transpose_foresee(d, SPRY_TYPE_S);
}

void device_setup_foresee_classical(spry_device *d, spry_type type)
{
    foresee_products(d, type);
    device_points_foresee(d, type);
}
