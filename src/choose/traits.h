/* What is looked at before a preconditioner is chosen: the rows of A, a few products, an estimate
 * of its factors. */
#ifndef SPRY_CHOOSE_TRAITS_H
#define SPRY_CHOOSE_TRAITS_H

#include "precon/precon.h"

/* What the rows of A show. */
typedef struct traits {
    bool positive;    /* all diagonal entries are real and positive */
    bool full;        /* none is 0 */
    int64_t bad;      /* the first row whose entry is not positive */
    double negative;  /* share of negative real parts of what is off the diagonal, by modulus */
    double dominance; /* least |a_ii| / sum |a_ij| */
    double lesser;    /* share of the triangle that has less of what is off the diagonal */
    double longest;   /* row, over the mean */
    double distance;  /* of entries from the diagonal in the mean, over the rows */
    double heavy;     /* entries per row off the diagonal that are not light */
    bool alike;       /* entries off the diagonal are of about one size */
    bool deep;        /* neighbourhoods grow as in three dimensions, or faster */
    bool hermitian;
    bool indefinite;      /* and known to be */
    precon_saddle saddle; /* how kkt suits it */
    bool edges;           /* it is like edge elements */
    int block;            /* of A's pattern: stats_find_block(); 0: not looked for */
    double skew;          /* how far A is from its transpose */
    double iterations;    /* with no more than the diagonal, by a trial; infinite: unknown */
    double systems;       /* right-hand sides, as many as their iterations cost of one alone */
    bool on_device;       /* M is to live on a device */
} traits;

/* A is CSR with sorted rows. */
traits traits_of_rows(const spry_matrix *A);
/* Whether the graph of A is more like one of three dimensions than of two: by how many rows are
 * within some steps of one, and within twice as many. */
spry_status traits_find_depth(const spry_matrix *A, bool *deep);
/* How far A is from its transpose: sum |a_ij - conj a_ji| / sum 2 |a_ij| off the diagonal, of some
 * hundred rows that are distributed evenly. */
double traits_skew(const spry_matrix *A);
/* A dozen products: how fast no more than the diagonal gets on, and whether a hermitian A is seen
 * to be indefinite, which is noted of the matrix `given`. Only where the diagonal allows it. */
spry_status traits_try_diagonal(const spry_matrix *given, const spry_matrix *A, traits *t);

#endif
