/*
 * The steps of geometric multigrid on a device. Levels with one pattern share a program: their
 * sizes and numbers are arguments. Least traffic of a step: smoothing a colour reads x and b and
 * writes x, the first sweep reads b and writes x; going down reads x and b of the fine grid and
 * writes b of the coarse one, the residual stays in local memory; coming up reads and writes x.
 *
 * On ranks the box of a level (gmg_ranks.c) is a grid as kernels see it, with 0 around it, and all
 * of it is made: what is wrong near its rim is brought from others before anybody needs it. What
 * fails on a rank's device alone is noted (team_note()), and the rank goes on with messages.
 */
#include "grid/gmg_device.h"

#include "device/linalg/vector.h"
#include "grid/stencil_device.h"

#include <stdlib.h>

typedef struct level_device {
    device_memory *fields;
    stencil_copy copy;
    device_program *program; /* NULL of the last one, which is not smoothed */
    bool finishes;           /* coming up and a sweep are one march */
    device_memory *x, *b;    /* of the first one the caller's, unless it is cut or joined */
    device_memory *other;    /* for sweeps that do not work in place; NULL: none */
    device_memory *spare;    /* of the first one what `other` is before and after */
    bool ranked;
    int32_t parity;        /* of the first point, counted over the whole grid */
    gmg_device_halo *halo; /* NULL: the level is whole */
} level_device;

struct gmg_device {
    spry_device *d;
    level_device level[GMG_LEVELS];
};

/* --- launches ------------------------------------------------------------------------------------
 */

/* Coarse points of a group that goes down; where it marches, of one of its planes: those between 32
 * x 8 lines columns of fine ones. */
static void coarse_points(const stencil_copy *c, int points[GRID_AXES])
{
    const int shapes[][GRID_AXES] = {
        {STENCIL_GROUP, 1, 1}, {64, STENCIL_GROUP / 64, 1}, {16, 4, 4}};
    const int marched[GRID_AXES] = {(STENCIL_COLUMNS - 1) / 2, (STENCIL_ROWS * c->lines - 1) / 2,
                                    1};
    memcpy(points, c->lines > 0 ? marched : shapes[c->shape.dimensions - 1], sizeof marched);
}

/* Whether a whole sweep from x = 0 is made from b alone: x at a point's neighbours is b there over
 * the diagonal, the same in all rows. */
static bool begins_at_once(const stencil_copy *c)
{
    return c->regular && c->lines > 0;
}

/* Whether coming up and a sweep over both colours are one march: gmg_finish.knl. */
static bool finishes(const stencil_copy *c)
{
    bool fits = c->regular && c->lines > 0 && !c->periodic;
    for (int a = 0; a < GRID_AXES; a++)
        fits = fits && c->reach[a] <= 1;
    for (int t = 0; t < c->terms; t++)
        fits = fits && abs(c->step[t][0]) + abs(c->step[t][1]) + abs(c->step[t][2]) <= 1;
    return fits && stencil_finish_room(c) <= c->d->facts.most_local;
}

static const stencil_march begin_march = {
    .kernel = "begin_both",
    .args = "SP_GLOBAL scalar *to, const int colour, const double omega",
    .on = "1",
    .value = "gmg_first((i + j + k + colour) & 1, (real)omega, here, sum, own)",
    .put = "to[row] = value;"};
static const stencil_march relax_march = {
    .kernel = "relax",
    .args =
        "SP_GLOBAL scalar *to, SP_GLOBAL const scalar *b, const int colour, const double omega, "
        "const double turn",
    .on = "colour < 0 || ((i + j + k + colour) & 1) == 0",
    .ends = true,
    .value = "sp_fma(gmg_weight((real)omega, (real)turn, own), sp_sub(b[row], sum), here)",
    .put = "to[row] = value;"};

