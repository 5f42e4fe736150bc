/*
 * usage: bench_waves [errors | iterations | medium] [DIMENSIONS [[LEAST:]MOST [METHODS...]]]
 * The Helmholtz equation with a point in the middle of a box and perfectly matched layers around
 * it. errors: for each scheme and 4 to 16 points per wavelength the reported error of wave numbers,
 * and the largest one of u compared with Green's function from 1 to 2 wavelengths away, with layers
 * of 2 wavelengths (1 in three dimensions); u by factors of the matrix, in three dimensions by
 * bicg to 1e-6. iterations: to 1e-6 from 0, at 8 points per wavelength, for LEAST (2), twice that
 * ... MOST wavelengths between layers of one; without preconditioner where a method's text has
 * none, "gmres precon=strips"; precon=born is some steps of the Born series, to two digits, and
 * wave=cocr the series' operator by itself, without differences, solved by a method. medium: the
 * same with k that varies by 20%, and jumps by 20% at a ball of one wavelength next to the middle.
 * Ranks that mpirun has started have the grid together.
 */
#include "peers/peer.h"

#include <math.h>
#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_MPI
#include <spry/mpi.h>
#endif

#define PI 3.14159265358979323846

typedef struct problem {
    int dimensions, points, inner, width;
    const char *scheme;
    bool varies;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *x;
    spry_helmholtz_info info;
} problem;

static void medium(void *data, const double *place, spry_scalar *value)
{
    const double x = place[0] - 1, square = x * x + place[1] * place[1] + place[2] * place[2];
    const double k =
        2 * PI * (1 + 0.2 * sin(2.1 * place[0]) * sin(1.7 * place[1] + 1)) * (square < 1 ? 1.2 : 1);
    (void)data;
    *value = (spry_scalar){k * k, 0};
}

/* k^2 at all points, or at those of unknowns. */
static spry_vector *squares(spry_context *ctx, const problem *p, const spry_grid *grid, bool all)
{
    spry_vector *k2;
    peer_need(ctx, p->varies ? spry_field_new(grid, SPRY_TYPE_D, all, medium, NULL, &k2)
                             : spry_vector_new(ctx, SPRY_TYPE_D, 1, (double[]){4 * PI * PI},
                                               SPRY_OWN_COPY, &k2));
    return k2;
}

static void problem_new(spry_context *ctx, problem *p)
{
    const int n = (p->inner + 2 * p->width) * p->points;
    const double half = p->inner / 2.0 + p->width;
    char text[128], options[64];
    spry_vector *k2 = NULL;
    int length = snprintf(text, sizeof text, "%dx%d", n, n);
    if (p->dimensions == 3)
        length += snprintf(text + length, sizeof text - (size_t)length, "x%d", n);
    snprintf(text + length, sizeof text - (size_t)length, " box=%g:%g boundary=absorb layer=%d",
             -half, half, p->width * p->points);
    snprintf(options, sizeof options, "scheme=%s", p->scheme);
    p->info = (spry_helmholtz_info)SPRY_HELMHOLTZ_INFO_INIT;
    peer_need(ctx, spry_grid_new(ctx, text, &p->grid));
    k2 = squares(ctx, p, p->grid, true);
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

static spry_status by_waves(void *wave, spry_transpose transpose, const spry_vector *f,
                            spry_vector *u, void *stream)
{
    (void)transpose;
    (void)stream;
    return spry_wave_solve(wave, f, u, NULL);
}

/* A solve; -1: it did not converge. A combination that cannot be is -2, and printed. */
static int64_t iterate(spry_context *ctx, problem *p, const char *options, const spry_operator *M)
{
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, options));
    peer_need(ctx, spry_solver_set_operator(solver, p->A));
    if (M)
        peer_need(ctx, spry_solver_set_precon(solver, M));
    peer_need(ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    const spry_status status = spry_solve(solver, p->b, p->x, &result);
    if (status != SPRY_STATUS_OK)
        fprintf(stderr, "%s: %s\n", options, spry_message(ctx));
    const int64_t iterations =
        status != SPRY_STATUS_OK ? -2 : (result.converged ? result.iterations : -1);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    return iterations;
}

/* The same with some steps of the Born series in the preconditioner's place. */
static int64_t iterate_after_series(spry_context *ctx, problem *p, const char *options)
{
    char layer[40];
    spry_vector *k2 = squares(ctx, p, p->grid, false);
    spry_wave *wave;
    spry_operator *M;
    const int64_t n = spry_vector_size(p->b);
    snprintf(layer, sizeof layer, "tol=1e-2 layer=%d", p->points);
    peer_need(ctx, spry_wave_new(p->grid, k2, layer, &wave));
    peer_need(ctx,
              spry_operator_from_product(ctx, NULL, SPRY_TYPE_Z, n, n, false, by_waves, wave, &M));
    const int64_t iterations = iterate(ctx, p, options, M);
    spry_operator_free(M);
    spry_wave_free(wave);
    spry_vector_free(k2);
    return iterations;
}

