/* A basin on ranks: each has some of its lines along x. */
#include "ocean/flow.h"

#include <stdio.h>
#include <string.h>

/* Lines that are brought: of differences of differences, and of the filter. */
enum { AROUND = 8 };

static spry_status make_grid(const ocean_flow *f, int planes, spry_grid **grid)
{
    const ocean_setup *s = &f->setup;
    char text[256];
    snprintf(text, sizeof text,
             "%dx%dx%d box=0:%.17g,0:%.17g,0:1 x=%s y=%s z=neumann:dirichlet ranks=1x%dx1", s->nx,
             s->ny, planes, s->length, s->width, s->round_x ? "periodic" : "neumann",
             s->round_y ? "periodic" : "neumann", spry_context_ranks(f->ctx));
    return spry_grid_new(f->ctx, text, grid);
}

/* How many lines each rank has. */
static spry_status count_lines(ocean_flow *f, int64_t mine)
{
    const double number = (double)mine;
    spry_vector *one = NULL;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(
        spry_vector_new(f->ctx, SPRY_TYPE_D, 1, (void *)(uintptr_t)&number, SPRY_OWN_COPY, &one));
    OCEAN_GO(spry_vector_collect(one, &f->lines));
done:
    spry_vector_free(one);
    return status;
}

spry_status ocean_ranks_make(ocean_flow *f, ocean_sizes *sizes, ocean_sizes *own)
{
    static const int64_t width[] = {0, AROUND, 0};
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    int64_t begin[3], end[3];
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(make_grid(f, 2, &f->pair));
    OCEAN_GO(make_grid(f, f->setup.nz, &f->volume));
    OCEAN_GO(spry_halo_new(f->pair, SPRY_TYPE_D, width, &f->around_pair));
    OCEAN_GO(spry_halo_new(f->volume, SPRY_TYPE_D, width, &f->around_volume));
    OCEAN_GO(spry_halo_box(f->around_pair, begin, end));
    OCEAN_GO(spry_grid_describe(f->pair, &info));
    const int lines = (int)(info.end[1] - info.begin[1]);
    OCEAN_GO(count_lines(f, lines));
    *own = *sizes;
    own->ny = own->to = lines;
    own->first = (int)info.begin[1];
    sizes->cut = true;
    sizes->ny = (int)(end[1] - begin[1]);
    sizes->first = (int)begin[1];
    sizes->from = (int)(info.begin[1] - begin[1]);
    sizes->to = sizes->from + lines;
    const int64_t wide = (int64_t)sizes->nx * sizes->ny;
    OCEAN_GO(ocean_flow_vector(f, 2 * wide, NULL, &f->wide_u));
    OCEAN_GO(ocean_flow_vector(f, f->setup.nz * wide, NULL, &f->wide_phi));
done:
    return status;
}

void ocean_ranks_free(ocean_flow *f)
{
    spry_vector_free(f->wide_u);
    spry_vector_free(f->wide_phi);
    spry_vector_free(f->lines);
    spry_halo_free(f->around_pair);
    spry_halo_free(f->around_volume);
    spry_grid_free(f->pair);
    spry_grid_free(f->volume);
}

spry_status ocean_ranks_vector(const ocean_flow *f, int planes, spry_vector **v)
{
    const spry_grid *grid = planes == 1 ? f->surface : planes == 2 ? f->pair : f->volume;
    return spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, v);
}

spry_status ocean_flow_widen(ocean_flow *f, bool volume, const spry_vector *v,
                             const spry_vector **wide)
{
    spry_vector *to = volume ? f->wide_phi : f->wide_u;
    *wide = ocean_is_cut(f) ? to : v;
    return ocean_is_cut(f) ? spry_halo_exchange(volume ? f->around_volume : f->around_pair, v, to)
                           : SPRY_STATUS_OK;
}

spry_status ocean_ranks_collect(const ocean_flow *f, int planes, const spry_vector *v, double *all)
{
    const size_t line = (size_t)f->points.sizes.nx, plane = line * (size_t)f->points.sizes.all_y;
    const double *lines = spry_vector_data_const(f->lines), *from;
    spry_vector *ranked = NULL;
    const spry_status status = spry_vector_collect(v, &ranked);
    if (status != SPRY_STATUS_OK)
        return status;
    from = spry_vector_data_const(ranked);
    for (int64_t r = 0; r < spry_vector_size(f->lines); r++) { /* all planes of each */
        const size_t count = line * (size_t)lines[r];
        for (int k = 0; k < planes; k++, from += count)
            memcpy(all + (size_t)k * plane, from, count * sizeof *all);
        all += count;
    }
    spry_vector_free(ranked);
    return status;
}

void ocean_ranks_take(const ocean_flow *f, int planes, const double *all, spry_vector *v)
{
    const ocean_sizes *s = ocean_is_cut(f) ? &f->own.sizes : &f->points.sizes;
    const size_t line = (size_t)s->nx, count = line * (size_t)s->ny;
    double *to = spry_vector_data(v);
    for (int k = 0; k < planes; k++)
        memcpy(to + (size_t)k * count,
               all + line * ((size_t)k * (size_t)s->all_y + (size_t)s->first), count * sizeof *to);
}
