/* The solver object, shared by its set-up (solver.c) and its run (solve.c). */
#ifndef SPRY_SOLVER_INTERNAL_H
#define SPRY_SOLVER_INTERNAL_H

#include "choose/precons.h"
#include "krylov/krylov.h"
#include "krylov/reformat.h"
#include "krylov/reorder.h"
#include "program/explain.h"
#include "ranks/distributed.h"

#include <private/programs.h>
#include <spry/powers.h>

/* Systems that share one reading of the matrix; and those that a block method has at most. */
enum { SHARED_READING = 8, SOLVED_TOGETHER = PROGRAM_COLUMNS };

/* What a set-up consists of. Each is made from those before it, so that dropping one drops those
 * after it. */
typedef enum solver_stage {
    STAGE_OPERATOR, /* with where to work */
    STAGE_PRECON,
    STAGE_PLAN,
    STAGE_ALL
} solver_stage;

enum { NULL_RIGHT, NULL_LEFT };

/* What is kept from one solve to the next: the runner with all its memory, for as long as the plan
 * and the operators, and vectors of each right-hand side, for as long as the matrix. */
typedef struct solver_work {
    runner *runner;
    struct {
        spry_vector *saved, *spare; /* of the iteration */
        spry_vector *b, *x;         /* copies where the solver works, of vectors elsewhere */
    } rhs[SOLVED_TOGETHER];
} solver_work;

/* Bytes in use, on the host and on the device. */
typedef struct solver_bytes {
    int64_t host, device;
} solver_bytes;

/* One of the things that a solver tries where it chooses. */
typedef struct attempt {
    char method[SPRY_OPTION_TEXT_SIZE]; /* "": what suits A and M */
    precon_spec precon;
    double seconds;    /* that set-up and solve are forecast to take; NAN: not known */
    double iterations; /* as a trial has shown them; 0: there was none */
    int64_t known;     /* iterations that it has solved A with; 0: it has not */
    bool failed;       /* or could not be made, when A was solved */
} attempt;
enum { ATTEMPTS = 14, TRIED_SIZE = 3072 };
typedef struct attempts {
    attempt list[ATTEMPTS];
    int count, at;
    bool open;       /* more of them suit A: they are looked for when the first does not do */
    bool looked;     /* factors take longer than a look at A */
    bool alone;      /* the method that was asked for brings its own preconditioner, or has none */
    bool indefinite; /* A, as a method that needs a definite one found out */
    char tried[TRIED_SIZE];      /* what did not do in this solve, one per line */
    char method[32], precon[32]; /* names of what was used last */
    double each;                 /* products with A in an iteration of the first; 0: not known */
    const precon_kind *brings;   /* the preconditioner that its method brings; NULL: none */
    double began;                /* when making the one at hand did */
    double setup_seconds, run_seconds; /* of the one at hand, in this solve */
} attempts;

/* What makes and runs a solver within another: an inner solve, or least squares of a singular
 * system. Set-up and run have it from the solver, so that they need not know of whole solves. */
typedef struct solver_nested {
    spry_status (*open)(spry_context *ctx, const spry_matrix *A, const char *first,
                        const char *options, spry_solver **solver);
    spry_status (*set_precon)(spry_solver *solver, const spry_operator *M);
    spry_status (*solve)(spry_solver *solver, const spry_vector *b, spry_vector *x,
                         spry_result *result);
} solver_nested;
extern const solver_nested krylov_nested;

/* What was asked for. */
typedef struct solver_request {
    solver_options options;
    const spry_matrix *matrix;
    spry_matrix *view; /* which that is, where the caller's is of another context */
    const spry_operator *operator, * precon; /* the caller's; NULL: the solver makes them */
    char *text;                              /* a method of the caller's; NULL: by name or file */
    null_basis null[2];
    spry_monitor_fn monitor;
    void *monitor_data;
    spry_watch_fn watch;
    void *watch_data;
    bool within;      /* another solver's work on its x: it has none of its own */
    bool inner;       /* a preconditioner: what it came to is not looked into */
    double least_tol; /* what the gradient of least squares must reach; 0: tol */
} solver_request;

