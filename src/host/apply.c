/* Products of operators that are made of operations on vectors: see apply.h. */
#include "host/apply.h"

spry_status operator_apply_vectors(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                   spry_vector *y)
{
    spry_context *ctx = op->ctx;
    const bool plain = alpha.re == 1 && alpha.im == 0 && beta.re == 0 && beta.im == 0;
    spry_vector *from = NULL, *to = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (x->device != op->device) {
        SPRY_GO(ctx, vector_new_at(ctx, op->device, op->type, x->n, &from));
        SPRY_GO(ctx, spry_vector_copy(x, from));
    }
    if (y->device != op->device || !plain)
        SPRY_GO(ctx, vector_new_at(ctx, op->device, op->type, y->n, &to));
    SPRY_GO(ctx, op->class->apply(op, transpose, from ? from : x, to ? to : y));
    if (to && plain) {
        SPRY_GO(ctx, spry_vector_copy(to, y));
    } else if (!plain) {
        /* There is a copy of the result besides y, wherever that is. */
        if (y->device != op->device) {
            spry_vector_free(from);
            from = NULL;
            SPRY_GO(ctx, spry_vector_like(y, y->n, &from));
            SPRY_GO(ctx, spry_vector_copy(to, from));
        }
        if (beta.re == 0 && beta.im == 0)
            SPRY_GO(ctx, spry_vector_fill(y, (spry_scalar){0, 0}));
        else
            SPRY_GO(ctx, spry_vector_scale(beta, y));
        SPRY_GO(ctx, spry_vector_axpy(alpha, y->device != op->device ? from : to, y));
    }
done:
    spry_vector_free(from);
    spry_vector_free(to);
    return status;
}

spry_status operator_apply_arrays(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const spry_vector from =
        vector_over(op->ctx, op->type, plain ? op->cols : op->rows, (void *)(uintptr_t)x);
    spry_vector to = vector_over(op->ctx, op->type, plain ? op->rows : op->cols, y);
    return op->class->multiply_vectors(op, transpose, alpha, &from, beta, &to);
}
