/*
 * Programs run as their texts read, one statement after the other, straight from the parsed form:
 * every name has memory of its own, nothing is reordered, shared or left out.
 */
#ifndef SPRY_TESTS_ORACLE_H
#define SPRY_TESTS_ORACLE_H

#include "program/run.h"

/* What statements mean in numbers; e is an expression of the program. */
typedef struct oracle_arithmetic {
    void (*assign)(void *data, const stmt *s);
    double (*report)(void *data, int e);
    bool (*holds)(void *data, int e);
    int64_t (*count)(void *data, int e);
    void (*set_counter)(void *data, int name, int64_t value);
    spry_status (*status)(void *data); /* what the last statement came to */
} oracle_arithmetic;

/* Follows a program from start to end. Of the listener, data and the two functions are used. */
spry_status oracle_follow(const program *p, const oracle_arithmetic *does, void *data,
                          const rhs *listener);

/* What a text is run on. b, x, data and the two functions of the listener are used as a runner
 * would; x is always up to date in report(), and has room for the longer of rows and columns. */
typedef struct oracle_input {
    const spry_operator *A, *M; /* M may be NULL */
    const rhs *listener;
} oracle_input;

/* Runs a text with the host's kernels on the same chunks as in a sweep, so that a plan must give
 * the same bits. Failures are those of the parser and of runner_run(). */
spry_status oracle_run(spry_context *ctx, const char *text, const oracle_input *input);

#endif
