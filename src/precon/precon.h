/* Preconditioners by name: one file each, one line in the registry. */
#ifndef SPRY_PRECON_INTERNAL_H
#define SPRY_PRECON_INTERNAL_H

#include "matrix/matrix.h"

/* Makes the preconditioner `spec` names ("none", "jacobi", "auto") for A. *M is NULL for none; its
 * name is filled in, and the log hears why auto chose it. A may be NULL when only an operator is
 * known. */
spry_status precon_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                        spry_operator **M, char name[32]);

#endif
