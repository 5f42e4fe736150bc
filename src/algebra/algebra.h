/* What the files on sums, products, orders and scalings of matrices share. */
#ifndef SPRY_ALGEBRA_INTERNAL_H
#define SPRY_ALGEBRA_INTERNAL_H

#include "matrix/matrix.h"

#include <spry/algebra.h>
#include <spry/list.h>

/* Fails unless both matrices are of one type and context; `what` says what was asked for. */
spry_status algebra_check_pair(const char *what, const spry_matrix *A, const spry_matrix *B);

/* C = A B for prepared matrices, with conj(A) in A's place. Lower: only the entries on and below
 * the diagonal, as a symmetric (conjugate: hermitian) matrix; A must be B^T then. */
spry_status algebra_multiply(const spry_matrix *A, const spry_matrix *B, bool conjugate, bool lower,
                             spry_matrix **C);
/* Multiplications that takes, as a double; for comparing. */
double algebra_multiply_work(const spry_matrix *A, const spry_matrix *B);

/* For SPRY_LIST_ORDERS and _SCALINGS: fill a cleared entry; false past the last. */
bool algebra_order_at(int index, spry_entry *entry);
bool algebra_scaling_at(int index, spry_entry *entry);

/* f v; a real factor leaves signs of zeros and what is not finite to the part they are in. */
static inline __attribute__((always_inline)) spry_scalar algebra_times(spry_scalar f, spry_scalar v)
{
    if (f.im == 0)
        return (spry_scalar){f.re * v.re, f.re * v.im};
    return (spry_scalar){f.re * v.re - f.im * v.im, f.re * v.im + f.im * v.re};
}

#endif
