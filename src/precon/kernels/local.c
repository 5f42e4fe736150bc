/*
 * Local problems by Householder's QR, several at once, and two reflections at a time (C. Bischof,
 * C. Van Loan, The WY representation for products of Householder matrices, SIAM J. Sci. Stat.
 * Comput. 8 (1987), 2-13), so that a loaded number is used twice. Rows are in the order in which
 * vectors reach them, so that vector j has zeros beyond reach_j, and the first j reflections keep
 * them zero: those are neither stored nor used.
 *
 * Where a vector depends on those before it, what is left of it is rounding. Such problems are done
 * again one by one by Gram-Schmidt's method, twice for each vector (L. Giraud, J. Langou, M.
 * Rozloznik, The loss of orthogonality in the Gram-Schmidt orthogonalization process, Comput. Math.
 * Appl. 50 (2005), 1069-1075), which leaves such vectors out.
 */
#include "precon/kernels/gather.h"

#include <float.h>

#if defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)
enum { MOST_EXPONENT = FLT_MAX_EXP - 2 };
#else
enum { MOST_EXPONENT = DBL_MAX_EXP - 2 };
#endif

/* The larger part of a number. */
static real part_of(scalar a)
{
#if KERNEL_COMPLEX
    return (real)fmax(fabs((double)a.re), fabs((double)a.im));
#else
    return size_of(a);
#endif
}

void X(local_scale)(int64_t begin, int64_t end, const int64_t *at, const void *values, void *scale)
{
    const scalar *a = values;
    real *to = scale;
    for (int64_t i = begin; i < end; i++) {
        real most = 0;
        int exponent = 0;
        for (int64_t k = at[i]; k < at[i + 1]; k++) {
            const real size = part_of(a[k]);
            most = size > most ? size : most;
        }
        frexp((double)most, &exponent);
        exponent = 1 - exponent;
        exponent = exponent > MOST_EXPONENT    ? MOST_EXPONENT
                   : exponent < -MOST_EXPONENT ? -MOST_EXPONENT
                                               : exponent;
        to[i] = most > 0 ? (real)ldexp(1, exponent) : 1;
    }
}

int64_t X(local_bytes)(const local_size *most)
{
    gather g;
    return gather_cut(most, NULL, &g);
}

/* The share of a vector's square that is rounding. */
static real negligible(int64_t rows)
{
    return (real)(64 * UNIT * UNIT) * (real)rows;
}

/* Puts the vectors of `count` problems of one shape into their lanes, and their squares to g->x. */
ALWAYS_INLINE void put_values(const local_problems *p, const int32_t *list, const int count,
                              const shape *s, const gather *g, int lane)
{
    const scalar *values = p->values, *from[WIDE];
    const real *scale = p->scale;
    const int32_t *places = s->places;
    const int64_t cols = p->pattern_at[list[0] + 1] - p->pattern_at[list[0]];
    for (int64_t j = 0; j < cols; j++) {
        wide *to = g->a + s->order[j] * g->ld;
        real factor[WIDE], squares[WIDE] = {0};
        int64_t length = 0;
        for (int l = 0; l < count; l++) {
            const int32_t of = p->pattern[p->pattern_at[list[l]] + j];
            length = p->at[of + 1] - p->at[of];
            from[l] = values + p->at[of];
            factor[l] = scale[of];
        }
        for (int64_t e = 0; e < length; e++) {
            if (places[e] < 0)
                continue;
            for (int l = 0; l < count; l++) {
                const scalar value = times(factor[l], from[l][e]);
                squares[l] += square_of(value);
                wide_set(to + places[e], lane + l, value);
            }
        }
        places += length;
        for (int l = 0; l < count; l++)
            *lane_of(&g->x[s->order[j]].re, lane + l) = squares[l];
    }
    for (int l = 0; l < count && s->unit >= 0; l++)
        wide_set(g->a + cols * g->ld + s->unit, lane + l, number(1));
}

