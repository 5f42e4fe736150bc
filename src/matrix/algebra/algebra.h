/* What sums, products, orderings and scalings of matrices share. */
#ifndef SPRY_ALGEBRA_INTERNAL_H
#define SPRY_ALGEBRA_INTERNAL_H

#include "matrix/matrix.h"

#include <spry/algebra.h>
#include <spry/list.h>
#include <spry/reorder.h>

/* Fails unless both matrices are of one type and context; `what` names the operation. */
spry_status algebra_check_pair(const char *what, const spry_matrix *A, const spry_matrix *B);

/* C = A B for prepared matrices, with conj(A) in A's place. Lower: only the entries on and below
 * the diagonal, as a symmetric (conjugate: hermitian) matrix; A must be B^T then. */
spry_status algebra_multiply(const spry_matrix *A, const spry_matrix *B, bool conjugate, bool lower,
                             spry_matrix **C);
/* Multiplications that takes, as a double; for comparing. */
double algebra_multiply_work(const spry_matrix *A, const spry_matrix *B);

/* For SPRY_LIST_ORDERINGS and _SCALINGS: fill a cleared entry; false past the last. */
bool algebra_order_at(int index, spry_entry *entry);
bool algebra_scaling_at(int index, spry_entry *entry);

/*
 * A matching of rows with columns (match.c): as many as can be, of those the one whose entries have
 * the largest product of moduli. Entries that are 0 or not finite are none. The factors are
 * positive and finite: with them, matched entries have modulus 1 and all others at most 1, up to
 * rounding (some units of the largest |log| of a factor, in double); those of rows and columns
 * without a partner make their largest entry 1, or are 1 where there is none.
 */
typedef struct matching {
    int64_t rows, cols;
    int64_t rank;       /* pairs: the structural rank */
    int32_t *column_of; /* for each row its column; -1: it has none */
    int32_t *row_of;    /* the same for columns */
    double *left, *right;
} matching;
/* For general CSR arrays of any shape with sorted rows. The arrays of m go with
 * algebra_match_clear(), also after a failure. Can be interrupted. */
spry_status algebra_match(spry_context *ctx, const matrix_arrays *a, matching *m);
void algebra_match_clear(spry_context *ctx, matching *m);
/* Exponents of factors that vectors may be multiplied with. */
static inline int algebra_most_exponent(spry_type type)
{
    return type_is_single(type) ? 72 : 520;
}
/* Whether all rows and columns have partners, and all factors are within 2^-most and 2^most: those
 * of rows may be multiplied by a power of two for that, and those of columns divided by it. */
bool algebra_match_within(matching *m, int most);
/* Factors, powers of two, with which all entries are at most about 1 and those of a matching are 1:
 * D A E gets the same whatever D and E are, and is singular only if A is. Where there is no such
 * matching in the range of the type they are those of `equilibrate`. Left and right are alike for a
 * symmetric or hermitian A. */
spry_status algebra_balance(const spry_matrix *A, spry_vector **left, spry_vector **right);
/* For a symmetric or hermitian matrix (as general CSR): one factor for row and column i alike,
 * sqrt(left right), and the cycles of the matching cut into pairs: pair[i] is i's other half, or i
 * where i is alone. Both have room for a->rows. */
spry_status algebra_match_pairs(spry_context *ctx, const matrix_arrays *a, const matching *m,
                                double *factor, int32_t *pair);
/* Whether entry k counts as one for a matching: it is finite and not 0. */
bool algebra_is_entry(const matrix_arrays *a, int64_t k);

/*
 * The block triangular form (block_form.c): with row_perm[new] = old and col_perm alike no entry
 * is below the blocks. Blocks of full structural rank are square, irreducible, and have a
 * partner's entry in each place of their diagonals. Where rows or columns are left without partners
 * there are two more: `wide`, the first one, with fewer rows than columns (too few equations), and
 * `tall`, the last one, with more (too many).
 */
typedef struct block_form {
    int32_t *row_perm, *col_perm;
    int64_t blocks;
    int64_t *row_start, *col_start; /* of each block, and the ends: blocks + 1 */
    bool wide, tall;
} block_form;
spry_status algebra_block_form(spry_context *ctx, const matrix_arrays *a, const matching *m,
                               block_form *form);
void algebra_block_form_clear(spry_context *ctx, block_form *form);
/* Whether A is A^T or A^H, by its kind or found out. */
spry_status algebra_is_symmetric(spry_context *ctx, const spry_matrix *A, bool *yes);
/* The permutation of rows that puts partners on the diagonal, for n x n: perm[j] is the row that
 * column j has; rows without a column take the places of columns without a row, in turn. */
void algebra_match_order(const matching *m, int32_t *perm);
/* A factor as a number of the type: a power of two if asked for, and one that neither overflows nor
 * loses bits. */
double algebra_settle(double factor, bool exact, spry_type type);

/* Approximate minimum degree (amd.c) of a symmetric pattern without diagonal: (*perm)[new] = old,
 * to be freed by base_free(). Can be interrupted. */
spry_status algebra_amd(spry_context *ctx, int64_t n, const int64_t *offsets,
                        const int32_t *columns, int32_t **perm);

/*
 * How an ordering suits the caches (locality.c). Lines of memory that a product fetches of x, for
 * each row, as far as rows near each other do not share them: with row from[i] as row i and columns
 * at to[j], or as they are (NULL). And how many elements of x a thousand rows need that were
 * gathered around one, over their number, in whatever ordering: near 1 for meshes, near the entries
 * per row where no ordering can help. For general CSR; from samples.
 */
spry_status algebra_lines(spry_context *ctx, const matrix_arrays *a, const int32_t *from,
                          const int32_t *to, double *per_row);
spry_status algebra_expansion(spry_context *ctx, const matrix_arrays *a, double *ratio);
/* How many entries each column has; to be freed by base_free(). */
spry_status algebra_count_columns(spry_context *ctx, const matrix_arrays *a, int32_t **counts);
/* The part of all entries whose element of x is in the lines that are needed most, as many as a
 * cache of `cache` bytes holds: with columns as they are, and with column from[j] at
 * place j. */
spry_status algebra_hot_share(spry_context *ctx, const matrix_arrays *a, const int32_t *from,
                              double cache, double *as_is, double *in_order);
/* An ordering that a function finds, which may leave *perm NULL where there is none, of the blocks
 * of general CSR: `block` rows each stay together. */
typedef spry_status algebra_finder(const spry_matrix *A, const void *how, int32_t **perm);
spry_status algebra_order_blocks(const spry_matrix *A, int block, algebra_finder *find,
                                 const void *how, int32_t **perm);
/* y_i = x[from[i]], of vectors of one type, length and place, which are not the same. */
spry_status algebra_gather(const spry_vector *x, const int32_t *from, spry_vector *y);

/* f v; a real factor leaves signs of zeros and what is not finite to the part they are in. */
static inline __attribute__((always_inline)) spry_scalar algebra_times(spry_scalar f, spry_scalar v)
{
    if (f.im == 0)
        return (spry_scalar){f.re * v.re, f.re * v.im};
    return (spry_scalar){f.re * v.re - f.im * v.im, f.re * v.im + f.im * v.re};
}

#endif
