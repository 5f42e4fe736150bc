/*
 * Absorbing layers: the intervals before a face in which what arrives is to die out, so that
 * little of it comes back. An operator does that by a coefficient; its profile is 0 where the layer
 * begins and rises towards the face, as a power of the depth, since a sudden change would throw
 * waves back itself.
 */
#include "grid/blocks.h"

#include "grid/options.h"

#define ABSORB_OPTIONS(item)                                                                      \
    item(WORD, kind, "rate", 0, 0, "rate stretch pml",                                            \
         "rate: strength t^power with the depth t of 0 to 1, for terms such as -a*u; stretch: 1 " \
         "/ s with s = 1 + i strength t^power, of complex types, for a*dx of waves exp(-i omega " \
         "t); pml: of layers that are perfectly matched, with axis=x s_y s_z / s_x, for "         \
         "dx(a*dx), with axis=all s_x s_y s_z, for what has no derivative")                       \
    item(WORD, axis, "all", 0, 0, "all x y z",                                                    \
         "axis whose layers count; of all rates are added up, and stretches multiplied")          \
    item(REAL, strength, "1", 0, 0, NULL, "at the face")                                          \
    item(REAL, power, "2", 0, 16, NULL, "of the depth")

typedef struct absorb_options {
    ABSORB_OPTIONS(SPRY_OPTION_FIELD)
} absorb_options;
enum { ABSORB_RATE, ABSORB_STRETCH, ABSORB_PML };
SPRY_OPTION_TABLE(option_rows, absorb_options, ABSORB_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list absorb_option_list(void)
{
    return option_list;
}

/* The profile at a place of an axis, between its two layers 0. */
static double profile_at(const grid_axis *axis, const absorb_options *o, double x)
{
    for (int side = 0; side < 2; side++) {
        const double face = side == 0 ? axis->low : axis->high;
        const int64_t begin = side == 0 ? axis->layer[0] : axis->intervals - axis->layer[1];
        const double from = grid_coordinate(axis, begin);
        if (axis->layer[side] > 0 && (side == 0 ? x < from : x > from))
            return o->strength * pow((x - from) / (face - from), o->power);
    }
    return 0;
}

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static spry_scalar absorb_at(const grid_shape *shape, const absorb_options *o,
                             const double place[GRID_AXES])
{
    spry_scalar value = {o->kind != ABSORB_RATE, 0};
    for (int a = 0; a < shape->dimensions; a++) {
        const bool named = o->axis == 0 || o->axis == a + 1;
        const double p = profile_at(&shape->axis[a], o, place[a]);
        const spry_scalar s = {1, p}, over = {1 / (1 + p * p), -p / (1 + p * p)}; /* 1 / s */
        if (o->kind == ABSORB_PML)
            value = times(value, o->axis == a + 1 ? over : s);
        else if (o->kind == ABSORB_STRETCH && named)
            value = times(value, over);
        else if (named)
            value.re += p;
    }
    return value;
}

spry_status spry_field_absorb(const spry_grid *grid, spry_type type, const char *options,
                              spry_vector **field)
{
    SPRY_NEED(CTX_OF(grid), grid, field);
    absorb_options o;
    spry_status status = SPRY_STATUS_OK;
    *field = NULL;
    SPRY_GO(grid->ctx, options_take(grid->ctx, option_list, &o, options));
    SPRY_GO(grid->ctx, base_check_type(grid->ctx, type));
    if (o.kind != ABSORB_RATE && !spry_type_is_complex(type))
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_BAD_USAGE,
                         "kind=%s is a complex field, the type is %s; take c or z",
                         o.kind == ABSORB_STRETCH ? "stretch" : "pml", spry_type_name(type));
    if (o.axis > grid->shape.dimensions)
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_BAD_USAGE, "axis=%c: the grid has no such axis",
                         "xyz"[o.axis - 1]);
    const grid_box own = grid_own(grid->ctx, &grid->shape, true);
    status = vector_new_at(grid->ctx, NULL, type, box_count(&own), field);
    SPRY_GO(grid->ctx, grid_agree(grid->ctx, &grid->shape, status));
    (*field)->part = grid_part(grid->ctx, &grid->shape, true);
    for (int64_t i = 0; i < box_count(&own); i++) {
        double place[GRID_AXES];
        grid_place(&grid->shape, true, &own, i, place);
        value_set(type, (*field)->data, i, absorb_at(&grid->shape, &o, place));
    }
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*field);
        *field = NULL;
    }
    return status;
}
