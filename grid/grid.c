/* Grids as objects, and fields over them. */
#include "grid/blocks.h"

#include "grid/options.h"

#define GRID_OPTIONS(item)                                                                   \
    item(TEXT, box, "0:1", 0, 0, NULL,                                                       \
         "where each axis begins and ends: 0:1,0:1,0:2; axes that are not named are as the " \
         "last")                                                                             \
    item(TEXT, boundary, "dirichlet", 0, 0, NULL,                                            \
         "what is known at all faces: " GRID_FACES "; robin(a,b) is a u + b du/dn")          \
    item(TEXT, x, "", 0, 0, NULL,                                                            \
         "what is known at the two faces of x: one word, or two with a colon, "              \
         "neumann:dirichlet, robin(2):neumann")                                              \
    item(TEXT, y, "", 0, 0, NULL, "the same for y")                                          \
    item(TEXT, z, "", 0, 0, NULL, "the same for z")                                          \
    item(INT, layer, "8", 1, 1e9, NULL,                                                      \
         "intervals of an absorbing layer before a face that is named absorb")               \
    item(TEXT, stretch, "", 0, 0, NULL,                                                      \
         "axes whose intervals differ: x:cosine has them short at both ends, z:ratio:1.1 "   \
         "each 1.1 times the one before; with commas between")                               \
    item(TEXT, ranks, "auto", 0, 0, NULL,                                                    \
         "on ranks, how many blocks each axis is cut into: 1x2x2; auto has small faces and " \
         "cuts x last; none: every rank has the whole grid for itself")

typedef struct grid_options {
    GRID_OPTIONS(SPRY_OPTION_FIELD)
} grid_options;

SPRY_OPTION_TABLE(option_rows, grid_options, GRID_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list grid_option_list(void)
{
    return option_list;
}

/* "128x128" up to a blank; *rest is what follows. */
static spry_status read_sizes(spry_context *ctx, const char *text, grid_shape *shape,
                              const char **rest)
{
    const char *p = text + strspn(text, " \t\n"), *end = p + strcspn(p, " \t\n");
    *rest = end;
    for (;; p++) {
        int64_t n;
        const char *after = base_parse_int(p, end, &n);
        if (!after || (after < end && *after != 'x'))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "a grid begins with its intervals along each axis, as in 64x64; "
                             "\"%.32s\" does not",
                             text);
        if (shape->dimensions == GRID_AXES)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "a grid has three axes at most: \"%.64s\"",
                             text);
        if (n < 1 || n > INT32_MAX)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "%" PRId64 " intervals along %c, expected 1 to %d", n,
                             "xyz"[shape->dimensions], INT32_MAX);
        shape->axis[shape->dimensions++].intervals = n;
        p = after;
        if (p == end)
            return SPRY_STATUS_OK;
    }
}

static spry_status read_box(spry_context *ctx, const char *text, grid_shape *shape)
{
    const char *p = text, *end = text + strlen(text);
    for (int a = 0; a < shape->dimensions; a++) {
        grid_axis *axis = &shape->axis[a];
        if (p == end && a > 0) {
            axis->low = shape->axis[a - 1].low;
            axis->high = shape->axis[a - 1].high;
            continue;
        }
        const char *colon = base_parse_double(p, end, &axis->low);
        const char *after = colon && colon < end && *colon == ':'
                                ? base_parse_double(colon + 1, end, &axis->high)
                                : NULL;
        if (!after || (after < end && *after != ','))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "box=%s: expected LOW:HIGH of each axis, with commas between", text);
        if (!(axis->low < axis->high) || !isfinite(axis->high - axis->low))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "box=%s: axis %c has to end after it begins", text, "xyz"[a]);
        p = after < end ? after + 1 : end;
    }
    return p == end ? SPRY_STATUS_OK
                    : SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                                "box=%s has more axes than the grid, %d", text, shape->dimensions);
}

/* The numbers a, b of robin(a,b) up to `end`; b is 1 where it is not given. */
static spry_status read_robin(spry_context *ctx, const char *text, const char *end, grid_axis *axis,
                              int side)
{
    double a, b = 1;
    const char *p =
        *text == '(' && end[-1] == ')' ? base_parse_double(text + 1, end - 1, &a) : NULL;
    if (p && *p == ',')
        p = base_parse_double(p + 1, end - 1, &b);
    if (!p || p != end - 1)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "robin%.*s: expected robin(a) for a u + du/dn, or robin(a,b) for a u + b "
                         "du/dn, with numbers",
                         (int)(end - text), text);
    axis->robin[side] = a / b;
    axis->unit[side] = b;
    return b != 0 && isfinite(a) && isfinite(b) && isfinite(a / b)
               ? SPRY_STATUS_OK
               : SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "robin%.*s: a and b have to be finite, and b not 0 (a known value is "
                           "dirichlet)",
                           (int)(end - text), text);
}

