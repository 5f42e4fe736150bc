/*
 * CSR with short offsets: rows in groups of CSR_GROUP, the place where each group begins, and of
 * each row the places of its group up to its end.
 *
 *     entries of row i: from start[i / CSR_GROUP] + end[i - 1] (0 for the first of a group)
 *                       to start[i / CSR_GROUP] + end[i] - 1
 */
#ifndef SPRY_FORMAT_CSR_H
#define SPRY_FORMAT_CSR_H

/* Arrays: stored values, columns (int32_t), starts of groups (int64_t), ends of rows (uint32_t). */
enum { CSR_VALUES, CSR_COLUMNS, CSR_STARTS, CSR_ENDS };
enum { CSR_GROUP = 128 };

#endif