void gmg_device_put(base_text *t, const stencil_copy *c)
{
    const stencil_writing w = {
        .written = stencil_is_written(c), .group = STENCIL_GROUP, .prefix = "a_"};
    int points[GRID_AXES];
    coarse_points(c, points);
    stencil_put_words(t, c, &w);
    for (int a = 0; a < GRID_AXES; a++)
        base_text_put(t, "#define COARSE_%d %d\n", a, points[a]);
    stencil_put_text(t, "gmg");
    if (c->lines > 0)
        stencil_put_text(t, "gmg_down");
    if (finishes(c))
        stencil_put_text(t, "gmg_finish");
    if (begins_at_once(c))
        stencil_put_march(t, &begin_march);
    if (c->lines > 0)
        stencil_put_march(t, &relax_march);
}

static spry_status build(const level_device *l, device_program **p)
{
    return stencil_build(&l->copy, gmg_device_put, true, p);
}

static spry_status launch(const level_device *l, const char *kernel, int64_t groups, int64_t room,
                          const device_arg *before, const device_arg *after, int count)
{
    const spry_status status =
        stencil_launch(&l->copy, l->program, kernel, groups, room, before, after, count);
    return l->ranked ? team_note(l->copy.d->ctx, status) : status;
}

/* The same with a point per work-item. */
static spry_status launch_points(const level_device *l, const char *kernel, const device_arg *after,
                                 int count)
{
    const int64_t positions = stencil_positions(&l->copy, STENCIL_GROUP);
    const device_arg before = DEVICE_VALUE(positions);
    return launch(l, kernel, positions / STENCIL_GROUP, 0, &before, after, count);
}

/* --- ranks ---------------------------------------------------------------------------------------
 */

/* Fills the box of a level around what is this rank's; nothing where levels are whole. */
static spry_status bring(const gmg *m, int level, device_memory *box)
{
    gmg_device_halo *halo = m->device->level[level].halo;
    return halo ? gmg_noted(m, gmg_device_halo_exchange(halo, box)) : SPRY_STATUS_OK;
}

static spry_status bring_x(const gmg *m, int level)
{
    return m->level[level].shared == GMG_CUT ? bring(m, level, m->device->level[level].x)
                                             : SPRY_STATUS_OK;
}

/* --- smoothing -----------------------------------------------------------------------------------
 */

/* A colour as the points of this level's box are counted. */
static int32_t counted(const level_device *l, int32_t colour)
{
    return colour < 0 ? colour : (colour + l->parity) & 1;
}

/* x of the first sweep, which begins with 0. */
static spry_status begin_colour(const level_device *l, int32_t colour, spry_scalar omega,
                                device_memory *x)
{
    colour = counted(l, colour);
    const device_arg after[] = {DEVICE_VALUE(colour), DEVICE_VALUE(omega.re),
                                DEVICE_VALUE(omega.im), device_arg_memory(l->b),
                                device_arg_memory(x)};
    return launch_points(l, "a_begin", after, 5);
}

/* The points of a colour in place; all points (colour < 0) from x to another array. */
static spry_status relax(const level_device *l, int32_t colour, spry_scalar omega,
                         device_memory *to)
{
    colour = counted(l, colour);
    const device_arg after[] = {device_arg_memory(l->x), device_arg_memory(to),
                                device_arg_memory(l->b), DEVICE_VALUE(colour),
                                DEVICE_VALUE(omega.re),  DEVICE_VALUE(omega.im)};
    if (l->copy.lines == 0)
        return launch_points(l, "a_relax", after, 6);
    int32_t depth;
    const int64_t groups = stencil_march_groups(&l->copy, &depth);
    const device_arg before = DEVICE_VALUE(depth);
    return launch(l, "a_relax", groups, l->copy.room, &before, after, 6);
}

/* Both colours of the first sweep. */
static spry_status begin_both(const level_device *l, int32_t colour, double omega)
{
    int32_t depth;
    colour = counted(l, colour);
    const int64_t groups = stencil_march_groups(&l->copy, &depth);
    const device_arg before = DEVICE_VALUE(depth);
    const device_arg after[] = {device_arg_memory(l->b), device_arg_memory(l->x),
                                DEVICE_VALUE(colour), DEVICE_VALUE(omega)};
    return launch(l, "a_begin_both", groups, l->copy.room, &before, after, 4);
}

