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

#include "operator/operator.h"

/* Arrays; DIA_ENTRIES has a bit per place, set for entries. */
enum { DIA_VALUES, DIA_OFFSETS, DIA_LISTS, DIA_STARTS, DIA_ENTRIES };
/* Numbers: rows of a block and of a strip. */
enum { DIA_BLOCK, DIA_STRIP };

/* Rows of a block by the option's number, and of a strip; whole strips of that many rows. */
int64_t dia_block_rows(int64_t word);
int64_t dia_strip_rows(spry_type type);
/* SPRY_STATUS_UNSUPPORTED where places are more than `fill` times the entries. */
spry_status dia_check_fill(spry_context *ctx, double places, int64_t nnz, int64_t fill);

#endif
