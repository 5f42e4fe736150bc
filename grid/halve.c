/*
 * Which axes a level halves. Sweeps over points smooth an error along the axes with the strongest
 * couplings alone, and the next level is to take care of what is smooth: so it has half as many
 * intervals along those, and as many as before along others (semicoarsening). Halving makes a
 * coupling a quarter of what it was, so that after some levels all are alike.
 *
 * A smooth error along other axes is no trouble: a red-black sweep damps what oscillates along axis
 * a of couplings c by about (1 - c_a / sum c)^2 or better. With the least ratio below that is 0.35
 * in two dimensions and 0.55 in three, where equal couplings have 0.25 and 0.44.
 *
 * Lines along an axis (lines.c) take its couplings out of this: what is strongest of the others is
 * smoothed then. They are for grids whose strong axis is another one from place to place, and for a
 * strong axis that cannot be halved, and for a wind: where a row's numbers for the two sides have
 * opposite signs, the wind carries further in a cell than diffusion. On a coarser grid its centred
 * differences would say nothing, and points would not smooth them here: so lines run along it, with
 * all their points on all levels, and other axes are halved.
 */
#include "grid/gmg.h"

#define RATIO_LEAST 0.7 /* of a coupling to the strongest one, for an axis to be halved */
#define ROW_LEAST 0.5   /* the same in a single row */
enum {
    SAMPLES = 6,
    ROWS = SAMPLES * SAMPLES * SAMPLES
}; /* rows that are looked at, along each axis
      and in all */

/* A row's numbers for its neighbours, below and above, along each axis. */
typedef struct row_couplings {
    const spry_operator *A;
    int64_t at[GRID_AXES];
    spry_scalar side[GRID_AXES][2];
} row_couplings;

static void add_coupling(void *data, const stencil_part *part, const stencil_entry *e)
{
    row_couplings *row = data;
    int axis = -1;
    for (int a = 0; a < GRID_AXES; a++) {
        if (e->kind[a] != KNOWN_NOT || (e->col[a] != 0 && axis >= 0))
            return; /* of faces, and of neighbours across a corner */
        axis = e->col[a] != 0 ? a : axis;
    }
    if (axis < 0)
        return;
    const spry_scalar value = stencil_entry_value(row->A, row->at, part, e);
    spry_scalar *sum = &row->side[axis][e->col[axis] > 0];
    *sum = (spry_scalar){sum->re + value.re, sum->im + value.im};
}

/* Couplings along each axis: their mean size over rows distributed over the grid, and those of
 * each. */
typedef struct couplings {
    double mean[GRID_AXES];
    double windy[GRID_AXES]; /* rows with a wind along an axis */
    double row[ROWS][GRID_AXES];
} couplings;

/* Those of the rows that are this rank's. */
static void look_at_rows(const spry_operator *A, couplings *c)
{
    const stencil *s = A->state;
    const grid_axis *axis = s->shape.axis;
    *c = (couplings){0};
    for (int k = 0; k < ROWS; k++) {
        row_couplings row = {.A = A};
        for (int a = 0, rest = k; a < GRID_AXES; a++, rest /= SAMPLES)
            row.at[a] = (2 * (rest % SAMPLES) + 1) * axis[a].unknowns / (2 * SAMPLES);
        if (!box_has(&s->rows, row.at))
            continue;
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.at, add_coupling, &row);
        for (int a = 0; a < GRID_AXES; a++) {
            const spry_scalar *side = row.side[a];
            c->row[k][a] = hypot(side[0].re, side[0].im) + hypot(side[1].re, side[1].im);
            c->windy[a] += side[0].re * side[1].re + side[0].im * side[1].im < 0;
        }
    }
}

/* Where the grid is cut each rank looks at its own rows, and all add up the same numbers in the
 * same order. */
static spry_status find_couplings(const spry_operator *A, couplings *c)
{
    spry_context *ctx = A->ctx;
    const grid_shape *shape = &((const stencil *)A->state)->shape;
    const int ranks = grid_is_cut(shape) ? team_ranks(ctx) : 1;
    couplings *all = NULL;
    spry_status status = SPRY_STATUS_OK;
    look_at_rows(A, c);
    if (ranks > 1) {
        SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, ranks, sizeof *all, &all)));
        SPRY_GO(ctx, team_gather(ctx, c, sizeof *c, all));
        *c = (couplings){0};
    }
    for (int k = 0; k < ROWS; k++)
        for (int a = 0; a < GRID_AXES; a++) {
            for (int r = 0; r < ranks && all; r++) /* of which one has the row */
                c->row[k][a] += all[r].row[k][a];
            c->mean[a] += c->row[k][a];
        }
    for (int a = 0; a < GRID_AXES; a++)
        for (int r = 0; r < ranks && all; r++)
            c->windy[a] += all[r].windy[a];
done:
    base_free(ctx, all);
    return status;
}

