/* A solve in one call, by a solver that goes with it. */
#include "krylov/solver.h"

static spry_status make_quick(spry_context *ctx, const spry_matrix *A, const char *options,
                              spry_solver **solver)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_solver_new(ctx, solver));
    SPRY_GO(ctx, spry_solver_set(*solver, options));
    SPRY_GO(ctx, spry_solver_set_matrix(*solver, A));
done:
    return status;
}

spry_status spry_quick_solve(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                             spry_vector *x, const char *options, spry_result *result)
{
    SPRY_NEED(ctx, ctx, A, b, x);
    spry_solver *solver = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (result)
        SPRY_GO(ctx, base_blank(ctx, result, &krylov_result_sized));
    status = make_quick(ctx, A, options, &solver);
    SPRY_GO(ctx, A->distributed ? team_agree(A->ctx, status) : status);
    SPRY_GO(ctx, spry_solve(solver, b, x, result));
done:
    spry_solver_free(solver);
    return status;
}
