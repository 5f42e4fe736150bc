/* How many products with A a solve is likely to take: what the choice of a storage format is for.
 */
#include "krylov/solver.h"

#include <math.h>

double solver_guess(const precon_kind *precon, int64_t rows, int64_t most)
{
    /* Grids of n unknowns take 2.5 n^(1/2) iterations in two dimensions and 3 n^(1/3) in three;
     * what is not known to be either is in the middle. */
    const double alone = 2.7 * pow((double)(rows > 1 ? rows : 1), 5.0 / 12);
    return fmin(precon_iterations(precon, alone), (double)most);
}

double solver_guess_products(const spry_solver *solver)
{
    enum { TOGETHER = 8 }; /* right-hand sides share a reading of A */
    const attempts *all = &solver->setup.attempts;
    const attempt *a = all->count > 0 ? solver_attempt(solver) : NULL;
    const precon_kind *kind = all->brings ? all->brings
                              : a         ? a->precon.kind
                                          : solver->setup.spec.kind;
    const vector_part rows = dist_own_rows(solver->setup.matrix);
    double once =
        fmax(all->each, 1) * solver_guess(kind, rows.is ? rows.all : solver->setup.matrix->a.rows,
                                          solver->asked.options.max_iter);
    if (a && a->precon.kind == &precon_kind_jacobi && a->seconds > 0)
        once = fmin(once, a->iterations > 0 ? a->iterations : PRECON_DOMINATED);
    const int times = (solver->run.systems + TOGETHER - 1) / TOGETHER;
    return once * (times > 1 ? times : 1);
}
