/* What the files of this room share. */
#ifndef SPRY_FACTOR_INSIDE_H
#define SPRY_FACTOR_INSIDE_H

#include "direct/frontal.h"
#include "direct/kernels.h"

/* The graph of a matrix whose rows were moved, as matrix/algebra/graph.h has it, and an order of it
 * with what follows: all arrays by places of the order. */
typedef struct frontal_order {
    int32_t n;
    int32_t *order;  /* place to vertex */
    int32_t *parent; /* in the elimination tree; -1: a root */
    int32_t *count;  /* entries of the column of L, the diagonal among them */
} frontal_order;

/*
 * The tree of fronts. Variables are numbered in the order of elimination, and node s has those from
 * first[s] to first[s + 1] - 1; nodes are in postorder.
 */
typedef struct frontal_tree {
    int32_t n, nodes;
    int32_t *place;        /* of a vertex of the graph */
    int32_t *first;        /* nodes + 1 */
    int32_t *parent;       /* -1: a root */
    int32_t *child, *next; /* the first child, and the next one of the same parent; -1: none */
    int64_t *list_at;      /* nodes + 1 */
    int32_t *list;         /* variables of a front besides its own, rising */
} frontal_tree;

/* A piece of memory that is handed out from its beginning. */
typedef struct frontal_arena {
    char *base;
    int64_t size, used;
} frontal_arena;

/* Nodes begin..end-1, whole subtrees, that one thread does. */
typedef struct frontal_task {
    int32_t begin, end, next; /* the node that it goes on with */
    double flops;
    int64_t factor_bytes, stack_bytes; /* forecast, or what pivots that were delayed made of it */
    frontal_arena factors, stack;
    int result;      /* frontal_result */
    int64_t kept_at; /* of what it takes from rows above, in solves */
} frontal_task;

typedef enum frontal_result {
    FRONTAL_NOT_YET,
    FRONTAL_DONE,
    FRONTAL_NO_ROOM, /* on with more */
    FRONTAL_NOT_DEFINITE,
    FRONTAL_STOPPED
} frontal_result;

/* Work space of solves; see front_pass. */
typedef struct frontal_room {
    int columns, threads;
    int64_t longest;      /* rows of the largest front */
    int64_t above_count;  /* variables of nodes of no task */
    int64_t kept_count;   /* rows that tasks leave to them */
    int32_t *above_at;    /* of these variables; NULL: all nodes are of tasks */
    void *y, *x;          /* for each column */
    void *pieces, *above; /* for each thread and column */
    void *kept;           /* for each column */
} frontal_room;

struct frontal {
    spry_context *ctx;
    frontal_kind kind;
    spry_type type;
    int64_t n, nnz;
    bool strict, coarse;  /* what is asked of the next factors */
    bool failed;          /* there are no solves */
    atomic_bool negative; /* a pivot of what was to be definite */

    /* analysis */
    frontal_tree tree;
    int32_t *row_place, *col_place; /* of A's rows and columns; one array for symmetric kinds */
    double *left, *right;           /* factors of variables' rows and columns; likewise */
    int64_t *entry_start;           /* entries of A by the variable that brings them in: n + 1 */
    int32_t *entry_index;           /* i >= 0: in row i of its column; ~j: in column j of its row */
    int64_t *entry_at;              /* in A's values */
    frontal_task *tasks;
    int32_t task_count;
    int32_t *top; /* nodes of no task, in postorder */
    int32_t top_count;
    frontal_forecast forecast;

    /* factors */
    front_node *nodes;
    void **blocks;      /* of the factors of nodes of no task */
    void **lefts;       /* what these left to parents, while factors are made */
    frontal_room *room; /* solves fill it */
    double slack;
    frontal_outcome outcome;
    int32_t *null_rows, *null_columns;
};

static inline bool frontal_is_symmetric(frontal_kind kind)
{
    return kind != FRONTAL_GENERAL;
}

/* Room for solves with `columns` columns, once there are factors; what there was goes, unless this
 * fails. */
spry_status frontal_room_make(const frontal *f, int columns);
void frontal_room_clear(const frontal *f);

struct graph;
/* An order of the graph with its elimination tree in postorder, and column counts. */
spry_status frontal_order_make(spry_context *ctx, const struct graph *g, const int32_t *perm,
                               frontal_order *o);
void frontal_order_clear(spry_context *ctx, frontal_order *o);
/* Operations of an elimination with these counts. */
double frontal_order_flops(const frontal_order *o, bool symmetric);
/* Nodes, merged where that costs little, and their lists. Vertices v and pair[v] (NULL: none) that
 * are parent and child come into one. */
spry_status frontal_tree_make(spry_context *ctx, const struct graph *g, const frontal_order *o,
                              const int32_t *pair, frontal_tree *t);
/* The order for the least work. Vertices v and pair[v] come one after the other: as one they are
 * what is ordered. Fails where that is clearly more than `most` seconds, 0: it may be, an operation
 * being `each` of real numbers. */
spry_status frontal_order_choose(spry_context *ctx, const struct graph *g, const int32_t *pair,
                                 bool symmetric, double most, double each, frontal_order *o);
void frontal_tree_clear(spry_context *ctx, frontal_tree *t);

/* Cuts the tree into tasks and forecasts what they take. */
spry_status frontal_cut(frontal *f);
/* Variables of a node's own, and entries of its list. */
static inline int64_t frontal_own(const frontal_tree *t, int32_t s)
{
    return t->first[s + 1] - t->first[s];
}
static inline int64_t frontal_listed(const frontal_tree *t, int32_t s)
{
    return t->list_at[s + 1] - t->list_at[s];
}
/* Bytes of a front with `order` rows and `full` variables to eliminate, while it is worked on, and
 * of its factors at most. */
int64_t frontal_front_bytes(const frontal *f, int64_t order, int64_t full);
int64_t frontal_factor_bytes(const frontal *f, int64_t order, int64_t full);
/* The next piece of an arena; NULL: there is no room. */
void *frontal_take(frontal_arena *arena, int64_t bytes);

/* Where a thread works. */
typedef struct frontal_place {
    const spry_matrix *A;
    int32_t *row_at, *col_at; /* of variables in the front; one array for symmetric kinds */
    int threads;              /* for one front */
} frontal_place;
/* What is done for columns of a front by themselves: by all threads where that is worth it. */
typedef struct frontal_columns {
    const front_kernels *kernels;
    const front *fr;
    const front_node *node;     /* where they come from or go to */
    int64_t size;               /* of a number */
    const int32_t *rows, *cols; /* of one that is added */
} frontal_columns;
typedef void (*frontal_work)(const frontal_columns *c, int64_t begin, int64_t end);
void frontal_each(const frontal_columns *c, int64_t columns, int threads, frontal_work work);
/* The sizes that a node's front has, with what its children delayed. */
void frontal_node_sizes(const frontal *f, int32_t s, int64_t *order, int64_t *full);
/* Makes the front of a node from A and its children, eliminates, and puts the factors into the
 * arena. What is left for the parent is still in the front: front_leave(). */
frontal_result frontal_node(frontal *f, const frontal_place *place, int32_t s,
                            frontal_arena *factors, frontal_arena *stack, front *fr);

#endif
