/*
 * A caller's function as an operator: one that is given arrays of the host, or one that is given
 * vectors where the operator lives and, on a device, its stream. It answers y = op(A) x; factors
 * and vectors of other places are ours to see to (operator_apply_vectors).
 */
#include "device/engine/engine.h"
#include "device/linalg/vector.h"
#include "host/apply.h"

#include <float.h>

typedef struct function_state {
    spry_apply_fn arrays; /* or else */
    spry_product_fn vectors;
    void *data;
    atomic_llong bad_row; /* the first of the host's that was not finite, plus 1; 0: none */
} function_state;

/* Whether all numbers of the host's v are finite: a pass that needs no branches. */
static bool is_finite(const spry_vector *v)
{
    const int64_t n = spry_type_is_complex(v->type) ? 2 * v->n : v->n;
    const float *singles = v->data;
    const double *doubles = v->data;
    int bad = 0;
    if (type_is_single(v->type))
        for (int64_t i = 0; i < n; i++)
            bad |= !(fabsf(singles[i]) <= FLT_MAX);
    else
        for (int64_t i = 0; i < n; i++)
            bad |= !(fabs(doubles[i]) <= DBL_MAX);
    return !bad;
}

/* The first number of the host's v that is not finite; -1: there is none. */
static int64_t find_nonfinite(const spry_vector *v)
{
    for (int64_t i = 0; i < v->n; i++)
        if (!value_finite(value_get(v->type, v->data, i)))
            return i;
    return -1;
}

/* Notes what is the function's own fault. */
static void note_nonfinite(function_state *state, const spry_vector *x, const spry_vector *y)
{
    if (x->class || y->class || atomic_load(&state->bad_row) != 0)
        return;
    if (!is_finite(y) && is_finite(x))
        atomic_store(&state->bad_row, find_nonfinite(y) + 1);
}

static int64_t gave_nonfinite(const spry_operator *op)
{
    function_state *state = op->state;
    return atomic_exchange(&state->bad_row, 0) - 1;
}

static spry_status call(const spry_operator *op, spry_transpose transpose, const spry_vector *x,
                        spry_vector *y)
{
    const function_state *state = op->state;
    if (op->device && op->device->recording) /* it may do something else the next time */
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a function of the caller's in the middle of a recording");
    if (state->arrays)
        return state->arrays(state->data, transpose, x->data, y->data);
    return state->vectors(state->data, transpose, x, y,
                          op->device ? op->device->stream->handle : NULL);
}

/* A failure's message is what the function left in the context, if it did. */
static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *x,
                         spry_vector *y)
{
    spry_context *ctx = op->ctx;
    const char before = ctx->message[0];
    ctx->message[0] = '\0';
    const spry_status status = call(op, transpose, x, y);
    if (status == SPRY_STATUS_OK) {
        note_nonfinite(op->state, x, y);
        if (ctx->message[0] == '\0') /* the last failure's is kept */
            ctx->message[0] = before;
        return status;
    }
    if (ctx->message[0] == '\0')
        return SPRY_FAIL(ctx, status, "the caller's product failed: %s", spry_status_text(status));
    return SPRY_CAUSE(ctx, status, "the caller's product failed");
}

static void destroy(spry_operator *op)
{
    if (op->device)
        op->device->users--;
    base_free(op->ctx, op->state);
}

static const operator_class function_class = {.name = "function",
                                              .has_transpose = true,
                                              .multiply = operator_apply_arrays,
                                              .multiply_vectors = operator_apply_vectors,
                                              .apply = apply,
                                              .gave_nonfinite = gave_nonfinite,
                                              .destroy = destroy};

/* An operator without its function yet. */
static spry_status make(spry_context *ctx, spry_device *device, spry_type type, int64_t rows,
                        int64_t cols, bool has_transpose, bool has_function, spry_operator **out)
{
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (rows < 0 || rows > INT32_MAX || cols < 0 || cols > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "an operator of %" PRId64 " x %" PRId64 ", sides must be in 0..%d", rows,
                         cols, INT32_MAX);
    if (!has_function)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "there is no function to apply");
    if (device && device->ctx != ctx)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "device %s is of another context",
                         device->facts.name);
    SPRY_GO(ctx, base_check_type(ctx, type));
    if (device)
        SPRY_GO(ctx, device_check_type(device, type));
    SPRY_GO(ctx, operator_new(ctx, &function_class, type, rows, cols, &op));
    op->one_way = !has_transpose;
    op->device = device;
    if (device)
        device->users++;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof(function_state), &op->state));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

spry_status spry_operator_from_function(spry_context *ctx, spry_type type, int64_t rows,
                                        int64_t cols, bool has_transpose,
                                        spry_apply_fn apply_arrays, void *data, spry_operator **out)
{
    SPRY_NEED(ctx, ctx, out);
    *out = NULL;
    const spry_status status =
        make(ctx, NULL, type, rows, cols, has_transpose, apply_arrays != NULL, out);
    if (status == SPRY_STATUS_OK)
        *(function_state *)(*out)->state = (function_state){.arrays = apply_arrays, .data = data};
    return status;
}

spry_status spry_operator_from_product(spry_context *ctx, spry_device *device, spry_type type,
                                       int64_t rows, int64_t cols, bool has_transpose,
                                       spry_product_fn product, void *data, spry_operator **out)
{
    SPRY_NEED(ctx, ctx, out);
    *out = NULL;
    const spry_status status =
        make(ctx, device, type, rows, cols, has_transpose, product != NULL, out);
    if (status == SPRY_STATUS_OK)
        *(function_state *)(*out)->state = (function_state){.vectors = product, .data = data};
    return status;
}

spry_status spry_operator_set_bytes(spry_operator *op, int64_t bytes)
{
    SPRY_NEED(CTX_OF(op), op);
    if (op->class != &function_class)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "operator %s knows the bytes of its products: %" PRId64,
                         spry_operator_name(op), op->bytes);
    const int64_t vectors = (op->rows + op->cols) * (int64_t)spry_type_size(op->type);
    if (bytes < 0)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE, "a product of %" PRId64 " bytes", bytes);
    op->bytes = bytes;
    op->own_bytes = bytes > vectors ? bytes - vectors : 0;
    return SPRY_STATUS_OK;
}

spry_status spry_operator_set_ranked(spry_operator *op, const spry_vector *like)
{
    SPRY_NEED(CTX_OF(op), op, like);
    if (op->class != &function_class)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "operator %s knows which elements of its vectors this rank has",
                         spry_operator_name(op));
    if (op->rows != like->n || op->cols != like->n)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "an operator of %" PRId64 " x %" PRId64 " for vectors of %" PRId64
                         " elements on this rank",
                         op->rows, op->cols, like->n);
    op->rows_part = op->cols_part = like->part;
    return SPRY_STATUS_OK;
}
