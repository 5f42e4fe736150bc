/*
 * Least squares by Householder's reflections, which touch only the rows that a column has, so that
 * those of a Hessenberg matrix are short; and Schur's form by the shifted QR iteration with plane
 * rotations, whose eigenvalues are then put in order by exchanging neighbours (G. H. Golub,
 * C. F. Van Loan, Matrix Computations, 4th ed., Johns Hopkins (2013), sections 5.2, 7.5, 7.6).
 */
#include "program/dense.h"

#include <float.h>
#include <math.h>

static spry_scalar multiply(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static spry_scalar conjugate(spry_scalar a)
{
    return (spry_scalar){a.re, -a.im};
}

static spry_scalar minus(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re - b.re, a.im - b.im};
}

static spry_scalar plus(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re + b.re, a.im + b.im};
}

static spry_scalar scaled(spry_scalar a, double by)
{
    return (spry_scalar){a.re * by, a.im * by};
}

static double size_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}

/* a / b with no overflow on the way. */
static spry_scalar divide(spry_scalar a, spry_scalar b)
{
    const double size = fmax(fabs(b.re), fabs(b.im));
    const spry_scalar by = scaled(conjugate(b), 1 / size);
    const double square = by.re * (b.re / size) - by.im * (b.im / size);
    return scaled(multiply(a, by), 1 / size / square);
}

static bool all_finite(int64_t n, const spry_scalar *a)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(a[i].re) || !isfinite(a[i].im))
            return false;
    return true;
}

static double norm_of(int64_t n, const spry_scalar *a, int64_t apart)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fmax(fabs(a[i * apart].re), fabs(a[i * apart].im)));
    for (int64_t i = 0; i < n && most > 0; i++) {
        const double re = a[i * apart].re / most, im = a[i * apart].im / most;
        sum += re * re + im * im;
    }
    return most * sqrt(sum);
}

/*
 * Makes the reflection 1 - tau v v^H that takes x, n numbers that are `apart`, to a multiple of the
 * first unit vector: x becomes that multiple and, below it, v, whose first number is 1. 0: x = 0.
 */
static double reflect(int64_t n, spry_scalar *x, int64_t apart)
{
    const double norm = norm_of(n, x, apart), first = size_of(x[0]);
    double square = 1;
    if (!(norm > 0))
        return 0;
    const spry_scalar sign = first > 0 ? scaled(x[0], 1 / first) : (spry_scalar){1, 0};
    const spry_scalar head = scaled(sign, first + norm);
    for (int64_t i = 1; i < n; i++) {
        x[i * apart] = divide(x[i * apart], head);
        square += x[i * apart].re * x[i * apart].re + x[i * apart].im * x[i * apart].im;
    }
    x[0] = scaled(sign, -norm);
    return 2 / square;
}

/* Applies the reflection to y, whose numbers are `step` apart. `turned`: to a row, from the right.
 */
static void apply(int64_t n, const spry_scalar *v, int64_t apart, double tau, spry_scalar *y,
                  int64_t step, bool turned)
{
    spry_scalar sum = y[0];
    for (int64_t i = 1; i < n; i++) {
        const spry_scalar by = turned ? v[i * apart] : conjugate(v[i * apart]);
        sum = plus(sum, multiply(by, y[i * step]));
    }
    sum = scaled(sum, tau);
    y[0] = minus(y[0], sum);
    for (int64_t i = 1; i < n; i++) {
        const spry_scalar by = turned ? conjugate(v[i * apart]) : v[i * apart];
        y[i * step] = minus(y[i * step], multiply(sum, by));
    }
}

/* Rows of a column up to the last one that is not 0. */
static int rows_of(int rows, const spry_scalar *column)
{
    while (rows > 0 && column[rows - 1].re == 0 && column[rows - 1].im == 0)
        rows--;
    return rows;
}

/* y of g, whose rows are those of the triangle that A became. */
static void solve_triangle(const dense_problem *s, int rank)
{
    const int rows = s->rows, cols = s->cols, *pivot = s->pivot;
    for (int j = 0; j < s->rights; j++) {
        spry_scalar *x = s->y + (int64_t)j * cols, *from = s->g + (int64_t)j * rows;
        s->left[j] = norm_of(rows - rank, from + rank, 1);
        for (int c = cols - 1; c >= 0; c--) {
            x[c] = (spry_scalar){0, 0};
            if (pivot[c] < 0)
                continue;
            x[c] = divide(from[pivot[c]], s->a[(int64_t)c * rows + pivot[c]]);
            for (int i = 0; i < pivot[c]; i++)
                from[i] = minus(from[i], multiply(s->a[(int64_t)c * rows + i], x[c]));
        }
    }
}

