/* The steps of geometric multigrid on a device: as those of gmg.h. */
#ifndef SPRY_GRID_GMG_DEVICE_H
#define SPRY_GRID_GMG_DEVICE_H

#include "grid/gmg.h"
#include "grid/stencil_device.h"

/* Makes what all levels have on a device; to be freed by gmg_device_free(), also after a failure.
 */
spry_status gmg_device_make(gmg *m, spry_device *d);
void gmg_device_free(gmg *m);
/* z = M r by whatever cycle the caller makes of the steps between these two. */
void gmg_device_begin(gmg *m, const spry_vector *r, spry_vector *z);
spry_status gmg_device_end(gmg *m, spry_vector *z);

spry_status gmg_device_smooth(const gmg *m, int level, int sweeps, bool back, bool zero);
spry_status gmg_device_down(const gmg *m, int level, bool plain);
/* zero: x is 0, whatever it holds */
spry_status gmg_device_up(const gmg *m, int level, bool zero);
/* The same and sweeps after it, in one pass over memory where that is possible. */
spry_status gmg_device_rise(const gmg *m, int level, int sweeps, bool back);
spry_status gmg_device_solve(const gmg *m);

/* The text of the programs that levels have. */
void gmg_device_put(base_text *t, const stencil_copy *c);

#endif