/* What was written to the other array is x. */
static void exchange(level_device *l)
{
    device_memory *x = l->other;
    l->other = l->x;
    l->x = x;
}

/* All points at once; x and the other array change places. */
static spry_status jacobi_sweep(level_device *l, spry_scalar omega, bool zero)
{
    const spry_status status =
        zero ? begin_colour(l, -1, omega, l->x) : relax(l, -1, omega, l->other);
    if (status == SPRY_STATUS_OK && !zero)
        exchange(l);
    return status;
}

/* Of colours. */
static double relaxation(const gmg *m)
{
    return m->options.omega > 0 ? m->options.omega : 1;
}

/* The numbers around this rank's are brought before each sweep, but for those that are right: after
 * going down those of x are, and with red and black points coming up leaves them so. */
static spry_status sweep(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    level_device *l = &m->device->level[level];
    const spry_scalar omega = {relaxation(m), 0};
    spry_status status = SPRY_STATUS_OK;
    if (sweeps == 0 && start == GMG_ZERO)
        return gmg_noted(
            m, device_clear(l->x, 0, m->level[level].count * (int64_t)spry_type_size(m->type)));
    for (int k = 0; k < sweeps && status == SPRY_STATUS_OK; k++, start = GMG_GIVEN) {
        const bool zero = start == GMG_ZERO;
        if (start == GMG_GIVEN || (start == GMG_FROM_BELOW && !m->redblack))
            SPRY_GO(m->ctx, bring_x(m, level));
        if (!m->redblack) {
            status = jacobi_sweep(l, gmg_weight(m, level, sweeps, k), zero);
            continue;
        }
        if (zero && begins_at_once(&l->copy)) {
            status = begin_both(l, back, omega.re);
            continue;
        }
        status = zero ? begin_colour(l, back, omega, l->x) : relax(l, back, omega, l->x);
        if (status == SPRY_STATUS_OK)
            status = relax(l, !back, omega, l->x);
    }
done:
    return status;
}

/* --- between levels ------------------------------------------------------------------------------
 */

void gmg_coarse_sizes(const gmg *m, int level, int32_t n[GRID_AXES], int32_t shift[GRID_AXES])
{
    const gmg_level *fine = &m->level[level], *coarse = fine + 1;
    for (int a = 0; a < GRID_AXES; a++) {
        const grid_axis *axis = &fine->s->shape.axis[a];
        const bool halved = axis->intervals != coarse->s->shape.axis[a].intervals;
        const int64_t on = halved ? 2 * coarse->box.begin[a] + axis->first : coarse->box.begin[a];
        n[a] = (int32_t)box_length(&coarse->box, a);
        shift[a] = (int32_t)(on - fine->box.begin[a]);
    }
}

/* Axes that are halved, a bit each; whether that is all of them. */
static int32_t halved_axes(const gmg *m, int level, bool *all)
{
    const grid_axis *fine = m->level[level].s->shape.axis,
                    *coarse = m->level[level + 1].s->shape.axis;
    const int dimensions = m->level[level].s->shape.dimensions;
    int32_t axes = 0;
    for (int a = 0; a < dimensions; a++)
        axes |= (fine[a].intervals != coarse[a].intervals) << a;
    *all = axes == (1 << dimensions) - 1;
    return axes;
}

/* The same along some axes: a coarse point per work-item. */
static spry_status thin_out(const gmg *m, int level, int32_t plain, int32_t red, int32_t halved)
{
    const level_device *l = &m->device->level[level];
    const int64_t positions = m->level[level + 1].count;
    int32_t n[GRID_AXES], shift[GRID_AXES];
    gmg_coarse_sizes(m, level, n, shift);
    const device_arg before = DEVICE_VALUE(positions);
    const device_arg after[] = {
        DEVICE_VALUE(n[0]),      DEVICE_VALUE(n[1]),      DEVICE_VALUE(n[2]),
        DEVICE_VALUE(shift[0]),  DEVICE_VALUE(shift[1]),  DEVICE_VALUE(shift[2]),
        DEVICE_VALUE(plain),     DEVICE_VALUE(red),       DEVICE_VALUE(halved),
        device_arg_memory(l->x), device_arg_memory(l->b), device_arg_memory(l[1].b)};
    return launch(l, "a_thin", (positions + STENCIL_GROUP - 1) / STENCIL_GROUP, 0, &before, after,
                  12);
}

