/* Stencils with terms that differ: alpha A + beta I, a stencil, where A is, with its multigrid; and
 * damped waves. */
#include "grid/ranks.h"
#include "grid/stencil_device.h"

spry_status stencil_shifted(const spry_operator *A, spry_scalar alpha, spry_scalar beta,
                            spry_operator **shifted)
{
    const stencil *from = A->state;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *shifted = NULL;
    if (from->parts_count == TERMS_MOST)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "an operator of %d terms has no room for another", TERMS_MOST);
    SPRY_GO(A->ctx, stencil_coarser(A, &from->shape, from->order, A->type, 0, &op));
    stencil *s = op->state;
    for (int p = 0; p < s->parts_count; p++) {
        const spry_scalar c = s->parts[p].c;
        s->parts[p].c =
            (spry_scalar){alpha.re * c.re - alpha.im * c.im, alpha.re * c.im + alpha.im * c.re};
    }
    s->parts[s->parts_count++] = (stencil_part){.c = beta, .field = {-1, -1, -1}};
    stencil_form_clear(op->ctx, &s->plain);
    SPRY_GO(A->ctx,
            grid_agree(A->ctx, &s->shape, stencil_form_make(op, false, &s->rows, &s->plain)));
    op->own_bytes = A->own_bytes;
    op->bytes = A->bytes;
    SPRY_GO(A->ctx, stencil_settle(op, A->device));
    *shifted = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

spry_status stencil_damp(spry_operator *op, double shift)
{
    stencil *s = op->state;
    const grid_box u = s->plain.u;
    int damped = 0;
    for (int p = 0; p < s->parts_count; p++) {
        stencil_part *part = &s->parts[p];
        const spry_scalar c = part->c;
        if (part->has[0] || part->has[1] || part->has[2])
            continue;
        part->c = (spry_scalar){c.re - shift * c.im, c.im + shift * c.re};
        damped++;
    }
    if (damped == 0)
        return SPRY_FAIL(
            op->ctx, SPRY_STATUS_BAD_USAGE,
            "shift=%g damps terms without derivatives, such as k2 of laplace + k2; the "
            "operator has none",
            shift);
    stencil_form_clear(op->ctx, &s->plain);
    return grid_agree(op->ctx, &s->shape, stencil_form_make(op, false, &u, &s->plain));
}
