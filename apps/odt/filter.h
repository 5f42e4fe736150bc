/* The matched filter: how much of a particle is at each place of an image. */
#ifndef SPRY_ODT_FILTER_H
#define SPRY_ODT_FILTER_H

#include "odt/model.h"

typedef struct odt_filter {
    odt_model *m;
    spry_operator *F;    /* Fourier's transform of the voxels */
    spry_vector **shape; /* for each view: the transform of what a particle makes of its light */
    spry_vector *sum;    /* of the transforms of what was filtered */
} odt_filter;

/* All of its memory: before the first solve, as solves take a share of what is left. */
spry_status odt_filter_make(odt_model *m, odt_filter *filter);
/* The model has one particle, the sample, in the middle of a voxel that is at least its radius from
 * all faces; room: for the voxels. */
spry_status odt_filter_learn(odt_filter *filter, const odt_particle *sample, spry_scalar *room);
void odt_filter_free(odt_filter *filter);

/*
 * Begins; adds the image of a view, which is in the model's x; gives for each voxel the sum over
 * views of sum_r q_i(r - voxel) image_i(r), q_i being what the sample makes of its light.
 */
spry_status odt_filter_begin(odt_filter *filter);
spry_status odt_filter_add(odt_filter *filter, int view);
spry_status odt_filter_take(odt_filter *filter, spry_scalar *to);

#endif
