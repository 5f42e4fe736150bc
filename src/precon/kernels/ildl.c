/*
 * Columns of incomplete factors (I + L) D (I + L)^H, or ^T for complex symmetric matrices, of a
 * matrix that was equilibrated, with pivots of one and of two rows.
 *
 * A column of what is left of A is made when it is asked for, from A and the columns of L that have
 * its row (the Crout way: N. Li, Y. Saad, Crout versions of ILU factorization with pivoting for
 * sparse symmetric matrices, Electron. Trans. Numer. Anal. 20 (2005), 75-85). Pivots are found by
 * rook search: from the row that is next in the order to the largest entry of its column, and on,
 * until a diagonal entry is large enough for its column or an entry is the largest of its row and
 * its column, which makes a pivot of two (C. Greif, S. He, P. Liu, SYM-ILDL: incomplete LDL^T
 * factorization of symmetric indefinite and skew-symmetric matrices, ACM Trans. Math. Softw. 44
 * (2017)). Nothing is moved: rows keep A's numbers, and steps remember which they were. Entries are
 * dropped by the norms of rows of the inverse factor as in ilutp.c. The two columns of a pivot of
 * two have the same rows, so that an entry's neighbour is found by its place.
 */
#include "precon/kernels/sparse_row.h"

enum { MOST_SEARCH = 16 };

typedef struct column {
    int64_t j, count;
    scalar *w;
    int32_t *mark, *list;
    int32_t largest; /* off the diagonal; -1: all are 0 */
    real size, own;
} column;

static void add_to(const ildl_job *p, column *c, int32_t i, scalar a)
{
    if (p->step[i] >= 0)
        return;
    if (c->mark[i] == 0) {
        c->mark[i] = 1;
        c->w[i] = number(0);
        c->list[c->count++] = i;
    }
    c->w[i] = add(c->w[i], a);
}

static scalar other(const ildl_job *p, scalar a)
{
    return p->hermitian ? conjugate(a) : a;
}

/* Takes what a step, or the two of a pivot, have in the row. */
static void take(const ildl_job *p, column *c, int64_t e)
{
    const int64_t k = p->step_of[e], begin = p->offsets[k], n = p->offsets[k + 1] - begin;
    const scalar *l = (const scalar *)p->values + begin, *d = p->diagonal, *b = p->below;
    const int32_t *rows = p->rows + begin;
    const scalar first = other(p, l[e - begin]);
    if (!p->wide[k]) {
        const scalar minus = sub(number(0), mul(d[k], first));
        for (int64_t i = 0; i < n; i++)
            add_to(p, c, rows[i], mul(minus, l[i]));
        return;
    }
    const scalar second = other(p, l[e - begin + n]);
    const scalar x = sub(number(0), add(mul(d[k], first), mul(other(p, b[k]), second))),
                 y = sub(number(0), add(mul(b[k], first), mul(d[k + 1], second)));
    for (int64_t i = 0; i < n; i++)
        add_to(p, c, rows[i], add(mul(x, l[i]), mul(y, l[i + n])));
}

static void look_through(const ildl_job *p, column *c)
{
    c->largest = -1;
    c->size = 0;
    if (p->hermitian)
        c->w[c->j] = number(real_of(c->w[c->j]));
    c->own = size_of(c->w[c->j]);
    for (int64_t k = 0; k < c->count; k++) {
        const int32_t i = c->list[k];
        const real s = size_of(c->w[i]);
        if (i != c->j && (s > c->size || (s == c->size && s > 0 && i < c->largest))) {
            c->size = s;
            c->largest = i;
        }
    }
}

static void make_column(const ildl_job *p, int which, int64_t j, column *c)
{
    const scalar *values = p->a_values;
    *c = (column){.j = j, .w = p->w[which], .mark = p->mark[which], .list = p->list[which]};
    add_to(p, c, (int32_t)j, number(0));
    for (int64_t k = p->a_offsets[j]; k < p->a_offsets[j + 1]; k++)
        add_to(p, c, p->a_columns[k], other(p, values[k]));
    for (int64_t e = p->head[j]; e >= 0; e = p->next[e])
        take(p, c, e);
    look_through(p, c);
}

static void clean(column *c)
{
    for (int64_t k = 0; k < c->count; k++)
        c->mark[c->list[k]] = 0;
    c->count = 0;
}

/* The largest entry of a column besides the pivot's two. */
static real largest_other(const column *c, int64_t i, int64_t j)
{
    real most = 0;
    for (int64_t k = 0; k < c->count; k++) {
        const real s = size_of(c->w[c->list[k]]);
        if (c->list[k] != i && c->list[k] != j && s > most)
            most = s;
    }
    return most;
}

