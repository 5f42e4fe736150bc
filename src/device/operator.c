/*
 * A matrix on a device as an operator. Transposed products use A^T in the same format, made at the
 * first one; half of a symmetric matrix serves both. Products with arrays of the host copy them
 * there and back.
 */
#include "device/operator.h"

#include "matrix/entries.h"

typedef struct device_state {
    spry_device *d;
    const spry_matrix *matrix; /* as given */
    char *spec;
    device_layout *plain, *transposed; /* transposed is NULL until needed */
} device_state;

static spry_status make_layout(spry_device *d, const spry_matrix *A, const char *spec,
                               device_layout **D)
{
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    layout *L = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(d->ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(d->ctx, layout_build(csr, spec, &L));
    SPRY_GO(d->ctx, device_layout_new(d, L, D));
done:
    spry_matrix_free(owned);
    return status;
}

/* A^T, which may have other shapes of rows than A: in CSR then. */
static spry_status make_transposed(const spry_operator *op, device_state *state)
{
    static const char *const kinds[] = {"csr", "csr:values=f32", "csr:values=f16",
                                        "csr:values=bf16"};
    spry_context *ctx = op->ctx;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_OK;
    char before[MESSAGE_SIZE];
    memcpy(before, ctx->message, sizeof before);
    SPRY_GO(ctx, spry_matrix_transpose(state->matrix, false, &transposed));
    status = make_layout(state->d, transposed, state->spec, &state->transposed);
    if (status == SPRY_UNSUPPORTED) {
        base_log(ctx, SPRY_LOG_INFO, "A^T is kept as csr: %s", spry_message(ctx));
        memcpy(ctx->message, before, sizeof before); /* nothing failed for the caller */
        status = make_layout(state->d, transposed, kinds[device_layout_host(state->plain)->kind],
                             &state->transposed);
    }
    SPRY_GO(ctx, status);
done:
    spry_matrix_free(transposed);
    return status;
}

/* The layout for op(A), made if it has to be, and whether its conjugate is meant. */
static spry_status find_layout(const spry_operator *op, spry_transpose transpose,
                               device_layout **found, bool *conjugate)
{
    device_state *state = op->state;
    const spry_symmetry symmetry = device_layout_host(state->plain)->symmetry;
    spry_status status = SPRY_OK;
    *found = state->plain;
    *conjugate = transpose == SPRY_CONJUGATE;
    if (transpose == SPRY_PLAIN || symmetry == SPRY_SYMMETRIC)
        return SPRY_OK;
    if (symmetry == SPRY_HERMITIAN) { /* A^T = conj(A) */
        *conjugate = transpose == SPRY_TRANSPOSE;
        return SPRY_OK;
    }
    if (!state->transposed)
        status = make_transposed(op, state);
    *found = state->transposed;
    return status;
}

/* --- products ------------------------------------------------------------------------------------
 */

spry_status device_multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const device_memory *x, spry_scalar beta, device_memory *y)
{
    device_product p = {
        .columns = 1, .alpha = alpha, .beta = beta, .x = x, .x_step = 1, .y = y, .y_step = 1};
    device_layout *D;
    const spry_status status = find_layout(op, transpose, &D, &p.conjugate);
    return status == SPRY_OK ? device_layout_multiply(D, &p) : status;
}

static int64_t rows_of(const spry_operator *op, spry_transpose transpose)
{
    return transpose == SPRY_PLAIN ? op->rows : op->cols;
}

static int64_t cols_of(const spry_operator *op, spry_transpose transpose)
{
    return transpose == SPRY_PLAIN ? op->cols : op->rows;
}

/* `columns` columns side by side, in arrays of the host. */
static spry_status multiply_packed(const spry_operator *op, spry_transpose transpose, int columns,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const device_state *state = op->state;
    const int64_t size = (int64_t)spry_type_size(op->type) * columns;
    const int64_t x_bytes = cols_of(op, transpose) * size, y_bytes = rows_of(op, transpose) * size;
    device_memory *from = NULL, *to = NULL;
    device_layout *D;
    device_product p = {
        .columns = columns, .alpha = alpha, .beta = beta, .x_step = columns, .y_step = columns};
    spry_status status = SPRY_OK;
    SPRY_GO(op->ctx, find_layout(op, transpose, &D, &p.conjugate));
    SPRY_GO(op->ctx, device_alloc(state->d, x_bytes, &from));
    SPRY_GO(op->ctx, device_alloc(state->d, y_bytes, &to));
    SPRY_GO(op->ctx, device_put(from, 0, x, x_bytes));
    if (beta.re != 0 || beta.im != 0)
        SPRY_GO(op->ctx, device_put(to, 0, y, y_bytes));
    p.x = from;
    p.y = to;
    SPRY_GO(op->ctx, device_layout_multiply(D, &p));
    SPRY_GO(op->ctx, device_get(to, 0, y, y_bytes));
done:
    device_free(from);
    device_free(to);
    return status;
}

