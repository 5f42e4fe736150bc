/*
 * Jacobi's preconditioner: z = D^-1 r with the diagonal D of A. Least traffic of a product: r, D^-1
 * and z once each, 3 n numbers.
 *
 * l1 has the sums of the moduli of A's rows in the diagonal's place, with the diagonal's sign
 * (phase): A. H. Baker, R. D. Falgout, T. V. Kolev, U. M. Yang, Multigrid smoothers for
 * ultraparallel computing, SIAM J. Sci. Comput. 33 (2011), 2864-2887. For a hermitian positive
 * definite A it is at least as large as A, so that its sweeps always converge.
 */
#include "device/linalg/operator.h"
#include "host/host.h"
#include "matrix/entries.h"
#include "precon/kernels.h"
#include "precon/precon.h"

typedef struct jacobi {
    spry_vector *inverse;
    spry_vector *conjugate; /* the same as inverse for real types */
    spry_vector *work;      /* for products with alpha or beta */
    /* makes the inverse for a matrix */
    spry_status (*invert)(const spry_matrix *A, spry_vector **d);
} jacobi;

static const spry_vector *diagonal_for(const jacobi *state, spry_transpose transpose)
{
    return transpose == SPRY_TRANSPOSE_CONJUGATE ? state->conjugate : state->inverse;
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
    if (status == SPRY_STATUS_OK && !plain)
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
                                            .rows.diagonal = jacobi_diagonal};

/* Inverts a vector, which it takes. */
static spry_status invert_all(spry_context *ctx, spry_vector *x, const char *who, spry_vector **d)
{
    spry_status status = SPRY_STATUS_OK;
    *d = NULL;
    SPRY_GO(ctx, spry_vector_new(ctx, x->type, x->n, NULL, SPRY_OWN_COPY, d));
    const int64_t bad = precon_kernels_for(ctx, x->type)->invert(x->n, x->data, (*d)->data);
    if (bad < x->n) {
        char text[VALUE_TEXT];
        const spry_scalar v = value_get(x->type, x->data, bad);
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "row %" PRId64 " (from 0): diagonal entry %s has no inverse "
                           "for %s; try direct, sai, or another ordering of the rows",
                           bad, value_text(x->type, v, text), who);
        spry_vector_free(*d);
        *d = NULL;
    }
done:
    spry_vector_free(x);
    return status;
}

spry_status precon_inverse_diagonal(const spry_matrix *A, const char *who, spry_vector **d)
{
    spry_vector *diagonal = NULL;
    *d = NULL;
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s needs a square matrix, not %" PRId64 " x %" PRId64, who, A->a.rows,
                         A->a.cols);
    const spry_status status = spry_matrix_diagonal(A, &diagonal);
    return status == SPRY_STATUS_OK ? invert_all(A->ctx, diagonal, who, d) : status;
}

static spry_status invert_diagonal(const spry_matrix *A, spry_vector **d)
{
    return precon_inverse_diagonal(A, "Jacobi's preconditioner", d);
}

/* |a_i1| + |a_i2| + ..., with the phase of a_ii. */
static spry_scalar l1_sum(const matrix_arrays *a, int64_t i)
{
    spry_scalar diagonal = {0, 0};
    double sum = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        sum += v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
        if (a->col_index[k] == i)
            diagonal = v;
    }
    const double size = diagonal.im == 0 ? fabs(diagonal.re) : hypot(diagonal.re, diagonal.im);
    return size > 0 ? (spry_scalar){diagonal.re / size * sum, diagonal.im / size * sum}
                    : (spry_scalar){sum, 0};
}

static spry_status inverse_sums(const spry_matrix *A, spry_vector **d)
{
    spry_vector *sums = NULL;
    *d = NULL;
    const spry_status status =
        spry_vector_new(A->ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &sums);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(A->ctx, A->a.nnz)) schedule(static)
    for (int64_t i = 0; i < A->a.rows; i++)
        value_store(A->a.type, sums->data, i, l1_sum(&A->a, i));
    return invert_all(A->ctx, sums, "l1, which is the sum of its row", d);
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

static spry_status jacobi_update(spry_operator *op, const spry_matrix *A)
{
    jacobi *state = op->state;
    spry_vector *inverse = NULL;
    spry_status status = state->invert(A, &inverse);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(inverse, state->inverse);
    if (status == SPRY_STATUS_OK)
        set_conjugate(op);
    spry_vector_free(inverse);
    return status;
}