/* The face of an end by its text, up to `end`. */
static spry_status read_face(spry_context *ctx, const char *what, const char *text, const char *end,
                             int64_t layer, grid_axis *axis, int side)
{
    char word[SPRY_OPTION_TEXT_SIZE];
    const size_t length = strcspn(text, ":(");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    const int found = base_find_word(GRID_FACES, word);
    if (found < 0)
        return base_unknown_word(ctx, what, word, GRID_FACES);
    axis->face[side] = found == GRID_ABSORB  ? GRID_DIRICHLET
                       : found == GRID_ROBIN ? GRID_NEUMANN
                                             : (grid_face)found;
    axis->layer[side] = found == GRID_ABSORB ? layer : 0;
    axis->robin[side] = 0;
    axis->unit[side] = 1;
    if (found == GRID_ROBIN)
        return read_robin(ctx, text + length, end, axis, side);
    return text + length == end
               ? SPRY_STATUS_OK
               : SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "%s=%s: numbers belong to robin alone, as robin(2)", what, text);
}

/* One text for both faces of an axis, or two with a colon between. */
static spry_status read_faces(spry_context *ctx, const char *what, const char *text, int64_t layer,
                              grid_axis *axis)
{
    const size_t length = strcspn(text, ":");
    const char *end = text + strlen(text), *second = text[length] ? text + length + 1 : text;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, read_face(ctx, what, text, text + length, layer, axis, 0));
    SPRY_GO(ctx, read_face(ctx, what, second, end, layer, axis, 1));
    if ((axis->face[0] == GRID_PERIODIC) != (axis->face[1] == GRID_PERIODIC))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "%s=%s: both faces of an axis are periodic, or none", what, text);
done:
    return status;
}

static spry_status check_layers(spry_context *ctx, int a, const grid_shape *shape)
{
    const grid_axis *axis = &shape->axis[a];
    if (a >= shape->dimensions || axis->layer[0] + axis->layer[1] == 0 ||
        axis->layer[0] + axis->layer[1] < axis->intervals)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "absorbing layers of %" PRId64 " intervals along %c, which has %" PRId64
                     ", leave nothing between them; take a smaller layer=",
                     axis->layer[0] + axis->layer[1], "xyz"[a], axis -> intervals);
}

/* What is known at the faces of all axes. */
static spry_status read_all_faces(spry_context *ctx, const grid_options *options, grid_shape *shape)
{
    static const char *const names[] = {"x", "y", "z"};
    const char *const faces[] = {options->x, options->y, options->z};
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < GRID_AXES; a++) {
        grid_axis *axis = &shape->axis[a];
        SPRY_GO(ctx, read_faces(ctx, "boundary", options->boundary, options->layer, axis));
        if (faces[a][0] && a >= shape->dimensions)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s=%s: the grid has no such axis",
                             names[a], faces[a]);
        if (faces[a][0])
            SPRY_GO(ctx, read_faces(ctx, names[a], faces[a], options->layer, axis));
        SPRY_GO(ctx, check_layers(ctx, a, shape));
    }
done:
    return status;
}

spry_status grid_complete(spry_context *ctx, grid_shape *shape)
{
    shape->unknowns = shape->points = 1;
    for (int a = 0; a < GRID_AXES; a++) {
        grid_axis *axis = &shape->axis[a];
        const bool periodic = axis->face[0] == GRID_PERIODIC, exists = a < shape->dimensions;
        axis->points = axis->intervals + !(exists && periodic);
        axis->first = exists && axis->face[0] == GRID_DIRICHLET;
        axis->unknowns = axis->points - axis->first - (exists && axis->face[1] == GRID_DIRICHLET);
        axis->spacing = exists ? (axis->high - axis->low) / (double)axis->intervals : 1;
        if (axis->unknowns < 1)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "%" PRId64 " intervals along %c leave no unknown between two faces "
                             "with known values",
                             axis->intervals, "xyz"[a]);
        shape->unknowns *= axis->unknowns;
        shape->points *= axis->points;
        if (shape->points > INT64_MAX >> 34)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "the grid has more than %" PRId64 " points", INT64_MAX >> 34);
    }
    return SPRY_STATUS_OK;
}

