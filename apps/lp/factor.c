/*
 * Sparse factors of a basis. Pivots are chosen by Markowitz's count among numbers that are not
 * small in their row, columns and rows with one number first (H. M. Markowitz, Management Science 3
 * (1957); U. H. Suhl, L. M. Suhl, ORSA J. Computing 2 (1990)). A column that is replaced becomes
 * the last of U, and its row is eliminated by one row of multipliers (J. J. H. Forrest, J. A.
 * Tomlin, Math. Programming 2 (1972)).
 *
 * The member of the basis that has its pivot in row r stands at position r: rows, positions, and
 * rows and columns of U have the same numbers.
 */
#include "lp/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TINY 1e-14     /* what sums leave by rounding */
#define SMALLEST 1e-11 /* pivot */
enum { MOST_UPDATES = 100, SEARCHED = 4 };

/* Numbers in the order in which they were added, in parts that begin at start[0], start[1], ... */
typedef struct parts {
    int64_t *start;
    int *of; /* the row that a part belongs to */
    int count, room;
    int *index;
    double *value;
    int64_t used, size;
} parts;

/* A number of a row of U, in a list: it counts as long as its column was not replaced. */
typedef struct link {
    int column, birth, next;
    double value;
} link;

struct lp_factor {
    int m, updates;
    double threshold;           /* of a pivot, over the largest number of its row */
    parts lower, rows, columns; /* multipliers of columns; of rows that were replaced; U */
    int *part_of;               /* the part of `columns` of each column */
    double *diagonal;
    int *birth, *gone;             /* when a column came, when a row was eliminated */
    int *sequence, *place, places; /* columns of U in order; -1: it moved */
    link *links;
    int *head, link_count, link_room;
    int64_t made; /* numbers of U and L when they were new */
    double *work;
    lp_vector spike;
};

/* --- memory --------------------------------------------------------------------------------------
 */

static void *more(void *list, size_t bytes)
{
    void *larger = realloc(list, bytes);
    if (!larger)
        exit(cli_fail(EXIT_RESOURCES, "no memory for %s of factors", text_bytes((double)bytes)));
    return larger;
}

static void parts_begin(parts *p, int of)
{
    if (p->count + 1 >= p->room) {
        p->room = 2 * p->room + 64;
        p->start = more(p->start, (size_t)p->room * sizeof *p->start);
        p->of = more(p->of, (size_t)p->room * sizeof *p->of);
    }
    p->start[p->count] = p->used;
    p->of[p->count++] = of;
    p->start[p->count] = p->used;
}

static void parts_add(parts *p, int index, double value)
{
    if (p->used == p->size) {
        p->size = 2 * p->size + 256;
        p->index = more(p->index, (size_t)p->size * sizeof *p->index);
        p->value = more(p->value, (size_t)p->size * sizeof *p->value);
    }
    p->index[p->used] = index;
    p->value[p->used++] = value;
    p->start[p->count] = p->used;
}

static void parts_free(parts *p)
{
    free(p->start);
    free(p->of);
    free(p->index);
    free(p->value);
}

static void *ints(int n)
{
    int *list = cli_alloc((size_t)(n > 0 ? n : 1) * sizeof *list);
    memset(list, 0, (size_t)(n > 0 ? n : 1) * sizeof *list);
    return list;
}

static double *numbers(int n)
{
    double *list = cli_alloc((size_t)(n > 0 ? n : 1) * sizeof *list);
    memset(list, 0, (size_t)(n > 0 ? n : 1) * sizeof *list);
    return list;
}

lp_vector lp_vector_new(int n)
{
    return (lp_vector){.value = numbers(n), .list = ints(n)};
}

void lp_vector_free(lp_vector *v)
{
    free(v->value);
    free(v->list);
}

void lp_vector_clear(lp_vector *v, int n)
{
    if (v->count < 0 || v->count > n / 4)
        memset(v->value, 0, (size_t)n * sizeof *v->value);
    else
        for (int k = 0; k < v->count; k++)
            v->value[v->list[k]] = 0;
    v->count = 0;
}

