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
 * AAECC 18, 2007) with a row index per entry in place of row offsets for each block, which would
 * be more than the entries.
 */
#ifndef SPRY_FORMAT_SCOO_H
#define SPRY_FORMAT_SCOO_H

#include "formats/shared/layout.h"

/* Arrays; SCOO_SLICES: first rows. The last three are those of devices (device.c,
 * formats/shared/device_bins.c). */
enum {
    SCOO_VALUES,
    SCOO_COLUMNS,
    SCOO_ROWS,
    SCOO_STARTS,
    SCOO_SLICES,
    SCOO_CHUNKS,
    SCOO_BASES,
    SCOO_SLOTS
};
/* Numbers; SCOO_WIDE: columns of 32 bits, and one group per slice. SCOO_BY_ROW: rows rise in a
 * group. */
enum { SCOO_GROUPS, SCOO_WIDE, SCOO_BITS, SCOO_BY_ROW };

enum { SCOO_MOST_BITS = 16, SCOO_MOST_ROWS = 65536 };

/* The words of the options `columns` and `order`. */
enum { SCOO_AUTO_COLUMNS, SCOO_NARROW_COLUMNS, SCOO_WIDE_COLUMNS };
enum { SCOO_BY_COLUMN_ORDER, SCOO_BY_ROW_ORDER };

/* How a matrix is cut. */
typedef struct scoo_shape {
    int64_t h, given_bits; /* the options */
    int columns, order;
    int64_t slices, longest, most; /* rows and entries of a slice at most */
    int64_t bits, groups;          /* of a group's columns; groups of a slice. By scoo_decide() */
    bool wide;
} scoo_shape;

/* Groups of columns for the sizes of L, whose slices are known; or a failure where they are too
 * many to be of use. */
spry_status scoo_decide(spry_context *ctx, const layout *L, scoo_shape *s);
/* Numbers, units and parameters of a layout that has its sizes. */
void scoo_describe(layout *L, const scoo_shape *s);

#endif
