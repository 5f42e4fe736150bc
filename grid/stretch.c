/*
 * Points that are not as far apart everywhere: given as numbers, or made by a rule of the grid's
 * text.
 */
#include "grid/blocks.h"

void grid_hold(const grid_shape *shape)
{
    for (int a = 0; a < shape->dimensions; a++)
        if (shape->axis[a].given)
            atomic_fetch_add(&shape->axis[a].given->users, 1);
}

static void drop_points(spry_context *ctx, grid_points *points)
{
    if (points && atomic_fetch_sub(&points->users, 1) == 1)
        base_free(ctx, points);
}

void grid_drop(spry_context *ctx, const grid_shape *shape)
{
    for (int a = 0; a < shape->dimensions; a++)
        drop_points(ctx, shape->axis[a].given);
}

static spry_status check_points(spry_context *ctx, char name, int64_t count, const double *at)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(at[i]) || (i > 0 && !(at[i - 1] < at[i])))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "point %" PRId64 " along %c is %g%s; each point has to be a finite "
                             "number above the one before",
                             i, name, at[i],
                             i > 0 && isfinite(at[i]) ? ", not above the last" : "");
    if (!isfinite(at[count - 1] - at[0]))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "the points along %c are too far apart", name);
    return SPRY_STATUS_OK;
}

/* Gives an axis the points `made`, which it owns then. */
static void take_points(spry_context *ctx, grid_points *made, grid_axis *axis)
{
    drop_points(ctx, axis->given);
    atomic_init(&made->users, 1);
    axis->given = made;
    axis->stride = 1;
    axis->low = made->at[0];
    axis->high = made->at[axis->intervals];
    axis->spacing = (axis->high - axis->low) / (double)axis->intervals;
}

/* The same, also when that fails. */
static spry_status set_points(spry_context *ctx, char name, grid_points *made, grid_axis *axis)
{
    const spry_status status = check_points(ctx, name, axis->intervals + 1, made->at);
    if (status == SPRY_STATUS_OK)
        take_points(ctx, made, axis);
    else
        base_free(ctx, made);
    return status;
}

static spry_status new_points(spry_context *ctx, const grid_axis *axis, grid_points **points)
{
    const int64_t bytes =
        (int64_t)sizeof **points + (axis->intervals + 1) * (int64_t)sizeof(double);
    return base_alloc(ctx, bytes, 1, points);
}

/* A copy of what a caller gives. */
static spry_status copy_points(const spry_grid *grid, int axis, int64_t count, const double *points,
                               grid_points **made)
{
    if (axis < 0 || axis >= grid->shape.dimensions)
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_BAD_USAGE, "axis %d, the grid has axes 0 to %d",
                         axis, grid->shape.dimensions - 1);
    const grid_axis *to = &grid->shape.axis[axis];
    if (count != to->intervals + 1)
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " points along %c, expected both ends of all %" PRId64
                         " intervals: %" PRId64,
                         count, "xyz"[axis], to -> intervals, to -> intervals + 1);
    spry_status status = check_points(grid->ctx, "xyz"[axis], count, points);
    if (status == SPRY_STATUS_OK)
        status = new_points(grid->ctx, to, made);
    if (status == SPRY_STATUS_OK)
        memcpy((*made)->at, points, (size_t)count * sizeof *points);
    return status;
}

/* Fails on all ranks where one was given others: their sum of marks is not this one's times
 * the number of ranks. */
static spry_status compare_points(spry_context *ctx, int axis, int64_t count, const double *points)
{
    uint64_t mark = UINT64_C(0xcbf29ce484222325) + (uint64_t)axis; /* FNV-1a */
    int64_t sum = 0;
    spry_status status = SPRY_STATUS_OK;
    for (size_t k = 0; k < (size_t)count * sizeof *points; k++)
        mark = (mark ^ ((const unsigned char *)points)[k]) * UINT64_C(0x100000001b3);
    const int64_t mine = (int64_t)(mark >> 33);
    SPRY_GO(ctx, team_sum(ctx, mine, &sum));
    if (sum != mine * team_ranks(ctx))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "ranks give different points along %c: all of them give those of the "
                           "whole axis",
                           "xyz"[axis]);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}

spry_status spry_grid_set_points(spry_grid *grid, int axis, int64_t count, const double *points)
{
    SPRY_NEED(CTX_OF(grid), grid, points);
    spry_context *ctx = grid->ctx;
    grid_points *made = NULL;
    spry_status status = copy_points(grid, axis, count, points, &made);
    SPRY_GO(ctx, grid_agree(ctx, &grid->shape, status));
    if (grid_is_cut(&grid->shape))
        SPRY_GO(ctx, compare_points(ctx, axis, count, points));
    take_points(ctx, made, &grid->shape.axis[axis]);
    made = NULL;
done:
    base_free(ctx, made);
    return status;
}

/* --- rules ---------------------------------------------------------------------------------------
 */

/* Places in 0..1 that are near each other at both ends: those of Chebyshev's polynomials. */
static double by_cosine(const grid_axis *axis, int64_t i)
{
    const double s = sin(acos(-1) * (double)i / (double)(2 * axis->intervals));
    return s * s;
}

/* Intervals that are each `ratio` times the one before. */
static double by_ratio(const grid_axis *axis, int64_t i, double ratio)
{
    const double step = log(ratio);
    return ratio == 1 ? (double)i / (double)axis->intervals
                      : expm1(step * (double)i) / expm1(step * (double)axis->intervals);
}

static spry_status stretch_axis(spry_context *ctx, char name, double ratio, grid_axis *axis)
{
    grid_points *made = NULL;
    const double low = axis->low, high = axis->high;
    const spry_status status = new_points(ctx, axis, &made);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i <= axis->intervals; i++) {
        const double t = ratio > 0 ? by_ratio(axis, i, ratio) : by_cosine(axis, i);
        made->at[i] = i == axis->intervals ? high : low + (high - low) * t;
    }
    return set_points(ctx, name, made, axis);
}

spry_status grid_stretch(spry_context *ctx, const char *text, grid_shape *shape)
{
    static const char ratio_word[] = "ratio:", cosine_word[] = "cosine";
    const char *p = text, *end = text + strlen(text);
    while (p < end) {
        const int axis = p[0] >= 'x' && p[0] <= 'z' && p[1] == ':' ? p[0] - 'x' : GRID_AXES;
        const char *rule = p + 2, *after = NULL;
        double ratio = 0;
        if (axis < GRID_AXES && strncmp(rule, cosine_word, strlen(cosine_word)) == 0) {
            after = rule + strlen(cosine_word);
        } else if (axis < GRID_AXES && strncmp(rule, ratio_word, strlen(ratio_word)) == 0) {
            after = base_parse_double(rule + strlen(ratio_word), end, &ratio);
            after = ratio > 0 && isfinite(ratio) ? after : NULL;
        }
        if (!after || (after < end && *after != ','))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "stretch=%s: expected AXIS:cosine or AXIS:ratio:NUMBER of some axes, "
                             "with commas between, as in y:cosine,z:ratio:1.1",
                             text);
        if (axis >= shape->dimensions)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "stretch=%s: the grid has no axis %c",
                             text, *p);
        const spry_status status = stretch_axis(ctx, *p, ratio, &shape->axis[axis]);
        if (status != SPRY_STATUS_OK)
            return status;
        p = after < end ? after + 1 : end;
    }
    return SPRY_STATUS_OK;
}
