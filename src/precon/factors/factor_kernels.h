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
    const void *in;        /* r, by rows where in_rows gives the row of each place */
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
    int32_t *l_columns, *u_columns;
    void *l_values, *u_values, *inverse;
    bool in_turn; /* rows of A begin..end-1 are asked for instead of places */
    bool own;     /* the pattern is that of A's rows, which are sorted: columns are written, too */
    void *pivot;  /* hermitian: D, where L is U^H; NULL: both are made */
    void *growth; /* hermitian: room for bounds of L^-1's rows */
    double shift, modified;
} ilu_job;

/* What a thread has for rows of it, and what it learns of them. */
typedef struct ilu_room {
    int32_t *where;   /* ilu_lost() of each place; NULL: all rows are merged */
    int32_t *columns; /* one more than the longest row has entries */
    void *values;     /* ILU_LOST more than it has */
    double largest;   /* sum of magnitudes of a row of A */
    double growth;    /* hermitian: at least the sum of magnitudes of any row of L^-1 */
    double inverse;   /* hermitian: the largest of D^-1 */
    bool dominant;    /* every diagonal entry is at least the rest of its row */
} ilu_room;
/* Where the pattern is A's: entries of a row from which on it is merged, and up to which it is
 * sorted as it comes. */
enum { ILU_MERGED = 8, ILU_SHORT = 32 };
/* Where columns outside a row's pattern point: places before it, several so that sums are
 * independent. */
enum { ILU_LOST = 8 };
static inline int32_t ilu_lost(int32_t column)
{
    return -1 - column % ILU_LOST;
}

/* A sweep over all numbers of the factors, from old ones to new ones. U is by columns. */
typedef struct parilu_job {
    const int64_t *l_offsets, *u_offsets;
    const int32_t *l_columns, *u_rows;
    const void *l_from, *u_from, *d_from; /* A's */
    const void *l_old, *u_old, *inverse_old;
    void *l_new, *u_new, *inverse_new;
} parilu_job;

/* The same by thresholds, in the order of the rows: places are rows. */
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

/* The same with exchanges of columns: see kernels/ilutp.c. Steps take rows in the order of `queue`,
 * and those without a pivot again after all others. U's columns are A's. */
typedef struct ilutp_job {
    int64_t n;
    const int64_t *a_offsets;
    const int32_t *a_columns;
    const void *a_values;
    const int32_t *order; /* NULL: none */
    double tau, pivot, fill;
    bool defer;   /* rows without a good pivot are put off */
    int64_t mean; /* entries per row */
    int64_t *l_offsets, *u_offsets;
    int32_t *l_columns, *u_columns;
    void *l_values, *u_values, *inverse;
    int64_t l_room, u_room; /* entries that there is room for */
    int64_t need;           /* entries that the next row may have in a triangle */
    int32_t *row, *column;  /* of a step */
    int32_t *place;         /* the step of a column; -1: none yet */
    int32_t *later;         /* rows that were put off */
    int64_t next, put_off, retaken, perturbed, free_column;
    void *w, *l_growth, *u_growth; /* by columns, by steps, by columns: zeros at first */
    int32_t *mark;                 /* 0 for each column */
    int32_t *heap, *lower, *upper; /* room for all */
} ilutp_job;

/* Incomplete L D L^H (or L^T) with pivots of one and two rows: see kernels/ildl.c. */
typedef struct ildl_job {
    int64_t n;
    const int64_t *a_offsets;
    const int32_t *a_columns;
    const void *a_values;
    const int32_t *order, *rank; /* and the place of a row in it; NULL: none */
    bool hermitian;
    double tau, fill, pivot;
    int64_t mean;
    int64_t *offsets; /* of columns of L, by steps; their rows are A's */
    int32_t *rows;
    void *values;
    int64_t longest;        /* row of A */
    int64_t room, need;     /* entries there is room for, and that a column may have */
    void *diagonal, *below; /* by steps; below_k is entry (k + 1, k) of D */
    bool *wide;             /* the step is the first one of two */
    int32_t *row;           /* of a step */
    int32_t *step;          /* of a row; -1: none yet */
    int64_t *head, *next;   /* entries of L in a row: by rows, by entries; -1: the end */
    int32_t *step_of;       /* of an entry */
    int64_t at, perturbed, pairs;
    void *growth;     /* by rows: zeros at first */
    void *w[2];       /* by rows */
    int32_t *mark[2]; /* 0 for each row */
    int32_t *list[2];
} ildl_job;

/*
 * triangle_rows  w_k = f_k r_k - (T w)_k for places begin..end-1, the last one first for upper
 * scale_entries  to_k = f values_k for n entries
 * conjugate_entries  to_k = conj(values_k); to may be values
 * ilu_rows       factorizes places begin..end-1 after all those before. Gives the first place
 *                whose pivot failed, `end`: none
 * ilut_rows      the same by thresholds; arrays of factors have room for the rows' entries of A
 *                and `fill` more for each row and triangle
 * ilutp_rows     steps begin..end-1; gives the first that was not done, which needs room for
 *                `need` more entries
 * ildl_columns   the same with room for 2 `need` entries; may do one step more than asked
 * parilu_start   initial values from A's, for all n places
 * parilu_rows    new values of rows of L and columns of U begin..end-1
 * parilu_finish  divides new values of L by the diagonal, which is made real if asked; gives the
 *                first place where that fails, n: none
 * shift_rows     d_k grows by `by` times the sum of magnitudes of its row of A
 * isai_rows      rows begin..end-1 of the approximate inverse of a triangle, less the diagonal of
 *                ones; `where` as above
 */
#define FACTOR_KERNELS(item)                                                                     \
    item(void, triangle_rows, (const triangle_pass *p, int64_t begin, int64_t end))              \
    item(void, scale_entries, (int64_t n, spry_scalar f, const void *values, void *to))          \
    item(void, conjugate_entries, (int64_t n, const void *values, void *to))                     \
    item(int64_t, ilu_rows, (const ilu_job *p, int64_t begin, int64_t end, ilu_room *room))      \
    item(void, parilu_start, (const parilu_job *p, int64_t n))                                   \
    item(void, parilu_rows, (const parilu_job *p, int64_t begin, int64_t end))                   \
    item(int64_t, parilu_finish, (const parilu_job *p, int64_t n, bool hermitian))               \
    item(void, shift_rows,                                                                       \
         (int64_t n, const int64_t *offsets, const void *values, const int32_t *rows, double by, \
          bool hermitian, void *d))                                                              \
    item(int64_t, ilut_rows, (const ilut_job *p, int64_t begin, int64_t end))                    \
    item(int64_t, ilutp_rows, (ilutp_job * p, int64_t begin, int64_t end))                       \
    item(int64_t, ildl_columns, (ildl_job * p, int64_t begin, int64_t end))                      \
    item(void, isai_rows,                                                                        \
         (const triangle_pass *t, int64_t begin, int64_t end, int32_t *where, void *inverse))

#endif
