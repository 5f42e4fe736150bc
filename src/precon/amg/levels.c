/* Levels: each has a product, a smoother and its vectors. */
#include "device/engine/device.h"
#include "precon/amg/amg.h"

enum { ROWS = 4096 };

static void clear_level(spry_context *ctx, amg_level *level)
{
    for (int t = 0; t < 3; t++)
        step_free(level->steps[t]);
    amg_smoother_clear(ctx, &level->smoother);
    spry_operator_free(level->P);
    spry_operator_free(level->R);
    spry_operator_free(level->op);
    spry_matrix_free(level->own);
    base_free(ctx, level->map);
    base_free(ctx, level->second);
    base_free(ctx, level->ends);
    spry_vector_free(level->t);
    spry_vector_free(level->x);
    spry_vector_free(level->b);
    if (level->reach)
        ranks_reach_clear(ctx, level->reach);
    base_free(ctx, level->reach);
    for (int k = 0; k < 4; k++)
        spry_vector_free(level->extra[k]);
}

void amg_clear(amg *h)
{
    for (int l = 0; l < AMG_MOST_LEVELS; l++) { /* one that is not open yet may have ends */
        amg_level *level = &h->levels[l];
        if (level->nodes)
            clear_level(h->ctx, level->nodes);
        base_free(h->ctx, level->nodes);
        clear_level(h->ctx, level);
        *level = (amg_level){0};
    }
    h->count = 0;
    spry_operator_free(h->bottom);
    h->bottom = NULL;
    base_free(h->ctx, h->near.values);
    h->near = (amg_near){0};
}

/* The first level uses the matrix in place on the host. */
spry_status amg_open_level(amg *h, const precon_job *job, spry_matrix *own, amg_level **out)
{
    spry_context *ctx = h->ctx;
    amg_level *level = &h->levels[h->count];
    spry_status status = SPRY_STATUS_OK;
    *out = level;
    h->count++;
    if (own) {
        SPRY_GO(ctx, precon_store(job, own, &level->op));
        level->A = level->op->kept;
    } else {
        const spry_matrix *A = job->A;
        spry_matrix *borrowed = NULL;
        level->A = A;
        if (job->device || strcmp(job->values, "own") != 0) {
            SPRY_GO(ctx, matrix_view(ctx, A, &borrowed));
            SPRY_GO(ctx, precon_store(job, borrowed, &level->op));
        } else {
            SPRY_GO(ctx, host_csr_operator(A, &level->op));
        }
    }
    level->rows = level->A->a.rows;
    level->nnz = level->A->distributed ? level->A->distributed->nnz : level->A->a.nnz;
done:
    return status;
}

spry_status amg_make_vectors(const amg *h, const precon_job *job, amg_level *level)
{
    const int64_t n = level->rows;
    const bool first = level == h->levels;
    const int extra = first ? 0 : h->common.cycle == AMG_K ? 4 : h->common.cycle == AMG_V ? 0 : 2;
    spry_vector **const all[] = {&level->t,        &level->x,        &level->b,       level->extra,
                                 level->extra + 1, level->extra + 2, level->extra + 3};
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < (first ? 1 : 3 + extra); k++) {
        SPRY_GO(h->ctx, precon_vector(job, n, NULL, all[k]));
        (*all[k])->part = level->op->rows_part;
    }
done:
    return status;
}

/* Rows of zeros, which come from near-null vectors that are zero on an aggregate, get a 1. */
void amg_mend(const spry_matrix *A)
{
    const precon_kernels *kernels = precon_kernels_for(A->ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t n = A->a.rows, parts = (n + ROWS - 1) / ROWS;
#pragma omp parallel for num_threads(host_threads(A->ctx, A->a.nnz)) schedule(static)
    for (int64_t part = 0; part < parts; part++)
        kernels->amg_mend(&csr, part * ROWS, (part + 1) * ROWS < n ? (part + 1) * ROWS : n,
                          A->a.values);
}

/* What solves the coarsest level. */
spry_status amg_make_bottom(amg *h, const precon_job *job, const amg_level *level)
{
    const char *spec = h->common.coarse;
    if (strcmp(spec, "auto") == 0)
        spec = level->A->a.rows <= AMG_DENSE_MOST ? "direct:regular=yes" : "smoother";
    return strcmp(spec, "smoother") == 0 ? SPRY_STATUS_OK
                                         : precon_make_inner(job, level->A, spec, &h->bottom);
}

static void log_levels(const amg *h)
{
    char text[512] = "";
    size_t length = 0;
    double entries = 0;
    for (int l = 0; l < h->count; l++) {
        entries += (double)h->levels[l].nnz;
        if (length < sizeof text - 32)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64,
                                       l ? ", " : "", h->levels[l].rows);
    }
    base_log(h->ctx, SPRY_LOG_INFO,
             "precon %s: %d levels of %s rows, %.2f times the entries of the matrix", h->name,
             h->count, text, entries / (double)(h->levels[0].nnz > 0 ? h->levels[0].nnz : 1));
}

static spry_status copy_numbers(spry_context *ctx, const int32_t *from, int64_t n, int32_t **to)
{
    if (!from)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(ctx, n, sizeof **to, to);
    if (status == SPRY_STATUS_OK)
        memcpy(*to, from, (size_t)n * sizeof **to);
    return status;
}

/* What an old hierarchy knows of coarsening. */
spry_status amg_copy_maps(const amg *h, const amg_level *from, amg_level *to)
{
    spry_status status = SPRY_STATUS_OK;
    to->block = from->block;
    to->coarse = from->coarse;
    to->between = from->between;
    SPRY_GO(h->ctx, copy_numbers(h->ctx, from->map, from->op->rows / from->block, &to->map));
    SPRY_GO(h->ctx, copy_numbers(h->ctx, from->second, from->between, &to->second));
    if (!to->ends)
        SPRY_GO(h->ctx, copy_numbers(h->ctx, from->ends, 2 * from->rows, &to->ends));
done:
    return status;
}

/* Which levels are visited twice: it keeps iterations from growing with the matrix, and costs
 * little where the next level has a quarter of the entries at most. On a device what a small level
 * costs is the launches, and they do not shrink. */
static void set_visits(amg *h, const spry_device *d)
{
    const double least = d && !d->facts.processor ? 4e6 : 0;
    /* Levels of a bottom that all ranks have whole go on from the last one. */
    const amg *rest = h->bottom ? amg_gathered_levels(h->bottom) : NULL;
    const bool goes_on = rest && rest->count > 1;
    for (int l = 1; l + (goes_on ? 0 : 1) < h->count; l++) {
        const double above = (double)h->levels[l - 1].nnz, own = (double)h->levels[l].nnz,
                     below = (double)(l + 1 < h->count ? h->levels[l + 1] : rest->levels[1]).nnz;
        h->levels[l].twice =
            h->common.cycle == AMG_W || (h->common.cycle == AMG_AUTO && own <= 0.7 * above &&
                                         below <= 0.25 * own && own >= least);
    }
}

void amg_finish_levels(amg *h, const precon_job *job)
{
    set_visits(h, job->device);
    log_levels(h);
}
