/*
 * Waves (<spry/grid/wave.h>): side.c has transforms of one length, fourier.c those of a grid and
 * the operator, passes.c how the host goes through an array, device.c how a device does; medium.c
 * makes the padded medium with its layers, medium_device.c those after the first on a device,
 * born.c the operator that solves go by, wave.c the object.
 */
#ifndef SPRY_WAVE_INTERNAL_H
#define SPRY_WAVE_INTERNAL_H

#include "grid/wave/kernels.h"
#include "operator/operator.h"

#include <spry/grid/wave.h>
#include <spry/solver.h>

enum { WAVE_AXES = 3 };

/* --- transforms of one length (side.c) -----------------------------------------------------------
 */

/* The roots are of the precision of a type. */
spry_status wave_side_make(spry_context *ctx, spry_type type, int64_t n, wave_side *side);
void wave_side_clear(spry_context *ctx, wave_side *side);
/* The least length of at least n that has the factors 2, 3 and 5 alone. */
int64_t wave_good_length(int64_t n);

/* --- transforms of an array (fourier.c) ----------------------------------------------------------
 */

/* What is at hand for transforms of arrays of a shape, x fastest. */
typedef struct fourier {
    spry_context *ctx;
    spry_device *device; /* NULL: the host */
    spry_type type;
    int axes; /* 1 to 3; others have one point */
    int64_t n[WAVE_AXES];
    int64_t count; /* of all */
    wave_side side[WAVE_AXES];
    int shares; /* of the host's threads; planes of lines, and of G, for each */
    int64_t share_bytes;
    char *room;
    struct fourier_device *on_device; /* of a device */
} fourier;

/* G: 1 / (p^2 - k0^2 - i eps), with p^2 from tables of each axis, and a scale. */
typedef struct fourier_green {
    void *squares[WAVE_AXES]; /* reals, wave_lanes() more than there are points, which are 0 */
    double centre, epsilon, scale;
    struct device_memory
        *device_tables; /* on a device: the tables of all axes, one behind the other */
} fourier_green;

spry_status fourier_new(spry_context *ctx, spry_device *device, spry_type type, int axes,
                        const int64_t n[WAVE_AXES], fourier **out);
void fourier_free(fourier *f);
spry_status fourier_green_make(const fourier *f, const double spacing[WAVE_AXES], fourier_green *g);
void fourier_green_clear(const fourier *f, fourier_green *g);

/* y = G (V x), or (whole) V (x - G (V x)); y and x are where f is, and not the same: arrays, or
 * memory of the device, of each column. */
spry_status fourier_scatter(fourier *f, const fourier_green *g, const spry_vector *V, bool whole,
                            int columns, const void *const *x, void *const *y);
/* What a vector is to these. */
void *fourier_memory(const spry_vector *v);
/* The least bytes that fourier_scatter() moves. */
int64_t fourier_scatter_bytes(const fourier *f);

/* --- passes of the host (passes.c) ---------------------------------------------------------------
 */

/* A pass through all lines of an axis, from some arrays to others or to themselves. */
typedef struct wave_pass {
    const fourier *f;
    int axis;
    bool inverse;
    int columns;
    const void *const *from; /* of each column, as `to` and `less` */
    void *const *to;
    const void *before; /* what numbers are multiplied with first; NULL: nothing */
    double scale;       /* of what is written */
    const void *after;  /* written is after (less - numbers) where these are not NULL */
    const void *const *less;
    const fourier_green *green; /* not NULL: forth, times G, and back */
} wave_pass;
/* Passes along x and y of a plane follow each other while that is in the cache. */
void wave_run_passes(const fourier *f, int count, const wave_pass *passes);

/* --- the medium (medium.c) -----------------------------------------------------------------------
 */

/* The box among the points of the padded grid; what is not an axis has one point. */
typedef struct wave_frame {
    int axes;
    int64_t box[WAVE_AXES], padded[WAVE_AXES], first[WAVE_AXES];
    double spacing[WAVE_AXES];
    bool open[WAVE_AXES]; /* it has layers */
    double longest;       /* wavelength that layers are for */
    int64_t count;        /* of padded points */
} wave_frame;

