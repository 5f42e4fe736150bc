/*
 * What a term does along one axis, as rows of a table: few at each end and one for all between. The
 * rows are made on a model of the axis that is long enough for both ends not to see each other, as
 * dense matrices, which products of derivatives are plain products of; then those that are alike
 * become one.
 *
 * Inside, derivatives are centred differences. Where those would reach past the end, they take the
 * points that are nearest to it, as many more as the same order needs. At a face with Neumann's
 * condition the known derivative is one of these data; for the second derivative of order 2 there
 * is one datum less, which is the usual mirror image: the error at the face is of first order then,
 * that of a solution still of second. Robin's condition gives the derivative by the value at the
 * face, which adds to that point's number.
 *
 * A flux d (k d) has derivatives at the middles of intervals, k interpolated there, and differences
 * of what is in the middles: for order 2 the conservative form, a symmetric matrix. The flux
 * through a face with Neumann's condition is known.
 *
 * Where points were given each row has numbers of its own. They are made on models that are pieces
 * of the axis, with ends beyond the rows that are taken from them; a periodic axis goes on beyond
 * its ends there. Nodes are the same ones, by number.
 */
#include "grid/grid.h"

#include <stdlib.h>

enum { MODEL_MOST = 128, MARGIN = 32 };
/* An end of a model that is none of the axis: nothing is known at it. */
#define FREE_END GRID_PERIODIC

typedef struct model {
    spry_context *ctx;
    const grid_axis *axis;
    char name;
    int order, intervals, points;
    bool periodic; /* goes round, as no model of given points does */
    const axis_work *work;
    grid_face face[2];
    int first;                /* the point that is its row 0 */
    const long double *place; /* of its points; NULL: intervals are equal */
} model;

/* Rows and columns; columns of points are followed by the slopes at both ends. */
typedef struct dense {
    int rows, cols;
    double *a;
} dense;

static spry_status dense_new(spry_context *ctx, int rows, int cols, dense *d)
{
    *d = (dense){rows, cols, NULL};
    return base_calloc(ctx, (int64_t)rows * cols, sizeof(double), &d->a);
}

static double *row_of(const dense *d, int row)
{
    return d->a + (ptrdiff_t)row * d->cols;
}

/* --- rows of differences -------------------------------------------------------------------------
 */

/* Where nodes lie: at points or at the middles of intervals. */
typedef struct node_set {
    bool middles;
    int first, count, slope; /* slope: the node with a known derivative, or -1 */
    int end;                 /* middles: the point whose value is a node besides; -1: none */
} node_set;

static int wrapped(const model *m, int index)
{
    return m->periodic ? ((index % m->intervals) + m->intervals) % m->intervals : index;
}

/* The place of a point, or middle, that is counted in halves. */
static long double half_place(const model *m, int half)
{
    return half % 2 == 0 ? m->place[half / 2] : (m->place[half / 2] + m->place[half / 2 + 1]) / 2;
}

/* Weights of derivative q at a place, of nodes that are counted in halves, too; that of a slope is
 * for one times the axis's spacing. */
static void find_weights(const model *m, int q, int place, int count, const int *nodes, int slope,
                         double *w)
{
    weight exact[WEIGHTS_MOST + 1];
    long double at[WEIGHTS_MOST];
    const double scale = pow(m->axis->spacing, -q);
    if (!m->place) {
        grid_weights(q, place, count, nodes, slope, exact);
        for (int k = 0; k < count + (slope >= 0); k++)
            w[k] = grid_weight_value(exact[k]) * scale;
        return;
    }
    for (int k = 0; k < count; k++)
        at[k] = half_place(m, nodes[k]);
    grid_weights_at(q, half_place(m, place), count, at, slope, w);
    if (slope >= 0)
        w[count] /= m->axis->spacing;
}

