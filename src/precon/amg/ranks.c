/*
 * Multigrid across ranks. Levels are distributed as the first one is; A_c = R A P is computed from
 * each rank's rows of A, with the rows of P that they reach: contributions to rows of other ranks
 * are sent to these and added up in the order of ranks. A level with few rows per rank goes to
 * fewer ranks (the coarsening chooses them), and a small one is gathered: all ranks have it whole.
 */
#include "precon/amg/amg.h"
#include "ranks/frame.h"

enum { GATHERED = 10000 }; /* rows of a level that all ranks have */

/* --- A_c -----------------------------------------------------------------------------------------
 */

/* R A P of own rows, in the next level's columns that these reach: the contributions to rows of all
 * ranks. */
static spry_status multiply(const amg_level *level, const ranks_frame *c, const ranks_rows *P,
                            const ranks_rows *theirs, ranks_entries *e)
{
    spry_context *ctx = level->op->ctx;
    const ranks_part both[] = {{.rows = P}, {.rows = theirs, .first = P->rows}};
    spry_matrix *own = NULL, *all = NULL, *R = NULL, *C = NULL;
    spry_matrix rows = {.ctx = ctx, .a = level->reach->A->a};
    spry_status status = SPRY_STATUS_OK;
    rows.a.rows = level->rows;
    rows.a.nnz = rows.a.offsets[level->rows];
    SPRY_GO(ctx, ranks_frame_matrix(ctx, c, P->rows, 1, both, &own));
    SPRY_GO(ctx, ranks_frame_matrix(ctx, c, P->rows + theirs->rows, 2, both, &all));
    SPRY_GO(ctx, spry_matrix_transpose(own, true, &R));
    SPRY_GO(ctx, amg_galerkin(R, &rows, all, &C));
    SPRY_GO(ctx, ranks_entries_allocate(ctx, C->a.type, C->a.nnz, e));
    for (int64_t i = 0; i < C->a.rows; i++)
        for (int64_t k = C->a.offsets[i]; k < C->a.offsets[i + 1]; k++) {
            e->row[k] = ranks_frame_number(c, i);
            e->col[k] = ranks_frame_number(c, C->a.col_index[k]);
        }
    if (C->a.nnz > 0)
        memcpy(e->values, C->a.values, (size_t)C->a.nnz * spry_type_size(C->a.type));
done:
    spry_matrix_free(own);
    spry_matrix_free(all);
    spry_matrix_free(R);
    spry_matrix_free(C);
    return status;
}

/* Rows of zeros, which come from near-null vectors that are zero on an aggregate, get a 1. */
static void mend(const ranks_rows *rows)
{
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t diagonal = -1;
        bool zeros = true;
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1] && zeros; k++) {
            const spry_scalar v = value_load(rows->type, rows->values, k);
            zeros = v.re == 0 && v.im == 0;
            diagonal = rows->columns[k] == rows->begin + i ? k : diagonal;
        }
        if (zeros && diagonal >= 0)
            value_set(rows->type, rows->values, diagonal, (spry_scalar){1, 0});
    }
}

static spry_status make_rows(const amg_level *level, const ranks_rows *P, const int64_t *first,
                             ranks_rows *coarse)
{
    spry_context *ctx = level->op->ctx;
    const int me = team_rank(ctx);
    ranks_frame c = {.begin = first[me], .own = first[me + 1] - first[me]};
    ranks_rows theirs = {0};
    ranks_entries e = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, ranks_fetch_rows(ctx, P, level->A->distributed->row_starts, level->reach->count,
                                  level->reach->others, &theirs));
    status = ranks_frame_add(ctx, &c, P);
    if (status == SPRY_STATUS_OK)
        status = ranks_frame_add(ctx, &c, &theirs);
    if (status == SPRY_STATUS_OK)
        status = multiply(level, &c, P, &theirs, &e);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, ranks_gather_rows(ctx, &e, first, P->all_cols, coarse));
    ranks_sum_duplicates(coarse);
    mend(coarse);
done:
    ranks_rows_clear(ctx, &theirs);
    ranks_entries_clear(ctx, &e);
    ranks_frame_clear(ctx, &c);
    return status;
}

/* P, R = P^H and A_c, all of them stored. */
static spry_status make_coarse(const precon_job *job, amg_level *level, const ranks_rows *P,
                               const int64_t *first, spry_matrix **coarse)
{
    spry_context *ctx = level->op->ctx;
    const int me = team_rank(ctx);
    const int64_t own = first[me + 1] - first[me];
    ranks_rows rows = {0};
    spry_matrix *made = NULL, *turned = NULL, *handed;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_rows(level, P, first, &rows));
    SPRY_GO(ctx, ranks_distribute(ctx, P, own, &made));
    SPRY_GO(ctx, dist_transpose(made, true, &turned));
    SPRY_GO(ctx, ranks_distribute(ctx, &rows, own, coarse));
    handed = made;
    made = NULL;
    SPRY_GO(ctx, precon_store(job, handed, &level->P));
    handed = turned;
    turned = NULL;
    SPRY_GO(ctx, precon_store(job, handed, &level->R));
done:
    ranks_rows_clear(ctx, &rows);
    spry_matrix_free(made);
    spry_matrix_free(turned);
    return status;
}

/* --- the level that all have ---------------------------------------------------------------------
 */

