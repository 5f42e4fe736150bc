/* Patterns found row by row: see grow.h. */
#include "precon/factors/grow.h"

#include "precon/kernels/gather.h"

#include <stdlib.h>

/* Indices in the order in which they came, with a table to find them by. */
typedef struct set {
    int bits;
    int32_t count;
    place *table;
    int32_t *index; /* by place */
} set;

/* A thread's room. */
typedef struct growth {
    set rows, candidates;
    scalar *Q; /* cols x ld: an orthonormal basis of the vectors, by place of rows */
    int64_t ld;
    scalar *r;    /* the residual, by place of rows; factor: the row of G, by J */
    scalar *dots; /* by place of candidates */
    int32_t *J;
    int32_t *best;
    int64_t cols, rank;
} growth;

static int64_t cut_room(const grow_problems *p, char *room, growth *g)
{
    const int64_t scalars[] = {p->cols * p->rows, p->rows + p->cols, p->candidates};
    const int64_t ints[] = {p->rows, p->candidates, p->cols, p->add};
    const int bits[] = {table_bits(p->rows), table_bits(p->candidates)};
    char *parts[9];
    int64_t at = 0;
    for (int k = 0; k < 9; k++) {
        const int64_t bytes = k < 3   ? scalars[k] * (int64_t)sizeof(scalar)
                              : k < 7 ? ints[k - 3] * (int64_t)sizeof(int32_t)
                                      : (int64_t)sizeof(place) << bits[k - 7];
        parts[k] = room ? room + at : NULL;
        at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (!room)
        return at;
    *g = (growth){.rows = {bits[0], 0, (void *)parts[7], (void *)parts[3]},
                  .candidates = {bits[1], 0, (void *)parts[8], (void *)parts[4]},
                  .Q = (void *)parts[0],
                  .ld = p->rows,
                  .r = (void *)parts[1],
                  .dots = (void *)parts[2],
                  .J = (void *)parts[5],
                  .best = (void *)parts[6]};
    memset(g->rows.table, 0xff, sizeof(place) << bits[0]);
    memset(g->candidates.table, 0xff, sizeof(place) << bits[1]);
    return at;
}

int64_t X(grow_bytes)(const grow_problems *p)
{
    return cut_room(p, NULL, NULL);
}

/* Empties a set, the last that came first: what is left is found by the same steps as before. */
static void set_clear(set *s)
{
    const uint32_t mask = (uint32_t)(((uint64_t)1 << s->bits) - 1);
    for (int32_t k = s->count - 1; k >= 0; k--) {
        uint32_t at = table_start(s->index[k], s->bits);
        while (s->table[at].row != s->index[k])
            at = (at + 1) & mask;
        s->table[at].row = -1;
    }
    s->count = 0;
}

/* The place of an index, a new one if it has none. */
static int32_t set_put(set *s, int32_t index)
{
    const int32_t before = s->count;
    const int32_t found = table_find(s->table, s->bits, index, false, &s->count);
    if (s->count > before)
        s->index[found] = index;
    return found;
}

static bool holds(const int32_t *J, int64_t count, int32_t j)
{
    for (int64_t k = 0; k < count; k++)
        if (J[k] == j)
            return true;
    return false;
}

static int by_index(const void *a, const void *b)
{
    return *(const int32_t *)a < *(const int32_t *)b ? -1 : 1;
}

/* The candidates with the largest numbers in dots (real parts), those below `least` left out; ties
 * go to the smaller index. Gives how many. */
static int64_t choose(const growth *g, int64_t most, real least)
{
    int64_t count = 0;
    while (count < most) {
        int32_t best = -1;
        for (int32_t c = 0; c < g->candidates.count; c++) {
            const real gain = real_of(g->dots[c]);
            const int32_t index = g->candidates.index[c];
            if (!(gain > 0) || gain < least)
                continue;
            if (best < 0 || gain > real_of(g->dots[best]) ||
                (gain == real_of(g->dots[best]) && index < g->candidates.index[best]))
                best = c;
        }
        if (best < 0)
            break;
        g->best[count++] = g->candidates.index[best];
        g->dots[best] = number(0);
    }
    return count;
}

/* --- least squares -------------------------------------------------------------------------------
 */

static scalar dot(int64_t n, const scalar *a, const scalar *b)
{
    scalar sum = number(0);
    for (int64_t i = 0; i < n; i++)
        sum = muladd(conjugate(a[i]), b[i], sum);
    return sum;
}

static void less(int64_t n, scalar s, const scalar *a, scalar *b)
{
    for (int64_t i = 0; i < n; i++)
        b[i] = sub(b[i], mul(s, a[i]));
}

/* Makes vector j part of J, and the residual what it leaves of it. */
static void add_vector(const grow_problems *p, int32_t j, growth *g)
{
    const scalar *values = p->p.values;
    const real scale = ((const real *)p->p.scale)[j];
    const int32_t before = g->rows.count;
    g->J[g->cols++] = j;
    for (int64_t e = p->p.at[j]; e < p->p.at[j + 1]; e++)
        set_put(&g->rows, p->p.columns[e]);
    const int32_t rows = g->rows.count;
    for (int32_t i = before; i < rows; i++) {
        g->r[i] = number(0);
        for (int64_t c = 0; c < g->rank; c++)
            g->Q[c * g->ld + i] = number(0);
    }
    if (g->rank == rows)
        return;
    scalar *q = g->Q + g->rank * g->ld;
    for (int32_t i = 0; i < rows; i++)
        q[i] = number(0);
    for (int64_t e = p->p.at[j]; e < p->p.at[j + 1]; e++)
        q[set_put(&g->rows, p->p.columns[e])] = times(scale, values[e]);
    const real size = real_of(dot(rows, q, q));
    for (int turn = 0; turn < 2; turn++)
        for (int64_t c = 0; c < g->rank; c++)
            less(rows, dot(rows, g->Q + c * g->ld, q), g->Q + c * g->ld, q);
    const real left = real_of(dot(rows, q, q)), least = (real)(8 * UNIT);
    if (!(left > least * least * (real)rows * size))
        return;
    for (int32_t i = 0; i < rows; i++)
        q[i] = times(1 / (real)sqrt((double)left), q[i]);
    less(rows, dot(rows, q, g->r), q, g->r);
    g->rank++;
}

/* By how much each vector that overlaps the residual would reduce its square, |b^H r|^2 / |b|^2, as
 * dots; gives the mean. */
static real gains(const grow_problems *p, growth *g)
{
    const scalar *values = p->p.values, *across = p->t_values;
    const real *scale = p->p.scale;
    real sum = 0;
    set_clear(&g->candidates);
    for (int32_t i = 0; i < g->rows.count; i++) {
        const int32_t row = g->rows.index[i];
        for (int64_t e = p->t_at[row]; e < p->t_at[row + 1] && !is_zero(g->r[i]); e++) {
            const int32_t before = g->candidates.count;
            const int32_t at = set_put(&g->candidates, p->t_columns[e]);
            if (g->candidates.count > before)
                g->dots[at] = number(0);
            const real s = scale[p->t_columns[e]];
            g->dots[at] = muladd(conjugate(times(s, across[e])), g->r[i], g->dots[at]);
        }
    }
    for (int32_t c = 0; c < g->candidates.count; c++) {
        const int32_t j = g->candidates.index[c];
        real squares = 0;
        for (int64_t e = p->p.at[j]; e < p->p.at[j + 1]; e++)
            squares += square_of(times(scale[j], values[e]));
        const bool used = squares == 0 || holds(g->J, g->cols, j);
        g->dots[c] = number(used ? 0 : square_of(g->dots[c]) / squares);
        sum += real_of(g->dots[c]);
    }
    return g->candidates.count > 0 ? sum / (real)g->candidates.count : 0;
}

static void grow_least(const grow_problems *p, int64_t k, int64_t most, growth *g)
{
    const local_problems *b = &p->p;
    g->rank = 0;
    set_put(&g->rows, (int32_t)k);
    g->r[0] = number(1);
    for (int64_t e = b->pattern_at[k]; e < b->pattern_at[k + 1]; e++)
        add_vector(p, b->pattern[e], g);
    for (int64_t step = 0; step < p->steps && g->cols < most; step++) {
        const real left = real_of(dot(g->rows.count, g->r, g->r));
        if ((double)left <= p->eps * p->eps)
            break;
        const real mean = gains(p, g), noise = (real)(64 * UNIT) * left;
        const int64_t room = most - g->cols;
        const int64_t count = choose(g, p->add < room ? p->add : room, mean > noise ? mean : noise);
        for (int64_t c = 0; c < count; c++)
            add_vector(p, g->best[c], g);
        if (count == 0)
            break;
    }
}

/* --- factors -------------------------------------------------------------------------------------
 */

/* The row of G for J, whose last is k, into g->r; false: the block is not definite. Q has the block
 * column by column. */
static bool solve_factor(const grow_problems *p, growth *g)
{
    const local_problems *b = &p->p;
    const scalar *values = b->values;
    const real *scale = b->scale;
    const int64_t n = g->cols;
    set_clear(&g->rows);
    for (int64_t j = 0; j < n; j++)
        set_put(&g->rows, g->J[j]);
    for (int64_t j = 0; j < n; j++) {
        scalar *a = g->Q + j * g->ld;
        for (int64_t i = 0; i < n; i++)
            a[i] = number(0);
        for (int64_t e = b->at[g->J[j]]; e < b->at[g->J[j] + 1]; e++) {
            int32_t unused = 0;
            const int32_t at =
                table_find(g->rows.table, g->rows.bits, b->columns[e], true, &unused);
            const real s = scale[g->J[j]] * scale[b->columns[e]];
            if (at >= 0)
                a[at] = times(at == j ? s * (real)(1 + b->shift) : s, values[e]);
        }
    }
    for (int64_t j = 0; j < n; j++) {
        scalar *a = g->Q + j * g->ld;
        const real d = real_of(a[j]);
        if (!(d > (real)(4 * UNIT) * (real)n))
            return false;
        g->r[j] = number(1 / (real)sqrt((double)d));
        for (int64_t i = j + 1; i < n; i++)
            a[i] = times(real_of(g->r[j]), a[i]);
        for (int64_t c = j + 1; c < n; c++)
            for (int64_t i = c; i < n; i++)
                g->Q[c * g->ld + i] = sub(g->Q[c * g->ld + i], mul(a[i], conjugate(a[c])));
    }
    for (int64_t j = n - 2; j >= 0; j--) {
        const scalar sum = dot(n - 1 - j, g->Q + j * g->ld + j + 1, g->r + j + 1);
        g->r[j] = times(-real_of(g->r[j]), sum);
    }
    return true;
}

/* |(x A)_j|^2 for the columns j < k that are not in J. Diagonals are about 1. */
static void gradient(const grow_problems *p, int64_t k, growth *g)
{
    const local_problems *b = &p->p;
    const scalar *values = b->values;
    const real *scale = b->scale;
    set_clear(&g->candidates);
    for (int64_t l = 0; l < g->cols; l++)
        for (int64_t e = b->at[g->J[l]]; e < b->at[g->J[l] + 1] && b->columns[e] < k; e++) {
            const int32_t j = b->columns[e], before = g->candidates.count;
            const int32_t at = set_put(&g->candidates, j);
            if (g->candidates.count > before)
                g->dots[at] = number(0);
            const scalar v = times(scale[g->J[l]] * scale[j], values[e]);
            g->dots[at] = muladd(v, g->r[l], g->dots[at]);
        }
    for (int32_t c = 0; c < g->candidates.count; c++)
        g->dots[c] =
            number(holds(g->J, g->cols, g->candidates.index[c]) ? 0 : square_of(g->dots[c]));
}

static void grow_factor(const grow_problems *p, int64_t k, int64_t most, growth *g)
{
    const local_problems *b = &p->p;
    for (int64_t e = b->pattern_at[k]; e < b->pattern_at[k + 1]; e++)
        g->J[g->cols++] = b->pattern[e];
    for (int64_t step = 0; step < p->steps && g->cols < most; step++) {
        if (!solve_factor(p, g))
            break;
        gradient(p, k, g);
        const int64_t room = most - g->cols;
        const int64_t count = choose(g, p->add < room ? p->add : room, (real)p->eps);
        for (int64_t c = 0; c < count; c++)
            g->J[g->cols - 1 + c] = g->best[c];
        g->cols += count;
        g->J[g->cols - 1] = (int32_t)k;
        if (count == 0)
            break;
    }
}

void X(grow_rows)(const grow_problems *p, int64_t begin, int64_t end, void *room)
{
    growth g;
    cut_room(p, room, &g);
    for (int64_t k = begin; k < end; k++) {
        const int64_t most = p->room_at[k + 1] - p->room_at[k];
        int32_t *out = p->out + p->room_at[k];
        g.cols = 0;
        if (most > 0 && p->p.kind == LOCAL_FACTOR)
            grow_factor(p, k, most, &g);
        else if (most > 0)
            grow_least(p, k, most, &g);
        memcpy(out, g.J, (size_t)g.cols * sizeof *out);
        qsort(out, (size_t)g.cols, sizeof *out, by_index);
        p->count[k] = (int32_t)g.cols;
        set_clear(&g.rows);
        set_clear(&g.candidates);
    }
}
