/*
 * PETSc's preconditioners, under mpirun: see system.h. The configuration is what PETSc's own
 * command line would be, "-ksp_type cg -pc_type gamg", and one word more, "-rigid", which gives it
 * the rigid body modes of the elastic box. Built for real and for complex numbers, as they are
 * installed.
 */
#include "system.h"

#include <petscksp.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    Mat A;
    Vec b, x, r;
    int64_t begin, end; /* rows of this process */
} state;

/* The six modes, from where the nodes are. */
static PetscErrorCode give_modes(const peer_system *system, const state *s)
{
    Vec places;
    MatNullSpace modes;
    PetscScalar *values;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(s->A, &places, NULL));
    PetscCall(VecSetBlockSize(places, 3));
    PetscCall(VecGetArray(places, &values));
    for (int64_t i = s->begin; i < s->end; i++) {
        double at[3];
        if (!system_node(system, i / 3, at))
            peer_refuse("no rigid body modes are known for this matrix");
        values[i - s->begin] = at[i % 3];
    }
    PetscCall(VecRestoreArray(places, &values));
    PetscCall(MatNullSpaceCreateRigidBody(places, &modes));
    PetscCall(MatSetNearNullSpace(s->A, modes));
    PetscCall(MatNullSpaceDestroy(&modes));
    PetscCall(VecDestroy(&places));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_matrix(const peer_system *system, state *s)
{
    const peer_arrays *a = &system->arrays;
    const PetscInt rows = (PetscInt)(s->end - s->begin);
    PetscScalar *values = (PetscScalar *)a->values + a->offsets[s->begin];
    PetscInt *offsets = malloc((size_t)(rows + 1) * sizeof *offsets);
    bool positive;
    PetscFunctionBeginUser;
    if (!offsets)
        peer_refuse("out of memory");
    for (int64_t i = s->begin; i <= s->end; i++)
        offsets[i - s->begin] = (PetscInt)(a->offsets[i] - a->offsets[s->begin]);
    PetscCall(MatCreate(PETSC_COMM_WORLD, &s->A));
    PetscCall(MatSetSizes(s->A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(s->A, MATAIJ));
    PetscCall(MatSetBlockSize(s->A, system->block));
    PetscCall(
        MatMPIAIJSetPreallocationCSR(s->A, offsets, a->col_index + a->offsets[s->begin], values));
    PetscCall(
        MatSeqAIJSetPreallocationCSR(s->A, offsets, a->col_index + a->offsets[s->begin], values));
    if (system_is_symmetric(system, &positive)) {
        PetscCall(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
        PetscCall(MatSetOption(s->A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    }
    free(offsets);
    PetscFunctionReturn(0);
}

static PetscErrorCode make_vectors(const peer_system *system, state *s)
{
    const PetscScalar *b = spry_vector_data_const(system->b);
    PetscScalar *values;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
    PetscCall(VecDuplicate(s->b, &s->r));
    PetscCall(VecGetArray(s->b, &values));
    memcpy(values, b + s->begin, (size_t)(s->end - s->begin) * sizeof *values);
    PetscCall(VecRestoreArray(s->b, &values));
    PetscCall(VecSet(s->x, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode true_residual(const state *s, double *residual)
{
    PetscReal above, below;
    PetscFunctionBeginUser;
    PetscCall(MatMult(s->A, s->x, s->r));
    PetscCall(VecAYPX(s->r, -1, s->b));
    PetscCall(VecNorm(s->r, NORM_2, &above));
    PetscCall(VecNorm(s->b, NORM_2, &below));
    *residual = above / below;
    PetscFunctionReturn(0);
}

/* Passes until the true residual is small, or one ends for another reason. */
static PetscErrorCode solve(KSP ksp, const state *s, int64_t *iterations, double *residual)
{
    KSPConvergedReason reason;
    PetscInt count;
    PetscFunctionBeginUser;
    for (int pass = 0; pass < SYSTEM_PASSES; pass++) {
        PetscCall(KSPSolve(ksp, s->b, s->x));
        PetscCall(KSPGetIterationNumber(ksp, &count));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCall(true_residual(s, residual));
        *iterations += count;
        if (*residual <= SYSTEM_TOLERANCE || reason < 0 || count == 0)
            break;
        PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode run(const state *s, int rank)
{
    KSP ksp;
    int64_t iterations = 0;
    double residual = 1;
    PetscFunctionBeginUser;
    MPI_Barrier(PETSC_COMM_WORLD);
    const double begin = peer_seconds();
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, s->A, s->A));
    PetscCall(KSPSetTolerances(ksp, SYSTEM_TOLERANCE, 0, 1e10, SYSTEM_ITERATIONS));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    MPI_Barrier(PETSC_COMM_WORLD);
    const double middle = peer_seconds();
    PetscCall(solve(ksp, s, &iterations, &residual));
    MPI_Barrier(PETSC_COMM_WORLD);
    const double end = peer_seconds();
    if (rank == 0)
        system_answer(middle - begin, end - middle, iterations, residual);
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    peer_system system;
    state s = {0};
    int rank = 0, size = 1;
    PetscBool rigid = PETSC_FALSE;
    PetscCall(PetscInitializeNoArguments());
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    system_open(argc, argv, 1, &system);
    if (spry_type_size(system.arrays.type) != sizeof(PetscScalar) ||
        spry_type_is_complex(system.arrays.type) != (sizeof(PetscScalar) > sizeof(PetscReal)))
        peer_refuse("unavailable: this PETSc has numbers of another type");
    system_complete(&system);
    system_rows(&system, rank, size, &s.begin, &s.end);
    PetscCall(PetscOptionsInsertString(NULL, system.configuration));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-rigid", &rigid));
    PetscCall(make_matrix(&system, &s));
    if (rigid)
        PetscCall(give_modes(&system, &s));
    PetscCall(make_vectors(&system, &s));
    PetscCall(run(&s, rank));
    PetscCall(VecDestroy(&s.r));
    PetscCall(VecDestroy(&s.x));
    PetscCall(VecDestroy(&s.b));
    PetscCall(MatDestroy(&s.A));
    system_close(&system);
    PetscCall(PetscFinalize());
    return 0;
}
