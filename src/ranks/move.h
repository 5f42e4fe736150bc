/*
 * Vectors between those who give them and the ranks that solve with them, and numbers that rows
 * have got by a partition. Calls are collective.
 */
#ifndef SPRY_RANKS_MOVE_H
#define SPRY_RANKS_MOVE_H

#include "ranks/route.h"

/* How the numbers of given rows get to the ranks that have the rows, and back. */
typedef struct ranks_move {
    route way;
    int64_t begin, own; /* this rank's rows */
    int64_t *place;     /* of what is received, among them */
} ranks_move;

/*
 * For rows with these numbers, rank r having numbers first[r]..first[r+1]-1. Fails where a number
 * occurs twice, is missing, or is none of these.
 */
spry_status ranks_move_make(spry_context *ctx, int64_t given, const int64_t *numbers,
                            const int64_t *first, ranks_move *move);
void ranks_move_clear(spry_context *ctx, ranks_move *move);
/* `size` bytes for each row: to the ranks that have them, and back to those who gave them. */
spry_status ranks_move_in(spry_context *ctx, const ranks_move *move, size_t size, const void *given,
                          void *own);
spry_status ranks_move_back(spry_context *ctx, const ranks_move *move, size_t size, const void *own,
                            void *given);

/* Numbers that a partition gave to all rows: rank r knows those of rows first[r]..first[r+1]-1, and
 * each rank asks for those it needs. */
typedef struct ranks_numbers {
    const int64_t *first; /* ranks + 1 */
    const int64_t *number;
} ranks_numbers;
/* Puts the number of each row in its place. */
spry_status ranks_renumber(spry_context *ctx, const ranks_numbers *numbers, int64_t count,
                           int64_t *rows);

#endif