int gmg_highest_power(const stencil *s, int a)
{
    int most = 0;
    for (int p = 0; p < s->parts_count; p++) {
        const axis_work *w = &s->parts[p].work[a];
        most = w->flux && most < 2 ? 2 : most;
        for (int k = 0; k < w->outer_count; k++)
            most = w->outer[k] > most ? w->outer[k] : most;
        for (int k = 0; k < w->inner_count; k++)
            most = w->inner[k] > most ? w->inner[k] : most;
    }
    return most;
}

/* Differences of order 2 need two points more than their power; between known values, where second
 * derivatives are centred all, two intervals are enough. */
static bool can_be_halved(const stencil *s, int a)
{
    const grid_axis *axis = &s->shape.axis[a];
    const bool known = axis->face[0] == GRID_DIRICHLET && axis->face[1] == GRID_DIRICHLET;
    const int power = gmg_highest_power(s, a), least = known && power <= 2 ? 2 : power + 2;
    return axis->intervals % 2 == 0 && axis->intervals / 2 >= least;
}

static double largest(const double size[GRID_AXES], int without)
{
    double most = 0;
    for (int a = 0; a < GRID_AXES; a++)
        most = a != without && size[a] > most ? size[a] : most;
    return most;
}

/* Whether sweeps smooth what oscillates along an axis: its coupling is strong relative to all
 * others, or all but that along some lines. */
static bool is_smoothed(const double size[GRID_AXES], unsigned lines, int axis, double least)
{
    bool yes = lines == 0 && size[axis] >= least * largest(size, -1);
    for (int l = 0; l < GRID_AXES; l++)
        yes = yes || ((lines >> l & 1) && size[axis] >= least * largest(size, l));
    return yes;
}

/* The axes that sweeps smooth and that can be halved. */
static unsigned find_halved(const stencil *s, const couplings *c, unsigned lines)
{
    unsigned halved = 0;
    for (int a = 0; a < s->shape.dimensions; a++)
        if (is_smoothed(c->mean, lines, a, RATIO_LEAST) && can_be_halved(s, a))
            halved |= 1u << a;
    return halved;
}

/* The axis with the largest coupling, or those, as far as lines can run along them. */
static unsigned strongest(const stencil *s, const double size[GRID_AXES])
{
    unsigned axes = 0;
    for (int a = 0; a < s->shape.dimensions; a++)
        if (size[a] == largest(size, -1) && gmg_has_lines(s, a))
            axes |= 1u << a;
    return axes;
}

/* Lines where points do not do: some row has other strong couplings than what is halved for all,
 * or nothing can be halved. */
static unsigned find_lines(const stencil *s, const couplings *c)
{
    const unsigned halved = find_halved(s, c, 0);
    unsigned lines = halved ? 0 : strongest(s, c->mean);
    for (int k = 0; k < ROWS && halved; k++)
        for (int a = 0; a < s->shape.dimensions; a++)
            if ((halved >> a & 1) && !is_smoothed(c->row[k], 0, a, ROW_LEAST))
                lines |= strongest(s, c->row[k]) | strongest(s, c->mean);
    return lines;
}

/* Axes with a wind, as far as lines can run along them. */
static unsigned find_wind(const stencil *s, const couplings *c)
{
    unsigned axes = 0;
    for (int a = 0; a < s->shape.dimensions; a++)
        if (c->windy[a] > 0 && gmg_has_lines(s, a))
            axes |= 1u << a;
    return axes;
}

spry_status gmg_halve(const spry_operator *A, const gmg_freedom *free, unsigned *lines,
                      grid_shape *shape, bool *halved)
{
    const stencil *s = A->state;
    couplings c = {0};
    unsigned axes = 0;
    spry_status status = SPRY_STATUS_OK;
    *shape = s->shape;
    *lines = 0;
    *halved = false;
    if (!free->fully || free->lines != GMG_NO_LINES)
        SPRY_GO(A->ctx, find_couplings(A, &c));
    if (free->lines == GMG_LINES && free->line >= 0 && gmg_has_lines(s, free->line))
        *lines = 1u << free->line;
    else if (free->lines != GMG_NO_LINES)
        *lines = find_lines(s, &c) | find_wind(s, &c);
    if (free->lines == GMG_LINES && *lines == 0)
        *lines = strongest(s, c.mean);
    for (int a = 0; a < shape->dimensions && free->fully; a++) {
        if (!can_be_halved(s, a))
            return status;
        axes |= 1u << a;
    }
    if (!free->fully)
        axes = find_halved(s, &c, *lines) & ~(*lines & find_wind(s, &c));
    for (int a = 0; a < shape->dimensions; a++)
        if (axes >> a & 1) {
            shape->axis[a].intervals /= 2;
            shape->axis[a].stride *= 2;
            shape->axis[a].halved++;
        }
    *halved = axes != 0;
done:
    return status;
}
