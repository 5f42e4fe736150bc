/*
 * Products with slices of rows, columns of 16 bits: 10 bytes per entry of type d, 8 where columns
 * of a group are next to each other, and 4 / C for the group's word. Columns are loaded several at
 * a time, so that the core has little more than the load of x for an entry, and half of one in
 * groups of the other kind; memory bounds the loop.
 */
#include "formats/sell16/sell16.h"
#include "host/kernels/slices_lanes.h"

typedef struct index_arrays {
    const uint16_t *halves;
    const int32_t *words;
    const int64_t *starts;
} index_arrays;

ALWAYS_INLINE index_arrays index_of(const layout *A)
{
    return (index_arrays){.halves = A->array[SELL16_HALVES].data,
                          .words = A->array[SELL16_WORDS].data,
                          .starts = A->array[SELL16_STARTS].data};
}

ALWAYS_INLINE int64_t index_start(const index_arrays *a, int64_t slice)
{
    return a->starts[slice];
}

ALWAYS_INLINE index_kind kind_of(const index_arrays *a, slice_cursor c)
{
    const int32_t word = a->words[c.group];
    return word < 0 ? INDEX_FAR : word < SELL16_RUN ? INDEX_NEAR : INDEX_RUN;
}

ALWAYS_INLINE int64_t index_run(const index_arrays *a, slice_cursor c)
{
    return a->words[c.group] - SELL16_RUN;
}

/* Numbers of 16 bits are taken out of words: of 32 bits on arm64, where two of these are one load
 * but two of 64 bits are three. */
#ifdef __aarch64__
typedef uint32_t packed;
#else
typedef uint64_t packed;
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { IN_WORD = sizeof(packed) / sizeof(uint16_t) };
#else
enum { IN_WORD = 64 };
#endif

ALWAYS_INLINE void load_halves(const uint16_t *from, int n, uint32_t *to)
{
    const int words = n / IN_WORD;
#pragma GCC unroll 16
    for (int i = 0; i < words; i++) {
        packed w;
        memcpy(&w, from + i * IN_WORD, sizeof w);
#pragma GCC unroll 4
        for (int k = 0; k < IN_WORD; k++, w >>= 16)
            to[i * IN_WORD + k] = (uint16_t)w;
    }
#pragma GCC unroll 32
    for (int l = words * IN_WORD; l < n; l++)
        to[l] = from[l];
}

ALWAYS_INLINE int64_t index_lanes(const index_arrays *a, int64_t C, slice_cursor *c, int64_t lane,
                                  int n, index_kind kind, uint32_t *columns)
{
    const int32_t word = a->words[c->group];
    const uint16_t *half = a->halves + c->at + lane;
    if (kind == INDEX_RUN) {
#pragma GCC unroll 32
        for (int l = 0; l < n; l++)
            columns[l] = (uint32_t)l;
        return word - SELL16_RUN + lane;
    }
    load_halves(half, n, columns);
    AHEAD(half, AHEAD_BYTES / 4);
    c->at += C;
    if (kind == INDEX_NEAR)
        return word;
    c->at += C;
#pragma GCC unroll 32
    for (int l = 0; l < n; l++)
        columns[l] |= (uint32_t)half[C + l] << 16;
    return 0;
}

#include "host/kernels/slices_walk.h"

void W(sliced16_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    sliced_product(A, begin, end, p);
}

void W(sliced16_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        sliced_tiles(A, begin, end, p, TILE_PACK);
    else
        sliced_tiles(A, begin, end, p, TILE_MOST);
}