/* Adds the weights of derivative q at a place, in halves, to a row. */
static void put_weights(const model *m, int q, int place, const node_set *s, double *row)
{
    int nodes[WEIGHTS_MOST];
    double w[WEIGHTS_MOST + 1];
    const int count = s->count + (s->end >= 0), at_end = s->end > 0;
    for (int k = 0; k < s->count; k++)
        nodes[k] = 2 * (s->first + k) + s->middles;
    if (s->end >= 0)
        nodes[s->count] = 2 * s->end;
    find_weights(m, q, place, count, nodes, s->slope, w);
    for (int k = 0; k < s->count; k++)
        row[wrapped(m, s->first + k)] += w[k];
    if (s->slope >= 0)
        row[m->points + (s->slope > 0)] += w[count];
    if (s->end >= 0) /* behind the middles stand the two fluxes through the ends */
        row[m->intervals + at_end] += w[s->count];
}

static spry_status check_size(const model *m, const char *what, int q, int needed)
{
    if (m->axis->points >= needed)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                     "order=%d: %s of power %d along %c needs %d points, the grid has %" PRId64,
                     m->order, what, q, m->name, needed, m->axis->points);
}

/* Whether rows of unknowns are centred all: one derivative that reaches no further than the faces,
 * with known values. */
static bool only_centred(const model *m, int half)
{
    const grid_face *face = m->axis->face;
    return half == 1 && m->work->outer_count + m->work->inner_count == 1 &&
           face[0] == GRID_DIRICHLET && face[1] == GRID_DIRICHLET;
}

/* Derivative q at all points, of points; bound: of what has the face's conditions. */
static spry_status derivative(const model *m, int q, bool bound, dense *d)
{
    const int n = m->intervals, half = (q + 1) / 2 - 1 + m->order / 2;
    const bool centred = m->axis->face[0] == GRID_PERIODIC || only_centred(m, half);
    spry_status status = check_size(m, "a derivative", q, centred ? 2 * half + 1 : q + m->order);
    if (status == SPRY_STATUS_OK)
        status = dense_new(m->ctx, m->points, m->points + 2, d);
    for (int i = 0; i < m->points && status == SPRY_STATUS_OK; i++) {
        node_set s = {.first = i - half, .count = 2 * half + 1, .slope = -1, .end = -1};
        if (!m->periodic && (i < half || i + half > n)) {
            const bool low = i <= n - i;
            const bool slope = bound && m->face[!low] == GRID_NEUMANN;
            s.count = q + m->order - slope - (slope && q == 2 && m->order == 2);
            s.first = low ? 0 : n + 1 - s.count;
            s.slope = !slope ? -1 : low ? 0 : s.count - 1;
            if (centred) /* a row on a face with a known value has no unknown */
                continue;
        }
        put_weights(m, q, 2 * i, &s, row_of(d, i));
    }
    return status;
}

/* Derivative q (0: the value) at the middles of intervals, of points. */
static spry_status at_middles(const model *m, int q, bool bound, dense *d)
{
    const int n = m->intervals, half = m->order / 2;
    spry_status status = dense_new(m->ctx, n, m->points + 2, d);
    for (int i = 0; i < n && status == SPRY_STATUS_OK; i++) {
        node_set s = {.first = i - half + 1, .count = 2 * half, .slope = -1, .end = -1};
        if (!m->periodic && (i < half - 1 || i + half > n)) {
            const bool low = i <= n - 1 - i;
            const bool slope = q > 0 && bound && m->face[!low] == GRID_NEUMANN;
            s.count = q + m->order - slope;
            s.first = low ? 0 : n + 1 - s.count;
            s.slope = !slope ? -1 : low ? 0 : s.count - 1;
        }
        put_weights(m, q, 2 * i + 1, &s, row_of(d, i));
    }
    return status;
}

