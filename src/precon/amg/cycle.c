/*
 * Cycles, from x = 0: smooth, restrict the residual to the next level, solve on that level by a
 * cycle, add the correction, smooth. Vectors go back and forth between two places per level. The
 * adjoint is the same with A^H, since R = P^H, and what smoothed last smooths first.
 */
#include "precon/amg/amg.h"

static const spry_scalar one = {1, 0}, zero = {0, 0};
static const host_step residual = {-1, 1, 0, 0};

/* The coarsest level: what was made for it, or as many sweeps as there are on others together. */
static spry_status solve_bottom(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                                spry_vector *x)
{
    amg_level *level = (amg_level *)&h->levels[l];
    if (h->bottom)
        return spry_operator_multiply(h->bottom, transpose, one, b, zero, x);
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int first = (int)(plain ? h->common.pre : h->common.post);
    const int last = (int)(plain ? h->common.post : h->common.pre);
    const bool moves = amg_smoother_moves(&level->smoother, last, false) % 2 != 0;
    const bool odd = amg_smoother_moves(&level->smoother, first, true) % 2 != 0;
    spry_vector *current = moves ? level->t : x, *other = moves ? x : level->t;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, amg_smooth(level, transpose, false, first, true, b, odd ? other : current,
                               odd ? current : other));
    SPRY_GO(h->ctx, amg_smooth(level, transpose, true, last, false, b, current, other));
done:
    return status;
}

/* x += G S G^H (b - A x), with what smooths on nodes; `room` is for the residual. */
static spry_status smooth_nodes(amg_level *level, spry_transpose transpose, bool after,
                                const spry_vector *b, spry_vector *x, spry_vector *room)
{
    spry_context *ctx = level->op->ctx;
    amg_level *nodes = level->nodes;
    const operator_step *step;
    spry_status status = SPRY_STATUS_OK;
    const bool moves = amg_smoother_moves(&nodes->smoother, 1, true) % 2 != 0;
    SPRY_GO(ctx, amg_step(level, transpose, &step));
    SPRY_GO(ctx, step_run(step, residual, NULL, b, x, room));
    SPRY_GO(ctx, spry_operator_multiply(nodes->R, SPRY_TRANSPOSE_NO, one, room, zero, nodes->b));
    SPRY_GO(ctx, amg_smooth(nodes, transpose, after, 1, true, nodes->b, moves ? nodes->t : nodes->x,
                            moves ? nodes->x : nodes->t));
    SPRY_GO(ctx, spry_operator_multiply(nodes->P, SPRY_TRANSPOSE_NO, one, nodes->x, one, x));
done:
    return status;
}

/* x = x + cycle(b - A x): the second visit of a W cycle. */
static spry_status visit_again(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                               spry_vector *x)
{
    amg_level *level = (amg_level *)&h->levels[l];
    spry_vector *r = level->extra[0], *more = level->extra[1];
    const operator_step *step;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, amg_step(level, transpose, &step));
    SPRY_GO(h->ctx, step_run(step, residual, NULL, b, x, r));
    SPRY_GO(h->ctx, amg_cycle(h, l, transpose, r, more));
    SPRY_GO(h->ctx, spry_vector_axpy(one, more, x));
done:
    return status;
}

