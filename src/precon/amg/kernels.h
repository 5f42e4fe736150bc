/* The inner loops of multigrid's set-up; a part of the list in precon/kernels.h. */
#ifndef SPRY_PRECON_AMG_KERNELS_H
#define SPRY_PRECON_AMG_KERNELS_H

#include "host/host.h"

/* Nodes of `block` rows each, which of their neighbours are strong, and the matrix without the
 * others, which are added to the diagonal. Neighbours of node i are columns[offsets[i block]] and
 * on, offsets being the matrix's. */
typedef struct amg_strong_job {
    host_csr A;
    int block;
    double theta;
    const double *sizes; /* of each node's own block */
    int32_t *lengths, *columns;
    void *inverse; /* of the new diagonal, a number per row */
} amg_strong_job;

/* P = (I - omega D^-1 A_F) T, with A_F and D as amg_strong left them. Row i of T has `count`
 * numbers in the columns of its node's aggregate. */
typedef struct amg_prolong_job {
    host_csr A;
    int block, count;
    const int32_t *lengths, *strong; /* as in amg_strong_job */
    const int32_t *map;              /* aggregate of each node; -1: none */
    const void *tentative, *inverse;
    double omega;
    int64_t *offsets; /* of P */
    int32_t *columns; /* NULL: rows of P are counted, into offsets[row + 1] */
    void *values;
} amg_prolong_job;

/* Near-null vectors made orthonormal on each aggregate: T, and the next level's vectors. */
typedef struct amg_tentative_job {
    int block, count;
    const int64_t *starts; /* nodes of aggregate a are nodes[starts[a]] and on */
    const int32_t *nodes;
    const void *near;
    void *tentative, *coarse;
} amg_tentative_job;

/* Columns that a row has met, in that order: see kernels/places.h. */
typedef struct amg_places {
    int32_t cols; /* of marks */
    int32_t *mark, *list, found, base;
} amg_places;

enum { AMG_CLASSICAL_MOST = 64 };

/* Rows of an interpolation, at most `most` entries each: of a matrix, or of a product A B. */
typedef struct amg_classical_job {
    host_csr A, B;
    /* What row i depends on is at depends + A.offsets[i]: coarse points, then fine ones. */
    const int32_t *lengths, *coarse, *depends;
    const int32_t *map; /* its place among the coarse points; -1: a fine one */
    int32_t most;
    double small; /* weights below that share of the largest go */
    /* Of the thread: room for a row as it is before it is cut, and for the places and numbers that
     * another row shares with it. */
    amg_places at;
    int32_t *places;
    void *weights, *shared;
    int32_t *counts, *columns; /* row i is the first counts[i] at i most */
    void *values;
} amg_classical_job;

/* Rows of R A P, one after the other at columns and values, which have room for `room` entries. */
typedef struct amg_galerkin_job {
    host_csr R, A, P;
    amg_places fine, coarse;
    void *fine_sums, *sums;
    int32_t *lengths, *columns;
    void *values;
    int64_t room, count;
} amg_galerkin_job;

/* Gauss-Seidel on a part of the rows, from one vector to another: columns within the part that come
 * before a row on the way have their new number, all others the old one. */
typedef struct amg_sweep_job {
    host_csr A;            /* columns rise in each row */
    const int32_t *before; /* entries of each row before the diagonal's */
    const void *inverse;   /* of the diagonal; 0: there is none */
    const void *b, *old;   /* NULL: zeros */
    void *new;
    bool backward;
} amg_sweep_job;

/*
 * amg_sizes      Frobenius norms of the nodes' own blocks
 * amg_strong     the strong neighbours of nodes begin..end-1: |A_ij|^2 > theta^2 |A_ii| |A_jj|, by
 *                the Frobenius norm of blocks; gives a bound of the eigenvalues of D^-1 A_F
 * amg_prolong    rows of P of nodes begin..end-1; mark has room for a number an aggregate, -1 at
 *                first when it counts
 * amg_tentative  for aggregates begin..end-1; work has room for the largest one's rows of T
 * amg_factors    f_i = 1 / a_ii, or with `l1` a_ii's phase over the sum of |a_ij|, for rows
 *                begin..end-1; *largest: bound of the eigenvalues of F A so far; gives the first
 *                row whose diagonal has no inverse (f_i is 0 then), end: there is none
 * amg_mend       puts 1 on the diagonal of rows that have nothing but zeros
 * amg_sweep      rows begin..end-1, which are a part
 * amg_sweep_rest the residual that a sweep forth from zeros leaves: `new` = b - A `old`, which is
 *                what the sweep did not know: later columns, and those of other parts
 * amg_conjugate  y_i = conj(x_i)
 * amg_depends    what rows begin..end-1 depend on
 * amg_interpolate  rows of the interpolation
 * amg_further    rows of A B, cut
 * amg_galerkin   rows of R A P; gives the first that there was no room for, end: there was
 */
#define AMG_KERNELS(item)                                                                    \
    item(void, amg_sizes,                                                                    \
         (const host_csr *A, int block, int64_t begin, int64_t end, double *sizes))          \
    item(double, amg_strong, (const amg_strong_job *job, int64_t begin, int64_t end))        \
    item(void, amg_prolong,                                                                  \
         (const amg_prolong_job *job, int64_t begin, int64_t end, int32_t *mark))            \
    item(void, amg_tentative,                                                                \
         (const amg_tentative_job *job, int64_t begin, int64_t end, void *work))             \
    item(int64_t, amg_factors,                                                               \
         (const host_csr *A, bool l1, int64_t begin, int64_t end, void *f, double *largest)) \
    item(void, amg_mend, (const host_csr *A, int64_t begin, int64_t end, void *values))      \
    item(void, amg_sweep, (const amg_sweep_job *job, int64_t begin, int64_t end))            \
    item(void, amg_sweep_rest, (const amg_sweep_job *job, int64_t begin, int64_t end))       \
    item(void, amg_conjugate, (int64_t n, const void *x, void *y))                           \
    item(void, amg_depends,                                                                  \
         (const host_csr *A, double theta, double dominance, int64_t begin, int64_t end,     \
          int32_t *lengths, int32_t *columns))                                               \
    item(void, amg_interpolate, (amg_classical_job * job, int64_t begin, int64_t end))       \
    item(void, amg_further, (amg_classical_job * job, int64_t begin, int64_t end))           \
    item(int64_t, amg_galerkin, (amg_galerkin_job * job, int64_t begin, int64_t end))

#endif