/* How far the vectors of all problems reach. Those that are reflected together reach as far. */
static void join_reaches(const shape **shapes, int count, int64_t cols, int64_t *reach)
{
    for (int l = 0; l < count; l++) {
        for (int64_t j = 0; j < cols && (l == 0 || shapes[l] != shapes[l - 1]); j++) {
            const int64_t before = l == 0 ? 0 : reach[j];
            reach[j] = shapes[l]->reach[j] > before ? shapes[l]->reach[j] : before;
        }
    }
    for (int64_t j = 0; j + 1 < cols; j += 2)
        reach[j] = reach[j + 1];
}

/* Takes `count` problems in, at most WIDE, and gives their shapes and the most rows one has. */
static int64_t gather_all(const local_problems *p, const int32_t *list, int count, gather *g,
                          const shape **shapes)
{
    const int64_t cols = p->pattern_at[list[0] + 1] - p->pattern_at[list[0]];
    int64_t rows = 0;
    bool same = count == WIDE;
    for (int l = 0; l < count; l++) {
        shapes[l] = gather_shape(p, list[l], g);
        rows = shapes[l]->rows > rows ? shapes[l]->rows : rows;
        same = same && shapes[l] == shapes[0];
    }
    join_reaches(shapes, count, cols, g->reach);
    g->ld = rows; /* close together, for the sake of caches */
    for (int64_t j = 0; j < cols; j++)
        memset(g->a + j * g->ld, 0, (size_t)g->reach[j] * sizeof *g->a);
    memset(g->a + cols * g->ld, 0, (size_t)rows * sizeof *g->a);
    memset(g->x, 0, (size_t)cols * sizeof *g->x);
    if (same)
        put_values(p, list, WIDE, shapes[0], g, 0);
    for (int l = 0; l < count && !same; l++)
        put_values(p, list + l, 1, shapes[l], g, l);
    return rows;
}

/* --- several at once -----------------------------------------------------------------------------
 */

/* Vectors that a pair of reflections is applied to at once: as many as registers hold the sums of.
 */
enum { TOGETHER = KERNEL_COMPLEX ? 2 : 4 };

/* Two reflections, I - f v v^H and after it I - g w w^H, from one row on; w begins a row later. */
typedef struct two {
    const wide *v, *w;
    int64_t rows;
    reals f, g;
    wide both; /* w^H v */
} two;

/* Applies both to `count` vectors, a constant. */
ALWAYS_INLINE void reflect(const two *r, wide *a, int64_t ld, const int count)
{
    wide s[TOGETHER] = {0}, t[TOGETHER] = {0};
    const wide *v = r->v, *w = r->w, first = v[0];
    for (int c = 0; c < count; c++)
        wide_dot(s + c, &first, a + c * ld);
    for (int64_t i = 1; i < r->rows; i++) {
        const wide vi = v[i], wi = w[i];
        for (int c = 0; c < count; c++) {
            const wide ai = a[c * ld + i];
            wide_dot(s + c, &vi, &ai);
            wide_dot(t + c, &wi, &ai);
        }
    }
    for (int c = 0; c < count; c++) {
        wide_scale(s + c, &r->f);
        wide_less(t + c, s + c, &r->both);
        wide_scale(t + c, &r->g);
        wide_less(a + c * ld, s + c, &first);
    }
    for (int64_t i = 1; i < r->rows; i++) {
        const wide vi = v[i], wi = w[i];
        for (int c = 0; c < count; c++) {
            wide ai = a[c * ld + i];
            wide_less(&ai, s + c, &vi);
            wide_less(&ai, t + c, &wi);
            a[c * ld + i] = ai;
        }
    }
}

/* v^H a; two sums, which do not wait for each other. */
static wide product_of(const wide *v, const wide *a, int64_t rows)
{
    wide even = {0}, odd = {0};
    int64_t i = 0;
    for (; i + 2 <= rows; i += 2) {
        wide_dot(&even, v + i, a + i);
        wide_dot(&odd, v + i + 1, a + i + 1);
    }
    if (i < rows)
        wide_dot(&even, v + i, a + i);
    wide_add(&even, &odd);
    return even;
}

