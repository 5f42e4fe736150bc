/* The product with a matrix that is spread over ranks. */
#ifndef SPRY_SPREAD_OPERATOR_H
#define SPRY_SPREAD_OPERATOR_H

#include "matrix/spread.h"

/* Makes it from the product with A's own block, which is taken, also when it fails, and the status
 * that this was made with: where one rank has failed all do. Collective. */
spry_status spread_operator(const spry_matrix *A, spry_status made, spry_operator *own,
                            spry_operator **op);

#endif
