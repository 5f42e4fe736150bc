/*
 * Several steps over rows in a skewed order: while step 1 goes through the blocks of rows, step 2
 * follows as close behind it as the columns of its rows allow, step 3 behind that, and so on. What
 * is between the first and the last is the window: where it fits into fast memory, A comes from
 * slow memory once for all steps, and no row is computed twice. Bands are what this is for: the
 * window is as many half bandwidths long as there are steps.
 *
 * Several threads have a share of the blocks each, and do of it what needs nothing of the others:
 * less and less with every step, a trapezoid. The gaps between them are filled afterwards.
 */
#ifndef SPRY_HOST_SKEW_H
#define SPRY_HOST_SKEW_H

#include "host/powers.h"

/* What is to be known of the rows of a block. */
typedef struct skew_rows {
    range columns; /* that they need; empty: none */
    int64_t bytes; /* that their products read, without vectors */
} skew_rows;
/* Does step `step` (from 0) of rows begin..end-1. */
typedef void (*skew_step)(const void *data, int step, int64_t begin, int64_t end);

typedef struct skew {
    int64_t count;  /* of blocks */
    int64_t rows;   /* of each but the last; 0: they differ */
    int64_t *row;   /* the first of each, and the end */
    int64_t *bytes; /* before each, and of all */
    int64_t *low;   /* the first block that this one or one behind it needs */
    int64_t *high;  /* the last one that this one or one before it needs */
    int depth, shares;
    range *ranges; /* the blocks of each step of a share: depth for the first, for the second ... */
} skew;

/* Rows of a block that serve for rows in memory: a multiple of the grain (0: any), up to about as
 * many as are given. */
enum { SKEW_BLOCK = 2048 };
int64_t skew_block_rows(int64_t n, int64_t grain, int64_t most);
/* Blocks of `rows` of n rows, of which each is to be noted before skew_close(). On
 * failure *s is cleared. */
spry_status skew_open(spry_context *ctx, int64_t n, int64_t rows, skew *s);
/* The same for blocks that begin with rows starts[0], ..., before starts[count]. */
spry_status skew_open_at(spry_context *ctx, int64_t count, const int64_t *starts, skew *s);
void skew_note(skew *s, int64_t block, const skew_rows *found);
void skew_close(skew *s);
void skew_clear(spry_context *ctx, skew *s);
/* Bytes of the window of `depth` steps, whose vectors have numbers of `size` bytes. */
int64_t skew_window(const skew *s, int depth, int64_t size);
/* Where the steps are: the next block of each, and where they end. */
typedef struct skew_fronts {
    int64_t next[MOST_POWERS], end[MOST_POWERS];
} skew_fronts;
/* Whether the next block of a step but the first has all that it needs of the step before. */
bool skew_may_go(const skew *s, const skew_fronts *f, int step);
/* The most blocks of the window. */
int64_t skew_window_blocks(const skew *s, int depth);
/* Shares blocks out for `depth` steps and at most `threads` threads. */
spry_status skew_share(spry_context *ctx, int depth, int threads, skew *s);
/* Does `count` steps, at most the depth of the shares. */
void skew_run(const spry_context *ctx, const skew *s, int count, skew_step step, const void *data);

#endif
