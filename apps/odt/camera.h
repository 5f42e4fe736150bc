/*
 * Views: a plane wave that lights the volume, and a camera that sees what is scattered into its
 * aperture. Far fields are plane waves; the camera has those of a square grid of directions within
 * its aperture (the *pupil*), which are the Fourier components of a picture as wide as its field.
 */
#ifndef SPRY_ODT_CAMERA_H
#define SPRY_ODT_CAMERA_H

#include "odt/waves.h"

enum { KIND_FIELD, KIND_INTENSITY };

/* What all views share. */
typedef struct odt_optics {
    double k;        /* wave number in the fluid: 2 pi fluid / wavelength */
    double sine;     /* of the aperture's half angle: na / fluid */
    double field;    /* side of the camera's picture, in m, as the volume is seen */
    double distance; /* of the plane in focus from the volume's middle, along the camera's axis */
    int pixels;      /* along the side of a picture */
    int kind;
} odt_optics;

typedef struct odt_view {
    spry_context *ctx;
    odt_optics optics;
    double light[3], axis[3], right[3], up[3]; /* unit vectors */
    int reach;              /* the pupil's places are -reach to reach along right and up */
    int count;              /* of those within the aperture */
    int *place;             /* of each in the square of 2 reach + 1 */
    spry_scalar *factor;    /* from sum_r w exp(-i (k, r)) to the amplitude */
    double *k;              /* three for each */
    spry_scalar *turn;      /* [place][pixel]: exp(2 pi i place pixel / pixels) */
    spry_scalar *reference; /* of intensities: the light at the pixels, where nothing scatters */
    /* room */
    spry_scalar *square, *half, *other;
    spry_scalar *picture; /* of intensities: the whole field of the last odt_view_data() */
    odt_waves waves;
    double *measured;  /* numbers, of the hologram */
    double exposure;   /* what these are multiplied by */
    bool fit_exposure; /* to where the misfit is least, whenever it is measured */
} odt_view;

/* Directions as they were given; unit vectors are made of them. */
spry_status odt_view_make(spry_context *ctx, spry_device *device, const odt_box *box,
                          const odt_optics *optics, const double *light, const double *axis,
                          odt_view *view);
void odt_view_free(odt_view *view);
/* What is right and up for a camera along an axis, which becomes a unit vector. */
void odt_camera_frame(double *axis, double *right, double *up);
/* Whether two directions are the same, whatever their lengths. */
bool odt_is_along(const double *a, const double *b);
/* The side that a camera's picture needs at least to show all of a volume. */
double odt_view_extent(const odt_box *box, const double *axis);

/* Pictures of amplitudes, and back: the part of a picture that is within the aperture. */
void odt_view_picture(odt_view *view, const spry_scalar *a, spry_scalar *picture);
void odt_view_pupil(odt_view *view, const spry_scalar *picture, spry_scalar *a);

/*
 * A hologram as real numbers y, such that the sum of squares of differences is what is made small:
 * real and imaginary parts of amplitudes, or intensities at pixels over 2 pixels. Then, at the a of
 * the last odt_view_data(): dy of a small da, and c such that sum_n r_n dy_n = Re sum_s c_s da_s.
 */
int odt_view_numbers(const odt_view *view);
void odt_view_data(odt_view *view, const spry_scalar *a, double *y);
void odt_view_change(odt_view *view, const spry_scalar *da, double *dy);
void odt_view_back(odt_view *view, const double *r, spry_scalar *c);

/* A hologram as a picture: complex, or intensities as real parts; and the numbers of one. */
void odt_view_show(odt_view *view, const spry_scalar *a, spry_scalar *picture);
void odt_view_take(odt_view *view, const spry_scalar *picture, double *y);

#endif
