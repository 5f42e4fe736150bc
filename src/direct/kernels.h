/*
 * The inner loops of sparse factors, compiled once a scalar type and ISA level from
 * src/direct/kernels, like the host kernels, and written in the same words.
 */
#ifndef SPRY_FRONT_KERNELS_H
#define SPRY_FRONT_KERNELS_H

#include "host/host.h"

/* Pivots that are applied together to the rest of a front, columns that get them at a time, and
 * rows that are made ready for it together. */
enum { FRONT_PANEL = 64, FRONT_CHUNK = 32, FRONT_ROWS = 96 };

/*
 * A front: `order` rows and columns, column by column, of which the first `full` are fully summed:
 * may be eliminated. Of symmetric kinds the lower triangle. `rows` and `cols` are their variables;
 * for symmetric kinds one array.
 */
typedef struct front {
    int64_t order, full;
    void *a;
    int32_t *rows, *cols;
    int32_t *row_at; /* the place of a variable among the rows, kept up to date by exchanges */
    bool symmetric, hermitian, definite;
    bool root;        /* has no parent to delay pivots to */
    double threshold; /* of a pivot relative to its column */
    double small;     /* numbers that are as good as 0 */
    /* as it goes */
    int64_t done, begin; /* pivots, and those before this panel */
    int64_t tried;       /* the next candidate */
    int64_t pairs;
    int64_t nulls;         /* after the pivots: rows and columns that are as good as 0 */
    bool failed, negative; /* of a definite one: no pivot, and one that is below 0 */
    void *mirror;          /* symmetric: the panel of D L^H, row by row, of `order` numbers each */
    void *packed;          /* the panel of L as the update reads it */
    void *columns[2];      /* candidates */
    void *inverse;         /* of pivots: `full` numbers, and for 2 x 2 as many again */
} front;

/* Numbers that `packed` has to hold. */
static inline int64_t front_packed_size(int64_t order, int64_t full)
{
    return (order + 64) * (full < FRONT_PANEL ? full : FRONT_PANEL);
}

/* Factors of a node, and what it leaves to its parent. */
typedef struct front_node {
    int64_t order, pivots;
    int64_t delayed;      /* rows and columns: the first of what it leaves */
    int64_t nulls;        /* pivots at the end that are as good as 0 */
    int64_t pairs;        /* 2 x 2 ones */
    void *lower;          /* order x pivots: L and, of general ones, U11 above the diagonal */
    void *upper;          /* U12 transposed, (order - pivots) x pivots; of general ones */
    void *inverse;        /* of pivots: 2 x pivots; of general ones, pivots */
    int32_t *rows, *cols; /* variables, the pivots first; one array for symmetric kinds */
    void *left;           /* (order - pivots)^2 numbers for the parent */
} front_node;

/* Entries of A that a variable brings in. */
typedef struct front_entries {
    int32_t variable;
    int64_t count;
    const int32_t *index; /* i >= 0: in row i of its column; ~j: in column j of its row */
    const int64_t *from;  /* places in `values` */
    const int32_t *row_at, *col_at;
    const double *left, *right; /* factors of variables' rows and columns */
    const void *values;
} front_entries;

/* Columns that a solve takes together. */
enum { FRONT_COLUMNS = 8 };

/*
 * How a solve goes through the nodes: L and then U or D L^H, or U^T and then L^T. What a task's
 * nodes take from rows of variables from `end` on, which are eliminated above it and are other
 * tasks', too, is summed up aside.
 */
typedef struct front_pass {
    bool symmetric, hermitian, transposed;
    int count;    /* columns */
    void *y, *x;  /* by variables: right-hand sides, which are lost, and solutions */
    int64_t step; /* from column to column of both */
    void *piece;  /* as many numbers as the largest front has rows, for each column */
    int64_t piece_step;
    int32_t end;
    void *above;
    const int32_t *above_at; /* of variables */
    int64_t above_step;
} front_pass;

/* Factors of a dense matrix, column by column, and the exchanges of rows and columns that made
 * them: place k with the one at rows[k] (from 1). What lies beyond the rank is taken as 0. */
typedef struct dense_factors {
    int64_t n, rank;
    void *factors;
    int32_t *rows, *cols; /* cols may be NULL: none */
} dense_factors;
/* The same for a matrix with `low` diagonals below and `high` above the main one. Column j has 2
 * low + high + 1 numbers, of which the first `low` are room for elimination; the diagonal is at
 * low + high. */
typedef struct band_factors {
    int64_t n, low, high;
    void *factors;
    int32_t *rows;
} band_factors;

/*
 * Factors of a small sparse matrix, row by row: C R = A with rows and columns scaled and in the
 * order in which they are eliminated. Step k does a row of A, with the column that is its pivot.
 */
typedef struct lu_factors {
    int64_t n;
    const int64_t *offsets; /* of A, general CSR */
    const int32_t *columns;
    double threshold;     /* of a pivot relative to its row */
    double *left, *right; /* powers of two, of A's rows and columns */
    int32_t *row_of;
    int32_t *column_of, *step_of; /* of steps that are not done, the column that is wanted */
    int32_t *c_at, *r_at;         /* n + 1 */
    int32_t *c_step, *r_step;     /* steps of entries; columns of R's until all are done */
    void *c, *r, *inverse;        /* of pivots; R's diagonal is 1 */
    int32_t room;                 /* for entries of each */
    void *x;                      /* n numbers, work space of solves, too */
    /* while patterns are found, n each */
    int32_t *mark;       /* of columns: seen in the search of this stamp */
    int32_t *path;       /* steps of the search */
    int32_t *next;       /* their next entries */
    int32_t *found;      /* steps that a row takes from, from some place on */
    int32_t *fresh;      /* its columns without a step so far */
    int32_t *pruned;     /* entries of rows of R that searches look at, the first ones */
    int32_t fresh_count; /* columns */
    int32_t stamp;
} lu_factors;

