/*
 * The rows of a stencil by classes of points. Along each axis a few rows at both ends are classes
 * of their own; a point's class is that of all its axes together, and all rows of a class have the
 * same numbers at the same distances. Their tables are plain arrays, which a device can copy.
 */
#include "grid/grid.h"

#include <stdlib.h>

/* Entries of a row along each axis. */
typedef struct entry_lists {
    const axis_entry *list[GRID_AXES];
    int64_t count[GRID_AXES];
} entry_lists;

static entry_lists lists_of(const stencil_part *part, bool transposed, const int64_t at[GRID_AXES])
{
    static const axis_entry self = {.c = 1};
    entry_lists l;
    for (int a = 0; a < GRID_AXES; a++) {
        const axis_table *t = transposed ? &part->transposed[a] : &part->table[a];
        l.list[a] = &self;
        l.count[a] = 1;
        if (part->has[a]) {
            const int64_t c = axis_class(t->rows, t->low, t->high, at[a]);
            l.list[a] = t->entries + t->start[c];
            l.count[a] = t->start[c + 1] - t->start[c];
        }
    }
    return l;
}

static void visit_lists(const stencil_part *part, const entry_lists *l, stencil_visit visit,
                        void *data)
{
    for (int64_t k = 0; k < l->count[2]; k++)
        for (int64_t j = 0; j < l->count[1]; j++)
            for (int64_t i = 0; i < l->count[0]; i++) {
                const axis_entry *x = l->list[0] + i, *y = l->list[1] + j, *z = l->list[2] + k;
                const stencil_entry e = {{x->mid, y->mid, z->mid},
                                         {x->col, y->col, z->col},
                                         {x->far_mid, y->far_mid, z->far_mid},
                                         {x->far_col, y->far_col, z->far_col},
                                         {x->kind, y->kind, z->kind},
                                         x->c * y->c * z->c};
                visit(data, part, &e);
            }
}

void stencil_visit_row(const stencil_part *part, bool transposed, const int64_t at[GRID_AXES],
                       stencil_visit visit, void *data)
{
    const entry_lists lists = lists_of(part, transposed, at);
    visit_lists(part, &lists, visit, data);
}

/* A number of a row: what it is multiplied with. Places are counted from the row's, in the whole
 * grid, which gives their order, and in arrays. */
typedef struct row_number {
    int32_t field[3], along;
    int64_t at[3], offset;
    int64_t array_at[3], array_offset;
    spry_scalar c;
} row_number;

typedef struct row_numbers {
    const stencil *s;
    const grid_box *u;
    const int64_t *row; /* in the box, of a form that is of it alone; else NULL */
    bool transposed;
    spry_context *ctx;
    int32_t along; /* of the numbers that are noted; -1: none */
    int64_t count, room;
    row_number *list;
    spry_status status;
} row_numbers;

static int64_t linear(const grid_shape *shape, bool points, const int64_t at[GRID_AXES])
{
    const grid_axis *a = shape->axis;
    return points ? at[0] + a[0].points * (at[1] + a[1].points * at[2])
                  : at[0] + a[0].unknowns * (at[1] + a[1].unknowns * at[2]);
}

/* The same in an array of a box: where an axis is cut, numbers beyond its ends stand beyond them.
 */
static int64_t in_array(const grid_shape *shape, const grid_box *box, const int64_t at[GRID_AXES],
                        const int64_t far[GRID_AXES])
{
    int64_t place = 0;
    for (int a = GRID_AXES - 1; a >= 0; a--)
        place = place * box_length(box, a) + (shape->axis[a].ranks > 1 ? far[a] : at[a]);
    return place;
}

/* Whether a form that is of its box alone leaves a number out: it lies beyond the box. */
static bool is_beyond(const row_numbers *n, const int64_t far[GRID_AXES])
{
    for (int a = 0; a < GRID_AXES; a++)
        if (n->row && n->s->shape.axis[a].ranks > 1 &&
            (n->row[a] + far[a] < 0 || n->row[a] + far[a] >= box_length(n->u, a)))
            return true;
    return false;
}