static spry_scalar quotient(spry_scalar a, spry_scalar b)
{
    const double size = b.re * b.re + b.im * b.im;
    return (spry_scalar){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

/* x = a c with the a that makes |b - a v|, v = op(A) c, smallest, and r = b - a v. */
static spry_status shorten(spry_vector *c, const spry_vector *v, spry_vector *r, spry_scalar *a)
{
    spry_scalar top, bottom;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(c->ctx, spry_vector_dot(v, r, &top));
    SPRY_GO(c->ctx, spry_vector_dot(v, v, &bottom));
    *a = bottom.re > 0 ? quotient(top, bottom) : one;
    if (bottom.re > 0)
        SPRY_GO(c->ctx, spry_vector_axpy((spry_scalar){-a->re, -a->im}, v, r));
done:
    return status;
}

/*
 * Two steps of the generalised conjugate residual method, each with a cycle for a preconditioner
 * (Y. Notay, P. S. Vassilevski, Recursive Krylov-based multigrid cycles, Numer. Linear Algebra
 * Appl. 15 (2008), 473-487); the second only when the first does not bring the residual to a
 * quarter.
 */
static spry_status krylov(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                          spry_vector *x)
{
    spry_context *ctx = h->ctx;
    const amg_level *level = &h->levels[l];
    spry_vector *r = level->extra[0], *v = level->extra[1], *c = level->extra[2],
                *w = level->extra[3];
    spry_scalar a, gamma, size;
    double before, after;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, amg_cycle(h, l, transpose, b, x));
    SPRY_GO(ctx, spry_operator_multiply(level->op, transpose, one, x, zero, v));
    SPRY_GO(ctx, spry_vector_copy(b, r));
    SPRY_GO(ctx, spry_vector_norm(r, &before));
    SPRY_GO(ctx, shorten(x, v, r, &a));
    SPRY_GO(ctx, spry_vector_norm(r, &after));
    if (after <= 0.25 * before) {
        SPRY_GO(ctx, spry_vector_scale(a, x));
        goto done;
    }
    SPRY_GO(ctx, amg_cycle(h, l, transpose, r, c));
    SPRY_GO(ctx, spry_operator_multiply(level->op, transpose, one, c, zero, w));
    SPRY_GO(ctx, spry_vector_dot(v, w, &gamma));
    SPRY_GO(ctx, spry_vector_dot(v, v, &size));
    /* The second direction without the first. */
    if (size.re > 0) {
        const spry_scalar part = quotient((spry_scalar){-gamma.re, -gamma.im}, size);
        SPRY_GO(ctx, spry_vector_axpy(part, x, c));
        SPRY_GO(ctx, spry_vector_axpy(part, v, w));
    }
    SPRY_GO(ctx, spry_vector_scale(a, x));
    SPRY_GO(ctx, shorten(c, w, r, &a));
    SPRY_GO(ctx, spry_vector_axpy(a, c, x));
done:
    return status;
}

/* x about op(A)^-1 b on a level below the first. */
static spry_status descend(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                           spry_vector *x)
{
    spry_status status = SPRY_STATUS_OK;
    if (h->common.cycle == AMG_K && l < h->count - 1)
        return krylov(h, l, transpose, b, x);
    SPRY_GO(h->ctx, amg_cycle(h, l, transpose, b, x));
    if (h->levels[l].twice)
        SPRY_GO(h->ctx, visit_again(h, l, transpose, b, x));
done:
    return status;
}

spry_status amg_cycle(const amg *h, int l, spry_transpose transpose, const spry_vector *b,
                      spry_vector *x)
{
    spry_context *ctx = h->ctx;
    /* What is opened at its first use is kept in the level. */
    amg_level *level = (amg_level *)&h->levels[l];
    spry_status status = SPRY_STATUS_OK;
    if (l == h->count - 1)
        return solve_bottom(h, l, transpose, b, x);
    const amg_level *next = &h->levels[l + 1];
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int first = (int)(plain ? h->common.pre : h->common.post);
    const int last = (int)(plain ? h->common.post : h->common.pre);
    const bool moves = amg_smoother_moves(&level->smoother, last, false) % 2 != 0;
    spry_vector *current = moves ? level->t : x, *other = moves ? x : level->t;
    const bool odd = amg_smoother_moves(&level->smoother, first, true) % 2 != 0;
    const operator_step *step;
    SPRY_GO(ctx, amg_step(level, transpose, &step));
    SPRY_GO(ctx, amg_smooth(level, transpose, false, first, true, b, odd ? other : current,
                            odd ? current : other));
    if (level->nodes)
        SPRY_GO(ctx, smooth_nodes(level, transpose, false, b, current, other));
    SPRY_GO(ctx, level->smoother.sweeps && first == 1 && !level->nodes
                     ? amg_sweep_rest(level, transpose, b, current, other)
                     : step_run(step, residual, NULL, b, current, other));
    SPRY_GO(ctx, spry_operator_multiply(level->R, SPRY_TRANSPOSE_NO, one, other, zero, next->b));
    SPRY_GO(ctx, descend(h, l + 1, transpose, next->b, next->x));
    SPRY_GO(ctx, spry_operator_multiply(level->P, SPRY_TRANSPOSE_NO, one, next->x, one, current));
    if (level->nodes)
        SPRY_GO(ctx, smooth_nodes(level, transpose, true, b, current, other));
    SPRY_GO(ctx, amg_smooth(level, transpose, true, last, false, b, current, other));
done:
    return status;
}
