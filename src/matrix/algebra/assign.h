/* The assignment problem on a sparse matrix of costs: rows to columns, so that the sum is least. */
#ifndef SPRY_ALGEBRA_ASSIGN_H
#define SPRY_ALGEBRA_ASSIGN_H

#include "base/base.h"

/*
 * Entry k of row i may be taken at cost[k] >= 0, or not at all where that is infinite. What comes
 * out: as many rows as can be have columns; duals u + v <= cost, equal where a row has its column.
 * Rows from which no more columns can be reached are shut together with the columns that they reach
 * (more rows than columns): for these the assignment is as large as can be but the sum is not the
 * least.
 */
typedef struct assignment {
    int64_t rows, cols;
    const int64_t *offsets;
    const int32_t *columns;
    const double *cost;
    int32_t *column_of, *row_of; /* -1: none */
    double *v, *u;               /* duals of rows and of columns */
    bool *shut;                  /* columns */
    int64_t rank;
} assignment;

/*
 * All members are the caller's arrays; those that come out need not be set. Free columns have u = 0
 * and others u <= 0, which makes the choice among columns the best one too, unless `all` promises
 * that every column will be taken: u begins at the least cost of each column then, which is faster.
 * Ends with SPRY_STATUS_INTERRUPTED where the context was asked to stop.
 */
spry_status assign(spry_context *ctx, assignment *s, bool all);

#endif