lp_factor *lp_factor_new(int rows)
{
    lp_factor *f = cli_alloc(sizeof *f);
    *f = (lp_factor){.m = rows, .threshold = 0.02};
    f->part_of = ints(rows);
    f->diagonal = numbers(rows);
    f->birth = ints(rows);
    f->gone = ints(rows);
    f->sequence = ints(rows + MOST_UPDATES + 1);
    f->place = ints(rows);
    f->head = ints(rows);
    f->work = numbers(rows);
    f->spike = lp_vector_new(rows);
    return f;
}

void lp_factor_free(lp_factor *f)
{
    if (!f)
        return;
    parts_free(&f->lower);
    parts_free(&f->rows);
    parts_free(&f->columns);
    void *const all[] = {f->part_of, f->diagonal, f->birth, f->gone, f->sequence,
                         f->place,   f->links,    f->head,  f->work};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    lp_vector_free(&f->spike);
    free(f);
}

/* --- elimination ---------------------------------------------------------------------------------
 */

/* What is left to eliminate: numbers by rows, places by columns. Lists that grow move to the end.
 */
typedef struct active {
    int m;
    struct side {
        int64_t *start;
        int *length, *room, *index;
        double *value; /* of rows alone */
        int64_t used, size;
        bool *done;
        int *first, *next, *previous; /* lists by length */
    } row, col;
    int *mark;       /* place + 1 of a column in the row at hand */
    int *pivot;      /* of columns: the row, once chosen; -1 */
    double *largest; /* of rows; < 0: not known */
    double threshold;
} active;

static void side_new(struct side *s, int m, int64_t entries, bool values)
{
    s->size = 3 * entries + 8 * (int64_t)m + 64;
    s->start = cli_alloc((size_t)(m + 1) * sizeof *s->start);
    s->length = ints(m);
    s->room = ints(m);
    s->index = cli_alloc((size_t)s->size * sizeof *s->index);
    s->value = values ? cli_alloc((size_t)s->size * sizeof *s->value) : NULL;
    s->done = cli_alloc((size_t)m + 1);
    memset(s->done, 0, (size_t)m + 1);
    s->first = ints(m + 1);
    s->next = ints(m);
    s->previous = ints(m);
    for (int k = 0; k <= m; k++)
        s->first[k] = -1;
}