/* What was set up for that, at the first solve after a change. */
typedef struct solver_setup {
    solver_stage made;         /* stages below this one are set up */
    const spry_matrix *matrix; /* what is solved with: the caller's, or that in order */
    solver_order order;        /* made with the operator */
    int64_t version, pattern;  /* of the caller's matrix, whose values the set-up has */
    wide_bounds bounds;        /* of these values */
    double condition;          /* of these values, for spry_solver_errors(); NAN: likewise */
    spry_device *device;       /* where the method runs; NULL: the host */
    spry_device *near;         /* where the vectors were when that was chosen; NULL: the host */
    bool stays;                /* on the host, as a device's memory was too small */
    bool plain;                /* the operator is A as it is, for a few products */
    double multiplied;         /* products with it so far, one for each iteration */
    solver_later later;        /* what it may become in a long solve */
    spry_operator *own_operator, *own_precon;
    precon_spec spec;           /* options.precon, read at each set-up; none where one is given */
    spry_operator *precon_copy; /* of the preconditioner on the device; NULL: none */
    int64_t precon_seen;        /* how often the preconditioner had changed when it was copied */
    char precon_name[32];
    precon_spec made_spec; /* what the preconditioner was made from */
    spry_operator *begun;  /* of the preconditioner, by a plan; NULL: nothing */
    precon_spec begun_spec;
    solver_bytes operator_bytes, begun_bytes, precon_bytes; /* that these took */
    attempts attempts;
    const char *chosen; /* the method that suits A; NULL: not looked for */
    program *parsed;    /* the method of the first attempt, which takes it; NULL: none */
    plan *plan;
    plan_cost cost; /* of the plan, once it was asked for; products 0: it was not */
    /* With the plan, on ranks: makes several steps of a basis with one message; NULL: no need. */
    spry_powers *powers;
    spry_operator *powers_operator;
    null_basis null[2];       /* with the plan: of A and of A^H, where the method runs */
    spry_operator *projected; /* the preconditioner without the null space; NULL: none */
    char warnings[WARNINGS_SIZE];
    size_t warned[STAGE_ALL];                                     /* where those of a stage end */
    enum { UNSEEN_NOTHING, UNSEEN_PRECON, UNSEEN_MATRIX } unseen; /* by solver_check_purpose() */
    double seconds;         /* of the operator, in this solve */
    double updated_seconds; /* of spry_solver_update() since the last solve */
} solver_setup;

/* The solve at hand, and what the last one has left. */
typedef struct solver_run {
    int systems;                /* right-hand sides */
    bool running;               /* what is called from within may not change the solver */
    const spry_matrix *held[3]; /* while it runs: nor these, that it and its operators read */
    bool free_later;            /* the solver was freed while it ran */
    bool interrupted;           /* by the context */
    double began;               /* the call, or what it solves together now */
    double setup_seconds, solve_seconds; /* of its results, all together */
    iteration *reporting;                /* whose monitor or watch is called now; NULL: none */
    solver_work work;
    spry_rank_report *ranks; /* of the last solve, one for each; NULL: there were none */
} solver_run;

struct spry_solver {
    spry_context *ctx;
    const solver_nested *nested;
    solver_request asked;
    solver_setup setup;
    solver_run run;
};

/* Around all that runs a caller's functions or goes on for long: fails while the solver runs
 * already; the end takes back a request to stop where that was the reason, and frees the solver
 * when that was asked for. solver_check_idle() fails while it runs. */
spry_status solver_begin(spry_solver *solver);
void solver_end(spry_solver *solver, spry_status status);
spry_status solver_check_idle(const spry_solver *solver);
/* This rank's part of the work, of 1 (ranks_shares.c). */
double ranks_share(const spry_context *ctx);
/* Whether the system is distributed over ranks; one status for all of them then, to be asked for
 * between what each does by itself and what they do together; and whether any was asked to stop. */
bool solver_ranked(const spry_solver *solver);
spry_status solver_agree(const spry_solver *solver, spry_status status);
/* Fails on all ranks where they were asked to solve in different ways, or different numbers of
 * systems: they would wait for each other without end. Devices may differ. */
spry_status solver_check_alike(const spry_solver *solver, int count);
bool solver_interrupted(const spry_solver *solver);
/* What was sent and waited for before a solve, and after it what all ranks have of it. */
spry_status solver_report_ranks(spry_solver *solver, const team_counts *before);
/* Makes operator, preconditioner and the rest when something has changed since the last solve;
 * `near` is the device that vectors are on, which is taken unless the options name another. */
