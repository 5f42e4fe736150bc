/*
 * A solve that goes on for much longer than its storage format was chosen for changes it once. What
 * the other format stores is made by another thread while the iteration goes on, and taken at an
 * iteration that follows from the guess alone, waiting for it where it is not ready: bits do not
 * depend on how long anything took. Without the other thread it is made when it is to be taken.
 * Where residuals say that the end is near, it is not begun.
 */
#ifndef SPRY_REFORMAT_INTERNAL_H
#define SPRY_REFORMAT_INTERNAL_H

#include "base/background.h"
#include "host/stored.h"
#include "krylov/krylov.h"

#include <spry/tune.h>

enum { REFORMAT_SPEC = sizeof((spry_tune_row *)0)->format };

/* What a solver knows of a format for many more products; made with its operator. */
typedef struct solver_later {
    enum { LATER_NOTHING, LATER_RACED, LATER_FORECAST } by; /* how it is found */
    int64_t products;                                       /* that the one at hand is for */
    char format[REFORMAT_SPEC];                             /* of LATER_RACED */
    char before[REFORMAT_SPEC];                             /* the one that a solve began with */
} solver_later;

typedef enum reformat_state {
    REFORMAT_OFF,     /* the format stays */
    REFORMAT_WAITING, /* for the iteration that begins it */
    REFORMAT_MAKING,
    REFORMAT_READY /* both operators are made */
} reformat_state;

/* The change of a run. */
typedef struct reformat {
    spry_solver *solver;
    iteration *its;
    int count;
    runner *runner;
    reformat_state state;
    int64_t begin_at, take_at; /* iterations of this attempt */
    spry_operator *old, *other;

    /* What is made, in a context of its own. */
    spry_context *ctx;
    spry_matrix *A; /* a share */
    bool forecast, rows;
    int64_t products;
    char format[REFORMAT_SPEC];
    host_stored made;
    spry_status status;
    double seconds;
    bool threaded;
    pthread_t thread;
} reformat;

/* Iterations from which on the other format is taken, for a format that was chosen for `products`
 * products; 0: none are. */
int64_t reformat_takes(int64_t products);
/* Follows the runner's turns until the end, which also waits for what is being made. */
void reformat_open(reformat *c, spry_solver *solver, iteration *its, int count, runner *r);
void reformat_close(reformat *c);
/* "sell:C=8,sigma=1", as the option can be given; other operators have a name. And of a solve:
 * "csr, then sell:C=8,sigma=1 from iteration 193". */
void reformat_name(const spry_operator *A, char *text, size_t size);
void reformat_describe(const spry_solver *solver, const iteration *it, char *text, size_t size);

#endif
