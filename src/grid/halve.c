/*
 * Which axes a level halves. Sweeps over points smooth an error along the axes with the strongest
 * couplings alone, and the next level is to take care of what is smooth: so it has half as many
 * intervals along those, and as many as before along others (semicoarsening). Halving makes a
 * coupling a quarter of what it was, so that after some levels all are alike.
 *
 * A smooth error along other axes is no trouble: a red-black sweep damps what oscillates along axis
 * a of couplings c by about (1 - c_a / sum c)^2 or better. With the least ratio below that is 0.35
 * in two dimensions and 0.55 in three, where equal couplings have 0.25 and 0.44.
 */
#include "grid/gmg.h"

#define RATIO_LEAST 0.7 /* of a coupling to the strongest one, for an axis to be halved */
enum { SAMPLES = 6 };   /* rows along each axis that are looked at */

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

/* The mean size of couplings along each axis, over rows spread over the grid. */
static void find_couplings(const spry_operator *A, double size[GRID_AXES])
{
    const stencil *s = A->state;
    const grid_axis *axis = s->shape.axis;
    for (int k = 0; k < SAMPLES * SAMPLES * SAMPLES; k++) {
        row_couplings row = {.A = A};
        for (int a = 0, rest = k; a < GRID_AXES; a++, rest /= SAMPLES)
            row.at[a] = (2 * (rest % SAMPLES) + 1) * axis[a].unknowns / (2 * SAMPLES);
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.at, add_coupling, &row);
        for (int a = 0; a < GRID_AXES; a++)
            for (int side = 0; side < 2; side++)
                size[a] += hypot(row.side[a][side].re, row.side[a][side].im);
    }
}

/* The highest derivative along an axis. */
static int highest_power(const stencil *s, int a)
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
    const int power = highest_power(s, a), least = known && power <= 2 ? 2 : power + 2;
    return axis->intervals % 2 == 0 && axis->intervals / 2 >= least;
}

bool gmg_halve(const spry_operator *A, bool fully, grid_shape *shape)
{
    const stencil *s = A->state;
    double size[GRID_AXES] = {0}, most = 0;
    bool any = false;
    *shape = s->shape;
    if (!fully)
        find_couplings(A, size);
    for (int a = 0; a < shape->dimensions; a++) {
        if (fully && !can_be_halved(s, a))
            return false;
        most = size[a] > most ? size[a] : most;
    }
    for (int a = 0; a < shape->dimensions; a++)
        if (size[a] >= RATIO_LEAST * most && can_be_halved(s, a)) {
            shape->axis[a].intervals /= 2;
            any = true;
        }
    return any;
}
