/* Factors of small sparse matrices, row by row (kernels/lu.c): without fronts, with partial
 * pivoting, and without a word on the rank of those that are singular. */
#ifndef SPRY_DIRECT_LU_H
#define SPRY_DIRECT_LU_H

#include "direct/forecast.h"
#include "direct/kernels.h"

typedef struct lu {
    spry_context *ctx;
    spry_type type;
    lu_factors f;
    int32_t *wanted; /* by steps: the columns that the order has */
    int32_t *numbers;
    bool found;    /* f has patterns that new values may fit */
    int64_t bytes; /* that a solve reads */
    precon_forecast forecast;
} lu;

/* The order of A, square general CSR, sorted and finite; *out is NULL where fronts are better. */
spry_status lu_analyse(const spry_matrix *A, lu **out);
void lu_free(lu *l); /* takes NULL */
/* Factors of A, which has the pattern that was analysed. Gives |A^-1 s|_1 of random signs s, A
 * being equilibrated; INFINITY where there are none: a row has no pivot, or pivots bring in more
 * than there is room for. */
double lu_fill(lu *l, const spry_matrix *A);

/* Of the pivots of a hermitian matrix: -1 if one is below 0, 1 if none is; 0: they are not those of
 * its diagonal. */
int lu_sign(const lu *l);

#endif
