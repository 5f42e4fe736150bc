/* A caller's function as an operator. It answers y = op(A) x; factors are ours to apply. */
#include "host/host.h"
#include "matrix/matrix.h"

typedef struct function_state {
    spry_apply_fn apply;
    void *data;
    void *product; /* op(A) x, where there are factors; as long as the longer side */
} function_state;

static spry_status function_multiply(const spry_operator *op, spry_transpose transpose,
                                     spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const function_state *state = op->state;
    spry_context *ctx = op->ctx;
    const bool reads = beta.re != 0 || beta.im != 0;
    void *product = reads ? state->product : y;
    spry_status status = state->apply(state->data, transpose, x, product);
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(ctx, status, "the caller's product failed: %s", spry_status_text(status));
    if (reads || alpha.re != 1 || alpha.im != 0)
        host_blend(ctx, op->type, transpose == SPRY_TRANSPOSE_NO ? op->rows : op->cols, alpha,
                   product, beta, y);
    return SPRY_STATUS_OK;
}

static void function_destroy(spry_operator *op)
{
    function_state *state = op->state;
    if (state)
        base_free(op->ctx, state->product);
    base_free(op->ctx, state);
}

static const operator_class plain_class = {
    .name = "function", .multiply = function_multiply, .destroy = function_destroy};
static const operator_class transposed_class = {.name = "function",
                                                .has_transpose = true,
                                                .multiply = function_multiply,
                                                .destroy = function_destroy};

spry_status spry_operator_from_function(spry_context *ctx, spry_type type, int64_t rows,
                                        int64_t cols, bool has_transpose, spry_apply_fn apply,
                                        void *data, spry_operator **out)
{
    SPRY_NEED(ctx, ctx, out);
    *out = NULL;
    if (rows < 0 || rows > INT32_MAX || cols < 0 || cols > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "an operator of %" PRId64 " x %" PRId64 ", sides must be in 0..%d", rows,
                         cols, INT32_MAX);
    if (!apply)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "there is no function to apply");
    spry_operator *op = NULL;
    function_state *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_check_type(ctx, type));
    SPRY_GO(ctx, operator_new(ctx, has_transpose ? &transposed_class : &plain_class, type, rows,
                              cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->apply = apply;
    state->data = data;
    SPRY_GO(ctx, base_alloc(ctx, rows > cols ? rows : cols, spry_type_size(type), &state->product));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
