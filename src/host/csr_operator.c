/*
 * A matrix as an operator: its CSR arrays in place, or a CSR copy of other formats.
 *
 * Transposed products use the rows of A^T: scattering into y by several threads would cost atomics
 * or one y per thread, and its bits would depend on their number. A^T is made at the first such
 * product and kept: another nnz (4 + size) + 8 cols bytes. A CSC matrix holds the rows of A^T
 * already.
 */
#include "host/csr_shares.h"
#include "host/rows.h"
#include "matrix/distribution.h"
#include "matrix/entries.h"

typedef struct csr_state {
    const spry_matrix *matrix; /* as given */
    int64_t version;           /* of the matrix, when the rest was made */
    const spry_matrix *csr;    /* the same or the copy */
    spry_matrix *copy;         /* NULL when the matrix is used in place */
    spry_matrix *transposed;   /* A^T as CSR; NULL when not needed so far, or the matrix is CSC */
    bool transposes;           /* A^T was made once: its rows may have been opened */
    csr_shares shares, transposed_shares;
} csr_state;

/* Plans products with A^T, once. A failure leaves the state as it was, so the next call may
 * succeed.
 */
static spry_status prepare_transposed(const spry_operator *op)
{
    csr_state *state = op->state;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (state->transposed_shares.cuts)
        return SPRY_STATUS_OK;
    const matrix_arrays *a = &state->matrix->a;
    const int32_t *columns = a->row_index;
    if (a->format != SPRY_FORMAT_CSC || a->symmetry != SPRY_SYMMETRY_GENERAL) {
        SPRY_GO(op->ctx, spry_matrix_transpose(state->csr, false, &transposed));
        a = &transposed->a;
        columns = a->col_index;
    }
    SPRY_GO(op->ctx, csr_shares_make(op->ctx, op->type, op->cols, op->rows, a->offsets, columns,
                                     a->values, &state->transposed_shares));
    state->transposed = transposed;
    state->transposes = true;
    transposed = NULL;
done:
    spry_matrix_free(transposed);
    return status;
}

/* The CSR arrays and the shares; the ones before are freed, also the transpose. */
static spry_status prepare(const spry_operator *op)
{
    csr_state *state = op->state;
    const spry_matrix *csr = NULL;
    spry_matrix *copy = NULL;
    csr_shares shares = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, matrix_as_csr(state->matrix, &csr, &copy));
    const matrix_arrays *a = &csr->a;
    SPRY_GO(op->ctx, csr_shares_make(op->ctx, op->type, op->rows, op->cols, a->offsets,
                                     a->col_index, a->values, &shares));
    csr_shares_clear(op->ctx, &state->shares);
    csr_shares_clear(op->ctx, &state->transposed_shares);
    spry_matrix_free(state->copy);
    spry_matrix_free(state->transposed);
    state->shares = shares;
    state->csr = csr;
    state->copy = copy;
    state->transposed = NULL;
    state->version = matrix_version(state->matrix);
    copy = NULL;
done:
    spry_matrix_free(copy);
    return status;
}

/* Products are those with the matrix as it is: its arrays may be others than they were. */
static spry_status csr_follow(const spry_operator *op)
{
    csr_state *state = op->state;
    if (matrix_version(state->matrix) == state->version)
        return SPRY_STATUS_OK;
    matrix_follow(state->matrix);
    spry_status status = prepare(op);
    if (status == SPRY_STATUS_OK && state->transposes) {
        status = prepare_transposed(op);
        if (status != SPRY_STATUS_OK)
            state->version = -1; /* the next call tries again */
    }
    return status;
}

/* The shares for op(A), made if it has to be. */
static spry_status find_shares(const spry_operator *op, spry_transpose transpose,
                               const csr_shares **shares)
{
    const csr_state *state = op->state;
    const spry_status status = csr_follow(op);
    *shares = transpose == SPRY_TRANSPOSE_NO ? &state->shares : &state->transposed_shares;
    return status != SPRY_STATUS_OK || transpose == SPRY_TRANSPOSE_NO ? status
                                                                      : prepare_transposed(op);
}

static spry_status csr_multiply(const spry_operator *op, spry_transpose transpose,
                                spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const csr_shares *shares;
    const spry_status status = find_shares(op, transpose, &shares);
    if (status == SPRY_STATUS_OK)
        csr_shares_run(shares, transpose == SPRY_TRANSPOSE_CONJUGATE, alpha, x, beta, y);
    return status;
}

