/*
 * The passes that gather statistics. Each sees a general CSR matrix with sorted rows and no
 * duplicates. Counts, smallest and largest do not depend on the order threads come in; sums of
 * floating-point numbers are taken a row or a fixed block of rows at a time.
 */
#ifndef SPRY_MATRIX_STATS_H
#define SPRY_MATRIX_STATS_H

#include "matrix/entries.h"

/* Rows a thread takes at a time; fixed, because sums are formed by blocks. */
enum { STATS_BLOCK = 1024 };

ALWAYS_INLINE bool scalar_zero(spry_scalar v)
{
    return v.re == 0 && v.im == 0;
}

/* |v|; hypot only where squares leave the range of double. */
ALWAYS_INLINE double scalar_size(spry_type type, spry_scalar v)
{
    if (type == SPRY_TYPE_S || type == SPRY_TYPE_D)
        return fabs(v.re);
    const double square = v.re * v.re + v.im * v.im;
    return square > 1e-280 && square < 1e280 ? sqrt(square) : hypot(v.re, v.im);
}

/* Row lengths, bandwidths, diagonal, dominance, value range, largest row sum. */
spry_status stats_rows(spry_context *ctx, const matrix_arrays *a, spry_stats *stats);
/* Sums over all entries: the spread of row lengths and the Frobenius norm. After stats_rows().
 */
spry_status stats_sums(spry_context *ctx, const matrix_arrays *a, spry_stats *stats);
/* Columns, and how A compares with its transpose, given as CSR. */
void stats_columns(spry_context *ctx, const matrix_arrays *transpose, spry_stats *stats);
void stats_symmetry(spry_context *ctx, const matrix_arrays *a, const matrix_arrays *transpose,
                    spry_stats *stats);
/* The largest size of blocks that are mostly full. */
void stats_blocks(spry_context *ctx, const matrix_arrays *a, spry_stats *stats);
/* That of general CSR by a sample: unknowns of a node; 1: there are no blocks. */
int stats_find_block(const spry_matrix *A);
/* Whether A may be hermitian and positive definite, by what is known and its diagonal. */
spry_status matrix_may_be_definite(const spry_matrix *A, bool *yes);

#endif
