/*
 * Going from a level to the next coarser one and back. Interpolation is linear along each axis that
 * is halved; restriction is full weighting, its adjoint but for the factor 2 of each such axis that
 * makes it a mean. At a face with Neumann's condition the point beyond it is the mirror image of
 * the one before.
 */
#include "grid/gmg.h"

/* Whether an axis has half as many intervals on the next level; an axis that is not there has 0. */
static bool is_halved(const grid_axis *fine, const grid_axis *coarse)
{
    return coarse->intervals != fine->intervals;
}

/* The fine unknown that coarse unknown j of an axis lies on. */
static int64_t fine_of(const grid_axis *fine, const grid_axis *coarse, int64_t j)
{
    return is_halved(fine, coarse) ? 2 * (j + fine->first) - fine->first : j;
}

/* The unknowns around coarse unknown j and their weights along one axis, of restriction. */
static int around(const grid_axis *fine, const grid_axis *coarse, int64_t j, int64_t at[3],
                  double part[3])
{
    const int64_t k = fine_of(fine, coarse, j);
    int count = 0;
    if (!is_halved(fine, coarse)) {
        at[0] = k;
        part[0] = 1;
        return 1;
    }
    for (int64_t d = -1; d <= 1; d++) {
        int64_t i = k + d;
        if (fine->face[0] == GRID_PERIODIC)
            i = (i + fine->unknowns) % fine->unknowns;
        else if (i < 0 || i >= fine->unknowns)
            i = k - d; /* only beyond a point on a face with Neumann's condition */
        at[count] = i;
        part[count++] = d == 0 ? 0.5 : 0.25;
    }
    return count;
}

/* The coarse unknowns that a fine one is restricted to, and its weights. */
static int onto(const grid_axis *fine, const grid_axis *coarse, int64_t k, int64_t to[3],
                double part[3])
{
    const int64_t near = k * coarse->unknowns / fine->unknowns, few = coarse->unknowns;
    const bool periodic = fine->face[0] == GRID_PERIODIC;
    int count = 0;
    /* Two to each side are enough; all of them where there are not that many. */
    for (int64_t d = 0; d < (few < 5 ? few : 5) && count < 3; d++) {
        int64_t j = few < 5 ? d : near + d - 2, at[3];
        double w[3], sum = 0;
        if (periodic)
            j = (j + few) % few;
        if (j < 0 || j >= few)
            continue;
        const int around_j = around(fine, coarse, j, at, w);
        for (int i = 0; i < around_j; i++)
            sum += at[i] == k ? w[i] : 0;
        to[count] = j;
        part[count] = sum;
        count += sum != 0;
    }
    return count;
}

typedef struct transfer {
    const gmg *m;
    const gmg_level *fine, *coarse;
    bool plain;
    bool mirrored; /* bounds: of -x */
} transfer;

/* Tile 0 or 1 of a share. */
static char *tile_of(const gmg *m, const gmg_level *l, int share, int which)
{
    const int64_t size = (int64_t)spry_type_size(m->type);
    return (char *)l->tiles + ((2 * share + which) * (l->s->shape.axis[0].unknowns + 2) + 1) * size;
}

/* A line of b - A x, counted in the level's box, or (plain) of b, thinned out along x, where that
 * is halved, into `to`. */
static void thin_line(const transfer *t, int64_t line, char *tile, char *to)
{
    const gmg_level *l = t->fine;
    const grid_axis *f = l->s->shape.axis, *c = t->coarse->s->shape.axis;
    const host_kernels *kernels = l->s->kernels;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = f[0].unknowns;
    const bool thins = is_halved(&f[0], &c[0]), periodic = f[0].face[0] == GRID_PERIODIC;
    const char *b = (const char *)l->b + line * n * size;
    char *made = thins ? tile : to;
    if (t->plain) {
        memcpy(made, b, (size_t)(n * size));
    } else {
        const host_line at = stencil_line(l->s, &l->s->plain, false, size, line, l->x);
        kernels->stencil(&l->s->plain.host, &at, 0, n, (spry_scalar){-1, 0}, (spry_scalar){1, 0}, b,
                         made);
        if (l->lower)
            t->m->bounds->hold(n, t->m->truncates, (const char *)l->lower + line * n * size,
                               gmg_mirror(l, line * n * size), (const char *)l->x + line * n * size,
                               made);
    }
    if (!thins)
        return;
    memcpy(tile - size, tile + (periodic ? n - 1 : 1) * size, (size_t)size);
    memcpy(tile + n * size, tile + (periodic ? 0 : n - 2) * size, (size_t)size);
    kernels->coarsen(c[0].unknowns, fine_of(&f[0], &c[0], 0), tile, to);
}

/*
 * A share of coarse planes, or in two dimensions lines. Each line of the fine grid is made once,
 * thinned out and added to the coarse lines around it; those between two shares are made by both,
 * and so are those between two ranks, so that each coarse line gets its parts in the same order
 * however many there are.
 */
