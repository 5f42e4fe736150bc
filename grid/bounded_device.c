/*
 * Steps with lower bounds on a device. Least traffic: relaxing a colour reads x, b and bounds and
 * writes x; going down reads them and writes an eighth of two vectors; coming up reads bounds and
 * x and writes x. Levels share a program, as those of gmg do, and on ranks all of a level's box is
 * made, as in gmg_device.c.
 */
#include "grid/bounded.h"

#include "device/linalg/vector.h"
#include "grid/gmg_device.h"

typedef struct bounded_level {
    device_memory *fields;
    stencil_copy copy;
    device_program *program;
    device_memory *x, *b, *lower; /* of the first one the caller's, unless it is cut or joined */
    int32_t parity;               /* of the first point, counted over the whole grid */
    gmg_device_halo *halo;        /* NULL: the level is whole */
} bounded_level;

enum { MOST_GROUPS = 1024 };
typedef struct bounded_device {
    spry_device *d;
    bounded_level level[GMG_LEVELS];
    device_memory *other; /* where Richardson's method puts the next x */
    device_memory *found; /* two numbers of each group */
    double *numbers;      /* the same on the host */
} bounded_device;

/* --- launches ------------------------------------------------------------------------------------
 */

static const stencil_march relax_march = {
    .kernel = "relax",
    .args = "SP_GLOBAL scalar *to, SP_GLOBAL const scalar *b, SP_GLOBAL const scalar *lower, "
            "const int colour, const double gamma",
    .on = "colour < 0 || ((i + j + k + colour) & 1) == 0",
    .ends = true,
    .value =
        "bound_project(lower[row], fma(gamma > 0 ? (real)gamma : 1 / own, b[row] - sum, here))",
    .put = "to[row] = value;"};

void bounded_device_put(base_text *t, const stencil_copy *c)
{
    const stencil_writing w = {
        .written = stencil_is_written(c), .group = STENCIL_GROUP, .prefix = "a_"};
    stencil_put_words(t, c, &w);
    stencil_put_text(t, "bounded");
    if (c->lines > 0)
        stencil_put_march(t, &relax_march);
}

static spry_status build(const bounded_level *l, device_program **p)
{
    return stencil_build(&l->copy, bounded_device_put, true, p);
}

static spry_status launch(const spry_bounded *s, const bounded_level *l, const char *kernel,
                          int64_t groups, const device_arg *before, const device_arg *after,
                          int count)
{
    return gmg_noted(&s->m,
                     stencil_launch(&l->copy, l->program, kernel, groups, 0, before, after, count));
}

/* Fills the box of a level around what is this rank's; nothing where levels are whole. */
static spry_status bring(const spry_bounded *s, int level, device_memory *box)
{
    gmg_device_halo *halo = s->device->level[level].halo;
    return halo ? gmg_noted(&s->m, gmg_device_halo_exchange(halo, box)) : SPRY_STATUS_OK;
}

static spry_status bring_x(const spry_bounded *s, int level)
{
    return s->m.level[level].shared == GMG_CUT ? bring(s, level, s->device->level[level].x)
                                               : SPRY_STATUS_OK;
}

/* --- steps ---------------------------------------------------------------------------------------
 */

/* The points of a colour in place; all points (colour < 0) to another array. gamma 0: 1 / a_ii. */
static spry_status relax(const spry_bounded *s, const bounded_level *l, int32_t colour,
                         double gamma, device_memory *to)
{
    colour = colour < 0 ? colour : (colour + l->parity) & 1;
    const bool marches = l->copy.lines > 0;
    const int64_t positions = stencil_positions(&l->copy, STENCIL_GROUP);
    int32_t depth = 0;
    const int64_t groups =
        marches ? stencil_march_groups(&l->copy, &depth) : positions / STENCIL_GROUP;
    const device_arg before = marches ? DEVICE_VALUE(depth) : DEVICE_VALUE(positions);
    const device_arg after[] = {device_arg_memory(l->x), device_arg_memory(to),
                                device_arg_memory(l->b), device_arg_memory(l->lower),
                                DEVICE_VALUE(colour),    DEVICE_VALUE(gamma)};
    return gmg_noted(&s->m, stencil_launch(&l->copy, l->program, "a_relax", groups,
                                           marches ? l->copy.room : 0, &before, after, 6));
}

static spry_status up(const spry_bounded *s, int level)
{
    const bounded_level *l = &s->device->level[level];
    const int64_t positions = stencil_positions(&l->copy, STENCIL_GROUP);
    const int32_t truncates = s->m.truncates;
    int32_t n[GRID_AXES], shift[GRID_AXES];
    gmg_coarse_sizes(&s->m, level, n, shift);
    const device_arg before = DEVICE_VALUE(positions);
    const device_arg after[] = {DEVICE_VALUE(n[0]),          DEVICE_VALUE(n[1]),
                                DEVICE_VALUE(n[2]),          DEVICE_VALUE(shift[0]),
                                DEVICE_VALUE(shift[1]),      DEVICE_VALUE(shift[2]),
                                DEVICE_VALUE(truncates),     device_arg_memory(l[1].x),
                                device_arg_memory(l->lower), device_arg_memory(l->x)};
    return launch(s, l, "a_up", positions / STENCIL_GROUP, &before, after, 10);
}