static void note_number(void *data, const stencil_part *part, const stencil_entry *e)
{
    row_numbers *n = data;
    const grid_shape *shape = &n->s->shape;
    if (e->kind[0] != KNOWN_NOT || e->kind[1] != KNOWN_NOT || e->kind[2] != KNOWN_NOT ||
        n->status != SPRY_STATUS_OK || is_beyond(n, e->far_col))
        return;
    if (n->count == n->room) {
        n->status = base_grow(n->ctx, n->count, 2 * n->room + 64, sizeof *n->list, &n->list);
        if (n->status != SPRY_STATUS_OK)
            return;
        n->room = 2 * n->room + 64;
    }
    row_number *to = &n->list[n->count++];
    *to = (row_number){.field = {-1, -1, -1},
                       .along = n->along,
                       .offset = linear(shape, false, e->col),
                       .array_offset = in_array(shape, n->u, e->col, e->far_col),
                       .c = {part->c.re * e->c, part->c.im * e->c}};
    const grid_box *points = &n->s->points;
    const int64_t at[3] = {0, linear(shape, true, e->mid), linear(shape, true, e->col)};
    const int64_t array_at[3] = {0, in_array(shape, points, e->mid, e->far_mid),
                                 in_array(shape, points, e->col, e->far_col)};
    for (int f = 0; f < 3; f++) { /* rows of A^T are columns of A */
        const int from = n->transposed ? 2 - f : f;
        if (part->field[from] >= 0) {
            to->field[f] = part->field[from];
            to->at[f] = at[f];
            to->array_at[f] = array_at[f];
        }
    }
}

static int compare_groups(const row_number *a, const row_number *b)
{
    for (int f = 0; f < 3; f++) {
        if (a->field[f] != b->field[f])
            return a->field[f] < b->field[f] ? -1 : 1;
        if (a->at[f] != b->at[f])
            return a->at[f] < b->at[f] ? -1 : 1;
    }
    return (a->along > b->along) - (a->along < b->along);
}

static int compare_numbers(const void *first, const void *second)
{
    const row_number *a = first, *b = second;
    const int order = compare_groups(a, b);
    return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorts by groups and offsets, and adds up what is listed twice. Terms of a point come in the order
 * of the text, whatever sorting does with equals. */
static void join_numbers(row_numbers *n)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < n->count; k++) {
        int64_t same = 0;
        while (same < kept && compare_numbers(&n->list[same], &n->list[k]) != 0)
            same++;
        if (same < kept) {
            n->list[same].c.re += n->list[k].c.re;
            n->list[same].c.im += n->list[k].c.im;
        } else {
            n->list[kept++] = n->list[k];
        }
    }
    n->count = kept;
    if (n->list)
        qsort(n->list, (size_t)n->count, sizeof *n->list, compare_numbers);
}

/* --- the tables ----------------------------------------------------------------------------------
 */

/* Where points were given along x: the distances of a part's entries between the ends of lines, and
 * the first of the arrays with their numbers. */
typedef struct line_pattern {
    int count;
    int32_t first;
    axis_entry *list;
} line_pattern;

typedef struct maker {
    const spry_operator *op;
    const stencil *s;
    stencil_form *form;
    row_numbers numbers;
    int64_t groups, group_room, streams, stream_room;
    line_pattern pattern[TERMS_MOST];
} maker;

static spry_status make_room(maker *m)
{
    enum { STREAMS_MOST = 1 << 22 };
    spry_context *ctx = m->op->ctx;
    spry_status status = SPRY_STATUS_OK;
    const int64_t more = m->numbers.count, most = STREAMS_MOST + m->op->rows;
    if (m->streams + more > most)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "the stencil has more than %" PRId64
                         " numbers near boundaries, or of points that were given along y and z; "
                         "take a lower order",
                         most);
    if (m->groups + more > m->group_room) {
        const int64_t room = 2 * m->group_room + more + 64;
        SPRY_GO(ctx, base_grow(ctx, m->groups, room, sizeof *m->form->groups, &m->form->groups));
        m->group_room = room;
    }
    if (m->streams + more > m->stream_room) {
        const int64_t room = 2 * m->stream_room + more + 64;
        SPRY_GO(ctx, base_grow(ctx, m->streams, room, sizeof *m->form->offsets, &m->form->offsets));
        SPRY_GO(ctx, base_grow(ctx, m->streams, room, spry_type_size(m->op->type),
                               &m->form->coefficients));
        m->stream_room = room;
    }
done:
    return status;
}