/* The first derivative at points, of middles and of known fluxes through both ends. */
static spry_status of_middles(const model *m, dense *d)
{
    const int n = m->intervals, half = m->order / 2;
    spry_status status = dense_new(m->ctx, m->points, n + 2, d);
    for (int i = 0; i < m->points && status == SPRY_STATUS_OK; i++) {
        node_set s = {
            .middles = true, .first = i - half, .count = 2 * half, .slope = -1, .end = -1};
        if (!m->periodic && (i < half || i + half > n)) {
            const bool low = i <= n - i;
            const bool end = m->face[!low] == GRID_NEUMANN;
            s.count = m->order + 1 - end - (end && m->order == 2);
            s.first = low ? 0 : n - s.count;
            s.end = !end ? -1 : low ? 0 : n;
        }
        put_weights(m, 1, 2 * i, &s, row_of(d, i));
    }
    return status;
}

/* The product of derivatives, of which the last one may be of what has the face's conditions. */
static spry_status chain(const model *m, int count, const int *powers, bool bound, dense *result)
{
    dense d = {0}, next = {0};
    spry_status status = SPRY_STATUS_OK;
    const int cols = m->points + 2;
    SPRY_GO(m->ctx, dense_new(m->ctx, m->points, cols, result));
    for (int i = 0; i < m->points; i++)
        row_of(result, i)[i] = 1;
    for (int k = count - 1; k >= 0; k--) {
        SPRY_GO(m->ctx, derivative(m, powers[k], bound && k == count - 1, &d));
        SPRY_GO(m->ctx, dense_new(m->ctx, m->points, cols, &next));
        for (int i = 0; i < m->points; i++) {
            double *out = row_of(&next, i);
            for (int j = 0; j < m->points; j++)
                for (int c = 0; row_of(&d, i)[j] != 0 && c < cols; c++)
                    out[c] += row_of(&d, i)[j] * row_of(result, j)[c];
            for (int c = m->points; c < cols; c++)
                out[c] += row_of(&d, i)[c];
        }
        base_free(m->ctx, result->a);
        base_free(m->ctx, d.a);
        *result = next;
        d = next = (dense){0};
    }
done:
    base_free(m->ctx, d.a);
    base_free(m->ctx, next.a);
    return status;
}

/* --- rows as lists -------------------------------------------------------------------------------
 */

typedef struct row_list {
    const model *m;
    int64_t rows; /* of the model that are wanted */
    int64_t count, room, row_begin;
    axis_entry *entries;
    spry_status status;
} row_list;

/* How far it is from point i to point j. */
static int64_t steps(const model *m, int64_t i, int64_t j)
{
    const int64_t n = m->intervals;
    if (!m->periodic)
        return j - i;
    const int64_t d = ((j - i) % n + n) % n;
    return 2 * d > n ? d - n : d;
}

/* Adds c, at point mid and the number of a kind at a point, to row i. */
static void emit_at(row_list *l, int i, int mid, int at, known_kind kind, double c)
{
    const model *m = l->m;
    axis_entry e = {.mid = steps(m, i, mid), .col = steps(m, i, at), .c = c, .kind = kind};
    e.far_mid = e.mid;
    e.far_col = e.col;
    if (c == 0 || l->status != SPRY_STATUS_OK)
        return;
    for (int64_t k = l->row_begin; k < l->count; k++)
        if (l->entries[k].mid == e.mid && l->entries[k].col == e.col &&
            l->entries[k].kind == e.kind) {
            l->entries[k].c += c;
            return;
        }
    if (l->count == l->room) {
        const int64_t room = 2 * l->room + 256;
        l->status = base_grow(m->ctx, l->count, room, sizeof e, &l->entries);
        if (l->status != SPRY_STATUS_OK)
            return;
        l->room = room;
    }
    l->entries[l->count++] = e;
}

/* Adds c, at point mid and column col, to row i. With Robin's condition r u + du/dn = g the slope
 * is that of g, and the outward derivative -r u besides. */
