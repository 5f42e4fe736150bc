/*
 * Steps in time (<spry/grid/time.h>): table.c has the methods, spectrum.c how large a step may be,
 * system.c the linear systems of implicit stages, step.c one step, stepper.c the course of a run,
 * control.c that of a run whose steps follow the error, parareal.c slices of time side by side.
 */
#ifndef SPRY_TIME_INTERNAL_H
#define SPRY_TIME_INTERNAL_H

#include "operator/operator.h"

#include <spry/grid/time.h>
#include <spry/solver.h>

enum { TIME_STAGES = 16 };

/* A Runge-Kutta method. Stages come one after the other; all a_ii that are not 0 are `gamma`. */
typedef struct time_table {
    const char *name;
    int stages;
    double a[TIME_STAGES][TIME_STAGES], b[TIME_STAGES], c[TIME_STAGES];
    double gamma;
    bool mean; /* the source of a stage is the mean of those at both ends of the step */
    int order; /* of pairs, whose `lower` are the weights of one order less; 0: there are none */
    double lower[TIME_STAGES];
    double partner[TIME_STAGES]
                  [TIME_STAGES]; /* implicit pairs: the a of what is taken explicitly */
} time_table;

#define TIME_METHODS "euler heun rk4 implicit-euler crank-nicolson bs3 dp5 ark3 ark4"
/* A method by its place among TIME_METHODS. */
const time_table *time_table_at(int index);
/* Whether the last stage of a step is the first one of the next: F at its end. */
bool time_table_is_fsal(const time_table *table);
/* Checks a caller's table and fills one. */
spry_status time_table_read(spry_context *ctx, int stages, const double *a, const double *b,
                            const double *c, time_table *table);
/* How much errors grow over a time by steps of dt, beyond what u itself does. */
double time_table_growth(const time_table *table, spry_scalar lambda, double dt, double span);
/* The largest step with which they grow less than TIME_GROWTH over a time; INFINITY: any. An
 * infinite time: with which they do not grow. */
extern const double TIME_GROWTH;
double time_table_limit(const time_table *table, spry_scalar lambda, double span);

#define STEPPER_OPTIONS(item)                                                                    \
    item(WORD, method, "rk4", 0, 0, TIME_METHODS, "how steps are taken, unless by a table")      \
    item(REAL, dt, "0", 0, 1e300, NULL,                                                          \
         "length of steps; 0: nine tenths of the largest stable one, of explicit methods for a " \
         "problem with an operator. With tol or atol: of the first step; 0: from F")             \
    item(REAL, tol, "0", 0, 1, NULL,                                                             \
         "error of a step, by estimate, relative to |u|: steps are as long as it allows; 0 for " \
         "this and atol: all are dt. For bs3, dp5, ark3 and ark4")                               \
    item(REAL, atol, "0", 0, 1e300, NULL,                                                        \
         "error of a step as a root mean square over elements, in addition to that of tol")      \
    item(BOOL, check, "yes", 0, 0, NULL, "refuse steps beyond stability, as far as it is known") \
    item(TEXT, solver, "", 0, 0, NULL,                                                           \
         "options of the solver, of implicit methods: [method=cg precon=gmg tol=1e-10]; tol is " \
         "1e-10 at first, or 1e-5 in single precision")

typedef struct stepper_options {
    STEPPER_OPTIONS(SPRY_OPTION_FIELD)
} stepper_options;

/* The system M - shift A with its solver. */
typedef struct time_system {
    bool made;
    double shift;
    const spry_operator *A, *M; /* of products that are made of theirs */
    spry_operator *op;
    spry_matrix *matrix; /* NULL: there are no entries */
    spry_solver *solver;
} time_system;
/* With M alone; of steps of dt; of the last one. */
enum { SYSTEM_MASS, SYSTEM_STEP, SYSTEM_LAST, SYSTEMS };

struct spry_stepper {
    spry_context *ctx;
    stepper_options options;
    time_table own; /* a caller's; no stages: none */
    spry_rate_fn rate;
    void *rate_data;
    const spry_operator *A, *M;
    spry_source_fn source;
    void *source_data;
    spry_step_fn watch;
    void *watch_data;

    spry_vector *k[TIME_STAGES];      /* rates of stages: also first guesses of the next step's */
    spry_vector *x[TIME_STAGES];      /* of F beside an operator that is taken implicitly */
    spry_vector *sum, *right, *force; /* u of a stage; a right-hand side; the source */
    spry_vector *before;              /* u before a step that may be rejected */
    bool knows_first;                 /* k[0] is that of the next step */
    time_system systems[SYSTEMS];
    bool knows_lambda;
    spry_scalar lambda; /* the eigenvalue of M^-1 A of largest modulus */
    spry_step_stats stats;
};

static inline const time_table *stepper_table(const spry_stepper *s)
{
    return s->own.stages > 0 ? &s->own : time_table_at(s->options.method);
}

static inline bool stepper_adapts(const spry_stepper *s)
{
    return s->options.tol > 0 || s->options.atol > 0;
}

/* Whether A is taken implicitly and F explicitly. */
static inline bool stepper_is_split(const spry_stepper *s)
{
    return s->A && s->rate && stepper_table(s)->gamma != 0;
}

/* rate = M^-1 of the sum of parts. The guess of a solve is what `rate` holds. */
enum { PART_PRODUCT = 1, PART_SOURCE = 2, PART_FUNCTION = 4, PART_ALL = 7 };
spry_status stepper_rate(spry_stepper *s, int parts, double t, const spry_vector *u,
                         spry_vector *rate);
/* rate = (M - shift A)^-1 (A u + f), where f is the mean of two times of the source, by the system
 * at a place. */
spry_status stepper_implicit_rate(spry_stepper *s, int place, double shift, double t, double other,
                                  const spry_vector *u, spry_vector *rate);

/* Vectors of steps as u is; first guesses of solves are 0, so that runs depend on nothing before
 * them. */
spry_status stepper_prepare(spry_stepper *s, const spry_vector *u);
/* A step from t, with the system at a place. u is as before where a solve was stopped. */
spry_status stepper_step(spry_stepper *s, int place, double t, double dt, spry_vector *u);
/* The norm of the error of that step, by the pair's estimate. */
spry_status stepper_error(spry_stepper *s, double dt, double *error);
/* Counts a step that has ended at t, looks whether u is finite, and asks whether to go on. */
spry_status stepper_accept(spry_stepper *s, double t, double dt, bool look, const spry_vector *u);
/* A run whose steps follow the error. */
spry_status stepper_adapt(spry_stepper *s, double t, double end, spry_vector *u);
/* What times may be off by: they come from sums. */
double stepper_rounding(double t, double end);
/* Estimates lambda, where it is not known. */
spry_status stepper_find_lambda(spry_stepper *s, const spry_vector *like);

/* Solves (M - shift A) x = b with the system at a place, which is made where it is another one;
 * counts. *stopped: it was interrupted. */
spry_status stepper_solve(spry_stepper *s, int place, double shift, const spry_vector *b,
                          spry_vector *x, bool *stopped);
void time_system_clear(time_system *system);

#endif
