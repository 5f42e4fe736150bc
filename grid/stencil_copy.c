/* A form of a stencil in a device's memory, and what its programs have to know of it. */
#include "grid/blocks.h"
#include "grid/stencil_device.h"

#include <stdlib.h>

/* The row of a class that stands for all of them; whether there is one. */
static bool row_of_class(const grid_shape *shape, const stencil_form *f, int64_t class,
                         int64_t at[GRID_AXES])
{
    bool exists = true;
    for (int a = 0; a < GRID_AXES; a++) {
        const int64_t k = class % f->classes[a], rows = shape->axis[a].unknowns;
        at[a] = k <= f->low[a] ? k : rows - f->high[a] + k - f->low[a] - 1;
        exists = exists && at[a] < rows;
        class /= f->classes[a];
    }
    return exists;
}

static int64_t linear(const grid_shape *shape, bool points, const int64_t at[GRID_AXES])
{
    const grid_axis *a = shape->axis;
    return points ? at[0] + a[0].points * (at[1] + a[1].points * at[2])
                  : at[0] + a[0].unknowns * (at[1] + a[1].unknowns * at[2]);
}

/* A distance of a row by axes: it leads to a point of the grid, which has one place only. */
static void by_axes(const grid_shape *shape, bool points, const int64_t row[GRID_AXES],
                    int64_t distance, int step[GRID_AXES])
{
    int64_t from[GRID_AXES], to[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++)
        from[a] = row[a] + (points ? shape->axis[a].first : 0);
    grid_split(shape, points, linear(shape, points, from) + distance, to);
    for (int a = 0; a < GRID_AXES; a++)
        step[a] = (int)(to[a] - from[a]);
}

/* --- rows between the ends -----------------------------------------------------------------------
 */

static void note_inside(const spry_operator *op, const stencil_form *f, stencil_copy *c)
{
    const int64_t class = f->low[0] + f->classes[0] * (f->low[1] + f->classes[1] * f->low[2]);
    int64_t row[GRID_AXES];
    c->is_real = true;
    if (!row_of_class(&c->shape, f, class, row) || f->start[class] == f->start[class + 1])
        return;
    const host_stencil_group *g = f->groups + f->start[class],
                             *end = f->groups + f->start[class + 1];
    if (end[-1].first + end[-1].count - g->first > STENCIL_TERMS)
        return;
    for (; g < end; g++) {
        stencil_group *to = &c->group[c->groups++];
        *to = (stencil_group){.first = c->terms, .count = (int)g->count};
        for (int k = 0; k < 3; k++) {
            to->field[k] = g->field[k];
            if (g->field[k] >= 0)
                by_axes(&c->shape, true, row, g->at[k], to->at[k]);
        }
        for (int64_t t = g->first; t < g->first + g->count; t++, c->terms++) {
            by_axes(&c->shape, false, row, f->offsets[t], c->step[c->terms]);
            c->number[c->terms] = value_get(op->type, f->coefficients, t);
            c->is_real = c->is_real && c->number[c->terms].im == 0;
        }
    }
    c->inside = true;
}

/* Where a step from a row leads along one axis; false: beyond a face. */
static bool lead(const grid_axis *axis, bool point, int64_t row, int step, int64_t *to)
{
    const int64_t n = point ? axis->points : axis->unknowns;
    *to = row + (point ? axis->first : 0) + step;
    if (axis->intervals > 0 && axis->face[0] == GRID_PERIODIC)
        *to = (*to + n) % n;
    return *to >= 0 && *to < n;
}

/* The distance of a step from a row; false: it leads beyond a face. */
static bool distance_of(const grid_shape *shape, bool points, const int64_t row[GRID_AXES],
                        const int step[GRID_AXES], int64_t *distance)
{
    int64_t from[GRID_AXES], to[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++) {
        from[a] = row[a] + (points ? shape->axis[a].first : 0);
        if (!lead(&shape->axis[a], points, row[a], step[a], &to[a]))
            return false;
    }
    *distance = linear(shape, points, to) - linear(shape, points, from);
    return true;
}

/* The group of a class that has such fields at such places; NULL: there is none. */
static const host_stencil_group *find_group(const stencil_form *f, int64_t class,
                                            const host_stencil_group *like)
{
    for (int64_t g = f->start[class]; g < f->start[class + 1]; g++) {
        const host_stencil_group *it = &f->groups[g];
        if (memcmp(it->field, like->field, sizeof it->field) == 0 &&
            memcmp(it->at, like->at, sizeof it->at) == 0)
            return it;
    }
    return NULL;
}

static bool has_term(const spry_operator *op, const stencil_form *f, const host_stencil_group *g,
                     int64_t distance, spry_scalar number)
{
    for (int64_t t = g ? g->first : 0; g && t < g->first + g->count; t++) {
        const spry_scalar c = value_get(op->type, f->coefficients, t);
        if (f->offsets[t] == distance && c.re == number.re && c.im == number.im)
            return true;
    }
    return false;
}

