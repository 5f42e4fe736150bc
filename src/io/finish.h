/* From what a reader found to what the caller asked for. */
#ifndef SPRY_IO_FINISH_H
#define SPRY_IO_FINISH_H

#include "io/io.h"

/* A dense array without its zeros as CSR. */
spry_status io_dense_to_matrix(spry_context *ctx, const io_dense *dense, spry_matrix **A);
/* A general CSR matrix with its zeros; only for what has one row or column. */
spry_status io_matrix_to_dense(const spry_matrix *A, io_dense *dense);

/* Makes *A sorted CSR by the options; bytes and format are for messages. *A stays the caller's.
 */
spry_status io_finish_matrix(const io_bytes *bytes, const io_format *format,
                             const read_options *options, spry_matrix **A);
/* Makes a vector of an array, of all its columns (their number in *cols) unless cols is NULL; takes
 * over its values on success. */
spry_status io_finish_vector(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                             const read_options *options, io_dense *dense, spry_vector **v,
                             int64_t *cols);

#endif
