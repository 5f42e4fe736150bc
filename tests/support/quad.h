/*
 * Small systems in arithmetic of 113 bits, whose exponents are beyond those of all types: what a
 * verdict on an x is compared with. What is found has bounds of its own rounding, so that a verdict
 * that it contradicts is wrong.
 */
#ifndef SPRY_TESTS_QUAD_H
#define SPRY_TESTS_QUAD_H

#include "support/support.h"

#include <float.h>

#if defined __SIZEOF_FLOAT128__
#define HAS_QUAD 1
__extension__ typedef __float128 quad;
#else
#define HAS_QUAD (LDBL_MANT_DIG >= 113)
typedef long double quad;
#endif

enum { QUAD_MOST = 8 }; /* rows and columns */

typedef struct quad_number {
    quad re, im;
} quad_number;

/* A x = b as its type has stored it. */
typedef struct quad_system {
    int rows, cols;
    quad_number A[QUAD_MOST][QUAD_MOST], b[QUAD_MOST];
} quad_system;

/* The inverse of a square A, row by row, where it can be had. */
typedef struct quad_inverse {
    bool known;                           /* A has one, and this is near it */
    quad_number at[QUAD_MOST][QUAD_MOST]; /* of the scaled A */
    int rows[QUAD_MOST], cols[QUAD_MOST]; /* exponents of the scales of A's rows and columns */
    double off;       /* |I - at A| of the scaled one, in the largest row's norm */
    double condition; /* the least of all scalings of rows and columns, from above */
} quad_inverse;

quad quad_size(quad_number a);
double quad_ratio(quad a, quad b); /* 0 / 0 is 0 */

/* What a residual is: its norm, and the rest of what it is from. */
typedef struct quad_residual {
    quad_number r[QUAD_MOST];
    quad norm, b_norm;
    quad terms[QUAD_MOST]; /* |b| + |A| |x| of each row */
    quad all;              /* their norm */
    double slope;          /* the largest cosine of r and a column of A */
} quad_residual;
void quad_measure(const quad_system *s, const quad_number *x, quad_residual *m);

void quad_invert(const quad_system *s, quad_inverse *inverse);
/* max |x - A^-1 b| / max |x|, from below; A^-1 is known. */
double quad_error(const quad_system *s, const quad_inverse *inverse, const quad_number *x);

#endif
