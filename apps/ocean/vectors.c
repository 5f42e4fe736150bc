/* Arrays of a flow, on the host or on its device: their sizes, vectors and copies. */
#include "ocean/flow.h"

ocean_sizes ocean_sizes_of(const ocean_setup *s)
{
    const int lines = s->ny == 0 ? 1 : s->ny + !s->round_y;
    return (ocean_sizes){.nx = s->nx + !s->round_x,
                         .ny = lines,
                         .nz = s->nz,
                         .alpha = s->order / 2,
                         .round_x = s->round_x,
                         .round_y = s->round_y,
                         .all_y = lines,
                         .to = lines};
}

spry_status ocean_flow_copy(const ocean_flow *f, const double *values, spry_vector *v)
{
    spry_vector *host = NULL;
    /* only to be copied from */
    spry_status status = spry_vector_new(f->ctx, SPRY_TYPE_D, spry_vector_size(v),
                                         (void *)(uintptr_t)values, SPRY_OWN_BORROW, &host);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(host, v);
    spry_vector_free(host);
    return status;
}

spry_status ocean_flow_vector(const ocean_flow *f, int64_t n, const double *values, spry_vector **v)
{
    const spry_status status =
        f->device ? spry_vector_on(f->device, SPRY_TYPE_D, n, NULL, v)
                  : spry_vector_new(f->ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_TAKE, v);
    return status == SPRY_STATUS_OK && values ? ocean_flow_copy(f, values, *v) : status;
}