spry_status solver_set_up(spry_solver *solver, spry_device *near);
/* Of powers.c: how many steps of a basis A makes together for a method, which is none or one where
 * that gains nothing; on ranks what makes them is made with it, and dropped with the plan. */
spry_status solver_make_powers(spry_solver *solver, const program *p, bool apart, int *depth);
void solver_drop_powers(spry_solver *solver);
/* Of fuse.c: how a method will use A or M on a device (NULL: the host), which fails where it lacks
 * what the method needs; fails where A is not square and the method needs that; the solver's plan,
 * the method fused for the operators at hand. */
spry_status solver_find_use(const program *p, const spry_operator *op, bool of_A,
                            const spry_device *place, operator_use *use);
spry_status solver_check_square(const spry_solver *solver, const plan *made);
spry_status solver_fuse(spry_solver *solver, program *p);
/* Has the device compile what the method takes with a preconditioner that is called, which is not
 * set up yet; takes the method. */
void solver_precompile(const spry_solver *solver, program *p);
/* Makes the attempt at hand, or the next after it that can be made. */
spry_status solver_make_attempt(spry_solver *solver);
/* The same before any number of a preconditioner is made: as far as is needed to know what the
 * attempt will be and what it will take, which the set-up goes on from. */
typedef struct solver_estimate {
    char method[32];
    precon_spec precon;
    char ranked_name[32]; /* what that is on ranks; "": the same */
    bool uses_precon;
    bool made; /* the set-up was cheap, and is done: nothing is left to forecast of it */
    precon_forecast forecast;
    solver_bytes begun; /* of the preconditioner, what is made already */
    /* Of an iteration: products with A, vectors moved besides, points where ranks add up; and
     * vectors that are kept. Vectors are as long as b, and as long as x. */
    double products, vectors[2], reductions;
    int64_t kept[2];
    int together; /* right-hand sides at most that are solved at a time */
} solver_estimate;
int solver_together(const plan *p);
spry_status solver_estimate_attempt(spry_solver *solver, solver_estimate *estimate);
/* Whether the method is the solver's choice. */
static inline bool solver_chooses_method(const spry_solver *solver)
{
    return strcmp(solver->asked.options.method, "auto") == 0 && !solver->asked.text &&
           !solver->asked.options.method_file[0];
}
/* The method that was asked for, kept for the attempt that takes it. */
spry_status solver_parse_asked(spry_solver *solver);
/* Whether it brings its own preconditioner, or takes none. */
static inline bool program_settles_precon(const program *p)
{
    return p->precon[0] || !p->uses_precon;
}
/* Refreshes or drops set-up that is older than the matrix; operators of the caller's must be
 * up to date. */
spry_status solver_catch_up(spry_solver *solver);
/* The matrix as it is now is what is made from. */
void solver_note_version(spry_solver *solver);
static inline const spry_operator *solver_operator(const spry_solver *solver)
{
    return solver->asked.operator? solver->asked.operator: solver->setup.own_operator;
}
/* What the method applies as M; NULL: none. And the same with its null space. */
static inline const spry_operator *solver_bare_precon(const spry_solver *solver)
{
    return solver->setup.precon_copy ? solver->setup.precon_copy
           : solver->asked.precon    ? solver->asked.precon
                                     : solver->setup.own_precon;
}
static inline const spry_operator *solver_precon(const spry_solver *solver)
{
    return solver->setup.projected ? solver->setup.projected : solver_bare_precon(solver);
}
/* Where to work; the matrix on that device; the preconditioner on it, or a warning that it stays on
 * the host. What cannot be used is reported as a warning, and the host takes its place. */
spry_status solver_choose_device(spry_solver *solver, spry_device *near);
/* The product with A where the solver works, in the format that was asked for or is chosen. */
spry_status solver_make_operator(spry_solver *solver);
/* Whether the storage format is to be chosen: `auto`, with options or without. */
bool solver_tunes(const spry_solver *solver);
/* Puts rows and columns into another order where that pays, or is asked for; takes new values of
 * the caller's matrix into it; goes back to that. */