static void emit(row_list *l, int i, int mid, int col, double c)
{
    const model *m = l->m;
    const int end = col > m->points, at = col < m->points ? col : end ? m->intervals : 0;
    const bool known = (at == 0 && m->face[0] == GRID_DIRICHLET) ||
                       (at == m->intervals && m->face[1] == GRID_DIRICHLET);
    if (col < m->points) {
        emit_at(l, i, mid, at, known ? KNOWN_VALUE : KNOWN_NOT, c);
        return;
    }
    const double r = m->axis->robin[end] * m->axis->spacing;
    emit_at(l, i, mid, at, KNOWN_SLOPE, c);
    emit_at(l, i, mid, at, KNOWN_NOT, end ? -c * r : c * r);
}

static spry_status list_derivatives(row_list *l, int64_t *start)
{
    const model *m = l->m;
    const axis_work *w = m->work;
    dense outer = {0}, inner = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->ctx, chain(m, w->outer_count, w->outer, false, &outer));
    SPRY_GO(m->ctx, chain(m, w->inner_count, w->inner, w->slopes, &inner));
    for (int64_t r = 0; r < l->rows; r++) {
        const int i = (int)r + m->first;
        l->row_begin = l->count;
        for (int j = 0; j < m->points; j++)
            for (int c = 0; row_of(&outer, i)[j] != 0 && c < inner.cols; c++)
                emit(l, i, w->mid ? j : i, c, row_of(&outer, i)[j] * row_of(&inner, j)[c]);
        start[r + 1] = l->count;
    }
    status = l->status;
done:
    base_free(m->ctx, outer.a);
    base_free(m->ctx, inner.a);
    return status;
}

/* The known flux through an end is the field at it times the slope, which counts in spacings. */
static void emit_end(row_list *l, int i, int end, double c)
{
    const model *m = l->m;
    emit(l, i, end ? m->intervals : 0, m->points + end, c / m->axis->spacing);
}

static spry_status list_flux(row_list *l, int64_t *start)
{
    const model *m = l->m;
    dense slope = {0}, value = {0}, of = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->ctx, check_size(m, "a flux", 1, m->order + (m->order > 2) + 1));
    SPRY_GO(m->ctx, at_middles(m, 1, m->work->slopes, &slope));
    SPRY_GO(m->ctx, at_middles(m, 0, false, &value));
    SPRY_GO(m->ctx, of_middles(m, &of));
    for (int64_t r = 0; r < l->rows; r++) {
        const int i = (int)r + m->first;
        l->row_begin = l->count;
        for (int k = 0; k < m->intervals; k++) {
            const double d = row_of(&of, i)[k];
            for (int j = 0; d != 0 && j < m->points; j++)
                for (int c = 0; row_of(&value, k)[j] != 0 && c < slope.cols; c++)
                    emit(l, i, j, c, d * row_of(&value, k)[j] * row_of(&slope, k)[c]);
        }
        for (int end = 0; end < 2; end++)
            emit_end(l, i, end, row_of(&of, i)[m->intervals + end]);
        start[r + 1] = l->count;
    }
    status = l->status;
done:
    base_free(m->ctx, slope.a);
    base_free(m->ctx, value.a);
    base_free(m->ctx, of.a);
    return status;
}

/* --- tables --------------------------------------------------------------------------------------
 */

void axis_table_clear(spry_context *ctx, axis_table *table)
{
    base_free(ctx, table->start);
    base_free(ctx, table->entries);
    *table = (axis_table){0};
}

int64_t axis_table_reach(const axis_table *t)
{
    int64_t reach = 0;
    for (int64_t k = 0; k < t->start[t->low + t->high + 1]; k++) {
        const int64_t col = llabs(t->entries[k].far_col), mid = llabs(t->entries[k].far_mid);
        reach = col > reach ? col : reach;
        reach = mid > reach ? mid : reach;
    }
    return reach;
}

