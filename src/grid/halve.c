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

enum { ROWS = SAMPLES * SAMPLES * SAMPLES };
/* Sizes of couplings, by row, axis and side. */
typedef double couplings[ROWS][GRID_AXES][2];

/* Those of the rows that are this rank's. */
static void look_at_rows(const spry_operator *A, couplings size)
{
    const stencil *s = A->state;
    const grid_axis *axis = s->shape.axis;
    for (int k = 0; k < ROWS; k++) {
        row_couplings row = {.A = A};
        for (int a = 0, rest = k; a < GRID_AXES; a++, rest /= SAMPLES)
            row.at[a] = (2 * (rest % SAMPLES) + 1) * axis[a].unknowns / (2 * SAMPLES);
        if (!box_has(&s->rows, row.at))
            continue;
        for (int p = 0; p < s->parts_count; p++)
            stencil_visit_row(&s->parts[p], false, row.at, add_coupling, &row);
        for (int a = 0; a < GRID_AXES; a++)
            for (int side = 0; side < 2; side++)
                size[k][a][side] = hypot(row.side[a][side].re, row.side[a][side].im);
    }
}

/* The mean size of couplings along each axis, over rows spread over the grid. Where it is cut each
 * rank looks at its own, and all add up the same numbers in the same order. */
static spry_status find_couplings(const spry_operator *A, double size[GRID_AXES])
{
    spry_context *ctx = A->ctx;
    const grid_shape *shape = &((const stencil *)A->state)->shape;
    const int ranks = grid_is_cut(shape) ? team_ranks(ctx) : 1;
    couplings *mine = NULL, *all = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof *mine, &mine);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, ranks, sizeof *all, &all);
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    look_at_rows(A, *mine);
    if (ranks > 1)
        SPRY_GO(ctx, team_gather(ctx, mine, sizeof *mine, all));
    else
        memcpy(all, mine, sizeof *mine);
    for (int k = 0; k < ROWS; k++)
        for (int a = 0; a < GRID_AXES; a++)
            for (int side = 0; side < 2; side++)
                for (int r = 0; r < ranks; r++) /* of which one has the row */
                    size[a] += all[r][k][a][side];
done:
    base_free(ctx, mine);
    base_free(ctx, all);
    return status;
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

spry_status gmg_halve(const spry_operator *A, bool fully, grid_shape *shape, bool *halved)
{
    const stencil *s = A->state;
    double size[GRID_AXES] = {0}, most = 0;
    spry_status status = SPRY_STATUS_OK;
    *halved = false;
    *shape = s->shape;
    if (!fully)
        SPRY_GO(A->ctx, find_couplings(A, size));
    for (int a = 0; a < shape->dimensions; a++) {
        if (fully && !can_be_halved(s, a))
            return status;
        most = size[a] > most ? size[a] : most;
    }
    for (int a = 0; a < shape->dimensions; a++)
        if (size[a] >= RATIO_LEAST * most && can_be_halved(s, a)) {
            shape->axis[a].intervals /= 2;
            shape->axis[a].halved++;
            *halved = true;
        }
done:
    return status;
}
