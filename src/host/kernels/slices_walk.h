/*
 * Walks through slices of rows, stored column by column: see formats/sell/sell.h. Entry k of all
 * lanes of a slice is a group; groups are numbered through, and a cursor is at one. A walk's file
 * says how columns of groups are stored, by
 *
 *     typedef struct index_arrays         the arrays that hold them
 *     index_of(A)                         these of a layout
 *     index_start(a, slice)               where the first group's are: cursor.at
 *     kind_of(a, cursor)                  how the group's are stored. The groups of a slice are of
 *                                         INDEX_RUN (columns are next to each other) all or none
 *     index_run(a, cursor)                the column of lane 0 then
 *     index_lanes(a, C, cursor, lane, n, kind, columns)    the columns of n lanes: that of lane + l
 *                                         is columns[l] and what it gives back; cursor.at goes to
 *                                         the next group
 *
 * and includes this.
 */
#ifndef SPRY_SLICES_WALK_H
#define SPRY_SLICES_WALK_H

#include "formats/sell/sell.h"
#include "host/kernels/slices_lanes.h"

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

ALWAYS_INLINE slice_cursor open_slice(const sliced *A, int64_t C, int64_t slice)
{
    const int64_t place = A->offsets[slice];
    return (slice_cursor){place, place / C, index_start(&A->index, slice)};
}
/* Adds the products of n lanes of a group of this kind; the cursor goes to the next. */
ALWAYS_INLINE void add_lanes(const sliced *A, int64_t C, slice_cursor *c, int64_t lane, int n,
                             index_kind kind, const scalar *x, lanes *s)
{
    uint32_t columns[LANES_WIDE];
    const int64_t base = index_lanes(&A->index, C, c, lane, n, kind, columns);
    lanes_add(s, n, A->values + c->place + lane, x + base, columns);
    c->place += C;
    c->group++;
}

/* Slices of n rows, whose sums are all kept in registers. */
ALWAYS_INLINE void run_slices(const sliced *A, range slices, int n, const product *p)
{
    slice_cursor c = open_slice(A, n, slices.begin);
    for (int64_t slice = slices.begin; slice < slices.end; slice++) {
        const int64_t end = A->offsets[slice + 1];
        lanes s = {0};
        if (c.place < end && kind_of(&A->index, c) == INDEX_RUN)
            for (; c.place < end; c.place += n, c.group++)
                lanes_add_run(&s, n, A->values + c.place, p->x + index_run(&A->index, c));
        else
            while (c.place < end) {
                /* apart, so that columns need not all be at hand when it is known */
                if (__builtin_expect(kind_of(&A->index, c) == INDEX_NEAR, 1))
                    add_lanes(A, n, &c, 0, n, INDEX_NEAR, p->x, &s);
                else
                    add_lanes(A, n, &c, 0, n, INDEX_FAR, p->x, &s);
            }
        give(A, slice, slice * n, n, p, &s);
    }
}

/* Lane l of a slice, by itself. */
ALWAYS_INLINE void run_lane(const sliced *A, int64_t slice, int64_t l, const product *p)
{
    lane_sum s = {0};
    for (slice_cursor c = open_slice(A, A->C, slice); c.place < A->offsets[slice + 1];
         c.place += A->C, c.group++) {
        uint32_t column;
        const int64_t base = index_lanes(&A->index, A->C, &c, l, 1, kind_of(&A->index, c), &column);
        lane_add(&s, A->values[c.place + l], p->x + base + column);
    }
    const scalar sum = lane_take(&s, p->conjugate);
    give_each(A, slice, slice * A->C + l, 1, p, &sum);
}

/* Slices of any number of rows: sums wait in memory while an entry of each row is added to them, so
 * that the arrays are read in their order; those of the last rows are made one by one. */
static __attribute__((noinline)) void run_any(const sliced *A, range slices, const product *p)
{
    enum { BLOCK = LANES_HALF };
    lane_sum sums[SELL_MOST_C];
    const int64_t C = A->C, whole = C / BLOCK * BLOCK;
    lanes s;
    for (int64_t slice = slices.begin; slice < slices.end; slice++) {
        slice_cursor c = open_slice(A, C, slice);
        memset(sums, 0, (size_t)whole * sizeof *sums);
        while (c.place < A->offsets[slice + 1] && whole > 0) {
            slice_cursor next = c;
            for (int64_t l = 0; l < whole; l += BLOCK) {
                next = c;
                lanes_load(&s, BLOCK, sums + l);
                add_lanes(A, C, &next, l, BLOCK, kind_of(&A->index, c), p->x, &s);
                lanes_save(&s, BLOCK, sums + l);
            }
            c = next;
        }
        for (int64_t l = 0; l < whole; l += BLOCK) {
            lanes_load(&s, BLOCK, sums + l);
            give(A, slice, slice * C + l, BLOCK, p, &s);
        }
        for (int64_t l = whole; l < C; l++)
            run_lane(A, slice, l, p);
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

/* The products with n lanes of a slice, from lane l on. */
ALWAYS_INLINE void run_tiles(const sliced *A, int64_t slice, slice_cursor c, int64_t l, int n,
                             int vectors, const host_columns *p, factors f)
{
    const int64_t end = A->offsets[slice + 1], lane = slice * A->C + l;
    const real *x = p->x;
    tile sum[TILE_LANES] = {0};
    for (; c.place < end; c.place += A->C, c.group++) {
        uint32_t columns[TILE_LANES];
        const int64_t base = index_lanes(&A->index, A->C, &c, l, n, kind_of(&A->index, c), columns);
#pragma GCC unroll 8
        for (int i = 0; i < n; i++)
            tile_add(&sum[i], vectors, value_of(A->values[c.place + l + i]),
                     x + (base + columns[i]) * p->x_stride);
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        const int64_t row = row_of(A, lane + i);
        if (row < 0)
            break;
        if (is_empty(A, slice, lane + i))
            sum[i] = (tile){0};
        tile_put(&sum[i], vectors, p, f, row);
    }
}

ALWAYS_INLINE void sliced_tiles(const layout *L, int64_t begin, int64_t end, const host_columns *p,
                                int vectors)
{
    const sliced A = sliced_of(L);
    const factors f = factors_of(p->alpha, p->beta);
    const range slices = slices_of(L, begin, end);
    for (int64_t s = slices.begin; s < slices.end; s++) {
        const slice_cursor c = open_slice(&A, A.C, s);
        int64_t l = 0;
        for (; A.C - l >= TILE_LANES; l += TILE_LANES)
            run_tiles(&A, s, c, l, TILE_LANES, vectors, p, f);
        for (; l < A.C; l++)
            run_tiles(&A, s, c, l, 1, vectors, p, f);
    }
}

#endif
