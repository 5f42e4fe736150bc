/*
 * Heat in a plate, and Poisson's equation: operators on a grid, without a matrix.
 * u_t = laplace u with u = 0 around has the solution exp(-2 pi^2 t) sin(pi x) sin(pi y).
 */
#include <spry/grid.h>

#include <math.h>
#include <stdio.h>

static void sines(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    (void)data;
    *value = (spry_scalar){sin(pi * place[0]) * sin(pi * place[1]), 0};
}

/* max |u - factor sin(pi x) sin(pi y)| */
static double error_of(const spry_grid *grid, const spry_vector *u, double factor)
{
    const double *numbers = spry_vector_data((spry_vector *)u);
    double worst = 0;
    for (int64_t i = 0; i < spry_vector_size(u); i++) {
        double place[3];
        spry_scalar exact;
        spry_grid_place(grid, false, i, place);
        sines(NULL, place, &exact);
        worst = fmax(worst, fabs(numbers[i] - factor * exact.re));
    }
    return worst;
}

#define DO(call)                                        \
    do {                                                \
        if ((call) != SPRY_STATUS_OK) {                 \
            fprintf(stderr, "%s\n", spry_message(ctx)); \
            return 1;                                   \
        }                                               \
    } while (0)

int main(void)
{
    const double pi = acos(-1), end = 0.02;
    spry_context *ctx = NULL;
    spry_grid *grid = NULL;
    spry_vector *u = NULL, *change = NULL, *f = NULL;
    spry_operator *laplace = NULL, *A = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    DO(spry_context_new(NULL, &ctx));
    DO(spry_grid_new(ctx, "64x64 box=0:1,0:1 boundary=dirichlet", &grid));
    DO(spry_operator_stencil(grid, "laplace", "order=4", 0, NULL, NULL, &laplace));
    DO(spry_field_new(grid, SPRY_TYPE_D, false, sines, NULL, &u));
    DO(spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &change));

    /* forward Euler; steps beyond h^2 / 5.33 are not stable with differences of order 4 */
    const double step = 0.15 / (64.0 * 64.0);
    const int steps = (int)ceil(end / step);
    for (int k = 0; k < steps; k++) {
        const double last =
            k + 1 < steps ? step : end - k * step; /* the last one ends at the end */
        DO(spry_operator_apply(laplace, u, change));
        DO(spry_vector_axpy((spry_scalar){last, 0}, change, u));
    }
    const double heat = error_of(grid, u, exp(-2 * pi * pi * end));
    printf("heat: error %.2e\n", heat);

    /* -laplace u = 2 pi^2 sin sin, order 4, with multigrid of order 2 as preconditioner */
    DO(spry_operator_stencil(grid, "-laplace", "order=4", 0, NULL, NULL, &A));
    DO(spry_field_new(grid, SPRY_TYPE_D, false, sines, NULL, &f));
    DO(spry_vector_scale((spry_scalar){2 * pi * pi, 0}, f));
    DO(spry_solver_new(ctx, &solver));
    DO(spry_solver_set(solver, "method=richardson precon=gmg:symmetric=no tol=1e-10"));
    DO(spry_solver_set_operator(solver, A));
    DO(spry_solve(solver, f, u, &result));
    const double poisson = error_of(grid, u, 1);
    printf("poisson: %d iterations, error %.2e\n", (int)result.iterations, poisson);

    const bool fine = result.converged && heat < 2e-4 && poisson < 1e-5;
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_operator_free(laplace);
    spry_vector_free(u);
    spry_vector_free(change);
    spry_vector_free(f);
    spry_grid_free(grid);
    spry_context_free(ctx);
    return fine ? 0 : 1;
}
