/*
 * Running plans, on the host or on the device that A lives on. A runner holds the memory;
 * right-hand sides go through the same statements together, each with
 * its own vectors and scalars, and share the reading of the matrix.
 */
#ifndef SPRY_RUN_H
#define SPRY_RUN_H

#include "host/host.h"
#include "program/plan.h"

/* Sweeps work on chunks of CHUNK elements, products on RUN chunks at a time. */
enum { MOST_RHS = 64, CHUNK = OPERATOR_GRAIN, RUN = 16, MOST_PARTS = 512 };
/* Where right-hand sides see each other, what products make for all of them is to stay in the
 * second cache.
 */
enum { COUPLED_RUN = 1 };

/* In the order of OP_RESIDUAL and those after it. */
typedef enum report_kind {
    REPORT_RESIDUAL,
    REPORT_ESTIMATE,
    REPORT_GRADIENT,
    REPORT_ENERGY
} report_kind;

typedef struct runner runner;

/* Up to where residuals and estimates need no judgement: as long as they are above low and not
 * above high, a gradient is above its limit, and fewer than that number of the loop were reported;
 * and after look_after of these, as long as they are above look. */
typedef struct run_limits {
    double low, high, look, gradient;
    int64_t reports, look_after;
} run_limits;

/* One right-hand side; the caller fills the first members. */
typedef struct rhs {
    const void *b; /* on a device: device_memory */
    void *x;
    const void *product; /* A x of the x it begins with, on the host; NULL: not known */
    void *data;          /* for the functions */
    /* Called for each residual, from the loop or from the start; *go_on = false ends the right-hand
     * side. Where x is looked at, runner_settle() comes first. */
    spry_status (*report)(void *data, report_kind kind, bool loop, double value, bool *go_on);
    /* May be NULL: on a device every residual is judged then before the next step. Also asked for
     * before the first report of a run. */
    void (*limits)(void *data, run_limits *limits);
    /* Called at a breakdown; finite: all numbers in its condition and text are. */
    void (*breakdown)(void *data, const char *text, bool finite);
    /* Called when the text accepts x as it is; NULL: that is a breakdown. */
    void (*accept)(void *data, const char *text);

    /* The runner's own. */
    scalars scalars;
    int fault, fault_order; /* the first operation in the text with an index outside; NONE: none */
    bool done, restart;
    int64_t reports, reports_at_restart;
} rhs;

typedef struct runner_operators {
    const spry_operator *A, *M;  /* M may be NULL */
    const spry_operator *powers; /* makes several steps of a basis with A; NULL: A does */
} runner_operators;

/* How a plan can use an operator: as nothing (NULL), a diagonal, by rows, or by calls. */
spry_status runner_use(const spry_operator *op, bool transposed, operator_use *use);

/* Has the device of A compile the programs that a runner of the plan will need, where it does so in
 * the background; M need not exist. */
void runner_precompile(plan *p, const spry_operator *A);
/* Makes a runner; the plan must stay. */
spry_status runner_new(plan *p, const runner_operators *operators, int rhs_count, runner **out);
/* Makes it ready for another use with as many right-hand sides, which are all to be filled in;
 * false where it has to be made again: they are more than before, or an operator has changed. */
bool runner_reuse(runner *r, int rhs_count);
void runner_free(runner *r);
/* Called, on the host, before a run begins and before each of its turns of the loop: between
 * sweeps, where A may be exchanged. NULL: not called. */
typedef void (*runner_turn_fn)(void *data);
void runner_set_turn(runner *r, runner_turn_fn turn, void *data);
/* Another operator in the place of A: of its size, and to be used by rows where A is. Fails without
 * harm where it cannot be, as on devices, whose programs are made for A. */
spry_status runner_exchange(runner *r, const spry_operator *A);
rhs *runner_rhs(runner *r, int index);
/* Runs start and loop until every right-hand side that is not done has ended. A right-hand side
 * that restarts waits for the others. Failures of operators and of the program (an index outside
 * its array) are failures of the call. */
spry_status runner_run(runner *r);
/* Whether a stop was requested: alike on all ranks. */
bool runner_interrupted(const runner *r);
/* Brings a right-hand side's x up to date: only inside report(). */
spry_status runner_settle(runner *r, rhs *l);
/* What a view of x has to put back. */
typedef struct view_vector {
    int var;
    int64_t index;     /* of an array */
    int64_t at, bytes; /* of its copy */
} view_vector;
typedef struct runner_view {
    view_vector *vectors; /* those that finish writes */
    int64_t count, bytes;
    spry_scalar *scalars;
    rhs kept;
    const node *block;
    int64_t turns;
    bool counting, begun;
    void *place; /* of the kind of runner */
} runner_view;
/* Whether x is made in section finish. Then between these two, inside report(), x is what it would
 * be if the run ended here; the end is also needed after a begin that failed. */
bool runner_makes_x_last(const runner *r);
spry_status runner_view_begin(runner *r, rhs *l, runner_view *v);
spry_status runner_view_end(runner *r, rhs *l, runner_view *v);
/* A vector of an array that the text keeps from run to run, copied to v or from it (`put`); between
 * runs. */
spry_status runner_space(runner *r, int rhs_index, int var, int64_t index, spry_vector *v,
                         bool put);
/* Bytes moved by sections loop so far, as counted by the plan. */
int64_t runner_bytes(const runner *r);

#endif
