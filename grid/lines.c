/*
 * Lines as smoother: all points of a line along an axis are solved for together, first of every
 * other line, then of the others (zebra; Trottenberg, Oosterlee, Schueller, chapter 5). What is
 * coupled strongly along the axis is then no trouble, however strongly and in which places. Where
 * several axes are strong in some place, their lines take turns. After coming up axes and colours
 * go the other way round.
 *
 * Lines are of a colour where the sum of their indices across is even or odd, so that lines of a
 * colour do not need each other. Along y and z those of up to WIDTH columns are solved side by
 * side, both colours, of which one is kept; such units are done in two turns, so that no thread
 * writes what a neighbour reads.
 *
 * Where the level is cut lines run along axes that are not. Those of the first colour next to this
 * rank's are solved on it, too, as on their own rank: then one exchange does for both colours.
 */
#include "grid/gmg.h"

#include <stdlib.h>

enum { WIDTH = 64 };

typedef struct line_job {
    const gmg *m;
    const gmg_level *l;
    int axis, colour, turn;
    double omega;
    int64_t length, width; /* of a line; columns of a unit */
    int64_t slabs, chunks; /* units: along the axis that is neither x nor that of lines, and
                              along x */
    int64_t stride;        /* from a point of a line to the next */
    grid_box around;       /* lines that are solved for are in it */
    atomic_bool singular;
} line_job;

/* Columns begin..end-1 of a slab. */
typedef struct line_unit {
    int64_t slab, begin, end;
} line_unit;

static void describe(const gmg *m, const gmg_level *l, int axis, line_job *j)
{
    const int64_t nx = box_length(&l->box, 0), ny = box_length(&l->box, 1);
    const bool along_x = axis == 0;
    *j = (line_job){.m = m,
                    .l = l,
                    .axis = axis,
                    .length = box_length(&l->box, axis),
                    .around = gmg_around(l, 1)};
    j->omega = m->options.omega > 0 ? m->options.omega : 1;
    j->width = along_x ? 1 : nx < WIDTH ? nx : WIDTH;
    j->chunks = along_x ? 1 : (nx + j->width - 1) / j->width;
    while (j->chunks > 1 && j->chunks % 2 != 0) { /* periodic x: the last is next to the first */
        j->width--;
        j->chunks = (nx + j->width - 1) / j->width;
    }
    j->slabs = along_x ? ny * box_length(&l->box, 2) : box_length(&l->box, 3 - axis);
    j->stride = along_x ? 1 : axis == 1 ? nx : nx * ny;
}

static line_unit unit_of(const line_job *j, int64_t k)
{
    const int64_t chunk = k % j->chunks, nx = box_length(&j->l->box, 0);
    const int64_t begin = chunk * j->width, end = begin + j->width < nx ? begin + j->width : nx;
    return j->axis == 0 ? (line_unit){k, 0, nx} : (line_unit){k / j->chunks, begin, end};
}

/* The line along x that has row `row` of a unit's systems. */
static int64_t line_of(const line_job *j, const line_unit *u, int64_t row)
{
    const int64_t ny = box_length(&j->l->box, 1);
    return j->axis == 0 ? u->slab : j->axis == 1 ? row + ny * u->slab : u->slab + ny * row;
}

/* The first point of a unit, counted over the whole grid; whether it is among those to be done. */
static bool is_among(const line_job *j, const line_unit *u, int64_t at[GRID_AXES])
{
    const int64_t nx = box_length(&j->l->box, 0);
    box_split(&j->l->box, line_of(j, u, 0) * nx + u->begin, at);
    return box_has(&j->around, at);
}

/* The sum of indices across lines is even or odd: 0 or 1. */
static int64_t parity(const line_job *j, const int64_t at[GRID_AXES])
{
    int64_t sum = 0;
    for (int a = 0; a < GRID_AXES; a++)
        sum += a == j->axis ? 0 : at[a];
    return sum & 1;
}

/* --- sweeps --------------------------------------------------------------------------------------
 */

