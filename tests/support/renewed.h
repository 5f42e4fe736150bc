/*
 * What was made from a matrix that then gets other values: it reports that it is out of date, can
 * still be used, and once it is brought up to date it is, bit by bit, what making it again gives.
 * The old values are freed before, so that whoever still points to them is found out.
 */
#ifndef SPRY_TESTS_RENEWED_H
#define SPRY_TESTS_RENEWED_H

#include "support/precons.h"

/* What entry k of row i becomes: hermitian matrices stay so, and definite ones, and it is another
 * number in every precision. */
spry_scalar renewed_value(const spry_matrix *A, int64_t i, int64_t k);

/* An operator in a format, on a device or the host (NULL). */
void renewed_operator(spry_context *ctx, spry_device *d, spry_type type, const char *format);
/* A preconditioner. */
void renewed_precon(spry_context *ctx, spry_device *d, spry_type type, const precons_case *c);
/* A solver, which needs no notice. */
void renewed_solver(spry_context *ctx, spry_type type, const char *options);

#endif
