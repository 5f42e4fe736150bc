/*
 * usage: bench_media PROBLEM INTERVALS DIMENSIONS [SOLVER ...]
 * Iterations and processor time, with set-up, to 1e-8 of systems that are hard for geometric
 * multigrid, by spry ("method=cg precon=gmg") and by hypre's for structured grids (pfmg, smg,
 * cg-pfmg, cg-smg, bicgstab-pfmg, bicgstab-smg), of the same matrix. PROBLEM: poisson -laplace
 *   blocks:JUMP      -div(k*grad), 32 blocks along each axis with k = JUMP^u, u random in 0..1
 *   inclusion:JUMP   k = JUMP in 0.3..0.7 along each axis, off the coarse lines, else 1
 *   wind:V           -laplace + V*dx
 *   diagonal:V       -laplace + V*dx + V*dy
 *   whirl:V          -laplace + a*dx + b*dy, a wind of V that goes round
 */
#include <math.h>
#include <spry/grid/grid.h>
#include <spry/spry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_HYPRE
#include <HYPRE.h>
#include <HYPRE_struct_ls.h>
#endif

enum { MOST = 500, BLOCKS = 32 };
#define TOLERANCE 1e-8

typedef struct problem {
    const char *name;
    double size; /* the jump, or the wind */
    int n, dimensions;
    spry_context *ctx;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *x;
} problem;

static void check(spry_context *ctx, spry_status status)
{
    if (status == SPRY_STATUS_OK)
        return;
    fprintf(stderr, "bench_media: %s\n", spry_message(ctx));
    exit(1);
}

/* A number in 0..1 for a block. */
static double number_of(uint64_t seed)
{
    seed = (seed + 1) * 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    return (double)((seed ^ seed >> 31) >> 11) / 9007199254740992.0;
}

static void conductivity(void *data, const double *place, spry_scalar *value)
{
    const problem *p = data;
    bool inside = true;
    uint64_t block = 0;
    for (int a = 0; a < p->dimensions; a++) {
        const int at = (int)(place[a] * BLOCKS);
        block = block * BLOCKS + (uint64_t)(at < BLOCKS ? at : BLOCKS - 1);
        inside = inside && place[a] > 0.3 && place[a] < 0.7;
    }
    const bool blocks = strcmp(p->name, "blocks") == 0;
    value->re = blocks ? pow(p->size, number_of(block)) : inside ? p->size : 1;
}

static void wind_x(void *data, const double *place, spry_scalar *value)
{
    value->re = ((const problem *)data)->size * sin(3.14159265358979 * place[0]) *
                cos(3.14159265358979 * place[1]);
}

static void wind_y(void *data, const double *place, spry_scalar *value)
{
    value->re = -((const problem *)data)->size * cos(3.14159265358979 * place[0]) *
                sin(3.14159265358979 * place[1]);
}

static void right_side(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    value->re = 1 + place[0] * place[1] - place[2];
}

static void make(problem *p)
{
    static const char *const names[] = {"k", "a", "b"};
    char text[96];
    spry_vector *field[3];
    const bool flux = strcmp(p->name, "blocks") == 0 || strcmp(p->name, "inclusion") == 0;
    snprintf(text, sizeof text, p->dimensions == 2 ? "%dx%d" : "%dx%dx%d", p->n, p->n, p->n);
    check(p->ctx, spry_grid_new(p->ctx, text, &p->grid));
    check(p->ctx, spry_field_new(p->grid, SPRY_TYPE_D, true, conductivity, p, &field[0]));
    check(p->ctx, spry_field_new(p->grid, SPRY_TYPE_D, true, wind_x, p, &field[1]));
    check(p->ctx, spry_field_new(p->grid, SPRY_TYPE_D, true, wind_y, p, &field[2]));
    snprintf(text, sizeof text, "-laplace");
    if (flux)
        snprintf(text, sizeof text, "-div(k*grad)");
    else if (strcmp(p->name, "wind") == 0)
        snprintf(text, sizeof text, "-laplace + %.17g*dx", p->size);
    else if (strcmp(p->name, "diagonal") == 0)
        snprintf(text, sizeof text, "-laplace + %.17g*dx + %.17g*dy", p->size, p->size);
    else if (strcmp(p->name, "whirl") == 0)
        snprintf(text, sizeof text, "-laplace + a*dx + b*dy");
    check(p->ctx, spry_operator_stencil(p->grid, text, NULL, 3, names,
                                        (const spry_vector *const *)field, &p->A));
    check(p->ctx, spry_field_new(p->grid, SPRY_TYPE_D, false, right_side, NULL, &p->b));
    check(p->ctx, spry_field_new(p->grid, SPRY_TYPE_D, false, NULL, NULL, &p->x));
    for (int k = 0; k < 3; k++)
        spry_vector_free(field[k]);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const problem *p, const char *solver, double begin, int count, double residual)
{
    printf("%s:%g %d^%d  %-40s %3d iterations, residual %.1e, %.2f s of the processor\n", p->name,
           p->size, p->n, p->dimensions, solver, count, residual, seconds() - begin);
    fflush(stdout);
}

