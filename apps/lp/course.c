/* From one method to the other, until a basis is feasible for both. */
#include "lp/lp.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12 };

static double worst_primal(const lp_simplex *s)
{
    double most = 0;
    for (int k = 0; k < s->all; k++)
        most = fmax(most, fabs(lp_simplex_infeasible(s, k)));
    return most;
}

static double worst_dual(const lp_simplex *s)
{
    double most = 0;
    for (int k = 0; k < s->all; k++)
        most = fmax(most, lp_simplex_wrong(s, k));
    return most;
}

/* The dual method with costs that were bent to suit it, then the primal one with the true ones, and
 * again, should rounding have left either not feasible. */
lp_verdict lp_simplex_run(lp_simplex *s)
{
    lp_verdict verdict = LP_TROUBLE;
    lp_simplex_factorise(s);
    for (int round = 0; round < ROUNDS; round++) {
        verdict = lp_dual(s);
        if (verdict == LP_INFEASIBLE || verdict == LP_ITERATIONS || verdict == LP_STOPPED)
            return verdict;
        memcpy(s->cost, s->true_cost, (size_t)s->all * sizeof *s->cost);
        lp_simplex_factorise(s);
        if (worst_primal(s) > s->tol)
            continue;
        const int64_t before = s->iterations;
        verdict = worst_dual(s) > s->tol ? lp_primal(s) : LP_OPTIMAL;
        s->primal_iterations += s->iterations - before;
        if (verdict == LP_UNBOUNDED || verdict == LP_ITERATIONS || verdict == LP_STOPPED)
            return verdict;
        lp_simplex_factorise(s);
        if (worst_primal(s) <= s->tol && worst_dual(s) <= s->tol)
            return LP_OPTIMAL;
    }
    return LP_TROUBLE;
}