/* The near-null vectors of a level, for the whole of it. */
static spry_status give_near(const amg *h, const amg_level *level, spry_matrix *whole)
{
    enum { MOST = 16 };
    spry_context *ctx = h->ctx;
    const int count = h->near.count;
    const int64_t n = whole->a.rows;
    const size_t size = spry_type_size(h->type);
    spry_vector *v[MOST] = {NULL};
    char *all = NULL;
    int64_t *numbers = NULL;
    spry_status status = base_alloc(ctx, n, (size_t)count * size, &all);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, n, sizeof *numbers, &numbers);
    for (int c = 0; c < count && status == SPRY_STATUS_OK; c++)
        status = spry_vector_new(ctx, h->type, n, NULL, SPRY_OWN_COPY, &v[c]);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t i = 0; i < n; i++)
        numbers[i] = i;
    SPRY_GO(ctx, ranks_fetch(ctx, level->A->distributed->row_starts, (size_t)count * size,
                             h->near.values, n, numbers, all));
    for (int c = 0; c < count; c++)
        for (int64_t i = 0; i < n; i++)
            element_move(size, v[c]->data, i, all, i * count + c);
    status = spry_matrix_set_near_null(whole, count, (const spry_vector *const *)v);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    for (int c = 0; c < count; c++)
        spry_vector_free(v[c]);
    base_free(ctx, all);
    base_free(ctx, numbers);
    return status;
}

static spry_status finish(amg *h, const precon_job *job, const amg_level *level)
{
    spry_context *ctx = h->ctx;
    const int l = h->count - 1;
    spry_matrix *whole = NULL, *handed;
    spry_operator *M = NULL, *made;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, amg_gather(level->A, &whole));
    if (l > 0 || job->near->near_count > 0) /* else it finds nodes and vectors by itself */
        SPRY_GO(ctx, give_near(h, level, whole));
    status = h->kind->finish_whole(h, job, l, whole, &M);
    SPRY_GO(ctx, team_agree(ctx, status));
    handed = whole;
    made = M;
    whole = NULL;
    M = NULL;
    SPRY_GO(ctx, amg_gathered(level->A, handed, made, &h->bottom));
done:
    spry_operator_free(M);
    spry_matrix_free(whole);
    return status;
}

/* --- levels --------------------------------------------------------------------------------------
 */

static spry_status open_level(amg *h, const precon_job *job, spry_matrix *own, amg_level **level)
{
    spry_context *ctx = h->ctx;
    const int l = h->count, block = l > 0 ? h->near.count : h->levels[0].block;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, amg_open_level(h, job, own, level));
    (*level)->block = block;
    status = amg_make_vectors(h, job, *level);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *(*level)->reach, &(*level)->reach);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, ranks_reach_make((*level)->A, 1, block, (*level)->reach));
done:
    return status;
}

static int64_t all_rows(const amg_level *level)
{
    return dist_own_rows(level->A).all;
}

/* The next level's matrix; none where this one is the last. */
static spry_status descend(amg *h, const precon_job *job, const amg *old, amg_level *level,
                           spry_matrix **coarse)
{
    spry_context *ctx = h->ctx;
    const int l = h->count - 1;
    ranks_rows P = {0};
    int64_t *first = NULL;
    spry_status status = SPRY_STATUS_OK;
    *coarse = NULL;
    if (old && old->levels[l].map)
        SPRY_GO(ctx, team_agree(ctx, amg_copy_maps(h, &old->levels[l], level)));
    SPRY_GO(ctx, h->kind->coarsen_ranks(h, job, l, &P, &first));
    if (P.all_cols > 0 && (double)P.all_cols <= 0.85 * (double)P.all_rows)
        SPRY_GO(ctx, make_coarse(job, level, &P, first, coarse));
done:
    base_free(ctx, first);
    ranks_rows_clear(ctx, &P);
    return status;
}

spry_status amg_build_ranks(amg *h, const precon_job *job, const amg *old)
{
    spry_context *ctx = h->ctx;
    amg_level *level = NULL;
    spry_matrix *coarse = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, h->kind->begin_ranks(h, job));
    for (;;) {
        SPRY_GO(ctx, team_agree(ctx, base_go_on(ctx, "multigrid")));
        spry_matrix *handed = coarse;
        coarse = NULL;
        SPRY_GO(ctx, open_level(h, job, handed, &level));
        const bool small = all_rows(level) <= h->common.coarse_size || all_rows(level) <= GATHERED;
        if (small || h->count >= h->common.levels || (old && h->count >= old->count))
            break;
        SPRY_GO(ctx, amg_smoother_make(h, job, level, NULL));
        SPRY_GO(ctx, descend(h, job, old, level, &coarse));
        if (!coarse)
            break;
        ranks_reach_clear(ctx, level->reach);
    }
    if (all_rows(level) <= GATHERED)
        SPRY_GO(ctx, finish(h, job, level));
    else if (!level->smoother.factor && !level->smoother.inside)
        SPRY_GO(ctx, amg_smoother_make(h, job, level, NULL));
    amg_finish_levels(h, job);
done:
    for (int l = 0; l < h->count; l++) {
        if (h->levels[l].reach)
            ranks_reach_clear(ctx, h->levels[l].reach);
        base_free(ctx, h->levels[l].reach);
        h->levels[l].reach = NULL;
    }
    base_free(ctx, h->near.values);
    h->near = (amg_near){0};
    spry_matrix_free(coarse);
    return status;
}
