/*
 * Products with slices of rows, columns of 32 bits: 12 bytes per entry of type d, 8 an offset a
 * slice and 8 per row for y, x apart. The core has one load per entry for x, half of one for a
 * column and less for values, and no work by rows: memory bounds it, unless rows of a slice differ
 * much.
 */
#include "formats/sell/sell.h"
#include "host/kernels/slices_lanes.h"

typedef struct index_arrays {
    const int32_t *columns;
} index_arrays;

ALWAYS_INLINE index_arrays index_of(const layout *A)
{
    return (index_arrays){A->array[SELL_COLUMNS].data};
}

ALWAYS_INLINE int64_t index_start(const index_arrays *a, int64_t slice)
{
    (void)a;
    (void)slice;
    return 0;
}

ALWAYS_INLINE index_kind kind_of(const index_arrays *a, slice_cursor c)
{
    (void)a;
    (void)c;
    return INDEX_NEAR;
}

ALWAYS_INLINE int64_t index_run(const index_arrays *a, slice_cursor c)
{
    (void)a;
    (void)c;
    return 0;
}

ALWAYS_INLINE int64_t index_lanes(const index_arrays *a, int64_t C, const slice_cursor *c,
                                  int64_t lane, int n, index_kind kind, uint32_t *columns)
{
    (void)C;
    (void)kind;
#pragma GCC unroll 32
    for (int l = 0; l < n; l++)
        columns[l] = (uint32_t)a->columns[c->place + lane + l];
    AHEAD(a->columns + c->place + lane, AHEAD_BYTES / 2);
    return 0;
}

#include "host/kernels/slices_walk.h"

void W(sliced_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    sliced_product(A, begin, end, p);
}

void W(sliced_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        sliced_tiles(A, begin, end, p, TILE_PACK);
    else
        sliced_tiles(A, begin, end, p, TILE_MOST);
}
