/*
 * A rod that cools down, for tests of slices of time: a field on a small grid, long implicit steps
 * and short ones, of the host or of a device. Failures are handed back, since ranks and threads use
 * it.
 */
#ifndef SPRY_TESTS_RODS_H
#define SPRY_TESTS_RODS_H

#include "support/support.h"

#include <spry/grid.h>

enum { ROD_POINTS = 24 };
static const double ROD_END = 0.05;

typedef struct rod {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *u;
    spry_stepper *coarse, *fine;
} rod;

/* Options of a fine stepper: explicit; implicit. */
extern const char *const rod_fines[2];

/* Coarse steps are implicit Euler's of a hundredth. A device's name, or NULL. What there is when it
 * fails is freed by rod_free(), too. */
spry_status rod_make(spry_context *ctx, spry_type type, const char *fine, const char *device,
                     rod *r);
void rod_free(rod *r);
/* The fine run of `slices`, one after the other, with the times that parareal has. */
spry_status rod_run_fine(const rod *r, int slices);

#endif