static spry_status down(spry_bounded *s, int level)
{
    const bounded_level *l = &s->device->level[level];
    const int32_t truncates = s->m.truncates;
    int32_t n[GRID_AXES], shift[GRID_AXES];
    gmg_coarse_sizes(&s->m, level, n, shift);
    const int64_t groups = ((int64_t)n[0] * n[1] * n[2] + STENCIL_GROUP - 1) / STENCIL_GROUP;
    const device_arg after[] = {
        DEVICE_VALUE(n[0]),          DEVICE_VALUE(n[1]),        DEVICE_VALUE(n[2]),
        DEVICE_VALUE(shift[0]),      DEVICE_VALUE(shift[1]),    DEVICE_VALUE(shift[2]),
        DEVICE_VALUE(truncates),     device_arg_memory(l->x),   device_arg_memory(l->b),
        device_arg_memory(l->lower), device_arg_memory(l[1].b), device_arg_memory(l[1].lower)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, bring_x(s, level));
    SPRY_GO(s->ctx, launch(s, l, "a_down", groups, NULL, after, 12));
    SPRY_GO(s->ctx, bring(s, level + 1, l[1].b));
    SPRY_GO(s->ctx, bring(s, level + 1, l[1].lower));
done:
    return status;
}

/* The numbers around this rank's are brought before each sweep, but for the first from 0 and that
 * after coming up: going down has brought those of x. */
static spry_status smooth(spry_bounded *s, int level, int sweeps, gmg_start start)
{
    const bounded_level *l = &s->device->level[level];
    const int back = start == GMG_FROM_BELOW;
    const int64_t bytes = s->m.level[level].count * (int64_t)spry_type_size(s->m.type);
    spry_status status = SPRY_STATUS_OK;
    if (start == GMG_ZERO)
        SPRY_GO(s->ctx, gmg_noted(&s->m, device_clear(l->x, 0, bytes)));
    if (start == GMG_FROM_BELOW) {
        SPRY_GO(s->ctx, bring_x(s, level + 1));
        SPRY_GO(s->ctx, up(s, level));
    }
    for (int k = 0; k < 2 * sweeps; k++) {
        if (k % 2 == 0 && (k > 0 || start == GMG_GIVEN))
            SPRY_GO(s->ctx, bring_x(s, level));
        SPRY_GO(s->ctx, relax(s, l, (k + back) % 2, 0, l->x));
    }
done:
    return status;
}

static spry_status richardson(spry_bounded *s)
{
    bounded_level *l = &s->device->level[0];
    device_memory *to = s->device->other;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, bring_x(s, 0));
    SPRY_GO(s->ctx, relax(s, l, -1, s->gamma, to));
    s->device->other = l->x;
    l->x = to;
done:
    return status;
}

static spry_status measure(spry_bounded *s, double *residual, int64_t *contacts)
{
    const bounded_device *on_device = s->device;
    const bounded_level *l = &on_device->level[0];
    const int64_t positions = stencil_positions(&l->copy, STENCIL_GROUP);
    const int64_t all = positions / STENCIL_GROUP;
    const int64_t groups = all < MOST_GROUPS ? all : MOST_GROUPS;
    const gmg_level *from = &s->m.level[0];
    int32_t first[GRID_AXES], past[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++) {
        first[a] = (int32_t)(from->rows.begin[a] - from->box.begin[a]);
        past[a] = (int32_t)(from->rows.end[a] - from->box.begin[a]);
    }
    const device_arg before = DEVICE_VALUE(positions);
    const device_arg after[] = {DEVICE_VALUE(first[0]),      DEVICE_VALUE(first[1]),
                                DEVICE_VALUE(first[2]),      DEVICE_VALUE(past[0]),
                                DEVICE_VALUE(past[1]),       DEVICE_VALUE(past[2]),
                                device_arg_memory(l->x),     device_arg_memory(l->b),
                                device_arg_memory(l->lower), device_arg_memory(on_device->found)};
    spry_status status = SPRY_STATUS_OK;
    *residual = 0;
    *contacts = 0;
    SPRY_GO(s->ctx, bring_x(s, 0));
    SPRY_GO(s->ctx, launch(s, l, "a_complement", groups, &before, after, 10));
    SPRY_GO(s->ctx, gmg_noted(&s->m, device_get(on_device->found, 0, on_device->numbers,
                                                2 * groups * (int64_t)sizeof *on_device->numbers)));
    for (int64_t g = 0; g < groups; g++) {
        *residual = bounded_larger(*residual, on_device->numbers[2 * g]);
        *contacts += (int64_t)on_device->numbers[2 * g + 1];
    }
done:
    return status;
}

/* --- set-up --------------------------------------------------------------------------------------
 */

/* Whether vectors of a level are this object's. */
static bool owns(const spry_bounded *s, int k)
{
    return k > 0 || s->m.level[k].shared != GMG_WHOLE;
}