static void solve_ours(problem *p, const char *options)
{
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    char text[256];
    check(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    snprintf(text, sizeof text, "%s tol=%g max-iter=%d", options, TOLERANCE, MOST);
    const double begin = seconds();
    check(p->ctx, spry_solver_new(p->ctx, &solver));
    check(p->ctx, spry_solver_set(solver, text));
    check(p->ctx, spry_solver_set_operator(solver, p->A));
    check(p->ctx, spry_solve(solver, p->b, p->x, &result));
    report(p, options, begin, (int)result.iterations, result.residual);
    spry_result_clear(p->ctx, &result);
    spry_solver_free(solver);
}

#ifdef WITH_HYPRE
enum { POINTS = 7 };

typedef struct structured {
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix A;
    HYPRE_StructVector b, x;
} structured;

/* The rows of the same matrix. */
static void bring(const problem *p, structured *s)
{
    static HYPRE_Int offsets[POINTS][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                           {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    const int points = 1 + 2 * p->dimensions;
    const int64_t m = p->n - 1, rows = spry_vector_size(p->b);
    HYPRE_Int low[] = {1, 1, 1}, high[] = {(HYPRE_Int)m, (HYPRE_Int)m, (HYPRE_Int)m};
    HYPRE_Int entries[POINTS] = {0, 1, 2, 3, 4, 5, 6};
    spry_matrix *A;
    spry_arrays csr = SPRY_ARRAYS_INIT;
    double *values = calloc((size_t)(rows * points), sizeof *values);
    check(p->ctx, spry_operator_to_matrix(p->A, &A));
    check(p->ctx, spry_matrix_arrays(A, &csr));
    const int64_t *offsets_of = csr.offsets;
    for (int64_t i = 0; values && i < rows; i++)
        for (int64_t k = offsets_of[i]; k < offsets_of[i + 1]; k++) {
            const int64_t d = ((const int32_t *)csr.col_index)[k] - i;
            const int axis = llabs(d) == m * m && p->dimensions > 2 ? 2 : llabs(d) == m ? 1 : 0;
            values[i * points + (d == 0 ? 0 : 1 + 2 * axis + (d > 0))] =
                ((const double *)csr.values)[k];
        }
    spry_matrix_free(A);
    HYPRE_StructGridCreate(MPI_COMM_WORLD, p->dimensions, &s->grid);
    HYPRE_StructGridSetExtents(s->grid, low, high);
    HYPRE_StructGridAssemble(s->grid);
    HYPRE_StructStencilCreate(p->dimensions, points, &s->stencil);
    for (int k = 0; k < points; k++)
        HYPRE_StructStencilSetElement(s->stencil, k, offsets[k]);
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, s->grid, s->stencil, &s->A);
    HYPRE_StructMatrixInitialize(s->A);
    HYPRE_StructMatrixSetBoxValues(s->A, low, high, points, entries, values);
    HYPRE_StructMatrixAssemble(s->A);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, s->grid, &s->b);
    HYPRE_StructVectorInitialize(s->b);
    HYPRE_StructVectorSetBoxValues(s->b, low, high, spry_vector_data(p->b));
    HYPRE_StructVectorAssemble(s->b);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, s->grid, &s->x);
    HYPRE_StructVectorInitialize(s->x);
    HYPRE_StructVectorAssemble(s->x);
    free(values);
}

