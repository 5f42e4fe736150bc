/*
 * Rows and columns in two parts, A = [A_00  A_01; A_10  A_11]: blocks of a matrix, and the Schur
 * complement of the first.
 */
#ifndef SPRY_PRECON_SPLIT_H
#define SPRY_PRECON_SPLIT_H

#include "precon/precon.h"

/* at[i] is ~k where row i is the k-th of the first part, k where it is that of the second. */
typedef struct precon_split {
    int64_t n[2];
    int32_t *at;
} precon_split;

static inline int split_part(const precon_split *s, int64_t i)
{
    return s->at[i] >= 0;
}
static inline int32_t split_place(const precon_split *s, int64_t i)
{
    return s->at[i] < 0 ? ~s->at[i] : s->at[i];
}
/* The next row goes to a part. */
static inline void split_add(precon_split *s, int64_t i, int part)
{
    const int32_t place = (int32_t)s->n[part]++;
    s->at[i] = part ? place : ~place;
}

/* The rows of one part and the columns of another; `diagonal`: those entries alone. */
spry_status split_block(const precon_split *s, const spry_matrix *A, int rows, int cols,
                        bool diagonal, spry_matrix **block);
/* S = sign (C - E D^-1 B), sorted; its numbers are finite, or it fails. */
spry_status split_schur(double sign, const spry_matrix *C, const spry_matrix *B,
                        const spry_matrix *E, const spry_vector *inverse, spry_matrix **S);
/* y = alpha op(A) x + beta y */
spry_status split_multiply(const spry_operator *A, spry_transpose transpose, double alpha,
                           const spry_vector *x, double beta, spry_vector *y);

#endif
