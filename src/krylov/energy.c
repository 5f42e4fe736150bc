/*
 * The error of conjugate gradients in the energy norm, from what the method computes anyway: each
 * step lessens |x - A^-1 b|_A^2 by alpha (r, M r), and what is left is the sum of the steps that
 * would follow. It is estimated as the last step's part times the largest that this factor was of
 * late, which is mostly not less than the truth; rounding does not spoil it.
 *
 * Z. Strakos, P. Tichy, On error estimation in the conjugate gradient method and why it works in
 * finite precision computations, ETNA 13 (2002), 56-80; G. Meurant, J. Papez, P. Tichy, Accurate
 * error estimation in CG, Numer. Algorithms 88 (2021), 1337-1359.
 */
#include "krylov/krylov.h"

#include <math.h>

/*
 * What is left of the squared error after the last step; 0: the steps do not show it. `late` is the
 * sum of the steps from k on, which stands for the error before step k where what is left is at
 * most a quarter of it; factors are looked at back to where the error was 100 times as large.
 */
static double find_rest(const iteration_energy *e)
{
    const double part = 0.25, past = 1e-4;
    const double last = e->falls[e->count - 1];
    double late = last, early = last, factor = 1;
    int64_t from = e->count - 1;
    for (int64_t k = e->count - 2; k >= 0; k--) {
        late += e->falls[k];
        while (from > 0 && !(late <= past * early)) {
            from--;
            early += e->falls[from];
            factor = fmax(factor, early / e->falls[from]);
        }
        if (factor * last <= part * late)
            return factor * last;
    }
    return 0;
}

spry_status energy_settle(iteration *it)
{
    spry_scalar product = {0, 0};
    if (it->reason != SPRY_REASON_CONVERGED || it->energy.count == 0)
        return SPRY_STATUS_OK;
    const double rest = find_rest(&it->energy); /* the same on all ranks */
    const spry_status status =
        rest > 0 ? spry_vector_dot(it->b, it->x, &product) : SPRY_STATUS_OK; /* |x|_A^2 */
    if (product.re > 0)
        it->energy.error = sqrt(rest / product.re);
    return status;
}