/* Whether the rows of a class are those between the ends without what lies beyond faces. */
static bool class_is_regular(const spry_operator *op, const stencil_form *f, const stencil_copy *c,
                             int64_t class)
{
    int64_t row[GRID_AXES], found = 0, expected = 0, distance;
    if (!row_of_class(&c->shape, f, class, row))
        return true;
    for (int64_t g = f->start[class]; g < f->start[class + 1]; g++)
        expected += f->groups[g].count;
    for (int k = 0; k < c->groups; k++) {
        const stencil_group *from = &c->group[k];
        host_stencil_group like = {.field = {from->field[0], from->field[1], from->field[2]}};
        for (int i = 0; i < 3; i++)
            if (from->field[i] >= 0 && !distance_of(&c->shape, true, row, from->at[i], &like.at[i]))
                return false;
        const host_stencil_group *g = find_group(f, class, &like);
        for (int t = from->first; t < from->first + from->count; t++) {
            if (!distance_of(&c->shape, false, row, c->step[t], &distance))
                continue;
            if (!has_term(op, f, g, distance, c->number[t]))
                return false;
            found++;
        }
    }
    return found == expected;
}

static bool is_regular(const spry_operator *op, const stencil_form *f, const stencil_copy *c)
{
    const int64_t classes = f->classes[0] * f->classes[1] * f->classes[2];
    for (int64_t k = 0; c->inside && k < classes; k++)
        if (!class_is_regular(op, f, c, k))
            return false;
    return c->inside;
}

/* Local memory of a march, in scalars: planes around a group's columns, and what going down has
 * next to them (gmg_down.knl). */
static int64_t march_room(const stencil_copy *c, bool down)
{
    enum { DOWN_LINE = 72 };
    const int64_t tile =
        (int64_t)(STENCIL_COLUMNS + 2 * c->reach[0]) * (STENCIL_ROWS * c->lines + 2 * c->reach[1]);
    return tile * (c->reach[2] + 1 + c->ahead) +
           (down ? 2 * DOWN_LINE * STENCIL_ROWS * c->lines : 0);
}

int64_t stencil_finish_room(const stencil_copy *c)
{
    const int64_t tile = (int64_t)(STENCIL_COLUMNS + 4) * (STENCIL_ROWS * c->lines + 4);
    return tile * (4 + c->ahead) * (int64_t)spry_type_size(c->type);
}

/* Marches are for stencils without fields that reach other planes along z alone. As many columns
 * for each work-item as registers and local memory last for. */
static void choose_march(stencil_copy *c)
{
    enum { MOST_LINES = 4, MOST_REACH = 6 };
    const int size = (int)spry_type_size(c->type);
    const int bytes = spry_type_is_complex(c->type) ? 128 : 256;
    bool marches = c->inside && c->shape.dimensions == 3;
    for (int k = 0; k < c->groups; k++)
        for (int i = 0; i < 3; i++)
            marches = marches && c->group[k].field[i] < 0;
    for (int t = 0; t < c->terms; t++) {
        const int *s = c->step[t];
        marches = marches && (s[2] == 0 || (s[0] == 0 && s[1] == 0));
        for (int a = 0; a < GRID_AXES; a++)
            c->reach[a] = abs(s[a]) > c->reach[a] ? abs(s[a]) : c->reach[a];
    }
    for (int a = 0; a < GRID_AXES; a++)
        marches = marches && c->reach[a] <= MOST_REACH;
    c->lines = marches ? MOST_LINES : 0;
    c->ahead = c->reach[2] > 1 ? 2 : 1; /* groups that a unit has at once are fewer then */
    while (c->lines > 1 && c->lines * size * (2 * c->reach[2] + 2) > bytes)
        c->lines /= 2;
    while (c->lines > 0 && march_room(c, true) * size > c->d->facts.most_local)
        c->lines /= 2;
    c->room = march_room(c, false) * size;
}

/* --- what kernels are given ----------------------------------------------------------------------
 */

