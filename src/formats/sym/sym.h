/*
 * The lower half of a symmetric, hermitian or skew matrix, in groups of rows:
 *
 *     row        one row, left of the diagonal: c_0 < c_1 < ... < i
 *     two, three rows i, i + 1 (, i + 2) with the same columns c_0 < c_1 < ... < i and all places
 *                between them and the diagonal
 *     shifted    four rows, the entries of each one place right of those of the row before
 *
 * A group has a word with its shape and counts, distances i - 1 - c for its columns (of the
 * first row), and values:
 *
 *     row        diagonal, then an entry a distance
 *     two, three diagonal of each row, then the rows' entries in a column, column by column, then
 *                (i + 1, i) (, (i + 2, i), (i + 2, i + 1))
 *     shifted    diagonal of each row, then for runs of three columns the four entries that lie on
 *                each of the three diagonals, then those of single diagonals, then those next to
 *                the main diagonal when there are any; distances: first columns of runs, singles
 *
 * A shifted group's runs end left of the group's rows, so that what it adds to y lies apart from
 * what it sets. Units are the parts of half.h; no group adds to rows on both sides of a unit's
 * first row with the same run.
 */
#ifndef SPRY_FORMAT_SYM_H
#define SPRY_FORMAT_SYM_H

#include <stdint.h>

/* Arrays; SYM_ABSENT: 1 for rows without an entry on the diagonal, where the place is fill. */
enum { SYM_VALUES, SYM_DISTANCES, SYM_GROUPS, SYM_COUNTS, SYM_UNITS, SYM_ABSENT };
/* Numbers; SYM_WIDE: distances of 32 bits instead of 16. */
enum { SYM_WIDE };

/* What SYM_UNITS holds for each unit, and for one past the last: where its rows, values, distances,
 * groups and counts begin. Rows from SYM_INSIDE on add to the unit's own rows only. */
enum {
    SYM_AT_ROW,
    SYM_AT_VALUE,
    SYM_AT_DISTANCE,
    SYM_AT_GROUP,
    SYM_AT_COUNT,
    SYM_INSIDE,
    SYM_UNIT_NUMBERS
};

/* A group's word: its shape, and above that the number of distances, SYM_LONG where that does not
 * fit and is the next of SYM_COUNTS; or of shifted groups runs, singles and whether there are
 * neighbours of the diagonal. */
enum { SYM_ROW, SYM_TWO, SYM_THREE, SYM_SHIFTED };
enum { SYM_LONG = (1 << 14) - 1, SYM_MOST_RUNS = 63, SYM_MOST_SINGLES = 127 };
enum { SYM_SHAPE_BITS = 2, SYM_SINGLES_BIT = 8, SYM_NEAR_BIT = 15 };
enum { SYM_SHIFTED_ROWS = 4, SYM_RUN = 3 };

/* A word taken apart. */
typedef struct sym_group {
    int shape, rows;
    int64_t columns;   /* not of shifted groups */
    int runs, singles; /* of those */
    int near_diagonal; /* 1: (i + l, i + l - 1) is stored */
    int64_t values;    /* places of all */
    int64_t distances;
} sym_group;

static inline sym_group sym_take(uint16_t word, const int64_t **counts)
{
    sym_group g = {.shape = word & 3};
    if (g.shape == SYM_SHIFTED) {
        g.rows = SYM_SHIFTED_ROWS;
        g.runs = word >> SYM_SHAPE_BITS & SYM_MOST_RUNS;
        g.singles = word >> SYM_SINGLES_BIT & SYM_MOST_SINGLES;
        g.near_diagonal = word >> SYM_NEAR_BIT;
        g.distances = g.runs + g.singles;
        g.values = SYM_SHIFTED_ROWS * (1 + SYM_RUN * g.runs + g.singles + g.near_diagonal);
        return g;
    }
    g.rows = g.shape + 1;
    g.columns = word >> SYM_SHAPE_BITS;
    if (g.columns == SYM_LONG)
        g.columns = *(*counts)++;
    g.distances = g.columns;
    g.values = g.rows * (1 + g.columns) + g.rows * (g.rows - 1) / 2;
    return g;
}

#endif
