/*
 * The chain of what a solver tries, with members made to fail: so that they cannot be made, as each
 * allocation of theirs fails, or so that they do not arrive, as their method does not move x. What
 * the list has stays as it is, and is marked so.
 */
#ifndef SPRY_TESTS_CHAIN_H
#define SPRY_TESTS_CHAIN_H

#include "support/problems.h"

#include "krylov/solver.h"

typedef enum chain_way { CHAIN_RUNS, CHAIN_NOT_MADE, CHAIN_STAYS } chain_way;

typedef struct chain {
    problem *p;
    spry_solver *solver;
    spry_result result;
    double tol;
    attempts all; /* as listed */
    chain_way ways[ATTEMPTS + 1];
    int at;                      /* the member at hand */
    double begins[ATTEMPTS + 1]; /* first residual that each has reported; NAN: none */
} chain;

/* Shares of the answer that x begins with are this much too small, and so is b - A x. */
extern const double chain_first;

/* A solver that chooses, with its list; x is chain_first away from the answer at each solve. */
void chain_open(chain *c, problem *p, const char *options);
void chain_close(chain *c);
/* The first `failing` members are to fail in the next run: `way` that all of them do, or CHAIN_RUNS
 * for one after the other in turn. Factors whose x stays would be refined: they are not made. */
void chain_begin(chain *c, int failing, chain_way way);
spry_status chain_run(chain *c);
/* For each number of members that fail the next takes over from the best x and arrives (the last
 * resorts need not, but are honest); what was tried is reported, of all; also when all of them
 * fail. */
void chain_walk(problem *p, const char *options);

/* The kinds of systems that chains are walked for. */
typedef enum chain_kind {
    CHAIN_DEFINITE,
    CHAIN_INDEFINITE,
    CHAIN_KKT,
    CHAIN_DOMINANT, /* not symmetric */
    CHAIN_CONVECTION,
    CHAIN_NO_DIAGONAL,
    CHAIN_GRID, /* with multigrid in its list */
    CHAIN_KINDS
} chain_kind;
/* Complex types: of the same moduli, rows and columns turned by powers of i. */
void chain_problem(spry_context *ctx, chain_kind kind, spry_type type, problem *p);

#endif
