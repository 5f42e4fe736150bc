/* Sliced COO in the order of rows on devices: see device_bins.h. */
#include "formats/shared/device_bins.h"

#include "formats/scoo/scoo.h"
#include "matrix/entries.h"

#include <stdlib.h>

enum { CHUNK = DEVICE_BINS_CHUNK, GROUP = DEVICE_BINS_GROUP, TEAM = 32 };

int64_t device_bins_height(const spry_device *d, const layout *L)
{
    enum { MOST = 48 << 10, RESERVED = 768 };
    const int64_t size = (int64_t)spry_type_size(L->type);
    const int64_t local = d->facts.local_bytes < MOST ? d->facts.local_bytes : MOST;
    const int64_t lanes = GROUP * size; /* where lanes are added up in local memory */
    return (local - RESERVED - lanes - CHUNK * (size + (int64_t)sizeof(uint16_t))) / size;
}

spry_status device_bins_open(const spry_device *d, const layout *L, int columns, int64_t height,
                             device_form *form)
{
    enum { NEAR_BYTES = 32 << 10, GROUPS = 4096, TILES = 4 };
    const int64_t width = (int64_t)1 << L->number[SCOO_BITS], groups = L->number[SCOO_GROUPS];
    const int64_t most = L->units / (TILES * GROUP / TEAM) + 1; /* some tiles for each team */
    const int64_t wanted = GROUPS / groups + 1, parts = wanted < most ? wanted : most;
    const bool near = columns == 1 && width * (int64_t)spry_type_size(L->type) <= NEAR_BYTES;
    (void)d;
    form->text = "formats/bins";
    form->by_units = true;
    form->positions = L->units;
    form->before = groups * parts;
    form->group = GROUP;
    form->number[0] = (device_number){"cols", L->cols};
    form->number[1] = (device_number){"groups", groups};
    form->number[2] = (device_number){"parts", parts};
    snprintf(form->defines, sizeof form->defines, "HEIGHT=%d CHUNK=%d WIDTH=%d NEAR=%d",
             (int)height, CHUNK, (int)width, near);
    return SPRY_STATUS_OK;
}

static int compare(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

/* The places that a chunk's products go to, so that those of a row are together, and their rows.
 */
static void sort_chunk(const uint16_t *rows, int64_t count, uint16_t *slots, uint16_t *sorted)
{
    uint32_t key[CHUNK] = {0};
    for (int64_t k = 0; k < count; k++)
        key[k] = (uint32_t)rows[k] << 16 | (uint32_t)k;
    qsort(key, (size_t)count, sizeof *key, compare);
    for (int64_t k = 0; k < count; k++) {
        slots[key[k] & UINT16_MAX] = (uint16_t)k;
        sorted[k] = (uint16_t)(key[k] >> 16);
    }
}

spry_status device_bins_arrays(const layout *L, layout_array *array)
{
    const int64_t *starts = L->array[SCOO_STARTS].data, groups = L->number[SCOO_GROUPS];
    const uint16_t *rows = L->array[SCOO_ROWS].data;
    uint16_t *slots = NULL, *sorted = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->nnz, sizeof *slots, &slots));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->nnz, sizeof *sorted, &sorted));
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->nnz)) schedule(dynamic, 1)
    for (int64_t unit = 0; unit < L->units; unit++) {
        const int64_t end = starts[(unit + 1) * groups];
        for (int64_t k = starts[unit * groups]; k < end; k += CHUNK)
            sort_chunk(rows + k, end - k < CHUNK ? end - k : CHUNK, slots + k, sorted + k);
    }
done:
    array[0] = L->array[SCOO_VALUES];
    array[1] = L->array[SCOO_COLUMNS];
    array[2] = (layout_array){"slots", L->nnz, sizeof *slots, slots, true};
    array[3] = (layout_array){"rows", L->nnz, sizeof *sorted, sorted, true};
    array[4] = L->array[SCOO_STARTS];
    array[5] = L->array[SCOO_SLICES];
    return status;
}
