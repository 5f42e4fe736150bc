/* From what a camera has of a hologram, grey values, to the hologram itself. */
#ifndef SPRY_ODT_DEVELOP_H
#define SPRY_ODT_DEVELOP_H

#include "odt/camera.h"

/* What was found on the way. */
typedef struct odt_developed {
    double brightness; /* of the light where nothing scatters, in the middle, in grey values */
    double fringes;    /* of off-axis holograms: amplitude of the carrier over the brightness */
    double carrier[2]; /* cycles per pixel, to the right and up */
    bool overlaps;     /* the side band is not clear of the middle of the spectrum */
} odt_developed;

/*
 * Intensities are divided by background and exposure, so that the light alone is 1. Of off-axis
 * holograms the side band is found, shifted to the middle, and all beyond the aperture filtered
 * away; divided by the light's part of it, and less the light, it is the field that was scattered.
 *
 * view        whose light is within its aperture
 * grey        pixels x pixels, as pictures: rows from below
 * background  the same without particles; NULL: a smooth background is fitted
 * left        the side band is in the left half of the spectrum
 */
spry_status odt_develop(odt_view *view, const float *grey, const float *background, bool left,
                        spry_scalar *picture, odt_developed *found);

#endif
