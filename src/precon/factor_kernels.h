/* The inner loops of incomplete factors and triangular solves: a part of the list in kernels.h. */
#ifndef SPRY_FACTOR_KERNELS_H
#define SPRY_FACTOR_KERNELS_H

#include "host/host.h"

/* Rows of a triangle to solve for: see triangle.h. */
typedef struct triangle_pass {
    const int64_t *offsets;
    const int32_t *columns;
    const void *values;
    bool upper, conjugate; /* conj(T) and conj(f) */
    const void *f;         /* by places; NULL: ones */
    const void *in;        /* r, by rows where in_rows tells the row of each place */
    const int32_t *in_rows;
    void *w;   /* by places; may be in where in is by places */
    void *out; /* w by rows; NULL: not asked for */
    const int32_t *out_rows;
} triangle_pass;

/* An incomplete factorization in progress: see factors.h. A is by rows, all others by places. */
typedef struct ilu_job {
    const int64_t *a_offsets;
    const int32_t *a_columns;
    const void *a_values;
    const int32_t *rows, *places; /* NULL: they are equal */
    const int64_t *l_offsets, *u_offsets;
    const int32_t *l_columns, *u_columns;
    void *l_values, *u_values, *inverse;
    double shift, modified;
    bool hermitian;
} ilu_job;

/* A sweep over all numbers of the factors, from old ones to new ones. U is by columns. */
typedef struct parilu_job {
    const int64_t *l_offsets, *u_offsets;
    const int32_t *l_columns, *u_rows;
    const void *l_from, *u_from, *d_from; /* A's */
    const void *l_old, *u_old, *inverse_old;
    void *l_new, *u_new, *inverse_new;
} parilu_job;

/* The same by thresholds, in the order of the rows, which is what places are here. */
typedef struct ilut_job {
    const int64_t *a_offsets;
    const int32_t *a_columns;
    const void *a_values;
    const int32_t *rows, *places;
    double tau, shift;
    int64_t fill;
    bool hermitian; /* L alone */
    int64_t *l_offsets, *u_offsets;
    int32_t *l_columns, *u_columns;
    void *l_values, *u_values, *inverse;
    void *w;                       /* a number for each place */
    int32_t *mark;                 /* 0 for each place */
    int32_t *heap, *lower, *upper; /* room for all places */
    int64_t *head, *tail, *next;   /* columns of L, hermitian: by places (-1: empty), by entries */
    int32_t *row_of;               /* of an entry of L */
} ilut_job;

/*
 * triangle_rows  w_k = f_k r_k - (T w)_k for places begin..end-1, the last one first for upper
 * scale_entries  to_k = f values_k for n entries
 * conjugate_entries  to_k = conj(values_k); to may be values
 * ilu_rows       factorizes places begin..end-1, all those before having been; `where` has a 0 for
 *                each place and is left so, `room` a number for each entry of the longest row.
 *                Gives the first place whose pivot failed, `end`: none
 * ilut_rows      the same by thresholds; arrays of factors have room for the rows' entries of A and
 *                `fill` more for each row and triangle
 * parilu_start   new numbers from A's, for all n places
 * parilu_rows    new numbers of rows of L and columns of U begin..end-1
 * parilu_finish  new numbers of L are divided by the diagonal, which is made real if asked; gives
 *                the first place where that fails, n: none
 * shift_rows     d_k grows by `by` times the sum of magnitudes of its row of A
 * isai_rows      rows begin..end-1 of the approximate inverse of a triangle, less the diagonal of
 *                ones; `where` as above
 */
#define FACTOR_KERNELS(item)                                                                     \
    item(void, triangle_rows, (const triangle_pass *p, int64_t begin, int64_t end))              \
    item(void, scale_entries, (int64_t n, spry_scalar f, const void *values, void *to))          \
    item(void, conjugate_entries, (int64_t n, const void *values, void *to))                     \
    item(int64_t, ilu_rows,                                                                      \
         (const ilu_job *p, int64_t begin, int64_t end, int32_t *where, void *room))             \
    item(void, parilu_start, (const parilu_job *p, int64_t n))                                   \
    item(void, parilu_rows, (const parilu_job *p, int64_t begin, int64_t end))                   \
    item(int64_t, parilu_finish, (const parilu_job *p, int64_t n, bool hermitian))               \
    item(void, shift_rows,                                                                       \
         (int64_t n, const int64_t *offsets, const void *values, const int32_t *rows, double by, \
          bool hermitian, void *d))                                                              \
    item(int64_t, ilut_rows, (const ilut_job *p, int64_t begin, int64_t end))                    \
    item(void, isai_rows,                                                                        \
         (const triangle_pass *t, int64_t begin, int64_t end, int32_t *where, void *inverse))

#endif