static void down_share(void *argument, int share, int shares)
{
    const transfer *t = argument;
    const gmg_level *fine = t->fine, *coarse = t->coarse;
    const grid_axis *f = fine->s->shape.axis, *c = coarse->s->shape.axis;
    const host_kernels *kernels = fine->s->kernels;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = c[0].unknowns;
    const int slow = c[2].unknowns > 1 ? 2 : 1;
    const range part = base_share(box_length(&coarse->given, slow), shares, share, 1);
    const grid_box made_here = gmg_around(fine, 1);
    grid_box to = coarse->given;
    char *tile = tile_of(t->m, fine, share, 0), *thin = tile_of(t->m, fine, share, 1);
    char *b = coarse->b;
    to.end[slow] = to.begin[slow] + part.end;
    to.begin[slow] += part.begin;
    for (int64_t z = to.begin[2]; z < to.end[2] && box_length(&to, 1) > 0; z++) {
        const int64_t at[] = {0, to.begin[1], z};
        kernels->fill(box_length(&to, 1) * n, (spry_scalar){0, 0},
                      b + box_place(&coarse->box, at) * size);
    }
    for (int64_t z = 0; z < f[2].unknowns; z++) {
        int64_t at_y[3] = {0}, at_z[3] = {0};
        double wy[3], wz[3];
        const int nz = onto(&f[2], &c[2], z, at_z, wz);
        bool own = false;
        for (int k = 0; k < nz; k++)
            own = own || (at_z[k] >= to.begin[2] && at_z[k] < to.end[2]);
        for (int64_t y = 0; own && y < f[1].unknowns; y++) {
            const int ny = onto(&f[1], &c[1], y, at_y, wy);
            bool made = false;
            for (int k = 0; k < nz * ny; k++) {
                const int64_t at[] = {0, at_y[k % ny], at_z[k / ny]};
                if (!box_has(&to, at))
                    continue;
                if (!made) {
                    const int64_t from[] = {0, gmg_locate(fine, 1, &made_here, y),
                                            gmg_locate(fine, 2, &made_here, z)};
                    thin_line(t, box_place(&fine->box, from) / f[0].unknowns, tile, thin);
                }
                made = true;
                kernels->axpy(n, (spry_scalar){wy[k % ny] * wz[k / ny], 0}, thin,
                              b + box_place(&coarse->box, at) * size);
            }
        }
    }
}

void gmg_down(const gmg *m, int level, bool plain)
{
    const gmg_level *l = &m->level[level];
    transfer t = {.m = m, .fine = l, .coarse = l + 1, .plain = plain};
    base_share_out(m->ctx, host_threads(m->ctx, l->count), down_share, &t);
}

/* The coarse unknowns that a fine one lies on or between; those with known values are left out. */
static int between(const grid_axis *fine, const grid_axis *coarse, int64_t k, int64_t at[2])
{
    if (!is_halved(fine, coarse)) {
        at[0] = k;
        return 1;
    }
    const int64_t point = k + fine->first;
    int count = 0;
    for (int64_t p = point / 2; p <= (point + 1) / 2; p++) {
        int64_t j = p - coarse->first;
        if (fine->face[0] == GRID_PERIODIC)
            j %= coarse->unknowns;
        if (j >= 0 && j < coarse->unknowns)
            at[count++] = j;
    }
    return count;
}

void gmg_up_line(const gmg *m, int level, int64_t line, int share)
{
    const gmg_level *fine = &m->level[level], *coarse = fine + 1;
    const grid_axis *f = fine->s->shape.axis, *c = coarse->s->shape.axis;
    const host_kernels *kernels = fine->s->kernels;
    const int64_t size = (int64_t)spry_type_size(m->type), n = c[0].unknowns;
    const bool periodic = f[0].face[0] == GRID_PERIODIC;
    char *tile = tile_of(m, fine, share, 0);
    int64_t at[GRID_AXES], y[2], z[2];
    box_split(&fine->box, line * f[0].unknowns, at);
    const int64_t ky = gmg_inside(fine, 1, at[1]), kz = gmg_inside(fine, 2, at[2]);
    const int ny = between(&f[1], &c[1], ky, y), nz = between(&f[2], &c[2], kz, z);
    const bool half_y = (ky + f[1].first) % 2 && is_halved(&f[1], &c[1]);
    const bool half_z = (kz + f[2].first) % 2 && is_halved(&f[2], &c[2]);
    const double share_of = (half_y ? 0.5 : 1) * (half_z ? 0.5 : 1);
    char *x = (char *)fine->x + line * f[0].unknowns * size;
    char *to = fine->lower ? tile_of(m, fine, share, 1) : x; /* x itself, or the correction */
    spry_scalar weights[5] = {{1, 0}};
    const void *from[5] = {to};
    int count = 1; /* the value at it is the first */
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++) {
            const int64_t place[] = {0, gmg_locate(coarse, 1, &coarse->box, y[j]),
                                     gmg_locate(coarse, 2, &coarse->box, z[k])};
            weights[count] = (spry_scalar){share_of, 0};
            from[count++] = (const char *)coarse->x + box_place(&coarse->box, place) * size;
        }
    if (fine->lower)
        memset(to, 0, (size_t)(f[0].unknowns * size));
    if (!is_halved(&f[0], &c[0])) {
        kernels->combine(n, count, weights, from, to);
    } else {
        /* known values, 0, at the ends; at a periodic one the first again */
        memset(tile - size, 0, (size_t)size);
        memset(tile + n * size, 0, (size_t)size);
        kernels->combine(n, count - 1, weights + 1, from + 1, tile);
        if (periodic)
            memcpy(tile + n * size, tile, (size_t)size);
        kernels->refine(f[0].unknowns, f[0].first, tile - f[0].first * size, to);
    }
    if (fine->lower)
        m->bounds->admit(f[0].unknowns, m->truncates,
                         (const char *)fine->lower + line * f[0].unknowns * size,
                         gmg_mirror(fine, line * f[0].unknowns * size), to, x);
}

