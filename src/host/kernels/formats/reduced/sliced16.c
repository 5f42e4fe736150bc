/*
 * Products with slices of rows, columns of 16 bits: 10 bytes an entry of type d and 4 / C for its
 * group's base. Columns are loaded four at a time, so that the core has little more than the load
 * of x for an entry; memory bounds the loop.
 */
#include "host/kernels/slices_lanes.h"
#include "matrix/formats/sell16.h"

typedef struct index_arrays {
    const uint16_t *low, *high;
    const int32_t *bases;
    int64_t C;
} index_arrays;

ALWAYS_INLINE index_arrays index_of(const layout *A)
{
    return (index_arrays){.low = A->array[SELL16_LOW].data,
                          .high = A->array[SELL16_HIGH].data,
                          .bases = A->array[SELL16_BASES].data,
                          .C = A->number[SELL_C]};
}

/* Numbers of 16 bits are taken out of words: of 32 bits on arm64, where two of these are one load
 * but two of 64 bits are three. */
#ifdef __aarch64__
typedef uint32_t word;
#else
typedef uint64_t word;
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { IN_WORD = sizeof(word) / sizeof(uint16_t) };
#else
enum { IN_WORD = 64 };
#endif

ALWAYS_INLINE void load_halves(const uint16_t *from, int n, uint32_t *to)
{
    const int words = n / IN_WORD;
#pragma GCC unroll 16
    for (int i = 0; i < words; i++) {
        word w;
        memcpy(&w, from + i * IN_WORD, sizeof w);
#pragma GCC unroll 4
        for (int k = 0; k < IN_WORD; k++, w >>= 16)
            to[i * IN_WORD + k] = (uint16_t)w;
    }
#pragma GCC unroll 32
    for (int l = words * IN_WORD; l < n; l++)
        to[l] = from[l];
}

ALWAYS_INLINE int64_t index_lanes(const index_arrays *a, int n, slice_place at, uint32_t *columns)
{
    const int32_t base = a->bases[at.group];
    load_halves(a->low + at.place, n, columns);
    if (__builtin_expect(base >= 0, 1))
        return base;
    const uint16_t *high = a->high + (int64_t)~base * a->C + at.lane;
#pragma GCC unroll 32
    for (int l = 0; l < n; l++)
        columns[l] |= (uint32_t)high[l] << 16;
    return 0;
}

#include "host/kernels/slices_walk.h"

void W(sliced16_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    sliced_product(A, begin, end, p);
}

void W(sliced16_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->units == 1)
        sliced_tiles(A, begin, end, p, TILE_UNIT);
    else
        sliced_tiles(A, begin, end, p, TILE_MOST);
}
