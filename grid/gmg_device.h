/* What the steps of geometric multigrid and of bounds share on a device. */
#ifndef SPRY_GRID_GMG_DEVICE_H
#define SPRY_GRID_GMG_DEVICE_H

#include "grid/gmg.h"
#include "grid/stencil_device.h"

/* The colour of the first point of a level's box, as points of the whole grid are counted. */
static inline int32_t gmg_parity(const gmg_level *l)
{
    return (int32_t)((l->box.begin[0] + l->box.begin[1] + l->box.begin[2]) & 1);
}
/* The unknowns of the next level's box, and the unknown of this one's that the first lies on. */
void gmg_coarse_sizes(const gmg *m, int level, int32_t n[GRID_AXES], int32_t shift[GRID_AXES]);

/* The text of the programs that levels have. */
void gmg_device_put(base_text *t, const stencil_copy *c);

/* What ranks have of a level, in the box of each (gmg_device_ranks.c). */
typedef struct gmg_device_halo gmg_device_halo;
/* Collective, as is bringing; `made` is the status of this rank so far. */
spry_status gmg_device_halo_new(spry_device *d, spry_type type, spry_status made,
                                const gmg_level *l, gmg_device_halo **h);
void gmg_device_halo_free(gmg_device_halo *h);
/* Fills the box around what is this rank's. */
spry_status gmg_device_halo_exchange(gmg_device_halo *h, device_memory *box);
/* This rank's numbers from a vector of theirs to the box, or (back) the other way. */
spry_status gmg_device_copy_own(const gmg_device_halo *h, bool back, const device_memory *from,
                                device_memory *to);
/* The first level's x to the caller's, where that is another array. */
spry_status gmg_device_give_x(const gmg_device_halo *h, const device_memory *x,
                              const spry_vector *given);

#endif
