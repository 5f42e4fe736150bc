/* A system whose matrix is singular, solved as well as can be. */
#ifndef SPRY_KRYLOV_SINGULAR_H
#define SPRY_KRYLOV_SINGULAR_H

#include "operator/operator.h"

#include <spry/doctor.h>

/* `text` is "singular: rank about r of n, rows ...; b is not in its range; the least-squares
 * solution has residual ...", or "at least ... of |b| is outside of its range; the best x found
 * has" where none could be had. */
typedef struct singular_result {
    bool singular;      /* else nothing shows that A is, and x was left as it was */
    bool least_squares; /* A^H (b - A x) was shown to be small */
    bool in_range;      /* x solves the system */
    int64_t rank;
    double residual; /* |b - A x| / |b|, 1 at most */
    double rounding; /* what rounding makes of it */
    int64_t row_count, rows[SPRY_FINDING_PLACES];
    char text[320];
} singular_result;

/* A is general CSR, sorted; M is about its inverse, a generalized one (NULL: none); x is the best
 * known so far, and the best found. `seconds` are those that the work is forecast to take; how long
 * it takes has no say in what is found. */
struct solver_nested;
spry_status singular_solve(const struct solver_nested *calls, const spry_matrix *A,
                           const spry_operator *M, const spry_vector *b, spry_vector *x, double tol,
                           double seconds, singular_result *s);

#endif