spry_status spry_grid_new(spry_context *ctx, const char *text, spry_grid **out)
{
    SPRY_NEED(ctx, ctx, text, out);
    grid_options options;
    grid_shape shape = {0};
    const char *rest = text;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, read_sizes(ctx, text, &shape, &rest));
    SPRY_GO(ctx, options_take(ctx, option_list, &options, rest));
    SPRY_GO(ctx, read_box(ctx, options.box, &shape));
    SPRY_GO(ctx, read_all_faces(ctx, &options, &shape));
    SPRY_GO(ctx, grid_complete(ctx, &shape));
    SPRY_GO(ctx, grid_cut(ctx, options.ranks, &shape));
    status = grid_stretch(ctx, options.stretch, &shape);
    SPRY_GO(ctx, grid_agree(ctx, &shape, status));
    status = base_object_new(ctx, sizeof **out, out);
    if (*out)
        **out = (spry_grid){ctx, shape};
    SPRY_GO(ctx, grid_agree(ctx, &shape, status));
done:
    if (status != SPRY_STATUS_OK) {
        if (*out)
            spry_grid_free(*out);
        else
            grid_drop(ctx, &shape);
        *out = NULL;
    }
    return status;
}

void spry_grid_free(spry_grid *grid)
{
    if (grid) {
        grid_drop(grid->ctx, &grid->shape);
        base_object_free(grid->ctx, grid);
    }
}

spry_status spry_grid_describe(const spry_grid *grid, spry_grid_info *info)
{
    SPRY_NEED(CTX_OF(grid), grid, info);
    static const base_sized sized = BASE_SIZED(spry_grid_info, spacing);
    const grid_shape *s = &grid->shape;
    const grid_box own = grid_own(grid->ctx, s, false);
    spry_grid_info found = {
        .dimensions = s->dimensions, .unknowns = s->unknowns, .points = s->points};
    for (int a = 0; a < GRID_AXES; a++) {
        found.axis_unknowns[a] = s->axis[a].unknowns;
        found.axis_points[a] = s->axis[a].points;
        found.intervals[a] = s->axis[a].intervals;
        found.low[a] = s->axis[a].low;
        found.high[a] = s->axis[a].high;
        found.spacing[a] = s->axis[a].spacing;
        found.ranks[a] = s->axis[a].ranks > 1 ? s->axis[a].ranks : 1;
        found.begin[a] = own.begin[a];
        found.end[a] = own.end[a];
    }
    const spry_status status = base_blank(grid->ctx, info, &sized);
    if (status == SPRY_STATUS_OK)
        base_give(info, &found, &sized);
    return status;
}

void grid_split(const grid_shape *shape, bool all_points, int64_t i, int64_t at[GRID_AXES])
{
    const grid_box whole = grid_whole(shape, all_points);
    box_split(&whole, i, at);
}

void grid_place(const grid_shape *shape, bool all_points, const grid_box *box, int64_t i,
                double place[GRID_AXES])
{
    int64_t at[GRID_AXES];
    box_split(box, i, at);
    for (int a = 0; a < GRID_AXES; a++)
        place[a] =
            a < shape->dimensions
                ? grid_coordinate(&shape->axis[a], at[a] + (all_points ? 0 : shape->axis[a].first))
                : 0;
}

spry_status spry_grid_place(const spry_grid *grid, bool all_points, int64_t index, double *place)
{
    SPRY_NEED(CTX_OF(grid), grid, place);
    const grid_box own = grid_own(grid->ctx, &grid->shape, all_points);
    const int64_t count = box_count(&own);
    if (index < 0 || index >= count)
        return SPRY_FAIL(grid->ctx, SPRY_STATUS_BAD_USAGE,
                         "index %" PRId64 " is outside 0..%" PRId64, index, count - 1);
    grid_place(&grid->shape, all_points, &own, index, place);
    return SPRY_STATUS_OK;
}

spry_status spry_field_new(const spry_grid *grid, spry_type type, bool all_points,
                           spry_place_fn function, void *data, spry_vector **field)
{
    SPRY_NEED(CTX_OF(grid), grid, field);
    const grid_box own = grid_own(grid->ctx, &grid->shape, all_points);
    const int64_t count = box_count(&own);
    *field = NULL;
    spry_status status = base_check_type(grid->ctx, type);
    if (status == SPRY_STATUS_OK)
        status = vector_new_at(grid->ctx, NULL, type, count, field);
    status = grid_agree(grid->ctx, &grid->shape, status);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*field);
        *field = NULL;
        return status;
    }
    (*field)->part = grid_part(grid->ctx, &grid->shape, all_points);
    if (!function)
        return status;
    for (int64_t i = 0; i < count; i++) {
        double place[GRID_AXES];
        spry_scalar value = {0, 0};
        grid_place(&grid->shape, all_points, &own, i, place);
        function(data, place, &value);
        value_set(type, (*field)->data, i, value);
    }
    return SPRY_STATUS_OK;
}
