/*
 * AXT (Coronado-Barrientos, Antonioletti, Garcia-Loureiro, "A new AXT format for an efficient SpMV
 * product using AVX-512 instructions and CUDA", Advances in Engineering Software 156, 2021): tiles
 * of TH lines, each of THW values and, where AXT_KEPT is 1, the THW numbers of x that they are
 * multiplied with behind them. Four variants:
 *
 *     UH1  unc, TH = 1   a tile holds THW entries of one row; rwp[tile] is the row
 *     UH   unc, TH > 1   a column of a tile holds TH entries of one row; rwp[column] is the row
 *     CH1  com, TH = 1   entries one after another, line by line; hdr[] has a number per entry
 *     CH   com, TH > 1   entries one after another, down the columns; hdr[] likewise
 *
 * hdr[] holds in its low AXT_BITS bits how many entries of the same segment follow, and above them
 * the row, counted from AXT_FIRST[unit] - 1. A segment is what a row has in a column (CH) or in a
 * block of AXT_BLOCK entries (CH1).
 *
 * In this code a column of UH, a tile of UH1 and a column of CH or a block of CH1 are all called a
 * strand. Units are AXT_SHARE strands (unc) or entries (com). Unit u sets the rows that begin in
 * it, those from AXT_FIRST[u] on, and carries its part of the one that began before.
 */
#ifndef SPRY_FORMAT_AXT_H
#define SPRY_FORMAT_AXT_H

#include "formats/shared/layout.h"

/* Arrays; AXT_ROWS is rwp[] or hdr[]. */
enum { AXT_AX, AXT_COLUMNS, AXT_ROWS, AXT_FIRST };
/* Numbers. */
enum { AXT_THW, AXT_TH, AXT_COMPACT, AXT_KEPT, AXT_SHARE, AXT_BITS };
enum { AXT_BLOCK = 512 };

/* What follows from the options. */
typedef struct axt_shape {
    int64_t THW, TH;
    bool compact, kept;
    int64_t height; /* places of a strand */
    int64_t tile;   /* places of a tile */
    int64_t share;  /* of a unit, in strands (unc) or entries (com) */
    int bits;
} axt_shape;

spry_status axt_find_shape(spry_context *ctx, const void *options, axt_shape *s);
/* Numbers, units, places and parameters of a layout of `count` strands or entries. */
void axt_describe(layout *L, const axt_shape *s, int64_t count);
/* How many row numbers `stored` places have. */
int64_t axt_row_numbers(const axt_shape *s, int64_t stored);
/* Fails where a unit has more rows than hdr[] has bits for. */
spry_status axt_check_rows(spry_context *ctx, const axt_shape *s, int64_t rows);

#endif
