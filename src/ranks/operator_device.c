/* Distributed products on a device: what others need of x is packed on the device and sent while it
 * multiplies by the own block. See operator.c. */
#include "ranks/operator_side.h"

#include "device/linalg/operator.h"
#include "device/linalg/vector.h"

void dist_device_close(dist_side *s)
{
    dist_device_side *mine = &s->device;
    device_halo_free(mine->halo);
    device_free(mine->kept_index);
    device_free(mine->edge_rows);
    device_free(mine->compact);
    device_free(mine->sums);
}

static spry_status make_room(dist_side *s)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const int64_t size = (int64_t)spry_type_size(s->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_put_index(s->d, p->kept, p->kept_index, &s->device.kept_index));
    SPRY_GO(ctx, device_put_index(s->d, p->edges, p->edge_rows, &s->device.edge_rows));
    SPRY_GO(ctx, device_alloc(s->d, (p->kept + p->ghosts) * size, &s->device.compact));
    SPRY_GO(ctx, device_alloc(s->d, p->edges * size, &s->device.sums));
done:
    return status;
}

spry_status dist_device_open(dist_side *s)
{
    const spry_status made = make_room(s);
    const distributed *p = s->links;
    const halo_lists lists = {p->sends,      p->receives, p->send, p->receive,
                              p->sent_count, p->ghosts,   p->sent};
    return device_halo_new(s->d, s->type, made, &lists, s->device.compact, p->kept,
                           &s->device.halo);
}

/* What others need of x is on its way, and the own elements that edge rows need are in their
 * place. */
static spry_status pack(dist_side *s, const device_memory *x)
{
    const distributed *p = s->links;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, device_halo_pack(s->device.halo, x));
    if (p->kept > 0)
        SPRY_GO(s->ctx, device_pick(s->d, s->type, p->kept, s->device.kept_index, false, x,
                                    s->device.compact));
done:
    return status;
}

static spry_status multiply_own(const dist_side *s, spry_scalar alpha, const device_memory *x,
                                spry_scalar beta, device_memory *y)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const bool adds = beta.re != 0 || beta.im != 0;
    spry_status status = SPRY_STATUS_OK;
    if (adds && p->edges > 0) /* edge rows' old y */
        SPRY_GO(ctx, device_pick(s->d, s->type, p->edges, s->device.edge_rows, false, y,
                                 s->device.sums));
    if (s->own)
        SPRY_GO(ctx, device_multiply(s->own, SPRY_TRANSPOSE_NO, alpha, x, beta, y));
done:
    return status;
}

/* The edge rows, once what others have sent has come. */
static spry_status multiply_edge(dist_side *s, spry_scalar alpha, spry_scalar beta,
                                 device_memory *y)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    spry_status status = SPRY_STATUS_OK;
    if (p->edges == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, device_halo_land(s->device.halo));
    SPRY_GO(ctx, device_multiply(s->edge, SPRY_TRANSPOSE_NO, alpha, s->device.compact, beta,
                                 s->device.sums));
    SPRY_GO(ctx,
            device_pick(s->d, s->type, p->edges, s->device.edge_rows, true, s->device.sums, y));
done:
    return status;
}

spry_status dist_device_multiply(dist_side *s, spry_scalar alpha, const device_memory *x,
                                 spry_scalar beta, device_memory *y)
{
    spry_context *ctx = s->ctx;
    spry_status status = pack(s, x);
    if (status == SPRY_STATUS_OK)
        status = multiply_own(s, alpha, x, beta, y);
    const spry_status sent = device_halo_exchange(s->device.halo);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, sent);
    SPRY_GO(ctx, multiply_edge(s, alpha, beta, y));
done:
    return status;
}
