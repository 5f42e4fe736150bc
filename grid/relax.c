/*
 * How much defect correction has to be relaxed. The levels of multigrid have differences of order
 * 2, A2, and the operator those of a higher order, A: B x = r is solved for the correction, with B
 * = A2 / omega. Eigenvalues of A2^-1 A are 1 for smooth errors and more for rough ones: up to 1.33
 * to 1.63 (orders 4 to 8) where differences are centred, and 2.4 to 3.2 at a face with Neumann's
 * condition, whose one-sided rows have larger numbers than the mirror image of order 2. Without
 * relaxation 1 - 2.4 = -1.4 diverges. With omega = 2 / (1 + largest) both ends of the spectrum
 * shrink alike, by (largest - 1) / (largest + 1): 0.14 to 0.24, at Neumann's faces 0.41 to 0.53.
 *
 * In several dimensions operators are sums along axes, and the largest quotient is that of one
 * axis. It is found by the power method on a short model of each axis: modes that oscillate most
 * see little of its length, and those of a face nothing.
 */
#include "grid/relax.h"

enum { MODEL = 32, ROWS = MODEL + 1, STEPS = 64 };

typedef struct rows {
    int n;
    double a[ROWS][ROWS];
} rows;

/* An axis like it with fewer intervals, of the same length each. */
static spry_status model_of(spry_context *ctx, const grid_axis *axis, grid_shape *shape)
{
    grid_axis *a = &shape->axis[0];
    *shape = (grid_shape){.dimensions = 1};
    *a = (grid_axis){.intervals = axis->intervals < MODEL ? axis->intervals : MODEL,
                     .face = {axis->face[0], axis->face[1]},
                     .robin = {axis->robin[0], axis->robin[1]}};
    a->high = axis->spacing * (double)a->intervals;
    return grid_complete(ctx, shape);
}

static spry_status fill(spry_context *ctx, const grid_axis *axis, int order, const axis_work *work,
                        rows *m)
{
    axis_table t = {0};
    const spry_status status = axis_table_make(ctx, axis, 'x', order, work, &t);
    m->n = (int)axis->unknowns;
    memset(m->a, 0, sizeof m->a);
    for (int64_t i = 0; i < m->n && status == SPRY_STATUS_OK; i++) {
        const int64_t c = axis_class(t.rows, t.low, t.high, i);
        for (int64_t k = t.start[c]; k < t.start[c + 1]; k++)
            if (t.entries[k].kind == KNOWN_NOT)
                m->a[i][i + t.entries[k].col] += t.entries[k].c;
    }
    axis_table_clear(ctx, &t);
    return status;
}

/* Factors without exchanges of rows: those of order 2 are diagonally dominant. False: they are not.
 */
static bool factor(rows *m)
{
    for (int k = 0; k < m->n; k++) {
        if (m->a[k][k] == 0)
            return false;
        for (int i = k + 1; i < m->n; i++) {
            const double by = m->a[i][k] /= m->a[k][k];
            for (int j = k + 1; j < m->n && by != 0; j++)
                m->a[i][j] -= by * m->a[k][j];
        }
    }
    return true;
}

static void solve(const rows *m, double *x)
{
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= m->a[i][j] * x[j];
    for (int i = m->n - 1; i >= 0; i--) {
        for (int j = i + 1; j < m->n; j++)
            x[i] -= m->a[i][j] * x[j];
        x[i] /= m->a[i][i];
    }
}

/* The largest eigenvalue of (low + shift)^-1 (high + shift), of the most oscillating start. */
static double largest(rows *low, rows *high)
{
    enum { SMALL = 1000 };
    const int n = low->n;
    const double shift = low->a[n / 2][n / 2] / SMALL; /* a constant would go to 0 */
    double x[ROWS], y[ROWS], found = 1;
    for (int i = 0; i < n; i++) {
        x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / n);
        low->a[i][i] += shift;
        high->a[i][i] += shift;
    }
    if (!factor(low))
        return 1;
    for (int step = 0; step < STEPS; step++) {
        double before = 0, after = 0;
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++)
                y[i] += high->a[i][j] * x[j];
            before = fmax(before, fabs(x[i]));
        }
        solve(low, y);
        for (int i = 0; i < n; i++)
            after = fmax(after, fabs(y[i]));
        found = after / before;
        for (int i = 0; i < n; i++)
            x[i] = y[i] / after;
    }
    return isfinite(found) && found > 1 ? found : 1;
}

/* What defect correction has to overcome: second and fourth derivatives, and fluxes. Others, as
 * first derivatives and wide products, have differences of order 2 that take some errors to 0. */
static bool counts(const axis_work *w)
{
    return w->flux || (w->outer_count == 0 && w->inner_count == 1 && w->inner[0] % 2 == 0);
}

spry_status stencil_relaxation(const spry_operator *A, double *omega)
{
    spry_context *ctx = A->ctx;
    const stencil *s = A->state;
    rows *m = NULL; /* of order 2, and of A */
    double most = 1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, 2, sizeof *m, &m));
    for (int p = 0; p < s->parts_count; p++)
        for (int a = 0; a < s->shape.dimensions; a++) {
            const stencil_part *part = &s->parts[p];
            grid_shape model;
            if (!part->has[a] || !counts(&part->work[a]))
                continue;
            SPRY_GO(ctx, model_of(ctx, &s->shape.axis[a], &model));
            SPRY_GO(ctx, fill(ctx, &model.axis[0], 2, &part->work[a], &m[0]));
            SPRY_GO(ctx, fill(ctx, &model.axis[0], s->order, &part->work[a], &m[1]));
            most = fmax(most, largest(&m[0], &m[1]));
        }
done:
    base_free(ctx, m);
    *omega = 2 / (1 + most);
    return status;
}
