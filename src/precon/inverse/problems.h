/*
 * Preconditioners that are computed row by row, each from a small dense problem of its own. The
 * vectors of a problem are rows of a sparse matrix B, those that the pattern's row names:
 *
 *     least squares   min || sum_j x_j B(j, :) - e_k ||      over the pattern J of row k
 *     square          the same with the columns in J alone: sum_j x_j B(j, J) = e_k(J)
 *     factor          x B(J, J) x^H = 1 and x B(J, J) = c e_k(J), for hermitian B; k last in J
 *
 * With B = A, x are rows of M in M A ~ I; with B = A^T they are columns of M in A M ~ I.
 */
#ifndef SPRY_PRECON_PROBLEMS_H
#define SPRY_PRECON_PROBLEMS_H

#include "base/base.h"

typedef enum local_kind { LOCAL_LEAST_SQUARES, LOCAL_SQUARE, LOCAL_FACTOR } local_kind;

typedef struct local_problems {
    local_kind kind;
    int64_t n;
    const int64_t *at; /* B, general CSR, sorted */
    const int32_t *columns;
    const uint8_t *moved; /* whether a row of B is the one before it, one column further; or NULL */
    const void *values;
    const void *scale; /* real: powers of two that bring the rows of B (factor: rows and columns,
                          by its diagonal) to about 1 */
    double shift;      /* factor: diagonals are multiplied by 1 + shift */
    const int64_t *pattern_at; /* of X, sorted; a row holds its diagonal, or nothing: it is left
                                  out */
    const int32_t *pattern;
    void *x; /* values of X */
} local_problems;

/* What came out of some of them. */
typedef struct local_outcome {
    int64_t deficient; /* problems whose vectors depend on each other: the first ones are used */
    int64_t bad;       /* first row with numbers that are not finite, or not definite; -1: none */
} local_outcome;

/* The most that a problem has: vectors, rows that those touch, entries of the vectors. */
typedef struct local_size {
    int64_t cols, rows, entries;
} local_size;

struct grow_problems;

/*
 * Kernels for them, as kernels.h has them: item(result, name, arguments).
 *
 * local_scale  powers of two that bring the largest part in each row begin..end-1 to [1, 2)
 * local_bytes  room that local_rows needs for problems of a size
 * local_rows   solves the listed problems, which have as many vectors each
 * local_roots  powers of two that bring diagonals in rows begin..end-1 to [1/2, 2) when they come
 *              from both sides; gives the first row whose diagonal is not positive, end: none
 * local_factors  local_rows for factors
 * grow_bytes   room that grow_rows needs
 * grow_rows    finds patterns for rows begin..end-1: see grow.h
 */
#define LOCAL_KERNELS(item)                                                                    \
    item(void, local_scale,                                                                    \
         (int64_t begin, int64_t end, const int64_t *at, const void *values, void *scale))     \
    item(int64_t, local_bytes, (const local_size *most))                                       \
    item(local_outcome, local_rows,                                                            \
         (const local_problems *p, const local_size *most, const int32_t *list, int64_t count, \
          void *room))                                                                         \
    item(int64_t, local_roots,                                                                 \
         (int64_t begin, int64_t end, const int64_t *at, const int32_t *columns,               \
          const void *values, void *scale))                                                    \
    item(local_outcome, local_factors,                                                         \
         (const local_problems *p, const local_size *most, const int32_t *list, int64_t count, \
          void *room))                                                                         \
    item(int64_t, grow_bytes, (const struct grow_problems *p))                                 \
    item(void, grow_rows, (const struct grow_problems *p, int64_t begin, int64_t end, void *room))

#endif
