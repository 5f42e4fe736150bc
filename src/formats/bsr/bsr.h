/*
 * Dense blocks of r x c. A block row is r rows, from a multiple of r on; its blocks begin at any
 * column, each at the first entry that the one before does not hold (Vuduc and Moon, "Fast sparse
 * matrix-vector multiplication by exploiting variable block structure", HPCC 2005, call that
 * unaligned), but so that none goes past the last column. Block k has its values by columns:
 *
 *     row i, column j of block k is at (k c + j) r + i
 */
#ifndef SPRY_FORMAT_BSR_H
#define SPRY_FORMAT_BSR_H

#include "operator/operator.h"

/* Arrays: first columns of blocks, blocks before each block row. BSR_ENTRIES has (r c + 7) / 8
 * bytes per block, a bit per place, set for entries. */
enum { BSR_VALUES, BSR_COLUMNS, BSR_OFFSETS, BSR_ENTRIES };
/* Numbers. */
enum { BSR_R, BSR_C };
/* Rows of a unit; a block row that lies in two is computed for both. */
enum { BSR_UNIT_ROWS = 512, BSR_MOST = 8 };
/* Values behind the last that may be read: columns of a block are read in whole vectors. */
enum { BSR_BEHIND = 4 };

/* The size of blocks: from the options, or what takes the fewest bytes for a sample of the rows;
 * never wider than A. The sample is BSR_STRETCHES stretches of BSR_STRETCH rows at most. */
enum { BSR_STRETCH = 840, BSR_STRETCHES = 4 };
void bsr_choose(const matrix_arrays *A, const void *options, int64_t *r, int64_t *c);
/* The first row of stretch t, and how many stretches there are. */
int64_t bsr_stretches(int64_t rows);
int64_t bsr_stretch(int64_t rows, int64_t t);

#endif
