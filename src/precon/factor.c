/* What all factors have in common: whether the matrix is singular as far as their arithmetic can
 * tell. */
#include "precon/factor.h"

#include <spry/scale.h>

/*
 * The condition of A, its rows and columns scaled so that the largest numbers are about 1: |B^-1|_1
 * with B = L A R. By N. J. Higham, FORTRAN codes for estimating the one-norm of a real or complex
 * matrix, ACM Trans. Math. Softw. 14 (1988), 381-396: a lower bound that is rarely off by more than
 * 3.
 */
typedef struct condition {
    const factor *f;
    spry_vector *left, *right; /* powers of two */
    void *x;
} condition;

static void divide(const condition *e, const spry_vector *by)
{
    host_kernels_for(e->f->ctx, e->f->type)->divide(e->f->n, e->x, by->data, e->x);
}

/* x = B^-1 x, or B^-H x. */
static spry_status apply(const condition *e, bool back)
{
    divide(e, back ? e->right : e->left);
    const spry_status status = e->f->class->solve(
        e->f, back ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO, 1, (void *const *)&e->x);
    divide(e, back ? e->left : e->right);
    return status;
}

/* |x|_1, and x / |x| element by element in its place. */
static double take_signs(const condition *e)
{
    double sum = 0;
    for (int64_t i = 0; i < e->f->n; i++) {
        const spry_scalar v = value_get(e->f->type, e->x, i);
        const double size = hypot(v.re, v.im);
        sum += size;
        value_set(e->f->type, e->x, i,
                  size > 0 ? (spry_scalar){v.re / size, v.im / size} : (spry_scalar){1, 0});
    }
    return sum;
}

/* The place of x's largest number. */
static int64_t find_largest(const condition *e)
{
    int64_t at = 0;
    double most = -1;
    for (int64_t i = 0; i < e->f->n; i++) {
        const spry_scalar v = value_get(e->f->type, e->x, i);
        if (hypot(v.re, v.im) > most) {
            most = hypot(v.re, v.im);
            at = i;
        }
    }
    return at;
}

static spry_status estimate(const condition *e, double *result)
{
    const int64_t n = e->f->n;
    const spry_type type = e->f->type;
    int64_t unit = -1;
    spry_status status = SPRY_STATUS_OK;
    *result = 0;
    for (int64_t i = 0; i < n; i++)
        value_set(type, e->x, i, (spry_scalar){1 / (double)n, 0});
    for (int turn = 0; turn < 4; turn++) {
        SPRY_GO(e->f->ctx, apply(e, false));
        const double size = take_signs(e);
        if (!(size > *result)) {
            *result = size >= 0 ? *result : INFINITY;
            break;
        }
        *result = size;
        SPRY_GO(e->f->ctx, apply(e, true));
        const int64_t at = find_largest(e);
        if (at == unit)
            break;
        unit = at;
        memset(e->x, 0, (size_t)n * spry_type_size(type));
        value_set(type, e->x, unit, (spry_scalar){1, 0});
    }
    for (int64_t i = 0; i < n; i++)
        value_set(
            type, e->x, i,
            (spry_scalar){(i % 2 ? -1 : 1) * (1 + (double)i / (double)(n > 1 ? n - 1 : 1)), 0});
    SPRY_GO(e->f->ctx, apply(e, false));
    const double other = 2 * take_signs(e) / (3 * (double)n);
    *result = other <= *result ? *result : other >= 0 ? other : INFINITY;
done:
    return status;
}

/* One solve, for random signs, which have about 1/sqrt(n) of what grows most in them: |B^-1 s|_1,
 * and whether that is far enough from singular for no more to be asked. */
static spry_status is_clear(const condition *e, double *size, bool *clear)
{
    const int64_t n = e->f->n;
    for (int64_t i = 0; i < n; i++)
        value_set(e->f->type, e->x, i, (spry_scalar){base_random(1, (uint64_t)i) & 1 ? 1 : -1, 0});
    const spry_status status = apply(e, false);
    *size = status == SPRY_STATUS_OK ? take_signs(e) : INFINITY;
    *clear = *size * e->f->roundoff < 1e-3; /* n times the mean growth */
    return status;
}

/* Finds f->condition. */
static spry_status measure(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    condition e = {.f = f};
    double found = 0;
    bool clear = false;
    spry_status status = SPRY_STATUS_OK;
    f->condition = 0;
    if (f->n == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_scaling(A, "equilibrate:sweeps=3", &e.left, &e.right));
    SPRY_GO(ctx, base_alloc(ctx, f->n, spry_type_size(f->type), &e.x));
    SPRY_GO(ctx, is_clear(&e, &found, &clear));
    found /= (double)f->n;
    if (!clear && isfinite(found))
        SPRY_GO(ctx, estimate(&e, &found));
    f->condition = isfinite(found) ? found : INFINITY;
done:
    spry_vector_free(e.left);
    spry_vector_free(e.right);
    base_free(ctx, e.x);
    return status;
}

static bool is_singular(const factor *f)
{
    return !(f->condition * f->roundoff < 0.25);
}

/*
 * Factors, and again where they turn out to be of no use: with stricter pivots where numbers grew
 * without bound, which those of long chains may although each step is within its bounds, and with
 * larger numbers taken as 0 where the matrix is singular and may be.
 */
static spry_status fill(factor *f, const spry_matrix *A)
{
    spry_status status = SPRY_STATUS_OK;
    f->strict = f->coarse = false;
    SPRY_GO(f->ctx, f->class->fill(f, A));
    SPRY_GO(f->ctx, measure(f, A));
    if (f->class->again && !isfinite(f->condition)) {
        f->strict = true;
        SPRY_GO(f->ctx, f->class->fill(f, A));
        SPRY_GO(f->ctx, measure(f, A));
    }
    if (f->class->again && f->regular && f->rank == f->n && is_singular(f)) {
        f->coarse = true;
        SPRY_GO(f->ctx, f->class->fill(f, A));
    }
    if (f->rank < f->n)
        f->condition = INFINITY;
done:
    return status;
}

spry_status factor_fill(factor *f, const spry_matrix *A)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, fill(f, A));
    if (!f->regular && is_singular(f))
        status =
            SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                      "precon direct: the matrix is singular as far as this precision can tell "
                      "(condition %.1g or more); try direct:regular=yes, or another preconditioner",
                      f->condition);
done:
    return status;
}

void factor_clear(factor *f)
{
    if (f->class)
        f->class->close(f);
    *f = (factor){0};
}

spry_status factor_make(const factor_class *class, const spry_matrix *A, bool regular, double most,
                        factor *f)
{
    const bool single = type_is_single(A->a.type);
    spry_status status = SPRY_STATUS_OK;
    *f = (factor){.ctx = A->ctx,
                  .class = class,
                  .type = A->a.type,
                  .n = A->a.rows,
                  .rank = A->a.rows,
                  .regular = regular,
                  .most = most,
                  .roundoff = single ? 6e-8 : 1.2e-16};
    SPRY_GO(A->ctx, class->open(f, A));
    SPRY_GO(A->ctx, factor_fill(f, A));
done:
    if (status != SPRY_STATUS_OK)
        factor_clear(f);
    return status;
}
