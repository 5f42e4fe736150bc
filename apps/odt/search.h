/* Particles of known size and index, found one after the other. */
#ifndef SPRY_ODT_SEARCH_H
#define SPRY_ODT_SEARCH_H

#include "odt/filter.h"

typedef struct odt_search {
    odt_model *m;
    odt_particle sample; /* what is looked for; its place is ours: the middle of a voxel */
    double threshold;    /* the least score of a particle */
    int most;            /* particles at most: room in `found` */
    int refine;          /* steps that move all particles, after each that is found */
    int fit;             /* numbers of each besides its place that are fitted at the end: diameter,
                            index, absorption, in this order */
    odt_particles found;
    double misfit; /* sum of squares over that of the empty volume */
    /* after each particle: reported, and kept for later runs; may be NULL */
    spry_status (*note)(void *data);
    void *data;
    /* not the caller's */
    spry_scalar **sample_a; /* amplitudes of the sample, for each view */
    double norm;            /* what the sample would score before it is divided by this */
    double empty;           /* sum of squares of the empty volume */
    spry_scalar **alone;    /* amplitudes of the particles found, for each view */
    double **rest;          /* computed less measured numbers, for each view */
    spry_scalar **c;        /* room: factors of waves, for each view */
    odt_filter filter;
    spry_scalar *image; /* of what is not explained: the derivative of half of the sum of squares */
    spry_scalar *match; /* the same for one more particle at each voxel, to first order */
    bool seen;          /* these are of what was found */
    odt_particle *kept, *start, *best; /* what was found before trials, and the best of them */
    odt_particle *refused;             /* places that are not to be tried */
    int refusals;
} odt_search;

/* The caller has set the members above; views have what they measured. Solves once for each view.
 */
spry_status odt_search_make(odt_search *s);
void odt_search_free(odt_search *s);

/* Puts what was found into the model, and measures the misfit. */
spry_status odt_search_evaluate(odt_search *s);
/* Image and match of what is not explained, where they do not exist yet. */
spry_status odt_search_look(odt_search *s);
/* r = y(a) - exposure * measured of a view; gives its square. */
double odt_view_difference(odt_view *v, const spry_scalar *a, double *r);
/* How much of one particle is at a voxel. */
static inline double odt_search_score(const odt_search *s, int64_t voxel)
{
    return -s->match[voxel].re / s->norm;
}
/* A particle is all in the volume: two voxels are left to the faces. */
static inline double odt_search_margin(const odt_search *s)
{
    return 0.5 * s->sample.diameter / s->m->setup.box.h + 2;
}
/* Moves all particles to a smaller misfit, `steps` steps at most, until they move by less than
 * `least` voxels. */
spry_status odt_search_refine(odt_search *s, int steps, double least);

/* How the contrast of a voxel changes with a particle's number, by voxels where that is a length;
 * and half of the derivative of the sum of squares, from the image of what is not explained. */
spry_scalar odt_change_of(const odt_model *m, const odt_particle *p, int number,
                          const int64_t *voxel);
double odt_slope_of(const odt_search *s, int j, int number);
/* Fits all numbers of all particles together (fit.c), and finds how exact they are. */
spry_status odt_search_fit(odt_search *s);

/* Algorithm 7, from what `found` has; by the first image alone where linear is set. */
spry_status odt_search_run(odt_search *s, bool linear);

#endif
