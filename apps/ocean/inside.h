/*
 * What is below the surface at one moment: velocities and pressure anywhere, forces on walls. All
 * of it is on the host, and on ranks all have all of it.
 *
 * The pressure is Bernoulli's, p/rho = head - phi_t - g z - |grad phi|^2 / 2. phi_t solves
 * Laplace's equation, too, with f_t - w eta_t at the surface, f being the potential there: one more
 * solve in the place of the source's differences in time.
 */
#ifndef SPRY_OCEAN_INSIDE_H
#define SPRY_OCEAN_INSIDE_H

#include "ocean/flow.h"

typedef struct ocean_inside {
    ocean_flow *f;
    double *depth, *eta;              /* of all points */
    double *phi, *rising;             /* of all levels, the surface last; rising: phi_t */
    double *numbers;                  /* what these are parts of */
    double integral[LEVELS_MOST + 1]; /* weights of an integral over sigma */
    spry_vector *u, *phi_t;           /* with f_t - w eta_t, and what is solved for */
} ocean_inside;

typedef struct ocean_water {
    double phi, velocity[3];
    double pressure; /* over the density; 0 at the surface */
} ocean_water;

/* Weights of some neighbours along an axis, for the value and the slope at a place. */
typedef struct ocean_near {
    int count, index[WIDTH_MOST];
    double weight[2][WIDTH_MOST];
} ocean_near;

/* Makes room. What is made is to be freed, also after a failure. */
spry_status ocean_inside_make(ocean_flow *f, ocean_inside *in);
void ocean_inside_free(ocean_inside *in);
/* Looks at u with its rate, just after ocean_flow_rate() had it. */
spry_status ocean_inside_take(ocean_inside *in, const spry_vector *u, const spry_vector *rate);

/* Neighbours of a place along x and y; the slope is per m. */
void ocean_inside_near(const ocean_inside *in, double x, double y, ocean_near near[2]);
double ocean_inside_depth(const ocean_inside *in, const ocean_near near[2]);
/* The water at a height above the still surface; false: there is none. */
bool ocean_inside_at(const ocean_inside *in, const ocean_near near[2], double z, ocean_water *w);
/* The same at a level, 0 at the bottom; z: out. */
void ocean_inside_level(const ocean_inside *in, const ocean_near near[2], int level, double *z,
                        ocean_water *w);
/* What pushes walls outwards in excess of still water, over the density: x = 0, x = length, y = 0,
 * y = width; 0 where there is no wall. */
void ocean_inside_forces(const ocean_inside *in, double force[4]);

#endif
