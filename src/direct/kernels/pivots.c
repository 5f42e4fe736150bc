/*
 * Pivots of a front. Those of general matrices are searched for by columns, with exchanges of rows
 * that are fully summed; of symmetric ones as 1 x 1 and 2 x 2 blocks on the diagonal, which rook
 * pivoting finds. One is taken where no multiplier is larger than 1 / threshold: I. S. Duff,
 * J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear systems, ACM Trans.
 * Math. Softw. 9 (1983), 302-325; C. Ashcraft, R. G. Grimes, J. G. Lewis, Accurate symmetric
 * indefinite linear equation solvers, SIAM J. Matrix Anal. Appl. 20 (1998), 513-561.
 *
 * Columns beyond those of the panel wait for front_update(): a candidate is brought up to date in
 * a column of its own.
 */
#include "direct/kernels/kernel.h"

enum { ROOK_STEPS = 4, ROOK_STEPS_AT_ROOTS = 64 };

static inline scalar *at(const front *f, int64_t i, int64_t j)
{
    return (scalar *)f->a + j * f->order + i;
}

/* --- general matrices ----------------------------------------------------------------------------
 */

static void exchange_rows(const front *f, int64_t p, int64_t q)
{
    if (p == q)
        return;
    for (int64_t j = 0; j < f->order; j++)
        exchange(at(f, p, j), at(f, q, j));
    const int32_t keep = f->rows[p];
    f->rows[p] = f->rows[q];
    f->rows[q] = keep;
    f->row_at[f->rows[p]] = (int32_t)p;
    f->row_at[f->rows[q]] = (int32_t)q;
}

static void exchange_columns(const front *f, int64_t p, int64_t q)
{
    if (p == q)
        return;
    scalar *x = at(f, 0, p), *y = at(f, 0, q);
    for (int64_t i = 0; i < f->order; i++)
        exchange(x + i, y + i);
    const int32_t keep = f->cols[p];
    f->cols[p] = f->cols[q];
    f->cols[q] = keep;
}

static bool try_general(front *f, int64_t q)
{
    const int64_t n = f->order, p = f->done, depth = p - f->begin;
    scalar *w = f->columns[0], *x = w + depth; /* from row p on */
    memcpy(w, at(f, f->begin, q), (size_t)(n - f->begin) * sizeof *w);
    eliminate(n - f->begin, depth, at(f, f->begin, f->begin), n, w);
    const found best = largest(f->full - p, x);
    const real rest = largest_size(n - f->full, x + f->full - p);
    const real most = rest > best.size ? rest : best.size;
    const real least = (real)f->threshold * most;
    if (!(best.size > (real)f->small) || !(best.size >= least))
        return false;
    int64_t row = p + best.at;
    /* The row that the matching gave to this column, if it will do. */
    const int32_t mate = f->row_at[f->cols[q]];
    if (mate >= p && mate < f->full && f->rows[mate] == f->cols[q] &&
        size_near(x[mate - p]) > (real)f->small && size_near(x[mate - p]) >= least)
        row = mate;
    memcpy(at(f, f->begin, q), w, (size_t)(n - f->begin) * sizeof *w);
    exchange_columns(f, p, q);
    exchange_rows(f, p, row);
    const scalar g = inverse(*at(f, p, p));
    ((scalar *)f->inverse)[p] = g;
    scalar *column = at(f, p + 1, p);
    for (int64_t i = 0; i < n - p - 1; i++)
        column[i] = mul(g, column[i]);
    f->done++;
    return true;
}

/* --- symmetric and hermitian ones ----------------------------------------------------------------
 */