/* a -= f v (v^H a) for one vector. */
static void reflect_once(const wide *v, int64_t rows, const reals *f, wide *a)
{
    wide s = product_of(v, a, rows);
    wide_scale(&s, f);
    for (int64_t i = 0; i < rows; i++)
        wide_less(a + i, &s, v + i);
}

/* The same for the vector of the next reflection: *squares and *both are |a|^2 and a^H v from the
 * second row on. */
static void reflect_next(const wide *v, int64_t rows, const reals *f, wide *a, reals *squares,
                         wide *both)
{
    reals even = {0}, odd = {0};
    wide with_even = {0}, with_odd = {0}, s = product_of(v, a, rows);
    int64_t i = 1;
    wide_scale(&s, f);
    wide_less(a, &s, v);
    for (; i + 2 <= rows; i += 2) {
        wide_less(a + i, &s, v + i);
        wide_less(a + i + 1, &s, v + i + 1);
        wide_square(&even, a + i);
        wide_square(&odd, a + i + 1);
        wide_dot(&with_even, a + i, v + i);
        wide_dot(&with_odd, a + i + 1, v + i + 1);
    }
    if (i < rows) {
        wide_less(a + i, &s, v + i);
        wide_square(&even, a + i);
        wide_dot(&with_even, a + i, v + i);
    }
    EACH_PART squares->part[h] = even.part[h] + odd.part[h];
    wide_add(&with_even, &with_odd);
    *both = with_even;
}

/* Lanes where what is left of a vector, with the squares it had at first, is rounding; as bits. */
static unsigned find_dependent(reals *rest, reals *had, real least)
{
    unsigned found = 0;
    for (int l = 0; l < WIDE; l++)
        found |= (unsigned)!(*lane_of(rest, l) > least * *lane_of(had, l)) << l;
    return found;
}

/*
 * The reflection that leaves one number of v: *first becomes that of the reflection's vector, *f
 * its factor, *inverse what the number left is divided by. squares is |v|^2. Lanes of `nothing` are
 * left out.
 */
static void make_reflection(wide *first, reals *squares, unsigned nothing, reals *f, wide *inverse)
{
    reals norm, size;
    wide phase;
    for (int l = 0; l < WIDE; l++) {
        const scalar a = wide_get(first, l);
        *lane_of(&norm, l) = (real)sqrt((double)*lane_of(squares, l));
#if KERNEL_COMPLEX
        const real absolute = (real)sqrt((double)square_of(a));
        wide_set(&phase, l, absolute > 0 ? times(1 / absolute, a) : number(1));
#else
        const real absolute = size_of(a);
        wide_set(&phase, l, (real)copysign(1, (double)a));
#endif
        *lane_of(&size, l) = absolute;
    }
    EACH_PART
    {
        const lanes sum = norm.part[h] + size.part[h], factor = 1 / (norm.part[h] * sum);
        f->part[h] = factor;
        first->re.part[h] += norm.part[h] * phase.re.part[h];
        inverse->re.part[h] = -factor * sum * phase.re.part[h];
#if KERNEL_COMPLEX
        first->im.part[h] += norm.part[h] * phase.im.part[h];
        inverse->im.part[h] = factor * sum * phase.im.part[h];
#endif
    }
    for (int l = 0; l < WIDE && nothing; l++) {
        if (nothing >> l & 1) {
            *lane_of(f, l) = 0;
            wide_set(inverse, l, number(0));
            wide_set(first, l, number(0));
        }
    }
}

/* The reflection of vector j, of which `squares` are left; x_j, which has those it had, gets what
 * the diagonal is divided by. Gives the lanes where it depends on those before it. */
static unsigned reduce(const gather *g, int64_t j, real least, reals *squares, reals *f)
{
    const unsigned nothing = find_dependent(squares, &g->x[j].re, least);
    make_reflection(g->a + j * g->ld + j, squares, nothing, f, g->x + j);
    return nothing;
}

