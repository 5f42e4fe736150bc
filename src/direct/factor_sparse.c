/* Sparse factors: row by row where they are small and A is far from singular, else by fronts, as
 * positive definite where the matrix may be, as symmetric or hermitian where it is, and as general
 * otherwise. */
#include "base/machine.h"
#include "direct/factor.h"
#include "direct/frontal.h"
#include "direct/lu.h"
#include "matrix/stats.h"

typedef struct sparse {
    lu *rows;      /* NULL: fronts are better, or it is not known yet */
    bool analysed; /* it is known */
    bool by_rows;  /* the factors there are */
    frontal *fronts;
    frontal_kind kind;
    bool fresh;      /* nothing was made of this analysis yet */
    int64_t delayed; /* when they were first made */
} sparse;

static void sparse_close(factor *f)
{
    sparse *state = f->state;
    if (!state)
        return;
    lu_free(state->rows);
    frontal_free(state->fronts);
    base_free(f->ctx, state);
    f->state = NULL;
}

/* What A may be taken for: the best first. */
static spry_status find_kind(const spry_matrix *A, frontal_kind *kind)
{
    bool definite = false, hermitian = false, symmetric = false;
    spry_status status = SPRY_STATUS_OK;
    *kind = FRONTAL_GENERAL;
    SPRY_GO(A->ctx, matrix_may_be_definite(A, &definite));
    SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, &hermitian));
    if (!hermitian)
        SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_SYMMETRIC, &symmetric));
    *kind = definite    ? FRONTAL_DEFINITE
            : hermitian ? FRONTAL_HERMITIAN
            : symmetric ? FRONTAL_SYMMETRIC
                        : FRONTAL_GENERAL;
done:
    return status;
}

static spry_status sparse_open(factor *f, const spry_matrix *A)
{
    sparse *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    (void)A;
    SPRY_GO(f->ctx, base_calloc(f->ctx, 1, sizeof *state, &state));
    f->state = state;
done:
    return status;
}

static spry_status analyse(factor *f, const spry_matrix *A, frontal_kind kind)
{
    sparse *state = f->state;
    frontal_free(state->fronts);
    state->fronts = NULL;
    const spry_status status = frontal_analyse(A, kind, f->most, &state->fronts);
    if (status != SPRY_STATUS_OK)
        return status;
    state->kind = kind;
    state->fresh = true;
    const frontal_forecast *c = frontal_forecast_of(state->fronts);
    base_log(f->ctx, SPRY_LOG_DEBUG,
             "sparse factors: %.3g operations, %.3g MB, %.3g MB while they are made, %" PRId64
             " fronts, the largest of %" PRId64 " rows",
             c->flops, (double)c->factor_bytes * 1e-6, (double)c->peak_bytes * 1e-6, c->fronts,
             c->largest);
    f->forecast = direct_seconds(c->flops, (double)c->entries, (double)c->fronts);
    return f->most == 0 || f->forecast <= f->most
               ? SPRY_STATUS_OK
               : SPRY_FAIL(f->ctx, SPRY_STATUS_UNSUPPORTED,
                           "factors are forecast to take %.2g s of one core, %.2g were allowed",
                           f->forecast, f->most);
}

/* What becomes of A row by row; state->rows stays NULL where fronts are better. */
static spry_status analyse_rows(factor *f, const spry_matrix *A)
{
    sparse *state = f->state;
    if (state->analysed)
        return SPRY_STATUS_OK;
    const base_kept kept = base_try(f->ctx);
    spry_status status = lu_analyse(A, &state->rows);
    if (status == SPRY_STATUS_NO_MEMORY) { /* fronts forecast what they take, and say so */
        base_forgive(f->ctx, &kept);
        status = SPRY_STATUS_OK;
    }
    state->analysed = status == SPRY_STATUS_OK;
    if (state->rows && f->most > 0 && state->rows->forecast.seconds > f->most) {
        lu_free(state->rows);
        state->rows = NULL;
    }
    return status;
}

static spry_status sparse_estimate(factor *f, const spry_matrix *A, precon_forecast *forecast)
{
    const sparse *state = f->state;
    frontal_kind kind = FRONTAL_GENERAL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, analyse_rows(f, A));
    if (state->rows) {
        *forecast = state->rows->forecast;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(f->ctx, find_kind(A, &kind));
    SPRY_GO(f->ctx, analyse(f, A, kind));
    SPRY_GO(f->ctx, frontal_check_room(state->fronts));
    const frontal_forecast *c = frontal_forecast_of(state->fronts);
    *forecast = (precon_forecast){.known = true,
                                  .bytes = c->kept_bytes,
                                  .work = c->peak_bytes - c->kept_bytes,
                                  .reads = c->factor_bytes,
                                  .seconds = f->forecast};
done:
    return status;
}

/* Factors of a kind. The analysis is kept from fill to fill, unless new values no longer have the
 * pivots that the old ones had. */