static void up_share(void *argument, int share, int shares)
{
    const transfer *t = argument;
    const gmg_level *l = t->fine;
    const int64_t nx = box_length(&l->box, 0);
    const range lines =
        base_share(box_length(&l->box, 1) * box_length(&l->box, 2), shares, share, 1);
    for (int64_t line = lines.begin; line < lines.end; line++) {
        int64_t at[GRID_AXES];
        box_split(&l->box, line * nx, at);
        if (box_has(&l->rows, at))
            gmg_up_line(t->m, (int)(l - t->m->level), line, share);
    }
}

void gmg_up(const gmg *m, int level)
{
    transfer t = {.m = m, .fine = &m->level[level], .coarse = &m->level[level + 1]};
    base_share_out(m->ctx, host_threads(m->ctx, m->level[level].count), up_share, &t);
}

/* --- bounds --------------------------------------------------------------------------------------
 */

/* Adds how far below x (mirrored: -x) a line may go to what is in a tile. */
static void add_slack(const transfer *t, bool mirrored, int64_t y, int64_t z, char *tile)
{
    const gmg_level *l = t->fine;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = l->s->shape.axis[0].unknowns;
    const grid_box around = gmg_around(l, 1);
    const int64_t at[] = {0, gmg_locate(l, 1, &around, y), gmg_locate(l, 2, &around, z)};
    const int64_t place = box_place(&l->box, at) * size;
    t->m->bounds->slack(n, t->m->truncates, mirrored, (const char *)l->lower + place,
                        gmg_mirror(l, place), (const char *)l->x + place, tile);
}

/*
 * A correction is a mean of the coarse numbers around a point with weights whose sum is at most 1:
 * where each of these is at least the largest (of negative numbers) of what its points have left,
 * no point goes below its bound. A coarse number whose own point is at its bound is held at 0.
 */
static void bounds_share(void *argument, int share, int shares)
{
    const transfer *t = argument;
    const grid_axis *f = t->fine->s->shape.axis, *c = t->coarse->s->shape.axis;
    const host_kernels *kernels = t->fine->s->kernels;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = f[0].unknowns;
    const int64_t step = is_halved(&f[0], &c[0]) ? 2 : 1;
    const grid_box *given = &t->coarse->given;
    const range lines = base_share(box_length(given, 1) * box_length(given, 2), shares, share, 1);
    char *around_it = tile_of(t->m, t->fine, share, 0), *own = tile_of(t->m, t->fine, share, 1);
    const bool periodic = f[0].face[0] == GRID_PERIODIC;
    for (int64_t line = lines.begin; line < lines.end; line++) {
        int64_t at[GRID_AXES], at_y[3], at_z[3];
        double unused[3];
        box_split(given, line * c[0].unknowns, at);
        const int ny = around(&f[1], &c[1], at[1], at_y, unused);
        const int nz = around(&f[2], &c[2], at[2], at_z, unused);
        kernels->fill(n + 2, (spry_scalar){-BOUND_HELD, 0}, around_it - size);
        kernels->fill(n, (spry_scalar){-BOUND_HELD, 0}, own);
        for (int k = 0; k < ny * nz; k++)
            add_slack(t, t->mirrored, at_y[k % ny], at_z[k / ny], around_it);
        add_slack(t, t->mirrored, fine_of(&f[1], &c[1], at[1]), fine_of(&f[2], &c[2], at[2]), own);
        if (periodic) {
            memcpy(around_it - size, around_it + (n - 1) * size, (size_t)size);
            memcpy(around_it + n * size, around_it, (size_t)size);
        }
        t->m->bounds->tighten(c[0].unknowns, fine_of(&f[0], &c[0], 0), step, around_it, own,
                              (char *)(t->mirrored ? t->coarse->mirror : t->coarse->lower) +
                                  box_place(&t->coarse->box, at) * size);
    }
}

void gmg_bounds_down(const gmg *m, int level)
{
    const gmg_level *l = &m->level[level];
    transfer t = {.m = m, .fine = l, .coarse = l + 1};
    base_share_out(m->ctx, host_threads(m->ctx, l->count), bounds_share, &t);
    t.mirrored = true;
    if (l->mirror)
        base_share_out(m->ctx, host_threads(m->ctx, l->count), bounds_share, &t);
}