/* What is known of a medium, and that of the padded grid, in double precision. */
typedef struct wave_medium {
    double least, most;     /* of the real parts in the box */
    double centre, epsilon; /* k0^2, and the shift */
    double farthest;        /* the most of |k^2 - k0^2| */
    double unit;            /* V, G and M are made of k^2 times this, numbers around 1 */
    spry_scalar *k2;        /* of all padded points; the caller's to free */
} wave_medium;

/* Fails for what is no medium, with the point; else sets least and most. */
spry_status wave_medium_check(spry_context *ctx, const wave_frame *frame, const spry_scalar *box,
                              wave_medium *medium);
double wave_medium_longest(const wave_frame *frame, const spry_scalar *box, double most);
/* Padded lengths, with layers of a thickness in points; 0: by the longest wavelength. */
spry_status wave_frame_make(spry_context *ctx, int64_t thickness, double longest,
                            wave_frame *frame);
/* What absorbs at each point of the axes, all in one array, which begins with that of x. */
spry_status wave_layers_make(spry_context *ctx, const wave_frame *frame,
                             spry_scalar *layer[WAVE_AXES]);
/* k0^2 and the shift, for least and most. Where V comes nearer to 0 than WAVE_NEAREST shifts, the
 * shift is made larger by a little, a few times. */
enum { WAVE_TRIES = 16 };
#define WAVE_NEAREST 1e-4
#define WAVE_ASIDE 1.003
void wave_medium_choose(double shift, wave_medium *medium);
/* The medium of all padded points, for a shift in units of the largest k^2 (0: chosen). */
spry_status wave_medium_make(spry_context *ctx, const wave_frame *frame, const spry_scalar *box,
                             double shift, wave_medium *medium);

/* Another medium for existing V and M, of k^2 on their device (medium_device.c), which a
 * padding is kept for; *made is false where the host has to look at it. */
typedef struct wave_padding wave_padding;
spry_status wave_padding_set(const fourier *f, const wave_frame *frame, double shift,
                             const spry_vector *k2, const spry_vector *V, const spry_operator *M,
                             wave_padding **p, wave_medium *medium, bool *made);
void wave_padding_free(spry_context *ctx, wave_padding *p);

/* --- operators of a solve (born.c) ---------------------------------------------------------------
 */

/* V - V G V on the padded grid, which holds f, g and V no longer than it lives. */
spry_status born_operator(fourier *f, const fourier_green *g, const spry_vector *V,
                          spry_operator **A);
/* V of a medium, of f's type and where f is, and its preconditioner i eps / (eps^2 + (k^2 -
 * k0^2)^2), both in the medium's unit. */
spry_status born_potential(const fourier *f, const wave_medium *medium, spry_vector **V);
spry_status born_precon(const fourier *f, const wave_medium *medium, spry_operator **M);

/* Between the box and the padded grid: out = -in with zeros around it, or (back) what is in the
 * box; conjugate, where that is asked for. */
spry_status born_place(const fourier *f, const wave_frame *frame, bool back, bool conjugate,
                       const spry_vector *in, spry_vector *out);

/* --- on a device (device.c) ----------------------------------------------------------------------
 */

spry_status wave_device_open(fourier *f);
/* The text of the kernels, with `lines` lines of each axis in local memory at once. */
spry_status wave_device_text(const fourier *f, const int lines[WAVE_AXES], char **text);
void wave_device_close(fourier *f);
spry_status wave_device_green(const fourier *f, fourier_green *g);
spry_status wave_device_run(fourier *f, bool inverse, int columns, const void *const *x,
                            void *const *y);
spry_status wave_device_scatter(fourier *f, const fourier_green *g, const spry_vector *V,
                                bool whole, int columns, const void *const *x, void *const *y);
spry_status wave_device_place(const fourier *f, const wave_frame *frame, bool back, bool conjugate,
                              const spry_vector *in, spry_vector *out);

#endif