static spry_status restrict_to(const gmg *m, int level, bool plain)
{
    enum { MOST_DEPTH = 16 };
    const level_device *l = &m->device->level[level];
    const int32_t as_it_is = plain;
    const bool half = !plain && m->redblack && relaxation(m) == 1 && m->options.pre > 0;
    const int32_t red = half ? 1 + (l->parity & 1) : 0;
    bool all;
    const int32_t halved = halved_axes(m, level, &all);
    if (!all)
        return thin_out(m, level, as_it_is, red, halved);
    const bool marches = l->copy.lines > 0;
    int32_t n[GRID_AXES], shift[GRID_AXES], depth = 0;
    int points[GRID_AXES];
    gmg_coarse_sizes(m, level, n, shift);
    coarse_points(&l->copy, points);
    int64_t groups =
        (int64_t)((n[0] + points[0] - 1) / points[0]) * ((n[1] + points[1] - 1) / points[1]);
    if (marches)
        points[2] = depth = stencil_march_depth(m->device->d, groups, n[2], MOST_DEPTH);
    groups *= (n[2] + points[2] - 1) / points[2];
    const device_arg before = DEVICE_VALUE(depth);
    const device_arg after[] = {
        DEVICE_VALUE(n[0]),      DEVICE_VALUE(n[1]),       DEVICE_VALUE(n[2]),
        DEVICE_VALUE(shift[0]),  DEVICE_VALUE(shift[1]),   DEVICE_VALUE(shift[2]),
        DEVICE_VALUE(as_it_is),  DEVICE_VALUE(red),        device_arg_memory(l->x),
        device_arg_memory(l->b), device_arg_memory(l[1].b)};
    return launch(l, "a_down", groups, marches ? l->copy.room : 0, marches ? &before : NULL, after,
                  11);
}

static spry_status down(const gmg *m, int level, bool plain)
{
    spry_status status = SPRY_STATUS_OK;
    if (!plain)
        SPRY_GO(m->ctx, bring_x(m, level));
    SPRY_GO(m->ctx, restrict_to(m, level, plain));
    SPRY_GO(m->ctx, bring(m, level + 1, m->device->level[level + 1].b));
done:
    return status;
}

/* zero: x is 0, whatever it holds */
static spry_status rise(const gmg *m, int level, bool zero)
{
    enum { MOST_DEPTH = 32 };
    const level_device *l = &m->device->level[level];
    const grid_axis *fine = l->copy.shape.axis;
    const int32_t fresh = zero;
    const int64_t across = (fine[0].unknowns + STENCIL_COLUMNS - 1) / STENCIL_COLUMNS *
                           ((fine[1].unknowns + STENCIL_ROWS - 1) / STENCIL_ROWS);
    const int32_t depth = stencil_march_depth(m->device->d, across, fine[2].unknowns, MOST_DEPTH);
    const device_arg before = DEVICE_VALUE(depth);
    int32_t n[GRID_AXES], shift[GRID_AXES];
    bool all;
    int32_t halved = halved_axes(m, level, &all);
    for (int a = 0; a < GRID_AXES; a++) {
        const grid_axis *axis = &m->level[level + 1].s->shape.axis[a];
        const bool round = axis->intervals > 0 && axis->face[0] == GRID_PERIODIC;
        halved |= (round && axis->ranks <= 1) << (GRID_AXES + a);
    }
    gmg_coarse_sizes(m, level, n, shift);
    const device_arg after[] = {DEVICE_VALUE(n[0]),        DEVICE_VALUE(n[1]),
                                DEVICE_VALUE(n[2]),        DEVICE_VALUE(shift[0]),
                                DEVICE_VALUE(shift[1]),    DEVICE_VALUE(shift[2]),
                                DEVICE_VALUE(fresh),       DEVICE_VALUE(halved),
                                device_arg_memory(l[1].x), device_arg_memory(l->x)};
    return launch(l, "a_up", across * ((fine[2].unknowns + depth - 1) / depth), 0, &before, after,
                  10);
}

