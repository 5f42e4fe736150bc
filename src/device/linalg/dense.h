/* Products on devices with dense blocks: what those of the host's and of the device's share. */
#ifndef SPRY_DEVICE_DENSE_H
#define SPRY_DEVICE_DENSE_H

#include "device/linalg/operator.h"
#include "operator/operator.h"

/* One product with dense blocks. */
typedef struct dense_job {
    const spry_operator *op;
    spry_transpose transpose;
    spry_scalar alpha, beta;
    size_t size; /* bytes of a scalar */
} dense_job;

static inline bool dense_reads(const dense_job *j)
{
    return j->beta.re != 0 || j->beta.im != 0;
}

/* Element (i, c) is at i row_stride + c col_stride. */
static inline int64_t dense_row_stride(const spry_dense *M)
{
    return M->by_rows ? M->ld : 1;
}

static inline int64_t dense_col_stride(const spry_dense *M)
{
    return M->by_rows ? 1 : M->ld;
}

/* With blocks of the host's of any size; see dense_host.c. */
spry_status device_multiply_dense_host(const dense_job *j, const spry_dense *B,
                                       const spry_dense *C);

#endif
