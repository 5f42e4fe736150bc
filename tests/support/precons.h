/*
 * What tests of all preconditioners share: every kind there is with the specs to try it by, so that
 * a new one is tested as soon as it is registered; and matrices to try them on.
 */
#ifndef SPRY_TESTS_PRECONS_H
#define SPRY_TESTS_PRECONS_H

#include "support/support.h"

typedef struct precons_case {
    const char *kind;
    const char *spec; /* NULL: the kind's name */
    bool definite;    /* for hermitian positive definite matrices alone */
    bool keeps;       /* new values keep a pattern that they might not have led to */
    bool decides;     /* rounding may decide about its pattern, so that precisions differ more */
    bool dense;       /* its memory grows with the square of the rows */
    bool host;        /* this spec of a kind that devices have stays on the host */
    const char *why;  /* not tried here, and why not; NULL: it is */
} precons_case;

/* Calls the test with every case of every kind. SPRY_TEST_PRECON=NAME takes one kind alone. */
void precons_each(void (*test)(const precons_case *c, void *data), void *data);
const char *precons_spec(const precons_case *c);

/* Makes it, on the host. */
spry_operator *precons_make(const spry_matrix *A, const char *spec);

/*
 * A matrix on a grid of size x size points, whose rows and columns are scaled by powers of two from
 * 1 to 8: hermitian positive definite, or with convection; complex for complex types. Without the
 * scaling its diagonal dominates.
 */
spry_matrix *precons_matrix(spry_context *ctx, spry_type type, bool definite, int size);
/* The same pattern with other values. */
void precons_change(spry_matrix *A);
/* The same pattern with zeros in a row and in the column of that number. */
void precons_clear(spry_matrix *A, int64_t row);

/* Matrices that preconditioners must not be led astray by. */
typedef enum precons_fault {
    PRECONS_SINGULAR,    /* the sums of all rows are 0 */
    PRECONS_EMPTY_ROW,   /* a row, and a column, without entries */
    PRECONS_ZERO_ROW,    /* the same with entries that are 0 */
    PRECONS_NO_DIAGONAL, /* entries of the diagonal are 0, but the matrix is regular */
    PRECONS_INDEFINITE,  /* hermitian with eigenvalues of both signs */
    PRECONS_NAN,
    PRECONS_INFINITE,
    PRECONS_HUGE, /* numbers whose squares and sums overflow */
    PRECONS_TINY, /* numbers whose squares and inverses leave the range */
    PRECONS_ONE,  /* one row */
    PRECONS_NONE, /* no row */
    PRECONS_FAULTS
} precons_fault;
spry_matrix *precons_faulty(spry_context *ctx, spry_type type, precons_fault fault);
extern const char *const precons_fault_names[PRECONS_FAULTS];

#endif