/* Whether L's entries of a pivot of two stay below 1 / u: those of |D^-1| times the largest ones.
 */
static bool pair_does(const ildl_job *p, const column c[2])
{
    const real u = (real)p->pivot;
    const scalar b = c[0].w[c[1].j];
    const real s = c[0].own, t = c[1].own, v = size_of(b),
               det = size_of(sub(mul(c[0].w[c[0].j], c[1].w[c[1].j]), mul(b, other(p, b)))),
               x = largest_other(&c[0], c[0].j, c[1].j), y = largest_other(&c[1], c[0].j, c[1].j);
    return det > 0 && u * (t * x + v * y) <= det && u * (v * x + s * y) <= det;
}

/* The row that comes first in the order, after `after`, of those with large entries; -1: none. */
static int32_t next_candidate(const ildl_job *p, const column *c, int64_t after)
{
    const real least = (real)p->pivot * c->size;
    int32_t best = -1;
    for (int64_t k = 0; k < c->count; k++) {
        const int32_t i = c->list[k];
        const int64_t rank = p->rank ? p->rank[i] : i;
        if (i == c->j || size_of(c->w[i]) < least || rank <= after)
            continue;
        if (best < 0 || rank < (p->rank ? p->rank[best] : best))
            best = i;
    }
    return best;
}

/* A second row for c[0]'s pivot that does; its column in c[1]. */
static bool find_partner(const ildl_job *p, column c[2])
{
    enum { CANDIDATES = 4 };
    int64_t after = -1;
    for (int k = 0; k < CANDIDATES; k++) {
        const int32_t i = next_candidate(p, &c[0], after);
        if (i < 0)
            break;
        make_column(p, 1, i, &c[1]);
        if (pair_does(p, c))
            return true;
        clean(&c[1]);
        after = p->rank ? p->rank[i] : i;
    }
    return false;
}

/* From the largest entry of a column to that of the next until one is large enough for both. */
static bool rook_search(const ildl_job *p, column c[2])
{
    const real alpha = (real)0.6403882032022076; /* (1 + sqrt(17)) / 8 */
    for (int turn = 0; c[0].own < alpha * c[0].size; turn++) {
        make_column(p, c[0].w == p->w[0], c[0].largest, &c[1]);
        const bool alone = c[1].own >= alpha * c[1].size;
        if (!alone && (c[1].size <= c[0].size || turn == MOST_SEARCH))
            return true;
        clean(&c[0]);
        c[0] = c[1];
        c[1] = (column){0};
        if (alone)
            break;
    }
    return false;
}

/* Leaves the pivot's column in c[0], that of a second row in c[1]; returns whether there is one. */
static bool find_pivot(const ildl_job *p, int64_t j, column c[2])
{
    make_column(p, 0, j, &c[0]);
    c[1] = (column){0};
    if (c[0].own >= (real)p->pivot * c[0].size)
        return false;
    return find_partner(p, c) || rook_search(p, c);
}

static void link_entry(const ildl_job *p, int64_t e, int64_t step)
{
    const int32_t i = p->rows[e];
    p->step_of[e] = (int32_t)step;
    p->next[e] = p->head[i];
    p->head[i] = e;
}

/* Entries that a column may have, for rows of A with `own`. */
static int64_t most_of(const ildl_job *p, int64_t step, int64_t own)
{
    return allowance(p->fill, own, p->mean, step, p->offsets[step], p->n);
}

static int64_t length_of(const ildl_job *p, int64_t j)
{
    return p->a_offsets[j + 1] - p->a_offsets[j];
}

/* The estimate of the row of the inverse that a step has. */
static scalar growth_at(const ildl_job *p, int64_t j)
{
    const scalar *growth = p->growth;
    return grown(growth[j]);
}

static void one_step(ildl_job *p, int64_t step, column *c)
{
    scalar *d = p->diagonal, *l = p->values, *growth = p->growth;
    const scalar y = growth_at(p, c->j);
    const int64_t most = most_of(p, step, length_of(p, c->j));
    int64_t left = 0, to = p->offsets[step];
    d[step] = c->w[c->j];
    if (!(c->own > 16 * UNIT)) {
        d[step] = number((real)sqrt((double)UNIT));
        p->perturbed++;
    }
    const real least = (real)p->tau / size_of(y) * size_of(d[step]);
    const scalar by = inverse(d[step]);
    for (int64_t k = 0; k < c->count; k++) {
        const int32_t i = c->list[k];
        c->mark[i] = 0;
        if (i != c->j && size_of(c->w[i]) > least)
            c->list[left++] = i;
    }
    select_largest(c->w, c->list, left, most);
    left = left < most ? left : most;
    for (int64_t k = 0; k < left; k++, to++) {
        const int32_t i = c->list[k];
        l[to] = mul(c->w[i], by);
        p->rows[to] = i;
        growth[i] = add(growth[i], mul(l[to], y));
        link_entry(p, to, step);
    }
    p->offsets[step + 1] = to;
    p->wide[step] = false;
    p->row[step] = (int32_t)c->j;
    p->step[c->j] = (int32_t)step;
}

