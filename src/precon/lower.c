/*
 * A preconditioner in single precision for an iteration in double precision: r is brought to about
 * 1 by a power of two, since residuals fall far below what single precision can hold, and so is z
 * brought back.
 */
#include "precon/precon.h"

#include "device/linalg/step.h"

typedef struct lower {
    spry_operator *inside;
    spry_vector *r, *z;
} lower;

static void note_traits(spry_operator *op, const spry_operator *inside)
{
    op->varies = inside->varies;
    op->hermitian = inside->hermitian;
    op->definite = inside->definite;
}

static spry_status lower_apply(const spry_operator *op, spry_transpose transpose,
                               const spry_vector *r, spry_vector *z)
{
    const lower *state = op->state;
    spry_context *ctx = op->ctx;
    spry_vector all = *r;
    double norm;
    int exponent = 0;
    spry_status status = SPRY_STATUS_OK;
    all.part = state->inside->cols_part; /* one that works across ranks needs one factor for all */
    SPRY_GO(ctx, spry_vector_norm(&all, &norm));
    if (norm == 0 || !isfinite(norm)) {
        SPRY_GO(ctx, spry_vector_copy(r, z));
        goto done;
    }
    frexp(norm, &exponent);
    /* Of numbers that are no longer normal the factor's inverse would be none. */
    exponent = exponent < -1000 ? -1000 : exponent;
    SPRY_GO(ctx, step_recast(ldexp(1, -exponent), r, state->r));
    SPRY_GO(ctx, spry_operator_multiply(state->inside, transpose, (spry_scalar){1, 0}, state->r,
                                        (spry_scalar){0, 0}, state->z));
    SPRY_GO(ctx, step_recast(ldexp(1, exponent), state->z, z));
done:
    return status;
}

static void lower_destroy(spry_operator *op)
{
    lower *state = op->state;
    if (!state)
        return;
    spry_vector_free(state->r);
    spry_vector_free(state->z);
    spry_operator_free(state->inside);
    base_free(op->ctx, state);
}

static spry_status lower_update(spry_operator *op, const spry_matrix *A)
{
    const lower *state = op->state;
    spry_matrix *cast = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, spry_matrix_cast(A, state->inside->type, &cast));
    SPRY_GO(op->ctx, spry_operator_update(state->inside, cast));
    note_traits(op, state->inside);
    operator_keep(state->inside, cast);
    cast = NULL;
done:
    spry_matrix_free(cast);
    return status;
}

static const operator_class lower_class = {.name = "lower",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = lower_apply,
                                           .update = lower_update,
                                           .destroy = lower_destroy};

spry_status precon_lower(spry_type type, spry_operator *M, spry_operator **out)
{
    spry_context *ctx = M->ctx;
    spry_operator *op = NULL;
    lower *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &lower_class, type, M->rows, M->cols, &op));
    op->one_way = !spry_operator_has_transpose(M);
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = M->device;
    op->name = spry_operator_name(M);
    op->single = true;
    note_traits(op, M);
    op->own_bytes = M->own_bytes;
    op->bytes = M->bytes;
    state->inside = M;
    M = NULL;
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, vector_new_at(ctx, op->device, state->inside->type, op->rows,
                                   k ? &state->z : &state->r));
    *out = op;
    op = NULL;
done:
    spry_operator_free(M);
    spry_operator_free(op);
    return status;
}
