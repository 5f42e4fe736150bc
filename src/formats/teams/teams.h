/*
 * Rows sorted by length, longest first and those of one length as they were, in units of
 * TEAMS_UNIT lanes: slices of sell whose rows may have several lanes. A row has so many of them, a
 * power of two, that each has at most `each` entries; the longest have all lanes of several units,
 * of which the first sets the row and the others carry. So all rows of a unit are about equally
 * long, and no row keeps the others waiting, whatever the lengths: bins of rows (A. Ashari et al.,
 * "Fast sparse matrix-vector multiplication on GPUs for graph applications", SC 2014) with the
 * layout of SELL-P (H. Anzt, S. Tomov, J. Dongarra, "Implementing a sparse matrix vector product
 * for the SELL-C/SELL-C-sigma formats on NVIDIA GPUs", UT-EECS-14-727, 2014).
 *
 *     entry k of team t of unit u:  offset[u] + k / lanes UNIT + t lanes + k % lanes
 *     its row:                      rows[first[u] + t], -1: none
 *     lanes:                        UNIT / (first[u + 1] - first[u])
 *
 * Where a row has several units, k counts from the first of this one's: what is before is in units
 * before it. A unit carries where carry_at says so, which is where it is not the first of its row.
 * Empty rows are units of their own, without places.
 */
#ifndef SPRY_FORMAT_TEAMS_H
#define SPRY_FORMAT_TEAMS_H

#include "formats/shared/layout.h"

/* Arrays: values, columns (int32_t), offsets and firsts (int64_t, units + 1), rows (int32_t), and
 * entries of rows (int32_t), which products do not read. */
enum { TEAMS_VALUES, TEAMS_COLUMNS, TEAMS_OFFSETS, TEAMS_FIRSTS, TEAMS_ROWS, TEAMS_LENGTHS };
enum { TEAMS_UNIT = 256, TEAMS_SPLITS = 10, TEAMS_CLASSES = 10 + TEAMS_SPLITS };

/* Classes of rows: the first TEAMS_SPLITS have 2^SPLITS units each, 2^(SPLITS - 1), ..., 2; class
 * SPLITS + c has teams of UNIT >> c lanes; the last one is of empty rows. */
typedef struct teams_shape {
    int64_t each;
    int64_t sorted[TEAMS_CLASSES + 1]; /* rows before each class, in the order of lengths */
    int64_t units[TEAMS_CLASSES + 1];  /* units before it */
    int64_t first[TEAMS_CLASSES + 1];  /* teams before it; of a row one in each of its units */
} teams_shape;

/* Rows of class c and those before it have more entries than this. */
int64_t teams_limit(int64_t each, int class);
/* The rest of a shape whose `sorted` is set. */
void teams_find_units(teams_shape *s);

#endif