static spry_status put_class(maker *m, const int64_t at[GRID_AXES])
{
    row_numbers *n = &m->numbers;
    const int64_t end = m->s->shape.axis[0].unknowns - m->form->high[0];
    const bool between = at[0] >= m->form->low[0] && at[0] < end;
    n->count = 0;
    for (int p = 0; p < m->s->parts_count; p++) {
        const line_pattern *pattern = &m->pattern[p];
        entry_lists lists = lists_of(&m->s->parts[p], n->transposed, at);
        n->along = -1;
        if (!between || !pattern->list)
            visit_lists(&m->s->parts[p], &lists, note_number, n);
        for (int k = 0; between && k < pattern->count; k++) {
            lists.list[0] = &pattern->list[k];
            lists.count[0] = 1;
            n->along = pattern->first + k;
            visit_lists(&m->s->parts[p], &lists, note_number, n);
        }
    }
    if (n->status != SPRY_STATUS_OK)
        return n->status;
    join_numbers(n);
    const spry_status status = make_room(m);
    for (int64_t k = 0; k < n->count && status == SPRY_STATUS_OK; k++) {
        const row_number *r = &n->list[k];
        if (k == 0 || compare_groups(r, r - 1) != 0) {
            host_stencil_group *g = &m->form->groups[m->groups++];
            *g = (host_stencil_group){.is_real = true, .along = r->along, .first = m->streams};
            memcpy(g->field, r->field, sizeof g->field);
            memcpy(g->at, r->array_at, sizeof g->at);
        }
        host_stencil_group *g = &m->form->groups[m->groups - 1];
        g->count++;
        g->is_real = g->is_real && r->c.im == 0;
        m->form->offsets[m->streams] = r->array_offset;
        value_set(m->op->type, m->form->coefficients, m->streams++, r->c);
    }
    return status;
}

static const axis_table *table_of(const stencil_form *form, const stencil_part *part, int a)
{
    return form->transposed ? &part->transposed[a] : &part->table[a];
}

/* How many rows at each end are classes of their own. */
static void find_classes(const stencil *s, stencil_form *form)
{
    for (int a = 0; a < GRID_AXES; a++) {
        const int64_t rows = s->shape.axis[a].unknowns;
        for (int p = 0; p < s->parts_count; p++) {
            const axis_table *t = table_of(form, &s->parts[p], a);
            if (s->parts[p].has[a]) {
                const bool along = a == 0 && t->given;
                const int64_t low = along ? t->begin : t->low;
                const int64_t high = along ? rows - t->end : t->high;
                form->low[a] = low > form->low[a] ? low : form->low[a];
                form->high[a] = high > form->high[a] ? high : form->high[a];
            }
        }
        if (form->low[a] + form->high[a] >= rows) {
            form->low[a] = rows;
            form->high[a] = 0;
        }
        form->classes[a] = form->low[a] + 1 + form->high[a];
    }
}

/* The farthest that rows between the ends of an axis reach. */
static int64_t reach_between(const stencil *s, const stencil_form *form, int a)
{
    int64_t reach = 0;
    for (int p = 0; p < s->parts_count; p++) {
        const axis_table *t = table_of(form, &s->parts[p], a);
        for (int64_t k = s->parts[p].has[a] ? t->start[t->low] : 0;
             s->parts[p].has[a] && k < t->start[t->low + 1]; k++) {
            const int64_t far = llabs(t->entries[k].far_col);
            reach = far > reach ? far : reach;
        }
    }
    return reach;
}

/* Classes along an axis that is cut, counted in the form's box: the rows between are the longest
 * run of those that are so in the whole grid and do not reach beyond the box. */
static void count_in_box(const stencil *s, stencil_form *form, int a)
{
    const int64_t n = s->shape.axis[a].unknowns, length = box_length(&form->u, a);
    const int64_t reach = form->low[a] < n ? reach_between(s, form, a) : 0;
    range run = {0, 0}, best = {0, 0};
    for (int64_t i = 0; i < length; i++) {
        const int64_t row = ((form->u.begin[a] + i) % n + n) % n;
        const bool between =
            row >= form->low[a] && row < n - form->high[a] && i >= reach && i < length - reach;
        run = between && run.end == i ? (range){run.begin, i + 1} : (range){i, i + between};
        best = run.end - run.begin > best.end - best.begin ? run : best;
    }
    form->low[a] = best.end > best.begin ? best.begin : length;
    form->high[a] = best.end > best.begin ? length - best.end : 0;
    form->classes[a] = form->low[a] + 1 + form->high[a];
}

/* The numbers of a pattern's entry in all rows between the ends of a line. */
static void fill_along(const maker *m, const axis_table *t, const axis_entry *entry, void *to)
{
    for (int64_t r = m->form->low[0]; r < t->rows - m->form->high[0]; r++)
        for (int64_t k = t->start[r]; k < t->start[r + 1]; k++)
            if (t->entries[k].mid == entry->mid && t->entries[k].col == entry->col)
                value_set(m->op->type, to, r, (spry_scalar){t->entries[k].c, 0});
}

