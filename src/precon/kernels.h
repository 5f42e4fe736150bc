/*
 * The inner loops of preconditioners, which are compiled once a scalar type and ISA level from
 * src/precon/kernels, like the host kernels, and written in the same words (host/kernels/kernel.h).
 * One list gives the table's members, so that a missing instance fails to link.
 */
#ifndef SPRY_PRECON_KERNELS_H
#define SPRY_PRECON_KERNELS_H

#include "host/host.h"

/*
 * item(result, name, arguments). Arrays are of the table's scalar type.
 *
 * invert   y_i = 1 / x_i; gives the first i whose inverse is not finite, n: there is none
 */
#define PRECON_KERNELS(item) item(int64_t, invert, (int64_t n, const void *x, void *y))

typedef struct precon_kernels {
    PRECON_KERNELS(HOST_KERNEL_MEMBER)
} precon_kernels;

/* The kernels of a type for the context's ISA level. */
const precon_kernels *precon_kernels_for(const spry_context *ctx, spry_type type);

#endif
