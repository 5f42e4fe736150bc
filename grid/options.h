/* The options of libspry_grid's objects: each file has its own, grid/options.c lists them. */
#ifndef GRID_OPTIONS_H
#define GRID_OPTIONS_H

#include <spry/options.h>

spry_option_list absorb_option_list(void);
spry_option_list bounded_option_list(void);
spry_option_list field_option_list(void);
spry_option_list field_wave_option_list(void);
spry_option_list fourier_option_list(void);
spry_option_list grid_option_list(void);
spry_option_list helmholtz_option_list(void);
spry_option_list newton_option_list(void);
spry_option_list parareal_option_list(void);
spry_option_list stencil_option_list(void);
spry_option_list stepper_option_list(void);
spry_option_list wave_option_list(void);

#endif