static void run_rows(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
{
    const csr_shares *shares = rows->state;
    shares->kernels->csr_rows(&shares->csr, begin, end, rows->conjugate, (spry_scalar){1, 0}, x,
                              (spry_scalar){0, 0}, y);
}

static void run_packed(const operator_rows *rows, int64_t begin, int64_t end, int packs,
                       const void *x, int count, void *const *y)
{
    const csr_shares *shares = rows->state;
    const host_columns p = rows_columns(rows, begin, shares->scattered, packs, x, count, y);
    shares->kernels->csr_rows_packed(&shares->csr, begin, end, &p);
}

typedef struct columns_job {
    const csr_shares *shares;
    const host_columns *p;
} columns_job;

static void run_columns(void *argument, int part, int parts)
{
    const columns_job *job = argument;
    const csr_place *cuts = job->shares->cuts;
    (void)parts;
    job->shares->kernels->csr_rows_packed(&job->shares->csr, cuts[part].row, cuts[part + 1].row,
                                          job->p);
}

static spry_status csr_multiply_columns(const spry_operator *op, spry_transpose transpose,
                                        const host_columns *p)
{
    const csr_shares *shares;
    const spry_status status = find_shares(op, transpose, &shares);
    if (status != SPRY_STATUS_OK)
        return status;
    host_columns q = *p;
    q.conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE;
    q.scattered = shares->scattered;
    columns_job job = {shares, &q};
    base_share_out(op->ctx, shares->parts, run_columns, &job);
    return SPRY_STATUS_OK;
}

static int64_t work_before(const operator_rows *rows, int64_t row)
{
    return csr_shares_work(rows->state, row);
}

/* Not for matrices with long rows: several threads share those. */
static spry_status csr_open_rows(const spry_operator *op, spry_transpose transpose,
                                 operator_rows *rows)
{
    const csr_shares *shares;
    const spry_status status = find_shares(op, transpose, &shares);
    if (status == SPRY_STATUS_OK && shares->long_count == 0)
        *rows = (operator_rows){.state = shares,
                                .conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE,
                                .run = run_rows,
                                .run_packed = run_packed,
                                .work = work_before};
    return status;
}

static void csr_destroy(spry_operator *op)
{
    csr_state *state = op->state;
    if (!state)
        return;
    csr_shares_clear(op->ctx, &state->shares);
    csr_shares_clear(op->ctx, &state->transposed_shares);
    spry_matrix_free(state->copy);
    spry_matrix_free(state->transposed);
    base_free(op->ctx, state);
}

static spry_status csr_storage(const spry_operator *op, spry_storage *storage)
{
    const csr_state *state = op->state;
    *storage = (spry_storage){.format = "csr",
                              .nnz = state->csr->a.nnz,
                              .stored = state->csr->a.nnz,
                              .bytes = op->own_bytes,
                              .read_bytes = op->own_bytes,
                              .beta = 1,
                              .exact = true};
    return SPRY_STATUS_OK;
}

static spry_status csr_to_matrix(const spry_operator *op, spry_matrix **A)
{
    const csr_state *state = op->state;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, csr_follow(op));
    SPRY_GO(op->ctx, spry_matrix_convert(state->csr, SPRY_FORMAT_CSR, A));
    SPRY_GO(op->ctx, spry_matrix_sort(*A));
done:
    return matrix_drop_failed(status, A);
}

static spry_status csr_diagonal(const spry_operator *op, spry_vector **d)
{
    const csr_state *state = op->state;
    const spry_status status = csr_follow(op);
    return status == SPRY_STATUS_OK ? spry_matrix_diagonal(state->csr, d) : status;
}

static spry_status csr_remake(const spry_operator *op, const spry_matrix *A, spry_operator **fresh)
{
    (void)op;
    return host_csr_operator(A, fresh);
}

static const operator_class csr_class = {.name = "csr",
                                         .has_transpose = true,
                                         .multiply = csr_multiply,
                                         .destroy = csr_destroy,
                                         .rows.open = csr_open_rows,
                                         .blocks.columns = csr_multiply_columns,
                                         .stored.remake = csr_remake,
                                         .stored.follow = csr_follow,
                                         .stored.storage = csr_storage,
                                         .stored.to_matrix = csr_to_matrix,
                                         .stored.diagonal = csr_diagonal};

spry_status host_csr_operator(const spry_matrix *A, spry_operator **out)
{
    *out = NULL;
    spry_context *ctx = A->ctx;
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    spry_operator *op = NULL;
    csr_state *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (A->distributed) { /* in two statements: arguments are evaluated in any order */
        status = host_csr_operator(A->distributed->own, &op);
        return A->distributed->class->make_operator(A, status, op, out);
    }
    SPRY_GO(ctx, operator_new(ctx, &csr_class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->matrix = A;
    SPRY_GO(ctx, prepare(op));
    operator_made_from(op, A, NULL);
    /* The arrays, x and y once each. */
    op->own_bytes = state->csr->a.nnz * (4 + size) + (op->rows + 1) * 8;
    op->bytes = op->own_bytes + (op->rows + op->cols) * size;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