static void side_free(struct side *s)
{
    void *const all[] = {s->start, s->length, s->room, s->index,   s->value,
                         s->done,  s->first,  s->next, s->previous};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void side_add(struct side *s, int of, int index, double value)
{
    if (s->length[of] == s->room[of]) {
        const int room = 2 * s->room[of] + 4;
        if (s->used + room > s->size) {
            s->size = 2 * s->size + room;
            s->index = more(s->index, (size_t)s->size * sizeof *s->index);
            if (s->value)
                s->value = more(s->value, (size_t)s->size * sizeof *s->value);
        }
        const size_t count = (size_t)s->length[of];
        memcpy(s->index + s->used, s->index + s->start[of], count * sizeof *s->index);
        if (s->value)
            memcpy(s->value + s->used, s->value + s->start[of], count * sizeof *s->value);
        s->start[of] = s->used;
        s->room[of] = room;
        s->used += room;
    }
    const int64_t at = s->start[of] + s->length[of]++;
    s->index[at] = index;
    if (s->value)
        s->value[at] = value;
}

static void side_remove(struct side *s, int of, int index)
{
    int64_t at = s->start[of];
    const int64_t last = at + s->length[of] - 1;
    while (s->index[at] != index)
        at++;
    s->index[at] = s->index[last];
    if (s->value)
        s->value[at] = s->value[last];
    s->length[of]--;
}

static void unlink_from(struct side *s, int k)
{
    if (s->previous[k] >= 0)
        s->next[s->previous[k]] = s->next[k];
    else
        s->first[s->length[k]] = s->next[k];
    if (s->next[k] >= 0)
        s->previous[s->next[k]] = s->previous[k];
}

static void link_into(struct side *s, int k)
{
    const int n = s->length[k];
    s->previous[k] = -1;
    s->next[k] = s->first[n];
    if (s->first[n] >= 0)
        s->previous[s->first[n]] = k;
    s->first[n] = k;
}

static active active_new(const lp_sparse *A, const int *head, int m)
{
    active a = {.m = m, .mark = ints(m), .pivot = ints(m), .largest = numbers(m)};
    int64_t entries = 0;
    for (int k = 0; k < m; k++)
        entries += head[k] < A->major ? A->start[head[k] + 1] - A->start[head[k]] : 1;
    side_new(&a.row, m, entries, true);
    side_new(&a.col, m, entries, false);
    for (int k = 0; k < m; k++) {
        a.pivot[k] = -1;
        a.largest[k] = -1;
        if (head[k] >= A->major)
            a.row.room[head[k] - A->major]++;
        else
            for (int64_t e = A->start[head[k]]; e < A->start[head[k] + 1]; e++)
                a.row.room[A->index[e]]++;
    }
    for (int i = 0; i < m; i++) {
        a.row.start[i] = a.row.used;
        a.row.used += a.row.room[i];
    }
    for (int k = 0; k < m; k++) {
        a.col.start[k] = a.col.used;
        if (head[k] >= A->major) {
            a.col.room[k] = 1;
            a.col.used++;
            side_add(&a.col, k, head[k] - A->major, 0);
            side_add(&a.row, head[k] - A->major, k, -1);
            continue;
        }
        a.col.room[k] = (int)(A->start[head[k] + 1] - A->start[head[k]]);
        a.col.used += a.col.room[k];
        for (int64_t e = A->start[head[k]]; e < A->start[head[k] + 1]; e++) {
            side_add(&a.col, k, A->index[e], 0);
            side_add(&a.row, A->index[e], k, A->value[e]);
        }
    }
    for (int k = 0; k < m; k++) {
        link_into(&a.row, k);
        link_into(&a.col, k);
    }
    return a;
}

static void active_free(active *a)
{
    side_free(&a->row);
    side_free(&a->col);
    free(a->mark);
    free(a->pivot);
    free(a->largest);
}

static double largest_of(active *a, int i)
{
    if (a->largest[i] < 0) {
        a->largest[i] = 0;
        for (int64_t e = a->row.start[i]; e < a->row.start[i] + a->row.length[i]; e++)
            a->largest[i] = fmax(a->largest[i], fabs(a->row.value[e]));
    }
    return a->largest[i];
}

static double value_at(const active *a, int i, int k)
{
    int64_t e = a->row.start[i];
    while (a->row.index[e] != k)
        e++;
    return a->row.value[e];
}

typedef struct choice {
    int row, col, searched;
    double merit, size;
} choice;

static void consider(active *a, int i, int k, double value, choice *best)
{
    const double size = fabs(value);
    if (size < SMALLEST || size < a->threshold * largest_of(a, i))
        return;
    const double merit = (double)(a->row.length[i] - 1) * (double)(a->col.length[k] - 1);
    if (merit < best->merit || (merit == best->merit && size > best->size))
        *best = (choice){i, k, best->searched, merit, size};
}

/* A pivot with few numbers in its row and column; false: none is left that is large enough. */
static bool choose(active *a, choice *best)
{
    *best = (choice){.row = -1, .merit = INFINITY};
    for (int n = 1; n <= a->m; n++) {
        if (best->row >= 0 && best->merit <= (double)(n - 1) * (double)(n - 1))
            return true;
        for (int k = a->col.first[n]; k >= 0; k = a->col.next[k]) {
            for (int64_t e = a->col.start[k]; e < a->col.start[k] + n; e++)
                consider(a, a->col.index[e], k, value_at(a, a->col.index[e], k), best);
            if (++best->searched >= SEARCHED && best->row >= 0)
                return true;
        }
        for (int i = a->row.first[n]; i >= 0; i = a->row.next[i]) {
            for (int64_t e = a->row.start[i]; e < a->row.start[i] + n; e++)
                consider(a, i, a->row.index[e], a->row.value[e], best);
            if (++best->searched >= SEARCHED && best->row >= 0)
                return true;
        }
    }
    return best->row >= 0;
}

/* Row i loses `factor` times the pivot's row, and its number in the pivot's column. */
static void eliminate_row(active *a, const choice *p, int i, double factor)
{
    struct side *row = &a->row;
    for (int64_t e = row->start[i]; e < row->start[i] + row->length[i]; e++)
        a->mark[row->index[e]] = (int)(e - row->start[i]) + 1;
    const int64_t count = row->length[p->row];
    for (int64_t n = 0; n < count; n++) {
        const int64_t e = row->start[p->row] + n; /* rows may move */
        const int k = row->index[e];
        const double change = factor * row->value[e];
        if (k == p->col)
            continue;
        if (a->mark[k] > 0) {
            row->value[row->start[i] + a->mark[k] - 1] -= change;
        } else if (fabs(change) > TINY) {
            side_add(row, i, k, -change);
            unlink_from(&a->col, k);
            side_add(&a->col, k, i, 0);
            link_into(&a->col, k);
        }
    }
    for (int64_t e = row->start[i]; e < row->start[i] + row->length[i]; e++)
        a->mark[row->index[e]] = 0;
    for (int n = 0; n < row->length[i]; n++) { /* what cancelled goes */
        const int64_t e = row->start[i] + n;
        const int k = row->index[e];
        if (k != p->col && fabs(row->value[e]) > TINY)
            continue;
        if (k != p->col) {
            unlink_from(&a->col, k);
            side_remove(&a->col, k, i);
            link_into(&a->col, k);
        }
        side_remove(row, i, k);
        n--;
    }
    a->largest[i] = -1;
}

/* One pivot: its row becomes one of U (in `rows`, by columns' numbers), its multipliers one of L.
 */
static void eliminate(lp_factor *f, active *a, const choice *p, parts *upper)
{
    const double pivot = value_at(a, p->row, p->col);
    unlink_from(&a->row, p->row);
    unlink_from(&a->col, p->col);
    if (a->col.length[p->col] > 1)
        parts_begin(&f->lower, p->row);
    for (int n = 0; n < a->col.length[p->col]; n++) {
        const int i = a->col.index[a->col.start[p->col] + n];
        if (i == p->row)
            continue;
        const double factor = value_at(a, i, p->col) / pivot;
        unlink_from(&a->row, i);
        eliminate_row(a, p, i, factor);
        link_into(&a->row, i);
        parts_add(&f->lower, i, factor);
    }
    parts_begin(upper, p->row);
    for (int64_t e = a->row.start[p->row]; e < a->row.start[p->row] + a->row.length[p->row]; e++) {
        const int k = a->row.index[e];
        if (k == p->col)
            continue;
        parts_add(upper, k, a->row.value[e]);
        unlink_from(&a->col, k);
        side_remove(&a->col, k, p->row);
        link_into(&a->col, k);
    }
    a->row.done[p->row] = a->col.done[p->col] = true;
    a->pivot[p->col] = p->row;
    f->diagonal[p->row] = pivot;
    f->place[p->row] = f->places;
    f->sequence[f->places++] = p->row;
}

/* --- U -------------------------------------------------------------------------------------------
 */

static void add_link(lp_factor *f, int row, int column, double value)
{
    if (f->link_count == f->link_room) {
        f->link_room = 2 * f->link_room + 1024;
        f->links = more(f->links, (size_t)f->link_room * sizeof *f->links);
    }
    f->links[f->link_count] = (link){column, f->updates, f->head[row], value};
    f->head[row] = f->link_count++;
}

/* Rows of U, whose columns have their own numbers, as lists of rows and as columns by pivots. */
static void set_upper(lp_factor *f, const parts *upper, const int *pivot)
{
    const int m = f->m;
    int64_t *begin = cli_alloc((size_t)(m + 1) * sizeof *begin);
    memset(begin, 0, (size_t)(m + 1) * sizeof *begin);
    f->columns.count = 0;
    f->columns.used = 0;
    for (int part = upper->count; part-- > 0;)
        for (int64_t e = upper->start[part]; e < upper->start[part + 1]; e++)
            if (pivot[upper->index[e]] >= 0) {
                add_link(f, upper->of[part], pivot[upper->index[e]], upper->value[e]);
                begin[pivot[upper->index[e]]]++;
            }
    for (int r = 0; r < m; r++) {
        const int64_t count = begin[r];
        parts_begin(&f->columns, r);
        f->part_of[r] = r;
        begin[r] = f->columns.used;
        for (int64_t k = 0; k < count; k++)
            parts_add(&f->columns, 0, 0);
    }
    for (int part = 0; part < upper->count; part++)
        for (int64_t e = upper->start[part]; e < upper->start[part + 1]; e++)
            if (pivot[upper->index[e]] >= 0) {
                const int64_t at = begin[pivot[upper->index[e]]]++;
                f->columns.index[at] = upper->of[part];
                f->columns.value[at] = upper->value[e];
            }
    free(begin);
}

int lp_factor_make(lp_factor *f, const lp_sparse *A, int *head, int *out, int *in)
{
    const int m = f->m;
    active a = active_new(A, head, m);
    parts upper = {0};
    choice best;
    a.threshold = f->threshold;
    int missing = 0;
    f->updates = f->places = f->link_count = 0;
    f->lower.count = f->rows.count = 0;
    f->lower.used = f->rows.used = 0;
    for (int r = 0; r < m; r++) {
        f->head[r] = -1;
        f->birth[r] = 0;
        f->gone[r] = -1;
    }
    while (f->places < m && choose(&a, &best))
        eliminate(f, &a, &best, &upper);
    int *old = cli_alloc((size_t)(m + 1) * sizeof *old);
    memcpy(old, head, (size_t)m * sizeof *old);
    for (int k = 0; k < m; k++)
        if (a.pivot[k] >= 0)
            head[a.pivot[k]] = old[k];
    for (int k = 0, r = 0; k < m; k++) { /* what has no pivot makes room for a row's own variable */
        if (a.pivot[k] >= 0)
            continue;
        while (a.row.done[r])
            r++;
        out[missing] = old[k];
        in[missing++] = head[r] = A->major + r;
        f->diagonal[r] = -1;
        f->place[r] = f->places;
        f->sequence[f->places++] = r;
        a.row.done[r] = true;
    }
    set_upper(f, &upper, a.pivot);
    f->made = f->columns.used + f->lower.used + m;
    free(old);
    parts_free(&upper);
    active_free(&a);
    return missing;
}

/* --- solves --------------------------------------------------------------------------------------
 */

static void list_all(lp_vector *x, int m)
{
    x->count = 0;
    for (int i = 0; i < m; i++)
        if (fabs(x->value[i]) > TINY)
            x->list[x->count++] = i;
        else
            x->value[i] = 0;
}

void lp_factor_forward(lp_factor *f, lp_vector *x, bool spike)
{
    double *v = x->value;
    const parts *l = &f->lower, *r = &f->rows, *u = &f->columns;
    for (int part = 0; part < l->count; part++) {
        const double by = v[l->of[part]];
        if (by != 0)
            for (int64_t e = l->start[part]; e < l->start[part + 1]; e++)
                v[l->index[e]] -= l->value[e] * by;
    }
    for (int part = 0; part < r->count; part++) {
        double sum = 0;
        for (int64_t e = r->start[part]; e < r->start[part + 1]; e++)
            sum += r->value[e] * v[r->index[e]];
        v[r->of[part]] -= sum;
    }
    if (spike) {
        memcpy(f->spike.value, v, (size_t)f->m * sizeof *v);
        list_all(&f->spike, f->m);
    }
    for (int k = f->places; k-- > 0;) {
        const int c = f->sequence[k];
        if (c < 0 || v[c] == 0)
            continue;
        const int part = f->part_of[c];
        const double by = v[c] /= f->diagonal[c];
        for (int64_t e = u->start[part]; e < u->start[part + 1]; e++)
            if (f->gone[u->index[e]] < f->birth[c])
                v[u->index[e]] -= u->value[e] * by;
    }
    list_all(x, f->m);
}

void lp_factor_backward(lp_factor *f, lp_vector *x)
{
    double *v = x->value;
    const parts *l = &f->lower, *r = &f->rows;
    for (int k = 0; k < f->places; k++) {
        const int c = f->sequence[k];
        if (c < 0 || v[c] == 0)
            continue;
        const double by = v[c] /= f->diagonal[c];
        for (int e = f->head[c]; e >= 0; e = f->links[e].next)
            if (f->links[e].birth == f->birth[f->links[e].column])
                v[f->links[e].column] -= f->links[e].value * by;
    }
    for (int part = r->count; part-- > 0;) {
        const double by = v[r->of[part]];
        if (by != 0)
            for (int64_t e = r->start[part]; e < r->start[part + 1]; e++)
                v[r->index[e]] -= r->value[e] * by;
    }
    for (int part = l->count; part-- > 0;) {
        double sum = 0;
        for (int64_t e = l->start[part]; e < l->start[part + 1]; e++)
            sum += l->value[e] * v[l->index[e]];
        v[l->of[part]] -= sum;
    }
    list_all(x, f->m);
}

/* --- updates -------------------------------------------------------------------------------------
 */

/* Eliminates row `place` of U by the rows behind it; what is left of its new diagonal. */
static double eliminate_last(lp_factor *f, int place)
{
    double left = f->spike.value[place];
    double *w = f->work;
    parts_begin(&f->rows, place);
    for (int e = f->head[place]; e >= 0; e = f->links[e].next)
        if (f->links[e].birth == f->birth[f->links[e].column])
            w[f->links[e].column] = f->links[e].value;
    for (int k = f->place[place] + 1; k < f->places; k++) {
        const int c = f->sequence[k];
        if (c < 0 || w[c] == 0)
            continue;
        const double by = w[c] / f->diagonal[c];
        w[c] = 0;
        if (fabs(by) <= TINY)
            continue;
        parts_add(&f->rows, c, by);
        left -= by * f->spike.value[c];
        for (int e = f->head[c]; e >= 0; e = f->links[e].next)
            if (f->links[e].birth == f->birth[f->links[e].column])
                w[f->links[e].column] -= by * f->links[e].value;
    }
    return left;
}

bool lp_factor_update(lp_factor *f, int place, double pivot)
{
    const double expected = f->diagonal[place] * pivot;
    const double left = eliminate_last(f, place);
    f->updates++;
    f->gone[place] = f->updates;
    f->birth[place] = f->updates;
    f->head[place] = -1;
    f->part_of[place] = f->columns.count;
    parts_begin(&f->columns, place);
    for (int k = 0; k < f->spike.count; k++) {
        const int i = f->spike.list[k];
        if (i == place)
            continue;
        parts_add(&f->columns, i, f->spike.value[i]);
        add_link(f, i, place, f->spike.value[i]);
    }
    f->sequence[f->place[place]] = -1;
    f->place[place] = f->places;
    f->sequence[f->places++] = place;
    f->diagonal[place] = left;
    return fabs(left) > TINY && fabs(left - expected) <= 1e-6 * fmax(fabs(left), fabs(expected));
}

bool lp_factor_stabilise(lp_factor *f)
{
    if (f->threshold >= 0.5)
        return false;
    f->threshold = fmin(0.5, 3 * f->threshold);
    return true;
}

bool lp_factor_is_stale(const lp_factor *f)
{
    const int64_t now = f->columns.used + f->lower.used + f->rows.used;
    return f->updates >= MOST_UPDATES || now > 3 * f->made + 1000;
}
