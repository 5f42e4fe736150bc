/* The product with a matrix that is distributed over ranks. */
#ifndef SPRY_SPREAD_OPERATOR_H
#define SPRY_SPREAD_OPERATOR_H

#include "ranks/distributed.h"

/*
 * Rows in two parts: `own` makes those that need this rank's x alone, and leaves the edge rows as
 * they are or makes nothing of use of them; `edge` makes these of the compact vector, and where it
 * runs by rows, its `begin` is told when that is complete. Both are taken, also when it fails.
 */
typedef struct dist_parts {
    const distributed *links; /* rows and columns are alike; matrices are not looked at */
    spry_operator *own, *edge;
    spry_matrix *kept; /* freed with them; may be NULL */
} dist_parts;
/* What has such rows of A, A^T and A^H. */
typedef struct dist_source {
    const void *state;
    /* Makes the parts of one; what was made is taken, also when it fails. Collective; a failure
     * needs not to be agreed upon. */
    spry_status (*open)(const void *state, spry_transpose side, dist_parts *parts);
} dist_source;
/* The product of any such rows, `rows` of them here. Collective. */
spry_status dist_operator_of(spry_context *ctx, spry_type type, int64_t rows,
                             const dist_source *source, spry_operator **op);

#endif
