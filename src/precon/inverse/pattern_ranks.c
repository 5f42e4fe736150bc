/*
 * Patterns of sparse approximate inverses across ranks (pattern.c describes them): each rank thins
 * its own rows, multiplies them by rows of others for powers, and cuts them. Weights are summed up
 * in the order of columns, so that rows that are too long keep the entries that they keep without
 * ranks.
 */
#include "precon/inverse/local_ranks.h"

#include "matrix/algebra/algebra.h"

/* What tau leaves of own rows, with weights. */
static spry_status thin(spry_context *ctx, const ranks_rows *rows, double tau, ranks_rows *S)
{
    ranks_frame f = {.begin = rows->begin, .own = rows->rows};
    spry_matrix *A = NULL, *thinned = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_frame_add(ctx, &f, rows));
    SPRY_GO(ctx, ranks_frame_square(ctx, &f, rows, NULL, NULL, &A));
    SPRY_GO(ctx, local_thin(A, tau, true, &thinned));
    SPRY_GO(ctx, ranks_frame_rows(&f, thinned, rows->all_rows, S));
done:
    ranks_frame_clear(ctx, &f);
    spry_matrix_free(A);
    spry_matrix_free(thinned);
    return status;
}

/* Own rows of W S, with the rows of S that those of W reach. */
static spry_status multiply(spry_context *ctx, const ranks_frame *met, const ranks_rows *W,
                            const ranks_rows *S, const ranks_rows *theirs, ranks_rows *product)
{
    ranks_frame f = {.begin = W->begin, .own = W->rows};
    spry_matrix *left = NULL, *right = NULL, *both = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_frame_add(ctx, &f, W));
    SPRY_GO(ctx, ranks_frame_add(ctx, &f, S));
    SPRY_GO(ctx, ranks_frame_add(ctx, &f, theirs));
    SPRY_GO(ctx, ranks_frame_square(ctx, &f, W, NULL, NULL, &left));
    SPRY_GO(ctx, ranks_frame_square(ctx, &f, S, theirs, met->others, &right));
    SPRY_GO(ctx, algebra_multiply(left, right, false, false, &both));
    SPRY_GO(ctx, ranks_frame_rows(&f, both, W->all_rows, product));
done:
    ranks_frame_clear(ctx, &f);
    spry_matrix_free(left);
    spry_matrix_free(right);
    spry_matrix_free(both);
    return status;
}

/* W, or S where there is none so far, times S becomes W. */
static spry_status raise(spry_context *ctx, const int64_t *first, const ranks_rows *S,
                         ranks_rows *W)
{
    const ranks_rows *from = W->offsets ? W : S;
    ranks_frame met = {.begin = S->begin, .own = S->rows};
    ranks_rows theirs = {0}, product = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, ranks_frame_add(ctx, &met, from)));
    SPRY_GO(ctx, ranks_fetch_rows(ctx, S, first, met.count, met.others, &theirs));
    SPRY_GO(ctx, team_agree(ctx, multiply(ctx, &met, from, S, &theirs, &product)));
    ranks_rows_clear(ctx, W);
    *W = product;
    product = (ranks_rows){0};
done:
    ranks_rows_clear(ctx, &product);
    ranks_frame_clear(ctx, &met);
    ranks_rows_clear(ctx, &theirs);
    return status;
}

/* W becomes W^T: entries go to the ranks that have their columns. */
static spry_status turn(spry_context *ctx, const int64_t *first, ranks_rows *W)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all ranks have agreed that it is set */
    const int64_t count = W->offsets[W->rows];
    ranks_entries e = {0};
    ranks_rows turned = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, ranks_entries_allocate(ctx, W->type, count, &e)));
    for (int64_t i = 0; i < W->rows; i++)
        for (int64_t k = W->offsets[i]; k < W->offsets[i + 1]; k++) {
            e.row[k] = W->columns[k];
            e.col[k] = W->begin + i;
        }
    if (count > 0)
        memcpy(e.values, W->values, (size_t)count * spry_type_size(W->type));
    SPRY_GO(ctx, ranks_gather_rows(ctx, &e, first, W->all_rows, &turned));
    ranks_rows_clear(ctx, W);
    *W = turned;
done:
    ranks_entries_clear(ctx, &e);
    return status;
}

static spry_status cut(spry_context *ctx, const local_pattern *how, const ranks_rows *W,
                       ranks_rows *P)
{
    ranks_frame f = {.begin = W->begin, .own = W->rows};
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_frame_add(ctx, &f, W));
    SPRY_GO(ctx, ranks_frame_square(ctx, &f, W, NULL, NULL, &A));
    SPRY_GO(ctx, local_cut(A, how->lower, how->most));
    SPRY_GO(ctx, ranks_frame_rows(&f, A, W->all_rows, P));
done:
    ranks_frame_clear(ctx, &f);
    spry_matrix_free(A);
    return status;
}

spry_status local_pattern_ranks(const spry_matrix *A, const spry_matrix *T,
                                const local_pattern *how, ranks_rows *P)
{
    spry_context *ctx = A->ctx;
    /* As without ranks: where rows of A^T may be all there is to it, their own weights count. */
    const bool direct = how->transposed && how->tau >= 1 && how->power == 1;
    const int64_t *first = A->distributed->row_starts;
    ranks_rows rows = {0}, S = {0}, W = {0};
    spry_status status = SPRY_STATUS_OK;
    *P = (ranks_rows){0};
    SPRY_GO(ctx, ranks_rows_of(direct ? T : A, &rows));
    SPRY_GO(ctx, team_agree(ctx, thin(ctx, &rows, how->tau, &S)));
    for (int64_t k = 1; k < how->power; k++)
        SPRY_GO(ctx, raise(ctx, first, &S, &W));
    if (how->power == 1) {
        W = S;
        S = (ranks_rows){0};
    }
    if (how->transposed && !direct)
        SPRY_GO(ctx, turn(ctx, first, &W));
    SPRY_GO(ctx, team_agree(ctx, cut(ctx, how, &W, P)));
done:
    ranks_rows_clear(ctx, &rows);
    ranks_rows_clear(ctx, &S);
    ranks_rows_clear(ctx, &W);
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, P);
    return status;
}
