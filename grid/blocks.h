/*
 * Grids that are cut into blocks, one for each rank. Rank 0 has the block at the beginning of all
 * axes, the next one follows along x, and so on. A vector over the grid has the numbers of rank 0's
 * block first, x fastest, then those of rank 1: with cuts across the slowest axis alone that is the
 * order without ranks.
 *
 * Points belong to the rank that has the unknown there; those with known values to the neighbour's.
 */
#ifndef SPRY_GRID_BLOCKS_H
#define SPRY_GRID_BLOCKS_H

#include "grid/grid.h"
#include "ranks/fetch.h"

/* Cuts a complete shape for the ranks of the context, as a text of spry_grid_options("grid") says.
 */
spry_status grid_cut(spry_context *ctx, const char *text, grid_shape *shape);
/* Whether it is cut; makes it whole, for each rank to have. */
bool grid_is_cut(const grid_shape *shape);
void grid_join(grid_shape *shape);
/* All unknowns or points; those of this rank. */
grid_box grid_whole(const grid_shape *shape, bool all_points);
grid_box grid_own(const spry_context *ctx, const grid_shape *shape, bool all_points);
/* A box and `width` more along the axes that are cut, as far as the grid goes. */
grid_box grid_wider(const grid_shape *shape, bool all_points, const grid_box *box,
                    const int64_t width[GRID_AXES]);
/* What a vector of this rank's numbers is of all. */
vector_part grid_part(const spry_context *ctx, const grid_shape *shape, bool all_points);
/* The first number of each rank in a vector, and their end: ranks + 1, to be freed. */
spry_status grid_starts(spry_context *ctx, const grid_shape *shape, bool all_points,
                        int64_t **starts);
/* The number in such a vector of an unknown or point, which may lie beyond the ends of a periodic
 * axis. */
int64_t grid_number(const grid_shape *shape, bool all_points, const int64_t *starts,
                    const int64_t at[GRID_AXES]);
/* One status for all ranks where the grid is cut; else what is given. */
static inline spry_status grid_agree(spry_context *ctx, const grid_shape *shape, spry_status status)
{
    return grid_is_cut(shape) ? team_agree(ctx, status) : status;
}

/* The numbers of a box around a rank's block that others have, brought again and again. */
typedef struct grid_halo {
    ranks_halo halo;
    int64_t count;
    int64_t *place; /* in the box, of what is brought */
    int64_t copies; /* own numbers that are in the box again, beyond the ends of an axis */
    int64_t *from, *to;
    char *brought;
} grid_halo;
/* Collective, as is bringing. `own` is the part of the box that is this rank's. */
spry_status grid_halo_make(spry_context *ctx, spry_type type, const grid_shape *shape,
                           bool all_points, const grid_box *box, grid_halo *h);
void grid_halo_clear(grid_halo *h);
/* Fills the box around what is this rank's. */
spry_status grid_halo_exchange(const grid_halo *h, void *box);
/* Copies numbers of a box from an array of one box to that of another; both have it. */
void box_copy(spry_type type, const grid_box *part, const grid_box *from_box, const void *from,
              const grid_box *to_box, void *to);

#endif
