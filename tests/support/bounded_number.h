/* Numbers in long double with a bound of what rounding can do to them: running error analysis, as
 * in N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.3. */
#ifndef SPRY_TESTS_BOUNDED_NUMBER_H
#define SPRY_TESTS_BOUNDED_NUMBER_H

#include "program/run.h"

/* The modulus of the difference to what a run has is err at most. */
typedef struct number {
    long double re, im, err;
} number;

typedef struct bounded_context {
    bool real;
    long double unit;    /* roundoff of the vectors' type; scalars are double */
    long double epsilon; /* what eps means */
    long double tiny;    /* what a product can lose by underflow */
    long double huge;    /* squares of smaller numbers do not overflow, nor their sums */
    void (*random)(int64_t n, uint64_t seed, int64_t first, void *x);
    bool unsure; /* rounding decides a comparison */
    long double reported;
} bounded_context;

void number_open(bounded_context *c, spry_context *ctx, spry_type type);
/* The modulus. */
long double number_size(number a);
/* Whether it is not 0; c->unsure where rounding decides. */
bool number_holds(bounded_context *c, number a);
/* What a word of the notation does to numbers. */
number number_call(bounded_context *c, program_word word, number a, number b);

#endif
