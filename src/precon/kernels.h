/*
 * The inner loops of preconditioners, which are compiled once a scalar type and ISA level from
 * src/precon/kernels, like the host kernels, and written in the same words (host/kernels/kernel.h).
 * One list gives the table's members, so that a missing instance fails to link.
 */
#ifndef SPRY_PRECON_KERNELS_H
#define SPRY_PRECON_KERNELS_H

#include "host/host.h"
#include "precon/amg/kernels.h"

/* Factors of a dense matrix, column by column, and the exchanges of rows and columns that made
 * them: place k with the one at rows[k] (from 1). What lies beyond the rank is taken as 0. */
typedef struct precon_dense {
    int64_t n, rank;
    void *factors;
    int32_t *rows, *cols; /* cols may be NULL: none */
} precon_dense;
/* The same for a matrix with so many diagonals below and above the main one. Column j has 2 low +
 * high + 1 numbers, of which the first `low` are room for elimination; the diagonal stands at low +
 * high. */
typedef struct precon_band {
    int64_t n, low, high;
    void *factors;
    int32_t *rows;
} precon_band;

/*
 * item(result, name, arguments). Arrays are of the table's scalar type.
 *
 * invert        y_i = 1 / x_i; gives the first i whose inverse is not finite, n: there is none
 * dense_factor  A = L U in place with exchanges of rows; gives the first column without a pivot, n:
 *               there is none
 * dense_rank    the same with exchanges of rows and columns, until what is left is not larger than
 *               `least`: gives the rank
 * dense_solve   z = op(A)^-1 z in place, for `count` z one after the other
 * band_factor, band_solve: the same for bands
 */
#define PRECON_KERNELS(item)                                                                    \
    item(int64_t, invert, (int64_t n, const void *x, void *y))                                  \
    item(int64_t, dense_factor, (int64_t n, void *a, int32_t *rows))                            \
    item(int64_t, dense_rank, (int64_t n, double least, void *a, int32_t *rows, int32_t *cols)) \
    item(void, dense_solve,                                                                     \
         (const precon_dense *f, spry_transpose transpose, int64_t count, void *z))             \
    item(int64_t, band_factor, (const precon_band *f))                                          \
    item(void, band_solve, (const precon_band *f, spry_transpose transpose, void *z))           \
    AMG_KERNELS(item)

typedef struct precon_kernels {
    PRECON_KERNELS(HOST_KERNEL_MEMBER)
} precon_kernels;

/* The kernels of a type for the context's ISA level. */
const precon_kernels *precon_kernels_for(const spry_context *ctx, spry_type type);

#endif
