/*
 * Time: problems u' = F(t, u), and M u' = A u + f(t), step by step, and slices of time in parallel
 * (parareal). docs/time.md is the manual.
 */
#ifndef SPRY_TIME_H
#define SPRY_TIME_H

#include <spry/operator.h>
#include <spry/result.h>
#include <spry/vector.h>

SPRY_BEGIN

/**
 * A method, a step length and a problem, with their set-up. It belongs to its context and is used
 * by one thread at a time.
 */
typedef struct spry_stepper spry_stepper;

/** Your F: sets `rate` to F(t, u). Both are where the u of spry_stepper_run() is; `rate` may hold
 * anything before, and u must not be changed. Any status but SPRY_STATUS_OK ends the run with that
 * status. */
typedef spry_status (*spry_rate_fn)(void *data, double t, const spry_vector *u, spry_vector *rate);
/** Your f: sets `source` to f(t), where the u of spry_stepper_run() is. */
typedef spry_status (*spry_source_fn)(void *data, double t, spry_vector *source);
/** Called with u after each step, counted from 1; return false to stop. */
typedef bool (*spry_step_fn)(void *data, int64_t step, double t, const spry_vector *u);

/**
 * Makes a stepper.
 *
 * @param options  see spry_grid_options("stepper"): "method=rk4 dt=1e-3"; NULL: the defaults
 */
SPRY_API spry_status spry_stepper_new(spry_context *ctx, const char *options,
                                      spry_stepper **stepper);
/** Frees a stepper; NULL is allowed. You keep your operators and vectors. */
SPRY_API void spry_stepper_free(spry_stepper *stepper);
/** Sets options by text. Set-up that they do not affect is kept. */
SPRY_API spry_status spry_stepper_set(spry_stepper *stepper, const char *options);
/** The same for one option that is a number, without conversion to text: "dt". */
SPRY_API spry_status spry_stepper_set_real(spry_stepper *stepper, const char *name, double value);
/**
 * A Runge-Kutta method of your own (Butcher's table), instead of the option `method`.
 * Stage i is k_i = F(t + c_i dt, u + dt sum_j a_ij k_j), and u becomes u + dt sum_i b_i k_i. No
 * stage may use a later one. If a_ii is not 0 the stage is a linear system, for problems with an
 * operator alone; all a_ii that are not 0 must be equal, so that one set-up serves all stages.
 *
 * @param stages  1 to 16; 0 removes the table
 * @param a       stages x stages numbers by rows, copied
 * @param b       weights; their sum is 1
 * @param c       places of stages; NULL: the sums of a's rows
 */
SPRY_API spry_status spry_stepper_set_table(spry_stepper *stepper, int stages, const double *a,
                                            const double *b, const double *c);

/** The problem u' = F(t, u); for explicit methods. */
SPRY_API spry_status spry_stepper_set_function(spry_stepper *stepper, spry_rate_fn rate,
                                               void *data);
/**
 * The problem M u' = A u + f(t); for all methods. Implicit ones solve with M - (a_ii dt) A, and
 * keep the solver while dt is the same.
 *
 * @param A       square; it must stay alive, and so must M
 * @param M       NULL: the identity. With another one every stage of explicit methods is a solve
 * @param source  NULL: 0
 * @param data    handed to it
 */
SPRY_API spry_status spry_stepper_set_operator(spry_stepper *stepper, const spry_operator *A,
                                               const spry_operator *M, spry_source_fn source,
                                               void *data);
/**
 * Adds F to the problem of spry_stepper_set_operator(): M u' = A u + f(t) + F(t, u). Explicit
 * methods take all of it; method=ark3 and ark4 take A implicitly and F explicitly, so that F may
 * have any form, and only A may be stiff.
 *
 * @param rate  NULL: none
 * @param data  handed to it
 */
SPRY_API spry_status spry_stepper_add_function(spry_stepper *stepper, spry_rate_fn rate,
                                               void *data);
/** Sets the function that sees each step; NULL: none. */
SPRY_API void spry_stepper_set_watch(spry_stepper *stepper, spry_step_fn watch, void *data);

/**
 * The largest stable step, from the eigenvalue of M^-1 A of largest modulus, which some products
 * with A estimate to a few per cent. INFINITY: no limit; 0: no step is stable. For problems with an
 * operator.
 *
 * @param u      of the length, type and place of the run; not changed
 * @param limit  out
 */
SPRY_API spry_status spry_stepper_limit(spry_stepper *stepper, const spry_vector *u, double *limit);

