/*
 * AXC (Coronado-Barrientos, Indalecio, Garcia-Loureiro, "AXC: A new format to perform the SpMV
 * oriented to Intel Xeon Phi architecture in OpenCL", Concurrency Computat. Pract. Exper. 31,
 * 2019): each row is cut into bricks of HBRS values, the last filled with zeros, and each brick
 * keeps the numbers of x that its values are multiplied with right behind them.
 *
 *     value l of brick b is at ax[2 HBRS b + l], its number of x at ax[2 HBRS b + HBRS + l];
 *     row i has bricks brp[i] .. brp[i + 1] - 1
 *
 * The columns, from which the numbers of x are refreshed, have an array of their own. Without
 * AXC_KEPT no numbers of x are kept, and value l of brick b is at ax[HBRS b + l].
 */
#ifndef SPRY_FORMAT_AXC_H
#define SPRY_FORMAT_AXC_H

#include "formats/shared/layout.h"

/* Arrays. */
enum { AXC_AX, AXC_COLUMNS, AXC_BRP };
/* Numbers; AXC_KEPT is 1 where x is kept in bricks. */
enum { AXC_HBRS, AXC_KEPT };
/* Rows of a unit. */
enum { AXC_ROWS = 64 };

/* Numbers, units and parameters. */
spry_status axc_describe(layout *L, const void *options);

#endif
