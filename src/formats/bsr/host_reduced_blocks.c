/*
 * Products with dense blocks. An entry takes its value and a share of a column: 8.4 bytes for d in
 * blocks of 3 x 3, 8.25 in 4 x 4, where CSR takes 12. Columns of a block are vectors over its rows,
 * so that a number of x is loaded once for all of them. What bounds the loop outside the caches is
 * memory, if sums do not wait for each other: columns take turns in up to four sets of sums.
 */
#include "formats/bsr/bsr.h"
#include "host/kernels/walk_kernel.h"

#if defined(__AVX2__) && !defined(KERNEL_KIND_own)
#include <immintrin.h>
#endif

/* Vectors that the rows of a block take, and sets of sums that fit the registers. */
#define ROW_VECTORS(r) (((r)*TILE_PARTS + VEC_REALS - 1) / VEC_REALS)
#define CHAINS(r) (TILE_PARTS * ROW_VECTORS(r) > 8 ? 1 : TILE_PARTS * ROW_VECTORS(r) > 4 ? 2 : 4)
enum { MOST_VECTORS = ROW_VECTORS(BSR_MOST) };

/* As in a tile, but it is x whose real and imaginary parts are apart. */
typedef struct sums {
    vec by[4][TILE_PARTS][MOST_VECTORS];
} sums;

/* Numbers from this one on; those behind the last column of a block can be read too. */
#if defined(KERNEL_KIND_own)
ALWAYS_INLINE vec load(const stored_real *from)
{
    return *(const vec_at *)from;
}
#elif defined(__AVX2__) && defined(__F16C__)
ALWAYS_INLINE vec load(const stored_real *from)
{
#if defined(KERNEL_KIND_f32)
    return (vec)_mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    const __m128i bits = _mm_loadl_epi64((const __m128i *)from);
#if defined(KERNEL_KIND_f16)
    return (vec)_mm256_cvtps_pd(_mm_cvtph_ps(bits));
#else
    return (vec)_mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16)));
#endif
#endif
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define LOADS_TWO /* vectors at once, as it takes as long as one */
ALWAYS_INLINE void load_two(const stored_real *from, vec *to)
{
    float64x2_t value[2];
    widen_four(from, value);
    to[0] = (vec)value[0];
    to[1] = (vec)value[1];
}
#else
ALWAYS_INLINE vec load(const stored_real *from)
{
    vec value = {0};
#pragma GCC unroll 8
    for (int i = 0; i < VEC_REALS; i++)
        value[i] = real_of(from[i]);
    return value;
}
#endif

/* Adds a column of a block times a number. */
ALWAYS_INLINE void add_column(sums *s, int chain, int r, const stored_real *values, scalar x)
{
    const int vectors = ROW_VECTORS(r);
    vec value[MOST_VECTORS + 1];
#ifdef LOADS_TWO
#pragma GCC unroll 4
    for (int u = 0; u < vectors; u += 2)
        load_two(values + u * VEC_REALS, value + u);
#else
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++)
        value[u] = load(values + u * VEC_REALS);
#endif
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#if KERNEL_COMPLEX
        s->by[chain][0][u] += value[u] * x.re;
        s->by[chain][1][u] += value[u] * x.im;
#else
        s->by[chain][0][u] += value[u] * x;
#endif
    }
}

/* Adds a block; r and, where `fixed`, c and `from` are constants. */
ALWAYS_INLINE void add_block(sums *s, int r, int c, bool fixed, int from, const stored_real *values,
                             const scalar *x)
{
    const int stride = r * TILE_PARTS;
    if (fixed) {
#pragma GCC unroll 8
        for (int j = 0; j < c; j++)
            add_column(s, (from + j) % CHAINS(r), r, values + j * stride, x[j]);
        return;
    }
    int j = 0;
    for (; j + 1 < c; j += 2) {
        add_column(s, 0, r, values + j * stride, x[j]);
        add_column(s, 1 % CHAINS(r), r, values + (j + 1) * stride, x[j + 1]);
    }
    if (j < c)
        add_column(s, 2 % CHAINS(r), r, values + j * stride, x[j]);
}

ALWAYS_INLINE vec chains_sum(const sums *s, int chains, int part, int u)
{
    const vec first = s->by[0][part][u];
    if (chains == 1)
        return first;
    if (chains == 2)
        return first + s->by[1][part][u];
    return (first + s->by[1][part][u]) + (s->by[2][part][u] + s->by[3][part][u]);
}