/* Rows begin..end-1 of column q, in w, lose what the panel's first `depth` pivots bring. */
static void bring_rows(const front *f, int64_t depth, int64_t q, int64_t begin, int64_t end,
                       scalar *w)
{
    const int64_t n = f->order;
    const scalar *l = at(f, begin, f->begin), *mirror = (const scalar *)f->mirror + q;
    int64_t t = 0;
    for (; t + 4 <= depth; t += 4) {
        const scalar four[4] = {mirror[t * n], mirror[(t + 1) * n], mirror[(t + 2) * n],
                                mirror[(t + 3) * n]};
        subtract_four(end - begin, four, l + t * n, n, w);
    }
    for (; t < depth; t++)
        subtract(end - begin, mirror[t * n], l + t * n, w);
}

/* Column q, the rows from `done` on, up to date. */
static void bring_column(const front *f, int64_t q, scalar *w)
{
    const int64_t n = f->order, p = f->done;
    for (int64_t i = p; i < q; i++)
        w[i - p] = mirrored(f->hermitian, *at(f, q, i));
    memcpy(w + q - p, at(f, q, q), (size_t)(n - q) * sizeof *w);
    bring_rows(f, p - f->begin, q, p, n, w);
    if (f->hermitian)
        w[q - p] = number(real_of(w[q - p]));
}

/* Rows and columns p < q change places. */
static void exchange_both(const front *f, int64_t p, int64_t q)
{
    const int64_t n = f->order;
    if (p == q)
        return;
    for (int64_t j = 0; j < p; j++)
        exchange(at(f, p, j), at(f, q, j));
    exchange(at(f, p, p), at(f, q, q));
    for (int64_t i = p + 1; i < q; i++) {
        const scalar keep = mirrored(f->hermitian, *at(f, i, p));
        *at(f, i, p) = mirrored(f->hermitian, *at(f, q, i));
        *at(f, q, i) = keep;
    }
    *at(f, q, p) = mirrored(f->hermitian, *at(f, q, p));
    for (int64_t i = q + 1; i < n; i++)
        exchange(at(f, i, p), at(f, i, q));
    scalar *mirror = f->mirror;
    for (int64_t t = 0; t < f->done - f->begin; t++)
        exchange(mirror + t * n + p, mirror + t * n + q);
    const int32_t keep = f->rows[p];
    f->rows[p] = f->rows[q];
    f->rows[q] = keep;
}

/* Row `slot` of the panel of D L^H: the column w from place p on, mirrored. */
static void put_mirror(const front *f, int64_t slot, int64_t p, const scalar *w)
{
    scalar *to = (scalar *)f->mirror + slot * f->order;
    for (int64_t i = p; i < f->order; i++)
        to[i] = mirrored(f->hermitian, w[i - p]);
}

static void take_one(front *f, int64_t q, scalar *w)
{
    const int64_t n = f->order, p = f->done;
    exchange_both(f, p, q);
    exchange(w, w + q - p);
    const scalar g = inverse(w[0]);
    scalar *column = at(f, p, p), *inverses = f->inverse;
    put_mirror(f, p - f->begin, p, w);
    column[0] = number(1);
    for (int64_t i = 1; i < n - p; i++)
        column[i] = mul(g, w[i]);
    inverses[p] = g;
    inverses[f->full + p] = number(0);
    f->done++;
}

/* Columns q and r, w and v. */
static void take_two(front *f, int64_t q, int64_t r, scalar *w, scalar *v)
{
    const int64_t n = f->order, p = f->done;
    exchange_both(f, p, q);
    exchange(w, w + q - p);
    exchange(v, v + q - p);
    r = r == p ? q : r;
    exchange_both(f, p + 1, r);
    exchange(w + 1, w + r - p);
    exchange(v + 1, v + r - p);
    const scalar a = w[0], b = w[1], c = v[1], b2 = mirrored(f->hermitian, b);
    /* The inverse of (a b2; b c), written so that a c does not overflow: b is the largest. */
    const scalar ab = mul(a, inverse(b)), cb = mul(c, inverse(b2));
    const scalar g = inverse(sub(mul(ab, cb), number(1))); /* b b2 / det */
    const scalar i00 = mul(g, mul(cb, inverse(b))), i11 = mul(g, mul(ab, inverse(b2)));
    const scalar i10 = minus(mul(g, inverse(b2))), i01 = minus(mul(g, inverse(b)));
    scalar *x = at(f, p, p), *y = at(f, p, p + 1), *inverses = f->inverse;
    put_mirror(f, p - f->begin, p, w);
    put_mirror(f, p - f->begin + 1, p, v);
    x[0] = y[1] = number(1);
    x[1] = number(0);
    for (int64_t i = 2; i < n - p; i++) {
        x[i] = muladd(w[i], i00, mul(v[i], i10));
        y[i] = muladd(w[i], i01, mul(v[i], i11));
    }
    inverses[p] = i00;
    inverses[p + 1] = i11;
    inverses[f->full + p] = i10;
    inverses[f->full + p + 1] = number(0);
    f->done += 2;
    f->pairs++;
}