spry_status solver_reorder(spry_solver *solver);
spry_status solver_renew_order(spry_solver *solver);
void solver_drop_order(spry_solver *solver);
/* What is known of the caller's matrix is known of that in order, or the other way round. */
void solver_share_facts(const spry_solver *solver, bool in);
/* The order that was asked for; NULL: the solver decides. */
static inline const char *solver_asked_order(const spry_solver *solver)
{
    return solver->asked.options.reorder == REORDER_RCM    ? "rcm"
           : solver->asked.options.reorder == REORDER_HUBS ? "hubs"
                                                           : NULL;
}
/* Whether what was asked for, or what was done, hangs on the preconditioner. */
static inline bool solver_may_reorder(const spry_solver *solver)
{
    return solver->setup.order.matrix || solver_asked_order(solver);
}
/* Iterations that a method is likely to take with a preconditioner, at most `most`; and products
 * with A of the attempt at hand, for all right-hand sides of the solve (guess.c). */
double solver_guess(const precon_kind *precon, int64_t rows, int64_t most);
double solver_guess_products(const spry_solver *solver);
/* One that was made for a few products makes room for one in the format that suits, where the
 * attempt at hand has many. */
spry_status solver_suit_operator(spry_solver *solver);
/* Whether solves so far have had many more products than one was taken to have: then the next one
 * is worth a choice. */
bool solver_outgrows(const spry_solver *solver);
/* Whether a solve that failed is to be tried again on the host: the device was taken without being
 * asked for, nor because vectors are on it (`near`), and its memory is too small. */
bool solver_stay(spry_solver *solver, spry_status status, bool near);
/* Forgets what set-up has made, from a stage on; all of it. */
void solver_drop(spry_solver *solver, solver_stage from);
void solver_forget(spry_solver *solver);
void solver_drop_begun(spry_solver *solver);
/* A stage is set up, with its warnings. */
static inline void solver_pass(spry_solver *solver, solver_stage stage)
{
    solver->setup.made = stage + 1;
    solver->setup.warned[stage] = strlen(solver->setup.warnings);
}
spry_status solver_move_precon(spry_solver *solver);
/* Brings the copy on the device up to date with the preconditioner, which may have been given other
 * values by its owner. */
spry_status solver_renew_copy(spry_solver *solver);
/* What may go wrong with the method, A and M; the same for values that are others now. */
spry_status solver_warn_of_plan(spry_solver *solver);
spry_status solver_renew_warnings(spry_solver *solver);
/* The null space where the solver works, checked, and the preconditioner without it. */
spry_status solver_make_null_space(spry_solver *solver);
spry_status solver_project_precon(spry_solver *solver, const spry_operator *M);
static inline bool solver_has_null_space(const spry_solver *solver)
{
    return solver->asked.options.nullspace == NULLSPACE_CONSTANT ||
           solver->asked.null[NULL_RIGHT].count > 0;
}
/* Removes it from b, of which the iteration has a copy then, and from x; says how it
 * went. */
spry_status null_space_begin(const spry_solver *solver, iteration *it);
void null_space_report(const spry_solver *solver, iteration *it);
/* Of verdict.c. After a run: whether that was the end, and how it is reported; else another is
 * begun. At the end: x as the caller has it, and what is true of that. */
spry_status verdict_of_run(iteration *it);
spry_status verdict_hand_back(iteration *it);
/* The iteration was asked to stop from without: x is the best there is. */
spry_status verdict_stop(iteration *it);
/* Says of a function of the caller's that it gave a NaN, if one did. */
bool verdict_name_culprit(iteration *it);
/* Adds to a failure what to try next, or what has caused it. */
void verdict_report(const spry_solver *solver, iteration *it);
/* v where the solver works, and in its order: v itself, or *kept, a copy. */
spry_status solver_import(const spry_solver *solver, const spry_vector *v, spry_vector **kept,
                          const spry_vector **brought);
/* Of result.c. A caller's result, which may be longer or shorter than ours; clears all of them,
 * which are of the size of the first. */
spry_result *result_at(spry_result *results, int k);
spry_status results_clear(spry_context *ctx, spry_result *results, int count);
/* The result of an iteration, whose vectors took these seconds to get ready. And that of a system
 * whose set-up was asked to stop: x is the first guess. */
spry_status result_fill(const spry_solver *solver, iteration *it, double seconds,
                        spry_result *result);