/* A pair of reflections, of vectors j and j + 1. */
static unsigned reduce_two(const gather *g, int64_t j, real least, two *r)
{
    wide *v = g->a + j * g->ld + j, *w = v + g->ld;
    *r = (two){.v = v, .w = w, .rows = g->reach[j] - j};
    if (r->rows <= 1)
        return ~0u;
    wide squares = product_of(v, v, r->rows);
    unsigned nothing = reduce(g, j, least, &squares.re, &r->f);
    reflect_next(v, r->rows, &r->f, w, &squares.re, &r->both);
    const wide before = w[1];
    nothing |= reduce(g, j + 1, least, &squares.re, &r->g);
    wide more = w[1];
    wide_subtract(&more, &before);
    wide_dot(&r->both, &more, v + 1);
    return nothing;
}

/* The last one, where there is no pair for it, and e_k after it. */
static unsigned reduce_last(const gather *g, int64_t j, real least)
{
    wide *v = g->a + j * g->ld + j;
    const int64_t rows = g->reach[j] - j;
    reals f;
    if (rows <= 0)
        return ~0u;
    wide squares = product_of(v, v, rows);
    const unsigned nothing = reduce(g, j, least, &squares.re, &f);
    reflect_once(v, rows, &f, v + g->ld);
    return nothing;
}

/* Reduces all vectors and e_k, two at a time. Gives the lanes in which vectors depend on each
 * other. */
static unsigned factor(const gather *g, int64_t cols, int64_t rows)
{
    const real least = negligible(rows);
    unsigned deficient = 0;
    int64_t j = 0;
    for (; j + 1 < cols; j += 2) {
        wide *next = g->a + (j + 2) * g->ld + j;
        int64_t left = cols - j - 1; /* with e_k */
        two r;
        deficient |= reduce_two(g, j, least, &r);
        if (deficient == ~0u)
            return deficient;
        for (; left >= TOGETHER; left -= TOGETHER, next += TOGETHER * g->ld)
            reflect(&r, next, g->ld, TOGETHER);
        if (TOGETHER > 2 && left >= 2) {
            reflect(&r, next, g->ld, 2);
            left -= 2;
            next += 2 * g->ld;
        }
        if (left > 0)
            reflect(&r, next, g->ld, 1);
    }
    return j < cols ? deficient | reduce_last(g, j, least) : deficient;
}

/* x = R^-1 y, with y where e_k was, two at a time. */
static void solve_back(const gather *g, int64_t cols)
{
    wide *y = g->a + cols * g->ld;
    int64_t j = cols - 1;
    for (; j >= 1; j -= 2) {
        const wide *r = g->a + j * g->ld, *q = r - g->ld;
        wide_times(g->x + j, y + j);
        wide_less(y + j - 1, g->x + j, r + j - 1);
        wide_times(g->x + j - 1, y + j - 1);
        const wide last = g->x[j], before = g->x[j - 1];
        for (int64_t i = 0; i < j - 1; i++) {
            wide sum = y[i];
            wide_less(&sum, &last, r + i);
            wide_less(&sum, &before, q + i);
            y[i] = sum;
        }
    }
    if (j == 0)
        wide_times(g->x, y);
}

/* --- one by one ----------------------------------------------------------------------------------
 */

/* q -= (c^H q) c, adding c^H q to *r. */
static void take_out(const scalar *c, int64_t rows, scalar *q, scalar *r)
{
    scalar s = number(0);
    for (int64_t i = 0; i < rows; i++)
        s = muladd(conjugate(c[i]), q[i], s);
    for (int64_t i = 0; i < rows; i++)
        q[i] = sub(q[i], mul(s, c[i]));
    *r = add(*r, s);
}

static real squares_of(const scalar *q, int64_t rows)
{
    real sum = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += square_of(q[i]);
    return sum;
}

/* Problem k with vectors that depend on each other; x gets 0 for those that are left out. The
 * numbers of several problems leave room for Q and R of one. */
