/* Triangles one after the other: what relaxation and factorizations apply. */
#include "precon/factors/triangle.h"

void triangle_chain_clear(spry_context *ctx, triangle_chain *c)
{
    for (int k = 0; k < 2; k++) {
        triangle_clear(ctx, &c->t[k]);
        base_free(ctx, c->f[k]);
        triangle_waits_clear(ctx, &c->waits[k]);
    }
    base_free(ctx, c->w);
    triangle_device_free(ctx, c->on_device);
    *c = (triangle_chain){0};
}

spry_status triangle_chain_place(spry_context *ctx, triangle_chain *c)
{
    spry_status status = SPRY_STATUS_OK;
    if (c->device)
        return triangle_device_place(ctx, c);
    if (!c->w && c->sets->rows)
        SPRY_GO(ctx, base_alloc(ctx, c->sets->n, spry_type_size(c->type), &c->w));
    for (int k = 0; k < c->count; k++)
        if (c->waits[k].most == 0)
            SPRY_GO(ctx, triangle_waits_make(ctx, &c->t[k], &c->waits[k]));
done:
    return status;
}

spry_status triangle_chain_transpose(spry_context *ctx, const triangle_chain *from,
                                     triangle_chain *c)
{
    const int64_t n = from->sets->n;
    const size_t size = spry_type_size(from->type);
    spry_status status = SPRY_STATUS_OK;
    *c = (triangle_chain){.device = from->device, .sets = from->sets, .type = from->type};
    for (int k = 0; k < from->count; k++)
        SPRY_GO(ctx, triangle_transpose(ctx, &from->t[from->count - 1 - k], &c->t[k]));
    if (from->f[1]) {
        SPRY_GO(ctx, base_alloc(ctx, n, size, &c->f[1]));
        memcpy(c->f[1], from->f[1], (size_t)n * size);
    }
    c->count = from->count;
    SPRY_GO(ctx, triangle_chain_place(ctx, c));
done:
    if (status != SPRY_STATUS_OK)
        triangle_chain_clear(ctx, c);
    return status;
}

/* By way of w where rows are not at their places: r is gathered, z scattered. */
static void apply_on_host(spry_context *ctx, const triangle_chain *c, bool conjugate, const void *r,
                          void *z)
{
    const int32_t *rows = c->sets->rows;
    void *w = rows ? c->w : z;
    triangle_pass pass[2];
    for (int k = 0; k < c->count; k++) {
        pass[k] = triangle_pass_for(&c->t[k], conjugate, c->f[k]);
        pass[k].in = k == 0 ? r : w;
        pass[k].in_rows = k == 0 ? rows : NULL;
        pass[k].w = w;
        if (rows && k == c->count - 1) {
            pass[k].out = z;
            pass[k].out_rows = rows;
        }
    }
    triangle_run(ctx, c->type, c->sets, c->count, pass, c->waits);
}

spry_status triangle_chain_apply(spry_context *ctx, const triangle_chain *c, bool conjugate,
                                 const spry_vector *r, spry_vector *z)
{
    if (c->device)
        return triangle_device_apply(c, conjugate, r, z);
    apply_on_host(ctx, c, conjugate, r->data, z->data);
    return SPRY_STATUS_OK;
}

int64_t triangle_chain_bytes(const triangle_chain *c)
{
    const int64_t n = c->sets->n, size = (int64_t)spry_type_size(c->type);
    int64_t bytes = c->sets->rows ? n * (8 + 2 * size) : 0;
    for (int k = 0; k < c->count; k++)
        bytes += triangle_bytes(&c->t[k]) + (c->f[k] ? n * size : 0);
    return bytes + (c->count - 1) * 2 * n * size;
}

ALWAYS_INLINE void gather(size_t size, int64_t n, const int32_t *rows, const void *from, void *to)
{
    for (int64_t k = 0; k < n; k++)
        element_move(size, to, k, from, rows ? rows[k] : k);
}

spry_status triangle_by_places(spry_context *ctx, const triangle_sets *sets, spry_type type,
                               const void *by_rows, void **by_places)
{
    const spry_status status = base_alloc(ctx, sets->n, spry_type_size(type), by_places);
    if (status != SPRY_STATUS_OK)
        return status;
    switch (spry_type_size(type)) {
    case 4:
        gather(4, sets->n, sets->rows, by_rows, *by_places);
        break;
    case 8:
        gather(8, sets->n, sets->rows, by_rows, *by_places);
        break;
    default:
        gather(16, sets->n, sets->rows, by_rows, *by_places);
    }
    return SPRY_STATUS_OK;
}
