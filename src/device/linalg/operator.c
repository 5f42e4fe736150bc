/* A matrix on a device as an operator: made, asked, and taken apart; product.c multiplies. */
#include "device/linalg/operator.h"

#include "device/linalg/product.h"
#include "formats/shared/device_convert.h"
#include "host/apply.h"
#include "matrix/entries.h"

static const operator_class device_class;

static void destroy(spry_operator *op)
{
    device_state *state = op->state;
    if (!state)
        return;
    device_stored_free(&state->plain);
    device_stored_free(&state->transposed);
    base_free(op->ctx, state->spec);
    op->device->users--;
    base_free(op->ctx, state);
}

static const layout *layout_of(const spry_operator *op)
{
    const device_state *state = op->state;
    return device_stored_host(&state->plain);
}

static spry_status storage(const spry_operator *op, spry_storage *to)
{
    const device_state *state = op->state;
    if (state->plain.streamed)
        device_streamed_describe(state->plain.streamed, to);
    else
        layout_describe(layout_of(op), to);
    return SPRY_STATUS_OK;
}

/* Whether the host has no arrays of what was made on the device, or has them in pieces: the matrix
 * has all then. */
static bool is_shell(const spry_operator *op)
{
    const device_state *state = op->state;
    return state->plain.streamed || !layout_of(op)->array[0].data;
}

/* Whether the device alone has the matrix: it was made on the device, or the host has other values
 * by now. */
static bool only_on_device(const device_state *state)
{
    return !state->matrix ||
           (state->plain.whole && matrix_version(state->matrix) != state->version);
}

/* The same as a matrix of the host's, of an operator that was made on the device. */
static spry_status bring_back(const spry_operator *op, spry_matrix **A)
{
    const device_state *state = op->state;
    device_matrix copy = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!device_layout_goes_back(state->plain.whole))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format %s does not go back from %s, and its matrix has other values by "
                         "now; spry_operator_update() copies them to the device",
                         op->name, op->device->facts.name);
    SPRY_GO(op->ctx, device_layout_to_matrix(state->plain.whole, &copy));
    SPRY_GO(op->ctx, device_matrix_get(&copy, A));
done:
    device_matrix_free(&copy);
    return status;
}

static spry_status to_matrix(const spry_operator *op, spry_matrix **A)
{
    const device_state *state = op->state;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    if (!is_shell(op) && state->matrix)
        return layout_to_csr(layout_of(op), A);
    if (only_on_device(state))
        return bring_back(op, A);
    spry_status status = matrix_as_sorted_csr(state->matrix, &csr, &owned);
    if (status == SPRY_STATUS_OK && owned) {
        *A = owned;
        return status;
    }
    if (status == SPRY_STATUS_OK)
        status = matrix_copy(csr, A);
    spry_matrix_free(owned);
    return status;
}

