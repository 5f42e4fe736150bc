/* Rows and elements that other ranks have, for this rank's use. Calls are collective. */
#ifndef SPRY_DEAL_FETCH_H
#define SPRY_DEAL_FETCH_H

#include "ranks/rows.h"

#include "ranks/distributed.h"

/* A copy of this rank's rows of a spread matrix (or of any other), with columns of all ranks, which
 * rise in each row: entries of one place are added up. */
spry_status deal_rows_of(const spry_matrix *A, deal_rows *rows);
/* The matrix of all ranks' rows, of which this rank has `cols` elements of x. */
spry_status deal_spread(spry_context *ctx, const deal_rows *rows, int64_t cols, spry_matrix **A);
/* Rows by their numbers, in that order: mine are this rank's, rank r has first[r]..first[r+1]-1. */
spry_status deal_fetch_rows(spry_context *ctx, const deal_rows *mine, const int64_t *first,
                            int64_t count, const int64_t *numbers, deal_rows *fetched);
/* Elements of a vector by their numbers, of `size` bytes each. */
spry_status deal_fetch(spry_context *ctx, const int64_t *first, size_t size, const void *mine,
                       int64_t count, const int64_t *numbers, void *fetched);

/*
 * Elements with rising numbers that are brought from their owners again and again, or brought back
 * to them and added there, in the order of ranks.
 */
typedef struct deal_halo {
    spry_context *ctx;
    spry_type type;
    int64_t count, sent_count;
    int32_t *sent; /* this rank's elements that others want, by rank */
    int sends, receives;
    spread_neighbour *to, *from; /* whom they go to, and whom the others come from */
    char *send, *receive;
    team_halo *forth, *back;
} deal_halo;
spry_status deal_halo_make(spry_context *ctx, spry_type type, const int64_t *first, int64_t count,
                           const int64_t *numbers, deal_halo *halo);
void deal_halo_clear(deal_halo *halo);
/* `others` gets count elements of `mine` of other ranks. */
spry_status deal_halo_bring(const deal_halo *halo, const void *mine, void *others);
/* Adds `others` of all ranks to `mine` of their owners. */
spry_status deal_halo_add(const deal_halo *halo, const void *others, void *mine);

/* The place of a number in a rising list; -1: it is not there. */
int64_t deal_find(const int64_t *list, int64_t count, int64_t number);
/* The columns of rows that lie outside begin..end-1, each once, rising, together with those of a
 * rising list before; *list is replaced. */
spry_status deal_list_outside(spry_context *ctx, const deal_rows *rows, int64_t begin, int64_t end,
                              int64_t *count, int64_t **list);

#endif