static spry_status fill_as(factor *f, const spry_matrix *A, frontal_kind kind, bool *fits)
{
    sparse *state = f->state;
    bool stands = state->fronts && state->kind == kind, fresh = true;
    const frontal_outcome *o = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (;;) {
        if (!stands)
            SPRY_GO(f->ctx, analyse(f, A, kind));
        fresh = state->fresh;
        state->fresh = false;
        frontal_demand(state->fronts, f->strict, f->coarse);
        SPRY_GO(f->ctx, frontal_factor(state->fronts, A, fits));
        o = frontal_outcome_of(state->fronts);
        if (!*fits || fresh || f->strict || f->coarse ||
            o->delayed <= 2 * state->delayed + f->n / 8)
            break;
        stands = false;
    }
    if (!*fits)
        goto done;
    if (fresh)
        state->delayed = o->delayed;
    base_log(f->ctx, SPRY_LOG_DEBUG,
             "sparse factors: %" PRId64 " pivots delayed, %" PRId64 " pairs, %.3g MB", o->delayed,
             o->pairs, (double)o->bytes * 1e-6);
done:
    return status;
}

static spry_status check_rank(factor *f)
{
    const sparse *state = f->state;
    const frontal_outcome *o = frontal_outcome_of(state->fronts);
    f->rank = o->rank;
    f->bytes = o->bytes;
    f->null_rows = frontal_null_rows(state->fronts);
    f->null_cols = frontal_null_columns(state->fronts);
    if (f->rank == f->n || f->regular)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                     "precon direct: the matrix is singular: rank about %" PRId64 " of %" PRId64
                     ", no pivot for row %d and column %d (from 0)%s; try direct:regular=yes, or "
                     "another preconditioner",
                     f->rank, f->n, (int)frontal_null_rows(state->fronts)[0],
                     (int)frontal_null_columns(state->fronts)[0],
                     f->rank < f->n - 1 ? " and others" : "");
}

/* What pivots say of a hermitian matrix; whether A is one is only asked where one is below 0. */
static spry_status note_definite(const lu *rows, const spry_matrix *A)
{
    const int sign = lu_sign(rows);
    bool hermitian = matrix_known(A, SPRY_FACT_HERMITIAN) == SPRY_TRUTH_YES;
    spry_status status = SPRY_STATUS_OK;
    if (sign < 0)
        status = matrix_find_out(A->ctx, A, SPRY_FACT_HERMITIAN, &hermitian);
    if (hermitian && sign != 0)
        matrix_note(A, SPRY_FACT_DEFINITE, sign > 0);
    return status;
}

/* Row by row, if A is as clearly regular as one solve can show. */
static spry_status fill_rows(factor *f, const spry_matrix *A)
{
    sparse *state = f->state;
    const spry_status status = analyse_rows(f, A);
    state->by_rows = false;
    if (status != SPRY_STATUS_OK || !state->rows || f->strict || f->coarse)
        return status;
    const double growth = lu_fill(state->rows, A);
    if (!factor_is_clear(f, growth))
        return SPRY_STATUS_OK;
    state->by_rows = true;
    f->condition = growth / (double)f->n;
    f->by = "LU";
    f->rank = f->n;
    f->bytes = state->rows->bytes;
    f->null_rows = f->null_cols = NULL;
    return note_definite(state->rows, A);
}

static spry_status sparse_fill(factor *f, const spry_matrix *A)
{
    sparse *state = f->state;
    frontal_kind kind = FRONTAL_GENERAL;
    bool fits = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, fill_rows(f, A));
    if (state->by_rows)
        return SPRY_STATUS_OK;
    SPRY_GO(f->ctx, find_kind(A, &kind));
    SPRY_GO(f->ctx, fill_as(f, A, kind, &fits));
    if (kind == FRONTAL_DEFINITE) {
        if (fits || frontal_met_negative(state->fronts))
            matrix_note(A, SPRY_FACT_DEFINITE, fits);
        if (!fits)
            SPRY_GO(f->ctx, fill_as(f, A, kind = FRONTAL_HERMITIAN, &fits));
    }
    f->by = kind == FRONTAL_DEFINITE ? "Cholesky" : kind == FRONTAL_GENERAL ? "LU" : "LDL";
    SPRY_GO(f->ctx, check_rank(f));
done:
    return status;
}

static spry_status sparse_solve(const factor *f, spry_transpose transpose, int count,
                                void *const *z)
{
    const sparse *state = f->state;
    if (!state->by_rows)
        return frontal_solve(state->fronts, transpose, count, z);
    for (int k = 0; k < count; k++)
        front_kernels_for(f->ctx, f->type)->lu_solve(&state->rows->f, transpose, z[k]);
    return SPRY_STATUS_OK;
}

const factor_class factor_sparse = {.name = "sparse",
                                    .open = sparse_open,
                                    .estimate = sparse_estimate,
                                    .fill = sparse_fill,
                                    .solve = sparse_solve,
                                    .again = true,
                                    .close = sparse_close};
