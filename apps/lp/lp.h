/*
 * What the parts of the application share. A linear program is
 *
 *     min c x + constant   so that   r = A x,   lower <= (x, r) <= upper:
 *
 * variables are the columns, then the rows, and each has bounds; numbers of both kinds are arrays
 * of cols + rows. A file that maximises has c and the constant negated here, and what is reported
 * turned back.
 */
#ifndef SPRY_LP_H
#define SPRY_LP_H

#include "common/app.h"

/* --- options -----------------------------------------------------------------------------------*/

#define LP_OPTIONS(item)                                                         \
    item(PATH, output, NULL, 0, 0, NULL,                                         \
         "write x, reduced costs, activities and multipliers as a table (.tsv)") \
    item(PATH, basis, NULL, 0, 0, NULL, "write the basis, as MPS has it (.bas)") \
    item(REAL, tol, "1e-9", 1e-12, 1e-3, NULL,                                   \
         "bounds that are broken, and reduced costs of the wrong sign, at most") \
    item(INT, max_iter, "10000000", 0, 1e12, NULL, "pivots at most")             \
    item(BOOL, scale, "yes", 0, 0, NULL, "scale rows and columns first")         \
    CLI_JSON(item, "the result and its certificate")                             \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct lp_options {
    LP_OPTIONS(SPRY_OPTION_FIELD)
} lp_options;

/* --- model.c: a problem ------------------------------------------------------------------------*/

/* A matrix by columns or by rows. */
typedef struct lp_sparse {
    int major, minor;
    int64_t *start;
    int *index;
    double *value;
} lp_sparse;

typedef struct lp_model {
    char name[128];
    int rows, cols;
    bool maximise;
    double constant;
    lp_sparse by_col;
    double *cost;          /* of columns */
    double *lower, *upper; /* of columns, then of rows */
    bool *integer;         /* of columns */
    char **names;          /* of columns, then of rows */
} lp_model;

void lp_model_free(lp_model *p);
void lp_sparse_free(lp_sparse *a);
/* The same matrix by the other dimension, sorted. */
lp_sparse lp_sparse_turn(const lp_sparse *a);

/* --- read.c: files -----------------------------------------------------------------------------*/

/* Reads a file by its contents: MPS in fixed or free form, gzip or not; faults have a line. */
int lp_read(const char *path, lp_model *p);

/* --- factor.c: sparse factors of a basis -------------------------------------------------------*/

typedef struct lp_factor lp_factor;
lp_factor *lp_factor_new(int rows);
void lp_factor_free(lp_factor *f);
/*
 * Factors of the basis whose member k is column `head[k]` of (A, -I). Returns how many members had
 * no pivot: they are replaced in `head` by rows that were left over, listed in `out`, `in` (each of
 * rows numbers: position in head, variable put there).
 */
int lp_factor_make(lp_factor *f, const lp_sparse *A, int *head, int *out, int *in);
/* A sparse vector: values of all places, and which may not be zero; count -1: not listed. */
typedef struct lp_vector {
    double *value;
    int *list;
    int count;
} lp_vector;
lp_vector lp_vector_new(int n);
void lp_vector_free(lp_vector *v);
void lp_vector_clear(lp_vector *v, int n);
/* B y = x: x by rows, y by positions of the basis. `spike`: keeps what an update needs. */
void lp_factor_forward(lp_factor *f, lp_vector *x, bool spike);
/* B^T y = x: x by positions, y by rows. */
void lp_factor_backward(lp_factor *f, lp_vector *x);
/* Position `place` gets the column of the last forward solve with `spike`; `pivot` is that solve's
 * number there. False: the new factors are not to be trusted. */
bool lp_factor_update(lp_factor *f, int place, double pivot);
/* Takes larger pivots from now on; false: there are no larger ones to ask for. */
bool lp_factor_stabilise(lp_factor *f);
/* Whether new factors pay: as many updates, or as much fill. */
bool lp_factor_is_stale(const lp_factor *f);

