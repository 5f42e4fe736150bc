/*
 * Bounds for the error of an x that hold whatever factors and estimates are worth: an inverse is
 * not believed but tried. Where X is about A^-1 and |I - X A| < 1 in some norm, A is regular and
 * x - A^-1 b is X r up to that; where <A> v > 0 for a v > 0, with the comparison matrix <A>, A is
 * regular and |A^-1| <= <A>^-1. Sums are bounded with their rounding.
 *
 * S. M. Rump, Verification methods: rigorous results using floating-point arithmetic, Acta Numer.
 * 19 (2010), 287-449, sections 10.4 and 10.8; A. Neumaier, A simple derivation of the
 * Hansen-Bliek-Rohn-Ning-Kearfott enclosure, Reliab. Comput. 5 (1999), 131-136.
 */
#include "krylov/enclose.h"

#include "matrix/stats.h"

#include <float.h>
#include <math.h>

static const double most_left = 0.5; /* of a row of the identity; less than 1 would do */

/* What sums of n numbers, complex products among them, may be off by, relative to their terms. */
static double rounding_of(int64_t n)
{
    return 2 * (double)(n + 8) * DBL_EPSILON;
}

ALWAYS_INLINE double size_at(spry_type type, const void *values, int64_t k)
{
    return scalar_size(type, value_load(type, values, k));
}

/* The size of a sum's number; those of real matrices have no imaginary part. */
static double sum_size(spry_type type, spry_scalar v)
{
    return spry_type_is_complex(type) ? hypot(v.re, v.im) : fabs(v.re);
}

/* --- by an inverse -------------------------------------------------------------------------------
 */

/* A row of X at a time, in double precision, and what it leaves of the identity's. */
typedef struct inverse_rows {
    const spry_operator *M;
    const matrix_arrays *a;
    double *weights; /* numbers of x are compared relative to 1 / weight */
    spry_scalar *row, *rest;
    double *terms;  /* what each number of rest is made of */
    void *in, *out; /* of A's type */
    double *made;   /* |X| residuals */
    double *left;   /* sums of rows of |I - X A|, weighted */
} inverse_rows;

/* A column's largest number, rows being brought to 1 before. */
static spry_status weigh_columns(spry_context *ctx, inverse_rows *r)
{
    const matrix_arrays *a = r->a;
    const spry_status status = base_calloc(ctx, a->cols, sizeof *r->weights, &r->weights);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < a->rows; i++) {
        double most = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            most = fmax(most, size_at(a->type, a->values, k));
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1] && most > 0; k++) {
            double *weight = &r->weights[a->col_index[k]];
            *weight = fmax(*weight, size_at(a->type, a->values, k) / most);
        }
    }
    return status;
}

static spry_status rows_open(spry_context *ctx, const spry_operator *M, const matrix_arrays *a,
                             inverse_rows *r)
{
    const int64_t n = a->rows;
    const size_t size = spry_type_size(a->type);
    spry_status status = SPRY_STATUS_OK;
    *r = (inverse_rows){.M = M, .a = a};
    SPRY_GO(ctx, weigh_columns(ctx, r));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *r->row, &r->row));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *r->rest, &r->rest));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *r->terms, &r->terms));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *r->made, &r->made));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *r->left, &r->left));
    SPRY_GO(ctx, base_alloc(ctx, n, size, &r->in));
    SPRY_GO(ctx, base_alloc(ctx, n, size, &r->out));
done:
    return status;
}

static void rows_close(spry_context *ctx, inverse_rows *r)
{
    void *const all[] = {r->weights, r->row, r->rest, r->terms, r->made, r->left, r->in, r->out};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        base_free(ctx, all[k]);
}

/* rest = e_i - row A */
static void leave(inverse_rows *r, int64_t i)
{
    const matrix_arrays *a = r->a;
    for (int64_t j = 0; j < a->cols; j++) {
        r->rest[j] = (spry_scalar){i == j, 0};
        r->terms[j] = i == j;
    }
    for (int64_t m = 0; m < a->rows; m++) {
        const spry_scalar w = r->row[m];
        const double size = sum_size(a->type, w);
        if (size == 0)
            continue;
        for (int64_t k = a->offsets[m]; k < a->offsets[m + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            spry_scalar *rest = &r->rest[a->col_index[k]];
            rest->re -= w.re * v.re - w.im * v.im;
            rest->im -= w.re * v.im + w.im * v.re;
            r->terms[a->col_index[k]] += size * scalar_size(a->type, v);
        }
    }
}

/* What row i leaves, in the norm of the weights, at most. */
static double weigh_rest(const inverse_rows *r, int64_t i)
{
    const int64_t n = r->a->rows;
    const double rounding = rounding_of(n), lost = 8 * (double)(n + 1) * DBL_TRUE_MIN;
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        const double most = sum_size(r->a->type, r->rest[j]) + rounding * r->terms[j] + lost;
        sum += most * (r->weights[i] / r->weights[j]);
    }
    return sum * (1 + rounding);
}

