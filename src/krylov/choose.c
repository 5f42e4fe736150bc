/* What a few products tell about A, and the method that suits it. */
#include "krylov/solver.h"

spry_status solver_symmetry(spry_solver *solver, precon_symmetry *found)
{
    spry_context *ctx = solver->ctx;
    const spry_matrix *A = solver->matrix;
    spry_status status = SPRY_STATUS_OK;
    if (!A)
        return precon_probe(solver_operator(solver), found);
    *found = (precon_symmetry){0};
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, &found->hermitian));
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_SYMMETRIC, &found->symmetric));
done:
    return status;
}

/* Whether it is known, or the diagonal shows, that a hermitian A is not positive definite. */
static spry_status is_indefinite(spry_context *ctx, const spry_matrix *A, bool *yes)
{
    bool positive = true;
    spry_status status = SPRY_STATUS_OK;
    *yes = A && matrix_known(A, SPRY_FACT_DEFINITE) == SPRY_TRUTH_NO;
    if (A && !*yes)
        status = matrix_find_out(ctx, A, SPRY_FACT_POSITIVE_DIAGONAL, &positive);
    *yes = *yes || !positive;
    return status;
}

/* What a method needs of A and M that is more than products with them. */
static const struct {
    const char *name;
    bool hermitian, symmetric, flexible;
} needs[] = {
    {"cg", true, false, false},     {"cg-cg", true, false, false},
    {"pipecg", true, false, false}, {"fcg", true, false, true},
    {"cr", true, false, false},     {"minres", true, false, false},
    {"symmlq", true, false, false}, {"cocg", false, true, false},
    {"cocr", false, true, false},   {"qmrsym", false, true, false},
    {"fgmres", false, false, true}, {"gcr", false, false, true},
    {"refine", false, false, true}, {"richardson", false, false, true},
};

spry_status solver_check_purpose(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const char *name = solver->plan->program->method;
    const spry_operator *M = solver_precon(solver);
    bool hermitian = false, symmetric = false, flexible = false;
    precon_symmetry probe;
    char text[160];
    spry_status status = SPRY_STATUS_OK;
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
        if (strcmp(name, needs[k].name) == 0) {
            hermitian = needs[k].hermitian;
            symmetric = needs[k].symmetric;
            flexible = needs[k].flexible;
        }
    if (M && M->varies && !flexible) {
        snprintf(text, sizeof text,
                 "preconditioner %.32s is another one in each iteration: %.32s is not made for it; "
                 "try fcg or fgmres",
                 solver->precon_name, name);
        solver_warn(ctx, solver->warnings, text);
    }
    /* One that was made from this matrix has seen that it is hermitian, as well as its precision
     * can tell. */
    if (hermitian ? M && M == solver->own_precon && M->hermitian && !M->single : !symmetric)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_symmetry(solver, &probe));
    if (hermitian ? !probe.hermitian : !probe.symmetric) {
        snprintf(text, sizeof text, "the matrix is not %s: %.32s is not made for it",
                 hermitian ? "symmetric (hermitian)" : "symmetric", name);
        solver_warn(ctx, solver->warnings, text);
    } else if (M && !M->varies && !(hermitian && M->hermitian) &&
               !operator_diagonal(M, SPRY_TRANSPOSE_NO)) {
        SPRY_GO(ctx, precon_probe(M, &probe));
        if (hermitian ? !probe.hermitian : !probe.symmetric) {
            snprintf(text, sizeof text,
                     "preconditioner %.32s is not symmetric: %.32s is not made for it; try "
                     "bicgstabl or gmres",
                     solver->precon_name, name);
            solver_warn(ctx, solver->warnings, text);
        }
    }
done:
    return status;
}

spry_status solver_suit_precon(spry_solver *solver, const char *name, const char **other)
{
    const spry_operator *M = solver_precon(solver);
    const bool hermitian = strcmp(name, "cg") == 0 || strcmp(name, "minres") == 0;
    precon_symmetry probe;
    *other = NULL;
    if (!M || (hermitian && M->definite))
        return SPRY_STATUS_OK;
    if (M->varies) {
        *other = strcmp(name, "cg") == 0 ? "fcg" : "fgmres";
    } else if (hermitian || strcmp(name, "cocg") == 0) {
        const spry_status status = precon_probe(M, &probe);
        if (status != SPRY_STATUS_OK)
            return status;
        /* Norms by M, which conjugate gradients and minres work with, need one that is definite. */
        if (hermitian ? !probe.hermitian || !probe.positive : !probe.symmetric)
            *other = strcmp(name, "minres") == 0 ? "gmres" : "bicgstabl";
    }
    if (*other)
        base_log(solver->ctx, SPRY_LOG_INFO, "method %s: the preconditioner is not one for %s",
                 *other, name);
    return SPRY_STATUS_OK;
}

spry_status solver_choose_method(spry_solver *solver, const char **name)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver);
    precon_symmetry probe;
    bool bad = false;
    spry_status status = SPRY_STATUS_OK;
    const char *why = "the matrix is rectangular";
    *name = "lsmr";
    if (A->rows == A->cols) {
        SPRY_GO(ctx, solver_symmetry(solver, &probe));
        solver->chosen_for = probe;
        if (probe.hermitian)
            SPRY_GO(ctx, is_indefinite(ctx, solver->matrix, &bad));
        *name = probe.hermitian ? (bad ? "minres" : "cg") : probe.symmetric ? "cocg" : "bicgstabl";
        why = !probe.hermitian ? (probe.symmetric ? "the matrix is complex symmetric"
                                                  : "the matrix is not symmetric")
              : bad            ? "the matrix is symmetric (hermitian), but not positive definite"
                               : "the matrix is symmetric (hermitian)";
    }
    base_log(ctx, SPRY_LOG_INFO, "method %s: %s", *name, why);
done:
    return status;
}
