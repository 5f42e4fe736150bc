/* Particles of known size and index, found one after the other. */
#ifndef SPRY_ODT_SEARCH_H
#define SPRY_ODT_SEARCH_H

#include "odt/model.h"

typedef struct odt_search {
    odt_model *m;
    odt_particle sample; /* in the middle of the volume: what is looked for */
    double threshold;    /* the least score of a particle */
    int most;            /* particles at most: room in `found` */
    int refine;          /* steps that move all particles, after each that is found */
    odt_particles found;
    double misfit; /* sum of squares over that of the empty volume */
    double moved;  /* the longest way of a particle in the last step, in voxels */
    /* after each particle: told, and kept for later runs; may be NULL */
    spry_status (*note)(void *data);
    void *data;
    /* not the caller's */
    spry_scalar **sample_a; /* amplitudes of the sample, for each view */
    double norm;            /* what the sample would score before it is divided by this */
    double empty;           /* sum of squares of the empty volume */
    spry_scalar **alone;    /* amplitudes of the particles found, for each view */
    double **rest;          /* computed less measured numbers, for each view */
    spry_scalar **c;        /* room: factors of waves, for each view */
    spry_scalar *image;     /* room */
    double *score;          /* how much of one particle is at each voxel */
    odt_particle last;      /* the place that was tried last */
    odt_particle *kept;     /* what was found before the one that is tried */
    odt_particle *refused;  /* places that made the misfit worse since the last that did not */
    int refusals;
} odt_search;

/* The caller has set the members above; views have what they measured. Solves once for each view.
 */
spry_status odt_search_make(odt_search *s);
void odt_search_free(odt_search *s);

/* Puts what was found into the model, and measures the misfit. */
spry_status odt_search_evaluate(odt_search *s);
/* The score of each voxel with what was found so far. */
spry_status odt_search_score(odt_search *s);
/* The image that is not filtered: the derivative of the misfit by the contrast, in `image`. */
spry_status odt_search_linear(odt_search *s);
/* Moves all particles to a smaller misfit, so many steps at most, until they move by less than so
 * many voxels. */
spry_status odt_search_refine(odt_search *s, int steps, double least);
/* The voxel with the largest score where a particle can be, the place refined within it. */
odt_particle odt_search_peak(const odt_search *s);

/* Algorithm 7, from what `found` has; by the first image alone where linear says so. */
spry_status odt_search_run(odt_search *s, bool linear);

#endif
