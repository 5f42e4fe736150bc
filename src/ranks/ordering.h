/* What a matrix remembers of how its rows were distributed, and what it is recognised by. */
#ifndef SPRY_RANKS_ORDERING_H
#define SPRY_RANKS_ORDERING_H

#include "ranks/redistribute.h"

#include "ranks/distributed.h"

/* Kept by the matrix (matrix->redistributed). */
typedef struct ranks_order {
    int64_t *first;         /* ranks + 1, by new numbers */
    int64_t *blocks;        /* ranks + 1, of old numbers */
    ranks_move move, known; /* from those who gave the rows: to their owners, and to the blocks */
    uint64_t fingerprint;   /* of the matrix, by old numbers */
} ranks_order;

/* A matrix of what was distributed, which is taken over; also when it fails. Collective. */
spry_status ranks_wrap(spry_context *ctx, redistributed_matrix *redistributed, uint64_t fingerprint,
                       spry_matrix **A);
/* NULL of others, whose rows have the numbers that they came with. */
const ranks_order *ranks_order_of(const spry_matrix *A);

/* Elements of a vector between the ranks that own them and equal blocks of old numbers, of which
 * rank r has blocks[r]..blocks[r+1]-1. Collective. */
spry_status ranks_to_blocks(const spry_matrix *A, const spry_vector *v, int64_t **blocks,
                            void **values);
spry_status ranks_from_blocks(const spry_matrix *A, spry_type type, const void *values,
                              spry_vector **v);
spry_status ranks_blocks_of(const spry_matrix *A, int64_t **blocks);

/*
 * What a matrix or vector is recognised by, whoever has which part of it: a sum, without carry, of
 * a number for each entry, by its place and value. Collective.
 */
uint64_t ranks_mark(int64_t row, int64_t col, spry_scalar value);
spry_status ranks_add_marks(spry_context *ctx, uint64_t mine, uint64_t *all);
spry_status ranks_fingerprint(const spry_matrix *A, uint64_t *fingerprint);
spry_status ranks_fingerprint_vector(const spry_matrix *A, const spry_vector *v,
                                     uint64_t *fingerprint);

#endif
