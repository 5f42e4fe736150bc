/*
 * Systems A x = b whose answer, norm and condition are known by the way they are made, and the
 * checks that every solve must pass. Sums are in long double.
 */
#ifndef SPRY_TESTS_PROBLEMS_H
#define SPRY_TESTS_PROBLEMS_H

#include "support/support.h"

typedef enum problem_kind {
    PROBLEM_DEFINITE,   /* hermitian, eigenvalues 1 .. 100 */
    PROBLEM_ILL,        /* hermitian positive definite of condition 1e6, 1e3 in single precision */
    PROBLEM_DOMINANT,   /* hermitian positive definite, dominant diagonal: 5 points, 4.5 on it */
    PROBLEM_INDEFINITE, /* hermitian, eigenvalues in -10..-1 and 1..10 */
    PROBLEM_SINGULAR,   /* hermitian semidefinite: three eigenvalues are 0, b is in the range */
    PROBLEM_CONVECTION, /* 5 points with convection by central differences, rows scaled */
    PROBLEM_SYMMETRIC,  /* A = A^T with eigenvalues in the right half plane; real types: definite */
    PROBLEM_TALL,       /* from here on rectangular: 3 n / 2 by n, A x = b can be solved */
    PROBLEM_WIDE,       /* n by 3 n / 2; the answer is the shortest */
    PROBLEM_DEFICIENT,  /* 3 n / 2 by n, three singular values are 0; the answer is the shortest */
    PROBLEM_INCONSISTENT, /* 3 n / 2 by n, b has a part outside of the range */
    PROBLEM_KINDS
} problem_kind;

extern const char *const problem_names[PROBLEM_KINDS];

typedef struct problem {
    spry_context *ctx;
    spry_type type;
    spry_matrix *A;
    spry_vector *b, *x;  /* x: zeros, and what a solve made of them */
    spry_scalar *answer; /* exact but for the rounding of b */
    double inverse;      /* the norm of A's (pseudo)inverse, or a bound */
    double norm;         /* the norm of A, or a bound */
    bool shortest;       /* the answer is the shortest of many */
    bool inconsistent;
} problem;

/* About n rows; a grid has a whole number of lines. */
void problem_make(spry_context *ctx, problem_kind kind, spry_type type, int64_t n, problem *p);
/* Q diag(values) Q^H with a dense unitary Q, or Q diag(values) Q^T with a real one. */
void problem_from_spectrum(spry_context *ctx, spry_type type, int64_t n, const spry_scalar *values,
                           bool conjugate, problem *p);
/* A of the caller's, owned from then on; inverse and norm stay 0 (unknown). */
void problem_from_matrix(spry_context *ctx, spry_matrix *A, problem *p);
void problem_free(problem *p);

/* Solves from x = 0. */
void problem_solve(problem *p, const char *options, spry_result *result);

/* |b - A x| / |b|; *rounding: what an evaluation in the type can add at most. */
double problem_residual(const problem *p, double *rounding);
/* |A^H (b - A x)| / |b - A x| */
double problem_gradient(const problem *p);
/* |x - answer| */
double problem_error(const problem *p);

/*
 * What holds for every solve: a reason and a text for it, numbers that are finite, a history that
 * begins with the first residual and ends with the last, a true residual that is true and no worse
 * than the first guess. Names the options when something does not.
 */
void problem_check(const problem *p, const spry_result *result, const char *options);
/* The same and converged to the tolerance, with an error as the condition allows. */
void problem_check_converged(const problem *p, const spry_result *result, double tol,
                             const char *options);

/* A tolerance that a type can reach: 1e-10, 1e-4. */
double problem_tolerance(spry_type type);

#endif
