/*
 * All of libspry_grid: grids, stencils and multigrid, time steps, waves. Link with -lspry_grid
 * -lspry.
 */
#ifndef SPRY_GRID_ALL_H
#define SPRY_GRID_ALL_H

#include <spry/grid/grid.h>
#include <spry/grid/newton.h>
#include <spry/grid/time.h>
#include <spry/grid/wave.h>
#include <spry/spry.h>

#endif