static void solve_unit(const line_job *j, const line_unit *u, const int64_t from[GRID_AXES],
                       char *room)
{
    const stencil *s = j->l->s;
    const bool along_x = j->axis == 0;
    const int64_t size = (int64_t)spry_type_size(j->m->type), n = box_length(&j->l->box, 0);
    const int64_t columns = u->end - u->begin, rows = along_x ? 1 : j->length;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t line = line_of(j, u, r);
        const host_line at = stencil_line(s, &s->plain, false, size, line, j->l->x);
        s->kernels->stencil(
            &s->plain.host, &at, u->begin, u->end, (spry_scalar){-1, 0}, (spry_scalar){1, 0},
            (const char *)j->l->b + (line * n + u->begin) * size, room + r * columns * size);
    }
    const int64_t first = (line_of(j, u, 0) * n + u->begin) * size;
    const char *const *factors = (const char *const *)j->l->factors[j->axis];
    const host_lines lines = {.count = j->length,
                              .width = along_x ? 1 : columns,
                              .stride = j->stride,
                              .first = along_x ? 0 : (parity(j, from) + j->colour) % 2,
                              .step = along_x ? 1 : 2,
                              .lower = factors[0] + first,
                              .inverse = factors[1] + first,
                              .upper = factors[2] + first,
                              .round = factors[3] ? factors[3] + first : NULL};
    s->kernels->lines(&lines, j->omega, room, (char *)j->l->x + first);
}

static void sweep_share(void *argument, int share, int shares)
{
    const line_job *j = argument;
    const range part = base_share(j->slabs * j->chunks, shares, share, 1);
    char *room = (char *)j->l->room + share * j->l->room_size;
    for (int64_t k = part.begin; k < part.end; k++) {
        const line_unit u = unit_of(j, k);
        int64_t at[GRID_AXES];
        if (!is_among(j, &u, at))
            continue;
        if (j->axis == 0 ? parity(j, at) == j->colour : (u.slab + k % j->chunks) % 2 == j->turn)
            solve_unit(j, &u, at, room);
    }
}

/* All lines of an axis, by colours. */
static void sweep_axis(const gmg *m, const gmg_level *l, int axis, bool back)
{
    line_job j;
    describe(m, l, axis, &j);
    for (int half = 0; half < 2; half++, j.around = gmg_around(l, 0))
        for (j.turn = 0; j.turn < (axis == 0 ? 1 : 2); j.turn++) {
            j.colour = back ? 1 - half : half;
            base_share_out(m->ctx, host_threads(m->ctx, l->count), sweep_share, &j);
        }
}

spry_status gmg_lines(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const gmg_level *l = &m->level[level];
    bool zero = start == GMG_ZERO;
    spry_status status = SPRY_STATUS_OK;
    if (start == GMG_FROM_BELOW)
        gmg_up(m, level);
    if (zero)
        memset(l->x, 0, (size_t)l->count * spry_type_size(m->type));
    for (int k = 0; k < sweeps; k++)
        for (int a = 0; a < GRID_AXES; a++) {
            const int axis = back ? GRID_AXES - 1 - a : a;
            if (!(l->lines >> axis & 1))
                continue;
            if (!zero)
                SPRY_GO(m->ctx, gmg_bring_x(l, l->x));
            sweep_axis(m, l, axis, back);
            zero = false;
        }
done:
    return status;
}

/* --- factors -------------------------------------------------------------------------------------
 */

/* Whether the ends of lines along an axis meet. */
static bool meets(const grid_axis *axis)
{
    return axis->intervals > 0 && axis->face[0] == GRID_PERIODIC;
}

/* Whether each row's unknowns lie along one axis, at odd distances; along `axis` (-1: none) at 1,
 * or at `round` where its ends meet. */
