/* The host's side of a runner, shared by its making (host.c), its control (host_run.c) and its
 * sweeps (sweep.c, bind.c; on ranks' devices: resident_ranks.c). */
#ifndef SPRY_SWEEP_H
#define SPRY_SWEEP_H

#include "host/powers.h"
#include "program/blocks.h"
#include "program/runner.h"

/* A vector's memory in a sweep: whole, or the thread's own piece number `local`. */
typedef struct operand {
    char *base; /* NULL: local */
    int local;
    bool wide; /* local, and as long as a run of chunks */
} operand;

/* An operation of one right-hand side with everything looked up: what a thread does to each chunk.
 */
typedef struct bound_op {
    const plan_op *o;
    int rhs, space;
    operand out, in[2];
    int count;           /* COMBINE: terms; DOT: inner products */
    int own;             /* COMBINE: the terms before those that are of all right-hand sides */
    bool coupled;        /* vectors of all right-hand sides are among its operands */
    const operand *list; /* COMBINE: the terms; DOT: the left sides */
    const spry_scalar *factors;
    const operator_rows *rows; /* APPLY; NULL: the product is known */
    const char *known, *diagonal;
    uint64_t seed;
    range ones;   /* PART: rows, among those of all ranks */
    int slot;     /* DOT: its first sum */
    int together; /* APPLY, the first of several right-hand sides that share a packed x: how many
                   */
    int packs;
    char *packed;
} bound_op;

/* A right-hand side's vectors. */
typedef struct host_rhs {
    char *memory;   /* of all vectors */
    char **slots;   /* of plain vectors, by number */
    char ***arrays; /* of arrays, by variable */
    bool *skip;     /* by operation: an update of x that was made early */
} host_rhs;

/* Where an operator is called, for a right-hand side: indices of its operands, where they are of
 * arrays. */
typedef struct sweep_call {
    rhs *l;
    int64_t from, to;
} sweep_call;

/* Where several steps of a basis are made, for a right-hand side: indices of the first vectors, and
 * the steps themselves, of which the last is a product alone where products are kept. */
typedef struct sweep_powers {
    rhs *l;
    int64_t from, to, also;
    power_step steps[MOST_POWERS];
} sweep_powers;

/* Who has the right-hand sides' vectors and does the sweeps: the host, or the device of a rank. */
typedef struct sweep_place {
    /* What sweeps need of operators; may be NULL. */
    spry_status (*open)(runner *r);
    /* Vectors of a right-hand side; and frees them, also after a failure. */
    spry_status (*open_rhs)(runner *r, int index);
    void (*close_rhs)(runner *r, int index);
    /* Does the bound operations: those of a phase, or of the one operation (an update of x) alone.
     */
    void (*run)(runner *r, const phase *f, const plan_op *alone);
    spry_status (*call)(runner *r, const plan_op *o, int count, const sweep_call *calls);
    spry_status (*powers)(runner *r, const plan_op *o, sweep_powers *call);
    /* Vectors change places. */
    void (*swap)(runner *r, rhs *l, int one, int other);
} sweep_place;

typedef struct host_side {
    const sweep_place *place;
    struct resident **residents; /* by right-hand side, of a device */
    const host_kernels *kernels;
    const block_kernels *blocks;
    operator_rows rows[OPERATOR_COUNT][3]; /* by transpose */
    const char *diagonal[OPERATOR_COUNT][3];
    int threads, parts[2];
    int *cuts[OPERATOR_COUNT][3]; /* first parts of each thread's share, where rows differ */
    host_rhs *rhs;
    bool *active; /* by right-hand side: takes part in what runs now */
    int *members; /* right-hand sides of the run at hand, for what is of all of them */
    int member_count;

    /* The sweep at hand. */
    bound_op *bound;
    int bound_count, slot_count;
    const int *shares; /* cuts that fit it, or NULL */
    int share_space;
    operand *operands;
    spry_scalar *factors;
    int operand_count;
    spry_scalar *sums; /* parts x slots */
    struct ranks_room *ranks;
    enum { ROWS_ALL, ROWS_FREE, ROWS_WAITING } rows_at_hand; /* by what other ranks send */
    spry_scalar *small;                                      /* room for functions of matrices */
    char *packed;                                            /* room for packed vectors */
    bool packs;                                              /* this sweep has some */
    /* A thread's own. */
    char *pieces;
    int64_t *piece_at; /* where a piece begins in a right-hand side's; the last is their length */
    const void **pointers;
    int64_t pieces_bytes;
    int most_terms;

    /* The place in the plan. */
    const plan_op *exit;
    int next; /* the operation at scalar time that is to be done next */
} host_side;

static inline host_rhs *host_rhs_of(const runner *r, const rhs *l)
{
    return &r->host->rhs[l - r->rhs];
}

/* Vectors that an operand has at most. */
static inline int64_t host_most_vectors(const plan *p, const vref *v)
{
    return v->all ? PROGRAM_COLUMNS : v->first == v->last ? 1 : p->vars[v->var].extent;
}
/* Threads that a runner of this size takes. */
int host_side_threads(const runner *r);
/* Collective, with the same messages wherever sweeps are done. */
spry_status host_side_open(runner *r, const sweep_place *place);
void host_side_close(runner *r);
spry_status host_side_clear(runner *r, rhs *l);
/* What sweeps have of A, of another operator; a member of the host's class. */
spry_status host_side_exchange(runner *r, const spry_operator *A);
/* The course, by the place's sweeps: members of a runner's class. */
spry_status host_side_run(runner *r, int first, int count);
spry_status host_side_settle(runner *r, rhs *l);
spry_status host_side_finish(runner *r, rhs *l);
/* Members of sweep_host. */
spry_status host_side_open_operators(runner *r);
spry_status host_side_open_rhs(runner *r, int index);
void host_side_close_rhs(runner *r, int index);
/* Looks up the operations of the active right-hand sides; those to be skipped are left out.
 * Failures are kept in r->status. */
void sweep_bind(runner *r, const plan_op *ops, int count);
/* Does the bound operations on the host, with all threads. */
void sweep_run(runner *r, const phase *f, const plan_op *alone);
/* Small matrices, which all right-hand sides do together (small.c), and the numbers of room it
 * takes. */
void sweep_small(runner *r, const plan_op *o);
int64_t small_room(const plan *p, const plan_op *o);
/* Whether right-hand sides see each other; then those that have ended go on with the others, but
 * for x. */
static inline bool sweep_couples(const runner *r)
{
    return r->p->program->block;
}
/* Adds up the inner products of a phase and stores them. */
void sweep_reduce(runner *r);
/* Stores the inner products of a bound operation. */
void sweep_store(runner *r, const bound_op *s, const spry_scalar *sums);
/* Sums of parts that are so far apart, as a tree. */
spry_scalar sweep_add_parts(spry_scalar *sums, int parts, int64_t apart);
/* On ranks (sweep_ranks.c): whether reductions are to be those of one rank, bit by bit; room for
 * messages, without ranks nothing; one with the reductions of the sweep at hand; and these are
 * known after sweep_end_reduction(), which does nothing where nothing was sent. */
bool sweep_is_strict(const runner *r);
spry_status sweep_open_ranks(runner *r);
void sweep_close_ranks(runner *r);
void sweep_begin_reduction(runner *r, const phase *f);
void sweep_end_reduction(runner *r);
char *sweep_vector(runner *r, rhs *l, const vref *v, int64_t index);
/* The product that an operation is to make, where it is known; else NULL. */
const void *sweep_known(const runner *r, const rhs *l, const plan_op *o);

#endif
