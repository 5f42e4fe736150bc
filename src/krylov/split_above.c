/*
 * What a rank does by itself where its elements have lower bounds: projected relaxations.
 *
 *     jacobi:  x = max(x + D^-1 (c - A x), lower)
 *     gs:      the same row by row, each with what those before it have got
 *
 * Bounds are kept row by row: what a preconditioner of several rows gives may be cut off at them
 * without being the answer.
 */
#include "krylov/split.h"

#include "host/host.h"

#include <math.h>

static double real_at(const spry_vector *v, int64_t i)
{
    return value_get(v->type, v->data, i).re;
}

static void set_above(split *p, int64_t i, double value)
{
    const double least = real_at(p->lower, i);
    value_set(p->type, p->x->data, i, (spry_scalar){value < least ? least : value, 0});
}

spry_status split_above_open(split *p, const spry_vector *lower)
{
    spry_context *ctx = p->alone;
    const int64_t n = p->own->a.rows;
    spry_status status = SPRY_STATUS_OK;
    p->in_turn = strcmp(p->o.inner, "gs") == 0;
    if (!p->in_turn && strcmp(p->o.inner, "jacobi") != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "inner=%s does not keep to lower bounds; take inner=jacobi or inner=gs",
                         p->o.inner);
    SPRY_GO(ctx, spry_vector_new(ctx, p->type, n, NULL, SPRY_OWN_COPY, &p->diagonal));
    SPRY_GO(ctx, matrix_as_csr(p->own, &p->rows, &p->rows_made));
    const matrix_arrays *a = &p->rows->a;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            sum += a->col_index[k] == i ? value_get(a->type, a->values, k).re : 0;
        if (!(sum > 0))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "row %" PRId64 " of rank %d has the diagonal element %g; with lower "
                             "bounds it has to be positive",
                             i, team_rank(p->ctx), sum);
        value_set(p->type, p->diagonal->data, i, (spry_scalar){1 / sum, 0});
    }
    SPRY_GO(ctx, spry_vector_new(ctx, p->type, n, lower->data, SPRY_OWN_BORROW, &p->lower));
    for (int64_t i = 0; i < n; i++)
        set_above(p, i, real_at(p->x, i));
done:
    return status;
}

void split_above_close(split *p)
{
    spry_vector_free(p->lower);
    spry_vector_free(p->diagonal);
    spry_matrix_free(p->rows_made);
}

void split_above_look(split *p)
{
    double worst = 0;
    for (int64_t i = 0; i < p->x->n; i++) {
        const double left = -real_at(p->r, i), above = real_at(p->x, i) - real_at(p->lower, i);
        const double v = isnan(left) ? left : fabs(left < above ? left : above);
        worst = v > worst || isnan(v) ? v : worst;
    }
    p->square = worst * worst;
    p->small = worst <= p->o.tol * p->scale * p->tight;
}

void split_above_improve(split *p)
{
    const matrix_arrays *a = &p->rows->a;
    const host_kernels *kernels = host_kernels_for(p->alone, p->type);
    for (int64_t i = 0; i < p->x->n; i++) {
        double left = real_at(p->r, i);
        if (p->in_turn) {
            const int64_t first = a->offsets[i], count = a->offsets[i + 1] - first;
            left = real_at(p->c, i) -
                   kernels
                       ->csr_sum(count, a->col_index + first,
                                 (const char *)a->values + (size_t)first * p->element, false,
                                 p->x->data)
                       .re;
        }
        set_above(p, i, real_at(p->x, i) + left * real_at(p->diagonal, i));
    }
}
