/* Small matrices of operators: products, their matrix, and the object of whatever class. */
#include "grid/coupled.h"

#include "matrix/gen/gen.h"

#include <spry/algebra.h>

static void *part_of(const spry_operator *op, const void *x, int i)
{
    const coupled *c = op->state;
    return (char *)(uintptr_t)x + i * c->n * (int64_t)spry_type_size(op->type);
}

/* The parts of y one after the other: each product adds to what those before it have left. */
spry_status coupled_multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                             const void *x, spry_scalar beta, void *y)
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

void coupled_destroy(spry_operator *op)
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

spry_status coupled_to_matrix(const spry_operator *op, spry_matrix **A)
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

spry_status coupled_make(spry_context *ctx, const operator_class *class, const coupled *blocks,
                         spry_operator **op)
{
    coupled *c = NULL;
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
