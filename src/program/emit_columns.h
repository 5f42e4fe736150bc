/*
 * What emit_columns.c, the sweep of a phase for the columns of all tracks, and emit_gram.c, its
 * inner products with vectors of all tracks, have in common.
 */
#ifndef SPRY_EMIT_COLUMNS_H
#define SPRY_EMIT_COLUMNS_H

#include "program/resident.h"

typedef struct columns_text {
    emit_job *w;
    const plan *p;
    const phase *f;
    const plan_op *ops; /* those of the sweep */
    int first, count;
    int64_t slots;        /* sums of a column */
    int space;            /* at hand */
    int turned;           /* products are with A, A^T or A^H; NONE: there are none */
    int width;            /* rows per work-item has at a time */
    bool alone;           /* a single update of x, by itself */
    unsigned char *known; /* by variable: its pointer, then its elements, are there */
} columns_text;

#define PUT(t, ...) base_text_put((t)->w->out, __VA_ARGS__)

/* Where the table of a column has the place of a vector. */
static inline int emit_word(const plan *p, int var)
{
    return p->vars[var].array ? p->slots + var : p->vars[var].number;
}
/* Element `i` of an operand in column j, where it is in memory. */
void emit_place(const columns_text *t, int op, int k, const vref *v, const char *j, const char *i);
/* Of an array, how far from its beginning the vector is. */
void emit_step(const columns_text *t, int op, int k, const vref *v);

/* Whether there are inner products with vectors of all tracks in the space at hand. */
bool emit_has_gram(const columns_text *t);
/* Sums of one of them that a work-item has: a text that calls them a%d declares them. */
int emit_gram_sums(const columns_text *t);
/* All of the space at hand, after what a group has done with a tile of rows, or of a product. */
void emit_grams(const columns_text *t, bool product);
/* What crews have of one of them, piece by piece, is the group's. */
void emit_collect_gram(const columns_text *t, int op);

#endif
