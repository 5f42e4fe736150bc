/*
 * The vertical axis, from 0 at the bottom to 1 at the surface: levels, differences, and the modes
 * that the preconditioner takes apart.
 */
#ifndef SPRY_OCEAN_VERTICAL_H
#define SPRY_OCEAN_VERTICAL_H

#include "ocean/points.h"

enum { LEVELS_MOST = 64, WIDTH_MOST = 9 };

typedef struct ocean_vertical {
    int intervals, order, width; /* width: levels of a difference */
    double sigma[LEVELS_MOST + 1];
    int first[LEVELS_MOST + 1]; /* level that a row's differences begin with */
    double d1[(LEVELS_MOST + 1) * WIDTH_MOST];
    /* At level 0 the slope there is known, and has a weight of its own. */
    double d2[(LEVELS_MOST + 1) * WIDTH_MOST], slope;
    /* d^2/dsigma^2 of second order between a bottom without slope and a surface with known value
     * is back diag(-mu) into. */
    double mu[LEVELS_MOST], into[LEVELS_MOST * LEVELS_MOST], back[LEVELS_MOST * LEVELS_MOST];
} ocean_vertical;

/*
 * Weights w so that sum w_j f(node_j) is derivative number q of f at a place, for polynomials of
 * as many coefficients; sloped: the derivative at node 0 is known besides, its weight is w[count].
 */
void ocean_difference(int q, double place, int count, const double *node, bool sloped, double *w);
/* order: even, at most `intervals`; clustered: levels lie closer together towards the surface. */
void ocean_vertical_make(int intervals, int order, bool clustered, ocean_vertical *v);
/*
 * The vertical velocity at the surface of water of a depth, for a potential that is 1 there and
 * goes as exp(i k x): k tanh(k h) but for the error of the differences. `square` is k^2 as
 * differences have it.
 */
double ocean_vertical_response(const ocean_vertical *v, double depth, double square);
/* k^2 of the shortest wave of a spacing, as differences have it. */
double ocean_shortest(int order, double spacing);
/* The largest |k| that first differences have of any wave. */
double ocean_steepest(int order, double spacing);
/* Weights of the 13-point Savitzky-Golay filter that leaves polynomials of degree 10 as they are,
 * from its middle on. */
enum { FILTER_REACH = 6 };
void ocean_filter_weights(double weights[FILTER_REACH + 1]);

#endif
