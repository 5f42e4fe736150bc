/*
 * Patterns of sparse approximate inverses across ranks (pattern.c tells them): each rank thins its
 * own rows, multiplies them by rows of others for powers, and cuts them. Weights are summed up in
 * the order of columns, so that rows that are too long keep the entries that they keep without
 * ranks.
 */
#include "precon/inverse/local_ranks.h"

#include "matrix/algebra/algebra.h"

/* What tau leaves of own rows, with weights. */
static spry_status thin(spry_context *ctx, const deal_rows *rows, double tau, deal_rows *S)
{
    deal_frame f = {.begin = rows->begin, .own = rows->rows};
    spry_matrix *A = NULL, *thinned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, deal_frame_add(ctx, &f, rows));
    SPRY_GO(ctx, deal_frame_square(ctx, &f, rows, NULL, NULL, &A));
    SPRY_GO(ctx, local_thin(A, tau, true, &thinned));
    SPRY_GO(ctx, deal_frame_rows(&f, thinned, rows->all_rows, S));
done:
    deal_frame_clear(ctx, &f);
    spry_matrix_free(A);
    spry_matrix_free(thinned);
    return status;
}

/* Own rows of W S, with the rows of S that those of W meet. */
static spry_status multiply(spry_context *ctx, const deal_frame *met, const deal_rows *W,
                            const deal_rows *S, const deal_rows *theirs, deal_rows *product)
{
    deal_frame f = {.begin = W->begin, .own = W->rows};
    spry_matrix *left = NULL, *right = NULL, *both = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, deal_frame_add(ctx, &f, W));
    SPRY_GO(ctx, deal_frame_add(ctx, &f, S));
    SPRY_GO(ctx, deal_frame_add(ctx, &f, theirs));
    SPRY_GO(ctx, deal_frame_square(ctx, &f, W, NULL, NULL, &left));
    SPRY_GO(ctx, deal_frame_square(ctx, &f, S, theirs, met->others, &right));
    SPRY_GO(ctx, algebra_multiply(left, right, false, false, &both));
    SPRY_GO(ctx, deal_frame_rows(&f, both, W->all_rows, product));
done:
    deal_frame_clear(ctx, &f);
    spry_matrix_free(left);
    spry_matrix_free(right);
    spry_matrix_free(both);
    return status;
}

/* W, or S where there is none so far, times S becomes W. */
static spry_status raise(spry_context *ctx, const int64_t *first, const deal_rows *S, deal_rows *W)
{
    const deal_rows *from = W->offsets ? W : S;
    deal_frame met = {.begin = S->begin, .own = S->rows};
    deal_rows theirs = {0}, product = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, deal_frame_add(ctx, &met, from)));
    SPRY_GO(ctx, deal_fetch_rows(ctx, S, first, met.count, met.others, &theirs));
    SPRY_GO(ctx, team_agree(ctx, multiply(ctx, &met, from, S, &theirs, &product)));
    deal_rows_clear(ctx, W);
    *W = product;
    product = (deal_rows){0};
done:
    deal_rows_clear(ctx, &product);
    deal_frame_clear(ctx, &met);
    deal_rows_clear(ctx, &theirs);
    return status;
}

/* W becomes W^T: entries go to the ranks that have their columns. */
static spry_status turn(spry_context *ctx, const int64_t *first, deal_rows *W)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    const int64_t count = W->offsets[W->rows];
    deal_entries e = {0};
    deal_rows turned = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, deal_entries_allocate(ctx, W->type, count, &e)));
    for (int64_t i = 0; i < W->rows; i++)
        for (int64_t k = W->offsets[i]; k < W->offsets[i + 1]; k++) {
            e.row[k] = W->columns[k];
            e.col[k] = W->begin + i;
        }
    if (count > 0)
        memcpy(e.values, W->values, (size_t)count * spry_type_size(W->type));
    SPRY_GO(ctx, deal_gather_rows(ctx, &e, first, W->all_rows, &turned));
    deal_rows_clear(ctx, W);
    *W = turned;
done:
    deal_entries_clear(ctx, &e);
    return status;
}

static spry_status cut(spry_context *ctx, const local_pattern *how, const deal_rows *W,
                       deal_rows *P)
{
    deal_frame f = {.begin = W->begin, .own = W->rows};
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, deal_frame_add(ctx, &f, W));
    SPRY_GO(ctx, deal_frame_square(ctx, &f, W, NULL, NULL, &A));
    SPRY_GO(ctx, local_cut(A, how->lower, how->most));
    SPRY_GO(ctx, deal_frame_rows(&f, A, W->all_rows, P));
done:
    deal_frame_clear(ctx, &f);
    spry_matrix_free(A);
    return status;
}

spry_status local_pattern_ranks(const spry_matrix *A, const spry_matrix *T,
                                const local_pattern *how, deal_rows *P)
{
    spry_context *ctx = A->ctx;
    /* As without ranks: where rows of A^T may be all there is to it, their own weights count. */
    const bool direct = how->transposed && how->tau >= 1 && how->power == 1;
    const int64_t *first = A->spread->row_starts;
    deal_rows rows = {0}, S = {0}, W = {0};
    spry_status status = SPRY_STATUS_OK;
    *P = (deal_rows){0};
    SPRY_GO(ctx, deal_rows_of(direct ? T : A, &rows));
    SPRY_GO(ctx, team_agree(ctx, thin(ctx, &rows, how->tau, &S)));
    for (int64_t k = 1; k < how->power; k++)
        SPRY_GO(ctx, raise(ctx, first, &S, &W));
    if (how->power == 1) {
        W = S;
        S = (deal_rows){0};
    }
    if (how->transposed && !direct)
        SPRY_GO(ctx, turn(ctx, first, &W));
    SPRY_GO(ctx, team_agree(ctx, cut(ctx, how, &W, P)));
done:
    deal_rows_clear(ctx, &rows);
    deal_rows_clear(ctx, &S);
    deal_rows_clear(ctx, &W);
    if (status != SPRY_STATUS_OK)
        deal_rows_clear(ctx, P);
    return status;
}