static HYPRE_StructSolver one_cycle(bool smg)
{
    HYPRE_StructSolver m;
    if (smg) {
        HYPRE_StructSMGCreate(MPI_COMM_WORLD, &m);
        HYPRE_StructSMGSetTol(m, 0);
        HYPRE_StructSMGSetMaxIter(m, 1);
        HYPRE_StructSMGSetZeroGuess(m);
    } else {
        HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &m);
        HYPRE_StructPFMGSetTol(m, 0);
        HYPRE_StructPFMGSetMaxIter(m, 1);
        HYPRE_StructPFMGSetRelaxType(m, 2); /* red-black Gauss-Seidel, symmetric */
        HYPRE_StructPFMGSetZeroGuess(m);
    }
    return m;
}

static void solve_theirs(const problem *p, const char *name)
{
    const bool smg = strstr(name, "smg") != NULL, cg = strncmp(name, "cg", 2) == 0;
    const HYPRE_PtrToStructSolverFcn run = smg ? HYPRE_StructSMGSolve : HYPRE_StructPFMGSolve,
                                     set = smg ? HYPRE_StructSMGSetup : HYPRE_StructPFMGSetup;
    structured s;
    HYPRE_StructSolver outer, m = one_cycle(smg);
    HYPRE_Int count = 0;
    HYPRE_Real residual = 0;
    bring(p, &s);
    HYPRE_StructVectorSetConstantValues(s.x, 0);
    const double begin = seconds();
    if (cg) {
        HYPRE_StructPCGCreate(MPI_COMM_WORLD, &outer);
        HYPRE_StructPCGSetTol(outer, TOLERANCE);
        HYPRE_StructPCGSetMaxIter(outer, MOST);
        HYPRE_StructPCGSetTwoNorm(outer, 1);
        HYPRE_StructPCGSetPrecond(outer, run, set, m);
        HYPRE_StructPCGSetup(outer, s.A, s.b, s.x);
        HYPRE_StructPCGSolve(outer, s.A, s.b, s.x);
        HYPRE_StructPCGGetNumIterations(outer, &count);
        HYPRE_StructPCGGetFinalRelativeResidualNorm(outer, &residual);
    } else {
        HYPRE_StructBiCGSTABCreate(MPI_COMM_WORLD, &outer);
        HYPRE_StructBiCGSTABSetTol(outer, TOLERANCE);
        HYPRE_StructBiCGSTABSetMaxIter(outer, MOST);
        HYPRE_StructBiCGSTABSetPrecond(outer, run, set, m);
        HYPRE_StructBiCGSTABSetup(outer, s.A, s.b, s.x);
        HYPRE_StructBiCGSTABSolve(outer, s.A, s.b, s.x);
        HYPRE_StructBiCGSTABGetNumIterations(outer, &count);
        HYPRE_StructBiCGSTABGetFinalRelativeResidualNorm(outer, &residual);
    }
    report(p, name, begin, (int)count, residual);
}
#endif

int main(int argc, char **argv)
{
    problem p = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: bench_media PROBLEM[:SIZE] INTERVALS DIMENSIONS [SOLVER ...]\n");
        return 2;
    }
    char *colon = strchr(argv[1], ':');
    p.size = colon ? atof(colon + 1) : 1;
    if (colon)
        *colon = '\0';
    p.name = argv[1];
    p.n = atoi(argv[2]);
    p.dimensions = atoi(argv[3]) == 2 ? 2 : 3;
#ifdef WITH_HYPRE
    MPI_Init(NULL, NULL);
    HYPRE_Init();
#endif
    if (spry_context_new(NULL, &p.ctx) != SPRY_STATUS_OK)
        return 1;
    make(&p);
    for (int k = 4; k < argc; k++) {
        if (strchr(argv[k], '='))
            solve_ours(&p, argv[k]);
#ifdef WITH_HYPRE
        else
            solve_theirs(&p, argv[k]);
#endif
    }
    spry_vector_free(p.b);
    spry_vector_free(p.x);
    spry_operator_free(p.A);
    spry_grid_free(p.grid);
    spry_context_free(p.ctx);
#ifdef WITH_HYPRE
    HYPRE_Finalize();
    MPI_Finalize();
#endif
    return 0;
}
