/*
 * How the slices of SELL and its kin are cut: C rows side by side, each slice as wide as its
 * longest row, rows sorted by length in windows of sigma before. Lane l of slice s is lane s C + l
 * of the matrix; windows hold whole slices, so that a window's lanes are its rows in another order.
 */
#ifndef SPRY_SLICES_H
#define SPRY_SLICES_H

#include "formats/sell/sell.h"
#include "formats/shared/layout.h"

typedef struct slices {
    int64_t C, sigma, count;
    int64_t *offsets; /* count + 1: places of values before each slice */
    int32_t *rows;    /* of lanes, -1 past the end; NULL: rows keep their order */
    bool mixed;       /* some slice has rows with entries and rows without */
} slices;

/* Sizes alone, of `rows` rows: C (0: what suits the type) and sigma come out as they are
 * used. */
slices slices_plan(spry_type type, int64_t rows, int64_t C, int64_t sigma);
/* A layout's units and numbers. */
void slices_describe(layout *L, const slices *s);
/* Cuts A for the format of this name; C (0: what suits the type) and sigma come out as they are
 * used. Fails where fill would be absurd. */
spry_status slices_cut(spry_context *ctx, const matrix_arrays *A, const char *name, int64_t C,
                       int64_t sigma, slices *s);
void slices_free(spry_context *ctx, slices *s);
/* SPRY_STATUS_UNSUPPORTED where `stored` places for nnz entries are absurdly many. */
spry_status slices_check_fill(spry_context *ctx, const char *name, int64_t C, int64_t stored,
                              int64_t nnz);

/* Bytes of what slices_build makes and products read, values included. */
int64_t slices_bytes(const slices *s, const matrix_arrays *A, stored_kind kind);
/* Makes a layout's units, numbers and arrays but for columns. The layout owns the arrays of s, also
 * when it fails; s may be read as long as the layout lives. */
spry_status slices_build(layout *L, const matrix_arrays *A, const slices *s);

/* The slices that part `part` of `parts` works on, each with nearly as many places. */
range slices_share(const slices *s, int parts, int part);

/* A slice as its columns are written: lane l has columns start[l] .. start[l] + reach[l] - 1 of
 * A's, then the last again. Lanes without entries have those of one that has some. */
typedef struct slice_lanes {
    int64_t width;
    bool mixed; /* some rows have entries, some have none */
    int64_t start[SELL_MOST_C], reach[SELL_MOST_C];
    int64_t length[SELL_MOST_C];
} slice_lanes;

void slices_open(const slices *s, const matrix_arrays *A, int64_t slice, slice_lanes *lanes);
/* The column of entry k of a lane, fill included. */
static inline int32_t slice_column(const slice_lanes *lanes, const matrix_arrays *A, int64_t l,
                                   int64_t k)
{
    const int64_t last = lanes->reach[l] - 1;
    return A->col_index[lanes->start[l] + (k < last ? k : last)];
}
static inline void slice_columns(const slice_lanes *lanes, const matrix_arrays *A, int64_t C,
                                 int64_t k, int32_t *to)
{
    for (int64_t l = 0; l < C; l++)
        to[l] = slice_column(lanes, A, l, k);
}

/* For layout_class: the entries of units, and the work before one. `columns` writes the C columns
 * of a group, given where its slice's begin (`starts` by slice; NULL: 0) and what it gave back for
 * the groups before. */
typedef int64_t (*slices_columns)(const layout *L, int64_t group, int64_t at, int32_t *to);
void slices_entries(const layout *L, int64_t begin, int64_t end, const int64_t *starts,
                    slices_columns columns, layout_visit visit, void *data);
int64_t slices_work(const layout *L, int64_t unit);

#endif
