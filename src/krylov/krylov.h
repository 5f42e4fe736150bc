/*
 * What methods and the solver share. A method is one file: reference, notation, a run function over
 * an `iteration`, one line in the registry. It never decides by itself when to stop: it reports
 * each residual to iteration_goes_on() and returns when told, or names its breakdown.
 */
#ifndef SPRY_KRYLOV_INTERNAL_H
#define SPRY_KRYLOV_INTERNAL_H

#include "matrix/matrix.h"

#include <spry/solver.h>

#define SOLVER_OPTIONS(item)                                                               \
    item(REAL, tol, "1e-8", 0, 1, NULL, "relative true residual |b - A x| / |b| to reach") \
    item(INT, max_iter, "10000", 0, 9e18, NULL, "iterations at most")                      \
    item(TEXT, method, "auto", 0, 0, NULL, "method: auto, cg")                             \
    item(TEXT, precon, "auto", 0, 0, NULL, "preconditioner: auto, none, jacobi")           \
    item(WORD, format, "auto", 0, 0, "auto csr", "storage format for the product")         \
    item(WORD, device, "auto", 0, 0, "auto cpu", "where to compute")                       \
    item(INT, stall, "1000", 0, 9e18, NULL,                                                \
         "iterations over which the mean residual must fall, else stagnation; 0: never")   \
    item(REAL, divergence, "1e10", 1, 1e300, NULL,                                         \
         "growth over the first residual that counts as divergence")

typedef struct solver_options {
    SOLVER_OPTIONS(SPRY_OPTION_FIELD)
} solver_options;

enum { MAX_WORK = 16 };

/* A solve in progress. */
typedef struct iteration {
    spry_context *ctx;
    const solver_options *options;
    const spry_operator *A;
    const spry_operator *M; /* NULL: none */
    const spry_vector *b;
    spry_vector *x;
    spry_vector *work[MAX_WORK]; /* as many as the method asks for; kept over restarts */
    double b_norm;
    spry_monitor monitor;
    void *monitor_data;

    int exponent;          /* b and x are scaled by 2^-exponent; mostly 0 */
    spry_vector *scaled_b; /* then b points here */
    spry_vector *spare;    /* for true residuals and the monitor */

    int64_t count;   /* iterations done */
    double residual; /* of the recurrence, relative */
    double initial;
    double least;                 /* smallest of this run */
    int64_t least_at;             /* and its iteration */
    double window_log, last_mean; /* logarithms: sum over this window, mean over the one before */
    int64_t window_count;
    spry_vector *saved;    /* the x with the smallest true residual known */
    double saved_residual; /* that residual, relative; infinite while nothing is saved */
    double checked;        /* recurrence's residual at the last look at the true one */
    int64_t checked_at;    /* and its iteration */
    bool drifted;          /* the run ended because the two had parted */
    double *history;
    int64_t history_room;
    spry_reason reason;
    char detail[160];
    spry_status status; /* a failure inside iteration_goes_on */
} iteration;

/* Takes the 2-norm of the residual that belongs to it->x; false when the method must return SPRY_OK
 * (it->reason says why) or it->status. The first call of a run does not count as an iteration. */
bool iteration_goes_on(iteration *it, double residual_norm, bool first);
/* Ends a run by a breakdown; gives SPRY_OK for the method to return. */
spry_status iteration_breakdown(iteration *it, const char *format, ...) SPRY_PRINTF(2, 3);
/* |b - A x| / |b| by a product of its own; remembers x when it is the best so far. */
spry_status iteration_true_residual(iteration *it, double *relative);
/* r = b - A x */
spry_status iteration_residual(const iteration *it, const spry_vector *x, spry_vector *r);

typedef struct krylov_method {
    const char *name, *summary;
    int vectors;          /* work vectors, at most MAX_WORK */
    int precon_vectors;   /* more of them with a preconditioner */
    int products;         /* with A, an iteration */
    int preconditionings; /* an iteration; each adds M's traffic and a vector in an inner product */
    int vector_passes;    /* vectors read or written by its other statements, an iteration */
    spry_status (*run)(iteration *it);
} krylov_method;

extern const krylov_method krylov_cg;

/* The method a name asks for; "auto" chooses. */
spry_status krylov_find(spry_context *ctx, const char *name, const krylov_method **method);

#endif
