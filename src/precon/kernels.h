/*
 * The inner loops of preconditioners, which are compiled once a scalar type and ISA level from
 * src/precon/kernels, like the host kernels, and written in the same words (host/kernels/kernel.h).
 * One list gives the table's members, so that a missing instance fails to link.
 */
#ifndef SPRY_PRECON_KERNELS_H
#define SPRY_PRECON_KERNELS_H

#include "direct/kernels.h"
#include "host/host.h"
#include "precon/amg/kernels.h"
#include "precon/factors/factor_kernels.h"
#include "precon/inverse/problems.h"

enum { PRECON_MOST_BLOCK = 32 };
/*
 * Small blocks along the diagonal, block k having the rows first[k]..first[k + 1] - 1. Its numbers,
 * column by column, begin at byte place[k], stored as kind[k] says (stored_kind: own, f32, f16) and
 * multiplied by 2^-exponent[k].
 */
typedef struct precon_blocks {
    int64_t count;
    int32_t *first, *kind, *exponent;
    int64_t *place;
    void *values;
} precon_blocks;

/*
 * item(result, name, arguments). Arrays are of the table's scalar type.
 *
 * invert        y_i = 1 / x_i; gives the first i whose inverse is not finite, n: there is none
 * block_invert  the inverses of blocks begin..end-1 of A's diagonal at their places in `values`,
 * all of kind own, with their conditions; gives the first block that has none, end: all have
 * block_apply   z = op(B) r for the rows of blocks begin..end-1
 * gather        y_i = x[rows_i], or 0 where `mine` is given and mine_i is false
 * sum_places    y_i = the sum of x[places_k] for k from offsets_i to offsets_i+1, i = begin..end-1
 * Those of incomplete factors are in factor_kernels.h.
 */
#define PRECON_KERNELS(item)                                                                       \
    item(int64_t, invert, (int64_t n, const void *x, void *y))                                     \
    FACTOR_KERNELS(item)                                                                           \
    item(int64_t, block_invert,                                                                    \
         (const host_csr *A, const precon_blocks *b, int64_t begin, int64_t end,                   \
          double *conditions))                                                                     \
    item(void, block_apply,                                                                        \
         (const precon_blocks *b, int64_t begin, int64_t end, spry_transpose transpose,            \
          const void *r, void *z))                                                                 \
    item(void, gather, (int64_t n, const int32_t *rows, const bool *mine, const void *x, void *y)) \
    item(void, sum_places,                                                                         \
         (int64_t begin, int64_t end, const int64_t *offsets, const int64_t *places,               \
          const void *x, void *y))                                                                 \
    AMG_KERNELS(item)                                                                              \
    LOCAL_KERNELS(item)

typedef struct precon_kernels {
    PRECON_KERNELS(HOST_KERNEL_MEMBER)
} precon_kernels;

/* The kernels of a type for the context's ISA level. */
const precon_kernels *precon_kernels_for(const spry_context *ctx, spry_type type);

#endif
