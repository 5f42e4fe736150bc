/* Rows of a matrix of which every rank has some; columns are numbered over all ranks, in 64 bits.
 */
#ifndef SPRY_RANKS_ROWS_H
#define SPRY_RANKS_ROWS_H

#include "ranks/route.h"

#include "operator/operator.h"

/* This rank's rows: row i of them is number begin + i of all. */
typedef struct ranks_rows {
    spry_type type;
    int64_t begin, rows;
    int64_t all_rows, all_cols;
    int64_t *offsets; /* rows + 1, from 0 */
    int64_t *columns; /* rising in each row */
    void *values;
} ranks_rows;
void ranks_rows_clear(spry_context *ctx, ranks_rows *rows);

/* Entries with their places among all rows and columns. */
typedef struct ranks_entries {
    spry_type type;
    int64_t count;
    int64_t *row, *col;
    void *values;
} ranks_entries;
spry_status ranks_entries_allocate(spry_context *ctx, spry_type type, int64_t count,
                                   ranks_entries *e);
void ranks_entries_clear(spry_context *ctx, ranks_entries *e);

/*
 * Every rank's entries to the ranks that have their rows, by rank r rows first[r]..first[r+1]-1,
 * where they are sorted. Collective. Entries of one place stay in the order of ranks, and of one
 * rank in its order.
 */
spry_status ranks_gather_rows(spry_context *ctx, const ranks_entries *given, const int64_t *first,
                              int64_t all_cols, ranks_rows *rows);
/* Adds entries of one place up, in their order. */
void ranks_sum_duplicates(ranks_rows *rows);
/* Sorts rows of any order, and adds up entries of one place. */
spry_status ranks_sort_rows(spry_context *ctx, ranks_rows *rows);
/* The first entry that has the place of the one before it; offsets[rows] where there is none. */
int64_t ranks_find_duplicate(const ranks_rows *rows, int64_t *row);

#endif
