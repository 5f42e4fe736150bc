/*
 * Waves that come in, and sources. A Gaussian beam is the paraxial one (A. Siegman, Lasers, 1986,
 * ch. 16): near the axis it is a solution but for terms of 1 / (k waist)^2.
 */
#include "grid/blocks.h"

#include "grid/options.h"

#define SOURCE_OPTIONS(item)                                                                    \
    item(WORD, kind, "plane", 0, 0, "plane beam point",                                         \
         "a plane wave; a Gaussian beam; a point that sends waves out")                         \
    item(REAL, k, "0", 0, 1e300, NULL, "wave number, 2 pi over the wavelength; not for points") \
    item(TEXT, direction, "", 0, 0, NULL,                                                       \
         "where waves go, a number for each axis with colons between, of any length; empty: "   \
         "along the last axis")                                                                 \
    item(TEXT, at, "", 0, 0, NULL,                                                              \
         "place of a point, of a beam's focus, of a plane wave's phase 0, a number for each "   \
         "axis with colons between; empty: the middle of the box")                              \
    item(REAL, waist, "0", 0, 1e300, NULL,                                                      \
         "of a beam: the distance from its axis where it is 1/e, at the focus")                 \
    item(REAL, amplitude, "1", 0, 0, NULL, "what all is multiplied by")

typedef struct source_options {
    SOURCE_OPTIONS(SPRY_OPTION_FIELD)
} source_options;
enum { SOURCE_PLANE, SOURCE_BEAM, SOURCE_POINT };
SPRY_OPTION_TABLE(option_rows, source_options, SOURCE_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list field_wave_option_list(void)
{
    return option_list;
}

typedef struct source {
    const grid_shape *shape;
    source_options o;
    double direction[GRID_AXES], at[GRID_AXES];
} source;

/* A number for each axis, with colons between. */
static spry_status read_numbers(spry_context *ctx, const char *name, const char *text,
                                int dimensions, double numbers[GRID_AXES])
{
    const char *p = text, *end = text + strlen(text);
    int count = 0;
    while (count < dimensions && p) {
        p = base_parse_double(p, end, &numbers[count]);
        if (!p || !isfinite(numbers[count]))
            break;
        count++;
        if (p == end && count == dimensions)
            return SPRY_STATUS_OK;
        p = p < end && *p == ':' ? p + 1 : NULL;
    }
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s=%s: expected %d number%s with colons between",
                     name, text, dimensions, dimensions > 1 ? "s" : "");
}

static spry_status read_direction(spry_context *ctx, source *s)
{
    const int dimensions = s->shape->dimensions;
    double size = 0;
    s->direction[dimensions - 1] = 1;
    if (!s->o.direction[0])
        return SPRY_STATUS_OK;
    const spry_status status =
        read_numbers(ctx, "direction", s->o.direction, dimensions, s->direction);
    for (int a = 0; a < dimensions; a++)
        size = hypot(size, s->direction[a]);
    if (status == SPRY_STATUS_OK && !(size > 0 && isfinite(size)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "direction=%s: expected one that is not 0",
                         s->o.direction);
    for (int a = 0; a < dimensions; a++)
        s->direction[a] /= size;
    return status;
}

static spry_status read_place(spry_context *ctx, source *s)
{
    const int dimensions = s->shape->dimensions;
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < dimensions; a++)
        s->at[a] = (s->shape->axis[a].low + s->shape->axis[a].high) / 2;
    if (s->o.at[0])
        status = read_numbers(ctx, "at", s->o.at, dimensions, s->at);
    for (int a = 0; a < dimensions && status == SPRY_STATUS_OK; a++) {
        const grid_axis *axis = &s->shape->axis[a];
        if (s->o.kind == SOURCE_POINT && !(s->at[a] >= axis->low && s->at[a] <= axis->high))
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                               "the point is at %g along %c, outside of the box, %g to %g",
                               s->at[a], "xyz"[a], axis -> low, axis -> high);
        else if (s->o.kind == SOURCE_POINT && axis->given)
            status =
                SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                          "a point needs equal intervals, axis %c has points of its own", "xyz"[a]);
    }
    return status;
}

