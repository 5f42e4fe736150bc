/*
 * What a sphere, or a smooth lens, makes of a plane wave, by differences, against its series
 * (mie.h): the error of the field on a sphere around it. Lengths are wavelengths outside.
 */
#ifndef SPRY_TESTS_SCATTER_H
#define SPRY_TESTS_SCATTER_H

#include <spry/grid.h>

typedef struct scatter {
    int points;          /* per wavelength */
    double half, layer;  /* from the middle to the layers; and their width */
    const char *options; /* of the operator: "scheme=optimal" */
    const char *solver;
    double contrast; /* of k^2, over that of outside: of the sphere, in the middle of the lens */
    double radius;   /* of the sphere; 0: a lens */
    double width;    /* of the lens: contrast exp(-r^2 / (2 width^2)) */
    int cuts;        /* k^2 is its mean over so many places of a cell along each axis; 1: points */
    double around;   /* radius of the sphere where fields are compared */
    /* out: rms of the error over that of the whole field there, and over that of what is scattered
     */
    double error, error_scattered;
    int64_t unknowns, iterations;
} scatter;

/* Fails where the solve does not converge. */
spry_status scatter_run(spry_context *ctx, scatter *s);
/* The same by the Born series, with options of spry_wave_new(); layers are its own. */
spry_status scatter_run_series(spry_context *ctx, const char *options, scatter *s);

#endif
