/* What is around a rank's block of a field, for callers' own differences. */
#include "grid/blocks.h"

struct spry_halo {
    spry_context *ctx;
    spry_type type;
    grid_box own, box;
    grid_halo halo; /* without a context where the grid is not cut */
};

spry_status spry_halo_new(const spry_grid *grid, spry_type type, const int64_t *width,
                          spry_halo **out)
{
    SPRY_NEED(CTX_OF(grid), grid, width, out);
    spry_context *ctx = grid->ctx;
    const grid_shape *shape = &grid->shape;
    spry_halo *h = NULL;
    spry_status status = base_check_type(ctx, type);
    *out = NULL;
    for (int a = 0; a < GRID_AXES && status == SPRY_STATUS_OK; a++)
        if (width[a] < 0 || width[a] > shape->axis[a].unknowns)
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                               "a halo of %" PRId64 " along %c, expected 0 to %" PRId64
                               ", the unknowns there",
                               width[a], "xyz"[a], shape -> axis[a].unknowns);
    if (status == SPRY_STATUS_OK)
        status = base_object_new(ctx, sizeof *h, &h);
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    *h = (spry_halo){.ctx = ctx, .type = type, .own = grid_own(ctx, shape, false)};
    h->box = grid_wider(shape, false, &h->own, width);
    if (grid_is_cut(shape))
        SPRY_GO(ctx, grid_halo_make(ctx, type, shape, false, &h->box, &h->halo));
    *out = h;
    h = NULL;
done:
    spry_halo_free(h);
    return status;
}

void spry_halo_free(spry_halo *halo)
{
    if (!halo)
        return;
    grid_halo_clear(&halo->halo);
    base_object_free(halo->ctx, halo);
}

spry_status spry_halo_box(const spry_halo *halo, int64_t *begin, int64_t *end)
{
    SPRY_NEED(CTX_OF(halo), halo, begin, end);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it is there */
    memcpy(begin, halo->box.begin, sizeof halo->box.begin);
    memcpy(end, halo->box.end, sizeof halo->box.end);
    return SPRY_STATUS_OK;
}

static spry_status check_vector(const spry_halo *h, const spry_vector *v, const grid_box *box,
                                const char *what)
{
    if (v->device)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s of a halo is on %s; spry_vector_copy() brings it to the host", what,
                         spry_device_name(v->device));
    if (v->type != h->type || v->n != box_count(box))
        return SPRY_FAIL(
            h->ctx, SPRY_STATUS_BAD_USAGE,
            "%s of a halo has %" PRId64 " numbers of type %s, expected %" PRId64 " of type %s",
            what, v->n, spry_type_name(v->type), box_count(box), spry_type_name(h->type));
    return SPRY_STATUS_OK;
}

spry_status spry_halo_exchange(const spry_halo *halo, const spry_vector *field, spry_vector *wide)
{
    SPRY_NEED(CTX_OF(halo), halo, field, wide);
    const bool cut = halo->halo.halo.ctx != NULL;
    spry_status status = check_vector(halo, field, &halo->own, "the field");
    if (status == SPRY_STATUS_OK)
        status = check_vector(halo, wide, &halo->box, "the wide one");
    SPRY_GO(halo->ctx, cut ? team_agree(halo->ctx, status) : status);
    box_copy(halo->type, &halo->own, &halo->own, field->data, &halo->box, wide->data);
    if (cut)
        SPRY_GO(halo->ctx, grid_halo_exchange(&halo->halo, wide->data));
done:
    return status;
}
