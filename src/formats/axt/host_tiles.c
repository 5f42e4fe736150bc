/*
 * Products with AXT's tiles. A place takes a value and a column, 12 bytes in d; rows another 4 a
 * strand (unc) or a place (com). With x kept in the tiles 8 more are read and 8 written. Sums stand
 * side by side in the columns of a tile, so that unc needs no reduction; which row they belong to
 * changes at most once a strand, and rows that cross strands are added up as they pass by.
 *
 * The compacted variants add up the entries of segments directly. The original takes differences of
 * running sums of a whole block, which lose what the block's largest numbers drown.
 */
#include "formats/axt/axt.h"
#include "host/kernels/lanes.h"
#include "host/kernels/walk_kernel.h"

/* What both products need of a layout. */
typedef struct tiles {
    scalar *ax;
    const int32_t *columns, *rwp;
    const uint32_t *hdr;
    const int64_t *first;
    int64_t THW, TH, wide, share;
    int bits;
} tiles;

ALWAYS_INLINE tiles tiles_of(const layout *A)
{
    const int64_t THW = A->number[AXT_THW];
    return (tiles){.ax = A->array[AXT_AX].data,
                   .columns = A->array[AXT_COLUMNS].data,
                   .rwp = A->array[AXT_ROWS].data,
                   .hdr = A->array[AXT_ROWS].data,
                   .first = A->array[AXT_FIRST].data,
                   .THW = THW,
                   .TH = A->number[AXT_TH],
                   .wide = THW * (1 + A->number[AXT_KEPT]),
                   .share = A->number[AXT_SHARE],
                   .bits = (int)A->number[AXT_BITS]};
}

/* Strands or entries before a unit. */
static int64_t before_unit(const layout *A, int64_t unit)
{
    const int64_t most = A->number[AXT_COMPACT] ? A->nnz : A->array[AXT_ROWS].count;
    const int64_t at = unit * A->number[AXT_SHARE];
    return at < most ? at : most;
}

/* --- one column ------------------------------------------------------------------------------ */

/* Where sums go: the row that is being added up, and the first that is not set yet. */
typedef struct sink {
    const host_product *p;
    factors f;
    int64_t row, next;
    chain sum;
    scalar *carry;
} sink;

ALWAYS_INLINE sink sink_open(const layout *A, const host_product *p, int64_t unit)
{
    return (sink){.p = p,
                  .f = factors_of(p->alpha, p->beta),
                  .row = A->carry_row[unit],
                  .next = ((const int64_t *)A->array[AXT_FIRST].data)[unit],
                  .carry = (scalar *)p->carry + A->carry_at[unit]};
}

/* Rows without entries, which are rare: apart from the loops over entries. */
static void put_zeros(const host_product *p, factors f, int64_t from, int64_t to)
{
    const scalar zero = from_scalar((spry_scalar){0, 0});
    for (int64_t i = from; i < to; i++)
        put(f, zero, (scalar *)p->y + i);
}

/* Sets rows up to `row` that have no entries. */
ALWAYS_INLINE void skip_rows(sink *s, int64_t row)
{
    if (s->next >= row)
        return;
    put_zeros(s->p, s->f, s->next, row);
    s->next = row;
}

/* Ends the row that is being added up. */
ALWAYS_INLINE void end_row(sink *s)
{
    const scalar sum = chain_value(s->sum, s->p->conjugate);
    if (s->row < s->next) {
        *s->carry = mul(s->f.alpha, sum);
    } else {
        skip_rows(s, s->row);
        put(s->f, sum, (scalar *)s->p->y + s->row);
        s->next = s->row + 1;
    }
}

ALWAYS_INLINE void add_to(sink *s, int64_t row, chain sum)
{
    if (row != s->row) {
        end_row(s);
        s->row = row;
        s->sum = sum;
    } else {
        s->sum = chain_plus(s->sum, sum);
    }
}

/* Sets what is left of the unit's rows, up to `end`. */
ALWAYS_INLINE void sink_close(sink *s, int64_t end)
{
    if (s->row < end)
        end_row(s);
    skip_rows(s, end);
}

/* UH1: neighbouring tiles of a row are added up before their lanes are. */
ALWAYS_INLINE void unit_uh1(const tiles *T, int64_t begin, int64_t end, bool kept, sink *out)
{
    for (int64_t from = begin; from < end;) {
        int64_t to = from + 1;
        while (to < end && T->rwp[to] == T->rwp[from])
            to++;
        const int32_t *column = T->columns + from * T->THW;
        const int64_t n = (to - from) * T->THW;
        const scalar *x = out->p->x;
        add_to(out, T->rwp[from],
               kept ? lanes_sum_kept(T->ax + from * T->wide, column, n, T->THW, x)
                    : lanes_sum(T->ax + from * T->wide, column, n, x));
        from = to;
    }
}

