/* Measuring the product with a matrix. */
#ifndef SPRY_CLI_BENCH_H
#define SPRY_CLI_BENCH_H

#include "output.h"

/* One line of the table; the names are those of the JSON. */
typedef struct bench_record {
    char matrix[128], format[32], params[64], device[32];
    spry_type type;
    int64_t rows, nnz;
    double seconds, gbps, fraction_of_read, bytes_per_nnz, stored_over_nnz, convert_seconds;
    double max_error; /* of y = A x, over |A| |x| row by row */
} bench_record;

/* Measures CSR's product; name, device and ceilings are the caller's. */
spry_status bench_spmv(spry_context *ctx, const spry_matrix *A, int64_t repeat,
                       bench_record *record);
/* The largest error of y = A x over |A| |x|, against a compensated sum; A is general CSR. */
double bench_error(const spry_matrix *A, const spry_vector *x, const spry_vector *y);

#endif