/* The largest numbers of a column but for those at q and r. */
typedef struct looks {
    real diagonal;
    found best; /* of the fully summed but q, as a place of the front */
    real most;  /* of all but q and r */
} looks;

static looks look_at(const front *f, const scalar *w, int64_t q, int64_t r)
{
    looks l = {size_near(w[q - f->done]), {-1, -1}, 0};
    for (int64_t i = f->done; i < f->full; i++) {
        const real size = size_near(w[i - f->done]);
        if (i == q)
            continue;
        if (size > l.best.size)
            l.best = (found){size, i};
        if (i != r && size > l.most)
            l.most = size;
    }
    const real rest = largest_size(f->order - f->full, w + f->full - f->done);
    l.most = rest > l.most ? rest : l.most;
    return l;
}

static bool fits_alone(const front *f, const looks *l)
{
    const real most = l->best.size > l->most ? l->best.size : l->most;
    return l->diagonal > (real)f->small && l->diagonal >= (real)f->threshold * most;
}

/* Whether multipliers stay within bounds with the block of columns q and r. */
static bool fit_together(const front *f, const scalar *w, const scalar *v, int64_t q, int64_t r,
                         real most_w, real most_v)
{
    const scalar a = w[q - f->done], b = w[r - f->done], c = v[r - f->done];
    if (!(size_near(b) > (real)f->small))
        return false;
    const scalar b2 = mirrored(f->hermitian, b);
    const scalar ab = mul(a, inverse(b)), cb = mul(c, inverse(b2));
    const real det = size_near(sub(mul(ab, cb), number(1))), u = (real)f->threshold;
    return det > 64 * UNIT && u * (size_near(cb) * most_w + most_v) <= det * size_near(b) &&
           u * (size_near(ab) * most_v + most_w) <= det * size_near(b);
}

static bool try_symmetric(front *f, int64_t q)
{
    scalar *w = f->columns[0], *v = f->columns[1];
    const int steps = f->root ? ROOK_STEPS_AT_ROOTS : ROOK_STEPS;
    bring_column(f, q, w);
    looks l = look_at(f, w, q, -1);
    for (int step = 0; step < steps; step++) {
        if (fits_alone(f, &l)) {
            take_one(f, q, w);
            return true;
        }
        const int64_t r = l.best.at;
        if (r < 0 || !(l.best.size > (real)f->small))
            return false;
        const looks without = look_at(f, w, q, r);
        bring_column(f, r, v);
        const looks other = look_at(f, v, r, q);
        if (fit_together(f, w, v, q, r, without.most, other.most)) {
            take_two(f, q, r, w, v);
            return true;
        }
        if (other.best.at == q && !fits_alone(f, &other))
            return false; /* they are each other's best */
        q = r;
        l = other;
        scalar *keep = w;
        w = v;
        v = keep;
    }
    return false;
}

