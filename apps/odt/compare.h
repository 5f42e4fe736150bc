/* What was found compared with what is known to be there. */
#ifndef SPRY_ODT_COMPARE_H
#define SPRY_ODT_COMPARE_H

#include "odt/model.h"

typedef struct odt_compared {
    int *partner;       /* of each that was found: the number of one that is known, or -1 */
    double *apart;      /* their distance, in m; NaN where there is none */
    int pairs;          /* how many of them */
    double worst;       /* the largest distance of a pair */
    double inside, all; /* error of the index; NaN where nothing is known */
} odt_compared;

/*
 * Pairs those that are known with those that were found within half their diameter, nearest pairs
 * first, each with one at most.
 */
spry_status odt_compare_particles(spry_context *ctx, const odt_particles *truth,
                                  const odt_particles *found, odt_compared *c);
/*
 * The rms error of an index, of voxels within the particles that are known and of all, over the rms
 * of how much the true one differs from the fluid's there: 1 is what the fluid alone would have.
 */
spry_status odt_compare_index(const odt_model *m, const odt_particles *truth, const float *index,
                              odt_compared *c);
void odt_compared_free(spry_context *ctx, odt_compared *c);

#endif
