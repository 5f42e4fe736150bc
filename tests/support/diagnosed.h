/* What the tests of the doctor share: findings that are whole, and looked up. */
#ifndef SPRY_TESTS_DIAGNOSED_H
#define SPRY_TESTS_DIAGNOSED_H

#include "support/support.h"

#include <spry/doctor.h>

/* The findings on a system; every one is checked to be whole, and the worst come first. */
spry_diagnosis diagnosed(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                         const char *options, const spry_result *result);
/* The first of a code, or NULL; one that must be there, as severe; a figure that it must have. */
const spry_finding *diagnosed_find(const spry_diagnosis *d, const char *code);
const spry_finding *diagnosed_must(const spry_diagnosis *d, const char *code,
                                   spry_severity severity);
double diagnosed_figure(const spry_finding *f, const char *name);
/* A healthy matrix of a type. */
spry_matrix *diagnosed_grid(spry_context *ctx, spry_type type);

#endif
