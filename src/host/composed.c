/* An operator after another: y = A (B x), without the product of the two. */
#include "host/apply.h"

typedef struct composed {
    const spry_operator *outer, *inner;
    spry_vector *between; /* what the first one made */
} composed;

/* (A B)^T = B^T A^T */
static spry_status composed_apply(const spry_operator *op, spry_transpose transpose,
                                  const spry_vector *x, spry_vector *y)
{
    const composed *c = op->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const spry_status status =
        spry_operator_multiply(plain ? c->inner : c->outer, transpose, one, x, zero, c->between);
    return status == SPRY_STATUS_OK ? spry_operator_multiply(plain ? c->outer : c->inner, transpose,
                                                             one, c->between, zero, y)
                                    : status;
}

static void composed_destroy(spry_operator *op)
{
    composed *c = op->state;
    if (c)
        spry_vector_free(c->between);
    base_free(op->ctx, c);
}

static int64_t composed_nonfinite(const spry_operator *op)
{
    const composed *c = op->state;
    const spry_operator *const both[] = {c->inner, c->outer};
    for (int k = 0; k < 2; k++) {
        const int64_t row =
            both[k]->class->gave_nonfinite ? both[k]->class->gave_nonfinite(both[k]) : -1;
        if (row >= 0)
            return row;
    }
    return -1;
}

static const operator_class composed_class = {.name = "composed",
                                              .has_transpose = true,
                                              .multiply = operator_apply_arrays,
                                              .multiply_vectors = operator_apply_vectors,
                                              .destroy = composed_destroy,
                                              .gave_nonfinite = composed_nonfinite,
                                              .apply = composed_apply};

static spry_status check_pair(const spry_operator *outer, const spry_operator *inner)
{
    spry_context *ctx = outer->ctx;
    if (outer->ctx != inner->ctx)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the operators are of different contexts");
    if (outer->type != inner->type || outer->cols != inner->rows)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the inner operator is %" PRId64 " x %" PRId64
                         " of type %s, the outer %" PRId64 " x %" PRId64 " of type %s",
                         inner->rows, inner->cols, spry_type_name(inner->type), outer->rows,
                         outer->cols, spry_type_name(outer->type));
    if (outer->device != inner->device)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the operators are on %s and %s",
                         place_name(outer->device), place_name(inner->device));
    return SPRY_STATUS_OK;
}

spry_status spry_operator_compose(const spry_operator *outer, const spry_operator *inner,
                                  spry_operator **out)
{
    SPRY_NEED(CTX_OF_ANY(outer, inner), outer, inner, out);
    spry_context *ctx = outer->ctx;
    spry_operator *op = NULL;
    composed *c = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, check_pair(outer, inner));
    SPRY_GO(ctx, operator_new(ctx, &composed_class, outer->type, outer->rows, inner->cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *c, &c));
    op->state = c;
    c->outer = outer;
    c->inner = inner;
    op->device = outer->device;
    op->one_way = !spry_operator_has_transpose(outer) || !spry_operator_has_transpose(inner);
    op->varies = outer->varies || inner->varies;
    op->single = outer->single || inner->single;
    SPRY_GO(ctx, vector_new_at(ctx, op->device, op->type, inner->rows, &c->between));
    const int64_t between = 2 * inner->rows * (int64_t)spry_type_size(op->type);
    op->own_bytes = outer->own_bytes + inner->own_bytes + between;
    op->bytes = outer->bytes && inner->bytes ? outer->bytes + inner->bytes : 0;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
