/*
 * Incomplete factors written out in long double, and what must hold of them, and of solves with
 * complete ones, up to the roundings of the sums that made them.
 */
#ifndef SPRY_TESTS_FACTORED_H
#define SPRY_TESTS_FACTORED_H

#include "support/numeric.h"

#include "precon/factors/factors.h"

#include <complex.h>

typedef long double complex factored_number;

/* Dense, by rows of A; rows come in the order `order`. */
typedef struct factored {
    int64_t n;
    spry_type type;
    bool *stored, *has; /* places with entries of A, and of the factors (diagonal included) */
    factored_number *A, *lower, *upper, *d; /* strict triangles */
    int64_t *order;
} factored;

/* The factors of an operator of precon ilu and its like; NULL: it is another. */
const factors *factors_of(const spry_operator *M);
factored factored_of(const spry_matrix *A, const spry_operator *M);
void factored_free(factored *f);

/* (I + L) D (I + U) is A with its diagonal shifted, where there are entries or everywhere. */
void factored_check_product(const factored *f, bool everywhere, double shift, const char *what);
/* (I + L) D (I + U) e = A e */
void factored_check_row_sums(const factored *f, const char *what);
/* op(M) r for a random r: the factors times it are r. */
void factored_check_solve(const factored *f, const spry_operator *M, spry_transpose op,
                          const char *what);
/* |r - op(A) x| <= growth n units of |op(A)| |x|: n roundings of products with numbers of L and U,
 * which are at most `growth` times those of A. */
void factored_check_residual(const spry_matrix *A, spry_transpose op, const void *r, const void *x,
                             double growth, const char *what);

/* Matrices whose diagonal dominates: at random, and of a grid; complex for complex types. */
spry_matrix *factored_unsymmetric(spry_context *ctx, spry_type type, int size);
spry_matrix *factored_hermitian(spry_context *ctx, spry_type type, int size);

#endif