/* Both columns get the rows of either; those of c[0] come first. */
static void join(column c[2])
{
    for (int side = 0; side < 2; side++) {
        column *from = &c[side], *to = &c[1 - side];
        for (int64_t k = 0; k < from->count; k++) {
            const int32_t i = from->list[k];
            if (to->mark[i])
                continue;
            to->mark[i] = 1;
            to->w[i] = number(0);
            to->list[to->count++] = i;
        }
    }
}

/* The inverse of [d1, other(b); b, d2] without overflow for numbers near 1. */
static void invert_pair(const ildl_job *p, scalar d1, scalar b, scalar d2, scalar inverse_of[3])
{
    const scalar det = sub(mul(d1, d2), mul(b, other(p, b))), by = inverse(det);
    inverse_of[0] = mul(d2, by);
    inverse_of[1] = sub(number(0), mul(b, by));
    inverse_of[2] = mul(d1, by);
}

static void two_steps(ildl_job *p, int64_t step, column c[2])
{
    scalar *d = p->diagonal, *b = p->below, *l = p->values, *growth = p->growth, by[3];
    const scalar y[2] = {growth_at(p, c[0].j), growth_at(p, c[1].j)};
    const int64_t own[2] = {length_of(p, c[0].j), length_of(p, c[1].j)};
    const int64_t most = most_of(p, step, own[0] > own[1] ? own[0] : own[1]),
                  begin = p->offsets[step];
    int64_t left = 0;
    d[step] = c[0].w[c[0].j];
    d[step + 1] = c[1].w[c[1].j];
    b[step] = c[0].w[c[1].j];
    invert_pair(p, d[step], b[step], d[step + 1], by);
    join(c);
    for (int64_t k = 0; k < c[0].count; k++) {
        const int32_t i = c[0].list[k];
        const scalar v = c[0].w[i], w = c[1].w[i];
        c[0].mark[i] = c[1].mark[i] = 0;
        /* [v w] D^-1, and what decides about the pair in the place of w */
        const scalar first = add(mul(v, by[0]), mul(w, by[1])),
                     second = add(mul(v, other(p, by[1])), mul(w, by[2]));
        const real s = size_of(first) * size_of(y[0]), t = size_of(second) * size_of(y[1]);
        if (i == c[0].j || i == c[1].j || !((s > t ? s : t) > (real)p->tau))
            continue;
        c[0].w[i] = first;
        c[1].w[i] = second;
        c[0].list[left++] = i;
    }
    select_largest(c[0].w, c[0].list, left, most);
    left = left < most ? left : most;
    for (int64_t k = 0; k < left; k++) {
        const int32_t i = c[0].list[k];
        l[begin + k] = c[0].w[i];
        l[begin + left + k] = c[1].w[i];
        p->rows[begin + k] = p->rows[begin + left + k] = i;
        growth[i] = add(growth[i], add(mul(c[0].w[i], y[0]), mul(c[1].w[i], y[1])));
        link_entry(p, begin + k, step);
    }
    p->offsets[step + 1] = begin + left;
    p->offsets[step + 2] = begin + 2 * left;
    p->wide[step] = true;
    p->wide[step + 1] = false;
    for (int k = 0; k < 2; k++) {
        p->row[step + k] = (int32_t)c[k].j;
        p->step[c[k].j] = (int32_t)(step + k);
    }
    p->pairs++;
}

int64_t X(ildl_columns)(ildl_job *p, int64_t begin, int64_t end)
{
    int64_t step = begin;
    while (step < end) {
        column c[2];
        int64_t j = p->order ? p->order[p->at] : p->at;
        while (p->step[j] >= 0) {
            p->at++;
            j = p->order ? p->order[p->at] : p->at;
        }
        p->need = most_of(p, step, p->longest);
        if (p->offsets[step] + 2 * p->need > p->room)
            return step;
        if (find_pivot(p, j, c)) {
            two_steps(p, step, c);
            step += 2;
        } else {
            one_step(p, step, &c[0]);
            step++;
        }
    }
    return step;
}