/* The sums of r rows. */
ALWAYS_INLINE void finish(const sums *s, int r, bool conjugated, scalar *out)
{
    const int vectors = ROW_VECTORS(r);
    real total[TILE_PARTS][MOST_VECTORS * VEC_REALS];
    for (int part = 0; part < TILE_PARTS; part++) {
#pragma GCC unroll 8
        for (int u = 0; u < vectors; u++) {
            const vec sum = chains_sum(s, CHAINS(r), part, u);
            memcpy(total[part] + u * VEC_REALS, &sum, sizeof sum);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < r; i++) {
#if KERNEL_COMPLEX
        const scalar re = {total[0][2 * i], total[0][2 * i + 1]};
        const scalar im = {total[1][2 * i], total[1][2 * i + 1]};
        out[i] = conjugated ? (scalar){re.re + im.im, im.re - re.im}
                            : (scalar){re.re - im.im, re.im + im.re};
#else
        (void)conjugated;
        out[i] = total[0][i];
#endif
    }
}

/* The sums of a block row. */
ALWAYS_INLINE void sum_blocks(const layout *A, int64_t block_row, int r, int c, bool fixed,
                              bool conjugated, const scalar *x, scalar *out)
{
    const int together = fixed && c < CHAINS(r) ? (CHAINS(r) + c - 1) / c : 1;
    const int64_t *offsets = A->array[BSR_OFFSETS].data, size = (int64_t)r * c * TILE_PARTS;
    const int32_t *columns = A->array[BSR_COLUMNS].data;
    const stored_real *values = A->array[BSR_VALUES].data;
    const int64_t end = offsets[block_row + 1];
    int64_t k = offsets[block_row];
    sums s = {0};
    for (; k + together <= end; k += together)
#pragma GCC unroll 4
        for (int u = 0; u < together; u++) {
            AHEAD(values + (k + u) * size, AHEAD_BYTES);
            add_block(&s, r, c, fixed, u * c, values + (k + u) * size, x + columns[k + u]);
        }
    for (; together > 1 && k < end; k++)
        add_block(&s, r, c, fixed, 0, values + k * size, x + columns[k]);
    finish(&s, r, conjugated, out);
}

/* Units of block rows; those that are cut by a unit's ends give only the rows inside. */
ALWAYS_INLINE void units(const layout *A, int64_t begin, int64_t end, const host_product *p, int r,
                         int c, bool fixed)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t first = begin * BSR_UNIT_ROWS;
    const int64_t stop = end * BSR_UNIT_ROWS < A->rows ? end * BSR_UNIT_ROWS : A->rows;
    scalar *y = (scalar *)p->y - p->first;
    for (int64_t b = first / r; b * r < stop; b++) {
        scalar sum[BSR_MOST];
        sum_blocks(A, b, r, c, fixed, p->conjugate, p->x, sum);
        const int64_t top = b * r, past = top + r < stop ? top + r : stop;
#pragma GCC unroll 1
        for (int64_t i = top > first ? top : first; i < past; i++)
            put(f, sum[i - top], y + i);
    }
}

void W(blocks_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const int r = (int)A->number[BSR_R], c = (int)A->number[BSR_C];
    switch (r == c ? 10 + r : r) {
#define FIXED(size)                                \
    case 10 + (size):                              \
        units(A, begin, end, p, size, size, true); \
        break;
#define GENERAL(size)                            \
    case size:                                   \
        units(A, begin, end, p, size, c, false); \
        break;
        FIXED(2)
        FIXED(3)
        FIXED(4)
        FIXED(6)
        FIXED(8)
        GENERAL(1)
        GENERAL(2)
        GENERAL(3)
        GENERAL(4)
        GENERAL(6)
        GENERAL(8)
    case 11:
        units(A, begin, end, p, 1, 1, false);
        break;
    case 5:
    case 15:
        units(A, begin, end, p, 5, c, false);
        break;
    default:
        units(A, begin, end, p, 7, c, false);
    }
}

/* --- several columns ------------------------------------------------------------------------- */

/* `count` rows of a block row, from `from` on, so that x is loaded once for all of them. */
ALWAYS_INLINE void tile_rows(const layout *A, int64_t b, int64_t from, int count,
                             const host_columns *p, factors f, int vectors, range rows)
{
    const int64_t r = A->number[BSR_R], c = A->number[BSR_C];
    const int64_t *offsets = A->array[BSR_OFFSETS].data;
    const int32_t *columns = A->array[BSR_COLUMNS].data;
    const stored *values = A->array[BSR_VALUES].data;
    tile sum[4] = {0};
    for (int64_t k = offsets[b]; k < offsets[b + 1]; k++)
        for (int64_t j = 0; j < c; j++) {
            const stored *value = values + (k * c + j) * r + from;
            const real *x = (const real *)p->x + (columns[k] + j) * p->x_stride;
#pragma GCC unroll 4
            for (int i = 0; i < count; i++)
                tile_add(&sum[i], vectors, value_of(value[i]), x);
        }
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) {
        const int64_t row = b * r + from + i;
        if (row >= rows.begin && row < rows.end)
            tile_put(&sum[i], vectors, p, f, row);
    }
}

ALWAYS_INLINE void tiles(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                         int vectors)
{
    enum { SIDE = KERNEL_COMPLEX ? 2 : 4 }; /* rows whose sums fit the registers */
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t r = A->number[BSR_R], stop = end * BSR_UNIT_ROWS;
    const range rows = {begin * BSR_UNIT_ROWS, stop < A->rows ? stop : A->rows};
    for (int64_t b = rows.begin / r; b * r < rows.end; b++)
        for (int64_t from = 0; from < r; from += SIDE)
            switch (r - from < SIDE ? (int)(r - from) : SIDE) {
            case 1:
                tile_rows(A, b, from, 1, p, f, vectors, rows);
                break;
            case 2:
                tile_rows(A, b, from, 2, p, f, vectors, rows);
                break;
            case 3:
                tile_rows(A, b, from, 3, p, f, vectors, rows);
                break;
            default:
                tile_rows(A, b, from, SIDE, p, f, vectors, rows);
            }
}

void W(blocks_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        tiles(A, begin, end, p, TILE_PACK);
    else
        tiles(A, begin, end, p, TILE_MOST);
}
