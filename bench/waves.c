/*
 * usage: bench_waves [errors | iterations] [DIMENSIONS [MOST]]
 * The Helmholtz equation with a point in the middle of a box and perfectly matched layers around
 * it. errors: for each scheme and 4 to 16 points per wavelength the error of wave numbers that is
 * told, and the largest one of u beside Green's function from 1 to 2 wavelengths away, with layers
 * of 2 wavelengths (1 in three dimensions); u by factors of the matrix, in three dimensions by
 * bicgstab to 1e-6. iterations: to 1e-6 from 0, without preconditioner, at 8 points per wavelength,
 * for 2, 4, 8 ... MOST wavelengths between layers of one.
 */
#include "peers/peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct problem {
    int dimensions, points, inner, width;
    const char *scheme;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *x;
    spry_helmholtz_info info;
} problem;

static void problem_new(spry_context *ctx, problem *p)
{
    const int n = (p->inner + 2 * p->width) * p->points;
    const double half = p->inner / 2.0 + p->width;
    char text[128], options[64];
    spry_vector *k2;
    int length = snprintf(text, sizeof text, "%dx%d", n, n);
    if (p->dimensions == 3)
        length += snprintf(text + length, sizeof text - (size_t)length, "x%d", n);
    snprintf(text + length, sizeof text - (size_t)length, " box=%g:%g boundary=absorb layer=%d",
             -half, half, p->width * p->points);
    snprintf(options, sizeof options, "scheme=%s", p->scheme);
    p->info = (spry_helmholtz_info)SPRY_HELMHOLTZ_INFO_INIT;
    peer_need(ctx, spry_grid_new(ctx, text, &p->grid));
    peer_need(ctx,
              spry_vector_new(ctx, SPRY_TYPE_D, 1, (double[]){4 * PI * PI}, SPRY_OWN_COPY, &k2));
    peer_need(ctx, spry_operator_helmholtz(p->grid, k2, options, &p->A, &p->info));
    peer_need(ctx, spry_field_wave(p->grid, SPRY_TYPE_Z, false, "kind=point amplitude=-1", &p->b));
    peer_need(ctx, spry_stencil_rhs(p->A, p->b, NULL, NULL, p->b));
    peer_need(ctx, spry_field_new(p->grid, SPRY_TYPE_Z, false, NULL, NULL, &p->x));
    spry_vector_free(k2);
}

static void problem_free(problem *p)
{
    spry_vector_free(p->b);
    spry_vector_free(p->x);
    spry_operator_free(p->A);
    spry_grid_free(p->grid);
}

/* The iterations of a method without preconditioner; -1: it did not converge. */
static int64_t iterate(spry_context *ctx, problem *p, const char *options)
{
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, options));
    peer_need(ctx, spry_solver_set_operator(solver, p->A));
    peer_need(ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    peer_need(ctx, spry_solve(solver, p->b, p->x, &result));
    const int64_t iterations = result.converged ? result.iterations : -1;
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    return iterations;
}

static void solve_directly(spry_context *ctx, problem *p)
{
    spry_matrix *M;
    peer_need(ctx, spry_operator_to_matrix(p->A, &M));
    peer_need(ctx, spry_quick_solve(ctx, M, p->b, p->x, "precon=direct", NULL));
    spry_matrix_free(M);
}

static double green_error(spry_context *ctx, const problem *p)
{
    const double *u = spry_vector_data(p->x);
    double worst = 0;
    for (int64_t i = 0; i < spry_vector_size(p->x); i++) {
        double place[3] = {0};
        peer_need(ctx, spry_grid_place(p->grid, false, i, place));
        const double r = sqrt(place[0] * place[0] + place[1] * place[1] + place[2] * place[2]);
        if (r < 1 || r > 2)
            continue;
        const double k = 2 * PI, size = 1 / (4 * PI * r);
        const double re = p->dimensions == 2 ? -y0(k * r) / 4 : size * cos(k * r);
        const double im = p->dimensions == 2 ? j0(k * r) / 4 : size * sin(k * r);
        worst = fmax(worst, hypot(u[2 * i] - re, u[2 * i + 1] - im) / hypot(re, im));
    }
    return worst;
}

static const char *const schemes[] = {"second", "compact4", "optimal"};

static void errors(spry_context *ctx, int dimensions, int most)
{
    static const int points[] = {4, 5, 6, 8, 10, 12, 16};
    printf("points per wavelength");
    for (int s = 0; s < 3; s++)
        printf(" | %s: wave number, u", schemes[s]);
    printf("\n");
    for (int k = 0; k < 7 && points[k] <= most; k++) {
        printf("%21d", points[k]);
        for (int s = 0; s < 3; s++) {
            problem p = {.dimensions = dimensions,
                         .points = points[k],
                         .inner = 4,
                         .width = dimensions == 2 ? 2 : 1,
                         .scheme = schemes[s]};
            problem_new(ctx, &p);
            if (dimensions == 2)
                solve_directly(ctx, &p);
            else
                iterate(ctx, &p, "method=bicgstab precon=none tol=1e-6 max-iter=20000");
            printf(" | %.2g, %.2g", p.info.number_error, green_error(ctx, &p));
            fflush(stdout);
            problem_free(&p);
        }
        printf("\n");
    }
}

static void iterations(spry_context *ctx, int dimensions, int most)
{
    static const char *const methods[] = {"bicg", "bicgstab",         "cocg",
                                          "cocr", "gmres restart=50", "idr"};
    printf("wavelengths  unknowns");
    for (int m = 0; m < 6; m++)
        printf("  %s", methods[m]);
    printf("\n");
    for (int inner = 2; inner <= most; inner *= 2) {
        problem p = {
            .dimensions = dimensions, .points = 8, .inner = inner, .width = 1, .scheme = "optimal"};
        problem_new(ctx, &p);
        printf("%11d  %8lld", inner, (long long)spry_vector_size(p.b));
        for (int m = 0; m < 6; m++) {
            char options[128];
            snprintf(options, sizeof options, "method=%s precon=none tol=1e-6 max-iter=20000",
                     methods[m]);
            printf("  %lld", (long long)iterate(ctx, &p, options));
            fflush(stdout);
        }
        printf("\n");
        problem_free(&p);
    }
}

int main(int argc, char **argv)
{
    const int dimensions = argc > 2 ? atoi(argv[2]) : 2;
    const int most = argc > 3 ? atoi(argv[3]) : 16;
    const bool counts = argc > 1 && strcmp(argv[1], "iterations") == 0;
    spry_context *ctx = NULL;
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    (counts ? iterations : errors)(ctx, dimensions, most);
    spry_context_free(ctx);
    return 0;
}
