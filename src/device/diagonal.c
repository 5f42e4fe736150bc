/* Operators on devices that multiply element by element: Jacobi's preconditioner. */
#include "device/operator.h"

typedef struct diagonal {
    device_memory *plain, *conjugate; /* the same for real types */
} diagonal;

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

static const operator_class diagonal_class = {.name = "diagonal",
                                              .has_transpose = true,
                                              .multiply = device_multiply_host,
                                              .destroy = destroy,
                                              .multiply_vectors = device_multiply_vectors};

const device_memory *device_diagonal(const spry_operator *op, spry_transpose transpose)
{
    if (op->class != &diagonal_class)
        return NULL;
    const diagonal *state = op->state;
    return transpose == SPRY_CONJUGATE ? state->conjugate : state->plain;
}

static spry_status copy_over(spry_device *d, const void *from, int64_t bytes, device_memory **m)
{
    const spry_status status = device_alloc(d, bytes, m);
    return status == SPRY_OK ? device_put(*m, 0, from, bytes) : status;
}

spry_status device_diagonal_operator(spry_device *d, const spry_operator *of, spry_operator **out)
{
    spry_context *ctx = d->ctx;
    const int64_t bytes = of->rows * (int64_t)spry_type_size(of->type);
    spry_operator *op = NULL;
    diagonal *state = NULL;
    spry_status status = SPRY_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &diagonal_class, of->type, of->rows, of->cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = d;
    d->users++;
    op->name = of->name ? of->name : of->class->name;
    op->own_bytes = of->own_bytes;
    op->bytes = of->bytes;
    SPRY_GO(ctx, copy_over(d, operator_diagonal(of, SPRY_PLAIN), bytes, &state->plain));
    if (spry_type_is_complex(of->type))
        SPRY_GO(ctx, copy_over(d, operator_diagonal(of, SPRY_CONJUGATE), bytes, &state->conjugate));
    else
        state->conjugate = state->plain;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
