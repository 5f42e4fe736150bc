/*
 * Moving particles to a smaller misfit, by steps of Gauss and Newton. The slope is that of the
 * misfit itself, through all others: the image of what is not explained, over what changes when a
 * sphere moves. How the misfit bends is taken from particles that take their own fields along.
 */
#include "odt/search.h"
#include "odt/small.h"

#include <math.h>
#include <string.h>

/* The change of a view's numbers when particle j moves along an axis, by voxels, and takes its
 * field along: exact where it is alone. */
static void moving(odt_search *s, int view, int j, int axis, spry_scalar *da, double *dy)
{
    odt_view *v = &s->m->view[view];
    const spry_scalar *a = s->alone[view] + (ptrdiff_t)j * v->count;
    for (int k = 0; k < v->count; k++) {
        const double turn =
            s->m->setup.box.h * (s->m->setup.optics.k * v->light[axis] - v->k[3 * k + axis]);
        da[k] = (spry_scalar){-turn * a[k].im, turn * a[k].re};
    }
    odt_view_change(v, da, dy);
}

spry_scalar odt_change_of(const odt_model *m, const odt_particle *p, int number,
                          const int64_t *voxel)
{
    static const double STEP = 0.25;
    const odt_box *b = &m->setup.box;
    odt_particle before = *p, after = *p;
    if (number > NUMBER_DIAMETER) { /* of (index + i absorption)^2 / fluid^2 */
        const double share = 2 * odt_sphere_share(b, p, voxel) / (m->setup.fluid * m->setup.fluid);
        return number == NUMBER_INDEX ? (spry_scalar){share * p->index, share * p->absorption}
                                      : (spry_scalar){-share * p->absorption, share * p->index};
    }
    *odt_number_of(&before, number) -= STEP * b->h;
    *odt_number_of(&after, number) += STEP * b->h;
    const double change = odt_sphere_share(b, &after, voxel) - odt_sphere_share(b, &before, voxel);
    const spry_scalar contrast = odt_contrast_of(m, p);
    return (spry_scalar){change * contrast.re / (2 * STEP), change * contrast.im / (2 * STEP)};
}

double odt_slope_of(const odt_search *s, int j, int number)
{
    const odt_model *m = s->m;
    const odt_box *b = &m->setup.box;
    const odt_particle *p = &s->found.p[j];
    const odt_part part = odt_sphere_part(b, p);
    double sum = 0;
    for (int64_t i = 0; i < part.n[0] * part.n[1] * part.n[2]; i++) {
        int64_t voxel[3];
        const int64_t k = odt_voxel_of(b, &part, i, voxel);
        sum += odt_times(odt_change_of(m, p, number, voxel), s->image[k]).re;
    }
    return -m->kb2 * sum;
}

/* A step of Gauss and Newton, in voxels. */
static spry_status find_step(odt_search *s, double *step)
{
    spry_context *ctx = s->m->ctx;
    const int n = 3 * s->found.count;
    spry_status status = odt_search_look(s);
    if (status != SPRY_STATUS_OK)
        return status;
    status = SPRY_STATUS_NO_MEMORY;
    double *A = odt_alloc(ctx, (int64_t)n * n, sizeof *A), *dy = NULL;
    spry_scalar *da = NULL;
    for (int p = 0; p < n; p++)
        step[p] = -odt_slope_of(s, p / 3, p % 3);
    for (int i = 0; i < s->m->setup.views && A; i++) {
        odt_view *v = &s->m->view[i];
        const int numbers = odt_view_numbers(v);
        dy = spry_alloc(ctx, (size_t)n * (size_t)numbers * sizeof *dy);
        da = spry_alloc(ctx, (size_t)v->count * sizeof *da);
        if (!dy || !da)
            goto done;
        for (int p = 0; p < n; p++) {
            moving(s, i, p / 3, p % 3, da, dy + (ptrdiff_t)p * numbers);
            for (int q = 0; q <= p; q++)
                A[p * n + q] +=
                    odt_dot(numbers, dy + (ptrdiff_t)p * numbers, dy + (ptrdiff_t)q * numbers);
        }
        spry_free(ctx, dy);
        spry_free(ctx, da);
        dy = NULL;
        da = NULL;
    }
    if (!A)
        goto done;
    for (int p = 0; p < n; p++)
        A[p * n + p] *= 1 + 1e-6; /* two in one place would make it singular */
    if (odt_factor(n, A))
        odt_substitute(n, A, step);
    else
        memset(step, 0, (size_t)n * sizeof *step);
    status = SPRY_STATUS_OK;
done:
    spry_free(ctx, dy);
    spry_free(ctx, da);
    spry_free(ctx, A);
    return status;
}

