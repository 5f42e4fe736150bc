/*
 * Cubic interpolation, for full multigrid. What a level has found is brought to the finer one as a
 * first guess there: linear interpolation would add an error of h^2, as large as that of the
 * differences, which one V-cycle does not take away; that of cubics is of h^4.
 *
 * Along a line, a fine point between two coarse ones has weights -1, 9, 9, -1 of 16 of the four
 * around. Next to a face with a known value, 0, the fourth one is on the other side: 5, 15, -5, 1
 * of 16; at one with a known slope, 0, what is beyond is the mirror image. Lines of fewer than four
 * points have linear interpolation.
 */
#include "grid/gmg.h"

enum { NODES = 4 };

/* The coarse unknown at a point, which may lie beyond a face: -1 for a known value. */
static int64_t unknown_at(const grid_axis *coarse, int64_t point)
{
    const int64_t n = coarse->intervals;
    if (coarse->face[0] == GRID_PERIODIC)
        return (point + n) % n;
    point = point < 0 ? -point : point > n ? 2 * n - point : point;
    const int64_t k = point - coarse->first;
    return k >= 0 && k < coarse->unknowns ? k : -1;
}

/* Coarse unknowns and weights that make fine unknown k of an axis. */
static int nodes_of(const grid_axis *fine, const grid_axis *coarse, int64_t k, int64_t at[NODES],
                    double part[NODES])
{
    static const double centred[] = {-1, 9, 9, -1}, edge[] = {5, 15, -5, 1};
    const int64_t point = k + fine->first, left = point / 2, n = coarse->intervals;
    int count = 0;
    if (fine->intervals == n || point % 2 == 0) {
        at[0] = fine->intervals == n ? k : unknown_at(coarse, left);
        part[0] = 1;
        return 1;
    }
    const bool low = left == 0 && coarse->face[0] == GRID_DIRICHLET;
    const bool high = left == n - 1 && coarse->face[1] == GRID_DIRICHLET;
    const bool linear = n < NODES;
    for (int j = 0; j < NODES; j++) {
        const int64_t p = low && !linear ? j : high && !linear ? n - j : left - 1 + j;
        const double w = linear ? 8.0 * (j == 1 || j == 2) : (low || high ? edge : centred)[j];
        at[count] = unknown_at(coarse, p);
        part[count] = w / 16;
        count += at[count] >= 0 && w != 0;
    }
    return count;
}

typedef struct guess_job {
    const gmg *m;
    const gmg_level *fine, *coarse;
} guess_job;

/* Fine lines of a share: the coarse lines around each added up, then made longer. */
static void guess_share(void *argument, int share, int shares)
{
    const guess_job *g = argument;
    const grid_axis *f = g->fine->s->shape.axis, *c = g->coarse->s->shape.axis;
    const spry_type type = g->m->type;
    const int64_t size = (int64_t)spry_type_size(type), n = c[0].unknowns;
    const grid_box *rows = &g->fine->rows, *box = &g->coarse->box;
    const range lines = base_share(box_length(rows, 1) * box_length(rows, 2), shares, share, 1);
    char *tile = (char *)g->fine->tiles + share * (f[0].unknowns + 2) * size;
    for (int64_t line = lines.begin; line < lines.end; line++) {
        int64_t y[NODES], z[NODES], x[NODES];
        double wy[NODES], wz[NODES], wx[NODES];
        const int64_t at[] = {0, rows->begin[1] + line % box_length(rows, 1),
                              rows->begin[2] + line / box_length(rows, 1)};
        const int64_t to = box_place(&g->fine->box, at);
        const int ny = nodes_of(&f[1], &c[1], at[1], y, wy);
        const int nz = nodes_of(&f[2], &c[2], at[2], z, wz);
        spry_scalar weights[NODES * NODES];
        const void *from[NODES * NODES];
        int count = 0;
        for (int k = 0; k < nz; k++)
            for (int j = 0; j < ny; j++) {
                const int64_t place[] = {0, gmg_locate(g->coarse, 1, box, y[j]),
                                         gmg_locate(g->coarse, 2, box, z[k])};
                weights[count] = (spry_scalar){wy[j] * wz[k], 0};
                from[count++] = (const char *)g->coarse->x + box_place(box, place) * size;
            }
        g->fine->s->kernels->combine(n, count, weights, from, tile);
        for (int64_t i = 0; i < f[0].unknowns; i++) {
            const int nx = nodes_of(&f[0], &c[0], i, x, wx);
            spry_scalar sum = {0, 0};
            for (int k = 0; k < nx; k++) {
                const spry_scalar v = value_get(type, tile, x[k]);
                sum = (spry_scalar){sum.re + wx[k] * v.re, sum.im + wx[k] * v.im};
            }
            value_set(type, g->fine->x, to + i, sum);
        }
    }
}

void gmg_guess(const gmg *m, int level)
{
    guess_job job = {m, &m->level[level], &m->level[level + 1]};
    base_share_out(m->ctx, host_threads(m->ctx, m->level[level].count), guess_share, &job);
}