static spry_status check_kind(spry_context *ctx, spry_type type, const source_options *o)
{
    static const char *const kinds[] = {"plane", "beam", "point"};
    const bool point = o->kind == SOURCE_POINT;
    if (!point && !spry_type_is_complex(type))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "kind=%s is a complex field, the type is %s; take c or z", kinds[o->kind],
                         spry_type_name(type));
    if (!point && !(o->k > 0))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "kind=%s: k=%g, expected a wave number above 0", kinds[o->kind], o->k);
    if (o->kind == SOURCE_BEAM && !(o->waist > 0))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "kind=beam: waist=%g, expected one above 0",
                         o->waist);
    return SPRY_STATUS_OK;
}

/* 1 / h at the place and 0 from the next points on, around a periodic axis the shorter way. */
static double point_at(const source *s, const double place[GRID_AXES])
{
    double value = 1;
    for (int a = 0; a < s->shape->dimensions; a++) {
        const grid_axis *axis = &s->shape->axis[a];
        double steps = fabs(place[a] - s->at[a]) / axis->spacing;
        if (axis->face[0] == GRID_PERIODIC)
            steps = fmin(steps, (double)axis->intervals - steps);
        value *= fmax(0, 1 - steps) / axis->spacing;
    }
    return value;
}

/* u = (w0 / w)^((d - 1) / 2) exp(-r^2 / w^2 + i (k z + k z r^2 / (2 (z^2 + zr^2)) - (d - 1) / 2
 * atan(z / zr))), z along the axis from the focus, r from it, zr = k w0^2 / 2. */
static spry_scalar wave_at(const source *s, const double place[GRID_AXES])
{
    const source_options *o = &s->o;
    const int dimensions = s->shape->dimensions;
    double z = 0, r2 = 0, size = 1, phase;
    for (int a = 0; a < dimensions; a++)
        z += s->direction[a] * (place[a] - s->at[a]);
    for (int a = 0; a < dimensions; a++) {
        const double off = place[a] - s->at[a] - z * s->direction[a];
        r2 += off * off;
    }
    phase = o->k * z;
    if (o->kind == SOURCE_BEAM) {
        const double rayleigh = o->k * o->waist * o->waist / 2, t = z / rayleigh;
        const double width2 = o->waist * o->waist * (1 + t * t), power = (dimensions - 1) / 2.0;
        size = pow(1 + t * t, -power / 2) * exp(-r2 / width2);
        phase += o->k * z * r2 / (2 * (z * z + rayleigh * rayleigh)) - power * atan(t);
    }
    const double re = size * cos(phase), im = size * sin(phase);
    return (spry_scalar){re, im};
}

static void source_value(void *data, const double *place, spry_scalar *value)
{
    const source *s = data;
    *value = s->o.kind == SOURCE_POINT ? (spry_scalar){point_at(s, place), 0} : wave_at(s, place);
    value->re *= s->o.amplitude;
    value->im *= s->o.amplitude;
}

spry_status spry_field_wave(const spry_grid *grid, spry_type type, bool all_points,
                            const char *options, spry_vector **field)
{
    SPRY_NEED(CTX_OF(grid), grid, field);
    spry_context *ctx = grid->ctx;
    source s = {.shape = &grid->shape};
    spry_status status = SPRY_STATUS_OK;
    *field = NULL;
    SPRY_GO(ctx, options_take(ctx, option_list, &s.o, options));
    SPRY_GO(ctx, base_check_type(ctx, type));
    SPRY_GO(ctx, check_kind(ctx, type, &s.o));
    SPRY_GO(ctx, read_direction(ctx, &s));
    SPRY_GO(ctx, read_place(ctx, &s));
    SPRY_GO(ctx, spry_field_new(grid, type, all_points, source_value, &s, field));
done:
    return status;
}
