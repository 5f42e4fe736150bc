/*
 * Products with half of a matrix (see matrix/formats/sym.h): an entry gives two products, a_ij x_j
 * for y_i, which stays in a register, and its mirror image a_ji x_i for y_j, in memory.
 *
 * Least bytes for an entry of A: half a value and, by rows, half a distance: 5 in double instead of
 * CSR's 12. What bounds the loop then is loads and stores, four an entry and its mirror image
 * (value, x_j, y_j in and out) beside the distance. Groups of rows lessen them: rows with the same
 * columns share x_j and y_j, shifted rows share a distance and take their x and y in pairs. Pairs
 * of a shifted group meet those of the group before in the same places, so that what was just
 * stored can be loaded again at once; a load across two stores would have to wait for both.
 *
 * The lower half is walked downwards: y_j has been set when something is added to it.
 */
#include "host/kernels/walk_kernel.h"
#include "matrix/formats/sym.h"

/* What a product does with values: the factor of im a_ij in the row and in the mirror image. */
typedef struct sides {
    real row_im, mirror_im;
    scalar alpha; /* of mirror images: with their sign */
    real sign;
} sides;

static sides sides_of(const layout *A, bool conjugated, spry_scalar alpha)
{
    const real im = conjugated ? -1 : 1;
    const real sign = A->symmetry == SPRY_SKEW ? -1 : 1;
    const spry_scalar signed_alpha = {alpha.re * (double)sign, alpha.im * (double)sign};
    return (sides){im, A->symmetry == SPRY_HERMITIAN ? -im : im, from_scalar(signed_alpha), sign};
}

#if KERNEL_COMPLEX
ALWAYS_INLINE scalar by_row(scalar value, const sides *s)
{
    return (scalar){value.re, value.im * s->row_im};
}
ALWAYS_INLINE scalar by_mirror(scalar value, const sides *s)
{
    return (scalar){value.re, value.im * s->mirror_im};
}
ALWAYS_INLINE scalar times_sign(scalar a, real sign)
{
    return (scalar){a.re * sign, a.im * sign};
}
#else
ALWAYS_INLINE scalar by_row(scalar value, const sides *s)
{
    (void)s;
    return value;
}
ALWAYS_INLINE scalar by_mirror(scalar value, const sides *s)
{
    (void)s;
    return value;
}
ALWAYS_INLINE scalar times_sign(scalar a, real sign)
{
    return a * sign;
}
#endif

/* Distances of 16 or 32 bits. */
ALWAYS_INLINE int64_t distance_at(const void *distances, int64_t k, bool wide)
{
    return wide ? (int64_t)((const uint32_t *)distances)[k]
                : (int64_t)((const uint16_t *)distances)[k];
}

/* How many of n falling distances reach above row `first` from row i. */
ALWAYS_INLINE int64_t count_above(const void *distances, int64_t from, int64_t n, int64_t i,
                                  int64_t first, bool wide)
{
    int64_t k = 0;
    while (k < n && i - 1 - distance_at(distances, from + k, wide) < first)
        k++;
    return k;
}

/* A group's rows: sums, x, and x times alpha for mirror images. */
enum { MOST_ROWS = SYM_SHIFTED_ROWS };
typedef struct lanes {
    scalar sum[MOST_ROWS], x[MOST_ROWS], mirrored[MOST_ROWS];
} lanes;

/* Columns begin..end-1 that `rows` rows share; X and Y are those left of the first row. */
ALWAYS_INLINE void alike(lanes *t, int rows, const stored *values, const void *distances,
                         int64_t begin, int64_t end, const scalar *restrict X, scalar *restrict Y,
                         const sides *s, bool wide)
{
    for (int64_t k = begin; k < end; k++) {
        const int64_t d = distance_at(distances, k, wide);
        const scalar x = X[-d];
        scalar y = Y[-d];
#pragma GCC unroll 4
        for (int l = 0; l < rows; l++) {
            const scalar value = value_of(values[k * rows + l]);
            t->sum[l] = muladd(by_row(value, s), x, t->sum[l]);
            y = muladd(by_mirror(value, s), t->mirrored[l], y);
        }
        Y[-d] = y;
    }
}

