/*
 * Incomplete factorizations: A is about (I + L) D (I + U) with strictly triangular L and U of few
 * entries, in an ordering of the rows; M = (I + U)^-1 D^-1 (I + L)^-1. U is L^H where A is
 * hermitian and is to be treated so (ic, ict).
 *
 * The analysis follows from the pattern alone: ordering, entries, sets of rows; then come values,
 * which are recomputed for new values of A.
 */
#ifndef SPRY_PRECON_FACTORS_H
#define SPRY_PRECON_FACTORS_H

#include "precon/factors/triangle.h"

enum { FACTORS_LEVELS, FACTORS_SWEEPS, FACTORS_ISAI };
enum { FACTORS_EXACT, FACTORS_BY_SWEEPS };

/* Options of all kinds that are made of factors. */
#define FACTORS_COMMON(item)                                                                       \
    item(REAL, shift, "0", 0, 1e6, NULL,                                                           \
         "the diagonal grows by `shift` times the sum of magnitudes of its row")                   \
    item(INT, tries, "12", 0, 64, NULL,                                                            \
         "how often to try again with a larger shift where there is no pivot")                     \
    item(WORD, order, "none", 0, 0, "none rcm amd nd multicolour", "of the rows, for the factors") \
    item(WORD, solve, "levels", 0, 0, "levels sweeps isai",                                        \
         "with the factors: exactly, by sets of rows that do not depend on each other; by sweeps " \
         "of Jacobi's method; or by approximate inverses of them")                                 \
    item(INT, sweeps, "4", 1, 1000, NULL, "how many, of solve=sweeps")
/* The order as spry_reorder() calls it. */
const char *factors_order(int word);

/* How to make them and how to apply them. */
typedef struct factors_wanted {
    const char *name;          /* of the preconditioner */
    const char *order;         /* as spry_reorder() has it */
    bool hermitian, symmetric; /* the latter is found with the first matrix: the pattern is */
    int level;                 /* of fill; 0: the pattern of A */
    bool thresholds;           /* ilut, ict: by tau and fill instead */
    double tau;
    int64_t fill;
    double modified, shift;
    int tries; /* with growing shifts */
    int solve, sweeps;
    int construct, rounds;
} factors_wanted;

typedef struct factors {
    triangle_sets sets;
    triangle_chain chain; /* L; U and D^-1 */
    triangle_chain transposed;
    bool own;     /* the pattern is that of A's rows; columns are written with the numbers */
    double shift; /* what it took */
    bool sound;   /* the numbers are known to be of use */
} factors;

/* The pattern of the factors of A for a level of fill, with their sets. */
spry_status factors_analyse(const spry_matrix *A, const factors_wanted *wanted, const int32_t *perm,
                            bool always, factors *f);
/* Pattern and numbers by thresholds. */
spry_status factors_choose(const spry_matrix *A, const factors_wanted *wanted, const int32_t *perm,
                           bool always, factors *f);
/* Their numbers, where the pattern is known. */
spry_status factors_compute(const spry_matrix *A, const factors_wanted *wanted, factors *f);
/* The same by sweeps over all of them at once, on the host or a device. */
spry_status factors_sweep(const spry_matrix *A, const factors_wanted *wanted, spry_device *device,
                          factors *f);

/* How large M may make ones, in units of 1 / |A|. */
double factors_most_growth(spry_type type);
/* U = L^H to the last bit. */
spry_status factors_mirror(spry_context *ctx, factors *f);
/* Reports why there is no pivot for a row, or that the caller is to retry with *shift. */
spry_status factors_next_shift(const spry_matrix *A, const factors_wanted *wanted, int64_t row,
                               int turn, double *shift);

/*
 * The factors as products with matrices by rows of A: solves by sweeps of Jacobi's method, y = r -
 * L y again and again, or with approximate inverses of the triangles.
 */
typedef struct factors_products factors_products;
spry_status factors_products_make(const precon_job *job, const factors_wanted *wanted,
                                  const factors *f, factors_products **p);
void factors_products_free(spry_context *ctx, factors_products *p);
spry_status factors_products_apply(factors_products *p, spry_transpose transpose,
                                   const spry_vector *r, spry_vector *z);
/* What they read of their own. */
int64_t factors_products_bytes(const factors_products *p);

/* Whether no shift was needed: a row or column of zeros has no other pivot. */
bool factors_sound(const spry_operator *M);
/* Fails where A is not hermitian and such factors are wanted; whether its pattern is symmetric. */
spry_status factors_check(const spry_matrix *A, const factors_wanted *wanted, bool *symmetric);

/* The operator M; its state begins with the factors. */
spry_status factors_operator(const precon_job *job, const factors_wanted *wanted,
                             spry_operator **M);

#endif
