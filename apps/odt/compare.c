#include "odt/compare.h"

#include <math.h>
#include <stdlib.h>

/* --- particles -----------------------------------------------------------------------------------
 */

typedef struct pair {
    double apart;
    int truth, found;
} pair;

static double distance(const double *a, const double *b)
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Nearest first; those that are as near, by their numbers. */
static int compare_pairs(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->apart != q->apart)
        return p->apart < q->apart ? -1 : 1;
    if (p->truth != q->truth)
        return p->truth < q->truth ? -1 : 1;
    return (p->found > q->found) - (p->found < q->found);
}

/* All pairs that are near enough; NULL only counts. */
static int64_t find_pairs(const odt_particles *truth, const odt_particles *found, pair *pairs)
{
    int64_t count = 0;
    for (int t = 0; t < truth->count; t++)
        for (int f = 0; f < found->count; f++) {
            const double apart = distance(truth->p[t].at, found->p[f].at);
            if (!(apart <= 0.5 * truth->p[t].diameter))
                continue;
            if (pairs)
                pairs[count] = (pair){apart, t, f};
            count++;
        }
    return count;
}

spry_status odt_compare_particles(spry_context *ctx, const odt_particles *truth,
                                  const odt_particles *found, odt_compared *c)
{
    const int64_t count = find_pairs(truth, found, NULL);
    spry_status status = SPRY_STATUS_OK;
    pair *pairs = odt_alloc(ctx, count + 1, sizeof *pairs);
    bool *taken = odt_alloc(ctx, truth->count + 1, sizeof *taken);
    c->partner = odt_alloc(ctx, found->count + 1, sizeof *c->partner);
    c->apart = odt_alloc(ctx, found->count + 1, sizeof *c->apart);
    c->pairs = 0;
    c->worst = 0;
    if (!pairs || !taken || !c->partner || !c->apart)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    for (int f = 0; f < found->count; f++) {
        c->partner[f] = -1;
        c->apart[f] = NAN;
    }
    find_pairs(truth, found, pairs);
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int64_t k = 0; k < count; k++) {
        const pair *p = &pairs[k];
        if (taken[p->truth] || c->partner[p->found] >= 0)
            continue;
        taken[p->truth] = true;
        c->partner[p->found] = p->truth;
        c->apart[p->found] = c->worst = p->apart;
        c->pairs++;
    }
done:
    spry_free(ctx, pairs);
    spry_free(ctx, taken);
    return status;
}

/* --- the index -----------------------------------------------------------------------------------
 */

typedef struct share {
    double off, size;
} share;

static double error_of(share s)
{
    return s.size > 0 ? sqrt(s.off / s.size) : NAN;
}

spry_status odt_compare_index(const odt_model *m, const odt_particles *truth, const float *index,
                              odt_compared *c)
{
    const double fluid = m->setup.fluid;
    const int64_t n = odt_voxels(&m->setup.box);
    double most = 0;
    share inside = {0}, all = {0};
    spry_scalar *contrast = odt_alloc(m->ctx, n, sizeof *contrast);
    if (!contrast)
        return SPRY_STATUS_NO_MEMORY;
    odt_model_contrast(m, truth, contrast);
    for (int64_t k = 0; k < n; k++)
        most = fmax(most, sqrt(odt_square(contrast[k])));
    for (int64_t k = 0; k < n; k++) {
        const double expected = odt_index_of(fluid, contrast[k]);
        const double size = pow(expected - fluid, 2);
        const double off = pow((double)index[k] - expected, 2);
        all = (share){all.off + off, all.size + size};
        if (sqrt(odt_square(contrast[k])) >=
            0.5 * most) /* more than half of the voxel is in a particle */
            inside = (share){inside.off + off, inside.size + size};
    }
    c->inside = error_of(inside);
    c->all = error_of(all);
    spry_free(m->ctx, contrast);
    return SPRY_STATUS_OK;
}

void odt_compared_free(spry_context *ctx, odt_compared *c)
{
    spry_free(ctx, c->partner);
    spry_free(ctx, c->apart);
    *c = (odt_compared){0};
}