/* Room for rows of `entries` entries in all. */
static spry_status table_new(spry_context *ctx, int64_t rows, int64_t low, int64_t high,
                             int64_t entries, axis_table *t)
{
    *t = (axis_table){.rows = rows, .low = low, .high = high};
    spry_status status = base_calloc(ctx, low + high + 2, sizeof *t->start, &t->start);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, entries, sizeof *t->entries, &t->entries);
    return status;
}

/* Few rows are all by themselves. */
static void cut_rows(int64_t rows, int64_t reach_low, int64_t reach_high, int64_t *low,
                     int64_t *high)
{
    const bool few = rows <= reach_low + reach_high;
    *low = few ? rows : reach_low;
    *high = few ? 0 : reach_high;
}

/* A periodic axis has one list for all rows; those near the ends go on at the other one. */
static spry_status table_wrap(spry_context *ctx, int64_t rows, const axis_entry *list,
                              int64_t count, axis_table *t)
{
    int64_t reach = 0, low, high;
    for (int64_t k = 0; k < count; k++) {
        reach = llabs(list[k].far_col) > reach ? llabs(list[k].far_col) : reach;
        reach = llabs(list[k].far_mid) > reach ? llabs(list[k].far_mid) : reach;
    }
    cut_rows(rows, reach, reach, &low, &high);
    const spry_status status = table_new(ctx, rows, low, high, (low + high + 1) * count, t);
    t->periodic = true;
    for (int64_t c = 0; c <= low + high && status == SPRY_STATUS_OK; c++) {
        const int64_t r = c <= low ? c : rows - high + c - low - 1;
        t->start[c + 1] = t->start[c] + count;
        for (int64_t k = 0; k < count; k++) {
            axis_entry *e = &t->entries[t->start[c] + k];
            *e = list[k];
            e->col = e->far_col;
            e->mid = e->far_mid;
            if (c == low) /* between, where nothing goes round */
                continue;
            e->col = (((r + e->col) % rows) + rows) % rows - r;
            e->mid = (((r + e->mid) % rows) + rows) % rows - r;
        }
    }
    return status;
}

static bool rows_equal(const axis_entry *e, const int64_t *start, int64_t a, int64_t b)
{
    const int64_t count = start[a + 1] - start[a];
    if (count != start[b + 1] - start[b])
        return false;
    for (int64_t k = 0; k < count; k++) {
        const axis_entry *p = e + start[a] + k, *q = e + start[b] + k;
        if (p->mid != q->mid || p->col != q->col || p->c != q->c || p->kind != q->kind)
            return false;
    }
    return true;
}

/* The rows at both ends and one of those between, which are all alike. */
static spry_status table_cut(const model *m, int64_t rows, const row_list *l, const int64_t *start,
                             axis_table *t)
{
    const int64_t all = l->rows, middle = all / 2;
    int64_t below = middle, above = middle, low, high;
    while (below > 0 && rows_equal(l->entries, start, below - 1, middle))
        below--;
    while (above + 1 < all && rows_equal(l->entries, start, above + 1, middle))
        above++;
    if (all < rows && above - below < all / 4)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a product of derivatives along %c reaches too far", m->name);
    cut_rows(all, below, all - 1 - above, &low, &high);
    const spry_status status = table_new(m->ctx, rows, low, high, l->count, t);
    for (int64_t c = 0; c <= low + high && status == SPRY_STATUS_OK; c++) {
        const int64_t r = c < low ? c : c > low ? all - high + c - low - 1 : middle;
        const int64_t count = c == low && low == all ? 0 : start[r + 1] - start[r];
        memcpy(t->entries + t->start[c], l->entries + start[r], (size_t)count * sizeof *l->entries);
        t->start[c + 1] = t->start[c] + count;
    }
    return status;
}

static spry_status list_rows(row_list *l, int64_t *start)
{
    return l->m->work->flux ? list_flux(l, start) : list_derivatives(l, start);
}