/* x = x with what the next level has found, and both colours relaxed, in the other array: they
 * change places. */
static spry_status finish(const gmg *m, int level, int32_t colour, double omega)
{
    level_device *l = &m->device->level[level];
    int32_t depth, n[GRID_AXES], shift[GRID_AXES];
    const int64_t groups = stencil_march_groups(&l->copy, &depth);
    const device_arg before = DEVICE_VALUE(depth);
    colour = counted(l, colour);
    gmg_coarse_sizes(m, level, n, shift);
    const device_arg after[] = {
        DEVICE_VALUE(n[0]),      DEVICE_VALUE(n[1]),      DEVICE_VALUE(n[2]),
        DEVICE_VALUE(shift[0]),  DEVICE_VALUE(shift[1]),  DEVICE_VALUE(shift[2]),
        DEVICE_VALUE(colour),    DEVICE_VALUE(omega),     device_arg_memory(l[1].x),
        device_arg_memory(l->x), device_arg_memory(l->b), device_arg_memory(l->other)};
    const spry_status status =
        launch(l, "a_finish", groups, stencil_finish_room(&l->copy), &before, after, 12);
    if (status == SPRY_STATUS_OK)
        exchange(l);
    return status;
}

/* A member of the class: on the host it changes `start`. */
/* NOLINTNEXTLINE(readability-non-const-parameter) */
static spry_status guess(const gmg *m, int level, gmg_start *start)
{
    (void)start;
    const spry_status status = bring_x(m, level + 1);
    return status == SPRY_STATUS_OK ? rise(m, level, true) : status;
}

/* After the next level x += what that has found, with sweeps in one pass over memory where that is
 * possible. */
static spry_status smooth(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const bool whole = sweeps > 0 && m->device->level[level].finishes;
    spry_status status = SPRY_STATUS_OK;
    if (start != GMG_FROM_BELOW)
        return sweep(m, level, sweeps, back, start);
    SPRY_GO(m->ctx, bring_x(m, level + 1));
    SPRY_GO(m->ctx, whole ? finish(m, level, back, relaxation(m)) : rise(m, level, false));
    SPRY_GO(m->ctx,
            sweep(m, level, whole ? sweeps - 1 : sweeps, back, whole ? GMG_GIVEN : GMG_FROM_BELOW));
done:
    return status;
}

static void last_system(const gmg *m, spry_vector *b, spry_vector *x)
{
    const level_device *l = &m->device->level[m->count - 1];
    const int64_t n = m->level[m->count - 1].A->rows;
    *b = device_vector_over(m->device->d, m->type, n, l->b);
    *x = device_vector_over(m->device->d, m->type, n, l->x);
}

/* --- set-up --------------------------------------------------------------------------------------
 */

/* Where coming up is a march, x and the other array of the first level change places once: it
 * begins with the other, so that it ends with z. */
static spry_status begin(gmg *m, const spry_vector *r, spry_vector *z)
{
    level_device *first = &m->device->level[0];
    const bool turned = first->finishes && m->options.post > 0;
    device_memory *to = device_vector_memory(z);
    if (first->halo) {
        const spry_status status =
            gmg_device_copy_own(first->halo, false, device_vector_memory(r), first->b);
        return gmg_noted(m, status) == SPRY_STATUS_OK ? bring(m, 0, first->b) : status;
    }
    first->spare = first->other;
    first->b = device_vector_memory(r);
    first->x = turned ? first->spare : to;
    first->other = turned ? to : first->spare;
    return SPRY_STATUS_OK;
}

