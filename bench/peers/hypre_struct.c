/*
 * usage: [mpirun -n RANKS] bench_poisson_hypre [INTERVALS [pfmg|smg|cg-pfmg|cg-smg ...]]
 * What bench_poisson solves, by hypre's multigrid for structured grids: the same 7-point stencil,
 * right-hand side and tolerance, set-up included. Ranks have slabs of planes.
 */
#include <HYPRE.h>
#include <HYPRE_struct_ls.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 7, ITERATIONS = 200 };
#define TOLERANCE 1e-8

typedef struct problem {
    int n;                     /* intervals; there are n - 1 unknowns along each axis */
    HYPRE_Int low[3], high[3]; /* of this rank's box */
    long rows;
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix A;
    HYPRE_StructVector b, x;
} problem;

static void *need(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "bench_poisson_hypre: out of memory\n");
        exit(3);
    }
    return memory;
}

static void make_grid(problem *p, int rank, int size)
{
    static HYPRE_Int offsets[POINTS][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                           {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    const int last = p->n - 1;
    for (int a = 0; a < 3; a++) {
        p->low[a] = 1;
        p->high[a] = last;
    }
    p->low[2] = 1 + last * rank / size;
    p->high[2] = last * (rank + 1) / size;
    p->rows = (long)last * last * (p->high[2] - p->low[2] + 1);
    HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &p->grid);
    HYPRE_StructGridSetExtents(p->grid, p->low, p->high);
    HYPRE_StructGridAssemble(p->grid);
    HYPRE_StructStencilCreate(3, POINTS, &p->stencil);
    for (int k = 0; k < POINTS; k++)
        HYPRE_StructStencilSetElement(p->stencil, k, offsets[k]);
}

/* 0 where a neighbour is a point of the boundary. */
static double weight(const problem *p, int k, const HYPRE_Int at[3])
{
    const double scale = (double)p->n * p->n;
    if (k == 0)
        return 6 * scale;
    const HYPRE_Int edge = k % 2 ? 1 : p->n - 1;
    return at[(k - 1) / 2] == edge ? 0 : -scale;
}

static void make_system(problem *p, double *values)
{
    HYPRE_Int entries[POINTS], at[3];
    double *right = need((size_t)p->rows * sizeof *right);
    long row = 0;
    for (int k = 0; k < POINTS; k++)
        entries[k] = k;
    for (at[2] = p->low[2]; at[2] <= p->high[2]; at[2]++)
        for (at[1] = p->low[1]; at[1] <= p->high[1]; at[1]++)
            for (at[0] = p->low[0]; at[0] <= p->high[0]; at[0]++, row++) {
                for (int k = 0; k < POINTS; k++)
                    values[row * POINTS + k] = weight(p, k, at);
                right[row] = 1 + (double)at[0] / p->n * at[1] / p->n - (double)at[2] / p->n;
            }
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, p->grid, p->stencil, &p->A);
    HYPRE_StructMatrixInitialize(p->A);
    HYPRE_StructMatrixSetBoxValues(p->A, p->low, p->high, POINTS, entries, values);
    HYPRE_StructMatrixAssemble(p->A);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->b);
    HYPRE_StructVectorInitialize(p->b);
    HYPRE_StructVectorSetBoxValues(p->b, p->low, p->high, right);
    HYPRE_StructVectorAssemble(p->b);
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, p->grid, &p->x);
    HYPRE_StructVectorInitialize(p->x);
    HYPRE_StructVectorSetConstantValues(p->x, 0);
    HYPRE_StructVectorAssemble(p->x);
    free(right);
}

/* PFMG or SMG: by itself, or one cycle as a preconditioner. */
static HYPRE_StructSolver make_multigrid(bool smg, bool alone)
{
    HYPRE_StructSolver s;
    if (smg) {
        HYPRE_StructSMGCreate(MPI_COMM_WORLD, &s);
        HYPRE_StructSMGSetTol(s, alone ? TOLERANCE : 0);
        HYPRE_StructSMGSetMaxIter(s, alone ? ITERATIONS : 1);
        HYPRE_StructSMGSetLogging(s, alone); /* which its residual's norm is known by */
        if (!alone)
            HYPRE_StructSMGSetZeroGuess(s);
    } else {
        HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &s);
        HYPRE_StructPFMGSetTol(s, alone ? TOLERANCE : 0);
        HYPRE_StructPFMGSetMaxIter(s, alone ? ITERATIONS : 1);
        HYPRE_StructPFMGSetLogging(s, alone);
        HYPRE_StructPFMGSetRelaxType(s, 2); /* red-black Gauss-Seidel */
        if (!alone)
            HYPRE_StructPFMGSetZeroGuess(s);
    }
    return s;
}

