/* The solver object, shared by its set-up (solver.c) and its run (solve.c). */
#ifndef SPRY_SOLVER_INTERNAL_H
#define SPRY_SOLVER_INTERNAL_H

#include "krylov/krylov.h"

enum { WARNINGS_SIZE = 1024 };

struct spry_solver {
    spry_context *ctx;
    solver_options options;
    const spry_matrix *matrix;
    const spry_operator *given_operator, *given_precon;
    spry_monitor monitor;
    void *monitor_data;
    /* Made at the first solve after a change. */
    bool ready;
    spry_operator *own_operator, *own_precon;
    const krylov_method *method;
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

#endif
