/*
 * Parts of the rows of a matrix that are made larger by their neighbours, and the matrices of their
 * rows and columns.
 */
#ifndef SPRY_PRECON_PARTS_H
#define SPRY_PRECON_PARTS_H

#include "precon/precon.h"

/* Which rows a part has: places first[p]..first[p + 1] - 1 of the parts' vectors, which are stored
 * one after the other. */
typedef struct parts {
    spry_context *ctx;
    int64_t n, count, total;
    int64_t *first;
    int32_t *rows; /* of each place, rising within a part */
    bool *mine;    /* whether the place's row is the part's own */
} parts;

/* Cuts the rows of A into `count` parts at most, with layers of neighbours; those that come out
 * without rows are left out. After a failure, too, *p is to be cleared. */
spry_status parts_make(const spry_matrix *A, int64_t count, int64_t overlap, parts *p);
void parts_clear(parts *p);

/* What the next two need: -1 for each of n rows. It is as before after them. */
spry_status parts_local(spry_context *ctx, int64_t n, int32_t **local);
/* The matrix of the rows and columns of part k. */
spry_status parts_matrix(const spry_matrix *A, const parts *p, int64_t k, int32_t *local,
                         spry_matrix **out);
/* New values for it, from a matrix of the same pattern. */
void parts_fill(const spry_matrix *A, const parts *p, int64_t k, int32_t *local, spry_matrix *part);

#endif
