/* What a rank can reach: its rows of a matrix and layers of other ranks' rows around them. */
#ifndef SPRY_RANKS_REACH_H
#define SPRY_RANKS_REACH_H

#include "ranks/fetch.h"

typedef struct ranks_reach {
    int64_t begin, own; /* this rank's rows */
    int64_t count;      /* rows of others */
    int64_t *others;    /* which, rising */
    spry_matrix *A;     /* own rows, then the others', with the columns of all these; sorted */
} ranks_reach;

/*
 * Of a square matrix that is distributed over ranks; rows of others come in whole nodes of `block`
 * rows. Own rows are complete where there is a layer at least. Collective.
 */
spry_status ranks_reach_make(const spry_matrix *A, int64_t layers, int block, ranks_reach *reach);
void ranks_reach_clear(spry_context *ctx, ranks_reach *reach);

#endif