static void solve_alone(const local_problems *p, int64_t k, gather *g, scalar *x)
{
    const scalar *values = p->values;
    const real *scale = p->scale;
    const int32_t *J = p->pattern + p->pattern_at[k];
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    const shape *s = gather_shape(p, k, g);
    const int64_t rows = s->rows, ld = rows + 1;
    scalar *Q = (scalar *)(void *)g->a, *R = Q + cols * ld;
    int64_t *column = g->reach; /* of each vector in Q */
    int64_t rank = 0, at = 0;
    for (int64_t j = 0; j < cols; j++) {
        scalar *q = Q + rank * ld, *r = R + rank * ld;
        for (int64_t i = 0; i < rows; i++)
            q[i] = r[i] = number(0);
        const int64_t end = p->at[J[j] + 1];
        for (int64_t e = p->at[J[j]]; e < end; e++, at++)
            if (s->places[at] >= 0)
                q[s->places[at]] = times(scale[J[j]], values[e]);
        const real before = squares_of(q, rows);
        for (int turn = 0; turn < 2; turn++)
            for (int64_t c = 0; c < rank; c++)
                take_out(Q + c * ld, rows, q, r + c);
        const real left = squares_of(q, rows);
        x[j] = number(0);
        if (rank == rows || !(left > negligible(rows) * before))
            continue;
        r[rank] = number((real)sqrt((double)left));
        for (int64_t i = 0; i < rows; i++)
            q[i] = times(1 / real_of(r[rank]), q[i]);
        column[rank++] = j;
    }
    for (int64_t c = rank - 1; c >= 0 && s->unit >= 0; c--) {
        scalar sum = conjugate(Q[c * ld + s->unit]);
        for (int64_t b = c + 1; b < rank; b++)
            sum = sub(sum, mul(R[b * ld + c], x[column[b]]));
        x[column[c]] = times(1 / real_of(R[c * ld + c]), sum);
    }
}

/* --- the kernel ----------------------------------------------------------------------------------
 */

/* Brings x back to the size of B's vectors; whether all numbers are finite. */
static bool finish(const local_problems *p, int64_t k)
{
    const real *scale = p->scale;
    scalar *x = p->x;
    bool fine = true;
    for (int64_t e = p->pattern_at[k]; e < p->pattern_at[k + 1]; e++) {
        x[e] = times(scale[p->pattern[e]], x[e]);
        fine = fine && finite_number(x[e]);
    }
    return fine;
}

static void note_bad(local_outcome *o, int64_t row)
{
    if (o->bad < 0 || row < o->bad)
        o->bad = row;
}

local_outcome X(local_rows)(const local_problems *p, const local_size *most, const int32_t *list,
                            int64_t count, void *room)
{
    gather g;
    local_outcome outcome = {0, -1};
    gather_cut(most, room, &g);
    for (int64_t first = 0; first < count; first += WIDE) {
        const int64_t cols = p->pattern_at[list[first] + 1] - p->pattern_at[list[first]];
        const int lanes_used = count - first < WIDE ? (int)(count - first) : (int)WIDE;
        const shape *shapes[WIDE];
        const int64_t rows = gather_all(p, list + first, lanes_used, &g, shapes);
        const unsigned deficient = factor(&g, cols, rows);
        if (~deficient)
            solve_back(&g, cols);
        for (int l = 0; l < lanes_used; l++) {
            scalar *x = (scalar *)p->x + p->pattern_at[list[first + l]];
            for (int64_t j = 0; j < cols; j++)
                x[j] = wide_get(g.x + shapes[l]->order[j], l);
        }
        for (int l = 0; l < lanes_used; l++) {
            const int64_t k = list[first + l];
            if (deficient >> l & 1) {
                outcome.deficient++;
                solve_alone(p, k, &g, (scalar *)p->x + p->pattern_at[k]);
            }
            if (!finish(p, k))
                note_bad(&outcome, k);
        }
    }
    return outcome;
}