/* Rows begin..end-1 of pivot p's column, which are up to date in w: L and D L^H. */
static void put_rows(const front *f, int64_t p, int64_t begin, int64_t end, const scalar *w)
{
    const scalar g = ((const scalar *)f->inverse)[p];
    scalar *column = at(f, begin, p);
    scalar *mirror = (scalar *)f->mirror + (p - f->begin) * f->order + begin;
    for (int64_t i = 0; i < end - begin; i++) {
        mirror[i] = conjugate(w[i]);
        column[i] = mul(g, w[i]);
    }
}

/* The pivots of a panel are its diagonal block's: rows below need them, but are not searched. */
static bool take_definite(front *f)
{
    const int64_t p = f->done, most = f->begin + FRONT_PANEL - 1;
    const int64_t end = most < f->full ? most : f->full;
    scalar *w = f->columns[0], *inverses = f->inverse;
    memcpy(w, at(f, p, p), (size_t)(end - p) * sizeof *w);
    bring_rows(f, p - f->begin, p, p, end, w);
    w[0] = number(real_of(w[0]));
    const real pivot = real_of(w[0]);
    if (!(pivot > (real)f->small)) {
        f->failed = true;
        f->negative = pivot < -(real)f->small;
        return false;
    }
    inverses[p] = inverse(w[0]);
    inverses[f->full + p] = number(0);
    put_rows(f, p, p, end, w);
    *at(f, p, p) = number(1);
    f->done++;
    return true;
}

void X(front_rows)(const front *f, int64_t begin, int64_t end)
{
    scalar *w = (scalar *)f->columns[0] + begin;
    for (int64_t p = f->begin; p < f->done; p++) {
        memcpy(w, at(f, begin, p), (size_t)(end - begin) * sizeof *w);
        bring_rows(f, p - f->begin, p, begin, end, w);
        put_rows(f, p, begin, end, w);
    }
}

/* --- what is left over ---------------------------------------------------------------------------
 */

/* Whether column q is as good as 0 from `done` on; of symmetric ones row q with it. */
static bool is_null_column(const front *f, int64_t q)
{
    const int64_t begin = f->symmetric ? q : f->done;
    bool null = largest_size(f->order - begin, at(f, begin, q)) <= (real)f->small;
    for (int64_t j = f->done; j < begin && null; j++)
        null = size_near(*at(f, q, j)) <= (real)f->small;
    return null;
}

static bool is_null_row(const front *f, int64_t r)
{
    bool null = true;
    for (int64_t j = f->done; j < f->order && null; j++)
        null = size_near(*at(f, r, j)) <= (real)f->small;
    return null;
}

/*
 * Rows and columns that are fully summed and negligible stay so, whatever is eliminated later: they
 * are dropped instead of being passed on from parent to parent, which would make every front on the
 * way to the root larger by all of them. Everything is up to date.
 */
static void leave_out(front *f)
{
    int64_t cols = f->done, rows = f->done;
    for (int64_t q = f->done; q < f->full; q++)
        if (is_null_column(f, q)) {
            if (f->symmetric)
                exchange_both(f, cols, q);
            else
                exchange_columns(f, cols, q);
            cols++;
        }
    for (int64_t r = f->done; r < f->full && !f->symmetric && rows < cols; r++)
        if (is_null_row(f, r))
            exchange_rows(f, rows++, r);
    f->nulls = (f->symmetric ? cols : rows) - f->done;
}

bool X(front_panel)(front *f)
{
    int64_t failures = 0;
    f->begin = f->done;
    while (f->done < f->full && f->done - f->begin + (f->symmetric ? 1 : 0) < FRONT_PANEL &&
           failures < f->full - f->done && !f->failed) {
        if (f->tried < f->done || f->tried >= f->full)
            f->tried = f->done;
        const int64_t q = f->definite ? f->done : f->tried++;
        const bool taken = f->definite    ? take_definite(f)
                           : f->symmetric ? try_symmetric(f, q)
                                          : try_general(f, q);
        failures = taken ? 0 : failures + 1;
    }
    const bool more = f->done > f->begin && !f->failed;
    if (!more && !f->root && !f->definite)
        leave_out(f);
    return more;
}
