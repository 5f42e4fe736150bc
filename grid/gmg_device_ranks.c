/* Levels of multigrid on ranks that work on devices: their messages (see gmg_ranks.c). */
#include "grid/gmg_device.h"

#include "device/linalg/vector.h"
#include "ranks/halo_device.h"

struct gmg_device_halo {
    spry_device *d;
    spry_type type;
    device_halo *halo;
    int64_t count, copies, own;
    device_memory *brought, *place;   /* from others, and where in the box */
    device_memory *again, *from, *to; /* own numbers that are in the box once more */
    device_memory *own_place;         /* of own numbers; NULL: one after the other, */
    int64_t first;                    /* from here on */
};

void gmg_device_halo_free(gmg_device_halo *h)
{
    if (!h)
        return;
    device_halo_free(h->halo);
    device_memory *const blocks[] = {h->brought, h->place, h->again, h->from, h->to, h->own_place};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        device_free(blocks[k]);
    base_free(h->d->ctx, h);
}

/* Places in a box as devices have them. */
static spry_status put_places(spry_device *d, int64_t n, const int64_t *places, device_memory **to)
{
    int32_t *index = NULL;
    spry_status status = base_alloc(d->ctx, n, sizeof *index, &index);
    for (int64_t k = 0; k < n && status == SPRY_STATUS_OK; k++)
        index[k] = (int32_t)places[k];
    if (status == SPRY_STATUS_OK)
        status = device_put_index(d, n, index, to);
    base_free(d->ctx, index);
    return status;
}

/* Where this rank's rows are in its box. */
static spry_status place_own(gmg_device_halo *h, const gmg_level *l)
{
    spry_context *ctx = h->d->ctx;
    int64_t *places = NULL;
    bool apart = false;
    h->own = box_count(&l->given);
    spry_status status = base_alloc(ctx, h->own, sizeof *places, &places);
    for (int64_t i = 0; i < h->own && status == SPRY_STATUS_OK; i++) {
        int64_t at[GRID_AXES];
        box_split(&l->given, i, at);
        places[i] = box_place(&l->box, at);
        apart = apart || places[i] != places[0] + i;
    }
    if (status == SPRY_STATUS_OK && h->own > 0)
        h->first = places[0];
    if (status == SPRY_STATUS_OK && apart)
        status = put_places(h->d, h->own, places, &h->own_place);
    base_free(ctx, places);
    return status;
}

static spry_status make_room(gmg_device_halo *h, const gmg_level *l)
{
    spry_device *d = h->d;
    spry_context *ctx = d->ctx;
    const int64_t size = (int64_t)spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(d, h->count * size, &h->brought));
    SPRY_GO(ctx, put_places(d, h->count, l->halo.place, &h->place));
    SPRY_GO(ctx, device_alloc(d, h->copies * size, &h->again));
    SPRY_GO(ctx, put_places(d, h->copies, l->halo.from, &h->from));
    SPRY_GO(ctx, put_places(d, h->copies, l->halo.to, &h->to));
    SPRY_GO(ctx, place_own(h, l));
done:
    return status;
}

spry_status gmg_device_halo_new(spry_device *d, spry_type type, spry_status made,
                                const gmg_level *l, gmg_device_halo **out)
{
    const ranks_halo *from = &l->halo.halo;
    const halo_lists lists = {from->sends,      from->receives, from->to,  from->from,
                              from->sent_count, from->count,    from->sent};
    gmg_device_halo *h = NULL;
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(d->ctx, 1, sizeof *h, &h) : made;
    *out = h;
    if (h) {
        *h = (gmg_device_halo){
            .d = d, .type = type, .count = l->halo.count, .copies = l->halo.copies};
        status = make_room(h, l);
    }
    device_halo *messages = NULL;
    status = device_halo_new(d, type, status, &lists, h ? h->brought : NULL, 0, &messages);
    if (h)
        h->halo = messages;
    return status;
}

spry_status gmg_device_halo_exchange(gmg_device_halo *h, device_memory *box)
{
    spry_context *ctx = h->d->ctx;
    spry_status status = device_halo_pack(h->halo, box);
    const spry_status sent = device_halo_exchange(h->halo); /* whatever that was */
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, sent);
    SPRY_GO(ctx, device_halo_land(h->halo));
    if (h->count > 0)
        SPRY_GO(ctx, device_pick(h->d, h->type, h->count, h->place, true, h->brought, box));
    if (h->copies > 0) {
        SPRY_GO(ctx, device_pick(h->d, h->type, h->copies, h->from, false, box, h->again));
        SPRY_GO(ctx, device_pick(h->d, h->type, h->copies, h->to, true, h->again, box));
    }
done:
    return status;
}

spry_status gmg_device_copy_own(const gmg_device_halo *h, bool back, const device_memory *from,
                                device_memory *to)
{
    const int64_t size = (int64_t)spry_type_size(h->type);
    if (h->own == 0)
        return SPRY_STATUS_OK;
    if (h->own_place)
        return device_pick(h->d, h->type, h->own, h->own_place, !back, from, to);
    return back ? device_copy(from, h->first * size, to, 0, h->own * size)
                : device_copy(from, 0, to, h->first * size, h->own * size);
}

spry_status gmg_device_give_x(const gmg_device_halo *h, const device_memory *x,
                              const spry_vector *given)
{
    device_memory *to = device_vector_memory(given);
    if (h)
        return gmg_device_copy_own(h, true, x, to);
    return x == to ? SPRY_STATUS_OK
                   : device_copy(x, 0, to, 0, given->n * (int64_t)spry_type_size(given->type));
}
