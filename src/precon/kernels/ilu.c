/*
 * Rows of an incomplete factorization with a given pattern: A is about (I + L) D (I + U).
 *
 * Row by row (the IKJ order; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 10.3).
 * With v_ik = l_ik d_k before the division, v_ij -= v_ik u_kj needs the divided rows of U alone:
 * they are stored as they are used, in the factorization and in solves.
 *
 * A row of few entries is merged with the rows of U that it takes, all being sorted. A longer one
 * has its columns marked in an array of all, where other columns point to places before the row:
 * whether a column is one of the row's is unpredictable, so the loop does not branch.
 */
#include "precon/kernels/kernel.h"

#include "matrix/entries.h"

/* A row while it is factorized: L's entries, the diagonal, U's. */
typedef struct row {
    int64_t lower, upper; /* where they begin */
    int64_t nl, n;        /* entries of L, and all */
    int32_t *c;           /* columns; one more that no row has ends them */
    scalar *v;            /* ILU_LOST before it are for what is lost */
    int32_t *where;       /* the entry of each column; NULL: they are not marked */
    real size;            /* of A's row: the sum of magnitudes */
} row;

static void mark(const row *r, bool on)
{
    for (int64_t t = 0; t < r->n; t++)
        r->where[r->c[t]] = on ? (int32_t)t : ilu_lost(r->c[t]);
}

/* |a| up to a factor of sqrt(2): cheap. */
static real rough(scalar a)
{
#if KERNEL_COMPLEX
    return (real)fabs((double)a.re) + (real)fabs((double)a.im);
#else
    return (real)fabs((double)a);
#endif
}

/* --- A's row in its places -----------------------------------------------------------------------
 */

/* Entries in the order of their columns; as a rule few are not. */
static void sort_entries(const row *r)
{
    for (int64_t k = 1; k < r->n; k++) {
        const int32_t column = r->c[k];
        const scalar value = r->v[k];
        int64_t at = k;
        for (; at > 0 && r->c[at - 1] > column; at--) {
            r->c[at] = r->c[at - 1];
            r->v[at] = r->v[at - 1];
        }
        r->c[at] = column;
        r->v[at] = value;
    }
}

/* A short row whose pattern is A's, which as a rule is in order: L's entries, the diagonal, U's. */
ALWAYS_INLINE void take_short(const ilu_job *p, int64_t i, int64_t from, bool renumbered, row *r)
{
    const int64_t begin = p->a_offsets[from], count = p->a_offsets[from + 1] - begin;
    const int32_t *columns = p->a_columns + begin;
    const scalar *values = (const scalar *)p->a_values + begin;
    bool sorted = count == r->n;
    int32_t last = -1;
    real size = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t column = renumbered ? p->places[columns[k]] : columns[k];
        sorted = sorted && last < column;
        last = column;
        r->c[k] = column;
        r->v[k] = values[k];
        size += rough(values[k]);
    }
    if (count < r->n) { /* the diagonal has no entry */
        r->c[count] = (int32_t)i;
        r->v[count] = number(0);
    }
    if (!sorted)
        sort_entries(r);
    r->size = size;
}

/* The columns of a long one. */
static void take_columns(const ilu_job *p, int64_t i, int64_t from, row *r)
{
    int64_t next[2] = {0, r->nl + 1};
    int32_t last[2] = {-1, -1};
    bool sorted = true;
    for (int64_t k = p->a_offsets[from]; k < p->a_offsets[from + 1]; k++) {
        const int32_t column = p->places ? p->places[p->a_columns[k]] : p->a_columns[k];
        const int side = column > i;
        if (column == i)
            continue;
        sorted = sorted && last[side] < column;
        last[side] = column;
        r->c[next[side]++] = column;
    }
    if (!sorted) {
        matrix_sort_columns(r->c, r->nl);
        matrix_sort_columns(r->c + r->nl + 1, r->n - r->nl - 1);
    }
}

