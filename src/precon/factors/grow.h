/*
 * Patterns that grow by what they gain, row by row of X (problems.h).
 *
 *   least squares  by the vector whose share in the residual is largest (M. Grote, T. Huckle,
 *                  Parallel preconditioning with sparse approximate inverses, SIAM J. Sci. Comput.
 *                  18 (1997), 838-853)
 *   factor         by the largest entries of Kaporin's gradient (C. Janna, M. Ferronato, Adaptive
 *                  pattern research for block FSAI preconditioning, SIAM J. Sci. Comput. 33 (2011),
 *                  3357-3380)
 */
#ifndef SPRY_PRECON_GROW_H
#define SPRY_PRECON_GROW_H

#include "precon/inverse/problems.h"

typedef struct grow_problems {
    local_problems p;    /* with the pattern to begin with; without x */
    const int64_t *t_at; /* least squares: B^T */
    const int32_t *t_columns;
    const void *t_values;
    double eps;             /* least squares: residual to reach; factor: gain worth having */
    int64_t steps, add;     /* how often a row grows, by how much */
    const int64_t *room_at; /* n + 1: where the places of each row begin in `out` */
    int32_t *out;           /* the patterns, sorted */
    int32_t *count;         /* entries of each */
    int64_t cols, rows, candidates; /* the most that a row can have of each */
} grow_problems;

#endif