static bool distances_fit(const stencil *s, int axis, int64_t round)
{
    for (int p = 0; p < s->parts_count; p++) {
        int axes = 0;
        for (int a = 0; a < GRID_AXES; a++) {
            const axis_table *t = &s->parts[p].table[a];
            axes += s->parts[p].has[a];
            for (int64_t k = 0; s->parts[p].has[a] && k < t->start[t->low + t->high + 1]; k++) {
                const int64_t col = llabs(t->entries[k].col);
                if (t->entries[k].kind == KNOWN_NOT && col != 0 &&
                    (a == axis ? col != 1 && col != round : col % 2 == 0))
                    return false;
            }
        }
        if (axes > 1)
            return false;
    }
    return true;
}

bool gmg_two_colours(const stencil *s)
{
    return distances_fit(s, -1, 0);
}

bool gmg_has_lines(const stencil *s, int axis)
{
    const grid_axis *along = &s->shape.axis[axis];
    const bool round = meets(along);
    return along->intervals > 0 && along->unknowns >= (round ? 4 : 2) && along->ranks <= 1 &&
           distances_fit(s, axis, round ? along->unknowns - 1 : 1);
}

/* A row's numbers for its line: of the point before, its own and the point behind. */
typedef struct line_row {
    const spry_operator *A;
    int axis;
    int64_t at[GRID_AXES];
    spry_scalar number[3];
} line_row;

static void add_number(void *data, const stencil_part *part, const stencil_entry *e)
{
    line_row *row = data;
    for (int a = 0; a < GRID_AXES; a++)
        if (e->kind[a] != KNOWN_NOT || (a != row->axis && e->col[a] != 0))
            return;
    const spry_scalar value = stencil_entry_value(row->A, row->at, part, e);
    const int64_t col = e->col[row->axis];
    const int side = col == 0 ? 1 : col == -1 || col > 1 ? 0 : 2; /* far ones go round */
    spry_scalar *sum = &row->number[side];
    *sum = (spry_scalar){sum->re + value.re, sum->im + value.im};
}

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static spry_scalar minus(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re - b.re, a.im - b.im};
}

static spry_scalar inverse_of(line_job *j, spry_scalar a)
{
    const double square = a.re * a.re + a.im * a.im;
    if (!(square > 0) || !isfinite(square))
        atomic_store(&j->singular, true);
    return (spry_scalar){a.re / square, -a.im / square};
}

/* The factors at a point, from those of the point before on its line. Where ends meet the last
 * point keeps its row, and the column of it is solved for besides. */
static void factor_point(line_job *j, const int64_t at[GRID_AXES], int64_t i)
{
    const spry_type type = j->m->type;
    void *const *to = j->l->factors[j->axis];
    const int64_t k = at[j->axis], before = i - j->stride;
    line_row row = {.A = j->l->A, .axis = j->axis, .at = {at[0], at[1], at[2]}};
    const spry_scalar *number = row.number;
    int64_t inside[GRID_AXES];
    for (int a = 0; a < GRID_AXES; a++)
        inside[a] = gmg_inside(j->l, a, at[a]);
    for (int p = 0; p < j->l->s->parts_count; p++)
        stencil_visit_row(&j->l->s->parts[p], false, inside, add_number, &row);
    value_set(type, to[0], i, number[0]);
    if (to[3] && k == j->length - 1) {
        value_set(type, to[1], i, number[1]);
        value_set(type, to[2], i, number[2]);
        return;
    }
    spry_scalar pivot = number[1];
    if (k > 0)
        pivot = minus(pivot, times(number[0], value_get(type, to[2], before)));
    const spry_scalar inverse = inverse_of(j, pivot);
    value_set(type, to[1], i, inverse);
    value_set(type, to[2], i, times(inverse, number[2]));
    if (!to[3])
        return;
    spry_scalar around = k == 0 ? number[0] : k == j->length - 2 ? number[2] : (spry_scalar){0, 0};
    if (k > 0)
        around = minus(around, times(number[0], value_get(type, to[3], before)));
    value_set(type, to[3], i, times(inverse, around));
}