/* UH: four columns of a tile at a time. */
ALWAYS_INLINE void unit_uh(const tiles *T, int64_t begin, int64_t end, bool kept, sink *out)
{
    const scalar *x = out->p->x;
    const int64_t THW = T->THW, wide = kept ? 2 * THW : THW;
    for (int64_t strand = begin; strand < end; strand += THW)
        for (int64_t l = 0; l < THW; l += LANES) {
            scalar *value = T->ax + strand / THW * T->TH * wide + l;
            const int32_t *column = T->columns + strand * T->TH + l;
            const int32_t *rwp = T->rwp + strand + l;
            lanes s = {0};
            for (int64_t t = 0; t < T->TH; t++, value += wide, column += THW)
                lanes_add(&s, value, column, x, kept ? value + THW : NULL);
#pragma GCC unroll 4
            for (int i = 0; i < LANES; i++)
                add_to(out, rwp[i], lanes_chain(&s, i));
        }
}

/* Gathers x into the tiles that hold entries begin..end-1, all lines of the last too. */
static void refresh(const tiles *T, int64_t begin, int64_t end, const scalar *x)
{
    const int64_t places = T->TH * T->THW;
    end = (end + places - 1) / places * places;
    for (int64_t k = begin; k < end; k += T->THW) {
        scalar *number = T->ax + k / T->THW * T->wide + T->THW;
        for (int64_t l = 0; l < T->THW; l++)
            number[l] = x[(uint32_t)T->columns[k + l]];
    }
}

/* CH1: a segment is a run of entries, or of runs where x is between tiles. */
ALWAYS_INLINE void unit_ch1(const tiles *T, int64_t begin, int64_t end, int64_t base, bool kept,
                            sink *out)
{
    const int64_t mask = (INT64_C(1) << T->bits) - 1;
    const scalar *x = out->p->x;
    for (int64_t k = begin; k < end;) {
        const int64_t stop = k + (T->hdr[k] & mask) + 1, row = base + (T->hdr[k] >> T->bits);
        chain s[4] = {0};
        if (kept) {
            for (; k < stop; k++) {
                const scalar *value = T->ax + k / T->THW * T->wide + k % T->THW;
                chain_add(&s[0], *value, value + T->THW);
            }
        } else {
            for (; stop - k >= 4; k += 4)
#pragma GCC unroll 4
                for (int i = 0; i < 4; i++)
                    chain_add(&s[i], T->ax[k + i], x + (uint32_t)T->columns[k + i]);
            for (; k < stop; k++)
                chain_add(&s[0], T->ax[k], x + (uint32_t)T->columns[k]);
        }
        add_to(out, row, chain_plus(chain_plus(s[0], s[1]), chain_plus(s[2], s[3])));
    }
}

/* One entry of CH: looking for the next row at each of them lets the processor predict rows of
 * one length, whatever way columns cut them; where segments end it could not predict. */
ALWAYS_INLINE void add_entry(sink *out, int64_t row, chain s[4], int i, scalar value,
                             const scalar *x)
{
    if (row != out->row) {
        out->sum = chain_plus(chain_plus(s[0], s[1]), chain_plus(s[2], s[3]));
        end_row(out);
        out->row = row;
        for (int j = 0; j < 4; j++)
            s[j] = (chain){0};
    }
    chain_add(&s[i], value, x);
}

/* CH: down the columns of each tile, with four sums that wait for each other less than one. */
ALWAYS_INLINE void unit_ch(const tiles *T, int64_t begin, int64_t end, int64_t base, bool kept,
                           sink *out)
{
    const int64_t TH = T->TH, THW = T->THW, wide = kept ? 2 * THW : THW;
    const scalar *x = out->p->x, *value = T->ax + begin / THW * wide;
    const int32_t *column = T->columns + begin;
    const uint32_t *hdr = T->hdr + begin;
    chain s[4] = {0};
    for (int64_t k = begin, l = 0; k < end; k += TH) {
        const int64_t height = end - k < TH ? end - k : TH;
        int64_t t = 0;
        for (; t + 4 <= height; t += 4)
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                const int64_t at = (t + i) * THW + l, place = (t + i) * wide + l;
                add_entry(out, base + (hdr[at] >> T->bits), s, i, value[place],
                          kept ? value + place + THW : x + (uint32_t)column[at]);
            }
        for (; t < height; t++) {
            const int64_t at = t * THW + l, place = t * wide + l;
            add_entry(out, base + (hdr[at] >> T->bits), s, 0, value[place],
                      kept ? value + place + THW : x + (uint32_t)column[at]);
        }
        if (++l == THW) {
            l = 0;
            value += TH * wide;
            column += TH * THW;
            hdr += TH * THW;
        }
    }
    out->sum = chain_plus(chain_plus(s[0], s[1]), chain_plus(s[2], s[3]));
}

