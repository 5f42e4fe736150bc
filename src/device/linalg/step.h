/*
 * Steps that smoothers, polynomials and cycles are made of, on the host and on devices alike:
 *
 *     y = f .* (alpha A x + beta b) + gamma x + delta y
 *
 * in one pass over memory where the operator has rows: the residual is (-1, 1, 0, 0), a sweep of
 * Jacobi's method (-1, 1, 1, 0) with f = omega D^-1. What has a factor of 0, or is NULL (f: ones),
 * is not read. y is not x; it may be b. Vectors are where the operator lives.
 */
#ifndef SPRY_DEVICE_STEP_H
#define SPRY_DEVICE_STEP_H

#include "formats/shared/device_formats.h"
#include "host/host.h"
#include "operator/operator.h"

/* An operator made ready for steps, which must stay alive. */
typedef struct operator_step operator_step;

/* Collective where the operator is a part of all ranks'. */
spry_status step_open(const spry_operator *op, spry_transpose transpose, operator_step **step);
void step_free(operator_step *step); /* takes NULL */
#define STEP_PREFIX "S_"
spry_status step_run(const operator_step *step, host_step factors, const spry_vector *f,
                     const spry_vector *b, const spry_vector *x, spry_vector *y);

/* y = factor x, both in one place and both real or both complex, one in single and the other in
 * double precision. */
spry_status step_recast(double factor, const spry_vector *x, spry_vector *y);

#endif
