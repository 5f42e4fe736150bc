/*
 * Triangular systems as they come out of relaxation, solved row by row or colour by colour.
 *
 * An order puts the rows of a matrix A = L + D + U into sets; L holds the entries that lead to an
 * earlier set, U those to a later one. Rows of a set do not depend on each other, so all threads
 * share them, and the result does not depend on how. In the natural order every row is a set of its
 * own, and one thread does them all.
 */
#ifndef SPRY_PRECON_TRIANGLE_H
#define SPRY_PRECON_TRIANGLE_H

#include "host/host.h"
#include "precon/precon.h"

typedef struct relax_order {
    int64_t n, sets;
    int32_t *set;   /* of each row; NULL in the natural order: row i is set i */
    int64_t *first; /* sets + 1: where each set begins in `rows`; NULL in the natural order */
    int32_t *rows;  /* by sets, rising in each; NULL in the natural order */
} relax_order;

/* One triangle, rows in the order in which they are solved, multiplied by omega D^-1 from the left.
 */
typedef struct relax_triangle {
    const host_kernels *kernels;
    const relax_order *order;
    bool upper;
    host_csr csr;
    int64_t *offsets;
    int32_t *columns;
    void *values;
    int32_t *rows; /* the row of A each one is; in the order's sets, the last one first for upper */
} relax_triangle;

/* The order for a square general CSR matrix: by colours, or natural. On failure it is cleared. */
spry_status relax_order_make(const spry_matrix *A, bool natural, relax_order *order);
void relax_order_clear(spry_context *ctx, relax_order *order);

/* Takes one triangle out of a general CSR matrix; `scale` is omega D^-1. On failure *s is cleared.
 */
spry_status relax_triangle_make(const spry_matrix *A, const relax_order *order, bool upper,
                                const spry_vector *scale, relax_triangle *s);
void relax_triangle_clear(spry_context *ctx, relax_triangle *s);
/* Bytes of its arrays. */
int64_t relax_triangle_bytes(const relax_triangle *s, spry_type type);

/* Solves z + T z = f .* r for the triangle T, or conj(T) and conj(f) in their place. f is given by
 * row of A and may be NULL for ones; r may be z. */
void relax_triangle_run(const spry_context *ctx, const relax_triangle *s, bool conjugate,
                        const void *f, const void *r, void *z);

#endif
