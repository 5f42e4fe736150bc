/*
 * Incomplete factorizations: A is about (I + L) D (I + U) with strictly triangular L and U of few
 * entries, in an order of the rows; M = (I + U)^-1 D^-1 (I + L)^-1. U is L^H where A is hermitian
 * and is to be treated so (ic, ict).
 *
 * First comes what follows from the pattern alone: order, entries, sets of rows; then numbers,
 * which are made anew for new values of A.
 */
#ifndef SPRY_PRECON_FACTORS_H
#define SPRY_PRECON_FACTORS_H

#include "precon/triangle.h"

enum { FACTORS_LEVELS, FACTORS_SWEEPS, FACTORS_ISAI };
enum { FACTORS_EXACT, FACTORS_BY_SWEEPS };

/* How to make them and how to apply them. */
typedef struct factors_plan {
    const char *name;  /* of the preconditioner */
    const char *order; /* as spry_reorder() has it */
    bool hermitian;
    int level;       /* of fill; 0: the pattern of A */
    bool thresholds; /* ilut, ict: by tau and fill instead */
    double tau;
    int fill;
    double modified, shift;
    int tries; /* with growing shifts */
    int solve, sweeps;
    int construct, construct_sweeps;
} factors_plan;

typedef struct factors {
    triangle_sets sets;
    triangle_chain chain; /* L; U and D^-1 */
    triangle_chain transposed;
    double shift; /* what it took */
} factors;

void factors_clear(spry_context *ctx, factors *f);

/* The pattern of the factors of A for a level of fill, with their sets. */
spry_status factors_analyse(const spry_matrix *A, const factors_plan *plan, const int32_t *perm,
                            bool always, factors *f);
/* Their numbers. */
spry_status factors_compute(const spry_matrix *A, const factors_plan *plan, factors *f);
/* Entries of L and U together that a level of fill has at most. */
spry_status factors_count(const spry_matrix *A, const factors_plan *plan, double *entries);

/* Fails unless A is hermitian up to rounding. */
spry_status factors_check_hermitian(const spry_matrix *A, const char *name);

/* The operator M. */
spry_status factors_operator(const precon_job *job, const factors_plan *plan, spry_operator **M);
/* The factors of such an operator. */
const factors *factors_of(const spry_operator *M);
/* The most bytes of that. */
spry_status factors_forecast(const precon_job *job, const factors_plan *plan, double *bytes);

#endif
