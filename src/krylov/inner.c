/*
 * A solver as an operator: z = (about) A^-1 r, in the next lower precision. What iterative
 * refinement and flexible methods are built around.
 */
#include "krylov/solver.h"

#include <math.h>

typedef struct inner {
    spry_matrix *cast; /* A in the lower precision */
    const solver_nested *calls;
    spry_solver *solver;
    spry_vector *r, *z;
} inner;

static spry_status inner_multiply(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const inner *state = op->state;
    spry_context *ctx = op->ctx;
    const spry_vector from = vector_over(ctx, op->type, op->cols, (void *)(uintptr_t)x);
    spry_vector to = vector_over(ctx, op->type, op->rows, y);
    spry_status status = SPRY_STATUS_OK;
    double norm;
    if (transpose != SPRY_TRANSPOSE_NO || beta.re != 0 || beta.im != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "an inner solver has no transposed product");
    SPRY_GO(ctx, spry_vector_norm(&from, &norm));
    if (norm == 0 || !isfinite(norm)) {
        SPRY_GO(ctx, spry_vector_copy(&from, &to));
        goto done;
    }
    /* The residuals fall far below what the lower precision can hold: they are brought to about 1
     * by a power of two. */
    int exponent;
    frexp(norm, &exponent);
    for (int64_t i = 0; i < from.n; i++) {
        const spry_scalar v = value_get(from.type, from.data, i);
        value_set(state->r->type, state->r->data, i,
                  (spry_scalar){ldexp(v.re, -exponent), ldexp(v.im, -exponent)});
    }
    SPRY_GO(ctx, spry_vector_fill(state->z, (spry_scalar){0, 0}));
    SPRY_GO(ctx, state->calls->solve(state->solver, state->r, state->z, NULL));
    SPRY_GO(ctx, spry_vector_copy(state->z, &to));
    SPRY_GO(ctx, spry_vector_scale((spry_scalar){ldexp(1, exponent), 0}, &to));
    if (alpha.re != 1 || alpha.im != 0)
        SPRY_GO(ctx, spry_vector_scale(alpha, &to));
done:
    return status;
}

static void inner_destroy(spry_operator *op)
{
    inner *state = op->state;
    if (!state)
        return;
    spry_solver_free(state->solver);
    spry_matrix_free(state->cast);
    spry_vector_free(state->r);
    spry_vector_free(state->z);
    base_free(op->ctx, state);
}

static const operator_class inner_class = {
    .name = "inner", .multiply = inner_multiply, .destroy = inner_destroy};

spry_status krylov_inner(const solver_nested *calls, const spry_matrix *A, const char *format,
                         const char *options, spry_operator **out)
{
    static const spry_type lower[] = {[SPRY_TYPE_S] = SPRY_TYPE_S,
                                      [SPRY_TYPE_D] = SPRY_TYPE_S,
                                      [SPRY_TYPE_C] = SPRY_TYPE_C,
                                      [SPRY_TYPE_Z] = SPRY_TYPE_C};
    spry_context *ctx = A->ctx;
    const spry_type type = lower[A->a.type];
    spry_operator *op = NULL;
    inner *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    char first[128];
    *out = NULL;
    snprintf(first, sizeof first, "tol=1e-3 max-iter=500 stall=100 reorder=none format=%s", format);
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "an inner solver needs a square matrix");
    SPRY_GO(ctx, operator_new(ctx, &inner_class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->calls = calls;
    op->varies = true;
    SPRY_GO(ctx, spry_matrix_cast(A, type, &state->cast));
    SPRY_GO(ctx, calls->open(ctx, state->cast, first, options, &state->solver));
    /* What keeps it from its tolerance is not looked for: the solver around it goes on anyway. */
    state->solver->asked.inner = true;
    SPRY_GO(ctx, spry_vector_new(ctx, type, A->a.rows, NULL, SPRY_OWN_COPY, &state->r));
    SPRY_GO(ctx, spry_vector_new(ctx, type, A->a.rows, NULL, SPRY_OWN_COPY, &state->z));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
