/*
 * Schemes for lap u + k^2 u = f between equal intervals h_a: one family of stencils of the points
 * next to a row,
 *
 *     L u + B k^2 u = B f,
 *     L = sum_a dx_a^2 + mixed sum_{a<b} (h_a^2 + h_b^2)/2 dx_a^2 dx_b^2 + triple h^4 dx^2 dy^2
 * dz^2, B = 1 + mean sum_a h_a^2 dx_a^2,
 *
 * with h^2 the mean of the h_a^2, and differences of order 2. All numbers 0 are the second order,
 * mixed = 1/6 and mean = 1/12 the compact fourth one (I. Singer, E. Turkel, High-order finite
 * difference methods for the Helmholtz equation, Comput. Methods Appl. Mech. Engrg. 163 (1998);
 * G. Sutmann, Compact finite difference schemes of sixth order for the Helmholtz equation, J.
 * Comput. Appl. Math. 203 (2007), whose part of fourth order this is in 3-D). Numbers that make the
 * least of the error of waves of some lengths are the idea of C. Jo, C. Shin, J. Suh, An optimal
 * 9-point, finite-difference, frequency-space, 2-D scalar wave extrapolator, Geophysics 61 (1996),
 * by least squares as in Z. Chen, D. Cheng, W. Feng, T. Wu, An optimal 9-point finite difference
 * scheme for the Helmholtz equation with PML, Int. J. Numer. Anal. Model. 10 (2013).
 */
#ifndef SPRY_GRID_HELMHOLTZ_H
#define SPRY_GRID_HELMHOLTZ_H

#include "grid/grid.h"

typedef struct wave_scheme {
    double mixed, triple, mean;
} wave_scheme;
extern const wave_scheme scheme_compact4;

/* The coefficients of an operator's text: those of fluxes along the axes, and m, which has k^2. */
enum { WAVE_M = GRID_AXES, WAVE_FIELDS };
/* What an operator of waves is made of. Its stencil's fields are m, unless that is a constant, and
 * those of fluxes, where it has layers that are perfectly matched. */
typedef struct stencil_waves {
    wave_scheme scheme;
    bool symmetric;
    spry_scalar m;      /* where it is a constant */
    double least, most; /* wave numbers; 0: there is no wave */
} stencil_waves;
/* What the text of an operator of waves is made of. */
typedef struct wave_terms {
    const spry_grid *grid;
    const grid_shape *shape;
    spry_type type;
    wave_scheme scheme;
    bool symmetric;
    spry_vector *field[WAVE_FIELDS];
} wave_terms;
void waves_put_operator(base_text *t, const wave_terms *w);
/* mean h^2 times a second derivative along each axis: of what it acts on, of m times that, or the
 * flux of m. */
typedef enum mean_kind { MEAN_PLAIN, MEAN_OF_M, MEAN_FLUX } mean_kind;
void waves_put_mean(base_text *t, const wave_terms *w, mean_kind kind);
/* Names and values of the fields that a text has; their number. */
int waves_fields(const wave_terms *w, const char *names[WAVE_FIELDS],
                 const spry_vector *values[WAVE_FIELDS]);
/* The operator of waves by the same scheme on another grid of the same intervals, whole on the
 * host, of fields of its points. */
spry_status waves_like(const spry_operator *A, const spry_grid *grid,
                       spry_vector *const field[WAVE_FIELDS], spry_operator **like);

/* The factor of a product of second derivatives along some axes, two or three of them, of which
 * `among` has a bit each. */
double scheme_factor(const wave_scheme *scheme, const grid_shape *shape, int among);
/* The numbers for waves of wave numbers least..most, of directions at equal angles; wave numbers
 * of a tenth more and less count, too, since sizes of waves depend on what L / B is relative to
 * them. */
wave_scheme scheme_optimal(const grid_shape *shape, double least, double most);
/* The wave number that a wave of number k has on the grid along a direction of length 1; NAN where
 * there is no such wave. */
double scheme_number(const wave_scheme *scheme, const grid_shape *shape, double k,
                     const double direction[GRID_AXES]);
/* The largest relative error of that over all directions, and the largest phase that a wave gains
 * or loses on a way through the box without its layers. */
void scheme_errors(const wave_scheme *scheme, const grid_shape *shape, double k, double *relative,
                   double *phase);

#endif
