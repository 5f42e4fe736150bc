/*
 * Sweeps by colours in one pass over memory. A slab is a plane of a grid of three axes, a line of
 * one of two. Stages follow each other, one slab behind: while a slab gets the correction of the
 * next level, the one before it gets its first colour, the one before that the second one, and
 * their numbers are in the cache still. Points of a colour need those of the other alone, so that
 * the result is the same as that of one stage after the other.
 *
 * Stage k of a slab needs stage k - 1 of the slabs beside it. So a share leaves out the k slabs at
 * both of its ends, and these come in turns of their own, when all shares have got that far.
 */
#include "grid/gmg.h"

typedef struct wave {
    const gmg *m;
    int level, stages, turn;
    bool back;
    gmg_start start;
    double omega;
    int64_t slabs, lines; /* and how many lines a slab has */
} wave;

/* A colour of the lines of a slab. */
static void relax_slab(const wave *w, int half, int64_t slab)
{
    const gmg_level *l = &w->m->level[w->level];
    const stencil *s = l->s;
    const grid_axis *a = s->shape.axis;
    const int64_t size = (int64_t)spry_type_size(w->m->type), n = a[0].unknowns;
    const int64_t colour = (half + w->back) % 2;
    for (int64_t line = slab * w->lines; line < (slab + 1) * w->lines; line++) {
        const host_line at = stencil_line(s, &s->plain, false, size, line, l->x);
        const int64_t first = (line % a[1].unknowns + line / a[1].unknowns + colour) % 2;
        s->kernels->relax(&s->plain.host, &at, first, half == 0 && w->start == GMG_ZERO, w->omega,
                          (const char *)l->b + line * n * size, (char *)l->x + line * n * size);
        if (l->lower) /* points of a colour do not see each other: now is as good as one by one */
            w->m->bounds->project(n, (const char *)l->lower + line * n * size,
                                  (char *)l->x + line * n * size);
    }
}

static void do_stage(const wave *w, int stage, int64_t slab, int share)
{
    const int first = w->start == GMG_FROM_BELOW;
    if (stage < first)
        gmg_up_lines(w->m, w->level, (range){slab * w->lines, (slab + 1) * w->lines}, share);
    else
        relax_slab(w, stage - first, slab);
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

void gmg_wave(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const gmg_level *l = &m->level[level];
    const grid_axis *a = l->s->shape.axis;
    const bool planes = a[2].unknowns > 1;
    wave w = {.m = m,
              .level = level,
              .stages = 2 * sweeps + (start == GMG_FROM_BELOW),
              .back = back,
              .start = start,
              .omega = m->options.omega > 0 ? m->options.omega : 1,
              .slabs = a[planes ? 2 : 1].unknowns,
              .lines = planes ? a[1].unknowns : 1};
    if (sweeps == 0 && start == GMG_ZERO)
        memset(l->x, 0, (size_t)l->A->rows * spry_type_size(m->type));
    for (; w.turn < w.stages; w.turn++)
        base_share_out(m->ctx, host_threads(m->ctx, l->A->rows), wave_share, &w);
}

/* A sweep from x = 0 makes omega b over the diagonal of a colour: one of ones tells where that is
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
        const host_line at = stencil_line(s, &s->plain, false, size, line, l->x);
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