static void set_sizes(const stencil_form *f, stencil_copy *c)
{
    const grid_axis *a = c->shape.axis;
    const int64_t classes = f->classes[0] * f->classes[1] * f->classes[2];
    c->sizes = (stencil_sizes){.N0 = (int32_t)a[0].unknowns,
                               .N1 = (int32_t)a[1].unknowns,
                               .N2 = (int32_t)a[2].unknowns,
                               .M0 = (int32_t)a[0].points,
                               .M1 = (int32_t)a[1].points,
                               .F0 = (int32_t)a[0].first,
                               .F1 = (int32_t)a[1].first,
                               .F2 = (int32_t)a[2].first,
                               .POINTS = (int32_t)c->shape.points,
                               .LOW0 = (int32_t)f->low[0],
                               .LOW1 = (int32_t)f->low[1],
                               .LOW2 = (int32_t)f->low[2],
                               .HIGH0 = (int32_t)f->high[0],
                               .HIGH1 = (int32_t)f->high[1],
                               .HIGH2 = (int32_t)f->high[2],
                               .KINDS0 = (int32_t)f->classes[0],
                               .KINDS1 = (int32_t)f->classes[1],
                               .GROUPS = (int32_t)(classes + 1),
                               .OFFSETS = (int32_t)(classes + 1 + 8 * f->start[classes])};
    for (int t = 0; t < c->terms && t < STENCIL_WEIGHTS; t++)
        value_set(c->type, c->weights, t, c->number[t]);
}

/* Terms of all classes. */
static int64_t count_terms(const stencil_form *f, int64_t groups)
{
    return groups > 0 ? f->groups[groups - 1].first + f->groups[groups - 1].count : 0;
}

static spry_status put_tables(const stencil_form *f, stencil_copy *c)
{
    spry_context *ctx = c->d->ctx;
    const int64_t classes = f->classes[0] * f->classes[1] * f->classes[2];
    const int64_t groups = f->start[classes], terms = count_terms(f, groups);
    const int64_t count = c->sizes.OFFSETS + terms;
    const int64_t bytes = terms * (int64_t)spry_type_size(c->type);
    int64_t *tables = NULL, *to;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *tables, &tables));
    memcpy(tables, f->start, (size_t)(classes + 1) * sizeof *tables);
    to = tables + c->sizes.GROUPS;
    for (const host_stencil_group *g = f->groups; g < f->groups + groups; g++, to += 8) {
        for (int k = 0; k < 3; k++) {
            to[k] = g->field[k];
            to[3 + k] = g->at[k];
        }
        to[6] = g->first;
        to[7] = g->count;
    }
    if (terms > 0)
        memcpy(to, f->offsets, (size_t)terms * sizeof *tables);
    SPRY_GO(ctx, device_alloc(c->d, count * (int64_t)sizeof *tables, &c->tables));
    SPRY_GO(ctx, device_put(c->tables, 0, tables, count * (int64_t)sizeof *tables));
    SPRY_GO(ctx, device_alloc(c->d, bytes, &c->numbers));
    SPRY_GO(ctx, device_put(c->numbers, 0, f->coefficients, bytes));
done:
    base_free(ctx, tables);
    return status;
}

spry_status stencil_put_fields(spry_device *d, const spry_operator *op, device_memory **fields)
{
    const stencil *s = stencil_of(op);
    const int64_t bytes = box_count(&s->points) * (int64_t)spry_type_size(op->type);
    spry_status status = SPRY_STATUS_OK;
    *fields = NULL;
    if (s->field_count == 0)
        return status;
    SPRY_GO(d->ctx, device_alloc(d, s->field_count * bytes, fields));
    for (int f = 0; f < s->field_count; f++)
        SPRY_GO(d->ctx, device_put(*fields, f * bytes, s->fields[f], bytes));
done:
    if (status != SPRY_STATUS_OK) {
        device_free(*fields);
        *fields = NULL;
    }
    return status;
}

/* What programs have to know of the rows of all unknowns. */
static spry_status look_at(const spry_operator *op, const stencil_form *form, stencil_copy *c)
{
    const int64_t classes = form->classes[0] * form->classes[1] * form->classes[2];
    if (form->along_count > 0 || 9 * form->start[classes] + classes > INT32_MAX / 2)
        return SPRY_FAIL(op->ctx, SPRY_STATUS_UNSUPPORTED,
                         "operators on grids whose points were given along x, or too many of them "
                         "along y and z, live on the host alone; take device=cpu");
    c->shape = stencil_of(op)->shape;
    for (int a = 0; a < c->shape.dimensions; a++)
        c->periodic = c->periodic || c->shape.axis[a].face[0] == GRID_PERIODIC;
    note_inside(op, form, c);
    c->regular = is_regular(op, form, c);
    choose_march(c);
    return SPRY_STATUS_OK;
}

/* The same of a grid that is cut, of which no rank has all rows: they are those of the whole grid.
 */
static spry_status look_at_whole(const spry_operator *op, bool transposed, stencil_copy *c)
{
    spry_context *ctx = op->ctx;
    const stencil *from = stencil_of(op);
    grid_shape shape = from->shape;
    stencil_form form = {0};
    spry_operator *whole = NULL;
    spry_status status = SPRY_STATUS_OK;
    grid_join(&shape);
    SPRY_GO(ctx, stencil_without_fields(op, &shape, from->order, op->type, &whole));
    stencil *s = whole->state;
    s->points = grid_whole(&shape, true);
    SPRY_GO(ctx, stencil_form_make(whole, transposed, &s->rows, &form));
    SPRY_GO(ctx, look_at(whole, &form, c));
done:
    stencil_form_clear(ctx, &form);
    spry_operator_free(whole);
    return status;
}