/* A's numbers where its columns are marked. */
static void take_values(const ilu_job *p, int64_t from, row *r)
{
    const scalar *values = p->a_values;
    for (int64_t t = 0; t < r->n; t++)
        r->v[t] = number(0);
    r->size = 0;
    for (int64_t k = p->a_offsets[from]; k < p->a_offsets[from + 1]; k++) {
        const int32_t column = p->a_columns[k];
        /* a zero may lie outside the pattern of its mirror image */
        r->v[r->where[p->places ? p->places[column] : column]] = values[k];
        r->size += rough(values[k]);
    }
}

/* Shifts the diagonal away from zero. */
static void shift_row(const ilu_job *p, const row *r)
{
    scalar *d = &r->v[r->nl];
    const real by = (real)p->shift * r->size, length = size_of(*d);
    *d = p->pivot || length == 0 ? add(*d, number(by)) : times(1 + by / length, *d);
}

ALWAYS_INLINE void load_short(const ilu_job *p, int64_t i, row *r)
{
    if (p->rows)
        take_short(p, i, p->rows[i], true, r);
    else
        take_short(p, i, i, false, r);
    r->c[r->n] = INT32_MAX;
}

static void load_long(const ilu_job *p, int64_t i, int32_t *where, row *r)
{
    const int64_t from = p->rows ? p->rows[i] : i;
    r->c[r->nl] = (int32_t)i;
    if (p->own)
        take_columns(p, i, from, r);
    for (int64_t t = 0; t < r->nl && !p->own; t++)
        r->c[t] = p->l_columns[r->lower + t];
    for (int64_t t = 0; t < r->n - r->nl - 1 && !p->own; t++)
        r->c[r->nl + 1 + t] = p->u_columns[r->upper + t];
    r->where = where;
    mark(r, true);
    take_values(p, from, r);
    r->c[r->n] = INT32_MAX;
}

/* --- elimination ---------------------------------------------------------------------------------
 */