static spry_status end(gmg *m, spry_vector *z)
{
    level_device *first = &m->device->level[0];
    /* Another array than z: after an odd number of sweeps that do not work in place. */
    const spry_status status = gmg_device_give_x(first->halo, first->x, z);
    if (first->halo)
        return gmg_noted(m, status);
    first->other = first->spare;
    first->x = first->b = first->spare = NULL;
    return status;
}

/* Smoothers divide by the diagonal: where fields are none it is known between the ends. */
static bool diagonal_is_zero(const stencil_copy *c)
{
    double re = 0, im = 0;
    if (!c->inside || c->fields)
        return false;
    for (int t = 0; t < c->terms; t++)
        if (c->step[t][0] == 0 && c->step[t][1] == 0 && c->step[t][2] == 0) {
            re += c->number[t].re;
            im += c->number[t].im;
        }
    return re == 0 && im == 0;
}

static spry_status make_level(const gmg *m, int k, level_device *l)
{
    spry_context *ctx = m->ctx;
    spry_device *d = m->device->d;
    const gmg_level *from = &m->level[k];
    const int64_t bytes = from->count * (int64_t)spry_type_size(m->type);
    spry_status status = SPRY_STATUS_OK;
    l->ranked = m->ranked;
    l->parity = gmg_parity(from);
    if (k > 0 || from->shared != GMG_WHOLE) {
        SPRY_GO(ctx, device_alloc(d, bytes, &l->x));
        SPRY_GO(ctx, device_alloc(d, bytes, &l->b));
    }
    if (m->ranked) /* what is brought to before it was ever made */
        SPRY_GO(ctx, device_clear(l->x, 0, bytes));
    if (k == gmg_swept(m))
        goto done;
    SPRY_GO(ctx, stencil_put_fields(d, from->A, &l->fields));
    SPRY_GO(ctx, stencil_copy_make(d, from->A, &from->s->plain, l->fields, &l->copy));
    bool all = false;
    if (k + 1 < m->count)
        (void)halved_axes(m, k, &all);
    l->finishes = m->redblack && all && finishes(&l->copy);
    if (!m->redblack || l->finishes)
        SPRY_GO(ctx, device_alloc(d, bytes, &l->other));
    if (diagonal_is_zero(&l->copy))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "precon gmg: the diagonal of level %d is 0",
                         k);
done:
    return status;
}

/* The programs of all levels, when these exist. */
static spry_status build_all(const gmg *m)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < gmg_swept(m); k++)
        SPRY_GO(m->ctx, build(&m->device->level[k], &m->device->level[k].program));
done:
    return status;
}

static spry_status make(gmg *m)
{
    spry_context *ctx = m->ctx;
    spry_status status = base_calloc(ctx, 1, sizeof *m->device, &m->device);
    SPRY_GO(ctx, m->ranked ? team_agree(ctx, status) : status);
    m->device->d = m->place;
    for (int k = 0; k < m->count; k++) {
        level_device *l = &m->device->level[k];
        status = make_level(m, k, l);
        if (m->level[k].shared != GMG_WHOLE)
            status = gmg_device_halo_new(m->place, m->type, status, &m->level[k], &l->halo);
        SPRY_GO(ctx, status);
    }
    status = build_all(m);
    SPRY_GO(ctx, m->ranked ? team_agree(ctx, status) : status);
done:
    return status;
}

static void clear(gmg *m)
{
    for (int k = 0; m->device && k < m->count; k++) {
        level_device *l = &m->device->level[k];
        stencil_copy_clear(&l->copy);
        gmg_device_halo_free(l->halo);
        device_free(l->fields);
        device_free(l->other);
        if (k > 0 || m->level[k].shared != GMG_WHOLE) {
            device_free(l->x);
            device_free(l->b);
        }
    }
    base_free(m->ctx, m->device);
    m->device = NULL;
}

const gmg_steps gmg_device_steps = {.make = make,
                                    .free = clear,
                                    .begin = begin,
                                    .end = end,
                                    .smooth = smooth,
                                    .down = down,
                                    .guess = guess,
                                    .last_system = last_system};
