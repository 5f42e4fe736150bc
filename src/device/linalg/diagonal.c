/* Operators on devices that multiply element by element: Jacobi's preconditioner. */
#include "device/linalg/operator.h"

#include "device/linalg/vector.h"
#include "host/apply.h"

typedef struct diagonal {
    device_memory *plain, *conjugate;                              /* the same for real types */
    spry_status (*make)(const spry_matrix *A, spry_operator **of); /* NULL: no new values */
} diagonal;

static spry_status update(spry_operator *op, const spry_matrix *A);

static void destroy(spry_operator *op)
{
    diagonal *state = op->state;
    if (!state)
        return;
    if (state->conjugate != state->plain)
        device_free(state->conjugate);
    device_free(state->plain);
    op->device->users--;
    base_free(op->ctx, state);
}

static spry_status multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const device_memory *x, spry_scalar beta, device_memory *y)
{
    const diagonal *state = op->state;
    return device_multiply_elements(
        op->device, op->type, op->rows, alpha,
        transpose == SPRY_TRANSPOSE_CONJUGATE ? state->conjugate : state->plain, false, x, beta, y);
}

static const operator_class diagonal_class = {.name = "diagonal",
                                              .has_transpose = true,
                                              .multiply = operator_apply_arrays,
                                              .destroy = destroy,
                                              .update = update,
                                              .multiply_vectors = device_multiply_vectors,
                                              .device.multiply = multiply};

const device_memory *device_diagonal(const spry_operator *op, spry_transpose transpose)
{
    if (op->class != &diagonal_class)
        return NULL;
    const diagonal *state = op->state;
    return transpose == SPRY_TRANSPOSE_CONJUGATE ? state->conjugate : state->plain;
}

/* The numbers of an operator of the host's, into memory that is allocated at its first use. */
spry_status device_diagonal_refill(const spry_operator *op, const spry_operator *of)
{
    spry_device *d = op->device;
    diagonal *state = op->state;
    const int64_t bytes = of->rows * (int64_t)spry_type_size(of->type);
    const bool both = spry_type_is_complex(of->type);
    spry_status status = SPRY_STATUS_OK;
    if (!state->plain)
        SPRY_GO(d->ctx, device_alloc(d, bytes, &state->plain));
    SPRY_GO(d->ctx, device_put(state->plain, 0, operator_diagonal(of, SPRY_TRANSPOSE_NO), bytes));
    if (both && !state->conjugate)
        SPRY_GO(d->ctx, device_alloc(d, bytes, &state->conjugate));
    if (both)
        SPRY_GO(d->ctx, device_put(state->conjugate, 0,
                                   operator_diagonal(of, SPRY_TRANSPOSE_CONJUGATE), bytes));
    else
        state->conjugate = state->plain;
done:
    return status;
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    const diagonal *state = op->state;
    spry_operator *of = NULL;
    if (!state->make)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED, "operator %s cannot take new values",
                         spry_operator_name(op));
    spry_status status = state->make(A, &of);
    if (status == SPRY_STATUS_OK)
        status = device_diagonal_refill(op, of);
    spry_operator_free(of);
    return status;
}

spry_status device_diagonal_operator(spry_device *d, const spry_operator *of,
                                     spry_status (*make)(const spry_matrix *A, spry_operator **of),
                                     spry_operator **out)
{
    spry_context *ctx = d->ctx;
    spry_operator *op = NULL;
    diagonal *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &diagonal_class, of->type, of->rows, of->cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = d;
    d->users++;
    op->name = of->name ? of->name : of->class->name;
    op->hermitian = of->hermitian;
    op->definite = of->definite;
    op->rows_part = of->rows_part;
    op->cols_part = of->cols_part;
    op->own_bytes = of->own_bytes;
    op->bytes = of->bytes;
    state->make = make;
    SPRY_GO(ctx, device_diagonal_refill(op, of));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
