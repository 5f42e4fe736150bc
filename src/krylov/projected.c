/* A preconditioner without the null space of the matrix: an operator around the one there is. */
#include "krylov/solver.h"

void null_basis_clear(spry_context *ctx, null_basis *basis)
{
    for (int k = 0; k < basis->count; k++)
        spry_vector_free(basis->v[k]);
    base_free(ctx, basis->v);
    *basis = (null_basis){0};
}

spry_status null_basis_remove(const null_basis *basis, spry_vector *x)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < basis->count && status == SPRY_STATUS_OK; k++) {
        spry_scalar c = {0, 0};
        status = spry_vector_dot(basis->v[k], x, &c);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_axpy((spry_scalar){-c.re, -c.im}, basis->v[k], x);
    }
    return status;
}

typedef struct projected {
    const spry_operator *M;
    const null_basis *before, *after; /* of A^H and of A; the first may be empty */
    spry_vector *w;                   /* what M is applied to */
} projected;

/*
 * z = P M Q r: the residual has no part in the null space of A^H but by rounding, which M would
 * distributed. For hermitian M both are the same, and what comes out is hermitian to the last bits,
 * as conjugate gradients and their kin need it. The transpose is Q M^H P; of complex vectors P is
 * hermitian, not symmetric.
 */
static spry_status projected_apply(const spry_operator *op, spry_transpose transpose,
                                   const spry_vector *r, spry_vector *z)
{
    const projected *state = op->state;
    spry_context *ctx = op->ctx;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    if (transpose == SPRY_TRANSPOSE_YES && spry_type_is_complex(op->type))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "with a null space there are products with M^H, but not with M^T");
    SPRY_GO(ctx, spry_vector_copy(r, state->w));
    SPRY_GO(ctx, null_basis_remove(plain ? state->before : state->after, state->w));
    SPRY_GO(ctx, spry_operator_multiply(state->M, transpose, (spry_scalar){1, 0}, state->w,
                                        (spry_scalar){0, 0}, z));
    SPRY_GO(ctx, null_basis_remove(plain ? state->after : state->before, z));
done:
    return status;
}

static void projected_destroy(spry_operator *op)
{
    projected *state = op->state;
    if (state)
        spry_vector_free(state->w);
    base_free(op->ctx, state);
}

static const operator_class projected_class = {.name = "projected",
                                               .has_transpose = true,
                                               .multiply = operator_apply_arrays,
                                               .multiply_vectors = operator_apply_vectors,
                                               .destroy = projected_destroy,
                                               .apply = projected_apply};

spry_status solver_project_precon(spry_solver *solver, const spry_operator *M)
{
    spry_context *ctx = solver->ctx;
    static const null_basis nothing = {0};
    const spry_operator *A = solver_operator(solver);
    const null_basis *right = &solver->setup.null[NULL_RIGHT],
                     *left = &solver->setup.null[NULL_LEFT];
    const int64_t vector = M->rows * (int64_t)spry_type_size(M->type);
    spry_operator *op = NULL;
    projected *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (M->rows != A->cols || M->cols != A->cols) /* which the solve refuses */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_new(ctx, &projected_class, M->type, M->rows, M->cols, &op));
    op->one_way = !spry_operator_has_transpose(M);
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = solver->setup.device;
    op->name = spry_operator_name(M);
    op->varies = M->varies;
    state->M = M;
    state->after = right;
    state->before = A->square ? left : &nothing;
    /* a copy, and for each null vector: it twice, and what it is removed from read and written */
    op->own_bytes = M->own_bytes + (2 + 5 * (right->count + state->before->count)) * vector;
    op->bytes = M->bytes ? M->bytes + op->own_bytes - M->own_bytes : 0;
    SPRY_GO(ctx, vector_new_at(ctx, solver->setup.device, M->type, M->rows, &state->w));
    solver->setup.projected = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