bool dense_least(const dense_problem *s)
{
    const int rows = s->rows, cols = s->cols, rights = s->rights;
    int rank = 0, end = 0;
    if (!all_finite((int64_t)rows * cols, s->a) || !all_finite((int64_t)rows * rights, s->g))
        return false;
    for (int c = 0; c < cols; c++) {
        spry_scalar *column = s->a + (int64_t)c * rows;
        const int own = rows_of(rows, column);
        end = own > end ? own : end; /* reflections before have filled it up to that row */
        const int below = end - rank;
        s->pivot[c] = -1;
        if (below <= 0 ||
            !(norm_of(below, column + rank, 1) > cols * s->eps * norm_of(end, column, 1)))
            continue;
        const double tau = reflect(below, column + rank, 1);
        for (int j = c + 1; j < cols; j++)
            apply(below, column + rank, 1, tau, s->a + (int64_t)j * rows + rank, 1, false);
        for (int j = 0; j < rights; j++)
            apply(below, column + rank, 1, tau, s->g + (int64_t)j * rows + rank, 1, false);
        s->pivot[c] = rank++;
    }
    solve_triangle(s, rank);
    return true;
}

/* --- Schur's form -------------------------------------------------------------------------------
 */

/* A plane rotation: u = c u + s v, v = c v - conj(s) u, where c is real. */
typedef struct rotation {
    double c;
    spry_scalar s;
} rotation;

/* The one that makes v zero. */
static rotation rotation_for(spry_scalar u, spry_scalar v)
{
    const double a = size_of(u), b = size_of(v), size = hypot(a, b);
    if (b == 0)
        return (rotation){1, {0, 0}};
    const spry_scalar sign = a > 0 ? scaled(u, 1 / a) : (spry_scalar){1, 0};
    return (rotation){a / size, scaled(multiply(sign, conjugate(v)), 1 / size)};
}

/* `turned`: columns are rotated so that T stays similar to what it was. */
static void rotate(rotation r, int64_t n, spry_scalar *u, spry_scalar *v, int64_t apart,
                   bool turned)
{
    const spry_scalar s = turned ? conjugate(r.s) : r.s;
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar a = u[i * apart], b = v[i * apart];
        u[i * apart] = plus(scaled(a, r.c), multiply(s, b));
        v[i * apart] = minus(scaled(b, r.c), multiply(conjugate(s), a));
    }
}

/* T becomes Q^H T Q, zero below its first subdiagonal, and Z = Q. */
static void make_hessenberg(int64_t n, spry_scalar *t, spry_scalar *z)
{
    for (int64_t i = 0; i < n * n; i++)
        z[i] = (spry_scalar){i % (n + 1) == 0, 0};
    for (int64_t k = 0; k + 2 < n; k++) {
        const int64_t m = n - k - 1;
        spry_scalar *x = t + (k + 1) * n + k;
        const double tau = reflect(m, x, n);
        for (int64_t j = k + 1; j < n && tau > 0; j++)
            apply(m, x, n, tau, t + (k + 1) * n + j, n, false);
        for (int64_t i = 0; i < n && tau > 0; i++) {
            apply(m, x, n, tau, t + i * n + k + 1, 1, true);
            apply(m, x, n, tau, z + i * n + k + 1, 1, true);
        }
        for (int64_t i = 1; i < m; i++)
            x[i * n] = (spry_scalar){0, 0};
    }
}

/* The eigenvalue of the last two rows of the part that ends with row `last` that is nearer to its
 * last diagonal number. */
static spry_scalar shift_at(int64_t n, const spry_scalar *t, int64_t last)
{
    const spry_scalar a = t[(last - 1) * n + last - 1], b = t[(last - 1) * n + last],
                      c = t[last * n + last - 1], d = t[last * n + last];
    const spry_scalar half = scaled(minus(a, d), 0.5);
    const spry_scalar square = plus(multiply(half, half), multiply(b, c));
    const double size = size_of(square), re = sqrt(fmax(0, (size + square.re) / 2));
    const double im = copysign(sqrt(fmax(0, (size - square.re) / 2)), square.im);
    const bool same = half.re * re + half.im * im >= 0;
    const spry_scalar root = {same ? re : -re, same ? im : -im}, far = plus(half, root);
    return size_of(far) > 0 ? minus(d, divide(multiply(b, c), far)) : d;
}

/* A step of the iteration on rows first..last, by T - shift = Q R and R Q + shift. */
static void qr_step(int64_t n, spry_scalar *t, spry_scalar *z, int64_t first, int64_t last,
                    spry_scalar shift)
{
    rotation before = {1, {0, 0}};
    for (int64_t k = first; k <= last; k++)
        t[k * n + k] = minus(t[k * n + k], shift);
    for (int64_t k = first; k <= last; k++) {
        rotation now = {1, {0, 0}};
        if (k < last) {
            now = rotation_for(t[k * n + k], t[(k + 1) * n + k]);
            rotate(now, n - k, t + k * n + k, t + (k + 1) * n + k, 1, false);
            t[(k + 1) * n + k] = (spry_scalar){0, 0};
        }
        if (k > first) { /* the columns of the rotation before, whose rows are done with now */
            rotate(before, k + 1, t + k - 1, t + k, n, true);
            rotate(before, n, z + k - 1, z + k, n, true);
        }
        before = now;
    }
    for (int64_t k = first; k <= last; k++)
        t[k * n + k] = plus(t[k * n + k], shift);
}

