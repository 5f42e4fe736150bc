/*
 * A ship in small waves (the source's section 11.6.3): the box moves with it at its speed U along
 * x, and the flow is that around the ship and its mirror image above the still surface (the double
 * body), phi_0, with small waves eta_1, phi_1. Of a hull z = eta_0(x, y) <= 0 that is flat,
 *
 *   laplace phi_0 = 0,  d phi_0/dz = -U d eta_0/dx at z = 0
 *   d eta_1/dt + (u_0 - U) . grad eta_1 = d phi_1/dz
 *   d phi_1/dt + (u_0 - U) . grad phi_1 = -g eta_1 - g eta_0 + U u_0 - |u_0|^2 / 2 - p/rho
 *
 * where u_0 is grad phi_0 at z = 0. p is the hull's pressure, that of the double body
 * (d phi_1/dt = 0 and no waves):
 *
 *   p/rho = m (U u_0 - |u_0|^2 / 2) - g eta_0,  m = 1 - (1 - s)^2
 *
 * with s the draft at a point over the ship's: m is 1 below it and ends at the waterline without a
 * jump, which differences could not follow.
 */
#ifndef SPRY_OCEAN_SHIP_H
#define SPRY_OCEAN_SHIP_H

#include "ocean/flow.h"

/* eta_0 = -draft cos^2(pi x/length) cos^2(pi y/beam) from its middle at (x, y); along x alone
 * without the second. */
typedef struct ocean_ship {
    double speed, length, beam, draft, x, y;
} ocean_ship;

double ocean_ship_hull(const ocean_flow *f, const ocean_ship *ship, int64_t point);
/* Solves for phi_0. From here on the flow is that of small waves in a box that moves, over a flat
 * bottom. */
spry_status ocean_flow_set_ship(ocean_flow *f, const ocean_ship *ship);
/* What the waves of u take of the ship: the integral of p/rho d eta_1/dx. */
spry_status ocean_flow_resistance(const ocean_flow *f, const spry_vector *u, double *resistance);

#endif
