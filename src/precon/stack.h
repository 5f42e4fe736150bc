/*
 * Preconditioners that are products of others: M = F_last ... F_1, each factor a product with a
 * sparse matrix or triangular solves. Factors with pivots are such ones: what is scaled and
 * permuted before and after the triangles, and blocks between them, are matrices with an entry or
 * two per row. They live where the job says, transposes are the factors' in reverse.
 */
#ifndef SPRY_PRECON_STACK_H
#define SPRY_PRECON_STACK_H

#include "precon/factors/triangle.h"

enum { STACK_MOST = 5 };

typedef struct stack_factor {
    spry_operator *product; /* NULL: the triangles */
    triangle_chain chain, transposed;
} stack_factor;

typedef struct stack {
    spry_context *ctx;
    precon_job place; /* without a matrix */
    spry_type type;
    int64_t n;
    triangle_sets sets; /* of all triangles */
    int count;
    stack_factor f[STACK_MOST];
    spry_vector *w[2];
    int32_t *order; /* of the rows, kept for new values; NULL: none, or not found yet */
    /* How a kind makes its factors from values, and its options. */
    spry_status (*fill)(spry_operator *op, const spry_matrix *A);
    void *options;
} stack;

/* An operator without factors, and its fill() called with the job's matrix. `options` are copied.
 */
spry_status stack_operator(const precon_job *job, const char *name, size_t options,
                           spry_status (*fill)(spry_operator *op, const spry_matrix *A),
                           spry_operator **M);
/* NULL: the operator is none of these. */
const stack *stack_of(const spry_operator *op);
/* Words for the order of the rows. */
#define STACK_ORDERS "auto none rcm amd nd"
/* The next factor: a matrix, which it takes (also when it fails); or triangles with the stack's
 * sets, one or two, which the caller has filled in and which it takes, too. */
spry_status stack_push_matrix(stack *s, spry_matrix *W);
spry_status stack_push_triangles(stack *s, triangle_chain *chain);
/* The factor at a place becomes another matrix, which it takes. */
spry_status stack_exchange(stack *s, int at, spry_matrix *W);
/* A matrix whose row k has one entry, scale_c at column c = columns[k]; or, `by_rows`, scale_k. */
spry_status stack_push_selection(stack *s, const int32_t *columns, const spry_vector *scale,
                                 bool by_rows);
/* A copy of A whose rows and columns are equilibrated, and what they were multiplied by. */
spry_status stack_equilibrate(const spry_matrix *A, spry_matrix **scaled, spry_vector **left,
                              spry_vector **right);
/*
 * Factors whose small entries are dropped: those of A, equilibrated, with an order of the rows and
 * more than one try. make() clears nothing, pushes the factors and checks them; the next try has a
 * tenth of tau and twice the fill.
 */
#define STACK_DROPPED(item)                                                                   \
    item(REAL, tau, "1e-3", 0, 1, NULL,                                                       \
         "entries are dropped below tau over the norm of the inverse factor's row or column") \
    item(REAL, fill, "10", 0, 1e6, NULL, "entries of the factors over those of A, at most")
#define STACK_TRIES(item)                                                     \
    item(WORD, order, "auto", 0, 0, STACK_ORDERS, "of the rows: auto is amd") \
    item(INT, tries, "2", 0, 16, NULL,                                        \
         "how often to try again, with a tenth of tau and twice the fill, where factors are bad")
typedef struct stack_try {
    const spry_matrix *A, *scaled;
    const spry_vector *left, *right; /* that A was scaled by */
    double tau, fill;
    bool last;
} stack_try;
spry_status stack_drop(spry_operator *op, const spry_matrix *A, double tau, double fill, int order,
                       int64_t tries,
                       spry_status (*make)(spry_operator *op, const stack_try *t, bool *fine));
/* Rows of CSR get room for `need` entries more than `used`, and some to spare. */
spry_status stack_grow(spry_context *ctx, size_t size, int64_t used, int64_t need, int64_t *room,
                       int32_t **columns, void **values);
/* Entries of all triangles. */
int64_t stack_entries(const stack *s);
/* Those and the diagonal over the entries of A. */
double stack_share(const stack *s, const spry_matrix *A);
/* Whether factors are fit for use by that measure. Where they are not, `last` makes it an error
 * that says what to try. */
spry_status stack_check(const spry_operator *op, const spry_matrix *A, bool last, bool *fine);

#endif
