/*
 * ELLPACK and its kin: formats that lay entries out column by column, so that lines (rows, or parts
 * of them) are stored side by side and vectors of them are worked on at once. They share their
 * arrays, how these are filled and listed (src/formats/shared/columnwise.c), and a walk.
 *
 *     entry k of line l is at start_k + l
 *
 * ell     line i is row i, start_k = k stride; every line is as long as the longest
 * ellr    the same, lines end where their rows do
 * ellr-t  row i is lines i T .. i T + T - 1: its entry e is entry e / T of line i T + e % T
 * jds     lines are rows sorted by length, longest first; start_k is stored, as column k is as
 *         long as there are lines with more than k entries
 * hyb     ell for the first K entries of each row; the others follow, sorted by rows
 */
#ifndef SPRY_FORMAT_COLUMNWISE_H
#define SPRY_FORMAT_COLUMNWISE_H

#include "formats/shared/layout.h"
#include "matrix/entries.h"

/* Arrays. */
enum {
    COLUMNWISE_VALUES,
    COLUMNWISE_COLUMNS,
    COLUMNWISE_LENGTHS,  /* entries of each row (jds: line) that are laid out column by column */
    COLUMNWISE_WORK,     /* before each unit, for distributing them */
    COLUMNWISE_STARTS,   /* jds: of columns 0..width */
    COLUMNWISE_ROWS,     /* jds: of each line that is one */
    COLUMNWISE_REST,     /* hyb: where each unit's other entries begin */
    COLUMNWISE_REST_ROWS /* hyb: row of each of them */
};
/* Numbers. */
enum {
    COLUMNWISE_LINES,  /* that have rows; jds: those that are fill too */
    COLUMNWISE_STRIDE, /* from a column to the next; 0: see the starts */
    COLUMNWISE_WIDTH,  /* columns */
    COLUMNWISE_T,      /* lines of a row */
    COLUMNWISE_BS,     /* ellr-t: work-items of a group on devices; 0: any */
    COLUMNWISE_BEYOND  /* hyb: the most entries that a row has beyond the width */
};
/* Lines of a unit, which all T divide. */
enum { COLUMNWISE_UNIT = 64 };

/* --- for the formats ---------------------------------------------------------------------------
 */

/* What sets one of them apart from another, for building. */
typedef struct columnwise_sizes {
    int64_t T, width;
    bool lengths_read; /* products stop where rows do */
    int64_t pad;       /* jds: lines to whose multiples columns are filled up; 0: no jds */
    int64_t rest;      /* hyb: entries beyond the width; -1: no hyb */
    int64_t beyond;    /* of a row at most */
    int32_t *rows;     /* jds: by length; taken by the layout */
    int64_t *starts;   /* jds: width + 1; taken by the layout */
    int64_t places;    /* jds: of all columns */
} columnwise_sizes;

/* Numbers, units and places of a layout that has its sizes and no arrays yet; or a
 * failure where places are too many to be of use. */
spry_status columnwise_describe(layout *L, const columnwise_sizes *sizes);
/* hyb: the width for the fewest bytes, given how many rows have
 * 0, 1, ..., columnwise_most() or more entries. */
int64_t columnwise_most(int64_t rows, int64_t nnz);
int64_t columnwise_choose(int64_t rows, int64_t nnz, size_t value, const int64_t *counts);
/* Lines from a column to the next for `rows` rows. */
int64_t columnwise_stride(int64_t rows, int64_t T);
/* The sizes of what is built by a sizes. */
spry_status columnwise_estimate(spry_context *ctx, const matrix_arrays *A, const char *name,
                                stored_kind kind, const columnwise_sizes *sizes,
                                layout_forecast *f);
spry_status columnwise_build(layout *L, const matrix_arrays *A, const columnwise_sizes *sizes);
void columnwise_entries(const layout *L, int64_t begin, int64_t end, layout_visit visit,
                        void *data);
int64_t columnwise_work(const layout *L, int64_t unit);

#endif