static spry_status make_level(const spry_bounded *s, int k, bounded_level *l)
{
    spry_device *d = s->device->d;
    const spry_operator *A = s->m.level[k].A;
    const int64_t bytes = s->m.level[k].count * (int64_t)spry_type_size(s->m.type);
    spry_status status = SPRY_STATUS_OK;
    l->parity = gmg_parity(&s->m.level[k]);
    if (owns(s, k)) {
        SPRY_GO(s->ctx, device_alloc(d, bytes, &l->x));
        SPRY_GO(s->ctx, device_alloc(d, bytes, &l->b));
        SPRY_GO(s->ctx, device_alloc(d, bytes, &l->lower));
    }
    SPRY_GO(s->ctx, stencil_put_fields(d, A, &l->fields));
    SPRY_GO(s->ctx, stencil_copy_make(d, A, &s->m.level[k].s->plain, l->fields, &l->copy));
done:
    return status;
}

static spry_status open(spry_bounded *s)
{
    spry_context *ctx = s->ctx;
    spry_device *d = s->m.place;
    const int64_t numbers = 2 * (int64_t)MOST_GROUPS;
    spry_status status = SPRY_STATUS_OK;
    status = base_calloc(ctx, 1, sizeof *s->device, &s->device);
    SPRY_GO(ctx, s->m.ranked ? team_agree(ctx, status) : status);
    s->device->d = d;
    for (int k = 0; k < s->m.count; k++) {
        bounded_level *l = &s->device->level[k];
        status = make_level(s, k, l);
        if (s->m.level[k].shared != GMG_WHOLE)
            status = gmg_device_halo_new(d, s->m.type, status, &s->m.level[k], &l->halo);
        SPRY_GO(ctx, status);
    }
    for (int k = 0; k < s->m.count; k++)
        SPRY_GO(ctx, build(&s->device->level[k], &s->device->level[k].program));
    if (s->o.method == BOUNDED_RICHARDSON)
        SPRY_GO(ctx, device_alloc(d, s->m.level[0].count * (int64_t)spry_type_size(s->m.type),
                                  &s->device->other));
    SPRY_GO(ctx, device_alloc(d, numbers * (int64_t)sizeof *s->device->numbers, &s->device->found));
    SPRY_GO(ctx, base_calloc(ctx, numbers, sizeof *s->device->numbers, &s->device->numbers));
done:
    return status;
}

static void close(spry_bounded *s)
{
    if (!s->device)
        return;
    for (int k = 0; k < s->m.count; k++) {
        bounded_level *l = &s->device->level[k];
        stencil_copy_clear(&l->copy);
        gmg_device_halo_free(l->halo);
        device_free(l->fields);
        if (owns(s, k)) {
            device_free(l->x);
            device_free(l->b);
            device_free(l->lower);
        }
    }
    device_free(s->device->other);
    device_free(s->device->found);
    base_free(s->ctx, s->device->numbers);
    base_free(s->ctx, s->device);
}

/* An array of the first level from the caller's. */
static spry_status take(const spry_bounded *s, const spry_vector *given, device_memory *box)
{
    (void)gmg_noted(&s->m, gmg_device_copy_own(s->device->level[0].halo, false,
                                               device_vector_memory(given), box));
    return bring(s, 0, box);
}

static spry_status begin(spry_bounded *s, const spry_vector *b, const spry_vector *lower,
                         spry_vector *x)
{
    bounded_level *first = &s->device->level[0];
    const int64_t n = s->m.level[0].count;
    spry_status status = SPRY_STATUS_OK;
    if (first->halo) {
        SPRY_GO(s->ctx, take(s, b, first->b));
        SPRY_GO(s->ctx, take(s, lower, first->lower));
        SPRY_GO(s->ctx, take(s, x, first->x));
    } else {
        first->b = device_vector_memory(b);
        first->lower = device_vector_memory(lower);
        first->x = device_vector_memory(x);
    }
    const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(first->lower),
                               device_arg_memory(first->x)};
    status = gmg_noted(&s->m, device_launch(first->program, "a_project", NULL,
                                            (n + STENCIL_GROUP - 1) / STENCIL_GROUP, STENCIL_GROUP,
                                            args, 3));
done:
    return status;
}

static spry_status end(spry_bounded *s, spry_vector *x)
{
    bounded_level *first = &s->device->level[0];
    const spry_status status = gmg_device_give_x(first->halo, first->x, x);
    if (first->halo)
        return status;
    if (first->x != device_vector_memory(x)) /* an odd number of Richardson's iterations */
        s->device->other = first->x;
    first->x = first->b = first->lower = NULL;
    return status;
}

/* The kernels know one bound. */
static spry_status set_upper(spry_bounded *s, const spry_vector *upper)
{
    if (!upper)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(s->ctx, SPRY_STATUS_UNSUPPORTED,
                     "upper bounds are handled on the host alone, the operator is on %s",
                     place_name(s->m.place));
}

const bounded_place bounded_on_device = {.open = open,
                                         .close = close,
                                         .begin = begin,
                                         .end = end,
                                         .smooth = smooth,
                                         .down = down,
                                         .richardson = richardson,
                                         .set_upper = set_upper,
                                         .measure = measure};
