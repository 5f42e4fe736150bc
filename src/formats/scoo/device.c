/* Sliced COO on devices: see scoo.knl, and in the order of rows formats/shared/bins.knl. */
#include "formats/scoo/scoo.h"

#include "formats/shared/device_bins.h"
#include "formats/shared/device_formats.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* Entries that a group works on at once: no two slices share them. */
enum { GROUP = DEVICE_BINS_GROUP, CHUNK = DEVICE_BINS_CHUNK };

/* Whether products are made first and added up afterwards. */
static bool has_bins(const layout *L)
{
    return L->number[SCOO_BY_ROW] && !L->number[SCOO_WIDE];
}

/* Bytes of local memory left for the sums of a slice. */
static int64_t sum_bytes(const spry_device *d, const layout *L)
{
    enum { MOST = 48 << 10, RESERVED = 256 };
    const int64_t local = d->facts.local_bytes < MOST ? d->facts.local_bytes : MOST;
    return local - RESERVED - CHUNK * (int64_t)(spry_type_size(L->type) + sizeof(uint16_t));
}

/* --- entries in the order that devices want ------------------------------------------------------
 */

typedef struct chunk_entry {
    int64_t column;
    int32_t from;
    uint16_t row;
} chunk_entry;

static int compare(const void *a, const void *b)
{
    const chunk_entry *first = a, *second = b;
    if (first->row != second->row)
        return first->row < second->row ? -1 : 1;
    return (first->from > second->from) - (first->from < second->from);
}

/* What is made. */
typedef struct sorted {
    bool narrow;
    char *values;
    void *columns;
    uint16_t *rows;
    int64_t *starts, *chunks; /* entries and chunks before each slice */
    int32_t *bases;           /* narrow: the least column of each chunk */
} sorted;

static int64_t column_at(const layout *L, int64_t slice, int64_t *group, int64_t k)
{
    const int64_t *starts = L->array[SCOO_STARTS].data;
    const void *columns = L->array[SCOO_COLUMNS].data;
    if (L->number[SCOO_WIDE])
        return ((const uint32_t *)columns)[k];
    while (k >= starts[slice * L->number[SCOO_GROUPS] + *group + 1])
        ++*group;
    return (*group << L->number[SCOO_BITS]) + ((const uint16_t *)columns)[k];
}

/* The least and the largest column of `count` entries from k on. */
static void find_columns(const layout *L, int64_t slice, int64_t *group, int64_t k, int64_t count,
                         int64_t *least, int64_t *most)
{
    *least = *most = column_at(L, slice, group, k);
    for (int64_t i = 1; i < count; i++) {
        const int64_t column = column_at(L, slice, group, k + i);
        *least = column < *least ? column : *least;
        *most = column > *most ? column : *most;
    }
}

/* Entries of the chunk that begins at k. */
static int64_t chunk_size(const sorted *s, int64_t slice, int64_t k)
{
    return s->starts[slice + 1] - k < CHUNK ? s->starts[slice + 1] - k : CHUNK;
}

/* Whether the columns of each chunk are close enough together for 16 bits. */
static bool is_narrow(const layout *L, const sorted *s)
{
    for (int64_t slice = 0; slice < L->units; slice++) {
        int64_t group = 0, least, most;
        for (int64_t k = s->starts[slice]; k < s->starts[slice + 1]; k += CHUNK) {
            find_columns(L, slice, &group, k, chunk_size(s, slice, k), &least, &most);
            if (most - least > UINT16_MAX)
                return false;
        }
    }
    return true;
}

/* Sorts a slice's chunks by rows; what has the same row stays in the order of columns. */
static void sort_slice(const layout *L, sorted *s, int64_t slice)
{
    const size_t size = layout_value_size(L->type, L->kind);
    const char *values = L->array[SCOO_VALUES].data;
    const uint16_t *rows = L->array[SCOO_ROWS].data;
    chunk_entry entry[CHUNK] = {{0}};
    int64_t group = 0, chunk = s->chunks[slice];
    for (int64_t first = s->starts[slice]; first < s->starts[slice + 1]; first += CHUNK, chunk++) {
        const int64_t count = chunk_size(s, slice, first);
        int64_t at = group, least, most;
        find_columns(L, slice, &at, first, count, &least, &most);
        for (int64_t k = 0; k < count; k++)
            entry[k] =
                (chunk_entry){column_at(L, slice, &group, first + k), (int32_t)k, rows[first + k]};
        const int64_t base = s->narrow ? least : 0;
        s->bases[chunk] = (int32_t)base;
        qsort(entry, (size_t)count, sizeof *entry, compare);
        for (int64_t k = 0; k < count; k++) {
            const int64_t to = first + k;
            memcpy(s->values + (size_t)to * size, values + (size_t)(first + entry[k].from) * size,
                   size);
            s->rows[to] = entry[k].row;
            if (s->narrow)
                ((uint16_t *)s->columns)[to] = (uint16_t)(entry[k].column - base);
            else
                ((int32_t *)s->columns)[to] = (int32_t)entry[k].column;
        }
    }
}

