/*
 * hypre's preconditioners, under mpirun: see system.h. The configuration is "solver=cg precon=amg"
 * and options of that preconditioner, NAME=NUMBER with hypre's own numbers and defaults of hypre's
 * where they are left out; the tables of make_amg() and its like show which there are.
 */
#include "system.h"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_parcsr_mv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESTART = 30, ROTATIONS = 3 };

typedef struct state {
    peer_system system;
    HYPRE_IJMatrix matrix;
    HYPRE_IJVector sides[3], turns[ROTATIONS]; /* b, x, r; rotations of the elastic box */
    HYPRE_ParCSRMatrix A;
    HYPRE_ParVector b, x, r, modes[ROTATIONS];
    int64_t begin, end;
} state;

/* A library's preconditioner, and how its Krylov methods call it. */
typedef struct precon {
    HYPRE_Solver data;
    HYPRE_PtrToSolverFcn setup, apply;
    HYPRE_Int (*destroy)(HYPRE_Solver data);
} precon;

/* A Krylov method, from outside. */
typedef struct method {
    HYPRE_Solver data;
    HYPRE_Int (*setup)(HYPRE_Solver, HYPRE_Matrix, HYPRE_Vector, HYPRE_Vector);
    HYPRE_Int (*solve)(HYPRE_Solver, HYPRE_Matrix, HYPRE_Vector, HYPRE_Vector);
    HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int *);
    HYPRE_Int (*destroy)(HYPRE_Solver);
} method;

/* --- options -------------------------------------------------------------------------------- */

/* What stands behind "name=", NULL when it is not there. */
static const char *word_of(const char *options, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = options; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

static bool is_word(const char *options, const char *name, const char *word)
{
    const char *given = word_of(options, name);
    const size_t length = strlen(word);
    return given && strncmp(given, word, length) == 0 && strchr(" ", given[length]);
}

static double number_of(const char *options, const char *name, double usual)
{
    const char *given = word_of(options, name);
    return given ? strtod(given, NULL) : usual;
}

static int whole_of(const char *options, const char *name, int usual)
{
    return (int)lround(number_of(options, name, usual));
}

/* An option of hypre's with its setter, one of both kinds. */
typedef struct setting {
    const char *name;
    HYPRE_Int (*whole)(HYPRE_Solver, HYPRE_Int);
    HYPRE_Int (*number)(HYPRE_Solver, HYPRE_Real);
} setting;

/* Calls the setters of the options that are there; the list ends with one without a name. */
static void set_given(const char *options, const setting *list, HYPRE_Solver data)
{
    for (; list->name; list++) {
        if (!word_of(options, list->name))
            continue;
        if (list->whole)
            list->whole(data, whole_of(options, list->name, 0));
        else
            list->number(data, number_of(options, list->name, 0));
    }
}

/* --- preconditioners ------------------------------------------------------------------------ */

/* A vector of the rows from `begin` on, which are `indices`, with values or zeros (NULL). */
static HYPRE_ParVector make_vector(const state *s, const HYPRE_BigInt *indices,
                                   const HYPRE_Complex *values, HYPRE_IJVector *v)
{
    HYPRE_ParVector made;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, (HYPRE_BigInt)s->begin, (HYPRE_BigInt)s->end - 1, v);
    HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(*v);
    if (values)
        HYPRE_IJVectorSetValues(*v, (HYPRE_Int)(s->end - s->begin), indices, values);
    HYPRE_IJVectorAssemble(*v);
    HYPRE_IJVectorGetObject(*v, (void **)&made);
    return made;
}

/* Rotations about the axes; hypre makes the translations itself. */
static void give_modes(state *s)
{
    const int64_t rows = s->end - s->begin;
    HYPRE_Complex *values = malloc((size_t)rows * sizeof *values);
    HYPRE_BigInt *indices = malloc((size_t)rows * sizeof *indices);
    if (!values || !indices)
        peer_refuse("out of memory");
    for (int axis = 0; axis < ROTATIONS; axis++) {
        for (int64_t i = s->begin; i < s->end; i++) {
            double at[3];
            const int component = (int)(i % 3), next = (component + 1) % 3;
            if (!system_node(&s->system, i / 3, at))
                peer_refuse("no rigid body modes are known for this matrix");
            indices[i - s->begin] = (HYPRE_BigInt)i;
            values[i - s->begin] = component == axis ? 0
                                   : next == axis    ? at[(axis + 1) % 3]
                                                     : -at[(axis + 2) % 3];
        }
        s->modes[axis] = make_vector(s, indices, values, &s->turns[axis]);
    }
    free(values);
    free(indices);
}

