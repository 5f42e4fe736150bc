/*
 * Rows of an incomplete factorization with a given pattern: A is about (I + L) D (I + U).
 *
 * Row by row (the IKJ order; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 10.3).
 * With v_ik = l_ik d_k before the division, v_ij -= v_ik u_kj needs the divided rows of U alone:
 * they are stored as they are used, here and in solves.
 */
#include "precon/kernels/kernel.h"

/* A row while it is factorized: L's entries, the diagonal, U's. */
typedef struct row {
    int64_t lower, upper; /* where they begin */
    int64_t nl, nu;
    scalar *v;
    real size; /* of A's row: the sum of magnitudes */
} row;

/* Notes where in the row each column of its pattern is, from 1; or 0 again. */
static void mark(const ilu_job *p, const row *r, int64_t i, int32_t *where, bool on)
{
    for (int64_t t = 0; t < r->nl; t++)
        where[p->l_columns[r->lower + t]] = on ? (int32_t)(t + 1) : 0;
    where[i] = on ? (int32_t)(r->nl + 1) : 0;
    for (int64_t t = 0; t < r->nu; t++)
        where[p->u_columns[r->upper + t]] = on ? (int32_t)(r->nl + t + 2) : 0;
}

/* |a| up to a factor of sqrt(2): cheap. */
static real rough(scalar a)
{
#if KERNEL_COMPLEX
    return (real)fabs((double)a.re) + (real)fabs((double)a.im);
#else
    return a < 0 ? -a : a;
#endif
}

/* Puts A's row into its places and shifts the diagonal away from zero. */
static void load_row(const ilu_job *p, int64_t i, const int32_t *where, row *r)
{
    const scalar *values = p->a_values;
    const int64_t from = p->rows ? p->rows[i] : i;
    for (int64_t t = 0; t < r->nl + r->nu + 1; t++)
        r->v[t] = number(0);
    r->size = 0;
    for (int64_t k = p->a_offsets[from]; k < p->a_offsets[from + 1]; k++) {
        const int32_t column = p->a_columns[k];
        const int32_t to = where[p->places ? p->places[column] : column];
        /* else it is before the diagonal of a half, or a zero beside the pattern of its mirror
         * image */
        if (to > 0)
            r->v[to - 1] = values[k];
        r->size += rough(values[k]);
    }
    if (p->shift != 0) {
        scalar *d = &r->v[r->nl];
        const real by = (real)p->shift * r->size, length = size_of(*d);
        *d = p->hermitian || length == 0 ? add(*d, number(by)) : times(1 + by / length, *d);
    }
}

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

/* Takes a long row k of U by looking for the few columns of the row in it. */
static void eliminate_few(const ilu_job *p, int64_t k, scalar minus, int64_t i, const row *r)
{
    const scalar *u = p->u_values;
    const int64_t end = p->u_offsets[k + 1];
    int64_t at = p->u_offsets[k];
    for (int64_t t = 0; t < r->nl + r->nu + 1 && at < end; t++) {
        const int32_t column = t < r->nl    ? p->l_columns[r->lower + t]
                               : t == r->nl ? (int32_t)i
                                            : p->u_columns[r->upper + t - r->nl - 1];
        if (column <= k)
            continue;
        at = find_column(p->u_columns, at, end, column);
        if (at < end && p->u_columns[at] == column)
            r->v[t] = muladd(minus, u[at], r->v[t]);
    }
}

/* Takes the rows of U that L's entries name, in rising order; what has no place is lost, or goes to
 * the diagonal. */
static void eliminate(const ilu_job *p, int64_t i, const int32_t *where, const row *r)
{
    enum { MUCH = 16 };
    const scalar *u = p->u_values;
    scalar lost = number(0);
    for (int64_t t = 0; t < r->nl; t++) {
        const int64_t k = p->l_columns[r->lower + t], end = p->u_offsets[k + 1];
        const scalar minus = sub(number(0), r->v[t]);
        if (p->modified == 0 && end - p->u_offsets[k] > MUCH * (r->nl + r->nu + 1)) {
            eliminate_few(p, k, minus, i, r);
            continue;
        }
        for (int64_t e = p->u_offsets[k]; e < end; e++) {
            const int32_t to = where[p->u_columns[e]];
            scalar *at = to > 0 ? &r->v[to - 1] : &lost;
            *at = muladd(minus, u[e], *at);
        }
    }
    if (p->modified != 0)
        r->v[r->nl] = add(r->v[r->nl], times((real)p->modified, lost));
}

/* Divides by the pivots; false where the row's cannot be used or a number is not finite. */
static bool finish_row(const ilu_job *p, int64_t i, const row *r)
{
    scalar *l = p->l_values, *u = p->u_values, *inverses = p->inverse, d = r->v[r->nl];
    bool fine = size_of(d) > UNIT * r->size;
    if (p->hermitian) {
        d = number(real_of(d));
        fine = real_of(d) > UNIT * r->size;
    }
    const scalar by = inverse(d);
    fine = fine && finite_number(by);
    for (int64_t t = 0; t < r->nl; t++) {
        const scalar to = mul(r->v[t], inverses[p->l_columns[r->lower + t]]);
        fine = fine && finite_number(to);
        l[r->lower + t] = to;
    }
    for (int64_t t = 0; t < r->nu; t++) {
        const scalar to = mul(r->v[r->nl + 1 + t], by);
        fine = fine && finite_number(to);
        u[r->upper + t] = to;
    }
    inverses[i] = by;
    if (p->pivot)
        ((scalar *)p->pivot)[i] = d;
    return fine;
}

/* The same row where L = U^H: entries before the diagonal are those of earlier rows of U, and what
 * they take from the row is taken behind the diagonal alone. r->nl is 0. */
static void eliminate_half(const ilu_job *p, int64_t i, const int32_t *where, const row *r)
{
    enum { FEW = 8 };
    const scalar *u = p->u_values, *pivot = p->pivot;
    scalar *l = p->l_values;
    for (int64_t t = p->l_offsets[i]; t < p->l_offsets[i + 1]; t++) {
        const int64_t k = p->l_columns[t], end = p->u_offsets[k + 1];
        int64_t e = p->u_offsets[k];
        if (end - e > FEW)
            e = find_column(p->u_columns, e, end, (int32_t)i);
        while (p->u_columns[e] != i)
            e++;
        l[t] = conjugate(u[e]);
        const scalar minus = times(-real_of(pivot[k]), l[t]);
        r->v[0] = muladd(minus, u[e], r->v[0]);
        for (e++; e < end; e++) {
            const int32_t to = where[p->u_columns[e]];
            if (to > 0)
                r->v[to - 1] = muladd(minus, u[e], r->v[to - 1]);
        }
    }
}

int64_t X(ilu_rows)(const ilu_job *p, int64_t begin, int64_t end, int32_t *where, void *room)
{
    for (int64_t i = begin; i < end; i++) {
        row r = {.lower = p->l_offsets[i], .upper = p->u_offsets[i], .v = room};
        r.nl = p->pivot ? 0 : p->l_offsets[i + 1] - r.lower;
        r.nu = p->u_offsets[i + 1] - r.upper;
        mark(p, &r, i, where, true);
        load_row(p, i, where, &r);
        if (p->pivot)
            eliminate_half(p, i, where, &r);
        else
            eliminate(p, i, where, &r);
        mark(p, &r, i, where, false);
        if (!finish_row(p, i, &r))
            return i;
    }
    return end;
}