static spry_status multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const void *x, spry_scalar beta, void *y)
{
    return multiply_packed(op, transpose, 1, alpha, x, beta, y);
}

/* Copies columns first..first+count-1 of M to or from an array that holds them side by side. */
static void copy_tile(const spry_operator *op, const spry_dense *M, int64_t first, int count,
                      char *packed, bool out)
{
    const size_t size = spry_type_size(op->type);
    const int64_t row = M->by_rows ? M->step : 1, col = M->by_rows ? 1 : M->step;
#pragma omp parallel for num_threads(matrix_parts(op->ctx, M->rows *count)) schedule(static)
    for (int64_t i = 0; i < M->rows; i++)
        for (int c = 0; c < count; c++) {
            char *a = (char *)M->data + (size_t)(i * row + (first + c) * col) * size;
            char *b = packed + (size_t)(i * count + c) * size;
            memcpy(out ? a : b, out ? b : a, size);
        }
}

static spry_status multiply_dense(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                  const spry_dense *C)
{
    const size_t size = spry_type_size(op->type);
    const int64_t most = B->cols < DEVICE_MOST_COLUMNS ? B->cols : DEVICE_MOST_COLUMNS;
    void *x = NULL, *y = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(op->ctx, base_alloc(op->ctx, B->rows * most, size, &x));
    SPRY_GO(op->ctx, base_alloc(op->ctx, C->rows * most, size, &y));
    for (int64_t first = 0; first < B->cols; first += most) {
        const int count = (int)(B->cols - first < most ? B->cols - first : most);
        copy_tile(op, B, first, count, x, false);
        if (beta.re != 0 || beta.im != 0)
            copy_tile(op, C, first, count, y, false);
        SPRY_GO(op->ctx, multiply_packed(op, transpose, count, alpha, x, beta, y));
        copy_tile(op, C, first, count, y, true);
    }
done:
    base_free(op->ctx, x);
    base_free(op->ctx, y);
    return status;
}

/* --- the object ----------------------------------------------------------------------------------
 */

static void destroy(spry_operator *op)
{
    device_state *state = op->state;
    if (!state)
        return;
    device_layout_free(state->plain);
    device_layout_free(state->transposed);
    base_free(op->ctx, state->spec);
    state->d->users--;
    base_free(op->ctx, state);
}

static const layout *layout_of(const spry_operator *op)
{
    const device_state *state = op->state;
    return device_layout_host(state->plain);
}

static spry_status storage(const spry_operator *op, spry_storage *to)
{
    layout_describe(layout_of(op), to);
    return SPRY_OK;
}

static spry_status to_matrix(const spry_operator *op, spry_matrix **A)
{
    return layout_to_csr(layout_of(op), A);
}

static spry_status matrix_diagonal(const spry_operator *op, spry_vector **d)
{
    return layout_diagonal(layout_of(op), d);
}

static const operator_class device_class = {.name = "device",
                                            .has_transpose = true,
                                            .multiply = multiply,
                                            .destroy = destroy,
                                            .multiply_dense = multiply_dense,
                                            .storage = storage,
                                            .to_matrix = to_matrix,
                                            .matrix_diagonal = matrix_diagonal};

spry_device *device_of(const spry_operator *op)
{
    if (op->class != &device_class)
        return NULL;
    const device_state *state = op->state;
    return state->d;
}

int64_t device_operator_bytes(const spry_operator *op)
{
    if (!device_of(op))
        return 0;
    const device_state *state = op->state;
    return device_layout_bytes(state->plain) +
           (state->transposed ? device_layout_bytes(state->transposed) : 0);
}

spry_status device_open_rows(const spry_operator *op, spry_transpose transpose, const char *prefix,
                             device_rows *rows)
{
    device_layout *D;
    bool conjugate;
    *rows = (device_rows){0};
    const spry_status status = find_layout(op, transpose, &D, &conjugate);
    return status == SPRY_OK ? device_layout_rows(D, conjugate, prefix, rows) : status;
}

spry_status device_operator(spry_device *d, const spry_matrix *A, const char *spec,
                            spry_operator **out)
{
    spry_context *ctx = d->ctx;
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    spry_operator *op = NULL;
    device_state *state = NULL;
    spry_status status = SPRY_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &device_class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->d = d;
    d->users++;
    state->matrix = A;
    state->spec = base_copy_text(ctx, spec);
    if (!state->spec) {
        status = SPRY_NO_MEMORY;
        goto done;
    }
    SPRY_GO(ctx, make_layout(d, A, spec, &state->plain));
    op->name = device_layout_host(state->plain)->class->name;
    op->own_bytes = layout_read_bytes(device_layout_host(state->plain));
    op->bytes = op->own_bytes + (op->rows + op->cols) * size;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