static spry_status make_equal(spry_context *ctx, const grid_axis *axis, char name, int order,
                              const axis_work *work, axis_table *table)
{
    const int64_t cut = axis->intervals < MODEL_MOST ? axis->intervals : MODEL_MOST;
    const bool periodic = axis->face[0] == GRID_PERIODIC;
    const model m = {.ctx = ctx,
                     .axis = axis,
                     .name = name,
                     .order = order,
                     .intervals = (int)cut,
                     .points = (int)cut + !periodic,
                     .periodic = periodic,
                     .work = work,
                     .face = {axis->face[0], axis->face[1]},
                     .first = (int)axis->first};
    row_list list = {.m = &m, .rows = m.points - (axis->points - axis->unknowns)};
    int64_t *start = NULL;
    spry_status status = SPRY_STATUS_OK;
    *table = (axis_table){0};
    SPRY_GO(ctx, base_calloc(ctx, list.rows + 1, sizeof *start, &start));
    SPRY_GO(ctx, list_rows(&list, start));
    if (!list.entries) { /* of a derivative all numbers are never 0 */
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "a term has no numbers along %c", name);
        goto done;
    }
    if (periodic)
        SPRY_GO(ctx, table_wrap(ctx, axis->unknowns, list.entries, start[1], table));
    else
        SPRY_GO(ctx, table_cut(&m, axis->unknowns, &list, start, table));
done:
    base_free(ctx, start);
    base_free(ctx, list.entries);
    if (status != SPRY_STATUS_OK)
        axis_table_clear(ctx, table);
    return status;
}

/* --- points that were given ----------------------------------------------------------------------
 */

/* Rows begin..end-1 of an axis, on the piece of it around them. */
static spry_status list_piece(model *m, int64_t begin, int64_t end, row_list *l, int64_t *start)
{
    const grid_axis *axis = m->axis;
    const int64_t n = axis->intervals, from = begin + axis->first, to = end - 1 + axis->first;
    const bool periodic = axis->face[0] == GRID_PERIODIC;
    const int64_t first = periodic || from > MARGIN ? from - MARGIN : 0;
    const int64_t last = periodic || to + MARGIN < n ? to + MARGIN : n;
    const long double period = (long double)axis->high - axis->low;
    long double place[MODEL_MOST + 1];
    for (int64_t i = first; i <= last; i++) {
        const int64_t turns = periodic ? (i < 0 ? -((n - 1 - i) / n) : i / n) : 0;
        place[i - first] = grid_coordinate(axis, i - turns * n) + (long double)turns * period;
    }
    m->intervals = (int)(last - first);
    m->points = m->intervals + 1;
    m->face[0] = periodic || first > 0 ? FREE_END : axis->face[0];
    m->face[1] = periodic || last < n ? FREE_END : axis->face[1];
    m->first = (int)(from - first);
    m->place = place;
    l->m = m;
    l->rows = end - begin;
    const spry_status status = list_rows(l, start + begin);
    m->place = NULL;
    return status;
}

/* Whether rows reach no further than differences that the ends of pieces have no part in. */
static bool within_margin(const row_list *l)
{
    enum { WIDEST = 8 }; /* of a difference, to one side */
    for (int64_t k = 0; k < l->count; k++)
        if (llabs(l->entries[k].col) >= MARGIN - WIDEST ||
            llabs(l->entries[k].mid) >= MARGIN - WIDEST)
            return false;
    return true;
}

/* Rows that have entries where all rows between the ends may have them. */
static void find_alike(axis_table *t)
{
    bool changed = true;
    while (changed && t->begin < t->end) {
        int64_t below = 0, above = 0;
        for (int64_t k = t->start[t->begin]; k < t->start[t->end]; k++) {
            const axis_entry *e = &t->entries[k];
            below = e->col < below ? e->col : below;
            below = e->mid < below ? e->mid : below;
            above = e->col > above ? e->col : above;
            above = e->mid > above ? e->mid : above;
        }
        changed = t->begin + below < 0 || t->end + above > t->rows;
        t->begin = t->begin + below < 0 ? -below : t->begin;
        t->end = t->end + above > t->rows ? t->rows - above : t->end;
    }
    if (t->begin >= t->end)
        t->begin = t->end = t->rows;
}

