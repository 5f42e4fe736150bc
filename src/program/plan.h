/*
 * A plan: a program bound to the values of its options and to what its operators are (nothing, a
 * diagonal, rows that any thread can multiply, a call). Statements become primitive operations in
 * blocks without control flow; each block is cut into phases. A phase is one sweep over memory, in
 * which a piece of the vectors small enough for the first cache goes through all its operations,
 * followed by the scalar work that its inner products allow.
 *
 * The way: lower.c (statements to operations), simplify.c (lives.c, copies.c, share.c: copies and
 * dead work removed), schedule.c (phases), storage.c (which vectors share memory or need none), and
 * runner.h.
 */
#ifndef SPRY_PROGRAM_PLAN_H
#define SPRY_PROGRAM_PLAN_H

#include "operator/operator.h"
#include "program/program.h"

typedef enum op_kind {
    OP_NONE,                /* removed */
    OP_COMBINE,             /* out = sum of terms */
    OP_TIMES,               /* out = in[0] .* in[1] */
    OP_OVER,                /* out = in[0] ./ in[1] */
    OP_DIAGONAL,            /* out = diagonal of the operator .* in[0] */
    OP_RANDOM,              /* out = random(expr) */
    OP_SHARE,               /* out = share(expr, parts) */
    OP_APPLY,               /* out = operator in[0] */
    OP_DOT,                 /* target = (in[0], in[1]); in[0] and target may be slices */
    OP_LAST_SWEEP = OP_DOT, /* the last that is done in a sweep; after: scalar time */
    OP_SCALAR,              /* target = expr */
    OP_SCALARS,             /* a statement with loops or branches, of scalars alone */
    OP_SMALL,    /* target = expr: small matrices, of which each right-hand side has a column */
    OP_MOVE,     /* out = in[0], which is not needed any more: they change places */
    OP_RESIDUAL, /* exits: the solve may end here */
    OP_ESTIMATE,
    OP_GRADIENT,
    OP_ENERGY, /* reported only */
    OP_BREAKDOWN,
    OP_RESTART
} op_kind;

/* A vector variable as an operand; of arrays element first, or elements first..last. */
typedef struct vref {
    int var;           /* NONE: no operand */
    int first, last;   /* expressions; NONE for plain vectors */
    int64_t low, high; /* the same as numbers where they are known, else the whole array */
    bool all;          /* of all right-hand sides together: [p] */
} vref;

typedef struct term {
    double sign;
    int factor;  /* scalar expression; NONE: 1 */
    int numbers; /* of slices: the slice of scalars; NONE: one vector */
    vref v;
} term;

typedef struct plan_op {
    op_kind kind;
    int order; /* in the text */
    int place;
    vref out, in[2];
    int term, terms; /* of COMBINE, in plan->terms */
    program_operator op;
    spry_transpose transpose;
    bool conjugate;
    bool hermitian; /* of DOT with vectors of all right-hand sides: the inner products are a
                     * hermitian matrix
                     */
    int target, expr, parts, stmt;
    /* Of APPLY that makes several steps of a basis, out[0] from in[0] and so on: their array, how
     * many products that takes, and where these go, too (a run of vectors, or none). */
    int steps, count;
    vref also;
    int phase;
    bool seen;            /* a copy that was read through */
    int access, accesses; /* what it reads and writes, in plan->accesses */
} plan_op;

/* What an operation reads or writes: places low..high of a vector variable or of a scalar name. */
typedef struct access {
    bool vector, write;
    bool sure; /* of writes: all of low..high is written */
    bool all;  /* of all right-hand sides, not of the one at hand alone */
    int id;
    int64_t low, high;
    int64_t apart; /* more than 1: of low..high only every such place, as columns of arrays are */
} access;

typedef struct plan_var {
    int name;       /* in the program; NONE: added by the plan */
    int64_t extent; /* elements; 1 for plain vectors */
    bool array;
    int space;        /* 0: as long as b, 1: as long as x */
    int number;       /* of plain vectors: the memory it uses, or the piece; NONE: none */
    bool in_pieces;   /* lives in pieces of a sweep */
    bool wide;        /* a product makes it: its pieces are longer */
    bool seen_before; /* a run may read it before it writes it: it needs zeros */
} plan_var;

