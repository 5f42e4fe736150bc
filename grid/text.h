/* The texts of the devices' kernels of libspry_grid: grid/kernels and grid/wave/kernels. */
#ifndef SPRY_GRID_TEXT_H
#define SPRY_GRID_TEXT_H

/* The text of a file by its name without .knl; NULL: there is none. */
const char *grid_text(const char *name);

#endif
