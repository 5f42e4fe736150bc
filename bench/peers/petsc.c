/*
 * PETSc's MatMult: bench_peer_petsc MATRIX, alone or under mpirun. Every process makes the matrix
 * and takes its rows. Prints the seconds of the best product and of the median.
 */
#include "peer.h"

#include <petscmat.h>
#include <stdlib.h>

typedef struct state {
    Mat A;
    Vec x, y;
} state;

static void product(void *data)
{
    state *s = data;
    MPI_Barrier(PETSC_COMM_WORLD);
    MatMult(s->A, s->x, s->y);
    MPI_Barrier(PETSC_COMM_WORLD);
}

static int run(const char *text)
{
    spry_context *ctx = NULL;
    if (spry_context_new("threads=1", &ctx) != SPRY_OK)
        return 2;
    spry_matrix *matrix = peer_matrix(ctx, text);
    const spry_arrays a = spry_matrix_arrays(matrix);
    if (spry_type_size(a.type) != sizeof(PetscScalar) || spry_type_is_complex(a.type))
        return 2; /* a PETSc knows one type */
    int rank = 0, size = 1;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    /* Rows so that processes have equal numbers of entries, as spry's threads do. */
    int64_t begin = 0, end = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        begin += a.offsets[i] < a.nnz / size * rank;
        end += rank == size - 1 || a.offsets[i] < a.nnz / size * (rank + 1);
    }
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
    PetscCall(MatCreateVecs(s.A, &s.x, &s.y));
    PetscCall(VecSet(s.x, 1));
    spry_matrix_free(matrix); /* PETSc has copied it */
    const peer_times times = peer_time(product, &s, 20);
    if (rank == 0)
        printf("%.9g %.9g\n", times.best, times.median);
    free(offsets);
    PetscCall(VecDestroy(&s.x));
    PetscCall(VecDestroy(&s.y));
    PetscCall(MatDestroy(&s.A));
    spry_context_free(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    const int status = argc == 2 ? run(argv[1]) : 2;
    PetscCall(PetscFinalize());
    return status;
}
