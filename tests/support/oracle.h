/*
 * A program run as its text reads, one statement after the other, straight from the parsed form:
 * every name has memory of its own, nothing is reordered, shared or left out. Numbers come from the
 * host's kernels on the same chunks as in a sweep, so that a plan must give the same bits.
 */
#ifndef SPRY_TESTS_ORACLE_H
#define SPRY_TESTS_ORACLE_H

#include "program/run.h"

/* What the text is run on. b, x, data and the two functions of the lane are used as a runner would;
 * x is always up to date in report(), and has room for the longer of rows and columns. */
typedef struct oracle_input {
    const spry_operator *A, *M; /* M may be NULL */
    const lane *lane;
} oracle_input;

/* Runs a text from start to end; failures are those of the parser and of runner_run(). */
spry_status oracle_run(spry_context *ctx, const char *text, const oracle_input *input);

#endif
