/* Operators of several unknowns per point (spry_operator_blocks). */
#include "grid/coupled.h"

static spry_status coupled_shifted(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                                   spry_operator **shifted);

#define COUPLED_CLASS                                                      \
    .name = "blocks", .has_transpose = true, .multiply = coupled_multiply, \
    .destroy = coupled_destroy, .stored.to_matrix = coupled_to_matrix

static const operator_precon precons[] = {{"gmg", coupled_gmg_make}, {NULL, NULL}};
static const operator_class coupled_class = {COUPLED_CLASS};
/* Of stencils, with all on the diagonal. */
static const operator_class coupled_grid_class = {COUPLED_CLASS, .structure.precons = precons,
                                                  .structure.shifted = coupled_shifted};

/* Each block times alpha, those on the diagonal with beta. */
static spry_status coupled_shifted(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                                   spry_operator **shifted)
{
    const coupled *from = A->state;
    coupled c = {.m = from->m, .n = from->n, .owns = true};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < c.m * c.m && status == SPRY_STATUS_OK; k++) {
        const spry_operator *block = from->block[k];
        spry_operator *made = NULL;
        if (block)
            status = block->class->structure.shifted(
                block, alpha, k % (c.m + 1) == 0 ? beta : (spry_scalar){0, 0}, &made);
        c.block[k] = made;
    }
    if (status == SPRY_STATUS_OK)
        return coupled_make(A->ctx, A->class, &c, shifted);
    coupled_free_blocks(&c);
    return status;
}

/* Levels are those of the first block's grid. */
static bool is_same_axis(const grid_axis *a, const grid_axis *b)
{
    bool same = a->unknowns == b->unknowns && a->intervals == b->intervals && a->low == b->low &&
                a->high == b->high && a->given == b->given;
    for (int side = 0; side < 2; side++)
        same = same && a->face[side] == b->face[side] && a->robin[side] == b->robin[side];
    return same;
}

static bool is_on_a_grid(const coupled *c)
{
    for (int k = 0; k < c->m * c->m; k++) {
        const spry_operator *block = c->block[k];
        const stencil *s = block ? stencil_of(block) : NULL;
        if (block ? !s || s->waves || s->domain.is : k % (c->m + 1) == 0)
            return false;
        const grid_shape *first = &stencil_of(c->block[0])->shape;
        for (int a = 0; s && a < GRID_AXES; a++)
            if (!is_same_axis(&s->shape.axis[a], &first->axis[a]))
                return false;
    }
    return true;
}

static spry_status check_block(spry_context *ctx, const coupled *c, int k,
                               const spry_operator *first)
{
    const spry_operator *block = c->block[k];
    const int i = k / c->m, j = k % c->m;
    if (block->ctx != ctx)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "block (%d, %d) is of another context", i, j);
    if (block->rows_part.is || block->device)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "block (%d, %d) is %s; blocks are operators on the host, which are whole",
                         i, j, block->device ? "on a device" : "distributed over ranks");
    if (!block->square || block->rows != first->rows || block->type != first->type)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "block (%d, %d) is %" PRId64 " x %" PRId64 ", type %s, one before it "
                         "%" PRId64 " x %" PRId64 ", type %s; expected all square and alike",
                         i, j, block->rows, block->cols, spry_type_name(block->type), first->rows,
                         first->cols, spry_type_name(first->type));
    return SPRY_STATUS_OK;
}

spry_status spry_operator_blocks(spry_context *ctx, int m, const spry_operator *const *blocks,
                                 spry_operator **A)
{
    SPRY_NEED(ctx, ctx, blocks, A);
    coupled c = {.m = m};
    const spry_operator *first = NULL;
    *A = NULL;
    if (m < 1 || m > COUPLED_MOST)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%d unknowns per point, expected 1 to %d", m,
                         COUPLED_MOST);
    for (int k = 0; k < m * m; k++) {
        c.block[k] = blocks[k];
        if (!blocks[k])
            continue;
        first = first ? first : blocks[k];
        const spry_status status = check_block(ctx, &c, k, first);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    for (int i = 0; i < m; i++) {
        bool row = false, col = false;
        for (int j = 0; j < m; j++) {
            row = row || coupled_block(&c, i, j);
            col = col || coupled_block(&c, j, i);
        }
        if (!row || !col)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s %d has no block",
                             row ? "column" : "row", i);
    }
    c.n = first->rows;
    return coupled_make(ctx, is_on_a_grid(&c) ? &coupled_grid_class : &coupled_class, &c, A);
}