/* A box as a grid: beyond it is 0 along axes that are cut, and fields have their own box. */
static grid_shape shape_of_box(const stencil *s, const grid_box *u)
{
    grid_shape shape = s->shape;
    for (int a = 0; a < GRID_AXES; a++) {
        grid_axis *axis = &shape.axis[a];
        if (axis->ranks <= 1)
            continue;
        axis->ranks = 0;
        axis->unknowns = box_length(u, a);
        axis->points = box_length(&s->points, a);
        axis->first += u->begin[a] - s->points.begin[a];
        axis->face[0] = axis->face[1] = GRID_DIRICHLET;
    }
    shape.unknowns = box_count(u);
    shape.points = box_count(&s->points);
    return shape;
}

static spry_status place(const stencil_form *form, stencil_copy *c)
{
    set_sizes(form, c);
    const spry_status status = c->regular ? SPRY_STATUS_OK : put_tables(form, c);
    if (status != SPRY_STATUS_OK)
        stencil_copy_clear(c);
    return status;
}

spry_status stencil_copy_place(const stencil_copy *like, const spry_operator *op, bool transposed,
                               const grid_box *u, stencil_copy *c)
{
    const stencil *s = stencil_of(op);
    stencil_form form;
    if (c != like)
        *c = *like;
    c->numbers = c->tables = NULL;
    c->shape = shape_of_box(s, u);
    spry_status status = stencil_form_local(op, transposed, u, &form);
    if (status != SPRY_STATUS_OK)
        return status;
    status = place(&form, c);
    stencil_form_clear(op->ctx, &form);
    return status;
}

spry_status stencil_copy_make(spry_device *d, const spry_operator *op, const stencil_form *form,
                              const device_memory *fields, stencil_copy *c)
{
    const bool cut = grid_is_cut(&stencil_of(op)->shape);
    *c = (stencil_copy){.d = d, .type = op->type, .fields = fields};
    const spry_status status = cut ? look_at_whole(op, form->transposed, c) : look_at(op, form, c);
    if (status != SPRY_STATUS_OK)
        return status;
    return cut ? stencil_copy_place(c, op, form->transposed, &form->u, c) : place(form, c);
}

void stencil_copy_clear(stencil_copy *c)
{
    device_free(c->numbers);
    device_free(c->tables);
    c->numbers = c->tables = NULL;
}

int stencil_args(const stencil_copy *c, bool written, device_arg args[STENCIL_ARGS])
{
    args[0] = device_arg_memory(c->numbers);
    args[1] = device_arg_memory(c->tables);
    args[2] = device_arg_memory(c->fields);
    if (written)
        return 3;
    args[3] = DEVICE_VALUE(c->sizes);
    args[4] = (device_arg){NULL, c->weights,
                           (size_t)(c->terms > 0 ? c->terms : 1) * spry_type_size(c->type)};
    return STENCIL_ARGS;
}

spry_status stencil_launch(const stencil_copy *c, device_program *p, const char *kernel,
                           int64_t groups, int64_t room, const device_arg *before,
                           const device_arg *after, int count)
{
    device_arg args[STENCIL_ARGS + 1 + STENCIL_AFTER];
    int used = 0;
    if (before)
        args[used++] = *before;
    used += stencil_args(c, stencil_is_written(c), args + used);
    for (int k = 0; k < count && k < STENCIL_AFTER; k++)
        args[used++] = after[k];
    return device_launch_local(p, kernel, groups, STENCIL_GROUP, room, args, used);
}

int32_t stencil_march_depth(const spry_device *d, int64_t across, int64_t planes, int32_t most)
{
    enum { SHORT = 8, EACH = 6 };
    int32_t depth = most;
    int64_t groups = across * ((planes + depth - 1) / depth);
    while (depth > 1 && groups < (depth > SHORT ? EACH : 1) * (int64_t)d->facts.units) {
        depth /= 2;
        groups = across * ((planes + depth - 1) / depth);
    }
    return depth;
}

int64_t stencil_march_groups(const stencil_copy *c, int32_t *depth)
{
    enum { MOST = 64 };
    const grid_axis *a = c->shape.axis;
    const int64_t height = (int64_t)STENCIL_ROWS * c->lines;
    const int64_t across = (a[0].unknowns + STENCIL_COLUMNS - 1) / STENCIL_COLUMNS *
                           ((a[1].unknowns + height - 1) / height);
    *depth = stencil_march_depth(c->d, across, a[2].unknowns, MOST);
    return across * ((a[2].unknowns + *depth - 1) / *depth);
}
