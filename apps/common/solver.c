/* Solvers as --method, --precon and --device have them. */
#include "common/app.h"

spry_status app_solver(spry_context *ctx, const char *method, const char *precon,
                       const char *device, const spry_matrix *A, spry_solver **solver)
{
    const char *const texts[][2] = {{"method", method}, {"precon", precon}, {"device", device}};
    spry_status status = spry_solver_new(ctx, solver);
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = spry_solver_set_text(*solver, texts[k][0], texts[k][1]);
    return status == SPRY_STATUS_OK ? spry_solver_set_matrix(*solver, A) : status;
}
