/* Measuring products with a matrix in its formats. */
#ifndef SPRY_CLI_BENCH_H
#define SPRY_CLI_BENCH_H

#include "draw/draw.h"

/* One line of the table; the names are those of the JSON. */
typedef struct bench_record {
    char matrix[128], format[32], params[96], device[32];
    spry_type type;
    int64_t rows, nnz;
    int columns; /* of B; 1 for products with a vector */
    double seconds, gbps, fraction_of_read, bytes_per_nnz, stored_over_nnz, convert_seconds;
    double
        times_csr; /* how much faster than CSR of the same matrix; 0 when that was not measured */
    double max_error;  /* of y = A x, over |A| |x| row by row */
    char skipped[160]; /* why the format does not hold the matrix; "" when it does */
} bench_record;

/* All records of a run, and what memory gave in it; of devices the triad is not measured. */
typedef struct bench_data {
    spry_bandwidth ceilings;
    spry_device *device; /* NULL: the host */
    bench_record *records;
    int count;
} bench_data;

/* What to measure. */
typedef struct bench_job {
    const spry_matrix *A; /* general CSR */
    const char *format;   /* with options */
    spry_device *device;  /* NULL: the host */
    int64_t repeat;
    int columns;  /* 0: a vector */
    bool by_rows; /* order of several columns */
} bench_job;

/* Measures one product; matrix, device and ceilings are the caller's. A format that does not hold
 * the matrix is no failure. */
spry_status bench_product(spry_context *ctx, const bench_job *job, bench_record *record);

/* The records as bars, and as points under a roof. */
void bench_draw(picture *p, const bench_data *d);
void bench_draw_roof(picture *p, const bench_data *d);
/* Records from a file of `spry bench --json`, to be freed; an exit status. */
int bench_read(const char *path, bench_data *d);

#endif
