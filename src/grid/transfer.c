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

typedef struct transfer {
    const gmg *m;
    const gmg_level *fine, *coarse;
    const void *from;
} transfer;

static char *tile_of(const gmg *m, const gmg_level *l, int share)
{
    const int64_t size = (int64_t)spry_type_size(m->type);
    return (char *)l->tiles + (share * (l->s->shape.axis[0].unknowns + 2) + 1) * size;
}

/* Coarse lines of a share: the lines around each added up, then thinned out. */
static void down_share(void *argument, int share, int shares)
{
    const transfer *t = argument;
    const grid_axis *f = t->fine->s->shape.axis, *c = t->coarse->s->shape.axis;
    const host_kernels *kernels = t->fine->s->kernels;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = f[0].unknowns;
    const range lines = base_share(c[1].unknowns * c[2].unknowns, shares, share, 1);
    char *tile = tile_of(t->m, t->fine, share);
    for (int64_t line = lines.begin; line < lines.end; line++) {
        int64_t y[3], z[3];
        double wy[3], wz[3];
        const int ny = around(&f[1], &c[1], line % c[1].unknowns, y, wy);
        const int nz = around(&f[2], &c[2], line / c[1].unknowns, z, wz);
        spry_scalar weights[9];
        const void *from[9];
        int count = 0;
        for (int k = 0; k < nz; k++)
            for (int j = 0; j < ny; j++) {
                weights[count] = (spry_scalar){wy[j] * wz[k], 0};
                from[count++] = (const char *)t->from + (y[j] + f[1].unknowns * z[k]) * n * size;
            }
        char *to = (char *)t->coarse->b + line * c[0].unknowns * size;
        kernels->combine(n, count, weights, from, is_halved(&f[0], &c[0]) ? tile : to);
        if (!is_halved(&f[0], &c[0]))
            continue;
        const int64_t first = fine_of(&f[0], &c[0], 0);
        const bool periodic = f[0].face[0] == GRID_PERIODIC;
        memcpy(tile - size, tile + (periodic ? n - 1 : 1) * size, (size_t)size);
        memcpy(tile + n * size, tile + (periodic ? 0 : n - 2) * size, (size_t)size);
        kernels->coarsen(c[0].unknowns, first, tile, to);
    }
}

spry_status gmg_down(const gmg *m, int level, bool plain)
{
    const gmg_level *l = &m->level[level];
    const spry_scalar one = {1, 0}, minus = {-1, 0};
    if (!plain) {
        const spry_status status =
            stencil_run(l->A, SPRY_TRANSPOSE_NO, minus, l->x, one, l->b, l->r);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    transfer t = {m, l, l + 1, plain ? l->b : l->r};
    base_share_out(m->ctx, host_threads(m->ctx, l->A->rows), down_share, &t);
    return SPRY_STATUS_OK;
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

static void up_share(void *argument, int share, int shares)
{
    const transfer *t = argument;
    const grid_axis *f = t->fine->s->shape.axis, *c = t->coarse->s->shape.axis;
    const host_kernels *kernels = t->fine->s->kernels;
    const int64_t size = (int64_t)spry_type_size(t->m->type), n = c[0].unknowns;
    const range lines = base_share(f[1].unknowns * f[2].unknowns, shares, share, 1);
    const bool periodic = f[0].face[0] == GRID_PERIODIC;
    char *tile = tile_of(t->m, t->fine, share);
    for (int64_t line = lines.begin; line < lines.end; line++) {
        int64_t y[2], z[2];
        const int64_t ky = line % f[1].unknowns, kz = line / f[1].unknowns;
        const int ny = between(&f[1], &c[1], ky, y), nz = between(&f[2], &c[2], kz, z);
        const bool half_y = (ky + f[1].first) % 2 && is_halved(&f[1], &c[1]);
        const bool half_z = (kz + f[2].first) % 2 && is_halved(&f[2], &c[2]);
        const double share_of = (half_y ? 0.5 : 1) * (half_z ? 0.5 : 1);
        char *to = (char *)t->fine->x + line * f[0].unknowns * size;
        spry_scalar weights[5] = {{1, 0}};
        const void *from[5] = {to};
        int count = 1; /* what stands there is the first */
        for (int k = 0; k < nz; k++)
            for (int j = 0; j < ny; j++) {
                weights[count] = (spry_scalar){share_of, 0};
                from[count++] =
                    (const char *)t->coarse->x + (y[j] + c[1].unknowns * z[k]) * n * size;
            }
        if (!is_halved(&f[0], &c[0])) {
            kernels->combine(n, count, weights, from, to);
            continue;
        }
        /* known values, 0, at the ends; at a periodic one the first again */
        memset(tile - size, 0, (size_t)size);
        memset(tile + n * size, 0, (size_t)size);
        kernels->combine(n, count - 1, weights + 1, from + 1, tile);
        if (periodic)
            memcpy(tile + n * size, tile, (size_t)size);
        kernels->refine(f[0].unknowns, f[0].first, tile - f[0].first * size, to);
    }
}

void gmg_up(const gmg *m, int level)
{
    transfer t = {m, &m->level[level], &m->level[level + 1], NULL};
    base_share_out(m->ctx, host_threads(m->ctx, m->level[level].A->rows), up_share, &t);
}
