/* Rows and elements that other ranks have, for this rank's use. Calls are collective. */
#ifndef SPRY_RANKS_FETCH_H
#define SPRY_RANKS_FETCH_H

#include "ranks/rows.h"

#include "ranks/distributed.h"

/* A copy of this rank's rows of a distributed matrix (or of any other), with columns of all ranks,
 * which rise in each row: entries of one place are added up. */
spry_status ranks_rows_of(const spry_matrix *A, ranks_rows *rows);
/* The matrix of all ranks' rows, of which this rank has `cols` elements of x. */
spry_status ranks_distribute(spry_context *ctx, const ranks_rows *rows, int64_t cols,
                             spry_matrix **A);
/* Rows by their numbers, in that order: mine are this rank's, rank r has first[r]..first[r+1]-1. */
spry_status ranks_fetch_rows(spry_context *ctx, const ranks_rows *mine, const int64_t *first,
                             int64_t count, const int64_t *numbers, ranks_rows *fetched);
/* Elements of a vector by their numbers, of `size` bytes each. */
spry_status ranks_fetch(spry_context *ctx, const int64_t *first, size_t size, const void *mine,
                        int64_t count, const int64_t *numbers, void *fetched);

/*
 * Elements with rising numbers that are brought from their owners again and again, or brought back
 * to them and added there, in the order of ranks.
 */
typedef struct ranks_halo {
    spry_context *ctx;
    spry_type type;
    int64_t count, sent_count;
    int32_t *sent; /* this rank's elements that others want, by rank */
    int sends, receives;
    dist_neighbour *to, *from; /* whom they go to, and whom the others come from */
    char *send, *receive;
    team_halo *forth, *back;
} ranks_halo;
spry_status ranks_halo_make(spry_context *ctx, spry_type type, const int64_t *first, int64_t count,
                            const int64_t *numbers, ranks_halo *halo);
void ranks_halo_clear(ranks_halo *halo);
/* `others` gets count elements of `mine` of other ranks. */
spry_status ranks_halo_exchange(const ranks_halo *halo, const void *mine, void *others);
/* Adds `others` of all ranks to `mine` of their owners. */
spry_status ranks_halo_add(const ranks_halo *halo, const void *others, void *mine);

/* The place of a number in a rising list; -1: it is not in it. */
int64_t ranks_find(const int64_t *list, int64_t count, int64_t number);
/* The columns of rows that lie outside begin..end-1, each once, rising, together with those of a
 * rising list before; *list is replaced. */
spry_status ranks_list_outside(spry_context *ctx, const ranks_rows *rows, int64_t begin,
                               int64_t end, int64_t *count, int64_t **list);

#endif