/* Row i: a solve with A^T, and others with what it leaves, as long as that is much. */
static spry_status find_row(inverse_rows *r, int64_t i)
{
    enum { SOLVES = 3 };
    const double little = 1e-3;
    const spry_type type = r->a->type;
    const int64_t n = r->a->rows;
    memset(r->row, 0, (size_t)n * sizeof *r->row);
    leave(r, i);
    r->left[i] = INFINITY;
    for (int turn = 0; turn < SOLVES && r->left[i] > little; turn++) {
        const double before = r->left[i];
        for (int64_t j = 0; j < n; j++)
            value_store(type, r->in, j, r->rest[j]);
        const spry_status status = r->M->class->multiply(
            r->M, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, r->in, (spry_scalar){0, 0}, r->out);
        if (status != SPRY_STATUS_OK)
            return status;
        for (int64_t j = 0; j < n; j++) {
            const spry_scalar z = value_load(type, r->out, j);
            r->row[j] = (spry_scalar){r->row[j].re + z.re, r->row[j].im + z.im};
        }
        leave(r, i);
        r->left[i] = weigh_rest(r, i);
        if (!(r->left[i] < before / 2)) /* NaN among them */
            break;
    }
    return SPRY_STATUS_OK;
}

/* X r at most, of rows whose residuals are known. */
static double multiply_row(const inverse_rows *r, const double *residuals)
{
    const int64_t n = r->a->rows;
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += sum_size(r->a->type, r->row[k]) * residuals[k];
    return sum * (1 + rounding_of(n)) + (double)n * DBL_TRUE_MIN;
}

/*
 * e = x - A^-1 b is at most |X r| + |I - X A| |e|. With the sums `left` of the second, where
 * numbers are weighted, |e| is at most the largest of the first / (1 - left) in that norm; and once
 * more in the inequality, number by number.
 */
static double combine(const inverse_rows *r)
{
    const int64_t n = r->a->rows;
    const double up = 1 + 16 * DBL_EPSILON;
    double left = 0, most = 0, error = 0;
    for (int64_t i = 0; i < n; i++) {
        left = fmax(left, r->left[i]);
        most = fmax(most, r->made[i] * r->weights[i]);
    }
    most = most * up / (1 - left) + DBL_TRUE_MIN;
    for (int64_t i = 0; i < n; i++)
        error = fmax(error, (r->made[i] + r->left[i] * most / r->weights[i]) * up);
    return isfinite(error) ? error : NAN;
}

static bool all_zero(int64_t n, const double *residuals)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, residuals[i]);
    return most == 0;
}

spry_status enclose_by_inverse(const spry_operator *M, const spry_matrix *A,
                               const double *residuals, double *error)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    inverse_rows r;
    bool stands = true;
    spry_status status = SPRY_STATUS_OK;
    *error = NAN;
    SPRY_GO(ctx, rows_open(ctx, M, &A->a, &r));
    for (int64_t i = 0; i < n && stands; i++) {
        SPRY_GO(ctx, find_row(&r, i));
        r.made[i] = multiply_row(&r, residuals);
        stands = r.left[i] <= most_left;
    }
    if (stands)
        *error = all_zero(n, residuals) ? 0 : combine(&r);
done:
    rows_close(ctx, &r);
    return status;
}

/* --- by the comparison matrix --------------------------------------------------------------------
 */

/* The largest v_i max_k residual_k / (<A> v)_k; NaN: not all of <A> v are shown to be positive.
 * v is all ones where it is NULL, which does where A is diagonally dominant. */