static spry_status matrix_diagonal(const spry_operator *op, spry_vector **d)
{
    const device_state *state = op->state;
    spry_matrix *A = NULL;
    if (!only_on_device(state) || !is_shell(op))
        return is_shell(op) ? spry_matrix_diagonal(state->matrix, d)
                            : layout_diagonal(layout_of(op), d);
    spry_status status = bring_back(op, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_diagonal(A, d);
    spry_matrix_free(A);
    return status;
}

static spry_status remake(const spry_operator *op, const spry_matrix *A, spry_operator **fresh)
{
    const device_state *state = op->state;
    return device_operator(op->device, A, state->spec, fresh);
}

int device_powers_depth(const spry_operator *op, int count)
{
    const device_state *state = op->class == &device_class ? op->state : NULL;
    return state && state->plain.streamed ? device_streamed_depth(state->plain.streamed, count) : 1;
}

/* Of a matrix that is brought for every product: fewer times. */
static spry_status device_powers(const spry_operator *op, int count, const power_step *steps,
                                 const spry_vector *x, spry_vector *const *v, bool *made)
{
    const device_stored *stored;
    if (!steps) { /* a question */
        *made = device_powers_depth(op, count) == count;
        return SPRY_STATUS_OK;
    }
    bool conjugate, on_device = x->device == op->device;
    const spry_status status = device_find_stored(op, SPRY_TRANSPOSE_NO, &stored, &conjugate);
    for (int j = 0; j < count; j++)
        on_device = on_device && v[j]->device == op->device;
    return status == SPRY_STATUS_OK && stored->streamed && on_device
               ? device_streamed_powers(stored->streamed, count, steps, x, v, made)
               : status;
}

static const operator_class device_class = {.name = "device",
                                            .has_transpose = true,
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = device_multiply_vectors,
                                            .device.multiply = device_multiply_stored,
                                            .destroy = destroy,
                                            .blocks.dense = device_multiply_dense,
                                            .stored.remake = remake,
                                            .stored.storage = storage,
                                            .stored.to_matrix = to_matrix,
                                            .stored.diagonal = matrix_diagonal,
                                            .powers = device_powers};

spry_status device_prepare(const spry_operator *op)
{
    const device_product p = {.columns = 1, .alpha = {1, 0}, .x_stride = 1, .y_stride = 1};
    const device_state *state = op->state;
    return op->class == &device_class && state->plain.whole
               ? device_layout_prepare(state->plain.whole, &p)
               : SPRY_STATUS_OK;
}

spry_device *device_of(const spry_operator *op)
{
    return op->device;
}

spry_status device_open_rows(const spry_operator *op, spry_transpose transpose, const char *prefix,
                             int columns, device_rows *rows)
{
    const device_stored *stored;
    bool conjugate;
    *rows = (device_rows){0};
    if (op->class->device.open_rows) {
        const spry_status opened = op->class->device.open_rows(op, transpose, prefix, rows);
        rows->columns = 1;
        return opened;
    }
    if (op->class != &device_class)
        return SPRY_STATUS_OK;
    const spry_status status = device_find_stored(op, transpose, &stored, &conjugate);
    if (status != SPRY_STATUS_OK || stored->streamed)
        return status;
    return device_layout_rows(stored->whole, conjugate, prefix, columns, rows);
}

/* An operator that has nothing stored yet. */
static spry_status new_operator(spry_device *d, spry_type type, int64_t rows, int64_t cols,
                                spry_operator **out)
{
    spry_operator *op = NULL;
    device_state *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, operator_new(d->ctx, &device_class, type, rows, cols, &op));
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *state, &state));
    op->state = state;
    op->device = d;
    d->users++;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* What is known once the matrix is stored. */
static spry_status finish_operator(spry_operator *op)
{
    const int64_t size = (int64_t)spry_type_size(op->type);
    spry_storage stored = SPRY_STORAGE_INIT;
    const spry_status status = storage(op, &stored);
    if (status != SPRY_STATUS_OK)
        return status;
    op->name = layout_of(op)->class->name;
    op->own_bytes = stored.read_bytes;
    op->bytes = op->own_bytes + (op->rows + op->cols) * size;
    return SPRY_STATUS_OK;
}

spry_status device_operator(spry_device *d, const spry_matrix *A, const char *spec,
                            spry_operator **out)
{
    return device_operator_from(d, A, NULL, spec, out);
}

spry_status device_operator_from(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                                 const char *spec, spry_operator **out)
{
    spry_context *ctx = d->ctx;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, new_operator(d, A->a.type, A->a.rows, A->a.cols, &op));
    device_state *state = op->state;
    state->matrix = A;
    state->version = matrix_version(A);
    operator_made_from(op, A, NULL);
    state->spec = base_copy_text(ctx, spec);
    if (!state->spec) {
        status = SPRY_STATUS_NO_MEMORY;
        goto done;
    }
    SPRY_GO(ctx, device_stored_make(d, A, on_device, spec, &state->plain));
    SPRY_GO(ctx, finish_operator(op));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

spry_status device_matrix_operator(device_matrix *A, bool keep, const char *spec,
                                   spry_operator **out)
{
    spry_context *ctx = A->d->ctx;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, new_operator(A->d, A->type, A->rows, A->cols, &op));
    device_state *state = op->state;
    SPRY_GO(ctx, device_layout_from_matrix(A, keep, spec, &state->plain.whole));
    SPRY_GO(ctx, finish_operator(op));
    *out = op;
    op = NULL;
done:
    if (!keep)
        device_matrix_free(A);
    spry_operator_free(op);
    return status;
}

spry_status device_matrix_of(const spry_operator *op, device_matrix *out)
{
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = (device_matrix){0};
    if (op->class == &device_class) {
        const device_state *state = op->state;
        if (state->plain.whole)
            SPRY_GO(op->ctx, device_layout_to_matrix(state->plain.whole, out));
        if (out->d)
            return SPRY_STATUS_OK;
    }
    SPRY_GO(op->ctx, spry_operator_to_matrix(op, &A));
    SPRY_GO(op->ctx, device_matrix_put(op->device, A, out));
done:
    spry_matrix_free(A);
    return status;
}
