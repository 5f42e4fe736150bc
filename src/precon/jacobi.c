/*
 * Jacobi's preconditioner: z = D^-1 r with the diagonal D of A. Least traffic of a product: r, D^-1
 * and z once each, 3 n numbers.
 */
#include "device/operator.h"
#include "host/host.h"
#include "precon/kernels.h"
#include "precon/precon.h"

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
    const bool plain = alpha.re == 1 && alpha.im == 0 && beta.re == 0 && beta.im == 0;
    /* Vectors over the caller's arrays; the product only reads x. */
    const spry_vector in = vector_over(op->ctx, op->type, op->cols, (void *)(uintptr_t)x);
    spry_vector out = vector_over(op->ctx, op->type, op->rows, plain ? y : state->work->data);
    const spry_status status = spry_vector_multiply(diagonal_for(state, transpose), &in, &out);
    if (status == SPRY_OK && !plain)
        host_blend(op->ctx, op->type, op->rows, alpha, out.data, beta, y);
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

static spry_status jacobi_update(spry_operator *op, const spry_matrix *A);

static const operator_class jacobi_class = {.name = "jacobi",
                                            .has_transpose = true,
                                            .multiply = jacobi_multiply,
                                            .destroy = jacobi_destroy,
                                            .update = jacobi_update,
                                            .diagonal = jacobi_diagonal};

spry_status precon_inverse_diagonal(const spry_matrix *A, const char *who, spry_vector **d)
{
    spry_context *ctx = A->ctx;
    spry_vector *diagonal = NULL;
    spry_status status = SPRY_OK;
    *d = NULL;
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE,
                         "%s needs a square matrix, not %" PRId64 " x %" PRId64, who, A->a.rows,
                         A->a.cols);
    SPRY_GO(ctx, spry_matrix_diagonal(A, &diagonal));
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_COPY, d));
    const int64_t bad =
        precon_kernels_for(ctx, A->a.type)->invert(A->a.rows, diagonal->data, (*d)->data);
    if (bad < A->a.rows) {
        const spry_scalar v = value_get(A->a.type, diagonal->data, bad);
        status = SPRY_FAIL(ctx, SPRY_BAD_INPUT,
                           "row %" PRId64 " (from 0): diagonal entry %g%+gi has no inverse "
                           "for %s",
                           bad, v.re, v.im, who);
        spry_vector_free(*d);
        *d = NULL;
    }
done:
    spry_vector_free(diagonal);
    return status;
}

/* The conjugate of the inverse, where that is another. */
static void set_conjugate(const spry_operator *op)
{
    const jacobi *state = op->state;
    if (state->conjugate == state->inverse)
        return;
    for (int64_t i = 0; i < op->rows; i++) {
        const spry_scalar v = value_get(op->type, state->inverse->data, i);
        value_set(op->type, state->conjugate->data, i, (spry_scalar){v.re, -v.im});
    }
}

static spry_status jacobi_fill(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    jacobi *state = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    SPRY_GO(ctx, precon_inverse_diagonal(A, "Jacobi's preconditioner", &state->inverse));
    SPRY_GO(ctx, spry_vector_new(ctx, op->type, op->rows, NULL, SPRY_COPY, &state->work));
    state->conjugate = state->inverse;
    if (spry_type_is_complex(op->type)) {
        state->conjugate = NULL;
        SPRY_GO(ctx, spry_vector_new(ctx, op->type, op->rows, NULL, SPRY_COPY, &state->conjugate));
        set_conjugate(op);
    }
done:
    return status;
}

static spry_status jacobi_update(spry_operator *op, const spry_matrix *A)
{
    jacobi *state = op->state;
    spry_vector *inverse = NULL;
    spry_status status = precon_inverse_diagonal(A, "Jacobi's preconditioner", &inverse);
    if (status == SPRY_OK)
        status = spry_vector_copy(inverse, state->inverse);
    if (status == SPRY_OK)
        set_conjugate(op);
    spry_vector_free(inverse);
    return status;
}

spry_status spry_operator_jacobi(const spry_matrix *A, spry_operator **op)
{
    *op = NULL;
    spry_context *ctx = A->ctx;
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

/* --- the kind ------------------------------------------------------------------------------------
 */

typedef struct jacobi_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
} jacobi_options;
#define OPTION_OWNER jacobi_options
static const spry_option table[] = {PRECON_COMMON(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_operator *here = NULL;
    spry_status status = spry_operator_jacobi(job->A, &here);
    if (status != SPRY_OK || !job->device) {
        *M = here;
        return status;
    }
    status = device_diagonal_operator(job->device, here, spry_operator_jacobi, M);
    spry_operator_free(here);
    return status;
}

static spry_status forecast(const precon_job *job, double *bytes)
{
    /* The inverse, its conjugate, room for a product, and the copies on a device. */
    *bytes = 5 * (double)job->A->a.rows * (double)spry_type_size(job->A->a.type) + 65536;
    return SPRY_OK;
}

const precon_kind precon_kind_jacobi = {
    .name = "jacobi",
    .summary = "the inverse of the diagonal",
    .options = {table, sizeof table / sizeof *table},
    .make = make,
    .forecast = forecast,
    .on_devices = true,
};
