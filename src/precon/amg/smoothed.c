/*
 * Smoothed aggregation (P. Vanek, J. Mandel, M. Brezina, Computing 56 (1996), 179-196): aggregates
 * of nodes, near-null vectors made orthonormal on each of them as the tentative prolongation T, and
 *
 *     P = (I - 4/3/l D^-1 A_F) T
 *
 * with A_F, the matrix without its weak entries, which are added to the diagonal, D its diagonal,
 * and l about the largest eigenvalue of D^-1 A_F. Near-null vectors are the caller's, or constants,
 * one a kind of unknown. The next level's nodes are the aggregates.
 */
#include "precon/amg/smoothed.h"

SPRY_OPTION_TABLE(table, smoothed_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) AMG_COMMON(SPRY_OPTION_ROW)
                      AMG_SMOOTHED(SPRY_OPTION_ROW))

static spry_status coarsen(amg *h, const precon_job *job, int l, spry_matrix **P)
{
    spry_context *ctx = h->ctx;
    amg_level *level = &h->levels[l];
    amg_graph g = {0};
    void *tentative = NULL;
    spry_status status = SPRY_STATUS_OK;
    *P = NULL;
    level->block = l > 0 ? h->near.count : level->block;
    if (l == 0) {
        SPRY_GO(ctx, amg_smoothed_begin(h, job, level));
        h->theta = amg_smoothed_theta(h, job->A, level->block);
    }
    SPRY_GO(ctx, amg_graph_make(level->A, level->block, ldexp(h->theta, -l), &g));
    if (!level->map) {
        SPRY_GO(ctx, base_alloc(ctx, g.nodes, sizeof *level->map, &level->map));
        SPRY_GO(ctx, amg_aggregate(ctx, &g, level->map, &level->coarse));
    }
    if (level->coarse == 0 || level->coarse * h->near.count > INT32_MAX)
        goto done;
    SPRY_GO(ctx, amg_make_tentative(h, level, &tentative));
    const amg_prolong_from from = {.a = &level->A->a,
                                   .rows = level->A->a.rows,
                                   .map = level->map,
                                   .coarse = level->coarse,
                                   .tentative = tentative,
                                   .largest = g.largest,
                                   .smoothing = ((const smoothed_options *)h->options)->smoothing};
    SPRY_GO(ctx, amg_make_prolongation(h, level, &g, &from, P));
done:
    base_free(ctx, tentative);
    amg_graph_clear(ctx, &g);
    return status;
}

/* --- ranks ---------------------------------------------------------------------------------------
 */

static spry_status make(const precon_job *job, spry_operator **M);

/* A level that all ranks have whole: multigrid goes on in each of them. */
static spry_status finish_whole(amg *h, const precon_job *job, int l, spry_matrix *whole,
                                spry_operator **M)
{
    smoothed_options options = *(const smoothed_options *)h->options;
    precon_job changed = *job;
    if (l > 0) { /* the first level is looked at as without ranks */
        options.theta = ldexp(h->theta, -l);
        options.block = h->near.count;
    }
    options.levels = options.levels > l ? options.levels - l : 1;
    changed.A = changed.near = whole;
    changed.options = &options;
    return make(&changed, M);
}

static const amg_kind kind_smoothed = {.name = "amg",
                                       .options = sizeof(smoothed_options),
                                       .coarsen = coarsen,
                                       .begin_on_device = amg_smoothed_begin_on_device,
                                       .coarsen_on_device = amg_smoothed_coarsen_on_device,
                                       .begin_ranks = amg_smoothed_begin_ranks,
                                       .coarsen_ranks = amg_smoothed_coarsen_ranks,
                                       .finish_whole = finish_whole};

/* |u - M A u| / |u|; 0 where nobody looks: of hermitian A, where sweeps do not diverge, on devices
 * and on ranks. */
static spry_status look(const precon_job *job, const spry_operator *M, double *distance)
{
    spry_context *ctx = job->A->ctx;
    bool hermitian = true;
    spry_status status = SPRY_STATUS_OK;
    *distance = 0;
    if (!M || job->device || job->A->distributed)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_find_out(ctx, job->A, SPRY_FACT_HERMITIAN, &hermitian));
    if (!hermitian)
        SPRY_GO(ctx, precon_distance(M, job->A, PRECON_MOST_DISTANCE, distance));
done:
    return status;
}

/*
 * Where columns sum to about 0, and rows do not, as of a flow in conservative form, a step with
 * rows takes T away from what is near null, and sweeps over the coarse rows diverge (M. Sala, R. S.
 * Tuminaro, A new Petrov-Galerkin smoothed aggregation preconditioner for nonsymmetric linear
 * systems, SIAM J. Sci. Comput. 31 (2008), 143-166). A cycle shows it: then P is T.
 */
static spry_status make(const precon_job *job, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    smoothed_options options = *(const smoothed_options *)job->options;
    precon_job changed = *job;
    double distance = 0;
    spry_status status = SPRY_STATUS_OK;
    changed.options = &options;
    SPRY_GO(ctx, amg_make(&changed, &kind_smoothed, M));
    SPRY_GO(ctx, look(job, *M, &distance));
    if (distance > PRECON_MOST_DISTANCE && options.smoothing > 0) {
        base_log(ctx, SPRY_LOG_INFO, "precon amg: |u - M A u| is %.1e |u|; again with smoothing=0",
                 distance);
        spry_operator_free(*M);
        *M = NULL;
        options.smoothing = 0;
        SPRY_GO(ctx, amg_make(&changed, &kind_smoothed, M));
        SPRY_GO(ctx, look(job, *M, &distance));
    }
    if (distance > PRECON_MOST_DISTANCE) {
        spry_operator_free(*M);
        *M = NULL;
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "precon amg: the cycle is unstable: |u - M A u| is %.1e |u|, with a "
                           "smoothed prolongation or without; try amg-classical, ilu or ilutp",
                           distance);
    }
done:
    return status;
}

static void say_rows(const void *options, precon_rows *rows)
{
    const int64_t block = ((const smoothed_options *)options)->block;
    rows->block = block > 1 ? block : rows->block;
}

const precon_kind precon_kind_amg = {.name = "amg",
                                     .summary = "algebraic multigrid by smoothed aggregation",
                                     .options = SPRY_OPTION_LIST(table),
                                     .make = make,
                                     .make_ranks = make,
                                     .rows = say_rows,
                                     .on_devices = true,
                                     .half = true,
                                     .cost = {.kept = 1.6,
                                              .work = 1.5,
                                              .products = 100,
                                              .solve = 100,
                                              .vectors = 8,
                                              .made_on_device = true,
                                              .iterations = 25,
                                              .sweeps = 12}};