/* The operator of an inverse, which it takes. */
static spry_status wrap_inverse(spry_vector *inverse, const char *name,
                                spry_status (*invert)(const spry_matrix *A, spry_vector **d),
                                spry_operator **out)
{
    spry_context *ctx = inverse->ctx;
    const spry_type type = inverse->type;
    const int64_t n = inverse->n;
    spry_operator *op = NULL;
    jacobi *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &jacobi_class, type, n, n, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    op->name = name;
    op->own_bytes = n * (int64_t)spry_type_size(type);
    op->bytes = 3 * op->own_bytes;
    *state = (jacobi){.invert = invert, .inverse = inverse, .conjugate = inverse};
    inverse = NULL;
    SPRY_GO(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &state->work));
    if (spry_type_is_complex(type)) {
        state->conjugate = NULL;
        SPRY_GO(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &state->conjugate));
        set_conjugate(op);
    }
    *out = op;
    op = NULL;
done:
    spry_vector_free(inverse);
    spry_operator_free(op);
    return status;
}

static spry_status new_operator(const spry_matrix *A, const char *name,
                                spry_status (*invert)(const spry_matrix *A, spry_vector **d),
                                spry_operator **out)
{
    spry_vector *inverse = NULL;
    *out = NULL;
    const spry_status status = invert(A, &inverse);
    return status == SPRY_STATUS_OK ? wrap_inverse(inverse, name, invert, out) : status;
}

static spry_status jacobi_operator(const spry_matrix *A, spry_operator **op)
{
    return new_operator(A, NULL, invert_diagonal, op);
}

static spry_status l1_operator(const spry_matrix *A, spry_operator **op)
{
    return new_operator(A, "l1", inverse_sums, op);
}

/* --- the kind ------------------------------------------------------------------------------------
 */

typedef struct jacobi_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
} jacobi_options;
SPRY_OPTION_TABLE(table, jacobi_options, PRECON_COMMON(SPRY_OPTION_ROW))

/* Moves `on_host`, which it takes, to where the job wants it. */
static spry_status move(const precon_job *job, spry_operator *on_host,
                        spry_status (*make_on_host)(const spry_matrix *A, spry_operator **op),
                        spry_operator **M)
{
    if (!job->device) {
        *M = on_host;
        return SPRY_STATUS_OK;
    }
    const spry_status status = device_diagonal_operator(job->device, on_host, make_on_host, M);
    spry_operator_free(on_host);
    return status;
}

static spry_status make_by(const precon_job *job,
                           spry_status (*make_on_host)(const spry_matrix *A, spry_operator **op),
                           spry_operator **M)
{
    spry_operator *on_host = NULL;
    const spry_status status = make_on_host(job->A, &on_host);
    return status == SPRY_STATUS_OK ? move(job, on_host, make_on_host, M) : status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    return make_by(job, jacobi_operator, M);
}

/* Of an operator that knows its diagonal: no matrix is made for it. */
static spry_status make_of(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->op->ctx;
    const jacobi_options *o = job->options;
    spry_vector *diagonal = NULL, *inverse = NULL;
    spry_operator *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    if (!job->op->class->stored.diagonal || !job->op->square)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "precon=jacobi needs a matrix, or an operator that knows its diagonal");
    if (o->precision != PRECON_SAME)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon jacobi of an operator has its precision; expected precision=same");
    SPRY_GO(ctx, spry_operator_diagonal(job->op, &diagonal));
    SPRY_GO(ctx, invert_all(ctx, diagonal, "Jacobi's preconditioner", &inverse));
    SPRY_GO(ctx, wrap_inverse(inverse, NULL, invert_diagonal, &on_host));
    SPRY_GO(ctx, move(job, on_host, jacobi_operator, M));
done:
    return status;
}

static spry_status make_l1(const precon_job *job, spry_operator **M)
{
    return make_by(job, l1_operator, M);
}

const precon_kind precon_kind_jacobi = {
    .name = "jacobi",
    .summary = "the inverse of the diagonal",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .make_of = make_of,
    .on_devices = true,
    .diagonal = true,
    .cost = {.products = 1, .vectors = 1, .made_on_device = true}};
const precon_kind precon_kind_l1 = {
    .name = "l1",
    .summary = "the inverse of the sums of rows: Jacobi's that never diverges",
    .options = SPRY_OPTION_LIST(table),
    .make = make_l1,
    .on_devices = true,
    .diagonal = true,
    .cost = {.products = 2, .vectors = 1, .made_on_device = true}};
