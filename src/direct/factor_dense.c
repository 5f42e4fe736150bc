/*
 * Dense factors. For small matrices, which have few levels of cache to care for, our own
 * elimination is as good as any; LAPACK does larger ones.
 *
 * A regular one is factored with exchanges of rows and columns until nothing but rounding errors is
 * left, and what is left is taken as 0: P A Q = [L1; L2] [U1 U2] to working precision, and
 * M = Q [(L1 U1)^-1 0; 0 0] P solves A z = r wherever that can be solved (a generalized inverse, A
 * M A = A and M A M = M). The largest number of what is left of a semidefinite matrix is on its
 * diagonal, so that M of a hermitian semidefinite A is hermitian and semidefinite, too: as
 * conjugate gradients needs it on the coarsest level of a Neumann problem.
 */
#include "base/machine.h"
#include "base/stop.h"
#include "direct/factor.h"

#include "matrix/algebra/algebra.h"

enum { OWN_MOST = 96 };

typedef struct dense {
    dense_factors lu;
    spry_vector *left,
        *right; /* of rows and columns, of balanced ones: powers of two; NULL: none */
} dense;

static void dense_close(factor *f)
{
    dense *state = f->state;
    if (!state)
        return;
    base_free(f->ctx, state->lu.factors);
    base_free(f->ctx, state->lu.rows);
    base_free(f->ctx, state->lu.cols);
    spry_vector_free(state->left);
    spry_vector_free(state->right);
    base_free(f->ctx, state);
    f->state = NULL;
}

static spry_status dense_open(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    const int64_t n = f->n;
    dense *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    (void)A;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    f->state = state;
    if (n > INT64_MAX / 16 / (n > 0 ? n : 1))
        return SPRY_FAIL(
            ctx, SPRY_STATUS_NO_MEMORY,
            "precon direct: there is not enough memory for a dense matrix of %" PRId64 " rows", n);
    SPRY_GO(ctx, base_alloc(ctx, n * n, spry_type_size(f->type), &state->lu.factors));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *state->lu.rows, &state->lu.rows));
    if (f->regular)
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *state->lu.cols, &state->lu.cols));
    state->lu.n = state->lu.rank = n;
    f->bytes = n * n * (int64_t)spry_type_size(f->type);
done:
    return status;
}

static double factor_at(const spry_vector *scale, int64_t i)
{
    return scale ? value_get(scale->type, scale->data, i).re : 1;
}

/* The matrix written out, scaled; gives its largest number. */
static double write_out(const factor *f, const spry_matrix *A)
{
    const dense *state = f->state;
    const matrix_arrays *a = &A->a;
    const int64_t n = f->n;
    double most = 0;
    memset(state->lu.factors, 0, (size_t)(n * n) * spry_type_size(f->type));
    for (int64_t i = 0; i < n; i++) {
        const double row = factor_at(state->left, i);
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const double column = factor_at(state->right, j);
            spry_scalar v = value_get(a->type, a->values, k);
            v = (spry_scalar){v.re * row * column, v.im * row * column};
            value_set(f->type, state->lu.factors, j * n + i, v);
            most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
        }
    }
    return most;
}

/* Columns between two looks for a request to stop: those that take some 1e8 operations. */
static int64_t columns_together(int64_t n)
{
    const int64_t count = n > 0 ? (int64_t)1e8 / n / n : n;
    return count > 1 ? count : 1;
}

/* By our own elimination: the first column without a pivot, n where there is none. `all`: with a
 * search of all that is left, the rank by pivots of more than `least`. */
static int64_t eliminate(const factor *f, bool all, double least)
{
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const dense *state = f->state;
    void *lu = state->lu.factors;
    const int64_t n = f->n, together = columns_together(n);
    int64_t done = 0;
    for (int64_t end = 0; end < n && done == end && !spry_context_interrupted(f->ctx, false);) {
        const int64_t begin = end;
        end = n - begin < together ? n : begin + together;
        done = all ? kernels->dense_rank(n, begin, end, least, lu, state->lu.rows, state->lu.cols)
                   : kernels->dense_factor(n, begin, end, lu, state->lu.rows);
    }
    return done;
}