/* A vector that a phase moves through memory. */
typedef struct traffic {
    vref v;
    bool read, written;
} traffic;

typedef struct phase {
    int first, sweep_count, count; /* operations: in the sweep, and all */
    int traffic, traffic_count;    /* in plan->traffics */
    /* On ranks (overlap.c): its reductions go with those of the next phase that has some; and
     * reductions under way must end before its sweep, or before its scalar work. */
    bool joins, waits_before, waits_after;
} phase;

typedef enum node_kind { NODE_BLOCK, NODE_FOR, NODE_IF } node_kind;
typedef struct node {
    node_kind kind;
    int first, count;         /* block: operations */
    int phase, phases;        /* block: in plan->phases */
    int name, from, to, expr; /* for, if */
    bool down;
    int body, other, next, prev;
} node;

typedef enum operator_use { USE_NOTHING, USE_DIAGONAL, USE_ROWS, USE_CALL } operator_use;

typedef struct plan_setup {
    operator_use use[OPERATOR_COUNT]; /* L and R are found from M and the option `side` */
    bool fuse;                        /* false: every operation is a sweep of its own */
    bool square;                      /* both spaces have the same length */
    bool apart;  /* on a device, where rows go by lanes: products share no sweep with slices, nor
                    those with A one with those with A^H */
    bool ranked; /* reductions are over ranks: products that do not need them hide them */
    int powers;  /* steps of a basis that A makes together; up to 1: none */
} plan_setup;

typedef struct plan {
    spry_context *ctx;
    program *program; /* owned; passes add expressions and names to it */
    plan_setup setup;
    plan_op *ops;
    term *terms;
    node *nodes;
    plan_var *vars;
    access *accesses;
    phase *phases;
    traffic *traffics;
    int op_count, op_room, term_count, term_room, node_count, node_room, var_count, var_room;
    /* Accesses of start and loop, then of finish, that see values from before the section. */
    int left, left_by_start, left_count;
    bool restarts; /* it can start again; else start sees nothing: a run begins with zeros */
    int access_count, access_room, phase_count, phase_room, traffic_count, traffic_room;
    int section[SECTION_COUNT]; /* first nodes */
    int *var_of_name;           /* NONE for scalars */
    int names;                  /* of the text: later ones are added by the plan */
    /* Scalars: options first, then the others. */
    int64_t *offset;
    int64_t (*extent)[2];
    int offset_room;
    int64_t option_count, scalar_count;
    spry_scalar *options;     /* their values */
    bool square_only;         /* the method makes no sense for rectangular matrices */
    bool estimates;           /* iterations are counted at estimates */
    int powers;               /* the most products of an operation that makes several steps */
    int slots, locals;        /* memory: whole vectors, and pieces a thread needs */
    unsigned char *live;      /* by operation and variable: needed after it */
    unsigned char *exit_live; /* by variable: needed when the solve ends or starts again */
} plan;

/* Makes a plan; the program is owned by the plan from then on, also when it fails. plan_read()
 * stops at the operations in the order of the text: enough to count products, and no schedule. */
spry_status plan_read(program *p, const plan_setup *setup, plan **out);
spry_status plan_make(program *p, const plan_setup *setup, plan **out);
/* A copy, in a context. */
spry_status plan_copy(spry_context *ctx, plan *p, plan **out);
void plan_free(plan *p);

/* Is it done in a sweep (or before it, by a call), or at scalar time? */
static inline bool op_sweeps(const plan_op *o)
{
    return o->kind != OP_NONE && o->kind <= OP_LAST_SWEEP;
}
/* Does it make inner products with vectors of all right-hand sides? */
static inline bool plan_is_gram(const plan_op *o)
{
    return o->kind == OP_DOT && o->in[0].all;
}
static inline bool op_exits(const plan_op *o)
{
    return o->kind >= OP_RESIDUAL;
}
/* Whether the values of a vector variable stay from run to run. */
static inline bool plan_keeps(const plan *p, int var)
{
    return p->vars[var].name != NONE && p->program->names[p->vars[var].name].kept;
}
/* Whether it makes several steps of a basis: powers() of operators that do that together. */
static inline bool plan_makes_powers(const plan_op *o)
{
    return o->kind == OP_APPLY && o->steps != NONE;
}
/* Whether it is a product that can only be called, outside of sweeps. */
static inline bool plan_calls(const plan *p, const plan_op *o)
{
    return o->kind == OP_APPLY && (p->setup.use[o->op] == USE_CALL || plan_makes_powers(o));
}