/* Runs (`run` diagonals side by side) begin..end-1 of a shifted group. */
ALWAYS_INLINE void shifted(lanes *t, int run, const stored *values, const void *distances,
                           int64_t begin, int64_t end, const scalar *restrict X, scalar *restrict Y,
                           const sides *s, bool wide)
{
    enum { MOST = SYM_SHIFTED_ROWS + SYM_RUN - 1 };
    const int places = SYM_SHIFTED_ROWS + run - 1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t d = distance_at(distances, k, wide);
        const stored *value = values + k * SYM_SHIFTED_ROWS * run;
        scalar x[MOST], y[MOST];
#pragma GCC unroll 8
        for (int c = 0; c < places; c++) {
            x[c] = X[c - d];
            y[c] = Y[c - d];
        }
#pragma GCC unroll 4
        for (int q = 0; q < run; q++)
#pragma GCC unroll 4
            for (int l = 0; l < SYM_SHIFTED_ROWS; l++) {
                const scalar v = value_of(value[q * SYM_SHIFTED_ROWS + l]);
                t->sum[l] = muladd(by_row(v, s), x[l + q], t->sum[l]);
                y[l + q] = muladd(by_mirror(v, s), t->mirrored[l], y[l + q]);
            }
#pragma GCC unroll 8
        for (int c = 0; c < places; c++)
            Y[c - d] = y[c];
    }
}

/* Where a product stands in the arrays. */
typedef struct cursor {
    const uint16_t *word;
    const stored *value;
    const char *distance;
    const int64_t *count;
    int64_t row;
} cursor;

typedef struct job {
    factors f;
    sides s;
    const scalar *x;
    scalar *y;
    scalar *window; /* so that window + j is for row j */
    int64_t first;  /* of the unit's rows */
} job;

ALWAYS_INLINE void open_lanes(lanes *t, int rows, const job *j, const cursor *at)
{
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++) {
        t->x[l] = j->x[at->row + l];
        t->mirrored[l] = mul(j->s.alpha, t->x[l]);
        t->sum[l] = mul(by_row(value_of(at->value[l]), &j->s), t->x[l]);
    }
}

ALWAYS_INLINE void close_lanes(const lanes *t, int rows, const job *j, const cursor *at)
{
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++)
        put(j->f, t->sum[l], j->y + at->row + l);
}

/* A group of rows with the same columns; `edge`: some may lie above the unit's first row. */
ALWAYS_INLINE void run_alike(const job *j, const cursor *at, int rows, int64_t columns, bool edge,
                             bool wide)
{
    const int64_t i = at->row;
    const stored *values = at->value + rows;
    const int64_t above = edge ? count_above(at->distance, 0, columns, i, j->first, wide) : 0;
    lanes t;
    open_lanes(&t, rows, j, at);
    if (above > 0)
        alike(&t, rows, values, at->distance, 0, above, j->x + i - 1, j->window + i - 1, &j->s,
              wide);
    alike(&t, rows, values, at->distance, above, columns, j->x + i - 1, j->y + i - 1, &j->s, wide);
    values += columns * rows;
#pragma GCC unroll 2
    for (int l = 1; l < rows; l++)
#pragma GCC unroll 2
        for (int m = 0; m < l; m++) {
            const scalar v = value_of(*values++);
            t.sum[l] = muladd(by_row(v, &j->s), t.x[m], t.sum[l]);
            t.sum[m] = muladd(by_mirror(v, &j->s), times_sign(t.x[l], j->s.sign), t.sum[m]);
        }
    close_lanes(&t, rows, j, at);
}

ALWAYS_INLINE void run_shifted(const job *j, const cursor *at, const sym_group *g, bool edge,
                               bool wide)
{
    const int64_t i = at->row;
    const scalar *X = j->x + i - 1;
    const char *singles = at->distance + g->runs * (wide ? 4 : 2);
    const stored *values = at->value + SYM_SHIFTED_ROWS;
    int64_t runs_above = 0, singles_above = 0;
    lanes t;
    open_lanes(&t, SYM_SHIFTED_ROWS, j, at);
    if (edge) {
        runs_above = count_above(at->distance, 0, g->runs, i, j->first, wide);
        singles_above = count_above(singles, 0, g->singles, i, j->first, wide);
        shifted(&t, SYM_RUN, values, at->distance, 0, runs_above, X, j->window + i - 1, &j->s,
                wide);
    }
    shifted(&t, SYM_RUN, values, at->distance, runs_above, g->runs, X, j->y + i - 1, &j->s, wide);
    values += (int64_t)g->runs * SYM_RUN * SYM_SHIFTED_ROWS;
    if (edge)
        shifted(&t, 1, values, singles, 0, singles_above, X, j->window + i - 1, &j->s, wide);
    shifted(&t, 1, values, singles, singles_above, g->singles, X, j->y + i - 1, &j->s, wide);
    values += (int64_t)g->singles * SYM_SHIFTED_ROWS;
    if (g->near_diagonal) {
        scalar left = *X;
        const scalar first = value_of(values[0]);
        j->y[i - 1] = muladd(by_mirror(first, &j->s), t.mirrored[0], j->y[i - 1]);
#pragma GCC unroll 4
        for (int l = 0; l < SYM_SHIFTED_ROWS; l++) {
            const scalar v = value_of(values[l]);
            t.sum[l] = muladd(by_row(v, &j->s), left, t.sum[l]);
            if (l > 0)
                t.sum[l - 1] =
                    muladd(by_mirror(v, &j->s), times_sign(t.x[l], j->s.sign), t.sum[l - 1]);
            left = t.x[l];
        }
    }
    close_lanes(&t, SYM_SHIFTED_ROWS, j, at);
}

