/*
 * Products of operators on devices. Transposed products use A^T in the same format, made at the
 * first one; half of a symmetric matrix serves both. Vectors of the host are copied to the device
 * and back.
 */
#include "device/linalg/product.h"

#include "device/linalg/vector.h"
#include "formats/shared/device_convert.h"
#include "host/apply.h"

/* A^T where A was made on the device. */
static spry_status transpose_on_device(device_state *state)
{
    spry_context *ctx = device_layout_host(state->plain.whole)->ctx;
    device_matrix A = {0}, T = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_layout_to_matrix(state->plain.whole, &A));
    SPRY_GO(ctx, device_matrix_transpose(&A, false, &T));
    device_matrix_free(&A);
    SPRY_GO(ctx, device_layout_from_matrix(&T, false, NULL, &state->transposed.whole));
done:
    device_matrix_free(&A);
    return status;
}

/* A^T, which may have other shapes of rows than A: in CSR then. */
static spry_status make_transposed(const spry_operator *op, device_state *state)
{
    spry_context *ctx = op->ctx;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_STATUS_OK;
    const base_kept before = base_try(ctx);
    SPRY_GO(ctx, operator_check_transpose(op, state->matrix, state->version));
    SPRY_GO(ctx, spry_matrix_transpose(state->matrix, false, &transposed));
    status = device_stored_make(op->device, transposed, NULL, state->spec, &state->transposed);
    if (status == SPRY_STATUS_UNSUPPORTED) {
        char spec[LAYOUT_CSR_SPEC];
        layout_csr_instead(ctx, &before, device_stored_host(&state->plain)->kind, spec);
        status = device_stored_make(op->device, transposed, NULL, spec, &state->transposed);
    }
    SPRY_GO(ctx, status);
done:
    spry_matrix_free(transposed);
    return status;
}

spry_status device_find_stored(const spry_operator *op, spry_transpose transpose,
                               const device_stored **found, bool *conjugate)
{
    device_state *state = op->state;
    const spry_symmetry symmetry =
        state->plain.streamed ? SPRY_SYMMETRY_GENERAL : device_stored_host(&state->plain)->symmetry;
    spry_status status = SPRY_STATUS_OK;
    *found = &state->plain;
    *conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE;
    if (transpose == SPRY_TRANSPOSE_NO || symmetry == SPRY_SYMMETRY_SYMMETRIC)
        return SPRY_STATUS_OK;
    if (symmetry == SPRY_SYMMETRY_HERMITIAN) { /* A^T = conj(A) */
        *conjugate = transpose == SPRY_TRANSPOSE_YES;
        return SPRY_STATUS_OK;
    }
    if (!state->transposed.whole && !state->transposed.streamed)
        status = state->matrix ? make_transposed(op, state) : transpose_on_device(state);
    *found = &state->transposed;
    return status;
}

/* --- products ------------------------------------------------------------------------------------
 */

spry_status device_multiply_blocks(const spry_operator *op, spry_transpose transpose,
                                   const device_product *products, int count)
{
    const device_stored *stored;
    device_product p[DEVICE_MOST_PRODUCTS];
    bool conjugate;
    spry_status status = device_find_stored(op, transpose, &stored, &conjugate);
    for (int k = 0; k < count; k++) {
        p[k] = products[k];
        p[k].conjugate = conjugate;
    }
    if (status == SPRY_STATUS_OK && stored->streamed)
        return device_streamed_multiply(stored->streamed, p, count);
    for (int k = 0; status == SPRY_STATUS_OK && k < count; k++)
        status = device_layout_multiply(stored->whole, &p[k]);
    return status;
}

spry_status device_multiply_stored(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                   device_memory *y)
{
    const device_product p = {
        .columns = 1, .alpha = alpha, .beta = beta, .x = x, .x_stride = 1, .y = y, .y_stride = 1};
    return device_multiply_blocks(op, transpose, &p, 1);
}

spry_status device_multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const device_memory *x, spry_scalar beta, device_memory *y)
{
    if (op->class->apply) {
        const bool plain = transpose == SPRY_TRANSPOSE_NO;
        const spry_vector from =
            device_vector_over(op->device, op->type, plain ? op->cols : op->rows, x);
        spry_vector to = device_vector_over(op->device, op->type, plain ? op->rows : op->cols, y);
        return operator_apply_vectors(op, transpose, alpha, &from, beta, &to);
    }
    return op->class->device.multiply(op, transpose, alpha, x, beta, y);
}

/* x as memory of the device: its own, or a copy in *made. */
static spry_status bring(spry_device *d, const spry_vector *v, bool numbers, device_memory **memory,
                         device_memory **made)
{
    const int64_t bytes = v->n * (int64_t)spry_type_size(v->type);
    *memory = v->memory;
    if (v->device)
        return SPRY_STATUS_OK;
    const spry_status status = device_alloc(d, bytes, made);
    *memory = *made;
    return status == SPRY_STATUS_OK && numbers ? device_put(*made, 0, v->data, bytes) : status;
}

spry_status device_multiply_vectors(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                    spry_vector *y)
{
    spry_device *d = op->device;
    device_memory *from = NULL, *to = NULL, *made_from = NULL, *made_to = NULL;
    spry_status status = SPRY_STATUS_OK;
    if ((x->device && x->device != d) || (y->device && y->device != d))
        return SPRY_FAIL(op->ctx, SPRY_STATUS_BAD_USAGE,
                         "x is on %s, y on %s, the operator on %s; spry_vector_copy() brings "
                         "vectors to another place",
                         place_name(x->device), place_name(y->device), place_name(d));
    SPRY_GO(op->ctx, bring(d, x, true, &from, &made_from));
    SPRY_GO(op->ctx, bring(d, y, beta.re != 0 || beta.im != 0, &to, &made_to));
    SPRY_GO(op->ctx, device_multiply(op, transpose, alpha, from, beta, to));
    if (made_to)
        SPRY_GO(op->ctx, device_get(to, 0, y->data, y->n * (int64_t)spry_type_size(y->type)));
done:
    device_free(made_from);
    device_free(made_to);
    return status;
}