/* T becomes triangular; false: it does not within as many steps as it ever takes. */
static bool make_triangular(int64_t n, spry_scalar *t, spry_scalar *z)
{
    int64_t last = n - 1, tries = 0;
    while (last > 0) {
        int64_t first = last;
        for (; first > 0; first--) {
            spry_scalar *below = &t[first * n + first - 1];
            const double scale =
                size_of(t[first * n + first]) + size_of(t[(first - 1) * n + first - 1]);
            if (size_of(*below) <= DBL_EPSILON * scale) {
                *below = (spry_scalar){0, 0};
                break;
            }
        }
        if (first == last) {
            last--;
            tries = 0;
            continue;
        }
        if (++tries > 100)
            return false;
        const spry_scalar odd = {size_of(t[last * n + last - 1]), 0};
        qr_step(n, t, z, first, last,
                tries % 10 == 0 ? plus(t[last * n + last], odd) : shift_at(n, t, last));
    }
    return true;
}

/* Diagonal numbers k and k + 1 change places. */
static void exchange(int64_t n, spry_scalar *t, spry_scalar *z, int64_t k)
{
    const spry_scalar a = t[k * n + k], b = t[(k + 1) * n + k + 1];
    const rotation r = rotation_for(t[k * n + k + 1], minus(b, a));
    rotate(r, n - k, t + k * n + k, t + (k + 1) * n + k, 1, false);
    rotate(r, k + 2, t + k, t + k + 1, n, true);
    rotate(r, n, z + k, z + k + 1, n, true);
    t[k * n + k] = b;
    t[(k + 1) * n + k + 1] = a;
    t[(k + 1) * n + k] = (spry_scalar){0, 0};
}

/* The k smallest in modulus come first. */
static void put_in_order(int64_t n, int64_t k, spry_scalar *t, spry_scalar *z)
{
    for (int64_t i = 0; i < k; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (size_of(t[j * n + j]) < size_of(t[least * n + least]))
                least = j;
        for (; least > i; least--)
            exchange(n, t, z, least - 1);
    }
}

/* Whether the first `count` eigenvalues of a real matrix come in pairs: then imaginary parts
 * cancel, as far as rounding of T lets them. */
static bool is_closed(int64_t n, int64_t count, const spry_scalar *t)
{
    double sum = 0, most = 0;
    for (int64_t i = 0; i < n * n; i++)
        most = fmax(most, size_of(t[i]));
    for (int64_t i = 0; i < count; i++)
        sum += t[i * (n + 1)].im;
    return fabs(sum) <= sqrt(DBL_EPSILON) * most;
}

/* As many real vectors as span what the first `count` columns of Z do, which come in pairs: of
 * their real and imaginary parts the longest, made orthogonal to those that were taken before. */
static void real_basis(int64_t n, int64_t k, int64_t count, const spry_scalar *z,
                       spry_scalar *parts, spry_scalar *y)
{
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < n; i++) {
            parts[2 * j * n + i] = (spry_scalar){z[i * n + j].re, 0};
            parts[(2 * j + 1) * n + i] = (spry_scalar){z[i * n + j].im, 0};
        }
    for (int64_t taken = 0; taken < count; taken++) {
        int64_t longest = 0;
        double most = 0;
        for (int64_t j = 0; j < 2 * count; j++) {
            const double norm = norm_of(n, parts + j * n, 1);
            longest = norm > most ? j : longest;
            most = norm > most ? norm : most;
        }
        for (int64_t i = 0; i < n && most > 0; i++)
            y[i * k + taken] = scaled(parts[longest * n + i], 1 / most);
        for (int64_t j = 0; j < 2 * count; j++)
            for (int twice = 0; twice < 2; twice++) {
                double dot = 0;
                for (int64_t i = 0; i < n; i++)
                    dot += y[i * k + taken].re * parts[j * n + i].re;
                for (int64_t i = 0; i < n; i++)
                    parts[j * n + i].re -= dot * y[i * k + taken].re;
            }
    }
}

bool dense_values(int n, spry_scalar *a, spry_scalar *room, spry_scalar *values)
{
    if (!all_finite((int64_t)n * n, a))
        return false;
    make_hessenberg(n, a, room);
    if (!make_triangular(n, a, room))
        return false;
    for (int i = 0; i < n; i++)
        values[i] = a[i * n + i];
    return all_finite(n, values);
}

bool dense_eig(int n, int k, const spry_scalar *b, bool real, spry_scalar *y, spry_scalar *room)
{
    const int64_t wide = n;
    spry_scalar *t = room, *z = room + wide * n, *parts = room + 2 * wide * n;
    int count = k;
    if (!all_finite(wide * n, b))
        return false;
    memcpy(t, b, (size_t)(wide * n) * sizeof *t);
    make_hessenberg(n, t, z);
    if (!make_triangular(n, t, z))
        return false;
    put_in_order(n, k, t, z);
    for (int64_t i = 0; i < wide * k; i++)
        y[i] = real ? (spry_scalar){0, 0} : z[i / k * n + i % k];
    while (real && !is_closed(n, count, t)) /* a pair that k cuts is left out */
        count--;
    if (real)
        real_basis(n, k, count, z, parts, y);
    return true;
}
