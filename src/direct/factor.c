/* What all factors have in common: whether the matrix is singular up to their rounding. */
#include "direct/factor.h"

#include "matrix/algebra/algebra.h"

#include <spry/scale.h>

/* The condition of A, its rows and columns scaled so that the largest numbers are about 1: |B^-1|_1
 * with B = L A R. */
typedef struct condition {
    const factor *f;
    spry_vector *left, *right; /* powers of two */
} condition;

static void divide(const factor_map *map, const spry_vector *by)
{
    host_kernels_for(map->ctx, map->type)->divide(map->n, map->x, by->data, map->x);
}

/* x = B^-1 x, or B^-H x. */
static spry_status apply(const factor_map *map, bool back)
{
    const condition *e = map->data;
    void *const columns[1] = {map->x};
    divide(map, back ? e->right : e->left);
    const spry_status status =
        e->f->class->solve(e->f, back ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO, 1, columns);
    divide(map, back ? e->left : e->right);
    return status;
}

/* One solve, for random signs: |B^-1 s|_1. */
static spry_status measure_signs(const factor_map *map, double *size)
{
    for (int64_t i = 0; i < map->n; i++)
        value_set(map->type, map->x, i, (spry_scalar){base_random(1, (uint64_t)i) & 1 ? 1 : -1, 0});
    const spry_status status = apply(map, false);
    *size = status == SPRY_STATUS_OK ? factor_take_signs(map->type, map->n, map->x) : INFINITY;
    return status;
}

/* The condition of A, scaled. */
static spry_status measure_scaled(const condition *e, double *found)
{
    const factor *f = e->f;
    factor_map map = {.ctx = f->ctx, .type = f->type, .n = f->n, .apply = apply, .data = e};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(f->ctx, base_alloc(f->ctx, f->n, spry_type_size(f->type), &map.x));
    SPRY_GO(f->ctx, measure_signs(&map, found));
    const bool clear = factor_is_clear(f, *found);
    *found /= (double)f->n;
    if (!clear && isfinite(*found))
        SPRY_GO(f->ctx, factor_norm(&map, found));
    *found = isfinite(*found) ? *found : INFINITY;
done:
    base_free(f->ctx, map.x);
    return status;
}

static bool is_singular(const factor *f)
{
    return !(f->condition * f->roundoff < 0.25);
}

/* Finds f->condition, unless the class has: of the scaling that is found fast and, where that makes
 * A look singular, of the one that does so only if A is. */
static spry_status measure(factor *f, const spry_matrix *A)
{
    spry_context *ctx = f->ctx;
    condition e = {.f = f};
    double found;
    spry_status status = SPRY_STATUS_OK;
    if (f->n == 0 || f->condition > 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_scaling(A, "equilibrate:sweeps=3", &e.left, &e.right));
    SPRY_GO(ctx, measure_scaled(&e, &f->condition));
    if (is_singular(f)) {
        spry_vector_free(e.left);
        spry_vector_free(e.right);
        e.left = e.right = NULL;
        SPRY_GO(ctx, algebra_balance(A, &e.left, &e.right));
        SPRY_GO(ctx, measure_scaled(&e, &found));
        f->condition = fmin(f->condition, found);
    }
done:
    spry_vector_free(e.left);
    spry_vector_free(e.right);
    return status;
}

static spry_status fill_class(factor *f, const spry_matrix *A)
{
    f->condition = 0;
    return f->class->fill(f, A);
}

/*
 * Factors, and again where they turn out to be of no use: of A scaled, with stricter pivots where
 * numbers grew without bound, which those of long chains may although each step is within its
 * bounds, and with larger numbers taken as 0 where the matrix is singular and may be.
 */
static spry_status fill(factor *f, const spry_matrix *A)
{
    spry_status status = SPRY_STATUS_OK;
    f->strict = f->coarse = f->balanced = false;
    const base_kept kept = base_try(f->ctx);
    status = fill_class(f, A);
    const bool balances = f->class->balances && !f->regular;
    const bool missing = balances && status == SPRY_STATUS_BAD_INPUT; /* a pivot */
    if (!missing) {
        SPRY_GO(f->ctx, status);
        SPRY_GO(f->ctx, measure(f, A));
    }
    if (missing || (balances && is_singular(f))) {
        base_forgive(f->ctx, &kept);
        f->balanced = true;
        SPRY_GO(f->ctx, fill_class(f, A));
        SPRY_GO(f->ctx, measure(f, A));
    }
    if (f->class->again && !isfinite(f->condition)) {
        f->strict = true;
        SPRY_GO(f->ctx, fill_class(f, A));
        SPRY_GO(f->ctx, measure(f, A));
    }
    if (f->class->again && f->regular && f->rank == f->n && is_singular(f)) {
        f->coarse = true;
        SPRY_GO(f->ctx, fill_class(f, A));
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
    if (!f->regular && is_singular(f)) {
        char known[48] = "";
        if (isfinite(f->condition))
            snprintf(known, sizeof known, " (condition %.1g or more)", f->condition);
        status = SPRY_FAIL(f->ctx, SPRY_STATUS_BAD_INPUT,
                           "precon direct: the matrix is singular to working "
                           "precision%s; try direct:regular=yes, or another preconditioner",
                           known);
    }
done:
    return status;
}

void factor_clear(factor *f)
{
    if (f->class)
        f->class->close(f);
    *f = (factor){0};
}

spry_status factor_open(const factor_class *class, const spry_matrix *A, bool regular, double most,
                        spry_device *device, factor *f)
{
    const bool single = type_is_single(A->a.type);
    spry_status status = SPRY_STATUS_OK;
    *f = (factor){.ctx = A->ctx,
                  .class = class,
                  .device = device,
                  .type = A->a.type,
                  .n = A->a.rows,
                  .rank = A->a.rows,
                  .regular = regular,
                  .most = most,
                  .roundoff = single ? 6e-8 : 1.2e-16};
    SPRY_GO(A->ctx, class->open(f, A));
done:
    if (status != SPRY_STATUS_OK)
        factor_clear(f);
    return status;
}

spry_status factor_make(const factor_class *class, const spry_matrix *A, bool regular, double most,
                        spry_device *device, factor *f)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, factor_open(class, A, regular, most, device, f));
    SPRY_GO(A->ctx, factor_fill(f, A));
done:
    if (status != SPRY_STATUS_OK)
        factor_clear(f);
    return status;
}
