/* What preconditioners take by the rules of thumb of their kinds: where nothing is begun before. */
#include "base/machine.h"
#include "precon/precon.h"
#include "ranks/distributed.h"

precon_forecast precon_rule(const spry_matrix *A, const precon_kind *kind)
{
    /* Where the set-up is on devices its products take longer than products with A: some four
     * times for multigrid, as 0.13 to 0.23 s for 0.39 ms at 256^3 on a GPU say (docs/figures.md).
     */
    const double on_device = 4;
    const precon_cost *c = &kind->cost;
    const double size = (double)spry_type_size(A->a.type), rows = (double)A->a.rows;
    const double bytes = (double)matrix_csr_bytes(A->a.type, A->a.rows, dist_entries(A));
    const int64_t kept = (int64_t)(c->kept * bytes + c->vectors * rows * size);
    if (!(c->products > 0))
        return (precon_forecast){0};
    return (precon_forecast){.known = true,
                             .bytes = kept,
                             .work = (int64_t)(c->work * bytes),
                             .reads = kept,
                             .seconds = c->products * (bytes + 2 * rows * size) / MACHINE_CORE_RATE,
                             .device_products = c->made_on_device ? on_device * c->products : 0};
}

double precon_iterations(const precon_kind *kind, double alone)
{
    const precon_cost *c = kind ? &kind->cost : NULL;
    return c && (c->share > 0 || c->iterations > 0) ? c->iterations + c->share * alone : alone;
}

double precon_sweeps(const precon_kind *kind)
{
    const double half = 0.5;
    return kind && kind->cost.sweeps > 0 ? kind->cost.sweeps : half;
}
