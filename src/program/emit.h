/*
 * The scalar work of a plan as C of the kernel dialect. What is written is in a function that
 * has
 *
 *     SP_NUMBERS number *num   the scalars; element [i, j] of name k is
 *                              num[plan->offset[k] + i * plan->extent[k][1] + j]
 *     int fault                EMIT_NO_FAULT, or the first fault so far: the place of an index that
 *                              was outside its array, or EMIT_TURNS - place of a loop without end
 *     c0, c1, ...              integers: counters that are known when a kernel is launched
 *
 * and after the texts "dialect" and "numbers". SP_NUMBERS is the address space of the scalars.
 * Numbers come out as program_eval() gives them, bit by bit but for functions of the mathematical
 * library (power, complex abs, sqrt and sign). After a fault nothing is stored; the caller looks at
 * `fault` after each operation and clears it.
 */
#ifndef SPRY_EMIT_H
#define SPRY_EMIT_H

#include "program/plan.h"

enum { EMIT_NO_FAULT = NONE, EMIT_TURNS = -2, EMIT_MOST_TURNS = 1 << 28 };

typedef struct emitter {
    const plan *p;
    bool real;          /* the type is real */
    base_text *out;     /* where the text goes; keeps failures */
    const int *counter; /* by name: which of c0, c1, ... it is, NONE: in memory; NULL: all are */
    int most_turns;     /* of the loops in an operation before it is a fault; 0: EMIT_MOST_TURNS */
    const struct emit_loop *loops; /* the emitter's own: loops that are being written */
} emitter;

/* An expression of type `number` for scalar expression e without inner products. */
void emit_number(emitter *m, int e);
/* An int that is not 0 where it holds: program_holds(). */
void emit_holds(emitter *m, int e);
/* An expression of type `offset`: the value as an index, program_eval_index() ... */
void emit_index(emitter *m, int e, int64_t extent);
/* ... and without bounds, program_eval_count(). */
void emit_count(emitter *m, int e);
/* Whether the value of an expression can have a fault. */
bool emit_may_fault(const emitter *m, int e);
/* A statement that stores a `number` in the target unless a fault is noted. */
void emit_store(emitter *m, int target, const char *value);
/* A statement that does an OP_SCALAR or OP_SCALARS. */
void emit_scalar_op(emitter *m, const plan_op *o);

#endif