/* Arrays of numbers along x, where its points were given. */
static spry_status make_along(maker *m)
{
    spry_context *ctx = m->op->ctx;
    stencil_form *form = m->form;
    const int64_t rows = m->s->shape.axis[0].unknowns, end = rows - form->high[0];
    spry_status status = SPRY_STATUS_OK;
    for (int p = 0; p < m->s->parts_count && form->low[0] < end; p++) {
        const axis_table *t = table_of(form, &m->s->parts[p], 0);
        line_pattern *to = &m->pattern[p];
        if (!m->s->parts[p].has[0] || !t->given)
            continue;
        SPRY_GO(ctx, axis_table_pattern(ctx, t, form->low[0], end, &to->count, &to->list));
        to->first = form->along_count;
        SPRY_GO(ctx, base_grow(ctx, to->first, to->first + to->count, sizeof *form->along,
                               &form->along));
        for (int k = 0; k < to->count; k++) {
            void **array = &form->along[form->along_count];
            *array = NULL;
            SPRY_GO(ctx, base_calloc(ctx, rows, spry_type_size(m->op->type), array));
            form->along_count++;
            fill_along(m, t, &to->list[k], *array);
        }
    }
done:
    return status;
}

/* The row that stands for a class; whether there is one. `in_box`: counted in the form's box. */
static bool find_row(const stencil *s, const stencil_form *form, int64_t class,
                     int64_t in_box[GRID_AXES], int64_t at[GRID_AXES])
{
    bool exists = true;
    for (int a = 0; a < GRID_AXES; a++) {
        const int64_t n = s->shape.axis[a].unknowns;
        const int64_t rows = form->local ? box_length(&form->u, a) : n;
        const int64_t k = class % form->classes[a];
        in_box[a] = at[a] = k <= form->low[a] ? k : rows - form->high[a] + k - form->low[a] - 1;
        exists = exists && at[a] < rows;
        if (form->local)
            at[a] = ((form->u.begin[a] + at[a]) % n + n) % n;
        class /= form->classes[a];
    }
    return exists;
}

static spry_status form_make(const spry_operator *op, bool transposed, const grid_box *u,
                             bool local, stencil_form *form)
{
    spry_context *ctx = op->ctx;
    const stencil *s = op->state;
    int64_t in_box[GRID_AXES], at[GRID_AXES];
    maker m = {
        .op = op,
        .s = s,
        .form = form,
        .numbers = {
            .s = s, .u = u, .row = local ? in_box : NULL, .transposed = transposed, .ctx = ctx}};
    spry_status status = SPRY_STATUS_OK;
    *form = (stencil_form){.transposed = transposed, .u = *u, .local = local};
    find_classes(s, form);
    if (local)
        for (int a = 0; a < GRID_AXES; a++)
            if (s->shape.axis[a].ranks > 1)
                count_in_box(s, form, a);
    SPRY_GO(ctx, make_along(&m));
    const int64_t classes = form->classes[0] * form->classes[1] * form->classes[2];
    SPRY_GO(ctx, base_calloc(ctx, classes + 1, sizeof *form->start, &form->start));
    for (int64_t c = 0; c < classes; c++) {
        if (find_row(s, form, c, in_box, at))
            SPRY_GO(ctx, put_class(&m, at));
        form->start[c + 1] = m.groups;
    }
    form->host = (host_stencil){.start = form->start,
                                .groups = form->groups,
                                .offsets = form->offsets,
                                .coefficients = form->coefficients,
                                .fields = (const void *const *)s->fields,
                                .along = (const void *const *)form->along,
                                .columns = s->shape.axis[0].unknowns,
                                .low = form->low[0],
                                .high = form->high[0],
                                .points = box_length(&s->points, 0)};
    for (int64_t k = 0; k < m.streams; k++)
        form->reach = llabs(form->offsets[k]) > form->reach ? llabs(form->offsets[k]) : form->reach;
    form->made = true;
done:
    base_free(ctx, m.numbers.list);
    for (int p = 0; p < s->parts_count; p++)
        base_free(ctx, m.pattern[p].list);
    if (status != SPRY_STATUS_OK)
        stencil_form_clear(ctx, form);
    return status;
}

spry_status stencil_form_make(const spry_operator *op, bool transposed, const grid_box *u,
                              stencil_form *form)
{
    return form_make(op, transposed, u, false, form);
}

spry_status stencil_form_local(const spry_operator *op, bool transposed, const grid_box *u,
                               stencil_form *form)
{
    return form_make(op, transposed, u, true, form);
}

void stencil_form_clear(spry_context *ctx, stencil_form *form)
{
    base_free(ctx, form->start);
    base_free(ctx, form->groups);
    base_free(ctx, form->offsets);
    base_free(ctx, form->coefficients);
    for (int k = 0; k < form->along_count; k++)
        base_free(ctx, form->along[k]);
    base_free(ctx, form->along);
    *form = (stencil_form){0};
}
