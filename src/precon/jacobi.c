/*
 * Jacobi's preconditioner: z = D^-1 r with the diagonal D of A. Least traffic of a product: r, D^-1
 * and z once each, 3 n numbers.
 */
#include "host/host.h"
#include "matrix/matrix.h"

#include <math.h>

typedef struct jacobi {
    spry_vector *inverse;
    spry_vector *conjugate; /* the same as inverse for real types */
    spry_vector *work;      /* for products with alpha or beta */
} jacobi;

static const spry_vector *diagonal_for(const jacobi *state, spry_transpose transpose)
{
    return transpose == SPRY_CONJUGATE ? state->conjugate : state->inverse;
}

static const void *jacobi_diagonal(const spry_operator *op, spry_transpose transpose)
{
    return diagonal_for(op->state, transpose)->data;
}

static spry_status jacobi_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const jacobi *state = op->state;
    const spry_vector *diagonal = diagonal_for(state, transpose);
    /* Vectors over the caller's arrays; the product only reads x. */
    const spry_vector in = {op->ctx, op->type, op->cols, (void *)(uintptr_t)x, false};
    spry_vector out = {op->ctx, op->type, op->rows, y, false};
    if (alpha.re == 1 && alpha.im == 0 && beta.re == 0 && beta.im == 0)
        return spry_vector_multiply(diagonal, &in, &out);
    spry_status status = SPRY_OK;
    SPRY_GO(op->ctx, spry_vector_multiply(diagonal, &in, state->work));
    if (beta.re == 0 && beta.im == 0)
        SPRY_GO(op->ctx, spry_vector_fill(&out, beta));
    else
        SPRY_GO(op->ctx, spry_vector_scale(beta, &out));
    SPRY_GO(op->ctx, spry_vector_axpy(alpha, state->work, &out));
done:
    return status;
}

static void jacobi_destroy(spry_operator *op)
{
    jacobi *state = op->state;
    if (!state)
        return;
    if (state->conjugate != state->inverse)
        spry_vector_free(state->conjugate);
    spry_vector_free(state->inverse);
    spry_vector_free(state->work);
    base_free(op->ctx, state);
}

static const operator_class jacobi_class = {.name = "jacobi",
                                            .has_transpose = true,
                                            .multiply = jacobi_multiply,
                                            .destroy = jacobi_destroy,
                                            .diagonal = jacobi_diagonal};

/* d_i = 1 / d_i, by Smith's division, which does not overflow where the result does not. */
static spry_status invert(spry_context *ctx, spry_vector *d)
{
    for (int64_t i = 0; i < d->n; i++) {
        spry_scalar v = value_get(d->type, d->data, i);
        spry_scalar inverse = {1 / v.re, 0};
        if (v.im != 0) {
            bool wide = fabs(v.re) >= fabs(v.im);
            double ratio = wide ? v.im / v.re : v.re / v.im;
            double scale = wide ? 1 / (v.re + v.im * ratio) : 1 / (v.re * ratio + v.im);
            inverse =
                wide ? (spry_scalar){scale, -ratio * scale} : (spry_scalar){ratio * scale, -scale};
        }
        value_set(d->type, d->data, i, inverse);
        spry_scalar stored = value_get(d->type, d->data, i);
        if (!value_finite(stored))
            return SPRY_FAIL(ctx, SPRY_BAD_INPUT,
                             "row %" PRId64 " (from 0): diagonal entry %g%+gi has no inverse for "
                             "Jacobi's preconditioner",
                             i, v.re, v.im);
    }
    return SPRY_OK;
}

static spry_status jacobi_fill(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    jacobi *state = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    SPRY_GO(ctx, spry_matrix_diagonal(A, &state->inverse));
    SPRY_GO(ctx, invert(ctx, state->inverse));
    SPRY_GO(ctx, spry_vector_new(ctx, op->type, op->rows, NULL, SPRY_COPY, &state->work));
    if (spry_type_is_complex(op->type)) {
        SPRY_GO(ctx, spry_vector_new(ctx, op->type, op->rows, state->inverse->data, SPRY_COPY,
                                     &state->conjugate));
        for (int64_t i = 0; i < op->rows; i++) {
            spry_scalar v = value_get(op->type, state->conjugate->data, i);
            value_set(op->type, state->conjugate->data, i, (spry_scalar){v.re, -v.im});
        }
    } else {
        state->conjugate = state->inverse;
    }
done:
    return status;
}

spry_status spry_operator_jacobi(const spry_matrix *A, spry_operator **op)
{
    *op = NULL;
    spry_context *ctx = A->ctx;
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE,
                         "Jacobi's preconditioner needs a square matrix, not %" PRId64
                         " x %" PRId64,
                         A->a.rows, A->a.cols);
    spry_status status = operator_new(ctx, &jacobi_class, A->a.type, A->a.rows, A->a.cols, op);
    if (status != SPRY_OK)
        return status;
    (*op)->own_bytes = A->a.rows * (int64_t)spry_type_size(A->a.type);
    (*op)->bytes = 3 * (*op)->own_bytes;
    status = jacobi_fill(*op, A);
    if (status != SPRY_OK) {
        spry_operator_free(*op);
        *op = NULL;
    }
    return status;
}
