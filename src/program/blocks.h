/* Host kernels for blocks of vectors, those of all right-hand sides together: by type and ISA
 * level. */
#ifndef SPRY_PROGRAM_BLOCKS_H
#define SPRY_PROGRAM_BLOCKS_H

#include "base/base.h"

/* What inner products of blocks of vectors are. */
typedef enum gram_kind { GRAM_PLAIN, GRAM_CONJUGATED, GRAM_HERMITIAN } gram_kind;

/* clang-format off */
/*
 * item(result, name, arguments). Arrays are of the table's scalar type.
 *
 * gram  sums_(j rows + i) += sum conj(x_i) y_j, or of x_i y_j (plain), for rows vectors x and cols
 *       vectors y; hermitian: as many of both, and some sums are those of (j, i), conjugated
 * mix   y_j += c_j0 v_0 + c_j1 v_1 + ..., in this order, for count vectors y, none of them a v
 */
#define BLOCK_KERNELS(item) \
    item(void, gram, (int64_t n, gram_kind kind, int rows, int cols, const void *const *x, \
                      const void *const *y, spry_scalar *sums)) \
    item(void, mix,  (int64_t n, int terms, int count, const spry_scalar *const *c, \
                      const void *const *v, void *const *y))
/* clang-format on */

#define BLOCK_KERNEL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct block_kernels {
    BLOCK_KERNELS(BLOCK_KERNEL_MEMBER)
} block_kernels;

/* The kernels of a type for the context's ISA level. */
const block_kernels *block_kernels_for(const spry_context *ctx, spry_type type);

#endif
