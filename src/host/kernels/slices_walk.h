/*
 * Walks through slices of rows, stored column by column: see matrix/formats/sell.h. A walk's file
 * says how columns are stored, by
 *
 *     typedef struct index_arrays       the arrays that hold them
 *     index_of(A)                       these of a layout
 *     index_lanes(a, n, at, columns)    the columns of n lanes from a place on, less what is
 *                                       returned: the column of lane l is that + columns[l]
 *
 * and includes this. The places of a slice are gone through once for each block of LANES_MOST
 * lanes; what a slice has fits into the innermost cache but for the longest rows.
 */
#ifndef SPRY_SLICES_WALK_H
#define SPRY_SLICES_WALK_H

#include "host/kernels/slices_lanes.h"
#include "matrix/formats/sell.h"

/* What a walk needs at hand. */
typedef struct sliced {
    index_arrays index;
    const stored *values;
    const int64_t *offsets;
    const int32_t *rows, *lengths; /* rows is NULL where these keep their order */
    const uint8_t *mixed;          /* NULL: no slice is */
    int64_t C, count;              /* rows of A */
} sliced;

ALWAYS_INLINE sliced sliced_of(const layout *A)
{
    return (sliced){.index = index_of(A),
                    .values = A->array[SELL_VALUES].data,
                    .offsets = A->array[SELL_OFFSETS].data,
                    .rows = A->array[SELL_ROWS].data,
                    .lengths = A->array[SELL_LENGTHS].data,
                    .mixed = A->array[SELL_MIXED].data,
                    .C = A->number[SELL_C],
                    .count = A->rows};
}

/* The slices of units begin..end-1. */
ALWAYS_INLINE range slices_of(const layout *A, int64_t begin, int64_t end)
{
    const int64_t each = A->number[SELL_PER_UNIT], all = A->number[SELL_SLICES];
    return (range){begin * each < all ? begin * each : all, end * each < all ? end * each : all};
}

/* The row of a lane, -1: none; and whether it has no entries although its slice has. */
ALWAYS_INLINE int64_t row_of(const sliced *A, int64_t lane)
{
    return A->rows ? A->rows[lane] : lane < A->count ? lane : -1;
}
ALWAYS_INLINE bool is_empty(const sliced *A, int64_t slice, int64_t lane)
{
    return A->mixed && A->mixed[slice] && A->lengths[lane] == 0;
}

/* --- one column ---------------------------------------------------------------------------------
 */

typedef struct product {
    const scalar *x;
    scalar *y;
    int64_t first; /* the row that y_0 is */
    factors f;
    bool conjugate, simple; /* simple: sums are what y becomes, row by row */
} product;

/* Gives rows their sums, one by one. */
static __attribute__((noinline)) void give_each(const sliced *A, int64_t slice, int64_t lane, int n,
                                                const product *p, const scalar *sums)
{
    const scalar zero = from_scalar((spry_scalar){0, 0});
    for (int l = 0; l < n; l++) {
        const int64_t row = row_of(A, lane + l);
        if (row < 0)
            return;
        put(p->f, is_empty(A, slice, lane + l) ? zero : sums[l], p->y + (row - p->first));
    }
}

/* Gives n lanes of a slice their sums. */
ALWAYS_INLINE void give(const sliced *A, int64_t slice, int64_t lane, int n, const product *p,
                        const lanes *s)
{
    if (p->simple && lane + n <= A->count && !(A->mixed && A->mixed[slice])) {
        lanes_take(s, n, false, p->y + (lane - p->first));
    } else {
        scalar sums[LANES_WIDE];
        lanes_take(s, n, p->conjugate, sums);
        give_each(A, slice, lane, n, p, sums);
    }
}

/* Adds the products of n lanes at a place. */
ALWAYS_INLINE void add_lanes(const sliced *A, slice_place at, int n, const product *p, lanes *s)
{
    uint32_t columns[LANES_WIDE];
    const int64_t base = index_lanes(&A->index, n, at, columns);
    lanes_add(s, n, A->values + at.place, p->x + base, columns);
}

/* Slices of n rows, whose sums are all kept in registers. */
ALWAYS_INLINE void run_slices(const sliced *A, range slices, int n, const product *p)
{
    slice_place at = {A->offsets[slices.begin], A->offsets[slices.begin] / n, 0};
    for (int64_t slice = slices.begin; slice < slices.end; slice++) {
        lanes s = {0};
        for (; at.place < A->offsets[slice + 1]; at.place += n, at.group++)
            add_lanes(A, at, n, p, &s);
        give(A, slice, slice * n, n, p, &s);
    }
}

/* Adds the products of one lane. */
ALWAYS_INLINE void add_lane(const sliced *A, slice_place at, const product *p, lane_sum *s)
{
    uint32_t column;
    const int64_t base = index_lanes(&A->index, 1, at, &column);
    lane_add(s, A->values[at.place], p->x + base + column);
}

