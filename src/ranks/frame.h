/*
 * The numbers that a rank works with, its own and some of others', and their places: in the order
 * of numbers, so that what is computed with places is summed up, and ties are decided, as without
 * ranks.
 */
#ifndef SPRY_RANKS_FRAME_H
#define SPRY_RANKS_FRAME_H

#include "ranks/fetch.h"

typedef struct ranks_frame {
    int64_t begin, own; /* this rank's numbers */
    int64_t count;      /* of others */
    int64_t *others;    /* which, rising */
    int64_t below;      /* of these, before the own */
} ranks_frame;

static inline int64_t ranks_frame_size(const ranks_frame *f)
{
    return f->own + f->count;
}
static inline int64_t ranks_frame_number(const ranks_frame *f, int64_t place)
{
    return place < f->below            ? f->others[place]
           : place < f->below + f->own ? f->begin + place - f->below
                                       : f->others[place - f->own];
}
/* The columns of some rows join. */
spry_status ranks_frame_add(spry_context *ctx, ranks_frame *f, const ranks_rows *rows);
void ranks_frame_clear(spry_context *ctx, ranks_frame *f);

/* Where some rows go in a matrix: one after the other from `first` on, or where `numbers`, rising,
 * have their places. */
typedef struct ranks_part {
    const ranks_rows *rows;
    int64_t first;
    const int64_t *numbers;
} ranks_part;
/* A matrix of `rows` rows; those that no part gives are empty, and columns without a place are
 * left out. Sorted. */
spry_status ranks_frame_matrix(spry_context *ctx, const ranks_frame *f, int64_t rows, int count,
                               const ranks_part *parts, spry_matrix **A);
/* The square one: this rank's rows, and some of others' (NULL: none). */
spry_status ranks_frame_square(spry_context *ctx, const ranks_frame *f, const ranks_rows *mine,
                               const ranks_rows *theirs, const int64_t *numbers, spry_matrix **A);
/* This rank's rows of a square matrix in the frame, of all ranks' `all` rows. */
spry_status ranks_frame_rows(const ranks_frame *f, const spry_matrix *A, int64_t all,
                             ranks_rows *rows);

#endif