/* Moves particles from where they were: by so much of a step, a quarter of a diameter at most, and
 * not out of the volume. */
static void move_all(odt_search *s, const odt_particle *from, const double *step, double share)
{
    const odt_box *b = &s->m->setup.box;
    const double longest = 0.25 * s->sample.diameter / b->h;
    for (int j = 0; j < s->found.count; j++) {
        const double *by = step + 3 * (ptrdiff_t)j;
        const double length = hypot(hypot(by[0], by[1]), by[2]);
        const double scale = share * (length > longest ? longest / length : 1);
        for (int a = 0; a < 3; a++) {
            const double room = (0.5 * (double)(b->n[a] - 1) - odt_search_margin(s)) * b->h;
            s->found.p[j].at[a] = fmin(fmax(from[j].at[a] + scale * by[a] * b->h, -room), room);
        }
    }
}

/* The longest way of a particle in a step. */
static double longest_of(int count, const double *step)
{
    double most = 0;
    for (int j = 0; j < count; j++)
        most = fmax(most, hypot(hypot(step[3 * j], step[3 * j + 1]), step[3 * j + 2]));
    return most;
}

/* One step, shortened until the misfit falls; where it does not, all is as before. One that would
 * move no particle by as much as `least` is not tried. */
static spry_status refine_once(odt_search *s, double least, bool *better)
{
    enum { TRIES = 3 };
    spry_context *ctx = s->m->ctx;
    const size_t count = (size_t)s->found.count;
    const double before = s->misfit;
    odt_particle *from = spry_alloc(ctx, count * sizeof *from);
    double *step = spry_alloc(ctx, 3 * count * sizeof *step);
    spry_status status = from && step ? find_step(s, step) : SPRY_STATUS_NO_MEMORY;
    *better = false;
    if (status != SPRY_STATUS_OK || longest_of(s->found.count, step) < least)
        goto done;
    memcpy(from, s->found.p, count * sizeof *from);
    double share = 1;
    for (int k = 0; k < TRIES && !*better && status == SPRY_STATUS_OK; k++, share /= 3) {
        move_all(s, from, step, share);
        status = odt_search_evaluate(s);
        *better = s->misfit < before;
    }
    if (status == SPRY_STATUS_OK && !*better) {
        memcpy(s->found.p, from, count * sizeof *from);
        status = odt_search_evaluate(s);
    }
done:
    spry_free(ctx, from);
    spry_free(ctx, step);
    return status;
}

spry_status odt_search_refine(odt_search *s, int steps, double least)
{
    /* what a particle that is so far off leaves: what cameras see of it turns by about a tenth of a
     * turn for each wavelength. Steps that gain next to nothing are the last, too */
    const double turn = 0.1 * s->m->setup.optics.k * s->m->setup.box.h * least;
    const double enough = turn * turn * s->norm / s->empty, gain = 0.99;
    spry_status status = SPRY_STATUS_OK;
    bool better = s->found.count > 0;
    for (int k = 0; k < steps && better && s->misfit > enough && status == SPRY_STATUS_OK; k++) {
        const double before = s->misfit;
        status = refine_once(s, least, &better);
        better = better && s->misfit < gain * before;
    }
    return status;
}