/* The passes, in this order; see the files. */
spry_status plan_lower(plan *p);
spry_status plan_find_spaces(plan *p);
spry_status plan_collect(plan *p);   /* accesses of all operations */
spry_status plan_find_seen(plan *p); /* fills seen_before of variables */
spry_status plan_live(plan *p);      /* fills live and exit_live */
spry_status plan_simplify(plan *p);
spry_status plan_schedule(plan *p);
spry_status plan_store(plan *p);

/* Steps of plan_simplify: equal products of operators with vectors, and equal inner products, are
 * made once. */
spry_status plan_share_products(plan *p);
void plan_share_dots(plan *p);
/* Whether an operation is u = v for plain vectors; reads of u become reads of v where they can. */
bool plan_is_copy(const plan *p, const plan_op *o);
void plan_read_through(plan *p, const node *n, int i);
/* Puts an operation before another of the same block. */
spry_status plan_insert(plan *p, int block, int at, const plan_op *o);
/* Whether an operation changes a scalar that an expression reads. */
bool plan_changes(const plan *p, const plan_op *o, int e);

/* Whether two accesses touch the same place. */
static inline bool access_touches(const access *a, const access *b)
{
    return a->vector == b->vector && a->id == b->id && a->low <= b->high && b->low <= a->high &&
           (a->apart <= 1 || a->apart != b->apart || (a->low - b->low) % a->apart == 0);
}
/* Reductions under way (overlap.c). Whether an operation needs an inner product, or changes what
 * decides where that goes; which phases of a block must wait for reductions; and distances, as
 * schedule.c has them, that keep what needs reductions out of the sweeps of products before it that
 * do not. */
bool plan_needs_sum(const plan *p, const plan_op *dot, const plan_op *o);
void plan_find_waits(plan *p, const node *block);
spry_status plan_part_products(const plan *p, const plan_op *ops, int n, signed char *distance);
/* Room for one more element; *count is raised by the caller. */
spry_status plan_room(plan *p, int count, int *room, size_t size, void *array);
spry_status plan_new_scalar(plan *p, const char *prefix, int *expr_index); /* an EXPR_NAME of it */
spry_status plan_new_var(plan *p, int *var);
/* Gives a name its place among the scalars; the values of the options, as scalars. */
spry_status plan_place_scalar(plan *p, int name, int64_t rows, int64_t cols);
scalars plan_option_values(const plan *p);
/* Whether an expression consists of numbers and options alone; then its value as a count. */
bool plan_fixed(const plan *p, int e, int64_t *value);

/* The vectors an operation touches: operands 0..count-1, the last is the one it writes. */
int plan_ref_count(const plan *p, const plan_op *o);
const vref *plan_ref(const plan *p, const plan_op *o, int k, bool *write);
/* Whether an operation goes through a slice of vectors, or those of all right-hand sides; and
 * whether it does the latter. */
bool plan_has_slice(const plan *p, const plan_op *o);
bool plan_has_all(const plan *p, const plan_op *o);
bool plan_same_ref(const plan *p, const vref *a, const vref *b);

/* Counting the traffic of a block, again and again for different phases. */
typedef struct traffic_item {
    vref v;
    int64_t weight;
    int phase; /* of the last access; NONE: none so far */
    bool read, written;
} traffic_item;

typedef struct traffic_count {
    plan *p;
    int first, ops; /* the block */
    traffic_item *items;
    int item_count;
    int *item_of, *ref_of; /* items of operands; first operand of an operation */
    int64_t total;
} traffic_count;

typedef void (*traffic_visit)(void *data, int phase, const vref *v, bool read, bool written);
spry_status traffic_open(plan *p, const node *block, traffic_count *t);
/* Vectors moved when the operations run in the order `sequence` (places in the block), in the
 * phases given by place; visit (may be NULL) is called for each. Lives must be known. */
int64_t traffic_run(traffic_count *t, const int *sequence, const int *phase, traffic_visit visit,
                    void *data);
void traffic_close(traffic_count *t);

#endif
