/*
 * Products with diagonals stored by blocks of rows and strips. An entry takes the bytes of its
 * value and nothing else (8.0 for d, 2.0 as f16; the lists of diagonals take 4 bytes for as many
 * entries as a block has rows), a row those of x and y. Values come in one stream; x comes in as
 * many as there are diagonals, from caches. What bounds the loop is memory, and with 16-bit values
 * on arm64 their conversion: two steps, of which a cycle does one or two.
 */
#include "formats/dia/dia.h"
#include "host/kernels/strip.h"

/* A block of rows with its diagonals. */
typedef struct block {
    int64_t row, end, count;
    const int32_t *offsets;
    const stored *values;
} block;

ALWAYS_INLINE block block_at(const layout *A, int64_t u)
{
    const int64_t *lists = A->array[DIA_LISTS].data, *starts = A->array[DIA_STARTS].data;
    const int64_t row = u * A->number[DIA_BLOCK], end = row + A->number[DIA_BLOCK];
    return (block){row, end < A->rows ? end : A->rows, lists[u + 1] - lists[u],
                   (const int32_t *)A->array[DIA_OFFSETS].data + lists[u],
                   (const stored *)A->array[DIA_VALUES].data + starts[u]};
}

/* Whether all diagonals are inside the matrix in the strip that begins with this row. */
ALWAYS_INLINE bool inside(const layout *A, const block *b, int64_t row)
{
    return b->count == 0 ||
           (row + b->offsets[0] >= 0 && row + STRIP_ROWS + b->offsets[b->count - 1] <= A->cols);
}

ALWAYS_INLINE void strips(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool conjugated)
{
    const factors f = factors_of(p->alpha, p->beta);
    const scalar *x = p->x;
    scalar *y = (scalar *)p->y - p->first, room[STRIP_ROWS];
    for (int64_t u = begin; u < end; u++) {
        block b = block_at(A, u);
        for (int64_t row = b.row; row < b.end; row += STRIP_ROWS) {
            strip s = {0};
            if (inside(A, &b, row))
                for (int64_t d = 0; d < b.count; d++) {
                    AHEAD(b.values + d * STRIP_ROWS, AHEAD_BYTES);
                    AHEAD(b.values + d * STRIP_ROWS, AHEAD_BYTES + STRIP_BYTES / 2);
                    strip_add(&s, b.values + d * STRIP_ROWS, x + row + b.offsets[d]);
                }
            else
                for (int64_t d = 0; d < b.count; d++)
                    strip_add(&s, b.values + d * STRIP_ROWS,
                              strip_cut(x, A->cols, row + b.offsets[d], room));
            b.values += b.count * STRIP_ROWS;
            strip_put(&s, f, conjugated, b.end - row < STRIP_ROWS ? b.end - row : STRIP_ROWS,
                      y + row);
        }
    }
}

void W(diagonals_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (p->conjugate)
        strips(A, begin, end, p, true);
    else
        strips(A, begin, end, p, false);
}

/* Row by row: the strip's values stay in the first cache meanwhile. */
ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const real *x = p->x;
    for (int64_t u = begin; u < end; u++) {
        const block b = block_at(A, u);
        for (int64_t row = b.row; row < b.end; row++) {
            const int64_t l = (row - b.row) % STRIP_ROWS;
            const stored *values = b.values + (row - b.row - l) * b.count + l;
            const bool whole = inside(A, &b, row - l);
            tile sum = {0};
            for (int64_t d = 0; d < b.count; d++) {
                const int64_t col = row + b.offsets[d];
                if (whole || (col >= 0 && col < A->cols))
                    tile_add(&sum, vectors, value_of(values[d * STRIP_ROWS]),
                             x + col * p->x_stride);
            }
            tile_put(&sum, vectors, p, f, row);
        }
    }
}

void W(diagonals_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