/* Slices of any number of rows: sums wait in memory while an entry of each row is added to them, so
 * that the arrays are read in their order. */
static __attribute__((noinline)) void run_any(const sliced *A, range slices, const product *p)
{
    enum { BLOCK = LANES_HALF };
    lane_sum sums[SELL_MOST_C];
    const int64_t C = A->C, whole = C / BLOCK * BLOCK;
    slice_place at = {A->offsets[slices.begin], A->offsets[slices.begin] / C, 0};
    for (int64_t slice = slices.begin; slice < slices.end; slice++) {
        memset(sums, 0, (size_t)C * sizeof *sums);
        for (; at.place < A->offsets[slice + 1]; at.group++) {
            for (at.lane = 0; at.lane < whole; at.lane += BLOCK, at.place += BLOCK) {
                lanes s;
                lanes_load(&s, BLOCK, sums + at.lane);
                add_lanes(A, at, BLOCK, p, &s);
                lanes_save(&s, BLOCK, sums + at.lane);
            }
            for (; at.lane < C; at.lane++, at.place++)
                add_lane(A, at, p, &sums[at.lane]);
        }
        for (int64_t l = 0; l < C; l++) {
            const scalar sum = lane_take(&sums[l], p->conjugate);
            give_each(A, slice, slice * C + l, 1, p, &sum);
        }
    }
}

ALWAYS_INLINE void sliced_product(const layout *L, int64_t begin, int64_t end,
                                  const host_product *given)
{
    const sliced A = sliced_of(L);
    product p = {.x = given->x,
                 .y = given->y,
                 .first = given->first,
                 .f = factors_of(given->alpha, given->beta),
                 .conjugate = given->conjugate};
    p.simple = p.f.plain && !A.rows && !p.conjugate;
    const range slices = slices_of(L, begin, end);
    if (slices.begin >= slices.end)
        return;
    if (A.C == LANES_HALF)
        run_slices(&A, slices, LANES_HALF, &p);
    else if (A.C == LANES_MOST)
        run_slices(&A, slices, LANES_MOST, &p);
    else if (LANES_WIDE > LANES_MOST && A.C == LANES_WIDE)
        run_slices(&A, slices, LANES_WIDE, &p);
    else
        run_any(&A, slices, &p);
}

/* --- several columns ----------------------------------------------------------------------------
 */

/* Rows whose tiles are kept in registers at once. */
#if defined(__aarch64__) || defined(__AVX512F__)
enum { TILE_ROOM = 16 };
#else
enum { TILE_ROOM = 8 };
#endif
enum { TILE_LANES = TILE_ROOM / (TILE_MOST * TILE_PARTS) };

ALWAYS_INLINE int64_t run_tiles(const sliced *A, int64_t slice, slice_place at, int n, int vectors,
                                const host_columns *p, factors f)
{
    const int64_t end = A->offsets[slice + 1], lane = slice * A->C + at.lane;
    const real *x = p->x;
    tile sum[TILE_LANES] = {0};
    for (; at.place < end; at.place += A->C, at.group++) {
        uint32_t columns[TILE_LANES];
        const int64_t base = index_lanes(&A->index, n, at, columns);
#pragma GCC unroll 8
        for (int l = 0; l < n; l++)
            tile_add(&sum[l], vectors, value_of(A->values[at.place + l]),
                     x + (base + columns[l]) * p->x_step);
    }
#pragma GCC unroll 8
    for (int l = 0; l < n; l++) {
        const int64_t row = row_of(A, lane + l);
        if (row < 0)
            break;
        if (is_empty(A, slice, lane + l))
            sum[l] = (tile){0};
        tile_put(&sum[l], vectors, p, f, row);
    }
    return at.group;
}

ALWAYS_INLINE void sliced_tiles(const layout *L, int64_t begin, int64_t end, const host_columns *p,
                                int vectors)
{
    const sliced A = sliced_of(L);
    const factors f = factors_of(p->alpha, p->beta);
    const range slices = slices_of(L, begin, end);
    int64_t group = slices.begin < slices.end ? A.offsets[slices.begin] / A.C : 0;
    for (int64_t s = slices.begin; s < slices.end; s++) {
        slice_place at = {A.offsets[s], group, 0};
        for (; A.C - at.lane >= TILE_LANES; at.lane += TILE_LANES, at.place += TILE_LANES)
            group = run_tiles(&A, s, at, TILE_LANES, vectors, p, f);
        if (TILE_LANES > 1)
            for (; at.lane < A.C; at.lane++, at.place++)
                group = run_tiles(&A, s, at, 1, vectors, p, f);
    }
}

#endif
