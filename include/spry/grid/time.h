/*
 * Time: problems u' = F(t, u), and M u' = A u + f(t), step by step, and slices of time side by side
 * (parareal). docs/time.md is the manual.
 */
#ifndef SPRY_TIME_H
#define SPRY_TIME_H

#include <spry/operator.h>
#include <spry/vector.h>

SPRY_BEGIN

/**
 * A method, a length of steps and a problem, with what was built for them. It belongs to its
 * context and is used by one thread at a time.
 */
typedef struct spry_stepper spry_stepper;

/** The caller's F: sets `rate` to F(t, u). Both are where the u of spry_stepper_run() is; `rate`
 * may hold anything before, and u is not to be changed. Not SPRY_STATUS_OK ends the run with it. */
typedef spry_status (*spry_rate_fn)(void *data, double t, const spry_vector *u, spry_vector *rate);
/** The caller's f: sets `source` to f(t), where the u of spry_stepper_run() is. */
typedef spry_status (*spry_source_fn)(void *data, double t, spry_vector *source);
/** Sees u after each step, counted from 1; return false to stop. */
typedef bool (*spry_step_fn)(void *data, int64_t step, double t, const spry_vector *u);

/**
 * Makes a stepper.
 *
 * @param options  see spry_grid_options("stepper"): "method=rk4 dt=1e-3"; NULL: the defaults
 */
SPRY_API spry_status spry_stepper_new(spry_context *ctx, const char *options,
                                      spry_stepper **stepper);
/** Frees a stepper; NULL is allowed. Operators and vectors that it was given stay. */
SPRY_API void spry_stepper_free(spry_stepper *stepper);
/** Sets options by text. What is built stays where they do not touch it. */
SPRY_API spry_status spry_stepper_set(spry_stepper *stepper, const char *options);
/** The same for one option that is a number, which does not go through text: "dt". */
SPRY_API spry_status spry_stepper_set_real(spry_stepper *stepper, const char *name, double value);
/**
 * A Runge-Kutta method of the caller's (Butcher's table), in the place of the option `method`.
 * Stage i is k_i = F(t + c_i dt, u + dt sum_j a_ij k_j), and u becomes u + dt sum_i b_i k_i. No
 * stage may use a later one. Where a_ii is not 0 the stage is a linear system, for problems with an
 * operator alone; all a_ii that are not 0 are the same number then, so that one set-up serves all
 * stages.
 *
 * @param stages  1 to 16; 0 takes the table back
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
 * keep the solver as long as dt stays.
 *
 * @param A       square; it must stay alive, and so must M
 * @param M       NULL: the identity. With another one every stage of explicit methods is a solve
 * @param source  NULL: 0
 * @param data    handed to it
 */
SPRY_API spry_status spry_stepper_set_operator(spry_stepper *stepper, const spry_operator *A,
                                               const spry_operator *M, spry_source_fn source,
                                               void *data);
/** The function that sees each step; NULL: none. */
SPRY_API void spry_stepper_set_watch(spry_stepper *stepper, spry_step_fn watch, void *data);

/**
 * The largest step that is stable, as far as the eigenvalue of M^-1 A of largest modulus tells:
 * that is estimated by some products with A, and errs by a few per cent. INFINITY where there is no
 * limit, 0 where no step is stable. For problems with an operator.
 *
 * @param u      tells where to work; it is not changed
 * @param limit  out
 */
SPRY_API spry_status spry_stepper_limit(spry_stepper *stepper, const spry_vector *u, double *limit);

/** How a run went. */
typedef struct spry_step_stats {
    size_t size;    /**< SPRY_STEP_STATS_INIT */
    int64_t steps;  /**< taken */
    double t;       /**< where it ended */
    double dt;      /**< length of all steps but the last */
    double last_dt; /**< length of the last one */
    double limit;   /**< largest stable step, by estimate; INFINITY: none; 0: it was not asked */
    int64_t evaluations; /**< of F, or products with A */
    int64_t solves;      /**< of linear systems */
    int64_t iterations;  /**< that they took together */
    int64_t setups;      /**< of solvers, for a length of step that was new */
    double seconds;      /**< of all */
    bool stopped;        /**< by the function that sees steps, or by spry_context_interrupt() */
} spry_step_stats;
#define SPRY_STEP_STATS_INIT SPRY_SIZED(spry_step_stats)

/**
 * Takes steps of dt from t to `end`; the last one is as short as it has to be.
 *
 * Before the first one explicit methods look at the largest stable step, for problems with an
 * operator: where errors would grow tenfold or more over the run it is SPRY_STATUS_BAD_INPUT, and
 * the message says the limit (check=no takes such steps all the same). A u that is no longer finite
 * is SPRY_STATUS_BAD_INPUT, too, with the step, and so is a solve that does not converge.
 *
 * @param u      in: at t; out: at stats->t, also when the run was stopped. Of the operator's type,
 *               on the host or a device
 * @param stats  initialised; may be NULL
 * @return SPRY_STATUS_OK also when it was stopped
 */
SPRY_API spry_status spry_stepper_run(spry_stepper *stepper, double t, double end, spry_vector *u,
                                      spry_step_stats *stats);

/** How a run by parareal went. */
typedef struct spry_parareal_stats {
    size_t size;           /**< SPRY_PARAREAL_STATS_INIT */
    int slices;            /**< of time */
    int workers;           /**< of all ranks */
    int iterations;        /**< each a fine run of all slices at once and a coarse one in turn */
    bool converged;        /**< the change is within the tolerance, or nothing is left to change */
    double change;         /**< of the last iteration: max |new - old| / |new| over slices' ends */
    double seconds;        /**< of all */
    double coarse_seconds; /**< of a slice, mean */
    double fine_seconds;   /**< of a slice, mean */
    double ratio;          /**< fine_seconds / coarse_seconds */
    double model_speedup;  /**< by the cost model, from the two means: see docs/time.md */
    double serial_seconds; /**< compare=yes: of the fine run, one slice after the other; else 0 */
    double speedup;        /**< compare=yes: serial_seconds / seconds; else 0 */
    double difference;     /**< compare=yes: |u - fine u| / |fine u|; else 0 */
} spry_parareal_stats;
#define SPRY_PARAREAL_STATS_INIT SPRY_SIZED(spry_parareal_stats)

/**
 * Runs from t to `end` by slices of time side by side (Lions, Maday, Turinici, 2001): a coarse run
 * through all slices, then again and again a fine run of each by itself, and a coarse one in turn
 * that carries on what the fine ones have changed. It ends when that is within the tolerance.
 * Slices whose beginning does not change any more are not run again: after as many iterations as
 * there are slices u is that of the fine run, slice by slice, to the last bit.
 *
 * Collective over the ranks of the first stepper's context. Each rank brings as many workers, and
 * has the whole problem; slices are distributed to ranks and their workers in order.
 *
 * @param workers  threads that run slices at the same time; 1: the calling one
 * @param coarse   a stepper for each worker. Each worker has a context of its own (threads=1, as a
 *                 rule), the first one that of u, and all it is made of belongs to that context
 * @param fine     the same
 * @param t        where it begins
 * @param end      where it ends
 * @param u        in: at t, alike on all ranks; out: at `end`, on all ranks
 * @param options  see spry_grid_options("parareal"): "slices=16 tol=1e-6"; NULL: the defaults
 * @param stats    initialised; may be NULL
 */
SPRY_API spry_status spry_parareal(int workers, spry_stepper *const *coarse,
                                   spry_stepper *const *fine, double t, double end, spry_vector *u,
                                   const char *options, spry_parareal_stats *stats);

SPRY_END

#endif
