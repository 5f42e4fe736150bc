/*
 * Other libraries compared with spry. Of products, a peer is a table of three functions on the same
 * arrays in the same process; spmv.c runs those that were found when this was built. Of conjugate
 * gradients, a peer is a program of its own; cg.c starts them in turn.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <spry/spry.h>

SPRY_BEGIN

/* spry_arrays with types for its pointers. */
typedef struct peer_arrays {
    spry_type type;
    spry_format format;
    spry_symmetry symmetry;
    int64_t rows, cols, nnz;
    int64_t *offsets;
    int32_t *row_index, *col_index;
    void *values;
} peer_arrays;
peer_arrays peer_arrays_of(const spry_matrix *A);

typedef struct peer {
    /* A state for products with the general CSR arrays; offsets are given as 32 bits too, which is
     * all some know. NULL when this type cannot be done. */
    void *(*prepare)(const peer_arrays *a, const int32_t *offsets, int threads);
    void (*multiply)(void *state, const void *x, void *y);
    void (*destroy)(void *state);
    /* C = A B, both in the same layout; NULL: not known here. */
    void (*multiply_dense)(void *state, const spry_dense *B, const spry_dense *C);
} peer;

extern const peer peer_eigen, peer_mkl, peer_mkl_bsr;

/* The same for A times A: square makes the product, frees it and gives its entries. */
typedef struct peer_square {
    void *(*prepare)(const peer_arrays *a, const int32_t *offsets, int threads);
    int64_t (*square)(void *state);
    void (*destroy)(void *state);
} peer_square;

extern const peer_square peer_eigen_square, peer_mkl_square;

/* A matrix from "kind:option=value,...", from "tiled:FILE,size=N,type=T", copies of a matrix file
 * along the diagonal, or from "file:FILE", as general CSR with sorted rows; exits when there is
 * none. */
#define PEER_FILE "file:"
spry_matrix *peer_matrix(spry_context *ctx, const char *text);

/* Seconds of the fastest and of the median of some products, after one that does not count. */
typedef struct peer_times {
    double best, median;
} peer_times;
peer_times peer_time(void (*product)(void *data), void *data, int count);

/* The arguments of a program of conjugate gradients: MATRIX VARIANT PRECON THREADS ITERATIONS. */
typedef struct peer_job {
    const char *matrix, *variant, *precon;
    int threads, iterations;
} peer_job;
bool peer_job_read(int argc, char **argv, peer_job *job);

/*
 * Seconds per iteration: of a solve with more iterations than another, the difference over
 * them, so that what a solve does once does not count. solve gives the seconds it took.
 */
double peer_iteration_time(double (*solve)(void *data, int iterations), void *data, int iterations);
enum { PEER_FIRST_ITERATIONS = 10 }; /* of the short solve */

/* What such a program answers, as one line: seconds per iteration, |r| / |b| after them all,
 * and bytes per iteration where it knows. */
void peer_answer(double seconds, double residual, int64_t bytes);
/* The reason instead, and the end of the program. */
__attribute__((noreturn)) void peer_refuse(const char *reason);
/* That, for a call that failed. */
void peer_check(spry_context *ctx, spry_status status);

/* The end of a benchmark with the message on stderr, for a call that failed. */
void peer_need(const spry_context *ctx, spry_status status);

/* An option of a benchmark, "--name value": a text, a whole number or any. */
typedef struct peer_option {
    const char *name;
    const char **text;
    int *whole;
    double *real;
} peer_option;
typedef struct peer_words {
    char **all;
    int count;
} peer_words;
/* Reads the options in the list, which ends with one without a name; gives the words after them, or
 * the usual ones where there are none. */
peer_words peer_arguments(int argc, char **argv, const peer_option *list, char **usual, int count);
/* The number, or the nearest of 1 .. most. */
int peer_within(int number, int most);
/* The threads that a context without options has. */
int peer_usual_threads(void);

/* The rows that one of several processes has: the numbers of entries are equal, as for spry's
 * threads. */
void peer_rows(const peer_arrays *a, int rank, int size, int64_t *begin, int64_t *end);

double peer_seconds(void);
/* The middle one of some numbers, which it sorts. */
double peer_median(double *numbers, int count);

SPRY_END

#endif
