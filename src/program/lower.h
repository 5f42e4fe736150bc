/* Lowering, in two files: lower.c turns statements into operations, lower_expr.c what stands in
 * them. */
#ifndef SPRY_LOWER_H
#define SPRY_LOWER_H

#include "program/plan.h"

typedef struct lowering {
    plan *p;
    program *program;
    int first, last; /* nodes of the list being made; NONE: none so far */
    bool open;       /* the last is a block that takes operations */
    bool *unrolled;  /* by name: a loop variable with a known value */
    int64_t *value;
    int unrolling; /* depth */
} lowering;

/* The expression with the index. */
const expr *lower_at(const lowering *l, int e);
spry_status lower_add_expr(lowering *l, expr_kind kind, program_word word, int a, int b, int place,
                           int *out);
/* A copy with the variables of unrolled loops replaced by their values; e itself where there are
 * none. */
spry_status lower_substitute(lowering *l, int e, int *out);
plan_op lower_new_op(op_kind kind, int place);
/* Adds an operation to the block at hand, opening one where there is none. */
spry_status lower_emit(lowering *l, const plan_op *o);
node lower_new_node(node_kind kind);
spry_status lower_append_node(lowering *l, const node *n);

/* The operand an EXPR_NAME or EXPR_SLICE of vectors means. */
spry_status lower_ref(lowering *l, int e, vref *v);
/* target = e for vectors */
spry_status lower_vector(lowering *l, int e, const vref *target);
/* target = (u, v) for an inner product or the square of a norm. */
spry_status lower_dot(lowering *l, int e, int target);
/* A scalar expression with inner products and norms taken out into numbers of their own. */
spry_status lower_scalar(lowering *l, int e, int *out);
bool lower_has_vectors(const program *p, int e);

#endif
