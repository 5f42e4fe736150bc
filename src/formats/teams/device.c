/* Rows sorted by length with teams of lanes on devices: see teams.knl and make_teams.knl. */
#include "formats/teams/teams.h"

#include "formats/shared/device_make.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { WORK_ITEMS = 2048, SOME = 1024 }; /* of a multiprocessor, if registers last */
    const bool many = columns > 1 || spry_type_is_complex(L->type);
    if (d->facts.most_group < TEAMS_UNIT)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format teams: groups of %d work-items are needed, %s has %d",
                         (int)TEAMS_UNIT, d->facts.name, (int)d->facts.most_group);
    form->text = "formats/teams";
    form->by_units = true;
    form->positions = L->units;
    form->group = TEAMS_UNIT;
    const int ahead = columns > 1 ? 3 : many ? 4 : 6;
    snprintf(form->defines, sizeof form->defines, "AHEAD=%d RESIDENT=%d", ahead,
             (many ? SOME : WORK_ITEMS) / TEAMS_UNIT);
    return SPRY_STATUS_OK;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    for (int i = 0; i <= TEAMS_ROWS; i++)
        array[i] = L->array[i];
    array[TEAMS_ROWS + 1] = (layout_array){.name = "carry_at",
                                           .count = L->units + 1,
                                           .size = sizeof *L->carry_at,
                                           .data = L->carry_at};
    return SPRY_STATUS_OK;
}

static spry_status build(const device_maker *m, device_program **p)
{
    char options[48];
    snprintf(options, sizeof options, "-DCLASSES=%d -DSPLITS=%d", TEAMS_CLASSES, TEAMS_SPLITS);
    return make_build(m, "make_teams", options, p);
}

/* How many rows each class has. */
static spry_status count_classes(const device_maker *m, device_program *p,
                                 const device_memory *order, teams_shape *s)
{
    spry_context *ctx = m->d->ctx;
    int64_t limits[TEAMS_CLASSES];
    device_memory *limit = NULL, *count = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int c = 0; c < TEAMS_CLASSES; c++)
        limits[c] = teams_limit(s->each, c);
    SPRY_GO(ctx, device_copy_over(m->d, limits, sizeof limits, &limit));
    SPRY_GO(ctx, device_alloc(m->d, sizeof limits, &count));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows), device_arg_memory(m->A->offsets),
                               device_arg_memory(order), device_arg_memory(limit),
                               device_arg_memory(count), {0}};
    SPRY_GO(ctx, make_launch(p, "count_classes", TEAMS_CLASSES, args));
    SPRY_GO(ctx, device_get(count, 0, s->sorted + 1, sizeof limits));
done:
    device_free(limit);
    device_free(count);
    return status;
}

/* What is made on the way; all but the order are the layout's in the end. */
typedef struct teams_work {
    device_memory *order, *offsets, *firsts, *rows, *carries;
} teams_work;

/* Where units begin, the rows of their teams, and what they carry. */
static spry_status cut(device_maker *m, device_program *p, const teams_shape *s, teams_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = s->units[TEAMS_CLASSES], teams = s->first[TEAMS_CLASSES];
    const int64_t numbers = (units + 1) * (int64_t)sizeof(int64_t);
    device_memory *shape = NULL, *leads = NULL, *to = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_copy_over(m->d, s, sizeof *s, &shape));
    SPRY_GO(ctx, device_alloc(m->d, numbers, &leads));
    SPRY_GO(ctx, device_alloc(m->d, numbers, &to));
    const device_arg widths[] = {DEVICE_VALUE(units),
                                 device_arg_memory(shape),
                                 device_arg_memory(m->A->offsets),
                                 device_arg_memory(w->order),
                                 device_arg_memory(w->offsets),
                                 device_arg_memory(w->firsts),
                                 device_arg_memory(w->carries),
                                 device_arg_memory(leads),
                                 device_arg_memory(to),
                                 {0}};
    SPRY_GO(ctx, make_launch(p, "widths", units + 1, widths));
    SPRY_GO(ctx, device_sum_up(m->d, w->offsets, units + 1));
    SPRY_GO(ctx, make_list_carries(m, &(make_carried){to, 1, 0, 0}, w->carries, leads));
    const device_arg list[] = {DEVICE_VALUE(teams),
                               device_arg_memory(shape),
                               device_arg_memory(w->order),
                               device_arg_memory(w->rows),
                               {0}};
    if (teams > 0)
        SPRY_GO(ctx, make_launch(p, "list_rows", teams, list));
    SPRY_GO(ctx, make_look(w->offsets, units, &m->L->stored));
done:
    device_free(shape);
    device_free(leads);
    device_free(to);
    return status;
}

static spry_status fill(device_maker *m, device_program *p, teams_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = m->L->units, stored = m->L->stored;
    device_memory *values = NULL, *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_add(m, TEAMS_VALUES, "values", stored, m->size, &values));
    SPRY_GO(ctx, make_add(m, TEAMS_COLUMNS, "columns", stored, sizeof(int32_t), &columns));
    const device_arg args[] = {device_arg_memory(m->A->offsets), device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),     device_arg_memory(w->offsets),
                               device_arg_memory(w->firsts),     device_arg_memory(w->rows),
                               device_arg_memory(w->carries),    device_arg_memory(columns),
                               device_arg_memory(values),        {0}};
    if (stored > 0)
        SPRY_GO(ctx, make_launch_local(p, "fill", units, 0, args));
done:
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    teams_shape s = {.each = make_option(m, "each")};
    device_program *p = NULL;
    teams_work w = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &p));
    SPRY_GO(ctx, make_sort_rows(m, &w.order));
    if (m->A->rows > 0)
        SPRY_GO(ctx, count_classes(m, p, w.order, &s));
    teams_find_units(&s);
    const int64_t units = s.units[TEAMS_CLASSES], teams = s.first[TEAMS_CLASSES];
    layout_note(m->L, "each", s.each);
    m->L->units = units;
    SPRY_GO(ctx, device_alloc(m->d, (units + 1) * (int64_t)sizeof(int64_t), &w.offsets));
    SPRY_GO(ctx, device_alloc(m->d, (units + 1) * (int64_t)sizeof(int64_t), &w.firsts));
    SPRY_GO(ctx, device_alloc(m->d, (units + 1) * (int64_t)sizeof(int64_t), &w.carries));
    SPRY_GO(ctx, device_alloc(m->d, teams * (int64_t)sizeof(int32_t), &w.rows));
    SPRY_GO(ctx, cut(m, p, &s, &w));
    SPRY_GO(ctx, fill(m, p, &w));
    make_adopt(m, TEAMS_OFFSETS, "offsets", units + 1, sizeof(int64_t), w.offsets);
    make_adopt(m, TEAMS_FIRSTS, "firsts", units + 1, sizeof(int64_t), w.firsts);
    make_adopt(m, TEAMS_ROWS, "rows", teams, sizeof(int32_t), w.rows);
    make_adopt(m, TEAMS_ROWS + 1, "carry_at", units + 1, sizeof(int64_t), w.carries);
    w.offsets = w.firsts = w.rows = w.carries = NULL;
done:
    device_free(w.order);
    device_free(w.offsets);
    device_free(w.firsts);
    device_free(w.rows);
    device_free(w.carries);
    return status;
}

const device_format device_format_teams = {
    .name = "teams", .open = open, .grid = "each=32|64", .arrays = arrays, .make = make};