/* The series' operator on the box between the layers, with layers of its own. */
static int64_t iterate_series(spry_context *ctx, const problem *p, const char *method)
{
    const int n = p->inner * p->points;
    const double half = p->inner / 2.0;
    char text[128], options[64];
    spry_grid *grid;
    spry_vector *f, *u;
    spry_wave *wave;
    spry_result result = SPRY_RESULT_INIT;
    snprintf(text, sizeof text, p->dimensions == 2 ? "%dx%d" : "%dx%dx%d", n, n, n);
    snprintf(text + strlen(text), sizeof text - strlen(text), " box=%g:%g boundary=neumann", -half,
             half);
    snprintf(options, sizeof options, "method=%s tol=1e-6 max-iter=20000", method);
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    peer_need(ctx, spry_field_wave(grid, SPRY_TYPE_Z, false, "kind=point amplitude=-1", &f));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &u));
    spry_vector *k2 = squares(ctx, p, grid, false);
    spry_status status = spry_wave_new(grid, k2, options, &wave);
    if (status == SPRY_STATUS_OK)
        status = spry_wave_solve(wave, f, u, &result);
    if (status != SPRY_STATUS_OK)
        fprintf(stderr, "wave=%s: %s\n", method, spry_message(ctx));
    const int64_t iterations =
        status != SPRY_STATUS_OK ? -2 : (result.converged ? result.iterations : -1);
    spry_result_clear(ctx, &result);
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_vector_free(f);
    spry_vector_free(u);
    spry_grid_free(grid);
    return iterations;
}

/* The iterations of a method's text. */
static int64_t iterations_of(spry_context *ctx, problem *p, const char *text)
{
    static const char series[] = " precon=born", alone[] = "wave=";
    char options[512];
    const char *at = strstr(text, series);
    if (strncmp(text, alone, strlen(alone)) == 0)
        return iterate_series(ctx, p, text + strlen(alone));
    if (at) {
        snprintf(options, sizeof options, "method=%.*s precon=none tol=1e-6 max-iter=20000",
                 (int)(at - text), text);
        return iterate_after_series(ctx, p, options);
    }
    snprintf(options, sizeof options, "method=%s%s tol=1e-6 max-iter=20000", text,
             strstr(text, "precon=") ? "" : " precon=none");
    return iterate(ctx, p, options, NULL);
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
                iterate(ctx, &p, "method=bicg precon=none tol=1e-6 max-iter=20000", NULL);
            printf(" | %.2g, %.2g", p.info.wave_number_error, green_error(ctx, &p));
            fflush(stdout);
            problem_free(&p);
        }
        printf("\n");
    }
}

static void iterations(spry_context *ctx, int dimensions, int least, int most, int count,
                       char **methods, bool varies)
{
    const bool first = spry_context_rank(ctx) == 0;
    if (first)
        printf("wavelengths  unknowns");
    for (int m = 0; m < count && first; m++)
        printf("  %s", methods[m]);
    if (first)
        printf("\n");
    for (int inner = least; inner <= most; inner *= 2) {
        problem p = {.dimensions = dimensions,
                     .points = 8,
                     .inner = inner,
                     .width = 1,
                     .scheme = "optimal",
                     .varies = varies};
        problem_new(ctx, &p);
        spry_grid_info info = SPRY_GRID_INFO_INIT;
        peer_need(ctx, spry_grid_describe(p.grid, &info));
        if (first)
            printf("%11d  %8lld", inner, (long long)info.unknowns);
        for (int m = 0; m < count; m++) {
            const int64_t count_of = iterations_of(ctx, &p, methods[m]);
            if (first)
                printf("  %lld", (long long)count_of);
            fflush(stdout);
        }
        if (first)
            printf("\n");
        problem_free(&p);
    }
}

static spry_status context_new(spry_context **ctx)
{
#ifdef HAVE_MPI
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE"))
        return spry_context_new_ranked(spry_mpi_team_new(NULL), NULL, ctx);
#endif
    return spry_context_new(NULL, ctx);
}

int main(int argc, char **argv)
{
    static char *all[] = {"bicg", "bicgstab", "cocg", "cocr", "gmres restart=50", "idr"};
    const int dimensions = argc > 2 ? atoi(argv[2]) : 2;
    const char *colon = argc > 3 ? strchr(argv[3], ':') : NULL;
    const int least = colon ? atoi(argv[3]) : 2;
    const int most = colon ? atoi(colon + 1) : (argc > 3 ? atoi(argv[3]) : 16);
    const bool named = argc > 4;
    spry_context *ctx = NULL;
    if (context_new(&ctx) != SPRY_STATUS_OK)
        return 1;
    const bool varies = argc > 1 && strcmp(argv[1], "medium") == 0;
    if (least < 1)
        return 2;
    if (varies || (argc > 1 && strcmp(argv[1], "iterations") == 0))
        iterations(ctx, dimensions, least, most, named ? argc - 4 : 6, named ? argv + 4 : all,
                   varies);
    else
        errors(ctx, dimensions, most);
    spry_context_free(ctx);
    return 0;
}
