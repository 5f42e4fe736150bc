/* The solver object, shared by its set-up (solver.c) and its run (solve.c). */
#ifndef SPRY_SOLVER_INTERNAL_H
#define SPRY_SOLVER_INTERNAL_H

#include "krylov/krylov.h"

struct spry_solver {
    spry_context *ctx;
    solver_options options;
    const spry_matrix *matrix;
    const spry_operator *given_operator, *given_precon;
    spry_monitor monitor;
    void *monitor_data;
    char *text; /* a method of the caller's; NULL: by name or file */
    /* Made at the first solve after a change. */
    bool ready;
    spry_operator *own_operator, *own_precon;
    plan *plan;
    char precon_name[32];
    char warnings[WARNINGS_SIZE];
    double setup_seconds;
};

/* Makes operator, preconditioner and the rest when something has changed since the last solve. */
spry_status solver_set_up(spry_solver *solver);
const spry_operator *solver_operator(const spry_solver *solver);
const spry_operator *solver_precon(const spry_solver *solver); /* NULL: none */
/* Adds a line to warnings and tells the log. */
void solver_warn(spry_context *ctx, char warnings[WARNINGS_SIZE], const char *text);
/* What can be said of A by products with random vectors. */
typedef struct solver_probe {
    bool hermitian, symmetric;
} solver_probe;
spry_status solver_probe_operator(spry_context *ctx, const spry_operator *A, solver_probe *probe);
/* The name of the method that suits A, and why. */
spry_status solver_choose_method(const spry_solver *solver, const char **name);
/* An inner solver as an operator: the matrix in the next lower precision, in a storage format
 * unless the options name another. */
spry_status krylov_inner(const spry_matrix *A, const char *format, const char *options,
                         spry_operator **out);

#endif