static void solve(problem *p, const char *name, int rank, int size)
{
    const bool cg = strncmp(name, "cg-", 3) == 0, smg = strstr(name, "smg") != NULL;
    HYPRE_StructSolver outer = NULL;
    HYPRE_Int count = 0;
    HYPRE_Real residual = 0;
    HYPRE_StructVectorSetConstantValues(p->x, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const clock_t before = clock();
    HYPRE_StructSolver s = make_multigrid(smg, !cg);
    if (cg) {
        HYPRE_StructPCGCreate(MPI_COMM_WORLD, &outer);
        HYPRE_StructPCGSetTol(outer, TOLERANCE);
        HYPRE_StructPCGSetMaxIter(outer, ITERATIONS);
        HYPRE_StructPCGSetTwoNorm(outer, 1);
        HYPRE_StructPCGSetPrecond(outer, smg ? HYPRE_StructSMGSolve : HYPRE_StructPFMGSolve,
                                  smg ? HYPRE_StructSMGSetup : HYPRE_StructPFMGSetup, s);
        HYPRE_StructPCGSetup(outer, p->A, p->b, p->x);
    } else if (smg) {
        HYPRE_StructSMGSetup(s, p->A, p->b, p->x);
    } else {
        HYPRE_StructPFMGSetup(s, p->A, p->b, p->x);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double middle = MPI_Wtime();
    if (cg) {
        HYPRE_StructPCGSolve(outer, p->A, p->b, p->x);
        HYPRE_StructPCGGetNumIterations(outer, &count);
        HYPRE_StructPCGGetFinalRelativeResidualNorm(outer, &residual);
    } else if (smg) {
        HYPRE_StructSMGSolve(s, p->A, p->b, p->x);
        HYPRE_StructSMGGetNumIterations(s, &count);
        HYPRE_StructSMGGetFinalRelativeResidualNorm(s, &residual);
    } else {
        HYPRE_StructPFMGSolve(s, p->A, p->b, p->x);
        HYPRE_StructPFMGGetNumIterations(s, &count);
        HYPRE_StructPFMGGetFinalRelativeResidualNorm(s, &residual);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double end = MPI_Wtime(), spent = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (rank == 0)
        printf("hypre %-8s %d ranks %8.3f s (set-up %.3f), %.3f s of the processor per rank, %3d "
               "iterations, "
               "residual %.1e\n",
               name, size, end - begin, middle - begin, spent, (int)count, residual);
    if (cg)
        HYPRE_StructPCGDestroy(outer);
    if (smg)
        HYPRE_StructSMGDestroy(s);
    else
        HYPRE_StructPFMGDestroy(s);
}

int main(int argc, char **argv)
{
    problem p = {0};
    int rank = 0, size = 1;
    MPI_Init(&argc, &argv);
    HYPRE_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p.n = argc > 1 ? atoi(argv[1]) : 192;
    make_grid(&p, rank, size);
    double *values = need((size_t)p.rows * POINTS * sizeof *values);
    make_system(&p, values);
    free(values);
    if (argc <= 2) {
        solve(&p, "pfmg", rank, size);
        solve(&p, "smg", rank, size);
        solve(&p, "cg-pfmg", rank, size);
    }
    for (int k = 2; k < argc; k++)
        solve(&p, argv[k], rank, size);
    HYPRE_StructMatrixDestroy(p.A);
    HYPRE_StructVectorDestroy(p.b);
    HYPRE_StructVectorDestroy(p.x);
    HYPRE_StructStencilDestroy(p.stencil);
    HYPRE_StructGridDestroy(p.grid);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