static spry_status make_given(spry_context *ctx, const grid_axis *axis, char name, int order,
                              const axis_work *work, axis_table *t)
{
    enum { PIECE = MODEL_MOST - 2 * MARGIN };
    const int64_t rows = axis->unknowns;
    const bool periodic = axis->face[0] == GRID_PERIODIC;
    grid_axis equal = *axis;
    axis_table plain;
    model m = {.ctx = ctx, .axis = axis, .name = name, .order = order, .work = work};
    row_list list = {.m = &m};
    spry_status status = SPRY_STATUS_OK;
    equal.given = NULL;
    *t = (axis_table){0};
    SPRY_GO(ctx, make_equal(ctx, &equal, name, order, work, &plain));
    const int64_t low = plain.low, high = plain.high;
    axis_table_clear(ctx, &plain);
    SPRY_GO(ctx, table_new(ctx, rows, rows, 0, 0, t));
    for (int64_t begin = 0; begin < rows; begin += PIECE)
        SPRY_GO(ctx, list_piece(&m, begin, begin + PIECE < rows ? begin + PIECE : rows, &list,
                                t->start));
    if (!list.entries || !within_margin(&list)) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "a product of derivatives along %c reaches too far", name);
        goto done;
    }
    base_free(ctx, t->entries);
    t->entries = list.entries;
    list.entries = NULL;
    t->start[rows + 1] = t->start[rows]; /* no row is between the ends */
    t->given = true;
    t->begin = low;
    t->end = rows - high;
    find_alike(t);
    for (int64_t r = 0; r < rows && periodic; r++)
        for (int64_t k = t->start[r]; k < t->start[r + 1]; k++) {
            axis_entry *e = &t->entries[k];
            e->col = (((r + e->col) % rows) + rows) % rows - r;
            e->mid = (((r + e->mid) % rows) + rows) % rows - r;
        }
done:
    base_free(ctx, list.entries);
    if (status != SPRY_STATUS_OK)
        axis_table_clear(ctx, t);
    return status;
}

spry_status axis_table_make(spry_context *ctx, const grid_axis *axis, char name, int order,
                            const axis_work *work, axis_table *table)
{
    return (axis->given ? make_given : make_equal)(ctx, axis, name, order, work, table);
}

spry_status axis_table_pattern(spry_context *ctx, const axis_table *t, int64_t begin, int64_t end,
                               int *count, axis_entry **pattern)
{
    int room = 0;
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    *pattern = NULL;
    for (int64_t k = t->start[begin]; k < t->start[end] && status == SPRY_STATUS_OK; k++) {
        const axis_entry *e = &t->entries[k];
        int same = 0;
        while (same < *count && ((*pattern)[same].mid != e->mid || (*pattern)[same].col != e->col))
            same++;
        if (same < *count || e->kind != KNOWN_NOT)
            continue;
        if (*count == room) {
            status = base_grow(ctx, *count, 2 * room + 16, sizeof **pattern, pattern);
            if (status != SPRY_STATUS_OK)
                break;
            room = 2 * room + 16;
        }
        (*pattern)[(*count)++] = (axis_entry){
            .mid = e->mid, .col = e->col, .far_mid = e->far_mid, .far_col = e->far_col, .c = 1};
    }
    return status;
}

/* --- transposes ----------------------------------------------------------------------------------
 */

static axis_entry turned(const axis_entry *e)
{
    return (axis_entry){.mid = e->mid - e->col,
                        .col = -e->col,
                        .far_mid = e->far_mid - e->far_col,
                        .far_col = -e->far_col,
                        .c = e->c};
}

