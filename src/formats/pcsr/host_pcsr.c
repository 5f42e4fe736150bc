/*
 * Products with PCSR. A place takes 4 bytes and its value's, fill included; a row 2 and those of y.
 * Groups of a block are summed without a look at rows, so that their loop has no end to guess; the
 * sums stay in the first cache for the rows that add them up, which costs a store and a load for
 * `pad` entries.
 */
#include "formats/pcsr/pcsr.h"
#include "host/kernels/sums.h"

/* The sum of a group. Double numbers are added up in one chain: groups are enough to do at once. */
ALWAYS_INLINE scalar sum_group(int pad, cursor at, bool conjugated, const scalar *x)
{
#ifdef KERNEL_TYPE_d
    (void)conjugated;
    scalar sum = 0;
#pragma GCC unroll 8
    for (int k = 0; k < pad; k++)
        sum = muladd(at.value[k], *number_at(x, at.column[k]), sum);
    return sum;
#else
    sums s = {0};
#pragma GCC unroll 4
    for (int k = 0; k + 1 < pad; k += 2)
        add_two(&s, 0, at.value + k, number_at(x, at.column[k]), number_at(x, at.column[k + 1]));
    if (pad % 2 == 1)
        add_one(&s, 2, at.value + pad - 1, number_at(x, at.column[pad - 1]));
    return total(&s, conjugated);
#endif
}

/* Sums of `count` groups. */
ALWAYS_INLINE void sum_groups(int64_t count, int pad, cursor at, bool conjugated, const scalar *x,
                              scalar *sums_of)
{
    for (int64_t g = 0; g < count; g++, at.value += pad, at.column += pad)
        sums_of[g] = sum_group(pad, at, conjugated, x);
}

/* The common pads have loops of their own. */
ALWAYS_INLINE void sum_block(int64_t block, int pad, cursor at, bool conjugated, const scalar *x,
                             scalar *sums_of)
{
    if (pad == 4)
        sum_groups(block / 4, 4, at, conjugated, x, sums_of);
    else if (pad == 2)
        sum_groups(block / 2, 2, at, conjugated, x, sums_of);
    else if (pad == 8)
        sum_groups(block / 8, 8, at, conjugated, x, sums_of);
    else if (pad == 1)
        sum_groups(block, 1, at, conjugated, x, sums_of);
    else
        sum_groups(block / pad, pad, at, conjugated, x, sums_of);
}

ALWAYS_INLINE scalar plus(scalar a, scalar b)
{
    return muladd(from_scalar((spry_scalar){1, 0}), a, b);
}

/* A layout's numbers and arrays. */
typedef struct blocks {
    int64_t block, pad, size, stored;
    const int64_t *firsts;
    const uint16_t *ends;
    const int32_t *columns;
    const stored *values;
} blocks;

ALWAYS_INLINE blocks blocks_of(const layout *A)
{
    return (blocks){A->number[PCSR_BLOCK],
                    A->number[PCSR_PAD],
                    A->number[PCSR_BLOCK] * A->number[PCSR_BLOCKS],
                    A->stored,
                    A->array[PCSR_FIRSTS].data,
                    A->array[PCSR_ENDS].data,
                    A->array[PCSR_COLUMNS].data,
                    A->array[PCSR_VALUES].data};
}

/* A unit: sets its rows; the sum for the row after them. */
ALWAYS_INLINE scalar sum_unit(const blocks *b, int64_t u, const host_product *p, factors f)
{
    scalar sums_of[PCSR_MOST] = {0}, zero = from_scalar((spry_scalar){0, 0}), sum = zero;
    scalar *y = p->y;
    const int64_t end = (u + 1) * b->size < b->stored ? (u + 1) * b->size : b->stored;
    const int64_t last = b->firsts[u + 1];
    int64_t row = b->firsts[u], group = 0; /* of the unit */
    for (int64_t place = u * b->size; place < end; place += b->block) {
        const int64_t first = group, next = group + b->block / b->pad;
        sum_block(b->block, (int)b->pad, (cursor){b->columns + place, b->values + place},
                  p->conjugate, p->x, sums_of);
        for (; row < last && b->ends[row] <= next; row++) {
            for (; group < b->ends[row]; group++)
                sum = plus(sums_of[group - first], sum);
            put(f, sum, y + (row - p->first));
            sum = zero;
        }
        for (; group < next; group++) /* the row is split here */
            sum = plus(sums_of[group - first], sum);
    }
    for (; row < last; row++) /* without any entry there is no block */
        put(f, zero, y + (row - p->first));
    return sum;
}

void W(pcsr_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const factors f = factors_of(p->alpha, p->beta);
    const blocks b = blocks_of(A);
    scalar *carry = p->carry;
    for (int64_t u = begin; u < end; u++) {
        const scalar sum = sum_unit(&b, u, p, f);
        if (A->carry_at[u + 1] > A->carry_at[u])
            carry[A->carry_at[u]] = mul(f.alpha, sum);
    }
}

/* A tile has sums enough that run side by side. */
ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const blocks b = blocks_of(A);
    for (int64_t u = begin; u < end; u++) {
        const int64_t first = u * b.size, last = b.firsts[u + 1];
        const stored *values = b.values + first;
        cursor at = {b.columns + first, values};
        for (int64_t row = b.firsts[u]; row < last; row++) {
            const tile sum =
                tile_entries(&at, values + b.ends[row] * b.pad, p->x, p->x_stride, vectors);
            tile_put(&sum, vectors, p, f, row);
        }
        if (A->carry_at[u + 1] > A->carry_at[u]) {
            const tile sum = tile_entries(&at, values + b.size, p->x, p->x_stride, vectors);
            tile_carry(&sum, vectors, p, f, A->carry_at[u]);
        }
    }
}

void W(pcsr_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
