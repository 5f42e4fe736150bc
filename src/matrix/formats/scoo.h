/*
 * Sliced COO (B. Schmidt, H.-V. Dang, "Solving large sparse linear systems for integer
 * factorization on GPUs", in: R. Couturier (ed.), Designing Scientific Applications on GPUs, 2013):
 * slices of consecutive rows, the entries of each sorted by column, with rows counted from the
 * slice's first. A slice goes through x from left to right; its sums stay in a cache.
 *
 * With columns of 16 bits the entries of a slice are in groups of 2^bits columns, counted from the
 * group's first.
 *
 *     entries of group g of slice s are at starts[s groups + g] .. starts[s groups + g + 1] - 1
 *
 * Within a group entries may also be in the order of rows: then it is the group's part of x that
 * stays in a cache, and y that is walked through. That is column blocking (R. Nishtala, R. Vuduc,
 * J. Demmel, K. Yelick, "When cache blocking of sparse matrix vector multiply works and why",
 * AAECC 18, 2007) with a row beside each entry in place of row offsets for each block, which would
 * be more than the entries.
 */
#ifndef SPRY_FORMAT_SCOO_H
#define SPRY_FORMAT_SCOO_H

/* Arrays; SCOO_SLICES: first rows. */
enum { SCOO_VALUES, SCOO_COLUMNS, SCOO_ROWS, SCOO_STARTS, SCOO_SLICES };
/* Numbers; SCOO_WIDE: columns of 32 bits, and one group per slice. SCOO_BY_ROW: rows rise in a
 * group. */
enum { SCOO_GROUPS, SCOO_WIDE, SCOO_BITS, SCOO_BY_ROW };

enum { SCOO_MOST_BITS = 16, SCOO_MOST_ROWS = 65536 };

#endif