ALWAYS_INLINE void units(const layout *A, int64_t begin, int64_t end, const host_product *p,
                         bool kept)
{
    const tiles T = tiles_of(A);
    for (int64_t u = begin; u < end; u++) {
        const int64_t from = before_unit(A, u), to = before_unit(A, u + 1);
        sink out = sink_open(A, p, u);
        if (A->number[AXT_COMPACT]) {
            if (kept)
                refresh(&T, from, to, p->x);
            if (T.TH > 1)
                unit_ch(&T, from, to, T.first[u] - 1, kept, &out);
            else
                unit_ch1(&T, from, to, T.first[u] - 1, kept, &out);
        } else if (T.TH > 1) {
            unit_uh(&T, from, to, kept, &out);
        } else {
            unit_uh1(&T, from, to, kept, &out);
        }
        sink_close(&out, T.first[u + 1]);
    }
}

void W(tiles_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (A->number[AXT_KEPT])
        units(A, begin, end, p, true);
    else
        units(A, begin, end, p, false);
}

/* --- several columns ------------------------------------------------------------------------- */

typedef struct tile_sink {
    const host_columns *p;
    factors f;
    int64_t row, next, carry;
    tile sum;
} tile_sink;

ALWAYS_INLINE void skip_tiles(tile_sink *s, int64_t row, int vectors)
{
    const tile zero = {0};
    for (; s->next < row; s->next++)
        tile_put(&zero, vectors, s->p, s->f, s->next);
}

ALWAYS_INLINE void end_tile(tile_sink *s, int vectors)
{
    if (s->row < s->next) {
        tile_carry(&s->sum, vectors, s->p, s->f, s->carry);
    } else {
        skip_tiles(s, s->row, vectors);
        tile_put(&s->sum, vectors, s->p, s->f, s->row);
        s->next = s->row + 1;
    }
}

/* Adds `count` entries of a row, `stride` lines of a tile apart. */
ALWAYS_INLINE void add_entries(tile_sink *s, int64_t row, int64_t count, const scalar *value,
                               int64_t value_step, const int32_t *column, int64_t column_stride,
                               int vectors)
{
    const real *x = s->p->x;
    if (row != s->row) {
        end_tile(s, vectors);
        s->row = row;
        s->sum = (tile){0};
    }
    for (int64_t t = 0; t < count; t++)
        tile_add(&s->sum, vectors, value[t * value_step],
                 x + column[t * column_stride] * s->p->x_stride);
}

ALWAYS_INLINE void strands(const tiles *T, int64_t begin, int64_t end, tile_sink *out, int vectors)
{
    const bool flat = T->TH == 1;
    for (int64_t strand = begin; strand < end; strand++) {
        const int64_t which = flat ? strand : strand / T->THW, l = flat ? 0 : strand % T->THW;
        add_entries(out, T->rwp[strand], flat ? T->THW : T->TH, T->ax + which * T->TH * T->wide + l,
                    flat ? 1 : T->wide, T->columns + which * T->TH * T->THW + l, flat ? 1 : T->THW,
                    vectors);
    }
}

ALWAYS_INLINE void segments(const tiles *T, int64_t begin, int64_t end, int64_t base,
                            tile_sink *out, int vectors)
{
    const int64_t mask = (INT64_C(1) << T->bits) - 1, TH = T->TH, THW = T->THW;
    for (int64_t k = begin; k < end;) {
        const int64_t line = TH > 1 ? k / (TH * THW) * TH + k % TH : k / THW;
        const int64_t l = TH > 1 ? k / TH % THW : k % THW, at = line * THW + l;
        const int64_t left = (T->hdr[at] & mask) + 1,
                      run = TH > 1 || T->wide == THW ? left : THW - l;
        const int64_t count = left < run ? left : run;
        add_entries(out, base + (T->hdr[at] >> T->bits), count, T->ax + line * T->wide + l,
                    TH > 1 ? T->wide : 1, T->columns + at, TH > 1 ? THW : 1, vectors);
        k += count;
    }
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const tiles T = tiles_of(A);
    for (int64_t u = begin; u < end; u++) {
        const int64_t from = before_unit(A, u), to = before_unit(A, u + 1);
        tile_sink out = {.p = p,
                         .f = factors_of(p->alpha, p->beta),
                         .row = A->carry_row[u],
                         .next = T.first[u],
                         .carry = A->carry_at[u]};
        if (A->number[AXT_COMPACT])
            segments(&T, from, to, T.first[u] - 1, &out, vectors);
        else
            strands(&T, from, to, &out, vectors);
        if (out.row < T.first[u + 1])
            end_tile(&out, vectors);
        skip_tiles(&out, T.first[u + 1], vectors);
    }
}

void W(tiles_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