/** What a run did. */
typedef struct spry_step_stats {
    size_t size;    /**< SPRY_STEP_STATS_INIT */
    int64_t steps;  /**< taken */
    double t;       /**< at the end */
    double dt;      /**< length of all steps but the last; with tol that of the next one */
    double last_dt; /**< length of the last one */
    double limit;   /**< largest stable step, by estimate; INFINITY: no limit; 0: not computed */
    int64_t evaluations; /**< of F, and products with A */
    int64_t solves;      /**< of linear systems */
    int64_t iterations;  /**< of these, together */
    int64_t setups;      /**< of solvers, for a new length of step */
    double seconds;      /**< of all */
    bool stopped;        /**< by the function that sees steps, or by spry_context_interrupt() */
    int64_t rejected;    /**< steps whose error was too large, beside `steps` */
} spry_step_stats;
#define SPRY_STEP_STATS_INIT SPRY_SIZED(spry_step_stats)

/**
 * Takes steps of dt from t to `end`; the last one may be shorter. With the option tol or atol
 * steps are as long as their error allows: |error| <= tol |u| + atol sqrt(n), by the estimate of a
 * pair (bs3, dp5, ark3, ark4).
 *
 * Explicit methods for problems with an operator first estimate the largest stable step: if errors
 * would grow tenfold or more over the run it is SPRY_STATUS_BAD_INPUT, and the message states the
 * limit (check=no skips this). A u that is no longer finite is SPRY_STATUS_BAD_INPUT, too, with the
 * step, and so is a solve that does not converge.
 *
 * @param u      in: at t; out: at stats->t, also when the run was stopped. Of the operator's type,
 *               on the host or a device
 * @param stats  initialised; may be NULL
 * @return SPRY_STATUS_OK also when it was stopped
 */
SPRY_API spry_status spry_stepper_run(spry_stepper *stepper, double t, double end, spry_vector *u,
                                      spry_step_stats *stats);

/** What a run by parareal has in addition to its spry_result. */
typedef struct spry_parareal_stats {
    size_t size;           /**< SPRY_PARAREAL_STATS_INIT */
    int slices;            /**< of time */
    int workers;           /**< of all ranks */
    double coarse_seconds; /**< of a slice, mean */
    double fine_seconds;   /**< of a slice, mean */
    double ratio;          /**< fine_seconds / coarse_seconds */
    double model_speedup;  /**< by the cost model, from the two means: see docs/time.md */
    double serial_seconds; /**< compare=yes: of the fine run, one slice after the other; else 0 */
    double speedup;        /**< compare=yes: serial_seconds / solve_seconds of the result; else 0 */
    double difference;     /**< compare=yes: |u - fine u| / |fine u|; else 0 */
} spry_parareal_stats;
#define SPRY_PARAREAL_STATS_INIT SPRY_SIZED(spry_parareal_stats)

/**
 * Runs from t to `end` by slices of time in parallel (Lions, Maday, Turinici, 2001): a coarse run
 * through all slices; then, repeatedly, a fine run of each slice by itself, and a coarse run
 * through all slices that propagates their changes. It ends when changes are within the tolerance.
 * A slice with an unchanged beginning is not run again: when iterations reach the number of slices,
 * u has the bits of the fine run.
 *
 * Collective over the ranks of the first stepper's context. Each rank has the same number of
 * workers and the whole problem; slices are distributed over ranks and their workers in order.
 *
 * @param workers  threads that run slices in parallel; 1: the calling one
 * @param coarse   a stepper for each worker. Each worker has a context of its own (threads=1, as a
 *                 rule), the first one that of u, and all it is made of belongs to that context
 * @param fine     the same
 * @param t        begin of the run
 * @param end      end of the run
 * @param u        in: at t, alike on all ranks; out: at `end`, on all ranks
 * @param options  see spry_grid_options("parareal"): "slices=16 tol=1e-6"; NULL: the defaults
 * @param result   as for spry_solve(). iterations: each has a fine run of all slices at once and a
 *                 coarse one in turn. Residuals are the change of the last iteration, max |new -
 *                 old| / |new| over the ends of slices; it has converged where that is within the
 *                 tolerance, or no slice is left to change. May be NULL
 * @param stats    initialised; may be NULL
 */
SPRY_API spry_status spry_parareal(int workers, spry_stepper *const *coarse,
                                   spry_stepper *const *fine, double t, double end, spry_vector *u,
                                   const char *options, spry_result *result,
                                   spry_parareal_stats *stats);

SPRY_END

#endif
