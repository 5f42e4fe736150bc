/* What a few products tell about A, and the method that suits it. */
#include "krylov/solver.h"

#include <float.h>
#include <math.h>

/*
 * Two random vectors u, v: (A u, v) = (u, A v) for hermitian A, and without conjugation for
 * symmetric A. A difference far above rounding disproves it; a skew part far below |A| goes
 * unnoticed. Costs two products.
 */
spry_status solver_probe_operator(spry_context *ctx, const spry_operator *A, solver_probe *probe)
{
    const host_kernels *kernels = host_kernels_for(ctx, A->type);
    spry_vector *u = NULL, *v = NULL, *Au = NULL, *Av = NULL;
    spry_scalar left, right;
    double norm_Au, norm_Av;
    spry_status status = SPRY_OK;
    spry_vector **const all[] = {&u, &v, &Au, &Av};
    *probe = (solver_probe){0};
    if (A->rows != A->cols)
        return SPRY_OK;
    for (int k = 0; k < 4; k++)
        SPRY_GO(ctx, spry_vector_new(ctx, A->type, A->rows, NULL, SPRY_COPY, all[k]));
    kernels->random(A->rows, 1, 0, u->data);
    kernels->random(A->rows, 2, 0, v->data);
    SPRY_GO(ctx, spry_operator_apply(A, u, Au));
    SPRY_GO(ctx, spry_operator_apply(A, v, Av));
    SPRY_GO(ctx, spry_vector_norm(Au, &norm_Au));
    SPRY_GO(ctx, spry_vector_norm(Av, &norm_Av));
    const bool single = A->type == SPRY_S || A->type == SPRY_C;
    const double rounding = 64 * (single ? FLT_EPSILON : DBL_EPSILON) * sqrt((double)A->rows);
    SPRY_GO(ctx, spry_vector_dot(Au, v, &left));
    SPRY_GO(ctx, spry_vector_dot(u, Av, &right));
    probe->hermitian =
        !(hypot(left.re - right.re, left.im - right.im) > rounding * (norm_Au + norm_Av));
    left = kernels->dot_plain(A->rows, Au->data, v->data);
    right = kernels->dot_plain(A->rows, u->data, Av->data);
    probe->symmetric =
        !(hypot(left.re - right.re, left.im - right.im) > rounding * (norm_Au + norm_Av));
done:
    for (int k = 0; k < 4; k++)
        spry_vector_free(*all[k]);
    return status;
}

/* Whether the diagonal of a hermitian A shows that it cannot be positive definite. */
static spry_status has_bad_diagonal(const spry_matrix *A, bool *bad)
{
    spry_vector *d = NULL;
    *bad = false;
    if (!A)
        return SPRY_OK;
    spry_status status = spry_matrix_diagonal(A, &d);
    for (int64_t i = 0; status == SPRY_OK && i < d->n && !*bad; i++)
        *bad = !(value_get(d->type, d->data, i).re > 0);
    spry_vector_free(d);
    return status;
}

spry_status solver_choose_method(const spry_solver *solver, const char **name)
{
    spry_context *ctx = solver->ctx;
    const spry_operator *A = solver_operator(solver);
    solver_probe probe;
    bool bad = false;
    spry_status status = SPRY_OK;
    const char *why = "the matrix is rectangular";
    *name = "lsmr";
    if (A->rows == A->cols) {
        SPRY_GO(ctx, solver_probe_operator(ctx, A, &probe));
        if (probe.hermitian)
            SPRY_GO(ctx, has_bad_diagonal(solver->matrix, &bad));
        *name = probe.hermitian ? (bad ? "minres" : "cg") : probe.symmetric ? "cocg" : "bicgstabl";
        why = !probe.hermitian ? (probe.symmetric ? "the matrix is complex symmetric"
                                                  : "the matrix is not symmetric")
              : bad ? "the matrix is symmetric (hermitian) with a diagonal entry that is "
                      "not positive"
                    : "the matrix is symmetric (hermitian)";
    }
    base_log(ctx, SPRY_LOG_INFO, "method %s: %s", *name, why);
done:
    return status;
}
