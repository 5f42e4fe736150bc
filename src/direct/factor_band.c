/* Factors of a matrix whose entries lie near the diagonal, once its rows are in a good order
 * (reverse Cuthill-McKee), and stay there. */
#include "base/machine.h"
#include "direct/factor.h"

#include <spry/reorder.h>

typedef struct band {
    band_factors lu;
    int32_t *perm, *inverse; /* new place to old, and back */
    void *work;
} band;

static void band_close(factor *f)
{
    band *state = f->state;
    if (!state)
        return;
    base_free(f->ctx, state->lu.factors);
    base_free(f->ctx, state->lu.rows);
    base_free(f->ctx, state->perm);
    base_free(f->ctx, state->inverse);
    base_free(f->ctx, state->work);
    base_free(f->ctx, state);
    f->state = NULL;
}

void factor_band_of(const spry_matrix *A, const int32_t *inverse, int64_t *low, int64_t *high)
{
    const matrix_arrays *a = &A->a;
    int64_t below = 0, above = 0;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) reduction(max : below, above)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t j = a->col_index[k];
            const int64_t off = inverse ? (int64_t)inverse[j] - inverse[i] : j - i;
            below = -off > below ? -off : below;
            above = off > above ? off : above;
        }
    *low = below;
    *high = above;
}

/* Numbers of a column of factors. */
static int64_t stride_of(const band_factors *lu)
{
    return 2 * lu->low + lu->high + 1;
}

static spry_status band_open(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    band *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    f->state = state;
    band_factors *lu = &state->lu;
    SPRY_GO(ctx, spry_reorder(A, "rcm", &state->perm));
    SPRY_GO(ctx, matrix_invert(ctx, "perm", state->perm, f->n, &state->inverse));
    lu->n = f->n;
    factor_band_of(A, state->inverse, &lu->low, &lu->high);
    SPRY_GO(ctx, base_alloc(ctx, stride_of(lu) * f->n, spry_type_size(f->type), &lu->factors));
    SPRY_GO(ctx, base_alloc(ctx, f->n, sizeof *lu->rows, &lu->rows));
    SPRY_GO(ctx, base_alloc(ctx, f->n, spry_type_size(f->type), &state->work));
    f->bytes = stride_of(lu) * f->n * (int64_t)spry_type_size(f->type);
done:
    return status;
}

static spry_status band_fill(factor *f, const spry_matrix *A)
{
    const band *state = f->state;
    const band_factors *lu = &state->lu;
    const matrix_arrays *a = &A->a;
    const int64_t stride = stride_of(lu);
    int64_t bad = f->n;
    memset(lu->factors, 0, (size_t)(stride * f->n) * spry_type_size(f->type));
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t row = state->inverse[i], col = state->inverse[a->col_index[k]];
            element_move(spry_type_size(f->type), lu->factors,
                         col * stride + lu->low + lu->high + row - col, a->values, k);
        }
    f->by = "LAPACK";
    if (!lapack_band_factor(f->ctx, f->type, lu, &bad)) {
        f->by = "elimination";
        bad = front_kernels_for(f->ctx, f->type)->band_factor(lu);
    }
    if (bad < f->n)
        return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                         "precon direct: the matrix is singular: no pivot for row %d (from 0); try "
                         "direct:regular=yes, or another preconditioner",
                         (int)state->perm[bad]);
    return SPRY_STATUS_OK;
}

static spry_status band_solve(const factor *f, spry_transpose transpose, int count, void *const *z)
{
    const band *state = f->state;
    const size_t size = spry_type_size(f->type);
    for (int k = 0; k < count; k++) {
        for (int64_t i = 0; i < f->n; i++)
            element_move(size, state->work, i, z[k], state->perm[i]);
        front_kernels_for(f->ctx, f->type)->band_solve(&state->lu, transpose, state->work);
        for (int64_t i = 0; i < f->n; i++)
            element_move(size, z[k], state->perm[i], state->work, i);
    }
    return SPRY_STATUS_OK;
}

/* All memory was taken with the order. */
static spry_status band_estimate(factor *f, const spry_matrix *A, precon_forecast *forecast)
{
    const double columns = 1e7; /* per second */
    const band *state = f->state;
    const band_factors *lu = &state->lu;
    (void)A;
    *forecast = (precon_forecast){
        .known = true,
        .reads = f->bytes,
        .seconds = (double)f->n *
                   (2 * (double)lu->low * (double)(lu->low + lu->high) / MACHINE_LOOP_FLOPS +
                    1 / columns)};
    return SPRY_STATUS_OK;
}

const factor_class factor_band = {.name = "band",
                                  .open = band_open,
                                  .estimate = band_estimate,
                                  .fill = band_fill,
                                  .solve = band_solve,
                                  .close = band_close};
