/* The product with rows that are distributed over ranks, on the host or on a device. */
#ifndef SPRY_RANKS_OPERATOR_H
#define SPRY_RANKS_OPERATOR_H

#include "device/engine/device.h"
#include "ranks/distributed.h"

/*
 * Rows in two parts: `own` computes those that need this rank's x alone, and leaves the edge rows
 * as they are or with values that are not used; `edge` computes these from the compact vector, and
 * where it runs by rows, its `begin` is called when that is complete. Both are taken, also when it
 * fails. On a device they are operators of the device, and NULL where they have no rows.
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
/* The product of any such rows, `rows` of them on this rank, which works on `d` (NULL: the host).
 * Ranks on devices and on hosts make one operator together. Collective. */
spry_status dist_operator_of(spry_context *ctx, spry_device *d, spry_type type, int64_t rows,
                             const dist_source *source, spry_operator **op);
/* That of a distributed matrix, with the own block's product, which is taken, and the status that
 * it was made with. Collective. */
spry_status dist_operator(const spry_matrix *A, spry_device *d, spry_status made,
                          spry_operator *own, spry_operator **op);

/* y = alpha op(A) x + beta y on a device; a failure on this rank is reported after the messages
 * that others wait for. */
spry_status device_dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                 device_memory *y);
/* The messages of such a product alone, of a rank that cannot compute its own part. */
spry_status device_dist_skip(const spry_operator *op, spry_transpose transpose);
bool device_is_distributed(const spry_operator *op);
/* The product with the own block alone. */
const spry_operator *device_dist_own(const spry_operator *op);

#endif
