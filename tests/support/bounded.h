/*
 * Programs run as they read in long double, by loops of their own: nothing of the library but the
 * parser takes part. With each number goes a bound of what a run in the type's precision can be
 * away from it, by the rounding errors of each operation and those of its operands.
 */
#ifndef SPRY_TESTS_BOUNDED_H
#define SPRY_TESTS_BOUNDED_H

#include "program/run.h"

/* A dense picture of an operator, row by row; each entry may be off by `error` relative to itself.
 */
typedef struct bounded_operator {
    int64_t rows, cols;
    const spry_scalar *entries;
    double error;
} bounded_operator;

typedef struct bounded_input {
    spry_type type;
    const bounded_operator *A, *M; /* M may be NULL */
    const spry_scalar *b, *x;      /* as long as A has rows and columns */
    /* Hears each report: its value, x, and how far others may be from them; false ends the run. */
    bool (*report)(void *data, double value, double error, const spry_scalar *x, double x_error);
    void *data;
} bounded_input;

/*
 * Runs a text. SPRY_STATUS_UNSUPPORTED: it was given up, because rounding decides which way it
 * goes. The x of the end goes to `x` (as long as A has columns), its bound to *x_error.
 */
spry_status bounded_run(spry_context *ctx, const char *text, const bounded_input *input,
                        spry_scalar *x, double *x_error);

#endif