static spry_status balance(factor *f, const spry_matrix *A)
{
    dense *state = f->state;
    spry_vector_free(state->left);
    spry_vector_free(state->right);
    state->left = state->right = NULL;
    return f->regular || f->balanced ? algebra_balance(A, &state->left, &state->right)
                                     : SPRY_STATUS_OK;
}

static spry_status fill_regular(factor *f, const spry_matrix *A)
{
    dense *state = f->state;
    const double least = (double)f->n * f->roundoff * write_out(f, A);
    state->lu.rank = eliminate(f, true, least);
    f->rank = state->lu.rank;
    return base_go_on(f->ctx, "precon direct");
}

static spry_status dense_fill(factor *f, const spry_matrix *A)
{
    dense *state = f->state;
    const int64_t n = f->n;
    int64_t bad = n;
    const spry_status status = balance(f, A);
    if (status != SPRY_STATUS_OK)
        return status;
    f->by = "elimination";
    if (f->regular)
        return fill_regular(f, A);
    write_out(f, A);
    if (n > OWN_MOST &&
        lapack_dense_factor(f->ctx, f->type, n, state->lu.factors, state->lu.rows, &bad))
        f->by = "LAPACK";
    else
        bad = eliminate(f, false, 0);
    if (base_go_on(f->ctx, "precon direct") != SPRY_STATUS_OK)
        return SPRY_STATUS_INTERRUPTED;
    if (bad < n)
        return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon direct: the matrix is singular: column %" PRId64
                         " (from 0) depends on those before it; try direct:regular=yes, or another "
                         "preconditioner",
                         bad);
    return SPRY_STATUS_OK;
}

static void apply_scale(const factor *f, const spry_vector *scale, void *z)
{
    if (scale)
        host_kernels_for(f->ctx, f->type)->multiply(f->n, scale->data, z, z);
}

static spry_status dense_solve(const factor *f, spry_transpose transpose, int count, void *const *z)
{
    const dense *state = f->state;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    for (int k = 0; k < count; k++) {
        apply_scale(f, plain ? state->left : state->right, z[k]);
        front_kernels_for(f->ctx, f->type)->dense_solve(&state->lu, transpose, 1, z[k]);
        apply_scale(f, plain ? state->right : state->left, z[k]);
    }
    return SPRY_STATUS_OK;
}

/* Rows i, i + 1, ... of the inverse are solutions of A^T z = e_i, ...; TOGETHER of them share a
 * reading of the factors. */
enum { TOGETHER = 8 };

spry_status factor_invert(const factor *f, void **out)
{
    const dense *state = f->state;
    const front_kernels *kernels = front_kernels_for(f->ctx, f->type);
    const int64_t n = f->n, parts = (n + TOGETHER - 1) / TOGETHER;
    const size_t size = spry_type_size(f->type);
    const spry_status status = base_calloc(f->ctx, n * n, size, out);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(f->ctx, n *n)) schedule(dynamic, 1)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t begin = p * TOGETHER, end = begin + TOGETHER < n ? begin + TOGETHER : n;
        char *rows = (char *)*out + (size_t)(begin * n) * size;
        for (int64_t i = begin; i < end; i++)
            value_set(f->type, rows, (i - begin) * n + i,
                      (spry_scalar){factor_at(state->right, i), 0});
        kernels->dense_solve(&state->lu, SPRY_TRANSPOSE_YES, end - begin, rows);
        for (int64_t i = begin; i < end; i++)
            apply_scale(f, state->left, rows + (size_t)((i - begin) * n) * size);
    }
    return SPRY_STATUS_OK;
}

static spry_status dense_estimate(factor *f, const spry_matrix *A, precon_forecast *forecast)
{
    const double n = (double)f->n;
    (void)A;
    *forecast = (precon_forecast){
        .known = true, .reads = f->bytes, .seconds = n * n * n / MACHINE_LOOP_FLOPS};
    return SPRY_STATUS_OK;
}

const factor_class factor_dense = {.name = "dense",
                                   .open = dense_open,
                                   .estimate = dense_estimate,
                                   .fill = dense_fill,
                                   .solve = dense_solve,
                                   .balances = true,
                                   .close = dense_close};
