/* What is known of A, or a few products show, and the method that suits it. */
#include "krylov/solver.h"

#include <stdarg.h>

/* Whether A is hermitian, or symmetric: what is known of the matrix, or what it or products with
 * the operator show. */
static spry_status look_for_symmetry(spry_solver *solver, precon_symmetry *found)
{
    spry_context *ctx = solver->ctx;
    const spry_matrix *A = solver->setup.matrix;
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

/* What auto takes: for A alone, and in its place for a preconditioner that is not what it needs, or
 * that is another one in each iteration. What each of them needs its text says. */
enum { FOR_DEFINITE, FOR_MANY, FOR_HERMITIAN, FOR_SYMMETRIC, FOR_SQUARE, FOR_ANY };
static const struct {
    const char *name, *other, *flexible, *why;
} choices[] = {
    [FOR_DEFINITE] = {"cg", "bicgstabl", "fcg", "the matrix is symmetric (hermitian)"},
    [FOR_MANY] = {"block-cg", "bicgstabl", "fcg",
                  "the matrix is symmetric (hermitian) with long rows, and there are several "
                  "right-hand sides"},
    [FOR_HERMITIAN] = {"minres", "gmres", "fgmres",
                       "the matrix is symmetric (hermitian), but not positive definite"},
    [FOR_SYMMETRIC] = {"cocg", "bicgstabl", "fgmres", "the matrix is complex symmetric"},
    [FOR_SQUARE] = {"bicgstabl", "bicgstabl", "fgmres", "the matrix is not symmetric"},
    [FOR_ANY] = {"lsmr", "lsmr", "lsmr", "the matrix is rectangular"},
};

static bool lacks(const bool needs[NEED_COUNT], const precon_symmetry *probe)
{
    return (needs[NEED_HERMITIAN] && !probe->hermitian) ||
           (needs[NEED_SYMMETRIC] && !probe->symmetric);
}

SPRY_PRINTF(2, 3) static void warn(spry_solver *solver, const char *format, ...)
{
    char text[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    solver_warn(solver->ctx, solver->setup.warnings, text);
}

/* Whether it takes no work to find whether A is what a method needs. */
static bool symmetry_is_known(const spry_solver *solver)
{
    const spry_matrix *A = solver->setup.matrix;
    return A && matrix_known(A, SPRY_FACT_HERMITIAN) != SPRY_TRUTH_UNKNOWN &&
           matrix_known(A, SPRY_FACT_SYMMETRIC) != SPRY_TRUTH_UNKNOWN;
}

/* `seen`: it is known that A is hermitian. */
static spry_status check_matrix(spry_solver *solver, const bool needs[NEED_COUNT], bool seen,
                                bool *suits)
{
    spry_context *ctx = solver->ctx;
    const char *name = solver->setup.plan->program->method;
    precon_symmetry probe;
    bool bad = false;
    spry_status status = SPRY_STATUS_OK;
    *suits = true;
    if (!seen && (needs[NEED_HERMITIAN] || needs[NEED_SYMMETRIC])) {
        SPRY_GO(ctx, look_for_symmetry(solver, &probe));
        *suits = !lacks(needs, &probe);
    }
    if (*suits && needs[NEED_DEFINITE])
        SPRY_GO(ctx, is_indefinite(ctx, solver->setup.matrix, &bad));
    if (!*suits)
        warn(solver, "the matrix is not %s: %.32s is not made for it",
             needs[NEED_HERMITIAN] ? "symmetric (hermitian)" : "symmetric", name);
    else if (bad)
        warn(solver,
             "the matrix is not positive definite: %.32s is made for those that are; try minres",
             name);
done:
    return status;
}

/* Whether M is symmetric, where that is not plain: to all ranks, as what is made on a device does
 * not show all that it is. */
static spry_status check_precon(spry_solver *solver)
{
    const program *p = solver->setup.plan->program;
    const spry_operator *M = solver_bare_precon(solver);
    precon_symmetry probe;
    spry_status status = SPRY_STATUS_OK;
    bool open = M && !M->varies && (p->needs[NEED_HERMITIAN] || p->needs[NEED_SYMMETRIC]) &&
                !(p->needs[NEED_HERMITIAN] && M->hermitian) &&
                !operator_diagonal(M, SPRY_TRANSPOSE_NO);
    if (M && solver_ranked(solver))
        status = team_any(solver->ctx, open, &open);
    if (!open || status != SPRY_STATUS_OK)
        return status;
    status = precon_probe(M, &probe);
    if (status == SPRY_STATUS_OK && lacks(p->needs, &probe))
        warn(solver,
             "preconditioner %.32s is not symmetric: %.32s is not made for it; try bicgstabl or "
             "gmres",
             solver->setup.precon_name, p->method);
    return status;
}

spry_status solver_check_purpose(spry_solver *solver)
{
    const program *p = solver->setup.plan->program;
    const spry_operator *M = solver_bare_precon(solver);
    bool suits = true;
    spry_status status = SPRY_STATUS_OK;
    if (M && M->varies && !p->flexible)
        warn(solver,
             "preconditioner %.32s is another one in each iteration: %.32s is not made for it; try "
             "fcg or fgmres",
             solver->setup.precon_name, p->method);
    /* One that was made from this matrix has seen that it is hermitian, as well as its precision
     * can tell. */
    const bool seen = p->needs[NEED_HERMITIAN] && M && M == solver->setup.own_precon &&
                      M->hermitian && !M->single;
    if (seen || symmetry_is_known(solver))
        status = check_matrix(solver, p->needs, seen, &suits);
    else
        solver->setup.unseen = UNSEEN_MATRIX;
    if (solver->setup.unseen == UNSEEN_NOTHING && suits)
        solver->setup.unseen = UNSEEN_PRECON;
    return status;
}

spry_status solver_check_closer(spry_solver *solver)
{
    spry_context *ctx = solver->ctx;
    const int unseen = (int)solver->setup.unseen;
    bool suits = true;
    spry_status status = SPRY_STATUS_OK;
    solver->setup.unseen = UNSEEN_NOTHING;
    if (!solver->setup.plan) /* of an attempt that could not be made */
        return status;
    if (unseen == UNSEEN_MATRIX)
        SPRY_GO(ctx, check_matrix(solver, solver->setup.plan->program->needs, false, &suits));
    if (unseen != UNSEEN_NOTHING && suits)
        SPRY_GO(ctx, check_precon(solver));
done:
    return status;
}

spry_status solver_suit_precon(spry_solver *solver, const program *p, const char **other)
{
    const spry_operator *M = solver_bare_precon(solver);
    const bool hermitian = p->needs[NEED_HERMITIAN];
    precon_symmetry probe = {0};
    const size_t known = sizeof choices / sizeof *choices;
    size_t k = 0;
    *other = NULL;
    while (k < known && strcmp(choices[k].name, p->method) != 0)
        k++;
    if (!M || k == known || (hermitian && M->definite))
        return SPRY_STATUS_OK;
    if (M->varies && !p->flexible) {
        *other = choices[k].flexible;
    } else if (hermitian || p->needs[NEED_SYMMETRIC]) {
        const spry_status status = precon_probe(M, &probe);
        if (status != SPRY_STATUS_OK)
            return status;
        /* Norms by M, which those for hermitian matrices work with, need one that is definite. */
        if (lacks(p->needs, &probe) || (hermitian && !probe.positive))
            *other = choices[k].other;
    }
    if (*other)
        base_log(solver->ctx, SPRY_LOG_INFO, "method %s: the preconditioner is not one for %s",
                 *other, p->method);
    return SPRY_STATUS_OK;
}

bool solver_are_many(int systems)
{
    return systems >= 8;
}

/*
 * Whether right-hand sides that share one space are solved sooner than each in its own space: an
 * iteration of block-cg has 5 products of blocks of 16 vectors more than one of cg, about as much
 * arithmetic as 80 entries per row take, and there are about half as many of them
 * (docs/figures.md). So rows have to be long, and iterations many; where nothing was measured, on
 * ranks, on devices and for complex numbers, it stays with cg.
 */
static bool pays_as_block(const spry_solver *solver)
{
    const double long_rows = 64, many = 50;
    const spry_matrix *A = solver->setup.matrix;
    if (!solver_are_many(solver->run.systems) || !A || solver->setup.device ||
        solver_ranked(solver) || spry_type_is_complex(A->a.type) ||
        solver->setup.attempts.count == 0)
        return false;
    return (double)A->a.nnz >= long_rows * (double)A->a.rows &&
           solver_guess(solver_attempt(solver)->precon.kind, A->a.rows,
                        solver->asked.options.max_iter) >= many;
}

spry_status solver_choose_method(spry_solver *solver, const char **name)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver);
    precon_symmetry probe;
    bool bad = false;
    int choice = FOR_ANY;
    spry_status status = SPRY_STATUS_OK;
    if (A->square) {
        SPRY_GO(ctx, look_for_symmetry(solver, &probe));
        if (probe.hermitian)
            SPRY_GO(ctx, is_indefinite(ctx, solver->setup.matrix, &bad));
        bad = bad || solver->setup.attempts.indefinite;
        choice = probe.hermitian   ? (bad ? FOR_HERMITIAN : FOR_DEFINITE)
                 : probe.symmetric ? FOR_SYMMETRIC
                                   : FOR_SQUARE;
    }
    if (choice == FOR_DEFINITE && pays_as_block(solver))
        choice = FOR_MANY;
    *name = choices[choice].name;
    base_log(ctx, SPRY_LOG_INFO, "method %s: %s", *name, choices[choice].why);
done:
    return status;
}