/* Entries of column s, in rows around it. */
static int64_t gather_column(const axis_table *from, int64_t s, int64_t reach, axis_entry *to)
{
    int64_t count = 0;
    const int64_t begin = s > reach ? s - reach : 0;
    for (int64_t r = begin; r <= s + reach && r < from->rows; r++) {
        const int64_t c = axis_class(from->rows, from->low, from->high, r);
        for (int64_t k = from->start[c]; k < from->start[c + 1]; k++) {
            const axis_entry *e = &from->entries[k];
            if (e->kind != KNOWN_NOT || r + e->col != s)
                continue;
            if (to)
                to[count] = turned(e);
            count++;
        }
    }
    return count;
}

static spry_status transpose_wrapped(spry_context *ctx, const axis_table *from, axis_table *t)
{
    const int64_t first = from->start[from->low < from->rows ? from->low : 0];
    const int64_t count = from->start[1] - from->start[0];
    axis_entry *list = NULL;
    spry_status status = base_alloc(ctx, count, sizeof *list, &list);
    for (int64_t k = 0; k < count && status == SPRY_STATUS_OK; k++)
        list[k] = turned(&from->entries[first + k]);
    if (status == SPRY_STATUS_OK)
        status = table_wrap(ctx, from->rows, list, count, t);
    base_free(ctx, list);
    return status;
}

/* Entries by columns, in the order of rows. */
static spry_status transpose_given(spry_context *ctx, const axis_table *from, axis_table *t)
{
    const int64_t rows = from->rows;
    int64_t reach = 0;
    const spry_status status = table_new(ctx, rows, rows, 0, from->start[rows], t);
    if (status != SPRY_STATUS_OK) {
        axis_table_clear(ctx, t);
        return status;
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = from->start[r]; k < from->start[r + 1]; k++) {
                const axis_entry *e = &from->entries[k];
                if (e->kind != KNOWN_NOT)
                    continue;
                if (turn == 0)
                    t->start[r + e->col + 2]++; /* counts, then places: one behind its own */
                else
                    t->entries[t->start[r + e->col + 1]++] = turned(e);
                if (llabs(e->col) < MARGIN && llabs(e->col) > reach) /* none that goes round */
                    reach = llabs(e->col);
            }
        for (int64_t s = 0; s < rows && turn == 0; s++)
            t->start[s + 2] += t->start[s + 1];
    }
    t->start[rows + 1] = t->start[rows];
    t->given = true;
    t->begin = from->begin + reach;
    t->end = from->end - reach;
    find_alike(t);
    return status;
}

spry_status axis_table_transpose(spry_context *ctx, const axis_table *from, axis_table *t)
{
    int64_t reach = 0, low, high, entries = 0;
    *t = (axis_table){0};
    if (from->periodic)
        return transpose_wrapped(ctx, from, t);
    if (from->given)
        return transpose_given(ctx, from, t);
    for (int64_t k = 0; k < from->start[from->low + from->high + 1]; k++)
        if (from->entries[k].kind == KNOWN_NOT && llabs(from->entries[k].col) > reach)
            reach = llabs(from->entries[k].col);
    cut_rows(from->rows, from->low + reach, from->high + reach, &low, &high);
    for (int64_t c = 0; c <= low + high; c++)
        if (c != low || low < from->rows)
            entries +=
                gather_column(from, c <= low ? c : from->rows - high + c - low - 1, reach, NULL);
    const spry_status status = table_new(ctx, from->rows, low, high, entries, t);
    for (int64_t c = 0; c <= low + high && status == SPRY_STATUS_OK; c++) {
        const int64_t s = c <= low ? c : from->rows - high + c - low - 1;
        const int64_t count = c == low && low == from->rows
                                  ? 0
                                  : gather_column(from, s, reach, t->entries + t->start[c]);
        t->start[c + 1] = t->start[c] + count;
    }
    if (status != SPRY_STATUS_OK)
        axis_table_clear(ctx, t);
    return status;
}
