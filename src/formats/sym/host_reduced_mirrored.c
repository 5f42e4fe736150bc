/*
 * Products with half of a matrix (see formats/sym/sym.h): an entry gives two products, a_ij x_j
 * for y_i, which stays in a register, and its mirror image a_ji x_i for y_j, in memory.
 *
 * Least bytes for an entry of A: half a value and, by rows, half a distance: 5 in double instead of
 * CSR's 12. What bounds the loop then is loads and stores, four per entry and its mirror image
 * (value, x_j, y_j in and out) besides the distance. Groups of rows lessen them: rows with the same
 * columns share x_j and y_j, shifted rows share a distance and take their x and y in pairs. Pairs
 * of a shifted group coincide with those of the group before, so that what was just stored can be
 * loaded again at once; a load across two stores would have to wait for both.
 *
 * The lower half is walked downwards: y_j has been set when something is added to it.
 */
#include "formats/sym/sym.h"
#include "host/kernels/walk_kernel.h"

/* What a product does with values: the factor of im a_ij in the row and in the mirror image. */
typedef struct sides {
    real row_im, mirror_im;
    scalar alpha; /* of mirror images: with their sign */
    real sign;
} sides;

static sides sides_of(const layout *A, bool conjugated, spry_scalar alpha)
{
    const real im = conjugated ? -1 : 1;
    const real sign = A->symmetry == SPRY_SYMMETRY_SKEW ? -1 : 1;
    const spry_scalar signed_alpha = {alpha.re * (double)sign, alpha.im * (double)sign};
    return (sides){im, A->symmetry == SPRY_SYMMETRY_HERMITIAN ? -im : im, from_scalar(signed_alpha),
                   sign};
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
ALWAYS_INLINE int64_t distance_at(const char *distances, int64_t k, bool wide)
{
    return wide ? (int64_t)((const uint32_t *)(const void *)distances)[k]
                : (int64_t)((const uint16_t *)(const void *)distances)[k];
}

/* How many of n falling distances reach above row `first` from row i. */
ALWAYS_INLINE int64_t count_above(const char *distances, int64_t n, int64_t i, int64_t first,
                                  bool wide)
{
    int64_t k = 0;
    while (k < n && i - 1 - distance_at(distances, k, wide) < first)
        k++;
    return k;
}

/* A group's rows: sums, x, and x times alpha for mirror images. Several sums side by side, as each
 * addition waits for the one before. */
enum { MOST_ROWS = SYM_SHIFTED_ROWS, MOST_ABREAST = 4 };
typedef struct lanes {
    scalar sum[MOST_ABREAST][MOST_ROWS], x[MOST_ROWS], mirrored[MOST_ROWS];
} lanes;

/* Columns that lie side by side in sums of `rows` rows. */
ALWAYS_INLINE int abreast(int rows)
{
    return rows == 1 ? 4 : 2;
}

/* `count` columns, at most four, that `rows` rows share; X and Y are those left of the first row.
 * All y are loaded before one is stored: no two are the same. */
ALWAYS_INLINE void add_columns(lanes *t, int rows, int count, const stored *values,
                               const char *distances, const scalar *restrict X, scalar *restrict Y,
                               const sides *s, bool wide)
{
    scalar y[MOST_ABREAST];
    int64_t d[MOST_ABREAST];
#pragma GCC unroll 4
    for (int c = 0; c < count; c++) {
        d[c] = distance_at(distances, c, wide);
        y[c] = Y[-d[c]];
    }
#pragma GCC unroll 4
    for (int c = 0; c < count; c++) {
        const scalar x = X[-d[c]];
#pragma GCC unroll 4
        for (int l = 0; l < rows; l++) {
            const scalar value = value_of(values[c * rows + l]);
            t->sum[c][l] = muladd(by_row(value, s), x, t->sum[c][l]);
            y[c] = muladd(by_mirror(value, s), t->mirrored[l], y[c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < count; c++)
        Y[-d[c]] = y[c];
}

/* Columns begin..end-1. */
ALWAYS_INLINE void alike(lanes *t, int rows, const stored *values, const char *distances,
                         int64_t begin, int64_t end, const scalar *restrict X, scalar *restrict Y,
                         const sides *s, bool wide)
{
    const int size = wide ? 4 : 2, most = abreast(rows);
    const stored *value = values + begin * rows;
    const char *d = distances + begin * size, *stop = distances + end * size;
    for (; stop - d >= most * size; d += most * size, value += most * rows) {
        AHEAD(value, AHEAD_BYTES);
        add_columns(t, rows, most, value, d, X, Y, s, wide);
    }
    if (most == 4 && stop - d >= 2 * size) {
        add_columns(t, rows, 2, value, d, X, Y, s, wide);
        d += 2 * size;
        value += 2 * rows;
    }
    if (d < stop)
        add_columns(t, rows, 1, value, d, X, Y, s, wide);
}

#if KERNEL_COMPLEX

/* The four rows of a shifted group. */
typedef lanes four;

/* Runs (`run` diagonals side by side) begin..end-1 of a shifted group. */
ALWAYS_INLINE void shifted(four *t, int run, const stored *values, const char *distances,
                           int64_t begin, int64_t end, const scalar *restrict X, scalar *restrict Y,
                           const sides *s, bool wide)
{
    enum { MOST = SYM_SHIFTED_ROWS + SYM_RUN - 1 };
    const int places = SYM_SHIFTED_ROWS + run - 1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t d = distance_at(distances, k, wide);
        const stored *value = values + k * SYM_SHIFTED_ROWS * run;
        AHEAD(value, AHEAD_BYTES);
        const scalar *x = X - d;
        scalar y[MOST];
#pragma GCC unroll 8
        for (int c = 0; c < places; c++)
            y[c] = Y[c - d];
#pragma GCC unroll 4
        for (int q = 0; q < run; q++)
#pragma GCC unroll 4
            for (int l = 0; l < SYM_SHIFTED_ROWS; l++) {
                const scalar v = value_of(value[q * SYM_SHIFTED_ROWS + l]);
                t->sum[0][l] = muladd(by_row(v, s), x[l + q], t->sum[0][l]);
                y[l + q] = muladd(by_mirror(v, s), t->mirrored[l], y[l + q]);
            }
#pragma GCC unroll 8
        for (int c = 0; c < places; c++)
            Y[c - d] = y[c];
    }
}

ALWAYS_INLINE void open_four(four *t, const sides *s, const stored *diagonal, const scalar *x)
{
#pragma GCC unroll 4
    for (int l = 0; l < SYM_SHIFTED_ROWS; l++) {
        t->x[l] = x[l];
        t->mirrored[l] = mul(s->alpha, x[l]);
        t->sum[0][l] = mul(by_row(value_of(diagonal[l]), s), x[l]);
    }
}

/* Entries next to the diagonal, x and y being those of the group's first row. */
ALWAYS_INLINE void add_near(four *t, const sides *s, const stored *values, const scalar *x,
                            scalar *y)
{
#pragma GCC unroll 4
    for (int l = 0; l < SYM_SHIFTED_ROWS; l++) {
        const scalar v = value_of(values[l]);
        t->sum[0][l] = muladd(by_row(v, s), x[l - 1], t->sum[0][l]);
        if (l == 0)
            y[-1] = muladd(by_mirror(v, s), t->mirrored[0], y[-1]);
        else
            t->sum[0][l - 1] =
                muladd(by_mirror(v, s), times_sign(t->x[l], s->sign), t->sum[0][l - 1]);
    }
}

ALWAYS_INLINE void close_four(const four *t, factors f, scalar *y)
{
#pragma GCC unroll 4
    for (int l = 0; l < SYM_SHIFTED_ROWS; l++)
        put(f, t->sum[0][l], y + l);
}

#else

typedef real pair __attribute__((vector_size(2 * sizeof(real))));
typedef real pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

ALWAYS_INLINE pair load_pair(const real *at)
{
    return *(const pair_at *)at;
}
ALWAYS_INLINE void store_pair(real *at, pair p)
{
    *(pair_at *)at = p;
}
ALWAYS_INLINE pair values_at(const stored *values)
{
#ifdef KERNEL_KIND_own
    return load_pair(values);
#else
    return (pair){value_of(values[0]), value_of(values[1])};
#endif
}

/* The four rows of a shifted group, as two pairs; sums of runs in two parts. */
typedef struct four {
    pair sum[2][2], x[2], mirrored[2];
} four;

/* The middle diagonal of a run: it lies across the pairs of y. */
ALWAYS_INLINE void add_middle(four *t, const stored *values, const scalar *x, pair y[3])
{
    const pair low = values_at(values), high = values_at(values + 2);
    const pair a = low * t->mirrored[0], b = high * t->mirrored[1];
    t->sum[1][0] += low * load_pair(x);
    t->sum[1][1] += high * load_pair(x + 2);
    y[0] += (pair){0, a[0]};
    y[1] += (pair){a[1], b[0]};
    y[2] += (pair){b[1], 0};
}

/* A diagonal whose pairs of x and y are whole. */
ALWAYS_INLINE void add_even(four *t, int which, const stored *values, const pair *x, pair *y)
{
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const pair v = values_at(values + 2 * h);
        /* cppcheck-suppress uninitvar ; there are two pairs at least */
        t->sum[which][h] += v * x[h];
        y[h] += v * t->mirrored[h];
    }
}

/* Runs (`run` diagonals side by side, 1 or 3) begin..end-1 of a shifted group. */
ALWAYS_INLINE void shifted(four *t, int run, const stored *values, const char *distances,
                           int64_t begin, int64_t end, const scalar *restrict X, scalar *restrict Y,
                           const sides *s, bool wide)
{
    const int pairs = run == 1 ? 2 : 3;
    (void)s;
    for (int64_t k = begin; k < end; k++) {
        const int64_t d = distance_at(distances, k, wide);
        const stored *value = values + k * SYM_SHIFTED_ROWS * run;
        AHEAD(value, AHEAD_BYTES);
        const real *from = X - d;
        real *to = Y - d;
        pair x[3], y[3];
#pragma GCC unroll 4
        for (int h = 0; h < pairs; h++) {
            x[h] = load_pair(from + 2 * h);
            y[h] = load_pair(to + 2 * h);
        }
        add_even(t, 0, value, x, y);
        if (run > 1) {
            add_middle(t, value + SYM_SHIFTED_ROWS, from + 1, y);
            add_even(t, 0, value + 2 * SYM_SHIFTED_ROWS, x + 1, y + 1);
        }
#pragma GCC unroll 4
        for (int h = 0; h < pairs; h++)
            store_pair(to + 2 * h, y[h]);
    }
}

ALWAYS_INLINE void open_four(four *t, const sides *s, const stored *diagonal, const scalar *x)
{
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const pair numbers = load_pair(x + 2 * h);
        t->x[h] = numbers * s->sign;
        t->mirrored[h] = numbers * s->alpha;
        t->sum[0][h] = values_at(diagonal + 2 * h) * numbers;
        t->sum[1][h] = (pair){0, 0};
    }
}

/* Entries next to the diagonal, x and y being those of the group's first row. */
ALWAYS_INLINE void add_near(four *t, const sides *s, const stored *values, const scalar *x,
                            scalar *y)
{
    const pair low = values_at(values), high = values_at(values + 2);
    const pair a = low * t->x[0], b = high * t->x[1];
    (void)s;
    t->sum[0][0] += low * load_pair(x - 1);
    t->sum[0][1] += high * load_pair(x + 1);
    t->sum[1][0] += (pair){a[1], b[0]};
    t->sum[1][1] += (pair){b[1], 0};
    y[-1] += low[0] * t->mirrored[0][0];
}

ALWAYS_INLINE void close_four(const four *t, factors f, scalar *y)
{
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const pair sum = t->sum[0][h] + t->sum[1][h];
        if (f.plain) {
            store_pair(y + 2 * h, sum);
        } else {
            put(f, sum[0], y + 2 * h);
            put(f, sum[1], y + 2 * h + 1);
        }
    }
}

