/* A system as it lies in files, to be looked at: faults that the doctor reports are let in. */
#ifndef SPRY_CLI_SYSTEM_H
#define SPRY_CLI_SYSTEM_H

#include "output.h"

/* Fails where the first operand, which was read as A, is one column and the second the matrix. */
spry_status system_check_order(spry_context *ctx, const cli_arguments *a, const spry_matrix *A);
/* Reads A, and b where it is given, of one type; of several right-hand sides the first, and says
 * so. What was read is the caller's, also after a failure. */
spry_status system_read(spry_context *ctx, const cli_arguments *a, spry_matrix **A,
                        spry_vector **b);

#endif