/*
 * front_gather   adds entries of A, scaled, to a front
 * front_add      adds columns begin..end-1 of a child's update; rows[i] and cols[j]: where
 *                its rows and columns are
 * front_panel    finds the next pivots and eliminates within their columns; false: there is none
 * front_rows     the same elimination for rows begin..end-1 beyond the panel of a definite front,
 *                which front_panel() leaves alone
 * front_pack     rows begin..end-1 of the panel of L as the update reads it: they begin
 *                a multiple of FRONT_ROWS beyond the panel
 * front_update   columns begin..end-1 beyond the panel
 * front_store    copies factors of pivots begin..end-1 to a node's storage
 * front_leave    copies columns begin..end-1 of the update for the parent, possibly lower in the
 *                front's own memory: then in their order
 * front_forward         a solve with a node's pivots
 * front_forward_rest    subtracts their contribution from rows begin..end-1 of the rest
 * front_forward_all     both
 * front_backward_begin  fetches the node's numbers
 * front_backward_rest   subtracts the contribution of the rest from pivots begin..end-1
 * front_backward        a solve with the pivots
 * front_backward_all    all three
 * front_take_above      moves the sums for the rest of a node to a buffer of its own, of
 *                       (order - pivots) numbers per column
 * front_add_above       adds them from the buffer to all
 * front_enter    y[place_i] = factor[place_i] z_i, or conj(z_i)
 * front_return   z_i = factor[place_i] x[place_i], or its conjugate
 * dense_factor  A = L U in place with exchanges of rows, columns begin..end-1 after those before;
 *               gives the first column without a pivot, `end` where there is none
 * dense_rank    the same with exchanges of rows and columns, until what is left is not larger than
 *               `least`: gives the rank
 * dense_solve   z = op(A)^-1 z in place, for `count` z one after the other
 * band_factor, band_solve: the same for bands
 * lu_scale      factors that bring the largest numbers of rows and columns near 1; whether all
 *               diagonal entries can be pivots, then
 * lu_factor     C and R; false: a row has no pivot, or there is no room
 * lu_refill     the same of other values, with the steps and patterns there are; false: a pivot is
 *               too small
 * lu_growth     |A^-1 s|_1 of random signs s, A being scaled
 * lu_solve      z = op(A)^-1 z
 */
#define FRONT_KERNELS(item)                                                                       \
    item(int64_t, dense_factor, (int64_t n, int64_t begin, int64_t end, void *a, int32_t *rows))  \
    item(int64_t, dense_rank,                                                                     \
         (int64_t n, int64_t begin, int64_t end, double least, void *a, int32_t *rows,            \
          int32_t *cols))                                                                         \
    item(void, dense_solve,                                                                       \
         (const dense_factors *f, spry_transpose transpose, int64_t count, void *z))              \
    item(int64_t, band_factor, (const band_factors *f))                                           \
    item(void, band_solve, (const band_factors *f, spry_transpose transpose, void *z))            \
    item(bool, lu_scale, (const lu_factors *f, const void *values))                               \
    item(bool, lu_factor, (lu_factors * f, const void *values))                                   \
    item(bool, lu_refill, (const lu_factors *f, const void *values))                              \
    item(double, lu_growth, (const lu_factors *f))                                                \
    item(void, lu_solve, (const lu_factors *f, spry_transpose transpose, void *z))                \
    item(void, front_gather, (const front *f, const front_entries *e))                            \
    item(void, front_add,                                                                         \
         (const front *f, const front_node *child, const int32_t *rows, const int32_t *cols,      \
          int64_t begin, int64_t end))                                                            \
    item(bool, front_panel, (front * f))                                                          \
    item(void, front_rows, (const front *f, int64_t begin, int64_t end))                          \
    item(void, front_pack, (const front *f, int64_t begin, int64_t end))                          \
    item(void, front_update, (const front *f, int64_t begin, int64_t end))                        \
    item(void, front_store, (const front *f, const front_node *node, int64_t begin, int64_t end)) \
    item(void, front_leave, (const front *f, const front_node *node, int64_t begin, int64_t end)) \
    item(void, front_forward, (const front_node *node, const front_pass *p))                      \
    item(void, front_forward_rest,                                                                \
         (const front_node *node, const front_pass *p, int64_t begin, int64_t end))               \
    item(void, front_backward_begin, (const front_node *node, const front_pass *p))               \
    item(void, front_backward_rest,                                                               \
         (const front_node *node, const front_pass *p, int64_t begin, int64_t end))               \
    item(void, front_backward, (const front_node *node, const front_pass *p))                     \
    item(void, front_forward_all, (const front_node *node, const front_pass *p))                  \
    item(void, front_backward_all, (const front_node *node, const front_pass *p))                 \
    item(void, front_take_above, (const front_node *node, const front_pass *p, void *kept))       \
    item(void, front_add_above, (const front_node *node, const front_pass *p, const void *kept))  \
    item(void, front_enter,                                                                       \
         (int64_t n, const int32_t *place, const double *scale, bool conjugated, const void *z,   \
          void *y))                                                                               \
    item(void, front_return,                                                                      \
         (int64_t n, const int32_t *place, const double *scale, bool conjugated, const void *x,   \
          void *z))

typedef struct front_kernels {
    FRONT_KERNELS(HOST_KERNEL_MEMBER)
} front_kernels;

/* The kernels of a type for the context's ISA level. */
const front_kernels *front_kernels_for(const spry_context *ctx, spry_type type);

#endif
