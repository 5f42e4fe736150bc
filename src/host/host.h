/*
 * Host kernels: compiled once a scalar type and ISA level from src/host/kernels, reached by table.
 * One list gives the table's members, so that a missing instance fails to link.
 */
#ifndef SPRY_HOST_H
#define SPRY_HOST_H

#include "base/base.h"

/*
 * item(result, name, arguments). Arrays are of the table's scalar type. Kernels work on the range
 * they are given with the thread that calls them; who calls them cuts the work (base_share,
 * csr_plan).
 */
#define HOST_KERNELS(item)                                                   \
    item(void, fill, (int64_t n, spry_scalar a, void *x))                    \
    item(void, axpy, (int64_t n, spry_scalar a, const void *x, void *y))     \
    item(void, xpay, (int64_t n, const void *x, spry_scalar b, void *y))     \
    item(void, scale, (int64_t n, spry_scalar a, void *x))                   \
    item(void, multiply, (int64_t n, const void *x, const void *y, void *z)) \
    item(spry_scalar, dot, (int64_t n, const void *x, const void *y))

#define HOST_KERNEL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct host_kernels {
    HOST_KERNELS(HOST_KERNEL_MEMBER)
} host_kernels;

/* The kernels of a type for the context's ISA level. */
const host_kernels *host_kernels_for(const spry_context *ctx, spry_type type);

#endif
