/*
 * Products with bins and chunks. On a processor a bin goes through its pieces at once, x from left
 * to right, and adds to the sums of its rows, which are in a near cache; a product apart would cost
 * more than it saves (see docs/formats/pb.md). An entry takes 4 bytes and its value's.
 */
#include "formats/pb/pb.h"
#include "host/kernels/walk_kernel.h"

enum { MOST_ITEMS = PB_MOST_ROOM * 1024 / (int)sizeof(scalar) };

/* A bin: its rows, and for each slot the row, counted from the first. */
typedef struct bin {
    int64_t row, rows, entries;
    const uint16_t *slots;
    uint16_t row_of[MOST_ITEMS];
} bin;

static void open_bin(const layout *A, int64_t u, bin *b)
{
    const int64_t *starts = (const int64_t *)A->array[PB_STARTS].data + 2 * u;
    const uint16_t *ends = (const uint16_t *)A->array[PB_ENDS].data + starts[0];
    int64_t slot = 0;
    b->row = starts[0];
    b->rows = starts[2] - starts[0];
    b->entries = starts[3] - starts[1];
    b->slots = (const uint16_t *)A->array[PB_SLOTS].data + starts[1];
    for (int64_t i = 0; i < b->rows; i++)
        for (; slot < ends[i]; slot++)
            b->row_of[slot] = (uint16_t)i;
    for (; slot < b->entries; slot++) /* of the row that goes on after it */
        b->row_of[slot] = (uint16_t)b->rows;
}

/* A piece: where its values begin, its slots and the part of x that it reads. */
typedef struct piece {
    int64_t run, place, count, base;
} piece;

/* Piece p of bin u. Chunks rise with pieces: `chunk` is that of the piece before. */
ALWAYS_INLINE piece open_piece(const layout *A, int64_t u, int64_t p, int64_t entries,
                               int64_t *chunk)
{
    const int32_t *first = A->array[PB_FIRST].data;
    const uint16_t *places = A->array[PB_PLACES].data;
    const int64_t *heads = A->array[PB_HEADS].data;
    const int64_t run = ((const uint32_t *)A->array[PB_RUNS].data)[p], place = places[p];
    while (heads[*chunk + 1] <= run)
        ++*chunk;
    return (piece){run, place, (p + 1 < first[u + 1] ? places[p + 1] : entries) - place,
                   *chunk * A->number[PB_WIDTH]};
}

void W(pb_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->array[PB_VALUES].data;
    const uint16_t *columns = A->array[PB_COLUMNS].data;
    const int32_t *first = A->array[PB_FIRST].data;
    scalar sums[MOST_ITEMS + 1], *carry = p->carry;
    bin b;
    for (int64_t u = begin; u < end; u++) {
        int64_t chunk = 0;
        open_bin(A, u, &b);
        for (int64_t i = 0; i <= b.rows; i++)
            sums[i] = from_scalar((spry_scalar){0, 0});
        for (int64_t at = first[u]; at < first[u + 1]; at++) {
            const piece q = open_piece(A, u, at, b.entries, &chunk);
            const scalar *x = (const scalar *)p->x + q.base;
            for (int64_t i = 0; i < q.count; i++) {
                const scalar value = value_of(values[q.run + i]);
                scalar *sum = sums + b.row_of[b.slots[q.place + i]];
                *sum = muladd(p->conjugate ? conjugate(value) : value, x[columns[q.run + i]], *sum);
            }
        }
        for (int64_t i = 0; i < b.rows; i++)
            put(f, sums[i], (scalar *)p->y + (b.row + i - p->first));
        if (A->carry_at[u + 1] > A->carry_at[u])
            carry[A->carry_at[u]] = mul(f.alpha, sums[b.rows]);
    }
}

/* --- several columns ----------------------------------------------------------------------------
 */

/* A number times those at x, added to the sums of a row. */
ALWAYS_INLINE void add_row(scalar *restrict sum, int numbers, scalar value,
                           const scalar *restrict x)
{
    for (int c = 0; c < numbers; c++)
        sum[c] = muladd(value, x[c], sum[c]);
}

ALWAYS_INLINE void bin_columns(const layout *A, int64_t u, const host_columns *p, bin *b,
                               scalar *sums, int numbers)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->array[PB_VALUES].data;
    const uint16_t *columns = A->array[PB_COLUMNS].data;
    const int32_t *first = A->array[PB_FIRST].data;
    int64_t chunk = 0;
    open_bin(A, u, b);
    for (int64_t i = 0; i < (b->rows + 1) * numbers; i++)
        sums[i] = from_scalar((spry_scalar){0, 0});
    for (int64_t at = first[u]; at < first[u + 1]; at++) {
        const piece q = open_piece(A, u, at, b->entries, &chunk);
        for (int64_t i = 0; i < q.count; i++) {
            const scalar value = value_of(values[q.run + i]);
            const real *x = (const real *)p->x + (q.base + columns[q.run + i]) * p->x_stride;
            add_row(sums + (int64_t)b->row_of[b->slots[q.place + i]] * numbers, numbers,
                    p->conjugate ? conjugate(value) : value, (const scalar *)x);
        }
    }
    for (int64_t i = 0; i < b->rows; i++)
        for (int c = 0; c < p->count; c++)
            put(f, sums[i * numbers + c],
                (scalar *)p->y[c] + (b->row + i - p->first) * p->y_stride);
    if (A->carry_at[u + 1] > A->carry_at[u])
        for (int c = 0; c < numbers; c++)
            ((scalar *)p->carry)[A->carry_at[u] * numbers + c] =
                mul(f.alpha, sums[b->rows * numbers + c]);
}

void W(pb_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    bin b;
    for (int64_t u = begin; u < end; u++)
        if (p->packs == 1)
            bin_columns(A, u, p, &b, p->room, TILE_PACK * TILE_NUMBERS);
        else
            bin_columns(A, u, p, &b, p->room, TILE_MOST * TILE_NUMBERS);
}
