/*
 * Sweeps by colours in one pass over memory. A slab is a plane of a grid of three axes, a line of
 * one of two. Stages follow each other, one slab behind: while a slab gets the correction of the
 * next level, the one before it gets its first colour, the one before that the second one, and
 * their numbers are in the cache still. Points of a colour need those of the other alone, so that
 * the result is the same as that of one stage after the other.
 *
 * Stage k of a slab needs stage k - 1 of its neighbours. So a share leaves out the k slabs at
 * both of its ends, and these come in turns of their own, when all shares have got that far.
 */
#include "grid/gmg.h"

enum { STAGES_CUT = 3 }; /* at most, where rows around those of this rank are made, too */

typedef struct wave {
    const gmg *m;
    int level, stages, turn;
    grid_box rows[STAGES_CUT]; /* of each stage, where the level is cut */
    bool back;
    gmg_start start;
    double omega;
    int64_t slabs, lines; /* and how many lines a slab has */
} wave;

/* A colour of a line. */
static void relax_line(const wave *w, int half, int64_t line, int64_t index_sum)
{
    const gmg_level *l = &w->m->level[w->level];
    const stencil *s = l->s;
    const int64_t size = (int64_t)spry_type_size(w->m->type), n = box_length(&l->box, 0);
    const int64_t colour = (half + w->back) % 2, first = ((index_sum + colour) % 2 + 2) % 2;
    const host_line at = stencil_line(s, &s->plain, false, size, line, l->x);
    s->kernels->relax(&s->plain.host, &at, first, half == 0 && w->start == GMG_ZERO, w->omega,
                      (const char *)l->b + line * n * size, (char *)l->x + line * n * size);
    if (l->lower) /* points of a colour do not see each other: now is as good as one by one */
        w->m->bounds->project(n, (const char *)l->lower + line * n * size,
                              gmg_mirror(l, line * n * size), (char *)l->x + line * n * size);
}

static void do_stage(const wave *w, int stage, int64_t slab, int share)
{
    const gmg_level *l = &w->m->level[w->level];
    const int first = w->start == GMG_FROM_BELOW;
    for (int64_t line = slab * w->lines; line < (slab + 1) * w->lines; line++) {
        int64_t at[GRID_AXES];
        box_split(&l->box, line * box_length(&l->box, 0), at);
        if (l->shared == GMG_CUT && !box_has(&w->rows[stage], at))
            continue;
        if (stage < first)
            gmg_up_line(w->m, w->level, line, share);
        else
            relax_line(w, stage - first, line, at[1] + at[2]);
    }
}

static void wave_share(void *argument, int share, int shares)
{
    const wave *w = argument;
    const range own = base_share(w->slabs, shares, share, 1);
    if (w->turn == 0)
        for (int64_t front = own.begin; front < own.end + w->stages - 1; front++)
            for (int k = 0; k < w->stages; k++)
                if (front - k >= own.begin + k && front - k < own.end - k)
                    do_stage(w, k, front - k, share);
    for (int64_t slab = own.begin; w->turn > 0 && slab < own.end; slab++)
        if (slab < own.begin + w->turn || slab >= own.end - w->turn)
            do_stage(w, w->turn, slab, share);
}

/* One pass. Where the level is cut each stage makes what the next one needs around this rank's rows
 * as well, as their ranks do: so that there is nothing to be sent meanwhile. */
static void run_wave(wave *w)
{
    const gmg_level *l = &w->m->level[w->level];
    const bool planes = l->s->shape.axis[2].unknowns > 1;
    w->slabs = box_length(&l->box, planes ? 2 : 1);
    w->lines = planes ? box_length(&l->box, 1) : 1;
    for (int k = 0; l->shared == GMG_CUT && k < w->stages; k++)
        w->rows[k] = gmg_around(l, w->stages - 1 - k);
    for (w->turn = 0; w->turn < w->stages; w->turn++)
        base_share_out(w->m->ctx, host_threads(w->m->ctx, l->count), wave_share, w);
}

spry_status gmg_wave(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const gmg_level *l = &m->level[level];
    const bool cut = l->shared == GMG_CUT;
    wave w = {
        .m = m, .level = level, .back = back, .omega = m->options.omega > 0 ? m->options.omega : 1};
    spry_status status = SPRY_STATUS_OK;
    if (sweeps == 0 && start == GMG_ZERO)
        memset(l->x, 0, (size_t)l->count * spry_type_size(m->type));
    const int each = cut && sweeps > 1 ? 1 : sweeps; /* in one pass */
    const int step = each > 0 ? each : 1;
    for (int done = 0; done == 0 || done < sweeps; done += step) {
        w.start = done == 0 ? start : GMG_GIVEN;
        w.stages = 2 * each + (w.start == GMG_FROM_BELOW);
        if (w.start == GMG_GIVEN)
            SPRY_GO(m->ctx, gmg_bring_x(l, l->x));
        run_wave(&w);
    }
done:
    return status;
}

/* A sweep from x = 0 makes omega b over the diagonal of a colour: one of ones shows where that is
 * not to be divided by. Lines of a class are alike where there are no fields. */
spry_status gmg_check_diagonal(const gmg *m, int level)
{
    const gmg_level *l = &m->level[level];
    const stencil *s = l->s;
    const int64_t size = (int64_t)spry_type_size(m->type), n = s->shape.axis[0].unknowns;
    char *ones = l->tiles, *made = ones + n * size;
    int64_t before = -1;
    s->kernels->fill(n, (spry_scalar){1, 0}, ones);
    for (int64_t line = 0; line < l->A->rows / n; line++) {
        int64_t row[GRID_AXES];
        box_split(&l->rows, line * n, row);
        const host_line at =
            stencil_line(s, &s->plain, false, size, box_place(&l->box, row) / n, l->x);
        if (s->field_count == 0 && at.class == before)
            continue;
        before = at.class;
        for (int64_t first = 0; first < 2; first++) {
            s->kernels->relax(&s->plain.host, &at, first, true, 1, ones, made);
            for (int64_t i = first; i < n; i += 2) {
                const spry_scalar inverse = value_get(m->type, made, i);
                if (!isfinite(inverse.re) || !isfinite(inverse.im))
                    return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                                     "precon gmg: the diagonal of level %d is 0, or not to be "
                                     "divided by, in row %" PRId64 ", and smoothers divide by it",
                                     level, line * n + i);
            }
        }
    }
    return SPRY_STATUS_OK;
}