void result_stopped(const spry_solver *solver, const spry_vector *b, const spry_vector *x,
                    spry_result *result);
/* The runner of `count` systems, and a vector of n elements where the solver works: those of the
 * solve before where they fit. */
spry_status solver_runner(spry_solver *solver, int count, runner **r);
spry_status solver_vector(const spry_solver *solver, int64_t n, spry_vector **kept);
/* To be called before the plan or an operator goes. */
void solver_drop_runner(spry_solver *solver);
/* Bytes in use on the device at most so far; those in use now, and what of them has come since. */
int64_t solver_device_bytes(const spry_solver *solver);
solver_bytes solver_bytes_now(const spry_solver *solver);
solver_bytes solver_bytes_since(const spry_solver *solver, solver_bytes before);
/* The list of attempts, made with the operator: a single one where options leave no choice. The
 * one at hand; whether there is another after it. */
spry_status solver_list_attempts(spry_solver *solver);
/* Those that are left out as long as the first may do. */
spry_status solver_list_rest(spry_solver *solver);
static inline void solver_forget_attempts(spry_solver *solver)
{
    solver->setup.attempts = (attempts){0};
}
/* `systems` right-hand sides are to come, for which something else may be worth its while. */
void solver_expect(spry_solver *solver, int systems);
static inline const attempt *solver_attempt(const spry_solver *solver)
{
    return &solver->setup.attempts.list[solver->setup.attempts.at];
}
bool solver_has_next(const spry_solver *solver);
/* Whether factors are among those after it, which it is none of. */
bool solver_has_factors(const spry_solver *solver);
/* What solved this matrix comes first; what solved it, after something else had failed, is
 * remembered. */
void solver_recall(spry_solver *solver);
void solver_remember(const spry_solver *solver, int64_t iterations, double seconds);
/* A line on the one at hand, which has run. */
void solver_note_attempt(spry_solver *solver, const iteration *it);
/* Goes on to the next one, when the one at hand could not be made, or did not arrive; false: there
 * is none. */
bool solver_skip_attempt(spry_solver *solver, spry_status status);
bool solver_next_attempt(spry_solver *solver, const iteration *it);
/* After a failure to make it, none being left: the caller learns of it as of one that did not do,
 * unless the failure is of another kind. */
spry_status solver_ends_attempts(spry_solver *solver, spry_status status);
/* The one at hand is what is running. It comes first from now on where it was right, and what has
 * failed last; else the next solve begins with the first again. */
void solver_note_used(spry_solver *solver);
void solver_settle_attempt(spry_solver *solver, int64_t iterations);
void solver_begin_attempts(spry_solver *solver);
/* Where an exact preconditioner has not brought x to the tolerance: refinement with residuals of
 * twice the precision. */
spry_status solver_polish(const spry_solver *solver, iteration *it);
/* b_i - sum_j a_ij x_j, rounded once; of b and x times a power of two. */
spry_scalar wide_row_residual(const matrix_arrays *a, int64_t i, const spry_vector *b,
                              const spry_vector *x, double scale);
/* Iterations that cost as much as the next one is forecast to, and for what has solved A four times
 * as many as that took; 0: there is no next one, or its cost is unknown. */
int64_t solver_patience(spry_solver *solver);
/* Adds a line to warnings and to the log. */
void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text);
/* The name of the method that suits A, and why. */
spry_status solver_choose_method(spry_solver *solver, const char **name);
/* Whether `systems` right-hand sides are enough to look whether they should share one space. */
bool solver_are_many(int systems);
/* The method that suits M, where p, which was chosen for A, does not; NULL: it does. */
spry_status solver_suit_precon(spry_solver *solver, const program *p, const char **other);
/* Conjugate gradients and its kin go wrong without a word where A or M is not what they are for:
 * warns, of what is known. What has to be found out first is left to solver_check_closer(), which
 * is for solves that have not arrived. */
spry_status solver_check_purpose(spry_solver *solver);
spry_status solver_check_closer(spry_solver *solver);
/* An inner solver as an operator: the matrix in the next lower precision, in a storage format
 * unless the options name another. */
spry_status krylov_inner(const solver_nested *calls, const spry_matrix *A, const char *format,
                         const char *options, spry_operator **out);

#endif
