/* How many products with A a solve is likely to take: what the choice of a storage format is for.
 */
#include "krylov/solver.h"

#include <math.h>

/* Methods with two products per iteration, or more; others have one. */
static const char *const doubles[] = {"bicg", "bicgstab", "bicgstabl", "pipebicgstab",
                                      "cgs",  "tfqmr",    "qmr",       "gpbicg",
                                      "lsqr", "lsmr",     "cgls"};

/* Whether a spec names a method. */
static bool is_method(const char *spec, const char *method)
{
    const size_t length = strlen(method);
    return strncmp(spec, method, length) == 0 && (!spec[length] || spec[length] == ':');
}

double solver_guess(const char *method, const precon_spec *precon, int64_t rows, int64_t most)
{
    /* Grids of n unknowns take 2.5 n^(1/2) iterations in two dimensions and 3 n^(1/3) in three;
     * what is not known to be either is in the middle. */
    const double alone = 2.7 * pow((double)(rows > 1 ? rows : 1), 5.0 / 12);
    double iterations = precon_iterations(precon->kind, alone), each = 1;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        if (is_method(method, doubles[i]))
            each = 2;
    if (is_method(method, "direct"))
        iterations = 2;
    return each * (iterations < (double)most ? iterations : (double)most);
}

double solver_guess_products(const spry_solver *solver)
{
    enum { TOGETHER = 8 }; /* right-hand sides share a reading of A */
    const attempt *a = solver->setup.attempts.count > 0 ? solver_attempt(solver) : NULL;
    const char *method = a && a->method[0] ? a->method : solver->asked.options.method;
    const precon_spec *precon = a ? &a->precon : &solver->setup.spec;
    const double tried = 30; /* iterations, at most twice as many, as a trial has shown */
    const vector_part rows = dist_own_rows(solver->setup.matrix);
    double once = solver_guess(method, precon, rows.is ? rows.all : solver->setup.matrix->a.rows,
                               solver->asked.options.max_iter);
    if (a && a->precon.kind == &precon_kind_jacobi && a->seconds > 0 && tried < once)
        once = tried;
    return once * (double)((solver->run.systems + TOGETHER - 1) / TOGETHER > 1
                               ? (solver->run.systems + TOGETHER - 1) / TOGETHER
                               : 1);
}
