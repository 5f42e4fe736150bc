/*
 * PETSc, alone or under mpirun. Every process makes the matrix and takes its rows.
 *   bench_peer_petsc MATRIX [aij|sell]                             MatMult: best and median seconds
 *   bench_peer_petsc MATRIX NORM PRECON THREADS ITERATIONS         KSPCG: see peer.h
 * NORM is natural, the cheapest of its tests for the end, or unpreconditioned, which is spry's.
 * PETSC_OPTIONS are read.
 */
#include "peer.h"

#include <petscksp.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    Mat A;
    Vec x, y;
    KSP ksp;
} state;

static void product(void *data)
{
    state *s = data;
    MPI_Barrier(PETSC_COMM_WORLD);
    MatMult(s->A, s->x, s->y);
    MPI_Barrier(PETSC_COMM_WORLD);
}

/* A x = y from x = 0; the tolerances are never met */
static double solve(void *data, int iterations)
{
    state *s = data;
    PetscInt done = 0;
    KSPSetTolerances(s->ksp, 1e-300, 1e-300, 1e300, iterations);
    MPI_Barrier(PETSC_COMM_WORLD);
    const double begin = peer_seconds();
    KSPSolve(s->ksp, s->y, s->x);
    MPI_Barrier(PETSC_COMM_WORLD);
    const double seconds = peer_seconds() - begin;
    KSPGetIterationNumber(s->ksp, &done);
    if (done != iterations)
        peer_refuse("it ended early");
    return seconds;
}

static PetscErrorCode run_cg(state *s, const peer_job *job, int rank)
{
    const bool natural = strcmp(job->variant, "natural") == 0;
    PC pc;
    Vec r = NULL;
    PetscReal above, below;
    PetscFunctionBeginUser;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
    PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
    PetscCall(KSPSetType(s->ksp, KSPCG));
    PetscCall(KSPSetNormType(s->ksp, natural ? KSP_NORM_NATURAL : KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPGetPC(s->ksp, &pc));
    PetscCall(PCSetType(pc, job->precon)); /* its names are the same */
    PetscCall(KSPSetFromOptions(s->ksp));
    PetscCall(KSPSetUp(s->ksp));
    PetscCall(VecSet(s->y, 1));
    const double seconds = peer_iteration_time(solve, s, job->iterations);
    PetscCall(KSPBuildResidual(s->ksp, NULL, NULL, &r));
    PetscCall(VecNorm(r, NORM_2, &above));
    PetscCall(VecNorm(s->y, NORM_2, &below));
    if (rank == 0)
        peer_answer(seconds, above / below, 0);
    PetscCall(VecDestroy(&r));
    PetscCall(KSPDestroy(&s->ksp));
    PetscFunctionReturn(0);
}

static int run(const char *text, const char *kind, const peer_job *job)
{
    spry_context *ctx = NULL;
    if (spry_context_new("threads=1", &ctx) != SPRY_STATUS_OK)
        return 2;
    spry_matrix *matrix = peer_matrix(ctx, text);
    const peer_arrays a = peer_arrays_of(matrix);
    if (spry_type_size(a.type) != sizeof(PetscScalar) || spry_type_is_complex(a.type))
        return 2; /* a PETSc knows one type */
    int rank = 0, size = 1;
    int64_t begin, end;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    peer_rows(&a, rank, size, &begin, &end);
    PetscInt *offsets = malloc((size_t)(end - begin + 1) * sizeof *offsets);
    if (!offsets)
        return 3;
    for (int64_t i = begin; i <= end; i++)
        offsets[i - begin] = (PetscInt)(a.offsets[i] - a.offsets[begin]);
    state s;
    const PetscInt rows = (PetscInt)(end - begin);
    PetscScalar *values = (PetscScalar *)a.values + a.offsets[begin];
    PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE,
                                        PETSC_DETERMINE, offsets, a.col_index + a.offsets[begin],
                                        values, &s.A));
    if (strcmp(kind, "sell") == 0)
        PetscCall(MatConvert(s.A, MATSELL, MAT_INPLACE_MATRIX, &s.A));
    PetscCall(MatCreateVecs(s.A, &s.x, &s.y));
    PetscCall(VecSet(s.x, 1));
    spry_matrix_free(matrix); /* PETSc has copied it */
    if (job) {
        PetscCall(run_cg(&s, job, rank));
    } else {
        const peer_times times = peer_time(product, &s, 20);
        if (rank == 0)
            printf("%.9g %.9g\n", times.best, times.median);
    }
    free(offsets);
    PetscCall(VecDestroy(&s.x));
    PetscCall(VecDestroy(&s.y));
    PetscCall(MatDestroy(&s.A));
    spry_context_free(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    peer_job job;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    const bool cg = peer_job_read(argc, argv, &job);
    const int status = cg || argc == 2 || argc == 3
                           ? run(argv[1], argc == 3 ? argv[2] : "aij", cg ? &job : NULL)
                           : 2;
    PetscCall(PetscFinalize());
    return status;
}
