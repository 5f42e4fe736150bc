/*
 * Splittings of a matrix at the boundaries of ranks (<private/programs.h>). split_local.c has what
 * a rank does by itself, split_above.c that with lower bounds, split_messages.c what ranks say to
 * each other without waiting, split.c the course of a solve.
 */
#ifndef SPRY_KRYLOV_SPLIT_H
#define SPRY_KRYLOV_SPLIT_H

#include "ranks/distributed.h"

#include <private/programs.h>
#include <spry/spry.h>

typedef enum split_mode { SPLIT_ASYNC, SPLIT_SYNC, SPLIT_AUTO } split_mode;
#define SPLIT_OPTIONS(item)                                                                 \
    item(TEXT, inner, "ilu", 0, 0, NULL,                                                    \
         "preconditioner of a rank's own block, applied once an iteration; or solve")       \
    item(TEXT, solver, "method=auto tol=1e-2 max-iter=50", 0, 0, NULL,                      \
         "with inner=solve: options of the solver of the own block")                        \
    item(WORD, mode, "async", 0, 0, "async sync auto", "whether ranks wait for each other") \
    item(INT, switch_every, "0", 0, 1e15, NULL,                                             \
         "iterations of the first rank after which the mode changes; 0: never")             \
    item(REAL, tol, "1e-6", 0, 1, NULL, "relative residual |b - A x| / |b| to reach")       \
    item(INT, max_iter, "10000", 0, 9e18, NULL, "iterations of a rank at most")
typedef struct split_options {
    SPLIT_OPTIONS(SPRY_OPTION_FIELD)
} split_options;
spry_option_list split_option_list(void);

/* What a rank says of itself: it goes on; it would end where all do; all are to end. */
enum { SPLIT_WORKS, SPLIT_RESTS, SPLIT_STOPS };

typedef struct split {
    spry_context *ctx;
    const distributed *s; /* NULL: the matrix is whole */
    split_options o;
    split_mode mode;
    spry_type type;
    size_t element;
    double scale; /* |b| of all ranks, or 1 */
    double tight; /* how far the own residual has to be below its share of the tolerance */

    /* The own part: objects of a context without ranks. */
    spry_context *alone;
    spry_matrix *own, *edge; /* views */
    spry_operator *own_product, *edge_product, *M;
    spry_solver *inner;
    spry_vector *b, *x, *c, *r, *z; /* c: b without what others' elements take from it */
    spry_vector *compact, *edge_sums;
    char *ghosts;  /* in `compact` */
    char *out;     /* elements that are sent, by neighbour */
    bool fresh;    /* ghosts are newer than c */
    double square; /* |r|^2 of own rows; with bounds the square of the largest */
    bool small;    /* and it is small enough */

    /* Lower bounds (split_above.c). */
    spry_vector *lower, *diagonal; /* diagonal: inverse; NULL: there are no bounds */
    const spry_matrix *rows;       /* the own block as CSR */
    spry_matrix *rows_made;        /* it, where it had to be made */
    bool in_turn;                  /* rows one after the other */

    /* Messages. */
    team_halo *halo;
    char *letter; /* room for a message */
    int64_t letter_room;
    int64_t *posted, *taken; /* messages to and from each rank */
    int64_t *bytes, *due;    /* of each rank, for the end */
    int64_t *age;            /* by neighbour that elements come from */
    bool *waits, *changed;   /* by neighbour that elements go to: for its answer; x is newer */
    bool settling, frozen;

    /* Whether all are at the end: kept by rank 0. */
    bool *agrees, *answered; /* of each rank */
    int said;                /* what this rank last said: SPLIT_WORKS, ... */
    bool stops;              /* some rank has to, and rank 0 has heard of it */
    bool asking;
    int64_t round;
    int agreed; /* rounds in turn in which all agreed */

    spry_reason end; /* COUNT: go on */
    spry_status failed;
    spry_split_stats stats;
    int64_t age_sum, age_count;
    int64_t since_switch; /* iterations of rank 0 at the last change of the mode */
} split;

/* lower: NULL where there are no bounds */
spry_status split_open(split *p, const spry_matrix *A, const spry_vector *b,
                       const spry_vector *lower, spry_vector *x);
void split_close(split *p);
/* The own residual with the ghosts as they are. */
spry_status split_poll(split *p);
/* One iteration. */
spry_status split_improve(split *p);
/* The same with bounds; to be closed, also after a failure. */
spry_status split_above_open(split *p, const spry_vector *lower);
void split_above_close(split *p);
void split_above_look(split *p);
void split_above_improve(split *p);
/* Elements for neighbour k, in p->out. */
const void *split_pack(split *p, int k);

spry_status split_talk_open(split *p);
/* What takes all ranks. Collective. */
spry_status split_talk_ready(split *p);
void split_talk_close(split *p);
/* Takes all messages that have come. */
spry_status split_listen(split *p);
/* Sends elements to all who have answered to the last ones. */
spry_status split_send(split *p);
/* Sends what is new of this rank, and asks the others where it is for this rank to ask. */
spry_status split_coordinate(split *p);
/* Rank 0 has all stop. */
spry_status split_freeze(split *p);
/* Takes every message that is still under way. Collective. */
spry_status split_settle(split *p);

#endif
