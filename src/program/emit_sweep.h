/*
 * What the files that write the sweep of a phase share: emit_sweep.c (the kernel and its passes),
 * emit_prologue.c (what precedes the passes), emit_operation.c (one operation of a pass) and
 * emit_gram.c (inner products with vectors of all right-hand sides).
 *
 * One text serves one right-hand side and several that see each other: their columns. Registers
 * have [u], and [j][u] with columns; statements for all of them begin with `over`.
 */
#ifndef SPRY_EMIT_SWEEP_H
#define SPRY_EMIT_SWEEP_H

#include "program/resident.h"

typedef struct sweep_text {
    emit_job *w;
    const plan *p;
    const phase *f;
    const plan_op *ops; /* those of the sweep */
    int first, count;
    int64_t slots;   /* sums of a column */
    int space;       /* at hand */
    int turned;      /* products are with A, A^T or A^H; NONE: there are none */
    int width;       /* elements that a work-item has at a time */
    bool local_sums; /* sums of slices fit into local memory */
    bool alone;      /* a single update of x, by itself */
    bool columns;    /* of all right-hand sides at once */
    /* With columns: a loop over them, the index of one, and that of an element; the control block
     * to read. */
    const char *over, *of, *at, *own;
    unsigned char *known, *written; /* by variable: in registers, and to be stored */
} sweep_text;

#define PUT(t, ...) base_text_put((t)->w->out, __VA_ARGS__)
#define COLUMN "SP_UNROLL for (int j = 0; j < SP_COLUMNS; j++) "
/* The same around sums over work-items. */
#define COLUMN_SUMS "SP_UNROLL_SUMS for (int j = 0; j < SP_COLUMNS; j++) "
#define EACH "SP_UNROLL for (int u = 0; u < %d; u++) "

static inline void emit_put(const sweep_text *t, const char *text)
{
    base_text_put(t->w->out, "%s", text);
}
/* Where the control block of a column has the place of a vector. */
static inline int emit_word(const plan *p, int var)
{
    return p->vars[var].array ? p->slots + var : p->vars[var].number;
}
/* Whether an operation belongs to the pass over rows of the space at hand. */
static inline bool emit_in_pass(const sweep_text *t, const plan_op *o)
{
    return emit_in_sweep(t->p, o) && !plan_is_gram(o) && emit_space(t->p, o) == t->space;
}
static inline bool emit_is_caller(const plan *p, int var)
{
    return var == p->var_of_name[NAME_X] || var == p->var_of_name[NAME_B];
}

/* --- emit_prologue.c ---------------------------------------------------------------------------*/

/* Whether an operation may be left out: an index may be wrong, or it was made early. */
bool emit_is_conditional(const sweep_text *t, int op);
/* Local memory of what differs from column to column. */
void emit_shared(const sweep_text *t);
/* Pointers, indices, factors. */
void emit_prologue(sweep_text *t);
/* Number `which` of those that a slice of vectors is multiplied by. */
void emit_slice_number(const sweep_text *t, int op, int k, const term *s, const char *which);
/* What column j multiplies a member's vector by. */
void emit_entry(const sweep_text *t, int op, int k, const term *s, const char *member);

/* --- emit_operation.c --------------------------------------------------------------------------*/

/* Element `i` of an operand in column j, where it is in memory. */
void emit_place(const sweep_text *t, int op, int k, const vref *v, const char *j, const char *i);
/* Of an array, how far from its beginning the vector is. */
void emit_step(const sweep_text *t, int op, int k, const vref *v);
/* Registers of the plain vectors of an operation; those that it reads first are loaded. */
void emit_loads(sweep_text *t, int op);
void emit_operation(sweep_text *t, int op);

/* --- emit_gram.c -------------------------------------------------------------------------------*/

/* Whether there are inner products with vectors of all right-hand sides in the space at hand. */
bool emit_has_gram(const sweep_text *t);
/* Sums of one of them that a work-item has: a text that calls them a%d declares them. */
int emit_gram_sums(const sweep_text *t);
/* All of the space at hand, after what a group has done with a tile of rows, or of a product. */
void emit_grams(const sweep_text *t, bool product);
/* What the teams have of one of them, piece by piece, is the group's. */
void emit_collect_gram(const sweep_text *t, int op);

#endif
