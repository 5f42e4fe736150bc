/* Objects of a context of their own, to be freed in any order. */
#ifndef SPRY_TESTS_KEPT_H
#define SPRY_TESTS_KEPT_H

#include "support/support.h"

#include <spry/spry.h>

enum { KEPT_CONTEXT, KEPT_SOLVER, KEPT_M, KEPT_OP, KEPT_B, KEPT_X, KEPT_A, KEPT_COUNT };

typedef struct kept {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op, *M;
    spry_vector *b, *x;
    spry_solver *solver;
} kept;

/* The context, and a matrix and a solver of it. */
kept kept_begin(support_counts *counts, const char *options);
/* Frees one of them. */
void kept_drop(kept *k, int which);

#endif
