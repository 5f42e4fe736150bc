/* All levels of a matrix: on the host, whose next level's matrix is R A P, on a device, or across
 * ranks. */
#include "precon/amg/amg.h"

/* R = P^H, A_c = R A P, all of them stored. Takes P. */
static spry_status make_coarse(const amg *h, const precon_job *job, amg_level *level,
                               spry_matrix *P, spry_matrix **coarse)
{
    spry_context *ctx = h->ctx;
    spry_matrix *R = NULL;
    spry_status status = SPRY_STATUS_OK;
    *coarse = NULL;
    SPRY_GO(ctx, spry_matrix_transpose(P, true, &R));
    SPRY_GO(ctx, amg_galerkin(R, level->A, P, coarse));
    amg_mend(*coarse);
    spry_matrix *handed = P;
    P = NULL;
    SPRY_GO(ctx, precon_store(job, handed, &level->P));
    handed = R;
    R = NULL;
    SPRY_GO(ctx, precon_store(job, handed, &level->R));
done:
    spry_matrix_free(P);
    spry_matrix_free(R);
    if (status != SPRY_STATUS_OK) {
        spry_matrix_free(*coarse);
        *coarse = NULL;
    }
    return status;
}

spry_status amg_build(amg *h, const precon_job *job, const amg *old)
{
    spry_context *ctx = h->ctx;
    spry_matrix *coarse = NULL, *P = NULL;
    amg_level *level = NULL;
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, amg_smoother_choose(h, job));
    if (job->A->distributed)
        return amg_build_ranks(h, job, old);
    if (job->device && h->kind->coarsen_on_device)
        SPRY_GO(ctx, amg_build_on_device(h, job, &made));
    if (made) {
        amg_finish_levels(h, job);
        goto done;
    }
    for (;;) {
        SPRY_GO(ctx, base_go_on(ctx, "multigrid"));
        spry_matrix *handed = coarse;
        const int l = h->count;
        coarse = NULL;
        SPRY_GO(ctx, amg_open_level(h, job, handed, &level));
        SPRY_GO(ctx, amg_make_vectors(h, job, level));
        if (old && old->levels[l].map)
            SPRY_GO(ctx, amg_copy_maps(h, &old->levels[l], level));
        const bool small = level->A->a.rows <= h->common.coarse_size;
        const bool smooths = !small || strcmp(h->common.coarse, "smoother") == 0;
        if (h->kind->open)
            SPRY_GO(ctx, h->kind->open(h, job, l, !smooths));
        if (smooths)
            SPRY_GO(ctx, amg_smoother_make(h, job, level, NULL));
        if (small || h->count >= h->common.levels || (old && h->count >= old->count))
            break;
        SPRY_GO(ctx, h->kind->coarsen(h, job, l, &P));
        if (!P || P->a.cols == 0 || (double)P->a.cols > 0.85 * (double)P->a.rows) {
            spry_matrix_free(P);
            P = NULL;
            break;
        }
        SPRY_GO(ctx, base_go_on(ctx, "multigrid"));
        handed = P;
        P = NULL;
        SPRY_GO(ctx, make_coarse(h, job, level, handed, &coarse));
    }
    SPRY_GO(ctx, amg_make_bottom(h, job, level));
    if (!h->bottom && !level->smoother.factor && !level->smoother.inside)
        SPRY_GO(ctx, amg_smoother_make(h, job, level, NULL));
    amg_finish_levels(h, job);
done:
    base_free(ctx, h->near.values);
    h->near = (amg_near){0};
    spry_matrix_free(P);
    spry_matrix_free(coarse);
    return status;
}