static double compare(const matrix_arrays *a, const double *v, const double *residuals)
{
    const double up = 1 + 16 * DBL_EPSILON;
    double worst = 0, most = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0, all = 0;
        int diagonal = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const double weight = v ? v[a->col_index[k]] : 1;
            const double size = size_at(a->type, a->values, k) * weight;
            sum += a->col_index[k] == i ? size : -size;
            all += size;
            diagonal += a->col_index[k] == i;
        }
        const int64_t count = a->offsets[i + 1] - a->offsets[i];
        sum -= rounding_of(count) * all + enclose_vanished(count + 1, all);
        const double own = v ? v[i] : 1;
        if (!(sum > 0) || !(own > 0) || !isfinite(all) || diagonal != 1)
            return NAN;
        worst = fmax(worst, residuals[i] / sum);
        most = fmax(most, own);
    }
    if (all_zero(a->rows, residuals))
        return 0;
    const double error = worst * most * up * up + DBL_TRUE_MIN;
    return isfinite(error) ? error : NAN;
}

double enclose_by_dominance(const spry_matrix *A, const double *residuals)
{
    return A->a.rows == A->a.cols ? compare(&A->a, NULL, residuals) : NAN;
}

/* What a row adds to both of enclose_quickly(); false: it is not dominant. */
ALWAYS_INLINE bool look_at_row(const matrix_arrays *a, spry_type type, int64_t i,
                               const spry_vector *b, const spry_vector *x, double scale,
                               double *backward, double *error)
{
    const double up = 1 + 16 * DBL_EPSILON;
    const int64_t count = a->offsets[i + 1] - a->offsets[i];
    const double rounding = rounding_of(count);
    const spry_scalar own = value_load(type, b->data, i);
    spry_scalar r = {scale * own.re, scale * own.im};
    double terms = scale * scalar_size(type, own), lost = enclose_lost(own, scale);
    double gap = 0, all = 0;
    bool any = own.re != 0 || own.im != 0;
    int diagonal = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(type, a->values, k);
        const spry_scalar w = value_load(type, x->data, a->col_index[k]);
        const spry_scalar z = {scale * w.re, scale * w.im};
        const double size = scalar_size(type, v);
        const bool on = a->col_index[k] == i;
        r.re -= v.re * z.re;
        if (spry_type_is_complex(type)) {
            r.re += v.im * z.im;
            r.im -= v.re * z.im + v.im * z.re;
        }
        terms += size * scalar_size(type, z);
        lost += size * enclose_lost(w, scale);
        gap += on ? size : -size;
        all += size;
        any = any || (size > 0 && (w.re != 0 || w.im != 0));
        diagonal += on;
    }
    gap -= rounding * all + enclose_vanished(count + 1, all);
    if (!(gap > 0) || !isfinite(all) || diagonal != 1)
        return false;
    double residual = scalar_size(type, r) * up + rounding * terms * up + 2 * lost;
    if (any)
        residual += enclose_vanished(4 * (count + 1), terms);
    const double share = residual > 0 ? residual / terms * (1 + rounding) : 0;
    *backward = share <= *backward ? *backward : isnan(share) ? INFINITY : share;
    const double most = residual > 0 ? residual / gap * up + DBL_TRUE_MIN : 0;
    *error = most <= *error ? *error : isnan(most) ? INFINITY : most;
    return true;
}

void enclose_quickly(const matrix_arrays *a, const spry_vector *b, const spry_vector *x,
                     double scale, double *backward, double *error)
{
    bool dominant = a->rows == a->cols;
    *backward = *error = 0;
    for (int64_t i = 0; i < a->rows && dominant; i++)
        dominant = a->type == SPRY_TYPE_D
                       ? look_at_row(a, SPRY_TYPE_D, i, b, x, scale, backward, error)
                       : look_at_row(a, a->type, i, b, x, scale, backward, error);
    if (!dominant)
        *backward = *error = NAN;
}

spry_status enclose_by_comparison(const spry_operator *M, const spry_matrix *A, const double *sums,
                                  const double *residuals, double *error)
{
    spry_context *ctx = A->ctx;
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    void *in = NULL, *out = NULL;
    double *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    *error = NAN;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *v, &v));
    SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(type), &in));
    SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(type), &out));
    for (int64_t i = 0; i < n; i++)
        value_store(type, in, i, (spry_scalar){sums[i], 0});
    SPRY_GO(ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, in,
                                    (spry_scalar){0, 0}, out));
    for (int64_t i = 0; i < n; i++)
        v[i] = size_at(type, out, i);
    *error = compare(&A->a, v, residuals);
done:
    base_free(ctx, in);
    base_free(ctx, out);
    base_free(ctx, v);
    return status;
}
