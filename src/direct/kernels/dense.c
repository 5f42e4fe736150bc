/*
 * Small dense systems and systems with a band, by elimination with a search for pivots: G. H.
 * Golub, C. F. Van Loan, Matrix Computations, 4th ed. (2013), 3.4 and 4.3. Matrices are stored
 * column by column and factors come out as LAPACK's getrf and gbtrf leave them, so that either can
 * make them.
 */
#include "direct/kernels.h"
#include "host/kernels/arithmetic.h"

FRONT_KERNELS(KERNEL_DECLARE)

/* A size that is cheap to compute and at most sqrt(2) times the modulus. */
static inline real size_near(scalar a)
{
#if KERNEL_COMPLEX
    return (real)fabs((double)a.re) + (real)fabs((double)a.im);
#else
    return size_of(a);
#endif
}

static inline void swap(scalar *a, scalar *b)
{
    const scalar keep = *a;
    *a = *b;
    *b = keep;
}

/* y -= f x */
ALWAYS_INLINE void subtract(int64_t n, scalar f, const scalar *restrict x, scalar *restrict y)
{
    const scalar minus = sub(number(0), f);
    for (int64_t i = 0; i < n; i++)
        y[i] = muladd(minus, x[i], y[i]);
}

/* y -= f_0 x_0 + ... + f_3 x_3, the columns x being `step` apart */
static void subtract_four(int64_t n, const scalar *f, const scalar *restrict x, int64_t step,
                          scalar *restrict y)
{
    const scalar a = sub(number(0), f[0]), b = sub(number(0), f[1]), c = sub(number(0), f[2]),
                 d = sub(number(0), f[3]);
    for (int64_t i = 0; i < n; i++) {
        const scalar two = muladd(b, x[i + step], muladd(a, x[i], y[i]));
        y[i] = muladd(d, x[i + 3 * step], muladd(c, x[i + 2 * step], two));
    }
}

/* The place of the largest number. */
static int64_t largest_at(int64_t n, const scalar *x)
{
    int64_t at = 0;
    real most = size_near(x[0]);
    for (int64_t i = 1; i < n; i++)
        if (size_near(x[i]) > most) {
            most = size_near(x[i]);
            at = i;
        }
    return at;
}

/* Column j by the columns before it: its part of U, and what is left of the rest. */
static void eliminate(int64_t n, int64_t j, const scalar *a, scalar *column)
{
    int64_t k = 0;
    for (; k + 4 <= j; k += 4) {
        for (int64_t t = 0; t < 3; t++)
            subtract(3 - t, column[k + t], a + (k + t) * n + k + t + 1, column + k + t + 1);
        subtract_four(n - k - 4, column + k, a + k * n + k + 4, n, column + k + 4);
    }
    for (; k < j; k++)
        subtract(n - k - 1, column[k], a + k * n + k + 1, column + k + 1);
}

int64_t X(dense_factor)(int64_t n, int64_t begin, int64_t end, void *matrix, int32_t *rows)
{
    scalar *a = matrix;
    for (int64_t j = begin; j < end; j++) {
        scalar *column = a + j * n;
        for (int64_t k = 0; k < j; k++)
            swap(column + k, column + rows[k] - 1);
        eliminate(n, j, a, column);
        const int64_t pivot = j + largest_at(n - j, column + j);
        rows[j] = (int32_t)(pivot + 1);
        if (is_zero(column[pivot]))
            return j;
        for (int64_t k = 0; k <= j && pivot != j; k++)
            swap(a + k * n + j, a + k * n + pivot);
        const scalar f = inverse(column[j]);
        for (int64_t i = j + 1; i < n; i++)
            column[i] = mul(f, column[i]);
    }
    return end;
}

/* The row and column of the largest number of what is left, or of one on the diagonal that is not
 * much smaller: what is left of a hermitian matrix stays one then. */
static real search(int64_t n, int64_t k, const scalar *a, int64_t *row, int64_t *col)
{
    real most = -1, diagonal = -1;
    int64_t at = k;
    for (int64_t j = k; j < n; j++) {
        const int64_t i = k + largest_at(n - k, a + j * n + k);
        if (size_near(a[j * n + i]) > most) {
            most = size_near(a[j * n + i]);
            *row = i;
            *col = j;
        }
        if (size_near(a[j * n + j]) > diagonal) {
            diagonal = size_near(a[j * n + j]);
            at = j;
        }
    }
    if (2 * diagonal >= most)
        *row = *col = at;
    return most;
}

int64_t X(dense_rank)(int64_t n, int64_t begin, int64_t end, double least, void *matrix,
                      int32_t *rows, int32_t *cols)
{
    scalar *a = matrix;
    for (int64_t k = begin; k < end; k++) {
        int64_t row = k, col = k;
        if (!((double)search(n, k, a, &row, &col) > least))
            return k;
        rows[k] = (int32_t)(row + 1);
        cols[k] = (int32_t)(col + 1);
        for (int64_t j = 0; j < n && row != k; j++)
            swap(a + j * n + k, a + j * n + row);
        for (int64_t i = 0; i < n && col != k; i++)
            swap(a + k * n + i, a + col * n + i);
        scalar *column = a + k * n;
        const scalar f = inverse(column[k]);
        for (int64_t i = k + 1; i < n; i++)
            column[i] = mul(f, column[i]);
        for (int64_t j = k + 1; j < n; j++)
            subtract(n - k - 1, a[j * n + k], column + k + 1, a + j * n + k + 1);
    }
    return end;
}