/* Groups up to row `end`. */
ALWAYS_INLINE void groups(const job *j, cursor *from, int64_t end, bool edge, bool wide)
{
    cursor at = *from;
    while (at.row < end) {
        const sym_group g = sym_take(*at.word++, &at.count);
        if (g.shape == SYM_SHIFTED)
            run_shifted(j, &at, &g, edge, wide);
        else if (g.shape == SYM_THREE)
            run_alike(j, &at, 3, g.columns, edge, wide);
        else if (g.shape == SYM_TWO)
            run_alike(j, &at, 2, g.columns, edge, wide);
        else
            run_alike(j, &at, 1, g.columns, edge, wide);
        at.row += g.rows;
        at.value += g.values;
        at.distance += g.distances * (wide ? 4 : 2);
    }
    *from = at;
}

static cursor cursor_at(const layout *A, int64_t unit)
{
    const int64_t *at = (const int64_t *)A->array[SYM_UNITS].data + unit * SYM_UNIT_NUMBERS;
    return (cursor){(const uint16_t *)A->array[SYM_GROUPS].data + at[SYM_AT_GROUP],
                    (const stored *)A->array[SYM_VALUES].data + at[SYM_AT_VALUE],
                    (const char *)A->array[SYM_DISTANCES].data +
                        at[SYM_AT_DISTANCE] * (A->number[SYM_WIDE] ? 4 : 2),
                    (const int64_t *)A->array[SYM_COUNTS].data + at[SYM_AT_COUNT], at[SYM_AT_ROW]};
}

static int64_t inside_of(const layout *A, int64_t unit)
{
    return ((const int64_t *)A->array[SYM_UNITS].data)[unit * SYM_UNIT_NUMBERS + SYM_INSIDE];
}

ALWAYS_INLINE void units(const layout *A, int64_t begin, int64_t end, const host_product *p,
                         bool wide)
{
    const factors f = factors_of(p->alpha, p->beta);
    const scalar zero = from_scalar((spry_scalar){0, 0});
    for (int64_t u = begin; u < end; u++) {
        cursor at = cursor_at(A, u);
        scalar *window = (scalar *)p->carry + A->carry_at[u];
        for (int64_t k = 0; k < A->carry_at[u + 1] - A->carry_at[u]; k++)
            window[k] = zero;
        const job j = {f,
                       sides_of(A, p->conjugate, p->alpha),
                       p->x,
                       (scalar *)p->y - p->first,
                       window - A->carry_row[u],
                       at.row};
        groups(&j, &at, inside_of(A, u), true, wide);
        groups(&j, &at, cursor_at(A, u + 1).row, false, wide);
    }
}

void W(mirrored_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (A->number[SYM_WIDE])
        units(A, begin, end, p, true);
    else
        units(A, begin, end, p, false);
}

/* --- several columns ----------------------------------------------------------------------------
 * Sums of rows wait in a ring, side by side, until no further row adds to them. */

/* i v */
ALWAYS_INLINE vec turned(vec v)
{
#if KERNEL_COMPLEX
    vec t = v;
#pragma GCC unroll 4
    for (int c = 0; c < VEC_REALS; c += 2) {
        t[c] = -v[c + 1];
        t[c + 1] = v[c];
    }
    return t;
#else
    return v;
#endif
}

typedef struct columns_job {
    const layout *A;
    const host_columns *p;
    factors f;
    sides s;
    vec_at *ring, *window;
    int64_t mask; /* rows of the ring, less 1 */
    int64_t first;
} columns_job;

/* Where sums of row j are. */
ALWAYS_INLINE vec_at *sums_of(const columns_job *c, int64_t j, int vectors)
{
    return (j < c->first ? c->window + j * vectors : c->ring + (j & c->mask) * vectors);
}

/* y of a row whose sums are complete. */
ALWAYS_INLINE void put_row(const columns_job *c, int64_t row, int vectors)
{
    const scalar *sum = (const scalar *)(c->ring + (row & c->mask) * vectors);
    const int64_t at = (row - c->p->first) * c->p->y_step;
    for (int k = 0; k < c->p->count; k++)
        put(c->f, sum[k], (scalar *)c->p->y[k] + at);
}

/* The row that is being summed up: its x, and i times that. */
typedef struct line {
    tile sum;
    vec x[TILE_MOST], turned_x[TILE_MOST];
} line;

