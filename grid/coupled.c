/* Operators of several unknowns per point: small matrices of operators (spry_operator_blocks). */
#include "grid/coupled.h"

#include "matrix/gen/gen.h"

#include <spry/algebra.h>

static void *part_of(const spry_operator *op, const void *x, int i)
{
    const coupled *c = op->state;
    return (char *)(uintptr_t)x + i * c->n * (int64_t)spry_type_size(op->type);
}

/* The parts of y one after the other: each product adds to what those before it have left. */
static spry_status coupled_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const coupled *c = op->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < c->m; i++) {
        spry_scalar left = beta;
        for (int j = 0; j < c->m; j++) {
            const spry_operator *block = plain ? coupled_block(c, i, j) : coupled_block(c, j, i);
            if (!block)
                continue;
            SPRY_GO(op->ctx, block->class->multiply(block, transpose, alpha, part_of(op, x, j),
                                                    left, part_of(op, y, i)));
            left = (spry_scalar){1, 0};
        }
    }
done:
    return status;
}

void coupled_free_blocks(const coupled *c)
{
    for (int k = 0; c->owns && k < c->m * c->m; k++)
        spry_operator_free((spry_operator *)(uintptr_t)c->block[k]);
}

static void coupled_destroy(spry_operator *op)
{
    coupled *c = op->state;
    if (!c)
        return;
    coupled_free_blocks(c);
    base_free(op->ctx, c);
}

/* --- its matrix ----------------------------------------------------------------------------------
 */

typedef struct matrix_job {
    const coupled *c;
    spry_matrix *matrix[COUPLED_MOST * COUPLED_MOST]; /* general CSR */
} matrix_job;

static void write_row(const void *data, int64_t row, gen_row *to)
{
    const matrix_job *job = data;
    const int64_t n = job->c->n, at = row % n;
    const int i = (int)(row / n), m = job->c->m;
    for (int j = 0; j < m; j++) {
        const spry_matrix *A = job->matrix[i * m + j];
        for (int64_t k = A ? A->a.offsets[at] : 0; A && k < A->a.offsets[at + 1]; k++) {
            const spry_scalar v = value_get(A->a.type, A->a.values, k);
            gen_put(to, j * n + A->a.col_index[k], v.re, v.im);
        }
    }
}

/* A block as general CSR with sorted rows. */
static spry_status block_matrix(const spry_operator *block, spry_matrix **A)
{
    spry_matrix *own = NULL, *full = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(block->ctx, spry_operator_to_matrix(block, &own));
    SPRY_GO(block->ctx, spry_matrix_expand(own, &full));
    SPRY_GO(block->ctx, spry_matrix_convert(full, SPRY_FORMAT_CSR, A));
    SPRY_GO(block->ctx, spry_matrix_sort(*A));
done:
    spry_matrix_free(own);
    spry_matrix_free(full);
    return status;
}

static spry_status coupled_to_matrix(const spry_operator *op, spry_matrix **A)
{
    const coupled *c = op->state;
    matrix_job job = {.c = c};
    spry_status status = SPRY_STATUS_OK;
    if (op->rows > INT32_MAX)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a matrix has at most %d rows, the operator %" PRId64, INT32_MAX,
                         op->rows);
    for (int k = 0; k < c->m * c->m; k++)
        if (c->block[k])
            SPRY_GO(op->ctx, block_matrix(c->block[k], &job.matrix[k]));
    status = gen_build(op->ctx, op->type, op->rows, write_row, &job, A);
done:
    for (int k = 0; k < c->m * c->m; k++)
        spry_matrix_free(job.matrix[k]);
    return status;
}

/* --- the object ----------------------------------------------------------------------------------
 */

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
        return coupled_make(A->ctx, &c, shifted);
    coupled_free_blocks(&c);
    return status;
}

static bool is_on_a_grid(const coupled *c)
{
    for (int k = 0; k < c->m * c->m; k++) {
        const spry_operator *block = c->block[k];
        const stencil *s = block ? stencil_of(block) : NULL;
        if (block ? !s || s->waves : k % (c->m + 1) == 0)
            return false;
        const grid_shape *first = &stencil_of(c->block[0])->shape;
        for (int a = 0; s && a < GRID_AXES; a++)
            if (s->shape.axis[a].unknowns != first->axis[a].unknowns ||
                s->shape.axis[a].intervals != first->axis[a].intervals ||
                s->shape.axis[a].face[0] != first->axis[a].face[0])
                return false;
    }
    return true;
}

spry_status coupled_make(spry_context *ctx, const coupled *blocks, spry_operator **op)
{
    coupled *c = NULL;
    const operator_class *class = is_on_a_grid(blocks) ? &coupled_grid_class : &coupled_class;
    spry_type type = SPRY_TYPE_D;
    int64_t bytes = 0;
    for (int k = 0; k < blocks->m * blocks->m; k++)
        if (blocks->block[k]) {
            type = blocks->block[k]->type;
            bytes += blocks->block[k]->own_bytes;
        }
    const int64_t n = blocks->m * blocks->n;
    spry_status status = operator_new(ctx, class, type, n, n, op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *c, &c);
    if (status != SPRY_STATUS_OK) {
        coupled_free_blocks(blocks);
        spry_operator_free(*op);
        *op = NULL;
        return status;
    }
    *c = *blocks;
    (*op)->state = c;
    (*op)->own_bytes = bytes;
    (*op)->bytes = bytes + 2 * n * (int64_t)spry_type_size(type);
    for (int k = 0; k < c->m * c->m; k++)
        if (c->block[k] && !spry_operator_has_transpose(c->block[k]))
            (*op)->one_way = true;
    return status;
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
        bool any = false;
        for (int j = 0; j < m; j++)
            any = any || coupled_block(&c, i, j);
        if (!any)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "row %d has no block", i);
    }
    c.n = first->rows;
    return coupled_make(ctx, &c, A);
}