/* --- simplex: one state for the dual and the primal method
 * --------------------------------------*/

enum { LP_BASIC, LP_AT_LOWER, LP_AT_UPPER, LP_FREE };
typedef enum lp_verdict {
    LP_OPTIMAL,
    LP_INFEASIBLE,
    LP_UNBOUNDED,
    LP_ITERATIONS,
    LP_STOPPED,
    LP_TROUBLE /* numbers that nothing mends */
} lp_verdict;

typedef struct lp_simplex {
    int rows, cols, all;
    lp_sparse A, by_row;                      /* scaled */
    double *lower, *upper, *true_cost, *cost; /* of all variables; cost: as it was bent */
    double *scale;                            /* x_j = scale_j x'_j; r'_i = scale_i r_i */
    double cost_scale;
    double tol;
    int *head;          /* variable of each position of the basis */
    int *where;         /* position of each variable; -1: not basic */
    signed char *state; /* LP_... */
    double *x, *d;      /* values, reduced costs */
    double *weight;     /* of dual steepest edge, by positions */
    double *reference;  /* of primal devex, by variables */
    lp_factor *factor;
    bool fresh; /* nothing was updated since the last factors */
    int refused;
    lp_vector row, column, tau, price, move, ray;
    int *candidates, *out, *in;
    double *kept_weight;
    int64_t iterations, most, primal_iterations;
    uint64_t random;
    progress line;
    double reported; /* when the progress was */
} lp_simplex;

lp_simplex *lp_simplex_new(const lp_model *p, const lp_options *o);
void lp_simplex_free(lp_simplex *s);
/* course.c: to the end, from the basis that is set. What is found of an infeasible problem is left
 * in ray: multipliers of rows; of an unbounded one: a direction of all variables. */
lp_verdict lp_simplex_run(lp_simplex *s);

/* simplex.c, for both methods */
bool lp_simplex_factorise(lp_simplex *s);          /* and x and d from new factors */
void lp_simplex_primals(lp_simplex *s);            /* x of the basis, from the others */
void lp_simplex_duals(lp_simplex *s);              /* d and price, from the costs */
void lp_simplex_rest(lp_simplex *s, int variable); /* at a bound, not basic */
double lp_simplex_infeasible(const lp_simplex *s, int variable); /* past its bounds by, signed */
double lp_simplex_wrong(const lp_simplex *s, int variable);      /* d of the wrong sign by */
void lp_simplex_column(const lp_simplex *s, int variable, double factor, lp_vector *to);
void lp_simplex_row(lp_simplex *s, const lp_vector *rho, lp_vector *row); /* rho (A, -I) */
bool lp_simplex_pivot(lp_simplex *s, int place, int enters, int leaves_to, double alpha);
double lp_simplex_random(lp_simplex *s); /* in 0..1 */
bool lp_simplex_ends(lp_simplex *s, lp_verdict *verdict);
void lp_simplex_report(lp_simplex *s);

/* dual.c; primal.c, from a basis that is feasible */
lp_verdict lp_dual(lp_simplex *s);
lp_verdict lp_primal(lp_simplex *s);

/* --- model.c: what is true of the original problem
 * ----------------------------------------------*/

typedef struct lp_answer {
    double *x; /* of columns, then activities of rows */
    double *y; /* multipliers of rows */
    double *d; /* reduced costs of columns */
    signed char *state;
} lp_answer;

typedef struct lp_certificate {
    double objective;
    double primal,
        primal_relative; /* the largest broken bound; over 1 + the size of what it bounds */
    double dual, dual_relative;
    double gap; /* |primal - dual objective| / (1 + both) */
} lp_certificate;

/* Residuals by sums with twice the precision. */
lp_certificate lp_certify(const lp_model *p, const lp_answer *a);
/* Whether multipliers y prove that no x is feasible: how far the row y (A x) is from what it would
 * have to be, over the size of what was added; > 0 is a proof. */
double lp_certify_infeasible(const lp_model *p, const double *y);

#endif