#endif

/* Where a product is in the arrays. */
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

/* What rows add to: the window above the unit's first row, then its own rows. One loop serves both.
 */
enum { WINDOW, OWN };

ALWAYS_INLINE void open_lanes(lanes *t, int rows, const job *j, const cursor *at)
{
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++) {
        t->x[l] = j->x[at->row + l];
        t->mirrored[l] = mul(j->s.alpha, t->x[l]);
        t->sum[0][l] = mul(by_row(value_of(at->value[l]), &j->s), t->x[l]);
#pragma GCC unroll 4
        for (int c = 1; c < abreast(rows); c++)
            t->sum[c][l] = from_scalar((spry_scalar){0, 0});
    }
}

ALWAYS_INLINE void close_lanes(const lanes *t, int rows, const job *j, const cursor *at)
{
    const scalar one = from_scalar((spry_scalar){1, 0});
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++) {
        scalar sum = muladd(one, t->sum[0][l], t->sum[1][l]);
        if (abreast(rows) == 4)
            sum = muladd(one, sum, muladd(one, t->sum[2][l], t->sum[3][l]));
        put(j->f, sum, j->y + at->row + l);
    }
}

/* A group of rows with the same columns; `edge`: some may lie above the unit's first row. */
ALWAYS_INLINE void run_alike(const job *j, const cursor *at, int rows, int64_t columns, bool edge,
                             bool wide)
{
    const int64_t i = at->row;
    const stored *values = at->value + rows;
    const int64_t above = edge ? count_above(at->distance, columns, i, j->first, wide) : 0;
    lanes t;
    open_lanes(&t, rows, j, at);
    for (int side = above > 0 ? WINDOW : OWN; side <= OWN; side++)
        alike(&t, rows, values, at->distance, side == OWN ? above : 0,
              side == OWN ? columns : above, j->x + i - 1, (side == OWN ? j->y : j->window) + i - 1,
              &j->s, wide);
    values += columns * rows;
#pragma GCC unroll 2
    for (int l = 1; l < rows; l++)
#pragma GCC unroll 2
        for (int m = 0; m < l; m++) {
            const scalar v = value_of(*values++);
            t.sum[0][l] = muladd(by_row(v, &j->s), t.x[m], t.sum[0][l]);
            t.sum[1][m] = muladd(by_mirror(v, &j->s), times_sign(t.x[l], j->s.sign), t.sum[1][m]);
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
    const stored *after = values + (int64_t)g->runs * SYM_RUN * SYM_SHIFTED_ROWS;
    const int64_t runs = edge ? count_above(at->distance, g->runs, i, j->first, wide) : 0;
    const int64_t above = edge ? count_above(singles, g->singles, i, j->first, wide) : 0;
    four t;
    open_four(&t, &j->s, at->value, j->x + i);
    for (int side = runs + above > 0 ? WINDOW : OWN; side <= OWN; side++) {
        scalar *Y = (side == OWN ? j->y : j->window) + i - 1;
        shifted(&t, SYM_RUN, values, at->distance, side == OWN ? runs : 0,
                side == OWN ? g->runs : runs, X, Y, &j->s, wide);
        shifted(&t, 1, after, singles, side == OWN ? above : 0, side == OWN ? g->singles : above, X,
                Y, &j->s, wide);
    }
    if (g->near_diagonal)
        add_near(&t, &j->s, after + (int64_t)g->singles * SYM_SHIFTED_ROWS, j->x + i, j->y + i);
    close_four(&t, j->f, j->y + i);
}

/* Groups up to row `end`; those before row `inside` may use the window. */
ALWAYS_INLINE void groups(const job *j, cursor at, int64_t inside, int64_t end, bool wide)
{
    while (at.row < end) {
        const bool edge = at.row < inside;
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
        const cursor at = cursor_at(A, u);
        scalar *window = (scalar *)p->carry + A->carry_at[u];
        for (int64_t k = 0; k < A->carry_at[u + 1] - A->carry_at[u]; k++)
            window[k] = zero;
        const job j = {f,
                       sides_of(A, p->conjugate, p->alpha),
                       p->x,
                       (scalar *)p->y - p->first,
                       window - A->carry_row[u],
                       at.row};
        groups(&j, at, inside_of(A, u), cursor_at(A, u + 1).row, wide);
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
 * Sums of rows wait in a ring, side by side, until no further row adds to them. A group is done
 * for one unit of columns after the other, so that its sums and x stay in registers. */

#if KERNEL_COMPLEX
/* i v */
ALWAYS_INLINE vec turned(vec v)
{
    vec t = v;
#pragma GCC unroll 4
    for (int c = 0; c < VEC_REALS; c += 2) {
        t[c] = -v[c + 1];
        t[c + 1] = v[c];
    }
    return t;
}
#endif

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
    const int64_t at = (row - c->p->first) * c->p->y_stride;
    for (int k = 0; k < c->p->count; k++)
        put(c->f, sum[k], (scalar *)c->p->y[k] + at);
}

/* One unit of columns of a group's rows: sums (by real and imaginary parts of values), x with the
 * sign of mirror images, and i times that. */
typedef struct strip {
    vec sum[MOST_ROWS][TILE_PARTS][TILE_PACK];
    vec x[MOST_ROWS][TILE_PACK], turned_x[MOST_ROWS][TILE_PACK];
} strip;

/* The numbers of another row: its x, and its sums for a while. */
typedef struct other {
    vec x[TILE_PACK], sum[TILE_PACK];
    vec_at *at;
} other;

ALWAYS_INLINE other open_other(const columns_job *c, int64_t j, int unit, int vectors)
{
    const vec_at *x =
        (const vec_at *)((const real *)c->p->x + j * c->p->x_stride) + unit * TILE_PACK;
    other o = {.at = sums_of(c, j, vectors) + unit * TILE_PACK};
#pragma GCC unroll 4
    for (int u = 0; u < TILE_PACK; u++) {
        o.x[u] = x[u];
        o.sum[u] = o.at[u];
    }
    return o;
}

ALWAYS_INLINE void close_other(const other *o)
{
#pragma GCC unroll 4
    for (int u = 0; u < TILE_PACK; u++)
        o->at[u] = o->sum[u];
}

/* An entry in lane l and its mirror image. */
ALWAYS_INLINE void meet(const columns_job *c, strip *t, int l, stored entry, other *o)
{
    const scalar value = value_of(entry), row = by_row(value, &c->s), m = by_mirror(value, &c->s);
#pragma GCC unroll 4
    for (int u = 0; u < TILE_PACK; u++) {
#if KERNEL_COMPLEX
        t->sum[l][0][u] += row.re * o->x[u];
        t->sum[l][1][u] += row.im * o->x[u];
        o->sum[u] += m.re * t->x[l][u] + m.im * t->turned_x[l][u];
#else
        t->sum[l][0][u] += row * o->x[u];
        o->sum[u] += m * t->x[l][u];
#endif
    }
}

ALWAYS_INLINE void open_strip(const columns_job *c, strip *t, const cursor *at, int rows, int unit)
{
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++) {
        const vec_at *x = (const vec_at *)((const real *)c->p->x + (at->row + l) * c->p->x_stride) +
                          unit * TILE_PACK;
        const scalar diagonal = by_row(value_of(at->value[l]), &c->s);
#pragma GCC unroll 4
        for (int u = 0; u < TILE_PACK; u++) {
            const vec numbers = x[u];
#if KERNEL_COMPLEX
            t->sum[l][0][u] = diagonal.re * numbers;
            t->sum[l][1][u] = diagonal.im * numbers;
            t->turned_x[l][u] = turned(numbers * c->s.sign);
#else
            t->sum[l][0][u] = diagonal * numbers;
#endif
            t->x[l][u] = numbers * c->s.sign;
        }
    }
}

ALWAYS_INLINE void close_strip(const columns_job *c, const strip *t, const cursor *at, int rows,
                               int unit, int vectors)
{
#pragma GCC unroll 4
    for (int l = 0; l < rows; l++) {
        vec_at *to = c->ring + ((at->row + l) & c->mask) * vectors + unit * TILE_PACK;
#pragma GCC unroll 4
        for (int u = 0; u < TILE_PACK; u++) {
#if KERNEL_COMPLEX
            to[u] += t->sum[l][0][u] + turned(t->sum[l][1][u]);
#else
            to[u] += t->sum[l][0][u];
#endif
        }
    }
}

ALWAYS_INLINE void strip_alike(const columns_job *c, const cursor *at, int rows, int64_t columns,
                               int unit, int vectors, bool wide)
{
    const stored *value = at->value + rows;
    strip t;
    open_strip(c, &t, at, rows, unit);
    for (int64_t k = 0; k < columns; k++, value += rows) {
        other o = open_other(c, at->row - 1 - distance_at(at->distance, k, wide), unit, vectors);
#pragma GCC unroll 4
        for (int l = 0; l < rows; l++)
            meet(c, &t, l, value[l], &o);
        close_other(&o);
    }
#pragma GCC unroll 2
    for (int l = 1; l < rows; l++)
#pragma GCC unroll 2
        for (int m = 0; m < l; m++) {
            other o = open_other(c, at->row + m, unit, vectors);
            meet(c, &t, l, *value++, &o);
            close_other(&o);
        }
    close_strip(c, &t, at, rows, unit, vectors);
}

/* `run` diagonals side by side that begin in column j of the first row. */
ALWAYS_INLINE void strip_run(const columns_job *c, strip *t, int run, const stored *values,
                             int64_t j, int unit, int vectors)
{
#pragma GCC unroll 8
    for (int place = 0; place < SYM_SHIFTED_ROWS + run - 1; place++) {
        other o = open_other(c, j + place, unit, vectors);
#pragma GCC unroll 4
        for (int q = 0; q < run; q++)
            if (place - q >= 0 && place - q < SYM_SHIFTED_ROWS)
                meet(c, t, place - q, values[q * SYM_SHIFTED_ROWS + place - q], &o);
        close_other(&o);
    }
}

ALWAYS_INLINE void strip_shifted(const columns_job *c, const cursor *at, const sym_group *g,
                                 int unit, int vectors, bool wide)
{
    const stored *value = at->value + SYM_SHIFTED_ROWS;
    const int64_t left = at->row - 1;
    strip t;
    open_strip(c, &t, at, SYM_SHIFTED_ROWS, unit);
    for (int k = 0; k < g->runs; k++, value += SYM_RUN * SYM_SHIFTED_ROWS)
        strip_run(c, &t, SYM_RUN, value, left - distance_at(at->distance, k, wide), unit, vectors);
    for (int k = 0; k < g->singles + g->near_diagonal; k++, value += SYM_SHIFTED_ROWS)
        strip_run(c, &t, 1, value,
                  k < g->singles ? left - distance_at(at->distance, g->runs + k, wide) : left, unit,
                  vectors);
    close_strip(c, &t, at, SYM_SHIFTED_ROWS, unit, vectors);
}

ALWAYS_INLINE void run_strip(const columns_job *c, const cursor *at, const sym_group *g, int unit,
                             int vectors, bool wide)
{
    if (g->shape == SYM_SHIFTED)
        strip_shifted(c, at, g, unit, vectors, wide);
    else if (g->shape == SYM_THREE)
        strip_alike(c, at, 3, g->columns, unit, vectors, wide);
    else if (g->shape == SYM_TWO)
        strip_alike(c, at, 2, g->columns, unit, vectors, wide);
    else
        strip_alike(c, at, 1, g->columns, unit, vectors, wide);
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
        for (int unit = 0; unit < vectors / TILE_PACK; unit++)
            run_strip(c, &at, &g, unit, vectors, wide);
        at.row += g.rows;
        at.value += g.values;
        at.distance += g.distances * (wide ? 4 : 2);
    }
    for (; done < end; done++)
        put_row(c, done, vectors);
}

void W(mirrored_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    const int vectors = p->packs * TILE_PACK;
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
