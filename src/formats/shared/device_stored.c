/* Matrices as operators store them on devices. */
#include "formats/shared/device_stored.h"

#include "formats/shared/device_convert.h"
#include "matrix/entries.h"

/* A format's name alone, with the options that suit devices. */
static const char *with_defaults(const char *spec, char *room, size_t size)
{
    for (int i = 0; layout_class_at(i); i++) {
        const device_format *format = device_format_for(layout_class_at(i));
        if (format && format->defaults && strcmp(spec, format->name) == 0) {
            snprintf(room, size, "%s:%s", spec, format->defaults);
            return room;
        }
    }
    return spec;
}

static spry_status make_whole(spry_device *d, const spry_matrix *csr, device_matrix *on_device,
                              const char *spec, device_layout **D)
{
    layout *L = NULL;
    bool made;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_layout_from_csr(d, csr, on_device, spec, &made, D));
    if (!made) {
        SPRY_GO(d->ctx, layout_build(csr, spec, &L));
        SPRY_GO(d->ctx, device_layout_new(d, L, D));
    }
done:
    return status;
}

spry_status device_stored_make(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                               const char *spec, device_stored *to)
{
    char room[LAYOUT_PARAMS_SIZE];
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    bool whole;
    spry_status status = SPRY_STATUS_OK;
    const base_kept before = base_try(d->ctx);
    spec = with_defaults(spec, room, sizeof room);
    SPRY_GO(d->ctx, matrix_as_sorted_csr(A, &csr, &owned));
    const int64_t block_bytes = device_streamed_needed(d, csr, spec, &whole);
    if (whole)
        status = make_whole(d, csr, on_device, spec, &to->whole);
    if (!whole || (status == SPRY_STATUS_NO_MEMORY && block_bytes > 0)) {
        base_forgive(d->ctx, &before); /* nothing failed for the caller */
        status = device_streamed_new(d, csr, spec, block_bytes, &to->streamed);
    }
    SPRY_GO(d->ctx, status);
done:
    spry_matrix_free(owned);
    return status;
}

const layout *device_stored_host(const device_stored *s)
{
    return s->streamed ? device_streamed_host(s->streamed) : device_layout_host(s->whole);
}

void device_stored_free(device_stored *s)
{
    device_streamed_free(s->streamed);
    device_layout_free(s->whole);
}
