/* Right-hand sides and solutions as dense blocks. */
#include "device/linalg/vector.h"
#include "host/apply.h"
#include "krylov/solver.h"

#include <limits.h>

/* The columns of a block as vectors, in place or as copies. */
typedef struct columns {
    spry_dense at;
    spry_type type;
    spry_vector **v;
    device_memory *memory; /* of a block on a device that has no addresses; NULL: none */
    bool copied;
} columns;

static int64_t stride_of_rows(const spry_dense *d)
{
    return d->by_rows ? d->ld : 1;
}

static int64_t stride_of_columns(const spry_dense *d)
{
    return d->by_rows ? 1 : d->ld;
}

/* Copies a column of the block to its vector, or back. */
static spry_status copy_column(const columns *c, int64_t j, bool back)
{
    const int64_t size = (int64_t)spry_type_size(c->type), row = stride_of_rows(&c->at);
    spry_vector *v = c->v[j];
    if (c->at.device) {
        const device_block block = {c->memory, j * stride_of_columns(&c->at), row, 0};
        const device_block own = {device_vector_memory(v), 0, 1, 0};
        return device_copy_block(c->at.device, c->type, v->n, 1, back ? own : block,
                                 back ? block : own);
    }
    char *from = (char *)c->at.data + j * stride_of_columns(&c->at) * size, *to = v->data;
    for (int64_t i = 0; i < v->n; i++)
        memcpy(back ? from + i * row * size : to + i * size,
               back ? to + i * size : from + i * row * size, (size_t)size);
    return SPRY_STATUS_OK;
}

static void columns_close(spry_context *ctx, columns *c)
{
    for (int64_t j = 0; c->v && j < c->at.cols; j++)
        spry_vector_free(c->v[j]);
    base_free(ctx, c->v);
    device_free(c->memory);
}

static spry_status columns_open(spry_context *ctx, columns *c)
{
    const int64_t size = (int64_t)spry_type_size(c->type);
    spry_device *d = c->at.device;
    const bool addresses = !d || d->facts.has_pointers;
    spry_status status = SPRY_STATUS_OK;
    c->copied = (stride_of_rows(&c->at) != 1 && c->at.rows > 1) || !addresses;
    SPRY_GO(ctx, base_calloc(ctx, c->at.cols, sizeof *c->v, &c->v));
    if (d && c->copied) {
        const int64_t last = (c->at.rows - 1) * stride_of_rows(&c->at) +
                             (c->at.cols - 1) * stride_of_columns(&c->at) + 1;
        SPRY_GO(ctx, device_borrow(d, c->at.data, (c->at.rows > 0 ? last : 0) * size, &c->memory));
    }
    for (int64_t j = 0; j < c->at.cols; j++) {
        char *data = c->copied ? NULL : (char *)c->at.data + j * stride_of_columns(&c->at) * size;
        SPRY_GO(ctx, d ? spry_vector_on(d, c->type, c->at.rows, data, &c->v[j])
                       : spry_vector_new(ctx, c->type, c->at.rows, data,
                                         data ? SPRY_OWN_BORROW : SPRY_OWN_COPY, &c->v[j]));
        if (c->copied)
            SPRY_GO(ctx, copy_column(c, j, false));
    }
done:
    return status;
}

static spry_status check_block(spry_context *ctx, const char *name, const spry_dense *d,
                               int64_t rows, int64_t cols)
{
    const int64_t least = d->by_rows ? d->cols : d->rows;
    if (d->rows != rows || d->cols != cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%s is %" PRId64 " x %" PRId64 ", it should be %" PRId64 " x %" PRId64,
                         name, d->rows, d->cols, rows, cols);
    if (d->ld < least && d->rows > 0 && d->cols > 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%s has a leading dimension of %" PRId64 ", which is less than %" PRId64,
                         name, d->ld, least);
    if (!d->data && d->rows > 0 && d->cols > 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s has no data", name);
    return SPRY_STATUS_OK;
}

static spry_status check_blocks(const spry_solver *solver, const spry_dense *B, const spry_dense *X)
{
    spry_context *ctx = solver->ctx;
    const spry_matrix *A = solver->setup.matrix;
    const spry_operator *op = solver->asked.operator;
    spry_status status = SPRY_STATUS_OK;
    if (!A && !op)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the solver has no matrix and no operator yet");
    if (B->cols < 0 || B->cols > INT_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%" PRId64 " right-hand sides", B->cols);
    SPRY_GO(ctx, check_block(ctx, "B", B, op ? op->rows : A->a.rows, B->cols));
    SPRY_GO(ctx, check_block(ctx, "X", X, op ? op->cols : A->a.cols, B->cols));
    if (host_dense_overlap(B, X, (int64_t)spry_type_size(op ? op->type : A->a.type)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "B and X share memory");
done:
    return status;
}

spry_status spry_solve_dense(spry_solver *solver, const spry_dense *B, const spry_dense *X,
                             spry_result *results)
{
    SPRY_NEED(CTX_OF(solver), solver, B, X);
    static const base_sized sized = BASE_SIZED(spry_dense, device);
    spry_context *ctx = solver->ctx;
    columns b = {0}, x = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, solver_check_idle(solver));
    SPRY_GO(ctx, base_take(ctx, B, &b.at, &sized));
    SPRY_GO(ctx, base_take(ctx, X, &x.at, &sized));
    SPRY_GO(ctx, check_blocks(solver, &b.at, &x.at));
    b.type = x.type =
        solver->asked.operator? solver->asked.operator->type : solver->setup.matrix->a.type;
    SPRY_GO(ctx, columns_open(ctx, &b));
    SPRY_GO(ctx, columns_open(ctx, &x));
    status = spry_solve_many(solver, (int)b.at.cols, (const spry_vector *const *)b.v, x.v, results);
    for (int64_t j = 0; x.copied && j < x.at.cols; j++) {
        const spry_status back = copy_column(&x, j, true);
        status = status == SPRY_STATUS_OK ? back : status;
    }
done:
    columns_close(ctx, &b);
    columns_close(ctx, &x);
    return status;
}
