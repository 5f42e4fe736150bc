/* The inside of a runner, shared by its control (run.c) and its sweeps (sweep.c, bind.c). */
#ifndef SPRY_SWEEP_H
#define SPRY_SWEEP_H

#include "program/run.h"

/* A vector's memory in a sweep: whole, or the thread's own piece number `local`. */
typedef struct operand {
    char *base; /* NULL: local */
    int local;
    bool wide; /* local, and as long as a run of chunks */
} operand;

/* An operation of one lane with everything looked up: what a thread does to each chunk. */
typedef struct step {
    const plan_op *o;
    int lane, space;
    operand out, in[2];
    int count;           /* COMBINE: terms; DOT: inner products */
    const operand *list; /* COMBINE: the terms; DOT: the left sides */
    const spry_scalar *factors;
    const operator_rows *rows;
    const char *diagonal;
    uint64_t seed;
    int slot;  /* DOT: its first sum */
    int lanes; /* APPLY, the first of several lanes that share a packed x: how many */
    int units;
    char *packed;
} step;

struct runner {
    plan *p;
    spry_context *ctx;
    struct resident *resident; /* the device's side; NULL: on the host */
    const host_kernels *kernels;
    spry_type type;
    int64_t size, n[2];
    const spry_operator *operators[OPERATOR_COUNT];
    operator_rows rows[OPERATOR_COUNT][3]; /* by transpose */
    const char *diagonal[OPERATOR_COUNT][3];
    int threads, parts[2];
    int *cuts[OPERATOR_COUNT][3]; /* first parts of each thread's share, where rows differ */

    lane *lanes;
    int lane_count;
    bool *active; /* by lane: takes part in what runs now */
    bool used;    /* it has run before */

    /* The sweep at hand. */
    step *steps;
    int step_count, slot_count;
    const int *shares; /* cuts that fit it, or NULL */
    int share_space;
    operand *operands;
    spry_scalar *factors;
    int operand_count;
    spry_scalar *sums; /* parts x slots */
    char *packed;      /* room for packed vectors */
    bool packs;        /* this sweep has some */
    /* A thread's own. */
    char *pieces;
    int64_t *piece_at; /* where a piece begins in a lane's; the last is their length */
    const void **pointers;
    int64_t pieces_bytes;
    int most_terms;

    /* The place in the plan, for settling x and counting. */
    const node *block;
    const plan_op *exit;
    int next;   /* the operation at scalar time that is to be done next */
    bool leave; /* it ends a solve and cannot be done in a parallel region */
    bool counting;
    bool finishing;
    int64_t turns, most_turns; /* of loops that are left until the next report, and then */
    int64_t bytes;
    spry_status status; /* of a failure inside a parallel region or a nested run */
};

/* A breakdown's message, with {name} replaced by the value. */
void runner_message(const lane *l, const stmt *s, char *text, size_t size);
/* The failure of loops that take too many turns. */
spry_status runner_fail_turns(const runner *r, int place);
/* What an exit that reports tells. */
report_kind runner_report_kind(const plan_op *o);
/* What the vectors of a lane's phase move, by its plan. */
int64_t runner_vector_bytes(const runner *r, lane *l, const phase *f);
/* Whether all numbers that an expression is made of are finite. */
bool runner_is_finite(lane *l, int e);
/* Looks up the operations of the active lanes; those to be skipped are left out. Failures are kept
 * in r->status. */
void sweep_bind(runner *r, const plan_op *ops, int count);
/* Does this thread's share of the steps. */
void sweep_run(runner *r, int team, int me);
/* Adds up the inner products and stores them. */
void sweep_reduce(runner *r);
/* Notes that an index of the operation was outside its array, if it was; then it counts as not
 * done. That is a failure unless the lane ends before it in the text: it may have run early. */
bool sweep_check(lane *l, const plan_op *o);
/* The failure. */
void sweep_fail(runner *r, lane *l, int place);
char *sweep_vector(runner *r, lane *l, const vref *v, int64_t index);

#endif
