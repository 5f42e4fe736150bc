/*
 * Other libraries' CSR products, side by side with spry's on the same arrays in the same process.
 * A peer is a table of three functions; spmv.c runs those that were found when this was built.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <spry/spry.h>

SPRY_BEGIN

typedef struct peer {
    const char *name;
    /* A state for products with the general CSR arrays; offsets are given as 32 bits too, which is
     * all some know. NULL when this type cannot be done. */
    void *(*prepare)(const spry_arrays *a, const int32_t *offsets, int threads);
    void (*multiply)(void *state, const void *x, void *y);
    void (*destroy)(void *state);
} peer;

extern const peer peer_eigen, peer_mkl;

/* A matrix from "kind:option=value,..."; exits when there is none. */
spry_matrix *peer_matrix(spry_context *ctx, const char *text);

/* Seconds of the fastest and of the median of some products, after one that does not count. */
typedef struct peer_times {
    double best, median;
} peer_times;
peer_times peer_time(void (*product)(void *data), void *data, int count);

SPRY_END

#endif
