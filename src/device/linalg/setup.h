/*
 * What set-ups of preconditioners are made of on a device, besides products of matrices (matrix.h):
 * diagonals, entries left out, aggregates, points and prolongators. Results repeat bit by bit:
 * whatever is chosen at random is chosen by a hash of the row's number. Vectors are memory of the
 * device with elements of the matrix's type, indices are int32_t.
 */
#ifndef SPRY_DEVICE_SETUP_H
#define SPRY_DEVICE_SETUP_H

#include "device/linalg/matrix.h"

/* --- rows and entries ----------------------------------------------------------------------------
 */

/* The diagonal of a square matrix; 0 where it has none. */
spry_status device_matrix_diagonal(const device_matrix *A, device_memory *diagonal);
/* What scaling by it takes. `bad` is the first row whose diagonal is 0, missing, or too small or
 * not finite to be inverted, and has 1 in the inverse's place; -1: there is none. `bound` is the
 * largest sum of |a_ij| / |a_ii| over a row: no eigenvalue of D^-1 A is larger. */
typedef struct device_scales {
    int64_t bad;
    double bound;
} device_scales;
/* One over it, and, unless NULL, the conjugates of that. */
spry_status device_matrix_inverse_diagonal(const device_matrix *A, device_memory *inverse,
                                           device_memory *conjugate, device_scales *scales);
/* C = alpha A + beta B, with the places of both. left, unless NULL, multiplies B's rows. */
spry_status device_matrix_add(spry_scalar alpha, const device_matrix *A, spry_scalar beta,
                              const device_memory *left, const device_matrix *B, device_matrix *C);

/* A square matrix without its weak entries: kept are the diagonal and |a_ij|^2 > theta^2 |a_ii
 * a_jj|. lump: the sum of the others is added to the diagonal, where a row has one and keeps a
 * quarter of it at least. */
spry_status device_matrix_filter(const device_matrix *A, double theta, bool lump,
                                 device_matrix *out);

/* The same for blocks: entries of A stay whose block, of `block` rows and columns, is one of S's
 * (device_matrix_condense, filtered) or on the diagonal. Of what is lumped only entries count that
 * have their row's place in their block. */
spry_status device_matrix_filter_blocks(const device_matrix *A, int block, const device_matrix *S,
                                        bool lump, device_matrix *out);

/* The program of all these. */
spry_status device_entries_build(spry_device *d, spry_type type, device_program **p);

/* --- aggregates ----------------------------------------------------------------------------------
 */

/*
 * Aggregates of the rows of a square matrix of strong entries (device_matrix_filter), with or
 * without its diagonal: the number of each row's, from 0 on in the order of their first members'
 * choice, goes to `aggregate`, and *count says how many there are. Rows that begin one are three
 * steps or more apart in a symmetric pattern; their neighbours join, then the neighbours of those.
 * Rows without neighbours are alone in one, or in none (-1).
 */
spry_status device_aggregate(const device_matrix *S, bool alone, device_memory *aggregate,
                             int64_t *count);

/* --- points --------------------------------------------------------------------------------------
 */

/* Coarse and fine points of the rows of a square matrix, and what they depend on: row i has the
 * coarse[i] coarse ones of its lengths[i] points at the place of its first entry in `depends`, then
 * the fine ones, columns rising. All of them are int32_t. */
typedef struct device_points {
    device_memory *lengths, *coarse;
    device_memory *depends; /* as many places as the matrix has entries */
    device_memory *map;     /* the number of a coarse point; -1: a fine one */
    int64_t count;          /* of coarse points */
} device_points;

/*
 * Rows depend on entries of at least theta times the largest that has another sign than the
 * diagonal (complex ones: that is the longest), and on none where the sum of the row is larger than
 * `dominance` times the diagonal. Points are those of parallel modified independent sets: the same
 * as the host's (precon/amg/pmis.c).
 */
spry_status device_points_make(const device_matrix *A, double theta, double dominance,
                               device_points *out);
void device_points_free(device_points *p);
/* The interpolation from coarse points, extended+i, cut as device_matrix_cut() does it. */
spry_status device_interpolate(const device_matrix *A, const device_points *points, int64_t most,
                               double small, device_matrix *P);
/* Rows with their `most` largest entries, 64 at most, of those that are not below `small` times the
 * largest, which are scaled to the sum of all. */
spry_status device_matrix_cut(const device_matrix *A, int64_t most, double small,
                              device_matrix *out);
/* The rows of coarse points. */
spry_status device_matrix_pick(const device_matrix *A, const device_points *points,
                               device_matrix *out);

/* The program of kernels/points.knl, and a launch of it with a work-item per row. */
spry_status device_points_build(spry_device *d, spry_type type, device_program **p);
spry_status device_points_launch(device_program *p, const char *kernel, int64_t rows,
                                 const device_arg *args, int count);

/* --- prolongators --------------------------------------------------------------------------------
 */

typedef struct device_nodes {
    int64_t count, aggregates;
    const device_memory *aggregate; /* of each node; -1: none. NULL: each its own */
    int block;                      /* rows of a node */
    int vectors;                    /* near the null space */
    const device_memory *near_null; /* element (row, c) at row vectors + c; NULL: one of ones */
} device_nodes;

/*
 * The tentative prolongator: every row of an aggregated node has one entry for each vector, those
 * of an aggregate being orthonormal columns, so that T times *coarse gives the vectors back;
 * *coarse, element (k, c) at k vectors + c, is allocated for the caller, who frees it. *vanished
 * columns are zeros because they depend on those before, as in aggregates of fewer rows than there
 * are vectors.
 */
spry_status device_tentative(spry_device *d, spry_type type, const device_nodes *nodes,
                             device_matrix *T, device_memory **coarse, int64_t *vanished);
/* P = T - omega D^-1 A T, with the inverse of A's diagonal given. */
spry_status device_smooth_prolongator(const device_matrix *A, const device_memory *inverse,
                                      double omega, const device_matrix *T, device_matrix *P);
/* The matrix of nodes, blocks of `block` rows and columns of A: element (i, j) is the length
 * (Frobenius) of that block. For aggregates of blocks. */
spry_status device_matrix_condense(const device_matrix *A, int block, device_matrix *out);

#endif
