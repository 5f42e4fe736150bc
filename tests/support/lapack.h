/* LAPACK's solves of dense systems, to compare with; loaded where it exists. */
#ifndef SPRY_TESTS_LAPACK_H
#define SPRY_TESTS_LAPACK_H

#include "support/support.h"

#include <complex.h>

/* gesv, sysv, hesv (sysv for real types), posv. */
typedef enum lapack_kind {
    LAPACK_GENERAL,
    LAPACK_SYMMETRIC,
    LAPACK_HERMITIAN,
    LAPACK_DEFINITE
} lapack_kind;

typedef struct lapack_signs {
    double log_det;
    bool signs; /* of D are known: not of complex symmetric ones, nor of LU */
    int64_t positive, negative;
} lapack_signs;

/* SPRY_LAPACK_LIBRARY, else liblapack.so.3 or libopenblas.so.0. */
bool lapack_is_present(void);
/* x is b, and then the solution; a by columns. In the arithmetic of a type; false: a pivot is 0, or
 * it is not definite. */
bool lapack_solve(spry_type type, lapack_kind kind, int64_t n, const double complex *a,
                  double complex *x, lapack_signs *found);
/* In its place, in double precision. */
bool lapack_invert(int64_t n, double complex *a);

#endif
