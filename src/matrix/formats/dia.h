/*
 * Diagonals. Blocks of rows list the diagonals that have entries in them; the values of a block are
 * stored strip by strip of STRIP_BYTES / (bytes of a scalar) rows, diagonal after diagonal in each,
 * so that products read values in one stream and keep their sums in registers:
 *
 *     row l of strip t on diagonal d of block b: starts[b] + (t D_b + d) strip + l
 *     its column: row + offset[lists[b] + d]
 *
 * Offsets rise. Places without an entry (holes) are zeros, also those that lie outside the matrix.
 */
#ifndef SPRY_FORMAT_DIA_H
#define SPRY_FORMAT_DIA_H

/* Arrays; DIA_ENTRIES has a bit per place, set for entries. */
enum { DIA_VALUES, DIA_OFFSETS, DIA_LISTS, DIA_STARTS, DIA_ENTRIES };
/* Numbers: rows of a block and of a strip. */
enum { DIA_BLOCK, DIA_STRIP };

#endif
