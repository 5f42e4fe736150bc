/*
 * How a product with a CSR matrix is shared among threads. Parts have equal numbers of entries (and
 * a little for each row). Rows of more than LONG_ROW entries are cut into chunks of that many,
 * whose sums are added in order afterwards: so a row of a million entries keeps all threads busy,
 * and the bits of y do not depend on how many there are.
 */
#ifndef SPRY_CSR_SHARES_H
#define SPRY_CSR_SHARES_H

#include "host/host.h"
#include "operator/operator.h"

enum { LONG_ROW = 8192 };

/* Where a part begins: before a chunk of a row; chunk is 0 but in long rows. */
typedef struct csr_place {
    int64_t row, chunk;
} csr_place;

typedef struct csr_long_row {
    int64_t row, first; /* first: index of its first chunk's sum */
} csr_long_row;

typedef struct csr_shares {
    const spry_context *ctx;
    const host_kernels *kernels;
    spry_type type;
    host_csr csr;
    int64_t rows;
    bool scattered; /* see host_scattered() */
    int parts;
    csr_place *cuts; /* parts + 1; NULL: no shares yet */
    int64_t long_count;
    csr_long_row *longs; /* one more for the end; NULL when there are none */
    spry_scalar *sums;   /* of the chunks of long rows */
} csr_shares;

/* Plans products with the arrays of a CSR matrix, which must stay; on failure *shares is cleared.
 */
spry_status csr_shares_make(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                            const int64_t *offsets, const int32_t *columns, const void *values,
                            csr_shares *shares);
void csr_shares_clear(spry_context *ctx, csr_shares *shares);
/* Work before a row: entries, and a little for each row. */
int64_t csr_shares_work(const csr_shares *shares, int64_t row);

/* y = alpha A x + beta y, or conj(A) in A's place */
void csr_shares_run(const csr_shares *shares, bool conjugate, spry_scalar alpha, const void *x,
                    spry_scalar beta, void *y);

#endif