/* What is left where ends meet, of the line whose first point is i: up, and the last pivot. */
static void close_line(line_job *j, int64_t i)
{
    const spry_type type = j->m->type;
    void *const *to = j->l->factors[j->axis];
    const int64_t end = i + (j->length - 1) * j->stride, before = end - j->stride;
    for (int64_t k = before - j->stride; k >= i; k -= j->stride)
        value_set(type, to[3], k,
                  minus(value_get(type, to[3], k),
                        times(value_get(type, to[2], k), value_get(type, to[3], k + j->stride))));
    const spry_scalar first = times(value_get(type, to[2], end), value_get(type, to[3], i)),
                      last = times(value_get(type, to[0], end), value_get(type, to[3], before));
    value_set(type, to[3], end,
              inverse_of(j, minus(minus(value_get(type, to[1], end), first), last)));
}

/* Where nothing differs from column to column, between the ends of x, factors of one do for all. */
static bool same_as_before(const line_job *j, int64_t x)
{
    const stencil *s = j->l->s;
    const stencil_form *f = &s->plain;
    return j->axis != 0 && s->field_count == 0 && f->along_count == 0 && x > f->low[0] &&
           x < s->shape.axis[0].unknowns - f->high[0];
}

static void factor_share(void *argument, int share, int shares)
{
    line_job *j = argument;
    const int64_t nx = box_length(&j->l->box, 0);
    const range part = base_share(j->slabs * j->chunks, shares, share, 1);
    for (int64_t k = part.begin; k < part.end; k++) {
        const line_unit u = unit_of(j, k);
        int64_t at[GRID_AXES];
        if (!is_among(j, &u, at))
            continue;
        for (int64_t r = 0; r < (j->axis == 0 ? 1 : j->length); r++) {
            const int64_t line = line_of(j, &u, r);
            for (int64_t x = u.begin; x < u.end; x++) {
                const int64_t i = line * nx + x;
                box_split(&j->l->box, i, at);
                if (x == u.begin || !same_as_before(j, x)) {
                    factor_point(j, at, i);
                    continue;
                }
                for (int f = 0; f < GMG_FACTORS && j->l->factors[j->axis][f]; f++)
                    value_set(j->m->type, j->l->factors[j->axis][f], i,
                              value_get(j->m->type, j->l->factors[j->axis][f], i - 1));
            }
        }
        const int64_t first = line_of(j, &u, 0) * nx;
        for (int64_t x = u.begin; j->l->factors[j->axis][3] && x < u.end; x++)
            if (j->axis != 0 || x == 0)
                close_line(j, first + x);
    }
}

spry_status gmg_lines_make(gmg *m, int level)
{
    gmg_level *l = &m->level[level];
    const size_t size = spry_type_size(m->type);
    spry_status status = SPRY_STATUS_OK;
    for (int axis = 0; axis < GRID_AXES; axis++) {
        line_job j;
        if (!(l->lines >> axis & 1))
            continue;
        describe(m, l, axis, &j);
        for (int f = 0; f < (meets(&l->s->shape.axis[axis]) ? 4 : 3); f++)
            SPRY_GO(m->ctx, base_alloc(m->ctx, l->count, size, &l->factors[axis][f]));
        base_share_out(m->ctx, host_threads(m->ctx, l->count), factor_share, &j);
        if (atomic_load(&j.singular)) {
            status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                               "precon gmg: a line along %c of level %d has no factors; take "
                               "smoother=jacobi",
                               "xyz"[axis], level);
            goto done;
        }
        const int64_t room = j.length * j.width * (int64_t)size;
        l->room_size = room > l->room_size ? room : l->room_size;
    }
    SPRY_GO(m->ctx, base_alloc(m->ctx, l->room_size * spry_context_threads(m->ctx), 1, &l->room));
done:
    return status;
}

void gmg_lines_clear(const gmg *m, gmg_level *l)
{
    for (int axis = 0; axis < GRID_AXES; axis++)
        for (int f = 0; f < GMG_FACTORS; f++)
            base_free(m->ctx, l->factors[axis][f]);
    base_free(m->ctx, l->room);
}