/* The place of a column in sorted ones from `low` on, where it is or would be. */
static int64_t find_column(const int32_t *columns, int64_t low, int64_t high, int32_t column)
{
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes entries at..end of a row of U from those of r; the first that they can match is `first`,
 * and those before `least` are not touched. What has no place is lost. */
ALWAYS_INLINE void take_merging(const ilu_job *p, int64_t at, int64_t end, scalar minus,
                                int64_t first, int64_t least, const row *r, scalar *lost)
{
    const scalar *u = p->u_values;
    for (int64_t t = first; at < end; at++) {
        const int32_t column = p->u_columns[at];
        while (r->c[t] < column)
            t++;
        if (r->c[t] == column && t >= least)
            r->v[t] = muladd(minus, u[at], r->v[t]);
        else if (lost && r->c[t] != column)
            *lost = muladd(minus, u[at], *lost);
    }
}

/* Some of L's may be touched that are not asked for: they are set when their turn comes. */
ALWAYS_INLINE void take_marked(const ilu_job *p, int64_t at, int64_t end, scalar minus,
                               const row *r)
{
    const scalar *u = p->u_values;
    for (; at < end; at++) {
        scalar *to = r->v + r->where[p->u_columns[at]];
        *to = muladd(minus, u[at], *to);
    }
}

ALWAYS_INLINE void take_row(const ilu_job *p, int64_t at, int64_t end, scalar minus, int64_t first,
                            int64_t least, const row *r, scalar *lost)
{
    if (r->where)
        take_marked(p, at, end, minus, r);
    else
        take_merging(p, at, end, minus, first, least, r, lost);
}

/* The same for a long row of U, by looking for the few columns of the row in it. */
static void take_few(const ilu_job *p, int64_t at, int64_t end, scalar minus, int64_t least,
                     const row *r)
{
    const scalar *u = p->u_values;
    for (int64_t t = least; t < r->n && at < end; t++) {
        at = find_column(p->u_columns, at, end, r->c[t]);
        if (at < end && p->u_columns[at] == r->c[t])
            r->v[t] = muladd(minus, u[at], r->v[t]);
    }
}

static bool is_much(int64_t entries, const row *r)
{
    enum { MUCH = 16 };
    return entries > MUCH * r->n;
}

/* Takes the rows of U that L's entries name, in rising order. */
ALWAYS_INLINE void eliminate(const ilu_job *p, const row *r, scalar *lost)
{
    for (int64_t t = 0; t < r->nl; t++) {
        const int64_t k = r->c[t], begin = p->u_offsets[k], end = p->u_offsets[k + 1];
        const scalar minus = sub(number(0), r->v[t]);
        if (!lost && is_much(end - begin, r))
            take_few(p, begin, end, minus, t + 1, r);
        else
            take_row(p, begin, end, minus, t + 1, t + 1, r, lost);
    }
}

/* Where row k of U has column i, which it has. */
ALWAYS_INLINE int64_t find_mirror(const ilu_job *p, int64_t at, int64_t end, int64_t i)
{
    enum { FEW = 8 };
    if (end - at > FEW)
        at = find_column(p->u_columns, at, end, (int32_t)i);
    while (p->u_columns[at] != i)
        at++;
    return at;
}

/* The same row where L = U^H: entries before the diagonal are those of earlier rows of U, and what
 * they take from the row is taken from the diagonal on. What is lost before it is asked for, too.
 */
ALWAYS_INLINE void eliminate_half(const ilu_job *p, int64_t i, const row *r, scalar *lost)
{
    const scalar *u = p->u_values, *pivot = p->pivot;
    scalar d = r->v[r->nl];
    for (int64_t t = 0; t < r->nl; t++) {
        const int64_t k = r->c[t], begin = p->u_offsets[k], end = p->u_offsets[k + 1];
        const int64_t at = find_mirror(p, begin, end, i);
        r->v[t] = conjugate(u[at]);
        const scalar minus = times(-real_of(pivot[k]), r->v[t]);
        if (lost)
            take_row(p, begin, at, minus, t + 1, r->nl, r, lost);
        d = muladd(minus, u[at], d);
        if (!lost && is_much(end - at, r))
            take_few(p, at + 1, end, minus, r->nl + 1, r);
        else
            take_row(p, at + 1, end, minus, r->nl + 1, r->nl + 1, r, lost);
    }
    r->v[r->nl] = d;
}

ALWAYS_INLINE void eliminate_any(const ilu_job *p, int64_t i, bool half, bool modified,
                                 const row *r)
{
    scalar lost = number(0);
    for (int l = 1; l <= ILU_LOST && r->where; l++)
        r->v[-l] = lost;
    if (half)
        eliminate_half(p, i, r, modified ? &lost : NULL);
    else
        eliminate(p, r, modified ? &lost : NULL);
    for (int l = 1; l <= ILU_LOST && r->where && modified; l++)
        lost = add(lost, r->v[-l]);
    if (modified)
        r->v[r->nl] = add(r->v[r->nl], times((real)p->modified, lost));
}

/* --- the end -------------------------------------------------------------------------------------
 */

/* Writes L's entries, divided by the pivots of their columns; false where a number is not finite.
 */
ALWAYS_INLINE bool put_lower(const ilu_job *p, const row *r)
{
    scalar *l = (scalar *)p->l_values + r->lower;
    const scalar *inverses = p->inverse;
    bool fine = true;
    for (int64_t t = 0; t < r->nl; t++) {
        l[t] = mul(r->v[t], inverses[r->c[t]]);
        fine = fine && finite_number(l[t]);
        p->l_columns[r->lower + t] = r->c[t];
    }
    return fine;
}

/* The same where they were divided, and are known to be finite. The moduli of a row of L^-1 sum up
 * to no more than one and what the rows have that it takes: gives that bound. */
ALWAYS_INLINE real put_half(const ilu_job *p, const row *r)
{
    scalar *l = (scalar *)p->l_values + r->lower;
    const real *growth = p->growth;
    real sum = 1;
    for (int64_t t = 0; t < r->nl; t++) {
        l[t] = r->v[t];
        sum += rough(l[t]) * growth[r->c[t]];
        p->l_columns[r->lower + t] = r->c[t];
    }
    return sum;
}

ALWAYS_INLINE bool put_upper(const ilu_job *p, scalar by, const row *r)
{
    scalar *u = (scalar *)p->u_values + r->upper;
    bool fine = true;
    for (int64_t t = 0; t < r->n - r->nl - 1; t++) {
        u[t] = mul(r->v[r->nl + 1 + t], by);
        fine = fine && finite_number(u[t]);
        p->u_columns[r->upper + t] = r->c[r->nl + 1 + t];
    }
    return fine;
}

/* Divides by the pivots; false where the row's cannot be used or a number is not finite. */
ALWAYS_INLINE bool finish_row(const ilu_job *p, int64_t i, bool half, const row *r, ilu_room *room)
{
    const scalar d = half ? number(real_of(r->v[r->nl])) : r->v[r->nl];
    const scalar by = inverse(d);
    bool fine = (half ? real_of(d) : size_of(d)) > UNIT * r->size && finite_number(by);
    if (half) {
        const real growth = put_half(p, r);
        ((scalar *)p->pivot)[i] = d;
        ((real *)p->growth)[i] = growth;
        room->growth = (double)growth > room->growth ? (double)growth : room->growth;
        room->inverse = (double)real_of(by) > room->inverse ? (double)real_of(by) : room->inverse;
    } else {
        fine = put_lower(p, r) && fine;
    }
    ((scalar *)p->inverse)[i] = by;
    return put_upper(p, by, r) && fine;
}

/* What is asked of A's row, as it is. */
static void note_row(const row *r, ilu_room *room)
{
    const scalar d = r->v[r->nl];
    const real slack = 1 + 16 * UNIT; /* rounding of sums */
    room->largest = (double)r->size > room->largest ? (double)r->size : room->largest;
    room->dominant = room->dominant && r->size - rough(d) <= slack * size_of(d);
}

/* Rows that are not in A's order come from all over it: they are asked for some rows before. */
ALWAYS_INLINE void prefetch_rows(const ilu_job *p, int64_t i, int64_t end)
{
    enum { FAR = 64, NEAR = 24 };
    if (i + FAR < end)
        __builtin_prefetch(p->a_offsets + p->rows[i + FAR]);
    if (i + NEAR < end) {
        const int64_t at = p->a_offsets[p->rows[i + NEAR]];
        __builtin_prefetch(p->a_columns + at);
        __builtin_prefetch((const scalar *)p->a_values + at);
    }
}

ALWAYS_INLINE bool finish_loaded(const ilu_job *p, int64_t i, bool half, bool modified,
                                 const row *r, ilu_room *room)
{
    note_row(r, room);
    if (p->shift != 0)
        shift_row(p, r);
    eliminate_any(p, i, half, modified, r);
    return finish_row(p, i, half, r, room);
}

/* A row that is long, or has fill. */
static bool do_long(const ilu_job *p, int64_t i, bool half, bool modified, row r, ilu_room *room)
{
    load_long(p, i, room->where, &r);
    const bool fine = finish_loaded(p, i, half, modified, &r, room);
    mark(&r, false);
    return fine;
}

ALWAYS_INLINE int64_t do_rows(const ilu_job *p, int64_t begin, int64_t end, bool half,
                              bool modified, ilu_room *room)
{
    for (int64_t at = begin; at < end; at++) {
        const int64_t i = p->in_turn ? p->places[at] : at;
        row r = {.lower = p->l_offsets[i],
                 .upper = p->u_offsets[i],
                 .c = room->columns,
                 .v = (scalar *)room->values + ILU_LOST};
        bool fine;
        if (p->rows && !p->in_turn)
            prefetch_rows(p, i, end);
        r.nl = p->l_offsets[i + 1] - r.lower;
        r.n = r.nl + 1 + p->u_offsets[i + 1] - r.upper;
        if (p->own && r.n <= ILU_SHORT) {
            load_short(p, i, &r);
            if (r.n > ILU_MERGED) {
                r.where = room->where;
                mark(&r, true);
            }
            fine = finish_loaded(p, i, half, modified, &r, room);
            if (r.where)
                mark(&r, false);
        } else {
            fine = do_long(p, i, half, modified, r, room);
        }
        if (!fine)
            return i;
    }
    return end;
}

int64_t X(ilu_rows)(const ilu_job *p, int64_t begin, int64_t end, ilu_room *room)
{
    if (p->modified != 0)
        return p->pivot ? do_rows(p, begin, end, true, true, room)
                        : do_rows(p, begin, end, false, true, room);
    return p->pivot ? do_rows(p, begin, end, true, false, room)
                    : do_rows(p, begin, end, false, false, room);
}