/* Where slices begin. */
static spry_status cut(const layout *L, sorted *s)
{
    const int64_t *starts = L->array[SCOO_STARTS].data, groups = L->number[SCOO_GROUPS];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *s->starts, &s->starts));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *s->chunks, &s->chunks));
    s->chunks[0] = 0;
    for (int64_t slice = 0; slice <= L->units; slice++) {
        s->starts[slice] = starts[slice * groups];
        if (slice > 0)
            s->chunks[slice] = s->chunks[slice - 1] +
                               (s->starts[slice] - s->starts[slice - 1] + CHUNK - 1) / CHUNK;
    }
done:
    return status;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    sorted s = {0};
    spry_status status = SPRY_STATUS_OK;
    if (has_bins(L))
        return device_bins_arrays(L, array);
    SPRY_GO(L->ctx, cut(L, &s));
    s.narrow = is_narrow(L, &s);
    const size_t size = layout_value_size(L->type, L->kind), column = s.narrow ? 2 : 4;
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->nnz, size, &s.values));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->nnz, column, &s.columns));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->nnz, sizeof *s.rows, &s.rows));
    SPRY_GO(L->ctx, base_alloc(L->ctx, s.chunks[L->units], sizeof *s.bases, &s.bases));
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->nnz)) schedule(dynamic, 1)
    for (int64_t slice = 0; slice < L->units; slice++)
        sort_slice(L, &s, slice);
done:
    array[0] =
        (layout_array){"values", L->nnz, layout_value_size(L->type, L->kind), s.values, true};
    array[1] = (layout_array){"columns", L->nnz, s.narrow ? 2 : 4, s.columns, true};
    array[2] = (layout_array){"rows", L->nnz, sizeof *s.rows, s.rows, true};
    array[3] = (layout_array){"starts", L->units + 1, sizeof *s.starts, s.starts, true};
    array[4] = (layout_array){"chunks", L->units + 1, sizeof *s.chunks, s.chunks, true};
    array[5] =
        (layout_array){"bases", s.chunks ? s.chunks[L->units] : 0, sizeof *s.bases, s.bases, true};
    array[6] = L->array[SCOO_SLICES];
    return status;
}

/* How columns are stored, also where the device has made them. */
static spry_status find_narrow(const layout *L, bool *narrow)
{
    sorted s = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!L->array[SCOO_STARTS].data) {
        *narrow = L->array[SCOO_COLUMNS].size == sizeof(uint16_t);
        return SPRY_STATUS_OK;
    }
    SPRY_GO(L->ctx, cut(L, &s));
    *narrow = is_narrow(L, &s);
done:
    base_free(L->ctx, s.starts);
    base_free(L->ctx, s.chunks);
    return status;
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { STEP = 512 };
    const int64_t size = (int64_t)spry_type_size(L->type);
    const int64_t most = has_bins(L) ? device_bins_height(d, L) : sum_bytes(d, L) / size;
    int64_t height = L->room > 1 ? L->room : 1; /* rows of a slice at most */
    bool narrow = false;
    if (height > most)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format scoo: a slice has %" PRId64 " rows, and local memory of %s sums "
                         "of %" PRId64 " at most; take h=%" PRId64,
                         height, d->facts.name, most, most / STEP * STEP);
    /* one program for slices of about the same height */
    height = (height + STEP - 1) / STEP * STEP;
    height = height < most ? height : most;
    if (has_bins(L))
        return device_bins_open(d, L, columns, height, form);
    const spry_status status = find_narrow(L, &narrow);
    if (status == SPRY_STATUS_OK) {
        const int64_t pass = most / height < columns ? most / height : columns;
        form->text = "formats/scoo";
        form->by_units = true;
        form->positions = L->units;
        form->group = GROUP;
        snprintf(form->defines, sizeof form->defines, "HEIGHT=%d PASS=%d CHUNK=%d%s", (int)height,
                 (int)pass, CHUNK, narrow ? " NARROW=1" : "");
    }
    return status;
}

const device_format device_format_scoo = {.name = "scoo",
                                          .open = open,
                                          .arrays = arrays,
                                          .grid = "h=512|1024|2048|4096",
                                          .make = device_make_scoo};
