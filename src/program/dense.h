/* Dense matrices of a few hundred rows, at scalar time: least squares and invariant spaces. */
#ifndef SPRY_PROGRAM_DENSE_H
#define SPRY_PROGRAM_DENSE_H

#include "base/base.h"

/* What the words take at most: so that a text cannot ask for hours between two looks at the clock.
 */
enum { DENSE_MOST_EIG = 400, DENSE_MOST_LEAST = 1 << 26 };

/*
 * Least squares: min |g_j - A y_j| for each of `rights` columns g. a is rows x cols, column by
 * column, g rows x rights, y cols x rights; both a and g are worked in. A column that depends on
 * those before it, as far as numbers of precision eps say, is left out: its y is 0. left[j] is the
 * norm of g_j - A y_j. False, with nothing said, where numbers are not finite.
 */
typedef struct dense_problem {
    int rows, cols, rights;
    double eps;
    spry_scalar *a, *g, *y;
    double *left;
    int *pivot; /* room for cols */
} dense_problem;
bool dense_least(const dense_problem *s);

/*
 * An orthonormal basis, n x k row by row in y, of the space of the k eigenvalues of A that are
 * smallest in modulus. b is A, n x n row by row; room: dense_eig_room() numbers. `real`: A is, and
 * so is the basis; a pair of complex eigenvalues that k would cut is left out, and the last column
 * is 0. False where numbers are not finite, or the iteration does not end.
 */
bool dense_eig(int n, int k, const spry_scalar *b, bool real, spry_scalar *y, spry_scalar *room);
/* Eigenvalues of A alone: a, n x n row by row, is worked in, and so is room, as large. False as of
 * dense_eig(). */
bool dense_values(int n, spry_scalar *a, spry_scalar *room, spry_scalar *values);
static inline int64_t dense_eig_room(int64_t n)
{
    return 4 * n * n;
}

#endif