/* Exchanges as elimination made them, or back; NULL: none. */
static void exchange(int64_t n, const int32_t *places, bool back, scalar *z)
{
    for (int64_t k = 0; places && k < n; k++) {
        const int64_t i = back ? n - 1 - k : k;
        swap(z + i, z + places[i] - 1);
    }
}

/* Factors and right-hand sides, one after the other. */
typedef struct side {
    const scalar *a;
    int64_t n, rank, count;
    scalar *z;
} side;

static void solve_plain(const side *s)
{
    for (int64_t j = 0; j < s->rank; j++)
        for (int64_t c = 0; c < s->count; c++) {
            scalar *z = s->z + c * s->n;
            subtract(s->rank - j - 1, z[j], s->a + j * s->n + j + 1, z + j + 1);
        }
    for (int64_t j = s->rank - 1; j >= 0; j--) {
        const scalar pivot = inverse(s->a[j * s->n + j]);
        for (int64_t c = 0; c < s->count; c++) {
            scalar *z = s->z + c * s->n;
            z[j] = mul(pivot, z[j]);
            subtract(j, z[j], s->a + j * s->n, z);
        }
    }
}

static void solve_transposed(const side *s, bool conj)
{
    for (int64_t j = 0; j < s->rank; j++) {
        const scalar *column = s->a + j * s->n, pivot = inverse(column[j]);
        for (int64_t c = 0; c < s->count; c++) {
            scalar *z = s->z + c * s->n;
            z[j] = mul(conj ? conjugate(pivot) : pivot, sub(z[j], sum_of(j, conj, column, z)));
        }
    }
    for (int64_t j = s->rank - 1; j >= 0; j--)
        for (int64_t c = 0; c < s->count; c++) {
            scalar *z = s->z + c * s->n + j;
            const scalar sum = sum_of(s->rank - j - 1, conj, s->a + j * s->n + j + 1, z + 1);
            z[0] = sub(z[0], sum);
        }
}

void X(dense_solve)(const dense_factors *f, spry_transpose transpose, int64_t count, void *right)
{
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const side s = {f->factors, f->n, f->rank, count, right};
    for (int64_t c = 0; c < count; c++)
        exchange(f->rank, plain ? f->rows : f->cols, false, s.z + c * s.n);
    if (plain)
        solve_plain(&s);
    else
        solve_transposed(&s, transpose == SPRY_TRANSPOSE_CONJUGATE);
    for (int64_t c = 0; c < count; c++) {
        for (int64_t j = f->rank; j < f->n; j++)
            s.z[c * s.n + j] = number(0);
        exchange(f->rank, plain ? f->cols : f->rows, true, s.z + c * s.n);
    }
}

/* --- bands ---------------------------------------------------------------------------------------
 */

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t X(band_factor)(const band_factors *f)
{
    const int64_t n = f->n, low = f->low, high = f->low + f->high, step = 2 * low + f->high + 1;
    scalar *a = f->factors;
    int64_t last = 0; /* column that an exchange has filled so far */
    for (int64_t j = 0; j < n; j++) {
        scalar *column = a + j * step + high; /* its diagonal */
        const int64_t below = least(low, n - 1 - j), pivot = largest_at(below + 1, column);
        f->rows[j] = (int32_t)(j + pivot + 1);
        if (is_zero(column[pivot]))
            return j;
        last = last > least(j + f->high + pivot, n - 1) ? last : least(j + f->high + pivot, n - 1);
        for (int64_t k = j; k <= last && pivot != 0; k++)
            swap(a + k * step + high + j - k, a + k * step + high + j + pivot - k);
        const scalar d = inverse(column[0]);
        for (int64_t i = 1; i <= below; i++)
            column[i] = mul(d, column[i]);
        for (int64_t k = j + 1; k <= last; k++) {
            scalar *other = a + k * step + high + j - k;
            subtract(below, other[0], column + 1, other + 1);
        }
    }
    return n;
}

void X(band_solve)(const band_factors *f, spry_transpose transpose, void *right)
{
    const bool conj = transpose == SPRY_TRANSPOSE_CONJUGATE;
    const int64_t n = f->n, low = f->low, high = f->low + f->high, step = 2 * low + f->high + 1;
    const scalar *a = f->factors;
    scalar *z = right;
    for (int64_t j = 0; j < n && transpose == SPRY_TRANSPOSE_NO; j++) {
        swap(z + j, z + f->rows[j] - 1);
        subtract(least(low, n - 1 - j), z[j], a + j * step + high + 1, z + j + 1);
    }
    for (int64_t j = n - 1; j >= 0 && transpose == SPRY_TRANSPOSE_NO; j--) {
        const int64_t above = least(high, j);
        z[j] = mul(inverse(a[j * step + high]), z[j]);
        subtract(above, z[j], a + j * step + high - above, z + j - above);
    }
    for (int64_t j = 0; j < n && transpose != SPRY_TRANSPOSE_NO; j++) {
        const int64_t above = least(high, j);
        const scalar pivot = inverse(a[j * step + high]),
                     sum = sum_of(above, conj, a + j * step + high - above, z + j - above);
        z[j] = mul(conj ? conjugate(pivot) : pivot, sub(z[j], sum));
    }
    for (int64_t j = n - 1; j >= 0 && transpose != SPRY_TRANSPOSE_NO; j--) {
        const scalar sum = sum_of(least(low, n - 1 - j), conj, a + j * step + high + 1, z + j + 1);
        z[j] = sub(z[j], sum);
        swap(z + j, z + f->rows[j] - 1);
    }
}
