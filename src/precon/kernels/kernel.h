/* The words kernels of preconditioners are written in: those of host kernels, and division. */
#ifndef SPRY_PRECON_KERNEL_H
#define SPRY_PRECON_KERNEL_H

#include "host/kernels/arithmetic.h"
#include "precon/kernels.h"

FRONT_KERNELS(KERNEL_DECLARE)
PRECON_KERNELS(KERNEL_DECLARE)

#endif
