/*
 * Local problems by Householder's QR, several at once. Rows stand in the order in which vectors
 * reach them, so that vector j has zeros beyond reach_j, and the first j reflections leave them
 * there: those are neither stored nor computed with.
 *
 * Where a vector depends on those before it, what is left of it is rounding. Such problems are done
 * again one by one by Gram-Schmidt's method, twice for each vector (L. Giraud, J. Langou, M.
 * Rozloznik, The loss of orthogonality in the Gram-Schmidt orthogonalization process, Comput. Math.
 * Appl. 50 (2005), 1069-1075), which leaves such vectors out.
 */
#include "precon/kernels/gather.h"

#include <float.h>

#if defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)
#define UNIT FLT_EPSILON
enum { MOST_EXPONENT = FLT_MAX_EXP - 2 };
#else
#define UNIT DBL_EPSILON
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

/* Puts the vectors of problem k into its lane. */
static void put_values(const local_problems *p, int64_t k, const shape *s, const gather *g,
                       int lane)
{
    const scalar *values = p->values;
    const real *scale = p->scale;
    const int32_t *J = p->pattern + p->pattern_at[k], *places = s->places;
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    int64_t at = 0;
    for (int64_t j = 0; j < cols; j++) {
        wide *to = g->a + j * g->ld;
        const real factor = scale[J[j]];
        const int64_t end = p->at[J[j] + 1];
        for (int64_t e = p->at[J[j]]; e < end; e++, at++)
            if (places[at] >= 0)
                wide_set(to + places[at], lane, times(factor, values[e]));
    }
    if (s->unit >= 0)
        wide_set(g->a + cols * g->ld + s->unit, lane, number(1));
}

/* Takes `count` problems in, at most WIDE; gives the most rows one has. */
static int64_t gather_all(const local_problems *p, const int32_t *list, int count, gather *g)
{
    const int64_t cols = p->pattern_at[list[0] + 1] - p->pattern_at[list[0]];
    const shape *shapes[WIDE];
    int64_t rows = 0;
    for (int l = 0; l < count; l++) {
        shapes[l] = gather_shape(p, list[l], g);
        rows = shapes[l]->rows > rows ? shapes[l]->rows : rows;
        for (int64_t j = 0; j < cols && (l == 0 || shapes[l] != shapes[l - 1]); j++) {
            const int64_t before = l == 0 ? 0 : g->reach[j];
            g->reach[j] = shapes[l]->reach[j] > before ? shapes[l]->reach[j] : before;
        }
    }
    for (int64_t j = 0; j < cols; j++)
        memset(g->a + j * g->ld, 0, (size_t)g->reach[j] * sizeof *g->a);
    memset(g->a + cols * g->ld, 0, (size_t)rows * sizeof *g->a);
    for (int l = 0; l < count; l++)
        put_values(p, list[l], shapes[l], g, l);
    return rows;
}

/* --- several at once -----------------------------------------------------------------------------
 */

/* a -= f v (v^H a) for `count` vectors, a constant, and rows 0..rows-1. */
ALWAYS_INLINE void reflect(const wide *v, int64_t rows, const reals *f, wide *a, int64_t ld,
                           const int count)
{
    wide s[4] = {0};
    for (int64_t i = 0; i < rows; i++) {
        const wide vi = v[i];
        for (int c = 0; c < count; c++)
            wide_dot(s + c, &vi, a + c * ld + i);
    }
    for (int c = 0; c < count; c++)
        wide_scale(s + c, f);
    for (int64_t i = 0; i < rows; i++) {
        const wide vi = v[i];
        for (int c = 0; c < count; c++) {
            wide ai = a[c * ld + i];
            wide_less(&ai, s + c, &vi);
            a[c * ld + i] = ai;
        }
    }
}

/* Lanes where what is left of a vector, rest^2 of rest^2 + gone^2, is rounding; as bits. */
static unsigned find_dependent(reals *rest, reals *gone, real least)
{
    unsigned found = 0;
    for (int l = 0; l < WIDE; l++) {
        const real r = *lane_of(rest, l);
        found |= (unsigned)!(r > least * (r + *lane_of(gone, l))) << l;
    }
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
        wide_set(&phase, l, a < 0 ? -1 : 1);
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

/* Reduces all vectors and e_k; g->x gets the inverses of the diagonal. Gives the lanes in which
 * vectors depend on each other. */
static unsigned factor(const gather *g, int64_t cols, int64_t rows)
{
    const real least = negligible(rows);
    unsigned deficient = 0;
    for (int64_t j = 0; j < cols; j++) {
        wide *v = g->a + j * g->ld, *next = v + g->ld;
        const int64_t count = g->reach[j] - j;
        reals squares = {0}, gone = {0}, f;
        if (count <= 0)
            return ~0u;
        for (int64_t i = 0; i < j; i++)
            wide_square(&gone, v + i);
        for (int64_t i = j; i < g->reach[j]; i++)
            wide_square(&squares, v + i);
        const unsigned nothing = find_dependent(&squares, &gone, least);
        make_reflection(v + j, &squares, nothing, &f, g->x + j);
        deficient |= nothing;
        int64_t left = cols - j; /* with e_k */
        for (; left >= 4; left -= 4, next += 4 * g->ld)
            reflect(v + j, count, &f, next + j, g->ld, 4);
        for (; left >= 2; left -= 2, next += 2 * g->ld)
            reflect(v + j, count, &f, next + j, g->ld, 2);
        if (left > 0)
            reflect(v + j, count, &f, next + j, g->ld, 1);
    }
    return deficient;
}

/* x = R^-1 y, with y where e_k was. */
static void solve_back(const gather *g, int64_t cols)
{
    wide *y = g->a + cols * g->ld;
    for (int64_t j = cols - 1; j >= 0; j--) {
        const wide *r = g->a + j * g->ld;
        wide_times(g->x + j, y + j);
        for (int64_t i = 0; i < j; i++)
            wide_less(y + i, g->x + j, r + i);
    }
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
        const int64_t rows = gather_all(p, list + first, lanes_used, &g);
        const unsigned deficient = factor(&g, cols, rows);
        if (~deficient)
            solve_back(&g, cols);
        for (int l = 0; l < lanes_used; l++) {
            scalar *x = (scalar *)p->x + p->pattern_at[list[first + l]];
            for (int64_t j = 0; j < cols; j++)
                x[j] = wide_get(g.x + j, l);
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
