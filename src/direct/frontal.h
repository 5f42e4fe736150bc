/*
 * Sparse factors by the multifrontal method. A matrix is eliminated along its elimination tree:
 * each node of the tree gathers a dense matrix, its front, from entries of A and from what its
 * children left, eliminates the variables that no other node touches, and leaves the rest to its
 * parent. One mechanism serves three kinds: P A Q = L U, P A P^T = L D L^T or L D L^H with D of 1 x
 * 1 and 2 x 2 blocks, and the latter without exchanges where A is positive definite. Pivots that
 * are too small relative to their column are delayed: the parent tries them again with more rows to
 * choose from.
 *
 * I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear systems,
 * ACM Trans. Math. Softw. 9 (1983), 302-325; J. W. H. Liu, The multifrontal method for sparse
 * matrix solution: theory and practice, SIAM Rev. 34 (1992), 82-109; P. R. Amestoy, I. S. Duff,
 * J.-Y. L'Excellent, Multifrontal parallel distributed symmetric and unsymmetric solvers, Comput.
 * Methods Appl. Mech. Eng. 184 (2000), 501-520.
 */
#ifndef SPRY_FACTOR_FRONTAL_H
#define SPRY_FACTOR_FRONTAL_H

#include "operator/operator.h"

typedef enum frontal_kind {
    FRONTAL_GENERAL,
    FRONTAL_SYMMETRIC, /* A^T = A, complex or real; indefinite */
    FRONTAL_HERMITIAN, /* A^H = A */
    FRONTAL_DEFINITE   /* hermitian and positive definite, or it fails */
} frontal_kind;

/* What factors will take, before any is made; delayed pivots make it more. */
typedef struct frontal_forecast {
    double flops; /* of real numbers */
    int64_t entries;
    int64_t factor_bytes;           /* of the numbers and their lists */
    int64_t kept_bytes, peak_bytes; /* that are allocated for them, and while they are made */
    int64_t fronts, largest;        /* how many, and the order of the largest */
} frontal_forecast;

typedef struct frontal frontal;

/* The analysis of A, square general CSR, sorted and finite: matching, scaling, ordering, tree. The
 * analysis depends on A's values. It fails where a quick ordering shows that factors will take
 * longer than `most` seconds; 0: they may. */
spry_status frontal_analyse(const spry_matrix *A, frontal_kind kind, double most, frontal **f);
void frontal_free(frontal *f); /* takes NULL */
const frontal_forecast *frontal_forecast_of(const frontal *f);

/* Fails where the context has no room for what is forecast. */
spry_status frontal_check_room(const frontal *f);

/*
 * Factors of A, which has the pattern that was analysed. *fits is false where a definite one is not
 * definite, and then there is no message. Numbers that are nothing but rounding errors are taken as
 * 0: the rank is known then, and solves give 0 for those unknowns.
 */
spry_status frontal_factor(frontal *f, const spry_matrix *A, bool *fits);
/*
 * What is asked of the next factors. Strict: pivots are the largest numbers there are, whatever
 * that costs. Coarse: larger numbers are taken as 0, of a matrix that was found to be singular
 * although its rank was not; the last pivot of one with a null vector of n like numbers is n times
 * as large as its eigenvalue.
 */
void frontal_demand(frontal *f, bool strict, bool coarse);
/* Whether it was a pivot below 0, clearly, that did not fit. */
bool frontal_met_negative(const frontal *f);
/*
 * z_k = op(A)^-1 z_k for `count` columns, which read the factors together: each gets the bits that
 * it would get alone, whatever the number of threads. One thread at a time; a single column
 * allocates nothing.
 */
spry_status frontal_solve(const frontal *f, spry_transpose transpose, int count, void *const *z);

/* What became of them. */
typedef struct frontal_outcome {
    int64_t rank;
    int64_t delayed; /* variables that went up, counted at each node */
    int64_t pairs;   /* 2 x 2 pivots */
    int64_t bytes;   /* that a solve reads */
} frontal_outcome;
const frontal_outcome *frontal_outcome_of(const frontal *f);
/* Rows and columns of A without a pivot, n - rank each; NULL where the rank is n. */
const int32_t *frontal_null_rows(const frontal *f);
const int32_t *frontal_null_columns(const frontal *f);

#endif
