/* The solver object, shared by its set-up (solver.c) and its run (solve.c). */
#ifndef SPRY_SOLVER_INTERNAL_H
#define SPRY_SOLVER_INTERNAL_H

#include "krylov/krylov.h"
#include "precon/precon.h"

enum { SOLVED_TOGETHER = 8 }; /* systems that share one reading of the matrix */

/* What is kept from one solve to the next, for as long as the plan and the operators: the runner
 * with all its memory, and vectors beside each right-hand side. */
typedef struct solver_work {
    runner *runner;
    struct {
        spry_vector *saved, *spare; /* of the iteration */
        spry_vector *b, *x;         /* copies where the solver works, of vectors elsewhere */
    } lanes[SOLVED_TOGETHER];
} solver_work;

struct spry_solver {
    spry_context *ctx;
    solver_options options;
    const spry_matrix *matrix;
    const spry_operator *given_operator, *given_precon;
    spry_monitor_fn monitor;
    void *monitor_data;
    spry_watch_fn watch;
    void *watch_data;
    char *text; /* a method of the caller's; NULL: by name or file */
    /* Made at the first solve after a change. */
    bool ready;
    spry_device *device; /* where the method runs; NULL: the host */
    bool stays;          /* on the host, as a device's memory was too small */
    spry_operator *own_operator, *own_precon;
    spry_operator *precon_there; /* a copy of the preconditioner on the device; NULL: none */
    plan *plan;
    solver_work work;
    char precon_name[32];
    char warnings[WARNINGS_SIZE];
    precon_symmetry chosen_for; /* of A, where the method was chosen by it */
    double setup_seconds;
    double updated_seconds; /* of spry_solver_update() since the last solve */
};

/* Makes operator, preconditioner and the rest when something has changed since the last solve;
 * `near` is the device that vectors are on, which is taken unless the options name another. */
spry_status solver_set_up(spry_solver *solver, spry_device *near);
const spry_operator *solver_operator(const spry_solver *solver);
const spry_operator *solver_precon(const spry_solver *solver); /* NULL: none */
/* Where to work; the matrix there; the preconditioner there, or a warning that it stays here. What
 * cannot be used is told as a warning, and the host takes its place. */
spry_status solver_choose_device(spry_solver *solver, spry_device *near);
spry_status solver_make_operator(spry_solver *solver);
/* Whether a solve that failed is to be tried again on the host: the device was taken without being
 * asked for, and its memory is too small. */
bool solver_stay(spry_solver *solver, spry_status status, const spry_vector *b);
/* Forgets what set-up has made. */
void solver_forget(spry_solver *solver);
spry_status solver_move_precon(spry_solver *solver);
/* v where the solver works: v itself, or *kept, a copy. */
spry_status solver_bring(const spry_solver *solver, const spry_vector *v, spry_vector **kept,
                         const spry_vector **there);
/* The runner of so many systems, and a vector of n elements where the solver works: those of the
 * solve before where they fit. */
spry_status solver_runner(spry_solver *solver, int count, runner **r);
spry_status solver_vector(const spry_solver *solver, int64_t n, spry_vector **kept);
/* To be called before the plan or an operator goes. */
void solver_drop_work(spry_solver *solver);
/* Bytes in use on the device at most so far. */
int64_t solver_device_bytes(const spry_solver *solver);
/* Adds a line to warnings and tells the log. */
void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text);
/* The name of the method that suits A, and why. */
spry_status solver_choose_method(spry_solver *solver, const char **name);
/* The method that suits M, where `name`, which was chosen for A, does not; NULL: it does. */
spry_status solver_suit_precon(spry_solver *solver, const char *name, const char **other);
/* Conjugate gradients and its kin go wrong without a word where A or M is not what they are for:
 * warns. */
spry_status solver_check_purpose(spry_solver *solver);
/* An inner solver as an operator: the matrix in the next lower precision, in a storage format
 * unless the options name another. */
spry_status krylov_inner(const spry_matrix *A, const char *format, const char *options,
                         spry_operator **out);

#endif