static precon make_amg(state *s, const char *options)
{
    static const setting settings[] = {
        {"strong", NULL, HYPRE_BoomerAMGSetStrongThreshold},
        {"trunc", NULL, HYPRE_BoomerAMGSetTruncFactor},
        {"coarsen", HYPRE_BoomerAMGSetCoarsenType, NULL},
        {"interp", HYPRE_BoomerAMGSetInterpType, NULL},
        {"pmax", HYPRE_BoomerAMGSetPMaxElmts, NULL},
        {"relax", HYPRE_BoomerAMGSetRelaxType, NULL},
        {"sweeps", HYPRE_BoomerAMGSetNumSweeps, NULL},
        {"aggressive", HYPRE_BoomerAMGSetAggNumLevels, NULL},
        {"agginterp", HYPRE_BoomerAMGSetAggInterpType, NULL},
        {"functions", HYPRE_BoomerAMGSetNumFunctions, NULL},
        {"nodal", HYPRE_BoomerAMGSetNodal, NULL},
        {"nodaldiag", HYPRE_BoomerAMGSetNodalDiag, NULL},
        {NULL, NULL, NULL},
    };
    HYPRE_Solver amg;
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_BoomerAMGSetTol(amg, 0);
    set_given(options, settings, amg);
    if (whole_of(options, "rigid", 0) > 0) {
        give_modes(s);
        HYPRE_BoomerAMGSetInterpVectors(amg, ROTATIONS, s->modes);
        HYPRE_BoomerAMGSetInterpVecVariant(amg, whole_of(options, "rigid", 0));
        HYPRE_BoomerAMGSetInterpVecQMax(amg, whole_of(options, "qmax", 4));
    }
    return (precon){amg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup,
                    (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGDestroy};
}

static precon make_ilu(state *s, const char *options)
{
    static const setting settings[] = {
        {"type", HYPRE_ILUSetType, NULL},
        {"level", HYPRE_ILUSetLevelOfFill, NULL},
        {"drop", NULL, HYPRE_ILUSetDropThreshold},
        {"most", HYPRE_ILUSetMaxNnzPerRow, NULL},
        {NULL, NULL, NULL},
    };
    HYPRE_Solver ilu;
    (void)s;
    HYPRE_ILUCreate(&ilu);
    HYPRE_ILUSetMaxIter(ilu, 1);
    HYPRE_ILUSetTol(ilu, 0);
    HYPRE_ILUSetLocalReordering(ilu, whole_of(options, "reorder", 0));
    set_given(options, settings, ilu);
    return (precon){ilu, (HYPRE_PtrToSolverFcn)HYPRE_ILUSetup, (HYPRE_PtrToSolverFcn)HYPRE_ILUSolve,
                    HYPRE_ILUDestroy};
}

static precon make_euclid(state *s, const char *options)
{
    static const setting settings[] = {
        {"level", HYPRE_EuclidSetLevel, NULL},
        {"block", HYPRE_EuclidSetBJ, NULL},
        {NULL, NULL, NULL},
    };
    HYPRE_Solver euclid;
    (void)s;
    HYPRE_EuclidCreate(MPI_COMM_WORLD, &euclid);
    set_given(options, settings, euclid);
    return (precon){euclid, (HYPRE_PtrToSolverFcn)HYPRE_EuclidSetup,
                    (HYPRE_PtrToSolverFcn)HYPRE_EuclidSolve, HYPRE_EuclidDestroy};
}

static precon make_fsai(state *s, const char *options)
{
    static const setting settings[] = {
        {"steps", HYPRE_FSAISetMaxSteps, NULL},
        {"step", HYPRE_FSAISetMaxStepSize, NULL},
        {"kaporin", NULL, HYPRE_FSAISetKapTolerance},
        {NULL, NULL, NULL},
    };
    HYPRE_Solver fsai;
    (void)s;
    HYPRE_FSAICreate(&fsai);
    HYPRE_FSAISetMaxIterations(fsai, 1);
    HYPRE_FSAISetTolerance(fsai, 0);
    HYPRE_FSAISetZeroGuess(fsai, 1);
    set_given(options, settings, fsai);
    return (precon){fsai, (HYPRE_PtrToSolverFcn)HYPRE_FSAISetup,
                    (HYPRE_PtrToSolverFcn)HYPRE_FSAISolve, HYPRE_FSAIDestroy};
}

/* symmetric=0: unfactored, for any matrix; 1: factored. */
static precon make_parasails(state *s, const char *options)
{
    HYPRE_Solver sai;
    (void)s;
    HYPRE_ParCSRParaSailsCreate(MPI_COMM_WORLD, &sai);
    HYPRE_ParCSRParaSailsSetParams(sai, number_of(options, "threshold", 0),
                                   whole_of(options, "levels", 0));
    HYPRE_ParCSRParaSailsSetFilter(sai, number_of(options, "filter", 0));
    HYPRE_ParCSRParaSailsSetSym(sai, whole_of(options, "symmetric", 0));
    return (precon){sai, (HYPRE_PtrToSolverFcn)HYPRE_ParCSRParaSailsSetup,
                    (HYPRE_PtrToSolverFcn)HYPRE_ParCSRParaSailsSolve, HYPRE_ParCSRParaSailsDestroy};
}

static precon make_jacobi(state *s, const char *options)
{
    (void)s, (void)options;
    return (precon){NULL, (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScaleSetup,
                    (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScale, NULL};
}

static precon make_precon(state *s, const char *options)
{
    static const struct maker {
        const char *name;
        precon (*make)(state *s, const char *options);
    } makers[] = {
        {"amg", make_amg},       {"ilu", make_ilu},   {"euclid", make_euclid},
        {"jacobi", make_jacobi}, {"fsai", make_fsai}, {"parasails", make_parasails},
    };
    for (size_t k = 0; k < sizeof makers / sizeof *makers; k++)
        if (is_word(options, "precon", makers[k].name))
            return makers[k].make(s, options);
    peer_refuse("unavailable: this preconditioner");
}

/* --- Krylov methods ------------------------------------------------------------------------- */

static method make_method(const char *options, const precon *p)
{
    HYPRE_Solver k;
    if (is_word(options, "solver", "cg")) {
        HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &k);
        HYPRE_PCGSetTwoNorm(k, 1); /* of the residual itself */
        HYPRE_PCGSetTol(k, SYSTEM_TOLERANCE);
        HYPRE_PCGSetMaxIter(k, SYSTEM_ITERATIONS);
        HYPRE_PCGSetPrecond(k, p->apply, p->setup, p->data);
        return (method){k, HYPRE_PCGSetup, HYPRE_PCGSolve, HYPRE_PCGGetNumIterations,
                        HYPRE_ParCSRPCGDestroy};
    }
    if (is_word(options, "solver", "gmres")) {
        HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &k);
        HYPRE_GMRESSetKDim(k, RESTART);
        HYPRE_GMRESSetTol(k, SYSTEM_TOLERANCE);
        HYPRE_GMRESSetMaxIter(k, SYSTEM_ITERATIONS);
        HYPRE_GMRESSetPrecond(k, p->apply, p->setup, p->data);
        return (method){k, HYPRE_GMRESSetup, HYPRE_GMRESSolve, HYPRE_GMRESGetNumIterations,
                        HYPRE_ParCSRGMRESDestroy};
    }
    HYPRE_ParCSRBiCGSTABCreate(MPI_COMM_WORLD, &k);
    HYPRE_BiCGSTABSetTol(k, SYSTEM_TOLERANCE);
    HYPRE_BiCGSTABSetMaxIter(k, SYSTEM_ITERATIONS);
    HYPRE_BiCGSTABSetPrecond(k, p->apply, p->setup, p->data);
    return (method){k, HYPRE_BiCGSTABSetup, HYPRE_BiCGSTABSolve, HYPRE_BiCGSTABGetNumIterations,
                    HYPRE_ParCSRBiCGSTABDestroy};
}

static double true_residual(const state *s)
{
    HYPRE_Real above, below;
    HYPRE_ParVectorCopy(s->b, s->r);
    HYPRE_ParCSRMatrixMatvec(-1, s->A, s->x, 1, s->r);
    HYPRE_ParVectorInnerProd(s->r, s->r, &above);
    HYPRE_ParVectorInnerProd(s->b, s->b, &below);
    return sqrt(above / below);
}

static void run(state *s, int rank)
{
    const char *options = s->system.configuration;
    HYPRE_Matrix A = (HYPRE_Matrix)s->A;
    HYPRE_Vector b = (HYPRE_Vector)s->b, x = (HYPRE_Vector)s->x;
    HYPRE_Int count = 0, iterations = 0;
    double residual = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = peer_seconds();
    const precon p = make_precon(s, options);
    const method m = make_method(options, &p);
    m.setup(m.data, A, b, x);
    MPI_Barrier(MPI_COMM_WORLD);
    const double middle = peer_seconds();
    for (int pass = 0; pass < SYSTEM_PASSES; pass++) {
        HYPRE_ClearAllErrors();
        m.solve(m.data, A, b, x);
        m.iterations(m.data, &count);
        iterations += count;
        residual = true_residual(s);
        if (residual <= SYSTEM_TOLERANCE || !isfinite(residual) || count == 0 ||
            HYPRE_CheckError(HYPRE_GetError(), HYPRE_ERROR_CONV))
            break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double end = peer_seconds();
    if (rank == 0)
        system_answer(middle - begin, end - middle, iterations, residual);
    m.destroy(m.data);
    if (p.destroy)
        p.destroy(p.data);
}

/* --- the system ----------------------------------------------------------------------------- */

static void make_matrix(state *s)
{
    const peer_arrays *a = &s->system.arrays;
    const int64_t rows = s->end - s->begin;
    const HYPRE_BigInt first = (HYPRE_BigInt)s->begin, last = (HYPRE_BigInt)s->end - 1;
    HYPRE_Int *lengths = malloc((size_t)rows * sizeof *lengths);
    HYPRE_BigInt *indices = malloc((size_t)rows * sizeof *indices);
    if (!lengths || !indices)
        peer_refuse("out of memory");
    for (int64_t i = 0; i < rows; i++) {
        indices[i] = (HYPRE_BigInt)(s->begin + i);
        lengths[i] = (HYPRE_Int)(a->offsets[s->begin + i + 1] - a->offsets[s->begin + i]);
    }
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &s->matrix);
    HYPRE_IJMatrixSetObjectType(s->matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(s->matrix, lengths);
    HYPRE_IJMatrixInitialize(s->matrix);
    HYPRE_IJMatrixSetValues(s->matrix, (HYPRE_Int)rows, lengths, indices,
                            a->col_index + a->offsets[s->begin],
                            (const double *)a->values + a->offsets[s->begin]);
    HYPRE_IJMatrixAssemble(s->matrix);
    HYPRE_IJMatrixGetObject(s->matrix, (void **)&s->A);
    s->b = make_vector(s, indices, (const double *)spry_vector_data_const(s->system.b) + s->begin,
                       &s->sides[0]);
    s->x = make_vector(s, indices, NULL, &s->sides[1]);
    s->r = make_vector(s, indices, NULL, &s->sides[2]);
    free(lengths);
    free(indices);
}

int main(int argc, char **argv)
{
    state s = {0};
    int rank = 0, size = 1;
    MPI_Init(&argc, &argv);
    HYPRE_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    system_open(argc, argv, 1, &s.system);
    if (s.system.arrays.type != SPRY_TYPE_D)
        peer_refuse("unavailable: hypre has real numbers in double precision");
    system_complete(&s.system);
    system_rows(&s.system, rank, size, &s.begin, &s.end);
    make_matrix(&s);
    run(&s, rank);
    for (int k = 0; k < 3; k++)
        HYPRE_IJVectorDestroy(s.sides[k]);
    for (int k = 0; k < ROTATIONS && s.turns[k]; k++)
        HYPRE_IJVectorDestroy(s.turns[k]);
    HYPRE_IJMatrixDestroy(s.matrix);
    system_close(&s.system);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