ALWAYS_INLINE void add_pair(const columns_job *c, line *t, int vectors, scalar value, int64_t j)
{
    const scalar m = by_mirror(value, &c->s);
    vec_at *to = sums_of(c, j, vectors);
    tile_add(&t->sum, vectors, by_row(value, &c->s), (const real *)c->p->x + j * c->p->x_step);
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#if KERNEL_COMPLEX
        to[u] += m.re * t->x[u] + m.im * t->turned_x[u];
#else
        to[u] += m * t->x[u];
#endif
    }
}

ALWAYS_INLINE void open_line(const columns_job *c, line *t, int64_t row, scalar diagonal,
                             int vectors)
{
    const real *x = (const real *)c->p->x + row * c->p->x_step;
    t->sum = (tile){0};
    tile_add(&t->sum, vectors, by_row(diagonal, &c->s), x);
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
        t->x[u] = ((const vec_at *)x)[u] * c->s.sign;
        t->turned_x[u] = turned(t->x[u]);
    }
}

ALWAYS_INLINE void close_line(const columns_job *c, const line *t, int64_t row, int vectors)
{
    vec_at *to = c->ring + (row & c->mask) * vectors;
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++)
        to[u] += KERNEL_COMPLEX ? t->sum.by[0][u] + turned(t->sum.by[TILE_PARTS - 1][u])
                                : t->sum.by[0][u];
}

/* Row l of a group, entry by entry. */
ALWAYS_INLINE void run_line(const columns_job *c, const cursor *at, const sym_group *g, int l,
                            int vectors, bool wide)
{
    const int64_t i = at->row;
    const stored *value = at->value + l;
    line t;
    open_line(c, &t, i + l, value_of(*value), vectors);
    value += g->rows;
    if (g->shape == SYM_SHIFTED) {
        for (int64_t d = 0; d < g->distances + g->near_diagonal; d++) {
            const int64_t column =
                i + l - 1 - (d < g->distances ? distance_at(at->distance, d, wide) : 0);
            for (int q = 0; q < (d < g->runs ? SYM_RUN : 1); q++, value += SYM_SHIFTED_ROWS)
                add_pair(c, &t, vectors, value_of(*value), column + q);
        }
    } else {
        for (int64_t k = 0; k < g->columns; k++, value += g->rows)
            add_pair(c, &t, vectors, value_of(*value), i - 1 - distance_at(at->distance, k, wide));
        value += l * (l - 1) / 2 - l;
        for (int m = 0; m < l; m++)
            add_pair(c, &t, vectors, value_of(value[m]), i + m);
    }
    close_line(c, &t, i + l, vectors);
}

ALWAYS_INLINE void unit_columns(const columns_job *c, cursor at, int64_t end, int vectors,
                                bool wide)
{
    const int64_t ring = c->mask + 1;
    const vec none = {0};
    int64_t done = c->first;
    while (at.row < end) {
        const sym_group g = sym_take(*at.word++, &at.count);
        for (; done < at.row + g.rows - ring; done++)
            put_row(c, done, vectors);
        for (int l = 0; l < g.rows; l++)
            for (int u = 0; u < vectors; u++)
                c->ring[((at.row + l) & c->mask) * vectors + u] = none;
        for (int l = 0; l < g.rows; l++)
            run_line(c, &at, &g, l, vectors, wide);
        at.row += g.rows;
        at.value += g.values;
        at.distance += g.distances * (wide ? 4 : 2);
    }
    for (; done < end; done++)
        put_row(c, done, vectors);
}

ALWAYS_INLINE void all_columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                               int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t numbers = vectors * (VEC_REALS / TILE_PARTS);
    const spry_scalar one = {1, 0};
    for (int64_t u = begin; u < end; u++) {
        const cursor at = cursor_at(A, u);
        const int64_t rows = A->carry_at[u + 1] - A->carry_at[u];
        scalar *window = (scalar *)p->carry + A->carry_at[u] * numbers;
        const columns_job c = {.A = A,
                               .p = p,
                               .f = f,
                               .s = sides_of(A, p->conjugate, one),
                               .ring = p->room,
                               .window = (vec_at *)window - A->carry_row[u] * vectors,
                               .mask = A->room - 1,
                               .first = at.row};
        for (int64_t k = 0; k < rows * numbers; k++)
            window[k] = from_scalar((spry_scalar){0, 0});
        if (A->number[SYM_WIDE])
            unit_columns(&c, at, cursor_at(A, u + 1).row, vectors, true);
        else
            unit_columns(&c, at, cursor_at(A, u + 1).row, vectors, false);
        for (int64_t k = 0; k < rows * numbers; k++)
            window[k] = mul(f.alpha, window[k]);
    }
}

void W(mirrored_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->units == 1)
        all_columns(A, begin, end, p, TILE_UNIT);
    else
        all_columns(A, begin, end, p, TILE_MOST);
}
